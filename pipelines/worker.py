"""Worker processes that parse pages within bounds of time and memory.

A worker that hangs or dies costs its own page only (pebble); the others and the queue go on.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import os
import signal
import sys
import traceback
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache, partial
from importlib import import_module
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pebble import ProcessExpired, ProcessPool

from db.records.article import TextFrom
from db.records.outcome import DOM_TYPE
from db.records.reasons import FailReason, PageReason, label
from db.records.url import Kind

from .decode import zstd
from .decode.encoding import is_binary
from .dedup import DEFAULT as DUPLICATES
from .dedup import Method, method
from .describe import DescribeOptions, describe, describe_rest, describer, judge_harm
from .document.document import Document, parse
from .document.limits import DEFAULT as BOUNDS
from .document.limits import FILES, PageLimits
from .document.selectors import NO_SELECTORS, Selectors
from .extract import DEFAULT as EXTRACTOR
from .extract import extractor as find_extractor
from .focus import record
from .focus.terms import read_document
from .focus.topic import Topic
from .links.scope import Scope, resolve_page
from .records import STORED_KINDS, Description, Links, PageKind, ParseResult, by_position
from .url_rules import trap_signals as signals
from .url_rules.trap_signals import KnownTraps

logger = logging.getLogger(__name__)

_TASKS_PER_PROCESS = 2_000
_PLACES = 2
"""Batches handed to the pool per worker: one being read, one waiting."""
_MOST_TOGETHER = 8
_MOST_BYTES_TOGETHER = 1 << 20
_PATIENCE_SECONDS = 30.0
"""The pool has lost a task that is not back this long after its time limit."""


R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class KeepRaw(StrEnum):
    NONE = "none"
    ARTICLES = "articles"
    ALL = "all"


class WorkerJob(Protocol[R_co]):
    @property
    def body(self) -> bytes:
        """Bytes that are handed over."""

    def done(self, options: ParseOptions) -> R_co:
        """Do the work, in the worker."""


@by_position
@dataclass(frozen=True, slots=True)
class Job:
    """One fetched document to parse.

    Attributes:
        kind: "page", "feed" or "sitemap".
        fetched_at: Unix time.
        site_model: packed model of the page's site (empty: nothing yet); None when nothing is to be learned.
        form: a name of `FORMS` in which the page is wanted too, empty for none.
        rules: of the URLs of the page's host, packed; empty for none.
        traps: of the page's host; None when they are not looked for.
        dom: the document that a browser made of it, read in place of the body; empty when there is none.
        selectors: those of the page's seed.
        describes_later: of an article only the harm is judged.
    """

    kind: str
    body: bytes
    url: str
    content_type: str
    robots_header: str
    fetched_at: float
    scope: Scope
    site_model: bytes | None = None
    form: str = ""
    topic: Topic | None = None
    rules: str = ""
    traps: KnownTraps | None = None
    keep_raw: KeepRaw = KeepRaw.NONE
    dom: bytes = b""
    selectors: Selectors = NO_SELECTORS
    describes_later: bool = False

    def done(self, options: ParseOptions) -> ParseResult:
        return parse_job(self, options)


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """Options for parsing all documents; `kinds` are those whose text is kept."""

    extractor: str = EXTRACTOR
    extractor_params: Mapping[str, object] = field(default_factory=dict)
    duplicates: str = DUPLICATES
    duplicate_params: Mapping[str, object] = field(default_factory=dict)
    kinds: Collection[PageKind] = STORED_KINDS
    bounds: PageLimits = BOUNDS
    describe: DescribeOptions | None = None


class PageUnreadable(Exception):
    def __init__(self, reason: FailReason, detail: str = "") -> None:
        super().__init__(label(reason, detail))
        self.reason = reason
        self.detail = detail


class PageFault(Exception):
    """Error raised while a document was read, as text: not all can be pickled."""

    def __init__(self, name: str, message: str, place: str, trace: str) -> None:
        super().__init__(name, message, place, trace)
        self.name, self.message, self.place, self.trace = name, message, place, trace

    @classmethod
    def of(cls, error: Exception) -> PageFault:
        if isinstance(error, PageFault):
            return error
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        return cls(type(error).__name__, str(error), place, "".join(traceback.format_exception(error)))

    def __str__(self) -> str:
        return f"{self.name}: {self.message} ({self.place})"


class FaultLog:
    """Log of errors that cost a page each: every kind once, the summary counts them."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._kinds: set[tuple[str, str]] = set()

    def note(self, url: str, error: Exception) -> PageFault:
        fault = PageFault.of(error)
        kind = fault.name, fault.place
        if kind not in self._kinds:
            self._kinds.add(kind)
            fault.add_note(fault.trace)
            exc_info = type(fault), fault, None
            logger.error("%s %s: %s; more of that kind are only counted", url, self._what, fault, exc_info=exc_info)
        return fault


class _Stopped(Exception):
    """Request from outside that a worker end, which says nothing about its page."""


@dataclass(frozen=True, slots=True)
class DescribeJob:
    """One stored article to describe; `body` is compressed, empty if it is not kept.

    An article that `is_judged` was judged for harm when its page was read, and is not judged again.
    """

    title: str
    text: str
    language: str
    url: str
    content_type: str = ""
    body: bytes = b""
    is_judged: bool = False

    def done(self, options: ParseOptions) -> Description:
        if self.is_judged and options.describe is not None:
            return describe_rest(options.describe, self.title, self.text, self.language)
        page = None
        if self.body:
            page = parse(zstd.decompress(self.body), self.url, self.content_type, options.bounds)
        return describe(options.describe, self.title, self.text, self.language, page)


def parse_job(job: Job, options: ParseOptions) -> ParseResult:
    """Parse one document in a worker; a page may turn out to be a feed or sitemap."""
    from .links.feeds import looks_like_feed, parse_feed  # noqa: PLC0415 - of no use in the process that asks: `warm`
    from .links.sitemaps import looks_like_sitemap, parse_sitemap  # noqa: PLC0415

    if job.dom:
        return _parse_page(job, parse(job.dom, job.url, DOM_TYPE, options.bounds), options)
    if job.kind == Kind.SITEMAP or (job.kind == Kind.PAGE and looks_like_sitemap(job.body)):
        sitemap = parse_sitemap(job.body, job.url, options.bounds)
        return _resolve(_list_of(sitemap.links, (FILES,) if sitemap.is_cut else ()), job, sitemap.sitemaps)
    if job.kind == Kind.FEED or looks_like_feed(job.body):
        return _resolve(_list_of(parse_feed(job.body, job.url)), job)
    if is_binary(job.body):
        return ParseResult(PageKind.OTHER, PageReason.FILE)
    return _parse_page(job, parse(job.body, job.url, job.content_type, options.bounds), options)


def _parse_page(job: Job, document: Document, options: ParseOptions) -> ParseResult:
    from .parse_page import read_page  # noqa: PLC0415 - as in `parse_job`
    from .text_form.explain import FORMS  # noqa: PLC0415

    document, parsed, extraction = read_page(
        document,
        robots_header=job.robots_header,
        fetched_at=datetime.fromtimestamp(job.fetched_at, UTC),
        extractor=options.extractor,
        params=options.extractor_params,
        sign=_method(options).sign,
        site_model=job.site_model,
        kinds=options.kinds,
        text_from=TextFrom.BROWSER if job.dom else TextFrom.HTML,
        selectors=job.selectors,
    )
    signs = None
    if job.traps is not None and signals.needs_look(parsed, job.traps):
        signs = signals.look(document, parsed)
        if signs.outline in (job.traps.missing or ()):
            parsed = signals.without_page(parsed)
    if parsed.is_leaf:
        meta, text = parsed.metadata, parsed.extraction.text
        used = judge_harm if job.describes_later else describe
        parsed = replace(parsed, description=used(options.describe, meta.title, text, meta.language, document))
    is_stored = parsed.is_kept and not parsed.noindex
    keeps_raw = job.keep_raw is KeepRaw.ALL or (job.keep_raw is KeepRaw.ARTICLES and is_stored)
    parsed = replace(
        _resolve(parsed, job, document=document),
        raw=zstd.compress(job.body, 3) if keeps_raw else None,
        dom=zstd.compress(job.dom, 3) if keeps_raw and job.dom else None,
        rendered=FORMS[job.form](document, parsed, extraction) if job.form else "",
        signs=signs,
    )
    return parsed if job.topic is None else _compare(parsed, document, job.topic, options.describe)


def _compare(
    parsed: ParseResult, document: Document, topic: Topic, describe_options: DescribeOptions | None
) -> ParseResult:
    headline = parsed.metadata.title if parsed.is_kept else ""
    terms = read_document(document, parsed.extraction, parsed.links, headline)
    if topic.classes:
        relevance = topic.share(_memberships(parsed, document, describe_options))
    else:
        relevance = topic.relevance(terms)
    return replace(
        parsed,
        relevance=relevance,
        link_relevance=tuple(topic.anchors(terms)),
        terms=record.pack(terms, parsed.links.ids),
    )


def _memberships(
    parsed: ParseResult, document: Document, describe_options: DescribeOptions | None
) -> Iterable[tuple[str, float]]:
    if describe_options is None:
        return ()
    title, text = document.title, "\n".join(document.blocks.texts)
    if parsed.is_leaf:
        title, text = parsed.metadata.title, parsed.extraction.text
    return describer(describe_options).classify(title, text, document).memberships.items()


def _method(options: ParseOptions) -> Method:
    return _cached_method(options.duplicates, tuple(sorted(options.duplicate_params.items())))


@lru_cache(maxsize=16)
def _cached_method(name: str, params: tuple[tuple[str, object], ...]) -> Method:
    return method(name, dict(params))


def _resolve(
    parsed: ParseResult, job: Job, sitemaps: Sequence[str] = (), document: Document | None = None
) -> ParseResult:
    # sites list what they have in feeds and sitemaps: no trap is looked for there
    blocked = job.traps.blocked if job.traps is not None and job.kind == Kind.PAGE else None
    newest = None
    if document is not None and job.scope.period.since is not None and parsed.kind is PageKind.LIST:
        from .metadata.visible_time import read_newest  # noqa: PLC0415 - as in `parse_job`

        newest = read_newest(document, datetime.fromtimestamp(job.fetched_at, UTC))
    return resolve_page(
        parsed,
        job.url,
        job.scope,
        sitemaps=sitemaps,
        rules=job.rules,
        blocked=blocked,
        now=job.fetched_at,
        newest=None if newest is None else newest.timestamp(),
    )


def _list_of(links: Links, bounds: tuple[str, ...] = ()) -> ParseResult:
    return ParseResult(PageKind.LIST, PageReason.FEED, links=links, bounds=bounds)


def _do_all(jobs: Sequence[WorkerJob[R]], options: ParseOptions) -> list[R | Exception]:
    done: list[R | Exception] = []
    for job in jobs:
        try:
            done.append(job.done(options))
        except MemoryError as error:
            done.append(error)
        except Exception as error:  # noqa: BLE001 - of whatever kind: it costs this document only
            done.append(PageFault.of(error))
    return done


def _prepare(memory_bytes: int, options: ParseOptions) -> None:
    """Prepare a worker: ignore Ctrl-C, load what all pages need, then bound memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import_module(f"{__package__}.warm")
    with suppress(Exception):  # each page would say so; what others' modules take to import is no page's fault
        find_extractor(options.extractor, options.extractor_params)
        _method(options)
        if options.describe is not None:
            describer(options.describe)
    if sys.platform.startswith("linux"):  # no other system bounds the memory of a process so
        import resource  # noqa: PLC0415 - there is none on Windows

        most = _memory_in_use() + memory_bytes
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    # A page makes some thousand objects and drops them all: looking for cycles every 700 costs a tenth of the work.
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _memory_in_use() -> int:
    for line in Path("/proc/self/status").read_text("ascii", "replace").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    raise RuntimeError("the system does not tell how much memory a process uses")


def process_context(*preload: str) -> BaseContext:
    """Return the way processes are started: forked from a warm server, else anew.

    The server is started here, and imports the modules `preload` once for all, unless it is running already. It is a
    fork of this process as long as that is safe, with what is imported by now; its memory is shared. A new interpreter
    would look for modules in the current folder first: a `db.py` that lies there would be taken for our package.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    if preload:
        context.set_forkserver_preload(list(preload))
    here = os.pathsep.join(path or os.getcwd() for path in sys.path)
    before = {name: os.environ.get(name) for name in ("PYTHONSAFEPATH", "PYTHONPATH")}
    os.environ.update(PYTHONSAFEPATH="1", PYTHONPATH=here)
    resource_tracker.ensure_running()
    start = multiprocessing.util.spawnv_passfds
    if _has_one_thread():
        multiprocessing.util.spawnv_passfds = _fork_to_run
    try:
        forkserver.ensure_running()
    finally:
        multiprocessing.util.spawnv_passfds = start
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return context


def worker_context(options: ParseOptions) -> BaseContext:
    """Return `process_context` with all that workers with these options share."""
    return process_context(f"{__package__}.{'warm' if options.describe is None else 'warm_descriptions'}")


def _has_one_thread() -> bool:
    """Tell whether this process can be forked.

    Elsewhere than on Linux, libraries of the system may not bear it.
    """
    return sys.platform.startswith("linux") and len(os.listdir("/proc/self/task")) == 1


def _fork_to_run(path: object, args: Sequence[Any], passfds: Iterable[int]) -> int:
    """Fork a process that runs what a new interpreter would (`python -c`).

    Returns its identifier. Of the open files it has the standard streams and those passed. The others stay open for
    nothing, else new files would get numbers by which objects of this process still know theirs.
    """
    if process := os.fork():
        return process
    try:
        gc.freeze()  # looking for cycles would write to each object, and memory would no longer be shared
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in {int(name) for name in os.listdir("/proc/self/fd")} - {0, 1, 2, nothing, *passfds}:
            os.dup2(nothing, descriptor, inheritable=False)
        exec(args[-1], {})
    except Exception:  # noqa: BLE001 - as a new interpreter does
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(1)


def _nothing() -> None:
    """Make a worker start, nothing else."""


_Waiting = tuple[WorkerJob[Any], asyncio.Future[Any]]


class WorkerPool:
    """Worker processes, started by `warm_up` or the first job.

    Documents that wait while all workers are busy are handed over several at a time, because handing over one costs the
    crawling process a fifth of all its work on a page. When such a batch fails, its documents are read one by one.

    A page may take so many `seconds`; a worker may use `memory_bytes` for its pages, beyond what it has at its start.
    """

    def __init__(self, *, workers: int, seconds: float, memory_bytes: int, options: ParseOptions) -> None:
        self._workers = workers
        self._seconds = seconds
        self._memory_bytes = memory_bytes
        self._options = options
        self._under_way: set[Future[list[Any]]] = set()
        self._waiting: deque[_Waiting] = deque()
        self._places = _PLACES * workers
        self._batches: set[asyncio.Task[None]] = set()
        self._closed = False
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPool:
        return ProcessPool(
            max_workers=self._workers,
            max_tasks=_TASKS_PER_PROCESS,
            initializer=_prepare,
            initargs=[self._memory_bytes, self._options],
            context=worker_context(self._options),
        )

    @property
    def has_free_worker(self) -> bool:
        return not (self._closed or self._waiting) and len(self._batches) < self._workers

    async def run(self, job: WorkerJob[R]) -> R:
        """Read one document in a worker.

        Raises:
            PageUnreadable: it took too long or too much memory, or its worker died.
            PageFault: the extractor or something else raised an error.
        """
        answer: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, answer))
        self._hand_over()
        return await answer

    def _hand_over(self) -> None:
        while self._waiting and len(self._batches) < self._places:
            waiting = self._next_batch()
            batch = asyncio.ensure_future(self._read(waiting))
            self._batches.add(batch)
            batch.add_done_callback(partial(self._batch_ended, waiting))

    def _next_batch(self) -> list[_Waiting]:
        most = min(_MOST_TOGETHER, -(-len(self._waiting) // self._places))
        batch = [self._waiting.popleft()]
        size = len(batch[0][0].body)
        while self._waiting and len(batch) < most:
            size += len(self._waiting[0][0].body)
            if size > _MOST_BYTES_TOGETHER:
                break
            batch.append(self._waiting.popleft())
        return batch

    def _batch_ended(self, waiting: Sequence[_Waiting], batch: asyncio.Task[None]) -> None:
        self._batches.discard(batch)
        error = None if batch.cancelled() else batch.exception()
        for _, answer in waiting:  # else whoever waits for one would do so for ever
            if not answer.done():
                answer.set_exception(error or PageUnreadable(FailReason.STOPPED))
        self._hand_over()

    async def _read(self, batch: list[_Waiting]) -> None:
        try:
            results = await self._attempt([job for job, _ in batch])
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

    async def _attempt(self, jobs: Sequence[WorkerJob[R]]) -> Sequence[R | Exception]:
        try:
            return await self._try(jobs)
        except BrokenProcessPool:  # a worker killed between two pages can break the whole pool
            pass
        except _Stopped:  # somebody stopped all processes of the crawl: what is under way is still to be stored
            pass
        try:
            return await self._try(jobs)
        except (BrokenProcessPool, _Stopped):
            pass
        raise PageUnreadable(FailReason.WORKER_DIED)

    async def _try(self, jobs: Sequence[WorkerJob[R]]) -> Sequence[R | Exception]:
        if self._closed:
            raise PageUnreadable(FailReason.STOPPED)
        pool = self._pool
        arguments = [jobs, self._options]
        try:
            future = pool.schedule(_do_all, args=arguments, timeout=self._seconds)
        except RuntimeError as error:  # "the pool is not active"
            await self._replace_pool(pool)
            raise BrokenProcessPool(str(error)) from error
        self._under_way.add(future)
        try:
            async with asyncio.timeout(_PLACES * self._seconds + _PATIENCE_SECONDS):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            if not future.done() or future.cancelled():  # the pool has lost the job: it is of no use any more
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
        if self._closed or broken is not self._pool:
            return
        old, self._pool = self._pool, self._new_pool()
        lost, self._under_way = self._under_way, set()
        await asyncio.get_running_loop().run_in_executor(None, _end, old)
        for future in lost:  # nobody will answer them: their documents are read by the new pool
            with suppress(InvalidStateError):
                future.set_exception(BrokenProcessPool("replaced"))

    def warm_up(self) -> None:
        self._pool.schedule(_nothing)

    def close(self) -> None:
        """End the workers; blocks until they are gone, dropping what they have not done."""
        self._closed = True
        _end(self._pool)
        for future in tuple(self._under_way):  # the pool leaves them waiting
            with suppress(InvalidStateError):
                future.set_exception(PageUnreadable(FailReason.STOPPED))


def _end(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()
