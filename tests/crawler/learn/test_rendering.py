"""Which pages are rendered, for what, and when a host is left alone."""

from __future__ import annotations

from dataclasses import replace

from crawler.learn.rendering import has_gained, is_worthwhile, wish_of
from crawler.render.records import RenderWish
from db.records.article import TextFrom
from db.records.reasons import PageReason, SkipReason
from db.records.url import Lease
from db.sites.render_gains import RenderRecord
from pipelines.item import Page
from pipelines.links.scope import Scope
from pipelines.records import BlockKind, Extraction, Links, PageKind, ParseResult
from tests.table import each_row

SHELL = ParseResult(PageKind.OTHER, PageReason.NEEDS_BROWSER)


def links(*reasons: SkipReason | None) -> Links:
    return Links(ids=tuple(range(len(reasons))), reasons=reasons)


LIST = ParseResult(PageKind.LIST, PageReason.LIST, links=links(None, None, SkipReason.OUTSIDE))
ARTICLE = ParseResult(PageKind.ARTICLE, extraction=Extraction(text="文" * 300))
DATA = replace(ARTICLE, text_from=TextFrom.DATA)
DAY = 86_400.0


def page(parsed: ParseResult, url: str = "http://a.cn/news/7123.html", found_in: int = BlockKind.BODY) -> Page:
    lease = Lease(1, url, 1, None, "page", 1, 0.5, found_in, None, 0.0, 0, 0, None, None)
    return Page(lease, Scope("host", ()), 200, parsed=parsed)


@each_row(
    ("one", "wish"),
    [
        (page(SHELL), RenderWish.TEXT),
        (page(SHELL, "http://a.cn/"), RenderWish.LINKS),
        (page(SHELL, found_in=BlockKind.SEED), RenderWish.LINKS),
        (page(LIST), RenderWish.LINKS),
        (page(DATA), RenderWish.RELATED),
    ],
)
def test_wish(one: Page, wish: RenderWish) -> None:
    assert wish_of(one) is wish


def test_host_is_left_alone_after_pages_in_vain_and_tried_again_a_week_later() -> None:
    shell, now = page(SHELL), 100 * DAY
    assert is_worthwhile(RenderRecord(), shell, now)
    assert is_worthwhile(RenderRecord(2, 0, 2, now), shell, now)
    assert not is_worthwhile(RenderRecord(3, 0, 3, now), shell, now)
    assert is_worthwhile(RenderRecord(3, 0, 3, now - 7 * DAY), shell, now)


def test_host_that_gained_may_disappoint_longer_but_not_for_ever() -> None:
    shell, now = page(SHELL), 100 * DAY
    assert is_worthwhile(RenderRecord(9, 2, 6, now), shell, now)
    assert not is_worthwhile(RenderRecord(9, 2, 7, now), shell, now)
    assert not is_worthwhile(RenderRecord(900, 800, 20, now), shell, now)


def test_readable_list_is_tried_once_and_again_where_it_gained() -> None:
    readable, now = page(LIST), 100 * DAY
    assert is_worthwhile(RenderRecord(), readable, now)
    assert not is_worthwhile(RenderRecord(1, 0, 1, now), readable, now)
    assert is_worthwhile(RenderRecord(5, 1, 2, now), readable, now)


def test_gain_is_an_article_a_longer_one_or_more_links() -> None:
    more = replace(LIST, links=links(None, None, None))
    longer = replace(ARTICLE, extraction=Extraction(text="文" * 500))
    assert has_gained(SHELL, ARTICLE)
    assert has_gained(SHELL, LIST)
    assert has_gained(LIST, more)
    assert has_gained(ARTICLE, longer)


def test_links_around_a_text_of_data_are_a_gain_if_the_text_is_there() -> None:
    around = replace(ARTICLE, links=LIST.links)
    assert has_gained(DATA, around)
    assert not has_gained(DATA, ARTICLE)
    assert not has_gained(DATA, LIST)
    assert not has_gained(DATA, replace(around, extraction=Extraction(text="文" * 100)))


def test_as_much_as_before_is_no_gain() -> None:
    outside = replace(LIST, links=links(None, None, SkipReason.OUTSIDE, SkipReason.OUTSIDE))
    assert not has_gained(SHELL, replace(SHELL, reason=PageReason.SOFT_404))
    assert not has_gained(LIST, outside)
    assert not has_gained(LIST, ARTICLE)
    assert not has_gained(ARTICLE, ARTICLE)
