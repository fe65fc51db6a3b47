from __future__ import annotations

from pathlib import Path

import pytest

from crawler.learn.readers import ReadersProfile, read_articles
from db.engine.database import Database, open_for_crawl
from db.records.click import Click
from db.records.keys import fingerprint
from db.search.clicks import ClickFile, beside
from tests.crawler.web.newsstand import Newsstand, Story

LONG, SHORT = "https://a.example/1", "https://a.example/2"
STORIES = [
    Story(LONG, "Harbour bridge", "The bridge over the harbour opened.", language="en"),
    Story(SHORT, "Market prices", "Vegetables cost less this week.", language="en"),
]


@pytest.fixture
def stand(tmp_path: Path, sqlite_tables: str) -> Database:
    path = tmp_path / "news.db"
    path.write_bytes(Path(sqlite_tables).read_bytes())
    database = open_for_crawl(f"sqlite:///{path}")
    newsstand = Newsstand(database, 1_718_000_000.0)
    newsstand.begin()
    newsstand.store(STORIES)
    return database


def stay(file: ClickFile, url: str, seconds: float, sessions: range) -> None:
    for session in sessions:
        file.add(Click(session, 1, fingerprint(url), 1, 0, seconds, is_ended=True))


def test_profile_follows_what_is_read(stand: Database, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/news.db"
    file, readers = ClickFile(beside(url)), ReadersProfile(url)
    assert readers.news() is None
    stay(file, LONG, 200.0, range(10))
    stay(file, SHORT, 3.0, range(10, 20))
    first = readers.news()
    assert first is not None
    assert {"harbour", "bridge"} <= set(first)
    assert "market" not in first
    assert readers.news() is None  # nobody has read anything since
    stay(file, SHORT, 290.0, range(20, 90))
    later = readers.news()
    assert later is not None
    assert "market" in later
    (read,) = stand.read(lambda connection: read_articles(connection, file))[:1]
    assert read.title == "Market prices"
    stand.close()


def test_file_that_cannot_be_read_changes_nothing(stand: Database, tmp_path: Path) -> None:
    stand.close()
    (tmp_path / "clicks.db").write_bytes(b"no database" * 100)
    assert ReadersProfile(f"sqlite:///{tmp_path}/news.db").news() is None
