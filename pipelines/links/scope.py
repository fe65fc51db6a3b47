"""Scope of a seed's crawl, and a page's links resolved for the frontier."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from db.records.keys import fingerprint
from db.records.reasons import SkipReason
from db.records.url import Kind

from ..records import Links, ParseResult, Target
from ..traps.patterns import Key, disallow_reason
from ..url_rules.forms import folder_key, unpack
from ..urls import file_type, host_key, same_host, site_key

STAYS = ("host", "site", "any")
"""Bounds of a crawl around its seed: the host, the registrable domain, or none."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Hosts that a seed's crawl may visit.

    Attributes:
        stay: "host" (the seed's hosts, "www." ignored), "site" (their registrable domains) or "any".
        hosts: host keys that count as the seed's own.
    """

    stay: str
    hosts: tuple[str, ...]

    def covers(self, host: str) -> bool:
        """Tell whether pages of a host may be fetched."""
        if self.stay == "any":
            return True
        if self.stay == "site":
            return site_key(host) in {site_key(own) for own in self.hosts}
        return any(same_host(host, own) for own in self.hosts)


@lru_cache(maxsize=65_536)
def host_identity(host: str) -> tuple[int, int, str]:
    """Return the identifiers of a host and its site, and the site's name."""
    site = site_key(host)
    return fingerprint(host), fingerprint(site), site


def url_id(url: str, kind: str) -> int:
    """Return the identifier of a URL fetched for a purpose.

    A page that is named as a feed, too, is two rows.
    """
    return fingerprint(url if kind == Kind.PAGE else f"{kind} {url}")


def identify(url: str, kind: str = Kind.PAGE, scope: Scope | None = None) -> Target:
    """Find identity and host of a single URL, and whether it is outside of a scope."""
    host = host_key(url)
    reason = None if scope is None or scope.covers(host) else SkipReason.OUTSIDE
    host_id, site_id, site = host_identity(host)
    return Target(url, kind, url_id(url, kind), host_id, host, site_id, site, reason)


def identify_redirect(url: str, kind: str, scope: Scope) -> Target:
    """Identify the target of a redirect; robots.txt may be anywhere."""
    target = identify(url, kind, None if kind == Kind.ROBOTS else scope)
    return target._replace(reason=SkipReason.FILE) if kind == Kind.PAGE and file_type(url) else target


def resolve_page(
    parsed: ParseResult,
    url: str,
    scope: Scope,
    *,
    sitemaps: Iterable[str] = (),
    rules: str = "",
    blocked: Mapping[Key, str] | None = None,
) -> ParseResult:
    """Find identity, host and skip reason of every URL that a document names.

    Args:
        parsed: the document.
        url: its own URL.
        scope: where its links may lead.
        sitemaps: those it names.
        rules: see `resolve`.
        blocked: see `resolve`.

    Cost: that of `resolve`, and some ten microseconds.
    """
    own, meta = host_key(url), parsed.metadata
    links = resolve(parsed.links, scope, own, rules, blocked)
    canonical = meta.canonical if meta.canonical != url else ""
    feeds = [identify(feed, Kind.FEED, scope) for feed in parsed.feeds]
    return replace(
        parsed,
        links=links,
        # a page cannot give its identity away: on another host a canonical URL is an edge and nothing else
        canonical=identify(canonical, scope=Scope("host", (own,))) if canonical else None,
        refresh=identify_redirect(parsed.sends_to, Kind.PAGE, scope) if parsed.sends_to else None,
        next_part=_find_part(meta.next_page, url, links),
        previous_part=_find_part(meta.previous_page, url, links),
        sources=(*feeds, *(identify(sitemap, Kind.SITEMAP, scope) for sitemap in sitemaps)),
        site_id=host_identity(own)[1],
    )


def _find_part(url: str, page_url: str, links: Links) -> Target | None:
    """Identify another part of an article, if it may be fetched: on the same host."""
    if not url or url == page_url or host_key(url) != host_key(page_url):
        return None
    part = identify(url)
    reason = links.reasons[links.ids.index(part.id)] if part.id in links.ids else None
    return part if reason in {None, SkipReason.TRAP} else None


def resolve(
    links: Links, scope: Scope, own: str = "", rules: str = "", blocked: Mapping[Key, str] | None = None
) -> Links:
    """Find identity, host and skip reason of every link of a page.

    Args:
        links: of the page.
        scope: where they may lead.
        own: host of the page.
        rules: of that host's URLs, see `pipelines.url_rules.forms.pack`.
        blocked: patterns of that host's URLs that are traps, with their kinds; None when they are not looked for.

    Cost: a few microseconds a link, and ten for one that rules may touch; scope and site are decided once per host.
    """
    ids, host_of = [], []
    reasons: list[SkipReason | None] = []
    number_of: dict[str, int] = {}
    covered: list[bool] = []
    for url, nofollow in zip(links.urls, links.nofollow, strict=True):
        host = host_key(url)
        number = number_of.get(host)
        if number is None:
            number = number_of[host] = len(number_of)
            covered.append(scope.covers(host))
        ids.append(fingerprint(url))
        host_of.append(number)
        if not covered[number]:
            reasons.append(SkipReason.OUTSIDE)
        elif file_type(url):
            reasons.append(SkipReason.FILE)
        else:
            reasons.append(SkipReason.NOFOLLOW if nofollow else None)
    forms: list[int | None] = []
    if rules and own in number_of:
        key_of, inside = unpack(rules).key, number_of[own]
        forms = [key_of(url) if n == inside else None for url, n in zip(links.urls, host_of, strict=True)]
    folders: list[int] = []
    traps: list[str] = []
    if blocked is not None:
        inside = number_of.get(own, -1)
        folders = [folder_key(url) if n == inside else 0 for url, n in zip(links.urls, host_of, strict=True)]
        traps = [
            disallow_reason(url, blocked) if reason is None and n == inside else ""
            for reason, url, n in zip(reasons, links.urls, host_of, strict=True)
        ]
        reasons = [SkipReason.TRAP if trap else reason for reason, trap in zip(reasons, traps, strict=True)]
    identities = [host_identity(host) for host in number_of]
    return replace(
        links,
        ids=tuple(ids),
        host_of=tuple(host_of),
        reasons=tuple(reasons),
        traps=tuple(traps),
        host_ids=tuple(identity[0] for identity in identities),
        hosts=tuple(number_of),
        site_ids=tuple(identity[1] for identity in identities),
        sites=tuple(identity[2] for identity in identities),
        forms=tuple(forms),
        folders=tuple(folders),
    )
