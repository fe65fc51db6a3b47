"""Judge a page: from the `Page` that came back to the `Outcome` to store. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from db.records.article import JOINED_BY, NewArticle, TextFrom, join_stories
from db.records.keys import iso
from db.records.outcome import NO_EDGES, Edges, Outcome, StoredPage
from db.records.part import Place
from db.records.reasons import FailReason, PageReason, Reason, SkipReason, label
from db.records.url import REDIRECTS, Kind, Lease, NewUrl, State
from pipelines.articles.multipage import MAX_PARTS
from pipelines.item import Page
from pipelines.records import BlockKind, ParseResult, Target
from pipelines.urls import MAX_URL_CHARS

from ..fetch.errors import HANDLES_PAUSE
from ..politeness.delay import decode_robots, is_cut_off, retry_after, retry_pause, whole_lines
from . import new_urls as outlinks
from .context import Context, HarmPolicy
from .redirects import of_seed

_TRY_AGAIN = {408, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524}
_MOST_NUMBER = 30_000
_MOST_ETAG = 200
_MOST_DATE = 100
_ROBOTS_HOPS = 5  # RFC 9309 section 2.3.1.2
_KEEPS_NOINDEX = "NOINDEX=store keeps it"


def judge(page: Page, context: Context) -> Outcome:
    if page.error or is_lost(page, context.tries):
        return _no_answer(page, context) if page.redirect is None else _plain(page, page.redirect, context)
    if page.lease.found_in == BlockKind.PROBE and page.status not in _TRY_AGAIN:
        return _answered(page, State.DONE, PageReason.PROBE, counted=True)
    if page.status in REDIRECTS and page.headers.get("location"):
        return _redirect(page, context)
    if page.lease.kind == Kind.ROBOTS:
        return _robots(page, context)
    if page.status in _TRY_AGAIN and page.lease.tries + 1 < context.tries:
        asked = retry_after(page.headers.get("retry-after", ""), page.fetched_at)
        return _try_again(page, FailReason.HTTP, str(page.status), asked)
    return _read(page, context) if page.status == 200 else _error_status(page, context)


def internal_error(page: Page, error: Exception) -> Outcome:
    # nothing of what the page or its server said: that may be what cannot be stored
    counted = page.status > 0 and page.lease.kind == Kind.PAGE
    name = type(error).__name__
    return replace(_outcome(page, State.FAILED, FailReason.INTERNAL, name, counted=counted), seconds=0.0, address="")


def _outcome(page: Page, state: State, reason: Reason | None = None, detail: str = "", **more: Any) -> Outcome:
    status = page.status or None
    return Outcome(
        page.lease,
        state,
        reason,
        detail,
        http_status=status,
        fetched_at=page.fetched_at,
        ready_at=page.ready_at,
        seconds=page.seconds,
        address=page.address,
        **more,
    )


def _answered(page: Page, state: State, reason: Reason | None = None, detail: str = "", **more: Any) -> Outcome:
    """Validators are kept only of whole bodies, or the rest would be "unchanged"."""
    counted = page.lease.kind == Kind.PAGE and not 300 <= page.status < 400
    more = {"counted": counted, **more}
    parsed = page.parsed
    is_whole = not page.truncated and not (parsed is not None and (parsed.bounds or _is_made_by_script(parsed)))
    if state == State.DONE and is_whole:
        more["etag"] = _validator(page, "etag", _MOST_ETAG)
        more["last_modified"] = _validator(page, "last-modified", _MOST_DATE)
    return _outcome(page, state, reason, detail, **more)


def _is_made_by_script(parsed: ParseResult) -> bool:
    return parsed.text_from in {TextFrom.DATA, TextFrom.BROWSER} or parsed.reason is PageReason.NEEDS_BROWSER


def _validator(page: Page, name: str, most_chars: int) -> str | None:
    text = page.headers.get(name, "")
    return text if text and len(text) <= most_chars and text.isprintable() else None


def is_lost(page: Page, tries: int) -> bool:
    """Tell whether the connection was lost in the body, and another try is worth it."""
    return is_cut_off(page) and (page.lease.kind == Kind.ROBOTS or page.lease.tries + 1 < tries)


def _no_answer(page: Page, context: Context) -> Outcome:
    error = page.error or FailReason.TRUNCATED  # lost in the body
    if error is FailReason.ADDRESS_REFUSED:
        return _outcome(page, State.SKIPPED, error, robots=context.robots("refused"))
    if error in {FailReason.OUT_OF_HANDLES, FailReason.NO_PROXY}:
        return replace(_try_again(page, error, page.detail, HANDLES_PAUSE), tried=False)
    if page.lease.kind == Kind.ROBOTS:
        return _no_robots(page, context, error, page.detail)
    if not error.is_final:
        if context.in_backoff:  # nobody can tell whether it is the URL's fault
            return replace(_try_again(page, error, page.detail), tried=False)
        if page.lease.tries + 1 < context.tries:
            return _try_again(page, error, page.detail)
    is_failure = error is not FailReason.BOMB and not error.is_ours  # those are not the host's fault
    return _outcome(page, State.FAILED, error, page.detail, failed=is_failure)


def _try_again(page: Page, reason: FailReason, detail: str = "", asked_seconds: float | None = None) -> Outcome:
    pause = asked_seconds if asked_seconds is not None else retry_pause(page.lease.tries + 1)
    again = page.fetched_at + pause
    return _outcome(page, State.PENDING, reason, detail, next_visit=again, failed=not reason.is_ours)


def _error_status(page: Page, context: Context) -> Outcome:
    if page.lease.kind in {Kind.SITEMAP, Kind.FEED}:
        reason = SkipReason.NO_SITEMAP if page.lease.kind == Kind.SITEMAP else SkipReason.NO_FEED
        return _answered(page, State.SKIPPED, reason, f"http {page.status}")
    if page.redirect is not None:  # the same URL, with its slashes encoded as most software writes them
        return _follow(page, page.redirect, context)
    trouble = page.status in _TRY_AGAIN or page.status >= 500
    return _answered(page, State.FAILED, FailReason.HTTP, str(page.status), failed=trouble)


def _robots(page: Page, context: Context) -> Outcome:
    if 200 <= page.status < 300:
        body = whole_lines(page.body) if page.truncated else page.body
        text = decode_robots(body, context.robots_bytes)
        return _answered(page, State.DONE, robots=context.robots("rules", text))
    if 400 <= page.status < 500 and page.status != 429:
        return _answered(page, State.DONE, PageReason.NO_ROBOTS, robots=context.robots("none"))
    return _no_robots(page, context, FailReason.HTTP, str(page.status))


def _no_robots(page: Page, context: Context, reason: FailReason, detail: str) -> Outcome:
    """Let hosts wait for their robots.txt, unless they have older rules or are dead."""
    again = context.robots_again
    state = State.FAILED if again is None else State.PENDING
    return _outcome(page, state, reason, detail, next_visit=again, failed=True)


def _redirect(page: Page, context: Context) -> Outcome:
    if page.redirect is None:
        is_too_long = len(page.headers["location"]) > MAX_URL_CHARS
        reason = FailReason.URL_TOO_LONG if is_too_long else FailReason.REDIRECTS_NOWHERE
        return _leads_nowhere(page, reason, context)
    return _follow(page, page.redirect, context)


def _plain(page: Page, target: Target, context: Context) -> Outcome:
    followed = _follow(page, target, context)
    return replace(followed, reason=SkipReason.NO_HTTPS, detail=label(page.error, page.detail))


def _leads_nowhere(page: Page, reason: FailReason, context: Context) -> Outcome:
    return _answered(page, State.FAILED, reason, counted=False, robots=context.robots("none"))


def _follow(page: Page, target: Target, context: Context) -> Outcome:
    lease = page.lease
    is_robots = lease.kind == Kind.ROBOTS
    if target.url == lease.url:
        if _may_get_in(page, target, context):
            return replace(_try_again(page, FailReason.COOKIE_REDIRECT, asked_seconds=0.0), failed=False)
        return _leads_nowhere(page, FailReason.REDIRECTS_TO_ITSELF, context)
    most = context.redirects + (MAX_PARTS if lease.found_in == BlockKind.PART else 0)
    if lease.hops >= (max(most, _ROBOTS_HOPS) if is_robots else most):
        return _leads_nowhere(page, FailReason.TOO_MANY_REDIRECTS, context)
    adopted = None
    is_wanted = lease.found_in == BlockKind.SEED and target.reason is None
    if is_wanted and lease.seed_id is not None and not page.scope.covers(target.host):
        adopted = (lease.seed_id, target.host)  # example.com sends its visitors to news.example.com
    if target.reason is SkipReason.OUTSIDE and lease.seed_id is not None and context.cookies.may_leave(page):
        target = target._replace(reason=None)
    new = outlinks.beside(
        page,
        target,
        context,
        # what a seed redirects to is the seed
        lease.found_in if lease.found_in in {BlockKind.SEED, BlockKind.PART} else BlockKind.REDIRECT,
        hops=lease.hops + 1,
        again=is_robots,
        anew=_may_get_in(page, target, context),
        legacy=lease.parts,
    )
    return _answered(
        page,
        State.SKIPPED,
        SkipReason.REDIRECT,
        counted=False,
        same_as=new.id,
        new_urls=(new,),
        links=Edges((new.id,), bytes([BlockKind.REDIRECT])) if not is_robots else NO_EDGES,
        seed_host=adopted,
    )


def _may_get_in(page: Page, target: Target, context: Context) -> bool:
    """Tell whether the target, asked with other cookies than before, may show a page."""
    is_new = context.cookies.is_new(target)
    if target.url == page.lease.url and page.lease.tries + 1 >= max(context.tries, context.redirects * bool(is_new)):
        return False
    return page.new_cookie if is_new is None else is_new


def _read(page: Page, context: Context) -> Outcome:
    lease, parsed = page.lease, page.parsed
    if parsed is None and page.unreadable is FailReason.NO_PROXY:  # for what it asked for while it was shown
        return replace(_try_again(page, page.unreadable, asked_seconds=HANDLES_PAUSE), tried=False)
    if parsed is None:
        return _answered(page, State.FAILED, page.unreadable or FailReason.NOT_READ, page.detail)
    refresh = parsed.refresh
    # else it only shows itself again
    if refresh is not None and (refresh.url != lease.url or _may_get_in(page, refresh, context)):
        return _follow(page, of_seed(refresh, lease, parsed.site_id), context)
    if lease.kind == Kind.PAGE and page.is_away:
        return _answered(page, State.SKIPPED, SkipReason.OUTSIDE, counted=False)
    return _found(page, parsed, context)


class _Kept(NamedTuple):
    reason: Reason | None
    """Reason for storing no article, or for doubting it."""
    detail: str = ""
    article: NewArticle | None = None
    place: Place | None = None
    beside: Sequence[NewUrl] = ()
    """Other pages of the article."""


def _found(page: Page, parsed: ParseResult, context: Context) -> Outcome:
    content = _refused(page, parsed, context) or _kept(page, parsed, context)
    new_urls, edges = _named(page, parsed, context, content.beside)
    reason, detail = content.reason, content.detail
    if parsed.reason is not None and not page.truncated:  # a list leads on, stored or not
        reason, detail = parsed.reason, ""
    canonical = parsed.canonical
    return _answered(
        page,
        State.DONE,
        reason,
        detail,
        article=content.article,
        place=content.place,
        same_as=canonical.id if canonical is not None and not canonical.reason else None,
        new_urls=new_urls,
        links=edges,
        raw=_raw(page, parsed, content.article),
        page_kind=parsed.kind.word,
        terms=None if parsed.relevance is None else (parsed.relevance, parsed.terms),
    )


def _refused(page: Page, parsed: ParseResult, context: Context) -> _Kept | None:
    if page.lease.kind != Kind.PAGE or not parsed.is_kept:
        return _Kept(FailReason.TRUNCATED if page.truncated else parsed.reason)
    if parsed.noindex and context.honours_noindex:
        return _Kept(PageReason.NOINDEX, _KEEPS_NOINDEX)
    if parsed.outdated is not None and not _is_stored(page.lease):
        return _Kept(parsed.outdated, parsed.metadata.published_at[: len("2024-03-12")])
    return _Kept(FailReason.TRUNCATED) if page.truncated else None


def _kept(page: Page, parsed: ParseResult, context: Context) -> _Kept:
    place, beside = _place(page, parsed, context) if parsed.is_leaf else (None, [])
    is_far = parsed.relevance is not None and parsed.relevance < context.focus.least
    reason, detail = _remark(parsed, is_far=is_far)
    # a part alone says too little of its article to be off topic
    is_off_topic = is_far and context.focus.drops and place is None
    if is_off_topic or (parsed.description.harm_kind and context.harmful is HarmPolicy.DROP):
        return _Kept(reason, detail)
    return _Kept(reason, detail, _article(page, parsed, context), place, beside)


def _named(
    page: Page, parsed: ParseResult, context: Context, beside: Sequence[NewUrl]
) -> tuple[Sequence[NewUrl], Edges]:
    new_urls = outlinks.links(page, parsed, context)
    edges = Edges(parsed.links.ids, parsed.links.blocks) if page.lease.kind == Kind.PAGE else NO_EDGES
    canonical = parsed.canonical
    if canonical is not None:
        new_urls.append(outlinks.beside(page, canonical, context, BlockKind.CANONICAL, legacy=page.lease.parts))
        if canonical.id not in edges.targets:
            edges = Edges((*edges.targets, canonical.id), edges.blocks + bytes([BlockKind.CANONICAL]))
    new_urls.extend(outlinks.sources(page, parsed, context))
    parts = {new.id for new in beside}
    return (*beside, *(new for new in new_urls if new.id not in parts)), edges


def _raw(page: Page, parsed: ParseResult, article: NewArticle | None) -> StoredPage | None:
    if parsed.raw is None and (article is None or page.archived is None):
        return None
    return StoredPage(
        page.headers.get("content-type", ""), parsed.encoding, parsed.raw or b"", page.archived, parsed.dom
    )


def _remark(parsed: ParseResult, *, is_far: bool) -> tuple[Reason | None, str]:
    if is_far:
        return PageReason.OFF_TOPIC, ""
    if parsed.description.harm_detail:
        return PageReason.HARMFUL, parsed.description.harm_detail
    return parsed.doubt, ""


def _is_stored(lease: Lease) -> bool:
    return lease.is_revisit and lease.reason not in {SkipReason.TOO_OLD, SkipReason.TOO_NEW}


def _article(page: Page, parsed: ParseResult, context: Context) -> NewArticle:
    meta, canonical = parsed.metadata, parsed.canonical
    return NewArticle(
        id=page.lease.id,
        site_id=parsed.site_id,
        title=meta.title,
        authors=JOINED_BY.join(meta.authors),
        source=meta.source,
        published_at=meta.published_at or None,
        published_utc=meta.published_utc or None,
        published_precision=meta.published_precision or None,
        published_from=meta.published_from or None,
        language=meta.language,
        text=parsed.extraction.text,
        html=parsed.extraction.html,
        description=meta.summary,
        tags=JOINED_BY.join(meta.keywords),
        section=meta.section,
        quality=parsed.extraction.confidence,
        relevance=parsed.relevance,
        extractor=context.extractor,
        extractor_version=context.extractor_version,
        text_hash=parsed.signature.exact,
        features=parsed.signature.features,
        length=parsed.signature.length,
        images=tuple((image.url, image.caption) for image in meta.images),
        kind=parsed.kind.word,
        kind_probability=parsed.probability,
        canonical_id=canonical.id if canonical is not None and not canonical.reason else None,
        seen=iso(page.fetched_at),
        **parsed.description.values(),
        index_terms=parsed.index_terms,
        text_from=parsed.text_from,
        related=join_stories(parsed.stories),
    )


def _place(page: Page, parsed: ParseResult, context: Context) -> tuple[Place | None, list[NewUrl]]:
    number = parsed.metadata.page_number
    following = _beside(page, parsed.next_part if number < MAX_PARTS else None, context)
    previous = _beside(page, parsed.previous_part, context)
    beside = [new for new in (following, previous) if new is not None]
    if not beside and number <= 1:
        return None, []
    next_id, previous_id = (None if new is None else new.id for new in (following, previous))
    return Place(min(max(0, number), _MOST_NUMBER), next_id, previous_id), beside


def _beside(page: Page, target: Target | None, context: Context) -> NewUrl | None:
    lease = page.lease
    passed = lease.hops if lease.found_in == BlockKind.PART else 0
    if target is None or passed >= MAX_PARTS or context.disallow_reason(lease.host_id, target.url):
        return None
    return outlinks.beside(page, target, context, BlockKind.PART, hops=passed + 1)


def leads_home(outcome: Outcome) -> bool:
    """Tell whether a page redirects to another URL on its own host."""
    moved = outcome.state == State.SKIPPED and outcome.same_as is not None
    return moved and any(new.id == outcome.same_as and new.host_id == outcome.lease.host_id for new in outcome.new_urls)


def depth_memory(outcome: Outcome) -> Iterable[tuple[int, int]]:
    """Yield depths for `KnownUrls` of a stored page; those of skipped URLs are huge."""
    for new in outcome.new_urls:
        yield new.id, new.depth if not new.reason else 1 << 30
