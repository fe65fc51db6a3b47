"""Revisit intervals, learned from what earlier visits brought.

If a list brings `rate` articles a second and is visited every `I` seconds, they wait `I / 2` each on average. When a
request is worth `worth` seconds of an article's waiting, the sum `worth / I + rate * I / 2` is smallest at

    I = sqrt(2 * worth / rate)

so a list that brings a hundred times as much is visited ten times as often. The rate is the mean of a Gamma
distribution after `brought` arrivals in `watched` seconds of a Poisson process, with a wide prior; old observations
fade.

An article changes seldom, and the older the seldomer; a visit shows only whether it has changed since the last, not how
often. Its rate is estimated with the bias of that removed, and with a prior in proportion to 1 / age.

Source: E. G. Coffman, Z. Liu and R. R. Weber, Optimal robot scheduling for web search engines, 1998 (waiting against
    requests); J. Cho and H. Garcia-Molina, Effective page refresh policies for web crawlers, 2003 (in proportion is no
    better than all alike) and Estimating frequency of change, 2003, section 4.2 (the estimator for articles); J. L.
    Wolf et al., Optimal crawling strategies for web search engines, 2002 (what is hardly looked at is worth few
    requests).
Differs: arrivals instead of changes of a page are what counts for lists, and a price of requests takes the place of a
    fixed number of them, so that each interval can be computed alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

DAY = 86_400.0

# Chosen by hand; `tests.benchmarks.watch` shows how soon news is found with them, and for how many requests.

_SHAPE = 0.1
"""Arrivals assumed of a page about which nothing is known: few, so that what comes soon counts more."""
_FIRST_SECONDS = 3_600.0
"""A list directly below a seed is visited again after so long, when a request is worth as much."""
_MEMORY_SECONDS = 14 * DAY
_DEEPER = 4.0
"""Factors by which a list is expected to bring less: a link further from the seed, a further page of a list."""
_CHANGES = 0.1
"""Chance that an article changes while it grows as old again."""
_YOUNGEST_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Schedule:
    worth: float = 3_600.0
    """Seconds of an article's waiting that are worth a request (`REVISIT_WORTH`)."""
    least: float = 300.0  # seconds of every interval (`REVISIT_MIN`, `REVISIT_MAX`)
    most: float = 7 * DAY
    article_seconds: float = 7 * DAY
    """Age up to which articles are looked at again (`REVISIT_ARTICLES`); 0 for never."""

    def bounded(self, seconds: float) -> float:
        return min(self.most, max(self.least, seconds))

    def of_list(self, watched: float, brought: float, *, depth: int = 0, further: int = 0) -> float:
        """Return the seconds until the next visit of a list.

        It brought so many articles in the seconds `watched`, both faded; `further` is 1 for the second and later pages.

        >>> Schedule().of_list(0, 0)
        3600.0
        >>> Schedule().of_list(10 * DAY, 1000) < Schedule().of_list(10 * DAY, 10) < Schedule().of_list(10 * DAY, 0)
        True
        """
        shape = _SHAPE / _DEEPER ** min(16, max(0, depth - 1) + further)
        seconds = _SHAPE * _FIRST_SECONDS / 2
        rate = (brought + shape) / (watched + seconds)
        return self.bounded(math.sqrt(2 * self.worth / rate))

    def of_article(self, age: float, looks: int, changes: float, since_change: float) -> float | None:
        """Return the seconds until the next look at an article, None for never.

        Every article is looked at once more within a day, whatever its age: what is wrong is put right soon. Without a
        known change, `since_change` is the age in seconds.

        >>> Schedule().of_article(30 * DAY, 0, 0, 30 * DAY)
        86400.0
        >>> Schedule().of_article(30 * DAY, 1, 0, 30 * DAY) is None
        True
        """
        if not self.article_seconds or (looks and min(age, since_change) > self.article_seconds):
            return None
        age = max(age, _YOUNGEST_SECONDS)
        rate = (_corrected(looks, changes) + 1) / (age + age / _CHANGES)
        seconds = math.sqrt(2 * self.worth / rate)
        return self.bounded(seconds if looks else min(DAY, seconds))

    def of_gone(self, since_gone: float) -> float | None:
        """Seconds until an article that is gone is looked for; None after long."""
        return None if since_gone > self.article_seconds else self.bounded(max(DAY, since_gone))


def fading(seconds: float) -> float:
    """Return the weight of observations that are so many seconds older.

    >>> fading(0)
    1.0
    """
    return math.exp(-max(0.0, seconds) / _MEMORY_SECONDS)


def _corrected(looks: int, changes: float) -> float:
    changes = min(changes, looks)
    return -looks * math.log((looks - changes + 0.5) / (looks + 0.5)) if looks else 0.0
