"""Shapes and normal forms of URLs.

A shape is the common form of the URLs of one kind of page (`patterns`): traps are counted by it. A normal form is a URL
without the parts that do not identify its page. A rule strikes out one thing in URLs of one pattern: a query parameter,
or a slug (words in the path).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from db.records.keys import fingerprint

MOST_SEGMENTS = 8
MOST_PAIRS = 16
MOST_NAME_CHARS = 40
DEEP_SEGMENTS = 9
"""From so many segments on a path counts as one without end."""
_SHOWN_SEGMENTS = 6
"""Longer paths share one shape, however they go on."""
_MOST_LOOKED_AT = 64
_MOST_NAMES = 8
_MOST_CHARS = 160
_LONGEST_NAME = 24
_MAX_SLUG_CHARS = 250
_ON, _ANY = "**", "*"
_MARK = "{}"
"""Stands for a slug in a normal form; canonical URLs have no braces, so such a form is never a URL."""

_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")
_LETTERS = re.compile(r"[A-Za-z]{1,24}")
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,23}")
_NUMBER = r"[0-9]+"
_DATE = r"(?:19|20)[0-9]{2}(?:[-_.][0-9]{1,2}){1,2}"
_HEX = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|(?=[0-9]*[A-Za-z])(?=[A-Za-z]*[0-9])[0-9A-Fa-f]{8,}"
_ID = rf"(?:{_HEX}|(?=[0-9]*[A-Za-z])(?=[A-Za-z]*[0-9])[0-9A-Za-z]{{16,}})(?![0-9A-Za-z])"
_CLASSES = tuple((name, re.compile(text)) for name, text in (("number", _NUMBER), ("date", _DATE), ("id", _ID)))
_KEY = rf"{_DATE}|{_ID}|{_NUMBER}"
_HEAD = re.compile(rf"({_KEY})([-_])(.+)")
_TAIL = re.compile(rf"(.+?)([-_])({_KEY})")
_LETTER = re.compile(r"[A-Za-z%]")
_DIGITS = re.compile(_NUMBER)
_NO_NAME = re.compile(r"[^0-9A-Za-z_.-]")

# ---------------------------------------------------------------- parts of paths


def split(url: str) -> tuple[list[str], str]:
    path, _, query = url[_path_start(url) :].partition("?")
    return path.split("/", _MOST_LOOKED_AT), query


def _path_start(url: str) -> int:
    start = url.find("/", url.find("://") + 3)
    return start + 1 if start >= 3 else len(url)


def class_of(text: str) -> str:
    """Classify a part of a path: "number", "date", "id" or empty.

    >>> [class_of(text) for text in ("17", "2024-05-01", "0f3ab12c", "news")]
    ['number', 'date', 'id', '']
    """
    return next((name for name, pattern in _CLASSES if pattern.fullmatch(text)), "")


def _without_ending(text: str) -> tuple[str, str]:
    ending = _ENDING.search(text, len(text) - 6) if "." in text[-6:] else None
    return (text[: ending.start()], ending[0]) if ending and ending.start() else (text, "")


# ---------------------------------------------------------------- shapes


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


@lru_cache(maxsize=1 << 13)
def patterns(url: str) -> Patterns:
    """Return the patterns of a canonical URL, without its host.

    Cost: some microseconds; answers for recent URLs are remembered.

    >>> patterns("http://a.example/news/2024-05-01/t123.html?b=2&a=show").exact
    '/news/<date>/t<number>.html?a=show&b'
    >>> patterns("http://a.example/shop/red/7.html?b=2").folder
    '/shop/*/*.html?'
    """
    segments, query = split(url)
    folder, mark = _folder_of(url)[0], "?" if query else ""
    if _goes_on(segments):
        return Patterns(folder, folder, f"/{_ON}{mark}")
    *folders, name = segments
    stem, ending = _without_ending(name)
    exact = _join([*map(_narrow, folders), _narrow(stem) + ending.lower()], _names(query))
    return Patterns(exact, folder, _join([*map(_any, folders), _any(stem) + ending.lower()], mark))


def folder_key(url: str) -> int:
    """Return a number for the folder pattern of a URL, to compare links of pages by.

    Cost: a microsecond or two.
    """
    return _folder_of(url)[1]


@lru_cache(maxsize=1 << 12)
def key_of(pattern: str) -> int:
    return fingerprint(pattern)


def is_deep(segments: Sequence[str]) -> bool:
    return len(segments) - (not segments[-1]) >= DEEP_SEGMENTS


def _folder_of(url: str) -> tuple[str, int]:
    path, _, query = url[_path_start(url) :].partition("?")
    head, slash, name = path.rpartition("/")
    stem, ending = _without_ending(name)
    is_shown = (query or not slash) and _WORD.fullmatch(stem) is not None
    return _folder(head, slash, (stem if is_shown else _any(stem)) + ending.lower(), "?" if query else "")


@lru_cache(maxsize=1 << 13)
def _folder(head: str, slash: str, last: str, mark: str) -> tuple[str, int]:
    first, *middle = head.split("/", _MOST_LOOKED_AT)
    first = first if _WORD.fullmatch(first) else _ANY
    if slash and _goes_on([*head.split("/", _MOST_LOOKED_AT), last]):
        pattern = f"/{first}/{_ON}{mark}"
    else:
        pattern = _join([first, *map(_any, middle), last] if slash else [last], mark)
    return pattern, key_of(pattern)


def _goes_on(segments: Sequence[str]) -> bool:
    if is_deep(segments):
        return True
    words = [text for text in segments[:-1] if len(text) > 1 and _WORD.fullmatch(text)]
    return len(words) > len(set(words))


def _join(parts: Sequence[str], end: str) -> str:
    shown = parts if len(parts) <= _SHOWN_SEGMENTS else [*parts[:_SHOWN_SEGMENTS], _ON]
    return ("/" + "/".join(shown) + end)[:_MOST_CHARS]


def _any(text: str) -> str:
    return _ANY if text else ""


def _narrow(text: str) -> str:
    stem, mark, _ = text.partition(";")
    if not stem or _WORD.fullmatch(stem):
        return stem + mark
    name = class_of(stem) or ("text" if "%" in stem or len(stem) > _LONGEST_NAME else "")
    return (f"<{name}>" if name else _DIGITS.sub("<number>", stem)) + mark


def _names(query: str) -> str:
    pairs = sorted({_pair(pair) for pair in query.split("&", _MOST_NAMES)[:_MOST_NAMES]})
    return "?" + "&".join(pairs) if query else ""


def _pair(pair: str) -> str:
    name, _, value = pair.partition("=")
    name = _DIGITS.sub("<number>", _NO_NAME.sub("", name[:30]))
    return f"{name}={value}" if len(value) <= 16 and _WORD.fullmatch(value) else name


# ---------------------------------------------------------------- normal forms

PARAMETER, SLUG = "parameter", "slug"


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """A part of URLs that may be struck out: a parameter or a slug.

    A slug's pattern is the path with `*` in its place (`/news/<number>-*`), a parameter's the path, a question mark and
    its name (`/news/<number>.html?from`). `<word>` stands for any single word, a word for itself.
    """

    kind: str
    pattern: str

    def __str__(self) -> str:
        if self.kind == SLUG:
            return self.pattern
        path, _, name = self.pattern.partition("?")
        return f"?{name}= ignored in {path}"


class Segment(NamedTuple):
    """A part of the path: as written, pattern, pattern with `<word>`, without slug.

    `struck` and `mark` are empty when it has no slug.
    """

    text: str
    pattern: str
    general: str
    struck: str
    mark: str


class UrlParts(NamedTuple):
    origin: str
    segments: tuple[Segment, ...]
    pairs: tuple[str, ...]

    def path(self) -> tuple[str, str]:
        return _path(s.pattern for s in self.segments), _path(s.general for s in self.segments)

    def slug(self, place: int) -> tuple[str, str]:
        segments = self.segments
        return (
            _path(s.mark if i == place else s.pattern for i, s in enumerate(segments)),
            _path(s.mark if i == place else s.general for i, s in enumerate(segments)),
        )

    def write(self, slugs: Collection[int], names: Collection[str]) -> str:
        path = _path(s.struck if i in slugs else s.text for i, s in enumerate(self.segments))
        pairs = "&".join(pair for pair in self.pairs if name_of(pair) not in names)
        return f"{self.origin}{path}?{pairs}" if pairs else self.origin + path


def take_apart(url: str) -> UrlParts | None:
    """Split a canonical URL; None if it has more parts than any rule covers."""
    segments, query = split(url)
    if len(segments) > MOST_SEGMENTS or query.count("&") >= MOST_PAIRS:
        return None
    *folders, last = segments
    stem, ending = _without_ending(last)
    end = Segment(*(part and part + ending for part in _segment(stem)))
    pairs = tuple(query.split("&")) if query else ()
    return UrlParts(url[: _path_start(url) - 1], (*map(_segment, folders), end), pairs)


def name_of(pair: str) -> str:
    """Return the name of a parameter; empty if it is too long for a rule."""
    name = pair.partition("=")[0]
    return name if len(name) <= MOST_NAME_CHARS else ""


def _path(parts: Iterable[str]) -> str:
    return "/" + "/".join(parts)


@lru_cache(maxsize=4096)
def _segment(text: str) -> Segment:
    if _LETTERS.fullmatch(text):
        return Segment(text, text, "<word>", _MARK, _ANY)
    if name := class_of(text) or ("" if _LETTER.search(text) else "text"):
        return Segment(text, f"<{name}>" if text else "", f"<{name}>" if text else "", "", "")
    if len(text) > _MAX_SLUG_CHARS:  # a pattern that may begin anywhere looks at what follows from every place
        return Segment(text, "<text>", "<text>", _MARK, _ANY)
    if (match := _HEAD.fullmatch(text)) and _LETTER.search(match[3]):
        key, shape = match[1] + match[2], f"<{class_of(match[1])}>{match[2]}"
        return Segment(text, f"{shape}<text>", f"{shape}<text>", f"{key}{_MARK}", f"{shape}*")
    if (match := _TAIL.fullmatch(text)) and _LETTER.search(match[1]):
        key, shape = match[2] + match[3], f"{match[2]}<{class_of(match[3])}>"
        return Segment(text, f"<text>{shape}", f"<text>{shape}", f"{_MARK}{key}", f"*{shape}")
    return Segment(text, "<text>", "<text>", _MARK, _ANY)


class Rules:
    """The rules of one host in use: all processes make the same normal forms."""

    def __init__(self, rules: Collection[Rule]) -> None:
        self.rules = frozenset(rules)
        self._slugs = {rule.pattern for rule in self.rules if rule.kind == SLUG}
        self._parameters = {rule.pattern for rule in self.rules if rule.kind == PARAMETER}
        self._names = {pattern.partition("?")[2] for pattern in self._parameters}
        self._salt = pack(self.rules)

    def matching(self, parts: UrlParts) -> list[tuple[Rule, int | str]]:
        matches: list[tuple[Rule, int | str]] = []
        for place, segment in enumerate(parts.segments if self._slugs else ()):
            if segment.mark:
                matches += [(Rule(SLUG, pattern), place) for pattern in self._slugs.intersection(parts.slug(place))]
        if names := self._names.intersection(map(name_of, parts.pairs)):
            keys = {f"{path}?{name}": name for path in parts.path() for name in names}
            matches += [(Rule(PARAMETER, key), keys[key]) for key in self._parameters.intersection(keys)]
        return sorted(matches, key=lambda one: one[0])

    def key(self, url: str) -> int:
        """Return an identifier of the normal form of a URL under these rules.

        Cost: about 10 microseconds.
        """
        return fingerprint(f"{self._salt} {normal_form(url, self) or url}")


def normal_form(url: str, rules: Rules) -> str | None:
    """Return the normal form of a canonical URL; None when no rule matches.

    Each rule is matched against the URL as it is, so their order makes no difference.
    Cost: linear in the length of the URL, some 5 microseconds.

    >>> normal_form("http://a.cn/1.html?from=app&p=2", Rules([Rule("parameter", "/<number>.html?from")]))
    'http://a.cn/1.html?p=2'
    >>> normal_form("http://a.cn/news/7-some-words", Rules([Rule("slug", "/<word>/<number>-*")]))
    'http://a.cn/news/7-{}'
    """
    parts = take_apart(url)
    matches = [] if parts is None else rules.matching(parts)
    if parts is None or not matches:
        return None
    return parts.write(
        {place for _, place in matches if isinstance(place, int)},
        {name for _, name in matches if isinstance(name, str)},
    )


def pack(rules: Collection[Rule]) -> str:
    """Write rules as compact text, the same for the same rules; empty for none."""
    if not rules:
        return ""
    return json.dumps([[rule.kind, rule.pattern] for rule in sorted(rules)], separators=(",", ":"))


@lru_cache(maxsize=256)
def unpack(text: str) -> Rules:
    """Read rules from their text.

    Raises:
        ValueError: it is no such text.
    """
    try:
        return Rules([Rule(str(kind), str(pattern)) for kind, pattern in json.loads(text or "[]")])
    except (TypeError, ValueError) as error:
        raise ValueError(f"{text[:80]!r} is no text of rules: {error}") from None
