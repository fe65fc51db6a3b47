"""What `scrapy status` says of a host."""

from __future__ import annotations

from typing import Any

from crawler.commands.status import _health
from db.queries.status import HostStatus
from tests.table import each_row


@each_row(
    ("values", "said"),
    [
        ({}, ""),
        ({"done": 50}, "no article among 50 pages"),
        ({"done": 49}, ""),
        ({"done": 50, "articles": 1}, ""),
        ({"failures": 3}, "3 failures in a row"),
        ({"backoffs": 2, "backoff_until": 130.0}, "in backoff for 30 s, 2 in a row"),
        ({"backoffs": 2, "backoff_until": 90.0, "dead_reason": "timed out"}, "dead: timed out"),
    ],
)
def test_health_of_a_host_is_described(values: dict[str, Any], said: str) -> None:
    numbers = dict.fromkeys(("pending", "leased", "done", "failed", "skipped", "articles", "failures"), 0)
    host = HostStatus(**{"name": "a.example", "robots": "none", "owner": None, **numbers, **values})
    assert _health(host, 100.0) == said
