"""`-o` and FEEDS: what cannot be written is said at the start, or ends the crawl with one sentence."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from crawler.demo.server import Newsroom
from tests.crawler.crawling import crawl, crawl_arguments, rows, scrapy


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "/proc/x.jsonl"), "-o /proc/x.jsonl cannot be written (No such file or directory)"),
        (("-O", "/proc/x/y.csv"), "-o /proc/x/y.csv cannot be written (No such file or directory)"),
        (("-o", "/dev/null/x:json"), "-o /dev/null/x cannot be written"),
        (("-o", "{folder}:csv"), "-o {folder} cannot be written (Is a directory)"),
        (("-s", 'FEEDS={{"/proc/y.json": {{"format": "json"}}}}'), "-o /proc/y.json cannot be written"),
        (("-o", "nowhere://x.csv"), "-o nowhere://x.csv: nothing is written to such a URL"),
        (("-o", "{folder}/%(colour)s.csv"), "there is nothing of the name 'colour'"),
    ],
)
def test_export_that_cannot_be_written_is_refused_before_anything_starts(
    tmp_path: Path, arguments: tuple[str, str], words: str
) -> None:
    (tmp_path / "seeds.txt").write_text("http://127.0.0.1:9/", encoding="utf-8")
    given = [one.format(folder=tmp_path) for one in arguments]
    settings = ("-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db", "-s", "ALLOW_NETWORKS=127.0.0.1:9")
    done = scrapy(tmp_path, "crawl", "news", "-a", f"seeds={tmp_path}/seeds.txt", *settings, *given)
    assert done.returncode == 2
    assert words.format(folder=tmp_path) in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "news.db").exists()


def test_export_in_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    with Newsroom() as newsroom:
        feed = tmp_path / "deep" / "down" / "%(name)s.json"
        done = scrapy(tmp_path, *crawl_arguments(newsroom, tmp_path, "MAX_PAGES=30"), "-o", str(feed))
    items = json.loads((tmp_path / "deep" / "down" / "news.json").read_text(encoding="utf-8"))
    assert done.returncode == 0, done.stderr
    assert [(len(items),)] == rows(tmp_path, "SELECT count(*) FROM article")


def test_export_goes_on_under_one_header(tmp_path: Path) -> None:
    with Newsroom() as newsroom:
        for limit in ("MAX_PAGES=20", "MAX_PAGES=40"):
            done = scrapy(tmp_path, *crawl_arguments(newsroom, tmp_path, limit), "-o", str(tmp_path / "all.csv"))
            assert done.returncode == 0, done.stderr
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert rows(tmp_path, "SELECT count(*) FROM run") == [(2,)]
    assert {item["url"] for item in written} == {url for (url,) in rows(tmp_path, "SELECT url FROM v_articles")}


@pytest.mark.parametrize("kind", ["json", "xml"])
def test_document_that_cannot_be_added_to_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / f"all.{kind}").write_text("[]", encoding="utf-8")
    seeds = ("seeds=http://127.0.0.1:9/", "-s", "ALLOW_NETWORKS=127.0.0.1:9")
    done = scrapy(tmp_path, "crawl", "news", "-a", *seeds, "-o", f"{tmp_path}/all.{kind}")
    assert done.returncode == 2
    assert "name a .jsonl or .csv file" in done.stderr
    assert (tmp_path / f"all.{kind}").read_text(encoding="utf-8") == "[]"


def test_full_disk_ends_the_crawl_with_how_to_read_what_is_stored(tmp_path: Path) -> None:
    with Newsroom() as newsroom:
        seeds = newsroom.seeds()[:1]
        done = scrapy(tmp_path, *crawl_arguments(newsroom, tmp_path, seeds=seeds), "-o", "/dev/full:jsonl")
        assert done.returncode == 4
        assert "Traceback" not in done.stderr
        (told,) = [line for line in done.stderr.splitlines() if "/dev/full" in line]
        assert "cannot be written (No space left on device)" in told
        command = told.partition("to a file: ")[2]
        assert command == f"scrapy export articles --output articles.csv -s DATABASE_URL={tmp_path}/news.db"
        assert rows(tmp_path, "SELECT exit_code FROM run") == [(4,)]
        assert rows(tmp_path, "SELECT count(*) FROM v_articles")[0][0] > 0
        assert crawl(newsroom, tmp_path, seeds=seeds).returncode == 0, "the same command goes on"
