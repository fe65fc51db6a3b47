"""The tables, named for what they hold. `docs/architecture.md` shows how they hang together.

Identifiers of sites, hosts, URLs and articles are stable 64-bit hashes of the canonical name (`db.keys.fingerprint`),
so that a link can be written without first looking up its target, on any machine, in any order. An article has the
identifier of its URL. Times of the frontier are Unix seconds; times that people read are ISO 8601 text with zone.
"""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import BigInteger, Float, Index, Integer, LargeBinary, SmallInteger, String, Table, Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class State(StrEnum):
    """What became of a URL."""

    PENDING = "pending"
    """Waits to be fetched (when `next_visit` is set, not before that time)."""
    LEASED = "leased"
    """Handed to the run in `leased_by`, which has not stored it yet."""
    DONE = "done"
    """Fetched and stored."""
    FAILED = "failed"
    """Given up; `reason` says why."""
    SKIPPED = "skipped"
    """Never to be fetched under the current limits, or another address of a page (`same_as`); `reason` says why."""


class Kind(StrEnum):
    """What a URL is fetched for."""

    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    FEED = "feed"


URL_RULE = "url rule"
"""Reason of URLs that are skipped because a rule of their host says that another one (`same_as`) is the same page."""

SETTLED = ("same page", "off topic")
"""Reasons of pages that were read and need not be looked for at another address."""

LIST_REASONS = ("list page", "feed or sitemap")
"""Reasons of URLs that are no article and lead to some."""

AGAIN = "state <> 'pending' AND next_visit IS NOT NULL"
"""URLs that are not queued and are to be visited again."""


class Record(DeclarativeBase):
    """Base of all tables."""

    @classmethod
    def table(cls) -> Table:
        """The Core table, which the batches use."""
        return cls.__table__  # type: ignore[return-value]


class Site(Record):
    """A registrable domain (or a host that has none)."""

    __tablename__ = "site"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Text)
    first_seen: Mapped[str] = mapped_column(Text)
    stories: Mapped[int] = mapped_column(Integer, server_default="0")
    """Articles that repeated nothing when they were first stored."""
    reprints: Mapped[int] = mapped_column(Integer, server_default="0")
    """Articles that repeated another one then."""


class Host(Record):
    """A host and port: robots rules, clock, budget, and the run that may fetch from it."""

    __tablename__ = "host"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    site_id: Mapped[int] = mapped_column(BigInteger, index=True)
    name: Mapped[str] = mapped_column(Text)
    scheme: Mapped[str] = mapped_column(String(5))
    robots: Mapped[str] = mapped_column(String(12), server_default="unknown")
    """unknown, rules (see `robots_text`), none (everything allowed), unreachable or refused (nothing allowed)."""
    robots_text: Mapped[str | None] = mapped_column(Text)
    robots_at: Mapped[float | None] = mapped_column(Float)
    ready_at: Mapped[float] = mapped_column(Float, server_default="0")
    """No request before this time: the host clock as it was when last stored."""
    pages: Mapped[int] = mapped_column(Integer, server_default="0")
    """Pages counted against the limits: answered or leased."""
    articles: Mapped[int] = mapped_column(Integer, server_default="0")
    failures: Mapped[int] = mapped_column(Integer, server_default="0")
    """Requests failed in a row."""
    trouble: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    """Rests in a row that it was given, each because it did not answer properly."""
    rests_until: Mapped[float] = mapped_column(Float, server_default="0")
    """End of the last of them; of a host that was given up, when it is tried again."""
    given_up: Mapped[str | None] = mapped_column(Text)
    """Why the crawl no longer waits for it; empty while it does. The next crawl tries it again, a long one itself."""
    queued: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    """1 when pages of the host may be pending; 2 when another run than its owner has found some."""
    owner: Mapped[int | None] = mapped_column(BigInteger)
    """The run that may fetch from this host now."""

    __table_args__ = (
        Index("ix_host_queued", "owner", sqlite_where=text("queued = 1"), postgresql_where=text("queued = 1")),
        Index("ix_host_knocked", "owner", sqlite_where=text("queued = 2"), postgresql_where=text("queued = 2")),
    )


class Seed(Record):
    """A line of the seeds file."""

    __tablename__ = "seed"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """The URL's identifier."""
    url: Mapped[str] = mapped_column(Text)
    stay: Mapped[str] = mapped_column(String(4))
    depth: Mapped[int | None] = mapped_column(Integer)
    pages: Mapped[int | None] = mapped_column(Integer)
    topic: Mapped[str] = mapped_column(Text, server_default="")
    hosts: Mapped[str] = mapped_column(Text)
    """Host names that count as the seed's own, separated by spaces (grows when the seed itself redirects)."""
    used: Mapped[int] = mapped_column(Integer, server_default="0")
    """Pages counted against `pages`."""


_TRAPPED = text("state = 'skipped' AND substr(reason, 1, 6) = 'trap: '")


class Url(Record):
    """The frontier: every URL ever seen, and what became of it."""

    __tablename__ = "url"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    url: Mapped[str] = mapped_column(Text)
    host_id: Mapped[int] = mapped_column(BigInteger)
    seed_id: Mapped[int | None] = mapped_column(BigInteger)
    kind: Mapped[str] = mapped_column(String(7))
    state: Mapped[str] = mapped_column(String(7))
    reason: Mapped[str | None] = mapped_column(Text)
    depth: Mapped[int] = mapped_column(Integer)
    score: Mapped[float] = mapped_column(Float)
    score_parts: Mapped[str | None] = mapped_column(Text)
    """JSON: value of each signal the score was made of."""
    found_on: Mapped[int | None] = mapped_column(BigInteger)
    found_in: Mapped[int] = mapped_column(SmallInteger)
    """`pipelines.records.BlockKind` of the place it was found in."""
    anchor: Mapped[str | None] = mapped_column(Text)
    found_at: Mapped[float] = mapped_column(Float, index=True)
    """When it was found as it is here: anew when a shorter way to it was."""
    dated: Mapped[float | None] = mapped_column(Float)
    """Time that a feed or sitemap states for the page."""
    leased_by: Mapped[int | None] = mapped_column(BigInteger)
    tries: Mapped[int] = mapped_column(Integer, server_default="0")
    hops: Mapped[int] = mapped_column(Integer, server_default="0")
    """Redirects followed to come here."""
    http_status: Mapped[int | None] = mapped_column(Integer)
    fetched_at: Mapped[float | None] = mapped_column(Float)
    etag: Mapped[str | None] = mapped_column(Text)
    last_modified: Mapped[str | None] = mapped_column(Text)
    next_visit: Mapped[float | None] = mapped_column(Float)
    """Of a pending URL: not before that time. Of any other: when it is to be visited again."""
    visits: Mapped[int] = mapped_column(Integer, server_default="0")
    """How often it was fetched; once it was, visits that failed do not count."""
    watched: Mapped[float] = mapped_column(Float, server_default="0")
    """Seconds between its visits, of lists the older ones counting less; `named` and `brought` are of that time."""
    named: Mapped[float] = mapped_column(Float, server_default="0")
    """New URLs that later visits than the first found on it."""
    brought: Mapped[float] = mapped_column(Float, server_default="0")
    """Articles that came of those; of an article itself: visits that found its text changed."""
    changed_at: Mapped[float | None] = mapped_column(Float)
    """When a visit last found something new on it."""
    same_as: Mapped[int | None] = mapped_column(BigInteger)
    """The URL this one is another address of: redirect target, canonical or stored page."""

    __table_args__ = (
        Index(
            "ix_url_queue",
            "host_id",
            text("score DESC"),
            "found_at",
            sqlite_where=text("state = 'pending'"),
            postgresql_where=text("state = 'pending'"),
        ),
        Index(
            "ix_url_due",
            "next_visit",
            sqlite_where=text("state = 'pending' AND next_visit IS NOT NULL"),
            postgresql_where=text("state = 'pending' AND next_visit IS NOT NULL"),
        ),
        Index(
            "ix_url_again",
            "next_visit",
            sqlite_where=text(AGAIN),
            postgresql_where=text(AGAIN),
        ),
        Index(
            "ix_url_same_as",
            "same_as",
            sqlite_where=text("same_as IS NOT NULL"),
            postgresql_where=text("same_as IS NOT NULL"),
        ),
        Index(
            "ix_url_leased",
            "leased_by",
            sqlite_where=text("state = 'leased'"),
            postgresql_where=text("state = 'leased'"),
        ),
        Index(
            "ix_url_fetched_at",
            "fetched_at",
            sqlite_where=text("fetched_at IS NOT NULL"),
            postgresql_where=text("fetched_at IS NOT NULL"),
        ),
        Index(
            "ix_url_host_fetched",
            "host_id",
            "fetched_at",
            sqlite_where=text("fetched_at IS NOT NULL"),
            postgresql_where=text("fetched_at IS NOT NULL"),
        ),
        Index(
            "ix_url_ruled",
            "host_id",
            sqlite_where=text(f"reason = '{URL_RULE}'"),
            postgresql_where=text(f"reason = '{URL_RULE}'"),
        ),
        Index(
            "ix_url_trapped",
            "host_id",
            "id",
            sqlite_where=_TRAPPED,
            postgresql_where=_TRAPPED,
        ),
    )


class Link(Record):
    """A link from page to page and the kind of block it stands in."""

    __tablename__ = "link"
    source: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    target: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    block: Mapped[int] = mapped_column(SmallInteger)

    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - SQLAlchemy's own form


_BORROWED = text("text_of IS NOT NULL")


class Article(Record):
    """An article. Its identifier is that of its URL."""

    __tablename__ = "article"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    site_id: Mapped[int] = mapped_column(BigInteger, index=True)
    title: Mapped[str] = mapped_column(Text)
    authors: Mapped[str] = mapped_column(Text)
    """Names joined by "、"."""
    source: Mapped[str] = mapped_column(Text)
    published_at: Mapped[str | None] = mapped_column(Text, index=True)
    published_precision: Mapped[str | None] = mapped_column(String(6))
    published_from: Mapped[str | None] = mapped_column(String(8))
    language: Mapped[str] = mapped_column(String(8))
    text: Mapped[str] = mapped_column(Text)
    html: Mapped[str] = mapped_column(Text)
    summary: Mapped[str] = mapped_column(Text)
    keywords: Mapped[str] = mapped_column(Text)
    classes: Mapped[str] = mapped_column(Text)
    """Channel or section, as the page names it."""
    quality: Mapped[float] = mapped_column(Float)
    """Confidence of the extraction, 0 to 1."""
    relevance: Mapped[float | None] = mapped_column(Float)
    """How near the text is to what the crawl looks for, 0 to 1; empty when it looks for everything."""
    extractor: Mapped[str] = mapped_column(Text)
    text_hash: Mapped[int] = mapped_column(BigInteger, index=True)
    text_chars: Mapped[int] = mapped_column(Integer)
    cluster_id: Mapped[int] = mapped_column(BigInteger, index=True)
    duplicate_of: Mapped[int | None] = mapped_column(BigInteger)
    """The article that stands for the cluster; empty for that one itself."""
    text_of: Mapped[int | None] = mapped_column(BigInteger)
    """The article whose text says the same, when that of this one is not kept."""
    gone: Mapped[str | None] = mapped_column(Text)
    """When its page was found to be gone (404 or 410)."""
    first_seen: Mapped[str] = mapped_column(Text)
    updated: Mapped[str] = mapped_column(Text)

    __table_args__ = (
        Index(
            "ix_article_text_of",
            "text_of",
            sqlite_where=_BORROWED,
            postgresql_where=_BORROWED,
        ),
    )


class ArticleVersion(Record):
    """An earlier text of an article that has changed since."""

    __tablename__ = "article_version"
    article_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    seen: Mapped[str] = mapped_column(Text, primary_key=True)
    title: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)


_MEMBER = text("fresh IS NOT NULL")


class Signature(Record):
    """What near-duplicates of an article are found by: each crawl process keeps an index of these in memory."""

    __tablename__ = "signature"
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """Counts up: what comes after the number that a process has read is new to it."""
    article_id: Mapped[int] = mapped_column(BigInteger, index=True)
    """0 when the text is not there any more."""
    story: Mapped[int] = mapped_column(BigInteger)
    """Number of the first signature of the texts that repeat one another."""
    day: Mapped[int] = mapped_column(Integer)
    """When the article was seen, in days since 1970."""
    length: Mapped[int] = mapped_column(Integer)
    """Characters of the normalised text."""
    features: Mapped[bytes] = mapped_column(LargeBinary)
    """32-bit hashes, little-endian, ascending."""
    fresh: Mapped[bytes | None] = mapped_column(LargeBinary)
    """Those that no earlier text of the story has, which are looked up; empty for all of them."""

    __table_args__ = (Index("ix_signature_member", "story", sqlite_where=_MEMBER, postgresql_where=_MEMBER),)


class SignatureForm(Record):
    """How the signatures were made (one row): those of another form cannot be compared with new ones."""

    __tablename__ = "signature_form"
    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    form: Mapped[str] = mapped_column(Text)


class Duplicate(Record):
    """Evidence that one article repeats another, or is related to it without repeating it."""

    __tablename__ = "duplicate"
    article_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    of_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    similarity: Mapped[float] = mapped_column(Float)
    method: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text)
    """same, edited, part-of, contains; or quotes, template: related, but no duplicates."""
    own: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    """1 when the duplicate has wording of its own, by which copies of it may be found."""

    __table_args__ = (Index("ix_duplicate_of_id", "of_id"),)


class Credit(Record):
    """How many articles of a site name which source, counted when they are first stored: whose name is it?"""

    __tablename__ = "credit"
    site_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    source: Mapped[str] = mapped_column(Text, primary_key=True)
    articles: Mapped[int] = mapped_column(Integer)

    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - SQLAlchemy's own form


class Cluster(Record):
    """Articles that tell the same text; the identifier is that of the article standing for them."""

    __tablename__ = "cluster"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    size: Mapped[int] = mapped_column(Integer)


_WAITING = text("joined = 0")


class Part(Record):
    """A page that holds one part of an article: the article is made of its parts whenever one of them comes."""

    __tablename__ = "part"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """The URL's identifier."""
    group_id: Mapped[int] = mapped_column(BigInteger, index=True)
    """The same for all pages that are tied by next and previous links."""
    first_id: Mapped[int] = mapped_column(BigInteger)
    """The first part as far as known: the article is stored under it."""
    position: Mapped[int] = mapped_column(SmallInteger)
    """Place in the article, from 1; 0 for a page that adds nothing to it."""
    joined: Mapped[int] = mapped_column(SmallInteger)
    """1 once the article has been made with it; 0 while that waits for other parts."""
    number: Mapped[int] = mapped_column(SmallInteger)
    """Page number as the page states it; 0 when it states none."""
    next_id: Mapped[int | None] = mapped_column(BigInteger, index=True)
    previous_id: Mapped[int | None] = mapped_column(BigInteger, index=True)
    title: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)
    html: Mapped[str] = mapped_column(Text)
    text_hash: Mapped[int] = mapped_column(BigInteger)
    rest: Mapped[str] = mapped_column(Text)
    """JSON: everything else that the page says about the article."""

    __table_args__ = (Index("ix_part_waiting", "group_id", sqlite_where=_WAITING, postgresql_where=_WAITING),)


class Image(Record):
    """An image of an article, the lead image first."""

    __tablename__ = "image"
    article_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    position: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    url: Mapped[str] = mapped_column(Text)
    caption: Mapped[str] = mapped_column(Text)


class Page(Record):
    """The bytes of a page as fetched, zstd-compressed (only with `STORE_HTML`)."""

    __tablename__ = "page"
    url_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    fetched_at: Mapped[float] = mapped_column(Float)
    content_type: Mapped[str] = mapped_column(Text)
    encoding: Mapped[str] = mapped_column(Text)
    body: Mapped[bytes] = mapped_column(LargeBinary)


class PageTerms(Record):
    """The words of a page by which it is compared with others, and how near it is to what the crawl looks for."""

    __tablename__ = "page_terms"
    url_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    relevance: Mapped[float] = mapped_column(Float)
    """0 to 1."""
    terms: Mapped[bytes] = mapped_column(LargeBinary)
    """Written and read by whoever ranks pages."""


class SiteMemory(Record):
    """What crawls have learned of a host's pages: texts that come back, places of the body in its templates."""

    __tablename__ = "site_memory"
    host_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    pages: Mapped[int] = mapped_column(Integer)
    """Articles learned from."""
    state: Mapped[bytes] = mapped_column(LargeBinary)
    """See `pipelines.extract.knowledge.pack`."""


class HostHealth(Record):
    """What a host's answers were like so far, to notice when that changes."""

    __tablename__ = "host_health"
    host_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    answers: Mapped[int] = mapped_column(Integer)
    """Answers learned from."""
    state: Mapped[str] = mapped_column(Text)
    """JSON, see `crawler.health.host`."""
    updated: Mapped[str] = mapped_column(Text)


class Alarm(Record):
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


class UrlRule(Record):
    """What makes no difference in the addresses of a host, learned from its pages."""

    __tablename__ = "url_rule"
    host_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(9), primary_key=True)
    """parameter or slug."""
    pattern: Mapped[str] = mapped_column(Text, primary_key=True)
    """See `pipelines.dedup.urlforms.Rule`."""
    support: Mapped[int] = mapped_column(Integer)
    """Requests that it would have saved."""
    against: Mapped[int] = mapped_column(Integer)
    """Requests that it would have kept from bringing something else."""
    confidence: Mapped[float] = mapped_column(Float)
    used: Mapped[int] = mapped_column(SmallInteger)
    """1 when addresses are skipped by it; 0 for a proposal."""
    example: Mapped[str] = mapped_column(Text)
    """JSON: two addresses of one page."""


class UrlForm(Record):
    """What is left of an address under its host's rules, and the URL that stands for all of that form."""

    __tablename__ = "url_form"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """Fingerprint of the form and the rules that make it."""
    host_id: Mapped[int] = mapped_column(BigInteger, index=True)
    url_id: Mapped[int] = mapped_column(BigInteger)


class UrlPattern(Record):
    """A pattern of a host's URLs and what its pages brought: one that brings nothing without end is a trap."""

    __tablename__ = "url_pattern"
    host_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    level: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    """How wide: 0 exact, 1 folder, 2 shape (see `pipelines.patterns`), 3 the whole host."""
    pattern: Mapped[str] = mapped_column(Text, primary_key=True)
    pages: Mapped[int] = mapped_column(Integer)
    """Fetched in all."""
    brought: Mapped[int] = mapped_column(Integer)
    """Articles among these or found by their links."""
    reached: Mapped[int] = mapped_column(Integer)
    """How many had been fetched when one last brought something."""
    barren: Mapped[float] = mapped_column(Float)
    """Pages in a row that brought nothing, as far as they count."""
    grown: Mapped[int] = mapped_column(Integer)
    """URLs of unfruitful patterns that these led to."""
    kind: Mapped[str] = mapped_column(String(20))
    """Of trap, when it is shut; empty when it is open."""
    shut_at: Mapped[float] = mapped_column(Float)
    """When it was last shut, 0 for never."""
    trial: Mapped[int] = mapped_column(SmallInteger)
    """1 when it was shut before and some of its pages are tried again."""
    why: Mapped[str] = mapped_column(Text)
    example: Mapped[str] = mapped_column(Text)


class Run(Record):
    """One crawl process: its settings, its end, its totals."""

    __tablename__ = "run"
    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    started: Mapped[str] = mapped_column(Text)
    finished: Mapped[str | None] = mapped_column(Text)
    outcome: Mapped[str | None] = mapped_column(Text)
    exit_code: Mapped[int | None] = mapped_column(Integer)
    machine: Mapped[str] = mapped_column(Text)
    pid: Mapped[int] = mapped_column(Integer)
    place: Mapped[str] = mapped_column(Text, server_default="")
    """Where `pid` means something, see `db.processes`."""
    alive_until: Mapped[float] = mapped_column(Float)
    """The lease on hosts and URLs ends at this time unless it is renewed."""
    hosts: Mapped[int] = mapped_column(Integer, server_default="0")
    """Hosts with work that it held when it last renewed its lease."""
    pages_per_second: Mapped[float] = mapped_column(Float, server_default="0")
    """Lately, when it last renewed its lease."""
    settings: Mapped[str] = mapped_column(Text)
    totals: Mapped[str | None] = mapped_column(Text)
    """JSON: pages, articles, drops by reason; kept up to date while it runs."""


class Budget(Record):
    """Pages counted against the limits of the whole crawl: one row, locked by whoever claims."""

    __tablename__ = "budget"
    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    pages: Mapped[int] = mapped_column(Integer)
