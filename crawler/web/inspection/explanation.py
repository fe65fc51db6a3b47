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
from db.search import find
from db.search.clicks import ClickFile
from db.sites.url_rules import used_of
from pipelines.articles.changes import describe_difference
from pipelines.focus.profile import READERS, ProfileSource, reasons
from pipelines.records import BlockKind
from pipelines.url_rules.forms import Rule, Rules, take_apart
from pipelines.urls import canonicalize, host_key

from ...learn.readers import read_articles
from ...rank.priority import Priority
from ...response.new_urls import GOES_FIRST

_MOST_COMPARED = 1_000_000
"""Characters of all versions compared, which takes a fifth of a second."""


@dataclass(frozen=True, slots=True)
class LookUp:
    """The database's answer about a URL; `known` is None when the URL is not in it.

    If it `is_pruned`, it was outside of the seeds' scope, and nothing else is kept of it.
    """

    known: Explanation | None
    is_pruned: bool = False
    rules: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ScoreShare:
    """A signal's contribution to a score: value times weight."""

    signal: str
    value: float
    weight: float

    @property
    def added(self) -> float:
        return self.value * self.weight


def read_url(given: str) -> str | None:
    """Canonicalise a URL; None if it is not http or https.

    >>> read_url("www.Example.com"), read_url("javascript:alert(1)")
    ('http://www.example.com/', None)
    """
    return canonicalize(given if "://" in given else f"http://{given}")


def look_up(connection: ReadConnection, url: str) -> LookUp:
    explanation = explain(connection, url)
    if explanation is None:
        return LookUp(None, is_pruned=bool(pruned(connection, [fingerprint(url)])))
    used = used_of(connection, fingerprint(host_key(url))) if explanation.reason == SkipReason.URL_RULE else []
    return LookUp(explanation, rules=matching_rules(used, url))


def matching_rules(used: Iterable[tuple[str, str]], url: str) -> list[str]:
    parts = take_apart(url)
    return [] if parts is None else [str(rule) for rule, _ in Rules([Rule(*rule) for rule in used]).matching(parts)]


def origin(explanation: Explanation, rules: Sequence[str]) -> list[tuple[str, str]]:
    """Return labelled lines about the state of a URL and where it was found."""
    lines = [
        ("URL", explanation.url),
        (
            "state",
            explanation.state + (f" ({label(explanation.reason, explanation.detail)})" if explanation.reason else ""),
        ),
    ]
    if explanation.page_kind:
        lines.append(("page", explanation.page_kind))
    if explanation.part is not None:
        position, article_url = explanation.part
        lines.append(("part", f"{position or 'none'} of {article_url}"))
    elif explanation.same_as:
        lines.append(("same as", explanation.same_as))
    lines += [("rule", rule) for rule in rules]
    if explanation.kind != "page":
        lines.append(("kind", explanation.kind))
    place = BlockKind(explanation.found_in).name.lower()
    if explanation.found_on:
        lines.append(
            (
                "found on",
                f"{explanation.found_on} ({place})" + (f", as “{explanation.anchor}”" if explanation.anchor else ""),
            )
        )
    else:
        lines.append(("found", place))
    lines.append(("depth", f"{explanation.depth}" + (f", from seed {explanation.seed}" if explanation.seed else "")))
    return lines


def results(explanation: Explanation) -> list[tuple[str, str]]:
    """Return labelled lines about the outcome of a URL."""
    lines = []
    if explanation.http_status:
        lines.append(
            (
                "answer",
                f"http {explanation.http_status}"
                + (f" at {iso(explanation.fetched_at)}" if explanation.fetched_at else ""),
            )
        )
    if explanation.tries:
        lines.append(("tries", str(explanation.tries)))
    lines += _visits(explanation)
    if explanation.article:
        article = explanation.article
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
    lines += _changes(explanation)
    for url, similarity, method, kind, later in explanation.duplicates:
        related = kind in RELATED
        how = "related to" if related else "duplicate of" if later else "repeated by"
        lines.append((how, f"{url} ({kind}, similarity {similarity:.2f}, {method})"))
    return lines


def because(connection: ReadConnection, explanation: Explanation, file: ClickFile) -> Sequence[ProfileSource]:
    """Return the articles whose words steered the crawl to a URL (PROFILE=readers).

    Its words are those of its article; before it is one, those of the link and of the article that it stands in.
    """
    if not _follows_readers(explanation.settings):
        return ()
    if explanation.article:
        text = f"{explanation.article['title']}\n{explanation.article['text']}"
    else:
        source = fingerprint(explanation.found_on) if explanation.found_on else 0
        found_in = find.shown(connection, [source]).get(source)
        text = explanation.anchor or ""
        text += f"\n{found_in.title}\n{found_in.text}" if found_in is not None else ""
    return reasons(read_articles(connection, file), text)


def _visits(explanation: Explanation) -> list[tuple[str, str]]:
    lines = []
    if explanation.visits > 1:
        what = "changes" if explanation.article else "new articles"
        days = explanation.watched / 86_400
        lines.append(("visits", f"{explanation.visits}; {explanation.brought:.3g} {what} in {days:.1f} days"))
    if explanation.next_visit is not None:
        due = explanation.next_visit <= time.time()
        when = "with the next crawl" if due else iso(explanation.next_visit)
        lines.append(("next visit", "none until its seed is given again" if explanation.rests else when))
    return lines


def _changes(explanation: Explanation) -> list[tuple[str, str]]:
    article = explanation.article
    lines = [("gone", f"since {article['gone']}")] if article and article["gone"] else []
    after = (article["title"], article["text"]) if article else ("", "")
    left = _MOST_COMPARED
    for version in explanation.versions:
        before = (version.title, version.text)
        left -= len(before[1]) + len(after[1])
        lines.append(("changed", f"since it was seen at {version.seen}" + (":" if left >= 0 else "")))
        if left >= 0:
            lines += [("", line) for line in describe_difference(before, after)]
        after = before
    return lines


def score_shares(explanation: Explanation) -> list[ScoreShare]:
    """Split a score into its signals, largest contribution first.

    Empty for URLs that simply go first, and when the weights are unknown.
    """
    weights = _weights(explanation.settings)
    if explanation.score >= GOES_FIRST or not set(explanation.parts) <= set(weights):
        return []
    shares = [ScoreShare(signal, value, weights[signal]) for signal, value in explanation.parts.items()]
    return sorted(shares, key=lambda share: -abs(share.added))


def _follows_readers(stored: Mapping[str, Any]) -> bool:
    return bool(stored.get("PROFILE") == READERS)


def _weights(stored: Mapping[str, Any]) -> Mapping[str, float]:
    """Return the weights of the latest run; none if its version had other signals."""
    try:
        return Priority(stored["CRAWL_PRESET"], stored["CRAWL_PRIORITY"]).weights
    except (KeyError, ValueError):
        return {}
