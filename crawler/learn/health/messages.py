"""What a finding means, as a sentence for people with what they can do about it. Pure.

What is quoted of a site (an address, an error) is cut short and made harmless, so that the sentence can be shown,
logged and stored as it is.
"""

from __future__ import annotations

from ...run.terminal import quoted
from .findings import Change, Finding
from .past import ACCESS

MOST_QUOTED = 100

_WHAT = {
    "blocks": "blocks us",
    "login": "asks to log in",
    "unreachable": "does not answer well",
    "gone": "pages are gone",
    "layout": "layout changed",
    "empty": "pages are empty",
    "encoding": "characters look wrongly decoded",
    "slow": "slow",
}
_ADVICE = {
    "blocks": "crawl it more gently (HOST_DELAY), see that CONTACT is set, or ask the site",
    "login": "articles are behind a login now, and the crawl has none",
    "unreachable": "look whether it opens in a browser; the crawl tries again later",
    "gone": "the site has moved its pages, perhaps; look whether the seeds are still right",
    "layout": "look at the example with 'scrapy extract'; another EXTRACTOR may read it",
    "empty": "the text is made by JavaScript, perhaps; look for a feed, a sitemap or a mobile version as a seed",
    "encoding": "look at the example with 'scrapy extract'; the site may state a wrong character set",
    "slow": "crawl it more gently (HOST_DELAY), or wait",
}
_NAMES = {
    "untitled": "titles missing or all the same",
    "undated": "articles without a date",
    "doubtful": "wrongly decoded",
    "confidence": "confidence",
}


def sentence(finding: Finding) -> str:
    """What is wrong, from what to what, and what to do.

    >>> sentence(Finding("blocks", (Change("blocks", 0.0, 0.95, 1e-9),), 40, 38, "http 403"))
    'blocks us: 38 of the last 40 answers were http 403; crawl it more gently (HOST_DELAY), see that CONTACT is set, or ask the site'
    """  # noqa: E501 - the sentence is the point
    parts = [_part(finding, change) for change in finding.changes]
    if not any(change.what in ACCESS for change in finding.changes):
        example = quoted(finding.example, MOST_QUOTED)
        parts.append(f"e.g. {example}" if example else "")
    said = "; ".join(part for part in parts if part)
    return f"{_WHAT[finding.kind]}: {said}; {_ADVICE[finding.kind]}"


def normal_again(finding: Finding, *, accepted: bool) -> str:
    """That an alarm has ended.

    >>> normal_again(Finding("slow", (), 0), accepted=False)
    'no longer: slow'
    """
    if accepted:
        return f"has stayed so for long and counts as normal now: {_WHAT[finding.kind]}"
    return f"no longer: {_WHAT[finding.kind]}"


def _part(finding: Finding, change: Change) -> str:
    before, now, what = change.before, change.now, change.what
    if what in ACCESS:
        was = f" ({before:.0%} before)" if before >= 0.1 else ""
        return f"{finding.hits} of the last {finding.of} answers were {quoted(finding.why, MOST_QUOTED) or 'so'}{was}"
    if before == 0:  # what is compared with a past is never quite 0
        return f"{finding.hits} of {finding.of} pages, from the first on"
    return {
        "articles": f"articles were {1 - before:.0%} of such pages, now {1 - now:.0%}",
        "empty": f"pages without text were {before:.0%}, now {now:.0%}",
        "chars": f"typical length {before:,.0f} -> {now:,.0f} characters",
        "confidence": f"confidence {before:.2f} -> {now:.2f}",
        "seconds": f"an answer takes {now:.1f} s, {before:.1f} s before",
    }.get(what) or f"{_NAMES[what]}: {before:.0%} -> {now:.0%}"
