"""Commands that read the several databases of one crawl as if they were one."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from db.engine.database import open_for_crawl
from tests.crawler.crawling import Finished, command
from tests.crawler.web.newsstand import Newsstand, Story
from tests.postgres import clear

HARBOUR = "新港码头昨天迎来第一艘货轮，港务局说今年吞吐量有望增长。"
STORIES = [
    Story("https://a.example/1", "港口吞吐量创新高", HARBOUR, published_at="2024-05-02T08:00+08:00"),
    Story("https://a.example/2", "图书馆开放夜场", "读者可以借阅到晚上十点。", published_at="2024-05-06T08:00+08:00"),
    Story("https://b.test/1", "渔船返回港口", "台风来临之前渔船返港。", published_at="2024-06-03T08:00+08:00"),
    Story("https://b.test/2", "港口休息一天", "船员上岸，码头没有货轮。", published_at="2024-06-04T08:00+08:00"),
]
SILENT = "postgresql://nobody@127.0.0.1:1/none"


@pytest.fixture(scope="module")
def urls(
    postgres_tables: str, second_tables: str, sqlite_tables: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[str]]:
    """The URLs of two databases with a site each, and of one with both."""
    whole = tmp_path_factory.mktemp("whole") / "news.db"
    shutil.copy(sqlite_tables, whole)
    made = [postgres_tables, second_tables, f"sqlite:///{whole}"]
    for url, stories in zip(made, (STORIES[:2], STORIES[2:], STORIES), strict=True):
        with closing(open_for_crawl(url)) as database:
            newsstand = Newsstand(database, time.time() - 3600)
            newsstand.begin()
            newsstand.store(stories)
    yield made
    clear(postgres_tables)
    clear(second_tables)


def run(urls: list[str], *arguments: str) -> Finished:
    done = command(*arguments, "-s", f"DATABASE_URL={' '.join(urls)}")
    assert "Traceback" not in done.stderr
    return done


def records(done: Finished) -> list[dict]:
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_search_ranks_as_in_one_database(urls: list[str]) -> None:
    for words in (["港口"], ["港口 货轮"], ["--site", "b.test"], []):
        several, one = (records(run(some, "search", *words, "--format", "jsonl")) for some in (urls[:2], urls[2:]))
        assert len(several) >= 2
        assert [(hit["url"], hit["score"]) for hit in several] == [(hit["url"], hit["score"]) for hit in one]


def test_status_adds_up_and_names_whose_runs(urls: list[str]) -> None:
    several, one = (records(run(some, "status", "--format", "jsonl")) for some in (urls[:2], urls[2:]))
    for name in ("urls", "articles", "duplicates"):
        assert several[0][name] == one[0][name]
    hosts = [[row["host"] for row in some if row["record"] == "host"] for some in (several, one)]
    assert hosts[0] == hosts[1] == ["a.example", "b.test"]
    assert len({row["database"] for row in several if row["record"] == "run"}) == 2
    assert run(urls[:2], "status").stdout.count("Runs on postgresql://") == 2


def test_export_goes_on_in_each_database(urls: list[str], tmp_path: Path) -> None:
    first = tmp_path / "first.jsonl"
    done = run(urls[:2], "export", "articles", "--output", str(first))
    rows = [json.loads(line) for line in first.read_text("utf-8").splitlines()]
    assert {row["id"] for row in rows} == {row["id"] for row in records_of(urls[2:])}
    assert done.stderr == f"4 articles; what is stored later: --after {rows[1]['number']},{rows[3]['number']}\n"
    place = f"{rows[0]['number']},{rows[3]['number']}"
    assert [row["title"] for row in records_of(urls[:2], "--after", place)] == ["图书馆开放夜场"]
    assert [row["url"] for row in records_of(urls[:2], "--site", "b.test")] == [s.url for s in STORIES[2:]]
    assert len(records_of(urls[:2], "--query", "货轮")) == 2
    assert "has 1 keys" in run(urls[:2], "export", "articles", "--after", "1").stderr
    refused = run(urls[:2], "export", "articles", "--output", str(first), "--append")
    assert (refused.returncode, "add --after KEY" in refused.stderr) == (2, True)


def records_of(urls: list[str], *arguments: str) -> list[dict]:
    return [json.loads(line) for line in run(urls, "export", "articles", *arguments).stdout.splitlines()]


def test_database_that_is_silent_is_named_and_left_out(urls: list[str]) -> None:
    done = run([urls[0], SILENT], "search", "港口")
    assert done.returncode == 0
    assert "港口吞吐量创新高" in done.stdout
    assert "127.0.0.1:1/none does not answer" in done.stderr
    assert done.stderr.count("\n") == 1
    assert run([urls[0], SILENT], "export", "articles").returncode == 4


def test_url_is_explained_wherever_it_is(urls: list[str]) -> None:
    for story in STORIES[1:3]:
        assert records(run(urls[:2], "why", story.url, "--format", "jsonl"))[0]["article"]["title"] == story.title


def test_commands_of_one_database_ask_for_one(urls: list[str]) -> None:
    done = run(urls[:2], "rank")
    assert done.returncode == 2
    assert "names several databases, and this works on one at a time" in done.stderr
