"""What is kept of pages whatever is on them: their bytes and their words."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, update

from .records.outcome import Outcome
from .statements import insert_rows, run_many, upsert
from .tables.articles import Page
from .tables.learned import PageTerms

page, page_terms = Page.table(), PageTerms.table()


def keep_raw(connection: Connection, outcomes: Sequence[Outcome]) -> None:
    """Keep the bytes of pages, the newest of each."""
    for outcome in outcomes:
        if outcome.raw is not None:
            values = {
                "fetched_at": outcome.fetched_at,
                "content_type": outcome.raw.content_type,
                "encoding": outcome.raw.encoding,
                "body": outcome.raw.body,
            }
            connection.execute(
                upsert(connection, page)
                .values(url_id=outcome.claim.id, **values)
                .on_conflict_do_update(index_elements=["url_id"], set_=values)
            )


def keep_terms(connection: Connection, outcomes: Sequence[Outcome]) -> None:
    """Keep the words of pages; a page fetched again has those of the last time."""
    rows = [(outcome.claim.id, *outcome.terms) for outcome in outcomes if outcome.terms is not None]
    if insert_rows(connection, page_terms, ("url_id", "relevance", "terms"), sorted(rows)) < len(rows):
        named = [dict(zip(("key", "new_relevance", "new_terms"), row, strict=True)) for row in sorted(rows)]
        run_many(connection, _RENEW_TERMS, named)


_RENEW_TERMS = (
    update(page_terms)
    .where(page_terms.c.url_id == bindparam("key"))
    .values(relevance=bindparam("new_relevance"), terms=bindparam("new_terms"))
)
