"""The frontier: sites, hosts, seeds, URLs, and the links between them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Integer, SmallInteger, String, Text

from ..records.reasons import REASONS, SkipReason
from .record import Record, partial_index, unchecked

AGAIN = "state <> 'pending' AND next_visit IS NOT NULL"
"""URLs that are not queued and are to be visited again."""

UNREAD = "unread > 0"
"""URLs whose last answer could not be read, through a fault of ours."""

TOO_DEEP = f"state = 'skipped' AND reason = '{SkipReason.TOO_DEEP}'"
"""URLs that wait again when a limit of depths grows."""

RECONSIDERED = "state = 'skipped' AND reason IN ({})".format(
    ", ".join(f"'{reason}'" for reason in REASONS if reason.may_be_reconsidered)
)
"""URLs that wait again when a run begins, or their host answers again."""

RESTS = f"state = 'skipped' AND reason = '{SkipReason.NOT_IN_SEEDS}'"
"""URLs whose seed is not given."""

OUTSIDE = f"state = 'skipped' AND reason = '{SkipReason.OUTSIDE}'"
"""URLs outside of all scopes, whose rows are pruned."""

FEEDS = "kind IN ('feed', 'sitemap')"
"""URLs that name others, and say when they changed."""


class SiteRow(Record):
    """A registrable domain (or a host that has none)."""

    __tablename__ = "site"
    id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    name: Column[str] = Column(Text)
    first_seen: Column[str] = Column(Text)
    originals: Column[int] = Column(Integer, server_default="0")
    """Articles that stand for themselves, and for what repeats them."""
    reprints: Column[int] = Column(Integer, server_default="0")
    """Articles that repeat another one."""


class HostRow(Record):
    """A host and port: robots rules, clock, budget, and the run that owns it."""

    __tablename__ = "host"
    id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    site_id: Column[int] = Column(BigInteger, index=True)
    name: Column[str] = Column(Text)
    scheme: Column[str] = Column(String(5))
    answer_seconds: Column[float | None] = Column(Float)
    """Mean time of its answers, of the latest ones most; empty before the first."""
    ip_address: Column[str | None] = Column(Text)
    """The address that answered last; empty before the first answer, and where a proxy looks names up."""
    robots: Column[str] = Column(String(12), server_default="unknown")
    """unknown, rules (see `robots_text`), none (everything allowed), unreachable or refused (nothing allowed)."""
    robots_text: Column[str | None] = Column(Text)
    robots_at: Column[float | None] = Column(Float)
    ready_at: Column[float] = Column(Float, server_default="0")
    """No request before this time: the host clock as it was when last stored."""
    pages: Column[int] = Column(Integer, server_default="0")
    """Pages counted against the limits: answered or leased."""
    articles: Column[int] = Column(Integer, server_default="0")
    failures: Column[int] = Column(Integer, server_default="0")
    """Requests failed in a row."""
    backoffs: Column[int] = Column(SmallInteger, server_default="0")
    """Rests in a row that it was given, each because it did not answer properly."""
    backoff_until: Column[float] = Column(Float, server_default="0")
    """End of the last of them; of a host that was given up, when it is tried again."""
    dead_reason: Column[str | None] = Column(Text)
    """Reason of a dead host, else empty. The next crawl tries it again, a long one itself."""
    queued: Column[int] = Column(SmallInteger, server_default="0")
    """1 when pages of the host may be pending; 2 when another run than its owner has found some."""
    owner: Column[int | None] = Column(BigInteger)
    """The run that may fetch from this host now."""

    __parts__ = (
        partial_index("ix_host_queued", "owner", where="queued = 1"),
        partial_index("ix_host_notified", "owner", where="queued = 2"),
        unchecked("site_id", "site.id"),
        unchecked("owner", "run.id"),
    )


class SeedRow(Record):
    """A line of the seeds file."""

    __tablename__ = "seed"
    id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    """The URL's identifier."""
    url: Column[str] = Column(Text)
    stay: Column[str] = Column(String(4))
    depth: Column[int | None] = Column(Integer)
    pages: Column[int | None] = Column(Integer)
    topic: Column[str] = Column(Text, server_default="")
    include: Column[str] = Column(Text, server_default="")
    """Patterns of paths, separated by spaces; so `exclude`."""
    exclude: Column[str] = Column(Text, server_default="")
    since: Column[str] = Column(Text, server_default="")
    bare: Column[int] = Column(SmallInteger, server_default="0")
    """1 when it was named without a scheme, so that http may do where https cannot be had."""
    render: Column[str] = Column(String(5), server_default="")
    """never or auto: whether its pages are shown in a browser; empty for the crawl's own setting."""
    proxy: Column[str] = Column(Text, server_default="")
    """Proxies, separated by commas, without user and password, or none; empty for the crawl's own setting."""
    body: Column[str] = Column(Text, server_default="")
    """Selector of the element that holds the text of its host's articles; empty for none. So the next three."""
    title: Column[str] = Column(Text, server_default="")
    published: Column[str] = Column(Text, server_default="")
    author: Column[str] = Column(Text, server_default="")
    given: Column[int] = Column(SmallInteger, server_default="1")
    """0 once no living run was given it; its URLs then rest."""
    hosts: Column[str] = Column(Text)
    """Host names that count as the seed's own, separated by spaces (grows when the seed itself redirects)."""
    used: Column[int] = Column(Integer, server_default="0")
    """Pages counted against `pages`."""


class UrlRow(Record):
    """The frontier: every URL ever seen, and what became of it."""

    __tablename__ = "url"
    id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    url: Column[str] = Column(Text)
    host_id: Column[int] = Column(BigInteger)
    seed_id: Column[int | None] = Column(BigInteger)
    kind: Column[str] = Column(String(7))
    state: Column[str] = Column(String(7))
    state_before: Column[str | None] = Column(String(7))
    """State before it was last queued to be visited again, to which it reverts when that visit says nothing."""
    reason: Column[str | None] = Column(Text)
    """See `db.records.reasons`; of a URL that is visited again the one of the visit before."""
    reason_detail: Column[str | None] = Column(Text)
    page_kind: Column[str | None] = Column(String(8))
    """Kind of its page when it was read last: an article, a list ..."""
    depth: Column[int] = Column(Integer)
    score: Column[float] = Column(Float)
    score_parts: Column[str | None] = Column(Text)
    """JSON: value of each signal the score was made of."""
    found_on: Column[int | None] = Column(BigInteger)
    found_in: Column[int] = Column(SmallInteger)
    """`pipelines.records.BlockKind` of the place it was found in."""
    anchor: Column[str | None] = Column(Text)
    found_at: Column[float] = Column(Float, index=True)
    """Time at which it was found; later when a shorter way to it was."""
    dated: Column[float | None] = Column(Float)
    """Time that a feed or sitemap states for the page."""
    leased_by: Column[int | None] = Column(BigInteger)
    tries: Column[int] = Column(Integer, server_default="0")
    hops: Column[int] = Column(Integer, server_default="0")
    """Redirects followed to come here."""
    http_status: Column[int | None] = Column(Integer)
    fetched_at: Column[float | None] = Column(Float)
    etag: Column[str | None] = Column(Text)
    last_modified: Column[str | None] = Column(Text)
    next_visit: Column[float | None] = Column(Float)
    """Of a pending URL: not before that time. Of any other: when it is to be visited again."""
    visits: Column[int] = Column(Integer, server_default="0")
    """Count of fetches; after the first, visits that failed do not count."""
    watched: Column[float] = Column(Float, server_default="0")
    """Seconds between its visits, of lists the older ones counting less; `named` and `brought` are of that time."""
    named: Column[float] = Column(Float, server_default="0")
    """New URLs that later visits than the first found on it."""
    brought: Column[float] = Column(Float, server_default="0")
    """Articles that came of those; of an article itself: visits that found its text changed."""
    unread: Column[int] = Column(SmallInteger, server_default="0")
    """Answers in a row that were good and could not be read, through a fault of ours."""
    changed_at: Column[float | None] = Column(Float)
    """Time of the last visit that found something new on it."""
    same_as: Column[int | None] = Column(BigInteger)
    """The URL this one is another address of: redirect target, canonical or stored page."""

    __parts__ = (
        partial_index("ix_url_queue", "host_id", "score DESC", "found_at", where="state = 'pending'"),
        partial_index("ix_url_due", "next_visit", where="state = 'pending' AND next_visit IS NOT NULL"),
        partial_index("ix_url_again", "next_visit", where=AGAIN),
        partial_index("ix_url_unread", "unread", where=UNREAD),
        partial_index("ix_url_same_as", "same_as", where="same_as IS NOT NULL"),
        partial_index("ix_url_leased", "leased_by", where="state = 'leased'"),
        partial_index("ix_url_fetched_at", "fetched_at", where="fetched_at IS NOT NULL"),
        partial_index("ix_url_host_fetched", "host_id", "fetched_at", where="fetched_at IS NOT NULL"),
        partial_index("ix_url_feeds", "host_id", where=FEEDS),
        partial_index("ix_url_ruled", "host_id", where=f"reason = '{SkipReason.URL_RULE}'"),
        partial_index("ix_url_outside", "found_at", where=OUTSIDE),
        partial_index("ix_url_too_deep", "seed_id", "depth", where=TOO_DEEP),
        partial_index("ix_url_reconsidered", "host_id", where=RECONSIDERED),
        partial_index("ix_url_rests", "seed_id", where=RESTS),
        unchecked("host_id", "host.id"),
        unchecked("seed_id", "seed.id"),
        unchecked("found_on", "url.id"),
        unchecked("same_as", "url.id"),
        unchecked("leased_by", "run.id"),
        partial_index("ix_url_trapped", "host_id", "id", where=f"state = 'skipped' AND reason = '{SkipReason.TRAP}'"),
    )


class UrlCountRow(Record, sqlite_with_rowid=False, postgresql_with={"fillfactor": 50}):
    """Numbers of URLs by state, host, reason and depth, kept with every change."""

    __tablename__ = "url_count"
    state: Column[str] = Column(String(7), primary_key=True)
    host_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    reason: Column[str] = Column(Text, primary_key=True)
    """With its detail, if that is no day (`db.records.reasons.counted`); empty for none."""
    depth: Column[int] = Column(SmallInteger, primary_key=True, autoincrement=False)
    """Of pending URLs, 20 for all beyond; of others -1."""
    connection: Column[int] = Column(Integer, primary_key=True, autoincrement=False)
    """On Postgres that which counted, so that none waits for another: the sum is the number. On SQLite 0."""
    n: Column[int] = Column(BigInteger)

    __parts__ = (unchecked("host_id", "host.id"),)


class LinkRow(Record, sqlite_with_rowid=False):
    """A link from page to page and the kind of block it stands in."""

    __tablename__ = "link"
    source: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    target: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    """A URL, if it is one that is kept: what stands in footers and leads outside is not."""
    block: Column[int] = Column(SmallInteger)

    __parts__ = (unchecked("source", "url.id"),)


class OutsideRow(Record, sqlite_with_rowid=False):
    """A URL outside whose row was pruned: ranking needs its host alone."""

    __tablename__ = "outside"
    id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    host_id: Column[int] = Column(BigInteger)

    __parts__ = (unchecked("host_id", "host.id"),)
