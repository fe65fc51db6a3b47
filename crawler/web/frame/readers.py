"""Clicks of readers and their reading times, recorded on this machine only.

A browser that searches gets a random number as a session cookie, and the server remembers which hits it was shown. So
URLs carry no identifiers, and other sites cannot fake clicks, because browsers do not send them the cookie. A script of
the page reports the reading time (`static/learn.js`); without scripts it lasts until the browser's next request.
"""

from __future__ import annotations

import logging
import re
import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Final, TypeVar

from db.engine.errors import DatabaseProblem
from db.records.click import Click
from db.search.clicks import ClickFile
from pipelines.search.clicks import ClickModel, learn, query_key

logger = logging.getLogger(__name__)

T = TypeVar("T")

COOKIE: Final = "reading"
_NUMBER_BITS = 62
_MOST_SESSIONS = 1_000
_MOST_SEARCHES = 10
"""Searches of a session whose hits are remembered."""
_MOST_A_MINUTE = 600
"""Writes to the file per minute, over all sessions."""
_AGAIN_SECONDS = 20.0
"""Pause between two rounds of learning."""
_MOST_SECONDS = 86_400
_MOST_NUMBER = 1 << 63
_MINUTE = 60
_COOKIE = re.compile(r"[0-9a-f]{1,16}")


@dataclass(slots=True)
class _Session:
    """A browser that has searched: its queries, newest last, with positions of hits.

    `click` is the number, article and time of the click that has not ended yet.
    """

    searches: list[tuple[int, Mapping[int, int]]] = field(default_factory=list)
    click: tuple[int, int, float] | None = None


class Readers:
    """The readers of the web page; its methods may be called from any thread."""

    def __init__(self, path: Path, *, is_learning: bool, clock: Callable[[], float] = time.time) -> None:
        self.is_learning = is_learning
        self.path = path
        self._file = ClickFile(path)
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: OrderedDict[int, _Session] = OrderedDict()
        self._written: deque[float] = deque(maxlen=_MOST_A_MINUTE)
        self._model = ClickModel({}, {})
        self._learned: tuple[object, float] = (None, 0.0)
        self._is_failing = False

    def relevances(self, text: str) -> Mapping[int, float]:
        """Return the relevance of articles to a query, learned from clicks, or `NEUTRAL`.

        Cost: 0.2 s at most every `_AGAIN_SECONDS`, when there are new clicks and the file is full.
        """
        state, now = self._file.state(), self._clock()
        with self._lock:
            is_new = state != self._learned[0] and now - self._learned[1] >= _AGAIN_SECONDS
            if is_new:
                self._learned = (state, now)
        if is_new:
            self._model = self._trying(lambda: learn(self._file.read())) or self._model
        return self._model.relevances(query_key(text))

    @property
    def counts(self) -> Mapping[int, int]:
        """Readers who opened each article, as of the last `relevances`."""
        return self._model.readers

    def found(self, cookie: str | None, text: str, article_ids: Sequence[int], offset: int) -> str:
        """Remember the hits that are shown to a browser; returns its cookie."""
        key = _session_of(cookie)
        key = secrets.randbits(_NUMBER_BITS) if key is None else key
        places = {article_id: place for place, article_id in enumerate(article_ids, offset + 1)}
        with self._lock:
            session = self._sessions.setdefault(key, _Session())
            self._sessions.move_to_end(key)
            if len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)
            session.searches = [*session.searches, (query_key(text), places)][-_MOST_SEARCHES:]
        self._leave(session, key, is_ended=True)
        return f"{key:x}"

    def opened(self, cookie: str | None, article_id: int) -> int | None:
        """Record that an article was opened; return the number of the click, if it is one."""
        key = _session_of(cookie)
        with self._lock:
            session = None if key is None else self._sessions.get(key)
        if key is None or session is None:
            return None
        if session.click is not None and session.click[1] == article_id:  # reloaded, in the other language say
            return session.click[0]
        self._leave(session, key, is_ended=False)
        shown = next(((query, hits) for query, hits in reversed(session.searches) if article_id in hits), None)
        now = self._clock()
        if shown is None or not self._may_write(now):
            return None
        opened = int(now) // _MINUTE * _MINUTE
        click = Click(key, shown[0], article_id, shown[1][article_id], opened, 0.0, is_ended=False)
        number = self._trying(lambda: self._file.add(click))
        session.click = None if number is None else (number, article_id, now)
        return number

    def stayed(self, cookie: str | None, number: int, seconds: float, *, is_ended: bool) -> bool:
        """Record the reading time of a click; False if this browser made no such click."""
        key, now = _session_of(cookie), self._clock()
        is_possible = 0 <= seconds <= _MOST_SECONDS and 0 < number < _MOST_NUMBER
        if key is None or not is_possible or not self._may_write(now):
            return False
        with self._lock:
            session = self._sessions.get(key)
        if session is not None and session.click is not None and session.click[0] == number:
            session.click = (number, session.click[1], inf)  # the script knows better than the next request
        return bool(self._trying(lambda: self._file.update(number, key, seconds, is_ended=is_ended)))

    def _leave(self, session: _Session, key: int, *, is_ended: bool) -> None:
        click, session.click = session.click, None
        if click is not None and (seconds := self._clock() - click[2]) > 0:
            self._trying(lambda: self._file.update(click[0], key, seconds, is_ended=is_ended))

    def _may_write(self, now: float) -> bool:
        with self._lock:
            if len(self._written) == _MOST_A_MINUTE and now - self._written[0] < _MINUTE:
                return False
            self._written.append(now)
            return True

    def _trying(self, work: Callable[[], T]) -> T | None:
        """Use the file; on failure return None, and log the first failure in a row."""
        try:
            done = work()
        except DatabaseProblem as problem:
            if not self._is_failing:
                logger.warning("Clicks are not used: %s", problem)
            self._is_failing = True
            return None
        self._is_failing = False
        return done


def _session_of(cookie: str | None) -> int | None:
    if cookie is None or not _COOKIE.fullmatch(cookie):
        return None
    number = int(cookie, 16)
    return number if number < 1 << _NUMBER_BITS else None
