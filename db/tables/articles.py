"""Articles: texts, versions, duplicates, parts, images, raw pages."""

from __future__ import annotations

from sqlalchemy import BigInteger, Float, Index, Integer, LargeBinary, SmallInteger, String, Text, case, func
from sqlalchemy.orm import Mapped, mapped_column

from ..records.outcome import DOM_TYPE
from .record import Record, newest_first, partial_index, refers_to, unchecked


class ArticleRow(Record):
    """An article. Its identifier is that of its URL."""

    __tablename__ = "article"
    id: Mapped[int] = mapped_column(BigInteger, refers_to("url.id"), primary_key=True, autoincrement=False)
    site_id: Mapped[int] = mapped_column(BigInteger, refers_to("site.id"))
    number: Mapped[int] = mapped_column(BigInteger, index=True)
    """Counts up in the order in which articles were stored: whoever has read as far as one finds the new behind it."""
    title: Mapped[str] = mapped_column(Text)
    authors: Mapped[str] = mapped_column(Text)
    """Names joined by "、"."""
    source: Mapped[str] = mapped_column(Text)
    published_at: Mapped[str | None] = mapped_column(Text)
    """As precise as the page is: a day, or a minute or second, with its zone if that is known."""
    published_utc: Mapped[str | None] = mapped_column(Text)
    """The same in UTC, `YYYY-MM-DD HH:MM:SS`, to sort and compare by; of a day its first moment on the site."""
    published_precision: Mapped[str | None] = mapped_column(String(6))
    published_from: Mapped[str | None] = mapped_column(String(8))
    language: Mapped[str] = mapped_column(String(8))
    text: Mapped[str] = mapped_column(Text)
    html: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text)
    """The page's own."""
    tags: Mapped[str] = mapped_column(Text)
    """The page's own keywords or tags, joined by "、"."""
    section: Mapped[str] = mapped_column(Text)
    """Channel or section, as the page names it."""
    keywords: Mapped[str] = mapped_column(Text, server_default="")
    """Computed, the best first, joined by "、"; like the next three empty when nobody asked for them."""
    summary: Mapped[str] = mapped_column(Text, server_default="")
    """Key sentences of the text."""
    classes: Mapped[str] = mapped_column(Text, server_default="")
    """Names of its classes, the best first, joined by "、"; `article_class` has the memberships."""
    harm: Mapped[float | None] = mapped_column(Float)
    """0 to 1, higher is worse."""
    harm_kind: Mapped[str] = mapped_column(String(8), server_default="")
    """Gambling, porn, fraud, abuse, advert or hijacked; empty for a page that does no harm."""
    described_with: Mapped[str] = mapped_column(Text, server_default="")
    """Version of methods, models and settings that the last five were made by; empty when they were not."""
    kind: Mapped[str] = mapped_column(String(8), server_default="article")
    """Kind of the page: an article, or another one that `STORE_KINDS` names."""
    kind_probability: Mapped[float | None] = mapped_column(Float)
    """Probability that its page is of this kind, 0 to 1; empty when an earlier version read it."""
    quality: Mapped[float] = mapped_column(Float)
    """Confidence of the extraction, 0 to 1."""
    relevance: Mapped[float | None] = mapped_column(Float)
    """Relevance to the crawl's topic, 0 to 1; empty without a topic."""
    extractor: Mapped[str] = mapped_column(Text)
    """Name of the extractor that made the text."""
    extractor_version: Mapped[str] = mapped_column(Text, server_default="")
    """Version of all that read the page then, see `pipelines.version`."""
    text_from: Mapped[str] = mapped_column(String(8), server_default="html")
    """Source of the text: html (the page's own), data (what it carries for its scripts), browser, or selector."""
    related: Mapped[str] = mapped_column(Text, server_default="")
    """Stories that the page calls related, one a line: URL, blank, title."""
    checked_with: Mapped[str] = mapped_column(Text, server_default="")
    """Extractor and version that last read the page; the text is older when that said nothing else."""
    text_hash: Mapped[int] = mapped_column(BigInteger, index=True)
    text_chars: Mapped[int] = mapped_column(Integer)
    cluster_id: Mapped[int] = mapped_column(
        BigInteger, refers_to("cluster.id", circle="fk_article_cluster"), index=True
    )
    duplicate_of: Mapped[int | None] = mapped_column(BigInteger)
    """The article that stands for the cluster; empty for that one itself."""
    text_holder: Mapped[int | None] = mapped_column(BigInteger, refers_to("article.id"))
    """The article that has the same text, word for word, when it is not stored twice."""
    gone: Mapped[str | None] = mapped_column(Text)
    """Time at which its page was found to be gone (404 or 410)."""
    first_seen: Mapped[str] = mapped_column(Text)
    updated: Mapped[str] = mapped_column(Text)

    __table_args__ = (
        partial_index("ix_article_text_holder", "text_holder", where="text_holder IS NOT NULL"),
        newest_first("ix_article_newest", time="published_utc"),
        newest_first("ix_article_site_newest", "site_id", time="published_utc"),
        unchecked("duplicate_of", "article.id"),
    )


class ArticleVersionRow(Record):
    """An earlier text of an article that has changed since."""

    __tablename__ = "article_version"
    article_id: Mapped[int] = mapped_column(BigInteger, refers_to("article.id"), primary_key=True, autoincrement=False)
    seen: Mapped[str] = mapped_column(Text, primary_key=True, index=True)
    title: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)


class ArticleClassRow(Record):
    """Membership of an article in a class."""

    __tablename__ = "article_class"
    article_id: Mapped[int] = mapped_column(BigInteger, refers_to("article.id"), primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    membership: Mapped[float] = mapped_column(Float)
    """0 to 1; faint ones are left out."""


class SignatureRow(Record):
    """The signature of an article; each crawl process keeps an index of them."""

    __tablename__ = "signature"
    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """Counts up: what comes after the number that a process has read is new to it."""
    article_id: Mapped[int] = mapped_column(BigInteger, index=True)
    """0 when the text is not there any more."""
    cluster: Mapped[int] = mapped_column(BigInteger)
    """Number of the first signature of the texts that repeat one another."""
    day: Mapped[int] = mapped_column(Integer)
    """Day on which the article was seen, since 1970."""
    length: Mapped[int] = mapped_column(Integer)
    """Characters of the normalised text."""
    features: Mapped[bytes] = mapped_column(LargeBinary)
    """32-bit hashes, little-endian, ascending."""
    fresh: Mapped[bytes | None] = mapped_column(LargeBinary)
    """Those that no earlier text of the cluster has, which are looked up; empty for all of them."""

    __table_args__ = (partial_index("ix_signature_member", "cluster", where="fresh IS NOT NULL"),)


class SignatureFormRow(Record):
    """The form of all signatures (one row); different forms do not compare."""

    __tablename__ = "signature_form"
    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    form: Mapped[str] = mapped_column(Text)


class DuplicateRow(Record):
    """Evidence that one article repeats another, or is only related to it."""

    __tablename__ = "duplicate"
    article_id: Mapped[int] = mapped_column(BigInteger, refers_to("url.id"), primary_key=True, autoincrement=False)
    """The URL's identifier: the article itself may not be kept."""
    of_id: Mapped[int] = mapped_column(
        BigInteger, refers_to("article.id"), primary_key=True, autoincrement=False, index=True
    )
    similarity: Mapped[float] = mapped_column(Float)
    method: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text)
    """same, edited, part-of, contains; or quotes, template: related, but no duplicates."""
    own: Mapped[int] = mapped_column(SmallInteger, server_default="0")
    """1 when the duplicate has wording of its own, by which copies of it may be found."""


class SourceAttributionRow(Record):
    """Count of a site's new articles that name a source: is it the site's own name?"""

    __tablename__ = "source_attribution"
    site_id: Mapped[int] = mapped_column(BigInteger, refers_to("site.id"), primary_key=True, autoincrement=False)
    source: Mapped[str] = mapped_column(Text, primary_key=True)
    articles: Mapped[int] = mapped_column(Integer)

    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - SQLAlchemy's own form


class ClusterRow(Record):
    """Articles with the same text; the identifier is that of the representative."""

    __tablename__ = "cluster"
    id: Mapped[int] = mapped_column(BigInteger, refers_to("article.id"), primary_key=True, autoincrement=False)
    size: Mapped[int] = mapped_column(Integer)


class PartRow(Record):
    """A page that holds one part of an article."""

    __tablename__ = "part"
    id: Mapped[int] = mapped_column(BigInteger, refers_to("url.id"), primary_key=True, autoincrement=False)
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

    __table_args__ = (
        partial_index("ix_part_waiting", "group_id", where="joined = 0"),
        unchecked("first_id", "url.id"),
    )


class ImageRow(Record):
    """An image of an article, the lead image first."""

    __tablename__ = "image"
    article_id: Mapped[int] = mapped_column(BigInteger, refers_to("article.id"), primary_key=True, autoincrement=False)
    position: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    url: Mapped[str] = mapped_column(Text)
    caption: Mapped[str] = mapped_column(Text)


class PageRow(Record):
    """The raw page as fetched, zstd-compressed (only with `STORE_HTML`)."""

    __tablename__ = "page"
    url_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    fetched_at: Mapped[float] = mapped_column(Float, primary_key=True)
    """In the key because Postgres has a partition for each month; a URL has one page."""
    content_type: Mapped[str] = mapped_column(Text)
    encoding: Mapped[str] = mapped_column(Text)
    body: Mapped[bytes] = mapped_column(LargeBinary)
    """Empty when only the archive has it."""
    warc_file: Mapped[str | None] = mapped_column(Text)
    """Name of the file of `STORE_WARC` that has the answer as it came."""
    warc_offset: Mapped[int | None] = mapped_column(BigInteger)
    """Byte at which its record begins there."""
    dom: Mapped[bytes | None] = mapped_column(LargeBinary)
    """The document that a browser made of it, in UTF-8, compressed too; empty when none was asked."""

    __table_args__ = (
        Index("ix_page_fetched_at", "fetched_at").ddl_if(dialect="sqlite"),
        unchecked("url_id", "url.id"),
        {"postgresql_partition_by": "RANGE (fetched_at)"},
    )


_article = ArticleRow.table()
_holder = _article.alias("holder")
WITH_HOLDER = _article.outerjoin(_holder, _holder.c.id == _article.c.text_holder)
"""Articles, each with the one that keeps its text if it does not itself."""
TEXT, HTML = (
    case((_article.c.text_holder.is_(None), _article.c[name]), else_=func.coalesce(_holder.c[name], ""))
    for name in ("text", "html")
)
"""Text and HTML of an article, of `WITH_HOLDER`."""
_page = PageRow.table()
READ_BODY = func.coalesce(_page.c.dom, _page.c.body)
"""Bytes from which the text of a page was read."""
READ_TYPE = case((_page.c.dom.is_not(None), DOM_TYPE), else_=_page.c.content_type)
"""Their content type."""
