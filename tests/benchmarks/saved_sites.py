"""Saved pages through the whole crawl: texts in the database beside those of `scrapy extract`, and what was lost.

    uv run python -m tests.benchmarks.saved_sites [CORPUS ...] [--folds 0,1] [--pages 100] [--show 20] [--keep FOLDER]
        [-s NAME=VALUE ...]

Each site of the corpora (those of `tests.benchmarks.extraction`) gets an IP address of its own on loopback, with its
pages under their identifiers and a home page that lists them, fifty a page. `scrapy crawl news` reads the home pages;
`scrapy extract` reads the same files under the same URLs with the same settings. Prints by corpus the mean F1 of both
over the articles (a page without a text counts 0), how many articles each has and how many other pages; then why
articles were lost, what the other pages were taken for, and the articles whose text is better without the crawl.
`--folds` takes the sites of these of four folds, `--pages` so many of each corpus at most. Some 1,400 pages take three
CPU minutes.
"""

from __future__ import annotations

import asyncio
import gzip
import html
import json
import re
import resource
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.benchmarks.data import corpora, f1, fold_of, is_other, page_file, read_rows, require_data

from .commands import PROJECT, new_parser

_FIRST = IPv4Address("127.0.16.1")
_FOLDS = 4
_LISTED = 50
_FOLDER = "/saved/"
"""All that there is; links of the pages to anything else on their sites would be asked for in vain."""
_WORSE = 0.02
"""F1 by which a text is worse than another."""


@dataclass(frozen=True)
class SavedPage:
    """A page of a corpus."""

    corpus: str
    gold: Mapping[str, Any]
    file: Path

    @property
    def key(self) -> str:
        """Name among all corpora, as `scrapy extract` repeats it."""
        return f"{self.corpus}/{self.gold['id']}"

    @property
    def site(self) -> str:
        """Site by which it is served, that of its page when the corpus names one."""
        host = self.gold.get("site") or urlsplit(str(self.gold.get("url") or "")).hostname or self.gold.get("host")
        return str(host or str(self.gold["id"]).partition("_")[0])

    @property
    def path(self) -> str:
        """Path under which it is served."""
        return f"{_FOLDER}{re.sub(r'[^a-zA-Z0-9_.-]', '-', str(self.gold['id']))}.html"

    @property
    def is_article(self) -> bool:
        """Tell whether the corpus says that it is one, with its text."""
        return bool(self.gold.get("text")) and not self.is_other

    @property
    def is_other(self) -> bool:
        """Tell whether the corpus says that it is none."""
        return is_other(self.gold) or self.gold.get("kind") == "not_article"


Sites = dict[str, dict[str, SavedPage]]
"""Pages by path, by site."""


def load(names: Sequence[str], folds: Sequence[int], most: int) -> Sites:
    """Read which pages there are; pages that the corpus calls suspect are left out."""
    sites: Sites = defaultdict(dict)
    for corpus, folder in corpora(names).items():
        taken = 0
        for gold in read_rows(folder / "gold.jsonl"):
            if taken == most or gold.get("suspect") or fold_of(corpus, gold, _FOLDS) not in folds:
                continue
            page = SavedPage(corpus, gold, page_file(folder, gold))
            if page.is_article or page.is_other:
                sites[page.site][page.path] = page
                taken += 1
    return sites


def listing(site: str, pages: Mapping[str, SavedPage], number: int) -> bytes:
    """Make a home page, or one of the pages behind it."""
    paths = sorted(pages)
    links = "".join(
        f'<li><a href="{path}">{html.escape(str(pages[path].gold.get("title") or path[len(_FOLDER) : -5]))}</a></li>'
        for path in paths[number * _LISTED : (number + 1) * _LISTED]
    )
    further = f'<a href="{_FOLDER}list-{number + 1}.html">next</a>' if len(paths) > (number + 1) * _LISTED else ""
    name = html.escape(site)
    head = f'<!doctype html><html><head><meta charset="utf-8"><title>{name}</title></head>'
    return f"{head}<body><h1>{name}</h1><ul>{links}</ul>{further}</body></html>".encode()


class _Connection(asyncio.Protocol):
    """One client of a site: requests without bodies, one after the other."""

    def __init__(self, site: str, pages: Mapping[str, SavedPage]) -> None:
        self._site, self._pages = site, pages
        self._received = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            body, kind = self._body(urlsplit(head.split(b" ", 2)[1].decode("latin-1")).path)
            status = "200 OK" if kind else "404 Not Found"
            answer = f"HTTP/1.1 {status}\r\nContent-Type: {kind or 'text/plain'}\r\nContent-Length: {len(body)}\r\n\r\n"
            self._transport.write(answer.encode() + body)

    def _body(self, path: str) -> tuple[bytes, str]:
        """Return what lies under a path, and its type: empty for nothing."""
        if path == "/robots.txt":
            return b"User-agent: *\nAllow: /\n", "text/plain"
        if path in self._pages:
            return gzip.decompress(self._pages[path].file.read_bytes()), "text/html"
        number = 0 if path == "/" else re.fullmatch(_FOLDER + r"list-(\d{1,4})\.html", path)
        if number is None:
            return b"", ""
        return listing(self._site, self._pages, number and int(number[1])), "text/html"


@contextmanager
def serving(sites: Sites) -> Iterator[dict[str, str]]:
    """Serve each site from a thread; yields the origin of each."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    listening: dict[str, socket.socket] = {}
    port = 0
    for number, site in enumerate(sorted(sites)):
        listening[site] = socket.create_server((str(_FIRST + number), port), backlog=64)
        port = listening[site].getsockname()[1]
    loop = asyncio.new_event_loop()

    async def start() -> None:
        for site, one in listening.items():
            await loop.create_server(lambda site=site: _Connection(site, sites[site]), sock=one)  # type: ignore[misc]

    loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield {site: f"http://{one.getsockname()[0]}:{port}" for site, one in listening.items()}
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def scrapy(*arguments: str) -> None:
    """Run a command; what it says of itself goes to the terminal when it fails."""
    command = [sys.executable, "-m", "scrapy", *arguments]
    done = subprocess.run(command, cwd=PROJECT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}\n{done.stderr[-3000:]}")


def crawl(folder: Path, origins: Mapping[str, str], settings: Sequence[str]) -> None:
    """Crawl all sites into `folder/news.db`."""
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"{origin}/ include={_FOLDER}\n" for origin in origins.values()), "utf-8")
    own = [f"DATABASE_URL=sqlite:///{folder}/news.db", "HOST_DELAY=0", "LOG_LEVEL=ERROR", "ALLOW_NETWORKS=127.0.0.0/8"]
    scrapy("crawl", "news", "-a", f"seeds={seeds}", *(part for one in (*own, *settings) for part in ("-s", one)))


def extract(
    folder: Path, sites: Sites, origins: Mapping[str, str], settings: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Extract the same pages under the same URLs without a crawl; returns rows by page."""
    rows = [
        {"id": page.key, "file": str(page.file), "url": origins[site] + path}
        for site, pages in sites.items()
        for path, page in pages.items()
    ]
    manifest, out = folder / "manifest.jsonl", folder / "extracted.jsonl"
    manifest.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8")
    more = [part for one in settings for part in ("-s", one)]
    scrapy("extract", "--manifest", str(manifest), "--output", str(out), *more)
    return {row["id"]: row for row in read_rows(out)}


@dataclass
class Compared:
    """A page of both: its F1 of each, None for an article that was not stored; why it was dropped."""

    page: SavedPage
    stored: float | None
    extracted: float | None
    reason: str


def compare(folder: Path, sites: Sites, origins: Mapping[str, str], extracted: Mapping[str, Any]) -> list[Compared]:
    """Read the database and score both."""
    database = sqlite3.connect(f"file:{folder}/news.db?mode=ro", uri=True)
    texts = dict(database.execute("SELECT url, text FROM v_articles"))
    repeats = dict(database.execute("SELECT url, same_as FROM v_dropped WHERE reason IN ('same page', 'duplicate')"))
    dropped = {
        url: f"{reason} ({detail})" if detail else reason
        for url, reason, detail in database.execute("SELECT url, reason, reason_detail FROM v_dropped")
    }
    database.close()
    found = []
    for site, pages in sites.items():
        for path, page in pages.items():
            url = origins[site] + path
            text = texts.get(url) or texts.get(repeats.get(url))  # a page kept under another URL of it is not lost
            alone = extracted[page.key]
            scores = [
                None if not one else f1(page.gold, one) if page.is_article else 0.0
                for one in (text, alone["text"] if not alone["reason"] else "")
            ]
            found.append(Compared(page, *scores, dropped.get(url, "never fetched" if url not in texts else "")))
    return found


def report(found: Sequence[Compared], most_shown: int) -> None:
    """Print the tables."""
    print(f"{'':16}{'pages':>6}{'F1 stored':>10}{'extract':>9}{'articles':>10}{'stored':>8}{'extract':>9}", end="")
    print(f"{'others':>8}{'stored':>8}{'extract':>9}")
    by_corpus = defaultdict(list)
    for one in found:
        by_corpus[one.page.corpus].append(one)
    for name, ones in [*sorted(by_corpus.items()), ("all", list(found))]:
        articles = [one for one in ones if one.page.is_article]
        others = [one for one in ones if one.page.is_other]
        many = max(1, len(articles))
        means = (sum(_known(articles, column)) / many for column in ("stored", "extracted"))
        print(f"{name:16}{len(ones):6}{next(means):10.4f}{next(means):9.4f}", end="")
        for group, width in ((articles, 10), (others, 8)):
            had = (len(_known(group, "stored")), len(_known(group, "extracted")))
            print(f"{len(group):{width}}{had[0]:8}{had[1]:9}", end="")
        print()
    lost = [one for one in found if one.page.is_article and one.stored is None]
    print("\narticles that are not in the database, by reason (in brackets those that `scrapy extract` has):")
    reasons = Counter(one.reason for one in lost)
    had = Counter(one.reason for one in lost if one.extracted is not None)
    for reason, count in reasons.most_common():
        print(f"  {count:4} ({had[reason]}) {reason}")
    told = Counter(one.reason or "stored" for one in found if one.page.is_other)
    print(f"\nother pages: {', '.join(f'{count} {reason}' for reason, count in told.most_common())}")
    worse = sorted(
        (one for one in found if one.page.is_article and (one.extracted or 0.0) > (one.stored or 0.0) + _WORSE),
        key=lambda one: (one.stored or 0.0) - (one.extracted or 0.0),
    )
    better = sum(one.page.is_article and (one.stored or 0.0) > (one.extracted or 0.0) + _WORSE for one in found)
    print(f"\n{len(worse)} articles are worse in the database, {better} better:")
    for one in worse[:most_shown]:
        stored = "-" if one.stored is None else f"{one.stored:.3f}"
        print(f"  {stored:>6} {one.extracted or 0.0:6.3f}  {one.page.key[:60]:60} {one.page.site[:30]:30} {one.reason}")


def _known(ones: Sequence[Compared], name: str) -> list[float]:
    """Return the F1 of those that have a text."""
    return [score for one in ones if (score := getattr(one, name)) is not None]


def main() -> int:
    """Serve, crawl, extract and compare."""
    options = new_parser(__doc__)
    options.add_argument("corpora", nargs="*")
    options.add_argument("--folds", default="0,1", help="of four, by site (0,1)")
    options.add_argument("--pages", type=int, default=100, help="at most so many of each corpus (100)")
    options.add_argument("--show", type=int, default=20, help="pages that are worse in the database")
    options.add_argument("--keep", type=Path, help="folder for the database and the extracted texts")
    options.add_argument("-s", action="append", default=[], metavar="NAME=VALUE", help="settings of both commands")
    chosen = options.parse_args()
    require_data()
    sites = load(chosen.corpora, [int(one) for one in chosen.folds.split(",")], chosen.pages)
    if not sites:
        return 2
    with tempfile.TemporaryDirectory() as passing:
        folder = (chosen.keep or Path(passing)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        with serving(sites) as origins:
            crawl(folder, origins, chosen.s)
        report(compare(folder, sites, origins, extract(folder, sites, origins, chosen.s)), chosen.show)
    return 0


if __name__ == "__main__":
    sys.exit(main())
