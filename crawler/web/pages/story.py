"""The story page: who published first, who copied, and what each copy changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from starlette.responses import Response

from db.queries.reprints import Branch, Reprint, Reprints, reprints_of
from db.records.keys import read_time
from pipelines.dedup.differences import compare_sentences

from ..drawing.timeline import Dot, draw, lag
from ..frame.visit import NotHere, Visit

MOST_SHOWN = 60
MOST_COMPARED = 300_000
"""Characters compared for one page, in total: a thousand take a millisecond."""
NARROW, WIDE = 320, 720


def show(visit: Visit) -> Response:
    story = find(visit, MOST_SHOWN)
    code = visit.language.code
    branches = story.branches()
    start = time_of(branches[0].article)
    places = {branch.article.id: place for place, branch in enumerate(branches)}
    lags = [time_of(branch.article) - start for branch in branches]
    lag_texts = [lag(behind, code) if round(behind) else visit.language("story.same-time") for behind in lags]
    dots = [
        Dot(
            name=one.site,
            lag=visit.language("story.first") if above is None else behind_first,
            at=behind,
            above=None if above is None else places[above.id],
            kind=one.kind or "",
            is_dated=one.published_utc is not None,
        )
        for (one, above, _), behind, behind_first in zip(branches, lags, lag_texts, strict=True)
    ]
    return visit.page(
        "story.html",
        story=story,
        rows=list(_rows(story, branches, lag_texts)),
        kinds={dot.kind for dot in dots},
        some_undated=not all(dot.is_dated for dot in dots),
        pictures=[("narrow", draw(dots, NARROW, code)), ("wide", draw(dots, WIDE, code))] if len(dots) > 1 else [],
    )


def find(visit: Visit, most: int) -> Reprints:
    """Read the story of the article named in the path.

    Raises:
        NotHere: there is none.
    """
    key = visit.number_in_path("problem.story")
    story = visit.read(lambda connection: reprints_of(connection, key, most))
    if story is None:
        raise NotHere("problem.story")
    return story


def _rows(story: Reprints, branches: Sequence[Branch], lags: Sequence[str]) -> Iterator[dict[str, object]]:
    left = MOST_COMPARED
    for branch, behind in zip(branches, lags, strict=True):
        one, above, _ = branch
        before = story.text_of(above) if above is not None and one.text else None
        diff = None
        if before is not None:
            left -= len(before) + len(one.text)
            diff = compare_sentences(before, one.text) if left >= 0 else None
        yield {"branch": branch, "lag": behind, "diff": diff, "is_long": before is not None and diff is None}


def time_of(one: Reprint) -> float:
    """Return the Unix time an article was published, or first seen."""
    moment = read_time(one.published_utc) or read_time(one.first_seen)
    return 0.0 if moment is None else moment.timestamp()
