"""Tests of stories in the data of pages."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from urllib.parse import quote

from db.records.article import TextFrom
from db.records.reasons import PageReason
from pipelines.parse_page import parse_page
from tests.table import each_row

NOW = datetime(2026, 11, 1, tzinfo=UTC)
URL = "http://news.example/article/20482001"
TITLE = "城际铁路新线正式通车"
TEXT = [
    "城际铁路新线今天上午正式通车，首趟列车于八时整从东站开出，全程运行时间为四十五分钟。" * 2,
    "铁路部门表示，新线开通后，两地之间每天开行列车五十二对，能够满足沿线居民的出行需要。" * 2,
]
STORY = {
    "id": 20482001,
    "title": TITLE,
    "source": "江城日报",
    "publish_time": 1573430400,
    "content": "".join(f"<p>{line}</p>" for line in TEXT),
    "related": [
        {"id": 1, "title": "另一篇报道的标题在此", "abstract": TEXT[1] * 9},
        {"id": 2, "title": "第三篇报道的标题", "abstract": "短"},
    ],
}
STATE = {"article": STORY, "copyright": "未经授权，任何单位和个人不得转载本站内容，违者必究。" * 20}
JSON = json.dumps(STATE, ensure_ascii=False)
QUOTED = json.dumps(json.dumps(STATE)).replace("<", "\\x3C")
HEAD = json.dumps({"title": TITLE, "publish_time": 1573430400})


def devalued(value):
    """Write a value as devalue does."""
    rows = [["Reactive", 1]]

    def add(one):
        at = len(rows)
        rows.append(one)
        if isinstance(one, dict):
            rows[at] = {key: add(inner) for key, inner in one.items()}
        elif isinstance(one, list):
            rows[at] = [add(inner) for inner in one]
        return at

    add(value)
    return json.dumps(rows, ensure_ascii=False)


def flight(value):
    """Write a value as two pieces of a flight, its text in a row of its own."""
    text = value["article"]["content"]
    named = {"article": {**value["article"], "content": "$2"}}
    rows = f'1:["$","$L3",null,{json.dumps(named, ensure_ascii=False)}]\n2:T{len(text.encode()):x},{text}4:null\n'
    pieces = (rows[:300], rows[300:])
    return "".join(f"<script>self.__next_f.push([1,{json.dumps(piece)}])</script>" for piece in pieces)


FORMS = {
    "json": f'<script id="__NEXT_DATA__" type="application/json">{JSON}</script>',
    "url-encoded": f'<script id="RENDER_DATA" type="application/json">{quote(JSON)}</script>',
    "assigned": f"<script>window.__STATE__={JSON};f()</script>",
    "literal": f"<script>window.s={{login:undefined,on:!0,{JSON[1:-1]}}}</script>",
    "JSON.parse": f"<script>window.s = JSON.parse({QUOTED});</script>",
    "function": f"<script>window.__NUXT__=(function(a){{return {{user:a,data:[{JSON}]}}}}(null))</script>",
    "in a function": f"<script>$(function(){{var s = {JSON}; f(s)}})</script>",
    "base64": f'<script>var s=atob("{base64.b64encode(JSON.encode()).decode()}")</script>',
    "angular": f'<script id="state" type="application/json">{JSON.replace(chr(34), "&q;")}</script>',
    "devalue": f'<script id="__NUXT_DATA__" type="application/json">{devalued(STATE)}</script>',
    "flight": flight(STATE),
    "JSON-LD": '<script type="application/ld+json">'
    + json.dumps(
        {
            "@type": "NewsArticle",
            "headline": TITLE,
            "datePublished": "2019-11-11T08:00:00+08:00",
            "articleBody": "\n".join(TEXT),
        }
    )
    + "</script>",
    "blocks": "<script>window.s="
    + json.dumps(
        {
            "detail": {
                "docId": "20482001",
                "headline": TITLE,
                "publishTime": "2019-11-11 08:00",
                "blocks": [{"type": "paragraph", "text": line} for line in TEXT],
            }
        }
    )
    + "</script>",
    "store of records": "<script>window.__APOLLO_STATE__="
    + json.dumps(
        {
            "ROOT_QUERY": {"__typename": "Query", "post": {"__ref": "Post:20482001"}},
            "Post:20482001": {
                "__typename": "Post",
                "id": "20482001",
                "title": TITLE,
                "published": 1573430400,
                "content": {"paragraphs": [{"__ref": "Paragraph:1"}, {"__ref": "Paragraph:2"}]},
                "next": {"__ref": "Post:20482001"},
            },
            **{
                f"Paragraph:{n}": {"__typename": "Paragraph", "name": f"a{n}b{n}", "href": None, "text": line}
                for n, line in enumerate(TEXT, 1)
            },
        }
    )
    + "</script>",
    "blocks with pictures and cards": "<script>window.s="
    + json.dumps(
        {
            "id": "20482001",
            "headlines": {"basic": TITLE},
            "publish_date": "2019-11-11 08:00",
            "elements": [
                {"type": "image", "caption": "新线首趟列车从东站开出的情景。" * 9, "name": "东站月台上的旅客们"},
                {"type": "text", "settings": {"text": TEXT[0]}},
                {"type": "card", "title": "另一篇报道的标题在此", "url": "/article/1", "text": TEXT[1] * 9},
                {"type": "text", "settings": {"text": TEXT[1]}},
                {"type": "tags", "tags": ["铁路", "通车", "https://news.example/tag/1"]},
            ],
        }
    )
    + "</script>",
    "decoded": "<script>(function(){function JsDecode(s){return s}window.data={ret:'0' * 1,title:JsDecode('"
    + TITLE
    + "'),create_time:JsDecode('2019-11-11 08:00'),type:'9' * 1,content_noencode:JsDecode('"
    + TEXT[0]
    + r"\x0a\x0a\x3ca class=\x22more\x22\x3e"
    + TEXT[1]
    + r"\x3c/a\x3e')}})()</script>",
    "Unix seconds": f"<script>window.s={json.dumps(STORY | {'publish_time': 1573430400})}</script>",
    "textarea": f"<textarea hidden>{STORY['content']}</textarea><script>var m={HEAD}</script>",
}


def shell(scripts, title="江城新闻"):
    """Return a page that shows nothing before its scripts ran."""
    head = f'<meta charset="utf-8"><title>{title}</title>'
    return f'<html lang="zh"><head>{head}</head><body><div id="root"></div>{scripts}</body></html>'.encode()


@each_row("form", FORMS)
def test_stories_are_read_in_every_form(form):
    """Read title, time and text from data alone."""
    title = TITLE if form == "JSON-LD" else "江城新闻"
    found = parse_page(shell(FORMS[form], title), URL, fetched_at=NOW)
    assert (found.text_from, found.metadata.title, found.extraction.text) == (TextFrom.DATA, TITLE, "\n".join(TEXT))
    assert found.metadata.published_utc == "2019-11-11 00:00:00"
    assert found.metadata.published_at.startswith("2019-11-11T08:00")


@each_row(
    "state",
    [
        {"article": {"title": "页面不存在", "content": "抱歉，您要访问的页面不存在或已删除", "publish_time": 0}},
        {
            "feed": [
                {"id": 1, "title": "第一篇报道的标题", "abstract": TEXT[0] * 3},
                {"id": 2, "title": "第二篇报道", "abstract": TEXT[1] * 3},
            ]
        },
        {"legal": TEXT[0] * 9},
        {"a": STORY | {"id": 7}, "b": STORY | {"id": 8, "content": STORY["content"] * 2}},
    ],
)
def test_other_data_are_no_story(state):
    """Refuse notices, teasers, texts without a title, and several stories in doubt."""
    body = shell(f"<script>window.s={json.dumps(state)}</script>")
    found = parse_page(body, URL, fetched_at=NOW)
    assert (found.text_from, found.reason) == (TextFrom.HTML, PageReason.NEEDS_BROWSER)


def test_message_without_a_title_is_named_by_its_first_line():
    """Take the first line of a message for its title, which its page gives whole."""
    whole = r"\n\n".join(TEXT)
    state = f"{{title:decode('{whole}'),create_time:'2019-11-11 08:00',content:decode('{whole}')}}"
    body = shell(f"<script>window.s={state}</script>", " ".join(TEXT))
    found = parse_page(body, URL, fetched_at=NOW)
    assert found.text_from is TextFrom.DATA
    assert found.extraction.text == "\n".join(TEXT)
    assert found.metadata.title
    assert TEXT[0].startswith(found.metadata.title)


def test_bare_lines_are_kept_to_the_last():
    """Keep greetings, addresses and signs of a post that is written without markup, all by its author."""
    lines = [
        "刚到江城。",
        *TEXT,
        "http://news.example/qiao",
        '见<a class="ref">图2</a>',
        "声明：图片归作者所有。",
        "小林，11月11日",
    ]
    state = {"title": TITLE, "body": {"text": "\n\n".join(lines), "kind": "post"}, "id": "2019111101"}
    found = parse_page(shell(f"<script>window.s={json.dumps(state)}</script>", TITLE), URL, fetched_at=NOW)
    assert found.text_from is TextFrom.DATA
    assert found.extraction.text == "\n".join(lines).replace('<a class="ref">图2</a>', "图2")


def test_script_too_long_to_be_read_hides_no_other():
    """Read the data behind a program of millions of characters."""
    program = f"<script>{'var a;' * 800_000}</script>"
    found = parse_page(shell(program + FORMS["assigned"], TITLE), URL, fetched_at=NOW)
    assert (found.text_from, found.extraction.text) == (TextFrom.DATA, "\n".join(TEXT))


def test_title_once_more_is_no_story():
    """Refuse what has no text but the title of its page."""
    state = {"board": {"id": 7, "title": TEXT[0], "description": TEXT[1] * 3}, "user": "guest"}
    body = shell(f"<script>window.s={json.dumps(state)}</script>", TEXT[0])
    assert parse_page(body, URL, fetched_at=NOW).text_from is TextFrom.HTML


def test_texts_of_pages_stay():
    """Leave a page alone that says enough itself."""
    shown = "".join(f"<p>{line}本页自己的说法不同。</p>" for line in TEXT * 3)
    body = shell(f"<article><h1>{TITLE}</h1>{shown}</article>{FORMS['assigned']}", TITLE)
    found = parse_page(body, URL, fetched_at=NOW)
    assert found.text_from is TextFrom.HTML
    assert "本页自己的说法" in found.extraction.text


def test_teasers_of_other_stories_give_way_to_the_story_of_the_data():
    """Read the story where a page shows only beginnings of others that stand in its data, too."""
    words = [chr(0x4E00 + 37 * n) * 9 for n in range(1, 30)]
    others = [f"第{n}篇别的报道讲的是{word}的建设情况，工程已经进入第{n}个阶段。" for n, word in enumerate(words)]
    state = {"article": STORY, "others": [{"title": "别的报道", "abstract": f"{one}{' ' * 900}"} for one in others]}
    shown = "".join(f"<p>{one}</p>" for one in others)
    body = shell(f"<article>{shown}</article><script>window.__DATA__={json.dumps(state)}</script>", TITLE)
    story = parse_page(body, URL, fetched_at=NOW)
    assert (story.text_from, "\n".join(TEXT) == story.extraction.text) == (TextFrom.HTML, False)
    long = STORY | {"content": STORY["content"] + "".join(f"<p>{line}第{n}段。</p>" for n in range(9) for line in TEXT)}
    body = body.replace(json.dumps(STORY).encode(), json.dumps(long).encode())
    story = parse_page(body, URL, fetched_at=NOW)
    assert (story.text_from, story.extraction.text.startswith(TEXT[0])) == (TextFrom.DATA, True)


def test_lead_alone_is_no_story():
    """Refuse the lead of a text that stands in the data without a title."""
    state = {
        "meta": {"id": 20482001, "title": TITLE, "body": TEXT[1][:60]},
        "tree": [{"config": {"html": f"<p>{line * 30}</p>"}} for line in TEXT],
    }
    found = parse_page(shell(f"<script>window.s={json.dumps(state)}</script>"), URL, fetched_at=NOW)
    assert found.reason is PageReason.NEEDS_BROWSER


def test_links_of_the_page_and_of_the_story_are_kept():
    """Name what the page names itself, then what its data do."""
    content = f'<p>{TEXT[0]}<a href="/article/2">另一篇</a></p><p>{TEXT[1]}</p>'
    data = json.dumps(STORY | {"content": content})
    found = parse_page(shell(f'<nav><a href="/news/">新闻</a></nav><script>s={data}</script>'), URL, fetched_at=NOW)
    assert found.text_from is TextFrom.DATA
    assert found.links.urls == ("http://news.example/article/2", "http://news.example/news/")
    assert len(found.links.blocks) == len(found.links.anchors) == len(found.links.nofollow) == 2


def test_footers_beside_structured_data_are_no_article():
    """Refuse what hardly says anything though JSON-LD calls it an article."""
    stated = json.dumps({"@type": "NewsArticle", "headline": TITLE, "datePublished": "2019-11-11T08:00:00+08:00"})
    footer = "<footer><p>版权所有 江城新闻网，未经授权不得转载。</p></footer>"
    body = shell(f'<script type="application/ld+json">{stated}</script>{footer}', TITLE)
    assert parse_page(body, URL, fetched_at=NOW).reason is PageReason.NEEDS_BROWSER
