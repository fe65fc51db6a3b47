"""Writing articles: new ones, duplicates, other URLs of stored ones, new texts.

`db.articles.plan` decides what is written; here it is read and written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, literal, select, update

from ..engine.statements import among, insert_new, insert_rows, run_many
from ..records.article import Added, Candidate, Differs, Judge, Keep, MatchDecision, NewArticle, Renewal, always
from ..records.keys import day_of
from ..records.reasons import PageReason
from ..records.search import TERM_FIELDS, IndexedArticle, IndexTerms, MakeTerms
from ..records.signature import MemoryIndex, Signed
from ..search import index as search
from ..tables.articles import ArticleRow, ArticleVersionRow, ClusterRow, ImageRow
from ..tables.urls import UrlRow
from . import classes, clusters, plan, signatures
from .candidates import Candidates, stored_rows, unrelated
from .clusters import Claimant
from .plan import Planner, StoredRow

article, version, cluster, image = (m.table() for m in (ArticleRow, ArticleVersionRow, ClusterRow, ImageRow))
url = UrlRow.table()


def add(
    connection: Connection,
    articles: Sequence[NewArticle],
    judge: Judge,
    index: MemoryIndex,
    differs: Differs = always,
    *,
    renewal: Renewal = Renewal.OF_PAGES,
    make_terms: MakeTerms,
) -> list[Added]:
    """Write articles in the open transaction, in order: each may repeat one before it.

    The caller holds the lock on articles, so that nobody stores a copy between the lookup and the writing, and has let
    the index catch up. Terms for the full-text index are made where an article came without.

    Cost: five reads and five inserts for all of them, and the judge's comparisons. An article that is related to an
    earlier one of the same batch begins a new round of reads.
    """
    added: list[Added] = []
    terms = _remembered(articles, make_terms)
    numbers = _Numbers(connection)
    pointing: dict[int, int] = {}
    """URLs from which an article has moved, unless another one came there; and where to."""
    while len(added) < len(articles):
        rest = articles[len(added) :]
        one = _Round(connection, rest, judge, index, differs, renewal=renewal, make_terms=terms, numbers=numbers)
        written = one.write()
        for new, result in zip(rest, written, strict=False):
            if result.what.why_not_stored is None:
                pointing.pop(new.id, None)
        added += written
        for old, into in one.moves:
            plan.follow(articles, added, old, into)
            pointing = {key: into if other == old else other for key, other in pointing.items() if key != into}
            pointing[old] = into
    rows = [{"key": key, "other": pointing[key], "why": PageReason.SAME_PAGE} for key in sorted(pointing)]
    run_many(connection, POINT, rows)
    return added


class _Numbers:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._last: int | None = None

    def of_new(self, seen: str) -> int:
        """Return the number of an article that came at an ISO time.

        Never below the time, so that no number comes again when the newest articles were dropped.
        """
        return self._next(int(datetime.fromisoformat(seen).timestamp() * 1000))

    def renew(self, ids: Sequence[int]) -> None:
        """Number articles that were copies and stand for themselves as if they came now."""
        run_many(self._connection, _RENUMBER, [{"key": key, "n": self._next()} for key in ids])

    def _next(self, least: int = 0) -> int:
        if self._last is None:
            self._last = self._connection.execute(_LAST_NUMBER).scalar_one_or_none() or 0
        self._last = max(self._last + 1, least)
        return self._last


def renumber(connection: Connection, ids: Sequence[int]) -> None:
    _Numbers(connection).renew(ids)


def _remembered(articles: Sequence[NewArticle], make: MakeTerms) -> MakeTerms:
    terms_by_facts = {_facts(new): new.index_terms for new in articles}

    def terms(*facts: str) -> IndexTerms:
        return terms_by_facts.get(facts) or make(*facts)

    return terms


def _facts(new: NewArticle) -> tuple[str, ...]:
    return tuple(getattr(new, name) for name in TERM_FIELDS)


def absorb(connection: Connection, into: int, others: Sequence[int], differs: Differs | None = None) -> list[int]:
    """Merge the articles of `others` into the article of `into`.

    The first of them becomes that article, unless it is stored already; the others are deleted, and their copies become
    copies of that article. `differs` tells whether a text is kept as an earlier text of it; None when they are parts of
    one text.

    Returns: the article of `into` if it is new there, or was a copy of one of them; else nothing.
    """
    stored = stored_rows(connection, [into, *others])
    freed: list[int] = []
    for old in others:
        if old not in stored:
            continue
        if into not in stored:
            clusters.move(connection, old, into)
            signatures.hand_over(connection, old, into)
            freed = [into]
        else:
            if differs is not None:
                _keep_texts(connection, stored[old], stored[into], differs)
            if clusters.delete(connection, stored[old], stored[into]):
                renumber(connection, [into])
                freed = [into]
        stored = stored_rows(connection, [into, *others])
    return freed


def _keep_texts(connection: Connection, old: Row[Any], into: Row[Any], differs: Differs) -> None:
    earlier = select(literal(into.id), version.c.seen, version.c.title, version.c.text).where(
        version.c.article_id == old.id
    )
    columns = ["article_id", "seen", "title", "text"]
    connection.execute(insert_new(connection, version).from_select(columns, earlier))
    held = into if into.text_holder is None else stored_rows(connection, [into.text_holder])[into.text_holder]
    if old.text_holder is None and differs((old.title, old.text), (into.title, held.text)):
        row = {"article_id": into.id, "seen": old.updated, "title": old.title, "text": old.text}
        connection.execute(insert_new(connection, version), row)


class _Reads:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def row(self, article_id: int) -> StoredRow:
        return stored_rows(self._connection, [article_id])[article_id]._asdict()

    def text(self, row: StoredRow) -> str:
        holder = row["text_holder"]
        return str((row if holder is None else self.row(holder))["text"])

    def urls(self, ids: Sequence[int]) -> Mapping[int, str]:
        return {row.id: row.url for row in self._connection.execute(_URLS, {"ids": ids})}

    def is_better_original(self, new: NewArticle, original: int) -> bool:
        claimant = Claimant(new.site_id, new.source, new.published_at, new.published_utc, new.published_precision)
        return clusters.is_better_original(self._connection, claimant, original)


class _Round:
    """Articles that do not depend on each other: looked up together, written together."""

    def __init__(
        self,
        connection: Connection,
        articles: Sequence[NewArticle],
        judge: Judge,
        index: MemoryIndex,
        differs: Differs = always,
        *,
        renewal: Renewal,
        make_terms: MakeTerms,
        numbers: _Numbers,
    ) -> None:
        self._connection = connection
        self._numbers = numbers
        self._make_terms = make_terms
        self._articles = unrelated(articles)
        self._judge = judge
        self._index = index
        self._candidates = Candidates(connection, self._articles, index)
        self._planner = Planner(_Reads(connection), judge, differs, renewal)
        self._freed: list[int] = []
        self._changed: set[int] = set()
        """Stored articles that this round has changed: what was read of them holds no longer."""
        self.moves: list[tuple[int, int]] = []
        self._new: list[tuple[plan.Insert, int]] = []
        """Articles that repeat none, with their numbers: written at the end, all at once."""
        self._signed: list[Signed] = []
        self._counted: list[tuple[int, str, bool]] = []
        self._reclassed: list[NewArticle] = []
        self._reworded: list[int] = []
        """Stored articles whose row in the full-text index is to be renewed."""

    def write(self) -> list[Added]:
        stored = self._candidates.stored
        fresh = [new.id for new in self._articles if new.id not in stored]
        clusters.forget_evidence(self._connection, fresh)  # of copies that were not stored when they came last
        added = []
        for new in self._articles:
            candidates = self._candidates.of(new)
            named = {key for c in candidates for key in (c.id, c.representative, c.text_holder)} | {new.id}
            if new.id in stored:
                named |= {stored[new.id].cluster_id, stored[new.id].duplicate_of}
            if not self._changed.isdisjoint(named):
                break
            if new.id in stored:
                self._changed.add(new.id)
                planned = self._planner.of_stored(stored[new.id]._asdict(), new, candidates)
            else:
                decision = self._judge(new, candidates)
                self._carry_out(plan.frees(decision))
                planned = self._planner.of_new(new, candidates, decision)
            self._carry_out(planned.writes)
            self._changed |= planned.changed
            self._numbers.renew(list(dict.fromkeys(self._freed)))
            added.append(planned.result._replace(freed=tuple(self._freed)))
            self._freed = []
        self._insert(self._new)
        classes.renew(self._connection, {new.id: new.memberships for new in self._reclassed})
        search.renew(self._connection, self._reworded, self._make_terms)
        signatures.insert(self._connection, self._signed)
        clusters.count(self._connection, self._counted)
        return added

    def _carry_out(self, writes: Sequence[plan.Write]) -> None:  # noqa: PLR0912 - a case for each kind
        connection = self._connection
        for write in writes:
            match write:
                case plan.Insert(new, original):
                    numbered = write, self._numbers.of_new(new.seen)
                    if original is None:
                        self._new.append(numbered)
                    else:
                        self._insert([numbered])
                    self._counted.append((new.site_id, new.source, original is not None))
                case plan.Sign(new, beside):
                    number = signatures.cluster_of(connection, self._signed, beside) if beside else None
                    self._sign(new, number)
                case plan.SignAnew(new, only_if_signed):
                    if not only_if_signed or signatures.row_of(connection, new.id) is not None:
                        self._unsign(new.id)
                        self._sign(new, None)
                case plan.Tie(evidence):
                    clusters.write_evidence(connection, evidence)
                case plan.Untie(key):
                    clusters.forget_evidence(connection, [key])
                case plan.Detach(key):
                    clusters.detach(connection, key)
                case plan.Leave(key, cluster_id):
                    clusters.leave(connection, key, cluster_id)
                    self._freed.append(key)
                case plan.Join(original):
                    clusters.grow(connection, original)
                case plan.TakeOver(original, evidence):
                    clusters.take_over(connection, original, evidence)
                case plan.Unite():
                    self._unite(write)
                case plan.Free():
                    self._free(write)
                case plan.Move(old, new_id):
                    self._move(old, new_id)
                case plan.SetValues(key, values):
                    connection.execute(update(article).where(article.c.id == key).values(values))
                case plan.Recount(before, after, repeats):
                    clusters.recount(connection, before, after, repeats=repeats)
                case plan.KeepVersion():
                    connection.execute(insert_new(connection, version), write._asdict())
                case plan.HandDown():
                    self._hand_down(write)
                case plan.Illustrate():
                    self._illustrate(write)
                case plan.Reindex(key):
                    self._reworded.append(key)
                case plan.Reclass(new):
                    self._reclassed.append(new)

    def _insert(self, articles: Sequence[tuple[plan.Insert, int]]) -> None:
        insert(self._connection, articles, self._make_terms)

    def _sign(self, new: NewArticle, number: int | None) -> None:
        if new.length:
            row = self._index.post(new.id, number, day_of(new.seen), new.length, new.features)
            self._signed.append(row)

    def _unsign(self, key: int) -> None:
        signatures.remove(self._connection, [key])
        self._signed = [row for row in self._signed if row.article_id != key]

    def _free(self, write: plan.Free) -> None:
        freed = clusters.free(self._connection, write.article_id, write.of_id)
        self._changed |= {*freed, write.cluster_id}
        self._freed += freed[:1]
        number = None
        waiting = {row.article_id: row for row in self._signed}
        for key in freed:
            old = waiting.get(key) or signatures.row_of(self._connection, key)
            if old is not None:
                self._unsign(key)
                row = self._index.post(key, number, old.day, old.length, old.features)
                number = number or row.cluster
                self._signed.append(row)

    def _move(self, old: int, new: int) -> None:
        clusters.move(self._connection, old, new)
        self.moves.append((old, new))
        signatures.move(self._connection, old, new)

    def _unite(self, write: plan.Unite) -> None:
        original = write.original
        for other, evidence in write.others:
            is_frame = clusters.share_frame(self._connection, write.candidate, other.id)
            if other.representative != original and not is_frame:
                original = clusters.unite(self._connection, original, other.representative, evidence)

    def _hand_down(self, write: plan.HandDown) -> None:
        heir = clusters.hand_down(self._connection, write.article_id, write.text, write.html)
        if heir is None:
            return
        self._changed.add(heir)
        signed = signatures.row_of(self._connection, write.article_id)
        if signed is not None:
            self._signed.append(self._index.post(heir, None, signed.day, signed.length, signed.features))

    def _illustrate(self, write: plan.Illustrate) -> None:
        if write.replaces:
            self._connection.execute(image.delete().where(image.c.article_id == write.article_id))
        elif self._connection.execute(_ILLUSTRATED, {"key": write.article_id}).first():
            return
        _insert_images(self._connection, {write.article_id: write.images})


def regroup(connection: Connection, articles: Sequence[NewArticle], judge: Judge, index: MemoryIndex) -> None:
    """Group stored articles in no cluster (`ALONE`) as if they came now.

    The caller holds the lock on articles, and has let the index catch up.
    """
    done = 0
    while done < len(articles):
        done += len(_Regrouping(connection, articles[done:], judge, index).write())


class _Regrouping(_Round):
    def __init__(
        self, connection: Connection, articles: Sequence[NewArticle], judge: Judge, index: MemoryIndex
    ) -> None:
        def as_copies(new: NewArticle, candidates: Sequence[Candidate]) -> MatchDecision | None:
            decision = judge(new, candidates)  # one page under two URLs, which are both stored, is a copy here
            return None if decision is None else replace(decision, same_page=False, keep=Keep.METADATA)

        super().__init__(
            connection,
            articles,
            as_copies,
            index,
            renewal=Renewal.OF_PAGES,
            make_terms=_no_terms,
            numbers=_Numbers(connection),
        )
        self._candidates.stored = {}

    def _insert(self, articles: Sequence[tuple[plan.Insert, int]]) -> None:
        rows = [{"key": new.id, "cluster": of or new.id, "of": of} for (new, of, _), _ in articles]
        alone = [(new.id, 1) for (new, of, _), _ in articles if of is None]
        insert_rows(self._connection, cluster, ("id", "size"), alone)
        run_many(self._connection, _GROUP, rows)


_URLS = select(url.c.id, url.c.url).where(among(url.c.id))
POINT = (
    update(url)
    .where(url.c.id == bindparam("key"))
    .values(reason=bindparam("why"), reason_detail=None, same_as=bindparam("other"), next_visit=None)
)
"""Says that what came of a URL is the article of another."""


def _no_terms(*_: str) -> IndexTerms:
    raise AssertionError("nothing is indexed anew")


_GROUP = (
    update(article)
    .where(article.c.id == bindparam("key"))
    .values(cluster_id=bindparam("cluster"), duplicate_of=bindparam("of"))
)


def insert(connection: Connection, articles: Sequence[tuple[plan.Insert, int]], make_terms: MakeTerms) -> None:
    if not articles:
        return
    rows = [
        plan.values_of(new)
        | {"id": new.id, "cluster_id": original or new.id, "duplicate_of": original, "first_seen": new.seen}
        | {"text_holder": holder, "number": number}
        | ({} if holder is None else {"text": "", "html": ""})
        for (new, original, holder), number in articles
    ]
    run_many(connection, _INSERT, rows)
    inserts = [one for one, _ in articles]
    _insert_images(connection, {new.id: new.images for new, _, _ in inserts})
    classes.insert(connection, {new.id: new.memberships for new, _, _ in inserts})
    alone = [(new.id, 1) for new, original, _ in inserts if original is None]
    insert_rows(connection, cluster, ("id", "size"), alone)
    search.insert(connection, [_indexed(new, original or new.id, make_terms) for new, original, _ in inserts])


def _insert_images(connection: Connection, images: Mapping[int, Sequence[tuple[str, str]]]) -> None:
    columns = ("article_id", "position", "url", "caption")
    rows = [(key, i, *one) for key, some in images.items() for i, one in enumerate(some)]
    insert_rows(connection, image, columns, rows)


def _indexed(new: NewArticle, cluster_id: int, make_terms: MakeTerms) -> IndexedArticle:
    words, terms = make_terms(*_facts(new))
    times = search.times_of(new.published_at, new.published_utc, new.seen)
    facets = new.language, new.source, new.section, new.classes
    return IndexedArticle(new.id, new.site_id, cluster_id, *times, *facets, words, terms)


_ILLUSTRATED = select(image.c.article_id).where(image.c.article_id == bindparam("key")).limit(1)
_LAST_NUMBER = select(func.max(article.c.number))
_RENUMBER = update(article).where(article.c.id == bindparam("key")).values(number=bindparam("n"))
_INSERT = article.insert().values(
    {name: bindparam(name) for name in article.c.keys() if name != "gone"}  # noqa: SIM118 - a collection, no dictionary
)
