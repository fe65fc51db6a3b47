"""The profile of a running crawl from articles that readers stay with (S38)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Final

from db.engine.database import ReadConnection, open_for_reading
from db.engine.errors import DatabaseProblem
from db.search import find
from db.search.clicks import ClickFile, beside
from pipelines.focus.profile import LikedArticle, of_readers
from pipelines.search.clicks import NEUTRAL, learn

logger = logging.getLogger(__name__)

_MOST: Final = 50
"""Articles that a profile is made of: those that readers stayed with longest."""


def read_articles(connection: ReadConnection, file: ClickFile) -> Sequence[LikedArticle]:
    """Return the articles read longer than usual, the longest first.

    Cost: 0.2 s when the file is full.
    """
    relevances = learn(file.read()).articles
    best = sorted((key for key in relevances if relevances[key] > NEUTRAL), key=lambda key: (-relevances[key], key))
    shown = find.shown(connection, best[:_MOST])
    return [LikedArticle(shown[key].title, shown[key].text, relevances[key] - NEUTRAL) for key in best if key in shown]


class ReadersProfile:
    """The readers of a database, whose clicks lie beside it."""

    def __init__(self, database_url: str) -> None:
        self._database_url = database_url
        self._file = ClickFile(beside(database_url))
        self._state: object = None

    def news(self) -> Mapping[str, float] | None:
        """Return the profile if it may have changed since the last call.

        None if it has not, or if it cannot be read.
        """
        state = self._file.state()
        if state == self._state:
            return None
        try:
            with closing(open_for_reading(self._database_url)) as database:
                profile = of_readers(database.read(lambda connection: read_articles(connection, self._file)))
        except DatabaseProblem as problem:
            logger.warning("the profile of readers stays as it is: %s", problem)
            return None
        self._state = state
        return profile
