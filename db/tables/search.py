"""The full-text index.

On SQLite the words themselves are in the FTS5 table `search_words`, whose rowid is the number; on Postgres in a column.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Index, Integer, LargeBinary, String, Text
from sqlalchemy.dialects.postgresql import TSVECTOR

from .record import Record, unchecked


# Terms stay in the row, so that a candidate is one read; the words, which no query reads, do not.
class SearchDocumentRow(Record, postgresql_with={"toast_tuple_target": 4080}):
    """An article in the full-text index; what filters need, and terms to rank by."""

    __tablename__ = "search_document"
    number: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    """Counts up, the newest has the highest; an article that is indexed again gets a new one."""
    article_id: Column[int | None] = Column(BigInteger, unique=True)
    """Empty in the newest row when its article is gone: no number is given twice."""
    site_id: Column[int] = Column(BigInteger)
    cluster_id: Column[int] = Column(BigInteger)
    time: Column[int] = Column(BigInteger)
    """Unix time of publication, or of the first sight of an article without one."""
    day: Column[int] = Column(Integer)
    """The same as a day since 1970, as its site counts days."""
    language: Column[str] = Column(String(8))
    source: Column[str] = Column(Text)
    section: Column[str] = Column(Text)
    classes: Column[str] = Column(Text, server_default="")
    terms: Column[bytes] = Column(LargeBinary)
    """Words with their counts, packed by `pipelines.search.terms`."""
    words: Column[str | None] = Column(Text().with_variant(TSVECTOR(), "postgresql"))
    """The words on Postgres; empty on SQLite, where `search_words` has them."""

    __parts__ = (
        # a crawl merges pending entries beside its pages (`db.search.index.merge_pending`); others at this many KB
        Index(
            "ix_search_document_words",
            "words",
            postgresql_using="gin",
            postgresql_with={"gin_pending_list_limit": 16384},
        ).ddl_if(dialect="postgresql"),
        # has all that filters and counts need, so that the terms, most of the table, are not read
        Index(
            "ix_search_document_number",
            "number",
            "article_id",
            "time",
            "site_id",
            "cluster_id",
            "day",
            "language",
            "source",
            "section",
            "classes",
        ).ddl_if(dialect="sqlite"),
        unchecked("article_id", "article.id"),
        unchecked("site_id", "site.id"),
    )
