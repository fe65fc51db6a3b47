"""Archives of crawls: written, read in again, extracted; kills, a full disk."""

from __future__ import annotations

import json
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.corpus.warc import files
from crawler.demo.server import Newsroom
from tests.crawler.crawling import Finished, command, crawl, crawl_arguments, rows, scrapy, start
from tests.crawler.odd_server import Answer, OddServer, article, redirect
from tests.crawler.test_multipage import PATHS, site
from tests.waiting import wait_for

SETTINGS = ("WORKERS=2", "HARMFUL=off")
ASKED = {
    "articles": "SELECT url, v.title, v.text, v.published_at, v.kind, cluster_id "
    "FROM v_articles v JOIN article USING (id)",
    "duplicates": "SELECT article_id, of_id, method, round(similarity, 6) FROM duplicate",
    "links": "SELECT source, target, block FROM link",
    "parts": "SELECT id, first_id, position, joined FROM part",
    "pages": "SELECT id, state, http_status, page_kind FROM url WHERE kind = 'page' AND visits > 0",
    "fetched": "SELECT u.url, p.content_type FROM page p JOIN url u ON u.id = p.url_id",
}
"""Queries of all that an archive must bring back; which of several copies or parts came first may differ."""


def story(n: int, *links: str, day: int = 1) -> Answer:
    """A story that no other repeats, dated, so that what stands for its copies does not depend on who is read first."""
    title = f"第{n}条新闻的标题"
    facts = [f"第{part}段：{n * 7 + part}号工程由{n * 31 + part}人在{n * 13 + part}天里完成。" for part in range(6)]
    body = "".join(f"<p>{line}{chr(0x4E00 + n * 997 + i * 89) * 12}</p>" for i, line in enumerate(facts))
    body += "".join(f'<a href="{u}">{u}</a>' for u in links)
    stamp = f"<p>2024-03-{day:02} 08:30 来源：新华社</p>"
    return 200, {}, f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{stamp}{body}</body></html>"


def answers() -> dict[tuple[str, str], Answer]:
    """Sites with an article of several pages, copies, a redirect, a missing page."""
    found: dict[tuple[str, str], Answer] = dict(site(PATHS[1]))
    names = [f"/2024/{n}.html" for n in range(8)]
    found |= {("b.localhost", path): story(n, *names) for n, path in enumerate(names)}
    found["b.localhost", "/"] = article("首页", *names, "/2024/copy.html", "/old.html", "/missing.html")
    found["b.localhost", "/2024/copy.html"] = story(1, "http://a.localhost:PORT/2024/1.html", day=2)
    found["b.localhost", "/2024/again.html"] = story(2, day=3)
    found["b.localhost", "/old.html"] = redirect("/2024/again.html")
    return found


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a crawl with its archive, `warc/`; its server is closed."""
    folder = tmp_path_factory.mktemp("crawled")
    with OddServer(answers()) as server:
        seeds = [f"http://{name}.localhost:{server.port}/" for name in ("a", "b")]
        archived = f"STORE_WARC={folder}/warc"
        done = crawl(cast("Newsroom", server), folder, *SETTINGS, archived, seeds=seeds)
    assert done.returncode == 0, done.stderr
    return folder


def replay(folder: Path, archive: Path, *settings: str, before: str = "") -> Finished:
    """Read an archive into `folder/news.db`."""
    return scrapy(folder, *replay_arguments(folder, archive, *settings), before=before)


def replay_arguments(folder: Path, archive: Path, *settings: str) -> list[str]:
    nowhere = cast("Newsroom", type("Nowhere", (), {"port": 1}))
    given = crawl_arguments(nowhere, folder, *SETTINGS, *settings, seeds=["http://unused.example/"])
    given[given.index(f"seeds={folder / 'seeds.txt'}")] = f"seeds=warc:{archive}"
    return given


def content(folder: Path) -> dict[str, list[tuple]]:
    return {name: sorted(rows(folder, sql), key=repr) for name, sql in ASKED.items()}


def test_archive_brings_back_articles_duplicates_and_links(crawled: Path, tmp_path: Path) -> None:
    done = replay(tmp_path, crawled / "warc")
    assert (done.returncode, "Finished" in done.stderr) == (0, True), done.stderr
    assert content(tmp_path) == content(crawled)
    assert len(content(tmp_path)["articles"]) > 8
    assert len(content(tmp_path)["duplicates"]) > 0
    assert len(content(tmp_path)["parts"]) == len(PATHS)
    times = "SELECT id, round(fetched_at, 3) FROM url WHERE kind = 'page' AND visits > 0 ORDER BY id"
    assert rows(tmp_path, times) == rows(crawled, times)
    assert rows(tmp_path, "SELECT * FROM url WHERE state = 'pending' OR next_visit IS NOT NULL") == []
    assert {robots for (robots,) in rows(tmp_path, "SELECT robots FROM host")} == {"unknown"}  # nothing was asked for
    again = replay(tmp_path, crawled / "warc")
    assert again.returncode == 0
    assert "no newer than what is stored" in again.stderr
    assert rows(tmp_path, "SELECT max(visits) FROM url") == [(1,)]


def test_engine_is_not_asked_over_and_over_while_pages_are_read(crawled: Path, tmp_path: Path) -> None:
    code = f"""
from multiprocessing.util import Finalize
from pathlib import Path
from crawler.frontier.scheduler import Waker
asked = []
wake = Waker.wake
def counted(self):
    asked.append(1)
    wake(self)
Waker.wake = counted
Finalize(None, lambda: Path({str(tmp_path / "asked")!r}).write_text(str(len(asked))), exitpriority=1)
"""
    done = replay(tmp_path, crawled / "warc", before=code)
    assert done.returncode == 0, done.stderr
    assert 0 < int((tmp_path / "asked").read_text()) < 200, "thousands, when it waits for workers by asking"


def test_archive_of_a_crawl_is_sound_and_the_table_names_its_records(crawled: Path) -> None:
    [path] = files(crawled / "warc")
    with path.open("rb") as file:
        found = [
            (one.rec_headers.get_header("WARC-Target-URI"), one.rec_type, one.raw_stream.read())
            for one in checked(file)
        ]
    asked = [url for url, kind, _ in found if kind == "request"]
    assert len(asked) == len(found) // 2
    assert sum(url.endswith("/robots.txt") for url in asked) == 2
    for url, file_name, offset in rows(
        crawled, "SELECT u.url, p.warc_file, p.warc_offset FROM page p JOIN url u ON u.id = p.url_id"
    ):
        assert file_name == path.name
        with path.open("rb") as file:
            file.seek(offset)
            record = next(iter(ArchiveIterator(file)))
            assert (record.rec_type, record.rec_headers.get_header("WARC-Target-URI")) == ("response", url)


def checked(file: object) -> Iterator[object]:
    return iter(ArchiveIterator(file, check_digests="raise"))


def test_reading_an_archive_goes_on_after_a_kill(crawled: Path, tmp_path: Path) -> None:
    slow = "import time\nfrom crawler.corpus import replay\nreplay._AT_ONCE = 2\n" + SLOW
    process = start(tmp_path, *replay_arguments(tmp_path, crawled / "warc"), before=slow, own_session=True)
    wait_for(lambda: stored(tmp_path))
    assert process.send(signal.SIGKILL, to_all=True)
    process.process.join()
    assert 0 < stored(tmp_path) < len(content(crawled)["pages"])
    assert replay(tmp_path, crawled / "warc").returncode == 0
    assert content(tmp_path) == content(crawled)


SLOW = """
from db.articles.page_transaction import Store
store = Store.store
def slowly(self, connection, outcomes):
    time.sleep(0.1)
    return store(self, connection, outcomes)
Store.store = slowly
"""


def stored(folder: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{folder}/news.db?mode=ro", uri=True)) as database:
            return database.execute("SELECT count(*) FROM url WHERE kind = 'page' AND visits > 0").fetchone()[0]
    except sqlite3.Error:
        return 0


FULL = """
from crawler.corpus import warc_writer as writer
append, left = writer._Files._append, [4]
def full(self, data):
    left[0] -= 1
    if left[0] < 0:
        raise OSError(28, "No space left on device")
    append(self, data)
writer._Files._append = full
"""
"""A disk that is full after four records."""


def test_full_disk_ends_the_crawl_in_one_sentence_and_nothing_is_lost(crawled: Path, tmp_path: Path) -> None:
    with OddServer(answers()) as server:
        seeds = [f"http://{name}.localhost:{server.port}/" for name in ("a", "b")]
        settings = (*SETTINGS, f"STORE_WARC={tmp_path}/warc")
        arguments = crawl_arguments(cast("Newsroom", server), tmp_path, *settings, seeds=seeds)
        done = scrapy(tmp_path, *arguments, before=FULL)
        assert done.returncode == 4
        assert done.stderr.count("No space left on device") == 1
        assert "Traceback" not in done.stderr
        assert scrapy(tmp_path, *arguments).returncode == 0
    assert len(content(tmp_path)["articles"]) == len(content(crawled)["articles"])
    archived = tmp_path / "archived"
    archived.mkdir()
    assert replay(archived, tmp_path / "warc").returncode == 0
    assert content(archived)["links"] == content(tmp_path)["links"]


def test_articles_are_extracted_again_from_the_archive(tmp_path: Path) -> None:
    with OddServer(answers()) as server:
        seeds = [f"http://b.localhost:{server.port}/"]
        kept = ("STORE_HTML=none", f"STORE_WARC={tmp_path}/warc", "SITE_MEMORY=False")
        assert crawl(cast("Newsroom", server), tmp_path, *SETTINGS, *kept, seeds=seeds).returncode == 0
    assert rows(tmp_path, "SELECT count(*), max(length(body)) FROM page") == [
        (rows(tmp_path, "SELECT count(*) FROM article")[0][0], 0)
    ]
    database = f"DATABASE_URL=sqlite:///{tmp_path}/news.db"
    given = (
        "extract",
        "--database",
        "--extractor",
        "density",
        "-s",
        database,
        "-s",
        "SITE_MEMORY=False",
        "-s",
        "WORKERS=2",
    )
    blind = scrapy(tmp_path, *given)
    assert blind.returncode == 3
    assert "name its folder in STORE_WARC" in blind.stderr
    done = scrapy(tmp_path, *given, "-s", f"STORE_WARC={tmp_path}/warc")
    assert done.returncode == 0, done.stderr
    assert {name for (name,) in rows(tmp_path, "SELECT extractor FROM article")} == {"density"}


def test_pages_of_a_warc_file_are_extracted(crawled: Path, tmp_path: Path) -> None:
    [path] = files(crawled / "warc")
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes(path.read_bytes()[:-40])
    done = scrapy(tmp_path, "extract", "--format", "jsonl", "-s", "WORKERS=2", str(cut))
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert done.stderr.startswith(f"{cut}, byte ")
    assert done.stderr.endswith("a record was passed over (it is cut off)\n")
    assert {one["file"] for one in found} == {str(cut)}
    wanted = {url: text for url, _, text, *_ in content(crawled)["articles"] if "/2024/" in url and text}
    assert len(wanted) > 5
    assert {one["url"]: one["text"] for one in found if one["url"] in wanted} == wanted


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("none", None, "there is no WARC file"),
        ("a.warc.gz", b"hello", "is no WARC file"),
        ("a.warc", b"", "is empty"),
    ],
)
def test_file_that_is_no_archive_is_refused(tmp_path: Path, name: str, data: bytes | None, said: str) -> None:
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    done = command("crawl", "news", "-a", f"seeds=warc:{path}", "-s", f"DATABASE_URL={tmp_path}/news.db")
    assert (done.returncode, said in done.stderr, done.stderr.count("\n")) == (2, True, 1)
    assert not (tmp_path / "news.db").exists()
