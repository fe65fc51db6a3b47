"""Everything a page says about its article beside the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timezone
from typing import Final
from urllib.parse import urlsplit

from ..records import Extraction, Image, Metadata
from ..urls import canonicalize
from . import authors as people
from . import dates
from . import structured as json_ld
from .clean import clean, unique
from .density import squeeze
from .document import Document
from .language import detect
from .structured import Structured
from .titles import headline, site_names

_PUBLISHED: Final = (
    "article:published_time", "og:published_time", "datepublished", "pubdate", "publishdate", "publish_date",
    "og:release_date", "published_time", "article:published", "date", "dc.date", "dc.date.issued",
    "dcterms.created", "dcterms.date", "dcterms.issued", "parsely-pub-date", "sailthru.date",
    "cxenseparse:recs:publishtime", "weibo: article:create_at", "publication_date", "article_date_original",
    "pub_date", "publishtime", "createdate", "dc.date.created", "citation_publication_date", "bt:pubdate",
)  # fmt: skip
# Written when the page was rendered or last changed: heard when nothing better speaks.
_LATE: Final = ("apub:time", "dateupdate", "article:modified_time", "og:updated_time", "lastmodified")
_AUTHOR: Final = (
    "author",
    "article:author",
    "dc.creator",
    "byl",
    "parsely-author",
    "sailthru.author",
    "article:author_name",
    "dcterms.creator",
    "cxenseparse:author",
    "mediaid",
)
_SOURCE: Final = ("contentsource", "source", "article:source", "weibo: article:source")
_SOURCE_LINE = re.compile(
    r"(?:文章来源|文章來源|新闻来源|信息来源|稿件来源|稿源|来源|來源|来自|出处|轉載自|转载自|转自)\s{0,3}(?:于|"
    r"於)?\s{0,3}[:：]\s{0,4}([^\s|｜()（）\[\]【】<>]{2,40}(?: [A-Za-z][^\s|｜]{0,20}){0,3})"
)
_SOURCE_CUT = re.compile(
    r"(?:作者|记者|記者|编辑|責任|责任|发布|發布|时间|日期|浏览|点击|阅读|字号|字体|20\d\d[-年/.]|分享|评论|转载|"
    r"我要|打印|【|，|。|\d{1,2}:\d\d).*$"
)
_TIME_WORD = re.compile(r"发布|發布|发表|發表|时间|時間|日期|上稿|建立|刊登|published|posted|来源|來源", re.IGNORECASE)
_STATED_TIME = re.compile(
    r"(?:发布|發布|发表|發表)(?:时间|時間|日期|于|於|：|:)|(?:时间|時間|日期)\s?[:：]|published|posted on",
    re.IGNORECASE,
)
_UPDATED = re.compile(r"更新|修改|updated|modified|截至|截止|成文", re.IGNORECASE)
_EPOCH = re.compile(
    r"""(?<![\w.])["']?(?:ct|publish_?time|oriCreateTime|create_?time|pub_?date|pub_?time|datePublished)["']?\s{0,4}[:=]\s{0,4}["']?(1\d{9})(?:\d{3})?(?!\d)""",
    re.IGNORECASE,
)
_SCRIPT_TIME = re.compile(
    r"""(?<![\w.])["']?(?:ct|publish_?time|createTime|pub_?date|pub_?time|datePublished)["']?\s{0,4}"""
    r"""[:=]\s{0,4}["']((?:19|20)\d\d[-/]\d\d?[-/]\d\d?[T ]\d\d?:\d\d(?::\d\d)?[^"']{0,8})["']""",
    re.IGNORECASE,
)
_AUTHOR_NAME = re.compile(
    r"(?:^|[\s_-])(?:authors?|byline\w*|writer|reporter|journalist|author-?name|itemprop-author|post-author)(?:$|"
    r"[\s_-])"
)
_AUTHOR_PAGE = re.compile(
    r"/(?:authors?|writers?|reporters?|journalists?|columnists?|people|profile|staff|by)/|space-uid|/author-",
    re.IGNORECASE,
)
_NEXT = re.compile(r"^[\W_]{0,3}(?:下一?[页頁]|后一页|next(?: page)?|次へ|次のページ)[\W_]{0,3}$", re.IGNORECASE)
_PREVIOUS = re.compile(
    r"^[\W_]{0,3}(?:上一?[页頁]|前一页|prev(?:ious)?(?: page)?|前のページ)[\W_]{0,3}$", re.IGNORECASE
)
_NUMBER = re.compile(r"(?:[-_/]|[?&](?:p|page|pn)=)(\d{1,3})(?:\.\w{2,5})?$", re.IGNORECASE)
_STEM = re.compile(r"[-_/]?(?:p|page)?[-_=]?\d{1,3}$", re.IGNORECASE)
_NEAR: Final = 14


def extract(document: Document, extraction: Extraction, fetched_at: datetime) -> Metadata:
    """Return title, authors, source, time, language, summary and the rest.

    Each field asks its witnesses in order of trust: structured data, meta elements, then what is visible between
    headline and text. A witness that contradicts form (a future date, the site's name as author) is not heard.

    Args:
        document: a parsed page.
        extraction: its text; fields that need the place of the text are searched near it.
        fetched_at: when the page was fetched, with zone.

    Returns:
        The metadata; fields without a witness are empty.

    Raises:
        ValueError: `fetched_at` has no zone.

    Cost: O(blocks + characters of metadata and inline scripts).
    """
    if fetched_at.tzinfo is None:
        raise ValueError(f"fetched_at {fetched_at!r} has no time zone")
    structured = json_ld.read(document)
    kept = list(extraction.blocks)
    first = kept[0] if kept else -1
    title = headline(document, structured, first)
    declared = document.language or _meta(document, "og:locale", "language", "content-language")
    language = detect(extraction.text or " ".join(document.blocks.texts[:200]) or title, declared)
    zone = dates.CHINA if language.startswith("zh") else UTC
    near = _near(document, title, kept)
    moment, origin = _published(document, structured, near, fetched_at, zone)
    base = (canonicalize(document.base, document.url) if document.base else None) or document.url
    sites = [*site_names(document, structured), urlsplit(document.url).hostname or ""]
    source = _source(document, near)
    own = canonicalize(document.url) or document.url
    following = next((url for url in _beside(document, base, _NEXT, "next") if _is_part(own, url)), "")
    previous = next((url for url in _beside(document, base, _PREVIOUS, "prev") if _is_part(url, own)), "")
    return Metadata(
        title=title,
        authors=_authors(document, structured, near, kept, [*sites, source]),
        source=source,
        published_at=moment.iso if moment else "",
        published_precision=moment.precision if moment else "",
        published_from=origin,
        language=language,
        summary=clean(
            _meta(document, "og:description", "description", "twitter:description") or structured.description, 1000
        ),
        keywords=_keywords(document, structured),
        section=clean(_meta(document, "article:section", "section", "channel") or structured.section, 100),
        images=_images(document, structured, kept, base),
        canonical=_canonical(document, base),
        next_page=following,
        previous_page=previous,
        page_number=_page_number(document.url, following, previous),
    )


def _meta(document: Document, *names: str) -> str:
    """First non-empty value among meta elements `names`."""
    for name in names:
        for value in document.metas.get(name, ()):
            if value.strip():
                return value
    return ""


def _near(document: Document, title: str, kept: list[int]) -> list[int]:
    """Blocks around headline and start of the text, nearest to the headline first, then those right behind the text."""
    blocks = document.blocks
    wanted = squeeze(title)
    places = [
        index
        for index, text in enumerate(blocks.texts)
        if wanted and abs(len(text) - len(title)) <= 16 and squeeze(text) == wanted
    ]
    first = kept[0] if kept else -1
    before = [index for index in places if first < 0 or index <= first]
    place = before[-1] if before else (places[0] if places else first)
    if place < 0:
        return list(range(min(len(blocks), 30)))
    order = list(range(place, min(len(blocks), max(place + _NEAR, min(first + 3, place + 40)))))
    order += list(range(place - 1, max(-1, place - 6), -1))
    if first >= 0:
        order += range(max(0, first - 6), first)
        last = kept[-1]
        order += range(max(first, last - 2), min(len(blocks), last + 8))
        order += (index for index in range(first) if len(blocks.texts[index]) <= 60 and blocks.link_chars[index] == 0)
    return list(dict.fromkeys(order))


def _published(
    document: Document, structured: Structured, near: list[int], now: datetime, zone: timezone
) -> tuple[dates.Moment | None, str]:
    """The publish time and the witness it comes from."""
    stated, origin = dates.read_stamp(structured.published, now, zone) if structured.published else None, "json-ld"
    if stated is None:
        origin = "meta"
        for name in _PUBLISHED:
            value = _meta(document, name)
            stated = dates.read_stamp(value, now, zone) if value else None
            if stated:
                break
    if stated and stated.precision != "day" and "T00:00" not in stated.iso:
        return stated, origin
    seen = _visible(document, near, now, zone)
    if stated:
        finer = seen and seen.precision != "day" and seen.day == stated.day
        return (seen, "visible") if finer else (stated, origin)
    if seen and seen.precision != "day":
        return seen, "visible"
    others = (
        ("visible", (dates.read_stamp(value, now, zone) for _, value in document.times[:5])),
        ("meta", (dates.read_stamp(_meta(document, name), now, zone) for name in _LATE)),
        ("script", (_scripted(document, now, zone) for _ in range(1))),
    )
    for witness, moments in others:
        moment = next((found for found in moments if found), None)
        if moment and (seen is None or moment.day == seen.day):
            return moment, witness
    if seen is None:
        seen, origin = dates.read_url(document.url, now), "url"
    else:
        origin = "visible"
    return seen, origin if seen else ""


def _visible(document: Document, near: list[int], now: datetime, zone: timezone) -> dates.Moment | None:
    """The best time among the lines near the headline: labelled before bare, with a clock before a day."""
    best: dates.Moment | None = None
    best_rank = 0.0
    blocks = document.blocks
    for position, index in enumerate(near):
        text = blocks.texts[index]
        if len(text) > 300 or not any(sign.isdigit() or sign in "〇年前昨今刚剛" for sign in text):
            continue
        found = dates.read(text, now, zone)
        relative = None if found else dates.read_relative(text, now, zone) if len(text) < 60 else None
        moment = found or relative
        if moment is None or moment.precision == "day":
            # A date may be drawn as several boxes: year, day, clock.
            boxes = " ".join(
                blocks.texts[at] for at in range(index, min(index + 3, len(blocks))) if len(blocks.texts[at]) <= 24
            )
            moment = (dates.read(boxes, now, zone) if len(text) <= 24 else None) or moment
        if moment is None:
            continue
        rank = 10.0 - min(0.3 * position, 5.0) - min(len(text), 200) / 40 + (2.5 if moment.precision != "day" else 0)
        rank += 4.0 if _STATED_TIME.search(text) else 1.5 if _TIME_WORD.search(text) else 0
        rank -= 2.0 if _UPDATED.search(text) else 0
        rank -= 3.0 if relative else 0
        rank -= 3.0 if blocks.link_chars[index] * 2 > blocks.chars[index] else 0
        if rank > best_rank:
            best, best_rank = moment, rank
    return best


def _scripted(document: Document, now: datetime, zone: timezone) -> dates.Moment | None:
    """A publish time in a variable of an inline script."""
    for text in document.scripts:
        match = _EPOCH.search(text)
        found = dates.read_epoch(match[1], now, zone) if match else None
        if found is None:
            match = _SCRIPT_TIME.search(text)
            found = dates.read(match[1], now, zone) if match else None
        if found:
            return found
    return None


def _authors(
    document: Document, structured: Structured, near: list[int], kept: list[int], sites: list[str]
) -> tuple[str, ...]:
    """Names from structured data and metas, else from bylines near the text."""
    found = people.tidy(structured.authors, sites)
    if found:
        return found
    byline = _byline(document, near, kept, sites)
    values = [value for name in _AUTHOR for value in document.metas.get(name, ())[:10] if "://" not in value]
    stated = people.tidy(values, sites)
    # On Chinese pages the author element often names the web editor; the byline does not.
    if byline and (not stated or "\u4e00" <= byline[0][0] <= "\u9fff"):
        return byline
    if stated:
        return stated
    texts, parts = document.blocks.texts, document.blocks.parts
    found = _marked(document, near, sites)
    if found:
        return found
    inside = set(kept)
    for index in near[:8]:
        if parts[index] and index not in inside and any(sign.isdigit() for sign in texts[index]):
            found = people.tidy([text for _, text in parts[index] if people.is_person(text)], sites)
            if found:
                return found
    return ()


def _byline(document: Document, near: list[int], kept: list[int], sites: list[str]) -> tuple[str, ...]:
    """Names in explicit bylines: lines around headline and text, then heads and ends of paragraphs."""
    texts, parts = document.blocks.texts, document.blocks.parts
    inside = set(kept)
    for index in near:
        line = "\t".join(text for _, text in parts[index]) if parts[index] else texts[index]
        if len(line) <= (60 if index in inside else 200):
            found = people.tidy(people.from_line(line), sites)
            if found:
                return found
    for index in [*kept[:2], *kept[-1:-60:-1]]:
        found = people.tidy(people.from_prose(texts[index]), sites)
        if found:
            return found
    return ()


def _marked(document: Document, near: list[int], sites: list[str]) -> tuple[str, ...]:
    """Names in elements called author or byline, and in links to an author's page."""
    blocks, names, parents = document.blocks, document.names, document.parents
    places = set(near[:20])
    for _, href, rel, anchor, block in document.links:
        if block in places and 2 <= len(anchor) <= 40 and ("author" in rel or _AUTHOR_PAGE.search(href)):
            found = people.tidy([anchor], sites)
            if found:
                return found
    for index in near[:20]:
        for node, text in blocks.parts[index] or ((blocks.starts[index], blocks.texts[index]),):
            at = node
            for _ in range(3):
                if at < 0:
                    break
                if names[at] and _AUTHOR_NAME.search(names[at]) and len(text) <= 60:
                    found = people.tidy([text], sites)
                    if found:
                        return found
                at = parents[at]
    return ()


def _source(document: Document, near: list[int]) -> str:
    """The publisher that the page credits."""
    for index in near:
        parts = document.blocks.parts[index]
        text = " ".join(part for _, part in parts) if parts else document.blocks.texts[index]
        if len(text) > 300:
            continue
        match = _SOURCE_LINE.search(text)
        if match:
            source = clean(_SOURCE_CUT.sub("", match[1]), 60).strip(" :：-_/")
            if len(source) >= 2:
                return source
    value = clean(_meta(document, *_SOURCE), 60)
    return "" if "://" in value else value


def _keywords(document: Document, structured: Structured) -> tuple[str, ...]:
    """Keywords of the metas, article tags, else of the structured data."""
    raw = [*document.metas.get("article:tag", ()), *document.metas.get("keywords", ())[:1], *structured.keywords][:60]
    return unique((clean(part, 60) for value in raw for part in re.split(r"[,，;；、|]|\s{2,}", value[:2000])), 30)


def _images(document: Document, structured: Structured, kept: list[int], base: str) -> tuple[Image, ...]:
    """The lead image that the metadata name, then those inside the text."""
    lead = [*document.metas.get("og:image", ())[:1], *structured.images[:1]]
    found: dict[str, Image] = {}
    for value in lead:
        url = canonicalize(value, base)
        if url:
            found.setdefault(url, Image(url, "", lead=not found))
    if kept:
        low = document.blocks.nodes[kept[0]] - 6
        high = document.ends[document.blocks.nodes[kept[-1]]] + 3
        for node, value, caption in document.images:
            if low <= node < high and len(found) < 50 and not value.startswith("data:"):
                url = canonicalize(value, base)
                if url:
                    before = found.get(url)
                    found[url] = Image(url, clean(caption, 300), lead=before.lead if before else not found)
    return tuple(found.values())


def _canonical(document: Document, base: str) -> str:
    """The page's canonical URL as it states it."""
    for rel, href, _, _ in document.relations:
        if "canonical" in rel.split():
            return canonicalize(href, base) or ""
    value = _meta(document, "og:url")
    return (canonicalize(value, base) or "") if value else ""


def _beside(document: Document, base: str, label: re.Pattern[str], rel: str) -> Iterator[str]:
    """Canonical URLs of the pages that links with this label or relation lead to."""
    hrefs = [href for _, href, _, anchor, _ in document.links if len(anchor) <= 14 and label.match(anchor)]
    hrefs += [href for names, href, _, _ in document.relations if rel in names.split()]
    return (url for href in hrefs[:10] if (url := canonicalize(href, base)))


def _is_part(first: str, second: str) -> bool:
    """Whether the second address continues the first: the same but for a page number."""
    return first != second and _stem(second).startswith(_stem(first))


def _page_number(url: str, following: str, previous: str) -> int:
    """Which part of its article a page is, as far as its address says."""
    if not previous:
        return 1 if following else 0
    number = _NUMBER.search(url)
    return int(number[1]) if number else 0


def _stem(url: str) -> str:
    """Address without extension and page number."""
    head, _, query = url.partition("?")
    folder, _, name = head.rpartition("/")
    name = name.partition(".")[0]
    if query:
        kept = [part for part in query.split("&") if not re.match(r"(?:p|page|pn|start|offset)=\d", part)]
        return f"{folder}/{name}?{'&'.join(kept)}"
    short = _STEM.sub("", name)
    return f"{folder}/{short if len(short) >= 1 else name}"
