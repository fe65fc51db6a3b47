"""The full-text index.

On SQLite the words themselves are in the FTS5 table `search_words`, whose rowid is the number; on Postgres in a column.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Index, Integer, LargeBinary, String, Text
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from .record import Record, unchecked


class SearchDocumentRow(Record):
    """An article in the full-text index; what filters need, and terms to rank by."""

    __tablename__ = "search_document"
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """Counts up, the newest has the highest; an article that is indexed again gets a new one."""
    article_id: Mapped[int | None] = mapped_column(BigInteger, unique=True)
    """Empty in the newest row when its article is gone: no number is given twice."""
    site_id: Mapped[int] = mapped_column(BigInteger)
    cluster_id: Mapped[int] = mapped_column(BigInteger)
    time: Mapped[int] = mapped_column(BigInteger)
    """Unix time of publication, or of the first sight of an article without one."""
    day: Mapped[int] = mapped_column(Integer)
    """The same as a day since 1970, as its site counts days."""
    language: Mapped[str] = mapped_column(String(8))
    source: Mapped[str] = mapped_column(Text)
    section: Mapped[str] = mapped_column(Text)
    classes: Mapped[str] = mapped_column(Text, server_default="")
    terms: Mapped[bytes] = mapped_column(LargeBinary)
    """Words with their counts, packed by `pipelines.search.terms`."""
    words: Mapped[str | None] = mapped_column(Text().with_variant(TSVECTOR(), "postgresql"))
    """The words on Postgres; empty on SQLite, where `search_words` has them."""

    __table_args__ = (
        # a crawl merges pending entries beside its pages (`db.search.index.merge_pending`); others at this many KB
        Index(
            "ix_search_document_words",
            "words",
            postgresql_using="gin",
            postgresql_with={"gin_pending_list_limit": 16384},
        ).ddl_if(dialect="postgresql"),
        unchecked("article_id", "article.id"),
        unchecked("site_id", "site.id"),
        # terms stay in the row, so that a candidate is one read; the words, which no query reads, do not
        {"postgresql_with": {"toast_tuple_target": 4080}},
    )
