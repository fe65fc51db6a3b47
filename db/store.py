"""The page transaction: what came of a fetch, its article, its duplicates, its links and new URLs, all or nothing.

`store` takes everything that waits in one batch. URLs, links and states are written in bulk over all pages of it;
articles one after the other, because each may be a duplicate of the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, case, or_, select, update

from . import articles
from .articles import NewArticle
from .budgets import refund
from .frontier import Claim
from .keys import iso
from .statements import in_state, insert_new, insert_rows, upsert
from .tables import Host, Kind, Link, Page, Seed, Site, State, Url

url, host, site, link, seed, page = (m.table() for m in (Url, Host, Site, Link, Seed, Page))

SOFT_REASONS = ("nofollow", "too deep", "outside")
"""Reasons for skipping a link that another link to the same URL overrules."""


@dataclass(frozen=True, slots=True)
class NewUrl:
    """A URL to add to the frontier (or to find there already).

    Attributes:
        id, url, kind, depth, score, score_parts, found_in, anchor, dated: as in the table.
        host_id, host, site_id, site: where it lives.
        reason: empty when it is to be fetched, else why it is not.
        seed_id: the seed it descends from.
        again: fetch it even if it was fetched before.
    """

    id: int
    url: str
    kind: str
    host_id: int
    host: str
    site_id: int
    site: str
    depth: int
    score: float
    score_parts: str | None
    found_in: int
    seed_id: int | None = None
    anchor: str = ""
    dated: float | None = None
    reason: str = ""
    hops: int = 0
    again: bool = False


@dataclass(frozen=True, slots=True)
class StoredPage:
    """Raw bytes of a page to keep."""

    content_type: str
    encoding: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one claim.

    Attributes:
        claim: the URL as it was handed out.
        state, reason: its new state; `PENDING` means another try at `next_visit`.
        counted: whether it counts against the page limits (answered, and no redirect).
        http_status, fetched_at, etag, last_modified, next_visit: as in the table.
        ready_at: when the host may be asked again.
        failed: the host did not answer properly.
        same_as: the URL this one is another address of.
        article: the article found on it.
        new_urls: URLs to add to the frontier.
        links: (target, block kind) pairs.
        robots: new rules of hosts: (host, "rules" | "none" | "unreachable" | "refused", text).
        seed_host: (seed, host name) to count as the seed's own from now on.
        raw: bytes to keep.
    """

    claim: Claim
    state: str
    reason: str = ""
    counted: bool = False
    http_status: int | None = None
    fetched_at: float = 0.0
    etag: str | None = None
    last_modified: str | None = None
    next_visit: float | None = None
    ready_at: float = 0.0
    failed: bool = False
    same_as: int | None = None
    article: NewArticle | None = None
    new_urls: Sequence[NewUrl] = ()
    links: Sequence[tuple[int, int]] = ()
    robots: Sequence[tuple[int, str, str]] = ()
    seed_host: tuple[int, str] | None = None
    raw: StoredPage | None = None


@dataclass(slots=True)
class Stored:
    """What the transaction made of an outcome.

    Attributes:
        article: "new", "duplicate", "same page", "updated", "unchanged" or "" when there was none.
        new_urls: rows added to the frontier, of every state.
        queued: of these, how many wait to be fetched.
        same_as: the stored page that a "same page" is another address of.
        hosts: hosts that may have new work.
    """

    article: str = ""
    same_as: int | None = None
    new_urls: int = 0
    queued: int = 0
    hosts: set[int] = field(default_factory=set)


class Store:
    """Writes outcomes. Holds no state but its judge, so one store serves every batch.

    Args:
        run_id: the run whose claims these are; outcomes of claims that another run has taken over are dropped.
        judge: decides which of the candidates, if any, a new article repeats.
        lookup: how candidates are found.
    """

    def __init__(self, run_id: int, judge: articles.Judge, lookup: articles.Lookup) -> None:
        self._run_id = run_id
        self._judge = judge
        self._lookup = lookup

    def store(self, connection: Connection, outcomes: Sequence[Outcome]) -> list[Stored]:
        """Write a batch of outcomes in the open transaction."""
        results = [Stored() for _ in outcomes]
        held = set(connection.execute(_HELD, {"ids": [o.claim.id for o in outcomes], "run": self._run_id}).scalars())
        if len(held) < len(outcomes):  # this run was taken for dead: whoever holds the page now stores it
            ours = [i for i, outcome in enumerate(outcomes) if outcome.claim.id in held]
            for i, result in zip(ours, self._write(connection, [outcomes[i] for i in ours]), strict=True):
                results[i] = result
            return results
        return self._write(connection, outcomes)

    def _write(self, connection: Connection, outcomes: Sequence[Outcome]) -> list[Stored]:
        """Write outcomes of claims that this run holds."""
        results = [Stored() for _ in outcomes]
        if not outcomes:
            return results
        found = [new for outcome in outcomes for new in outcome.new_urls]
        _add_hosts(connection, max(outcome.fetched_at for outcome in outcomes), found)
        _add_urls(connection, outcomes, results)
        self._add_articles(connection, outcomes, results)
        _add_links(connection, outcomes)
        _close_claims(connection, outcomes, results)
        return results

    def _add_articles(self, connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
        for outcome, result in zip(outcomes, results, strict=True):
            if outcome.article is not None:
                added = articles.add(connection, outcome.article, self._judge, self._lookup)
                result.article, result.same_as = added.what, added.same_as
            if outcome.raw is not None:
                values = {
                    "fetched_at": outcome.fetched_at,
                    "content_type": outcome.raw.content_type,
                    "encoding": outcome.raw.encoding,
                    "body": outcome.raw.body,
                }
                connection.execute(
                    upsert(connection, page)
                    .values(url_id=outcome.claim.id, **values)
                    .on_conflict_do_update(index_elements=["url_id"], set_=values)
                )


def add_urls(connection: Connection, batches: Sequence[tuple[float, Sequence[NewUrl]]]) -> list[Stored]:
    """Add URLs that no page named: seeds, robots.txt, sitemaps. A batch goes with the time at which they were found."""
    results = []
    for now, batch in batches:
        result = Stored()
        _add_hosts(connection, now, batch)
        _insert_urls(connection, [(new, None, now) for new in batch], [result] * len(batch))
        results.append(result)
    return results


def _add_hosts(connection: Connection, now: float, new_urls: Iterable[NewUrl]) -> None:
    """Write hosts and sites that are new."""
    hosts: dict[int, NewUrl] = {}
    for new in new_urls:
        hosts.setdefault(new.host_id, new)
    if not hosts:
        return
    known = set(_in_chunks(connection, _KNOWN_HOSTS, list(hosts)))
    missing = [hosts[key] for key in sorted(hosts) if key not in known]
    if not missing:
        return
    connection.execute(
        insert_new(connection, host),
        [{"id": n.host_id, "site_id": n.site_id, "name": n.host, "scheme": n.url.partition(":")[0]} for n in missing],
    )
    sites = {n.site_id: n.site for n in missing}
    seen = iso(now)
    connection.execute(
        insert_new(connection, site),
        [{"id": key, "name": sites[key], "first_seen": seen} for key in sorted(sites)],
    )


def _add_urls(connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
    rows: list[tuple[NewUrl, int | None, float]] = []
    owners: list[Stored] = []
    for outcome, result in zip(outcomes, results, strict=True):
        rows.extend((new, outcome.claim.id, outcome.fetched_at) for new in outcome.new_urls)
        owners.extend([result] * len(outcome.new_urls))
    _insert_urls(connection, rows, owners)


def _insert_urls(
    connection: Connection, rows: Sequence[tuple[NewUrl, int | None, float]], owners: Sequence[Stored]
) -> None:
    """Insert URLs; where one is known already, keep the better of both (shallower, followable, wanted again)."""
    if not rows:
        return
    order = sorted(range(len(rows)), key=lambda i: rows[i][0].id)
    known = set(_in_chunks(connection, _KNOWN_URLS, [rows[i][0].id for i in order]))
    fresh: dict[int, dict[str, Any]] = {}
    again: list[dict[str, Any]] = []
    for i in order:
        new, source, now = rows[i]
        state = State.SKIPPED if new.reason else State.PENDING
        values = {
            "id": new.id,
            "url": new.url,
            "host_id": new.host_id,
            "seed_id": new.seed_id,
            "kind": new.kind,
            "state": state,
            "reason": new.reason or None,
            "depth": new.depth,
            "score": new.score,
            "score_parts": new.score_parts,
            "found_on": source,
            "found_in": new.found_in,
            "anchor": new.anchor or None,
            "found_at": now + i * 1e-6,
            "dated": new.dated,
            "hops": new.hops,
        }
        if new.id not in known and new.id not in fresh:
            fresh[new.id] = values
            owners[i].new_urls += 1
            if state == State.PENDING:
                owners[i].queued += 1
                owners[i].hosts.add(new.host_id)
        elif state == State.PENDING:
            again.append({"key": new.id, **{f"new_{name}": values[name] for name in _BETTER}, "again": int(new.again)})
            owners[i].hosts.add(new.host_id)
    if fresh:
        connection.execute(insert_new(connection, url), list(fresh.values()))
    if again:
        connection.execute(_IMPROVE, again)
    touched = {row[0].host_id for i, row in enumerate(rows) if row[0].host_id in owners[i].hosts}
    if touched:
        connection.execute(_QUEUE_HOST, [{"key": key} for key in sorted(touched)])


_BETTER = ("depth", "score", "score_parts", "seed_id", "found_on", "found_in", "hops")
_IMPROVE = (
    update(url)
    .where(
        url.c.id == bindparam("key"),
        (bindparam("again") == 1) & (url.c.state != State.PENDING) & (url.c.state != State.LEASED)
        | (url.c.state == State.PENDING) & (url.c.depth > bindparam("new_depth"))
        | (url.c.state == State.SKIPPED) & or_(*(url.c.reason == reason for reason in SOFT_REASONS)),
    )
    .values(
        {name: bindparam(f"new_{name}") for name in _BETTER}
        | {
            "state": State.PENDING,
            "reason": None,
            "tries": case((url.c.state == State.PENDING, url.c.tries), else_=0),
        }
    )
)


_KNOWN_HOSTS = select(host.c.id).where(host.c.id.in_(bindparam("ids", expanding=True)))
_KNOWN_URLS = select(url.c.id).where(url.c.id.in_(bindparam("ids", expanding=True)))
_QUEUE_HOST = update(host).where(host.c.id == bindparam("key")).values(queued=1)
_HELD = select(url.c.id).where(
    in_state(State.LEASED), url.c.leased_by == bindparam("run"), url.c.id.in_(bindparam("ids", expanding=True))
)


def _in_chunks(connection: Connection, query: Any, ids: Sequence[int], size: int = 5_000) -> list[int]:
    """Run an IN query in pieces that every database accepts."""
    found: list[int] = []
    for start in range(0, len(ids), size):
        found.extend(connection.execute(query, {"ids": ids[start : start + size]}).scalars())
    return found


def _add_links(connection: Connection, outcomes: Sequence[Outcome]) -> None:
    """Write the edges of all pages at once; a page fetched again keeps the edges it had."""
    rows = [
        (outcome.claim.id, target, block)
        for outcome in sorted(outcomes, key=lambda o: o.claim.id)
        for target, block in outcome.links
    ]
    insert_rows(connection, link, ("source", "target", "block"), rows)


_CLOSE = (
    update(url)
    .where(url.c.id == bindparam("key"))
    .values(
        state=bindparam("new_state"),
        reason=bindparam("new_reason"),
        http_status=bindparam("new_status"),
        fetched_at=bindparam("new_fetched_at"),
        etag=bindparam("new_etag"),
        last_modified=bindparam("new_last_modified"),
        next_visit=bindparam("new_next_visit"),
        same_as=bindparam("new_same_as"),
        leased_by=None,
    )
)


_COUNT_HOST = (
    update(host)
    .where(host.c.id == bindparam("key"))
    .values(
        articles=host.c.articles + bindparam("n_articles"),
        ready_at=case((bindparam("new_ready_at") > host.c.ready_at, bindparam("new_ready_at")), else_=host.c.ready_at),
        failures=case((bindparam("answered") == 1, 0), else_=host.c.failures + bindparam("n_failures")),
    )
)


def _close_claims(connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
    """Write the URLs' new states, the hosts' counters and clocks, and give back budgets that were not used."""
    rows: list[dict[str, Any]] = []
    hosts: dict[int, dict[str, Any]] = {}
    for outcome, result in zip(outcomes, results, strict=True):
        rows.append(
            {
                "key": outcome.claim.id,
                "new_state": outcome.state,
                "new_reason": "same page" if result.same_as else outcome.reason or None,
                "new_status": outcome.http_status,
                "new_fetched_at": outcome.fetched_at or None,
                "new_etag": outcome.etag,
                "new_last_modified": outcome.last_modified,
                "new_next_visit": outcome.next_visit,
                "new_same_as": result.same_as or outcome.same_as,
            }
        )
        counters = hosts.setdefault(
            outcome.claim.host_id,
            {"key": outcome.claim.host_id, "n_articles": 0, "new_ready_at": 0.0, "n_failures": 0, "answered": 0},
        )
        counters["n_articles"] += result.article in {"new", "duplicate"}
        counters["new_ready_at"] = max(counters["new_ready_at"], outcome.ready_at)
        counters["n_failures"] += outcome.failed
        counters["answered"] = max(counters["answered"], int(not outcome.failed))
        if outcome.state == State.PENDING:
            result.queued += 1
            result.hosts.add(outcome.claim.host_id)
        for host_id, kind, text in outcome.robots:
            connection.execute(
                update(host)
                .where(host.c.id == host_id)
                .values(robots=kind, robots_text=text or None, robots_at=outcome.fetched_at)
            )
        if outcome.seed_host is not None:
            seed_id, name = outcome.seed_host
            connection.execute(update(seed).where(seed.c.id == seed_id).values(hosts=seed.c.hosts + " " + name))
    connection.execute(_CLOSE, sorted(rows, key=lambda row: row["key"]))
    connection.execute(_COUNT_HOST, [hosts[key] for key in sorted(hosts)])
    again = {outcome.claim.host_id for outcome in outcomes if outcome.state == State.PENDING}
    if again:
        connection.execute(_QUEUE_HOST, [{"key": key} for key in sorted(again)])
    refund(
        connection,
        [(o.claim.host_id, o.claim.seed_id) for o in outcomes if o.claim.kind == Kind.PAGE and not o.counted],
    )
