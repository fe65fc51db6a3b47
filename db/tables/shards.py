"""Shards: the databases of one crawl, and what goes from one to the other.

All of these are empty where a crawl has one database.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Float, Integer, SmallInteger, Text
from sqlalchemy.orm import Mapped, mapped_column

from .record import Record


class ShardRow(Record):
    """A database of the crawl, as the one that this row is in knows it."""

    __tablename__ = "shard"
    number: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    """Its place in `DATABASE_URL`, from 1."""
    is_own: Mapped[int] = mapped_column(SmallInteger)
    """1 for the database that this row is in."""
    crawl: Mapped[str] = mapped_column(Text)
    """The same for all databases of a crawl, and no other."""
    sent: Mapped[int] = mapped_column(BigInteger, server_default="0")
    """Batches of the outbox that went there."""
    received: Mapped[int] = mapped_column(BigInteger, server_default="0")
    """Batches that came from there."""
    last_batch: Mapped[str] = mapped_column(Text, server_default="")
    """JSON: numbers that the messages of the last one of these have in its outbox."""
    granted: Mapped[int] = mapped_column(BigInteger, server_default="0")
    """Pages of `MAX_PAGES` that it may count; in the first database alone."""


class OutboxRow(Record):
    """A message for another database of the crawl, which has not gone there yet."""

    __tablename__ = "outbox"
    number: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    shard: Mapped[int] = mapped_column(SmallInteger, index=True)
    """To which."""
    body: Mapped[str] = mapped_column(Text)
    """JSON, see `db.shards.mail`."""


class InboxRow(Record):
    """A message from another database of the crawl, which nobody has read yet."""

    __tablename__ = "inbox"
    number: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    shard: Mapped[int] = mapped_column(SmallInteger)
    """From which."""
    body: Mapped[str] = mapped_column(Text)


class TextKeyRow(Record):
    """A hash of a text, in the database that it is dealt to: there copies meet."""

    __tablename__ = "text_key"
    key: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """Of the whole text, or one of its smallest features."""
    article_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    shard: Mapped[int] = mapped_column(SmallInteger)
    """Database of the article."""
    at: Mapped[str] = mapped_column(Text)
    """Time (UTC) at which it was published, or first seen."""


class SuspectRow(Record):
    """An article that may repeat one of another database, until they are compared."""

    __tablename__ = "suspect"
    article_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    of_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    shard: Mapped[int] = mapped_column(SmallInteger, index=True)
    """Database of the other article."""


class ElsewhereRow(Record):
    """Evidence that an article repeats an earlier one of another database."""

    __tablename__ = "elsewhere"
    article_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    of_id: Mapped[int] = mapped_column(BigInteger)
    of_url: Mapped[str] = mapped_column(Text)
    of_at: Mapped[str] = mapped_column(Text)
    """Time (UTC) at which the other article was published, or first seen."""
    shard: Mapped[int] = mapped_column(SmallInteger)
    """Database of the other article."""
    similarity: Mapped[float] = mapped_column(Float)
    method: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text)
    """As in `duplicate`."""
