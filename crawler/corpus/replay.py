"""Take the pages of WARC files through the crawl as if they were fetched now.

Nothing is requested: a URL is leased because its answer is here, in the order of the archive, and the page keeps the
time at which it was fetched. The targets of its links wait until the archive has them, and rest when it ends. An
answer no newer than the stored one is skipped, so the same command goes on with an archive read in part.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from db.frontier import archived as table
from db.records.outcome import ArchivePlace
from db.records.run import Asked
from db.records.url import Kind, Lease
from pipelines.links.scope import identify
from pipelines.records import BlockKind
from pipelines.urls import canonicalize

from .. import clock
from ..fetch.errors import BODY_CUT
from ..fetch.handler import BOUND, SPOKEN_FOR, TRUNCATED
from ..options.seeds import WARC, ArchiveSeeds, SeedError
from ..response.new_urls import new_url
from ..response.revisit import NOT_MODIFIED
from ..run.session import Session
from . import warc
from .warc import ArchivedResponse
from .warc_records import PROBE, SUBREQUEST, Bodies

if TYPE_CHECKING:
    from scrapy import Spider

logger = logging.getLogger(__name__)

_AT_ONCE: Final = 32
"""Answers that are read and leased together."""
_DEPTH: Final = 1
"""Depth of a URL of which nothing else is known: it is no seed, and the page that links to it may be missing."""
_MOST_TOLD: Final = 5
_LOOK_SECONDS: Final = 0.05
"""Pause between two checks whether a page is stored, unless the engine has asked for the next one."""
PASSED_OVER, KNOWN = "archive/passed over", "archive/known"


def archives_of(seeds: ArchiveSeeds) -> Sequence[Path]:
    """Find the WARC files: one, or all in a folder; raises `SeedError` without any."""
    path = seeds.path
    paths = [path] if path.is_file() else warc.files(path)
    if not paths:
        raise SeedError(f"there is no WARC file {path}; name one, or a folder of them: {WARC}pages.warc.gz")
    for one in paths:
        try:
            problem = warc.why_none(one)
        except OSError as error:
            problem = f"{one} cannot be read: {error.strerror or error}"
        if problem:
            raise SeedError(problem)
    return paths


class Replay:
    """Leads the answers of WARC files to the engine.

    Args:
        in_flight: identifiers of URLs under way; whoever stores a page removes its own.
        poll: makes the engine ask for requests.
        finish: stores what waits at the end; True when there is more.
        stop: ends the crawl for a reason.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        session: Session,
        *,
        in_flight: set[int],
        poll: Callable[[], None],
        finish: Callable[[], Awaitable[bool]],
        stop: Callable[[str], None],
    ) -> None:
        self.exhausted = False
        self._session = session
        self._in_flight = in_flight
        self._poll = poll
        self._finish = finish
        self._stop = stop
        self._notes: list[str] = []
        self._told = 0
        self._answers = self._read(paths)
        self._ready: deque[tuple[Lease, ArchivedResponse]] = deque()
        self._asked = asyncio.Event()

    def pop(self) -> tuple[Lease, ArchivedResponse] | None:
        self._asked.set()
        if not self._ready:
            return None
        lease, answer = self._ready.popleft()
        self._in_flight.add(lease.id)
        return lease, answer

    async def run(self) -> None:
        """Read, lease and queue until the archive ends; then finish what waits."""
        is_spent = False
        while not is_spent and (batch := await asyncio.to_thread(lambda: list(islice(self._answers, _AT_ONCE)))):
            self._tell()
            for answers in _without_repeats(batch):
                is_spent = await self._lease(answers)
                if is_spent:
                    logger.warning("a limit of pages is reached; the rest of the archive is left")
                    break
        await self._stored(0)
        while await self._finish():
            pass
        if not is_spent:
            await self._session.submit(table.rest_all, clock.now())
        self.exhausted = True
        self._poll()

    async def keep_alive(self) -> None:
        """Renew this run's lease until cancelled; see `Session.renew`."""
        while True:
            await asyncio.sleep(self._session.sign_seconds)
            was_paused = self._session.is_paused
            await self._session.renew(0)
            if self._session.asked is Asked.STOP:
                self._stop("by an operator")
            elif was_paused and not self._session.is_paused:
                self._poll()

    def request(self, lease: Lease, answer: ArchivedResponse, spider: Spider) -> Request:
        request = Request(
            lease.url,
            callback=spider.parse,
            errback=spider.failed,  # type: ignore[attr-defined]
            dont_filter=True,
            meta={
                "lease": lease,
                "started": time.monotonic(),
                "recorded_at": answer.fetched_at,
                "handle_httpstatus_all": True,
            },
        )
        request.meta["answer"] = _response(request, answer, self._session.config.fetch.bounds.size)
        if answer.dom:
            request.meta["dom"] = answer.dom
        if answer.place is not None:
            request.meta["archived"] = answer.place
        return request

    async def _lease(self, answers: Sequence[ArchivedResponse]) -> bool:
        """Lease the URLs of some answers and queue them; True when a limit is reached."""
        priority, limits = self._session.config.priority, self._session.config.limits
        urls = {}
        for one in answers:
            target = identify(one.url, _kind(one))
            found_in = BlockKind.PROBE if one.purpose == PROBE else BlockKind.OTHER
            new = new_url(target, priority=priority, depth=_DEPTH, found_in=found_in, now=one.fetched_at, seed_id=None)
            urls[new.id] = (new, one)
        await self._stored(self._session.config.in_flight, not_of=urls)
        request = table.ArchiveRequest(
            self._session.resumed.run_id,
            limits,
            [(new, one.fetched_at) for new, one in urls.values()],
            frozenset(key for key, (_, one) in urls.items() if one.status == NOT_MODIFIED),
        )
        leased = await self._session.submit(table.lease_archived, request)
        self._session.stats[KNOWN] += 0 if leased.spent else len(urls) - len(leased.urls)
        self._ready.extend((lease, urls[lease.id][1]) for lease in leased.urls)
        self._poll()
        return leased.spent

    async def _stored(self, most: int, not_of: Any = ()) -> None:
        """Wait until at most `most` pages are under way, and none of these URLs."""
        while len(self._ready) + len(self._in_flight) > most or any(
            key in self._in_flight or any(lease.id == key for lease, _ in self._ready) for key in not_of
        ):
            self._asked.clear()
            if self._ready:  # with nothing to give, each poll would end this wait at once
                self._poll()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._asked.wait()

    def _read(self, paths: Sequence[Path]) -> Iterator[ArchivedResponse]:
        bodies: Bodies[ArchivePlace] = Bodies()
        for path in paths:
            for answer in warc.responses(path, 0, path.stat().st_size, self._notes, bodies):
                url = canonicalize(answer.url)
                if url is None:
                    self._notes.append(f"{path}, byte {answer.offset:,}: {answer.url[:100]!r} is no URL of the web")
                elif answer.purpose not in {Kind.ROBOTS, SUBREQUEST} and not url.endswith("/robots.txt"):
                    yield answer

    def _tell(self) -> None:
        notes, self._notes[:] = list(self._notes), []
        for note in notes:
            self._told += 1
            if self._told <= _MOST_TOLD:
                logger.warning("%s", note)
        self._session.stats[PASSED_OVER] += len(notes)


def _without_repeats(batch: Sequence[ArchivedResponse]) -> Iterator[list[ArchivedResponse]]:
    """Cut a batch where a URL comes again: its visits are stored in their order."""
    part: dict[str, ArchivedResponse] = {}
    for one in batch:
        if one.url in part:
            yield list(part.values())
            part = {}
        part[one.url] = one
    if part:
        yield list(part.values())


def _kind(answer: ArchivedResponse) -> Kind:
    return Kind(answer.purpose) if answer.purpose in set(Kind) else Kind.PAGE


def _response(request: Request, answer: ArchivedResponse, most: int) -> Response:
    """Make the response that the download handler would, of at most `most` bytes."""
    headers = Headers([one for one in answer.headers if one[0] not in SPOKEN_FOR])
    if not answer.headers and answer.content_type:
        headers["Content-Type"] = answer.content_type
    body = answer.body[:most]
    # whatever it was cut by, another try will not bring the rest
    flags = [TRUNCATED, BOUND + BODY_CUT] if answer.cut is not None or len(body) < len(answer.body) else []
    kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
    return kind(
        request.url,
        status=answer.status,
        headers=headers,
        body=body,
        flags=flags,
        request=request,
        ip_address=answer.address or None,  # type: ignore[arg-type]
    )
