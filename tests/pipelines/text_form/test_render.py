"""The three forms of a text: the same words, lists and tables as a reader sees them, nothing that could do harm."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pipelines.document.document import Document, parse
from pipelines.text_form import render
from tests.table import each_row

URL = "http://e.com/news/1.html"


def read(markup: str) -> tuple[Document, range]:
    document = parse(f"<body><p>before</p>{markup}<p>after</p></body>".encode("utf-8", "replace"), URL)
    return document, range(len(document.blocks))


def forms(markup: str) -> tuple[str, str, str]:
    """The three forms without the paragraphs around."""
    document, kept = read(markup)
    made = render.extraction(document, kept, 1.0)
    text, html, markdown = made.text, made.html, render.markdown(document, kept)
    return (
        text.removeprefix("before").removesuffix("after").strip("\n"),
        html.removeprefix("<p>before</p>\n").removesuffix("\n<p>after</p>"),
        markdown.removeprefix("before\n\n").removesuffix("\n\nafter"),
    )


TABLE = (
    "<table><tr><th>市</th><th>人口</th></tr><tr><td>甲</td><td>12|3</td></tr><tr><td></td><td>4<br>5</td></tr></table>"
)
CODE = "<pre>def f(x):\n    return <b>x</b>\n\nf(1) &lt; 2\n</pre>"


@each_row(
    ("markup", "text", "html", "markdown"),
    [
        ("<h1>A</h1><h4>b</h4>", "A\nb", "<h2>A</h2>\n<h4>b</h4>", "## A\n\n#### b"),
        (
            TABLE,
            "市\t人口\n甲\t12|3\n\t4 5",
            "<table>\n<tr><th>市</th><th>人口</th></tr>\n<tr><td>甲</td><td>12|3</td></tr>\n"
            "<tr><td></td><td>4 5</td></tr>\n</table>",
            "| 市 | 人口 |\n| --- | --- |\n| 甲 | 12\\|3 |\n|  | 4 5 |",
        ),
        (
            CODE,
            "def f(x):\n    return x\n\nf(1) < 2",
            "<pre>def f(x):\n    return x\n\nf(1) &lt; 2</pre>",
            "```\ndef f(x):\n    return x\n\nf(1) < 2\n```",
        ),
        (
            "<ul><li>a<li>b<ol><li>c<li>d<br>e</ol></ul>",
            "a\nb\nc\nd\ne",
            "<ul>\n<li>\na\n</li>\n<li>\nb\n<ol>\n<li>\nc\n</li>\n<li>\nd\n<br>e\n</li>\n</ol>\n</li>\n</ul>",
            "- a\n- b\n  1. c\n  2. d\n     e",
        ),
        (
            "<blockquote><p>a</p><ul><li>b</ul></blockquote>",
            "a\nb",
            "<blockquote>\n<p>a</p>\n<ul>\n<li>\nb\n</li>\n</ul>\n</blockquote>",
            "> a\n>\n> - b",
        ),
        (
            "<p>see <a href='/x?a=(1)'>this</a>, <a href='javascript:x'>not that</a></p>",
            "see this, not that",
            '<p>see <a href="http://e.com/x?a=(1)">this</a>, not that</p>',
            "see [this](http://e.com/x?a=%281%29), not that",
        ),
        (
            '<img src="a.jpg" alt=\'"A&lt;\'><img src="data:x"><img src="javascript:x">',
            "",
            '<figure><img src="http://e.com/news/a.jpg" alt="&quot;A&lt;"></figure>',
            '![\"A\\<](http://e.com/news/a.jpg)',
        ),
        ("<p># a</p><p>- b</p><p>1. c *d*</p>", "# a\n- b\n1. c *d*", None, "\\# a\n\n\\- b\n\n1\\. c \\*d\\*"),
    ],
)  # fmt: skip
def test_forms(markup: str, text: str, html: str | None, markdown: str) -> None:
    got = forms(markup)
    assert got[0] == text
    assert html is None or got[1] == html
    assert got[2] == markdown


def test_caption_stands_below_its_image() -> None:
    document = parse(
        b"<p>one</p><figure><img src=/a.jpg alt=x><figcaption>By <b>me</b></figcaption></figure><p>two</p>", URL
    )
    kept = [document.blocks.texts.index(word) for word in ("one", "two")]
    figure = '<img src="http://e.com/a.jpg" alt="x"><figcaption>By me</figcaption></figure>'
    assert figure in render.extraction(document, kept, 1.0).html
    assert render.markdown(document, kept) == "one\n\n![x](http://e.com/a.jpg)\n\n*By me*\n\ntwo"
    kept = list(range(len(document.blocks)))  # a caption that was kept is not told twice
    for form in (render.extraction(document, kept, 1.0).html, render.markdown(document, kept)):
        assert form.count("By me") == 1


def test_very_many_blocks_in_one_pre() -> None:
    document = parse(b"<pre>" + b"<p>line\n of text</p>" * 20_000 + b"</pre>", URL)
    start = time.process_time()
    assert render.extraction(document, range(20_000), 1.0).text.startswith("line of text\nline of text\n")
    assert time.process_time() - start < 2


LAYOUTS = {
    "one cell": "<table><tr><td>{0}</td></tr><tr><td>{0}</td></tr></table>",
    "a column beside": "<table><tr><td>menu</td><td>{0}</td></tr><tr><td>menu</td><td>{0}</td></tr></table>",
    "tables in tables": "<table><tr><td>a</td><td><table><tr><td>b</td><td>c</td></tr></table></td></tr></table>",
    "one row": "<table><tr><td>2024-03-12</td><td>来源：日报</td></tr></table>",
    "a form": "<table><tr><td>a</td><td><form>b</form></td></tr><tr><td>c</td><td>d</td></tr></table>",
    "links": "<table><tr><td><a href=/1>a story</a></td><td><a href=/2>another</a></td></tr>"
    "<tr><td><a href=/3>third</a></td><td><a href=/4>fourth</a></td></tr></table>",
}


@each_row("layout", LAYOUTS)
def test_tables_that_lay_out_are_not_told(layout: str) -> None:
    text, html, _ = forms(LAYOUTS[layout].format("桥面的浇筑昨日完成，工程进入收尾阶段。" * 12))
    assert "\t" not in text
    assert "<table>" not in html


def test_rows_in_part() -> None:
    document, _ = read(TABLE)
    kept = [document.blocks.texts.index("12|3")]
    assert render.extraction(document, kept, 1.0).text == "\t12|3"


def test_list_item_or_quotation_around_everything_is_layout() -> None:
    document = parse(b"<ul><li><blockquote><p>one</p><p>two</p></blockquote></li></ul>", URL)
    assert render.extraction(document, range(2), 1.0).html == "<p>one</p>\n<p>two</p>"


def test_nothing_kept() -> None:
    document, _ = read("")
    made = render.extraction(document, (), 1.0)
    assert made.text == made.html == render.markdown(document, ()) == ""


PIECES = st.lists(
    st.sampled_from(
        [
            "<p>", "</p>", "<ul>", "<ol>", "<li>", "</li>", "</ul>", "<blockquote>", "</blockquote>", "<pre>", "</pre>",
            "<table>", "<tr>", "<td>", "<th>", "</table>", "<br>", "\n", "<h2>", "</h2>", "<a href='/x y'>", "</a>",
            "<a href='javascript:x'>", "<img src='/i\"><script>' alt='<b>'>", "<script>evil()</script>",
            "&lt;script&gt;",
            "text", "文字，", "a|b", "`", "\u202e", "&#0;", "\x07", "<svg onload=x>", "<div onclick=x>", "</div>",
        ]
    ),
    max_size=40,
)  # fmt: skip
TAGS = {
    "p",
    "h2",
    "h3",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "table",
    "tr",
    "td",
    "th",
    "br",
    "a",
    "figure",
    "figcaption",
    "img",
}


@given(PIECES)
def test_all_forms_hold_the_same_words_and_nothing_else(pieces: list[str]) -> None:
    document, kept = read("".join(pieces))
    made = render.extraction(document, kept, 1.0)
    text, html, markdown = made.text, made.html, render.markdown(document, kept)
    words = "".join("".join(document.blocks.texts).split())
    assert "".join(text.split()) == words
    tree = etree.HTML(f"<body>{html}</body>")
    assert "".join("".join(map(str, tree.itertext())).split()) == words
    used = set(re.findall(r"<([a-z0-9]+)", html))
    assert used <= TAGS
    assert set(re.findall(r" ([a-z]+)=", re.sub(r">[^<]*<", "><", html))) <= {"href", "src", "alt"}
    for form in (text, html, markdown):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\ud800-\udfff]|javascript:", form)
