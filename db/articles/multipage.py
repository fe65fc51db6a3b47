"""Articles of several pages: each page is stored as a part, and parts are joined.

A part names the next and the previous page. Parts that are tied so, and whose titles agree, form a group. Whenever
a page comes that belongs to a group or that one waits for (also when it failed or turned out to be something else),
the group is arranged anew: as long as a page it names is still to be fetched it waits, then its texts are joined
and the article is stored under the URL of the first part. So the parts may come in any order, a part that comes
later makes the article longer, and the same parts always make the same article. All of it happens in the
transaction of the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
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
from . import apply, part_plan
from .part_plan import Arrangement, Mark
from .signatures import lock_articles

part, url, article, image = (model.table() for model in (PartRow, UrlRow, ArticleRow, ImageRow))

_MOST_REDIRECTS = 10
_MOST_GROUPS = 50
"""Groups that are joined in a transaction. Both are chosen by hand."""


def gather(connection: Connection, arrivals: Sequence[Arrival], joiner: Joiner) -> Gathered:
    """Store the parts among some pages and join the articles that are complete.

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
    arrangements, marks = part_plan.settled(ready, added)
    run_many(connection, _ARRANGE, [one._asdict() for one in arrangements])
    run_many(connection, _MARK, [one._asdict() for one in marks])


class _Groups:
    def __init__(self, connection: Connection, joiner: Joiner) -> None:
        self._connection = connection
        self._joiner = joiner
        self._stirred: dict[int, int] = {}
        """Groups to arrange, and the page that is the reason."""

    def take_in(self, arrivals: Sequence[Arrival]) -> Gathered:
        gathered = Gathered()
        near = self._near([key for one in arrivals for key in part_plan.names(one)])
        if not near and not any(one.place for one in arrivals):
            return gathered
        lock_articles(self._connection)
        self._visited_again([one for one in arrivals if one.fate is not Fate.CAME], near)
        gathered.parts = part_plan.new_parts(arrivals, near)
        for one in arrivals:
            self._stirred |= part_plan.waiting_for(one, near)
            if one.article is not None and one.id in gathered.parts:
                self._keep(one.article, one.place or Place(), one.id)
        while self._stirred:
            group_id, by = self._stirred.popitem()
            gathered.ready += self._look_at(group_id, by)
        return gathered

    def _visited_again(self, arrivals: Sequence[Arrival], near: Sequence[Part]) -> None:
        """Handle revisits that brought no part: some end one, others may wait for them."""
        groups = {row.id: row.group_id for row in near}
        here = [one.id for one in arrivals if one.id in groups]
        if not here:
            return
        ended, shorter = part_plan.ended(arrivals, near)
        self._stirred |= shorter
        run_many(self._connection, _END, [{"key": key} for key in sorted(ended)])
        waiting = self._connection.execute(_WAITING_AMONG, {"ids": sorted({groups[key] for key in here})}).scalars()
        self._stirred |= {group: next(key for key in here if groups[key] == group) for group in waiting}

    def as_they_are(self, group_ids: Iterable[int]) -> Gathered:
        gathered = Gathered()
        for group_id in group_ids:
            rows = {row.id: row for row in self._rows(group_id)}
            chains = self._joiner.arrange(list(rows.values()))
            new = [chain for chain in chains if not all(rows[key].joined for key in part_plan.members(chain))]
            gathered.ready += [self._join(chain, 0) for chain in new]
        return gathered

    # ------------------------------------------------------------ keeping parts

    def _near(self, ids: Sequence[int]) -> list[Part]:
        return [Part(*row) for row in self._connection.execute(_NEAR, {"ids": sorted(set(ids))})]

    def _rows(self, group_id: int) -> list[Part]:
        return [Part(*row) for row in self._connection.execute(_GROUP, {"group_id": group_id})]

    def _keep(self, new: NewArticle, place: Place, by: int) -> None:
        near = self._near(part_plan.names(Arrival(new.id, new, place)))
        groups = part_plan.groups_of(new.id, new.title, near, self._joiner.continues, self._size)
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
        for _ in range(_MOST_REDIRECTS):
            rows = {row.id: row for row in self._rows(group_id)}
            chains = self._joiner.arrange(list(rows.values()))
            missing = self._states(key for chain in chains for key in chain.missing)
            to_come = part_plan.still_to_come([*missing, *self._states(rows)])
            if not self._follow(list(rows.values()), missing, by):
                break
            if self._stirred.pop(group_id, None) is None:  # it went into another group
                return []
        ready = []
        for chain in chains:
            if part_plan.waits(chain, to_come):
                self._let_wait(part_plan.waiting(chain, rows))
            else:
                ready.append(self._join(chain, by))
        return ready

    def _states(self, ids: Iterable[int]) -> Sequence[Any]:
        wanted = sorted(set(ids))
        return self._connection.execute(_STATES, {"ids": wanted}).all() if wanted else ()

    def _follow(self, rows: Sequence[Part], missing: Sequence[Any], by: int) -> bool:
        """Follow redirects of named URLs and adopt named articles; True if there were any."""
        places = part_plan.redirected(rows, missing)
        for key, place in places.items():
            self._keep(self._article(key), place, by)
        alone = [row.id for row in missing if row.state == State.DONE]
        adopted = [
            stored
            for stored in (self._connection.execute(_STORED, {"ids": alone}).all() if alone else ())
            if part_plan.is_continued(rows, stored.id, stored.title, self._joiner.continues)
        ]
        for stored in adopted:
            images = self._connection.execute(_IMAGES, {"key": stored.id}).all()
            self._keep(_from_article(stored, images), Place(), by)
        return bool(places or adopted)

    def _let_wait(self, arrangements: Sequence[Arrangement]) -> None:
        run_many(self._connection, _ARRANGE, [one._asdict() for one in arrangements])
        run_many(self._connection, _MARK, [Mark(one.key, PageReason.WAITS)._asdict() for one in arrangements])

    def _join(self, chain: Chain, by: int) -> Ready:
        first = chain.parts[0]
        apply.absorb(self._connection, first, [key for key in part_plan.members(chain) if key != first])
        url_of_first = self._connection.execute(_URL, {"key": first}).scalar_one()
        return Ready(url_of_first, self._joiner.join([self._article(key) for key in chain.parts]), chain, by)

    def _article(self, key: int) -> NewArticle:
        row = self._connection.execute(_WHOLE, {"key": key}).one()
        rest = json.loads(row.rest)
        rest["images"] = tuple((url, caption) for url, caption in rest["images"])
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


_APART = frozenset({"id", "title", "text", "html", "text_hash", "features", "length", "index_terms"})
"""Fields of an article that have a column of their own, or are computed again from the text."""


def _rest(new: NewArticle) -> str:
    return json.dumps({name: value for name, value in asdict(new).items() if name not in _APART}, ensure_ascii=False)


def _from_article(stored: Any, images: Sequence[Any]) -> NewArticle:
    values = {name: stored._mapping[name] for name in NewArticle.__dataclass_fields__ if name in stored._mapping}
    return NewArticle(
        **values,
        features=b"",
        length=0,
        images=tuple((row.url, row.caption) for row in images),
        canonical_id=None,
        seen=stored.updated,
    )


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
_URL = select(url.c.url).where(url.c.id == bindparam("key"))
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
