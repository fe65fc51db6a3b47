"""Broken pages by the hundred thousand: nothing may raise, hang, or let a sign through that texts must not hold.

    uv run python -m tests.benchmarks.fuzz [--pages 100000] [--seed 1] [--processes 2] [--seconds 5] [--only NUMBER]

Pages are made from those in tests/pages and from a few written here, by byte flips, cuts, splices, doubled and nested
tags, mangled encodings, zeros, lone surrogates, huge attributes; then come the large ones: a million nested tags, a
text of 50 MB, pictures called HTML. The same seed makes the same pages; `--only` repeats one of them.
"""

from __future__ import annotations

import heapq
import random
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import NoReturn

from crawler.settings import EXTRACTOR
from pipelines.document.document import parse
from pipelines.parse_page import read_page
from pipelines.text_form.explain import FORMS

from .commands import new_parser

NOW = datetime(2024, 6, 1, tzinfo=UTC)
SAMPLES = Path(__file__).parents[1] / "pages"
LONGEST_BYTES = 200_000
CHUNK = 500
FORBIDDEN = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
PROSE = "河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段，预计年底可以通车。"
TOKENS = [
    token.encode("utf-8", "surrogatepass")
    for token in (
        "<", ">", "<!--", "-->", "<![CDATA[", "]]>", "<script>", "</script>", "<style>", "<title>", "</title>", "<p>",
        "</p>", "<br>", "<td>", "<tr>", "<table>", "</table>", "<ul><li>", "</li>", "<pre>", "</pre>", "<svg>",
        "<math>", "<template>", "<noscript>", "<textarea>", "<select><option>", "<frameset><frame src=/f>",
        "<iframe src='//'>", "<plaintext>", "<body>", "</body>", "</html>", "<base href='http://[::1'>",
        "<base href='javascript:x'>", "<a href='http://e.com:99999/'>", "<a href='\x00'>", "<a href='//'>",
        "<img src=' ' alt='\u202e'>", "<meta charset=utf-7>", "<meta charset=utf-16>", "<meta charset='gb2312\x00'>",
        "<meta property=og:url content='http://[/'>", "<time datetime='0000-00-00'>",
        "<meta property=article:published_time content='9999-99-99T99:99:99+99:99'>",
        '<script type="application/ld+json">{"@type":"Article","headline":"\\ud800","author":[{"name":[1]}]}</script>',
        '<script type="application/ld+json">' + "[" * 500 + "</script>",
        '<script type="application/ld+json">{"a":1e999}</script>',
        "&#0;", "&#xD800;", "&#x110000;", "&#x202e;", "&nbsp", "&lt;script&gt;", "\ud800", "\udfff", "\ufffe",
        "\u202e", "\u2066", "\x00", "\x1b$B", "~{", "\ufeff", "\u0301" * 50, "2024年99月99日", "作者：",
        "来源：" * 20, "0001-01-01 00:00", PROSE, "１２３４年", "9" * 400, "<div hidden style='display:none'>", "<h1>",
        "<a rel=next href=?p=2>", "<link rel=canonical href='//'>",
    )
]  # fmt: skip
SETS = ("gbk", "big5", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "shift_jis", "euc_kr", "koi8-r", "utf-7")
_TAG = re.compile(rb"<[^<>]{1,200}>")


def samples() -> list[bytes]:
    """Small pages to start from: those of the tests, and some markup for each reader."""
    found = [path.read_bytes() for path in sorted(SAMPLES.glob("*.html"))]
    rows = "".join(f"<tr><td>{n}</td><td>{PROSE[:n]}</td></tr>" for n in range(1, 12))
    lists = "".join(f"<ul><li><a href=/n/{n}.html>{PROSE[:12]}</a><ol><li>{n}</ol></ul>" for n in range(8))
    found.append(f"<title>表格</title><h1>表格</h1><p>{PROSE}</p><table>{rows}</table><pre>a\n b\n</pre>".encode())
    found.append(f"<body><div class=nav>{lists}</div><blockquote><p>{PROSE}</p></blockquote>{lists}".encode())
    posts = "".join(f"<div class=post id=p{n}><b>user{n}</b> 2024-03-1{n}<p>{PROSE}</p>{n}#</div>" for n in range(6))
    found.append(f"<html lang=zh><title>forum</title>{posts}</html>".encode())
    return found


def flip(rng: random.Random, body: bytes, _: bytes) -> bytes:
    """Change some bytes."""
    changed = bytearray(body)
    for _ in range(rng.randint(1, 20)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def cut(rng: random.Random, body: bytes, _: bytes) -> bytes:
    """Keep a part."""
    first = rng.randint(0, len(body)) if rng.random() < 0.3 else 0
    return body[first : rng.randint(first, len(body))]


def splice(rng: random.Random, body: bytes, other: bytes) -> bytes:
    """Go on in another page."""
    return body[: rng.randint(0, len(body))] + other[rng.randint(0, len(other)) :]


def insert(rng: random.Random, body: bytes, _: bytes) -> bytes:
    """Put in what is hard to read."""
    for _ in range(rng.randint(1, 6)):
        at = rng.randint(0, len(body))
        body = body[:at] + rng.choice(TOKENS) + body[at:]
    return body


def repeat(rng: random.Random, body: bytes, _: bytes) -> bytes:
    """Repeat a piece many times."""
    first = rng.randint(0, len(body))
    piece = body[first : first + rng.randint(1, 120)]
    return body[:first] + piece * rng.randint(2, min(300, 1 + 20_000 // (len(piece) or 1))) + body[first:]


def nest(rng: random.Random, body: bytes, _: bytes) -> bytes:
    """Open a tag of the page again and again."""
    tags = _TAG.findall(body)
    if not tags:
        return body
    at = rng.randint(0, len(body))
    return body[:at] + rng.choice(tags) * rng.choice((2, 10, 100, 600, 3000)) + body[at:]


def shuffle(rng: random.Random, body: bytes, _: bytes) -> bytes:
    """Tags and texts in another order."""
    pieces = re.split(rb"(?=<)", body)
    rng.shuffle(pieces)
    return b"".join(pieces)


def mangle(rng: random.Random, body: bytes, _: bytes) -> bytes:
    """Another encoding, for all or a part."""
    at = rng.choice((0, rng.randint(0, len(body))))
    text = body[at:].decode("utf-8", "replace")
    return body[:at] + text.encode(rng.choice(SETS), "replace")


def attribute(rng: random.Random, body: bytes, _: bytes) -> bytes:
    """A huge attribute, or very many."""
    at = body.find(b">", rng.randint(0, len(body)))
    name = rng.choice((b"class", b"href", b"style", b"id", b"alt", b"datetime", b"content", b"src"))
    value = rng.choice((b"x", b"news ", b"-", b"a-", "关".encode(), b"/..", b"%", b"1", b":none;display"))
    size = rng.choice((300, 3_000, 30_000))
    added = b' %s="%s"' % (name, value * (size // len(value)))
    many = b"".join(b" a%d=%d" % (n, n) for n in range(size // 10))
    return body[:at] + rng.choice((added, many)) + body[at:]


MUTATIONS: list[Callable[[random.Random, bytes, bytes], bytes]] = [
    flip, cut, splice, insert, insert, repeat, nest, shuffle, mangle, attribute,
]  # fmt: skip


def page(seed: int, number: int, bases: list[bytes]) -> bytes:
    """The page of a number: a base page after one to five mutations."""
    rng = random.Random(f"{seed}-{number}")
    body = rng.choice(bases)
    for _ in range(rng.randint(1, 5)):
        body = rng.choice(MUTATIONS)(rng, body, rng.choice(bases))[:LONGEST_BYTES]
    return body


def large() -> Iterator[tuple[str, bytes]]:
    """Pages that are each a hazard of size, by name."""
    prose = PROSE.encode()
    for tag in (b"<div>", b"<b>", b"<a href=/>", b"<table><tr><td>", b"<ul><li>", b"<blockquote>", b"<font>", b"<x>"):
        yield f"a million of {tag.decode()}", tag * 1_000_000 + b"<p>" + prose
    yield "a text of 50 MB", b"<p>" + prose * (50_000_000 // len(prose))
    yield "a text of 50 MB without blanks", b"<p>" + b"x" * 50_000_000
    yield "50 MB of blanks", b"<p>" + b" " * 50_000_000
    yield "50 MB of <", b"<" * 50_000_000
    yield "GBK without end", b"<p>" + PROSE.encode("gbk") * 200_000
    yield "bytes that are nothing", bytes(random.Random(1).randbytes(5_000_000))
    yield "a PNG", b"\x89PNG\r\n\x1a\n" + random.Random(2).randbytes(2_000_000)
    yield "a JPEG", b"\xff\xd8\xff\xe0\x00\x10JFIF" + random.Random(3).randbytes(2_000_000)
    yield "an attribute of 20 MB", b"<div class='" + b"news " * 4_000_000 + b"'><p>" + prose
    yield "a style of 10 MB", b"<div style='" + b"display " * 1_250_000 + b"'><p>" + prose
    # The parser compares every attribute with those before it: a million take minutes, inside one call that only the
    # time limit of the worker processes ends.
    yield "20,000 attributes", b"<div " + b" ".join(b"a%d=1" % n for n in range(20_000)) + b"><p>" + prose
    yield "a script of 20 MB", b"<script>" + b"a='2024-01-01';" * 1_400_000 + b"</script><p>" + prose
    yield "JSON of 20 MB", b'<script type="application/ld+json">' + b"[" * 20_000_000 + b"</script><p>" + prose
    yield "300,000 links", b"<a href=/n/1.html>title of a story</a>" * 300_000
    yield "300,000 paragraphs", (b"<p>" + prose[:60]) * 300_000
    yield "300,000 line breaks", (prose[:30] + b"<br>") * 300_000
    yield "300,000 cells", b"<table>" + b"<tr><td>1<td>2<td>3" * 100_000
    yield "300,000 images", b"<p>" + prose + b"<img src=/a.jpg alt=x>" * 300_000 + b"<p>" + prose
    yield "100,000 metas", b"<meta name=author content=x>" * 100_000 + prose
    yield "a title of 5 MB", b"<title>" + prose * 50_000 + b"</title><h1>" + prose
    yield "5 MB of dates", b"<p>" + b"2024-01-01 10:20 " * 300_000
    yield "5 MB of names", "<p>作者：王小明 ".encode() * 200_000
    yield "1 MB of entities", b"<p>" + b"&#x202e;&amp;&lt;" * 60_000
    yield "pre of 5 MB", b"<pre>" + b"line of code;\n" * 350_000
    yield "combining signs", ("<p>" + "e" + "\u0301" * 1_000_000).encode()


class TookTooLong(Exception):
    """A page was still being read when its time was over."""


def _stop(_: int, __: FrameType | None) -> NoReturn:
    raise TookTooLong


def read(body: bytes, extractor: str, seconds: float, *, forms: bool) -> tuple[float, str]:
    """Read one page; returns CPU seconds, and what was wrong."""
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, 8 * seconds)  # the wall's clock: the machine may be busy
    start = time.process_time()
    wrong = ""
    try:
        document = parse(body, "http://example.com/n/20240312/1.html", "text/html; charset=utf-8")
        document, parsed, found = read_page(document, fetched_at=NOW, extractor=extractor)
        meta, text = parsed.metadata, parsed.extraction
        texts = [
            text.text,
            text.html,
            meta.title,
            meta.source,
            meta.summary,
            meta.section,
            *meta.authors,
            *meta.keywords,
        ]
        texts += [form(document, parsed, found) for form in FORMS.values()] if forms else []
        bad = next((one for one in texts if FORBIDDEN.search(one)), None)
        if bad is not None:
            wrong = f"a sign that must not come out: {FORBIDDEN.search(bad)!r}"
    except Exception:  # noqa: BLE001 - that is what is looked for
        wrong = traceback.format_exc(limit=-4)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    spent = time.process_time() - start
    if not wrong and spent > seconds:
        wrong = f"took {spent:.1f} s of CPU"
    return spent, wrong


def chunk(seed: int, first: int, last: int, extractor: str, seconds: float) -> list[tuple[float, str, str]]:
    """Read the pages of some numbers; returns the slowest five and those that went wrong."""
    bases = samples()
    slowest: list[tuple[float, str, str]] = []
    failed: list[tuple[float, str, str]] = []
    for number in range(first, last):
        body = page(seed, number, bases)
        spent, wrong = read(body, extractor, seconds, forms=number % 10 == 0)
        found = (spent, f"page {number}, {len(body)} bytes", wrong)
        if wrong:
            failed.append(found)
        slowest = heapq.nlargest(5, [*slowest, found])
    return [*slowest, *failed]


def main() -> int:
    """Read all, print the slowest, fail when one went wrong."""
    options = new_parser(__doc__)
    options.add_argument("--pages", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--processes", type=int, default=2)
    options.add_argument(
        "--seconds", type=float, default=5.0, help="CPU that a page may cost; large ones four times that"
    )
    options.add_argument("--only", type=int, help="this page alone")
    chosen = options.parse_args()
    if chosen.only is not None:
        spent, wrong = read(page(chosen.seed, chosen.only, samples()), EXTRACTOR, chosen.seconds, forms=True)
        print(f"{spent:.3f} s\n{wrong or 'nothing wrong'}")
        return 1 if wrong else 0
    results: set[tuple[float, str, str]] = set()
    start = time.monotonic()
    with ProcessPoolExecutor(chosen.processes, mp_context=get_context("forkserver")) as pool:
        starts = range(0, chosen.pages, CHUNK)
        tasks = [
            pool.submit(chunk, chosen.seed, at, min(at + CHUNK, chosen.pages), EXTRACTOR, chosen.seconds)
            for at in starts
        ]
        for task in tasks:
            results |= set(task.result())
    minutes = (time.monotonic() - start) / 60
    failed = [found for found in results if found[2]]
    print(f"{chosen.pages:,} pages in {minutes:.1f} minutes, seed {chosen.seed}, {EXTRACTOR}; the slowest:")
    for spent, name, _ in heapq.nlargest(10, results):
        print(f"  {spent:7.3f} s  {name}")
    for name, body in large():
        spent, wrong = read(body, EXTRACTOR, 4 * chosen.seconds, forms=len(body) < 1_000_000)
        print(f"  {spent:7.3f} s  {name}", flush=True)
        if wrong:
            failed.append((spent, name, wrong))
    for spent, name, wrong in sorted(failed)[:20]:
        print(f"FAILED after {spent:.1f} s: {name}\n{wrong}", file=sys.stderr)
    print(f"{len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
