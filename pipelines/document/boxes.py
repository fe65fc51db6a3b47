"""Boxes in and around a text: comments of readers, captions, menus, dialogs.

Their text is prose as good as the article's, but their containers tell them apart. The words were collected by hand;
each was kept because it helps on pages of five sites or more.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import numpy as np

from .document import Document
from .view import Flags, measure

_BOX_TAGS: Final = frozenset({"figcaption", "nav", "footer", "dialog", "form"})
# Chosen by hand.
_MOST_BOX: Final = 0.3
"""Share of the page's text above which a container is no box, whatever its name: old pages stand in one form."""
_PAGE: Final = frozenset({"html", "body", "main"})
"""Their names say something of the page, as "comments-open" does."""
_BOX = re.compile(
    r"(?:^|[\s_-])(?:fig)?captions?(?:$|[\s_-]|text|wrap)|(?:image|photo|pic|picture|img|wp-)-?caption|bildunterschrift|"
    r"(?:^|[^a-z])(?:dialog|modal|popup|popover|lightbox|signature|lastedited)(?:$|[^a-z])"
)
_COMMENTS = re.compile(
    r"(?:^|[^a-z])(?:(?:user|reader|article|blog|post|story|facebook|news|entry|wp|li|all|page|view)s?[-_]?)?"
    r"(?:comments?|cmnts?|cmts?|commentaires?|commenti|commento|comentarios?|kommentare?r?|komentar\w{0,3}|reacties?|"
    r"pinglun|disqus|livefyre|respond)"
    # what counts them, leads to them or says whether there may be some
    r"(?![-_ ]?(?:head|count|link|option|num|icon|total|toggle|on\b|off\b|open|close|enabl|disabl|allow|status|meta|"
    r"info|button|btn|badge|bubble|c\b))"
    r"(?:$|[^a-z]|list|s?(?:area|section|body|text|block|box|container|wrap|content|item|thread|tree|entry|form|"
    r"holder|panel))"
)
_BESIDE = re.compile(r"(?:recent|latest|last|new|top|most|no|has|with|allow)[-_]?comment")
_THREAD = re.compile(
    r"forums?\b|\bbbs|threads?\b|topics?[/.=-]|viewtopic|showthread|discussions?\b|/questions?/|/answers?/|"
    r"community\b|/[tr]/|/d/\d"
)
_SOFTWARE = re.compile(
    r"phpbb|vbulletin|discuz|discourse|xenforo|vanilla|mybb|nodebb|flarum|tapatalk|simple machines|invision|phpwind"
)
_THREAD_TYPES: Final = ("DiscussionForumPosting", "QAPage")


def find_boxes(document: Document, likely: Flags) -> tuple[Flags, Flags]:
    """Flag the `likely` blocks that stand in boxes, and those in comments.

    Cost: O(nodes + blocks).
    """
    view = measure(document)
    labels, of = view.labels
    kinds = np.zeros((2, len(labels)), np.bool_)
    for label in set(of[view.sums(likely) > 0].tolist()):
        kinds[:, label] = _kind(*labels[label])
    box_nodes, comment_nodes = kinds[:, of]
    box_nodes[list(document.hidden)] = True
    box_nodes &= _MOST_BOX * float(document.T[0]) >= document.T
    boxes, comments = (view.in_any(nodes.nonzero()[0].tolist()) for nodes in (box_nodes, comment_nodes))
    return boxes & likely, comments & likely


@lru_cache(maxsize=8192)
def _kind(tag: str, name: str) -> tuple[bool, bool]:
    """Return (is a box, holds comments)."""
    if tag in _PAGE or not name:
        return tag in _BOX_TAGS, False
    return tag in _BOX_TAGS or bool(_BOX.search(name)), bool(_COMMENTS.search(name)) and not _BESIDE.search(name)


def is_thread(document: Document) -> bool:
    url = document.url.lower().partition("//")[2]
    software = " ".join((url, *document.metas.get("generator", ()))).lower()
    return bool(_THREAD.search(url) or _SOFTWARE.search(software)) or any(
        kind in text for text in document.json_ld for kind in _THREAD_TYPES
    )
