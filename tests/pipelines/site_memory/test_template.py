"""Pages in the light of their site: what is repeated goes, what was missed comes, and no article is lost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records.reasons import PageReason
from pipelines.document.document import Document, parse
from pipelines.extract import extractor
from pipelines.parse_page import parse_page
from pipelines.records import Extraction, PageKind, ParseResult
from pipelines.site_memory.knowledge import NOTHING, SiteModel, learn, pack
from pipelines.site_memory.template import (
    MAX_TEXTS_OF_PAGE,
    correct,
    find_hints,
    may_correct,
    sample_page,
    text_keys,
)
from pipelines.text_form.render import extraction
from tests.table import each_row

NOW = datetime(2024, 6, 1, tzinfo=UTC)
PEOPLE = ["渔民", "学生", "司机", "护士", "农户", "工人", "店主", "教师", "船员", "木匠", "邮差", "厨师"]
NOTICE = "本网站所载内容均由会员单位提供，读者如有疑问，可在工作日拨打服务台电话咨询，我们将尽快答复。"


def story(n: int, paragraphs: int = 4) -> list[str]:
    who, place = PEOPLE[n % len(PEOPLE)], f"第{n}港区"
    return [
        f"{place}的{who}们昨天说，第{part}批货物已经在清晨运到码头，{who}代表认为价格比去年高出{n + part}个百分点。"
        for part in range(paragraphs)
    ]


def markup(n: int, text: Iterable[str], *, new: bool = False) -> bytes:
    """A page of the site, made from its old or its new template."""
    title, body = f"港区新闻{n}号", "".join(f"<p>{line}</p>" for line in text)
    if new:
        body = f"<main><section class='top'><h1>{title}</h1></section><section class='copy'>{body}</section></main>"
    else:
        body = f"<div class='txt'>{body}<p>{NOTICE}</p></div>"
        body = f"<div class='head'><h1>{title}</h1></div><div class='box'>{body}</div>"
    end = "<div class='end'>港区报社</div>"
    return f"<html><head><title>{title}</title></head><body>{body}{end}</body></html>".encode()


def read(body: bytes, known: SiteModel = NOTHING) -> ParseResult:
    return parse_page(body, "http://h.cn/news/20240501/1234.html", fetched_at=NOW, site_model=pack(known))


def site(count: int = 6, **values: bool) -> SiteModel:
    known = NOTHING
    for n in range(count):
        sample = read(markup(n, story(n), **values), known).sample
        assert sample is not None
        known = learn(known, sample)
    return known


def blocks(document: Document, *parts: str) -> list[int]:
    return [n for n, text in enumerate(document.blocks.texts) if any(part in text for part in parts)]


def test_without_memory_nothing_is_observed() -> None:
    page = parse_page(markup(1, story(1)), "http://h.cn/a/1234.html", fetched_at=NOW)
    assert page.kind == PageKind.ARTICLE
    assert page.sample is None
    assert NOTICE in page.extraction.text


def test_notice_under_every_article_is_taken_out_from_the_second_on() -> None:
    known = NOTHING
    for n in range(4):
        page = read(markup(n, story(n)), known)
        assert page.extraction.text.startswith(story(n)[0])
        assert (NOTICE in page.extraction.text) == (n == 0)
        assert all(line in page.extraction.text for line in story(n))
        assert page.sample is not None
        known = learn(known, page.sample)


def test_memory_makes_the_short_article_under_a_long_notice_readable() -> None:
    page = read(markup(50, story(50, 1)), site())
    assert page.extraction.text == story(50, 1)[0]
    assert "repeated" in page.extraction.evidence


def test_page_of_nothing_but_the_notice_is_left_as_it_is() -> None:
    bare = markup(50, [])
    assert read(bare, site()).extraction.text == read(bare).extraction.text


def test_article_whose_text_is_known_is_not_lost() -> None:
    """Seen at another address, with another headline: each of its paragraphs is on one page of seven."""
    known = site(1)
    again = markup(0, story(0)).replace("港区新闻0号".encode(), "港区新闻九号".encode())
    assert all(line in read(again, known).extraction.text for line in story(0))


@each_row("known, count", [(3, 5), (6, 1)])
def test_paragraphs_that_two_versions_of_a_story_share_stay(known: int, count: int) -> None:
    """A site of a few pages is too small to tell them from notices; four shared paragraphs are no notice."""
    shared = [line.replace("批货物", "批鱼") for line in story(70)]
    model = NOTHING
    for n in range(known):
        sample = read(markup(n, [*story(n), *shared]), NOTHING).sample
        assert sample is not None
        model = learn(model, sample)
    lines = read(markup(40, [*story(40), *shared]), model).extraction.text.split("\n")
    assert sum(line in lines for line in [*shared, NOTICE]) == (count if count > 1 else 0)
    assert set(story(40)) <= set(lines)


def test_model_may_correct_only_what_it_knows_better() -> None:
    known = site()
    with_notice, without = (read(markup(30, text)).sample for text in (story(30), story(30)))
    other = parse_page(markup(31, story(31), new=True), "http://h.cn/31", fetched_at=NOW, site_model=b"").sample
    assert with_notice is not None
    assert without is not None
    assert other is not None
    assert may_correct(known, replace(with_notice, kept=with_notice.texts))
    assert not may_correct(known, replace(without, kept=()))
    assert may_correct(known, replace(without, kept=(), path=(1, 2)))
    assert not may_correct(known, other)


def test_hints_of_a_known_template() -> None:
    known = site()
    document = parse(markup(30, story(30)), "http://h.cn/30")
    hints = find_hints(document, text_keys(document), known)
    notice, text = blocks(document, NOTICE), blocks(document, "批货物")
    assert hints[0][notice] == pytest.approx(known.pages / (known.pages + 1))
    assert not hints[0][text].any()
    assert (hints[1][text] > 0.8).all()
    assert hints[1][blocks(document, "港区报社")] == 0


def test_hints_of_a_new_template_say_nothing_of_the_old_place() -> None:
    document = parse(markup(30, story(30), new=True), "http://h.cn/30")
    hints = find_hints(document, text_keys(document), site())
    assert not hints[1].any()
    own = extractor("density")(document)
    assert correct(document, own, *hints).text == own.text


def test_site_gets_a_new_template() -> None:
    known = site()
    for n in range(100, 106):
        page = read(markup(n, story(n), new=True), known)
        assert page.extraction.text == "\n".join(story(n))
        assert page.sample is not None
        known = learn(known, page.sample)
    assert len(known.templates) == 2
    document = parse(markup(200, story(200), new=True), "http://h.cn/200")
    text = blocks(document, "批货物")
    assert (find_hints(document, text_keys(document), known)[1][text] > 0.8).all()


def wrong(document: Document, *parts: str) -> Extraction:
    """What an extractor would give that kept the wrong blocks."""
    return extraction(document, blocks(document, *parts), 0.5)


def test_text_that_has_missed_the_place_is_replaced() -> None:
    document = parse(markup(30, story(30)), "http://h.cn/30")
    hints = find_hints(document, text_keys(document), site())
    corrected = correct(document, wrong(document, "港区报社"), *hints)
    assert corrected.text == "\n".join(story(30))
    assert corrected.evidence == "place"


def test_text_that_reaches_beyond_the_place_is_cut() -> None:
    document = parse(markup(30, story(30)), "http://h.cn/30")
    hints = find_hints(document, text_keys(document), site())
    assert correct(document, wrong(document, "港区"), *hints).text == "\n".join(story(30))


def test_place_that_is_empty_here_is_not_believed() -> None:
    body = markup(30, []).replace(
        b"<div class='end'>", "".join(f"<p>{line}</p>" for line in story(30)).encode() + b"<div>"
    )
    document = parse(body, "http://h.cn/30")
    hints = find_hints(document, text_keys(document), site())
    own = wrong(document, "批货物")
    assert correct(document, own, *hints) is own


def test_nothing_known_changes_nothing() -> None:
    document = parse(markup(1, story(1)), "http://h.cn/1")
    own = extractor("density")(document)
    hints = find_hints(document, text_keys(document), NOTHING)
    assert [len(column) for column in hints[:2]] == [0, 0]
    assert correct(document, own, *hints) is own
    hints = find_hints(document, text_keys(document), site())
    assert correct(document, Extraction(reason=PageReason.NO_PROSE), *hints).text == ""


def test_memory_learns_from_the_extractor_and_not_from_itself() -> None:
    document = parse(markup(30, story(30)), "http://h.cn/30")
    own = wrong(document, "港区报社")
    keys = text_keys(document)
    hints = find_hints(document, keys, site())
    assert correct(document, own, *hints).text != own.text
    assert (
        sample_page(document, keys, own, 1).path != sample_page(document, keys, correct(document, own, *hints), 1).path
    )


def test_summary_elsewhere_is_not_the_first_paragraph() -> None:
    lead = story(9)[0]
    aside = parse(f"<body><div class='side'><span>{lead}</span></div></body>".encode(), "http://h.cn/1")
    article = parse(f"<body><div class='txt'><p>{lead}</p></div></body>".encode(), "http://h.cn/9")
    assert set(text_keys(aside).values()).isdisjoint(text_keys(article).values())


@each_row(
    ("one", "other", "same"),
    [
        ("阅读 17 次", "阅读 1780 次", True),
        ("2024-05-12 10:20", "2023-11-01 08:05", True),
        ("12.5", "99.1", False),
        ("上证指数昨天收于3105.7点，上涨12.4点，成交额为4100亿元，两市共有2130只股票上涨，跌停的有17只。",) * 2
        + (True,),
        (
            "上证指数昨天收于3105.7点，上涨12.4点，成交额为4100亿元，两市共有2130只股票上涨，跌停的有17只。",
            "上证指数昨天收于3007.1点，上涨10.4点，成交额为3900亿元，两市共有1998只股票上涨，跌停的有11只。",
            False,
        ),
    ],
)
def test_numbers_look_alike_in_short_lines_only(one: str, other: str, *, same: bool) -> None:
    first, second = (text_keys(parse(f"<p>{line}</p>".encode(), "http://h.cn/"))[0] for line in (one, other))
    assert (first == second) is same


def test_huge_page_is_looked_at_from_both_ends() -> None:
    document = parse(b"<body>" + b"".join(b"<p>line %d</p>" % n for n in range(5000)), "http://h.cn/")
    keys = text_keys(document)
    assert len(keys) == MAX_TEXTS_OF_PAGE
    assert {0, 4999} <= set(keys)


@each_row("body", [b"", b"text", b"<body></body>", b"<p>", b"<html><head><title>t</title></head></html>"])
def test_nearly_nothing(body: bytes) -> None:
    document = parse(body, "http://h.cn/")
    keys = text_keys(document)
    hints = find_hints(document, keys, site(2))
    assert len(hints[0]) == len(hints[1])
    assert sample_page(document, keys, Extraction(), 0).path == ()
    assert correct(document, Extraction(), *hints) == Extraction()


@given(
    st.lists(st.tuples(st.booleans(), st.floats(0, 0.99), st.floats(0, 0.99)), min_size=1, max_size=12),
)
def test_article_is_never_lost(rows: list[tuple[bool, float, float]]) -> None:
    """Whatever memory says: what was a text stays one, and everything given out is of the page."""
    body = "".join(f"<p>{story(n, 1)[0]}</p>" for n in range(len(rows)))
    document = parse(f"<body><div>{body}</div></body>".encode(), "http://h.cn/1")
    kept = [n for n, row in enumerate(rows) if row[0]]
    own = extraction(document, kept, 0.5) if kept else Extraction(reason=PageReason.NO_PROSE)
    repeated, on_path = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    corrected = correct(document, own, repeated, on_path, 20.0)
    assert bool(corrected.text) == bool(own.text)
    assert corrected.text.split("\n") == [document.blocks.texts[n] for n in corrected.blocks] or not kept
