"""A few hundred of the broken pages that `tests.benchmarks.fuzz` makes by the hundred thousand."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.decode.encoding import decode
from pipelines.dedup import METHODS, method
from pipelines.describe import describe
from pipelines.document.document import parse
from pipelines.document.limits import PageLimits
from pipelines.extract import EXTRACTORS
from pipelines.parse_page import read_page
from pipelines.text_form.explain import FORMS
from tests.benchmarks.fuzz import MUTATIONS, chunk, page, samples
from tests.table import each_row

NOW = datetime(2024, 6, 1, tzinfo=UTC)
BLANKS = [
    " ",
    "\n",
    "\t",
    "\x0b",
    "\x1c",
    "\x85",
    "\xa0",
    "&nbsp;",
    "\u2003",
    "\u2028",
    "\u3000",
    "\u200b",
    "\u200d",
    "\u00ad",
    "\ufeff",
    "\u3164",
    "\ufe0f",
    "&#8203;",
    "&zwnj;",
]
EMPTY = [
    "<p></p>",
    "<div> </div>",
    "<b>\u200b</b>",
    "<br>",
    "<li>&nbsp;</li>",
    "<h1></h1>",
    "<a href=/x> </a>",
    "<pre>\n</pre>",
    "<table><tr><td>\u3000</td><td></td></tr></table>",
    "<title> </title>",
    "<blockquote><p>\t</p></blockquote>",
]
WORDS = [
    "a",
    "。",
    "作者：",
    "2024-03-05",
    "<h1>Bridge</h1>",
    "The bridge opened on Tuesday after four years of work. ",
    "河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段。",
    "<p>",
    "<td>",
    "<li>",
    "<a href=/n/1.html>News</a>",
]
PARTS = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(EMPTY),
    st.tuples(st.sampled_from(BLANKS), st.sampled_from((1, 2, 30, 3000))).map(lambda many: many[0] * many[1]),
)


@given(
    st.lists(PARTS, max_size=30).map("".join),
    st.sampled_from((1, 2, 3, 10, 60, 500, 1_000_000)),
    st.sampled_from(sorted(EXTRACTORS)),
)
def test_pages_of_blanks_have_a_reading(markup: str, chars: int, extractor: str) -> None:
    """Wherever the text is cut, no block is empty, and all that reads blocks can do without."""
    document = parse(markup.encode(), "http://e.com/a/1.html", "text/html; charset=utf-8", PageLimits(chars=chars))
    assert all(text and text == " ".join(text.split()) for text in document.blocks.texts)
    assert all(document.blocks.chars > 0)
    _, page, extraction = read_page(document, fetched_at=NOW, extractor=extractor)
    for name in METHODS:
        method(name).sign(page.metadata.title, extraction.text)
    for form in FORMS.values():
        form(document, page, extraction)
    assert describe(None, page.metadata.title, extraction.text, "", document).keywords == ()


STORY = [
    "The new bridge across the harbour opened on Tuesday morning after four years of work, and hundreds of people "
    "walked across it before the first cars were let through at noon.",
    "Traffic had been led around the old town since the ferry stopped, which cost drivers half an hour each way, "
    "said the mayor, who thanked all who had put up with the noise.",
    "The builders had to stop twice, once for a storm and once because divers found the wreck of a steamer that nobody "
    "had known of, and which now stands in the museum.",
]


@each_row("blank", [" ", "\xa0", "\t", "\u3000", "\u200b", "\u2028"])
@pytest.mark.slow
def test_million_blanks_take_nothing_from_an_article(blank: str) -> None:
    many, prose = blank * 1_000_000, "".join(f"<p>{line}</p>" for line in STORY)
    end = "Engineers had tested the span with forty lorries."
    for place in range(6):
        title, meta, head, first, middle, last = (many if place == at else "" for at in range(6))
        markup = (
            f'<title>{title}Bridge opens</title><meta name="description" content="{meta}A bridge."><article>'
            f"<h1>{head}Bridge opens</h1><p>{first}</p>{prose}<p>{middle}{WORDS[5]}</p>{prose}"
            f"<p>{end}{last}</p></article>"
        )
        document = parse(markup.encode(), "http://e.com/a/1.html")
        _, page, extraction = read_page(document, fetched_at=NOW)
        assert (page.metadata.title, page.metadata.summary, page.bounds) == ("Bridge opens", "A bridge.", ())
        assert extraction.text.endswith(end)


@pytest.mark.parametrize("count", [15, pytest.param(150, marks=pytest.mark.slow)])
def test_broken_pages(count: int) -> None:
    wrong = {name: [read for read in chunk(7, 0, count, name, 5.0) if read[2]] for name in EXTRACTORS}
    assert {name: pages for name, pages in wrong.items() if pages} == {}


def test_same_seed_makes_the_same_pages() -> None:
    bases = samples()
    assert [page(3, n, bases) for n in range(30)] == [page(3, n, bases) for n in range(30)]
    assert len({page(3, n, bases) for n in range(30)}) > 25


@each_row("mutation", MUTATIONS)
def test_mutations_take_any_page(mutation) -> None:
    for body in (b"", b"<", b"<p>a"):
        assert isinstance(mutation(random.Random(1), body, b""), bytes)


@given(
    st.one_of(st.binary(max_size=300), st.text(max_size=200).map(lambda text: text.encode("gb18030", "replace"))),
    st.text(max_size=40),
)
def test_any_bytes_have_a_reading(body: bytes, header: str) -> None:
    text, name = decode(body, f"text/html; charset={header}")
    assert isinstance(text, str)
    assert name
    assert decode(body, f"text/html; charset={header}") == (text, name)


@given(st.text(max_size=300))
def test_utf_8_is_always_found(text: str) -> None:
    body = (
        text.replace("\x00", "").replace("\x1b", "").replace("~", "").removeprefix("\ufeff").encode("utf-8", "replace")
    )
    assert decode(body) == (body.decode(), "utf-8")
