"""Judge a revisit by what was there before. Pure.

A visit that fails, or finds no page of the kind that was there (an error page, a login wall), changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from db.records.keys import read_time
from db.records.outcome import NO_EDGES, Outcome
from db.records.reasons import FailReason, Reason, SkipReason, reason_of
from db.records.url import MOVED_FOR_GOOD, REDIRECTS, Kind, Lease, State
from db.records.visit import MOST_UNREAD, Revisit, RevisitKind
from pipelines.item import Page
from pipelines.records import BlockKind, PageKind

from .revisit_schedule import DAY, Schedule, fading

NOT_MODIFIED = 304
_NOT_THERE = frozenset({404, 410})
_GONE_AT_ONCE = 410
_CLOCKS_DIFFER = 600.0
_PACKED = re.compile('-(?:gzip|deflate|br|zstd)"$')
"""End of the tags that Apache makes when it compresses a page, and does not recognise when it is asked."""
_MOST_STATED = 2_000
_LONGEST_AGE = 50 * 366 * 86_400.0


def conditions(lease: Lease) -> dict[str, str]:
    if not lease.is_revisit or lease.state_before != State.DONE:
        return {}
    headers = {
        "If-None-Match": _tags(lease.etag or ""),
        "If-Modified-Since": _sensible(lease.last_modified, lease.fetched_at),
    }
    return {name: value for name, value in headers.items() if value and "\ufffd" not in value}


def _tags(etag: str) -> str:
    """Return a tag, and the one that it was before the page was compressed.

    >>> _tags('"5f-gzip"'), _tags('W/"1"')
    ('"5f-gzip", "5f"', 'W/"1"')
    """
    plain = _PACKED.sub('"', etag)
    return etag if plain == etag else f"{etag}, {plain}"


def _sensible(date: str | None, fetched_at: float | None) -> str | None:
    """Return a date unless it lies ahead: then everything would be "not modified"."""
    try:
        stated = parsedate_to_datetime(date or "").timestamp()
    except (ValueError, OverflowError):
        return None
    return date if fetched_at is not None and stated <= fetched_at + _CLOCKS_DIFFER else None


def settle(page: Page, outcome: Outcome, schedule: Schedule) -> Outcome:
    if page.lease.kind == Kind.ROBOTS or page.lease.found_in == BlockKind.PROBE:
        return outcome  # asked for when it is needed
    if page.lease.is_revisit and not _was_unread(page.lease):
        settled = _Again(page, outcome, schedule).settled()
    else:
        settled = outcome if outcome.state == State.PENDING else _first(page, outcome, schedule)
    return _asked_again(page, outcome, settled, schedule)


def _was_unread(lease: Lease) -> bool:
    return lease.state_before == State.FAILED and _is_ours(reason_of(lease.reason))


def _asked_again(page: Page, outcome: Outcome, settled: Outcome, schedule: Schedule) -> Outcome:
    if settled.state == State.PENDING:
        return replace(settled, unread=page.lease.unread)
    brought_nothing = settled.reverted and settled.visit is None
    if not _is_ours(outcome.reason) and not (page.lease.unread and brought_nothing):
        return settled
    unread, later = page.lease.unread + 1, settled.next_visit
    if unread < MOST_UNREAD:
        soon = page.fetched_at + schedule.least
        later = soon if later is None else min(soon, later)
    return replace(settled, unread=unread, next_visit=later)


def _first(page: Page, outcome: Outcome, schedule: Schedule) -> Outcome:
    lease, now = page.lease, page.fetched_at
    if outcome.article is not None and lease.found_in != BlockKind.SEED and not _is_list(outcome.reason):
        age = _age(outcome.article.published_utc, now)
        return replace(outcome, next_visit=_after(now, schedule.of_article(age, 0, 0, age)), age=age)
    if _leads_on(lease, outcome):
        return replace(outcome, next_visit=now + _list_pause(lease, 0.0, 0.0, schedule))
    return outcome


def _leads_on(lease: Lease, outcome: Outcome) -> bool:
    if outcome.state == State.DONE:
        return lease.kind != Kind.PAGE or lease.found_in == BlockKind.SEED or _is_list(outcome.reason)
    if outcome.state == State.SKIPPED:
        is_redirect = outcome.reason is SkipReason.REDIRECT
        return is_redirect and outcome.http_status not in MOVED_FOR_GOOD and lease.found_in == BlockKind.SEED
    return lease.found_in == BlockKind.SEED or (lease.kind != Kind.PAGE and outcome.failed)


def _is_list(reason: Reason | None) -> bool:
    return reason is not None and reason.is_list


def _is_ours(reason: Reason | None) -> bool:
    return reason is not None and reason.is_ours


def _is_doubt(reason: Reason | None) -> bool:
    return reason is not None and reason.is_doubt


def _list_pause(lease: Lease, watched: float, brought: float, schedule: Schedule) -> float:
    return schedule.of_list(watched, brought, depth=lease.depth, further=int(lease.found_in == BlockKind.PAGINATION))


def _age(published_utc: str | None, now: float) -> float:
    published = read_time(published_utc)
    return 0.0 if published is None else min(_LONGEST_AGE, max(0.0, now - published.timestamp()))


def _after(now: float, pause: float | None) -> float | None:
    return None if pause is None else now + pause


def _is_root(url: str) -> bool:
    return urlsplit(url).path in {"", "/"}


def _since_change(lease: Lease, age: float, now: float) -> float:
    return age if lease.changed_at is None else min(age, now - lease.changed_at)


def next_visit(outcome: Outcome, news: int, schedule: Schedule) -> float | None:
    """Return when a URL is visited again after a revisit, None for never.

    `news` counts the URLs that a list was the first to name; it is 1 for an article that has changed.
    """
    visit, lease, now = outcome.visit, outcome.lease, outcome.fetched_at
    assert visit is not None
    if visit.kind is RevisitKind.GONE:
        return _after(now, schedule.of_gone(0.0))
    if visit.kind is RevisitKind.LIST:
        share = (lease.brought + 1) / (lease.named + 2)
        watched = lease.watched * visit.fading + visit.watched
        brought = lease.brought * visit.fading + min(1.0, share) * news
        return now + _list_pause(lease, watched, brought, schedule)
    age = lease.watched + visit.watched
    since = 0.0 if news else _since_change(lease, age, now)
    return _after(now, schedule.of_article(age, lease.visits, lease.brought + news, since))


class _Again:
    def __init__(self, page: Page, outcome: Outcome, schedule: Schedule) -> None:
        self._page = page
        self._outcome = outcome
        self._schedule = schedule
        self._lease = lease = page.lease
        self._now = page.fetched_at
        self._passed = max(0.0, self._now - (lease.fetched_at or self._now))
        assert lease.state_before is not None  # written when it was queued again
        self._before = State(lease.state_before)
        self._reason = reason = reason_of(lease.reason)
        self._was_list = lease.kind != Kind.PAGE or lease.found_in == BlockKind.SEED or _is_list(reason)
        # an article may be stored under a URL with a reason, such as a doubt: whatever is no list may be one
        self._was_article = not self._was_list and self._before == State.DONE
        self._was_worthless = reason is not None and not (reason.is_settled or reason.is_part or reason.is_doubt)

    def settled(self) -> Outcome:
        page, outcome = self._page, self._outcome
        if outcome.state == State.PENDING:
            return replace(self._as_before(), state=State.PENDING, next_visit=outcome.next_visit)
        if _is_ours(outcome.reason):
            return self._failed()
        if page.status == NOT_MODIFIED and self._before == State.DONE:
            return self._unchanged()
        if page.status in _NOT_THERE and not page.error:
            return self._not_there()
        is_redirect = outcome.reason is not None and outcome.reason.is_redirect
        if is_redirect or (page.status in REDIRECTS and not page.error):
            return self._redirected()
        has_page = page.status == 200 and page.parsed is not None and not page.error
        return self._read() if has_page else self._failed()

    # ------------------------------------------------------------ what was there stays

    def _as_before(self) -> Outcome:
        lease, outcome = self._lease, self._outcome
        return Outcome(
            lease,
            self._before,
            self._reason,
            lease.reason_detail or "",
            counted=outcome.counted,
            http_status=lease.http_status,
            fetched_at=lease.fetched_at or self._now,
            etag=lease.etag,
            last_modified=lease.last_modified,
            ready_at=outcome.ready_at,
            seconds=outcome.seconds,
            address=outcome.address,
            failed=outcome.failed,
            tried=outcome.tried,
            same_as=lease.same_as,
            robots=outcome.robots,
            reverted=True,
        )

    def _failed(self) -> Outcome:
        return replace(self._as_before(), next_visit=self._later())

    def _later(self) -> float | None:
        lease = self._lease
        if self._was_list or not self._was_article:
            return self._now + _list_pause(lease, lease.watched, lease.brought, self._schedule)
        age = lease.watched + self._passed
        since = _since_change(lease, age, self._now)
        pause = self._schedule.of_article(age, max(0, lease.visits - 1), lease.brought, since)
        return _after(self._now, pause)

    def _unchanged(self) -> Outcome:
        outcome = replace(self._as_before(), fetched_at=self._now)
        if self._was_list:
            return replace(outcome, visit=self._of_list())
        return replace(outcome, visit=self._of_article(), alive=True)

    def _not_there(self) -> Outcome:
        """Of an article, 410 is believed at once, everything else the second time."""
        if not self._was_article and self._before == State.DONE:
            return self._unchanged() if self._was_list else self._failed()
        if self._before == State.FAILED:  # as before
            if self._was_list:
                return replace(self._as_before(), next_visit=self._later())
            since = self._now - (self._lease.changed_at or self._now)
            return replace(self._as_before(), next_visit=_after(self._now, self._schedule.of_gone(since)))
        if self._page.status not in {_GONE_AT_ONCE, self._lease.http_status}:
            doubt = self._now + self._schedule.least
            return replace(self._as_before(), http_status=self._page.status, next_visit=doubt)
        outcome = replace(self._outcome, state=State.FAILED, reason=FailReason.HTTP, detail=str(self._page.status))
        gone = Revisit(RevisitKind.GONE, self._passed)
        return replace(outcome, same_as=None, new_urls=(), links=NO_EDGES, reverted=True, alive=False, visit=gone)

    # ------------------------------------------------------------ something else is there

    def _redirected(self) -> Outcome:
        """A temporary redirect moves nothing; a permanent one moves what was here.

        An article that has moved for good is looked for once more a day later: if it is then still stored under its old
        URL, it is gone.
        """
        outcome, lease = self._outcome, self._lease
        followed = outcome.state == State.SKIPPED and any(not new.reason for new in outcome.new_urls)
        for_good = self._page.status in MOVED_FOR_GOOD
        if not followed:
            return self._failed()
        if self._before == State.SKIPPED:
            later, alive = (self._later(), None) if self._was_list else (None, False if for_good else None)
            return replace(outcome, next_visit=later, alive=alive)
        leads_home = _is_root(outcome.new_urls[0].url) and not _is_root(lease.url)
        if leads_home and for_good and not self._was_list:  # there is no such page, politely said
            return self._not_there()
        if not for_good or leads_home:
            as_before = replace(self._as_before(), next_visit=self._later())
            return replace(as_before, new_urls=outcome.new_urls, links=outcome.links) if self._was_list else as_before
        if self._was_article:
            return replace(outcome, next_visit=_after(self._now, self._schedule.of_gone(0.0)))
        return replace(outcome, next_visit=self._later() if lease.found_in == BlockKind.SEED else None)

    def _read(self) -> Outcome:
        assert self._page.parsed is not None
        outcome = self._outcome
        kind = self._page.parsed.kind
        if self._before != State.DONE:
            fresh = _first(self._page, outcome, self._schedule)
            return replace(fresh, alive=True) if outcome.article is not None else fresh
        if self._was_list:
            return self._list(kind)
        if outcome.article is not None:
            if _is_doubt(outcome.reason) and not _is_doubt(self._reason):
                return self._failed()  # what is stored is better
            return replace(outcome, visit=self._of_article(), alive=True)
        if not self._was_worthless:
            return self._leading_on(replace(self._as_before(), next_visit=self._later()))
        return _first(self._page, outcome, self._schedule)

    def _list(self, kind: PageKind) -> Outcome:
        outcome = self._outcome
        if self._page.truncated:  # what there is of it leads on, too
            as_before = replace(self._as_before(), fetched_at=self._now, visit=self._of_list())
            return replace(self._leading_on(as_before), stated=self._stated())
        if kind == PageKind.LIST or outcome.article is not None:
            return replace(outcome, visit=self._of_list(), stated=self._stated())
        return self._leading_on(self._unchanged())

    def _leading_on(self, as_before: Outcome) -> Outcome:
        return replace(as_before, new_urls=self._outcome.new_urls, links=self._outcome.links)

    def _stated(self) -> Sequence[tuple[int, float]]:
        assert self._page.parsed is not None
        since = (self._lease.fetched_at or self._now) - DAY  # it may have been made some time before
        times = self._page.parsed.links.changed
        stated = [
            (key, at) for key, at in zip(self._page.parsed.links.ids, times, strict=False) if since < at <= self._now
        ]
        return sorted(stated, key=lambda one: -one[1])[:_MOST_STATED]

    def _of_list(self) -> Revisit:
        return Revisit(RevisitKind.LIST, self._passed, fading(self._passed))

    def _of_article(self) -> Revisit:
        return Revisit(RevisitKind.ARTICLE, self._passed)
