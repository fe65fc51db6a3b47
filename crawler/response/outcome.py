"""What a fetched page means for the frontier and the database: from a `Page` to the `Outcome` that is stored.

Pure: nothing here waits, writes or reads a clock. Every redirect, failure and retry becomes a state in the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from db.records.article import NewArticle
from db.records.keys import fingerprint, iso
from db.records.outcome import NO_EDGES, Edges, Outcome, StoredPage
from db.records.part import Place
from db.records.reasons import FailReason, PageReason, Reason, SkipReason
from db.records.url import REDIRECTS, Kind, NewUrl, State
from pipelines.articles.multipage import MAX_PARTS
from pipelines.links.scope import host_identity
from pipelines.records import BlockKind, PageKind
from pipelines.stages import Page
from pipelines.urls import MAX_URL_CHARS, canonicalize, file_type, host_key, same_host, site_key

from ..fetch.errors import HANDLES_PAUSE
from ..politeness.delay import decode_robots, is_cut_off, retry_after, retry_pause, whole_lines
from . import new_urls as outlinks
from .context import Context
from .new_urls import new_url

_TRY_AGAIN = {408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524}
_MOST_NUMBER = 30_000
_MOST_ETAG = 200
_MOST_DATE = 100
_ROBOTS_HOPS = 5  # RFC 9309 section 2.3.1.2
_ZONES = {"zh": "+08:00"}


def judge(page: Page, context: Context) -> Outcome:
    """The outcome of one page of any kind."""
    if page.error or is_lost(page, context.tries):
        return _no_answer(page, context)
    if page.lease.found_in == BlockKind.PROBE and page.status not in _TRY_AGAIN:
        return _answered(page, State.DONE, PageReason.PROBE)
    if page.status in REDIRECTS and page.headers.get("location"):
        return _redirect(page, page.headers["location"], context)
    if page.lease.kind == Kind.ROBOTS:
        return _robots(page, context)
    if page.status in _TRY_AGAIN and page.lease.tries + 1 < context.tries:
        asked = retry_after(page.headers.get("retry-after", ""), page.fetched_at)
        return _try_again(page, FailReason.HTTP, str(page.status), asked)
    return _read(page, context) if page.status == 200 else _error_status(page)


def internal_error(page: Page, error: Exception) -> Outcome:
    """A page that could not be stored as it is, through a fault of ours."""
    return Outcome(  # nothing of what the page or its server said: that may be what cannot be stored
        page.lease,
        State.FAILED,
        FailReason.INTERNAL,
        type(error).__name__,
        counted=page.status > 0 and page.lease.kind == Kind.PAGE,
        http_status=page.status or None,
        fetched_at=page.fetched_at,
        ready_at=page.ready_at,
    )


def _answered(page: Page, state: State, reason: Reason | None = None, detail: str = "") -> Outcome:
    """An outcome with everything that an HTTP answer tells."""
    return Outcome(
        lease=page.lease,
        state=state,
        reason=reason,
        detail=detail,
        counted=True,
        http_status=page.status,
        fetched_at=page.fetched_at,
        etag=_validator(page, "etag", _MOST_ETAG),
        last_modified=_validator(page, "last-modified", _MOST_DATE),
    )


def _validator(page: Page, name: str, most_chars: int) -> str | None:
    """A header that is sent back as it came, when the page is asked for again: of a whole page, and as a whole."""
    text = "" if page.truncated else page.headers.get(name, "")
    return text if text and len(text) <= most_chars and text.isprintable() else None


def is_lost(page: Page, tries: int) -> bool:
    """Whether the connection was lost in the body, and that is not to be made do with: another try may bring all.

    Args:
        page: an answer.
        tries: how often a URL is tried.
    """
    if not is_cut_off(page):
        return False
    return page.lease.kind == Kind.ROBOTS or page.lease.tries + 1 < tries


def _no_answer(page: Page, context: Context) -> Outcome:
    """Refused, timed out, reset, no such host."""
    error = page.error or FailReason.TRUNCATED  # lost in the body
    if error is FailReason.ADDRESS_REFUSED:
        return Outcome(page.lease, State.SKIPPED, error, fetched_at=page.fetched_at, robots=context.robots("refused"))
    if error is FailReason.OUT_OF_HANDLES:
        return replace(_try_again(page, error, page.detail, HANDLES_PAUSE), failed=False, tried=False)
    if page.lease.kind == Kind.ROBOTS:
        return _no_robots(page, context, error, page.detail)
    if not error.is_final:
        if context.resting:  # nobody can tell whether it is the URL's fault
            return replace(_try_again(page, error, page.detail), tried=False)
        if page.lease.tries + 1 < context.tries:
            return _try_again(page, error, page.detail)
    is_failure = error is not FailReason.BOMB  # which is one page's fault, not the host's
    return Outcome(page.lease, State.FAILED, error, page.detail, fetched_at=page.fetched_at, failed=is_failure)


def _try_again(page: Page, reason: FailReason, detail: str = "", asked_seconds: float | None = None) -> Outcome:
    """Waiting again, after a pause that grows with every try or that the server asked for."""
    pause = asked_seconds if asked_seconds is not None else retry_pause(page.lease.tries + 1)
    return Outcome(
        page.lease,
        State.PENDING,
        reason,
        detail,
        http_status=page.status or None,
        fetched_at=page.fetched_at,
        next_visit=page.fetched_at + pause,
        failed=True,
    )


def _error_status(page: Page) -> Outcome:
    """An answer that is no page."""
    if page.lease.kind in {Kind.SITEMAP, Kind.FEED}:
        reason = SkipReason.NO_SITEMAP if page.lease.kind == Kind.SITEMAP else SkipReason.NO_FEED
        return replace(_answered(page, State.SKIPPED, reason, f"http {page.status}"), counted=False)
    trouble = page.status in _TRY_AGAIN or page.status >= 500
    counted = page.lease.kind == Kind.PAGE and not 300 <= page.status < 400
    return replace(_answered(page, State.FAILED, FailReason.HTTP, str(page.status)), failed=trouble, counted=counted)


def _robots(page: Page, context: Context) -> Outcome:
    """RFC 9309: rules when there are some, everything allowed on 4xx, nothing while it is unreachable."""
    if 200 <= page.status < 300:
        body = whole_lines(page.body) if page.truncated else page.body
        text = decode_robots(body, context.robots_bytes)
        return replace(_answered(page, State.DONE), counted=False, robots=context.robots("rules", text))
    if 400 <= page.status < 500 and page.status != 429:
        return replace(_answered(page, State.DONE, PageReason.NO_ROBOTS), counted=False, robots=context.robots("none"))
    return _no_robots(page, context, FailReason.HTTP, str(page.status))


def _no_robots(page: Page, context: Context, reason: FailReason, detail: str) -> Outcome:
    """A robots.txt that cannot be had: its hosts wait for it, unless they have older rules or are given up."""
    return Outcome(
        page.lease,
        State.FAILED if context.robots_again is None else State.PENDING,
        reason,
        detail,
        http_status=page.status or None,
        fetched_at=page.fetched_at,
        next_visit=context.robots_again,
        failed=True,
    )


def _redirect(page: Page, to: str, context: Context) -> Outcome:
    """The target takes the place of the redirecting URL, at the same depth."""
    lease = page.lease
    target = canonicalize(to, lease.url)
    outcome = replace(_answered(page, State.SKIPPED, SkipReason.REDIRECT), counted=False)
    is_robots = lease.kind == Kind.ROBOTS
    if target == lease.url and page.new_cookie and lease.tries + 1 < context.tries:
        return replace(_try_again(page, FailReason.COOKIE_REDIRECT, asked_seconds=0.0), failed=False)
    most = context.redirects + (MAX_PARTS if lease.found_in == BlockKind.PART else 0)
    if is_robots:
        most = max(most, _ROBOTS_HOPS)
    if target is None or target == lease.url or lease.hops >= most:
        if target is None:
            failed = FailReason.URL_TOO_LONG if len(to) > MAX_URL_CHARS else FailReason.REDIRECTS_NOWHERE
        else:
            failed = FailReason.REDIRECTS_TO_ITSELF if target == lease.url else FailReason.TOO_MANY_REDIRECTS
        # RFC 9309: a robots.txt that redirects too often counts as not there
        return replace(outcome, state=State.FAILED, reason=failed, robots=context.robots("none"))
    host, own = host_key(target), host_key(lease.url)
    adopted = None
    reason: SkipReason | None = None
    if not is_robots and not page.scope.covers(host):
        if lease.found_in == BlockKind.SEED and site_key(host) == site_key(own) and lease.seed_id is not None:
            adopted = (lease.seed_id, host)  # example.com sends its visitors to news.example.com: follow
        else:
            reason = SkipReason.OUTSIDE
    if lease.kind == Kind.PAGE and file_type(target):
        reason = SkipReason.FILE
    new = new_url(
        target,
        lease.kind,
        priority=context.priority,
        depth=lease.depth,
        # what a seed redirects to is the seed
        found_in=lease.found_in if lease.found_in in {BlockKind.SEED, BlockKind.PART} else BlockKind.REDIRECT,
        now=page.fetched_at,
        seed_id=lease.seed_id,
        reason=reason,
        hops=lease.hops + 1,
        # back to where it came from, and a cookie is there now: a wall that asks for one
        again=is_robots or (page.new_cookie and fingerprint(target) == lease.found_on),
        legacy=lease.parts,
    )
    return replace(
        outcome,
        same_as=new.id,
        new_urls=(new,),
        links=Edges((new.id,), bytes([BlockKind.REDIRECT])) if not is_robots else NO_EDGES,
        seed_host=adopted,
    )


def _read(page: Page, context: Context) -> Outcome:
    """A page, feed or sitemap that a worker has read, or could not read."""
    if page.worked is None:
        failed = _answered(page, State.FAILED, page.unreadable or FailReason.NOT_READ, page.detail)
        return replace(failed, counted=page.lease.kind == Kind.PAGE)
    lease, parsed = page.lease, page.worked.parsed
    if parsed.sends_to and (parsed.sends_to != lease.url or page.new_cookie):  # else it only shows itself again
        return _redirect(page, parsed.sends_to, context)
    is_page = lease.kind == Kind.PAGE
    new_urls = outlinks.links(page, context)
    links = Edges(page.worked.targets.ids, parsed.links.blocks) if is_page else NO_EDGES
    reason: Reason | None = FailReason.TRUNCATED if page.truncated else parsed.reason
    likeness = page.worked.likeness
    is_far = likeness is not None and likeness.page < context.focus.least
    article = place = None
    beside: list[NewUrl] = []
    if is_page and parsed.kind == PageKind.ARTICLE:
        if parsed.noindex:
            reason = PageReason.NOINDEX
        elif page.truncated:
            reason = FailReason.TRUNCATED
        else:
            place, beside = _place(page, context)
            if is_far and context.focus.drops and place is None:  # a part alone says too little of its article
                reason = PageReason.OFF_TOPIC
            else:
                article = _article(page, context)
    raw = None
    if page.worked.raw is not None:
        raw = StoredPage(page.headers.get("content-type", ""), parsed.encoding, page.worked.raw)
    canonical_id, canonical = outlinks.canonical(page, context)
    if canonical is not None:
        new_urls.append(canonical)
    if canonical_id is not None and canonical_id not in links.targets:
        links = Edges((*links.targets, canonical_id), links.blocks + bytes([BlockKind.CANONICAL]))
    new_urls.extend(outlinks.sources(page, context))
    if beside:
        parts = {new.id for new in beside}
        new_urls = [*beside, *(new for new in new_urls if new.id not in parts)]
    return replace(
        _answered(page, State.DONE, reason if article is None else PageReason.OFF_TOPIC if is_far else parsed.doubt),
        counted=is_page,
        article=article,
        place=place,
        same_as=canonical_id if canonical is not None and not canonical.reason else None,
        new_urls=tuple(new_urls),
        links=links,
        raw=raw,
        terms=None if likeness is None else (likeness.page, likeness.terms),
    )


def _article(page: Page, context: Context) -> NewArticle:
    """The article's row."""
    assert page.worked is not None
    parsed, lease = page.worked.parsed, page.lease
    meta = parsed.metadata
    _, site_id, _ = host_identity(host_key(lease.url))
    canonical = meta.canonical
    on_host = bool(canonical) and canonical != lease.url and same_host(host_key(canonical), host_key(lease.url))
    return NewArticle(
        id=lease.id,
        site_id=site_id,
        title=meta.title,
        authors="、".join(meta.authors),
        source=meta.source,
        published_at=_with_zone(meta.published_at, meta.language),
        published_precision=meta.published_precision or None,
        published_from=meta.published_from or None,
        language=meta.language,
        text=parsed.extraction.text,
        html=parsed.extraction.html,
        summary=meta.summary,
        keywords="、".join(meta.keywords),
        classes=meta.section,
        quality=parsed.extraction.confidence,
        relevance=None if page.worked.likeness is None else page.worked.likeness.page,
        extractor=context.extractor,
        text_hash=parsed.signature.exact,
        features=parsed.signature.features,
        length=parsed.signature.length,
        images=tuple((image.url, image.caption) for image in meta.images),
        canonical_id=fingerprint(canonical) if on_host else None,
        seen=iso(page.fetched_at),
    )


def _place(page: Page, context: Context) -> tuple[Place | None, list[NewUrl]]:
    """Where the page stands in an article of several pages, and the pages beside it; None when it is all of it."""
    assert page.worked is not None
    meta = page.worked.parsed.metadata
    if not (meta.next_page or meta.previous_page or meta.page_number > 1):
        return None, []
    following = _beside(page, meta.next_page, context) if meta.page_number < MAX_PARTS else None
    previous = _beside(page, meta.previous_page, context)
    if following is None and previous is None and meta.page_number <= 1:
        return None, []
    number = min(max(0, meta.page_number), _MOST_NUMBER)
    place = Place(number, None if following is None else following.id, None if previous is None else previous.id)
    return place, [new for new in (following, previous) if new is not None]


def _beside(page: Page, url: str, context: Context) -> NewUrl | None:
    """Another part of the page's article, if it may be fetched: on the same host, as deep as the page itself."""
    assert page.worked is not None
    lease, targets = page.lease, page.worked.targets
    passed = lease.hops if lease.found_in == BlockKind.PART else 0
    if not url or url == lease.url or passed >= MAX_PARTS or host_key(url) != host_key(lease.url):
        return None
    key = fingerprint(url)
    reason = targets.reasons[targets.ids.index(key)] if key in targets.ids else None
    if reason not in {None, SkipReason.TRAP}:
        return None
    if context.disallow_reason(lease.host_id, url):
        return None
    return new_url(
        url,
        Kind.PAGE,
        priority=context.priority,
        depth=lease.depth,
        found_in=BlockKind.PART,
        now=page.fetched_at,
        seed_id=lease.seed_id,
        hops=passed + 1,
    )


def _with_zone(published: str, language: str) -> str | None:
    """A date alone becomes midnight in the zone of the page's language, so that every time in the table compares."""
    if not published:
        return None
    if len(published) == len("2024-03-12"):
        published += f"T00:00:00{_ZONES.get(language[:2], '+00:00')}"
    return datetime.fromisoformat(published).isoformat(timespec="seconds")


def leads_home(outcome: Outcome) -> bool:
    """Whether a page redirects to another address on its own host."""
    moved = outcome.state == State.SKIPPED and outcome.same_as is not None
    return moved and any(new.id == outcome.same_as and new.host_id == outcome.lease.host_id for new in outcome.new_urls)


def depth_memory(outcome: Outcome) -> Iterable[tuple[int, int]]:
    """What `Context.known` may remember once it is stored: URL -> depth, far away when another link may win."""
    for new in outcome.new_urls:
        yield new.id, new.depth if not new.reason else 1 << 30
