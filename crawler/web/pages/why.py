"""The page about a URL: everything `scrapy why` prints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from starlette.responses import Response

from ..frame.language import Language
from ..frame.shown import short
from ..frame.visit import Visit
from ..inspection.explanation import look_up, origin, read_url, results, score_shares
from .board import board_page

_MOST_URL = 2_000
_MOST_TEXT = 1_000
_NAMED = 40


def show(visit: Visit) -> Response:
    given = visit.text("url", _MOST_URL).strip()
    url = read_url(given) if given else None
    answer = visit.read(lambda connection: look_up(connection, url)) if url else None
    explanation = answer.known if answer else None
    shares = score_shares(explanation) if explanation else []
    return board_page(
        visit,
        "why.html",
        section="why",
        given=given,
        url=url,
        is_pruned=answer is not None and answer.is_pruned,
        known=explanation,
        found=_told(origin(explanation, answer.rules) if explanation and answer else (), visit.language),
        results=_told(results(explanation) if explanation else (), visit.language),
        shares=shares,
        most=max((abs(each.added) for each in shares), default=0.0),
    )


def _told(lines: Iterable[tuple[str, str]], t: Language) -> list[tuple[str, Sequence[str]]]:
    rows: list[tuple[str, list[str]]] = []
    for label, text in lines:
        if label in {"URL", "state"}:  # they stand in the title
            continue
        if not label and rows:
            rows[-1][1].append(short(t.said(text), _MOST_TEXT))
        else:
            rows.append((t.named("why", short(label, _NAMED)), [short(_said(label, text, t), _MOST_TEXT)]))
    return [(label, texts) for label, texts in rows]


def _said(label: str, text: str, t: Language) -> str:
    """Translate a text unless it comes from a page."""
    return t.named(_WORDS[label], text) if label in _WORDS else text if label == "article" else t.said(text)


_WORDS = {"page": "kind", "kind": "kind", "found": "place"}
