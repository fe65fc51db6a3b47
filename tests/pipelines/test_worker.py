"""Worker processes: what they read, and that a document which hurts one costs nothing but itself."""

from __future__ import annotations

import asyncio
import gzip
import multiprocessing
import os
import random
import signal
import subprocess
import sys
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipelines.decode import zstd
from pipelines.document.limits import PageLimits
from pipelines.links.scope import Scope
from pipelines.records import BlockKind, PageKind, ParseResult
from pipelines.site_memory.knowledge import NOTHING, learn, pack
from pipelines.worker import Job, KeepRaw, PageFault, PageUnreadable, ParseOptions, WorkerPool, parse_job
from tests.table import each_row
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")

SCOPE = Scope("host", ("h.cn",))
PROSE = "市政府昨天宣布，新的地铁线路将于明年春天开工建设，全长二十三公里，沿途设十五座车站，预计三年后通车。"
ARTICLE = f"""<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8"><title>地铁新线明年开工</title>
<link rel="canonical" href="http://h.cn/news/1.html"></head><body><nav><a href="/">首页</a></nav>
<h1>地铁新线明年开工</h1><p>2023-11-14 08:30</p><article>{"".join(f"<p>{PROSE}{n}</p>" for n in range(8))}</article>
<a href="/news/2.html">相关报道：公交线路调整方案公布</a><a href="http://other.cn/x">友情链接</a>
<a href="/map.pdf">线路图</a></body></html>""".encode()
FEED = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>t</title><link>http://h.cn/</link>
<item><title>One</title><link>http://h.cn/1</link><pubDate>Tue, 14 Nov 2023 22:13:20 GMT</pubDate></item>
<item><title>Two</title><link>http://other.cn/2</link></item></channel></rss>"""
SITEMAP = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://h.cn/1</loc><lastmod>2023-11-14T22:13:20Z</lastmod></url><url><loc>http://h.cn/2</loc></url></urlset>"""
INDEX = b"""<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>http://h.cn/s1.xml</loc></sitemap></sitemapindex>"""
SMALL = b"<html><title>t</title><p>hello</p></html>"
WIDE = PageLimits(nodes=10_000_000)
SLOW = b"<a href=x>y</a>" * 800_000  # 12 MB of links: seconds to read
FILES = {
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF",
    "zip": b"PK\3\4\x14\0",
    "pdf": b"%PDF-1.4\n%\xe2\xe3\n",
}


def job(body: bytes, kind: str = "page", **values: Any) -> Job:
    defaults = {
        "url": "http://h.cn/news/1.html",
        "content_type": "text/html",
        "robots_header": "",
        "fetched_at": 1_700_000_000.0,
        "scope": SCOPE,
        "keep_raw": KeepRaw.NONE,
    }
    return Job(kind, body, **{**defaults, **values})


OPTIONS = ParseOptions("density", bounds=WIDE)


def pool_of(workers: int = 1, **values: Any) -> WorkerPool:
    defaults: dict[str, Any] = {
        "seconds": 200.0,
        "memory_bytes": 8 << 30,
        "options": ParseOptions("density", bounds=WIDE),
    }
    return WorkerPool(workers=workers, **{**defaults, **values})


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    made = pool_of(2)
    yield made
    made.close()


def run(coroutine: Coroutine[Any, Any, Any], seconds: float = 300) -> Any:
    """Run with a limit, so that a lost page fails a test instead of stopping all."""
    return asyncio.run(asyncio.wait_for(coroutine, seconds))


async def read(pool: WorkerPool, body: bytes, kind: str = "page", **values: Any) -> ParseResult | str:
    """What became of a document: the result, or the reason why there is none."""
    try:
        return await pool.run(job(body, kind, **values))
    except PageUnreadable as problem:
        return str(problem)
    except RuntimeError as error:  # what a broken pool says, to every page after
        return f"not a reason to store: {error!r}"


def workers_alive() -> set[int]:
    """Processes below the fork server of this process (all of them are workers), the dead not counted."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                _, _, fields = (folder / "stat").read_text().rpartition(")")
                names[int(folder.name)] = (folder / "cmdline").read_text()
            except OSError:
                continue
            state, parent = fields.split()[:2]
            if state != "Z":
                parents[int(folder.name)] = int(parent)
    servers = {pid for pid, parent in parents.items() if parent == os.getpid() and "forkserver" in names[pid]}
    return {pid for pid, parent in parents.items() if parent in servers}


def address_space(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmSize:"))


async def busy_with_slow(worker: int, usual: int) -> None:
    """Wait until a worker builds the tree of the slow document, which is several times its size."""
    async with asyncio.timeout(20):
        while address_space(worker) < usual + 4 * len(SLOW):
            await asyncio.sleep(0.01)


class TestWork:
    """The function that runs in a worker, here."""

    def read(self, body: bytes, kind: str = "page", **values: Any) -> ParseResult:
        return parse_job(job(body, kind, **values), ParseOptions("density"))

    def test_page(self) -> None:
        parsed = self.read(ARTICLE)
        assert parsed.kind == PageKind.ARTICLE
        assert parsed.metadata.title == "地铁新线明年开工"
        assert PROSE in parsed.extraction.text
        reasons = dict(zip(parsed.links.urls, parsed.links.reasons, strict=True))
        assert reasons["http://h.cn/news/2.html"] is None
        assert reasons["http://h.cn/map.pdf"] == "file"
        assert reasons["http://other.cn/x"] == "outside"
        assert parsed.raw is None

    def test_raw_bytes_are_kept_when_asked_for(self) -> None:
        raw = self.read(ARTICLE, keep_raw=KeepRaw.ALL).raw
        assert raw is not None
        assert zstd.decompress(raw) == ARTICLE

    def test_page_is_observed_when_its_site_is_to_be_learned(self) -> None:
        first = self.read(ARTICLE, site_model=b"").sample
        assert first is not None
        known = learn(NOTHING, replace(first, article=1))
        again = self.read(ARTICLE, site_model=pack(known))
        assert again.sample == first
        assert PROSE in again.extraction.text
        assert self.read(ARTICLE).sample is None
        assert self.read(SMALL, site_model=b"").sample is None

    @each_row("knowledge", [b"\1", b"\xff" * 99])
    def test_damaged_knowledge_costs_nothing(self, knowledge: bytes) -> None:
        assert self.read(ARTICLE, site_model=knowledge) == self.read(ARTICLE, site_model=b"")

    @each_row("kind", ["feed", "page"])
    def test_feed(self, kind: str) -> None:
        parsed = self.read(FEED, kind)
        assert parsed.links.urls == ("http://h.cn/1", "http://other.cn/2")
        assert parsed.links.dates == (1_700_000_000.0, 0.0)
        assert set(parsed.links.blocks) == {BlockKind.FEED}
        assert parsed.links.reasons == (None, "outside")
        assert parsed.kind == PageKind.LIST
        assert parsed.reason

    @each_row("kind", ["sitemap", "page"])
    @each_row("pack", [bytes, gzip.compress])
    def test_sitemap(self, kind: str, pack: Any) -> None:
        parsed = self.read(pack(SITEMAP), kind)
        assert parsed.links.urls == ("http://h.cn/1", "http://h.cn/2")
        assert parsed.links.dates == (1_700_000_000.0, 0.0)
        assert parsed.sources == ()
        assert len(parsed.links.ids) == 2

    @each_row("kind", ["sitemap", "page"])
    def test_sitemap_index(self, kind: str) -> None:
        parsed = self.read(INDEX, kind)
        assert [(one.url, one.kind, one.reason) for one in parsed.sources] == [("http://h.cn/s1.xml", "sitemap", None)]
        assert len(parsed.links) == 0

    @each_row("kind", ["feed", "sitemap"])
    @each_row("body", [b"", b"\0\xff" * 50, ARTICLE, b"<?xml version='1.0'?>", b"\x1f\x8b broken"])
    def test_source_that_is_none_gives_nothing_to_store(self, kind: str, body: bytes) -> None:
        parsed = self.read(body, kind)
        assert parsed.kind == PageKind.LIST
        assert parsed.sources == ()

    @each_row("body", [b"", b"\0" * 100, b"\xff\xfe", b"<" * 1000, b"!?" * 500])
    def test_page_that_is_none_is_no_article(self, body: bytes) -> None:
        parsed = self.read(body)
        assert parsed.kind != PageKind.ARTICLE
        assert parsed.reason

    @each_row("content_type", ["text/html", "application/octet-stream"])
    @each_row("kind", FILES)
    def test_file_is_no_article_whatever_it_is_called(self, kind: str, content_type: str) -> None:
        body = FILES[kind] + random.Random(1).randbytes(20_000)
        assert self.read(body, content_type=content_type).kind == PageKind.OTHER


class TestPool:
    def test_reads_as_the_function_does(self, pool: WorkerPool) -> None:
        async def all_kinds() -> list[ParseResult | str]:
            wanted = [(ARTICLE, "page"), (FEED, "feed"), (SITEMAP, "sitemap"), (INDEX, "sitemap")]
            return await asyncio.gather(
                *(read(pool, body, kind, keep_raw=KeepRaw.ALL, site_model=b"") for body, kind in wanted)
            )

        assert run(all_kinds()) == [
            parse_job(job(body, kind, keep_raw=KeepRaw.ALL, site_model=b""), ParseOptions("density"))
            for body, kind in [(ARTICLE, "page"), (FEED, "feed"), (SITEMAP, "sitemap"), (INDEX, "sitemap")]
        ]

    def test_many_at_once_come_back_each_to_its_own(self, pool: WorkerPool) -> None:
        async def many() -> list[ParseResult | str]:
            bodies = [b"<title>number %d</title><a href=/%d>about it</a>" % (n, n) for n in range(60)]
            return await asyncio.gather(*(read(pool, body) for body in bodies))

        for n, parsed in enumerate(run(many())):
            assert parsed.links.urls == (f"http://h.cn/{n}",)

    def test_wrong_extractor_is_the_callers_mistake(self) -> None:
        broken = pool_of(options=ParseOptions("magic"))
        try:
            for _ in range(2):
                with pytest.raises(PageFault, match="ValueError: unknown extractor 'magic'"):
                    run(read(broken, SMALL))
        finally:
            broken.close()


class TestAccidents:
    def test_document_that_takes_too_long(self) -> None:
        pool = pool_of(2, seconds=1.0)

        async def pages() -> list[ParseResult | str]:
            await read(pool, SMALL)  # the processes are there
            slow = asyncio.create_task(read(pool, SLOW * 4))
            others = [await read(pool, SMALL) for _ in range(5)]
            return [await slow, *others, await read(pool, SMALL)]

        try:
            slow, *others = run(pages())
        finally:
            pool.close()
        assert slow == "took too long to read"
        assert all(isinstance(other, ParseResult) for other in others)

    def test_document_that_takes_too_much_memory(self) -> None:
        large = gzip.compress(b"<urlset>" + b"<url><loc>http://h.cn/1</loc></url>" * 1_400_000, 1)  # 48 MB unpacked
        roomy = pool_of()
        try:
            assert isinstance(run(read(roomy, large, "sitemap")), ParseResult)
        finally:
            roomy.close()
        tight = pool_of(memory_bytes=24 << 20)
        try:
            assert run(read(tight, large, "sitemap")) == "took too much memory to read"
            assert isinstance(run(read(tight, SMALL)), ParseResult)
        finally:
            tight.close()

    def test_worker_killed_at_work_costs_its_page(self) -> None:
        before = workers_alive()
        pool = pool_of(1)

        async def pages() -> list[ParseResult | str]:
            await read(pool, SMALL)
            (worker,) = workers_alive() - before
            usual = address_space(worker)
            slow = asyncio.create_task(read(pool, SLOW))
            waiting = [asyncio.create_task(read(pool, SMALL)) for _ in range(3)]
            await busy_with_slow(worker, usual)
            os.kill(worker, signal.SIGKILL)
            return [await slow, *[await one for one in waiting], await read(pool, ARTICLE)]

        try:
            slow, *others = run(pages())
        finally:
            pool.close()
        assert slow == "worker died: exit code -9"
        assert all(isinstance(other, ParseResult) for other in others)

    def test_worker_asked_to_end_has_its_page_read_by_another(self) -> None:
        """As when all processes of a crawl get SIGTERM: the crawl stores what is under way before it ends."""
        before = workers_alive()
        pool = pool_of(1)

        async def pages() -> ParseResult | str:
            await read(pool, SMALL)
            (worker,) = workers_alive() - before
            os.kill(worker, signal.SIGSTOP)
            page = asyncio.create_task(read(pool, ARTICLE))
            await asyncio.sleep(0.3)
            os.kill(worker, signal.SIGTERM)
            os.kill(worker, signal.SIGCONT)
            return await page

        try:
            assert isinstance(run(pages()), ParseResult)
        finally:
            pool.close()

    def test_documents_under_way_in_a_pool_that_is_replaced_are_read_by_the_new_one(self) -> None:
        pool = pool_of(1)

        async def pages() -> list[ParseResult | str]:
            await read(pool, SMALL)
            tasks = [asyncio.create_task(read(pool, ARTICLE)) for _ in range(12)]
            await asyncio.sleep(0)
            broken = pool._pool
            await pool._replace_pool(broken)
            await pool._replace_pool(broken)  # by another batch that was in it
            return [await task for task in tasks]

        try:
            assert all(isinstance(one, ParseResult) for one in run(pages(), 20))
        finally:
            pool.close()

    def test_worker_killed_while_idle_costs_at_most_one_page(self) -> None:
        before = workers_alive()
        pool = pool_of(1)

        async def pages() -> list[ParseResult | str]:
            await read(pool, SMALL)
            (worker,) = workers_alive() - before
            os.kill(worker, signal.SIGKILL)
            await asyncio.sleep(0.5)
            return [await read(pool, SMALL) for _ in range(3)]

        try:
            results = run(pages())
        finally:
            pool.close()
        assert all(isinstance(result, ParseResult) for result in results[1:])

    def test_document_too_large_to_hand_over_costs_itself(self) -> None:
        tight = pool_of(1, memory_bytes=24 << 20)

        async def pages() -> list[ParseResult | str]:
            await read(tight, SMALL)
            return [await read(tight, b" " * (48 << 20)), await read(tight, SMALL)]

        try:
            too_large, small = run(pages())
        finally:
            tight.close()
        assert too_large in {"took too much memory to read", "worker died: exit code 1", "worker died"}
        assert isinstance(small, ParseResult)


class TestClose:
    def gone(self, workers: set[int]) -> bool:
        wait_for(lambda: not workers & workers_alive())
        return True

    def test_leaves_no_worker(self) -> None:
        before, children = workers_alive(), set(multiprocessing.active_children())
        pool = pool_of(3)
        run(read(pool, SMALL))
        workers = workers_alive() - before
        assert len(workers) == 3
        pool.close()
        assert self.gone(workers)
        assert set(multiprocessing.active_children()) <= children

    def test_in_the_middle_of_work(self) -> None:
        before = workers_alive()
        pool = pool_of(2)

        async def begin() -> list[Any]:
            await read(pool, SMALL)
            tasks = [asyncio.create_task(read(pool, SLOW)) for _ in range(4)]
            await asyncio.sleep(0.3)
            await asyncio.get_running_loop().run_in_executor(None, pool.close)
            return await asyncio.gather(*tasks, return_exceptions=True)

        results = run(begin(), 20)
        assert not any(isinstance(result, ParseResult) for result in results)
        assert self.gone(workers_alive() - before)

    def test_after_a_worker_was_killed_none_of_its_fellows_is_left(self) -> None:
        before = workers_alive()
        pool = pool_of(3)

        async def pages() -> ParseResult | str:
            await read(pool, SMALL)
            await asyncio.sleep(0.2)
            os.kill(min(workers_alive() - before), signal.SIGKILL)
            await asyncio.sleep(0.3)
            return await read(pool, SMALL)

        result = run(pages())
        pool.close()
        assert isinstance(result, ParseResult)
        assert self.gone(workers_alive() - before)

    def test_before_the_first_page_and_twice(self) -> None:
        before = workers_alive()
        pool = pool_of(1)
        pool.close()
        pool.close()
        assert workers_alive() <= before

    def test_warm_up_starts_the_processes(self) -> None:
        before = workers_alive()
        pool = pool_of(2)
        pool.warm_up()
        wait_for(lambda: len(workers_alive() - before) >= 2)
        started = workers_alive() - before
        pool.close()
        assert len(started) == 2

    def test_ctrl_c_is_the_parents_business(self) -> None:
        before = workers_alive()
        pool = pool_of(1)
        try:
            run(read(pool, SMALL))
            (worker,) = workers_alive() - before
            os.kill(worker, signal.SIGINT)
            assert isinstance(run(read(pool, SMALL)), ParseResult)
            assert workers_alive() - before == {worker}
        finally:
            pool.close()


def test_batch_that_loses_a_result_leaves_nobody_waiting(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def lose(_self: WorkerPool, _jobs: object) -> list[object]:
        return []

    monkeypatch.setattr(WorkerPool, "_attempt", lose)
    with pytest.raises(ValueError, match="shorter"):
        run(pool.run(job(b"<p>a</p>")), 10)


def test_nothing_of_the_crawler_is_loaded_in_a_worker() -> None:
    """Fork servers import `pipelines.warm`: neither Scrapy nor SQLAlchemy may come with it (memory, start time)."""
    code = "import sys, pipelines.warm; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    path = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert {"scrapy", "twisted", "crawler"}.isdisjoint(done.stdout.split())


def test_damaged_model_costs_pages_not_the_start_of_workers(tmp_path: Path) -> None:
    """Fork servers import `pipelines.warm`; what it raised would end them, and their pages would wait for ever."""
    code = (
        "from pathlib import Path; from pipelines.models import files; "
        f"files.path = lambda name: Path({str(tmp_path)!r}, name); "
        "import pipelines.warm_descriptions as made; print(len(made.warm.SHARED))"
    )
    path = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert int(done.stdout) > 0


@pytest.mark.parametrize(
    "module",
    ["pipelines.parse_page", "pipelines.describe", "pipelines.warm", "crawler.commands.extract", "crawler.web.app"],
)
def test_pages_are_read_with_one_thread_of_linear_algebra(module: str) -> None:
    """Whatever is imported first; of two threads each waits for the other on matrices as small as a page's."""
    pytest.importorskip("threadpoolctl")
    code = f"import {module}, numpy, threadpoolctl; print(*(i['num_threads'] for i in threadpoolctl.threadpool_info()))"
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["1"]
