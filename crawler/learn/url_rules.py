"""Learn DUST rules while a crawl runs, and bring URLs that wait in line with them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from cachetools import LRUCache

from db.engine.errors import DatabaseProblem
from db.frontier import aliases
from db.records.keys import is_sampled
from db.sites import url_rules as table
from db.sites.url_rules import KnownUrl, RuleRow
from pipelines.records import BlockKind
from pipelines.url_rules.forms import Rule, pack, unpack
from pipelines.url_rules.learn import Learned, Params, learn

from ..run.session import Session

logger = logging.getLogger(__name__)

T = TypeVar("T")

MOST_PAGES = 20_000
"""Pages of a host that are learned from, the newest."""
_MOST_FORMS = 100_000
_MOST_HOSTS = 20_000
_MOST_RULES = 50
_CHUNK = 500
# Chosen by hand.
_FIRST = 8
_GROWTH = 1.5
_FIRST_LOOK = 64
_WANTED_THEMSELVES = (BlockKind.SEED, BlockKind.REDIRECT, BlockKind.PART, BlockKind.CANONICAL)
"""Places of links that are fetched whatever the rules say."""


@dataclass(slots=True)
class _Watch:
    repeats: int = 0
    learn_at: int = _FIRST
    pages: int = 0
    look_at: int = _FIRST_LOOK
    news: bool = False


class UrlRules:
    """Rules of a run's hosts; `adjust` is told how many more URLs wait, and where."""

    def __init__(
        self,
        session: Session,
        start: Callable[[Coroutine[Any, Any, None]], None],
        adjust: Callable[[int, Set[int]], None],
    ) -> None:
        self._session = session
        self._start = start
        self._adjust = adjust
        self._params = Params(threshold=session.config.url_rules)
        self._used: dict[int, str] = {}
        self._watched: LRUCache[int, _Watch] = LRUCache(_MOST_HOSTS)
        self._due: deque[int] = deque()
        self._learning = False
        self._one_at_a_time = asyncio.Lock()

    async def load(self) -> None:
        rules_of = await self._session.submit(table.used, None)
        self._used = {host_id: pack([Rule(*rule) for rule in rules]) for host_id, rules in rules_of.items()}

    async def reload(self, seconds: float) -> None:
        """Read the rules again and again: other processes learn, too, and hand over hosts."""
        while True:
            await asyncio.sleep(seconds)
            if not self._learning:
                await self.load()

    def of(self, host_id: int) -> str:
        return self._used.get(host_id, "")

    def repeated(self, host_id: int) -> None:
        watch = self._watch(host_id)
        watch.repeats += 1
        if watch.repeats >= watch.learn_at:
            watch.learn_at = int(_GROWTH * watch.repeats) + 1
            self._look(host_id)

    def stored(self, host_id: int) -> None:
        if host_id in self._used:
            watch = self._watch(host_id)
            watch.pages += 1
            watch.news = True
            if watch.pages >= watch.look_at:
                watch.look_at *= 2
                self._look(host_id)

    async def look_again(self) -> bool:
        """Weigh rules again of hosts with new articles; True if URLs wait again."""
        freed = 0
        for host_id in [key for key, watch in self._watched.items() if watch.news and key in self._used]:
            freed += await self._learn(host_id)
        return freed > 0

    def _watch(self, host_id: int) -> _Watch:
        return self._watched.setdefault(host_id, _Watch())

    def _look(self, host_id: int) -> None:
        if host_id not in self._due:
            self._due.append(host_id)
        if not self._learning:
            self._learning = True
            self._start(self._learn_all())

    async def _learn_all(self) -> None:
        try:
            while self._due:
                await self._learn(self._due.popleft())
        finally:
            self._learning = False

    async def _learn(self, host_id: int) -> int:
        """Return how many URLs wait again."""
        async with self._one_at_a_time:
            self._watch(host_id).news = False
            try:
                return await self._update(host_id)
            except DatabaseProblem as problem:  # if it was more than this reader, whoever writes a page says so
                logger.warning("URL rules could not be learned: %s", problem)
                return 0

    async def _update(self, host_id: int) -> int:
        session, params = self._session, self._params
        pages, held = await session.read(lambda c: (table.evidence(c, host_id, MOST_PAGES), table.used_of(c, host_id)))
        learned = await asyncio.to_thread(learn, pages, [Rule(*rule) for rule in held], params)
        rules = pack([one.rule for one in learned if one.used])
        rows = (host_id, [row_of(one) for one in learned[:_MOST_RULES]])
        before = self.of(host_id)
        if rules == before:
            await session.submit(table.save, rows)
            return 0
        logger.info("rules of host %d: %s", host_id, rules or "none")
        self._use(host_id, rules)
        try:
            return await self._change(host_id, rules, rows)
        except BaseException:
            self._use(host_id, before)  # so that it is done another time
            raise

    def _use(self, host_id: int, rules: str) -> None:
        if rules:
            self._used[host_id] = rules
        else:
            self._used.pop(host_id, None)

    async def _change(self, host_id: int, rules: str, rows: tuple[int, Sequence[RuleRow]]) -> int:
        session, freed, skipped = self._session, 0, 0
        # first: if this is cut short, the old rules are still in the table, and it is done another time
        ruled = await session.read(lambda c: table.skipped_urls(c, host_id))
        for ids in _chunks(await asyncio.to_thread(_no_longer_ruled, ruled, rules)):
            freed += await session.submit(aliases.let_wait, (host_id, ids))
        await session.submit(table.save, rows)
        while await session.submit(aliases.clear, host_id):
            pass
        if rules:
            urls = await session.read(lambda c: table.known_urls(c, host_id, _MOST_FORMS))
            represented, superfluous = await asyncio.to_thread(_plan, urls, host_id, rules)
            for some in _chunks(represented):
                await session.submit(aliases.fill, some)
            for pairs in _chunks(superfluous):
                skipped += await session.submit(aliases.skip_waiting, pairs)
        self._adjust(freed - skipped, {host_id})
        return freed


def _no_longer_ruled(skipped: Sequence[tuple[int, str, str]], rules: str) -> list[int]:
    key_of = unpack(rules).key
    return [url_id for url_id, url, other in skipped if key_of(url) != key_of(other)]


def _plan(
    urls: Sequence[KnownUrl], host_id: int, rules: str
) -> tuple[list[tuple[int, int, int]], list[tuple[int, int]]]:
    """Normal forms with their representatives, and waiting URLs with theirs."""
    key_of = unpack(rules).key
    represented: dict[int, int] = {}
    superfluous = []
    for one in urls:
        other = represented.setdefault(key_of(one.url), one.id)
        if other != one.id and one.waits and one.found_in not in _WANTED_THEMSELVES and not is_sampled(one.id):
            superfluous.append((one.id, other))
    return [(key, host_id, url_id) for key, url_id in represented.items()], superfluous


def row_of(learned: Learned) -> RuleRow:
    rule, example = learned.rule, json.dumps(learned.example)
    support, against, confidence = learned.support, learned.against, learned.confidence
    return RuleRow(rule.kind, rule.pattern, support, against, confidence, int(learned.used), example)


def _chunks(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    left = iter(rows)
    while chunk := list(islice(left, _CHUNK)):
        yield chunk
