"""Shards: the databases of one crawl, and what goes from one to the other.

All of these are empty where a crawl has one database.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Integer, SmallInteger, Text

from .record import Record


class ShardRow(Record):
    """A database of the crawl, as the one that this row is in knows it."""

    __tablename__ = "shard"
    number: Column[int] = Column(SmallInteger, primary_key=True, autoincrement=False)
    """Its place in `DATABASE_URL`, from 1."""
    is_own: Column[int] = Column(SmallInteger)
    """1 for the database that this row is in."""
    crawl: Column[str] = Column(Text)
    """The same for all databases of a crawl, and no other."""
    sent: Column[int] = Column(BigInteger, server_default="0")
    """Batches of the outbox that went there."""
    received: Column[int] = Column(BigInteger, server_default="0")
    """Batches that came from there."""
    last_batch: Column[str] = Column(Text, server_default="")
    """JSON: numbers that the messages of the last one of these have in its outbox."""
    granted: Column[int] = Column(BigInteger, server_default="0")
    """Pages of `MAX_PAGES` that it may count; in the first database alone."""


class OutboxRow(Record):
    """A message for another database of the crawl, which has not gone there yet."""

    __tablename__ = "outbox"
    number: Column[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    shard: Column[int] = Column(SmallInteger, index=True)
    """To which."""
    body: Column[str] = Column(Text)
    """JSON, see `db.shards.mail`."""


class InboxRow(Record):
    """A message from another database of the crawl, which nobody has read yet."""

    __tablename__ = "inbox"
    number: Column[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    shard: Column[int] = Column(SmallInteger)
    """From which."""
    body: Column[str] = Column(Text)


class TextKeyRow(Record):
    """A hash of a text, in the database that it is dealt to: there copies meet."""

    __tablename__ = "text_key"
    key: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    """Of the whole text, or one of its smallest features."""
    article_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    shard: Column[int] = Column(SmallInteger)
    """Database of the article."""
    at: Column[str] = Column(Text)
    """Time (UTC) at which it was published, or first seen."""


class SuspectRow(Record):
    """An article that may repeat one of another database, until they are compared."""

    __tablename__ = "suspect"
    article_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    of_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    shard: Column[int] = Column(SmallInteger, index=True)
    """Database of the other article."""


class ElsewhereRow(Record):
    """Evidence that an article repeats an earlier one of another database."""

    __tablename__ = "elsewhere"
    article_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    of_id: Column[int] = Column(BigInteger)
    of_url: Column[str] = Column(Text)
    of_at: Column[str] = Column(Text)
    """Time (UTC) at which the other article was published, or first seen."""
    shard: Column[int] = Column(SmallInteger)
    """Database of the other article."""
    similarity: Column[float] = Column(Float)
    method: Column[str] = Column(Text)
    kind: Column[str] = Column(Text)
    """As in `duplicate`."""
