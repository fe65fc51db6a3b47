"""Revisits: waking what is due, marking what a user names, articles that are gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal_column,
    not_,
    or_,
    select,
    text,
    update,
)

from ..engine.statements import among, in_state, is_one_of, is_postgres, one_by_one, run_many
from ..records.keys import iso
from ..records.outcome import Outcome
from ..records.reasons import REASONS, SkipReason
from ..records.url import MOVED_FOR_GOOD, Kind, State
from ..records.visit import MOST_UNREAD, Beginning, Due, RevisitKind, Unread, Wish, Woken
from ..tables.articles import ArticleRow, PartRow
from ..tables.runs import RunRow
from ..tables.urls import AGAIN, UNREAD, HostRow, SeedRow, UrlRow
from .aliases import HAS_WORK
from .limits import is_spent, within_limits

url, article, host, seed, run, part = (
    model.table() for model in (UrlRow, ArticleRow, HostRow, SeedRow, RunRow, PartRow)
)

MARKED = 0.0
"""`next_visit` of URLs that the next run is to visit at a user's request."""
_AT_ONCE = 2_000
_LISTS = [reason for reason in REASONS if reason.is_list]
_CUT = [reason for reason in REASONS if reason.is_cut]


@one_by_one
def wake_due(connection: Connection, due: Due) -> Woken:
    """Queue due URLs, some thousand at a time, the earliest first.

    Nothing is due any more when a call returns no URLs.

    Cost: one read by index when nothing is due.
    """
    spent = is_spent(connection, due.limits)
    statement = _DUE.where(_UNREAD if spent else within_limits(connection, due.limits), IS_GIVEN)
    rows = connection.execute(statement, {"until": due.until, "most": _AT_ONCE}).all()
    run_many(connection, _WAKE, [{"key": row.id} for row in sorted(rows, key=lambda row: row.id)])
    hosts = sorted({row.host_id for row in rows})
    run_many(connection, HAS_WORK, [{"key": key} for key in hosts])
    return Woken(len(rows), frozenset(hosts), None if spent else connection.execute(_NEXT).scalar(), spent)


@one_by_one
def begins_anew(connection: Connection, beginning: Beginning) -> bool:
    """Tell whether a run repeats a finished crawl, neither resuming nor joining one."""
    before = run.c.id < beginning.run_id
    last = connection.execute(select(run.c.exit_code).where(before).order_by(run.c.id.desc()).limit(1)).scalar()
    ended = connection.execute(select(func.max(run.c.finished)).where(before)).scalar()
    if last not in _ENDED or ended is None:
        return False
    return not is_postgres(connection) or bool(ended < iso(beginning.now - beginning.late_seconds))


_ENDED = frozenset({0, 3})
"""Exit codes of runs; the caller knows that nothing waits, so 3 means that pages could not be read."""
_AGAIN = text(AGAIN)
_UNREAD = text(UNREAD)
_DUE = (
    select(url.c.id, url.c.host_id)
    .where(_AGAIN, url.c.state != State.LEASED, url.c.next_visit <= bindparam("until"))
    .order_by(url.c.next_visit)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
)
IS_GIVEN = not_(url.c.seed_id.in_(select(seed.c.id).where(seed.c.given == 0))) | url.c.seed_id.is_(None)
_NEXT = select(func.min(url.c.next_visit)).where(_AGAIN, IS_GIVEN)
_WAKE = (
    update(url)
    .where(url.c.id == bindparam("key"))
    .values(state=State.PENDING, state_before=url.c.state, next_visit=None, tries=0)
)


# ---------------------------------------------------------------- what later visits bring


def is_article(outcome: Outcome) -> bool:
    return outcome.article is not None and not (outcome.reason is not None and outcome.reason.is_list)


def note(connection: Connection, noted: Sequence[tuple[Outcome, int, float | None]]) -> None:
    """Write what revisits brought: (outcome, number of its news, next visit).

    A change of an article counts as brought at once; the articles that a list brings count when they are stored.
    """
    rows = []
    for outcome, news, next_visit in noted:
        visit = outcome.visit
        assert visit is not None
        changed = visit.kind is RevisitKind.GONE or news > 0
        rows.append(
            {
                "key": outcome.lease.id,
                "now": outcome.fetched_at,
                "next": next_visit,
                "more": visit.watched,
                "fading": visit.fading,
                "n": news if visit.kind is RevisitKind.LIST else 0,
                "gain": int(changed and is_article(outcome)),
                "changed": int(changed),
            }
        )
    run_many(connection, _NOTE, sorted(rows, key=lambda row: row["key"]))


_NOTE = (
    update(url)
    .where(url.c.id == bindparam("key"))
    .values(
        next_visit=bindparam("next"),
        watched=url.c.watched * bindparam("fading") + bindparam("more"),
        named=url.c.named * bindparam("fading") + bindparam("n"),
        brought=url.c.brought * bindparam("fading") + bindparam("gain"),
        changed_at=case((bindparam("changed") == 1, bindparam("now")), else_=url.c.changed_at),
    )
)


def count_brought(connection: Connection, found: Sequence[tuple[int, float]]) -> None:
    """Count articles for the lists, (list, Unix time), that named them on a revisit."""
    run_many(connection, _COUNT_BROUGHT, [{"key": key, "at": at} for key, at in sorted(found)])


_COUNT_BROUGHT = (
    update(url)
    .where(
        url.c.id == bindparam("key"),
        url.c.visits > 1,
        is_one_of(url.c.reason, _LISTS),
        bindparam("at") > url.c.fetched_at - url.c.watched + 1,
    )
    .values(brought=url.c.brought + 1)
)


def bring_forward(connection: Connection, stated: Sequence[tuple[int, float]], now: float) -> int:
    """Make pages due that changed, each at a time, since their last visit; count.

    A page that never had changed at all its visits is not believed to have this time. Rows that another process holds
    are left out: they are being visited.
    """
    if not stated:
        return 0
    times = dict(stated)
    visits = connection.execute(_VISITED_BEFORE, {"ids": sorted(times), "latest": max(times.values()), "now": now})
    rows = [{"key": row.id, "now": now} for row in visits if row.fetched_at < times[row.id]]
    return run_many(connection, _BRING_FORWARD, sorted(rows, key=lambda row: row["key"]))


_BELIEVED_VISITS = 8
_VISITED_BEFORE = (
    select(url.c.id, url.c.fetched_at)
    .where(
        among(url.c.id),
        in_state(State.DONE),
        url.c.fetched_at < bindparam("latest"),
        url.c.visits < _BELIEVED_VISITS * (1 + url.c.brought),
        or_(
            url.c.next_visit > bindparam("now"),
            and_(url.c.next_visit.is_(None), exists().where(article.c.id == url.c.id)),
        ),
    )
    .with_for_update(skip_locked=True, of=url)
)
_BRING_FORWARD = update(url).where(url.c.id == bindparam("key")).values(next_visit=bindparam("now"))


# ---------------------------------------------------------------- gone, and back


def mark_gone(connection: Connection, gone: Sequence[tuple[int, str]], back: Sequence[int]) -> None:
    """Write since when articles are gone, (article, ISO time), and which are back."""
    run_many(connection, _GONE, [{"key": key, "since": since} for key, since in sorted(gone)])
    run_many(connection, _BACK, [{"key": key} for key in sorted(back)])


_GONE = (
    update(article).where(article.c.id == bindparam("key"), article.c.gone.is_(None)).values(gone=bindparam("since"))
)
_BACK = update(article).where(article.c.id == bindparam("key"), article.c.gone.is_not(None)).values(gone=None)


def moved(connection: Connection, targets: Sequence[int]) -> list[tuple[int, int]]:
    """Read articles whose pages have moved for good to these URLs: (article, new URL)."""
    final = {key: key for key in targets}
    article_moves: list[tuple[int, int]] = []
    step = sorted(final)
    for _ in range(_MOST_MOVES):
        rows = connection.execute(_MOVED, {"ids": step}).all() if step else []
        fresh = [row for row in rows if row.id not in final]
        final |= {row.id: final[row.same_as] for row in fresh}
        article_moves += [(row.id, final[row.id]) for row in fresh if row.is_article]
        step = sorted(row.id for row in fresh)
    return sorted(article_moves)


_MOST_MOVES = 8
_MOVED = select(url.c.id, url.c.same_as, exists().where(article.c.id == url.c.id).label("is_article")).where(
    among(url.c.same_as),
    url.c.same_as.is_not(None),
    url.c.reason == literal_column(f"'{SkipReason.REDIRECT}'"),
    or_(*(url.c.http_status == literal_column(str(status)) for status in sorted(MOVED_FOR_GOOD))),
)


# ---------------------------------------------------------------- what could not be read


@one_by_one
def mark_unread(connection: Connection, _request: None) -> int:
    """Queue for this run what earlier ones failed to read; returns how many."""
    asked = and_(_UNREAD, IS_GIVEN, _TO_COME, url.c.state.not_in(_UNDER_WAY))
    return connection.execute(update(url).where(asked).values(next_visit=MARKED)).rowcount


@one_by_one
def count_unread(connection: Connection, _request: None) -> Unread:
    again = case((_TO_COME, 1), else_=0)
    query = select(func.coalesce(func.sum(again), 0), func.count()).select_from(url).where(_UNREAD, IS_GIVEN)
    n, total = connection.execute(query).one()
    return Unread(int(n), int(total) - int(n))


_TO_COME = url.c.unread < MOST_UNREAD
_UNDER_WAY = (State.PENDING, State.LEASED)


# ---------------------------------------------------------------- what a user wants


def count(connection: Connection, wish: Wish) -> int:
    return int(connection.execute(select(func.count()).select_from(url).where(_wished(wish)), _ids(wish)).scalar_one())


@one_by_one
def mark(connection: Connection, wish: Wish) -> int:
    statement = update(url).where(_wished(wish)).values(next_visit=MARKED, unread=0)
    return connection.execute(statement, _ids(wish)).rowcount


def _ids(wish: Wish) -> dict[str, Any]:
    return {"ids": list(wish.urls)} if wish.urls else {}


def _wished(wish: Wish) -> ColumnElement[bool]:
    is_article = or_(exists().where(article.c.id == url.c.id), exists().where(part.c.id == url.c.id))
    is_list = or_(url.c.kind.in_([Kind.FEED, Kind.SITEMAP]), url.c.reason.in_(_LISTS), url.c.id.in_(select(seed.c.id)))
    has_failed = or_(url.c.state == State.FAILED, url.c.reason.in_(_CUT), url.c.unread > 0)
    is_there = or_(url.c.http_status.is_(None), url.c.http_status.not_in([404, 410]))
    conditions: list[ColumnElement[bool]] = [url.c.kind != Kind.ROBOTS, url.c.state.not_in(_UNDER_WAY)]
    if wish.urls:
        conditions.append(among(url.c.id))
    else:
        conditions += [url.c.visits > 0, or_(is_article, is_list, has_failed)]
    if wish.fetched_before is not None:
        conditions.append(url.c.fetched_at < wish.fetched_before)
    if wish.host:
        conditions.append(url.c.host_id.in_(select(host.c.id).where(host.c.name == wish.host)))
    if wish.what == "articles":
        conditions.append(is_article)
    elif wish.what == "lists":
        conditions += [is_list, not_(is_article)]
    elif wish.what == "failed":
        conditions.append(has_failed)
    elif not wish.urls:
        conditions.append(or_(is_article, is_list, is_there))
    return and_(*conditions)
