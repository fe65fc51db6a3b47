"""Bound the crawl of each seed, and find the sitemaps of its hosts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from db.records.keys import fingerprint
from db.records.run import StoredSeed
from db.records.url import Kind, Lease, NewUrl
from pipelines.links.scope import Scope, identify
from pipelines.records import BlockKind
from pipelines.urls import bare_host, canonicalize, host_key, site_key

from ..rank.priority import Priority
from .new_urls import new_url


class SeedScope:
    """Bounds of each seed's crawl.

    Args:
        rows: the seeds as stored.
        depth: `MAX_DEPTH`, for seeds without a depth of their own.
    """

    def __init__(self, rows: Iterable[StoredSeed], depth: int | None) -> None:
        self._rows: dict[int, StoredSeed] = {}
        self._scopes: dict[int, Scope] = {}
        self._seed_of: dict[str, int] = {}
        self._names: set[str] = set()
        self._sites: set[str] = set()
        self._most_depth = depth
        self.learn(rows)

    def learn(self, rows: Iterable[StoredSeed]) -> None:
        """Take over seeds as the table has them.

        Other processes bring their own, and hosts that theirs redirected to.
        """
        for row in rows:
            if self._rows.get(row.id) != row:
                self._rows[row.id] = row
                self._put(row.id, Scope(row.stay, row.hosts))

    def _put(self, seed_id: int, scope: Scope) -> None:
        """Note the scope of a seed's crawl, so that no question has to look at all seeds."""
        self._scopes[seed_id] = scope
        for host in scope.hosts:
            self._seed_of.setdefault(host, seed_id)
            self._names.add(bare_host(host))
            if scope.stay == "site":
                self._sites.add(site_key(host))

    def scope_of(self, lease: Lease) -> Scope:
        """Return the scope of the links of a page."""
        own = Scope("host", (host_key(lease.url),))
        return own if lease.seed_id is None else self._scopes.get(lease.seed_id, own)

    def depth_of(self, seed_id: int | None) -> int | None:
        """Return how many links from the seed may be followed; None for no limit."""
        row = self._rows.get(seed_id) if seed_id is not None else None
        return self._most_depth if row is None or row.depth is None else row.depth

    def owns(self, host: str) -> bool:
        """Tell whether a host is a seed's own, not only one that its pages lead to."""
        return bare_host(host) in self._names or site_key(host) in self._sites

    def adopt(self, seed_id: int, host: str) -> None:
        """Count a further host as the seed's own."""
        scope = self._scopes.get(seed_id)
        if scope is not None:
            self._put(seed_id, Scope(scope.stay, (*scope.hosts, host)))

    def sitemaps(self, host: str, base: str, named: Sequence[str], *, priority: Priority, now: float) -> list[NewUrl]:
        """Return a seed host's sitemaps: those robots.txt names, else the usual place."""
        seed_id = self._seed_of.get(host)
        if seed_id is None or self.depth_of(seed_id) == 0:
            return []
        urls = [url for url in (canonicalize(text, base) for text in named) if url]
        urls = urls or [url for url in [canonicalize("/sitemap.xml", base)] if url]
        return [
            new_url(
                identify(url, Kind.SITEMAP, self._scopes[seed_id]),
                priority=priority,
                depth=0,
                found_in=BlockKind.SITEMAP,
                now=now,
                seed_id=seed_id,
            )
            for url in urls
        ]


def seed_row(url: str, *, stay: str, depth: int | None, pages: int | None, topic: str) -> StoredSeed:
    """Make the row of a seed."""
    return StoredSeed(fingerprint(url), url, stay, depth, pages, topic, (host_key(url),))
