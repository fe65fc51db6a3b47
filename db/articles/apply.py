"""Writing articles: new ones, duplicates, other URLs of stored ones, new texts.

What they may repeat is looked up by `db.articles.candidates`, near-duplicates in an index of signatures (see
`db.articles.signatures`); what ties articles to each other is in `db.articles.clusters`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, literal, select, update

from ..engine.statements import among, insert_new, insert_rows, run_many
from ..records.article import GUESS, Added, Candidate, Differs, Judge, Keep, MatchDecision, NewArticle, Renewal, always
from ..records.evidence import Evidence
from ..records.keys import day_of
from ..records.reasons import ArticleResult, PageReason
from ..records.search import IndexedArticle, IndexTerms, MakeTerms
from ..records.signature import MemoryIndex, Signed
from ..search import index as search
from ..tables.articles import ArticleRow, ArticleVersionRow, ClusterRow, ImageRow
from ..tables.urls import UrlRow
from . import classes, clusters, signatures
from .candidates import Candidates, stored_rows, unrelated
from .clusters import Claimant

article, version, cluster, image = (m.table() for m in (ArticleRow, ArticleVersionRow, ClusterRow, ImageRow))
url = UrlRow.table()

_COPIED = tuple(name for name in NewArticle.__dataclass_fields__ if name in article.c and name != "id")
_PUBLISHED = ("published_at", "published_utc", "published_precision", "published_from")
_STATED = ("title", "authors", "source", "section", "tags", "description")
"""Columns that a page may leave empty though the article has them."""
FACTS = ("authors", "source", *_PUBLISHED, "updated")
"""Columns that are put right even when the text says nothing else."""
_MADE = frozenset({"extractor", "extractor_version", "checked_with", "described_with", "text_from"})
"""Columns that say nothing of the article itself."""
_SOUGHT = frozenset(
    {"title", "text", "authors", "source", "language", "section", "classes", "text_holder", *_PUBLISHED}
)
"""Columns that the full-text index is made of."""


def values_of(new: NewArticle) -> dict[str, Any]:
    """Return the columns that a page determines."""
    return {name: getattr(new, name) for name in _COPIED} | {
        "quality": round(new.quality, 4),
        "relevance": None if new.relevance is None else round(new.relevance, 4),
        "text_chars": len(new.text),
        "checked_with": made_with(new.extractor, new.extractor_version),
        "updated": new.seen,
    }


def made_with(extractor: str, version: str) -> str:
    """Return extractor and version as `checked_with` has them."""
    return f"{extractor} {version}"


def completed(stored: Row[Any], values: dict[str, Any]) -> dict[str, Any]:
    """Complete the values of an article read again by what its page no longer says."""
    if values["title"] not in {"", stored.title} and values["text_hash"] != stored.text_hash:
        return values  # perhaps another one
    return values | _lacking(values, stored._asdict())


def _lacking(values: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of other values that say what these do not, or more exactly."""
    kept = {name: others[name] for name in _STATED if others[name] and not values[name]}
    day, known = (str(one["published_at"])[: len("2024-03-12")] for one in (values, others))
    precision = values["published_precision"]
    # of two guesses the earlier one was made nearer to the day
    vaguer = precision == GUESS or (day == known and precision == "day" != others["published_precision"])
    if others["published_at"] is not None and (values["published_at"] is None or vaguer):
        kept |= {name: others[name] for name in _PUBLISHED}
    return kept


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

    The caller holds the lock on articles, so no copy can be stored between looking for one and writing, and has let the
    index catch up.

    Terms for the full-text index are made here where an article came without, or is stored with other facts.

    Cost: five reads and five inserts for all of them, and the judge's comparisons. An article that is related to an
    earlier one of the same batch begins a new round of reads.
    """
    added: list[Added] = []
    terms = _remembered(articles, make_terms)
    while len(added) < len(articles):
        rest = articles[len(added) :]
        one = _Round(connection, rest, judge, index, differs, renewal=renewal, make_terms=terms)
        added += one.write()
        for old, new in one.moves:
            _follow(articles, added, old, new)
    renumber(connection, [key for one in added for key in one.freed])
    return added


def renumber(connection: Connection, ids: Sequence[int]) -> None:
    """Number articles that were copies and stand for themselves as if they came now.

    So whoever reads what is new of those that repeat nothing finds them.
    """
    if ids:
        last = connection.execute(_LAST_NUMBER).scalar_one()
        rows = [{"key": key, "n": last + n} for n, key in enumerate(dict.fromkeys(ids), 1)]
        run_many(connection, _RENUMBER, rows)


def _follow(articles: Sequence[NewArticle], added: list[Added], old: int, new: int) -> None:
    """Correct the results of earlier articles of a batch after a move."""
    places = {article.id: place for place, article in enumerate(articles[: len(added)])}
    if old in places:
        before = added[places[old]]
        if before.what.is_added:
            added[places[new]] = before._replace(freed=added[places[new]].freed)
        added[places[old]] = Added(ArticleResult.SAME_PAGE, new, freed=before.freed)
    for place, what in enumerate(added):
        if old in what.freed:
            added[place] = what._replace(freed=[new if key == old else key for key in what.freed])
    for place, what in enumerate(added):
        if what.same_as == old and place != places[new]:
            added[place] = what._replace(same_as=new)


def _remembered(articles: Sequence[NewArticle], make: MakeTerms) -> MakeTerms:
    """Return a function that makes terms, but for articles that came with them."""
    known = {(new.title, new.text, new.authors, new.source, new.language): new.index_terms for new in articles}

    def terms(title: str, text: str, authors: str, source: str, language: str) -> IndexTerms:
        facts = title, text, authors, source, language
        return known.get(facts) or make(*facts)

    return terms


def absorb(connection: Connection, into: int, others: Sequence[int], differs: Differs | None = None) -> list[int]:
    """Merge the articles of `others` into the article of `into`.

    The first of them becomes that article, unless it is stored already; the rest is deleted, and what repeats it is
    said to repeat that article.

    Args:
        connection: in a transaction.
        into: identifier of a URL.
        others: those of the others.
        differs: whether a text says something else than that of the article, of which it is kept as an earlier text
            then; None when they are parts of one text.

    Returns: the article of `into` if it is new there, or repeated one of them; else nothing.
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
    """Store what an article says and has said as earlier texts of another one."""
    earlier = select(literal(into.id), version.c.seen, version.c.title, version.c.text).where(
        version.c.article_id == old.id
    )
    columns = ["article_id", "seen", "title", "text"]
    connection.execute(insert_new(connection, version).from_select(columns, earlier))
    held = into if into.text_holder is None else stored_rows(connection, [into.text_holder])[into.text_holder]
    if old.text_holder is None and differs((old.title, old.text), (into.title, held.text)):
        row = {"article_id": into.id, "seen": old.updated, "title": old.title, "text": old.text}
        connection.execute(insert_new(connection, version), row)


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
    ) -> None:
        self._connection = connection
        self._differs = differs
        self._make_terms = make_terms
        self._reads_again = renewal is Renewal.OF_TEXTS
        self._articles = unrelated(articles)
        self._judge = judge
        self._index = index
        self._found = Candidates(connection, self._articles, index)
        self._freed: list[int] = []
        """Copies that the article being written has freed."""
        self._changed: set[int] = set()
        """Stored articles that this round has changed: what was read of them holds no longer."""
        self.moves: list[tuple[int, int]] = []
        """Articles that have moved from one URL to another."""
        self._new: list[NewArticle] = []
        self._signed: list[Signed] = []
        self._counted: list[tuple[int, str, bool]] = []
        self._described: list[NewArticle] = []
        """Stored articles that were described anew."""
        self._reworded: list[int] = []
        """Stored articles of which something is sought that has changed."""

    def write(self) -> list[Added]:
        """Write as many articles as can be judged by what was read."""
        fresh = [new.id for new in self._articles if new.id not in self._found.stored]
        clusters.forget_evidence(self._connection, fresh)  # of copies that were not stored when they came last
        added = []
        for new in self._articles:
            candidates = self._found.of(new)
            named = {key for c in candidates for key in (c.id, c.representative, c.text_holder)} | {new.id}
            stored = self._found.stored.get(new.id)
            if stored is not None:
                named |= {stored.cluster_id, stored.duplicate_of}
            if not self._changed.isdisjoint(named):
                break
            what = self._write(new, candidates)
            added.append(what._replace(freed=(*what.freed, *self._freed)))
            self._freed = []
        self._insert([(new, None, None) for new in self._new])
        classes.renew(self._connection, {new.id: new.memberships for new in self._described})
        search.renew(self._connection, self._reworded, self._make_terms)
        signatures.insert(self._connection, self._signed)
        clusters.count(self._connection, self._counted)
        return added

    def _write(self, new: NewArticle, candidates: Sequence[Candidate]) -> Added:
        stored = self._found.stored.get(new.id)
        if stored is not None:
            self._changed.add(new.id)
            return self._update(stored, new, candidates)
        verdict = self._judged(new, candidates)
        if verdict is None or not verdict.repeats:
            self._add(new, verdict)
            return Added(ArticleResult.NEW)
        original = verdict.candidate.representative
        self._changed |= {new.id, verdict.candidate.id, original}
        if not verdict.same_page:
            return self._add_duplicate(new, verdict)
        if not self._is_preferred(new, verdict.candidate):
            self._complete(verdict.candidate.id, new)
            return Added(ArticleResult.SAME_PAGE, verdict.candidate.id)
        return self._move(new, verdict.candidate.id, candidates)

    def _judged(self, new: NewArticle, candidates: Sequence[Candidate]) -> MatchDecision | None:
        """Judge an article, and free the stored ones that it shows to share but a frame."""
        verdict = self._judge(new, candidates)
        for one in () if verdict is None else verdict.freed:
            if one.doubtful is not None:
                freed = clusters.free(self._connection, one.id, one.doubtful)
                self._changed |= {*freed, one.representative}
                self._freed += freed[:1]
                self._sign_together(freed)
        return verdict

    def _sign_together(self, ids: Sequence[int]) -> None:
        """Sign stored articles anew, those that are signed, as a cluster of their own."""
        number = None
        waiting = {row.article_id: row for row in self._signed}
        for key in ids:
            old = waiting.get(key) or signatures.row_of(self._connection, key)
            if old is not None:
                self._unsign(key)
                row = self._index.post(key, number, old.day, old.length, old.features)
                number = number or row.cluster
                self._signed.append(row)

    def _is_preferred(self, new: NewArticle, old: Candidate) -> bool:
        """Tell whether an article belongs to its new URL rather than the stored one.

        It depends on the two URLs alone, not on which came first: the one that the other calls canonical, one that
        calls none canonical, one without a query, one that is no edition for telephones or printers, the shortest, the
        smallest.
        """
        is_named, names = old.points_to == new.id, new.canonical_id == old.id
        if is_named != names:
            return is_named
        if (new.canonical_id is None) != (old.points_to is None):
            return new.canonical_id is None
        urls = {row.id: row.url for row in self._connection.execute(_URLS, {"ids": [new.id, old.id]})}
        return _plainness(urls[new.id]) < _plainness(urls[old.id])

    def _add(self, new: NewArticle, related: MatchDecision | None) -> None:
        """Add an article that repeats none, perhaps related to one."""
        self._new.append(new)
        self._sign(new, None)
        self._counted.append((new.site_id, new.source, False))
        if related is not None:
            clusters.write_evidence(self._connection, _evidence(new, related))

    def _add_duplicate(self, new: NewArticle, verdict: MatchDecision) -> Added:
        """Add a copy: by policy with its text, without it, or not at all.

        An original is always stored.
        """
        original = verdict.candidate.representative
        claimant = Claimant(new.site_id, new.source, new.published_at, new.published_utc, new.published_precision)
        takes_over = clusters.is_better_original(self._connection, claimant, original)
        if verdict.keep is Keep.NOTHING and not takes_over:
            clusters.write_evidence(self._connection, _evidence(new, verdict))
            return Added(ArticleResult.DROPPED, original)
        keep = Keep.ALL if takes_over or verdict.own_wording else verdict.keep
        # what is shown of a page is in its own words, its own signs, its own script
        is_equal = keep is Keep.METADATA and verdict.candidate.text == new.text
        holder = verdict.candidate.text_holder if is_equal else None
        self._insert([(new, original, holder)])
        clusters.grow(self._connection, original)
        self._counted.append((new.site_id, new.source, True))
        if takes_over or verdict.own_wording:
            number = signatures.cluster_of(self._connection, self._signed, [verdict.candidate.id, original])
            self._sign(new, number)
        if takes_over:
            clusters.take_over(self._connection, original, _evidence(new, verdict))
            original = new.id
        else:
            clusters.write_evidence(self._connection, _evidence(new, verdict))
        for other in verdict.also:
            self._changed |= {other.candidate.id, other.candidate.representative}
            is_known = clusters.share_frame(self._connection, verdict.candidate.id, other.candidate.id)
            if other.candidate.representative != original and not is_known:
                evidence = _evidence(new, other)
                original = clusters.unite(self._connection, original, other.candidate.representative, evidence)
        return Added(ArticleResult.DUPLICATE, verdict.candidate.id)

    def _insert(self, articles: Sequence[tuple[NewArticle, int | None, int | None]]) -> None:
        """Write rows of articles."""
        _insert(self._connection, articles, self._make_terms)

    def _sign(self, new: NewArticle, number: int | None) -> None:
        """Sign an article, so that later copies are found."""
        if new.length:
            row = self._index.post(new.id, number, day_of(new.seen), new.length, new.features)
            self._signed.append(row)

    def _sign_again(self, new: NewArticle) -> None:
        """Sign a text that has changed or moved, as a new cluster."""
        self._unsign(new.id)
        self._sign(new, None)

    def _unsign(self, key: int) -> None:
        """Forget the signature of an article."""
        signatures.remove(self._connection, [key])
        self._signed = [row for row in self._signed if row.article_id != key]

    def _complete(self, key: int, other: NewArticle) -> None:
        """Complete a stored article by what its page at another URL says."""
        stored = stored_rows(self._connection, [key])[key]
        lacking = _lacking(stored._asdict(), values_of(other))
        if lacking:
            self._write_values(stored, lacking | {"updated": other.seen})
        if other.images and not self._connection.execute(_ILLUSTRATED, {"key": key}).first():
            _insert_images(self._connection, {key: other.images})

    def _move(self, new: NewArticle, old: int, candidates: Sequence[Candidate]) -> Added:
        """Move the stored article to this URL, which is the better one."""
        clusters.move(self._connection, old, new.id)
        self._connection.execute(_POINT_ON, {"key": old, "other": new.id})
        self.moves.append((old, new.id))
        signatures.move(self._connection, old, new.id)
        if new.images:
            self._connection.execute(image.delete().where(image.c.article_id == new.id))
            _insert_images(self._connection, {new.id: new.images})
        stored = stored_rows(self._connection, [new.id])[new.id]
        is_signed = signatures.row_of(self._connection, new.id) is not None
        if stored.text_hash == new.text_hash and is_signed:
            self._sign_again(new)  # processes know the text by its old address
        changed = self._update(stored, new, [one for one in candidates if one.id != old], is_moved=True).changed
        return Added(ArticleResult.UPDATED, old, changed)

    def _update(
        self, stored: Row[Any], new: NewArticle, candidates: Sequence[Candidate], *, is_moved: bool = False
    ) -> Added:
        """Update an article, and keep its old text if that has changed.

        One that has moved is as its new page says, and no earlier text is kept: as if that had come first.
        """
        values = values_of(new)
        if is_moved:
            values |= _lacking(values, stored._asdict())
        elif not self._reads_again:
            values = completed(stored, values)
        if stored.text_hash == new.text_hash:
            return self._renew(stored, new, values)
        held = self._holder_of(stored)
        changed = not is_moved and self._differs((stored.title, held.text), (new.title, new.text))
        if not (changed or is_moved or (self._reads_again and stored.text_holder is None)):
            # what is said of it may be put right all the same; its URL's reason is that of the page as it is now
            names = FACTS if values["title"] == stored.title else ()
            judged = ("harm", "harm_kind") if values["harm_kind"] != stored.harm_kind else ()
            return self._write_values(stored, {name: values[name] for name in (*names, *judged, "checked_with")})
        if stored.text_holder is None:
            if changed:
                self._keep_version(stored)
            self._hand_down(stored)
        self._connection.execute(update(article).where(article.c.id == new.id).values(values | {"text_holder": None}))
        clusters.count_changed(self._connection, stored, values)
        self._reworded.append(new.id)
        self._described.append(new)
        if stored.duplicate_of is None:
            clusters.forget_evidence(self._connection, [new.id])  # what its old text was related to
        else:
            clusters.detach(self._connection, new.id)
            if not self._still_repeats(stored, new, candidates):
                self._changed |= {stored.duplicate_of, stored.cluster_id}
                clusters.leave(self._connection, new.id, stored.cluster_id)
                self._freed.append(new.id)
        self._sign_again(new)
        return Added(ArticleResult.UPDATED, changed=changed)

    def _holder_of(self, stored: Row[Any]) -> Row[Any]:
        """Return the row of the article that has the text."""
        if stored.text_holder is None:
            return stored
        return stored_rows(self._connection, [stored.text_holder])[stored.text_holder]

    def _renew(self, stored: Row[Any], new: NewArticle, values: dict[str, Any]) -> Added:
        """Update an article whose text is the same but for signs, script, title or facts."""
        held = self._holder_of(stored)
        before, after = (stored.title, held.text), (values["title"], new.text)
        changed = stored.text_holder is None and before != after and self._differs(before, after)
        if changed:
            self._keep_version(stored)
        if held.text != new.text:
            if stored.text_holder is None:
                self._hand_down(stored)
            values |= {"text_holder": None}
        elif stored.text_holder is not None:
            values |= {"text": "", "html": ""}
        self._described.append(new)
        return self._write_values(stored, values)._replace(changed=changed)

    def _write_values(self, stored: Row[Any], values: dict[str, Any]) -> Added:
        """Write the values that differ."""
        others = {name for name, value in values.items() if stored._mapping[name] != value} - {"updated"}
        if others <= _MADE:
            if others:
                made = {name: values[name] for name in others}
                self._connection.execute(update(article).where(article.c.id == stored.id).values(made))
            return Added(ArticleResult.UNCHANGED)
        self._connection.execute(update(article).where(article.c.id == stored.id).values(values))
        clusters.count_changed(self._connection, stored, values)
        if others & _SOUGHT:
            self._reworded.append(stored.id)
        return Added(ArticleResult.UPDATED)

    def _keep_version(self, stored: Row[Any]) -> None:
        """Store an article's present text as an earlier one."""
        self._connection.execute(
            insert_new(self._connection, version),
            {"article_id": stored.id, "seen": stored.updated, "title": stored.title, "text": stored.text},
        )

    def _hand_down(self, stored: Row[Any]) -> None:
        """Give the text that is about to change to a copy without one, and sign that."""
        heir = clusters.hand_down(self._connection, stored)
        if heir is None:
            return
        self._changed.add(heir)
        signed = signatures.row_of(self._connection, stored.id)
        if signed is not None:
            self._signed.append(self._index.post(heir, None, signed.day, signed.length, signed.features))

    def _still_repeats(self, stored: Row[Any], new: NewArticle, candidates: Sequence[Candidate]) -> bool:
        """Tell whether a duplicate whose text has changed still is one."""
        verdict = self._judged(new, candidates)
        if verdict is None or not verdict.repeats or verdict.candidate.representative != stored.duplicate_of:
            return False
        clusters.write_evidence(self._connection, _evidence(new, verdict)._replace(own=1))
        return True


def regroup(connection: Connection, articles: Sequence[NewArticle], judge: Judge, index: MemoryIndex) -> None:
    """Tie stored articles in no cluster (`ALONE`) to others, as if they came now.

    The caller holds the lock on articles, and has let the index catch up.
    """
    done = 0
    while done < len(articles):
        done += len(_Regrouping(connection, articles[done:], judge, index).write())


class _Regrouping(_Round):
    """Articles that are stored: only what ties them is written."""

    def __init__(
        self, connection: Connection, articles: Sequence[NewArticle], judge: Judge, index: MemoryIndex
    ) -> None:
        def as_copies(new: NewArticle, candidates: Sequence[Candidate]) -> MatchDecision | None:
            verdict = judge(new, candidates)  # one page under two URLs, which are both stored, is a copy here
            return None if verdict is None else replace(verdict, same_page=False, keep=Keep.METADATA)

        super().__init__(connection, articles, as_copies, index, renewal=Renewal.OF_PAGES, make_terms=_no_terms)
        self._found.stored = {}

    def _insert(self, articles: Sequence[tuple[NewArticle, int | None, int | None]]) -> None:
        rows = [{"key": new.id, "cluster": of or new.id, "of": of} for new, of, _ in articles]
        alone = [(new.id, 1) for new, of, _ in articles if of is None]
        insert_rows(self._connection, cluster, ("id", "size"), alone)
        run_many(self._connection, _GROUP, rows)


_URLS = select(url.c.id, url.c.url).where(among(url.c.id))
_POINT_ON = (
    update(url)
    .where(url.c.id == bindparam("key"))
    .values(reason=PageReason.SAME_PAGE, reason_detail=None, same_as=bindparam("other"), next_visit=None)
)
_EDITION = re.compile(r"\A(?:m|wap|3g|mobile|touch|amp)\.|/(?:m|wap|mobile|touch|amp|print)(?=[/?]|\Z)")
"""Addresses of pages for telephones or printers, which say less."""


def _plainness(address: str) -> tuple[bool, bool, int, bool, str]:
    """Return a key by which the plainer of two URLs of one page comes first."""
    scheme, _, rest = address.partition("://")
    return "?" in rest, bool(_EDITION.search(rest)), len(rest), scheme != "https", rest


def _no_terms(*_: str) -> IndexTerms:
    raise AssertionError("nothing is indexed anew")


_GROUP = (
    update(article)
    .where(article.c.id == bindparam("key"))
    .values(cluster_id=bindparam("cluster"), duplicate_of=bindparam("of"))
)


def _evidence(new: NewArticle, verdict: MatchDecision) -> Evidence:
    """Return a decision as a row."""
    similarity, own = round(verdict.similarity, 4), int(verdict.own_wording)
    return Evidence(new.id, verdict.candidate.id, similarity, verdict.method, verdict.kind, own)


def _insert(
    connection: Connection, articles: Sequence[tuple[NewArticle, int | None, int | None]], make_terms: MakeTerms
) -> None:
    """Write rows of new articles: (article, the one it repeats, text holder)."""
    if not articles:
        return
    # never below the time, so that no number comes again when the newest articles were dropped
    last = connection.execute(_LAST_NUMBER).scalar_one_or_none() or 0
    first = max(last + 1, int(datetime.fromisoformat(articles[0][0].seen).timestamp() * 1000))
    rows = [
        values_of(new)
        | {"id": new.id, "cluster_id": original or new.id, "duplicate_of": original, "first_seen": new.seen}
        | {"text_holder": holder, "number": number}
        | ({} if holder is None else {"text": "", "html": ""})
        for number, (new, original, holder) in enumerate(articles, first)
    ]
    run_many(connection, _INSERT, rows)
    _insert_images(connection, {new.id: new.images for new, _, _ in articles})
    classes.insert(connection, {new.id: new.memberships for new, _, _ in articles})
    alone = [(new.id, 1) for new, original, _ in articles if original is None]
    insert_rows(connection, cluster, ("id", "size"), alone)
    search.insert(connection, [_indexed(new, original or new.id, make_terms) for new, original, _ in articles])


def _insert_images(connection: Connection, images: Mapping[int, Sequence[tuple[str, str]]]) -> None:
    """Write the images of articles that have none."""
    columns = ("article_id", "position", "url", "caption")
    rows = [(key, i, *one) for key, some in images.items() for i, one in enumerate(some)]
    insert_rows(connection, image, columns, rows)


def _indexed(new: NewArticle, cluster_id: int, make_terms: MakeTerms) -> IndexedArticle:
    """Return the row of a new article in the full-text index."""
    words, terms = make_terms(new.title, new.text, new.authors, new.source, new.language)
    times = search.times_of(new.published_at, new.published_utc, new.seen)
    kept = new.language, new.source, new.section, new.classes
    return IndexedArticle(new.id, new.site_id, cluster_id, *times, *kept, words, terms)


_ILLUSTRATED = select(image.c.article_id).where(image.c.article_id == bindparam("key")).limit(1)
_LAST_NUMBER = select(func.max(article.c.number))
_RENUMBER = update(article).where(article.c.id == bindparam("key")).values(number=bindparam("n"))
_INSERT = article.insert().values(
    {name: bindparam(name) for name in article.c.keys() if name != "gone"}  # noqa: SIM118 - a collection, no dictionary
)
