"""Property: articles that come one by one leave the same rows as the same articles in batches.

A page that changes gets a text like no other. When it becomes a copy of another one, it depends on the transactions
whether all of its like are compared: the index in memory knows earlier texts until it is read anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from db.engine.database import open_for_crawl
from db.records.article import Keep
from db.records.outcome import Outcome
from db.records.part import Place
from tests.db.articles.test_clusters import PLACES, TOLD, Crawl, assert_whole, copies_of, dated, story
from tests.db.small_crawl import run_in
from tests.db.stores import real_judge, store_of
from tests.pipelines.dedup.test_stream import programme

ROWS = {
    "articles": "SELECT * FROM article ORDER BY id",
    # articles of several pages are written behind those of their batch that stand on one
    "order": "SELECT id FROM article WHERE id NOT IN (SELECT id FROM part) ORDER BY number",
    # pages of one article that come in one batch change it once
    "earlier texts": "SELECT * FROM article_version WHERE article_id NOT IN (SELECT id FROM part) "
    "ORDER BY article_id, seen",
    "classes": "SELECT * FROM article_class ORDER BY article_id, name",
    "images": "SELECT * FROM image ORDER BY article_id, position",
    "clusters": "SELECT * FROM cluster ORDER BY id",
    # of two articles that are equally like a third either may be named: the index in memory gives them no order
    "evidence": "SELECT article_id, similarity, method, kind, own FROM duplicate ORDER BY article_id",
    "parts": "SELECT * FROM part ORDER BY id",
    "signatures": "SELECT article_id, day, length, features, fresh FROM signature WHERE article_id <> 0 "
    "ORDER BY article_id",
    "search": "SELECT article_id, cluster_id, terms FROM search_document WHERE article_id IS NOT NULL "
    "ORDER BY article_id",
    "URLs": "SELECT id, state, reason, reason_detail, same_as FROM url ORDER BY id",
    "counts of sites": "SELECT id, originals, reprints FROM site ORDER BY id",
    "sources": "SELECT * FROM source_attribution WHERE articles <> 0 ORDER BY site_id, source",
    "counts of hosts": "SELECT id, articles FROM host ORDER BY id",
}

PAGES_OF_PARTS = [(host, number) for host in "ab" for number in (6, 7, 8)]
"""An article of three pages on two hosts."""
BODIES = (TOLD, *copies_of(1)[:3], *copies_of(2)[:3], *(programme(number) for number in range(4)))
SOURCES = ("", "晨报", "晚报", "a.example")

Page = tuple[str, int]


class Facts(NamedTuple):
    """A page as it is at first: its text, and the page that it calls canonical."""

    body: int
    canonical: int | None


CANONICAL = st.one_of(st.none(), st.none(), st.integers(0, 2))
Event = dict[str, Any]


def of_page() -> st.SearchStrategy[Event]:
    return st.fixed_dictionaries(
        {
            "page": st.sampled_from(PLACES),
            "changed": st.booleans(),
            "day": st.integers(0, 28),
            "source": st.sampled_from(SOURCES),
            "title": st.sampled_from(("", "题")),
            "image": st.booleans(),
            "sport": st.booleans(),
        }
    )


def of_part() -> st.SearchStrategy[Event]:
    return st.fixed_dictionaries({"page": st.sampled_from(PAGES_OF_PARTS), "words": st.integers(0, 1)})


def outcome(crawl: Crawl, step: int, event: Event, pages: Mapping[Page, Facts]) -> Outcome:
    """Make the outcome of an event; later ones are fetched later."""
    (host, number), seen = event["page"], f"2025-01-01T00:{step:02}:00+00:00"

    def key(of: int) -> int:
        return crawl.leases[f"http://{host}.example/{of}"].id

    if "words" in event:
        place = Place(number - 5, key(number + 1) if number < 8 else None, key(number - 1) if number > 6 else None)
        body = story(100 + 10 * event["words"] + number + 20 * ord(host))
        return replace(crawl.outcome(host, number, body, title=f"{host}的长篇报道", seen=seen), place=place)
    named = pages[host, number].canonical
    canonical = None if named in {None, number} else key(named)
    values = dated(f"2025-03-{event['day']:02}T08:00:00+08:00") if event["day"] else {}
    page = crawl.outcome(
        host,
        number,
        story(200 + PLACES.index((host, number))) if event["changed"] else BODIES[pages[host, number].body],
        title=event["title"] or f"{host}{number}",
        source=event["source"],
        canonical_id=canonical,
        images=((f"http://{host}.example/{number}.png", ""),) if event["image"] else (),
        memberships=(("sport", 0.5),) if event["sport"] else (),
        seen=seen,
        **values,
    )
    return replace(page, same_as=canonical)


def batches(events: Sequence[Event], size: int) -> list[list[tuple[int, Event]]]:
    """Cut events into batches of which none has a page twice."""
    cut: list[list[tuple[int, Event]]] = [[]]
    for step, event in enumerate(events):
        if len(cut[-1]) == size or any(event["page"] == other["page"] for _, other in cut[-1]):
            cut.append([])
        cut[-1].append((step, event))
    return cut


def rows_of(
    path: Path, events: Sequence[Event], pages: Mapping[Page, Facts], size: int, keep: Keep
) -> dict[str, list[dict[str, Any]]]:
    """Store events in batches of a size; returns what stands in the tables then."""
    database = open_for_crawl(f"sqlite:///{path}")
    try:
        crawl, store = Crawl(run_in(database), database), store_of(judge=real_judge(0.65, keep=keep))
        for batch in batches(events, size):
            crawl.batch(store, *(outcome(crawl, step, event, pages) for step, event in batch))
        assert_whole(crawl, database)
        with database.engine.connect() as connection:
            found = {
                name: [dict(row) for row in connection.exec_driver_sql(sql).mappings()] for name, sql in ROWS.items()
            }
        parts = {row["id"] for row in found["parts"]}
        for row in found["articles"]:
            for name in ("number", *(("first_seen", "updated") if row["id"] in parts else ())):
                del row[name]
        return found
    finally:
        database.close()


@settings(
    max_examples=settings.default.max_examples // 5,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    events=st.lists(st.one_of(of_page(), of_page(), of_page(), of_part()), min_size=8, max_size=30),
    pages=st.fixed_dictionaries(dict.fromkeys(PLACES, st.builds(Facts, st.integers(0, len(BODIES) - 1), CANONICAL))),
    size=st.integers(2, 30),
    keep=st.sampled_from(Keep),
)
def test_rows_are_the_same_whatever_the_size_of_batches(
    tmp_path: Path, sqlite_tables: str, *, events: list[Event], pages: dict[Page, Facts], size: int, keep: Keep
) -> None:
    stored = []
    for n in (1, size):
        path = tmp_path / f"{n}.db"
        shutil.copyfile(sqlite_tables, path)
        stored.append(rows_of(path, events, pages, n, keep))
        path.unlink()
    for name in ROWS:
        assert stored[0][name] == stored[1][name], name
