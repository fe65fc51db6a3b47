"""Facts that crawls learn of pages, hosts and their URLs."""

from __future__ import annotations

from sqlalchemy import BigInteger, Float, Integer, LargeBinary, SmallInteger, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from .record import Record, unchecked


class PageTermsRow(Record):
    """A page's words, for comparison with others, and its topic relevance."""

    __tablename__ = "page_terms"
    url_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    relevance: Mapped[float] = mapped_column(Float)
    """0 to 1."""
    terms: Mapped[bytes] = mapped_column(LargeBinary)
    """Written and read by whoever ranks pages."""

    __table_args__ = (unchecked("url_id", "url.id"),)


class SiteMemoryRow(Record):
    """The site model of a host."""

    __tablename__ = "site_memory"
    host_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    pages: Mapped[int] = mapped_column(Integer)
    """Articles learned from."""
    state: Mapped[bytes] = mapped_column(LargeBinary)
    """See `pipelines.site_memory.knowledge.pack`."""

    __table_args__ = (unchecked("host_id", "host.id"),)


class RenderGainRow(Record):
    """Gains of rendering a host's pages in a browser."""

    __tablename__ = "render_gain"
    host_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    wish: Mapped[str] = mapped_column(String(7), primary_key=True)
    """text of an article, links of a list, or related: the links around an article that was read from data."""
    tries: Mapped[int] = mapped_column(Integer)
    gains: Mapped[int] = mapped_column(Integer)
    """Pages that said more than without a browser."""
    misses: Mapped[int] = mapped_column(Integer)
    """Pages in a row that did not; after some the host is left alone for a week."""
    tried_at: Mapped[float] = mapped_column(Float)

    __table_args__ = (unchecked("host_id", "host.id"),)


class HostHealthRow(Record):
    """The baseline of a host's answers."""

    __tablename__ = "host_health"
    host_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    answers: Mapped[int] = mapped_column(Integer)
    """Answers learned from."""
    state: Mapped[str] = mapped_column(Text)
    """JSON, see `crawler.learn.health.host`."""
    updated: Mapped[str] = mapped_column(Text)

    __table_args__ = (unchecked("host_id", "host.id"),)


class AlarmRow(Record):
    """Something that is, or was, wrong with a host."""

    __tablename__ = "alarm"
    host_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(12), primary_key=True)
    """blocks, login, unreachable, gone, layout, empty, encoding or slow."""
    since: Mapped[str] = mapped_column(Text, primary_key=True)
    until: Mapped[str | None] = mapped_column(Text)
    """Empty while it lasts."""
    text: Mapped[str] = mapped_column(Text)
    """A sentence for people; what it quotes of a site is without control characters."""
    evidence: Mapped[str] = mapped_column(Text)
    """JSON: what was compared with what."""

    __table_args__ = (unchecked("host_id", "host.id"),)


class UrlRuleRow(Record):
    """A part of a host's URLs that makes no difference, learned from its pages."""

    __tablename__ = "url_rule"
    host_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(9), primary_key=True)
    """parameter or slug."""
    pattern: Mapped[str] = mapped_column(Text, primary_key=True)
    """See `pipelines.url_rules.forms.Rule`."""
    support: Mapped[int] = mapped_column(Integer)
    """Requests that it would have saved."""
    against: Mapped[int] = mapped_column(Integer)
    """Requests that it would have kept from bringing something else."""
    confidence: Mapped[float] = mapped_column(Float)
    used: Mapped[int] = mapped_column(SmallInteger)
    """1 when URLs are skipped by it; 0 for a proposal."""
    example: Mapped[str] = mapped_column(Text)
    """JSON: two URLs of one page."""

    __table_args__ = (unchecked("host_id", "host.id"),)


class UrlFormRow(Record):
    """A normal form of URLs under their host's rules, and its representative URL."""

    __tablename__ = "url_form"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """Fingerprint of the form and the rules that make it."""
    host_id: Mapped[int] = mapped_column(BigInteger, index=True)
    url_id: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (unchecked("host_id", "host.id"), unchecked("url_id", "url.id"))


class UrlPatternRow(Record):
    """A pattern of a host's URLs and what its pages brought, to find traps."""

    __tablename__ = "url_pattern"
    host_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    level: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    """Width: 0 exact, 1 folder, 2 shape (see `pipelines.url_rules.trap_patterns`), 3 the whole host."""
    pattern: Mapped[str] = mapped_column(Text, primary_key=True)
    pages: Mapped[int] = mapped_column(Integer)
    """Fetched in all."""
    brought: Mapped[int] = mapped_column(Integer)
    """Articles among these or found by their links."""
    reached: Mapped[int] = mapped_column(Integer)
    """Count that had been fetched when one last brought something."""
    unproductive: Mapped[float] = mapped_column(Float)
    """Pages in a row that brought nothing, as far as they count."""
    grown: Mapped[int] = mapped_column(Integer)
    """URLs of unproductive patterns that these led to."""
    kind: Mapped[str] = mapped_column(String(20))
    """Of trap, when it is blocked; empty when it is open."""
    blocked_at: Mapped[float] = mapped_column(Float)
    """Time at which it was blocked, also while it is on probation; else 0."""
    why: Mapped[str] = mapped_column(Text)
    example: Mapped[str] = mapped_column(Text)

    __table_args__ = (unchecked("host_id", "host.id"),)
