"""Exchange messages with other databases of a crawl, and tell when all are done.

The leading process of each database brings its messages to the others, reads what came, and has pages of `MAX_PAGES`
granted. When nothing is left in its own, a process looks at all databases twice: if none has anything to do, and
nothing was sent, received or counted in between, nothing will come any more (Mattern's double counting). A database
that does not answer is waited for; then the crawl ends with work left.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from db.articles import elsewhere
from db.articles.elsewhere import ElsewhereEvidence, Suspicion
from db.engine.errors import DatabaseProblem
from db.records.run import Limits
from db.records.shard import ShardState, is_spent, unfinished
from db.records.url import Found
from db.shards import mail, places
from pipelines.dedup.judge import DuplicateJudge

from .. import clock
from ..run.session import Session

logger = logging.getLogger(__name__)

T = TypeVar("T")

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0
_LOOK_SECONDS = 0.3
_LAST_SECONDS = 5.0
_FIRST = 1
"""Number of the database that deals `MAX_PAGES`."""
_LEAST_AHEAD, _MOST_AHEAD = 10, 1_000


class Exchange:
    """Traffic of a process with the other databases.

    `left` is one sentence about work left in them when the crawl ends; empty for none.
    """

    def __init__(
        self, session: Session, *, found: Callable[[Found], None], refill: Callable[[], None], watches: bool
    ) -> None:
        assert session.neighbours is not None
        self.left = ""
        self._session = session
        self._neighbours = session.neighbours
        self._dealing = session.neighbours.dealing
        self._limits = session.limits_of_all
        self._judge = DuplicateJudge(session.config.duplicate_method, session.config.duplicates)
        self._readers = elsewhere.readers(self._dealing)
        self._found = found
        self._refill = refill
        self._watches = watches
        self._silent: dict[int, str] = {}
        """Databases that do not answer, and why."""
        self._again_at: dict[int, float] = {}
        self._asked: set[asyncio.Future[Any]] = set()
        self._last: dict[int, ShardState | None] = {}
        self._abandoned_at: dict[int, float] = {}
        """Times since which databases have had work, and nobody for it."""

    async def keep(self) -> None:
        """Exchange for ever.

        Raises:
            DatabaseProblem: the own database gave up.
        """
        pause = _SHORTEST_PAUSE
        while True:
            await asyncio.sleep(pause)
            busy = self._session.leads and await self._round()
            pause = _SHORTEST_PAUSE if busy else min(_LONGEST_PAUSE, 2 * pause)

    async def _round(self) -> bool:
        sent = await asyncio.gather(*(self._ask(n, partial(self._send, n)) for n in self._dealing.others))
        count, arrived = await self._session.submit(mail.read, self._readers)
        if count:
            self._found(arrived)
        for number in self._dealing.others:
            settled = await self._ask(number, partial(self._compare, number))
            if settled is not None:
                self._session.stats["elsewhere"] += await self._session.submit(elsewhere.settle, settled)
                count += 1
        if await self._ask(_FIRST, self._have_granted) and self._limits.pages is not None:
            self._refill()
        return bool(count or any(sent))

    def _send(self, number: int) -> int:
        return mail.deliver(self._neighbours.own, self._neighbours.get(number), self._dealing.number, number)

    def _compare(self, number: int) -> tuple[Sequence[Suspicion], Sequence[ElsewhereEvidence]] | None:
        suspicions = self._neighbours.own.read(partial(elsewhere.suspicions, shard=number))
        if not suspicions:
            return None
        late, early = zip(*((one.article_id, one.of_id) for one in suspicions), strict=True)
        own_texts = self._neighbours.own.read(partial(elsewhere.texts_of, ids=late))
        theirs = self._neighbours.get(number).read(partial(elsewhere.texts_of, ids=early))
        evidence = []
        for one in suspicions:
            if one.article_id in own_texts and one.of_id in theirs:
                (text, *_), (other, url, at) = own_texts[one.article_id], theirs[one.of_id]
                if (decision := self._judge.between(text, other)) is not None:
                    evidence.append(
                        ElsewhereEvidence(
                            one.article_id,
                            one.of_id,
                            of_url=url,
                            of_at=at,
                            shard=number,
                            similarity=round(decision.similarity, 4),
                            method=decision.method,
                            kind=decision.kind,
                        )
                    )
        return suspicions, evidence

    def _have_granted(self) -> bool | None:
        limit, ahead = self._limits.pages, _MOST_AHEAD
        if limit is not None:
            ahead = min(ahead, max(_LEAST_AHEAD, limit // (10 * self._dealing.count)))
        return self._grant(self._dealing.number, ahead)

    def _grant(self, number: int, ahead: int) -> bool | None:
        first, one = self._neighbours.get(_FIRST), self._neighbours.get(number)
        return places.grant(first, one, number, self._limits_of(number), ahead)

    def _limits_of(self, number: int) -> Limits:
        return replace(self._dealing, number=number).part(self._limits)

    async def _ask(self, number: int, question: Callable[[], T | None]) -> T | None:
        """None when the database does not answer or was not asked."""
        if clock.uptime() < self._again_at.get(number, 0.0):
            return None
        asked = asyncio.ensure_future(asyncio.to_thread(question))
        self._asked.add(asked)
        asked.add_done_callback(self._answered)
        try:
            answer = await asyncio.shield(asked)
        except DatabaseProblem as problem:
            if number not in self._silent:
                name = self._neighbours.name(number)
                logger.warning("%s: %s; what is for it waits, the rest goes on", name, problem)
            self._silent[number] = str(problem)
            self._again_at[number] = clock.uptime() + _LONGEST_PAUSE
            return None
        if answer is not None and self._silent.pop(number, None) is not None:
            logger.warning("%s answers again", self._neighbours.name(number))
        return answer

    def _answered(self, asked: asyncio.Future[Any]) -> None:
        self._asked.discard(asked)
        if not asked.cancelled():
            asked.exception()  # whoever still waits for it gets it as well

    async def close(self) -> None:
        if self._asked:
            await asyncio.wait(self._asked, timeout=_LAST_SECONDS)

    # ------------------------------------------------------------ the end

    async def is_over(self) -> bool:
        """Tell whether nothing will come any more; takes a moment, in which something may."""
        last, self._last = self._last, await self._look()
        busy = unfinished(self._last, self._limits)
        goes_on = self._watches and not is_spent(self._last, self._limits)
        if not busy and not goes_on and self._last == last:
            return True
        abandoned = {number for number in busy if (state := self._last[number]) is None or not state.runs}
        now = clock.uptime()
        self._abandoned_at = {number: self._abandoned_at.get(number, now) for number in abandoned}
        for number, state in self._last.items():
            if state is not None and not state.runs and state.spare > 0:  # its processes died: others may need them
                await self._ask(number, partial(self._grant, number, 0))
        waits = goes_on or not abandoned or self._is_worked_on(busy)
        if not waits and all(self._waited_for(number, now) for number in abandoned):
            self.left = "; ".join(map(self._what_is_left, sorted(abandoned)))
            return True
        await asyncio.sleep(_LOOK_SECONDS)
        return False

    async def _look(self) -> dict[int, ShardState | None]:
        looks: dict[int, ShardState | None] = {}
        for number in range(1, self._dealing.count + 1):
            looks[number] = await self._ask(number, partial(self._state, number))
        return looks

    def _state(self, number: int) -> ShardState:
        return self._neighbours.get(number).read(partial(places.state, limits=self._limits_of(number)))

    def _is_worked_on(self, busy: Sequence[int]) -> bool:
        answering = {number: state for number, state in self._last.items() if state is not None}
        may_count = self._limits.pages is None or any(state.runs and state.spare > 0 for state in answering.values())
        if not may_count and _FIRST in answering:
            may_count = answering[_FIRST].granted < (self._limits.pages or 0)
        return any(
            state.runs and (state.under_way or state.posted & answering.keys() or (state.wants and may_count))
            for number, state in answering.items()
            if number in busy
        )

    def _waited_for(self, number: int, now: float) -> bool:
        config = self._session.config
        patience = config.database_patience if self._last[number] is None else config.lease_seconds
        return now - self._abandoned_at[number] >= patience

    def _what_is_left(self, number: int) -> str:
        why = "does not answer" if self._last[number] is None else "has work left, and no process works on it"
        return f"{self._neighbours.name(number)} {why}"
