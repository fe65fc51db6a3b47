"""Articles of several pages: each page is stored as a part, and parts are joined.

A part names the pages before and behind it. Parts that are tied so, and whose titles agree, form a group. Whenever a
page comes that belongs to a group or that one waits for (also when it failed or turned out to be something else), the
group is arranged anew: as long as a page it names is still to be fetched it waits, then its texts are joined and the
article is stored under the URL of the first part. So the parts may come in any order, a part that comes later makes the
article longer, and the same parts always make the same article. All of it happens in the transaction of the page.

What a group looks like in order, and how texts are joined, is not decided here (see `Joiner`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, bindparam, delete, exists, func, literal_column, select, union_all, update

from ..engine.statements import among, run_many, upsert
from ..records.article import Added, NewArticle
from ..records.part import Arrival, Chain, Fate, Gathered, Joiner, Part, Place, Ready
from ..records.reasons import PageReason
from ..records.url import State
from ..tables.articles import ArticleRow, ImageRow, PartRow
from ..tables.urls import UrlRow
from . import apply
from .signatures import lock_articles

part, url, article, image = (model.table() for model in (PartRow, UrlRow, ArticleRow, ImageRow))

_MOST_TIED = 200
_MOST_REDIRECTS = 10
_MOST_GROUPS = 50


def gather(connection: Connection, arrivals: Sequence[Arrival], joiner: Joiner) -> Gathered:
    """Store the parts among some pages and join articles that wait for nothing more.

    The states of the pages, and the URLs they name, are in the table already. The caller holds the lock on articles
    if there is an article among them, so that it sees what another process has just stored of the same parts.

    Cost: one read for all pages when none has to do with a part.
    """
    return _Groups(connection, joiner).take_in(arrivals)


def unfinished(connection: Connection, joiner: Joiner) -> Gathered:
    """Join some of the articles whose missing parts will not come.

    The caller holds the lock on articles.
    """
    ids = connection.execute(_WAITING_GROUPS).scalars().all()
    return _Groups(connection, joiner).as_they_are(ids)


def settle(connection: Connection, ready: Sequence[Ready], added: Sequence[Added]) -> None:
    """Write of each part which article it went into, once that is stored."""
    rows = []
    marks = []
    for one, what in zip(ready, added, strict=True):
        chain, first = one.chain, one.chain.parts[0]
        places = {key: i for i, key in enumerate(chain.parts, 1)}
        places |= dict.fromkeys((*chain.repeats, *chain.surplus), 0)
        rows += [{"key": key, "first": first, "place": n, "is_joined": 1} for key, n in places.items()]
        why, detail = what.what.why_not_stored, None
        other = None if why is None else what.same_as  # a stored copy is no other URL of what it repeats
        if why is None and one.article.harm_detail:
            why, detail = PageReason.HARMFUL, one.article.harm_detail
        marks.append({"key": first, "why": why, "detail": detail, "other": other})
        for keys, why in (
            (chain.parts[1:], PageReason.JOINED),
            (chain.repeats, PageReason.REPEATS),
            (chain.surplus, PageReason.SURPLUS),
        ):
            marks += [{"key": key, "why": why, "detail": None, "other": first} for key in keys]
    run_many(connection, _ARRANGE, sorted(rows, key=lambda row: row["key"]))
    run_many(connection, _MARK, sorted(marks, key=lambda row: row["key"]))


class _Groups:
    """Groups that some pages have to do with, in one transaction."""

    def __init__(self, connection: Connection, joiner: Joiner) -> None:
        self._connection = connection
        self._joiner = joiner
        self._stirred: dict[int, int] = {}
        """Groups to be looked at again, and the page that is the reason."""

    def take_in(self, arrivals: Sequence[Arrival]) -> Gathered:
        """Store new parts, then arrange the groups that they change; see `gather`."""
        gathered = Gathered()
        near = self._near([key for one in arrivals for key in _names(one)])
        if not near and not any(one.place for one in arrivals):
            return gathered
        lock_articles(self._connection)
        named = {key for row in near for key in (row.id, row.next_id, row.previous_id)}
        named |= {key for one in arrivals for key in _names(one)[1:]}
        self._visited_again([one for one in arrivals if one.fate is not Fate.CAME], near)
        for one in arrivals:
            if one.fate is not Fate.CAME:
                continue
            self._stirred |= {row.group_id: one.id for row in near if one.id in {row.next_id, row.previous_id}}
            if one.article is not None and (one.place is not None or one.id in named):
                self._keep(one.article, one.place or Place(), one.id)
                gathered.parts.add(one.id)
        while self._stirred:
            group_id, by = self._stirred.popitem()
            gathered.ready += self._look_at(group_id, by)
        return gathered

    def _visited_again(self, arrivals: Sequence[Arrival], near: Sequence[Part]) -> None:
        """Handle revisits that brought no part: some end one, others may wait for them."""
        groups = {row.id: row.group_id for row in near}
        here = {one.id: one for one in arrivals if one.id in groups}
        if not here:
            return
        ended = [key for key, one in here.items() if one.fate is Fate.MOVED]
        followers = {row.next_id for row in near}
        for row in near:
            # the article has become shorter; it does not lose its beginning, nor what its pages still name
            if row.id in here and here[row.id].fate is Fate.GONE and row.position > 1 and row.id not in followers:
                ended.append(row.id)
                self._stirred[row.group_id] = row.id
        run_many(self._connection, _END, [{"key": key} for key in sorted(ended)])
        waiting = self._connection.execute(_WAITING_AMONG, {"ids": sorted({groups[key] for key in here})}).scalars()
        self._stirred |= {group: next(key for key in here if groups[key] == group) for group in waiting}

    def as_they_are(self, group_ids: Iterable[int]) -> Gathered:
        """Join groups without what is missing; see `unfinished`."""
        gathered = Gathered()
        for group_id in group_ids:
            rows = {row.id: row for row in self._rows(group_id)}
            chains = self._joiner.arrange(list(rows.values()))
            gathered.ready += [
                self._join(chain, 0) for chain in chains if not all(rows[key].joined for key in _members(chain))
            ]
        return gathered

    # ------------------------------------------------------------ keeping parts

    def _near(self, ids: Sequence[int]) -> list[Part]:
        """Read the parts that are, or name, one of these URLs."""
        return [Part(*row) for row in self._connection.execute(_NEAR, {"ids": sorted(set(ids))})]

    def _rows(self, group_id: int) -> list[Part]:
        return [Part(*row) for row in self._connection.execute(_GROUP, {"group_id": group_id})]

    def _keep(self, new: NewArticle, place: Place, by: int) -> None:
        """Write a part into the group of those it is tied to; `by` is the page behind it."""
        near = self._near(_names(Arrival(new.id, new, place)))
        own = [row.group_id for row in near if row.id == new.id]
        tied = dict.fromkeys(row.group_id for row in near if self._joiner.continues(row.title, new.title))
        groups = list(dict.fromkeys((*own, *(key for key in tied if self._size(key) < _MOST_TIED))))
        group_id = groups[0] if groups else new.id
        for other in groups[1:]:
            self._connection.execute(_UNITE, {"old": other, "new": group_id})
            self._stirred.pop(other, None)
        values = {
            "group_id": group_id,
            "first_id": new.id,
            "position": 0,
            "joined": 0,
            **asdict(place),
            "title": new.title,
            "text": new.text,
            "html": new.html,
            "text_hash": new.text_hash,
            "rest": _rest(new),
        }
        upsert(self._connection, part, {"id": new.id}, values)
        self._stirred[group_id] = by

    def _size(self, group_id: int) -> int:
        return int(self._connection.execute(_SIZE, {"group_id": group_id}).scalar_one())

    # ------------------------------------------------------------ is it complete?

    def _look_at(self, group_id: int, by: int) -> list[Ready]:
        """Join the articles of a group that wait for nothing; mark the others as waiting."""
        for _ in range(_MOST_REDIRECTS):
            rows = {row.id: row for row in self._rows(group_id)}
            chains = self._joiner.arrange(list(rows.values()))
            states = self._states(chains)
            again = self._visited_soon(rows)
            if not self._follow(rows.values(), states, by):
                break
            if self._stirred.pop(group_id, None) is None:  # it went into another group
                return []
        ready = []
        for chain in chains:
            to_come = any(key in states and states[key].state in _TO_COME for key in chain.missing)
            if to_come or not again.isdisjoint(chain.parts):
                self._let_wait(chain, rows)
            else:
                ready.append(self._join(chain, by))
        return ready

    def _states(self, chains: Sequence[Chain]) -> dict[int, Any]:
        """Read the states of the URLs that are missing."""
        ids = sorted({key for chain in chains for key in chain.missing})
        return {row.id: row for row in self._connection.execute(_STATES, {"ids": ids})} if ids else {}

    def _visited_soon(self, rows: Iterable[int]) -> set[int]:
        """Return parts with a revisit to come: what changes together is written at once."""
        found = self._connection.execute(_STATES, {"ids": sorted(rows)})
        return {row.id for row in found if row.state in _TO_COME}

    def _follow(self, rows: Iterable[Part], states: Mapping[int, Any], by: int) -> bool:
        """Follow redirects of named URLs and adopt named articles; True if there were any."""
        changed = False
        moved = {key: row.same_as for key, row in states.items() if row.state == State.SKIPPED and row.same_as}
        for row in rows:
            place = Place(row.number, _moved(row, row.next_id, moved), _moved(row, row.previous_id, moved))
            if (place.next_id, place.previous_id) != (row.next_id, row.previous_id):
                self._keep(self._article(row.id), place, by)
                changed = True
        alone = [key for key, row in states.items() if row.state == State.DONE]
        for stored in self._connection.execute(_STORED, {"ids": alone}).all() if alone else ():
            named_by = (row for row in rows if stored.id in {row.next_id, row.previous_id})
            if any(self._joiner.continues(row.title, stored.title) for row in named_by):
                images = self._connection.execute(_IMAGES, {"key": stored.id}).all()
                self._keep(_from_article(stored, images), Place(), by)
                changed = True
        return changed

    def _let_wait(self, chain: Chain, rows: dict[int, Part]) -> None:
        """Mark parts that have just come as waiting."""
        new = [key for key in _members(chain) if not rows[key].joined]
        places = {key: i for i, key in enumerate(chain.parts, 1)}
        changed = [
            {"key": key, "first": chain.parts[0], "place": places.get(key, 0), "is_joined": 0}
            for key in sorted(new)
            if (rows[key].first_id, rows[key].position) != (chain.parts[0], places.get(key, 0))
        ]
        run_many(self._connection, _ARRANGE, changed)
        waiting = [{"key": row["key"], "why": PageReason.WAITS, "detail": None, "other": None} for row in changed]
        run_many(self._connection, _MARK, waiting)

    def _join(self, chain: Chain, by: int) -> Ready:
        """Make the article under the first part's URL; what later parts stored goes there."""
        first = chain.parts[0]
        apply.absorb(self._connection, first, [key for key in _members(chain) if key != first])
        address = self._connection.execute(_ADDRESS, {"key": first}).scalar_one()
        return Ready(address, self._joiner.join([self._article(key) for key in chain.parts]), chain, by)

    def _article(self, key: int) -> NewArticle:
        """Return a part as the article that its page alone would be."""
        row = self._connection.execute(_WHOLE, {"key": key}).one()
        rest = json.loads(row.rest)
        rest["images"] = tuple((address, caption) for address, caption in rest["images"])
        return NewArticle(
            id=key,
            title=row.title,
            text=row.text,
            html=row.html,
            text_hash=row.text_hash,
            features=b"",
            length=0,
            **rest,
        )


def _names(one: Arrival) -> list[int]:
    """Return a page and those that it names."""
    named = () if one.place is None else (one.place.next_id, one.place.previous_id)
    return [one.id, *(key for key in named if key is not None)]


def _members(chain: Chain) -> tuple[int, ...]:
    return (*chain.parts, *chain.repeats, *chain.surplus)


def _moved(row: Part, named: int | None, moved: dict[int, int]) -> int | None:
    """Follow the redirect of a named URL; None when it leads back to the part."""
    new = None if named is None else moved.get(named, named)
    return None if new == row.id else new


_APART = frozenset({"id", "title", "text", "html", "text_hash", "features", "length", "index_terms"})
"""Fields of an article that have a column of their own, or are found again from the text."""


def _rest(new: NewArticle) -> str:
    """Return the other fields as JSON."""
    return json.dumps({name: value for name, value in asdict(new).items() if name not in _APART}, ensure_ascii=False)


def _from_article(stored: Any, images: Sequence[Any]) -> NewArticle:
    """Return a stored article as it came from its page."""
    values = {name: stored._mapping[name] for name in NewArticle.__dataclass_fields__ if name in stored._mapping}
    return NewArticle(
        **values,
        features=b"",
        length=0,
        images=tuple((row.url, row.caption) for row in images),
        canonical_id=None,
        seen=stored.updated,
    )


_TO_COME = frozenset({State.PENDING, State.LEASED})
_LIGHT = tuple(part.c[name] for name in Part.__dataclass_fields__)
_PICK = select(*_LIGHT)
_NEAR = union_all(
    _PICK.where(among(part.c.id)), _PICK.where(among(part.c.next_id)), _PICK.where(among(part.c.previous_id))
)
_GROUP = _PICK.where(part.c.group_id == bindparam("group_id")).order_by(part.c.id)
_SIZE = select(func.count()).where(part.c.group_id == bindparam("group_id"))
_WHOLE = select(part).where(part.c.id == bindparam("key"))
_UNITE = update(part).where(part.c.group_id == bindparam("old")).values(group_id=bindparam("new"))
_WAITING_GROUPS = (
    select(part.c.group_id)
    .where(part.c.joined == literal_column("0"))
    .distinct()
    .order_by(part.c.group_id)
    .limit(_MOST_GROUPS)
)
_WAITING_AMONG = select(part.c.group_id).where(part.c.joined == literal_column("0"), among(part.c.group_id)).distinct()
_END = delete(part).where(part.c.id == bindparam("key"))
_ADDRESS = select(url.c.url).where(url.c.id == bindparam("key"))
_STATES = select(url.c.id, url.c.state, url.c.same_as).where(among(url.c.id))
_STORED = select(article).where(among(article.c.id), ~exists().where(part.c.id == article.c.id))
_IMAGES = select(image.c.url, image.c.caption).where(image.c.article_id == bindparam("key")).order_by(image.c.position)
_ARRANGE = (
    update(part)
    .where(part.c.id == bindparam("key"))
    .values(first_id=bindparam("first"), position=bindparam("place"), joined=bindparam("is_joined"))
)
_MARK = (
    update(url)
    .where(url.c.id == bindparam("key"))
    .values(
        reason=bindparam("why"),
        reason_detail=bindparam("detail"),
        same_as=func.coalesce(bindparam("other"), url.c.same_as),
    )
)
