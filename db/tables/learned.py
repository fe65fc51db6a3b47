"""Facts that crawls learn of pages, hosts and their URLs."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, SmallInteger, String, Text

from .record import Record, unchecked


class PageTermsRow(Record):
    """A page's words, for comparison with others, and its topic relevance."""

    __tablename__ = "page_terms"
    url_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    relevance: Column[float] = Column(Float)
    """0 to 1."""
    terms: Column[bytes] = Column(LargeBinary)
    """Written and read by whoever ranks pages."""

    __parts__ = (unchecked("url_id", "url.id"),)


class SiteMemoryRow(Record):
    """The site model of a host."""

    __tablename__ = "site_memory"
    host_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    pages: Column[int] = Column(Integer)
    """Articles learned from."""
    state: Column[bytes] = Column(LargeBinary)
    """See `pipelines.site_memory.knowledge.pack`."""

    __parts__ = (unchecked("host_id", "host.id"),)


class RenderGainRow(Record):
    """Gains of rendering a host's pages in a browser."""

    __tablename__ = "render_gain"
    host_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    wish: Column[str] = Column(String(7), primary_key=True)
    """text of an article, links of a list, or related: the links around an article that was read from data."""
    tries: Column[int] = Column(Integer)
    gains: Column[int] = Column(Integer)
    """Pages that said more than without a browser."""
    misses: Column[int] = Column(Integer)
    """Pages in a row that did not; after some the host is left alone for a week."""
    tried_at: Column[float] = Column(Float)

    __parts__ = (unchecked("host_id", "host.id"),)


class HostHealthRow(Record):
    """The baseline of a host's answers."""

    __tablename__ = "host_health"
    host_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    answers: Column[int] = Column(Integer)
    """Answers learned from."""
    state: Column[str] = Column(Text)
    """JSON, see `crawler.learn.health.host`."""
    updated: Column[str] = Column(Text)

    __parts__ = (unchecked("host_id", "host.id"),)


class AlarmRow(Record):
    """Something that is, or was, wrong with a host."""

    __tablename__ = "alarm"
    host_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    kind: Column[str] = Column(String(12), primary_key=True)
    """blocks, login, unreachable, gone, layout, empty, encoding or slow."""
    since: Column[str] = Column(Text, primary_key=True)
    until: Column[str | None] = Column(Text)
    """Empty while it lasts."""
    text: Column[str] = Column(Text)
    """A sentence for people; what it quotes of a site is without control characters."""
    evidence: Column[str] = Column(Text)
    """JSON: what was compared with what."""

    __parts__ = (unchecked("host_id", "host.id"),)


class UrlRuleRow(Record):
    """A part of a host's URLs that makes no difference, learned from its pages."""

    __tablename__ = "url_rule"
    host_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    kind: Column[str] = Column(String(9), primary_key=True)
    """parameter or slug."""
    pattern: Column[str] = Column(Text, primary_key=True)
    """See `pipelines.url_rules.forms.Rule`."""
    support: Column[int] = Column(Integer)
    """Requests that it would have saved."""
    against: Column[int] = Column(Integer)
    """Requests that it would have kept from bringing something else."""
    confidence: Column[float] = Column(Float)
    used: Column[int] = Column(SmallInteger)
    """1 when URLs are skipped by it; 0 for a proposal."""
    example: Column[str] = Column(Text)
    """JSON: two URLs of one page."""

    __parts__ = (unchecked("host_id", "host.id"),)


class UrlFormRow(Record):
    """A normal form of URLs under their host's rules, and its representative URL."""

    __tablename__ = "url_form"
    id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    """Fingerprint of the form and the rules that make it."""
    host_id: Column[int] = Column(BigInteger, index=True)
    url_id: Column[int] = Column(BigInteger)

    __parts__ = (unchecked("host_id", "host.id"), unchecked("url_id", "url.id"))


class UrlPatternRow(Record):
    """A pattern of a host's URLs and what its pages brought, to find traps."""

    __tablename__ = "url_pattern"
    host_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    level: Column[int] = Column(SmallInteger, primary_key=True, autoincrement=False)
    """Width: 0 exact, 1 folder, 2 shape (see `pipelines.url_rules.trap_patterns`), 3 the whole host."""
    pattern: Column[str] = Column(Text, primary_key=True)
    pages: Column[int] = Column(Integer)
    """Fetched in all."""
    brought: Column[int] = Column(Integer)
    """Articles among these or found by their links."""
    reached: Column[int] = Column(Integer)
    """Count that had been fetched when one last brought something."""
    unproductive: Column[float] = Column(Float)
    """Pages in a row that brought nothing, as far as they count."""
    grown: Column[int] = Column(Integer)
    """URLs of unproductive patterns that these led to."""
    kind: Column[str] = Column(String(20))
    """Of trap, when it is blocked; empty when it is open."""
    blocked_at: Column[float] = Column(Float)
    """Time at which it was blocked, also while it is on probation; else 0."""
    why: Column[str] = Column(Text)
    example: Column[str] = Column(Text)

    __parts__ = (unchecked("host_id", "host.id"),)
