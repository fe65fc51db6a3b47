"""The story page: who had it first, who copied it, and what each copy changed."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.responses import Response

from db.queries.reprints import Branch, Reprint, Reprints, reprints_of
from pipelines.dedup.differences import SentenceDiff, compare_sentences

from ..drawing.timeline import Dot, draw, lag
from ..frame.visit import NotHere, Visit

MOST_SHOWN = 60
NARROW, WIDE = 320, 720


def show(visit: Visit) -> Response:
    """Show the tree of reprints as a picture and as a list."""
    story = find(visit, MOST_SHOWN)
    code = visit.language.code
    branches = story.branches()
    start = time_of(branches[0].article)
    places = {branch.article.id: place for place, branch in enumerate(branches)}
    lags = [time_of(branch.article) - start for branch in branches]
    told = [lag(behind, code) if round(behind) else visit.language("story.same-time") for behind in lags]
    dots = [
        Dot(
            name=one.site,
            lag=visit.language("story.first") if above is None else behind_first,
            at=behind,
            above=None if above is None else places[above.id],
            kind=one.kind or "",
            is_dated=one.published_utc is not None,
        )
        for (one, above, _), behind, behind_first in zip(branches, lags, told, strict=True)
    ]
    return visit.page(
        "story.html",
        story=story,
        rows=[
            {"branch": branch, "lag": behind_first, "diff": difference(story, branch)}
            for branch, behind_first in zip(branches, told, strict=True)
        ],
        kinds={dot.kind for dot in dots},
        some_undated=not all(dot.is_dated for dot in dots),
        pictures=[("narrow", draw(dots, NARROW, code)), ("wide", draw(dots, WIDE, code))] if len(dots) > 1 else [],
    )


def find(visit: Visit, most: int) -> Reprints:
    """Read the story that the path names, by any of its articles.

    Raises:
        NotHere: there is none.
    """
    key = visit.number_in_path("problem.story")
    story = visit.read(lambda connection: reprints_of(connection, key, most))
    if story is None:
        raise NotHere("problem.story")
    return story


def difference(story: Reprints, branch: Branch) -> SentenceDiff | None:
    """Compare an article with the one above it; None without one of the texts."""
    if branch.above is None or not branch.article.text:
        return None
    before = story.text_of(branch.above)
    return None if before is None else compare_sentences(before, branch.article.text)


def time_of(one: Reprint) -> float:
    """Return the Unix time of an article: published, or else seen."""
    if one.published_utc is not None:
        return datetime.fromisoformat(one.published_utc).replace(tzinfo=UTC).timestamp()
    return datetime.fromisoformat(one.first_seen).timestamp()
