"""Describe stored articles again: keywords, summary, classes, harm."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from db.articles import descriptions
from db.articles.descriptions import DescribedText, Redescribed
from db.records.reasons import FailReason
from pipelines.records import PageKind
from pipelines.search.terms import index_terms
from pipelines.worker import DescribeJob, FaultLog, PageUnreadable

from .rework import UNREAD, ChosenArticles, summary

if TYPE_CHECKING:
    from db.articles.rework import Wanted
    from db.engine.database import Database
    from pipelines.worker import WorkerPool

    from ..options.config import Config
    from ..run.session import DatabaseLine

DESCRIBED_KINDS: Final = frozenset(PageKind) - {PageKind.LIST}
_CHANGED, _SAME = "with another description", "as they were"


class ArticleDescriber:
    """Describes articles in workers.

    With `keeps_harm` those that were judged when their page was read are not judged again.
    """

    def __init__(self, _config: Config, _database: Database, pool: WorkerPool, *, keeps_harm: bool = False) -> None:
        self._pool = pool
        self._keeps_harm = keeps_harm
        self._faults = FaultLog("could not be described")

    async def __call__(self, article: DescribedText) -> Redescribed | None:
        """Describe an article in a worker; None if that fails."""
        page = article.url, article.content_type or "", article.body or b""
        is_judged = self._keeps_harm and article.harm is not None
        try:
            job = DescribeJob(article.title, article.text, article.language, *page, is_judged=is_judged)
            values = (await self._pool.run(job)).values()
        except Exception as error:  # of whatever kind: it costs this article only
            if isinstance(error, PageUnreadable) and error.reason is FailReason.STOPPED:
                raise
            self._faults.note(article.url, error)
            return None
        if is_judged:
            values = {name: value for name, value in values.items() if name not in descriptions.OF_HARM}
        return Redescribed(article._replace(text="", body=None), values)  # what was read is not needed again


class Redescription:
    reader = ArticleDescriber

    def __init__(self, config: Config, line: DatabaseLine) -> None:
        self.name = line.database.name
        self.total = 0
        self.counts: Counter[str] = Counter()
        self._line = line
        self._write = partial(descriptions.write, index_terms)

    async def choose(self, wanted: Wanted) -> Sequence[ChosenArticles]:
        ids = await asyncio.to_thread(descriptions.find, self._line.database, wanted)
        self.total = len(ids)
        return [ChosenArticles(ids, descriptions.read)]

    async def take(self, results: Sequence[Redescribed | None]) -> None:
        described = [one for one in results if one is not None]
        changed = await self._line.submit(self._write, described)
        self.counts += Counter({_CHANGED: changed, _SAME: len(described) - changed})
        self.counts[UNREAD] += len(results) - len(described)

    def report(self) -> Iterator[str]:
        yield f"{self.total} articles of {self.name} were described by other models or settings\n"
        yield from summary(self, _CHANGED, _SAME, UNREAD)
