"""The article as selectors of its seed name it: what they decide, what stays as it was, and what is missed."""

from __future__ import annotations

from datetime import UTC, datetime

from db.records.article import TextFrom
from pipelines.document.selectors import NO_SELECTORS, Selectors
from pipelines.parse_page import parse_page
from pipelines.records import PageKind, ParseResult
from tests.table import each_row

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SENTENCE = "The council of the town met on day {} and decided, after a long debate, to build the bridge over the river."
STORY = [SENTENCE.format(n) for n in range(8)]
ASIDE = [
    f"The museum at the harbour opens its doors on day {n}, and shows ships that were lost in storms." for n in range(3)
]


def paragraphs(texts: list[str]) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


PAGE = f"""<html><head><title>Bridge decided - The Sample</title></head><body><div id="nav"><a href="/">Home</a></div>
<div class="article"><h1>Bridge decided</h1><div class="byline">By <a href="/jane">Jane Doe</a> in Town</div>
<time datetime="2024-03-12T08:30:00+01:00">12 March 2024, 08:30</time>{paragraphs(STORY)}
<figure><img src="/b.jpg"><figcaption>A bridge</figcaption></figure>
<table><tr><th>bank</th><th>metres</th></tr><tr><td>left</td><td>40</td></tr><tr><td>right</td><td>50</td></tr></table>
<p>At last the mayor thanked everyone, and the meeting ended late in the night.</p></div>
<h2>Ships</h2><div class="museum">{paragraphs(ASIDE)}<i class="who">Ann Lee</i><b class="when">2024-04-01</b></div>
<div class="foot">Copyright The Sample</div></body></html>"""


def read(html: str = PAGE, selectors: Selectors = NO_SELECTORS, **values: object) -> ParseResult:
    return parse_page(html.encode(), "http://a.example/news/1.html", fetched_at=NOW, selectors=selectors, **values)


def test_all_fields_are_those_that_the_selectors_choose() -> None:
    other = read(selectors=Selectors("css:.museum", "xpath://h2", "css:.when", "css:.who"))
    assert other.extraction.text.split("\n") == ASIDE
    assert (other.metadata.title, other.metadata.published_at) == ("Ships", "2024-04-01")
    assert (other.metadata.authors, other.metadata.published_from) == (("Ann Lee",), "selector")
    assert (sorted(other.selected), other.missed) == (["author", "body", "published", "title"], ())
    assert other.text_from is TextFrom.SELECTOR
    assert other.kind is PageKind.ARTICLE


def test_text_is_cleaned_like_any_other() -> None:
    """Links, headline, byline and date stay outside; paragraphs, tables and pictures come with it."""
    chosen = read(selectors=Selectors(body="css:div.article"))
    *story, head, left, right, last = chosen.extraction.text.split("\n")
    assert (story, head, left, right) == (STORY, "bank\tmetres", "left\t40", "right\t50")
    assert last.startswith("At last the mayor")
    assert '<img src="http://a.example/b.jpg"' in chosen.extraction.html
    assert "<tr><td>left</td><td>40</td></tr>" in chosen.extraction.html
    assert chosen.metadata.authors == ("Jane Doe",)


def test_time_for_machines_and_cleaned_names() -> None:
    chosen = read(selectors=Selectors(published="css:time", author="css:.byline"))
    assert chosen.metadata.published_at == "2024-03-12T08:30:00+01:00"
    assert chosen.metadata.authors == ("Jane Doe",)
    assert (chosen.selected, chosen.text_from) == (("published", "author"), TextFrom.HTML)


@each_row(
    "selector",
    [
        "css:.nowhere",
        "css:#nav img",
        "css:script",
        "xpath://div[1 = $x]",
        "css:.byline",  # a text that makes no article
    ],
)
def test_nothing_is_lost_by_a_body_that_is_not_there(selector: str) -> None:
    alone, chosen = (
        read(),
        read(selectors=Selectors(body=selector, title="css:h6", published="css:h6", author="css:h6")),
    )
    assert chosen.extraction == alone.extraction
    assert (chosen.metadata, chosen.kind, chosen.signature) == (alone.metadata, alone.kind, alone.signature)
    assert (chosen.selected, chosen.text_from) == ((), TextFrom.HTML)
    assert sorted(chosen.missed) == ["author", "body", "published", "title"]


def test_list_stays_a_list_though_a_selector_finds_something_on_it() -> None:
    items = "".join(f'<li><a href="/news/{n}.html">A headline about the town, number {n}</a></li>' for n in range(30))
    page = f'<html><body><h1>News</h1><div class="article"><ul>{items}</ul><p>Page 1 of 9</p></div></body></html>'
    alone, chosen = (read(page, one) for one in (NO_SELECTORS, Selectors(body="css:.article")))
    assert alone.kind is PageKind.LIST
    assert (chosen.kind, chosen.reason, chosen.links) == (alone.kind, alone.reason, alone.links)
    assert (chosen.selected, chosen.missed) == ((), ())


def test_text_that_is_no_article_to_the_networks_is_taken_whole() -> None:
    lines = "".join(f"<li>{n} eggs, {n} spoons</li>" for n in range(1, 9))
    page = PAGE.replace('<div class="foot">', f'<div class="recipe"><ul>{lines}</ul></div><div class="foot">')
    chosen = read(page, Selectors(body="css:.recipe"), kinds=frozenset(PageKind))
    assert chosen.extraction.text.count("spoons") == 8


def test_site_model_learns_the_place_that_is_chosen_and_corrects_nothing() -> None:
    alone, chosen = (read(selectors=one, site_model=b"") for one in (NO_SELECTORS, Selectors(body="css:.museum")))
    assert alone.sample is not None
    assert chosen.sample is not None
    assert chosen.sample.path
    assert chosen.sample.path != alone.sample.path
