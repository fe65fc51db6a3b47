"""Read seeds, the start pages; a wrong line stops the run before it starts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.links.scope import STAYS
from pipelines.urls import canonicalize

if TYPE_CHECKING:
    from collections.abc import Iterable


OPTIONS = ("depth", "pages", "stay", "topic")
MAX_SHOWN = 20
MAX_FILE_BYTES = 64 << 20

_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PORT = re.compile(r"[^/?#:]+:[0-9]+(?:[/?#]|$)")
_NUMBER = re.compile(r"[0-9]{1,9}")
_QUOTES = {'"': '"', "'": "'", "“": "”"}
_LONG = 80


@dataclass(frozen=True, slots=True)
class Seed:
    """One page to start from.

    Attributes:
        url: canonical URL.
        depth: how many links away pages may be; None: the crawl's own limit.
        pages: how many pages may be fetched from the seed's host; None: the crawl's own limit.
        stay: `host`, `site` or `any`.
        topic: words that describe what is looked for; empty: the crawl's own topic.
        line: line of the file, counted from 1.
    """

    url: str
    depth: int | None = None
    pages: int | None = None
    stay: str = "host"
    topic: str = ""
    line: int = 0


class SeedError(ValueError):
    """The seeds cannot be used; the message tells the user file, lines and reasons."""


class _LineError(ValueError):
    """The reason why one line is wrong."""


def parse_seeds(lines: Iterable[str], name: str) -> list[Seed]:
    """Read seeds from lines of text.

    All wrong lines are reported together, and one is enough to refuse the whole: a crawl that silently misses a
    seed is found out days later.

    Args:
        lines: one URL each, with options after it; blank lines and comments are skipped.
        name: what the messages call the source, normally the file's path.

    Returns:
        The seeds in their order, each URL once; an empty list when there is none.

    Raises:
        SeedError: one message line per wrong line (at most `MAX_SHOWN`).
    """
    seeds: dict[str, Seed] = {}
    wrong: list[str] = []
    for number, line in enumerate(lines, 1):
        text = _COMMENT.sub("", line.removeprefix("\ufeff") if number == 1 else line).strip()
        if not text:
            continue
        try:
            seed = _parse_line(text, number)
            first = seeds.setdefault(seed.url, seed)
            if replace(first, line=number) != seed:
                msg = f"{seed.url} stands in line {first.line} already, with other options; keep one of the two"
                raise _LineError(msg)
        except _LineError as error:
            wrong.append(f"{name}, line {number}: {error}")
    if wrong:
        if len(wrong) > MAX_SHOWN:
            wrong = [*wrong[:MAX_SHOWN], f"{name}: and {len(wrong) - MAX_SHOWN} more"]
        raise SeedError("\n".join(wrong))
    return list(seeds.values())


def load_seeds(path: str | Path) -> list[Seed]:
    """Read a seeds file.

    Args:
        path: a text file in UTF-8 or GB 18030, with or without byte order mark.

    Returns:
        At least one seed.

    Raises:
        SeedError: the file cannot be read, holds no seed, or has wrong lines; the message says what to do.
    """
    text = _read(Path(path))
    # Not str.splitlines: it would also split at form feeds and other characters, and miscount the lines.
    seeds = parse_seeds(re.split(r"\r\n|\n|\r", text), str(path))
    if not seeds:
        msg = f"{path} has no seeds yet: write the address of a site into it, one per line, for example www.example.com"
        raise SeedError(msg)
    return seeds


def _read(path: Path) -> str:
    """Read and decode a file, or say in one sentence why not."""
    try:
        if path.is_file() and path.stat().st_size > MAX_FILE_BYTES:
            msg = f"seeds file {path} is larger than {MAX_FILE_BYTES >> 20} MB: split it"
            raise SeedError(msg)
        data = path.read_bytes()
    except FileNotFoundError:
        msg = f"seeds file {path} does not exist: create it with one address per line, or name another file"
    except IsADirectoryError:
        msg = f"seeds file {path} is a directory: name a text file with one address per line"
    except PermissionError:
        msg = f"seeds file {path} may not be read: give this user the right to read it"
    except (OSError, ValueError) as error:
        if isinstance(error, SeedError):
            raise
        why = getattr(error, "strerror", None) or error
        msg = f"seeds file {str(path)!r} cannot be read ({why}): name a text file with one address per line"
    else:
        for encoding in ("utf-8-sig", "gb18030"):
            try:
                text = data.decode(encoding)
            except UnicodeDecodeError:
                continue
            if "\0" not in text:
                return text
        msg = f"seeds file {path} is no text in UTF-8 or GB 18030: save it as UTF-8"
    raise SeedError(msg)


def _parse_line(text: str, number: int) -> Seed:
    """Read one line without comment."""
    words = _split_words(text)
    options: dict[str, str] = {}
    for word in words[1:]:
        key, mark, value = word.partition("=")
        key = key.lower()
        if not mark or key not in OPTIONS:
            msg = f"unknown option {_short(key)}; allowed are {', '.join(f'{option}=...' for option in OPTIONS)}"
            raise _LineError(msg)
        if key in options:
            msg = f"option {key} is given twice"
            raise _LineError(msg)
        options[key] = value
    stay = options.get("stay", "host").lower()
    if stay not in STAYS:
        msg = f"stay={_short(stay)} is not one of {', '.join(STAYS)}"
        raise _LineError(msg)
    if "topic" in options and not options["topic"].strip():
        msg = 'topic is empty; write for example topic="electric cars"'
        raise _LineError(msg)
    return Seed(
        url=_parse_url(words[0]),
        depth=_parse_number(options, "depth", 0),
        pages=_parse_number(options, "pages", 1),
        stay=stay,
        topic=" ".join(options.get("topic", "").split()),
        line=number,
    )


def _split_words(text: str) -> list[str]:
    """Split at white space outside quotes; quotes may only enclose a value."""
    words: list[str] = []
    position, end = 0, len(text)
    while position < end:
        if text[position].isspace():
            position += 1
            continue
        start = position
        while position < end and not text[position].isspace():
            position += 1
            if words and text[position - 1] == "=" and position < end and text[position] in _QUOTES:
                close = text.find(_QUOTES[text[position]], position + 1)
                if close < 0:
                    msg = f"the quote in {_short(text[start:])} is not closed"
                    raise _LineError(msg)
                if close + 1 < end and not text[close + 1].isspace():
                    msg = f"white space is missing after {_short(text[start : close + 1])}"
                    raise _LineError(msg)
                words.append(text[start:position] + text[position + 1 : close])
                start = position = close + 1
                break
        if position > start:
            words.append(text[start:position])
    return words


def _parse_url(word: str) -> str:
    """Return the canonical URL of an address as people write it."""
    if _SCHEME.match(word) and not _PORT.match(word):
        address = word
    else:
        address = "http:" + word if word.startswith("//") else "http://" + word
    url = canonicalize(address)
    host = address.partition("://")[2]
    if url is None or host.startswith(("/", "\\")):
        msg = f"{_short(word)} is no address of a web page; write for example https://www.example.com/news/"
        raise _LineError(msg)
    if "@" in re.split(r"[/?#\\]", host, maxsplit=1)[0]:
        msg = f"{_short(word)} names a user or password, and none is sent; take them out"
        raise _LineError(msg)
    if "://" not in word and not _is_named(url):
        msg = f"{_short(word)} is no address of a web page; if it is a local host, write http://{_short(word)}/"
        raise _LineError(msg)
    return url


def _is_named(url: str) -> bool:
    """Tell whether a host has a dot or is local: a lone word is likely a slip."""
    host = url.split("/", 3)[2]
    return "." in host or host.startswith(("[", "localhost"))


def _parse_number(options: dict[str, str], key: str, least: int) -> int | None:
    """Read a whole number not below `least`; None when the option is absent."""
    value = options.get(key)
    if value is None:
        return None
    if not _NUMBER.fullmatch(value) or int(value) < least:
        msg = f"{key}={_short(value)} is not a whole number of at least {least}"
        raise _LineError(msg)
    return int(value)


def _short(text: str) -> str:
    """Shorten a piece of a line for a message, and leave out who may log in with what."""
    before, at, after = text.rpartition("@")
    if at:
        scheme, slashes, _ = before.partition("//")
        text = f"{scheme}//***@{after}" if slashes else f"***@{after}"
    return text if len(text) <= _LONG else text[:_LONG] + "..."


def topics(seeds: Iterable[Seed]) -> list[str]:
    """Return the topics of seeds, each once."""
    return list(dict.fromkeys(seed.topic for seed in seeds if seed.topic))
