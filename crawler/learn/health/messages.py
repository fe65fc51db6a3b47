"""Alarms as sentences for people, with what they can do. What is quoted of a site is short and harmless. Pure."""

from __future__ import annotations

from ...run.terminal import quoted
from .host import SIGNALS, Change, Finding

MOST_QUOTED = 100
_KINDS = {
    "blocks": ("blocks us", "crawl it more gently (HOST_DELAY), see that CONTACT is set, or ask the site"),
    "login": ("asks to log in", "articles are behind a login now, and the crawl has none"),
    "unreachable": ("does not answer well", "look whether it opens in a browser; the crawl tries again later"),
    "gone": ("pages are gone", "the site has moved its pages, perhaps; look whether the seeds are still right"),
    "layout": ("layout changed", "look at the example with 'scrapy extract'; another EXTRACTOR may read it"),
    "empty": (
        "pages are empty",
        "the text is made by JavaScript, perhaps; look for a feed, a sitemap or a mobile version as a seed",
    ),
    "encoding": (
        "characters look wrongly decoded",
        "look at the example with 'scrapy extract'; the site may state a wrong character set",
    ),
    "slow": ("slow", "crawl it more gently (HOST_DELAY), or wait"),
}
_SIGNALS = {
    "articles": "pages that are no articles",
    "empty": "pages without text",
    "untitled": "titles missing or all the same",
    "undated": "articles without a date",
    "doubtful": "articles wrongly decoded",
    "short": "articles far shorter than usual",
    "long": "articles far longer than usual",
    "unsure": "articles read with less confidence than usual",
    "slow": "answers far slower than usual",
}


def sentence(finding: Finding) -> str:
    """Say what is wrong, from what to what, and what to do.

    >>> sentence(Finding("slow", (Change("slow", 0.02, 0.95),), 40, 38))
    'slow: answers far slower than usual: 2% -> 95%; crawl it more gently (HOST_DELAY), or wait'
    """
    name, advice = _KINDS[finding.kind]
    parts = [_part(finding, change) for change in finding.changes]
    if finding.example and SIGNALS[finding.changes[0].what].group == "content":
        parts.append(f"e.g. {quoted(finding.example, MOST_QUOTED)}")
    return f"{name}: {'; '.join(parts)}; {advice}"


def normal_again(finding: Finding, *, accepted: bool) -> str:
    """Say that an alarm has ended."""
    said = "has stayed so for long and counts as normal now" if accepted else "no longer"
    return f"{said}: {_KINDS[finding.kind][0]}"


def _part(finding: Finding, change: Change) -> str:
    if change.what not in _SIGNALS:
        was = f" ({change.before:.0%} before)" if change.before >= 0.1 else ""
        why = f", the last with {quoted(finding.why, MOST_QUOTED)}" if finding.why else ""
        share = (
            f"{finding.hits} of the last {finding.of}" if change is finding.changes[0] else f"{change.now:.0%} of the"
        )
        return f"{share} answers{'' if change.what == finding.kind else f' ({_KINDS[change.what][0]})'}{why}{was}"
    if change.before == 0 and change is finding.changes[0]:
        return f"{_SIGNALS[change.what]}: {finding.hits} of {finding.of}, from the first on"
    return f"{_SIGNALS[change.what]}: {change.before:.0%} -> {change.now:.0%}"
