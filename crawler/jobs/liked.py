"""Pages that a user liked, as `scrapy train profile` is told of them: files, folders, URLs, a browser's history."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.extract import extractor
from pipelines.extract.document import parse
from pipelines.focus.profile import page_weights
from pipelines.urls import canonicalize

from ..saved import InputError, address, everything, read

if TYPE_CHECKING:
    from scrapy.settings import Settings

MOST_ADDRESSES: Final = 500
"""Addresses of a history that are fetched: the first ones, each once."""


def liked(names: Sequence[str], settings: Settings) -> Iterator[Mapping[str, float]]:
    """Return the weighted words of each page named; what cannot be read is told of and passed over.

    Args:
        names: files of saved pages, folders of them, URLs, and exports of a browser's history: CSV with a column `url`.
        settings: the project's; for the downloader and the extractor.

    Raises:
        ValueError: a name is none of these.
    """
    histories = [name for name in names if name.lower().endswith(".csv")]
    urls = [_url(name) for name in names if "://" in name]
    urls += [url for name in histories for url in history(Path(name))]
    extract = extractor(settings["EXTRACTOR"], settings.getdict("EXTRACTOR_PARAMS"))
    most = settings.getint("DOWNLOAD_MAXSIZE")
    for one in everything([name for name in names if "://" not in name and name not in histories]):
        try:
            body = read(one, most)
        except InputError as problem:
            _pass_over(one.id, str(problem))
            continue
        document = parse(body, address(one.url, body))
        yield page_weights(document, extract(document))
    if urls:
        from ..fetch.single import fetch  # noqa: PLC0415 - loads the downloader, which files do not need

        for asked, found in fetch(urls, settings).items():
            if found.problem:
                _pass_over(asked, found.problem)
                continue
            document = parse(found.body, found.url, found.content_type)
            yield page_weights(document, extract(document))


def history(path: Path) -> list[str]:
    """Return the addresses of a browser's history, each once, in the file's order.

    Args:
        path: of a CSV file whose first line names a column `url`, in any case; other columns are ignored.

    Raises:
        ValueError: it cannot be read, has no such column or no web address in it.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.reader(lines)
            header = [name.strip().lower() for name in next(rows, [])]
            if "url" not in header:
                raise InputError(f"{path} has no column url; its first line is {','.join(header)[:100]!r}")
            column = header.index("url")
            cells = [row[column] for row in rows if len(row) > column]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise InputError(f"{path} cannot be read: {problem}") from None
    found = list(dict.fromkeys(url for cell in cells if "://" in cell and (url := canonicalize(cell.strip()))))
    if not found:
        raise InputError(f"{path} names no web address")
    return found[:MOST_ADDRESSES]


def _url(name: str) -> str:
    url = canonicalize(name)
    if url is None:
        raise InputError(f"{name!r} is no http or https URL")
    return url


def _pass_over(name: str, why: str) -> None:
    sys.stderr.write(f"scrapy train: {name} is passed over: {why}\n")
