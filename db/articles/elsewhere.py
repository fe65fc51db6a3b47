"""Articles that repeat one of another database of the crawl.

Each database finds the copies among its own articles. The representatives of its clusters are announced: the hash of
the text and its smallest features are dealt over the databases like sites, and where a hash is at home, announcements
of it meet. The later article of two that meet is suspected of repeating the earlier. Its database reads the text of the
other, compares them as it compares its own, and keeps the evidence in `elsewhere`. All this comes by mail
(`db.shards.mail`), seconds after the articles:

    texts   [hash, article, its database, time]
    pairs   [article, the earlier one, the database of that]

The smallest features are a sample of all (A. Broder, On the resemblance of documents, 1997). With eight of them 98.4 %
of the labelled Chinese copies meet, and 95.9 % of the English ones, at 1.9 and 3.1 comparisons an article; with four
93.5 and 87.9 % (`tests/benchmarks/shard_copies.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, select

from ..engine.statements import among, insert_rows, one_by_one, run_many, upsert
from ..records.article import GUESS, Candidate
from ..records.keys import dealt
from ..records.shard import Dealing
from ..shards.mail import Letters, MailReader
from ..tables.articles import ArticleRow, SignatureRow
from ..tables.shards import ElsewhereRow, SuspectRow, TextKeyRow
from ..tables.urls import UrlRow
from .candidates import by_ids

article, signature, url, text_key, suspect, elsewhere = (
    model.table() for model in (ArticleRow, SignatureRow, UrlRow, TextKeyRow, SuspectRow, ElsewhereRow)
)

_FEATURES = 8
MOST_ALIKE = 8
"""Articles that are kept for a hash: one that more have is that of a set phrase."""
_AT_ONCE = 50


def announce(connection: Connection, dealing: Dealing, ids: Sequence[int]) -> None:
    """Announce those of some stored articles that represent a cluster."""
    connection.execute(_FORGET, {"ids": ids})
    letters = Letters(dealing)
    for one in connection.execute(_STANDING, {"ids": sorted(set(ids))}):
        at = _time(one)
        for key in sorted({one.text_hash, *memoryview(one.features or b"").cast("I")[:_FEATURES]}):
            letters.add(dealt(key, dealing.count), "texts", [key, one.id, dealing.number, at])
    letters.post(connection)


def _time(row: Any) -> str:
    published_time = row.published_utc if row.published_precision != GUESS else None
    return str(published_time or row.first_seen[: len("2024-03-12T08:30:00")].replace("T", " "))


_FORGET = delete(elsewhere).where(among(elsewhere.c.article_id))
_TIMES = ("published_utc", "published_precision", "first_seen")
_STANDING = (
    select(*(article.c[name] for name in ("id", "text_hash", *_TIMES)), signature.c.features)
    .join(signature, signature.c.article_id == article.c.id, isouter=True)
    .where(among(article.c.id), article.c.duplicate_of.is_(None))
    .order_by(article.c.id)
)


def readers(dealing: Dealing) -> Mapping[str, MailReader]:
    return {"texts": partial(_meet, dealing), "pairs": _suspect}


def _meet(dealing: Dealing, connection: Connection, texts: Sequence[tuple[int, int, int, str]]) -> None:
    alike: defaultdict[int, dict[int, Any]] = defaultdict(dict)
    for row in connection.execute(_ALIKE, {"ids": sorted({key for key, *_ in texts})}):
        alike[row.key][row.article_id] = row
    letters = Letters(dealing)
    fresh = []
    for key, article_id, shard, at in sorted(texts):
        for other in alike[key].values():
            if other.shard != shard:
                early, late = sorted([(other.at, other.article_id, other.shard), (at, article_id, shard)])
                letters.add(late[2], "pairs", [late[1], early[1], early[2]])
        if len(alike[key]) < MOST_ALIKE and article_id not in alike[key]:
            alike[key][article_id] = _TextKey(key, article_id, shard, at)
            fresh.append(alike[key][article_id])
    insert_rows(connection, text_key, _TextKey._fields, fresh)
    letters.post(connection)


class _TextKey(NamedTuple):
    key: int
    article_id: int
    shard: int
    at: str


_ALIKE = select(*(text_key.c[name] for name in _TextKey._fields)).where(among(text_key.c.key))


def _suspect(connection: Connection, pairs: Sequence[tuple[int, int, int]]) -> None:
    insert_rows(connection, suspect, ("article_id", "of_id", "shard"), sorted(set(map(tuple, pairs))))


# ---------------------------------------------------------------- comparing


class Suspicion(NamedTuple):
    article_id: int
    of_id: int
    shard: int


class ElsewhereEvidence(NamedTuple):
    """An article repeats one of another database: a row of `elsewhere`."""

    article_id: int
    of_id: int
    of_url: str
    of_at: str
    shard: int
    similarity: float
    method: str
    kind: str


def suspicions(connection: Connection, shard: int) -> list[Suspicion]:
    return [Suspicion(*row) for row in connection.execute(_SUSPECTS, {"of": shard})]


_SUSPECTS = (
    select(suspect.c.article_id, suspect.c.of_id, suspect.c.shard)
    .where(suspect.c.shard == bindparam("of"))
    .order_by(suspect.c.article_id)
    .limit(_AT_ONCE)
)


def texts_of(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[Candidate, str, str]]:
    """Read articles to compare: (as candidates, URL, time they are put in order by)."""
    facts = {row.id: row for row in connection.execute(_FACTS, {"ids": ids})}
    return {
        one.id: (one, facts[one.id].url, _time(facts[one.id])) for one in by_ids(connection, ids) if one.id in facts
    }


_FACTS = (
    select(article.c.id, url.c.url, *(article.c[name] for name in _TIMES))
    .join(url, url.c.id == article.c.id)
    .where(among(article.c.id))
)


@one_by_one
def settle(connection: Connection, settled: tuple[Sequence[Suspicion], Sequence[ElsewhereEvidence]]) -> int:
    """Write the results of some comparisons; returns how many articles are copies now."""
    done, evidence = settled
    original_times = dict(connection.execute(_KNOWN, {"ids": [one.article_id for one in evidence]}).all())
    fresh = 0
    for one in sorted(evidence, key=lambda one: (one.article_id, one.of_at), reverse=True):
        if one.article_id not in original_times or one.of_at < original_times[one.article_id]:
            fresh += one.article_id not in original_times
            original_times[one.article_id] = one.of_at
            values = one._asdict()
            upsert(connection, elsewhere, {"article_id": values.pop("article_id")}, values)
    run_many(connection, _SETTLED, [{"late": one.article_id, "early": one.of_id} for one in done])
    return fresh


_KNOWN = select(elsewhere.c.article_id, elsewhere.c.of_at).where(among(elsewhere.c.article_id))
_SETTLED = delete(suspect).where(suspect.c.article_id == bindparam("late"), suspect.c.of_id == bindparam("early"))
