"""Robots.txt for one crawler, read by Protego. Pure.

Protego copies a group for each of its user agents; so it gets only those that count.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from string import punctuation
from urllib.parse import quote

from protego import Protego

from pipelines.urls import MAX_URL_CHARS, bare_host, canonicalize

MOST_SITEMAPS = 1_000
MOST_RULES = 60_000
"""Rules of our groups: every one of them may have to be tried for each URL. Beyond, everything is forbidden."""
MOST_WILDCARD_CHARS = 100_000
"""Characters of all rules with a wildcard in their midst. Beyond, a Disallow counts as it is up to its wildcard: more
than was meant is forbidden, never less."""
_MOST_RULE_CHARS = 3 * MAX_URL_CHARS
"""A longer rule can match no URL, every character escaped."""
_MOST_NUMBER_CHARS = 100

_LINE = re.compile(
    r"^\s*(user[ -]?agent|allow|di(?:s+al+ow|asllow|sallaw)|crawl[ -]delay|request[ -]rate|site-?maps?)"
    r"(?:\s*:|\s|$)([^#]*)",
    re.IGNORECASE,
)
"""Fields with the misspellings that Protego knows, also without colon; all others are passed over and end no group."""
_AGENT = re.compile(r"\*?([A-Za-z_-]+)|\*(?!\S)")
_DELAY = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)[ \t]*(?:s|sec|secs|seconds?)?", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://[^/?#*$]*", re.IGNORECASE)
_ILLEGAL = re.compile(r"[^!-~]")
_BEYOND_ASCII = re.compile(r"%([89a-f][0-9a-f])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules of a robots.txt for one crawler.

    Attributes:
        delay: seconds between two requests that it asks for (Crawl-delay), 0 for none.
        rate: the same by its Request-rate.
        chars: of the rules that are held; they take some 20 bytes each.
        named: hosts that rules name before a path, without `www.`: each of these rules is for its own host alone.
    """

    delay: float
    rate: float
    sitemaps: tuple[str, ...]
    chars: int
    named: frozenset[str]
    _rules: Protego
    _lines: Sequence[tuple[str, str]]
    _own: dict[str, Protego] = field(default_factory=dict)

    def allows(self, url: str) -> bool:
        """Tell whether a canonical URL may be fetched.

        Cost: linear in the number of rules; some 6 ms for `MOST_RULES`.
        Source: RFC 9309, section 2.2.2.
        Differs: as Protego does: `/index.html` allowed is its folder too, a `$` at a rule's end is also that character.
        """
        rules = self._rules
        if self.named and (host := bare_host(url)) in self.named:
            if host not in self._own:
                self._own[host] = Protego.parse(_write(self._lines, host))
            rules = self._own[host]
        return rules.can_fetch(_escape(url), "*")


@lru_cache(maxsize=8)
def parse(text: str, agent: str) -> Robots:
    r"""Read a robots.txt; the files read last are remembered.

    All groups for our product token count (in any case, any version); without one, those for `*`. As most software
    reads the files of the web, a rule without its first slash, or with the site's origin before it, is taken as it was
    meant. Only rules end a list of user agents, no Crawl-delay does.

    Cost: linear in the length of the text.
    Source: RFC 9309, section 2.2.
    Differs: Crawl-delay, Request-rate and Sitemap, which it leaves open; misspelt fields, and colons left out.

    >>> parse("User-agent: *\nDisallow: /a\nAllow: /a/b", "us").allows("http://h.cn/a/c")
    False
    """
    groups: dict[str, list[tuple[str, str]]] = {"*": []}
    sitemaps: list[str] = []
    names: set[str] = set()
    is_begun = False
    for match in filter(None, map(_LINE.match, text.replace("\r", "\n").split("\n"))):
        field, value = match[1].lower(), match[2].strip()
        if field.startswith("site"):
            if value and len(sitemaps) < MOST_SITEMAPS:
                sitemaps.append(value)
        elif field.startswith("user"):
            if is_begun:
                names, is_begun = set(), False
            token = _AGENT.match(value)
            if token and (name := (token[1] or "*").lower()) in {"*", agent.lower()}:
                names.add(name)
                groups.setdefault(name, [])
        else:
            is_begun = is_begun or not field.startswith(("crawl", "request"))
            for name in names:
                groups[name].append((field, value))
    return _read(groups.get(agent.lower(), groups["*"]), tuple(sitemaps))


def _read(lines: Sequence[tuple[str, str]], sitemaps: tuple[str, ...]) -> Robots:
    delays = (_DELAY.fullmatch(value[:_MOST_NUMBER_CHARS]) for name, value in lines if name.startswith("crawl"))
    named = frozenset(filter(None, (_origin_host(value) for _, value in lines)))
    text = _write(lines, "")
    rules = Protego.parse(text)
    rate = rules.request_rate("*")
    return Robots(
        delay=max((float(match[1]) for match in delays if match), default=0.0),
        rate=rate.seconds / rate.requests if rate else 0.0,
        sitemaps=sitemaps,
        chars=len(text) * (3 if named else 1) + sum(map(len, sitemaps)),
        named=named,
        _rules=rules,
        _lines=lines if named else (),
    )


def _write(lines: Sequence[tuple[str, str]], host: str) -> str:
    wildcard_chars = 0
    rules = ["user-agent: *"]
    for name, value in lines:
        if name.startswith("request"):
            rules.append(f"{name}: {value[:_MOST_NUMBER_CHARS]}")
        elif not name.startswith("crawl") and value and len(value) <= _MOST_RULE_CHARS:
            origin = _ORIGIN.match(value)
            if origin and _origin_host(value) != host:
                continue
            rule = value[origin.end() :] if origin else value
            rule = _escape(rule if rule.startswith(("/", "*")) else "/" + rule)
            start = rule.partition("*")[0]
            wildcard_chars += len(rule.rstrip("*")) if start != rule.rstrip("*") else 0
            if wildcard_chars > MOST_WILDCARD_CHARS and start != rule:
                if name == "allow":
                    continue
                rule = start.ljust(len(rule), "*")  # as long as before, for the longest rule counts
            rules.append(f"{name}: {rule}")
    return "\n".join(rules if len(rules) <= MOST_RULES else ["user-agent: *", "disallow: /"])


def _origin_host(value: str) -> str | None:
    origin = _ORIGIN.match(value)
    url = canonicalize(origin[0]) if origin else None
    return bare_host(url) if url else None


def _escape(text: str) -> str:
    """Escape all but ASCII, twice: Protego takes all bytes that are no UTF-8 for one."""
    if _ILLEGAL.search(text):
        text = quote(text, safe=punctuation, errors="replace")
    return _BEYOND_ASCII.sub(lambda found: "%25" + found[1].upper(), text) if "%" in text else text
