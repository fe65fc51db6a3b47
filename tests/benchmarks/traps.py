"""Rules against traps on sites made of rules: what traps cost, and what honest sites lose.

    uv run python -m tests.benchmarks.traps

No network: some minutes.
"""

from __future__ import annotations

import sys

from tests.benchmarks.honest_sites import MORE_HONEST
from tests.benchmarks.trap_sites import MORE_TRAPS
from tests.crawler.trap_sites import HONEST, TRAPS, crawl

_ORDERS = ("fifo", "lifo", "random")
_MOST = 4000


def main() -> int:
    """Print the table; 1 when something was lost or a trap cost too much."""
    wrong = 0
    print(f"{'honest site':36}{'order':>8}{'pages':>8}{'articles':>10}{'lost':>6}{'skipped':>9}")
    for name, (site, articles) in (HONEST | MORE_HONEST).items():
        for order in _ORDERS:
            found = crawl(site, most=20_000, order=order)
            lost = articles - len(found.articles)
            wrong += lost > 0
            print(f"{name:36}{order:>8}{found.pages:8}{len(found.articles):10}{lost:6}{len(found.skipped):9}")
    print(f"\n{'trap':36}{'order':>8}{'pages':>8}{'articles':>10}{'left':>6}  kinds")
    for name, (site, most) in (TRAPS | MORE_TRAPS).items():
        for order in _ORDERS:
            found = crawl(site, most=_MOST, order=order)
            wrong += found.left > 0 or found.pages - 9 > most or len(found.articles) < 8
            kinds = ", ".join(sorted({reason for _, reason in found.skipped}))
            print(f"{name:36}{order:>8}{found.pages:8}{len(found.articles):10}{found.left:6}  {kinds}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
