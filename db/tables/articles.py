"""Articles: texts, versions, duplicates, parts, images, raw pages."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, LargeBinary, SmallInteger, String, Text, case, func

from ..records.outcome import DOM_TYPE
from .record import Record, newest_first, partial_index, refers_to, unchecked


class ArticleRow(Record):
    """An article. Its identifier is that of its URL."""

    __tablename__ = "article"
    id: Column[int] = Column(BigInteger, refers_to("url.id"), primary_key=True, autoincrement=False)
    site_id: Column[int] = Column(BigInteger, refers_to("site.id"))
    number: Column[int] = Column(BigInteger, index=True)
    """Counts up in the order in which articles were stored: whoever has read as far as one finds the new behind it."""
    title: Column[str] = Column(Text)
    authors: Column[str] = Column(Text)
    """Names joined by "、"."""
    source: Column[str] = Column(Text)
    published_at: Column[str | None] = Column(Text)
    """As precise as the page is: a day, or a minute or second, with its zone if that is known."""
    published_utc: Column[str | None] = Column(Text)
    """The same in UTC, `YYYY-MM-DD HH:MM:SS`, to sort and compare by; of a day its first moment on the site."""
    published_precision: Column[str | None] = Column(String(6))
    published_from: Column[str | None] = Column(String(8))
    language: Column[str] = Column(String(8))
    text: Column[str] = Column(Text)
    html: Column[str] = Column(Text)
    description: Column[str] = Column(Text)
    """The page's own."""
    tags: Column[str] = Column(Text)
    """The page's own keywords or tags, joined by "、"."""
    section: Column[str] = Column(Text)
    """Channel or section, as the page names it."""
    keywords: Column[str] = Column(Text, server_default="")
    """Computed, the best first, joined by "、"; like the next three empty when nobody asked for them."""
    summary: Column[str] = Column(Text, server_default="")
    """Key sentences of the text."""
    classes: Column[str] = Column(Text, server_default="")
    """Names of its classes, the best first, joined by "、"; `article_class` has the memberships."""
    harm: Column[float | None] = Column(Float)
    """0 to 1, higher is worse."""
    harm_kind: Column[str] = Column(String(8), server_default="")
    """Gambling, porn, fraud, abuse, advert or hijacked; empty for a page that does no harm."""
    described_with: Column[str] = Column(Text, server_default="")
    """Version of methods, models and settings that the last five were made by; empty when they were not."""
    kind: Column[str] = Column(String(8), server_default="article")
    """Kind of the page: an article, or another one that `STORE_KINDS` names."""
    kind_probability: Column[float | None] = Column(Float)
    """Probability that its page is of this kind, 0 to 1; empty when an earlier version read it."""
    quality: Column[float] = Column(Float)
    """Confidence of the extraction, 0 to 1."""
    relevance: Column[float | None] = Column(Float)
    """Relevance to the crawl's topic, 0 to 1; empty without a topic."""
    extractor: Column[str] = Column(Text)
    """Name of the extractor that made the text."""
    extractor_version: Column[str] = Column(Text, server_default="")
    """Version of all that read the page then, see `pipelines.version`."""
    text_from: Column[str] = Column(String(8), server_default="html")
    """Source of the text: html (the page's own), data (what it carries for its scripts), browser, or selector."""
    related: Column[str] = Column(Text, server_default="")
    """Stories that the page calls related, one a line: URL, blank, title."""
    checked_with: Column[str] = Column(Text, server_default="")
    """Extractor and version that last read the page; the text is older when that said nothing else."""
    text_hash: Column[int] = Column(BigInteger, index=True)
    text_chars: Column[int] = Column(Integer)
    cluster_id: Column[int] = Column(BigInteger, refers_to("cluster.id", circle="fk_article_cluster"), index=True)
    duplicate_of: Column[int | None] = Column(BigInteger)
    """The article that stands for the cluster; empty for that one itself."""
    text_holder: Column[int | None] = Column(BigInteger, refers_to("article.id"))
    """The article that has the same text, word for word, when it is not stored twice."""
    gone: Column[str | None] = Column(Text)
    """Time at which its page was found to be gone (404 or 410)."""
    first_seen: Column[str] = Column(Text)
    updated: Column[str] = Column(Text)

    __parts__ = (
        partial_index("ix_article_text_holder", "text_holder", where="text_holder IS NOT NULL"),
        newest_first("ix_article_newest", time="published_utc"),
        newest_first("ix_article_site_newest", "site_id", time="published_utc"),
        unchecked("duplicate_of", "article.id"),
    )


class ArticleVersionRow(Record):
    """An earlier text of an article that has changed since."""

    __tablename__ = "article_version"
    article_id: Column[int] = Column(BigInteger, refers_to("article.id"), primary_key=True, autoincrement=False)
    seen: Column[str] = Column(Text, primary_key=True, index=True)
    title: Column[str] = Column(Text)
    text: Column[str] = Column(Text)


class ArticleClassRow(Record):
    """Membership of an article in a class."""

    __tablename__ = "article_class"
    article_id: Column[int] = Column(BigInteger, refers_to("article.id"), primary_key=True, autoincrement=False)
    name: Column[str] = Column(Text, primary_key=True)
    membership: Column[float] = Column(Float)
    """0 to 1; faint ones are left out."""


class SignatureRow(Record):
    """The signature of an article; each crawl process keeps an index of them."""

    __tablename__ = "signature"
    number: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    """Counts up: what comes after the number that a process has read is new to it."""
    article_id: Column[int] = Column(BigInteger, index=True)
    """0 when the text is not there any more."""
    cluster: Column[int] = Column(BigInteger)
    """Number of the first signature of the texts that repeat one another."""
    day: Column[int] = Column(Integer)
    """Day on which the article was seen, since 1970."""
    length: Column[int] = Column(Integer)
    """Characters of the normalised text."""
    features: Column[bytes] = Column(LargeBinary)
    """32-bit hashes, little-endian, ascending."""
    fresh: Column[bytes | None] = Column(LargeBinary)
    """Those that no earlier text of the cluster has, which are looked up; empty for all of them."""

    __parts__ = (partial_index("ix_signature_member", "cluster", where="fresh IS NOT NULL"),)


class SignatureFormRow(Record):
    """The form of all signatures (one row); different forms do not compare."""

    __tablename__ = "signature_form"
    id: Column[int] = Column(Integer, primary_key=True, autoincrement=False)
    form: Column[str] = Column(Text)


class DuplicateRow(Record):
    """Evidence that one article repeats another, or is only related to it."""

    __tablename__ = "duplicate"
    article_id: Column[int] = Column(BigInteger, refers_to("url.id"), primary_key=True, autoincrement=False)
    """The URL's identifier: the article itself may not be kept."""
    of_id: Column[int] = Column(BigInteger, refers_to("article.id"), primary_key=True, autoincrement=False, index=True)
    similarity: Column[float] = Column(Float)
    method: Column[str] = Column(Text)
    kind: Column[str] = Column(Text)
    """same, edited, part-of, contains; or quotes, template: related, but no duplicates."""
    own: Column[int] = Column(SmallInteger, server_default="0")
    """1 when the duplicate has wording of its own, by which copies of it may be found."""


class SourceAttributionRow(Record, sqlite_with_rowid=False):
    """Count of a site's new articles that name a source: is it the site's own name?"""

    __tablename__ = "source_attribution"
    site_id: Column[int] = Column(BigInteger, refers_to("site.id"), primary_key=True, autoincrement=False)
    source: Column[str] = Column(Text, primary_key=True)
    articles: Column[int] = Column(Integer)


class ClusterRow(Record):
    """Articles with the same text; the identifier is that of the representative."""

    __tablename__ = "cluster"
    id: Column[int] = Column(BigInteger, refers_to("article.id"), primary_key=True, autoincrement=False)
    size: Column[int] = Column(Integer)


class PartRow(Record):
    """A page that holds one part of an article."""

    __tablename__ = "part"
    id: Column[int] = Column(BigInteger, refers_to("url.id"), primary_key=True, autoincrement=False)
    """The URL's identifier."""
    group_id: Column[int] = Column(BigInteger, index=True)
    """The same for all pages that are tied by next and previous links."""
    first_id: Column[int] = Column(BigInteger)
    """The first part as far as known: the article is stored under it."""
    position: Column[int] = Column(SmallInteger)
    """Place in the article, from 1; 0 for a page that adds nothing to it."""
    joined: Column[int] = Column(SmallInteger)
    """1 once the article has been made with it; 0 while that waits for other parts."""
    number: Column[int] = Column(SmallInteger)
    """Page number as the page states it; 0 when it states none."""
    next_id: Column[int | None] = Column(BigInteger, index=True)
    previous_id: Column[int | None] = Column(BigInteger, index=True)
    title: Column[str] = Column(Text)
    text: Column[str] = Column(Text)
    html: Column[str] = Column(Text)
    text_hash: Column[int] = Column(BigInteger)
    rest: Column[str] = Column(Text)
    """JSON: everything else that the page says about the article."""

    __parts__ = (
        partial_index("ix_part_waiting", "group_id", where="joined = 0"),
        unchecked("first_id", "url.id"),
    )


class ImageRow(Record):
    """An image of an article, the lead image first."""

    __tablename__ = "image"
    article_id: Column[int] = Column(BigInteger, refers_to("article.id"), primary_key=True, autoincrement=False)
    position: Column[int] = Column(Integer, primary_key=True, autoincrement=False)
    url: Column[str] = Column(Text)
    caption: Column[str] = Column(Text)


class PageRow(Record, postgresql_partition_by="RANGE (fetched_at)"):
    """The raw page as fetched, zstd-compressed (only with `STORE_HTML`)."""

    __tablename__ = "page"
    url_id: Column[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    fetched_at: Column[float] = Column(Float, primary_key=True)
    """In the key because Postgres has a partition for each month; a URL has one page."""
    content_type: Column[str] = Column(Text)
    encoding: Column[str] = Column(Text)
    body: Column[bytes] = Column(LargeBinary)
    """Empty when only the archive has it."""
    warc_file: Column[str | None] = Column(Text)
    """Name of the file of `STORE_WARC` that has the answer as it came."""
    warc_offset: Column[int | None] = Column(BigInteger)
    """Byte at which its record begins there."""
    dom: Column[bytes | None] = Column(LargeBinary)
    """The document that a browser made of it, in UTF-8, compressed too; empty when none was asked."""

    __parts__ = (
        Index("ix_page_fetched_at", "fetched_at").ddl_if(dialect="sqlite"),
        unchecked("url_id", "url.id"),
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
