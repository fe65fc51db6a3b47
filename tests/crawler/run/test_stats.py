"""What a crawl counts."""

from __future__ import annotations

from collections import Counter

from crawler.run.stats import add


def test_names_made_of_what_servers_say_have_a_bound() -> None:
    totals: Counter[str] = Counter({"pages": 5000})
    for n in range(3000):
        add(totals, "failed", f"not a page (x/{n})")
    add(totals, "failed", "not a page (x/1)")
    add(totals, "dropped", "list page")
    assert len(totals) == 1002
    assert totals["failed/not a page (x/1)"] == 2
    assert totals["failed/others"] == 3000 - 999
    assert totals["dropped/others"] == 1
