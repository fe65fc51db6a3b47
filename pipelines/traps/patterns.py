"""Patterns of URLs: what is left of an address when that is left out which tells one page from the next of its kind.

Pages that a program makes without end (calendars, session ids, facets) have addresses of few patterns. A URL has three
of them, each wider than the one before, so that neither a trap with many names nor one with many numbers escapes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from db.records.keys import fingerprint

MOST_SEGMENTS = 6
"""Paths with more segments are of one pattern, however they go on."""
DEEP_SEGMENTS = 9
"""From so many segments on a path counts as one that goes ever deeper."""
_MOST_LOOKED_AT = 64
_MOST_NAMES = 8
_MOST_CHARS = 160
_LONGEST_NAME = 24
_TIMES_REPEATED = 3
_LONGEST_LOOP = 4
_ON = "**"
_ANY = "*"

_ENDING = re.compile(r"[A-Za-z][A-Za-z0-9]{1,4}")
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,23}")
_DATE = re.compile(r"(?:19|20)[0-9]{2}(?:[-_.]?[0-9]{2}){1,2}")
_NUMBER = re.compile(r"[0-9]+")
_HEX = re.compile(r"[0-9A-Fa-f-]{8,}")
_ID = re.compile(r"[0-9A-Za-z_~=-]{16,}")
_LETTER = re.compile(r"[A-Za-z]")
_DIGIT = re.compile(r"[0-9]")
_NAME = re.compile(r"[^0-9A-Za-z_.-]")


class Patterns(NamedTuple):
    """The patterns of a URL, from the narrowest to the widest.

    Attributes:
        exact: words of the path as they are, numbers, dates and identifiers abstracted; the parameters' names in the
            order of the alphabet, with the values that are words.
        folder: the first segment (or the script that is asked), any others as `*`; whether there is a query.
        shape: how many segments, and the ending of the last.
    """

    exact: str
    folder: str
    shape: str


EXACT, FOLDER, SHAPE, HOST, ANSWER = range(5)
"""Levels of patterns, the narrowest first; then the whole host, and (no pattern of addresses) what pages show."""
Key = tuple[int, str]
"""Level and pattern."""

ENDLESS_PATH = "endless path"


def objection(url: str, shut: Mapping[Key, str]) -> str:
    """Return the kind of trap that a URL of a host belongs to, empty for none.

    Args:
        url: canonical.
        shut: pattern -> kind of trap, of the host; no kind for a pattern that is open whatever wider ones are.

    Cost: some microseconds.
    """
    if winds(url):
        return ENDLESS_PATH
    if not shut:
        return ""
    found = patterns(url)
    keys = ((EXACT, found.exact), (FOLDER, found.folder), (SHAPE, found.shape), (HOST, ""))
    return next((shut[key] for key in keys if key in shut), "")


@lru_cache(maxsize=1 << 13)
def patterns(url: str) -> Patterns:
    """Return the patterns of a canonical URL, which say nothing of its host.

    Cost: some microseconds; answers for recent URLs are remembered.

    >>> patterns("http://a.example/news/2024-05-01/t123.html?b=2&a=show").exact
    '/news/<date>/t<number>.html?a=show&b'
    >>> patterns("http://a.example/shop/red/7.html?b=2").folder
    '/shop/*/*.html?'
    """
    segments, query = take_apart(url)
    names, mark = _names(query), "?" if query else ""
    folder, _ = _folder_of(url)
    if folder.endswith((f"/{_ON}", f"/{_ON}?")) and _goes_on(segments):
        return Patterns(folder, folder, f"/{_ON}{mark}")
    shown, more = (segments, "") if len(segments) <= MOST_SEGMENTS else (segments[:MOST_SEGMENTS], f"/{_ON}")
    last = len(segments) - 1
    exact = "".join(f"/{_narrow(text, is_last=i == last)}" for i, text in enumerate(shown)) + more
    shape = "".join(f"/{_any(text, is_last=i == last)}" for i, text in enumerate(shown))
    return Patterns((exact + names)[:_MOST_CHARS], folder, shape + more + mark)


def folder_key(url: str) -> int:
    """Return a number for the folder pattern of a URL, as it is compared between the links of pages.

    Cost: a microsecond or two.
    """
    return _folder_of(url)[1]


def _folder_of(url: str) -> tuple[str, int]:
    """The folder pattern of a URL and its number: the same for all that lie in a folder and end alike."""
    path, _, query = url[url.find("/", url.find("://") + 3) + 1 :].partition("?")
    head, slash, name = path.rpartition("/")
    stem, extension = _parts(name, is_last=True)
    kept = (query or not slash) and _WORD.fullmatch(stem) is not None
    return _folder(head, slash, (stem if kept else _ANY if stem else "") + extension, "?" if query else "")


@lru_cache(maxsize=1 << 13)
def _folder(head: str, slash: str, last: str, mark: str) -> tuple[str, int]:
    """The same from the folders, the slash behind them, what is left of the last part, and the mark of a query."""
    segments = [*head.split("/", _MOST_LOOKED_AT), last] if slash else [last]
    if _goes_on(segments):
        found = f"/{_first(segments)}/{_ON}{mark}"
    else:
        shown, more = (segments, "") if len(segments) <= MOST_SEGMENTS else (segments[:MOST_SEGMENTS], f"/{_ON}")
        middle = [_ANY if text else "" for text in shown[1:-1]]
        parts = [_first(shown), *middle, last if not more else _ANY] if slash else [last]
        found = ("/" + "/".join(parts) + more + mark)[:_MOST_CHARS]
    return found, key_of(found)


def _goes_on(segments: Sequence[str]) -> bool:
    """Whether a path looks like one that goes ever deeper."""
    return is_deep(segments) or _repeats(segments)


@lru_cache(maxsize=1 << 12)
def key_of(pattern: str) -> int:
    """Return the number that stands for a pattern."""
    return fingerprint(pattern)


def take_apart(url: str) -> tuple[list[str], str]:
    """Return the segments of a URL's path and its query."""
    start = url.find("/", url.find("://") + 3)
    if start < 3:
        return [""], ""
    path, _, query = url[start + 1 :].partition("?")
    return path.split("/", _MOST_LOOKED_AT), query


def is_deep(segments: Sequence[str]) -> bool:
    """Whether a path goes deeper than those of sites that people have made."""
    return len(segments) - (not segments[-1]) >= DEEP_SEGMENTS


def winds(url: str) -> bool:
    """Return whether a path runs round and round: some words in a row, three times one after the other.

    No page that people have filed has such an address; relative links of pages that answer at any depth make them.

    Cost: a microsecond for most; O(segments).

    >>> winds("http://a.example/a/b/a/b/a/b/"), winds("http://a.example/2024/5/5/5/news/")
    (True, False)
    """
    segments, _ = take_apart(url)
    if len(segments) - len(set(segments)) < _TIMES_REPEATED - 1:
        return False
    for length in range(1, _LONGEST_LOOP + 1):
        same = 0
        for i in range(length, len(segments)):
            same = same + 1 if segments[i] and segments[i] == segments[i - length] else 0
            if same >= length * (_TIMES_REPEATED - 1):
                loop = segments[i - length + 1 : i + 1]
                if any(_LETTER.search(text) for text in loop):
                    return True
    return False


def _repeats(segments: Sequence[str]) -> bool:
    """Whether a folder comes twice in a path."""
    words = [text for text in segments[:-1] if _WORD.fullmatch(text) and len(text) > 1]
    return len(words) > len(set(words))


def _first(segments: Sequence[str]) -> str:
    """The folder that all lies in, if its name is a word."""
    text = segments[0]
    return text if _WORD.fullmatch(text) else _ANY


def _parts(text: str, *, is_last: bool) -> tuple[str, str]:
    """A segment without and with its ending."""
    if not is_last or "." not in text[-6:]:
        return text, ""
    stem, _, ending = text.rpartition(".")
    return (stem, f".{ending.lower()}") if _ENDING.fullmatch(ending) else (text, "")


def _narrow(text: str, *, is_last: bool) -> str:
    """A segment with what counts or identifies left out."""
    stem, extension = _parts(text, is_last=is_last)
    return _class(stem) + extension


def _class(stem: str) -> str:
    """What kind of name a segment has; a word is its own."""
    stem, mark, _ = stem.partition(";")
    if not stem or _WORD.fullmatch(stem):
        return stem + mark
    name = next((name for name, is_one in _CLASSES if is_one(stem)), "")
    return (f"<{name}>" if name else _NUMBER.sub("<number>", stem)) + mark


def _is_id(stem: str) -> bool:
    """Whether it looks drawn or counted by a program."""
    if _DIGIT.search(stem) is None:
        return False
    mixed = "-" not in stem and _LETTER.search(stem) is not None
    return _HEX.fullmatch(stem) is not None or (mixed and _ID.fullmatch(stem) is not None)


_CLASSES: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("date", _DATE.fullmatch),
    ("number", _NUMBER.fullmatch),
    ("id", _is_id),
    ("text", lambda stem: "%" in stem or len(stem) > _LONGEST_NAME),
)


def _any(text: str, *, is_last: bool) -> str:
    """Any segment, with its ending."""
    stem, extension = _parts(text, is_last=is_last)
    return (_ANY if stem else "") + extension


def _names(query: str) -> str:
    """Names of the parameters, with the values that are words."""
    if not query:
        return ""
    pairs = sorted({_pair(pair) for pair in query.split("&", _MOST_NAMES)[:_MOST_NAMES]})
    return "?" + "&".join(pairs)


def _pair(pair: str) -> str:
    name, _, value = pair.partition("=")
    name = _NUMBER.sub("<number>", _NAME.sub("", name[:30]))
    return f"{name}={value}" if len(value) <= 16 and _WORD.fullmatch(value) else name
