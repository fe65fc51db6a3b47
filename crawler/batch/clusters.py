"""Group stored articles by their duplicates again, by partitions."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from db.articles.regroup import ArticleText, group_again, numbers, texts
from db.articles.signatures import write_alone
from db.engine.database import open_for_crawl, open_for_reading, whole_url
from pipelines.dedup import Comparison, Method, Signature
from pipelines.dedup.ahead.recorded import KeyedText, RecordedTexts, text_key
from pipelines.dedup.judge import DuplicateJudge, SignatureIndex

from ..corpus.sources import shares
from .ahead import SITE, Made, MethodName, prepare, signature_at

if TYPE_CHECKING:
    from . import frame
    from .request import Request

_ARTICLES = 2_000
"""Articles in a partition when no number of partitions is wanted."""


@dataclass(frozen=True, slots=True)
class _StoredArticles:
    """The articles of a database from one number to another."""

    lines_left_out: ClassVar[bool] = False
    url: str
    first: int
    last: int

    def rows(self, _notes: list[str], _wanted: str) -> Iterator[tuple[str, dict[str, Any]]]:
        with closing(open_for_reading(self.url)) as database:
            for one in texts(database, self.first, self.last):
                yield str(one.id), {"title": one.title, "text": one.text, SITE: one.site_id}


def group(request: Request) -> frame.BatchTotals:
    """Group the articles of a database as if they came now, in their order.

    Raises:
        ValueError: the source is no database, or the parts kept belong to another batch.
        BatchStopped, DatabaseProblem: the batch cannot go on.
    """
    request.needs_database()
    url, name = whole_url(request.source), MethodName.of(request.config)
    with closing(open_for_reading(url)) as database:
        database_name, ordered = database.name, database.read(numbers)
    mark = {"database": database_name, "articles": len(ordered), "last": max(ordered, default=0), **name.mark()}
    parts = partial(request.beside(database_name).parts, mark)
    cut = [
        _StoredArticles(url, ordered[start], ordered[end - 1])
        for start, end in shares(len(ordered), request.partitions, _ARTICLES)
        if end
    ]
    with closing(open_for_crawl(url)) as database:
        with request.connected() as client:
            made_ahead = prepare(client, parts, name, cut)
        record = ArticleRecord(name.made(), made_ahead)
        policy, memory = request.config.duplicates, request.config.duplicate_memory_bytes
        judge = DuplicateJudge(record.answers.by_text(), policy)
        index = SignatureIndex(name.made(), policy.window, memory)
        done = write_alone(database, lambda connection: group_again(connection, judge, index, record.signed))
    shutil.rmtree(parts("signed").folder.parent)
    made_ahead.totals.counts.update(articles=done)
    return made_ahead.totals


class ArticleRecord:
    """Answers made ahead for stored articles, found by their texts.

    `answers` counts those given to the judge, and those that had to be made. Memory: 24 bytes an article, and the
    comparisons of a partition.
    """

    def __init__(self, method: Method, made: Made) -> None:
        self.answers = RecordedTexts(method, self._comparison)
        self._made = made
        self._keys = np.concatenate([np.zeros(0, np.uint64), *(columns["keys"] for columns in made.texts.raw)])
        self._order = np.argsort(self._keys)
        self._part = -1
        self._comparisons: dict[tuple[int, ...], Comparison] = {}
        self._before = self._comparisons

    def signed(self, article: ArticleText) -> Signature:
        key = text_key(article.title, article.text)
        place = int(np.searchsorted(self._keys, key, sorter=self._order))
        if place == len(self._keys) or self._keys[self._order[place]] != key:
            return self.answers.method.sign(article.title, article.text)  # it has changed since
        part, place = self._made.texts.place(int(self._order[place]))
        if part > self._part:
            self._part, self._before = part, self._comparisons  # of articles that were asked for and not judged yet
            self._comparisons = self._made.comparisons(part, "later_key", "earlier_key")
        return signature_at(self._made.texts.raw[part], place)

    def _comparison(self, new: KeyedText, stored: KeyedText) -> Comparison | None:
        keys = new.key, stored.key
        return self._comparisons.get(keys) or self._before.get(keys)
