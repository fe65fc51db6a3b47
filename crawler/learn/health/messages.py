"""Alarms as sentences for people, with what they can do. Pure."""

from __future__ import annotations

from pipelines.urls import host_key

from ...terminal.text import one_line, quoted
from .host import SIGNALS, Finding

MOST_QUOTED = 100
_KINDS = {
    "blocks": ("blocks us", "crawl it more gently (HOST_DELAY), see that CONTACT is set, or ask the site"),
    "login": ("asks to log in", "articles are behind a login now, and the crawl has none"),
    "unreachable": ("does not answer well", "look whether it opens in a browser; the crawl tries again later"),
    "gone": ("pages are gone", "the site has moved its pages, perhaps; look whether the seeds are still right"),
    "layout": (
        "layout changed",
        "look at the example with 'scrapy extract'; another EXTRACTOR may read it, or the selectors that "
        "'scrapy suggest {host}' finds",
    ),
    "empty": ("pages are empty", "JavaScript makes the text, perhaps; look for a feed, a sitemap or a mobile version"),
    "encoding": ("characters look wrongly decoded", "look at the example with 'scrapy extract'"),
    "slow": ("slow", "crawl it more gently (HOST_DELAY), or wait"),
    "hijacked": ("looks hijacked", "tell the site; HARMFUL says what becomes of such pages"),
}
_SIGNALS = {
    "articles": "pages that are no articles",
    "empty": "pages without text",
    "untitled": "titles missing or all the same",
    "undated": "articles without a date",
    "doubtful": "articles wrongly decoded",
    "short": "articles far shorter than usual",
    "long": "articles far longer than usual",
    "slow": "answers far slower than usual",
    "hijacked": "articles with gambling, porn or fraud in title or text",
    "missed": "articles on which selectors of the seed find nothing",
}
_OF_PAGES = {"content", "length", "harm", "selectors"}
_MISSED = "run 'scrapy suggest {host}' and put the selectors that it prints behind the seed"


def sentence(finding: Finding) -> str:
    """Say what is wrong, from what to what, and what to do.

    >>> sentence(Finding("slow", "slow", 0.02, 40, 38))
    'slow: answers far slower than usual: 2% -> 95%; crawl it more gently (HOST_DELAY), or wait'
    """
    name, advice = _KINDS[finding.kind]
    advice = _MISSED if finding.signal == "missed" else advice
    advice = advice.format(host=one_line(host_key(finding.example)) if finding.example else "HOST")
    group, before = SIGNALS[finding.signal].group, f"{finding.before:.0%}"
    if group == "access":
        why = f", the last with {quoted(finding.why, MOST_QUOTED)}" if finding.why else ""
        facts = f"{finding.hits} of the last {finding.of} answers{why} ({before} before)"
    elif finding.before:
        facts = f"{_SIGNALS[finding.signal]}: {before} -> {finding.hits / finding.of:.0%}"
    else:
        facts = f"{_SIGNALS[finding.signal]}: {finding.hits} of the last {finding.of}, none before"
    example = f"; e.g. {quoted(finding.example, MOST_QUOTED)}" if group in _OF_PAGES else ""
    return f"{name}: {facts}{example}; {advice}"


def normal_again(finding: Finding) -> str:
    return f"{finding.ended}: {_KINDS[finding.kind][0]}"
