"""Search in a database, on both kinds: what is found, in which order, of which story, and what is understood."""

from __future__ import annotations

import dataclasses
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from db.engine.database import Database, open_for_crawl, open_for_reading
from db.records.desk import MarkedArticles
from db.records.keys import fingerprint
from db.search import find
from pipelines.search.every import EveryMatch
from pipelines.search.query import asks_for_marks
from pipelines.search.records import Hit, SearchQuery, SearchResult
from pipelines.search.search import SearchOptions, count_by_day, search
from pipelines.search.stored import StandingQuery
from tests.crawler.web.newsstand import Newsstand, Story
from tests.postgres import clear
from tests.table import each_row

pytestmark = pytest.mark.dialects

NOW = 1_718_000_000.0
"""10 June 2024."""
HARBOUR = "昨天上午，新港码头迎来第一艘集装箱货轮。港务局局长陈海说，今年港口吞吐量有望增长一成。" * 2
STORIES = [
    Story(
        "https://a.example/1",
        "港口吞吐量创新高",
        HARBOUR,
        "李四",
        "新华社",
        "财经",
        published_at="2024-05-02T08:00+08:00",
    ),
    Story(
        "https://b.example/1", "港口吞吐量创新高", HARBOUR, "", "新华社", "要闻", published_at="2024-05-02T10:00+08:00"
    ),
    Story("https://c.test/1", "港口吞吐量创新高", HARBOUR, "", "新华社", "", published_at="2024-05-03T10:00+08:00"),
    Story(
        "https://a.example/2",
        "渔民返港避风",
        "台风来临之前，三百艘渔船返回港口避风。渔政部门提醒船主加固缆绳，停止一切作业。",
        section="社会",
        published_at="2024-06-05T09:00+08:00",
    ),
    Story(
        "https://b.example/2",
        "大橋通車典禮",
        "跨海大橋今天上午舉行通車典禮，市長表示兩岸往來從此只要二十分鐘，附近居民放鞭炮慶祝。",
        language="zh-Hant",
        published_at="2023-11-20T09:00+08:00",
    ),
    Story(
        "https://c.test/2",
        "Bridges closed after storm",
        "Three bridges over the river were closed after the storm. Engineers inspect every bridge before it opens.",
        "Ada Byron",
        "Herald",
        "local",
        "en",
        published_at="2024-03-01T12:00+00:00",
    ),
    Story(
        "https://c.test/3",
        "市图书馆开放夜场",
        "市图书馆从本月起开放夜场，读者可以借阅到晚上十点，周末还有讲座。",
        description="馆长谈夜间开放与志愿者",
        tags="阅览、自习室",
    ),
    Story(
        "https://a.example/3",
        "联合国大会闭幕",
        "大会在纽约闭幕。各国代表谈到联合国的改革，也谈到气候。",
        published_at="2024-04-01",
    ),
    Story(
        "https://a.example/4",
        "国联合作大会",
        "国联与合作社的大会在省城举行，代表谈到粮食的价格和联合经营。",
        published_at="2024-04-02",
    ),
]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def stand(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A database of a few stories, one of them in three papers."""
    if request.param == "sqlite":
        path = tmp_path_factory.mktemp("search") / "news.db"
        shutil.copy(request.getfixturevalue("sqlite_tables"), path)
        url = f"sqlite:///{path}"
    else:
        url = request.getfixturevalue("postgres_tables")
    opened = open_for_crawl(url)
    newsstand = Newsstand(opened, NOW)
    newsstand.begin()
    newsstand.store(STORIES)
    opened.close()
    reading = open_for_reading(url)
    yield reading
    reading.close()
    if request.param == "postgres":
        clear(url)


def ask(stand: Database, words: str = "", *, options: SearchOptions | None = None, **values: Any) -> SearchResult:
    query = SearchQuery(words, **values)
    return stand.read(lambda connection: search(connection, query, options or SearchOptions(), NOW))


def urls(result: SearchResult) -> list[str]:
    return [hit.url.removeprefix("https://") for hit in result.hits]


def marked(hit: Hit) -> set[str]:
    return {span.text for span in (*hit.title, *hit.snippet) if span.is_match}


def test_story_is_found_once_with_its_reprints(stand: Database) -> None:
    found = ask(stand, "港口吞吐量")
    assert urls(found)[0] == "a.example/1"
    assert [hit.reprints for hit in found.hits][:2] == [2, 0]
    assert (len(urls(found)), found.total, found.partial) == (2, 1, 1)
    assert found.is_exact
    assert "港口吞吐量" in marked(found.hits[0])


@each_row(
    ("sort", "expected"),
    [
        ("newest", ["a.example/2", "c.test/1", "a.example/4", "a.example/3", "c.test/2", "b.example/2"]),
        ("oldest", ["b.example/2", "c.test/2", "a.example/3", "a.example/4", "a.example/1", "a.example/2"]),
    ],
)
def test_stories_are_sorted_by_time(stand: Database, sort: str, expected: list[str]) -> None:
    dated = [url for url in urls(ask(stand, sort=sort)) if url != "c.test/3"]
    assert dated == expected
    second = urls(ask(stand, sort=sort, limit=2, offset=2))
    assert second == urls(ask(stand, sort=sort))[2:4]


def test_most_reprinted_story_comes_first(stand: Database) -> None:
    found = ask(stand, sort="reprinted")
    assert [hit.reprints for hit in found.hits] == [2, 0, 0, 0, 0, 0, 0]
    assert urls(found)[0] == "c.test/1"  # its newest article


def test_sorted_words_keep_total_and_snippets(stand: Database) -> None:
    found = ask(stand, "港口", sort="oldest")
    assert urls(found) == ["a.example/1", "a.example/2"]
    assert (found.total, found.partial, found.listed, found.is_exact) == (2, 0, 2, True)
    assert all("港口" in marked(hit) for hit in found.hits)
    assert urls(ask(stand, "“港口吞吐量创新高”", sort="newest")) == ["c.test/1"]


def test_unknown_order_is_refused(stand: Database) -> None:
    with pytest.raises(ValueError, match="relevance, newest, oldest and reprinted are allowed"):
        ask(stand, "港口", sort="best")


@each_row("words", ["lang:zh", "lang:zh -图书馆", "after:2023-11-21 OR 大桥", "“港口”"])
@each_row("sort", ["newest", "oldest"])
def test_first_by_time_are_right_of_more_than_are_read(
    stand: Database, monkeypatch: pytest.MonkeyPatch, words: str, sort: str
) -> None:
    everything = urls(ask(stand, words, sort=sort))
    assert len(everything) >= 2
    with monkeypatch.context() as fewer:
        for name in ("_COUNTED", "_VERIFIED"):
            fewer.setattr(f"pipelines.search.search.{name}", 2)
        found = ask(stand, words, sort=sort, is_thorough=True)
    assert urls(found) == everything[: len(found.hits)]
    assert (bool(found.hits), found.is_exact, found.notes) == (True, False, [])


@each_row("sort", ["newest", "oldest"])
def test_every_match_is_in_the_order_of_time_to_the_end(
    stand: Database, monkeypatch: pytest.MonkeyPatch, sort: str
) -> None:
    query = SearchQuery("lang:zh", sort=sort)
    ids = [hit.id for hit in ask(stand, "lang:zh", sort=sort).hits]
    with monkeypatch.context() as fewer:
        fewer.setattr("pipelines.search.every._RANKED", 2)
        fewer.setattr("pipelines.search.every._AT_ONCE", 2)
        every = EveryMatch(stand.read, query, SearchOptions(), NOW, is_ranked=True, reprints=False)
        assert list(chain(*every)) == ids
        fewer.setattr("pipelines.search.every.MOST_CANDIDATES", 4)
        every = EveryMatch(stand.read, query, SearchOptions(), NOW, is_ranked=True, reprints=True)
        first = list(chain(*every))
    assert [each for each in first if each in ids] == ids[: len(set(first) & set(ids))]
    assert len(first) == 4
    assert every.notes


@each_row(("name", "count"), [("a.example", 4), ("a.", 4), ("a_example", 0), ("%", 0), ("a%e", 0), ("!", 0)])
def test_part_of_a_site_is_taken_as_it_is_written(stand: Database, name: str, count: int) -> None:
    assert ask(stand, site=name).total == count
    assert ask(stand, f"site:{name}").total == count


def test_comparison_counts_what_a_search_does(stand: Database) -> None:
    for words in ("", "港口", "site:a.example", "-港口", "“港口”", "港口 OR 大桥", "图书馆", "什么港口", "!?"):
        counted = stand.read(lambda connection: count_by_day(connection, SearchQuery(words), NOW))  # noqa: B023
        found = ask(stand, words, is_thorough=True, sort="newest")
        days = Counter[int]()
        for row in found.volume:
            days[row.day] += row.stories
        assert (counted.total, counted.is_exact) == (found.total, found.is_exact), words
        assert {row.day: row.stories for row in counted.volume} == days


@each_row(
    ("values", "expected"),
    [
        ({"site": "b.example", "either": (("site", "a.example"),)}, {"a1", "a2", "a3", "a4", "b2"}),
        ({"without": (("site", "a.example"), ("site", "b.example"))}, {"c1", "c2", "c3"}),
        ({"language": "en", "either": (("language", "zh-Hant"),)}, {"b2", "c2"}),
        ({"without": (("language", "zh-Hans"),)}, {"b2", "c2"}),
        ({"section": "财经", "either": (("section", "社会"),)}, {"a1", "a2"}),
        ({"source": "Herald", "either": (("source", "新华社"),), "without": (("site", "c.test"),)}, {"a1"}),
        ({"without": (("source", "新华社"), ("section", "local"))}, {"a2", "a3", "a4", "b2", "c3"}),
    ],
)
def test_either_of_several_values_and_none_of_others(
    stand: Database, values: dict[str, Any], expected: set[str]
) -> None:
    found = urls(ask(stand, sort="oldest", **values))
    assert {url[0] + url[-1] for url in found} == expected
    assert len(found) == len(expected)


@each_row("words", ["", "港口", "site:a.example", "港口 渔船 OR 桥"])
def test_volume_and_facets_have_the_total(stand: Database, words: str) -> None:
    found = ask(stand, words, is_thorough=True, limit=1)
    assert sum(row.stories for row in found.volume) == found.total > 0
    for name in ("site", "language", "month"):
        assert sum(facet.articles for facet in found.facets[name]) == found.total
    assert found.total == ask(stand, words).total


def test_more_matches_than_are_sorted_or_counted_are_told(stand: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.search.search._COUNTED", 4)
    found = ask(stand, sort="reprinted")
    assert not found.is_exact
    assert found.notes == ["only the 4 articles that were indexed last are in this order"]
    assert [hit.reprints for hit in ask(stand, sort="oldest").hits] == [0, 0, 0, 0]  # exact, if not all


def test_more_is_counted_than_is_ranked(stand: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.search.search._CANDIDATES", 1)
    few, all_of_them = ask(stand, "港口"), ask(stand, "港口", is_thorough=True)
    assert (few.total, few.is_exact) == (1, False)
    assert (all_of_them.total, all_of_them.is_exact, all_of_them.listed) == (2, True, few.listed)
    assert sum(row.stories for row in all_of_them.volume) == 2


def test_filter_shows_the_reprint_that_fulfils_it(stand: Database) -> None:
    assert urls(ask(stand, "港口吞吐量", site="c.test")) == ["c.test/1"]
    assert urls(ask(stand, "吞吐量", section="要闻")) == ["b.example/1"]
    assert urls(ask(stand, "吞吐量", since="2024-05-03")) == ["c.test/1"]


@each_row(
    ("words", "best"),
    [
        ("渔船 台风", "a.example/2"),
        ("大桥通车", "b.example/2"),
        ("通車典礼", "b.example/2"),
        ("bridge", "c.test/2"),
        ("BRIDGES storms", "c.test/2"),
        ("Ada Byron", "c.test/2"),
        ("图书馆", "c.test/3"),
        ("志愿者", "c.test/3"),
        ("自习室", "c.test/3"),
        ("新华社 港口", "a.example/1"),
        ("「国联合作」 大会", "a.example/4"),
        ("联合国改革 site:a.example", "a.example/3"),
    ],
)
def test_words_find(stand: Database, words: str, best: str) -> None:
    found = ask(stand, words)
    assert urls(found)[0] == best
    assert marked(found.hits[0]) or words in {"Ada Byron", "志愿者", "自习室"}  # in no text that is shown
    assert found.hits[0].score == pytest.approx(sum(found.hits[0].signals.values()))


@each_row(
    ("words", "expected"),
    [
        ("“国联合”", {"a.example/4"}),
        ("“联合国” 大会", {"a.example/3"}),
        ("“联合经营” 气候", set()),
        ('"大橋 今天"', set()),
        ("“大桥今天上午”", {"b.example/2"}),
        ("「桥」", {"b.example/2"}),
        ('"the river were"', {"c.test/2"}),
        ('"he river wer"', set()),
        ('"river closed"', set()),
        ("港口 -渔船", {"a.example/1"}),
        ("港口 -新华社", {"a.example/2"}),
        ("港口 -吞吐量有望", {"a.example/2"}),
        ("代表 -(联合 AND 粮食)", {"a.example/3"}),
        ("渔船 OR 联合国", {"a.example/2", "a.example/3"}),
        ("“联合国” OR “图书馆” OR storms", {"a.example/3", "c.test/2", "c.test/3"}),
        ("(渔船 OR 联合国) AND 大会", {"a.example/3"}),
        ("渔船 AND 联合国", set()),
        ("title:大會", {"a.example/3", "a.example/4"}),
        ("title:bridge", {"c.test/2"}),
        ("title:engineers", set()),
        ("title:(台风 OR 避风)", {"a.example/2"}),
        ("author:李四", {"a.example/1"}),
        ("author:byron -title:port", {"c.test/2"}),
        ('author:"Ada Byron" OR author:张三', {"c.test/2"}),
        ("source:Herald OR title:闭幕", {"a.example/3", "c.test/2"}),
        ("大会 -site:a.example", set()),
        ("(site:c.test OR after:2024-06) -lang:en", {"a.example/2", "c.test/1", "c.test/3"}),
        ("class:none OR 渔船", {"a.example/2"}),
        ("section:社会 -台风", set()),
        ("site:a.example after:2024-04 before:2024-05 -合作社", {"a.example/1", "a.example/3"}),
        ("near:2(bridges river)", {"c.test/2"}),
        ("near:3(river bridge)", {"c.test/2"}),
        ("near:0(bridges river)", set()),
        ("near:6(联合国 气候)", {"a.example/3"}),
        ("near:5(联合国 气候)", set()),
        ("near:5(“a phrase that is longer than any of the titles which are stored” bridges)", set()),
        ("near:9(“closed after” engineers inspect)", {"c.test/2"}),
        ("-港口 -大会 -site:c.test", {"b.example/2"}),
    ],
)
def test_operators_are_exact(stand: Database, words: str, expected: set[str]) -> None:
    found = ask(stand, words)
    assert set(urls(found)) == expected
    assert (found.total, found.partial, found.is_exact) == (len(expected), 0, True)
    assert sum(facet.articles for facet in found.facets["language"]) == len(expected)


def test_stories_with_some_of_the_words_follow_uncounted(stand: Database) -> None:
    found = ask(stand, "代表 联合 粮食")
    assert (found.total, found.partial) == (1, 1)
    assert urls(found) == ["a.example/4", "a.example/3"]
    assert sum(facet.articles for facet in found.facets["site"]) == 1
    assert urls(ask(stand, "代表 联合 粮食", offset=1)) == ["a.example/3"]
    asked = ask(stand, "哪位代表谈到联合国和粮食？")
    assert (asked.total, asked.partial) == (2, 0)


def test_only_the_newest_of_many_are_verified(stand: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.search.search._VERIFIED", 1)
    found = ask(stand, "“大会”")
    assert (found.total, found.is_exact) == (1, False)


@each_row(
    ("filters", "expected"),
    [
        ({"site": "a.example"}, {"a.example/1", "a.example/2", "a.example/3", "a.example/4"}),
        ({"site": "https://www.C.test/any?x=1"}, {"c.test/1", "c.test/2", "c.test/3"}),
        ({"site": "news.c.test"}, {"c.test/1", "c.test/2", "c.test/3"}),
        ({"site": "exampl", "since": "2024-06"}, {"a.example/2"}),
        ({"site": "nowhere"}, set()),
        ({"language": "zh", "until": "2023"}, {"b.example/2"}),
        ({"language": "zh-Hant"}, {"b.example/2"}),
        ({"language": "en"}, {"c.test/2"}),
        ({"language": "../.."}, set()),
        ({"source": "Herald"}, {"c.test/2"}),
        ({"section": "社会"}, {"a.example/2"}),
        ({"since": "2024年5月", "until": "2024/5"}, {"c.test/1"}),
        ({"since": "2024-04-01", "until": "2024-04-01"}, {"a.example/3"}),
        ({"since": "7d"}, {"a.example/2", "c.test/3"}),
        ({"since": "2024-02-01", "until": "2024年3月31日"}, {"c.test/2"}),
    ],
)
def test_filters_are_exact_and_forgiving(stand: Database, filters: dict[str, str], expected: set[str]) -> None:
    found = ask(stand, **filters)
    assert set(urls(found)) == expected
    assert found.total == len(expected)


@each_row("day", ["2024-02-30", "soon", "2024-13", "99999-01-01", "1e9d", "'; DROP TABLE url"])
def test_time_that_is_none_is_refused_in_a_sentence(stand: Database, day: str) -> None:
    with pytest.raises(ValueError, match=r"no date; write"):
        ask(stand, "港口", since=day)


def test_newest_articles_without_words(stand: Database) -> None:
    found = ask(stand, limit=3)
    assert urls(found) == ["a.example/2", "c.test/1", "a.example/4"]
    assert (found.total, found.is_exact) == (7, True)
    assert urls(ask(stand, limit=3, offset=3))[0] == "a.example/3"
    assert urls(ask(stand, site="a.example", limit=2)) == ["a.example/2", "a.example/1"]


def test_pages_hold_each_story_once(stand: Database) -> None:
    whole = urls(ask(stand, "大会 港口 大桥 bridge 图书馆", limit=9))
    parts = [urls(ask(stand, "大会 港口 大桥 bridge 图书馆", limit=2, offset=n))[:2] for n in range(0, 9, 2)]
    assert [one for part in parts for one in part] == whole
    assert len(set(whole)) == len(whole) == 7


def test_facets_count_stories(stand: Database) -> None:
    facets = ask(stand, "港口").facets
    assert dict(facets["site"]) == {"a.example": 2}
    assert dict(facets["month"]) == {"2024-05": 1, "2024-06": 1}
    assert dict(facets["source"]) == {"新华社": 1}
    assert ask(stand).facets["language"][0].value == "zh-Hans"


def test_weights_and_clicks_change_the_order(stand: Database) -> None:
    key = fingerprint("https://a.example/2")
    clicked = SearchOptions({"clicks": 50}, {key: 1.0})
    assert urls(ask(stand, "哪个港口吞吐量创新高"))[0] == "a.example/1"
    assert urls(ask(stand, "哪个港口吞吐量创新高", options=clicked))[0] == "a.example/2"
    assert urls(ask(stand, "哪个港口吞吐量创新高", options=SearchOptions({"freshness": 50})))[0] == "a.example/2"
    assert ask(stand, "港口吞吐量").hits[0].signals["links"] > 0
    assert ask(stand, "港口吞吐量", options=SearchOptions({"links": 0})).hits[0].signals["links"] == 0


@each_row(
    "words",
    [
        "！？…",
        '\\"',
        "*",
        "NEAR(a b)",
        "a and",
        "'; DROP TABLE article; --",
        "的",
        "😀😀",
        "\0",
        "”",
        "港" * 10_000,
        "x\ud800y",
        "%_\\",
    ],
)
def test_any_query_has_an_answer(stand: Database, words: str) -> None:
    found = ask(stand, words)
    assert found.total >= len(found.hits)
    assert found.is_exact or found.hits
    assert len(words) < 1_000 or any("first" in note for note in found.notes)


def test_notes_say_what_was_understood(stand: Database) -> None:
    assert ask(stand, "！？").notes == ["the query has no word in it"]
    assert ask(stand, site="nowhere").notes == ["no site has 'nowhere' in its name"]
    assert ask(stand, site="exampl").notes == ["site: a.example, b.example"]
    assert ask(stand, site="a.example").notes == []


def test_site_of_many_labels_is_looked_for_a_few_times(stand: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    sought: list[str] = []
    monkeypatch.setattr("db.search.find.sites", lambda _connection, name: sought.append(name) or [])
    assert ask(stand, site="a." * 100 + "b").notes
    assert len(sought) == 5
    assert sought[-1] == "a.b"


def test_database_without_articles(sqlite_tables: str, tmp_path: Path) -> None:
    path = tmp_path / "news.db"
    shutil.copy(sqlite_tables, path)
    database = open_for_reading(f"sqlite:///{path}")
    assert [ask(database, words).hits for words in ("", "港口")] == [[], []]
    assert ask(database, since="2024").total == 0
    database.close()


def test_heat_and_updates_count_when_they_have_weights(stand: Database) -> None:
    """Ten readers of the second of two equally good stories: 10 / (10 + 10) of the weight."""
    usual = ask(stand, "代表")
    assert set(usual.hits[0].signals) == {"text", "freshness", "clicks", "links"}
    last = usual.hits[-1]
    hot = ask(stand, "代表", options=SearchOptions({"heat": 5.0, "updates": 1.0}, readers={last.id: 10}))
    assert hot.hits[0].id == last.id
    assert hot.hits[0].signals["heat"] == pytest.approx(2.5)
    assert {hit.signals["updates"] for hit in hot.hits} == {0.0}  # each was visited once


def test_changes_of_a_text_are_its_updates(sqlite_tables: str, tmp_path: Path) -> None:
    """Two changes in four days are half a change a day: .5 / (.5 + 1) of the weight."""
    path = tmp_path / "news.db"
    shutil.copy(sqlite_tables, path)
    database = open_for_crawl(f"sqlite:///{path}")
    newsstand = Newsstand(database, NOW)
    newsstand.begin()
    newsstand.store(STORIES[:1])
    database.write(lambda one: one.exec_driver_sql("UPDATE url SET brought = 2, watched = 345600"))
    (hit,) = ask(database, "港口", options=SearchOptions({"updates": 0.9})).hits
    database.close()
    assert hit.signals["updates"] == pytest.approx(0.3)


RELATED = [
    Story("https://a.example/1", "Ferry strike", "The strike went on. Ferry pilots met. The ferry pilots want more."),
    Story("https://b.example/2", "Second day", "On the ferry pilots are few. No ferry leaves. All ferry pilots rest."),
    Story("https://c.test/3", "Training", "A school for pilots opens in town. It is the first of its kind here."),
    Story("https://c.test/4", "Weather", "Snow falls on the hills. The roads are open again after the night."),
]


def test_related_words_are_searched_too_and_named(sqlite_tables: str, tmp_path: Path) -> None:
    path = tmp_path / "news.db"
    shutil.copy(sqlite_tables, path)
    database = open_for_crawl(f"sqlite:///{path}")
    newsstand = Newsstand(database, NOW)
    newsstand.begin()
    newsstand.store([dataclasses.replace(one, language="en") for one in RELATED])
    plain, expanded = ask(database, "ferry"), ask(database, "ferry", expand=True)
    assert (set(urls(plain)), plain.also) == ({"a.example/1", "b.example/2"}, [])
    assert (urls(expanded)[-1], expanded.also) == ("c.test/3", ["pilot"])
    assert set(urls(expanded)[:2]) == set(urls(plain))
    assert ask(database, '"ferry"', expand=True).also == []
    known = SearchOptions(synonyms={"lorry": [("road", 0.9)]})
    found = ask(database, "lorry", options=known, expand=True)
    assert (urls(found), found.also) == (["c.test/4"], ["road"])
    assert (ask(database, "lorry", options=known).total, ask(database, "lorry", expand=True).total) == (0, 0)
    database.close()


# ---------------------------------------------------------------- standing queries


@each_row("words", ["港口", "港口 -台风", '"港口"', "title:港口 OR 代表", "", "site:a.example 港口"])
def test_standing_query_finds_what_fulfils_a_search(stand: Database, words: str) -> None:
    """Asked of all that is stored, or of what was stored last, one a story."""
    standing = StandingQuery(SearchQuery(words))
    stored = stand.read(lambda connection: find.stored_after(connection, 0, 1_000))
    hits = stand.read(lambda connection: standing.among(connection, stored, NOW))
    newest = stand.read(lambda connection: standing.newest(connection, 100, NOW))
    ids = [hit.article_id for hit in hits]
    assert [number for number, _ in stored] == sorted(number for number, _ in stored)
    assert set(newest) <= set(ids)
    assert len(newest) == ask(stand, words, limit=50).total


# ---------------------------------------------------------------- what readers have marked

MARKED = MarkedArticles(
    starred=frozenset(fingerprint(f"https://{url}") for url in ("a.example/2", "b.example/2", "c.test/1")),
    read=frozenset(fingerprint(f"https://{url}") for url in ("a.example/2", "c.test/2")),
    labels={
        "ports": frozenset(fingerprint(f"https://{url}") for url in ("a.example/1", "a.example/2")),
        "to read": frozenset({fingerprint("https://c.test/3"), fingerprint("https://a.example/2"), 17}),
    },
    names={"ports": "Ports", "to read": "to read"},
)


@each_row(
    ("words", "values", "expected"),
    [
        ("is:starred", {}, {"a2", "b2", "c1"}),
        ("", {"starred": "1"}, {"a2", "b2", "c1"}),
        ("is:read", {}, {"a2", "c2"}),
        ("is:unread", {}, {"a1", "a3", "a4", "b2", "c3"}),
        ("-is:read", {}, {"a1", "a3", "a4", "b2", "c3"}),
        ("", {"unread": "1", "starred": "1"}, {"b2", "c1"}),
        ("is:starred -is:unread", {}, {"a2"}),
        ("-is:starred", {}, {"a1", "a3", "a4", "c2", "c3"}),
        ("", {"without": (("starred", "1"),)}, {"a1", "a3", "a4", "c2", "c3"}),
        ("label:PORTS", {}, {"a1", "a2"}),
        ('label:"to read"', {}, {"a2", "c3"}),
        ('label:ports label:"to read"', {}, {"a2"}),
        ("", {"label": "Ports", "either": (("label", "to  read"),)}, {"a1", "a2", "c3"}),
        ("", {"label": "ports", "without": (("label", "to read"),)}, {"a1"}),
        ("label:nothing", {}, set()),
        ("is:starred 港口", {}, {"a2", "c1"}),
        ("港口 -is:starred", {}, {"a1"}),
        ("(is:starred OR label:ports) 港口", {}, {"a1", "a2"}),
        ("(is:starred OR is:read)", {}, {"a2", "b2", "c1", "c2"}),
        ("-(is:starred OR is:read)", {}, {"a1", "a3", "a4", "c3"}),
        ("is:starred site:a.example after:2024-06", {}, {"a2"}),
        ("is:starred “三百艘渔船”", {}, {"a2"}),
        ("is:starred", {"since": "2025"}, set()),
    ],
)
def test_marks_narrow_like_all_conditions(
    stand: Database, words: str, values: dict[str, Any], expected: set[str]
) -> None:
    found = ask(stand, words, sort="oldest", marked=MARKED, is_thorough=True, **values)
    assert {url[0] + url[-1] for url in urls(found)} == expected
    assert (found.total, found.is_exact) == (len(expected), True)
    # without an order another article of the story in three papers may be listed
    others = {url[0] + url[-1] for url in urls(ask(stand, words, marked=MARKED, **values))[: found.total]}
    assert others - {"a1", "b1", "c1"} == expected - {"a1", "c1"}
    assert len(others) == len(expected)
    query = SearchQuery(words, marked=MARKED, **values)
    every = EveryMatch(stand.read, query, SearchOptions(), NOW, is_ranked=True, reprints=False)
    assert len([key for ids in every for key in ids]) == len(expected)
    newest = stand.read(lambda connection: StandingQuery(query).newest(connection, 20, NOW))
    assert len(newest) == len(expected)


def test_marks_are_counted_as_facets(stand: Database) -> None:
    facets = ask(stand, sort="newest", marked=MARKED, is_thorough=True).facets
    assert {name: facets[name][0].articles for name in ("starred", "read", "unread")} == {
        "starred": 3,
        "read": 2,
        "unread": 5,
    }
    # of the story in three papers another article is listed than the one with the label
    assert [tuple(each) for each in facets["label"]] == [("to read", 2), ("Ports", 1)]
    assert "label" not in ask(stand).facets


@each_row("words", ["is:starred", "-is:read", "label:a", "(label:a OR 港口)", "port OR is:unread"])
def test_marks_need_a_desk(stand: Database, words: str) -> None:
    assert asks_for_marks(SearchQuery(words))
    with pytest.raises(ValueError, match="there are no marks here to search by"):
        ask(stand, words)
    assert not asks_for_marks(SearchQuery("this is: all"))


def test_wrong_marks_are_told(stand: Database) -> None:
    with pytest.raises(ValueError, match="starred is 'yes'; only 1 is allowed"):
        ask(stand, marked=MARKED, starred="yes")
    with pytest.raises(ValueError, match="is: takes starred, read or unread"):
        ask(stand, "port is:stared", marked=MARKED)
    assert ask(stand, "label:none", marked=MARKED).notes == ["no article has the label 'none'"]


def test_marked_articles_are_found_however_old(stand: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound on what is looked at is no bound on them: they are looked up, not met among the newest."""
    monkeypatch.setattr("pipelines.search.search._COUNTED", 3)
    monkeypatch.setattr("pipelines.search.search._VERIFIED", 3)
    monkeypatch.setattr("db.search.find._LOOKED_UP", 1)
    assert urls(ask(stand, "is:starred 大会 OR 大桥", marked=MARKED)) == ["b.example/2"]
    for words in ("is:starred", "(is:starred OR is:starred)"):
        found = ask(stand, words, marked=MARKED, is_thorough=True)
        assert {url[0] + url[-1] for url in urls(found)} == {"a2", "b2", "c1"}
        assert found.is_exact
    assert not ask(stand, "is:unread", marked=MARKED, is_thorough=True).is_exact
