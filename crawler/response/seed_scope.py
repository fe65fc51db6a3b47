"""Bound the crawl of each seed, and find the sitemaps of its hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cachetools import LRUCache

from db.records.keys import fingerprint
from db.records.run import StoredSeed
from db.records.url import Kind, Lease, NewUrl
from pipelines.dates.period import Bound, Period
from pipelines.document.selectors import NO_SELECTORS, Selectors
from pipelines.links.scope import ALWAYS, Scope, folder_of, identify
from pipelines.records import BlockKind
from pipelines.urls import bare_host, canonicalize, host_key, same_host, site_key

from ..rank.priority import Priority
from .new_urls import new_url

_MOST_HOSTS = 10_000


class SeedScope:
    """Bounds of each seed's crawl; `depth` and `period` are for seeds without any."""

    def __init__(self, rows: Iterable[StoredSeed], depth: int | None, period: Period = ALWAYS) -> None:
        self._rows: dict[int, StoredSeed] = {}
        self._scopes: dict[int, Scope] = {}
        self._seed_of: dict[str, int] = {}
        self._names: set[str] = set()
        self._sites: set[str] = set()
        self._bare: set[str] = set()
        self._no_https: set[str] = set()
        self._proxies: dict[int, str] = {}
        self._selectors: dict[int, Selectors] = {}
        self._asked_by: LRUCache[str, int] = LRUCache(_MOST_HOSTS)
        self._most_depth = depth
        self._period = period
        self.learn(rows)

    def learn(self, rows: Iterable[StoredSeed]) -> None:
        """Take over seeds as the table has them; other processes add seeds and hosts."""
        for row in rows:
            if self._rows.get(row.id) != row:
                self._rows[row.id] = row
                self._put(row.id, scope_of_seed(row, self._period))
                self._bare.update(row.hosts if row.bare else ())
                self._proxies.pop(row.id, None)
                if row.proxy:
                    self._proxies[row.id] = row.proxy
                self._selectors.pop(row.id, None)
                selectors = Selectors(row.body, row.title, row.published, row.author)
                if selectors.given:
                    self._selectors[row.id] = selectors

    def _put(self, seed_id: int, scope: Scope) -> None:
        self._scopes[seed_id] = scope
        for host in scope.hosts:
            self._seed_of.setdefault(host, seed_id)
            self._names.add(bare_host(host))
            if scope.stay == "site":
                self._sites.add(site_key(host))

    def scope_of(self, lease: Lease) -> Scope:
        host = host_key(lease.url)
        scope = None if lease.seed_id is None else self._scopes.get(lease.seed_id)
        scope = scope or Scope("host", (host,))
        # robots.txt comes first: once it was had over https, a page that is not is a failure like others
        is_bare = host in (self._bare if lease.kind == Kind.ROBOTS else self._no_https)
        return replace(scope, bare=True) if is_bare else scope

    def lacks_https(self, host: str) -> list[StoredSeed]:
        """Note that a host named without a scheme has http only; returns the seeds on it."""
        self._no_https.add(host)
        return [row for row in self._rows.values() if row.bare and host_key(row.url) == host]

    def refuses(self, lease: Lease) -> str:
        """Return the rule that a waiting page breaks, which may be newer; empty for none."""
        scope = self._scopes.get(lease.seed_id or 0)
        if scope is None or lease.kind != Kind.PAGE or lease.found_in == BlockKind.SEED:
            return ""
        return scope.refuses(lease.url)

    def depth_of(self, seed_id: int | None) -> int | None:
        row = self._rows.get(seed_id) if seed_id is not None else None
        return self._most_depth if row is None or row.depth is None else row.depth

    def render_of(self, lease: Lease) -> str:
        row = self._rows.get(lease.seed_id or 0)
        return "" if row is None else row.render

    def selectors_of(self, lease: Lease) -> Selectors:
        """Return the selectors for a page of a seed's own hosts.

        Those of the seed that it belongs to; if that is one of another host, of the seed of this host.
        """
        if not self._selectors:
            return NO_SELECTORS
        host = host_key(lease.url)
        for seed_id in (lease.seed_id or 0, self._seed_of.get(host, 0)):
            scope = self._scopes.get(seed_id)
            if scope is not None and any(same_host(host, own) for own in scope.hosts):
                return self._selectors.get(seed_id, NO_SELECTORS)
        return NO_SELECTORS

    @property
    def have_proxies(self) -> bool:
        return bool(self._proxies)

    def note_askers(self, seeds: Mapping[str, int]) -> None:
        self._asked_by.update(seeds)

    def proxy_of(self, lease: Lease) -> str:
        if not self._proxies:
            return ""
        if lease.seed_id is None:
            return self.proxy_of_host(host_key(lease.url))
        return self._proxies.get(lease.seed_id, "")

    def proxy_of_host(self, host: str) -> str:
        seed_id = self._asked_by.get(host, self._seed_of.get(host, 0))
        return self._proxies.get(seed_id, "")

    def owns(self, host: str) -> bool:
        return bare_host(host) in self._names or site_key(host) in self._sites

    def adopt(self, seed_id: int, host: str) -> None:
        scope = self._scopes.get(seed_id)
        if scope is not None:
            self._put(seed_id, replace(scope, hosts=(*scope.hosts, host)))

    def sitemaps(self, host: str, base: str, named: Sequence[str], *, priority: Priority, now: float) -> list[NewUrl]:
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


def scope_of_seed(row: StoredSeed, period: Period = ALWAYS) -> Scope:
    period = replace(period, since=Bound.read(row.since)) if row.since else period
    below = folder_of(row.url) if row.stay == "path" else ""
    return Scope(row.stay, row.hosts, below, row.include, row.exclude, period)


def seed_row(url: str, **options: Any) -> StoredSeed:
    return StoredSeed(fingerprint(url), url, hosts=(host_key(url),), **options)
