"""Scope of a seed's crawl, and a page's links resolved for the frontier.

It runs in workers. Times are looked for in URLs only when the crawl has a period.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

from db.records.article import GUESS
from db.records.keys import fingerprint
from db.records.reasons import SkipReason
from db.records.url import Kind

from ..dates.parse import read_url_span
from ..dates.period import Period
from ..records import BlockKind, Links, ParseResult, Target
from ..url_rules.forms import folder_key, unpack
from ..url_rules.trap_patterns import Key, disallow_reason
from ..urls import file_type, host_key, same_host, site_key

STAYS = ("path", "host", "site", "any")
ALWAYS = Period()
_MOST_DETAIL = 100
_FEWEST_ITEMS = 3


@dataclass(frozen=True, slots=True)
class Scope:
    """Pages that a seed's crawl may visit.

    Attributes:
        stay: "host" (the seed's hosts, "www." ignored), "path" (the same), "site" (their registrable domains), "any".
        below: folder that pages must stand in, with a slash at its end; empty for any.
        include, exclude: patterns of paths, see `path_rules`; without any in `include` all are included.
        bare: http may be tried where https cannot be had.
    """

    stay: str
    hosts: tuple[str, ...]
    below: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    period: Period = ALWAYS
    bare: bool = False

    def covers(self, host: str) -> bool:
        if self.stay == "any":
            return True
        if self.stay == "site":
            return site_key(host) in {site_key(seed_host) for seed_host in self.hosts}
        return any(same_host(host, seed_host) for seed_host in self.hosts)

    def permits(self, url: str) -> bool:
        return self.covers(host_key(url)) and not self.refuses(url)

    def refuses(self, url: str) -> str:
        refuse = path_rules(self.below, self.include, self.exclude)
        return "" if refuse is None else refuse(url)


def folder_of(url: str) -> str:
    """Return the folder of a URL, with a slash; a last part without a dot is one.

    >>> folder_of("http://h.cn/news"), folder_of("http://h.cn/news/index.html")
    ('/news/', '/news/')
    """
    path = _path_of(url).partition("?")[0]
    folder, slash, last = path.rpartition("/")
    return folder + slash if not last or "." in last else path + "/"


@lru_cache(maxsize=1024)
def path_rules(below: str, include: tuple[str, ...], exclude: tuple[str, ...]) -> Callable[[str], str] | None:
    """Return a function from a URL to the rule that it breaks; None without rules.

    A pattern is the beginning of a path with its query; as in robots.txt, `*` is any text and `$` the end.

    >>> path_rules("", ("/news/",), ("*.php$",))("http://h.cn/news/a.php")
    'exclude=*.php$'
    """
    if not (below or include or exclude):
        return None
    wanted = re.compile("|".join(map(_expression, include))) if include else None
    unwanted = re.compile("|".join(f"({_expression(pattern)})" for pattern in exclude)) if exclude else None

    def refuse(url: str) -> str:
        path = _path_of(url)
        if below and not (path.partition("?")[0] + "/").startswith(below):
            return f"stay=path {below}"[:_MOST_DETAIL]
        if unwanted is not None and (match := unwanted.match(path)):
            return f"exclude={exclude[(match.lastindex or 1) - 1]}"[:_MOST_DETAIL]
        if wanted is not None and not wanted.match(path):
            return f"include={','.join(include)}"[:_MOST_DETAIL]
        return ""

    return refuse


def _expression(pattern: str) -> str:
    end = "$" if pattern.endswith("$") else ""
    return ".*".join(map(re.escape, re.split(r"\*+", pattern.removesuffix("$")))) + end


def _path_of(url: str) -> str:
    return url[url.find("/", 8) :]


@lru_cache(maxsize=65_536)
def host_identity(host: str) -> tuple[int, int, str]:
    site = site_key(host)
    return fingerprint(host), fingerprint(site), site


@lru_cache(maxsize=8192)
def _identity(url: str) -> tuple[int, str, bool]:
    """Return identifier and host of a page, and whether its URL is that of a file."""
    return fingerprint(url), sys.intern(host_key(url)), bool(file_type(url))


def url_id(url: str, kind: str) -> int:
    """Return the identifier of a URL; a page that is also named as a feed has two."""
    return fingerprint(url if kind == Kind.PAGE else f"{kind} {url}")


def identify(url: str, kind: str = Kind.PAGE, scope: Scope | None = None) -> Target:
    """Find identity and host of a URL, and whether it is outside of a scope.

    Path rules apply to pages only: feeds and sitemaps name pages of all folders.
    """
    host = host_key(url)
    reason = None if scope is None or scope.covers(host) else SkipReason.OUTSIDE
    detail = "" if reason or scope is None or kind != Kind.PAGE else scope.refuses(url)
    host_id, site_id, site = host_identity(host)
    reason = SkipReason.EXCLUDED if detail else reason
    return Target(url, kind, url_id(url, kind), host_id, host, site_id, site, reason, detail)


def identify_redirect(url: str, kind: str, scope: Scope) -> Target:
    target = identify(url, kind, None if kind == Kind.ROBOTS else scope)
    return target._replace(reason=SkipReason.FILE, detail="") if kind == Kind.PAGE and file_type(url) else target


def resolve_page(
    parsed: ParseResult,
    url: str,
    scope: Scope,
    *,
    sitemaps: Iterable[str] = (),
    rules: str = "",
    blocked: Mapping[Key, str] | None = None,
    now: float = 0.0,
    newest: float | None = None,
) -> ParseResult:
    """Find identity, host and skip reason of every URL that a document names.

    `now` is Unix time, needed when the scope has a period; `newest` that of the newest item that a list shows, None
    when unknown. For `rules` and `blocked` see `resolve`.
    """
    own_host, meta = host_key(url), parsed.metadata
    links = resolve(parsed.links, scope, own_host, rules, blocked)
    outdated = None
    if scope.period:
        links, is_old = _in_period(links, scope.period, now, newest)
        if is_old and not parsed.is_leaf:
            links = _without_pages(links)
        outdated = scope.period.refuses(meta.published_at, now) if parsed.is_leaf else None
        if outdated is SkipReason.TOO_NEW and meta.published_precision == GUESS:
            outdated = None  # of an earlier year it may be wanted
    canonical = meta.canonical if meta.canonical != url else ""
    feeds = [identify(feed, Kind.FEED, scope) for feed in parsed.feeds]
    return replace(
        parsed,
        links=links,
        # a page cannot give its identity away: on another host a canonical URL is an edge and nothing else
        canonical=identify(canonical, scope=replace(scope, stay="host", hosts=(own_host,))) if canonical else None,
        refresh=identify_redirect(parsed.sends_to, Kind.PAGE, scope) if parsed.sends_to else None,
        next_part=_find_part(meta.next_page, url, links),
        previous_part=_find_part(meta.previous_page, url, links),
        sources=(*feeds, *(identify(sitemap, Kind.SITEMAP, scope) for sitemap in sitemaps)),
        site_id=host_identity(own_host)[1],
        outdated=outdated,
    )


def _find_part(url: str, page_url: str, links: Links) -> Target | None:
    if not url or url == page_url or host_key(url) != host_key(page_url):
        return None
    part = identify(url)
    reason = links.reasons[links.ids.index(part.id)] if part.id in links.ids else None
    return part if reason in {None, SkipReason.TRAP} else None


def resolve(
    links: Links, scope: Scope, own: str = "", rules: str = "", blocked: Mapping[Key, str] | None = None
) -> Links:
    """Find identity, host and skip reason of every link of a page.

    `rules` (see `pipelines.url_rules.forms.pack`) and `blocked` (patterns of traps, with their kinds) belong to the
    page's host, `own`; None in `blocked`: traps are not looked for.

    Cost: a few microseconds a link, and ten for one that rules may touch; scope and site are decided once per host.
    """
    ids, host_of = [], []
    reasons: list[SkipReason | None] = []
    number_of: dict[str, int] = {}
    covered: list[bool] = []
    details: list[str] = []
    refuse = path_rules(scope.below, scope.include, scope.exclude)
    for url, nofollow in zip(links.urls, links.nofollow, strict=True):
        identifier, host, is_file = _identity(url)
        number = number_of.get(host)
        if number is None:
            number = number_of[host] = len(number_of)
            covered.append(scope.covers(host))
        ids.append(identifier)
        host_of.append(number)
        if not covered[number]:
            reasons.append(SkipReason.OUTSIDE)
        elif is_file:
            reasons.append(SkipReason.FILE)
        else:
            reasons.append(SkipReason.NOFOLLOW if nofollow else None)
    forms: list[int | None] = []
    if rules and own in number_of:
        key_of, inside = unpack(rules).key, number_of[own]
        forms = [key_of(url) if n == inside else None for url, n in zip(links.urls, host_of, strict=True)]
    if refuse is not None:
        details = [
            refuse(url) if reason is None or reason is SkipReason.NOFOLLOW else ""
            for reason, url in zip(reasons, links.urls, strict=True)
        ]
        reasons = [SkipReason.EXCLUDED if d else reason for reason, d in zip(reasons, details, strict=True)]
    folders: list[int] = []
    if blocked is not None:
        inside = number_of.get(own, -1)
        folders = [folder_key(url) if n == inside else 0 for url, n in zip(links.urls, host_of, strict=True)]
        traps = [
            disallow_reason(url, blocked) if reason is None and n == inside else ""
            for reason, url, n in zip(reasons, links.urls, host_of, strict=True)
        ]
        reasons = [SkipReason.TRAP if trap else reason for reason, trap in zip(reasons, traps, strict=True)]
        details = [trap or d for trap, d in zip(traps, details, strict=True)] if details else traps
    identities = [host_identity(host) for host in number_of]
    return replace(
        links,
        ids=tuple(ids),
        host_of=tuple(host_of),
        reasons=tuple(reasons),
        details=tuple(details),
        host_ids=tuple(identity[0] for identity in identities),
        hosts=tuple(number_of),
        site_ids=tuple(identity[1] for identity in identities),
        sites=tuple(identity[2] for identity in identities),
        forms=tuple(forms),
        folders=tuple(folders),
    )


def _in_period(links: Links, period: Period, now: float, newest: float | None) -> tuple[Links, bool]:
    """Refuse links dated outside of a period; return whether all items are too old.

    The date in a feed or sitemap may be that of a change, which does not make a page too new.
    Cost: a microsecond a link inside, ten for one with a year in it.
    """
    since, until = period.span(now)
    moment = datetime.fromtimestamp(now, UTC)
    reasons, details = list(links.reasons), list(links.details or [""] * len(links))
    items = fresh = 0
    for i, url in enumerate(links.urls):
        if reasons[i] is SkipReason.OUTSIDE:
            continue
        stated = links.dates[i] if links.dates else 0.0
        span = (stated, stated) if stated else read_url_span(url, moment)
        if span is None:
            continue
        is_changed = bool(stated and links.changed and links.changed[i] == stated)
        reason = None
        if span[1] < since:
            reason = SkipReason.TOO_OLD
        elif span[0] > until and not is_changed:
            reason = SkipReason.TOO_NEW
        is_item = links.blocks[i] not in _NO_ITEMS
        items += is_item
        fresh += is_item and reason is not SkipReason.TOO_OLD
        if reason is not None and reasons[i] is None:
            reasons[i] = reason
            details[i] = f"{datetime.fromtimestamp(span[0], UTC):%Y-%m-%d}"
    is_old = not fresh and (items >= _FEWEST_ITEMS if newest is None else newest < since)
    return replace(links, reasons=tuple(reasons), details=tuple(details)), is_old


def _without_pages(links: Links) -> Links:
    """Refuse further pages of a list whose items are too old: theirs are older still."""
    old = [
        block == BlockKind.PAGINATION and reason is None
        for block, reason in zip(links.blocks, links.reasons, strict=True)
    ]
    reasons = (SkipReason.TOO_OLD if is_old else reason for is_old, reason in zip(old, links.reasons, strict=True))
    details = (_AS_ITEMS if is_old else detail for is_old, detail in zip(old, links.details, strict=True))
    return replace(links, reasons=tuple(reasons), details=tuple(details))


_NO_ITEMS = frozenset({BlockKind.NAVIGATION, BlockKind.PAGINATION, BlockKind.FOOTER})
_AS_ITEMS = "as all items of the list"
