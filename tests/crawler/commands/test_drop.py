"""`scrapy drop`: what it says, asks, deletes and refuses."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from crawler.demo.server import Newsroom
from db.engine.database import open_for_crawl
from tests.crawler.crawling import Finished, command, crawl, rows


def drop(folder: Path, *arguments: str) -> Finished:
    return command("drop", *arguments, "-s", f"DATABASE_URL=sqlite:///{folder}/news.db")


def counted(folder: Path, sql: str) -> int:
    return int(rows(folder, sql)[0][0])


def test_drop_of_hosts_and_seeds(tmp_path: Path) -> None:
    with Newsroom() as newsroom:
        one, two = (f"http://{name}.localhost:{newsroom.port}/" for name in ("wanbao", "zhengfu"))
        assert crawl(newsroom, tmp_path, seeds=[one, two]).returncode == 0
    host = one.split("/")[2]
    own = f"FROM v_articles WHERE url LIKE '{one}%'"
    stored = counted(tmp_path, f"SELECT count(*) {own}")
    assert stored > 10
    with closing(open_for_crawl(f"sqlite:///{tmp_path}/news.db")):  # as a crawl does
        beside = drop(tmp_path, host)
    assert (beside.returncode, beside.stdout) == (2, ""), "refused before anything is asked"
    asked = drop(tmp_path, host)
    assert asked.returncode == 3
    assert f"host {host}: " in asked.stdout
    assert f"{stored} articles stay" in asked.stdout
    assert "nothing was deleted; say yes, or --yes" in asked.stderr
    done = drop(tmp_path, host, "--yes")
    assert done.returncode == 0, done.stderr
    assert "Take it out of the seeds, too" in done.stdout
    assert counted(tmp_path, f"SELECT count(*) {own}") == stored
    assert counted(tmp_path, f"SELECT count(*) FROM url WHERE url LIKE '{one}%'") == stored
    done = drop(tmp_path, "--articles", "--yes", two)
    assert done.returncode == 0, done.stderr
    assert counted(tmp_path, f"SELECT count(*) FROM v_articles WHERE url LIKE '{two}%'") == 0
    assert counted(tmp_path, f"SELECT count(*) FROM v_articles WHERE duplicate_of LIKE '{two}%'") == 0
    checked = command("duplicates", "--check", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
    assert checked.returncode == 0, checked.stdout
    again = drop(tmp_path, two, "--yes")
    assert again.returncode == 2
    assert f"has no seed {two}" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "name one host or seed"),
        (("a.cn", "b.cn"), "name one host or seed"),
        (("http://",), "'http://' is neither a host nor a URL"),
        (("a.cn",), "there is no database"),
    ],
)
def test_wrong_use_is_explained(tmp_path: Path, arguments: tuple[str, ...], sentence: str) -> None:
    done = drop(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert not (tmp_path / "news.db").exists()
