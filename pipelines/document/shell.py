"""Pages that hold no text of their own: a script makes it in the reader's browser."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final
from urllib.parse import urljoin, urlsplit

from .document import Document
from .view import measure

# Set by hand with the pages of tests.benchmarks.extraction in view: one in 500 of those that hold text may be taken for
# a shell, and the six sites of a test web whose pages are made by script are.
_MOST_LETTERS: Final = 250
"""A shell shows no more than its menu, and that it loads. A Chinese character counts for two and a half letters."""
_HARDLY: Final = 30
_LEAST_OWN: Final = 120
_LEAST_VISIBLE: Final = 400
"""Letters of the text, and of all that a page shows, below which scripts must make it; see
`tests.benchmarks.script_pages`.
"""
_SCRIPTS: Final = 3
"""With hardly any letters and so many scripts a page needs no other sign."""
_ROOT_LETTERS: Final = 8
_ROOT = re.compile(
    r"(?:^|\s)(?:app|root|__next|__nuxt|___gatsby|svelte|q-app|main-app|app-root|react-root|reactroot|vue-app|"
    r"app-container|"
    r"root-container|mount|ember-application)(?:$|\s)"
)
_ROOT_TAGS: Final = frozenset({"app-root", "app", "main-app", "ng-view", "ui-view", "router-outlet", "astro-island"})
_LOADING = re.compile(r"skeleton|loading|loader|spinner|placeholder|shimmer|preload")
_STATE = re.compile(
    r"__(?:next_data|nuxt(?:_data)?|initial_state|preloaded_state|apollo_state|initial_data|render_data|remixcontext|"
    r"data)__|"
    r"__(?:remixcontext|reactroutercontext|sveltekit_\w{1,20}|next_f)\b|\b_\$hy\b|\$_tsr\b|"
    r"window\.(?:__\w{3,30}__)\s?=",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"(?:enable|requires?|need|activ|turn on|switch on|without|support|aktiv|habilit|включ|启用|啟用|开启|開啟|启动|"
    r"打开|支持|włącz|"
    r"abilit)"
    r".{0,60}(?:javascript|\bjs\b)|"
    r"(?:javascript|\bjs\b).{0,60}(?:enable|required|disabled|activ|aktiv|habilit|включ|启用|啟用|开启|開啟|禁用|"
    r"有効|włącz|"
    r"not (?:available|supported)|운영|활성)",
    re.IGNORECASE | re.DOTALL,
)
_STATE_CHARS: Final = 400
_NOSCRIPT_CHARS: Final = 600


def is_thin(document: Document, text: str) -> bool:
    """Tell whether a page shows so little that scripts must make its text.

    Structured data do not count: they describe a text that is not there. Cost: O(blocks + characters of `text`).
    """
    letters = len(text) + 3 * sum("\u3040" <= character <= "\u9fff" for character in text[:_LEAST_OWN]) // 2
    return letters < _LEAST_OWN and int(measure(document).letters.sum()) < _LEAST_VISIBLE and "script" in document.tags


def is_shell(document: Document) -> bool:
    """Tell whether the text of a page is made by script.

    Hardly any text stands beside scripts, and one sign says why: an application's element is empty or loading, a part
    of the page is left to the browser, the page asks to enable JavaScript, or its data lie in a script.
    Cost: O(elements) for a page with hardly any text, O(1) for others.
    """
    letters = int(measure(document).letters.sum())
    if letters > _MOST_LETTERS:
        return False
    scripts = document.tags.count("script")
    if not scripts:
        return False
    return (
        (letters <= _HARDLY and (scripts >= _SCRIPTS or _has_state(document) or _has_modules(document)))
        or (not letters and not document.links and _has_own_script(document))
        or _has_bare_root(document)
        or has_fallback(document)
        or _asks(document)
    )


def has_fallback(document: Document) -> bool:
    """Tell whether a server left a part of the page to the browser, as React marks it."""
    tags = document.tags
    templates = [document.elements[node] for node, tag in enumerate(tags) if tag == "template"]
    if any("data-dgst" in template.attrib or "data-msg" in template.attrib for template in templates):
        return True
    waiting = {template.get("id", "")[2:] for template in templates if template.get("id", "").startswith("B:")}
    return bool(waiting) and not waiting <= {
        document.elements[node].get("id", "")[2:]
        for node in document.hidden
        if document.elements[node].get("id", "").startswith("S:")
    }


def has_state(script: str) -> bool:
    head = script[:_STATE_CHARS]
    return "_" in head and _STATE.search(head) is not None


def is_root(tag: str, name: str) -> bool:
    return tag in _ROOT_TAGS or (bool(name) and _ROOT.search(name) is not None)


def _has_bare_root(document: Document) -> bool:
    for node, (tag, name) in enumerate(zip(document.tags, document.names, strict=True)):
        if is_root(tag, name):
            if int(document.T[node]) <= _ROOT_LETTERS:
                return True
            inside = islice(document.names, node, document.ends[node])
            if any(inner and _LOADING.search(inner) for inner in inside):
                return True
    return False


def _has_modules(document: Document) -> bool:
    return any("modulepreload" in relation[0].split() for relation in document.relations) or any(
        document.elements[node].get("type") == "module" for node, tag in enumerate(document.tags) if tag == "script"
    )


def _has_own_script(document: Document) -> bool:
    host = urlsplit(document.url).netloc
    sources = (document.elements[node].get("src") for node, tag in enumerate(document.tags) if tag == "script")
    return any(source and urlsplit(urljoin(document.url, source)).netloc == host for source in sources)


def _has_state(document: Document) -> bool:
    return any(map(has_state, document.scripts))


def _asks(document: Document) -> bool:
    for node, tag in enumerate(document.tags):
        if tag == "noscript":
            text = "".join(map(str, islice(document.elements[node].itertext(), 20)))
            if _ASKED.search(text[:_NOSCRIPT_CHARS]):
                return True
    return any(_ASKED.search(text[:_NOSCRIPT_CHARS]) for text in document.blocks.texts)
