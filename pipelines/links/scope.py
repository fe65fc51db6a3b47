"""Scope of a seed's crawl, and a page's links resolved for the frontier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from db.records.keys import fingerprint
from db.records.reasons import SkipReason

from ..records import Links
from ..traps.patterns import Key, disallow_reason
from ..url_rules.forms import folder_key, unpack
from ..urls import file_type, host_key, same_host, site_key

STAYS = ("host", "site", "any")
"""How far a crawl may leave its seed: not the host, not the registrable domain, or anywhere."""


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


@dataclass(frozen=True, slots=True)
class Targets:
    """Links of a page for the frontier: parallel columns, in the order of `Links`.

    Attributes:
        ids: fingerprints of the URLs.
        host_of: index into the host columns.
        reasons: why a link is not followed, None for one that is.
        traps: the kind of trap of each whose reason is that, empty for the others; none when traps are not looked for.
        host_ids, hosts, site_ids, sites: the distinct hosts.
        forms: the normal form of each under the rules of the page's host, None for links to other hosts; empty when the
            host has no rules.
        folders: number of the folder pattern of each (`pipelines.url_rules.forms`), 0 for links to other hosts; empty
            when traps are not looked for.
    """

    ids: tuple[int, ...] = ()
    host_of: tuple[int, ...] = ()
    reasons: tuple[SkipReason | None, ...] = ()
    traps: tuple[str, ...] = ()
    host_ids: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    site_ids: tuple[int, ...] = ()
    sites: tuple[str, ...] = ()
    forms: tuple[int | None, ...] = ()
    folders: tuple[int, ...] = ()


NO_TARGETS = Targets()


@lru_cache(maxsize=65_536)
def host_identity(host: str) -> tuple[int, int, str]:
    """Return the identifiers of a host and its site, and the site's name."""
    site = site_key(host)
    return fingerprint(host), fingerprint(site), site


def resolve(
    links: Links, scope: Scope, own: str = "", rules: str = "", blocked: Mapping[Key, str] | None = None
) -> Targets:
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
    return Targets(
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
