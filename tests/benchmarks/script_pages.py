"""Pages made by script: what is taken for one, and what their data give.

    uv run python -m tests.benchmarks.script_pages [--pages 6000] [--half fitted|held-out|all] [--worst 5]

Over the saved pages that BENCH_DATA names (see `tests.benchmarks.extraction`): articles that are taken for pages
without a text, and texts that data replaced; then the pages whose data hold the gold text, with that text taken out of
their markup: how many are read from data alone, how many wrongly, and of how many a footer is stored. The text is taken
out twice, with the element that holds it alone ("emptied"), and with all that stands in the element that an application
fills ("shell", also where the data hold no text), as the server of such an application sends it. Dealt by host into two
halves; constants were fitted on the first.
"""

from __future__ import annotations

import hashlib
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import Any

from lxml import etree

from db.records.article import TextFrom
from db.records.reasons import PageReason
from pipelines.document.document import Document, parse
from pipelines.document.shell import has_state, is_root
from pipelines.parse_page import parse_page
from tests.benchmarks.data import NOW, corpora, f1, pages, require_data

from .commands import new_parser

_SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script>", re.DOTALL | re.IGNORECASE)
_LD = re.compile(r"<script[^>]*ld\+json.*?</script>", re.DOTALL | re.IGNORECASE)
_UNIT = re.compile(r"\\u([0-9a-fA-F]{4})")
_KEPT = ("script", "style", "textarea", "template", "noscript", "header", "nav", "footer")


def in_half(row: dict[str, Any], half: str) -> bool:
    """Tell whether a page belongs to a half, by its host."""
    host = str(row.get("host") or row.get("url") or row["id"])
    is_fitted = hashlib.blake2b(host.encode()).digest()[0] % 2 == 0
    return half == "all" or (half == "fitted") == is_fitted


def holds_text(source: str, gold: str) -> bool:
    """Tell whether the scripts of a page hold its text."""
    if len(gold) < 200:
        return False
    flat = unescape(" ".join(_SCRIPT.findall(source))).replace("\\n", " ").replace('\\"', '"').replace("\\/", "/")
    flat = re.sub(r"\s+", "", re.sub(r"<[^>]{1,300}>", "", _UNIT.sub(lambda unit: chr(int(unit[1], 16)), flat)))
    gold = re.sub(r"\s+", "", gold)
    places = range(0, len(gold) - 12, max(20, len(gold) // 20))
    return sum(gold[at : at + 12] in flat for at in places) > 0.7 * len(places)


def emptied(source: str, gold: str) -> bytes | None:
    """Return a page without its text: the element that holds most of it loses all but its scripts."""
    tree = etree.fromstring(source.encode("utf-8", "replace"), etree.HTMLParser(encoding="utf-8", huge_tree=True))
    flat = re.sub(r"\s+", "", gold)
    places = [flat[at : at + 12] for at in range(0, len(flat) - 12, max(20, len(flat) // 20))]
    body = tree.find("body") if tree is not None else None
    if body is None:
        return None
    node = body
    while True:
        inner = next(
            (
                one
                for one in node
                if isinstance(one.tag, str) and one.tag not in _KEPT[:5] and _share(one, places) > 0.7
            ),
            None,
        )
        if inner is None:
            break
        node = inner
    if _share(node, places) <= 0.7:
        return None
    for part in list(node.iter()):
        if (
            part is not node
            and isinstance(part.tag, str)
            and not any(up.tag in _KEPT for up in (part, *part.iterancestors()))
        ):
            part.text = None
        part.tail = None if part is not node else part.tail
    node.text = None
    return etree.tostring(tree, encoding="utf-8", method="html")


def shell(source: str) -> bytes | None:
    """Return a page without all that its application shows; None when it has no element for one."""
    tree = etree.fromstring(source.encode("utf-8", "replace"), etree.HTMLParser(encoding="utf-8", huge_tree=True))
    body = tree.find("body") if tree is not None else None
    for node in body.iter(etree.Element) if body is not None else ():
        shown = [one for one in node.iter(etree.Element) if one.tag not in _KEPT[:2]]
        if not is_root(node.tag, (node.get("id") or "").lower()) or sum(len(one.text or "") for one in shown) < 300:
            continue
        scripts = list(node.iter("script"))
        for child in list(node):
            node.remove(child)
        node.text = None
        node.extend(scripts)
        return etree.tostring(tree, encoding="utf-8", method="html")
    return None


def kind_of(document: Document, gold: str) -> str:
    """Tell in what data a page has its text: of a framework, JSON-LD, others, none."""
    if not holds_text(document.source, gold):
        return "no data"
    if any(map(has_state, document.scripts)):
        return "framework"
    return "other data" if holds_text(_LD.sub("", document.source), gold) else "JSON-LD"


def _share(node: Any, places: list[str]) -> float:
    text = re.sub(r"\s+", "", "".join(node.itertext()))
    return sum(place in text for place in places) / max(1, len(places))


def rows(limit: int, half: str) -> Iterator[tuple[str, dict[str, Any], bytes]]:
    """Yield corpus, gold row and bytes of the saved pages of a half."""
    for corpus, folder in corpora(()).items():
        for row, body in pages(folder, limit):
            if in_half(row, half):
                yield corpus, row, body


def main() -> int:
    """Print the figures."""
    options = new_parser(__doc__)
    options.add_argument("--pages", type=int, default=6000)
    options.add_argument("--half", default="all", choices=("fitted", "held-out", "all"))
    options.add_argument("--worst", type=int, default=0)
    chosen = options.parse_args()
    require_data()
    count: Counter[str] = Counter()
    wrong: list[str] = []
    begun = time.process_time()
    for corpus, row, body in rows(chosen.pages, chosen.half):
        url = str(row.get("url") or f"http://{row.get('host') or 'page.example'}/{row['id']}.html")
        page = parse_page(body, url, fetched_at=NOW)
        gold = str(row.get("text") or "")
        count["pages"] += 1
        if page.text_from is TextFrom.DATA:
            score = f1(row, page.extraction.text)
            count["saved: text from data"] += 1
            count["saved: text from data, wrong"] += score < 0.5
            if score < 0.5:
                wrong.append(f"data {score:.2f} {corpus}/{row['id']} {page.extraction.text[:80]!r} gold {gold[:60]!r}")
        if page.reason is PageReason.NEEDS_BROWSER and gold and row.get("kind") == "article":
            count["saved: thin though it has a text"] += 1
            wrong.append(f"thin {corpus}/{row['id']} {len(gold)} {gold[:80]!r}")
        document = parse(body, url)
        kind = kind_of(document, gold)
        ways = {"emptied": emptied(document.source, gold)} if kind != "no data" else {}
        if gold and row.get("kind", "article") == "article":
            ways["shell"] = shell(document.source)
        for way, empty in ways.items():
            if empty is None:
                continue
            page = parse_page(empty, url, content_type="text/html; charset=utf-8", fetched_at=NOW)
            score = f1(row, page.extraction.text) if page.is_kept else 0.0
            is_right, from_data = score > 0.8, page.text_from is TextFrom.DATA
            name = f"{way}, {kind}"
            count[name] += 1
            count[f"{name}: read"] += is_right
            count[f"{name}: wrong body"] += from_data and score < 0.5
            count[f"{name}: stored without data"] += page.is_kept and not from_data and not is_right
            if not is_right:
                became = page.reason or page.text_from
                wrong.append(f"{name} {score:.2f} {became} {corpus}/{row['id']} {page.extraction.text[:80]!r}")
    for name, many in sorted(count.items()):
        print(f"{name:50} {many}")
    print(f"{(time.process_time() - begun):.0f} s of CPU")
    for line in wrong[: chosen.worst]:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
