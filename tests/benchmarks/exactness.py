"""Was a crawl by several processes exact? What the database holds, and what the web server saw, is judged here.

`database_checks` reads the tables, `wire_checks` the access log. Each answers with a list of checks, which have a
name, what is wanted, what was found and whether that is right.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text

from .static_site import CLIENT_GONE, Request, Site

DELAY_TOLERANCE = 0.05
"""Seconds by which the server's clock may see a pause shorter than it was."""
_LATE_NEWS = 0.02
"""Seconds after which the server knows at the latest that a client is gone."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that has to be right."""

    name: str
    wanted: object
    found: object
    good: bool
    note: str = ""


def equal(name: str, wanted: object, found: object, note: str = "") -> Check:
    """A check that two values are the same."""
    return Check(name, wanted, found, wanted == found, note)


# ---------------------------------------------------------------- the database


def database_checks(
    connections: Sequence[Connection], site: Site, *, max_pages: int | None, max_pages_per_host: int | None
) -> list[Check]:
    """Everything stored, everything once, every counter true, in all databases of the crawl together.

    A page is counted when it was answered and is no redirect. With a limit the crawl ends in its middle: then the
    number of pages is what has to be exact, and nothing else may be missing from them.
    """

    def rows(query: str) -> Sequence[tuple]:
        return [tuple(row) for connection in connections for row in connection.execute(text(query))]

    def total(query: str) -> int:
        return sum(n for (n,) in rows(query))

    pages = rows("SELECT id, url, state, http_status, host_id FROM url WHERE kind = 'page'")
    known = Counter(host_id for *_, host_id in pages)
    counted = [
        (key, url, state, host_id)
        for key, url, state, status, host_id in pages
        if state in {"done", "failed"} and status and status // 100 != 3
    ]
    per_host = Counter(host_id for *_, host_id in counted)
    done = {key: url for key, url, state, _ in counted if state == "done"}
    reachable = sum(min(n, max_pages_per_host or n) for n in known.values())
    limited = max_pages is not None or max_pages_per_host is not None
    states = ", ".join(f"{n} {state}" for state, n in sorted(Counter(state for _, _, state, *_ in pages).items()))

    articles = rows("SELECT a.id, u.url, a.duplicate_of FROM article a JOIN url u ON u.id = a.id")
    links = dict(rows("SELECT source, count(*) FROM link GROUP BY source"))
    hosts = rows("SELECT id, pages, articles FROM host")
    articles_per_host = Counter(host_id for key, _, _, host_id in counted if key in {a for a, *_ in articles})
    checks = [
        *([] if limited else [equal("pages known", site.pages, len(pages))]),
        equal("pages counted", min(reachable, max_pages or reachable), len(counted), states),
        equal("of them stored (done)", len(counted), len(done)),
        equal("articles", len(counted), total("SELECT count(*) FROM article")),
        equal("their different URLs", len(counted), len({url for _, url, _ in articles})),
        equal("pages done without article", 0, len(set(done) - {key for key, *_ in articles})),
        equal("articles that repeat another", 0, sum(of is not None for *_, of in articles)),
        equal("rows of duplicates", 0, total("SELECT count(*) FROM duplicate")),
        equal("pages that lack links", 0, sum(links.get(key, 0) != _links(site, url) for key, url in done.items())),
        equal("URLs still leased", 0, total("SELECT count(*) FROM url WHERE state = 'leased'")),
        equal("URLs with a holder", 0, total("SELECT count(*) FROM url WHERE leased_by IS NOT NULL")),
        equal(
            "messages that were not read", 0, total("SELECT count(*) FROM outbox") + total("SELECT count(*) FROM inbox")
        ),
        equal("budget.pages", len(counted), total("SELECT pages FROM budget")),
        equal("hosts with a wrong count of pages", 0, sum(n != per_host[key] for key, n, _ in hosts)),
        equal("hosts with a wrong count of articles", 0, sum(n != articles_per_host[key] for key, _, n in hosts)),
    ]
    if max_pages_per_host is not None:
        checks.append(equal("hosts beyond their limit", 0, sum(n > max_pages_per_host for n in per_host.values())))
    return checks


def _links(site: Site, url: str) -> int:
    """How many different pages the one at a URL links to; a link to itself is none."""
    number = page_number(url)
    return len(set(site.targets(number)) - {number})


def page_number(address: str) -> int:
    """The number of the page at an address or a path."""
    return int(address.rpartition("/")[2].removesuffix(".html"))


# ---------------------------------------------------------------- the wire


@dataclass(slots=True)
class Life:
    """One process of the crawl, from its start to its end.

    Attributes:
        slot: the place among the processes; one that is killed is followed by another in the same place.
        pid: its identifier, also that of its session.
        started, killed: times of the monotonic clock; `killed` is None for one that ended by itself.
        exit_code: None while it runs.
    """

    slot: int
    pid: int
    started: float
    killed: float | None = None
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The pages (by number) that were stored for certain at a time of the monotonic clock."""

    time: float
    done: frozenset[int]


def life_of(request: Request, lives: Iterable[Life]) -> Life | None:
    """The process that sent a request: its place stands in the User-Agent.

    A request of a killed process may be seen a moment after its successor has started; the successor needs longer than
    that for its own first request.
    """
    slot = request.agent.partition("process-")[2].partition("@")[0]
    own = [life for life in lives if str(life.slot) == slot and life.started + 0.3 <= request.start]
    return max(own, key=lambda life: life.started, default=None)


def neighbours(log: Iterable[Request]) -> Iterator[tuple[Request, Request]]:
    """Requests to the same host that follow each other, pair by pair."""
    hosts: dict[str, list[Request]] = defaultdict(list)
    for request in log:
        hosts[request.host].append(request)
    for own in hosts.values():
        yield from itertools.pairwise(sorted(own, key=lambda request: request.start))


def overlaps(log: Iterable[Request]) -> list[tuple[Request, Request]]:
    """Pairs of requests to one host that were under way at the same time."""
    hosts: dict[str, Request] = {}
    found = []
    for request in sorted(log, key=lambda request: request.start):
        before = hosts.get(request.host)
        if before is not None:
            late = _LATE_NEWS if before.status == CLIENT_GONE else 0.0
            if request.start < before.end - late:
                found.append((before, request))
        if before is None or request.end > before.end:
            hosts[request.host] = request
    return found


def early(log: Iterable[Request], delay: float) -> list[tuple[Request, Request]]:
    """Pairs of requests to one host of which the second came too early after the end of the first."""
    return [(a, b) for a, b in neighbours(log) if b.start - a.end < delay - DELAY_TOLERANCE]


def repeats(log: Iterable[Request]) -> dict[str, list[Request]]:
    """Pages that were asked for more than once: path -> requests in order."""
    pages: dict[str, list[Request]] = defaultdict(list)
    for request in sorted(log, key=lambda request: request.start):
        if request.path.startswith("/p/"):
            pages[request.path].append(request)
    return {path: requests for path, requests in pages.items() if len(requests) > 1}


def wire_checks(
    log: Sequence[Request], lives: Sequence[Life], snapshots: Sequence[Snapshot], *, delay: float
) -> list[Check]:
    """No host asked twice at a time or too early, no page again but those that a killed process had in hand."""
    together = overlaps(log)
    again = repeats(log)
    unprovoked = 0
    by_kill: Counter[int] = Counter()
    for request in (request for requests in again.values() for request in requests[:-1]):
        life = life_of(request, lives)
        if life is None or life.killed is None:
            unprovoked += 1
        else:
            by_kill[life.pid] += 1
    stored = sum(
        request.start > snapshot.time and page_number(path) in snapshot.done
        for snapshot in snapshots
        for path, requests in again.items()
        for request in requests
    )
    broken = sum(request.status == CLIENT_GONE for request in log)
    most = max(by_kill.values(), default=0)
    note = f"{len(again)} pages fetched again, at most {most} after one kill; {broken} requests broken by kills"
    checks = [
        equal("two requests at once to a host", 0, len(together), _who(together, lives)),
        equal("pages fetched again without a kill", 0, unprovoked, note),
        equal("pages fetched again though stored", 0, stored),
    ]
    if delay > 0:
        pairs = early(log, delay)
        least = min((b.start - a.end for a, b in neighbours(log)), default=delay)
        note = f"shortest pause {least:.3f} s{', ' if pairs else ''}{_who(pairs, lives)}"
        checks.append(equal("requests too early", 0, len(pairs), note))
    return checks


def _who(pairs: Sequence[tuple[Request, Request]], lives: Sequence[Life]) -> str:
    """Whether the two requests of each pair came from one process, from two, or the first from one that was killed."""
    kinds: Counter[str] = Counter()
    for a, b in pairs:
        first, second = life_of(a, lives), life_of(b, lives)
        if first is not None and first is second:
            kinds["of one process"] += 1
        elif first is not None and first.killed is not None and first.killed <= b.start:
            kinds["after a kill"] += 1
        else:
            kinds["of two living processes"] += 1
    return ", ".join(f"{n} {kind}" for kind, n in kinds.items())
