"""`scrapy why URL`: everything the crawl knows about one URL."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from db.records.evidence import RELATED
from db.records.keys import fingerprint, iso
from db.records.reasons import SkipReason, label

from ..run.command import NewsCommand, add_wide, read
from ..run.exit_codes import EXIT_USAGE
from .status import matching_rules

if TYPE_CHECKING:
    import argparse

    from db.queries.status import Explanation


class Command(NewsCommand):
    """Explain one URL."""

    most_arguments = 1
    examples = (("scrapy why https://www.example.com/news/1.html", "Tell why a page is no article, or when it comes"),)

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return "<url>"

    def short_desc(self) -> str:
        """Return one line for the list of commands."""
        return "Explain a URL: where it was found, its score, its state, what it duplicates"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options to Scrapy's own."""
        super().add_options(parser)
        add_wide(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Print to standard output."""
        from db.frontier.retention import pruned
        from db.queries.status import explain
        from db.sites.url_rules import used_of
        from pipelines.urls import canonicalize, host_key

        from ..run.terminal import console_for, show_pairs

        if not args:
            raise UsageError("name one URL", print_help=False)
        url = canonicalize(args[0] if "://" in args[0] else f"http://{args[0]}")
        if url is None:
            raise UsageError(f"{args[0]!r} is no http or https URL", print_help=False)
        name, (known, used, gone) = read(
            self,
            lambda connection: (
                explain(connection, url),
                used_of(connection, fingerprint(host_key(url))),
                pruned(connection, [fingerprint(url)]),
            ),
        )
        if known is None and gone:
            sys.stdout.write(f"{url} is outside of the seeds' scope; no more is kept of it (KEEP_OUTSIDE)\n")
            return
        if known is None:
            self.fail(f"{url} has never been seen by the crawl in {name}; is it written as on its site?", EXIT_USAGE)
            return
        rules = matching_rules(used, url) if known.reason == SkipReason.URL_RULE else []
        show_pairs(console_for(wide=opts.wide), _lines(known, rules))


def _lines(known: Explanation, rules: Sequence[str]) -> list[tuple[str, str]]:
    """Return label and text of every line."""
    from pipelines.records import BlockKind

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
    lines += _score(known)
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
            ("published", f"{article['published_at'] or 'unknown'} ({article['published_from'] or 'not found'})"),
            (
                "text",
                f"{article['text_chars']} characters, quality {article['quality']:.2f}, by {article['extractor']}",
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
    from pipelines.articles.changes import describe_difference

    article = known.article
    lines = [("gone", f"since {article['gone']}")] if article and article["gone"] else []
    after = (article["title"], article["text"]) if article else ("", "")
    for version in known.versions:
        before = (version.title, version.text)
        lines.append(("changed", f"since it was seen at {version.seen}:"))
        lines += [("", line) for line in describe_difference(before, after)]
        after = before
    return lines


def _score(known: Explanation) -> list[tuple[str, str]]:
    """Split the score into its signals, the largest share first."""
    from ..response.new_urls import GOES_FIRST

    weights = _weights(known.settings)
    if known.score >= GOES_FIRST or not known.parts or not set(known.parts) <= set(weights):
        parts = ", ".join(f"{signal} {value:g}" for signal, value in known.parts.items())
        return [("score", f"{known.score:.4f}" + (f" (signals: {parts})" if parts else ""))]
    added = {name: weights[name] * value for name, value in known.parts.items()}
    order = sorted(added, key=lambda name: -abs(added[name]))
    lines = [("score", f"{known.score:.4f}, of")]
    return lines + [("", f"{added[n]:8.4f}  {n:<10} {known.parts[n]:.4f} x {weights[n]:g}") for n in order]


def _weights(stored: Mapping[str, Any]) -> Mapping[str, float]:
    """Return the weights of the newest run; none when its version knew other signals."""
    from ..rank.priority import Priority

    try:
        return Priority(stored["CRAWL_PRESET"], stored["CRAWL_PRIORITY"]).weights
    except (KeyError, ValueError):
        return {}
