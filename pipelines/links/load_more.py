"""Tell which pages that say something load more of it by script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from ..document.document import Document
from ..records import BlockKind, Links

_MOST_CHARS: Final = 30
_MOST_PIECES: Final = 8
_CONTROL = re.compile(
    r"(?:点击|點擊)?(?:加载|載入|查看|显示|顯示|浏览|瀏覽)更多(?:新闻|新聞|内容|內容|文章|资讯|資訊)?|更多(?:新闻|新聞|文章|内容|內容)|"
    r"(?:load|show|see|view) more(?: (?:posts|news|articles|stories|results|content))?|more (?:posts|stories|articles)|"
    r"(?:mehr|weitere)(?: \w+)? (?:laden|anzeigen)|(?:voir|charger|afficher) plus|(?:cargar|ver|mostrar) más|"
    r"carregar mais|показать (?:ещё|еще)|もっと見る|더 ?보기",
    re.IGNORECASE,
)
_HINT = re.compile("更多|[Mm]ore|MORE|laden|anzeigen|plus|más|mais|ещё|еще|もっと|더")
"""A word of every control: most pages have none."""
_MOST_BEGINNING: Final = 400
_MOST_PARAGRAPHS: Final = 2
"""The beginning of an article that a page shows before its scripts run is no longer."""
_AROUND_TEXT: Final = frozenset({int(BlockKind.NAVIGATION), int(BlockKind.FOOTER)})
_AROUND: Final = " \t\n.…»›>+↓▼∨"


def loads_more_links(document: Document, links: Links) -> bool:
    """Tell whether a control of a page loads more; a link to a page is none.

    Args:
        document: a parsed list.
        links: its links.

    Cost: O(elements).
    """
    if "script" not in document.tags:
        return False
    texts = [text for text in chain(document.blocks.texts, _buttons(document)) if len(text) <= _MOST_CHARS]
    if not _HINT.search("\n".join(texts)):
        return False
    found = {text for text in (text.strip(_AROUND) for text in texts) if _CONTROL.fullmatch(text)}
    return bool(found) and not found <= {anchor.strip(_AROUND) for anchor in links.anchors}


def lacks_links(document: Document, links: Links) -> bool:
    """Tell whether a page with scripts leads nowhere, except by its menus.

    Args:
        document: a parsed page.
        links: its links.

    Cost: O(links).
    """
    return "script" in document.tags and _AROUND_TEXT.issuperset(links.blocks)


def loads_more_text(document: Document, text: str) -> bool:
    """Tell whether a text is short and its page names data of itself for scripts.

    Args:
        document: a parsed page.
        text: its article.

    Cost: O(1) for a text of some length.
    """
    is_short = 0 < len(text) <= _MOST_BEGINNING and text.count("\n") < _MOST_PARAGRAPHS
    return is_short and "script" in document.tags and any(map(_is_data, document.relations))


def _is_data(relation: tuple[str, str, str, str]) -> bool:
    """Tell whether a link element names data: its relation, address, type and title."""
    return "alternate" in relation[0].split() and relation[2].partition(";")[0].strip() == "application/json"


def _buttons(document: Document) -> Iterator[str]:
    """Yield the texts of buttons, which are no part of what a page says."""
    for node in (node for node, tag in enumerate(document.tags) if tag == "button"):
        yield "".join(map(str, islice(document.elements[node].itertext(), _MOST_PIECES)))
