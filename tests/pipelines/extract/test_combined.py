"""The combined extractor: what it keeps, refuses and says of itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.document.document import parse
from pipelines.document.view import measure
from pipelines.extract.combined import Params, choose, extract, network, weigh
from pipelines.extract.features import SCORES, features, names_of
from pipelines.extract.network import Layout, predict, surroundings
from tests.table import each_row

PAGE = """<html><head><title>河口大桥昨日完成浇筑_滨江日报</title></head><body>
<div class=nav><a href=/>首页</a> <a href=/a>要闻</a> <a href=/b>财经</a></div>
<div class=main><h1>河口大桥昨日完成浇筑</h1><div class=info>2024-03-12 08:30 来源：滨江日报 记者 王小明</div>
<div class=content>
<p>本报讯，河口大桥主塔昨日完成最后一次混凝土浇筑，标志着这座全长三千余米的跨江通道进入收尾阶段。</p>
<h2>质量</h2>
<p>建设方表示，施工期间共浇筑混凝土六万立方米，全部一次验收合格，预计明年六月通车。</p>
<p>通车以后，两岸车程由一小时缩短到十分钟，沿线居民说，盼了十年的桥终于要通了。</p>
</div>
<div class=editor>责任编辑：李雷</div>
<div class=related><h3>相关新闻</h3><ul>
<li><a href=/1>江北新区年内开工三条快速路</a><li><a href=/2>轮渡票价下月起下调</a></ul></div>
</div><div class=footer>版权所有 滨江日报 不得转载</div></body></html>""".encode()


def test_keeps_the_text_and_nothing_else() -> None:
    found = extract(parse(PAGE, "http://bj.example/20240312/1.html"), Params())
    lines = found.text.split("\n")
    assert lines[0].startswith("本报讯，河口大桥主塔")
    assert lines[-1].endswith("终于要通了。")
    assert len(lines) in {3, 4}
    assert found.confidence > 0.7
    assert "headline" in found.evidence
    assert len(found.scores) == len(parse(PAGE, "").blocks)


def test_features_are_those_of_the_training() -> None:
    document = parse(PAGE, "")
    networks = network()
    table = features(document, networks.odds, networks.line_odds)
    assert table.names == networks.first.features
    assert np.isfinite(table.values).all()
    layout = Layout.of(document, weigh(document))
    around = surroundings(layout, table, predict(networks.first, table.values))
    assert around.names == networks.second.features
    assert np.isfinite(around.values).all()


def test_names_of_containers_are_scored_from_the_outside_in() -> None:
    document = parse(b"<body class=page><p>a</p><div class='post tags'><p>b</p><i class=ad>c</i></div></body>", "")
    names = names_of(document)
    at = names.nodes.tolist().index(document.tags.index("div"))
    assert names.words[names.of[at]] == ("post", "tags")
    table = features(document, {"tags": -2.0, "post": -2.0, "ad": -3.0, "<p>": 1.0, "page": 0.5}, {})
    rows = np.array([table.values[table.names.index(name)] for name in SCORES])
    both = -4 / 2**0.5
    near, around, worst = [1, 1, both], [0.5, both, 0.5], [0, both, both]
    assert np.allclose(rows, [near, around, worst, [1, 1, 0.5], [1.5, 1.5 + both, 0.5 + both]], atol=1e-5)


def test_page_tells_how_it_is_made() -> None:
    head = "<meta name=viewport content=x><meta property=og:type content=article>"
    table = features(parse(f"{head}<p>one</p><p>two</p>".encode(), ""), {}, {})
    found = {name: table.values[table.names.index(name)].tolist() for name in table.names if name.startswith("page ")}
    assert found["page for phones"] == found["page is article"] == found["page paragraphs"] == [1.0, 1.0]
    assert found["page dated"] == found["page of tables"] == found["page states article"] == [0.0, 0.0]


def rows_of(body: str, line_odds: dict[str, float], *names: str) -> list[list[float]]:
    table = features(parse(body.encode(), ""), {}, line_odds)
    return [np.round(table.values[table.names.index(name)], 3).tolist() for name in names]


def test_terms_of_lines_count_but_those_of_links_do_not() -> None:
    body = "<h3>Read more</h3><p>The bridge is open.</p><p><a href=/a>Read more</a></p><p>Sign up now to read more.</p>"
    own, worst, before, heading = rows_of(
        body, {"read": -1.0, "sign": -3.0}, "words", "worst word", "words at -1", "words of heading"
    )
    assert own == pytest.approx([-1 / 2**0.5, 0, 0, -4 / 6**0.5], abs=1e-3)
    assert worst == [-1, 0, 0, -3]
    assert before == [0, *own[:3]]
    assert heading == pytest.approx([own[0]] * 4)


def test_words_of_the_title_tell_the_place() -> None:
    body = (
        "<title>Ferry fares rise</title><body><div><p>Ferry fares rise on Monday.</p><p>Who pays for it.</p></div>"
        "<p>Weather: rain on Monday.</p>"
    )
    share, inside = rows_of(body, {}, "title terms", "title terms of 1")
    assert share == [1, 0, 0]
    assert inside == [1, 1, 1]
    assert rows_of(body, {}, "title terms of 0")[0] == [1, 0, 0]


def test_terms_of_the_title_are_found_behind_letters_that_grow_when_lowered() -> None:
    body = f"<title>harbour</title><p>{'İ' * 20}<p>The harbour is open.<p>Rain is near."
    assert rows_of(body, {}, "title terms")[0] == [0, 1, 0]


def test_stated_length_tells_where_a_text_ends() -> None:
    text, more = "The ferry crossed the strait. " * 10, "Another story begins here. " * 10
    stated = f'<script type="application/ld+json">{{"@type": "NewsArticle", "articleBody": "{text}"}}</script>'
    page = f"{stated}<p>{text}</p><p>{more}</p><p>{more}</p>"
    passed, readable = rows_of(page, {}, "stated text passed", "readable")
    assert passed == pytest.approx([0, 1, 1 + len(more.replace(" ", "")) / len(text.replace(" ", ""))], abs=1e-3)
    assert readable == [1, 1, 1]


SENTENCES = [
    "The new bridge across the harbour opened on Tuesday morning after four years of work, to the joy of the town.",
    "Engineers said that the span had been tested with forty loaded lorries, and that it had hardly moved at all.",
    "The council expects twelve thousand vehicles a day, which is about half of what the old crossing carried.",
    "Shopkeepers on the quay fear for their trade, because the road that brought people past now ends at a wall.",
]


@each_row(
    "notice",
    [
        "We and our 812 partners store information on a device, such as cookies, and process personal data for ads.",
        "Wir und unsere 812 Partner speichern Informationen auf einem Gerät, etwa Cookies, und verarbeiten Daten dazu.",
        "我们和我们的812家合作伙伴在您的设备上存储信息，例如小型文本文件，并处理个人数据，用于个性化广告和内容。",
        "Ми та наші 812 партнерів зберігаємо інформацію на пристрої, зокрема файли cookie, й обробляємо особисті дані.",
    ],
)
def test_notice_above_the_headline_in_another_place_is_no_text(notice: str) -> None:
    text = "".join(f"<p>{line}</p>" for line in SENTENCES)
    body = f"<div class=x7><p>{notice}</p><p>{notice}</p></div><main><h1>Harbour bridge opens</h1>{text}</main>"
    found = extract(parse(f"<title>Harbour bridge opens</title><body>{body}".encode(), "http://e.com/a"), Params())
    assert found.text.split("\n") == SENTENCES


def test_lead_above_the_headline_in_its_container_stays() -> None:
    text = "".join(f"<p>{line}</p>" for line in SENTENCES[1:])
    body = f"<article><p>{SENTENCES[0]}</p><h1>Harbour bridge opens</h1>{text}</article>"
    found = extract(parse(f"<title>Harbour bridge opens</title><body>{body}".encode(), "http://e.com/a"), Params())
    assert found.text.split("\n") == SENTENCES


@each_row("asked", ["记者：大桥修了多久？", "王小明：你怕过吗？", "南方周末：谁来付钱？"])
def test_interview_that_opens_with_a_question_keeps_it(asked: str) -> None:
    answers = [
        "工程师：四年，其中有一个冬天什么都没动，因为海面结了冰，船只无法靠近桥墩。",
        "工程师：怕过，那时候每天晚上都睡不着，总在听外面的风声，第二天一早又要到工地去。",
    ]
    talk = "".join(f"<p>{line}</p>" for line in (asked, answers[0], "记者：后来呢？", answers[1]))
    body = f"<h1>港口新大桥总工程师访谈</h1><p>2024-03-15 10:30 来源：样本日报</p>{talk}"
    document = parse(f"<title>港口新大桥总工程师访谈</title><body><article>{body}</article>".encode(), "http://e.cn/a")
    assert extract(document, Params()).text.split("\n")[0] == asked


def test_headline_is_found_where_the_title_repeats_it() -> None:
    document = parse(PAGE, "")
    assert document.blocks.texts[measure(document).headline] == "河口大桥昨日完成浇筑"
    assert measure(parse(b"<p>no title", "")).headline == -1


@each_row("body", [b"", b"<html></html>", b"<p>", b"\x00", b"<a href=/>x</a>", "<p>。".encode()])
def test_pages_without_text_give_a_reason(body: bytes) -> None:
    found = extract(parse(body, "http://e.example/"), Params())
    assert found.text == ""
    assert found.reason in {"no text", "no prose", "text too short"}


def test_higher_bar_refuses_more() -> None:
    document = parse(PAGE, "")
    assert extract(document, Params(min_confidence=1.0)).reason == "no prose"
    assert extract(document, Params(min_chars=10_000)).reason == "text too short"


@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.integers(1, 50)), min_size=1, max_size=8))
def test_choice_is_the_best_of_all(pairs: list[tuple[float, int]]) -> None:
    """No other set of blocks has a higher expected F1."""
    chances = np.array([chance for chance, _ in pairs])
    mass = np.array([float(size) for _, size in pairs])
    kept, expected = choose(chances, mass)
    assert kept == sorted(kept)
    best = max(
        2 * (chances * mass)[list(mask)].sum() / (mass[list(mask)].sum() + (chances * mass).sum())
        for mask in product([False, True], repeat=len(pairs))
        if any(mask)
    )
    assert expected == pytest.approx(best, abs=1e-6)


@given(st.binary(max_size=400))
def test_any_bytes_give_a_result(body: bytes) -> None:
    found = extract(parse(body, "http://e.example/"), Params())
    assert 0 <= found.confidence <= 1
    assert bool(found.text) != bool(found.reason)


PROSE = (
    "<p>The new pier of Oldport was opened on Sunday after two years of work, and the first ferry landed at noon.</p>"
    "<p>The mayor said that the town had waited long for it, and that the fares will stay what they are this year.</p>"
    "<p>Fishermen hope that the market will move to the pier, with room for forty stalls and a cold store.</p>"
)
HEAD = (
    "<title>Oldport opens its pier, a ferry lands – Oldport Mail</title>"
    "<meta property=article:published_time content=2024-05-05T12:00:00Z>"
    '<script type="application/ld+json">{"author": [{"name": "Jane Doe"}, {"name": "Иван Петров"}]}</script>'
)


def lines_of(body: str) -> list[str]:
    """The lines kept of a page with this body."""
    page = f"<html><head>{HEAD}</head><body><div class=content>{body}</div></body></html>".encode()
    return extract(parse(page, "http://mail.example/2024/pier.html", "text/html"), Params()).text.split("\n")


@each_row(
    "line",
    [
        "<h2>Oldport opens its pier, a ferry lands</h2>",
        "<p>Oldport opens its pier, a ferry lands</p>",
        "<p>By Jane Doe</p>",
        "<p>Von Jörg Böhme | 5. Mai 2024, 12:00 Uhr</p>",
        "<p>Sunday, 5 May 2024 12:00</p>",
        "<p>Credit: Jane Doe/Getty Images</p>",
        "<p>Share this article</p>",
        "<p>5 min read</p>",
        "<p>▲山海市新碼頭週日啟用，第一班渡輪中午靠岸，市民到場觀看。（圖／記者王小明攝）</p>",
        "<p>记者李雷／山海報導</p>",
        "<p>新码头示意图 制图/李铭</p>",
        "<p>If you buy through our links, we may earn a commission.</p>",
    ],
)
def test_lines_of_templates_over_a_text_are_left_out(line: str) -> None:
    lines = lines_of(f"{line}{PROSE}")
    assert lines[0].startswith("The new pier")
    assert len(lines) == 3


@each_row(
    "tail",
    [
        "<p>Sign up for our newsletter to get news of Oldport in your inbox.</p>",
        "<p>Follow us on Twitter</p>",
        "<h3>If you liked this post you might also like:</h3><ul><li><a href=/1>How piers are built</a></ul>",
        "<h3>Up Next</h3>",
        "<p>责任编辑：李雷</p>",
        "<p>（资料来源：山海日报）</p>",
        "<p>_______</p>",
        "<p>(综合整理自山海新闻、河口网等)</p>",
        "<p>本篇新闻热门关键词:</p>",
        "<p>(gg, yk)</p>",
        "<p>Be sure to sign up below so we can stay in touch!</p>",
        "<p>Jane Doe and Иван Петров</p>",
    ],
)
def test_lines_of_templates_under_a_text_are_left_out(tail: str) -> None:
    lines = lines_of(f"{PROSE}{tail}")
    assert lines[-1].endswith("a cold store.")


def test_table_of_contents_is_left_out_and_its_headings_stay() -> None:
    headings = ("Years of waiting", "What it costs")
    toc = "".join(f'<li><a href="#{n}">{text}</a></li>' for n, text in enumerate(headings))
    first, second, third = (f"{part}</p>" for part in PROSE.split("</p>")[:3])
    body = f"{PROSE}<ul>{toc}</ul><h2 id=0>{headings[0]}</h2>{first}{second}<h2 id=1>{headings[1]}</h2>{third}{first}"
    lines = lines_of(body)
    assert [line for line in lines if line in headings] == list(headings)


@each_row(
    "line",
    [
        "<b>READ MORE:</b> <a href=/1>How the old pier of Oldport was built in the year of the great storm</a>",
        "<a href=/1>Related: How the old pier of Oldport was built in the year of the great storm</a>",
        "Lesen Sie auch: <a href=/1>Wie die alte Brücke von Oldport im Jahr des großen Sturms gebaut wurde</a>",
        "Lire aussi : <a href=/1>Comment l'ancienne jetée d'Oldport fut construite l'année de la tempête</a>",
        "Czytaj także: <a href=/1>Jak zbudowano stare molo w Oldport w roku wielkiego sztormu</a>",
        "Читайте также: <a href=/1>Как построили старый причал Олдпорта в год великого шторма и кто платил</a>",
        "Baca juga: <a href=/1>Bagaimana dermaga lama Oldport dibangun pada tahun badai besar</a>",
    ],
)
def test_line_that_leads_to_another_story_is_left_out(line: str) -> None:
    first, second, third = (f"{part}</p>" for part in PROSE.split("</p>")[:3])
    assert len(lines_of(f"{first}{second}<p>{line}</p>{third}")) == 3


def test_sentence_with_a_link_behind_such_a_word_stays() -> None:
    first, second, third = (f"{part}</p>" for part in PROSE.split("</p>")[:3])
    more = "<p>More: the mayor said that <a href=/1>the old pier</a> will be kept, and painted blue next year.</p>"
    assert any("painted blue" in line for line in lines_of(f"{first}{second}{more}{third}"))


def test_prose_behind_a_label_in_the_middle_stays() -> None:
    first, second, third = (f"{part}</p>" for part in PROSE.split("</p>")[:3])
    lines = lines_of(f"{first}<h4>Related stories</h4><p><a href=/1>How piers are built</a></p>{second}{third}")
    assert lines[-1].endswith("a cold store.")
    assert not any("How piers" in line for line in lines)


def test_advert_in_the_middle_heads_no_section() -> None:
    first, second, third = (f"{part}</p>" for part in PROSE.split("</p>")[:3])
    painter = "<p>(Painter: <a href=/who>Jonathan Doe of Oldport</a>)</p>"
    more = "<div>Advertisement - story continues below</div>"
    lines = lines_of(f"{first}<div>Advertisement</div>{painter}{more}{second}<div>Article content</div>{third}")
    assert lines[1].startswith("(Painter:")
    assert len(lines) == 4


@each_row("mark", ["", " »"])
def test_dateline_of_a_page_without_a_stated_date_is_left_to_the_networks(mark: str) -> None:
    """Punctuation that is not ASCII makes no difference."""
    body = f"<h2>Oldport’s pier</h2><p>Published on May 5th, 2024 Read the 4 comments{mark}</p>{PROSE}"
    page = f"<title>Oldport</title><div class=content>{body}</div>".encode()
    document = parse(page, "http://mail.example/2024/pier.html", "text/html")
    found = extract(document, Params())
    assert found.scores[1] > 0.85
    assert found.text.split("\n")[1].startswith("Published on May 5th")


POSTS = (
    "I have waited for this pier since I was a child, and it looks as if it was worth it. The first boat came at nine.",
    "The fares are far too high, whatever the mayor says, and nobody in the council asked the fishermen about it.",
    "Does anybody know when the market will open? My mother would like to sell her bread there on Sundays, as before.",
)
COMMENTS = "".join(
    f"<li class='comment depth-1'><cite>{name}</cite> <a href=#c>May {day}, 2024 at 9:1{day}</a><p>{text}</p>"
    "<a href=#reply>Reply</a></li>"
    for day, (name, text) in enumerate(
        [
            (
                "harbour_fan",
                "I have waited for this pier since I was a child, and it looks better than I thought.",
            ),
            ("Piet", "The fares are far too high, whatever the mayor says, and nobody asked those who live there."),
            ("annie77", "Does anybody know when the market will open? My mother would like to rent a stall there."),
        ]
    )
)


def test_comments_below_an_article_are_left_out() -> None:
    lines = lines_of(f"{PROSE}<ol id=comments>{COMMENTS}</ol>")
    assert len(lines) == 3
    assert lines[-1].endswith("a cold store.")


def test_comments_are_the_text_of_a_thread() -> None:
    posts = "".join(
        f'<div class="post comment"><div class=author><a href=/u/{n}>{name}</a></div>'
        f"<p class=date>May {n}, 2024 at 9:1{n}</p><div class=content>{text}</div></div>"
        for n, (name, text) in enumerate(zip(("harbour_fan", "Piet", "annie77"), POSTS, strict=True), 1)
    )
    page = f"<title>Oldport's pier - Harbour forum</title><h1>Oldport's pier</h1>{posts}"
    text = extract(parse(page.encode(), "http://forum.example/viewtopic.php?t=1"), Params()).text
    assert all(post in text for post in POSTS)


def test_comments_are_kept_where_there_is_nothing_else() -> None:
    """A container may be named for what it once held."""
    text = "\n".join(lines_of(f"<div class=comments>{PROSE}</div>"))
    assert "The new pier" in text


@each_row(
    "box",
    [
        "<figure><img src=/a.jpg><figcaption>The ferry Anna, which landed first, on Sunday.</figcaption></figure>",
        "<div class=wp-caption><p class=wp-caption-text>The ferry Anna, which landed first, on Sunday.</p></div>",
        "<div class=modal><p>We use cookies to make this site better. You may refuse them at any time.</p></div>",
        "<form><p>Tell us your address, and we send you the news of Oldport every morning, without adverts.</p></form>",
    ],
)
def test_boxes_in_a_text_are_left_out(box: str) -> None:
    first, second, third = (f"{part}</p>" for part in PROSE.split("</p>")[:3])
    assert len(lines_of(f"{first}{box}{second}{third}")) == 3
