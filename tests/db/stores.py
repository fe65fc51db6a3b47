"""Stores for tests: with a judge that finds nothing, a real one, or the test's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from db.articles.page_transaction import Store
from db.records.article import Candidate, Judge, MatchDecision, NewArticle
from db.records.outcome import Outcome, Stored
from pipelines.articles.multipage import make_joiner
from pipelines.dedup import method
from pipelines.dedup.judge import DuplicateJudge, Policy, SignatureIndex
from pipelines.records import Description
from pipelines.search.terms import index_terms

METHOD = method()
SIGN = METHOD.sign


def no_judge(_new: NewArticle, _candidates: Sequence[Candidate]) -> MatchDecision | None:
    return None


def real_judge(threshold: float = 0.8, **values: Any) -> DuplicateJudge:
    return DuplicateJudge(METHOD, Policy(threshold, **values))


def describe(_title: str, body: str, _language: str) -> Description:
    """The number of lines as keyword and class."""
    lines = str(body.count("\n") + 1)
    return Description(keywords=(lines,), classes=(lines,), memberships=((lines, 0.5),), harm=0.1)


def store_of(run_id: int = 1, judge: Judge = no_judge, **values: Any) -> Store:
    return Store(run_id, judge, SignatureIndex(METHOD, None), make_joiner(SIGN, describe), index_terms, **values)


class EachTimeNew:
    """The work of a store that begins with an empty index each time: everything must be in the tables."""

    def __init__(self, judge: Judge = no_judge, run_id: int = 1, **values: Any) -> None:
        self._judge = judge
        self._run_id = run_id
        self._values = values

    def store(self, connection: Connection, outcomes: Sequence[Outcome]) -> list[Stored]:
        return store_of(self._run_id, self._judge, **self._values).store(connection, outcomes)

    def finish(self, connection: Connection, requests: Sequence[None]) -> list[Any]:
        return store_of(self._run_id, self._judge, **self._values).finish(connection, requests)
