"""Forms of URLs: what is left of an address when that is struck out which does not say what page it names.

A rule strikes out one thing on addresses of one pattern: a query parameter, or a slug (words in the path). How rules
are learned is told in `urlrules`. A pattern is the path with classes in the place of its parts: `/news/<number>.html`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from db.records.keys import fingerprint

PARAMETER, SLUG = "parameter", "slug"
MOST_SEGMENTS = 8
MOST_PAIRS = 16
MOST_NAME_CHARS = 40
_MARK = "{}"
"""Stands for a slug in a form: no canonical URL has braces, so a form with one is never an address."""

_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")
_WORD = re.compile(r"[A-Za-z]{1,24}")
_NUMBER = r"[0-9]+"
_DATE = r"(?:19|20)[0-9]{2}(?:[-_][0-9]{1,2}){1,2}"
_HEX = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{8,}(?![0-9A-Za-z])"
_CLASSES = tuple((name, re.compile(text)) for name, text in (("number", _NUMBER), ("date", _DATE), ("hex", _HEX)))
_ID = rf"{_DATE}|{_HEX}|{_NUMBER}"
_HEAD = re.compile(rf"({_ID})([-_])(.+)")
_TAIL = re.compile(rf"(.+?)([-_])({_ID})")
_LETTER = re.compile(r"[A-Za-z%]")
_MAX_SLUG_CHARS = 250


@dataclass(frozen=True, slots=True, order=True)
class Rule:
    """What may be struck out where.

    Attributes:
        kind: `PARAMETER` or `SLUG`.
        pattern: of a slug the path with `*` in its place (`/news/<number>-*`); of a parameter the path, a question mark
            and its name (`/news/<number>.html?from`). `<word>` stands for any single word, a word for itself.
    """

    kind: str
    pattern: str

    def __str__(self) -> str:
        if self.kind == SLUG:
            return self.pattern
        path, _, name = self.pattern.partition("?")
        return f"?{name}= ignored in {path}"


class Segment(NamedTuple):
    """A part of the path: as written, its pattern, the same with words as `<word>`; with its slug struck out, if any.

    `struck` and `mark` are empty when it has no slug.
    """

    text: str
    pattern: str
    general: str
    struck: str
    mark: str


class Address(NamedTuple):
    """A URL taken apart."""

    origin: str
    segments: tuple[Segment, ...]
    pairs: tuple[str, ...]

    def path(self) -> tuple[str, str]:
        """Pattern of the path, with its words and without."""
        return _joined(s.pattern for s in self.segments), _joined(s.general for s in self.segments)

    def slug(self, place: int) -> tuple[str, str]:
        """Pattern of the path with a slug in one place, with its words and without."""
        segments = self.segments
        return (
            _joined(s.mark if i == place else s.pattern for i, s in enumerate(segments)),
            _joined(s.mark if i == place else s.general for i, s in enumerate(segments)),
        )

    def write(self, slugs: Collection[int], names: Collection[str]) -> str:
        """The form without some slugs and parameters."""
        path = "".join(f"/{s.struck if i in slugs else s.text}" for i, s in enumerate(self.segments))
        pairs = "&".join(pair for pair in self.pairs if name_of(pair) not in names)
        return f"{self.origin}{path}?{pairs}" if pairs else self.origin + path


def take_apart(url: str) -> Address | None:
    """Take a canonical URL apart; None for one with more parts than any rule is about."""
    start = url.find("/", url.find("://") + 3)
    path, _, query = url[start + 1 :].partition("?")
    if start < 3 or path.count("/") >= MOST_SEGMENTS or query.count("&") >= MOST_PAIRS:
        return None
    *folders, last = path.split("/")
    segments = (*map(_segment, folders), _last_segment(last))
    return Address(url[:start], segments, tuple(query.split("&")) if query else ())


def name_of(pair: str) -> str:
    """Name of a parameter; empty for one that no rule may be about."""
    name = pair.partition("=")[0]
    return name if len(name) <= MOST_NAME_CHARS else ""


def _joined(parts: Iterator[str]) -> str:
    return "/" + "/".join(parts)


@lru_cache(maxsize=4096)
def _segment(text: str) -> Segment:
    """A folder of the path."""
    if _WORD.fullmatch(text):
        return Segment(text, text, "<word>", _MARK, "*")
    if name := _class_of(text) or ("" if _LETTER.search(text) else "text"):
        return Segment(text, f"<{name}>" if text else "", f"<{name}>" if text else "", "", "")
    if len(text) > _MAX_SLUG_CHARS:  # a pattern that may begin anywhere looks at what follows from every place
        return Segment(text, "<text>", "<text>", _MARK, "*")
    if (found := _HEAD.fullmatch(text)) and _LETTER.search(found[3]):
        key, shape = found[1] + found[2], f"<{_class_of(found[1])}>{found[2]}"
        return Segment(text, f"{shape}<text>", f"{shape}<text>", f"{key}{_MARK}", f"{shape}*")
    if (found := _TAIL.fullmatch(text)) and _LETTER.search(found[1]):
        key, shape = found[2] + found[3], f"{found[2]}<{_class_of(found[3])}>"
        return Segment(text, f"<text>{shape}", f"<text>{shape}", f"{_MARK}{key}", f"*{shape}")
    return Segment(text, "<text>", "<text>", _MARK, "*")


@lru_cache(maxsize=4096)
def _last_segment(text: str) -> Segment:
    """The last part of the path, which may have an extension."""
    found = _EXTENSION.search(text)
    if not found or not found.start():
        return _segment(text)
    extension = found[0]
    stem = _segment(text[: found.start()])
    return Segment(*(part and part + extension for part in stem))


def _class_of(text: str) -> str:
    """Number, date or hex; empty for anything else."""
    return next((name for name, pattern in _CLASSES if pattern.fullmatch(text)), "")


class Rules:
    """Rules of one host, in use: all processes make the same forms of them.

    Args:
        rules: in any order.

    Attributes:
        rules: the same.
    """

    def __init__(self, rules: Collection[Rule]) -> None:
        self.rules = frozenset(rules)
        self._slugs = {rule.pattern for rule in self.rules if rule.kind == SLUG}
        self._parameters = {rule.pattern for rule in self.rules if rule.kind == PARAMETER}
        self._names = {pattern.partition("?")[2] for pattern in self._parameters}
        self._salt = pack(self.rules)

    def matching(self, address: Address) -> list[tuple[Rule, int | str]]:
        """The rules that touch an address, each with the place of the slug or the name of the parameter."""
        found: list[tuple[Rule, int | str]] = []
        if self._slugs:
            for place, segment in enumerate(address.segments):
                if segment.mark:
                    patterns = dict.fromkeys(address.slug(place))
                    found.extend((Rule(SLUG, pattern), place) for pattern in patterns if pattern in self._slugs)
        names = sorted(self._names.intersection(map(name_of, address.pairs))) if self._names else []
        if names:
            for path in dict.fromkeys(address.path()):
                for name in names:
                    if f"{path}?{name}" in self._parameters:
                        found.append((Rule(PARAMETER, f"{path}?{name}"), name))
        return found

    def form(self, url: str) -> int:
        """Identifier of the form of a URL (of its own text when no rule touches it): forms of other rules differ.

        Cost: about 10 microseconds.
        """
        return fingerprint(f"{self._salt} {reduce(url, self) or url}")


def reduce(url: str, rules: Rules) -> str | None:
    """What is left of a URL under rules, or None when none touches it.

    Each rule is held against the URL as it is, so their order makes no difference.

    Args:
        url: canonical.
        rules: of its host.

    Returns:
        The URL without the parameters, and with a mark for each slug: then it is no address.

    Cost: linear in the length of the URL, some 5 microseconds.

    >>> reduce("http://a.cn/1.html?from=app&p=2", Rules([Rule("parameter", "/<number>.html?from")]))
    'http://a.cn/1.html?p=2'
    >>> reduce("http://a.cn/news/7-some-words", Rules([Rule("slug", "/<word>/<number>-*")]))
    'http://a.cn/news/7-{}'
    """
    address = take_apart(url)
    if address is None:
        return None
    found = {place for _, place in rules.matching(address)}
    if not found:
        return None
    return address.write({p for p in found if isinstance(p, int)}, {p for p in found if isinstance(p, str)})


def pack(rules: Collection[Rule]) -> str:
    """Rules as compact text, the same for the same rules; empty for none."""
    if not rules:
        return ""
    return json.dumps([[rule.kind, rule.pattern] for rule in sorted(rules)], separators=(",", ":"))


@lru_cache(maxsize=256)
def unpack(text: str) -> Rules:
    """Rules from their text.

    Raises:
        ValueError: it is no such text.
    """
    try:
        return Rules([Rule(str(kind), str(pattern)) for kind, pattern in json.loads(text or "[]")])
    except (TypeError, ValueError) as error:
        raise ValueError(f"{text[:80]!r} is no text of rules: {error}") from None
