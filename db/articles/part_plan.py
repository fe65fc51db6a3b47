"""Plans for articles of several pages, made without a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from ..records.article import Added
from ..records.part import Arrival, Chain, Fate, Part, Place, Ready
from ..records.reasons import PageReason
from ..records.url import State

_MOST_TIED = 200
"""Parts of a group that takes no others; chosen by hand."""
_TO_COME = frozenset({State.PENDING, State.LEASED})


class UrlState(Protocol):
    id: int
    state: str
    same_as: int | None


class Arrangement(NamedTuple):
    """Place of a part: first part, number from 1 (0 adds nothing), 1 if joined."""

    key: int
    first: int
    place: int
    is_joined: int


class Mark(NamedTuple):
    key: int
    why: PageReason | None
    detail: str | None = None
    other: int | None = None


# ---------------------------------------------------------------- pages that come


def names(arrival: Arrival) -> list[int]:
    named = () if arrival.place is None else (arrival.place.next_id, arrival.place.previous_id)
    return [arrival.id, *(key for key in named if key is not None)]


def new_parts(arrivals: Sequence[Arrival], near: Sequence[Part]) -> set[int]:
    """Return the pages that are parts: they say so, or one of `near` names them."""
    named = {key for row in near for key in (row.id, row.next_id, row.previous_id)}
    named |= {key for one in arrivals for key in names(one)[1:]}
    return {
        one.id
        for one in arrivals
        if one.fate is Fate.CAME and one.article is not None and (one.place is not None or one.id in named)
    }


def waiting_for(arrival: Arrival, near: Sequence[Part]) -> dict[int, int]:
    """Return the groups that name a page that has come, with that page."""
    if arrival.fate is not Fate.CAME:
        return {}
    return {row.group_id: arrival.id for row in near if arrival.id in {row.next_id, row.previous_id}}


def ended(arrivals: Sequence[Arrival], near: Sequence[Part]) -> tuple[set[int], dict[int, int]]:
    """Return the parts that revisits end, and (group, part) of those cut short."""
    fates = {one.id: one.fate for one in arrivals}
    parts = {row.id for row in near if fates.get(row.id) is Fate.MOVED}
    shorter: dict[int, int] = {}
    followers = {row.next_id for row in near}
    for row in near:
        # the article has become shorter; it does not lose its beginning, nor what its pages still name
        if fates.get(row.id) is Fate.GONE and row.position > 1 and row.id not in followers:
            parts.add(row.id)
            shorter[row.group_id] = row.id
    return parts, shorter


def groups_of(
    key: int, title: str, near: Sequence[Part], continues: Callable[[str, str], bool], size: Callable[[int], int]
) -> list[int]:
    """Return the groups that a part belongs to, several if it ties them."""
    own_groups = [row.group_id for row in near if row.id == key]
    tied = dict.fromkeys(row.group_id for row in near if continues(row.title, title))
    return list(dict.fromkeys((*own_groups, *(group for group in tied if size(group) < _MOST_TIED))))


# ---------------------------------------------------------------- arranging a group


def redirected(rows: Iterable[Part], states: Iterable[UrlState]) -> dict[int, Place]:
    moved = {row.id: row.same_as for row in states if row.state == State.SKIPPED and row.same_as}
    places: dict[int, Place] = {}
    for row in rows:
        place = Place(row.number, _moved(row, row.next_id, moved), _moved(row, row.previous_id, moved))
        if (place.next_id, place.previous_id) != (row.next_id, row.previous_id):
            places[row.id] = place
    return places


def _moved(row: Part, named: int | None, moved: Mapping[int, int]) -> int | None:
    new = None if named is None else moved.get(named, named)
    return None if new == row.id else new


def is_continued(rows: Iterable[Part], key: int, title: str, continues: Callable[[str, str], bool]) -> bool:
    return any(continues(row.title, title) for row in rows if key in {row.next_id, row.previous_id})


def still_to_come(states: Iterable[UrlState]) -> set[int]:
    return {row.id for row in states if row.state in _TO_COME}


def members(chain: Chain) -> tuple[int, ...]:
    return (*chain.parts, *chain.repeats, *chain.surplus)


def waits(chain: Chain, to_come: set[int]) -> bool:
    """Tell whether an article waits: for a missing part, or a revisit of one it has.

    What changes together is written at once.
    """
    return not to_come.isdisjoint((*chain.missing, *chain.parts))


def waiting(chain: Chain, rows: Mapping[int, Part]) -> list[Arrangement]:
    places = {key: i for i, key in enumerate(chain.parts, 1)}
    first = chain.parts[0]
    return [
        Arrangement(key, first, places.get(key, 0), 0)
        for key in sorted(members(chain))
        if not rows[key].joined and (rows[key].first_id, rows[key].position) != (first, places.get(key, 0))
    ]


def settled(ready: Sequence[Ready], added: Sequence[Added]) -> tuple[list[Arrangement], list[Mark]]:
    arrangements: list[Arrangement] = []
    marks: list[Mark] = []
    for one, result in zip(ready, added, strict=True):
        chain, first = one.chain, one.chain.parts[0]
        places = {key: i for i, key in enumerate(chain.parts, 1)}
        places |= dict.fromkeys((*chain.repeats, *chain.surplus), 0)
        arrangements += [Arrangement(key, first, place, 1) for key, place in places.items()]
        why = result.what.why_not_stored
        if why is not None:  # a stored copy is no other URL of what it repeats
            marks.append(Mark(first, why, other=result.same_as))
        elif one.article.harm_detail:
            marks.append(Mark(first, PageReason.HARMFUL, one.article.harm_detail))
        else:
            marks.append(Mark(first, None))
        marks += [Mark(key, PageReason.JOINED, other=first) for key in chain.parts[1:]]
        marks += [Mark(key, PageReason.REPEATS, other=first) for key in chain.repeats]
        marks += [Mark(key, PageReason.SURPLUS, other=first) for key in chain.surplus]
    return sorted(arrangements), sorted(marks, key=lambda mark: mark.key)
