"""The frontier: sites, hosts, seeds, URLs, and the links between them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Float, Integer, SmallInteger, String, Text
from sqlalchemy.orm import Mapped, mapped_column

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
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Text)
    first_seen: Mapped[str] = mapped_column(Text)
    originals: Mapped[int] = mapped_column(Integer, server_default="0")
    """Articles that stand for themselves, and for what repeats them."""
    reprints: Mapped[int] = mapped_column(Integer, server_default="0")
    """Articles that repeat another one."""


class HostRow(Record):
    """A host and port: robots rules, clock, budget, and the run that owns it."""

    __tablename__ = "host"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    site_id: Mapped[int] = mapped_column(BigInteger, index=True)
    name: Mapped[str] = mapped_column(Text)
    scheme: Mapped[str] = mapped_column(String(5))
    answer_seconds: Mapped[float | None] = mapped_column(Float)
    """Mean time of its answers, of the latest ones most; empty before the first."""
    ip_address: Mapped[str | None] = mapped_column(Text)
    """The address that answered last; empty before the first answer, and where a proxy looks names up."""
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
    backoffs: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    """Rests in a row that it was given, each because it did not answer properly."""
    backoff_until: Mapped[float] = mapped_column(Float, server_default="0")
    """End of the last of them; of a host that was given up, when it is tried again."""
    dead_reason: Mapped[str | None] = mapped_column(Text)
    """Reason of a dead host, else empty. The next crawl tries it again, a long one itself."""
    queued: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    """1 when pages of the host may be pending; 2 when another run than its owner has found some."""
    owner: Mapped[int | None] = mapped_column(BigInteger)
    """The run that may fetch from this host now."""

    __table_args__ = (
        partial_index("ix_host_queued", "owner", where="queued = 1"),
        partial_index("ix_host_notified", "owner", where="queued = 2"),
        unchecked("site_id", "site.id"),
        unchecked("owner", "run.id"),
    )


class SeedRow(Record):
    """A line of the seeds file."""

    __tablename__ = "seed"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """The URL's identifier."""
    url: Mapped[str] = mapped_column(Text)
    stay: Mapped[str] = mapped_column(String(4))
    depth: Mapped[int | None] = mapped_column(Integer)
    pages: Mapped[int | None] = mapped_column(Integer)
    topic: Mapped[str] = mapped_column(Text, server_default="")
    include: Mapped[str] = mapped_column(Text, server_default="")
    """Patterns of paths, separated by spaces; so `exclude`."""
    exclude: Mapped[str] = mapped_column(Text, server_default="")
    since: Mapped[str] = mapped_column(Text, server_default="")
    bare: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    """1 when it was named without a scheme, so that http may do where https cannot be had."""
    render: Mapped[str] = mapped_column(String(5), server_default="")
    """never or auto: whether its pages are shown in a browser; empty for the crawl's own setting."""
    proxy: Mapped[str] = mapped_column(Text, server_default="")
    """Proxies, separated by commas, without user and password, or none; empty for the crawl's own setting."""
    body: Mapped[str] = mapped_column(Text, server_default="")
    """Selector of the element that holds the text of its host's articles; empty for none. So the next three."""
    title: Mapped[str] = mapped_column(Text, server_default="")
    published: Mapped[str] = mapped_column(Text, server_default="")
    author: Mapped[str] = mapped_column(Text, server_default="")
    given: Mapped[int] = mapped_column(SmallInteger, server_default="1")
    """0 once no living run was given it; its URLs then rest."""
    hosts: Mapped[str] = mapped_column(Text)
    """Host names that count as the seed's own, separated by spaces (grows when the seed itself redirects)."""
    used: Mapped[int] = mapped_column(Integer, server_default="0")
    """Pages counted against `pages`."""


class UrlRow(Record):
    """The frontier: every URL ever seen, and what became of it."""

    __tablename__ = "url"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    url: Mapped[str] = mapped_column(Text)
    host_id: Mapped[int] = mapped_column(BigInteger)
    seed_id: Mapped[int | None] = mapped_column(BigInteger)
    kind: Mapped[str] = mapped_column(String(7))
    state: Mapped[str] = mapped_column(String(7))
    state_before: Mapped[str | None] = mapped_column(String(7))
    """State before it was last queued to be visited again, to which it reverts when that visit says nothing."""
    reason: Mapped[str | None] = mapped_column(Text)
    """See `db.records.reasons`; of a URL that is visited again the one of the visit before."""
    reason_detail: Mapped[str | None] = mapped_column(Text)
    page_kind: Mapped[str | None] = mapped_column(String(8))
    """Kind of its page when it was read last: an article, a list ..."""
    depth: Mapped[int] = mapped_column(Integer)
    score: Mapped[float] = mapped_column(Float)
    score_parts: Mapped[str | None] = mapped_column(Text)
    """JSON: value of each signal the score was made of."""
    found_on: Mapped[int | None] = mapped_column(BigInteger)
    found_in: Mapped[int] = mapped_column(SmallInteger)
    """`pipelines.records.BlockKind` of the place it was found in."""
    anchor: Mapped[str | None] = mapped_column(Text)
    found_at: Mapped[float] = mapped_column(Float, index=True)
    """Time at which it was found; later when a shorter way to it was."""
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
    """Count of fetches; after the first, visits that failed do not count."""
    watched: Mapped[float] = mapped_column(Float, server_default="0")
    """Seconds between its visits, of lists the older ones counting less; `named` and `brought` are of that time."""
    named: Mapped[float] = mapped_column(Float, server_default="0")
    """New URLs that later visits than the first found on it."""
    brought: Mapped[float] = mapped_column(Float, server_default="0")
    """Articles that came of those; of an article itself: visits that found its text changed."""
    unread: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    """Answers in a row that were good and could not be read, through a fault of ours."""
    changed_at: Mapped[float | None] = mapped_column(Float)
    """Time of the last visit that found something new on it."""
    same_as: Mapped[int | None] = mapped_column(BigInteger)
    """The URL this one is another address of: redirect target, canonical or stored page."""

    __table_args__ = (
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


class UrlCountRow(Record):
    """Numbers of URLs by state, host, reason and depth, kept with every change."""

    __tablename__ = "url_count"
    state: Mapped[str] = mapped_column(String(7), primary_key=True)
    host_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    reason: Mapped[str] = mapped_column(Text, primary_key=True)
    """With its detail, if that is no day (`db.records.reasons.counted`); empty for none."""
    depth: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    """Of pending URLs, 20 for all beyond; of others -1."""
    connection: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    """On Postgres that which counted, so that none waits for another: the sum is the number. On SQLite 0."""
    n: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (
        unchecked("host_id", "host.id"),
        {"sqlite_with_rowid": False, "postgresql_with": {"fillfactor": 50}},
    )


class LinkRow(Record):
    """A link from page to page and the kind of block it stands in."""

    __tablename__ = "link"
    source: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    target: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """A URL, if it is one that is kept: what stands in footers and leads outside is not."""
    block: Mapped[int] = mapped_column(SmallInteger)

    __table_args__ = (unchecked("source", "url.id"), {"sqlite_with_rowid": False})


class OutsideRow(Record):
    """A URL outside whose row was pruned: ranking needs its host alone."""

    __tablename__ = "outside"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    host_id: Mapped[int] = mapped_column(BigInteger)

    __table_args__ = (unchecked("host_id", "host.id"), {"sqlite_with_rowid": False})
