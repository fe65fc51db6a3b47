"""Pages that load more links or text by script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Final

from ..document.document import Document
from ..records import BlockKind, Links
from ..word_lists import WordLists

_MOST_CHARS: Final = 30
_MOST_PIECES: Final = 8
_LISTS: Final = WordLists(Path(__file__).with_name("words.txt"))
_any = _LISTS.pattern
_CONTROL = re.compile(
    rf"(?:点击|點擊)?{_any('chinese loading')}更多{_any('chinese items')}?|更多{_any('chinese items loaded')}|"
    rf"{_any('english loading')}\smore(?:\s{_any('english items')})?|more\s{_any('items loaded')}|"
    rf"{_any('german more')}(?:\s\w+)?\s{_any('german loading')}|{_any('loading')}",
    re.IGNORECASE,
)
_HINT = re.compile(_any("hints"))
"""A word of every control: most pages have none."""
_MOST_BEGINNING: Final = 400
_MOST_PARAGRAPHS: Final = 2
"""The beginning of an article that a page shows before its scripts run is not longer."""
_AROUND_TEXT: Final = frozenset({int(BlockKind.NAVIGATION), int(BlockKind.FOOTER)})
_AROUND: Final = " \t\n.…»›>+↓▼∨"


def loads_more_links(document: Document, links: Links) -> bool:
    """Tell whether a control of a list loads more; a link to a page does not.

    Cost: O(elements).
    """
    if "script" not in document.tags:
        return False
    texts = [text for text in chain(document.blocks.texts, _buttons(document)) if len(text) <= _MOST_CHARS]
    if not _HINT.search("\n".join(texts)):
        return False
    controls = {text for text in (text.strip(_AROUND) for text in texts) if _CONTROL.fullmatch(text)}
    return bool(controls) and not controls <= {anchor.strip(_AROUND) for anchor in links.anchors}


def lacks_links(document: Document, links: Links) -> bool:
    """Tell whether a page with scripts has no links except its menus."""
    return "script" in document.tags and _AROUND_TEXT.issuperset(links.blocks)


def loads_more_text(document: Document, text: str) -> bool:
    """Tell whether an article is short and its page links to data for scripts."""
    is_short = 0 < len(text) <= _MOST_BEGINNING and text.count("\n") < _MOST_PARAGRAPHS
    return is_short and "script" in document.tags and any(map(_is_data, document.relations))


def _is_data(relation: tuple[str, str, str, str]) -> bool:
    return "alternate" in relation[0].split() and relation[2].partition(";")[0].strip() == "application/json"


def _buttons(document: Document) -> Iterator[str]:
    for node in (node for node, tag in enumerate(document.tags) if tag == "button"):
        yield "".join(map(str, islice(document.elements[node].itertext(), _MOST_PIECES)))
