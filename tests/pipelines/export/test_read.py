"""Reading what is stored: in order, from a key on, typed; the same from both databases."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest
from sqlalchemy import Connection, text

from db.engine.database import open_for_reading
from db.engine.errors import WrongDatabase
from db.records.article import COLUMNS, LISTS
from pipelines.export.read import (
    TABLES,
    key_text,
    read_articles,
    read_duplicates,
    read_links,
    read_sites,
    reading,
)
from pipelines.export.records import StoredArticle, StoredImage
from tests.db.small_crawl import HOSTILE
from tests.table import each_row

URLS = ["a/1", "b/1", "c/1", "a/2", "b/2", "d/1", "d/2", "a/3", "c/2", "c/3"]
"""In the order in which they were stored."""


def short(url: str) -> str:
    return url.removeprefix("http://").replace(".example", "")


def urls(articles: object) -> list[str]:
    return [short(one.url) for one in articles]


def ask(url: str, query: Callable[[Connection], Any]) -> Any:
    with closing(open_for_reading(url)) as database:
        return database.read(query)


def test_articles_come_in_the_order_of_storing_with_the_values_of_the_view(crawled: str) -> None:
    found = list(read_articles(crawled))
    assert urls(found) == URLS
    assert [one.number for one in found] == sorted({one.number for one in found})
    rows = [row for page in read_articles(crawled).pages() for _, row in page]
    view = ask(crawled, lambda connection: connection.execute(text("SELECT * FROM v_articles ORDER BY number")).all())
    assert rows == [tuple(row) for row in view]
    assert tuple(one.name for one in dataclasses.fields(StoredArticle)) == (*COLUMNS, "html", "images")


def test_records_are_typed_and_frozen(crawled: str) -> None:
    first, copy, later, *_ = read_articles(crawled)
    assert first.authors == ("张三", "李四")
    assert first.published_utc == datetime(2025, 3, 1, 0, 0, tzinfo=UTC)
    assert first.first_seen == datetime(2025, 1, 1, tzinfo=UTC)
    assert first.images == (StoredImage("http://a.example/1.jpg", "大桥"), StoredImage("http://a.example/2.jpg", ""))
    assert (first.duplicate_of, copy.duplicate_of) == (None, first.url)
    assert (copy.text, copy.html) == (first.text, first.html), "a copy has its text from there"
    assert (later.tags, later.authors, later.images) == (("桥", "工程"), (), ())
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.title = ""  # type: ignore[misc]


@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        ({"site": "a.example"}, ["a/1", "a/2", "a/3"]),
        ({"site": "https://www.b.example/x"}, ["b/1", "b/2"]),
        ({"language": "en"}, ["d/1"]),
        ({"language": "zh", "site": "c.example"}, ["c/1", "c/2", "c/3"]),
        ({"since": "2025-03-05"}, ["d/1", "a/3", "c/2", "c/3"]),
        ({"since": date(2025, 3, 5), "until": "2025-03-05"}, ["d/1", "a/3"]),
        ({"until": "2025-03-01"}, ["a/1", "d/2"]),  # one that states no time was found in January
        ({"since": datetime(2025, 3, 5, 14, tzinfo=UTC)}, ["a/3", "c/2", "c/3"]),
        ({"since": "1h"}, []),
        ({"since": "2025年3月7日"}, ["c/3"]),
        ({"query": "工程队"}, ["a/1", "b/1", "c/1"]),
        ({"query": "工程隊 困难"}, ["c/1"]),
        ({"query": "修老桥", "until": "2025-03-02"}, ["a/1", "b/1"]),
        ({"query": "passenger ferries"}, ["d/1"]),
        ({"query": '"ferry was late"'}, ["d/1"]),
        ({"query": '"late was ferry"'}, []),
        ({"query": "title:修"}, ["a/1", "b/1", "c/1"]),
        ({"query": "老桥 (site:nothing.example OR 没有这个词)"}, []),
        ({"query": "老桥 site:c.example"}, ["c/1"]),
        ({"query": "老桥 source:甲报 until:2025-03-01"}, ["a/1"]),
    ],
)
def test_conditions(crawled: str, conditions: dict, found: list[str]) -> None:
    assert urls(read_articles(crawled, **conditions)) == found


@pytest.mark.parametrize("name", TABLES)
def test_every_key_goes_on_behind_its_row(crawled: str, name: str) -> None:
    table = dataclasses.replace(TABLES[name], at_once=3)
    rows = [row for page in reading(TABLES[name], crawled).pages() for row in page]
    assert len(rows) >= 2
    assert [row for page in reading(table, crawled).pages() for row in page] == rows
    at = table.check_columns(()).index(table.key)
    assert [str(values[at]) for _, values in rows] == [key_text(key) for key, _ in rows]
    for n in (0, len(rows) // 2, len(rows) - 1):
        rest = [row for page in reading(table, crawled, after=key_text(rows[n][0])).pages() for row in page]
        assert rest == rows[n + 1 :]


def test_articles_of_a_query_go_on_behind_a_key(crawled: str) -> None:
    first, second, third = read_articles(crawled, query="修老桥")
    assert urls(read_articles(crawled, query="修老桥", after=str(first.number))) == ["b/1", "c/1"]
    assert urls(read_articles(crawled, query="修老桥", after=str(third.number))) == []
    table = dataclasses.replace(TABLES["articles"], at_once=1)
    pages = list(reading(table, crawled, query='修老桥 "修老桥"').pages(["number", "title"]))
    assert [row for page in pages for _, row in page] == [(one.number, one.title) for one in (first, second, third)]


def test_links_name_pages_and_places(crawled: str) -> None:
    found = {(short(one.source or ""), short(one.target or ""), one.block) for one in read_links(crawled)}
    assert found == {
        ("a/5", "a/1", "list"),
        ("a/5", "a/2", "list"),
        ("a/5", "outside/x", "body"),
        ("c/5", "a/1", "body"),
    }
    assert [one.target for one in read_links(crawled, site="c.example")] == ["http://a.example/1"]
    assert list(read_links(crawled, since="2030-01-01")) == []
    assert len(list(read_links(crawled, until="2030-01-01", since="2020-01-01"))) == 4


def test_duplicates_name_both_articles(crawled: str) -> None:
    found = {(short(one.url or ""), short(one.of_url or "")): one for one in read_duplicates(crawled)}
    assert {pair: one.kind for pair, one in found.items()} == {("b/1", "a/1"): "same", ("c/1", "a/1"): "edited"}
    one = found["c/1", "a/1"]
    assert (one.site, one.of_site, one.title, one.of_title) == ("c.example", "a.example", "修老桥之后", "修老桥")
    assert one.of_published_utc == datetime(2025, 3, 1, tzinfo=UTC)
    assert [short(one.url or "") for one in read_duplicates(crawled, site="b.example")] == ["b/1"]


def test_sites_are_those_of_the_view(crawled: str) -> None:
    assert {one.site: one.articles for one in read_sites(crawled)} == {
        "a.example": 3,
        "b.example": 2,
        "c.example": 3,
        "d.example": 2,
    }
    assert [one.site for one in read_sites(crawled, site="b.example", since="2020-01-01", until="2030-01-01")] == [
        "b.example"
    ]


def test_tables_are_typed(crawled: str) -> None:
    table = read_articles(crawled).to_arrow()
    assert table.schema.field("published_utc").type == pa.timestamp("us", tz="UTC")
    assert table.schema.field("id").type == pa.string()
    assert {table.schema.field(name).type for name in LISTS} == {pa.list_(pa.string())}
    assert table.schema.field("site").type == pa.dictionary(pa.int32(), pa.string())
    assert table.column("title").to_pylist()[4] == HOSTILE
    assert table.num_rows == len(URLS)
    frame = read_articles(crawled).to_pandas(["site", "published_utc", "images"])
    assert frame.groupby("site", observed=True).size().to_dict() == {
        "a.example": 3,
        "b.example": 2,
        "c.example": 3,
        "d.example": 2,
    }
    assert str(frame["published_utc"].dtype) == "datetime64[us, UTC]"
    assert read_articles(crawled, since="1h").to_arrow().schema == table.schema, "no rows: the same columns"


@each_row(
    ("arguments", "part"),
    [
        ({"since": "2025-02-30"}, "'2025-02-30' is no date"),
        ({"query": "!?"}, "has no word in it"),
        ({"until": "soon"}, "'soon' is no date"),
        ({"since": "2025-03-05", "until": "2025年2月"}, "the time ends on 2025-02-28, before it begins, 2025-03-05"),
        ({"since": date(2025, 3, 5), "until": datetime(2025, 3, 4, tzinfo=UTC)}, "before it begins, 2025-03-05"),
        ({"after": "x"}, "no key of articles"),
        ({"site": "::"}, "takes a name"),
    ],
)
def test_arguments_that_say_nothing_are_refused(arguments: dict, part: str) -> None:
    with pytest.raises(ValueError, match=part):
        read_articles("news.db", **arguments)


def test_reading_of_what_is_not_there_is_refused(crawled: str, tmp_path: object) -> None:
    with pytest.raises(ValueError, match=r"has no site e\.example"):
        list(read_articles(crawled, site="e.example"))
    with pytest.raises(ValueError, match="no column 'colour'"):
        read_articles(crawled).to_arrow(["colour"])
    with pytest.raises(ValueError, match="language says nothing of links"):
        reading(TABLES["links"], crawled, language="zh")
    with pytest.raises(WrongDatabase, match="there is no database"):
        next(iter(read_articles(f"{tmp_path}/none.db")))
