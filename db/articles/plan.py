"""Plans: what to write of an article that has come, decided without a database.

A plan is a list of writes in the order in which `db.articles.apply` carries them out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ..records.article import GUESS, Added, Candidate, Differs, Judge, Keep, MatchDecision, NewArticle, Renewal
from ..records.evidence import Evidence
from ..records.reasons import ArticleResult
from ..records.search import TERM_FIELDS

StoredRow = Mapping[str, Any]

_PUBLISHED = ("published_at", "published_utc", "published_precision", "published_from")
_STATED = ("title", "authors", "source", "section", "tags", "description")
"""Columns that a page may leave empty though the article has them."""
_FACTS = ("authors", "source", *_PUBLISHED, "updated")
_OF_READING = frozenset(
    {
        "extractor",
        "extractor_version",
        "checked_with",
        "described_with",
        "text_from",
        "related",
        "kind_probability",
    }
)
"""Columns that say how an article was read or what stands beside it, and nothing of its content."""
_DESCRIBED = frozenset({"keywords", "summary", "classes", "described_with"})
"""Columns that may be filled later than the others."""
_INDEXED = frozenset({*TERM_FIELDS, "section", "classes", "text_holder", *_PUBLISHED})
"""Columns that the full-text index is made of."""


# ---------------------------------------------------------------- writes


class Insert(NamedTuple):
    """Store a new article, as a copy of `original` if it is one.

    The text is left out when the article `holder` has it word for word.
    """

    new: NewArticle
    original: int | None = None
    holder: int | None = None


class Sign(NamedTuple):
    """Sign an article, in the cluster of one of these signed articles or its own."""

    new: NewArticle
    beside: tuple[int, ...] = ()


class SignAnew(NamedTuple):
    new: NewArticle
    only_if_signed: bool = False


class Tie(NamedTuple):
    evidence: Evidence


class Untie(NamedTuple):
    article_id: int


class Detach(NamedTuple):
    article_id: int


class Leave(NamedTuple):
    article_id: int
    cluster_id: int


class Join(NamedTuple):
    original: int


class TakeOver(NamedTuple):
    original: int
    evidence: Evidence


class Unite(NamedTuple):
    """Unite the cluster of `original` with those of `others`, repeated as well.

    `candidate` is the article of the first cluster that it repeats: what shares but a frame with that stays apart.
    """

    original: int
    candidate: int
    others: tuple[tuple[Candidate, Evidence], ...]


class Free(NamedTuple):
    """Free an article that shares only a frame with the one that it repeats."""

    article_id: int
    of_id: int
    cluster_id: int


class Move(NamedTuple):
    old: int
    new: int


class SetValues(NamedTuple):
    article_id: int
    values: Mapping[str, Any]


class Recount(NamedTuple):
    """Count a stored article under another (site, source)."""

    before: tuple[int, str]
    after: tuple[int, str]
    repeats: bool


class KeepVersion(NamedTuple):
    article_id: int
    seen: str
    title: str
    text: str


class HandDown(NamedTuple):
    article_id: int
    text: str
    html: str


class Illustrate(NamedTuple):
    article_id: int
    images: Sequence[tuple[str, str]]
    replaces: bool


class Reindex(NamedTuple):
    article_id: int


class Reclass(NamedTuple):
    new: NewArticle


Write = (
    Insert
    | Sign
    | SignAnew
    | Tie
    | Untie
    | Detach
    | Leave
    | Join
    | TakeOver
    | Unite
    | Free
    | Move
    | SetValues
    | Recount
    | KeepVersion
    | HandDown
    | Illustrate
    | Reindex
    | Reclass
)


class Plan(NamedTuple):
    writes: list[Write]
    result: Added
    changed: frozenset[int] = frozenset()


class StoredFacts(Protocol):
    """Facts about stored articles, asked for before any write of a plan."""

    def row(self, article_id: int) -> StoredRow:
        """Return the whole row of a stored article."""

    def text(self, row: StoredRow) -> str:
        """Return the text of an article, which may stand in the row of another."""

    def urls(self, ids: Sequence[int]) -> Mapping[int, str]:
        """Return URLs by their identifiers."""

    def is_better_original(self, new: NewArticle, original: int) -> bool:
        """Tell whether a new article should represent the cluster of a stored one."""


# ---------------------------------------------------------------- planning


def frees(decision: MatchDecision | None) -> list[Write]:
    freed = () if decision is None else decision.freed
    return [Free(one.id, one.doubtful, one.representative) for one in freed if one.doubtful is not None]


@dataclass(frozen=True, slots=True)
class Planner:
    stored: StoredFacts
    judge: Judge
    differs: Differs
    renewal: Renewal

    def of_new(self, new: NewArticle, candidates: Sequence[Candidate], decision: MatchDecision | None) -> Plan:
        if decision is None or not decision.repeats:
            writes: list[Write] = [Insert(new), Sign(new)]
            if decision is not None:
                writes.append(Tie(_evidence(new, decision)))
            return Plan(writes, Added(ArticleResult.NEW))
        if not decision.same_page:
            return self._copy(new, decision)
        candidate = decision.candidate
        if self._is_preferred(new, candidate):
            return self._move(new, candidate, candidates)
        return Plan(
            self._complete(candidate.id, new),
            Added(ArticleResult.SAME_PAGE, candidate.id),
            frozenset({new.id, candidate.id, candidate.representative}),
        )

    def of_stored(self, stored: StoredRow, new: NewArticle, candidates: Sequence[Candidate]) -> Plan:
        values = values_of(new)
        if self.renewal is not Renewal.OF_TEXTS:
            values = completed(stored, values)
        return self._update(stored, new, values, candidates, is_moved=False)

    def _copy(self, new: NewArticle, decision: MatchDecision) -> Plan:
        """Add a copy: by policy with its text, without it, or not at all."""
        candidate, evidence = decision.candidate, _evidence(new, decision)
        original = candidate.representative
        changed = frozenset({new.id, candidate.id, original})
        takes_over = self.stored.is_better_original(new, original)
        if decision.keep is Keep.NOTHING and not takes_over:
            return Plan([Tie(evidence)], Added(ArticleResult.DROPPED, original), changed)
        is_looked_up = takes_over or decision.own_wording
        # what is shown of a page is in its own words, its own signs, its own script
        is_held = not is_looked_up and decision.keep is Keep.METADATA and candidate.text == new.text
        writes: list[Write] = [Insert(new, original, candidate.text_holder if is_held else None), Join(original)]
        if is_looked_up:
            writes.append(Sign(new, (candidate.id, original)))
        writes.append(TakeOver(original, evidence) if takes_over else Tie(evidence))
        if decision.also:
            others = tuple((other.candidate, _evidence(new, other)) for other in decision.also)
            writes.append(Unite(new.id if takes_over else original, candidate.id, others))
            changed = changed.union(*((other.id, other.representative) for other, _ in others))
        return Plan(writes, Added(ArticleResult.DUPLICATE, candidate.id), changed)

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
        urls = self.stored.urls([new.id, old.id])
        return _plainness(urls[new.id]) < _plainness(urls[old.id])

    def _complete(self, key: int, other: NewArticle) -> list[Write]:
        stored = self.stored.row(key)
        lacking = _lacking(stored, values_of(other))
        writes = _set(stored, lacking | {"updated": other.seen}).writes if lacking else []
        if other.images:
            writes.append(Illustrate(key, other.images, replaces=False))
        return writes

    def _move(self, new: NewArticle, candidate: Candidate, candidates: Sequence[Candidate]) -> Plan:
        old = candidate.id
        stored = dict(self.stored.row(old))
        stored |= {"id": new.id, "cluster_id": new.id if stored["cluster_id"] == old else stored["cluster_id"]}
        writes: list[Write] = [Move(old, new.id)]
        if new.images:
            writes.append(Illustrate(new.id, new.images, replaces=True))
        if stored["text_hash"] == new.text_hash:
            writes.append(SignAnew(new, only_if_signed=True))  # processes know the text by its old URL
        values = values_of(new)
        values |= _lacking(values, stored)
        others = [one for one in candidates if one.id != old]
        updated = self._update(stored, new, values, others, is_moved=True)
        changed = updated.changed | {new.id, old, candidate.representative}
        return Plan([*writes, *updated.writes], Added(ArticleResult.UPDATED, old, updated.result.changed), changed)

    def _update(
        self,
        stored: StoredRow,
        new: NewArticle,
        values: Mapping[str, Any],
        candidates: Sequence[Candidate],
        *,
        is_moved: bool,
    ) -> Plan:
        """Update an article, and keep its old text if that has changed.

        One that has moved is as its new page says, and no earlier text is kept: as if that had come first.
        """
        text = self.stored.text(stored)
        if stored["text_hash"] == new.text_hash:
            return self._renew(stored, new, values, text)
        is_holder = stored["text_holder"] is None
        changed = not is_moved and self.differs((stored["title"], text), (new.title, new.text))
        if not (changed or is_moved or (self.renewal is Renewal.OF_TEXTS and is_holder)):
            # what is said of it may be put right all the same; its URL's reason is that of the page as it is now
            names = _FACTS if values["title"] == stored["title"] else ()
            judged = ("harm", "harm_kind") if values["harm_kind"] != stored["harm_kind"] else ()
            return _set(stored, {name: values[name] for name in (*names, *judged, "checked_with")})
        writes: list[Write] = []
        others_changed = frozenset[int]()
        if is_holder:
            if changed:
                writes.append(_version(stored))
            writes.append(_hand_down(stored))
        writes += [*_set_all(stored, {**values, "text_holder": None}), Reindex(new.id), Reclass(new)]
        if stored["duplicate_of"] is None:
            writes.append(Untie(new.id))  # what its old text was related to
        else:
            writes.append(Detach(new.id))
            decision = self.judge(new, candidates)
            writes += frees(decision)
            original = stored["duplicate_of"]
            if decision is not None and decision.repeats and decision.candidate.representative == original:
                writes.append(Tie(_evidence(new, decision)._replace(own=1)))
            else:
                writes.append(Leave(new.id, stored["cluster_id"]))
                others_changed = frozenset({original, stored["cluster_id"]})
        writes.append(SignAnew(new))
        return Plan(writes, Added(ArticleResult.UPDATED, changed=changed), others_changed)

    def _renew(self, stored: StoredRow, new: NewArticle, values: Mapping[str, Any], text: str) -> Plan:
        before, after = (stored["title"], text), (values["title"], new.text)
        is_holder = stored["text_holder"] is None
        changed = is_holder and before != after and self.differs(before, after)
        writes: list[Write] = [_version(stored)] if changed else []
        values = dict(values)
        if text != new.text:
            if is_holder:
                writes.append(_hand_down(stored))
            values["text_holder"] = None
        elif not is_holder:
            values |= {"text": "", "html": ""}
        says_the_same = before == after and stored["language"] == new.language
        if says_the_same and stored["described_with"] and not new.described_with:  # it is what would be made later
            values = {name: value for name, value in values.items() if name not in _DESCRIBED}
        else:
            writes.append(Reclass(new))
        updates, result, _ = _set(stored, values)
        return Plan([*writes, *updates], result._replace(changed=changed))


def _version(stored: StoredRow) -> KeepVersion:
    return KeepVersion(stored["id"], stored["updated"], stored["title"], stored["text"])


def _hand_down(stored: StoredRow) -> HandDown:
    return HandDown(stored["id"], stored["text"], stored["html"])


def _set_all(stored: StoredRow, values: Mapping[str, Any]) -> list[Write]:
    """Set values, and count the article anew if its site or source changes."""
    before = stored["site_id"], stored["source"]
    after = values.get("site_id", before[0]), values.get("source", before[1])
    writes: list[Write] = [SetValues(stored["id"], values)]
    if before != after:
        writes.append(Recount(before, after, stored["duplicate_of"] is not None))
    return writes


def _set(stored: StoredRow, values: Mapping[str, Any]) -> Plan:
    """Set the values if they differ. How an article was read is no change of it."""
    others = {name for name, value in values.items() if stored[name] != value} - {"updated"}
    if others <= _OF_READING:
        writes: list[Write] = [SetValues(stored["id"], {name: values[name] for name in others})] if others else []
        return Plan(writes, Added(ArticleResult.UNCHANGED))
    writes = _set_all(stored, values)
    if others & _INDEXED:
        writes.append(Reindex(stored["id"]))
    return Plan(writes, Added(ArticleResult.UPDATED))


def _evidence(new: NewArticle, decision: MatchDecision) -> Evidence:
    similarity, own_wording = round(decision.similarity, 4), int(decision.own_wording)
    return Evidence(new.id, decision.candidate.id, similarity, decision.method, decision.kind, own_wording)


_EDITION = re.compile(r"\A(?:m|wap|3g|mobile|touch|amp)\.|/(?:m|wap|mobile|touch|amp|print)(?=[/?]|\Z)")
"""URLs of pages for telephones or printers, which say less."""


def _plainness(url: str) -> tuple[bool, bool, int, bool, str]:
    scheme, _, rest = url.partition("://")
    return "?" in rest, bool(_EDITION.search(rest)), len(rest), scheme != "https", rest


# ---------------------------------------------------------------- columns


def values_of(new: NewArticle) -> dict[str, Any]:
    return {name: getattr(new, name) for name in _COPIED} | {
        "quality": round(new.quality, 4),
        "relevance": None if new.relevance is None else round(new.relevance, 4),
        "kind_probability": None if new.kind_probability is None else round(new.kind_probability, 4),
        "text_chars": len(new.text),
        "checked_with": made_with(new.extractor, new.extractor_version),
        "updated": new.seen,
    }


_NO_COLUMNS = frozenset(
    {"id", "features", "length", "images", "canonical_id", "seen", "memberships", "harm_detail", "index_terms"}
)
_COPIED = tuple(name for name in NewArticle.__dataclass_fields__ if name not in _NO_COLUMNS)


def made_with(extractor: str, version: str) -> str:
    return f"{extractor} {version}"


def completed(stored: StoredRow, values: dict[str, Any]) -> dict[str, Any]:
    """Complete the values of an article read again by what its page no longer says."""
    if values["title"] not in {"", stored["title"]} and values["text_hash"] != stored["text_hash"]:
        return values  # perhaps another one
    return values | _lacking(values, stored)


def _lacking(values: StoredRow, others: StoredRow) -> dict[str, Any]:
    lacking = {name: others[name] for name in _STATED if others[name] and not values[name]}
    day, other_day = (str(one["published_at"])[: len("2024-03-12")] for one in (values, others))
    precision = values["published_precision"]
    # of two guesses the earlier one was made nearer to the day
    vaguer = precision == GUESS or (day == other_day and precision == "day" != others["published_precision"])
    if others["published_at"] is not None and (values["published_at"] is None or vaguer):
        lacking |= {name: others[name] for name in _PUBLISHED}
    return lacking


# ---------------------------------------------------------------- batches


def follow(articles: Sequence[NewArticle], added: list[Added], old: int, new: int) -> None:
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
