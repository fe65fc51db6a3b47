"""Runs: one row a crawl process, its curves, the pages counted."""

from __future__ import annotations

from sqlalchemy import BigInteger, Float, Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from .record import Record, refers_to


class RunRow(Record):
    """One crawl process: its settings, its end, its stats."""

    __tablename__ = "run"
    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    started: Mapped[str] = mapped_column(Text)
    finished: Mapped[str | None] = mapped_column(Text)
    outcome: Mapped[str | None] = mapped_column(Text)
    exit_code: Mapped[int | None] = mapped_column(Integer)
    machine: Mapped[str] = mapped_column(Text)
    pid: Mapped[int] = mapped_column(Integer)
    place: Mapped[str] = mapped_column(Text, server_default="")
    """Place in which `pid` is valid, see `db.engine.processes`."""
    alive_until: Mapped[float] = mapped_column(Float)
    """The lease on hosts and URLs ends at this time unless it is renewed."""
    hosts: Mapped[int] = mapped_column(Integer, server_default="0")
    """Hosts with work that it held when it last renewed its lease."""
    pages_per_second: Mapped[float] = mapped_column(Float, server_default="0")
    """Lately, when it last renewed its lease."""
    settings: Mapped[str] = mapped_column(Text)
    seeds: Mapped[str] = mapped_column(Text, server_default="")
    """Identifiers of the seeds it was given, separated by spaces, while it lives."""
    totals: Mapped[str | None] = mapped_column(Text)
    """JSON: pages, articles, drops by reason; kept up to date while it runs."""


class RunSampleRow(Record):
    """Counts of a run at a moment, for curves; the older ones lie further apart."""

    __tablename__ = "run_sample"
    run_id: Mapped[int] = mapped_column(BigInteger, refers_to("run.id"), primary_key=True, autoincrement=False)
    at: Mapped[float] = mapped_column(Float, primary_key=True)
    """Unix time."""
    pages: Mapped[int] = mapped_column(Integer)
    """Fetched since the run began; so all counts here."""
    articles: Mapped[int] = mapped_column(Integer)
    """Stored, duplicates among them."""
    duplicates: Mapped[int] = mapped_column(Integer)
    """Articles that repeat another one, those that were not stored for that too."""
    failed: Mapped[int] = mapped_column(Integer)
    bytes: Mapped[int] = mapped_column(BigInteger)
    """Of bodies, decoded."""
    queued: Mapped[int | None] = mapped_column(Integer)
    """URLs that waited; empty where several processes share them."""
    reasons: Mapped[str] = mapped_column(Text)
    """JSON: pages that became no article, by reason."""

    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - SQLAlchemy's own form


class BudgetRow(Record):
    """Pages counted against the limits of the crawl: one row, locked for leasing."""

    __tablename__ = "budget"
    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    pages: Mapped[int] = mapped_column(Integer)
    granted: Mapped[int | None] = mapped_column(BigInteger)
    """Of `MAX_PAGES`, what this database may count; empty where the crawl has no other."""
    run_pages: Mapped[int] = mapped_column(Integer, server_default="0")
    """Of them, those since a run began that no other was at work beside."""
    day: Mapped[int] = mapped_column(Integer, server_default="0")
    """The day (since 1970, UTC) that `day_pages` is of."""
    day_pages: Mapped[int] = mapped_column(Integer, server_default="0")
