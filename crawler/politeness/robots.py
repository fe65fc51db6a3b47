"""robots.txt as RFC 9309 has it, read for one crawler alone: what the rules for others cost is not our concern. Pure.

The time and memory that it takes grow with the length of the file, whatever stands in it: no group is multiplied by the
number of its user agents, and wildcards, of which any number may have to be tried for each address, have a bound.

    Robots      what a file says to us
    parse       reads it
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import quote

from pipelines.urls import MAX_URL_CHARS

MOST_SITEMAPS = 1_000
MOST_WILDCARD_CHARS = 100_000
"""Characters of all rules with a wildcard in their midst. Beyond, a Disallow counts as it is up to its wildcard: more
than was meant is forbidden, never less."""

_FIELDS = {
    **dict.fromkeys(("user-agent", "useragent", "user agent"), "agent"),
    **dict.fromkeys(("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"), "disallow"),
    "allow": "allow",
    **dict.fromkeys(("crawl-delay", "crawl delay"), "delay"),
    **dict.fromkeys(("request-rate", "request rate"), "rate"),
    **dict.fromkeys(("sitemap", "sitemaps", "site-map"), "sitemap"),
}
"""Fields and how they are misspelt; all others are passed over and end no group."""
_MOST_FIELD = 40
_MOST_RULE = 3 * MAX_URL_CHARS
"""A rule that is longer can match no address, every character escaped."""
_MOST_NUMBER = 100

_TOKEN = re.compile(r"[A-Za-z_-]+")
_DELAY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)[ \t]*(?:s|sec|secs|seconds?)?", re.IGNORECASE)
_RATE = re.compile(r"([0-9]+)[ \t]*/[ \t]*([0-9]+)[ \t]*([smhd]?)(?![0-9a-z])", re.IGNORECASE)
_RATE_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_ORIGIN = re.compile(r"\Ahttps?://[^/?#]*", re.IGNORECASE)
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_ILLEGAL = re.compile(r'[^!-~]|["<>\\^`{|}]')
_LEGAL = "!#$%&'()*+,/:;=?@[]"
_STARS = re.compile(r"\*\*+")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

_Weight = tuple[int, bool]
"""Of the rules that match the longest counts, of equally long ones Allow."""
_NO_RULE: _Weight = (-1, True)


@dataclass(slots=True)
class Robots:
    """What a robots.txt says to one crawler.

    Attributes:
        delay: seconds between two requests that it asks for (Crawl-delay), 0 for none.
        rate: the same by its Request-rate.
        sitemaps: addresses it names, at most `MOST_SITEMAPS`.
    """

    delay: float = 0.0
    rate: float = 0.0
    sitemaps: tuple[str, ...] = ()
    _begins: dict[str, _Weight] = field(default_factory=dict)
    _lengths: tuple[int, ...] = ()
    _equals: dict[str, _Weight] = field(default_factory=dict)
    _wild: list[tuple[_Weight, list[str], bool]] = field(default_factory=list)

    def allows(self, url: str) -> bool:
        """Tell whether a URL may be fetched.

        Args:
            url: canonical.

        Cost: a look-up for each length of a rule, and a search for each rule with a wildcard.
        Source: RFC 9309, section 2.2.2.
        Differs: nothing.
        """
        path = _path(url)
        if path == "/robots.txt":
            return True
        best = self._equals.get(path, _NO_RULE)
        for length in self._lengths:
            if length > len(path):
                break
            best = max(best, self._begins.get(path[:length], _NO_RULE))
        for weight, parts, to_the_end in self._wild:
            if weight <= best:
                break
            if _matches(path, parts, to_the_end=to_the_end):
                return weight[1]
        return best[1]


@lru_cache(maxsize=8)
def parse(text: str, agent: str) -> Robots:
    r"""Read a robots.txt.

    The groups for our own name count, all of them together; without one, those for `*`. As browsers of the file in the
    wild do, a rule without the slash at its beginning, or with the site's address before it, is taken as it was meant.

    Args:
        text: of the file.
        agent: our product token; in the file it may stand in any case, with a version behind it.

    Returns:
        What it says; the files read last are remembered, so that a long one can be read in a thread beforehand.

    Cost: linear in the length of the text.
    Source: RFC 9309, section 2.2.
    Differs: Crawl-delay, Request-rate and Sitemap, which it leaves open; misspelt fields, and colons left out.

    >>> parse("User-agent: *\nDisallow: /a\nAllow: /a/b", "us").allows("http://h.cn/a/c")
    False
    """
    own, common = _Group(), _Group()
    sitemaps: list[str] = []
    groups: list[_Group] = []
    is_begun = False
    for name, value in _lines(text):
        if name == "sitemap":
            if value and len(sitemaps) < MOST_SITEMAPS:
                sitemaps.append(value)
        elif name == "agent":
            if is_begun:
                groups, is_begun = [], False
            first = value.split(maxsplit=1)[0] if value else ""
            token = _TOKEN.match(first.lstrip("*"))
            if first == "*":
                groups = [*groups, common] if common not in groups else groups
            elif token and token[0].lower() == agent.lower():
                own.is_there = True
                groups = [*groups, own] if own not in groups else groups
        else:
            is_begun = True
            for group in groups:
                group.add(name, value)
    return (own if own.is_there else common).robots(tuple(sitemaps))


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Fields, by their proper names, with their values."""
    for written in text.replace("\r", "\n").split("\n"):
        line = written.partition("#")[0] if "#" in written else written
        name, colon, value = line.partition(":")
        known = _FIELDS.get(name.strip().lower()) if len(name) <= _MOST_FIELD else None
        if known is None and not (colon and (not value or value[0].isspace())):
            known, value = _without_colon(line)
        if known is not None:
            yield known, value.strip()


def _without_colon(line: str) -> tuple[str | None, str]:
    """A field whose colon was forgotten, as in `Disallow /a` or `User agent *`; None for no field."""
    for words in (1, 2):
        *name, value = [*line.split(maxsplit=words), ""][: words + 1]
        if (known := _FIELDS.get(" ".join(name).lower())) is not None:
            return known, value
    return None, ""


class _Group:
    """The rules for one name, from wherever they stand in the file."""

    def __init__(self) -> None:
        self.is_there = False
        self._made = Robots()
        self._wildcard_chars = 0

    def add(self, name: str, value: str) -> None:
        """Take a line; one that makes no sense is passed over."""
        if name == "delay":
            if said := _DELAY.fullmatch(value[:_MOST_NUMBER]):
                self._made.delay = max(self._made.delay, float(said[1]))
        elif name == "rate":
            said = _RATE.match(value[:_MOST_NUMBER])
            if said and int(said[1]):
                seconds = int(said[2]) * _RATE_SECONDS[said[3].lower()]
                self._made.rate = max(self._made.rate, seconds / int(said[1]))
        elif value and len(value) <= _MOST_RULE:
            self._rule(_normal(value), is_allowed=name == "allow")

    def _rule(self, pattern: str, *, is_allowed: bool) -> None:
        """Sort a rule in by how it is matched."""
        weight = len(pattern), is_allowed
        to_the_end = pattern.endswith("$")
        made = self._made
        path = pattern
        if "$" in path:
            path = path.removesuffix("$").replace("$", "%24")
        if "*" in path:
            path = _STARS.sub("*", path)
            if path.endswith("*"):
                path, to_the_end = path[:-1], False
        if "*" not in path:
            _put(made._equals if to_the_end else made._begins, path, weight)
            return
        parts = path.split("*")
        self._wildcard_chars += len(path)
        if self._wildcard_chars <= MOST_WILDCARD_CHARS:
            made._wild.append((weight, parts, to_the_end))
        elif not is_allowed:
            _put(made._begins, parts[0], weight)

    def robots(self, sitemaps: tuple[str, ...]) -> Robots:
        """All that was taken."""
        made = self._made
        made.sitemaps = sitemaps
        made._lengths = tuple(sorted(set(map(len, made._begins))))
        made._wild.sort(key=lambda rule: rule[0], reverse=True)
        return made


def _put(rules: dict[str, _Weight], path: str, weight: _Weight) -> None:
    """Keep the rule that weighs most."""
    rules[path] = max(weight, rules.get(path, _NO_RULE))


def _normal(pattern: str) -> str:
    """A rule in the spelling of canonical URLs, beginning with a slash or a wildcard."""
    if not pattern.startswith("/"):
        pattern = _ORIGIN.sub("", pattern, count=1)
    if _ILLEGAL.search(pattern):
        pattern = quote(pattern, safe=_LEGAL, errors="replace")
    if "%" in pattern:
        pattern = _ESCAPE.sub(_write, pattern)
    return pattern if pattern.startswith(("/", "*")) else "/" + pattern


def _path(url: str) -> str:
    """Path and query of a URL as rules are compared with them: what is special in rules is escaped."""
    path = url[url.index("/", url.index("://") + 3) :] if url.count("/") > 2 else "/"
    if "%" in path:
        path = _ESCAPE.sub(_write, path)
    return path.replace("*", "%2A").replace("$", "%24")


def _write(found: re.Match[str]) -> str:
    """The character of an escape when it needs none, else the escape with capital digits."""
    character = chr(int(found[0][1:], 16))
    return character if character in _UNRESERVED else found[0].upper()


def _matches(path: str, parts: list[str], *, to_the_end: bool) -> bool:
    """Whether a path begins with the first part and has the others one after the other, the last at its end if so."""
    if not path.startswith(parts[0]):
        return False
    at = len(parts[0])
    for part in parts[1:-1] if to_the_end else parts[1:]:
        at = path.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return not to_the_end or (len(path) - len(parts[-1]) >= at and path.endswith(parts[-1]))
