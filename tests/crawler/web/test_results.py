"""Orders, filters of several values, the list, all values of a facet and the volume: counted by plain SQL beside."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from lxml import html

from tests.crawler.web.asking import Asker
from tests.table import each_row

WORD = "医院"


@pytest.fixture(scope="module")
def stories(stand: Path) -> list[dict[str, object]]:
    """All articles with their site, day and cluster."""
    with closing(sqlite3.connect(f"file:{stand}?mode=ro", uri=True)) as opened:
        opened.row_factory = sqlite3.Row
        rows = opened.execute(
            "SELECT a.id, a.cluster_id, a.title, s.name AS site, a.language, a.published_at, c.size, "
            "unixepoch(a.published_utc) AS time, coalesce(h.text, a.text) AS text FROM article a "
            "JOIN site s ON s.id = a.site_id LEFT JOIN cluster c ON c.id = a.cluster_id "
            "LEFT JOIN article h ON h.id = a.text_from"
        )
        return [dict(row) for row in rows]


def read(asker: Asker, path: str, status: int = 200) -> html.HtmlElement:
    answer = asker.get(path)
    assert answer.status_code == status, answer.text[:500]
    return html.document_fromstring(answer.text)


def hits(asker: Asker, query: str) -> list[dict]:
    found: list[dict] = []
    path = f"/api/search?{query}&limit=100"
    while path:
        answer = asker.get(path).json()
        found += answer["hits"]
        path = answer["next"]
    return found


def clusters(rows: list[dict[str, object]]) -> set[object]:
    return {row["cluster_id"] for row in rows}


@each_row("sort", ["newest", "oldest"])
def test_times_are_in_order_over_all_pages(asker: Asker, stories: list[dict], sort: str) -> None:
    found = hits(asker, f"sort={sort}")
    times = [datetime.fromisoformat(hit["published_utc"]).replace(tzinfo=UTC).timestamp() for hit in found]
    choose = max if sort == "newest" else min
    expected = [choose(row["time"] for row in stories if row["cluster_id"] == key) for key in clusters(stories)]
    assert times == sorted(expected, reverse=sort == "newest")
    assert len(times) > 20


def test_most_reprinted_come_first(asker: Asker, stories: list[dict]) -> None:
    found = [hit["reprints"] for hit in hits(asker, "sort=reprinted")]
    sizes = {row["cluster_id"]: (row["size"] or 1) - 1 for row in stories}
    assert found == sorted(sizes.values(), reverse=True)
    assert found[0] > found[-1]


def test_words_are_sorted_too_and_keep_their_total(asker: Asker) -> None:
    by_score, oldest = (asker.get(f"/api/search?q={quote(WORD)}{more}").json() for more in ("", "&sort=oldest"))
    assert by_score["total"] == oldest["total"] > 1
    times = [hit["published_utc"] for hit in oldest["hits"]]
    assert times == sorted(times)
    assert any(hit["snippet_matches"] for hit in oldest["hits"])


def test_wrong_order_is_refused(asker: Asker) -> None:
    answer = asker.get("/api/search?sort=best")
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].endswith("relevance, newest, oldest and reprinted are allowed")
    assert "可用的值" in read(asker, "/?sort=best&lang=zh", 400).text_content()


def test_several_values_mean_either_and_a_dash_means_none(asker: Asker, stories: list[dict]) -> None:
    (one, _), (two, _) = Counter(row["site"] for row in stories).most_common(2)
    either = {row["cluster_id"] for row in stories if row["site"] in {one, two}}
    others = {row["cluster_id"] for row in stories if row["site"] not in {one, two}}
    assert asker.get(f"/api/search?site={one}&site={two}").json()["total"] == len(either)
    assert asker.get(f"/api/search?-site={one}&-site={two}").json()["total"] == len(others)
    some = clusters([row for row in stories if row["site"] != one and row["language"] == "en"])
    some |= clusters([row for row in stories if row["site"] != one and row["language"] == "zh-Hant"])
    assert asker.get(f"/api/search?-site={one}&language=en&language=zh-Hant").json()["total"] == len(some)


def test_excluding_is_what_the_query_language_excludes(asker: Asker, stories: list[dict]) -> None:
    (site, _), *_ = Counter(row["site"] for row in stories if WORD in str(row["text"])).most_common()
    by_field = hits(asker, f"q={quote(WORD)}&-site={site}&sort=oldest")
    by_text = hits(asker, f"q={quote(f'{WORD} -site:{site}')}&sort=oldest")
    assert [hit["id"] for hit in by_field] == [hit["id"] for hit in by_text]
    assert site not in {hit["site"] for hit in by_field}


def test_chips_are_removed_one_by_one(asker: Asker) -> None:
    page = read(asker, "/?site=a.example&site=b.example&-language=en&since=2001")
    links = [urlsplit(link.get("href")).query for link in page.cssselect(".chips.active a.on")]
    assert [parse_qs(link) for link in links] == [
        {"site": ["b.example"], "-language": ["en"], "since": ["2001"]},
        {"site": ["a.example"], "-language": ["en"], "since": ["2001"]},
        {"site": ["a.example", "b.example"], "-language": ["en"]},
        {"site": ["a.example", "b.example"], "since": ["2001"]},
    ]
    kept = [(field.get("name"), field.get("value")) for field in page.cssselect("input[form=find][type=hidden]")]
    assert kept == [("site", "a.example"), ("site", "b.example"), ("-language", "en")]
    (clear,) = (one for one in page.cssselect(".chips.active a") if "on" not in one.get("class").split())
    assert clear.get("href") == "/"


def test_months_are_in_order_of_time(asker: Asker, stories: list[dict]) -> None:
    months = [each["value"] for each in asker.get("/api/search").json()["facets"]["month"]]
    assert months == sorted({str(row["published_at"])[:7] for row in stories}, reverse=True)[: len(months)]


@each_row(("language", "name"), [("en", "English"), ("zh", "英语")])
def test_languages_have_names_in_the_readers_language(asker: Asker, language: str, name: str) -> None:
    page = read(asker, f"/?lang={language}")
    (link,) = (one for one in page.cssselect(".facet-list a") if one.get("href") == "/?language=en")
    assert link.cssselect(".value")[0].text_content() == name


def test_all_values_of_a_facet_can_be_chosen(asker: Asker, stories: list[dict]) -> None:
    page = read(asker, "/values?facet=site&site=herald.example&sort=oldest")
    boxes = {box.get("value"): box.get("checked") is not None for box in page.cssselect("input[type=checkbox]")}
    assert set(boxes) == {row["site"] for row in stories}  # whatever is chosen now
    assert [name for name, is_on in boxes.items() if is_on] == ["herald.example"]
    (sort,) = page.cssselect("form.values input[name=sort]")
    assert sort.get("value") == "oldest"
    found = read(asker, "/values?facet=site&find=HERALD&site=herald.example&site=wanbao.example")
    assert [box.get("value") for box in found.cssselect("input[type=checkbox]")] == ["herald.example"]
    assert [one.get("value") for one in found.cssselect("form.values input[type=hidden][name=site]")] == [
        "wanbao.example"
    ]
    months = read(asker, "/values?facet=month").cssselect(".value-list a")
    assert {link.text for link in months} == {str(row["published_at"])[:7] for row in stories}


def test_list_is_kept_in_a_cookie(asker: Asker) -> None:
    assert not read(asker, "/").cssselect("table.hits-list")
    chosen = asker.get("/?view=list")
    assert len(html.document_fromstring(chosen.text).cssselect("table.hits-list tr.hit")) == 30
    cookie = chosen.headers["set-cookie"].partition(";")[0]
    assert cookie == "view=list"
    again = html.document_fromstring(asker.get(f"/?q={quote(WORD)}", cookie=cookie).text)
    assert again.cssselect("table.hits-list tr.hit .title a")
    assert "view=" not in "".join(link.get("href") for link in again.cssselect(".facet-list a, .pages a"))
    assert asker.get("/?view=cards", cookie=cookie).headers["set-cookie"].startswith("view=cards;")


# ---------------------------------------------------------------- volume


@each_row(("by", "characters"), [("day", 10), ("month", 7)])
def test_timeline_counts_what_sql_counts(asker: Asker, stories: list[dict], by: str, characters: int) -> None:
    newest: dict[object, dict] = {}
    for row in stories:
        if row["cluster_id"] not in newest or row["time"] > newest[row["cluster_id"]]["time"]:
            newest[row["cluster_id"]] = row
    expected = Counter((str(row["published_at"])[:characters], row["site"]) for row in newest.values())
    answer = asker.get(f"/api/timeline?by={by}&stack=site").json()
    bands = {band["value"]: band["counts"] for band in answer["bands"]}
    counted = {
        (start[:characters], site): counts[place]
        for site, counts in bands.items()
        for place, start in enumerate(answer["starts"])
        if counts[place]
    }
    assert None not in bands  # there are six sites or fewer
    assert counted == expected
    assert answer["total"] == len(newest) == sum(answer["counts"])
    assert answer["is_exact"]


@each_row(
    "query", [f"q={quote(WORD)}", f"q={quote('“医院” -学校')}", "site=herald.example&-language=zh-Hans", "since=2001"]
)
def test_timeline_has_the_total_of_the_search(asker: Asker, query: str) -> None:
    one, search = asker.get(f"/api/timeline?{query}").json(), asker.get(f"/api/search?{query}").json()
    assert sum(one["counts"]) == one["total"] == search["total"] > 0
    text = asker.get(f"/timeline.csv?{query}&by={one['by']}").text
    head, *rows = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    assert head == [one["by"], "Stories"]
    assert [(day, int(count)) for day, count in rows] == list(zip(one["starts"], one["counts"], strict=True))
    table = read(asker, f"/?{query}").cssselect(".volume tbody td.number:last-child")
    assert sum(int(cell.text) for cell in table) == one["total"]


def test_columns_narrow_to_their_days(asker: Asker) -> None:
    page = read(asker, f"/?q={quote(WORD)}&by=month")
    for column in page.cssselect(".volume a.column"):
        query = parse_qs(urlsplit(column.get("href")).query)
        assert (query["since"], query["until"]) == ([column.get("data-first")], [column.get("data-last")])
        count = column.get("aria-label").rpartition(": ")[2]
        narrowed = asker.get(f"/api/search?{urlsplit(column.get('href')).query.replace('&by=month', '')}").json()
        assert narrowed["total"] >= int(count)
    assert len(page.cssselect(".volume a.column")) >= 1


@each_row("path", ["/api/timeline?by=hour", "/api/timeline?stack=author", "/timeline.csv?by=hour", "/?by=hour"])
def test_wrong_period_is_refused(asker: Asker, path: str) -> None:
    assert asker.get(path).status_code == 400


# ---------------------------------------------------------------- comparison


def test_comparison_has_the_counts_of_each_search(asker: Asker) -> None:
    words = (WORD, "学校", "site:herald.example")
    query = "&".join(f"q={quote(word)}" for word in words)
    page = read(asker, f"/compare?{query}&by=day")
    links = page.cssselect(".legend a")
    assert [parse_qs(urlsplit(link.get("href")).query) for link in links] == [{"q": [word]} for word in words]
    head, *rows = csv.reader(io.StringIO(asker.get(f"/compare.csv?{query}&by=day").text.removeprefix("\ufeff")))
    assert head == ["day", *words]
    for n, word in enumerate(words, 1):
        alone = asker.get(f"/api/timeline?q={quote(word)}&by=day&sort=newest").json()
        counts = dict(zip(alone["starts"], alone["counts"], strict=True))
        assert {row[0]: int(row[n]) for row in rows if row[n] != "0"} == {day: c for day, c in counts.items() if c}
    cells = [[cell.text for cell in row.cssselect("td")] for row in page.cssselect(".numbers tbody tr")]
    assert cells == [row[1:] for row in reversed(rows)]


def test_shares_of_a_period_are_a_hundred_or_nothing(asker: Asker) -> None:
    query = f"q={quote(WORD)}&q={quote('学校')}&share=1&by=month"
    _, *rows = csv.reader(io.StringIO(asker.get(f"/compare.csv?{query}").text.removeprefix("\ufeff")))
    assert {round(sum(map(float, row[1:])), 1) for row in rows} <= {100.0, 0.0}
    assert any(sum(map(float, row[1:])) for row in rows)
    assert read(asker, f"/compare?{query}").cssselect("svg polyline, svg circle")


def test_sites_are_compared_for_one_search_or_none(asker: Asker, stories: list[dict]) -> None:
    (one, _), (two, _) = Counter(row["site"] for row in stories).most_common(2)
    page = read(asker, f"/compare?site={one}&site={two}")
    for link, site in zip(page.cssselect(".legend a"), (one, two), strict=True):
        assert link.get("href") == f"/?site={site}"
        total = len(clusters([row for row in stories if row["site"] == site]))
        assert f"({total} stories)" in link.getparent().text_content()


@each_row(
    ("query", "status", "said"),
    [
        ("q=a", 200, "Enter two searches or more"),
        ("q=a&q=b&q=c&q=d&q=e&q=f", 400, "at most 5 are allowed"),
        ("q=a&q=(b", 400, "this bracket is not closed"),
        ("q=a&q=b&by=hour", 400, "day, week, month and year are allowed"),
        ("q=xyzzyxyzzy&q=yzzyxyzzyx", 200, "Nothing matches this search"),
    ],
)
def test_comparison_says_what_is_wrong(asker: Asker, query: str, status: int, said: str) -> None:
    assert said in read(asker, f"/compare?{query}", status).cssselect("main")[0].text_content()


def test_csv_of_one_search_is_no_comparison(asker: Asker) -> None:
    assert asker.get("/compare.csv?q=a").status_code == 400


def test_cells_of_a_comparison_are_no_formulas(asker: Asker) -> None:
    head = asker.get("/compare.csv?q=%3D1%2B1&q=b").text.splitlines()[0]
    assert head.removeprefix("\ufeff").split(",")[1] == "'=1+1"
