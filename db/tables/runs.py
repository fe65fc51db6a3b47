"""Runs: one row a crawl process, its curves, the pages counted."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Integer, Text

from .record import Record, refers_to


class RunRow(Record):
    """One crawl process: its settings, its end, its stats."""

    __tablename__ = "run"
    id: Column[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    started: Column[str] = Column(Text)
    finished: Column[str | None] = Column(Text)
    outcome: Column[str | None] = Column(Text)
    exit_code: Column[int | None] = Column(Integer)
    machine: Column[str] = Column(Text)
    pid: Column[int] = Column(Integer)
    place: Column[str] = Column(Text, server_default="")
    """Place in which `pid` is valid, see `db.engine.processes`."""
    alive_until: Column[float] = Column(Float)
    """The lease on hosts and URLs ends at this time unless it is renewed."""
    hosts: Column[int] = Column(Integer, server_default="0")
    """Hosts with work that it held when it last renewed its lease."""
    pages_per_second: Column[float] = Column(Float, server_default="0")
    """Lately, when it last renewed its lease."""
    settings: Column[str] = Column(Text)
    seeds: Column[str] = Column(Text, server_default="")
    """Identifiers of the seeds it was given, separated by spaces, while it lives."""
    totals: Column[str | None] = Column(Text)
    """JSON: pages, articles, drops by reason; kept up to date while it runs."""
    asked: Column[str] = Column(Text, server_default="")
    """What an operator asks of it: `pause`, `stop`, or nothing."""


class RunSampleRow(Record, sqlite_with_rowid=False):
    """Counts of a run at a moment, for curves; the older ones lie further apart."""

    __tablename__ = "run_sample"
    run_id: Column[int] = Column(BigInteger, refers_to("run.id"), primary_key=True, autoincrement=False)
    at: Column[float] = Column(Float, primary_key=True)
    """Unix time."""
    pages: Column[int] = Column(Integer)
    """Fetched since the run began; so all counts here."""
    articles: Column[int] = Column(Integer)
    """Stored, duplicates among them."""
    duplicates: Column[int] = Column(Integer)
    """Articles that repeat another one, those that were not stored for that too."""
    failed: Column[int] = Column(Integer)
    bytes: Column[int] = Column(BigInteger)
    """Of bodies, decoded."""
    queued: Column[int | None] = Column(Integer)
    """URLs that waited; empty where several processes share them."""
    reasons: Column[str] = Column(Text)
    """JSON: pages that became no article, by reason."""


class BudgetRow(Record):
    """Pages counted against the limits of the crawl: one row, locked for leasing."""

    __tablename__ = "budget"
    id: Column[int] = Column(Integer, primary_key=True, autoincrement=False)
    pages: Column[int] = Column(Integer)
    granted: Column[int | None] = Column(BigInteger)
    """Of `MAX_PAGES`, what this database may count; empty where the crawl has no other."""
    run_pages: Column[int] = Column(Integer, server_default="0")
    """Of them, those since a run began that no other was at work beside."""
    day: Column[int] = Column(Integer, server_default="0")
    """The day (since 1970, UTC) that `day_pages` is of."""
    day_pages: Column[int] = Column(Integer, server_default="0")
