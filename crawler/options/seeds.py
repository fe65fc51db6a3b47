"""Read seeds, the start pages; a wrong line stops the run before it starts."""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from pipelines.dates.period import Bound
from pipelines.document.selectors import Selectors, check
from pipelines.links.scope import STAYS
from pipelines.urls import canonicalize, has_known_suffix, host_key

from ..fetch.proxies import read_proxies, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..fetch.guard import Guard


OPTIONS = ("depth", "pages", "stay", "include", "exclude", "since", "topic", "render", "proxy", *Selectors._fields)
RENDERS = ("never", "auto")
DEMO = "demo"
"""In the place of a URL: the home pages of the bundled newsroom."""
WARC = "warc:"
"""Before the name of a WARC file whose pages are to go through the crawl."""
_MANY = ("include", "exclude")
MAX_SHOWN = 20
MAX_FILE_BYTES = 64 << 20

_COMMENT = re.compile(r"""((?<=\s)\w+=(?:"[^"]*"|'[^']*'|“[^”]*”))|(?:^|(?<=\s))#.*""")
"""A comment, or a value in quotes, in which there is none."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BEGINNING = re.compile(r"([A-Za-z]{2,7})([:;.：；]*)([/\\／]*)")
"""A scheme, or what was meant to be one: letters, colon, slashes."""
_AROUND = "\"'<>“”‘’《》「」"
_PORT = re.compile(r"[^/?#:]+:[0-9]+(?:[/?#]|$)")
_PORT_ALONE = re.compile(r"[0-9]+(?:[/?#]|$)")
_NUMBER = re.compile(r"[0-9]{1,9}")
_QUOTES = {'"': '"', "'": "'", "“": "”"}
_LONG = 80
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Seed:
    """One page to start from.

    Attributes:
        depth: how many links away pages may be; None: the crawl's own limit.
        pages: how many pages may be fetched from the seed's host; None: the crawl's own limit.
        stay: `host`, `site`, `path` or `any`.
        include, exclude: patterns of paths, see `pipelines.links.scope.path_rules`.
        since: time from which articles are wanted, as written; empty: the crawl's own.
        topic: words that describe what is looked for; empty: the crawl's own topic.
        bare: written without a scheme: https, and http where that cannot be had.
        render: `never` or `auto`, empty for the crawl's own `RENDER`.
        proxy: proxies through which its pages are asked for, or `none`; empty for the crawl's own `PROXY`.
        body, title, published, author: selectors for the pages of its host, `css:...` or `xpath:...`, or empty.
        line: line of the file, counted from 1.
    """

    url: str
    depth: int | None = None
    pages: int | None = None
    stay: str = "host"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    since: str = ""
    topic: str = ""
    bare: bool = False
    render: str = ""
    proxy: str = ""
    body: str = ""
    title: str = ""
    published: str = ""
    author: str = ""
    line: int = 0


class ArchiveSeeds(tuple[Seed, ...]):
    """No seeds, but a WARC file, or a folder of them, to be taken through the crawl."""

    path: Path

    def __new__(cls, name: str) -> Self:
        made = super().__new__(cls)
        made.path = Path(name)
        return made


class SeedError(ValueError):
    """The seeds cannot be used; the message tells the user file, lines and reasons."""


class _LineError(ValueError):
    """The reason why one line is wrong."""


def parse_seeds(lines: Iterable[str], name: str, unit: str = "line") -> list[Seed]:
    """Read seeds from lines of text: one URL each, with options after it.

    All wrong lines are reported together, and one is enough to refuse the whole: a crawl that silently misses a seed is
    found out days later. Messages call the source `name`, and a line of it `unit`.

    Raises:
        SeedError: one message line per wrong line (at most `MAX_SHOWN`).
    """
    seeds: dict[str, Seed] = {}
    wrong: list[str] = []
    for number, line in enumerate(lines, 1):
        text = _COMMENT.sub(_without_comment, line.removeprefix("\ufeff") if number == 1 else line).strip()
        if not text:
            continue
        try:
            seed = _parse_line(text, number)
            first = seeds.setdefault(seed.url, seed)
            if replace(first, line=number) != seed:
                msg = f"{seed.url} stands in line {first.line} already, with other options; keep one of the two"
                raise _LineError(msg)
        except _LineError as error:
            wrong.append(f"{name}, {unit} {number}: {error}")
    if wrong:
        if len(wrong) > MAX_SHOWN:
            wrong = [*wrong[:MAX_SHOWN], f"{name}: and {len(wrong) - MAX_SHOWN} more"]
        raise SeedError("\n".join(wrong))
    return list(seeds.values())


def read_seeds(text: str) -> list[Seed]:
    """Read the seeds that an argument gives: a file, or URLs with their options.

    URLs are separated by white space or commas. Raises `SeedError`.
    """
    words = text.split()
    if not words or (text != DEMO and _is_file(text)) or not _is_address(words[0].partition(",")[0]):
        return load_seeds(text)
    entries: list[str] = []
    for word in _split_words(f"- {text}")[1:]:
        key, mark, value = word.partition("=")
        if entries and mark and key.lower() in OPTIONS:
            entries[-1] += f" {key}={_quoted(value)}"
            continue
        urls: list[str] = []
        for part in word.split(","):  # a comma may also stand in a URL
            if urls and part and not _is_address(part):
                urls[-1] += f",{part}"
            elif part:
                urls.append(part)
        entries += urls
    return parse_seeds(entries, "-a seeds", "URL")


def _without_comment(match: re.Match[str]) -> str:
    return match[1] or ""


def _quoted(value: str) -> str:
    """Put a value in quotes that are not in it."""
    opening, closing = next((pair for pair in _QUOTES.items() if not {*pair} & {*value}), ("", ""))
    return f"{opening}{value}{closing}"


def _is_file(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):
        return False


def _is_address(word: str) -> bool:
    if word == DEMO or word.lower().startswith(("http:", "https:", "//")) or _mended(word):
        return True
    url = canonicalize(f"http://{word}")
    if url is None or word.startswith((".", "/", "\\", "~")):
        return False
    host = host_key(url)
    return host.startswith(("localhost", "[")) or ":" in host or has_known_suffix(host)


def load_seeds(path: str | Path) -> list[Seed]:
    """Read at least one seed of a file in UTF-8 or GB 18030, with or without BOM.

    Raises:
        SeedError: the file cannot be read, holds no seed, or has wrong lines; the message says what to do.
    """
    seeds = seeds_in(path)
    if not seeds:
        msg = f"{path} has no seeds yet: write the address of a site into it, one per line, for example www.example.com"
        raise SeedError(msg)
    return seeds


def seeds_in(path: str | Path) -> list[Seed]:
    """Read the seeds of a file, which may have none yet; raises `SeedError`."""
    text = _read(Path(path))
    # Not str.splitlines: it would also split at form feeds and other characters, and miscount the lines.
    return parse_seeds(re.split(r"\r\n|\n|\r", text), str(path))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            msg = f"seeds file {path} is larger than {MAX_FILE_BYTES >> 20} MB: split it"
            raise SeedError(msg)
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
    words = _split_words(text)
    options: dict[str, str] = {}
    for word in words[1:]:
        key, mark, value = word.partition("=")
        key = key.lower()
        if not mark or key not in OPTIONS:
            msg = f"unknown option {_short(key)}; allowed are {', '.join(f'{option}=...' for option in OPTIONS)}"
            raise _LineError(msg)
        if key in options and key not in _MANY:
            msg = f"option {key} is given twice"
            raise _LineError(msg)
        options[key] = f"{options[key]},{value}" if key in options else value
    stay = options.get("stay", "host").lower()
    if stay not in STAYS:
        msg = f"stay={_short(stay)} is not one of {', '.join(STAYS)}"
        raise _LineError(msg)
    if "topic" in options and not options["topic"].strip():
        msg = 'topic is empty; write for example topic="electric cars"'
        raise _LineError(msg)
    if "since" in options:
        try:
            Bound.read(options["since"])
        except ValueError as error:
            msg = f"since={_short(options['since'])}: {error}"
            raise _LineError(msg) from None
    render = options.get("render", "").lower()
    if "render" in options and render not in RENDERS:
        msg = f"render={_short(render)} is not one of {', '.join(RENDERS)}"
        raise _LineError(msg)
    url = _parse_url(words[0])
    return Seed(
        url=url,
        depth=_parse_number(options, "depth", 0),
        pages=_parse_number(options, "pages", 1),
        stay=stay,
        include=_parse_patterns(options, "include"),
        exclude=_parse_patterns(options, "exclude"),
        since=options.get("since", ""),
        bare=url != DEMO and _is_bare(words[0]),
        topic=" ".join(options.get("topic", "").split()),
        render=render,
        proxy=_parse_proxies(options),
        **_parse_selectors(options),
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
    if word == DEMO:
        return DEMO
    if right := _mended(word):
        msg = f"{_short(word)} is no right address; if {_short(right)} is meant, write that"
        raise _LineError(msg)
    address = f"https://{word.removeprefix('//')}" if _is_bare(word) else word
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


def _mended(word: str) -> str:
    """Return an address without the slip in its scheme; empty for one without any.

    Nobody would notice a crawl of another site than was meant, so it is not taken for right.

    >>> _mended("https:/a.example/b"), _mended("http//a.example"), _mended("https://https://a.example")
    ('https://a.example/b', 'http://a.example', 'https://a.example')
    """
    rest = word.strip(_AROUND) if word[:1] in _AROUND else word
    is_wrong, scheme = rest != word, ""
    rest = rest.removeprefix("//")
    while begins := _BEGINNING.match(rest):
        letters, colon, slashes = begins.groups()
        meant = "https" if letters.lower().endswith("s") else "http"
        near = meant if _is_near(letters.lower(), meant) else ""
        is_exact = letters.lower() == near
        is_marked = len(slashes) > 1 or (slashes and colon) or (is_exact and colon and "." not in colon)
        if not near or not is_marked:
            break
        # a second one is wrong however it is written
        is_wrong = is_wrong or bool(scheme) or word[:2] == "//" or (not is_exact, colon, slashes) != (False, ":", "//")
        scheme, rest = near, rest[begins.end() :]
    url = canonicalize(f"{scheme or 'https'}://{rest}") if is_wrong and not _PORT_ALONE.match(rest) else None
    return f"{scheme or 'https'}://{rest}" if url is not None and _is_named(url) else ""


def _is_near(letters: str, scheme: str) -> bool:
    """Tell whether letters are a scheme but for one missing, wrong or too many."""
    letters = letters.replace("xx", "tt")
    places = [(scheme[:at], scheme[at:]) for at in range(len(scheme) + 1)]
    missing = any(letters == before + after[1:] for before, after in places)
    more = len(letters) - len(scheme) in {0, 1}
    return missing or (more and any(letters.startswith(a) and letters[len(a) + 1 :] in {b, b[1:]} for a, b in places))


def _is_bare(word: str) -> bool:
    return not _SCHEME.match(word) or _PORT.match(word) is not None


def _is_named(url: str) -> bool:
    """Tell whether a host has a dot or is local: a lone word is likely a slip."""
    host = url.split("/", 3)[2]
    return "." in host or host.startswith(("[", "localhost"))


def _parse_number(options: dict[str, str], key: str, least: int) -> int | None:
    value = options.get(key)
    if value is None:
        return None
    if not _NUMBER.fullmatch(value) or int(value) < least:
        msg = f"{key}={_short(value)} is not a whole number of at least {least}"
        raise _LineError(msg)
    return int(value)


def _parse_patterns(options: dict[str, str], key: str) -> tuple[str, ...]:
    patterns = tuple(part for part in options.get(key, "").split(",") if part)
    wrong = [part for part in patterns if not part.startswith(("/", "*")) or any(map(str.isspace, part))]
    if wrong or (key in options and not patterns):
        value = _short(wrong[0] if wrong else "")
        msg = f"{key}={value} is no path; write the beginning of one such as /news/, or a pattern such as */2024/*.html"
        raise _LineError(msg)
    return patterns


def _parse_proxies(options: dict[str, str]) -> str:
    """Read proxies; a password is not shown, and never stored."""
    if "proxy" not in options:
        return ""
    try:
        route = read_proxies(options["proxy"], "proxy= of the seed")
    except ValueError as error:
        msg = f"proxy=: {error}"
        raise _LineError(msg) from None
    if any(proxy is not None and proxy.basic for proxy in route):
        msg = (
            "proxy= names a user or password, which would be stored with the seed; write http://host:port alone here, "
            "and the same with user and password into PROXY (behind none, if only seeds use it)"
        )
        raise _LineError(msg)
    if not route:
        msg = "proxy= is empty; write http://host:port, socks5://host:port or none"
        raise _LineError(msg)
    return written(route)


def _parse_selectors(options: dict[str, str]) -> dict[str, str]:
    selectors = {name: options[name].strip() for name in Selectors._fields if name in options}
    for name, selector in selectors.items():
        try:
            check(name, selector)
        except ValueError as error:
            msg = f"{name}={_short(selector)}: {error}"
            raise _LineError(msg) from None
    return selectors


def _short(text: str) -> str:
    """Shorten a piece of a line for a message, and leave out who may log in with what."""
    before, at, after = text.rpartition("@")
    if at:
        scheme, slashes, _ = before.partition("//")
        text = f"{scheme}//***@{after}" if slashes else f"***@{after}"
    return text if len(text) <= _LONG else text[:_LONG] + "..."


def topics(seeds: Iterable[Seed]) -> list[str]:
    return list(dict.fromkeys(seed.topic for seed in seeds if seed.topic))


def seeds_of(seeds: Any, open_demo: Callable[[], Sequence[str]] | None = None) -> Sequence[Seed]:
    """Return seeds as they are or from a file, with home pages for the demo.

    Raises:
        SeedError: they are wrong, or name the demo where nothing opens it.
    """
    if isinstance(seeds, ArchiveSeeds):
        return seeds
    if not seeds:
        raise SeedError(
            "no seeds given; use -a seeds=https://example.com/, -a seeds=seeds.txt (a file of URLs) or -a seeds=demo; "
            "one page alone is read by 'scrapy extract URL'"
        )
    if isinstance(seeds, str) and seeds.startswith(WARC):
        return ArchiveSeeds(seeds.removeprefix(WARC))
    read: Sequence[Seed] = read_seeds(seeds) if isinstance(seeds, str) else seeds
    if all(seed.url != DEMO for seed in read):
        return read
    if open_demo is None:
        raise SeedError("demo means the bundled newsroom, which 'scrapy crawl' and 'scrapy check-seeds' open")
    homes = open_demo()
    return [replace(seed, url=url) for seed in read for url in (homes if seed.url == DEMO else (seed.url,))]


def refuse_private(seeds: Sequence[Seed], guard: Guard) -> None:
    """Raise `SeedError` for seeds at closed addresses; names are not looked up."""
    wrong = {}
    for seed in seeds:
        parts = urlsplit(seed.url)
        host = parts.hostname or ""
        address = "127.0.0.1" if host == "localhost" or host.endswith(".localhost") else host
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with suppress(ValueError):  # a name
            ip_address = ipaddress.ip_address(address)
            if not guard.permits(address, port):
                wrong[seed.url] = f"[{address}]:{port}" if ip_address.version == 6 else f"{address}:{port}"
    if wrong:
        more = f" and {len(wrong) - 1} more seeds are" if len(wrong) > 1 else " is"
        networks = ",".join(dict.fromkeys([*wrong.values()][:_MOST_NAMED]))
        raise SeedError(
            f"{next(iter(wrong))}{more} at no public address (or not at a port of the web): "
            f"open what is meant with -s ALLOW_NETWORKS={networks}, or take it out"
        )
