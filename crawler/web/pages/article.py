"""The article page, and the source of the page it was extracted from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from starlette.responses import Response

from db.desk.marks import MOST_NOTE_CHARS
from db.queries.articles import ReadArticle, read_article
from db.queries.reprints import Reprint, reprints_of
from db.queries.status import stored_page_of
from db.records.desk import ArticleMarks, label_key
from pipelines.decode.zstd import UnpackError, decompress
from pipelines.dedup.differences import Change, mark_changes
from pipelines.export.citations import cite
from pipelines.search.records import Span

from ..frame.body import body
from ..frame.file_forms import CITATIONS, FORMATS
from ..frame.security import CONTENT_SECURITY_POLICY, NOTHING_RUNS
from ..frame.still import STILL, still
from ..frame.visit import NotHere, Visit
from . import search
from .way import find_way, mark_of

_MOST_REPRINTS = 5
_MOST_BYTES = 64 << 20
_MOST_CHANGES = 10
_MOST_COMPARED = 100_000
"""Characters of two texts; the time of a comparison grows with their square."""
_AROUND = 120
"""Characters shown on either side of a change."""


def show(visit: Visit) -> Response:
    read = find(visit)
    item = read.item
    query = search.query_of(visit)
    mark = mark_of(query, f"{item.title}\n{item.text}", item.language)
    url = item.url or ""
    return visit.page(
        "article.html",
        read=read,
        item=item,
        title=mark(item.title) if mark else [Span(item.title, is_match=False)],
        body=body(item.html, item.text, visit.language("article.image"), mark),
        way=find_way(visit, query, int(item.id)),
        reprints=_reprints(visit, read),
        changes=_changes(read),
        citations=cite(item),
        click=visit.note_click(int(item.id)),
        can_mark=not visit.site.desk.objection(),
        marks=visit.site.desk.marks_of([url]).get(url, ArticleMarks()),
        label_names=[] if query.marked is None else sorted(query.marked.names.values(), key=label_key),
        this_search=visit.here("/").partition("?")[2],
        most_note=MOST_NOTE_CHARS,
    )


def _reprints(visit: Visit, read: ReadArticle) -> Sequence[Reprint]:
    """Return other articles of the story, the first ones."""
    if read.cluster_size < 2:
        return ()
    key = int(read.item.id)
    story = visit.read(lambda connection: reprints_of(connection, key, _MOST_REPRINTS + 1))
    return [one for one in story.articles if one.id != key][:_MOST_REPRINTS] if story else ()


def find(visit: Visit) -> ReadArticle:
    """Read the article named in the path.

    Raises:
        NotHere: there is none.
    """
    key = visit.number_in_path("problem.article")
    read = visit.read(lambda connection: read_article(connection, key))
    if read is None:
        raise NotHere("problem.article")
    return read


def show_citation(visit: Visit) -> Response:
    """Answer with a file of one citation."""
    style = visit.one_of("format", CITATIONS)
    form = FORMATS[style]
    item = find(visit).item
    response = visit.answer(cite(item)[style] + "\n", form.media)
    response.headers["Content-Security-Policy"] = NOTHING_RUNS
    response.headers["Content-Disposition"] = f'attachment; filename="article-{item.id}.{form.ending}"'
    return response


def show_view(visit: Visit) -> Response:
    """Show the text of an article beside its page."""
    read = find(visit)
    if not read.has_page:
        raise NotHere("problem.page")
    item = read.item
    text = body(item.html, item.text, visit.language("article.image"))
    response = visit.page("view.html", item=item, body=text)
    response.headers["Content-Security-Policy"] = f"{CONTENT_SECURITY_POLICY}; frame-src 'self'"
    return response


def show_still(visit: Visit) -> Response:
    """Answer with the stored page for the frame beside the text."""
    _, source = _stored(visit)
    response = visit.answer(still(source), "text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = STILL
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    return response


def show_page(visit: Visit) -> Response:
    key, source = _stored(visit)
    response = visit.answer(source, "text/plain; charset=utf-8")
    response.headers["Content-Security-Policy"] = NOTHING_RUNS
    response.headers["Content-Disposition"] = f'inline; filename="page-{key}.txt"'
    return response


def _stored(visit: Visit) -> tuple[int, str]:
    key = visit.number_in_path("problem.page")
    stored = visit.read(lambda connection: stored_page_of(connection, key))
    if stored is None:
        raise NotHere("problem.page")
    try:
        source = decompress(stored[1].body, _MOST_BYTES)
    except UnpackError:  # damaged, or longer than any page that a crawl takes
        raise NotHere("problem.page") from None
    return key, _decoded(source, stored[1].encoding)


def _decoded(source: bytes, encoding: str) -> str:
    try:
        return source.decode(encoding or "utf-8", "replace")
    except LookupError:
        return source.decode("utf-8", "replace")


def _changes(read: ReadArticle) -> list[dict[str, object]]:
    now = read.item
    states = [(now.updated, now.title, now.text), *((each.seen, each.title, each.text) for each in read.versions)]
    return [
        {
            "when": later[0],
            "title": mark_changes(earlier[1], later[1]) if earlier[1] != later[1] else None,
            "text": list(_folded(mark_changes(earlier[2], later[2])))
            if len(earlier[2]) + len(later[2]) <= _MOST_COMPARED
            else None,
            "since": earlier[0],
        }
        for later, earlier in islice(pairwise(states), _MOST_CHANGES)
    ]


def _folded(changes: Sequence[Change]) -> Iterator[tuple[str, str]]:
    last = len(changes) - 1
    for place, (sign, text) in enumerate(changes):
        if sign != "=" or len(text) <= 3 * _AROUND:
            yield sign, text
            continue
        if place:
            yield sign, text[:_AROUND]
        yield "…", ""
        if place < last:
            yield sign, text[-_AROUND:]
