"""Plans for articles of several pages, without a database."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from db.articles.part_plan import (
    Arrangement,
    Mark,
    ended,
    groups_of,
    new_parts,
    redirected,
    settled,
    still_to_come,
    waiting,
    waiting_for,
    waits,
)
from db.records.article import Added
from db.records.part import Arrival, Chain, Fate, Part, Place, Ready
from db.records.reasons import ArticleResult, PageReason
from db.records.url import State
from tests.db.frontier_rows import article


def part(key: int, *, next_id: int | None = None, previous_id: int | None = None, **values: Any) -> Part:
    defaults = {"group_id": 1, "first_id": key, "position": 0, "joined": 0, "number": 0, "title": "", "text_hash": key}
    return Part(id=key, next_id=next_id, previous_id=previous_id, **{**defaults, **values})


def state(key: int, value: State, same_as: int | None = None) -> Any:
    return SimpleNamespace(id=key, state=value, same_as=same_as)


PAGE = article("http://a.example/1", "正文")


def test_page_is_a_part_if_it_says_so_or_another_names_it() -> None:
    arrivals = [
        Arrival(1, PAGE, Place(next_id=2)),
        Arrival(2, PAGE, None),
        Arrival(3, PAGE, None),
        Arrival(4, None, Place()),
        Arrival(5, PAGE, Place(), Fate.STAYED),
    ]
    assert new_parts(arrivals, []) == {1, 2}
    assert new_parts(arrivals, [part(9, next_id=3)]) == {1, 2, 3}


def test_group_that_names_a_page_waits_for_it() -> None:
    near = [part(1, next_id=2), part(7, previous_id=3, group_id=7)]
    assert waiting_for(Arrival(2, None, None), near) == {1: 2}
    assert waiting_for(Arrival(3, None, None, Fate.GONE), near) == {}


def test_last_page_that_is_gone_shortens_its_article() -> None:
    near = [part(1, next_id=2, position=1), part(2, position=2), part(3, position=3)]
    gone = [Arrival(key, None, None, Fate.GONE) for key in (1, 2, 3)]
    assert ended(gone, near) == ({3}, {1: 3}), "the first stays, and so does what a page still names"
    assert ended([Arrival(2, None, None, Fate.MOVED)], near) == ({2}, {})


def test_part_joins_its_own_group_before_those_it_ties() -> None:
    near = [part(1, group_id=5, title="甲"), part(2, group_id=6, title="乙"), part(3, group_id=7, title="甲")]
    sizes = {5: 3, 6: 3, 7: 900}
    assert groups_of(3, "甲", near, lambda one, other: one == other, lambda key: sizes[key]) == [7, 5]
    assert groups_of(9, "甲", near, lambda one, other: one == other, lambda key: sizes[key]) == [5], "7 is full"


def test_redirects_of_named_urls_are_followed_but_not_in_a_circle() -> None:
    rows = [part(1, next_id=2, number=1), part(5, previous_id=6), part(7, next_id=8)]
    states = [state(2, State.SKIPPED, 3), state(6, State.SKIPPED, 5), state(8, State.DONE, 9)]
    assert redirected(rows, states) == {1: Place(1, 3, None), 5: Place(0, None, None)}


def test_article_waits_for_missing_parts_and_for_revisits() -> None:
    to_come = still_to_come([state(1, State.DONE), state(2, State.PENDING), state(3, State.LEASED)])
    assert to_come == {2, 3}
    assert [waits(Chain(parts, missing=missing), to_come) for parts, missing in (((1,), (2,)), ((3,), ()))] == [
        True
    ] * 2
    assert not waits(Chain((1,), missing=(4,)), to_come)


def test_waiting_parts_are_arranged_once() -> None:
    rows = {1: part(1, position=1), 2: part(2), 3: part(3, joined=1)}
    assert waiting(Chain((1, 2), repeats=(3,)), rows) == [Arrangement(2, 1, 2, 0)]


def test_parts_of_a_stored_article_say_what_became_of_them() -> None:
    ready = Ready("http://a.example/1", PAGE, Chain((1, 2), repeats=(3,), surplus=(4,)), by=2)
    arrangements, marks = settled([ready], [Added(ArticleResult.NEW)])
    assert arrangements == [
        Arrangement(1, 1, 1, 1),
        Arrangement(2, 1, 2, 1),
        Arrangement(3, 1, 0, 1),
        Arrangement(4, 1, 0, 1),
    ]
    assert marks == [
        Mark(1, None),
        Mark(2, PageReason.JOINED, other=1),
        Mark(3, PageReason.REPEATS, other=1),
        Mark(4, PageReason.SURPLUS, other=1),
    ]
    (_, (mark, *_)) = settled([ready], [Added(ArticleResult.SAME_PAGE, 9)])
    assert mark == Mark(1, PageReason.SAME_PAGE, other=9)
