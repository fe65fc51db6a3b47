"""A database as crawls leave it, for the tests of the web page: made by the stores in a second, without a crawl.

Stories of the demo newsroom (simplified, traditional, English; reprints, edited ones among them) on five hosts, with
images, links, an earlier text, kept bytes, URLs that wait, failed or were skipped, a trap, alarms, and three runs: one
that ended, one that was killed, one that lives as long as the test does.
"""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from crawler.demo.content import InventedArticle, load_articles
from crawler.learn.health.host import Finding
from crawler.learn.health.messages import sentence
from db.engine.database import Database, open_for_crawl
from db.engine.processes import here
from db.frontier import claims, leases, runs
from db.frontier.insert import add_urls
from db.records.article import join_stories
from db.records.keys import fingerprint, iso
from db.records.outcome import Edges, Outcome, StoredPage
from db.records.reasons import FailReason, PageReason, SkipReason
from db.records.run import RunEnd
from db.records.search import JOINED_BY
from db.records.url import Kind, Lease, NewUrl, State
from db.sites import health, traps
from pipelines.decode.zstd import compress
from pipelines.text.analysis import analyse
from tests.db.frontier_rows import article, done, new_url, seed_row, sign, start, wish
from tests.db.stores import SIGN, real_judge, store_of

LANGUAGES = {"herald": "en", "daobao": "zh-Hant"}
DAY = 86_400
_LEASE_SECONDS = 3_600
_BATCH = 40
_SIGNS = 24


@dataclass(frozen=True, slots=True)
class Story:
    """An article to store; names as in the table, `earlier` is its text of the visit before."""

    url: str
    title: str
    text: str
    authors: str = ""
    source: str = ""
    section: str = ""
    language: str = "zh-Hans"
    published_at: str | None = None
    images: Sequence[tuple[str, str]] = ()
    earlier: str = ""
    anchor: str = ""
    raw: bytes = b""
    description: str = ""
    tags: str = ""
    host: str = ""
    """Name to give its host; empty for that of the URL."""
    memberships: Sequence[tuple[str, float]] = ()
    """Its classes, the best first."""


def invented() -> list[Story]:
    """Return the newsroom's articles, the newest first, one of them with an earlier text."""
    read = [one for articles in load_articles().values() for one in articles]
    stories = [_story(one) for one in sorted(read, key=lambda one: one.published, reverse=True)]
    longest = max(range(len(stories)), key=lambda n: len(stories[n].text) if stories[n].language != "en" else 0)
    changed = stories[longest]
    paragraphs = changed.text.split("\n")
    shorter = "\n".join(["本报将继续关注。", *paragraphs[:-2], paragraphs[-2][: len(paragraphs[-2]) // 2]])
    stories[longest] = dataclasses.replace(changed, earlier=shorter)
    return stories


def _story(one: InventedArticle) -> Story:
    """Return an article of the newsroom as its site's pages would give it."""
    url = f"https://{one.site}.example/{one.channel}/{one.number}.html"
    lead = [(f"https://{one.site}.example/img/{one.number}.jpg", one.title)] if one.number % 3 == 0 else []
    return Story(
        url,
        one.title,
        "\n".join(one.paragraphs),
        authors="、".join(one.authors),
        source=one.source,
        section=one.channel,
        language=LANGUAGES.get(one.site, "zh-Hans"),
        published_at=one.published.isoformat(timespec="minutes"),
        images=lead,
        anchor=one.title,
        raw=f"<!doctype html><title>{one.title}</title>".encode() if one.number % 2 else b"",
    )


@dataclass
class Newsstand:
    """A database that is filled step by step, by a run of its own.

    Attributes:
        database: opened for a crawl.
        now: Unix time of the run; what is stored lies before it.
    """

    database: Database
    now: float = dataclasses.field(default_factory=time.time)
    run_id: int = 0

    def write(self, work: Callable[[Connection, Sequence[Any]], Any], payload: object) -> Any:
        """Run database work on one payload."""
        return self.database.write(lambda connection: work(connection, [payload]))[0]

    def begin(self, **values: Any) -> None:
        """Begin a run; one that has not ended is the run that was killed."""
        given = {"started": iso(self.now), "machine": "desk", "place": here(), "pid": os.getpid(), **values}
        settings = json.dumps({"HOST_DELAY": 1.0, "CRAWL_PRESET": "news", "TOPIC": "", "VERSION": "0.1.0"})
        own = {"settings": settings, "now": self.now, "lease_seconds": _LEASE_SECONDS}
        self.run_id = self.write(runs.start_run, start(seed_row("https://wanbao.example/"), **{**own, **given})).run_id

    def live(self, seconds: float, pages: int) -> dict[str, int]:
        """Write signs of life over so much time; returns the last totals."""
        begun, totals = self.now, dict[str, int]()
        for step in range(1, _SIGNS + 1):
            self.now = begun + seconds * step / _SIGNS
            share = (step - 0.6 * (step % 4 == 0)) / _SIGNS
            parts = {"new": 0.7, "duplicate": 0.1, "dropped/list page": 0.1, "dropped/redirect": 0.05, "failed": 0.05}
            totals = {name: int(pages * share * part) for name, part in parts.items()}
            totals |= {"pages": int(pages * share), "bytes": int(pages * share * 50_000), "failed/http error: 404": 2}
            more = {"lease_seconds": _LEASE_SECONDS, "queued": 12 * step, "hosts": 4, "pages_per_second": 0.3}
            self.write(leases.renew, sign(self.run_id, self.now, totals=totals, **more))
        return totals

    def end(self, totals: dict[str, int]) -> None:
        """End the run as one that had nothing left."""
        self.write(runs.finish_run, RunEnd(self.run_id, iso(self.now), "finished", 0, totals))

    def lease(self, urls: Iterable[NewUrl]) -> dict[int, Lease]:
        """Insert URLs and lease those that wait."""
        rows = list(urls)
        self.write(add_urls, (self.now, rows))
        self.write(leases.take_hosts, (self.run_id, 999))
        wants = {row.host_id: len(rows) for row in rows}
        return {one.id: one for one in self.write(claims.lease, wish(self.run_id, wants, now=self.now)).urls}

    def store(self, stories: Sequence[Story]) -> None:
        """Store pages with their articles: links among those of a host, and to a list page."""
        places = {story.url: _located(story) for story in stories}
        leased = self.lease(places.values())
        by_host: dict[int, list[int]] = {}
        for place in places.values():
            by_host.setdefault(place.host_id, []).append(place.id)
        outcomes = []
        for number, story in enumerate(stories):
            place = places[story.url]
            near = by_host[place.host_id]
            targets = [one for one in near[number % 5 :: 5] if one != place.id][:6]
            edges = Edges(targets, bytes(n % 7 for n in range(len(targets))))
            fetched_at = self.now - number * 600
            outcomes.append(_outcome(leased[place.id], story, story.earlier or story.text, fetched_at, edges))
        self._store(outcomes)
        changed = [story for story in stories if story.earlier]
        for story in changed:
            again = self.lease([dataclasses.replace(places[story.url], again=True)])
            self._store([_outcome(again[places[story.url].id], story, story.text, self.now, Edges())])

    def _store(self, outcomes: Sequence[Outcome]) -> None:
        keeper = store_of(self.run_id, real_judge())
        with self.database.connect_writer() as connection:
            for first in range(0, len(outcomes), _BATCH):
                with self.database.writing(connection):
                    keeper.store(connection, outcomes[first : first + _BATCH])

    def fail(self, urls: Iterable[NewUrl], reason: FailReason | PageReason, **values: Any) -> None:
        """Store pages that brought no article."""
        leased = self.lease(urls)
        state = State.FAILED if isinstance(reason, FailReason) else State.DONE
        self._store([done(one, state=state, reason=reason, **values) for one in leased.values()])


def _located(story: Story) -> NewUrl:
    place = new_url(story.url, anchor=story.anchor, score_parts='{"freshness": 0.5, "pagerank": 1, "depth": 1}')
    if not story.host:
        return place
    key = fingerprint(story.host)
    return dataclasses.replace(place, host=story.host, host_id=key, site=story.host, site_id=key)


def _outcome(lease: Lease, story: Story, text: str, fetched_at: float, edges: Edges) -> Outcome:
    signature = SIGN(story.title, text)
    values = {
        **{name: getattr(story, name) for name in ("title", "authors", "source", "language", "images", "published_at")},
        "published_precision": "minute",
        "published_from": "json-ld",
        "section": story.section,
        "classes": JOINED_BY.join(name for name, _ in story.memberships),
        "memberships": story.memberships,
        "related": join_stories([("https://wanhai.example/2.html", f"{story.title} 2"), ("javascript:x()", "3")]),
        "description": story.description or story.text[:80],
        "tags": story.tags or story.title[:4],
        # the English ones as a crawl leaves them that describes nothing
        **({} if story.language == "en" else {"keywords": _words_of(story.title), "summary": story.text[:60]}),
        "kind_probability": 0.31 if story.language == "en" else 0.98,
        "seen": iso(fetched_at),
        "text_hash": signature.exact,
        "features": signature.features,
        "length": signature.length,
    }
    raw = StoredPage("text/html", "utf-8", compress(story.raw)) if story.raw else None
    new = dataclasses.replace(article(story.url, text, **values), site_id=_located(story).site_id)
    return done(lease, article=new, fetched_at=fetched_at, links=edges, raw=raw, page_kind="article")


def _words_of(title: str) -> str:
    words = analyse(title, "")
    spans = zip(words.starts, words.ends, words.telling, strict=True)
    return "、".join([words.text[start:end] for start, end, tells in spans if tells and end - start > 1][:3])


def build(path: Path, stories: Sequence[Story] = ()) -> None:
    """Make the database; without stories it has those of the newsroom."""
    database = open_for_crawl(f"sqlite:///{path}")
    try:
        stand = Newsstand(database, time.time() - DAY)
        stand.begin()
        stand.store(stories or invented())
        _beside(stand)
        stand.end(stand.live(DAY / 4, 400))
        stand.now += DAY / 4
        stand.begin(pid=2**22 + 1)  # no process has that number: killed
        stand.live(600, 90)
        stand.now = time.time() - 900
        stand.begin()
        stand.live(890, 300)
        _alarms(stand)
    finally:
        database.close()


def _beside(stand: Newsstand) -> None:
    """Add what a crawl has besides articles."""
    host = "https://wanbao.example"
    stand.fail([new_url(f"{host}/list-{n}.html") for n in range(9)], PageReason.LIST, page_kind="list")
    stand.fail([new_url(f"{host}/lost.html")], FailReason.HTTP, detail="404", http_status=404)
    stand.fail([new_url("https://slow.example/")], FailReason.TIMED_OUT, http_status=None, failed=True)
    waiting = [new_url(f"{host}/waiting/{n}.html", score=n / 20, depth=n % 4) for n in range(12)]
    robots = new_url(f"{host}/robots.txt", kind=Kind.ROBOTS)
    skipped = [new_url(f"{host}/file.zip", reason=SkipReason.FILE), new_url("https://far.example/", reason="outside")]
    stand.write(add_urls, (stand.now, [*waiting, robots, *skipped]))
    trap = {"level": 1, "pages": 30, "brought": 0, "reached": 0, "unproductive": 30.0, "grown": 60}
    more = {"kind": "calendar", "blocked_at": stand.now, "why": "30 pages brought nothing", "example": f"{host}/c?m=1"}
    pattern = traps.PatternRow(host_id=fingerprint("wanbao.example"), pattern="/c?m", **trap, **more)
    stand.write(traps.save, (stand.run_id, [pattern]))


def _alarms(stand: Newsstand) -> None:
    """Add an alarm that lasts and one that is over."""
    before = datetime.fromtimestamp(stand.now - DAY, UTC).isoformat(timespec="seconds")
    for host, kind in (("wanbao.example", "blocks"), ("herald.example", "slow")):
        key = fingerprint(host)
        text = sentence(Finding(kind, kind, 0.02, 40, 38, "http error: 403"))
        begun = health.AlarmChange(key, kind, before, None, text, "{}")
        over = dataclasses.replace(begun, until=iso(stand.now)) if kind == "slow" else None
        stand.write(health.save, [health.HealthRow(key, 40, "{}", before, [begun])])
        if over:
            stand.write(health.save, [health.HealthRow(key, 40, "{}", before, [over])])
