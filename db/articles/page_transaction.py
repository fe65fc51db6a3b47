"""The page transaction: all that came of a fetch is stored at once, or nothing.

`store` takes all outcomes that wait as one batch: URLs, links, articles and states are written in bulk for all pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from sqlalchemy import Connection, Float, Text, bindparam, case, func, select, update

from ..engine.errors import Contended
from ..engine.statements import among, insert_rows, run_many
from ..frontier import revisits
from ..frontier.aliases import revive
from ..frontier.claims import SET_ROBOTS, held_by
from ..frontier.insert import add_hosts, insert_urls
from ..frontier.leases import LOCK_HOSTS
from ..frontier.limits import spend_totals
from ..records.article import Added, Differs, Judge, NewArticle, Renewal, always
from ..records.keys import iso
from ..records.outcome import Joined, NextVisit, Outcome, Stored, never
from ..records.part import Arrival, Fate, Gathered, Joiner, Ready
from ..records.reasons import ArticleResult
from ..records.search import MakeTerms
from ..records.shard import Dealing
from ..records.signature import MemoryIndex
from ..records.url import MOVED_FOR_GOOD, Kind, NewUrl, State
from ..shards.mail import ADOPT, post_foreign
from ..tables.learned import PageTermsRow
from ..tables.urls import HostRow, LinkRow, SeedRow, UrlRow
from . import apply, multipage
from .candidates import stored_rows
from .elsewhere import announce
from .retention import keep_raw
from .signatures import catch_up, lock_articles

url, host, link, seed, page_terms = (model.table() for model in (UrlRow, HostRow, LinkRow, SeedRow, PageTermsRow))


def keep_terms(connection: Connection, outcomes: Sequence[Outcome]) -> None:
    """Keep the words of pages; those of a page fetched again are replaced."""
    rows = [(outcome.lease.id, *outcome.terms) for outcome in outcomes if outcome.terms is not None]
    if insert_rows(connection, page_terms, ("url_id", "relevance", "terms"), sorted(rows)) < len(rows):
        named = [dict(zip(("key", "new_relevance", "new_terms"), row, strict=True)) for row in sorted(rows)]
        run_many(connection, _RENEW_TERMS, named)


_RENEW_TERMS = (
    update(page_terms)
    .where(page_terms.c.url_id == bindparam("key"))
    .values(relevance=bindparam("new_relevance"), terms=bindparam("new_terms"))
)


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """Writer of outcomes, with an index of articles that follows the table.

    Outcomes of leases that another run has taken over are dropped. `differs` tells whether (title, text) as stored says
    something else than as it came now; `dealing` is None where there is no other database.
    """

    run_id: int
    judge: Judge
    index: MemoryIndex
    joiner: Joiner
    make_terms: MakeTerms
    differs: Differs = always
    renewal: Renewal = Renewal.OF_PAGES
    dealing: Dealing | None = None
    next_visit: NextVisit = never

    def store(self, connection: Connection, outcomes: Sequence[Outcome]) -> list[Stored]:
        results = [Stored() for _ in outcomes]
        held = held_by(connection, self.run_id, [outcome.lease.id for outcome in outcomes])
        # what is not held was taken over, because this run was taken for dead: whoever holds the page now stores it
        ours = [(o, r) for o, r in zip(outcomes, results, strict=True) if o.lease.id in held]
        if ours:
            self._write(connection, [outcome for outcome, _ in ours], [result for _, result in ours])
        return results

    def _write(self, connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
        """Write outcomes of leases that this run holds.

        The order keeps processes from waiting for each other in a circle: rows that only this run touches are written
        at any time; shared ones are locked in one order (new hosts, URLs, articles, budgets, hosts).
        """
        if self.dealing is not None:
            outcomes = post_foreign(connection, self.dealing, outcomes)
        new_urls = [new for outcome in outcomes for new in outcome.new_urls]
        add_hosts(connection, max(outcome.fetched_at for outcome in outcomes), new_urls)
        _add_urls(connection, outcomes, results)
        _revive_others(connection, outcomes, results)
        _add_links(connection, outcomes)
        keep_terms(connection, outcomes)
        _close_leases(connection, self.run_id, outcomes)
        self._add_articles(connection, outcomes, results)
        if self.dealing is not None:
            announce(connection, self.dealing, _with_new_texts(outcomes, results))
        keep_raw(connection, outcomes, results)
        self._note_revisits(connection, outcomes, results)
        _note_visits(connection, outcomes, results)
        _point_to_stored(connection, outcomes, results)
        _mark_same_host(connection, outcomes, results)
        unused = [o.lease for o in outcomes if o.lease.counts and not o.counted]
        spend_totals(connection, [lease.seed_id for lease in unused], sign=-1)
        _adopt_hosts(connection, outcomes)
        _update_hosts(connection, self.run_id, outcomes, results)

    def _add_articles(self, connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
        arrivals = [
            Arrival(outcome.lease.id, outcome.article, outcome.place, _fate(outcome))
            for outcome in outcomes
            if outcome.lease.kind == Kind.PAGE and outcome.state != State.PENDING
        ]
        has_articles = any(one.article for one in arrivals) or any(_leads_on(outcome) for outcome in outcomes)
        if has_articles:
            lock_articles(connection)
            results[0].freed += _follow_moves(connection, outcomes, self.differs)
        gathered = multipage.gather(connection, arrivals, self.joiner) if arrivals else Gathered()
        if has_articles or gathered.ready:
            catch_up(connection, self.index)
        pairs = list(zip(outcomes, results, strict=True))
        single = [(o.article, r) for o, r in pairs if o.article is not None and o.lease.id not in gathered.parts]
        added = self._add(connection, [new for new, _ in single], gathered.ready)
        for (_, result), what in zip(single, added, strict=False):
            result.article, result.same_as, result.changed, freed = what
            result.freed += freed
        for outcome, result in pairs:
            if outcome.lease.id in gathered.parts:
                result.article = ArticleResult.PART
            for one, what in zip(gathered.ready, added[len(single) :], strict=True):
                if one.by == outcome.lease.id:
                    result.joined.append(Joined(one.url, one.article, what.what))
                    result.changed |= what.changed
                    result.freed += what.freed
        exported = {o.lease.id for o, r in pairs if r.article is not None and r.article.is_exported}
        exported |= {one.article.id for _, r in pairs for one in r.joined if one.what.is_exported}
        for _, result in pairs:
            result.freed = [key for key in dict.fromkeys(result.freed) if key not in exported]
            exported |= set(result.freed)

    def _note_revisits(self, connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
        noted = []
        for outcome, result in zip(outcomes, results, strict=True):
            if outcome.visit is not None:
                news = int(result.changed) if revisits.is_article(outcome) else result.queued
                result.next_visit = None if outcome.visit.is_last else self.next_visit(outcome, news)
                noted.append((outcome, news, result.next_visit))
        if noted:
            revisits.note(connection, noted)

    def _add(self, connection: Connection, single: Sequence[NewArticle], ready: Sequence[Ready]) -> list[Added]:
        new = [*single, *(one.article for one in ready)]
        make, why = self.make_terms, self.renewal
        judge, index = self.judge, self.index
        added = apply.add(connection, new, judge, index, self.differs, renewal=why, make_terms=make) if new else []
        multipage.settle(connection, ready, added[len(single) :])
        return added

    def finish(self, connection: Connection, requests: Sequence[None]) -> list[Stored]:
        """Write some articles whose missing parts will not come; the last answer has none."""
        lock_articles(connection)
        ready = multipage.unfinished(connection, self.joiner).ready
        catch_up(connection, self.index)
        added = self._add(connection, [], ready)
        joined = [Joined(one.url, one.article, what.what) for one, what in zip(ready, added, strict=True)]
        finished = Stored(joined=joined, freed=[key for what in added for key in what.freed])
        if self.dealing is not None:
            announce(connection, self.dealing, finished.beside)
        new = [one.article.id for one, what in zip(ready, added, strict=True) if what.what.is_added]
        hosts = Counter(connection.execute(_HOSTS_OF, {"ids": new}).scalars())
        run_many(connection, _COUNT_ARTICLES, [{"key": key, "n": hosts[key]} for key in sorted(hosts)])
        return [finished, *(Stored() for _ in requests[1:])]


_HOSTS_OF = select(url.c.host_id).where(among(url.c.id))
_COUNT_ARTICLES = update(host).where(host.c.id == bindparam("key")).values(articles=host.c.articles + bindparam("n"))


def _with_new_texts(outcomes: Sequence[Outcome], results: Sequence[Stored]) -> list[int]:
    pairs = list(zip(outcomes, results, strict=True))
    single = [o.lease.id for o, r in pairs if r.article and (r.article.is_added or r.changed or r.has_moved)]
    return single + [key for _, result in pairs for key in result.beside]


def _add_urls(connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
    rows: list[tuple[NewUrl, int | None, float]] = []
    owners: list[Stored] = []
    for outcome, result in zip(outcomes, results, strict=True):
        rows.extend((new, outcome.lease.id, outcome.fetched_at) for new in outcome.new_urls)
        owners.extend([result] * len(outcome.new_urls))
    insert_urls(connection, rows, owners)


def _revive_others(connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
    unproductive = {o.lease.id: result for o, result in zip(outcomes, results, strict=True) if _is_unproductive(o)}
    for _, host_id, other in revive(connection, list(unproductive)):
        unproductive[other].queued += 1
        unproductive[other].hosts.add(host_id)


def _is_unproductive(outcome: Outcome) -> bool:
    """Tell whether a page is of no use to the URLs that were skipped for it."""
    if outcome.lease.kind != Kind.PAGE or outcome.article is not None or outcome.state == State.PENDING:
        return False
    if outcome.reverted:
        return False
    leads = outcome.state == State.SKIPPED and outcome.same_as is not None
    return not leads and not (outcome.reason is not None and outcome.reason.is_settled)


def _add_links(connection: Connection, outcomes: Sequence[Outcome]) -> None:
    rows = [
        row
        for outcome in sorted(outcomes, key=lambda o: o.lease.id)
        for row in zip(repeat(outcome.lease.id), outcome.links.targets, outcome.links.blocks, strict=False)
    ]
    insert_rows(connection, link, ("source", "target", "block"), rows)


_CLOSED = ("state", "reason", "http_status", "etag", "last_modified", "next_visit", "unread", "same_as")
_CLOSE = (
    update(url)
    .where(url.c.id == bindparam("key"), url.c.leased_by == bindparam("run"))
    .values(
        {name: bindparam(f"new_{name}") for name in (*_CLOSED, "reason_detail", "fetched_at")}
        | {
            "page_kind": func.coalesce(bindparam("new_page_kind"), url.c.page_kind),
            "tries": url.c.tries - bindparam("untried"),
            "visits": url.c.visits + bindparam("visited"),
            "watched": url.c.watched + bindparam("age"),
            "leased_by": None,
        }
    )
)


def _close_leases(connection: Connection, run_id: int, outcomes: Sequence[Outcome]) -> None:
    rows = [
        {
            "key": outcome.lease.id,
            "run": run_id,
            **{f"new_{name}": getattr(outcome, name) for name in _CLOSED},
            "new_reason_detail": outcome.detail or None,
            "new_page_kind": outcome.page_kind,
            "new_fetched_at": outcome.fetched_at or None,
            "untried": int(not outcome.tried),
            "age": outcome.age,
            "visited": int(
                outcome.tried and outcome.state != State.PENDING and not (outcome.reverted and outcome.visit is None)
            ),
        }
        for outcome in outcomes
    ]
    if run_many(connection, _CLOSE, sorted(rows, key=lambda row: row["key"])) < len(rows):
        raise Contended("this run was taken for dead while it was storing")  # once more, with what it still holds


def _fate(outcome: Outcome) -> Fate:
    if outcome.alive is False:
        return Fate.GONE
    return Fate.STAYED if outcome.reverted else Fate.MOVED if _has_moved(outcome) else Fate.CAME


def _has_moved(outcome: Outcome) -> bool:
    return outcome.lease.is_revisit and _leads_on(outcome)


def _leads_on(outcome: Outcome) -> bool:
    came_by = outcome.lease.is_revisit or outcome.lease.hops > 0
    return came_by and outcome.http_status in MOVED_FOR_GOOD and outcome.same_as is not None


def _follow_moves(connection: Connection, outcomes: Sequence[Outcome], differs: Differs) -> list[int]:
    freed: list[int] = []
    new = {outcome.article.id for outcome in outcomes if outcome.article is not None}
    targets = {outcome.same_as for outcome in outcomes if outcome.same_as is not None and _leads_on(outcome)}
    moves = revisits.moved(connection, sorted(new | targets))
    if moves:
        there = new | stored_rows(connection, sorted({target for _, target in moves})).keys()
        for old, target in moves:
            if target in there:
                freed += apply.absorb(connection, target, [old], differs)
        revisits.mark_gone(connection, [], sorted({target for _, target in moves if target in new}))
    return freed


def _note_visits(connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
    """Make due what lists call changed, count new articles for the lists naming them."""
    for outcome, result in zip(outcomes, results, strict=True):
        if revisits.bring_forward(connection, outcome.stated, outcome.fetched_at):
            result.next_visit = outcome.fetched_at
    pairs = [
        (o.lease, r) for o, r in zip(outcomes, results, strict=True) if r.article is not None and r.article.is_added
    ]
    naming_lists = [(lease.found_on, lease.found_at) for lease, _ in pairs if lease.found_on is not None]
    if naming_lists:
        revisits.count_brought(connection, [(key, at) for key, at in naming_lists])
    gone = [(o.lease.id, iso(o.fetched_at)) for o in outcomes if o.alive is False]
    back = [o.lease.id for o in outcomes if o.alive]
    if gone or back:
        revisits.mark_gone(connection, gone, back)


def _point_to_stored(connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
    rows = [
        {"key": outcome.lease.id, "other": result.same_as, "why": result.article.why_not_stored}
        for outcome, result in zip(outcomes, results, strict=True)
        if result.article is not None and result.article.why_not_stored
    ]
    run_many(connection, apply.POINT, sorted(rows, key=lambda row: row["key"]))


def _mark_same_host(connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
    repeated = [result.same_as for result in results if result.same_as is not None]
    if not repeated:
        return
    hosts = {row.id: row.host_id for row in connection.execute(_HOST_OF, {"ids": repeated})}
    for outcome, result in zip(outcomes, results, strict=True):
        result.same_host = result.same_as is not None and hosts.get(result.same_as) == outcome.lease.host_id


_HOST_OF = select(url.c.id, url.c.host_id).where(among(url.c.id))


def _adopt_hosts(connection: Connection, outcomes: Sequence[Outcome]) -> None:
    adopted = sorted({o.seed_host for o in outcomes if o.seed_host is not None})
    run_many(connection, ADOPT, [{"key": seed_id, "name": " " + name} for seed_id, name in adopted])


_WANTED = bindparam("wanted") == 1
_FOREIGN = host.c.owner.is_not(None) & host.c.owner.is_distinct_from(bindparam("run"))
_LATEST = 0.2
"""Weight of the latest answers in a host's mean answer time; chosen by hand."""
_TOOK = bindparam("took", type_=Float)
_MEAN = func.coalesce(host.c.answer_seconds, _TOOK)
_MEAN_NOW = _MEAN + _LATEST * (_TOOK - _MEAN)
_UPDATE_HOST = (
    update(host)
    .where(host.c.id == bindparam("key"))
    .values(
        articles=host.c.articles + bindparam("n_articles"),
        pages=host.c.pages - bindparam("n_unused"),
        ready_at=case((bindparam("new_ready_at") > host.c.ready_at, bindparam("new_ready_at")), else_=host.c.ready_at),
        failures=case((bindparam("answered") == 1, 0), else_=host.c.failures + bindparam("n_failures")),
        answer_seconds=case((bindparam("n_timed") == 0, host.c.answer_seconds), else_=_MEAN_NOW),
        ip_address=func.coalesce(bindparam("address", type_=Text), host.c.ip_address),
        # the owner is told by knocking: it may have looked for work of this host before this transaction is visible
        queued=case((_WANTED & _FOREIGN, 2), (_WANTED & (host.c.queued == 0), 1), else_=host.c.queued),
    )
)


_NO_CHANGE = {
    **{"n_articles": 0, "n_unused": 0, "new_ready_at": 0.0, "n_failures": 0, "answered": 0, "wanted": 0},
    **{"n_timed": 0, "took": 0.0, "address": None},
}


def _update_hosts(connection: Connection, run_id: int, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
    rows: dict[int, dict[str, Any]] = {}
    robots: list[dict[str, Any]] = []
    for outcome, result in zip(outcomes, results, strict=True):
        lease_host = outcome.lease.host_id
        if outcome.state == State.PENDING:
            result.queued += 1
            result.hosts.add(lease_host)
        for host_id in {lease_host, *result.hosts}:
            rows.setdefault(host_id, {"key": host_id, "run": run_id, **_NO_CHANGE})
        counters = rows[lease_host]
        added = (result.article, *(one.what for one in result.joined))
        counters["n_articles"] += sum(what is not None and what.is_added for what in added)
        counters["n_unused"] += outcome.lease.counts and not outcome.counted
        counters["new_ready_at"] = max(counters["new_ready_at"], outcome.ready_at)
        counters["n_failures"] += outcome.failed
        counters["address"] = outcome.address or counters["address"]
        counters["answered"] = max(counters["answered"], int(not outcome.failed))
        if outcome.tried and not outcome.failed:
            counters["n_timed"] += 1
            counters["took"] += (outcome.seconds - counters["took"]) / counters["n_timed"]
        for host_id in result.hosts:
            rows[host_id]["wanted"] = 1
        robots += [
            {"key": host_id, "kind": kind, "body": text or None, "at": outcome.fetched_at}
            for host_id, kind, text in outcome.robots
        ]
    if robots:  # written after the others, but locked in the same order
        connection.execute(LOCK_HOSTS, {"ids": sorted({*rows, *(row["key"] for row in robots)})})
    run_many(connection, _UPDATE_HOST, [rows[key] for key in sorted(rows)])
    run_many(connection, SET_ROBOTS, sorted(robots, key=lambda row: row["key"]))
