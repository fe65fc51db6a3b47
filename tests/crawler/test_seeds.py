"""Seeds as people give them: without a file, without a scheme, with rules and a period; and taken out again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from crawler.demo.server import Newsroom
from tests.crawler.crawling import Finished, crawl_arguments, rows, scrapy

_BY_REASON = "SELECT reason, count(*) FROM url WHERE kind = 'page' GROUP BY reason"


@pytest.fixture(scope="module")
def newsroom() -> Iterator[Newsroom]:
    with Newsroom() as serving:
        yield serving


def crawl_from(newsroom: Newsroom, folder: Path, seeds: str, *settings: str) -> Finished:
    """Crawl with an argument as given."""
    arguments: Sequence[str] = crawl_arguments(newsroom, folder, *settings)
    return scrapy(folder, *(f"seeds={seeds}" if one.startswith("seeds=") else one for one in arguments))


def host_of(newsroom: Newsroom, name: str) -> str:
    return f"{name}.localhost:{newsroom.port}"


def test_urls_without_a_file_and_without_a_scheme(newsroom: Newsroom, tmp_path: Path) -> None:
    bare, whole = host_of(newsroom, "zhengfu"), f"http://{host_of(newsroom, 'wanbao')}/"
    done = crawl_from(newsroom, tmp_path, f"{bare},{whole} include=/2024/", "STALL_SECONDS=0.5")
    assert done.returncode == 0, done.stderr
    assert f"{bare}: https cannot be had" in done.stderr
    stored = [url for (url,) in rows(tmp_path, "SELECT url FROM v_articles")]
    assert any(url.startswith(f"http://{bare}/") for url in stored)
    assert any(url.startswith(f"{whole}2024/") for url in stored)
    assert not any(url.startswith(f"{whole}2025/") for url in stored)
    refused = rows(tmp_path, "SELECT reason, reason_detail FROM v_dropped WHERE url LIKE '%/2025/%'")
    assert set(refused) == {("excluded", "include=/2024/")}
    assert rows(tmp_path, f"SELECT reason FROM url WHERE url = 'https://{bare}/'") == [("no https",)]
    url = f"{whole}about.htm"
    why = scrapy(tmp_path, "why", url, "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
    assert "skipped (excluded: include=/2024/)" in why.stdout


def test_period_holds_for_articles_links_and_lists(newsroom: Newsroom, tmp_path: Path) -> None:
    seeds = f"http://{host_of(newsroom, 'wanbao')}/ http://{host_of(newsroom, 'daobao')}/ since=2025-09-01"
    done = crawl_from(newsroom, tmp_path, seeds, "SINCE=2024-06-01", "UNTIL=2024-09-30")
    assert done.returncode == 0, done.stderr
    first, last = rows(tmp_path, "SELECT min(published_at), max(published_at) FROM article")[0]
    assert "2024-06" <= first <= last < "2024-10"
    reasons = dict(rows(tmp_path, _BY_REASON))
    assert reasons["too old"] > 10
    assert reasons["too new"] > 5
    asked = rows(
        tmp_path, "SELECT count(*) FROM url WHERE url LIKE '%wanbao%/202_/%' AND visits > 0 AND reason LIKE 'too%'"
    )
    assert asked == [(0,)], "their addresses say their days"
    page_2 = rows(tmp_path, "SELECT state, reason, reason_detail FROM url WHERE url LIKE '%/list/life/2'")
    assert page_2 == [("skipped", "too old", "as all items of the list")], "its lines say their days"
    done = crawl_from(newsroom, tmp_path, seeds, "SINCE=2024-01-01", "UNTIL=2024-09-30")
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path, "SELECT min(published_at) FROM article")[0][0] < "2024-06", "what was too old waits again"


def test_seed_that_is_taken_out_rests_and_it_is_said(newsroom: Newsroom, tmp_path: Path) -> None:
    one, two = (f"http://{host_of(newsroom, name)}/" for name in ("wanbao", "daobao"))
    first = crawl_from(newsroom, tmp_path, f"{one} {two}", "MAX_PAGES_PER_RUN=8")
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE kind = 'page' AND visits > 0") == [(8,)]
    assert "not in the seeds" not in first.stderr
    assert "Go on:  the same command fetches the next 8 pages\n" in first.stderr
    second = crawl_from(newsroom, tmp_path, two, "MAX_PAGES_PER_RUN=4")
    resting = rows(tmp_path, "SELECT count(*) FROM v_dropped WHERE reason = 'not in seeds'")[0][0]
    assert f"1 seed is not in the seeds given ({one}): {resting} URLs rest" in " ".join(second.stderr.split())
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE kind = 'page' AND visits > 0") == [(12,)]
    third = crawl_from(newsroom, tmp_path, f"{one} {two}")
    assert third.returncode == 0, third.stderr
    assert rows(tmp_path, "SELECT count(*) FROM v_dropped WHERE reason = 'not in seeds'") == [(0,)]


def test_seed_that_was_read_to_its_end_is_named_too_when_it_is_taken_out(newsroom: Newsroom, tmp_path: Path) -> None:
    one, two = (f"http://{host_of(newsroom, name)}/" for name in ("wanbao", "daobao"))
    database = ("-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
    assert crawl_from(newsroom, tmp_path, f"{one} {two}", "MAX_DEPTH=0").returncode == 0
    with_both = scrapy(tmp_path, "status", *database).stdout
    second = crawl_from(newsroom, tmp_path, two, "MAX_DEPTH=0")
    said = " ".join(second.stderr.split())
    assert f"1 seed is not in the seeds given ({one}): 0 URLs rest" in said
    assert "what was fetched is not visited again" in said
    assert "none until its seed is given again" in scrapy(tmp_path, "why", one, *database).stdout
    due = [
        int(re.findall(r"(\d+) URLs are to be visited again", text)[0])
        for text in (with_both, scrapy(tmp_path, "status", *database).stdout)
    ]
    assert due[1] < due[0]


def test_pages_of_a_day_end_a_crawl(newsroom: Newsroom, tmp_path: Path) -> None:
    seed = f"http://{host_of(newsroom, 'wanbao')}/"
    for _ in range(2):
        assert crawl_from(newsroom, tmp_path, seed, "MAX_PAGES_PER_DAY=5").returncode == 0
    assert rows(tmp_path, "SELECT day_pages, pages FROM budget") == [(5, 5)]


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("SINCE=yesterday", "SINCE is 'yesterday'; it takes a day such as 2024-05-01, or a time before now"),
        ("UNTIL=2024-13-01", "UNTIL is '2024-13-01'; it takes a day"),
        ("MAX_PAGES_PER_DAY=-1", "MAX_PAGES_PER_DAY is '-1'; it takes a number, 0 or more"),
    ],
)
def test_wrong_periods_and_limits_are_refused(newsroom: Newsroom, tmp_path: Path, setting: str, sentence: str) -> None:
    done = crawl_from(newsroom, tmp_path, "http://127.0.0.1:1/", setting)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_period_that_ends_before_it_begins_is_refused(newsroom: Newsroom, tmp_path: Path) -> None:
    done = crawl_from(newsroom, tmp_path, "http://127.0.0.1:1/", "SINCE=2024-05-02", "UNTIL=2024-05-01")
    assert done.returncode == 2
    assert "UNTIL is 2024-05-01, before SINCE, 2024-05-02" in done.stderr
