"""Traps: patterns of URLs whose pages bring nothing and only lead to more of their kind.

Which addresses will bring an article nobody can know; but pages that a program makes without end have few patterns
(`pipelines.traps.patterns`), and of each pattern it is counted what its pages brought. A pattern is shut when

- so many of its pages in a row brought nothing: no article, nor a link by which an article was found later;
- these pages showed no article that its pages had not shown before (lists of known articles are honest);
- and it grows: its pages lead to ever more URLs of unfruitful patterns. What does not grow comes to an end by itself.

A pattern that has brought articles has more time, in proportion to how rare they were. When something is found after
all - by a page fetched before, or in a later crawl, which tries a few of its pages again - it is opened.

Pure: what is remembered of one host, and what pages change in it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from db.frontier.leases import OwnedHost
from db.records.keys import fingerprint, iso
from db.records.outcome import Outcome, Stored
from db.records.reasons import ArticleResult, PageReason, SkipReason
from db.records.url import Claim, Kind, NewUrl, State
from db.sites import traps as table
from db.sites.traps import PatternRow, Skipped, Source
from db.sites.url_rules import look_up
from pipelines.records import BlockKind, PageKind
from pipelines.stages import Page
from pipelines.traps.patterns import (
    ANSWER,
    ENDLESS_PATH,
    EXACT,
    FOLDER,
    HOST,
    SHAPE,
    Key,
    Patterns,
    key_of,
    objection,
    patterns,
)
from pipelines.traps.signals import SHORT, KnownTraps, outline

from ... import clock
from ...response.new_urls import new_url
from ...run.session import Session
from ..callbacks import Hooks
from .host import (
    FARM,
    FEW_PAGES,
    LEAST_GROWTH,
    LOOK_ALIKE,
    NOTHING,
    SOFT_404,
    TRIAL_PAGES,
    Bounds,
    Pattern,
    Seen,
    open_for_trial,
    suspicion_of,
)

_DEEP_SHARE = 0.5
_SHOWN_WEIGHT = 0.1
"""What a page counts that shows articles which its pattern has not shown before."""
_OWN_TEXT_WEIGHT = 0.5
"""What a page counts that is like no other of its pattern and whose address looks honest."""
_MOST_GROWTH = 5
_DOUBTS = 3
_MOST_PROBES = 3
_MOST_STRANGE = 20
"""So many new folders in a row without an article, and further ones promise nothing."""
_MOST_PATTERNS = 300


class HostTraps:
    """What is known of the patterns of one host's URLs.

    Args:
        bounds: how long they may bring nothing.
        foreign: whether the host is no seed's own.
        known: patterns as they were stored.
    """

    def __init__(self, bounds: Bounds, *, foreign: bool = False, known: Iterable[Pattern] = ()) -> None:
        self._bounds = bounds
        self._foreign = foreign
        self._patterns: dict[Key, Pattern] = {(one.level, one.text): one for one in known}
        self._folders = {key_of(text): one for (level, text), one in self._patterns.items() if level == FOLDER}
        self.shut: dict[Key, str] = {}
        """Pattern -> kind, empty for those that are open although a wider one is shut. Other threads read it."""
        self._wide = False
        self._shut_heads: frozenset[str] = frozenset()
        self._note_shut()
        self._strange = 0
        self._doubtful = ""
        self._asked: set[str] = set()

    def observe(self, seen: Seen, now: float) -> list[Pattern]:
        """Take a page into account; returns the patterns that have been shut for it."""
        found = patterns(seen.url)
        own = [self._pattern(level, text, seen.url) for level, text in self._keys(found)]
        for one in own:
            one.pages += 1
            one.changed = True
        suspicion = suspicion_of(seen.url, found)
        same = [one.repeats(seen.sketch) for one in own]
        if seen.brought and not (same[EXACT] and suspicion):  # a calendar's days differ in their dates, as bulletins do
            return self._praise(own, seen, now)
        own[FOLDER].doubts += seen.missing or seen.again or same[EXACT]
        self._doubtful = found.folder if own[FOLDER].doubts >= _DOUBTS else ""
        self._strange += own[FOLDER].pages == 1
        growth = self._growth(seen.found)
        if seen.is_wall and not growth:
            return []
        promising = self._promising(seen, own[FOLDER])
        sure = bool(suspicion or seen.missing or not seen.sketch or _head(found.folder) in self._shut_heads)
        for one, repeats in zip(own, same, strict=True):
            one.alike += repeats
            weight = 1.0 if sure or repeats else _OWN_TEXT_WEIGHT
            one.barren += _SHOWN_WEIGHT if one.shows_more(promising) else weight
            one.grown += growth
            one.missing += seen.missing
        return self._close([one for one in own if self._is_spent(one, suspicion)], suspicion, now)

    @property
    def missing(self) -> tuple[int, ...] | None:
        """Outlines of what the host shows when there is no such page; None while nothing speaks for such."""
        return self._outlines() or (() if self._asked else None)

    def _outlines(self) -> tuple[int, ...]:
        return tuple(int(text, 16) for level, text in self.shut if level == ANSWER)

    def wants_probe(self) -> bool:
        """Whether to ask the host for a page that does not exist beside the one seen last; once for each folder."""
        folder = self._doubtful
        if not (folder and self._bounds.probe and len(self._asked) < _MOST_PROBES) or folder in self._asked:
            return False
        if self._outlines():
            return False
        self._asked.add(folder)
        return True

    def answered(self, outline: int, url: str, now: float) -> None:
        """What the host showed for a page that does not exist, 0 for nothing that looks like a page."""
        if outline:
            text = f"{outline:016x}"
            why = "the host answers so, with status 200, when there is no such page"
            self._patterns[ANSWER, text] = Pattern(
                text, ANSWER, pages=1, kind=SOFT_404, shut_at=now, why=why, example=url
            )
            self._note_shut()

    def credit(self, url: str) -> list[Pattern]:
        """A page led to an article; returns the patterns that are open again for it, or have stood their trial."""
        opened = []
        for key in self._keys(patterns(url))[:HOST]:
            one = self._patterns.get(key)
            if one is None:
                continue
            self._relieve(one)
            if one.kind or one.trial:
                one.kind, one.why, one.trial = "", "", False
                opened.append(one)
        if opened:
            self._note_shut()
        return opened

    def try_again(self, key: Key) -> bool:
        """Open a pattern for a few pages; whether it was shut."""
        one = self._patterns.get(key)
        if one is None or not one.kind:
            return False
        open_for_trial(one, self._bounds)
        self._note_shut()
        return True

    def worth_keeping(self) -> list[Pattern]:
        """Patterns that differ from what is stored, as far as they matter."""
        return [
            one for one in self._patterns.values() if one.changed and (one.pages >= FEW_PAGES or one.kind or one.trial)
        ]

    def shut_before(self, moment: float) -> list[Key]:
        """Patterns that were shut before a time."""
        return [key for key, kind in self.shut.items() if kind and self._patterns[key].shut_at < moment]

    # ------------------------------------------------------------ patterns

    def _keys(self, found: Patterns) -> list[Key]:
        keys = [(EXACT, found.exact), (FOLDER, found.folder), (SHAPE, found.shape)]
        return [*keys, (HOST, "")] if self._foreign else keys

    def _pattern(self, level: int, text: str, url: str) -> Pattern:
        one = self._patterns.get((level, text))
        if one is None:
            if len(self._patterns) >= _MOST_PATTERNS:
                self._forget()
            one = self._patterns[level, text] = Pattern(text, level, example=url)
            if level == FOLDER:
                self._folders[key_of(text)] = one
        return one

    def _forget(self) -> None:
        """Drop the half of the open patterns that have cost least."""
        by_cost = sorted((one for one in self._patterns.values() if not one.kind), key=lambda one: one.pages)
        for one in by_cost[: len(by_cost) // 2]:
            del self._patterns[one.level, one.text]
            if one.level == FOLDER:
                self._folders.pop(key_of(one.text), None)

    # ------------------------------------------------------------ pages

    def _praise(self, own: Sequence[Pattern], seen: Seen, now: float) -> list[Pattern]:
        """A page was an article. On a host that only others name, those of farms name nothing: no time, no author."""
        self._strange = 0
        last = HOST if self._foreign and not seen.named else len(own)
        for one in own[:last]:
            self._relieve(one)
        for one in own[last:]:
            one.barren += 1
        return self._close([one for one in own[last:] if self._is_spent(one, "")], FARM, now)

    def _growth(self, found: Sequence[int]) -> int:
        """How many of the URLs that a page named first promise nothing better; their patterns have grown, too."""
        growth = 0
        for key in found:
            folder = self._folders.get(key)
            if folder is not None and folder.brought and folder.barren < FEW_PAGES:
                continue
            growth += 1
            if folder is not None:
                folder.grown += 1
        return min(growth, _MOST_GROWTH)

    def _promising(self, seen: Seen, own: Pattern) -> list[int]:
        """Links of a page to others than of its own kind, which may be articles or lead to some."""
        dull = {0, *(key for key, one in self._folders.items() if one.is_dull)}
        if own.is_unproven:
            dull.add(key_of(own.text))
        if self._strange >= _MOST_STRANGE:
            return [
                link
                for link, where in zip(seen.links, seen.folders, strict=True)
                if where not in dull and where in self._folders
            ]
        return [link for link, where in zip(seen.links, seen.folders, strict=True) if where not in dull]

    def _is_spent(self, one: Pattern, suspicion: str) -> bool:
        """Whether a pattern has brought nothing for too long."""
        if one.kind:
            return False
        if one.level == HOST:
            return one.barren >= self._bounds.host_pages
        patience = one.patience(self._bounds) * (_DEEP_SHARE if suspicion == ENDLESS_PATH else 1.0)
        return one.barren >= patience and one.grown >= LEAST_GROWTH * one.barren

    def _close(self, spent: Sequence[Pattern], suspicion: str, now: float) -> list[Pattern]:
        """Shut patterns, and say why."""
        for one in spent:
            one.kind = FARM if one.level == HOST else suspicion or _by_its_pages(one)
            one.shut_at, one.trial, one.changed = now, False, True
            one.why = _reason(one)
        if spent:
            self._note_shut()
        return list(spent)

    def _note_shut(self) -> None:
        shut = {key: one.kind for key, one in self._patterns.items() if one.kind}
        self._wide = any(level in {FOLDER, SHAPE} for level, _ in shut)
        self._shut_heads = frozenset(_head(text) for level, text in shut if level == FOLDER) - {""}
        if self._wide:  # a trap may have the shape of honest pages
            shut |= {key: "" for key, one in self._patterns.items() if key[0] < SHAPE and one.is_fruitful}
        self.shut = shut

    def _relieve(self, one: Pattern) -> None:
        """Something came of a page of a pattern: at the first time it is told apart from wider ones that are shut."""
        first = not one.brought
        one.relieve()
        if first and self._wide:
            self._note_shut()


def _head(folder: str) -> str:
    """The folder that a pattern lies in by its name; empty when it has none."""
    head, slash, _ = folder[1:].partition("/")
    return head if slash and head != "*" else ""


def _by_its_pages(one: Pattern) -> str:
    """What kind of trap the pages say it is."""
    if one.missing * 2 > one.barren:
        return SOFT_404
    return LOOK_ALIKE if one.alike * 2 > one.barren else NOTHING


def _reason(one: Pattern) -> str:
    """Why a pattern is shut."""
    if one.level == HOST:
        return f"{one.pages} pages, of which none said when or by whom it was written"
    since = f" since the last of {one.brought} articles" if one.brought else ""
    return f"{one.barren:.0f} pages in a row brought no article{since}, and named {one.grown} more URLs like them"


# ---- Pages as far as traps are concerned. Pure.


_MASK = (1 << 64) - 1


def seen_of(page: Page, outcome: Outcome, stored: Stored, *, brought: bool) -> Seen:
    """A page that has been read and stored; `brought`: it was an article that was not known yet."""
    assert page.worked is not None
    parsed, targets, signs = page.worked.parsed, page.worked.targets, page.worked.signs
    meta = parsed.metadata
    return Seen(
        page.claim.url,
        brought=brought,
        named=bool(meta.published_at or meta.authors or meta.source),
        missing=parsed.reason is PageReason.SOFT_404,
        again=stored.article is ArticleResult.SAME_PAGE or stored.same_host,
        sketch=0 if signs is None else signs.sketch,
        is_wall=signs is not None and signs.is_wall and parsed.kind is not PageKind.ARTICLE,
        links=targets.ids,
        folders=targets.folders,
        found=_found(page, outcome, stored),
    )


def _found(page: Page, outcome: Outcome, stored: Stored) -> list[int]:
    """Folders of the URLs of its own host that a page was the first to name."""
    assert page.worked is not None
    if not stored.new_urls:
        return []
    targets, own = page.worked.targets, page.claim.host_id
    new = {each.id for each in outcome.new_urls if each.host_id == own and not each.reason}
    return [folder for key, folder in zip(targets.ids, targets.folders, strict=False) if key in new]


def trapped(outcome: Outcome) -> list[str]:
    """URLs of a page's own host that it names and that were taken for a trap's when it was read."""
    own = outcome.claim.host_id
    return [each.url for each in outcome.new_urls if each.reason is SkipReason.TRAP and each.host_id == own]


def made_up(url: str) -> str:
    """An address in the folder of a page that nobody has made."""
    folder, _, name = url.partition("?")[0].rpartition("/")
    ending = name[name.rfind(".") :] if "." in name[-6:] else ""
    return f"{folder}/{fingerprint(f'no such page {folder}') & _MASK:016x}{ending}"


def text_outline(title: str, text: str, url: str) -> int:
    """What an article says without figures and its own name; 0 for one that says too much to be a notice."""
    return outline(f"{title}\n{text}", url) if len(text) <= SHORT else 0


# ---- The patterns of hosts as the table holds them, and the URLs that were skipped for them.


T = TypeVar("T")

_CHUNK = 500
_LOOKED_AT = 2000
_BEFORE_ALL = -(1 << 63)


class TrapTable:
    """What is known of traps on all hosts.

    Args:
        session: the open database.

    All methods raise `DatabaseProblem` when the database gives up.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    async def load(self, host_ids: Sequence[int]) -> dict[int, list[Pattern]]:
        """What is known of some hosts."""
        found = await self._session.submit(table.load, host_ids)
        return {key: list(map(pattern_of, rows)) for key, rows in found.items()}

    async def save(self, patterns: Sequence[tuple[int, Pattern]]) -> None:
        """Write patterns of hosts in the place of what was known."""
        rows = [row_of(host_id, one) for host_id, one in patterns]
        await self._session.submit(table.save, table.Noted(self._session.resumed.run_id, rows))

    async def sources(self, url_ids: Sequence[int]) -> list[Source]:
        """Where pages were found."""
        return await self._session.submit(table.sources, url_ids)

    async def due(self, moment: float) -> dict[int, list[Pattern]]:
        """Patterns that were shut before a time, of hosts that nobody crawls."""
        by_host: dict[int, list[Pattern]] = {}
        for row in await self._session.submit(table.due, moment):
            by_host.setdefault(row.host_id, []).append(pattern_of(row))
        return by_host

    async def free(self, host_id: int, shut: Callable[[], Mapping[Key, str]]) -> int:
        """Let URLs wait again that belong to no shut pattern any longer; returns how many."""
        last, freed = _BEFORE_ALL, 0
        while rows := await self._in_thread(partial(self._skipped, host_id, last)):
            last = rows[-1].id
            free = [row.id for row in rows if not objection(row.url, shut())]
            freed += await self._session.submit(table.let_wait, (host_id, free)) if free else 0
        return freed

    async def release(self, host_id: int, keys: Sequence[Key]) -> int:
        """Let some of the URLs wait that were skipped for each of these patterns; returns how many."""
        rows = await self._in_thread(partial(self._skipped, host_id, _BEFORE_ALL, _LOOKED_AT))
        chosen: set[int] = set()
        for key in keys:
            of_it = [row.id for row in rows if objection(row.url, {key: "it"}) == "it"]
            chosen.update(of_it[:: max(1, len(of_it) // TRIAL_PAGES)][:TRIAL_PAGES])
        return await self._session.submit(table.let_wait, (host_id, sorted(chosen))) if chosen else 0

    async def take_back(self, host_id: int, title: str, outline: int) -> int:
        """Mark articles of a host as gone that say what it says of pages that do not exist; returns how many."""
        titled = await self._in_thread(
            lambda: look_up(self._session.database, lambda connection: table.titled(connection, host_id, title))
        )
        same = [one.id for one in titled if text_outline(one.title, one.text, one.url) == outline]
        if same:
            since = iso(clock.now())
            await self._session.submit(table.mark_missing, [(key, since) for key in same])
        return len(same)

    def _skipped(self, host_id: int, after: int, most: int = _CHUNK) -> list[Skipped]:
        return look_up(self._session.database, lambda connection: table.skipped(connection, host_id, after, most))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(None, work)


def pattern_of(row: PatternRow) -> Pattern:
    """A pattern as it is remembered."""
    return Pattern(
        row.pattern,
        row.level,
        pages=row.pages,
        brought=row.brought,
        reached=row.reached,
        barren=row.barren,
        grown=row.grown,
        kind=row.kind,
        shut_at=row.shut_at,
        why=row.why,
        example=row.example,
        trial=bool(row.trial),
        changed=False,
    )


def row_of(host_id: int, one: Pattern) -> PatternRow:
    """A pattern as the table holds it."""
    return PatternRow(
        host_id,
        one.level,
        one.text,
        one.pages,
        one.brought,
        one.reached,
        one.barren,
        one.grown,
        one.kind,
        one.shut_at,
        int(one.trial),
        one.why,
        one.example,
    )


# ---- Traps while a crawl runs: what the hosts of a run are known for, who is told, and what becomes of URLs that wait.


logger = logging.getLogger(__name__)

_SAVE_SECONDS = 5.0
_TRIAL_SECONDS = 3600.0
_DAY = 86_400.0
_MOST_SOURCES = 50_000
_MOST_UNKNOWN = 2000
_HOPS = 3
_NOTHING = KnownTraps()
_EXEMPT = (BlockKind.SEED, BlockKind.PART, BlockKind.SITEMAP, BlockKind.FEED, BlockKind.PROBE)
"""What is found so is fetched whatever its pattern: the user, an article or the site's own list of pages names it."""


class Trapbook:
    """What is known of traps on the hosts that a run holds.

    Args:
        session: the open database.
        bounds: how long patterns may bring nothing.
        days: after so many days a few pages of a shut pattern are tried again.
        hooks: of the crawl.
    """

    def __init__(self, session: Session, bounds: Bounds, days: float, hooks: Hooks) -> None:
        self._priority = session.config.priority
        self._table = TrapTable(session)
        self._bounds = bounds
        self._seconds = days * _DAY
        self._hooks = hooks
        self._hosts: dict[int, HostTraps] = {}
        self._touched: set[int] = set()
        self._sources: dict[int, Source] = {}
        self._older: dict[int, Source] = {}
        self._unknown: set[int] = set()

    # ------------------------------------------------------------ hosts come and go

    async def take(self, hosts: Sequence[OwnedHost]) -> None:
        """Read what is known of hosts that the run has just taken over, before anything of them is handed out.

        Raises:
            DatabaseProblem: the database gave up.
        """
        found = await self._table.load([host.id for host in hosts])
        for host in hosts:
            foreign = not self._hooks.is_own(host.name)
            self._hosts[host.id] = HostTraps(self._bounds, foreign=foreign, known=found[host.id])

    async def let_go(self, host_ids: Iterable[int]) -> None:
        """Forget what is known of hosts that the run gives up. It has to be written first: another may have them now.

        Raises:
            DatabaseProblem: the database gave up.
        """
        ids = list(host_ids)
        await self.write(ids)
        for host_id in ids:
            self._hosts.pop(host_id, None)
            self._touched.discard(host_id)

    def shut_of(self, host_id: int) -> Mapping[Key, str]:
        """Patterns of a host that are shut, with their kinds."""
        host = self._hosts.get(host_id)
        return {} if host is None else host.shut

    def known(self, claim: Claim) -> KnownTraps:
        """What is known of the traps of a claim's host."""
        host = self._hosts.get(claim.host_id)
        if host is None:
            return _NOTHING
        if claim.found_in == BlockKind.PROBE:
            return KnownTraps(missing=())
        return KnownTraps(host.shut, None if claim.found_in in _EXEMPT else host.missing)

    def objection(self, claim: Claim) -> str:
        """The kind of trap that a URL belongs to, empty for none. Called from the database thread."""
        if claim.kind != Kind.PAGE or claim.visits or claim.found_in in _EXEMPT:
            return ""
        return objection(claim.url, self.shut_of(claim.host_id))

    # ------------------------------------------------------------ pages

    def note(self, page: Page, outcome: Outcome, stored: Stored) -> None:
        """A page has been stored."""
        claim = page.claim
        if claim.found_in == BlockKind.PROBE:
            self._learn_missing(page)
            return
        if (
            claim.kind != Kind.PAGE
            or outcome.state != State.DONE
            or page.worked is None
            or claim.visits  # what it was worth is known since the first visit
            or stored.article is ArticleResult.UNCHANGED
        ):
            return
        parsed = page.worked.parsed
        # what another host has printed is news of this one; what this one has shown before is not
        brought = (
            parsed.kind is PageKind.ARTICLE and stored.article is not ArticleResult.SAME_PAGE and not stored.same_host
        )
        if brought:
            self._credit(claim.found_on, _HOPS)
        elif outcome.new_urls:
            self._remember(Source(claim.id, claim.url, claim.host_id, claim.found_on))
        if claim.found_in == BlockKind.SEED or (page.worked.signs is None and parsed.kind is not PageKind.ARTICLE):
            return
        host = self._hosts.get(claim.host_id)
        if host is None:  # given up meanwhile
            return
        self._touched.add(claim.host_id)
        shut = host.observe(seen_of(page, outcome, stored, brought=brought), outcome.fetched_at)
        for one in shut:
            self._hooks.totals[f"traps/{one.kind}"] += 1
            logger.info("trap on %s: %s, %s; %s", claim.url, one.kind, one.text or "the whole host", one.why)
        if shut:
            self._hooks.clear(claim.host_id)
            self._hooks.start(self.write([claim.host_id]))
        if any(not objection(url, host.shut) for url in trapped(outcome)):  # opened while the page was being read
            self._hooks.start(self._free(claim.host_id))
        if host.wants_probe():
            self._hooks.start(self._hooks.add([self._probe(claim)]))

    def _probe(self, claim: Claim) -> NewUrl:
        """An address in the folder of a page that nobody has made."""
        return new_url(
            made_up(claim.url),
            Kind.PAGE,
            priority=self._priority,
            depth=claim.depth,
            found_in=BlockKind.PROBE,
            now=clock.now(),
            seed_id=claim.seed_id,
            again=True,
        )

    def _learn_missing(self, page: Page) -> None:
        """What a host shows when there is no such page."""
        host = self._hosts.get(page.claim.host_id)
        if host is None:
            return
        worked = page.worked if page.status == 200 else None
        signs = None if worked is None else worked.signs
        host.answered(0 if signs is None else signs.outline, page.claim.url, page.fetched_at)
        self._touched.add(page.claim.host_id)
        if worked is not None and worked.parsed.kind is PageKind.ARTICLE:
            title = worked.parsed.metadata.title or ""
            outline = text_outline(title, worked.parsed.extraction.text, page.claim.url)
            if outline:
                self._hooks.start(self._take_back(page.claim, title, outline))

    async def _take_back(self, claim: Claim, title: str, outline: int) -> None:
        """Mark what was stored before it was known that the host shows it when there is no such page."""
        count = await self._table.take_back(claim.host_id, title, outline)
        if count:
            self._hooks.totals["gone"] += count
            logger.info("%d articles say what %s says, which nobody has made: marked as gone", count, claim.url)

    def _credit(self, source_id: int | None, hops: int) -> None:
        """An article was found: so much for the pages that led there."""
        while source_id is not None and hops:
            source = self._sources.get(source_id) or self._older.get(source_id)
            if source is None:
                if len(self._unknown) < _MOST_UNKNOWN:
                    self._unknown.add(source_id)
                return
            host = self._hosts.get(source.host_id)
            if host is not None:
                self._touched.add(source.host_id)
                if host.credit(source.url):
                    self._hooks.start(self._free(source.host_id))
            source_id, hops = source.found_on, hops - 1

    def _remember(self, source: Source) -> None:
        self._sources[source.id] = source
        if len(self._sources) >= _MOST_SOURCES // 2:
            self._older, self._sources = self._sources, {}

    # ------------------------------------------------------------ the table

    async def keep(self) -> None:
        """Write what is new again and again, and try again what was shut long ago."""
        tried_at = clock.uptime()
        while True:
            await asyncio.sleep(_SAVE_SECONDS)
            await self._settle()
            if clock.uptime() - tried_at >= _TRIAL_SECONDS:
                tried_at = clock.uptime()
                await self._try_own()

    async def close(self) -> None:
        """Write what is new.

        Raises:
            DatabaseProblem: the database gave up.
        """
        await self._settle()

    async def _settle(self) -> None:
        unknown, self._unknown = sorted(self._unknown), set()
        if unknown:
            for source in await self._table.sources(unknown):
                self._remember(source)
                self._credit(source.id, _HOPS)
        await self.write(list(self._touched))

    async def write(self, host_ids: Sequence[int]) -> None:
        """Write what is new of some hosts.

        Raises:
            DatabaseProblem: the database gave up.
        """
        changed = [(key, one) for key in host_ids if key in self._hosts for one in self._hosts[key].worth_keeping()]
        self._touched.difference_update(host_ids)
        if not changed:
            return
        for _, one in changed:
            one.changed = False
        try:
            await self._table.save(changed)
        except BaseException:
            for host_id, one in changed:
                one.changed = True
                self._touched.add(host_id)
            raise

    async def _free(self, host_id: int) -> None:
        """Let URLs wait again that belong to no shut pattern any longer."""
        host = self._hosts.get(host_id)
        if host is None:  # given up meanwhile: what is known is written, and whoever has it frees what waits
            return
        freed = await self._table.free(host_id, lambda: host.shut)
        await self.write([host_id])
        if freed:
            self._hooks.changed(host_id, freed)

    # ------------------------------------------------------------ another trial

    async def try_again(self) -> int:
        """Let a few URLs wait of patterns that were shut long ago, on hosts that nobody crawls; returns how many.

        Raises:
            DatabaseProblem: the database gave up.
        """
        freed = 0
        for host_id, due in (await self._table.due(clock.now() - self._seconds)).items():
            for one in due:
                open_for_trial(one, self._bounds)
            await self._table.save([(host_id, one) for one in due])
            freed += await self._table.release(host_id, [(one.level, one.text) for one in due])
        return freed

    async def _try_own(self) -> None:
        """The same for the hosts that this run holds."""
        for host_id, host in list(self._hosts.items()):
            keys = [key for key in host.shut_before(clock.now() - self._seconds) if host.try_again(key)]
            if keys:
                await self.write([host_id])
                self._hooks.changed(host_id, await self._table.release(host_id, keys))
