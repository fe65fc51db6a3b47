"""Which of the times that a page shows and states is when its article was published."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from pipelines.parse_page import parse_page
from tests.table import each_row

NOW = datetime(2025, 7, 2, 4, 0, tzinfo=UTC)
TEXT = (
    "市交通运输局召开新闻发布会，通报了地铁三号线南延工程的最新进展，目前全线已有九座车站完成主体结构施工。",
    "据介绍，工程总投资约一百二十亿元，线路全长二十六公里，建成后从城南新区到市中心只需二十五分钟。",
    "负责人表示，施工期间将采取分段围挡、错峰运输等措施，尽量减少对沿线居民出行的影响。",
)
SHOWN, ISO = "<div>2025年6月30日 18:05</div>", "2025-06-30T18:05+08:00"
STATED = "2025-06-30T18:05:09+08:00"


def dated(above: str = "", head: str = "", below: str = "", path: str = "/news/1.html", top: str = "") -> str:
    """The publish time of a page."""
    text = "".join(f"<p>{line}</p>" for line in TEXT)
    page = (
        f'<html lang="zh-CN"><head><meta charset="utf-8"><title>地铁三号线南延工程进展顺利</title>'
        f"{head}</head><body>{top}"
        f"<div><h1>地铁三号线南延工程进展顺利</h1>{above}<div>{text}</div></div>{below}</body></html>"
    )
    return parse_page(page.encode(), f"https://news.example.cn{path}", fetched_at=NOW).metadata.published_at


@each_row(
    ("host", "language", "shown", "precise", "utc"),
    [
        ("news.example.cn", "zh-CN", "2025年6月30日", "2025-06-30", "2025-06-29 16:00:00"),
        ("news.example.cn", "zh-CN", "2025年6月30日 18:05", "2025-06-30T18:05+08:00", "2025-06-30 10:05:00"),
        ("news.example.de", "de", "30. Juni 2025", "2025-06-30", "2025-06-29 22:00:00"),
        ("news.example.com", "en", "June 30, 2025", "2025-06-30", "2025-06-29 16:00:00"),
        ("news.example.ru", "ru", "30 июня 2025, 18:05", "2025-06-30T18:05+03:00", "2025-06-30 15:05:00"),
        ("news.example.ru", "ru", "30 июня 2012, 18:05", "2012-06-30T18:05+04:00", "2012-06-30 14:05:00"),
        ("news.example.ar", "es", "10 de enero de 2008, 18:05", "2008-01-10T18:05-02:00", "2008-01-10 20:05:00"),
        ("news.example.ar", "es", "10 de enero de 2025, 18:05", "2025-01-10T18:05-03:00", "2025-01-10 21:05:00"),
        ("news.example.pl", "pl", "30 czerwca 2025 (18:05)", "2025-06-30T18:05+02:00", "2025-06-30 16:05:00"),
        ("news.example.pl", "pl", "PAP | 30 cze 25 18:05", "2025-06-30T18:05+02:00", "2025-06-30 16:05:00"),
        ("news.example.uk", "en", "18:05 - 30th, Jun 2025", "2025-06-30T18:05+01:00", "2025-06-30 17:05:00"),
    ],
)
def test_time_is_as_precise_as_shown_and_in_utc_for_comparison(
    host: str, language: str, shown: str, precise: str, utc: str
) -> None:
    text = "".join(f"<p>{line}</p>" for line in TEXT)
    page = f'<html lang="{language}"><meta charset="utf-8"><title>一</title><h1>一</h1><div>{shown}</div>{text}</html>'
    found = parse_page(page.encode(), f"https://{host}/news/1.html", fetched_at=NOW).metadata
    assert (found.published_at, found.published_utc) == (precise, utc)


def linked(**values: object) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": "NewsArticle"} | values)}</script>'


@each_row(
    "line",
    [
        "2025年6月30日 18:05 更新时间：2025年7月1日 09:00",
        "更新时间：2025年7月1日 09:00 发布时间：2025年6月30日 18:05",
        "2025-06-30 18:05 发布（2025-07-01 09:00 更新）",
        "Updated July 1, 2025 9:00 | Published June 30, 2025 18:05",
        "UPDATED July 1, 2025 9:00 | PUBLISHED June 30, 2025 18:05",
        "修改日期：2025-07-01 09:00</div><div>日期：2025-06-30 18:05",
        "2025-06-30 18:05</div><div>最后更新：2025-07-01 09:00",
    ],
)
def test_published_is_not_changed(line: str) -> None:
    assert dated(f"<div>{line}</div>") == ISO


def test_time_of_a_change_is_better_than_none() -> None:
    assert dated("<div>更新于 2025-07-01 09:00</div>") == "2025-07-01T09:00+08:00"
    changed = '<meta property="article:modified_time" content="2025-07-01T09:00:00+08:00">'
    assert dated(head=changed) == "2025-07-01T09:00:00+08:00"
    assert dated(head=changed, path="/2025/0630/c1.html") == "2025-06-30"


@each_row(
    "parts",
    [
        {"below": "<div>版权所有 © 2009-2025 某网 页面生成时间：2025-07-02 11:59:58</div>"},
        {"below": '<ul><li><a href="/a">相关新闻一则</a> 2025-07-01 08:00</li></ul>'},
        {"below": '<ul><li><a href="/a">相关新闻</a><time datetime="2025-07-01T08:00:00+08:00">昨天</time></li></ul>'},
        {"top": "<div>今天是2025年7月2日 星期三</div>"},
        {"above": "<div>活动时间：2025年6月28日 09:00</div>"},
    ],
)
def test_times_of_something_else(parts: dict[str, str]) -> None:
    assert dated(**parts) == ""
    assert dated(**parts, path="/2025/06/30/a.html") == "2025-06-30"
    assert dated(**(parts | {"above": SHOWN + parts.get("above", "")})) == ISO


@each_row("shown", ["2025年12月30日 18:05", "2025-02-30 18:05", "0001-01-01 00:00:00", "9" * 300])
def test_times_that_cannot_be(shown: str) -> None:
    assert dated(f"<div>{shown}</div>") == ""


@each_row(
    "value",
    ["9999-12-31T00:00:00Z", "2025-02-30T10:00:00Z", "null", "{{date}}", "1" * 3000, 0, None, {"a": [1]}, 10**300],
)
def test_nonsense_stated_for_machines_is_not_heard(value: object) -> None:
    assert dated(SHOWN, linked(datePublished=value)) == ISO


def test_time_of_the_answer_is_not_heard_nor_a_local_time_called_utc() -> None:
    assert dated(SHOWN, '<meta name="date" content="Wed, 02 Jul 2025 04:00:00 GMT">') == ISO
    assert dated(SHOWN, linked(datePublished="2025-06-30T18:05:00Z")) == ISO
    assert dated(SHOWN, linked(datePublished="2025-06-30T10:05:00Z")) == "2025-06-30T10:05:00+00:00"


@each_row(
    "block",
    [
        '{"@type":"NewsArticle","headline":"他说"好"","datePublished":"%s"}',
        '{"@type":"NewsArticle","datePublished":"%s",}',
        '/*<![CDATA[*/{"@type":"NewsArticle","datePublished":"%s"}/*]]>*/',
        '{"@context":"https://e.cn/cambrian.jsonld","@id":"https://news.example.cn/news/1.html","pubDate":"%s"}',
        '{"@graph":[{"@type":"WebSite"},{"@type":"WebPage","datePublished":"%s"}]}',
        '{"@type":"NewsArticle","dateModified":"%s"}',
        '[{"@type":"NewsArticle","headline":"另一条","url":"/b","datePublished":"2020-01-01T10:00:00Z"},'
        '{"@type":"NewsArticle","headline":"地铁三号线南延工程进展顺利","datePublished":"%s"}]',
    ],
)
def test_json_ld_as_it_is_written(block: str) -> None:
    assert dated(head=f'<script type="application/ld+json">{block % STATED}</script>') == STATED


@each_row("name", ["citation_date", "publishedDate", "og:pubdate", "DC.created", "newsdate", "post_date"])
def test_names_of_meta_elements_are_understood(name: str) -> None:
    head = f'<meta name="{name}" content="{STATED}">'
    assert dated(head=head) == STATED
    assert dated("<div>2025-06-30 17:00</div>", head) == "2025-06-30T17:00+08:00"  # such names may mean another save


def test_names_that_mean_something_else_are_not() -> None:
    for name in ("expirationdate", "event_start_time", "copyright_date", "valid-until-date"):
        assert dated(head=f'<meta name="{name}" content="{STATED}">') == ""


def test_times_told_in_a_list_are_those_of_others() -> None:
    others = "".join(f"<div>{n}小时前</div>" for n in (1, 2, 3, 4))
    assert dated(others) == ""
    assert dated("<div>3小时前</div>") == "2025-07-02T09:00+08:00"


@each_row(
    ("above", "iso"),
    [
        # what readers see is "2 days ago"
        ("<em>发表于 <span title='2025-6-30 18:05'>2&nbsp;天前</span></em>", ISO),
        ("<div>张三 注册于 2011-3-2 10:00</div><div>发表于 2025-6-30 18:05</div>", ISO),
        (f"<p>30.6.2025 - {TEXT[0]}</p>", "2025-06-30"),
    ],
)
def test_time_where_forums_and_agencies_put_it(above: str, iso: str) -> None:
    assert dated(above) == iso


def test_day_in_the_headline_is_not_that_of_the_article() -> None:
    page = (
        f"<title>2024年12月31日大桥合龙纪实</title><h1>2024年12月31日大桥合龙纪实</h1><p>2025-06-30</p>{''.join(TEXT)}"
    )
    assert parse_page(page.encode(), "https://e.cn/1.html", fetched_at=NOW).metadata.published_at == "2025-06-30"


def test_time_of_a_comment_below_is_not_that_of_the_article() -> None:
    below = "<div>网友 2025-07-01 09:00</div>"
    assert dated("<div>2025-06-30 18:05</div>", below=below) == ISO


GUESSED = "<div>06-30 18:05</div>"


def read(
    above: str = "", head: str = "", path: str = "/news/1.html", title: str = "地铁三号线南延工程进展顺利"
) -> tuple:
    """Time, precision and origin of a page."""
    text = "".join(f"<p>{line}</p>" for line in TEXT)
    page = f'<html lang="zh-CN"><meta charset="utf-8"><title>{title}</title>{head}<h1>{title}</h1>{above}{text}</html>'
    found = parse_page(page.encode(), f"https://news.example.cn{path}", fetched_at=NOW).metadata
    return found.published_at, found.published_precision, found.published_from


def test_year_that_is_left_out_is_a_guess() -> None:
    assert read(GUESSED) == (ISO, "guess", "visible")
    assert read("<div>6月30日</div>") == ("2025-06-30", "guess", "visible")
    assert read("<div>7月30日</div>") == ("2024-07-30", "guess", "visible")


@each_row(
    ("head", "expected"),
    [
        ('<meta name="articleDate" content="20230329">', ("2023-03-29", "day", "meta")),
        ('<meta name="date" content="2023-03-29">', ("2023-03-29", "day", "meta")),
        (linked(datePublished="2023-03-29"), ("2023-03-29", "day", "json-ld")),
        (linked(dateModified="2023-03-29T10:00:00+08:00"), ("2023-03-29T10:00:00+08:00", "second", "json-ld")),
        ('<meta name="DC.date.modified" content="2023-03-29">', ("2023-03-29", "day", "meta")),
        ("<script>var publishTime = '2023-03-29 10:00'</script>", ("2023-03-29T10:00+08:00", "minute", "script")),
        # of that day it knows the clock
        ('<meta name="articleDate" content="20230630">', ("2023-06-30T18:05+08:00", "minute", "visible")),
        (linked(datePublished="2023-06-30T18:05:00Z"), ("2023-06-30T18:05+08:00", "minute", "visible")),
    ],
)
def test_guess_comes_after_what_is_stated_for_machines(head: str, expected: tuple[str, str, str]) -> None:
    assert read(GUESSED, head) == expected


@each_row(
    ("path", "expected"),
    [
        ("/2012/08/09/a.html", ("2012-08-09", "day", "url")),
        ("/2012/06/30/a.html", ("2012-06-30T18:05+08:00", "minute", "visible")),
        ("/2012/06/a.html", ("2012-06-30T18:05+08:00", "minute", "visible")),
        ("/2012/a.html", ("2012-06-30T18:05+08:00", "guess", "visible")),
        ("/2012/08/a.html", ("", "", "")),
        ("/1234567/a.html", (ISO, "guess", "visible")),
    ],
)
def test_guess_comes_after_the_url(path: str, expected: tuple[str, str, str]) -> None:
    assert read(GUESSED, path=path) == expected


@each_row("above", [f"{GUESSED}<div>2023年3月29日</div>", f"<div>2023年3月29日</div>{GUESSED}"])
def test_guess_comes_after_a_line_with_a_year(above: str) -> None:
    assert read(above) == ("2023-03-29", "day", "visible")


def test_year_in_the_title_is_that_of_the_same_day() -> None:
    assert read("<div>6月30日</div>", title="市政府2023年6月30日会议纪要") == ("2023-06-30", "day", "visible")


@each_row(
    ("language", "today"),
    [
        ("fa", "چهارشنبه ۱۱ تیر ۱۴۰۴"),
        ("fa", "چهارشنبه ۱۱ تیر ۱۴۰۴ - ۰۷:۲۵"),
        ("hi", "बुधवार, 2 जुलाई 2025"),
        ("th", "วันพุธที่ 2 กรกฎาคม 2568"),
        ("ar", "الأربعاء 2 يوليو 2025"),
        ("ru", "среда, 2 июля"),
    ],
)
def test_today_in_the_head_of_a_page_is_not_the_time_of_the_article(language: str, today: str) -> None:
    text = "".join(f"<p>{line}</p>" for line in TEXT)
    page = f'<html lang="{language}"><meta charset="utf-8"><title>题目</title><div>{today}</div><a href="/">A</a>'
    page += f"<h1>地铁三号线南延工程进展顺利</h1>{text}</html>"
    host = {"fa": "e.ir", "th": "e.th"}.get(language, "e.com")
    assert parse_page(page.encode(), f"https://{host}/1.html", fetched_at=NOW).metadata.published_at == ""


def test_bare_day_inside_the_text_is_of_what_is_told() -> None:
    assert read(f"<p>{TEXT[0]}</p><p>{TEXT[1]}</p><p>6月30日</p>") == ("", "", "")


def test_capture_of_an_archive_dates_nothing() -> None:
    assert dated(path="/web/20250102030405/https://e.example.cn/news/1.html") == ""
    assert dated(path="/web/20250102030405id_/https://e.example.cn/2024/05/06/1.html") == "2024-05-06"


def test_time_of_another_article_is_not_that_of_this_one() -> None:
    assert dated("<div>山海客 最新推荐文章于 2025-02-02 22:51:05 发布</div>") == ""


def test_condition_may_stand_before_the_time_in_a_script() -> None:
    script = "<script>window.ct = xml ? getXmlValue('ori_create_time.DATA') : '1751277900';</script>"
    assert dated(head=script)[:16] in {"2025-06-30T10:05", "2025-06-30T18:05"}


def test_embedded_post_does_not_date_a_page_that_states_its_time() -> None:
    page = (
        '<script type="application/ld+json">{"@type": "WebPage", "datePublished": "2025-06-30T18:05:09+08:00"}</script>'
    )
    post = "<blockquote><p>某人在社交平台上说的一句话</p><p>2025年3月1日 08:00</p></blockquote>"
    assert dated(head=page, below=post) == STATED
    assert dated(SHOWN, head=page.replace("06-30", "05-30"), below=post) == ISO


@each_row(
    ("shown", "stated", "precise", "utc"),
    [
        ("June 30, 2025 4:21 PM", "", "2025-06-30T16:21", "2025-06-30 16:21:00"),
        ("June 30, 2025 4:21 PM ET", "", "2025-06-30T16:21-04:00", "2025-06-30 20:21:00"),
        ("June 30, 2025 4:21 PM UTC", "", "2025-06-30T16:21+00:00", "2025-06-30 16:21:00"),
        # what is stated without a zone has that of the same time shown, and the other way round
        ("June 30, 2025 4:21 PM ET", "2025-06-30T16:21:09", "2025-06-30T16:21-04:00", "2025-06-30 20:21:00"),
        ("June 30, 2025 4:21 PM", "2025-06-30T16:21:09", "2025-06-30T16:21:09", "2025-06-30 16:21:09"),
        ("June 30, 2025 4:21 PM", "2025-06-30T20:21:09Z", "2025-06-30T20:21:09+00:00", "2025-06-30 20:21:09"),
        ("June 30, 2025 4:21 PM", "2025-06-30T00:00:00+08:00", "2025-06-30T16:21+08:00", "2025-06-30 08:21:00"),
        # counted back from the request
        ("3 hours ago", "", "2025-07-02T01:00+00:00", "2025-07-02 01:00:00"),
        # but for the time that stands behind the words
        (
            "<abbr title='2025-07-01T22:07:30Z'>3 hours ago</abbr>",
            "",
            "2025-07-01T22:07:30+00:00",
            "2025-07-01 22:07:30",
        ),
        (
            "<time datetime='2025-06-30T16:21-04:00'>Monday</time>",
            "2025-06-30T16:21:00",
            "2025-06-30T16:21-04:00",
            "2025-06-30 20:21:00",
        ),
    ],
)
def test_zone_that_nobody_tells_is_none(shown: str, stated: str, precise: str, utc: str) -> None:
    prose = "The pier of Oldport was opened after two years of work, and the first ferry landed there at noon. "
    head = f"<title>A pier for Oldport</title>{linked(datePublished=stated) if stated else ''}"
    text = "".join(f"<p>{prose} {number} guests came.</p>" for number in ("Forty", "Fifty", "Sixty"))
    page = f'<html lang="en"><head>{head}</head><body><h1>A pier for Oldport</h1><p>{shown}</p>{text}'
    about = parse_page(page.encode(), "https://news.example.com/pier", fetched_at=NOW).metadata
    assert (about.published_at, about.published_utc) == (precise, utc)
