"""Explain one URL in words, for `scrapy why` and the web page."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from db.engine.database import ReadConnection
from db.frontier.retention import pruned
from db.queries.status import Explanation, explain
from db.records.article import GUESS
from db.records.evidence import RELATED
from db.records.keys import fingerprint, iso
from db.records.reasons import SkipReason, label
from db.sites.url_rules import used_of
from pipelines.articles.changes import describe_difference
from pipelines.records import BlockKind
from pipelines.url_rules.forms import Rule, Rules, take_apart
from pipelines.urls import canonicalize, host_key

from ...rank.priority import Priority
from ...response.new_urls import GOES_FIRST

_MOST_COMPARED = 1_000_000
"""Characters of all versions that are compared, which takes a fifth of a second."""


@dataclass(frozen=True, slots=True)
class LookUp:
    """The answer of a database about one URL.

    Attributes:
        known: everything, None when the URL is not there.
        is_pruned: it was outside of the seeds' scope, and no more is kept of it.
        rules: URL rules by which it is skipped.
    """

    known: Explanation | None
    is_pruned: bool = False
    rules: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ScoreShare:
    """A signal's share of a score: its value times its weight."""

    signal: str
    value: float
    weight: float

    @property
    def added(self) -> float:
        return self.value * self.weight


def read_url(given: str) -> str | None:
    """Return a URL as the crawl spells it, None for what is no http or https URL.

    >>> read_url("www.Example.com"), read_url("mailto:a@example.com")
    ('http://www.example.com/', None)
    """
    return canonicalize(given if "://" in given else f"http://{given}")


def look_up(connection: ReadConnection, url: str) -> LookUp:
    """Ask the database about a URL as `read_url` returns it."""
    known = explain(connection, url)
    if known is None:
        return LookUp(None, is_pruned=bool(pruned(connection, [fingerprint(url)])))
    used = used_of(connection, fingerprint(host_key(url))) if known.reason == SkipReason.URL_RULE else []
    return LookUp(known, rules=matching_rules(used, url))


def matching_rules(used: Iterable[tuple[str, str]], url: str) -> list[str]:
    """Return those of the rules in use that touch a URL, for people."""
    parts = take_apart(url)
    return [] if parts is None else [str(rule) for rule, _ in Rules([Rule(*rule) for rule in used]).matching(parts)]


def origin(known: Explanation, rules: Sequence[str]) -> list[tuple[str, str]]:
    """Return label and text of lines about the state of a URL, and where it was found."""
    lines = [
        ("URL", known.url),
        ("state", known.state + (f" ({label(known.reason, known.detail)})" if known.reason else "")),
    ]
    if known.page_kind:
        lines.append(("page", known.page_kind))
    if known.part is not None:
        position, article_url = known.part
        lines.append(("part", f"{position or 'none'} of {article_url}"))
    elif known.same_as:
        lines.append(("same as", known.same_as))
    lines += [("rule", rule) for rule in rules]
    if known.kind != "page":
        lines.append(("kind", known.kind))
    place = BlockKind(known.found_in).name.lower()
    if known.found_on:
        lines.append(("found on", f"{known.found_on} ({place})" + (f", as “{known.anchor}”" if known.anchor else "")))
    else:
        lines.append(("found", place))
    lines.append(("depth", f"{known.depth}" + (f", from seed {known.seed}" if known.seed else "")))
    return lines


def results(known: Explanation) -> list[tuple[str, str]]:
    """Return label and text of lines about what came of a URL."""
    lines = []
    if known.http_status:
        lines.append(
            ("answer", f"http {known.http_status}" + (f" at {iso(known.fetched_at)}" if known.fetched_at else ""))
        )
    if known.tries:
        lines.append(("tries", str(known.tries)))
    lines += _visits(known)
    if known.article:
        article = known.article
        lines += [
            ("article", article["title"]),
            (
                "published",
                f"{article['published_at'] or 'unknown'} ({article['published_from'] or 'not found'}"
                f"{', the year is a guess' if article['published_precision'] == GUESS else ''})",
            ),
            (
                "text",
                f"{article['text_chars']} characters, quality {article['quality']:.2f}, by {article['extractor']} from "
                f"{article['text_from']}",
            ),
        ]
    lines += _changes(known)
    for url, similarity, method, kind, later in known.duplicates:
        related = kind in RELATED
        how = "related to" if related else "duplicate of" if later else "repeated by"
        lines.append((how, f"{url} ({kind}, similarity {similarity:.2f}, {method})"))
    return lines


def _visits(known: Explanation) -> list[tuple[str, str]]:
    """Describe the visits of the URL, their results, and the next one."""
    lines = []
    if known.visits > 1:
        what = "changes" if known.article else "new articles"
        days = known.watched / 86_400
        lines.append(("visits", f"{known.visits}; {known.brought:.3g} {what} in {days:.1f} days"))
    if known.next_visit is not None:
        due = known.next_visit <= time.time()
        when = "with the next crawl" if due else iso(known.next_visit)
        lines.append(("next visit", "none until its seed is given again" if known.rests else when))
    return lines


def _changes(known: Explanation) -> list[tuple[str, str]]:
    """Compare each version of an article with the one after it, the newest first."""
    article = known.article
    lines = [("gone", f"since {article['gone']}")] if article and article["gone"] else []
    after = (article["title"], article["text"]) if article else ("", "")
    left = _MOST_COMPARED
    for version in known.versions:
        before = (version.title, version.text)
        left -= len(before[1]) + len(after[1])
        lines.append(("changed", f"since it was seen at {version.seen}" + (":" if left >= 0 else "")))
        if left >= 0:
            lines += [("", line) for line in describe_difference(before, after)]
        after = before
    return lines


def score_shares(known: Explanation) -> list[ScoreShare]:
    """Split a score into its signals, the largest share first.

    Empty for a score that is none (a URL that just goes first), and when the weights are not known.
    """
    weights = _weights(known.settings)
    if known.score >= GOES_FIRST or not set(known.parts) <= set(weights):
        return []
    shares = [ScoreShare(signal, value, weights[signal]) for signal, value in known.parts.items()]
    return sorted(shares, key=lambda share: -abs(share.added))


def _weights(stored: Mapping[str, Any]) -> Mapping[str, float]:
    """Return the weights of the newest run; none when its version knew other signals."""
    try:
        return Priority(stored["CRAWL_PRESET"], stored["CRAWL_PRIORITY"]).weights
    except (KeyError, ValueError):
        return {}
