"""The processes that read pages: one task a page, with a time and a memory limit, so that no page can hurt the crawl.

A worker that hangs or dies costs its own page only (pebble); the others and the queue go on.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import resource
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import zstandard
from pebble import ProcessExpired, ProcessPool

from db.records.reasons import FailReason, PageReason, label

from .decode.encoding import is_binary
from .dedup import DEFAULT as DUPLICATES
from .dedup import Method, method
from .document.document import Document, parse
from .document.limits import DEFAULT as BOUNDS
from .document.limits import FILES, PageLimits
from .extract import DEFAULT as EXTRACTOR
from .focus import record
from .focus.terms import read_document
from .focus.topic import Topic
from .links.feeds import looks_like_feed, parse_feed
from .links.scope import NO_TARGETS, Scope, Targets, resolve
from .links.sitemaps import looks_like_sitemap, parse_sitemap
from .parse_page import read_page
from .records import Links, PageKind, ParsedPage
from .render.explain import FORMS
from .traps import signals
from .traps.signals import KnownTraps, Signs
from .urls import host_key

_TASKS_PER_PROCESS = 2_000
_PLACES = 2
"""Batches handed to the pool per worker: one being read, one waiting."""
_MOST_TOGETHER = 8
_MOST_BYTES_TOGETHER = 1 << 20
_PATIENCE_SECONDS = 30.0
"""A task that is not back this long after it must be done has been lost by the pool."""


@dataclass(frozen=True, slots=True)
class Task:
    """One fetched document to read.

    Attributes:
        kind: "page", "feed" or "sitemap".
        body, url, content_type, robots_header: as fetched.
        fetched_at: Unix time.
        scope: where its links may lead.
        keep_raw: return the bytes compressed.
        knowledge: what is known of the page's site, packed (empty: nothing yet); None when nothing is to be learned.
        form: a name of `FORMS` in which the page is wanted too, empty for none.
        topic: what pages are compared with.
        rules: of the URLs of the page's host, packed; empty for none.
        traps: what is known of the host's; None when they are not looked for.
    """

    kind: str
    body: bytes
    url: str
    content_type: str
    robots_header: str
    fetched_at: float
    scope: Scope
    keep_raw: bool
    knowledge: bytes | None = None
    form: str = ""
    topic: Topic | None = None
    rules: str = ""
    traps: KnownTraps | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """How documents are read, the same for all.

    Attributes:
        extractor, extractor_params: name and parameters of the extractor.
        duplicates, duplicate_params: name and parameters of the method that makes signatures.
        bounds: how much of each is read.
    """

    extractor: str = EXTRACTOR
    extractor_params: Mapping[str, object] = field(default_factory=dict)
    duplicates: str = DUPLICATES
    duplicate_params: Mapping[str, object] = field(default_factory=dict)
    bounds: PageLimits = BOUNDS


@dataclass(frozen=True, slots=True)
class Likeness:
    """How near a page and its links are to the topic.

    Attributes:
        page: of the page, in [0, 1].
        anchors: of each link's text.
        terms: words of the page and its links, see `pipelines.focus.record`.
    """

    page: float
    anchors: tuple[float, ...]
    terms: bytes


@dataclass(frozen=True, slots=True)
class Worked:
    """What a worker made of a document: the page, its links as the frontier wants them, sitemaps named, raw bytes.

    Of a page also the form that its task asks for, its likeness to the topic if there is one, and when traps are looked
    for what it shows of them, unless it is an article of some length.
    """

    parsed: ParsedPage
    targets: Targets = NO_TARGETS
    sitemaps: tuple[str, ...] = ()
    raw: bytes | None = None
    rendered: str = ""
    likeness: Likeness | None = None
    signs: Signs | None = None


class PageUnreadable(Exception):
    """A document that cost too much time or memory, or killed its worker."""

    def __init__(self, reason: FailReason, detail: str = "") -> None:
        """Keep why, and what is to be said beside it."""
        super().__init__(label(reason, detail))
        self.reason = reason
        self.detail = detail


class _Stopped(Exception):
    """A worker was asked to end from outside, which says nothing about its page."""


def work(task: Task, reading: Reading) -> Worked:
    """Read one document (runs in a worker process).

    A page that turns out to be a feed or sitemap is read as one.
    """
    if task.kind == "sitemap" or (task.kind == "page" and looks_like_sitemap(task.body)):
        sitemap = parse_sitemap(task.body, task.url, reading.bounds)
        found = replace(_list_of(sitemap.links), bounds=(FILES,) if sitemap.is_cut else ())
        return Worked(found, _resolve(sitemap.links, task), sitemap.sitemaps)
    if task.kind == "feed" or looks_like_feed(task.body):
        links = parse_feed(task.body, task.url)
        return Worked(_list_of(links), _resolve(links, task))
    if is_binary(task.body):
        return Worked(ParsedPage(PageKind.OTHER, PageReason.FILE))
    document = parse(task.body, task.url, task.content_type, reading.bounds)
    parsed, extraction = read_page(
        document,
        robots_header=task.robots_header,
        fetched_at=datetime.fromtimestamp(task.fetched_at, UTC),
        extractor=reading.extractor,
        params=reading.extractor_params,
        sign=_method(reading.duplicates, tuple(sorted(reading.duplicate_params.items()))).sign,
        site_model=task.knowledge,
    )
    signs = None
    if task.traps is not None and signals.needs_look(parsed, task.traps):
        signs = signals.look(document, parsed)
        if signs.outline in (task.traps.missing or ()):
            parsed = signals.without_page(parsed)
    targets = _resolve(parsed.links, task)
    raw = zstandard.compress(task.body, 3) if task.keep_raw else None
    rendered = FORMS[task.form](document, parsed, extraction) if task.form else ""
    likeness = None if task.topic is None else _compare(document, parsed, targets, task.topic)
    return Worked(parsed, targets, raw=raw, rendered=rendered, likeness=likeness, signs=signs)


@lru_cache(maxsize=16)
def _method(name: str, params: tuple[tuple[str, object], ...]) -> Method:
    """A method of finding duplicates by name, looked up once per process."""
    return method(name, dict(params))


def _resolve(links: Links, task: Task) -> Targets:
    """The links of a document as the frontier wants them."""
    # sites list what they have in feeds and sitemaps: no trap is looked for there
    blocked = task.traps.blocked if task.traps is not None and task.kind == "page" else None
    own = host_key(task.url) if task.rules or blocked is not None else ""
    return resolve(links, task.scope, own, task.rules, blocked)


def _compare(document: Document, parsed: ParsedPage, targets: Targets, topic: Topic) -> Likeness:
    """How near a page is to the topic, by its words."""
    terms = read_document(document, parsed.extraction, parsed.links)
    return Likeness(topic.relevance(terms), tuple(topic.anchors(terms)), record.pack(terms, targets.ids))


def work_all(tasks: Sequence[Task], reading: Reading) -> list[Worked | MemoryError]:
    """Read several documents (runs in a worker process)."""
    done: list[Worked | MemoryError] = []
    for task in tasks:
        try:
            done.append(work(task, reading))
        except MemoryError as error:
            done.append(error)
    return done


def _list_of(links: Links) -> ParsedPage:
    """A page that is nothing but links."""
    return ParsedPage(PageKind.LIST, PageReason.FEED, links=links)


def _prepare(memory_bytes: int) -> None:
    """First thing in a worker: Ctrl-C is the parent's business, and memory is bounded."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    most = _memory_in_use() + memory_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    # A page makes some thousand objects and drops them all: looking for cycles every 700 costs a tenth of the work.
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _memory_in_use() -> int:
    """Bytes of this process that `RLIMIT_DATA` counts, among them what all workers share."""
    for line in Path("/proc/self/status").read_text("ascii", "replace").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    raise RuntimeError("the system does not tell how much memory a process uses")


def _nothing() -> None:
    """A task that only makes a worker start."""


class WorkerPool:
    """Worker processes, started by `warm_up` or the first task.

    Documents that wait while all workers are busy are handed over several at a time, because handing over one costs the
    crawling process a fifth of all its work on a page. When such a batch fails, its documents are read one by one, so
    that only the one at fault is lost.

    Args:
        workers: how many.
        seconds: time limit of one page.
        memory_bytes: what one worker may use for its pages, beyond what it has at its start.
        reading: how documents are read.
    """

    def __init__(self, *, workers: int, seconds: float, memory_bytes: int, reading: Reading) -> None:
        self._workers = workers
        self._seconds = seconds
        self._memory_bytes = memory_bytes
        self._reading = reading
        self._under_way: set[Future[list[Worked | MemoryError]]] = set()
        self._waiting: deque[tuple[Task, asyncio.Future[Worked]]] = deque()
        self._places = _PLACES * workers
        self._batches: set[asyncio.Task[None]] = set()
        self._closed = False
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPool:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["pipelines.warm"])
        return ProcessPool(
            max_workers=self._workers,
            max_tasks=_TASKS_PER_PROCESS,
            initializer=_prepare,
            initargs=[self._memory_bytes],
            context=context,
        )

    async def run(self, task: Task) -> Worked:
        """Read one document in a worker.

        Raises:
            PageUnreadable: it took too long, too much memory, or its worker died.
        """
        answer: asyncio.Future[Worked] = asyncio.get_running_loop().create_future()
        self._waiting.append((task, answer))
        self._hand_over()
        return await answer

    def _hand_over(self) -> None:
        """Give free places what waits."""
        while self._waiting and len(self._batches) < self._places:
            batch = asyncio.ensure_future(self._read(self._next_batch()))
            self._batches.add(batch)
            batch.add_done_callback(self._batch_ended)

    def _next_batch(self) -> list[tuple[Task, asyncio.Future[Worked]]]:
        """An equal part of what waits for each place, within bounds."""
        most = min(_MOST_TOGETHER, -(-len(self._waiting) // self._places))
        batch = [self._waiting.popleft()]
        size = len(batch[0][0].body)
        while self._waiting and len(batch) < most:
            size += len(self._waiting[0][0].body)
            if size > _MOST_BYTES_TOGETHER:
                break
            batch.append(self._waiting.popleft())
        return batch

    def _batch_ended(self, batch: asyncio.Task[None]) -> None:
        self._batches.discard(batch)
        self._hand_over()

    async def _read(self, batch: list[tuple[Task, asyncio.Future[Worked]]]) -> None:
        """Have a batch read and answer for each of its documents."""
        try:
            results = await self._attempt([task for task, _ in batch])
        except Exception as error:  # noqa: BLE001 - goes to whoever waits for the document
            if len(batch) == 1:
                results = [error]
            else:
                for one in batch:
                    await self._read([one])
                return
        for (_, answer), result in zip(batch, results, strict=True):
            if answer.done():  # whoever waited was cancelled
                continue
            if isinstance(result, MemoryError):
                answer.set_exception(PageUnreadable(FailReason.TOO_MUCH_MEMORY))
            elif isinstance(result, Exception):
                answer.set_exception(result)
            else:
                answer.set_result(result)

    async def _attempt(self, tasks: Sequence[Task]) -> Sequence[Worked | Exception]:
        """Read documents, again if the pool itself was broken."""
        try:
            return await self._try(tasks)
        except BrokenProcessPool:  # a worker killed between two pages can break the whole pool
            pass
        except _Stopped:  # somebody stopped all processes of the crawl: what is under way is still to be stored
            pass
        try:
            return await self._try(tasks)
        except (BrokenProcessPool, _Stopped):
            pass
        raise PageUnreadable(FailReason.WORKER_DIED)

    async def _try(self, tasks: Sequence[Task]) -> Sequence[Worked | Exception]:
        """Read documents once."""
        if self._closed:
            raise PageUnreadable(FailReason.STOPPED)
        pool = self._pool
        arguments = [tasks, self._reading]
        try:
            future = pool.schedule(work_all, args=arguments, timeout=self._seconds)
        except RuntimeError as error:  # "the pool is not active"
            await self._replace_pool(pool)
            raise BrokenProcessPool(str(error)) from error
        self._under_way.add(future)
        try:
            async with asyncio.timeout(_PLACES * self._seconds + _PATIENCE_SECONDS):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            if not future.done() or future.cancelled():  # the pool has lost the task: it is of no use any more
                await self._replace_pool(pool)
            raise PageUnreadable(FailReason.TOO_SLOW) from None
        except MemoryError:
            raise PageUnreadable(FailReason.TOO_MUCH_MEMORY) from None
        except BrokenProcessPool:
            await self._replace_pool(pool)
            raise
        except ProcessExpired as error:
            if error.exitcode == -signal.SIGTERM:
                raise _Stopped from None
            raise PageUnreadable(FailReason.WORKER_DIED, f"exit code {error.exitcode}") from None
        finally:
            self._under_way.discard(future)

    async def _replace_pool(self, broken: ProcessPool) -> None:
        """Go on with new workers, and end those of the old pool, unless another batch has done so."""
        if self._closed or broken is not self._pool:
            return
        old, self._pool = self._pool, self._new_pool()
        lost, self._under_way = self._under_way, set()
        await asyncio.get_running_loop().run_in_executor(None, _end, old)
        for future in lost:  # nobody will answer them: their documents are read by the new pool
            with suppress(InvalidStateError):
                future.set_exception(BrokenProcessPool("replaced"))

    def warm_up(self) -> None:
        """Start the processes now, so that the first page does not wait for them."""
        self._pool.schedule(_nothing)

    def close(self) -> None:
        """End the workers, dropping what they have not done. Blocks until they are gone."""
        self._closed = True
        _end(self._pool)
        for future in tuple(self._under_way):  # the pool leaves them waiting
            with suppress(InvalidStateError):
                future.set_exception(PageUnreadable(FailReason.STOPPED))


def _end(pool: ProcessPool) -> None:
    """End a pool's workers; blocks until they are gone."""
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()
