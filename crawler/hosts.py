"""What a run knows of its hosts and seeds: robots rules, failures in a row, and where each seed's crawl may go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from db.found import NewUrl
from db.frontier import Claim
from db.keys import fingerprint
from db.ownership import OwnedHost
from db.runs import SeedRow
from db.tables import Kind
from pipelines.records import BlockKind
from pipelines.scope import Scope
from pipelines.stages import Page
from pipelines.urls import canonicalize, host_key, same_host

from .outcomes import OUT_OF_HANDLES
from .outlinks import new_url
from .politeness import Pauses, Rules, retry_after, retry_pause
from .rank.priority import Priority

_ROBOTS_SECONDS = 86_400.0
_LONGEST_REST = 30.0
_REASONS = {"unreachable": "robots unreachable", "refused": "address not allowed"}


class Hosts:
    """Robots rules and health of the hosts a run owns.

    Args:
        pauses: our own delay and how much of a robots crawl-delay is honoured.
        most_failures: so many failures in a row and the host is left alone.
        agent: the product token that robots.txt knows us by.
    """

    def __init__(self, pauses: Pauses, most_failures: int, agent: str) -> None:
        self._pauses = pauses
        self._most_failures = most_failures
        self._agent = agent
        self._rules: dict[int, Rules] = {}
        self._failures: Counter[int] = Counter()
        self._robots_for: dict[int, set[int]] = {}

    def take_over(self, host: OwnedHost, now: float) -> bool:
        """Learn what the table knows of a host; returns whether its rules are known and fresh."""
        self._failures[host.id] = 0  # in a row, in this run
        fresh = host.robots_at is not None and now - host.robots_at < _ROBOTS_SECONDS
        if host.robots == "unknown" or not fresh:
            return False
        self.set_rules(host.id, host.robots, host.robots_text or "")
        return True

    def forget(self, host_id: int) -> None:
        """The host is owned no longer."""
        self._rules.pop(host_id, None)
        del self._failures[host_id]

    def set_rules(self, host_id: int, kind: str, text: str) -> Rules:
        """New rules, in the words of `Outcome.robots`."""
        rules = Rules(text if kind == "rules" else "", self._agent, _REASONS.get(kind, ""))
        self._rules[host_id] = rules
        return rules

    def pause(self, host_id: int) -> float:
        """Seconds between two requests to a host that answers well."""
        return self._pauses.between(self._rules.get(host_id))

    def objection(self, host_id: int, url: str) -> str:
        """Why a URL must not be fetched, or an empty string. Called from the database thread."""
        return self._rules[host_id].objection(url)

    def foreseen(self, host_id: int, url: str) -> str:
        """The objection that is known now: another run may have taken the host over meanwhile, and its rules."""
        rules = self._rules.get(host_id)
        return "" if rules is None else rules.objection(url)

    def closed(self, host_id: int) -> str:
        """Why nothing of a host may be fetched, or an empty string. Called from the database thread."""
        return self._rules[host_id].reason

    def is_closed(self, host_id: int) -> bool:
        """Whether nothing of a host may be fetched."""
        rules = self._rules.get(host_id)
        return rules is not None and bool(rules.reason)

    def answered(self, page: Page) -> float:
        """Note how a request went; returns the seconds until the host may be asked again."""
        host_id = page.claim.host_id
        trouble = page.error not in {"", OUT_OF_HANDLES} or page.status == 429 or page.status >= 500
        failures = self._failures[host_id] = self._failures[host_id] + 1 if trouble else 0
        if failures >= self._most_failures:
            self._rules[host_id] = Rules("", self._agent, "host unreachable")
        pause = self.pause(host_id)
        if page.status in {429, 503}:
            asked = retry_after(page.headers.get("retry-after", ""), page.fetched_at)
            return max(pause, asked if asked is not None else retry_pause(failures))
        return max(pause, min(_LONGEST_REST, retry_pause(failures))) if failures > 1 else pause

    def hosts_of_robots(self, claim: Claim) -> tuple[int, ...]:
        """The hosts whose rules a robots.txt is: its own, and those whose robots.txt redirected to it."""
        own = {claim.host_id} if claim.kind == Kind.ROBOTS and claim.url.endswith("/robots.txt") else set()
        return tuple(sorted(own | self._robots_for.get(claim.id, set())))

    def robots_moved(self, claim: Claim, target: int | None) -> None:
        """A robots.txt has been answered: from now on, or after a redirect, its target speaks for the same hosts."""
        hosts = self.hosts_of_robots(claim)
        self._robots_for.pop(claim.id, None)
        if target is not None:
            self._robots_for.setdefault(target, set()).update(hosts)


class Seeds:
    """Where each seed's crawl may go and how deep.

    Args:
        rows: the seeds as stored.
        depth: `MAX_DEPTH`, for seeds without a depth of their own.
    """

    def __init__(self, rows: Iterable[SeedRow], depth: int | None) -> None:
        self._rows: dict[int, SeedRow] = {}
        self._scopes: dict[int, Scope] = {}
        self._most_depth = depth
        self.learn(rows)

    def learn(self, rows: Iterable[SeedRow]) -> None:
        """Seeds as the table has them now: other processes bring their own, and hosts that theirs redirected to."""
        for row in rows:
            if self._rows.get(row.id) != row:
                self._rows[row.id] = row
                self._scopes[row.id] = Scope(row.stay, row.hosts)

    def scope_of(self, claim: Claim) -> Scope:
        """Where the links of a claim's page may lead."""
        own = Scope("host", (host_key(claim.url),))
        return own if claim.seed_id is None else self._scopes.get(claim.seed_id, own)

    def depth_of(self, seed_id: int | None) -> int | None:
        """How many links from the seed may be followed; None for no limit."""
        row = self._rows.get(seed_id) if seed_id is not None else None
        return self._most_depth if row is None or row.depth is None else row.depth

    def owns(self, host: str) -> bool:
        """Whether a host is one that some seed means, and not only one that its pages lead to."""
        return any(
            scope.covers(host) if scope.stay != "any" else any(same_host(host, own) for own in scope.hosts)
            for scope in self._scopes.values()
        )

    def adopt(self, seed_id: int, host: str) -> None:
        """A further host counts as the seed's own."""
        scope = self._scopes.get(seed_id)
        if scope is not None:
            self._scopes[seed_id] = Scope(scope.stay, (*scope.hosts, host))

    def sitemaps(self, host: str, base: str, named: Sequence[str], *, priority: Priority, now: float) -> list[NewUrl]:
        """Sitemaps of a host, if it is a seed's own: those its robots.txt names, else the usual place."""
        seed_id = next((key for key, scope in self._scopes.items() if host in scope.hosts), None)
        if seed_id is None or self.depth_of(seed_id) == 0:
            return []
        urls = [url for url in (canonicalize(text, base) for text in named) if url]
        urls = urls or [url for url in [canonicalize("/sitemap.xml", base)] if url]
        return [
            new_url(
                url,
                Kind.SITEMAP,
                priority=priority,
                depth=0,
                found_in=BlockKind.SITEMAP,
                now=now,
                seed_id=seed_id,
                reason="" if self._scopes[seed_id].covers(host_key(url)) else "outside",
            )
            for url in urls
        ]


def seed_row(url: str, *, stay: str, depth: int | None, pages: int | None, topic: str) -> SeedRow:
    """A seed as it is stored."""
    return SeedRow(fingerprint(url), url, stay, depth, pages, topic, (host_key(url),))
