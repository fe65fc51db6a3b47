from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from sqlalchemy import Connection, text

from db.engine.database import Database
from db.frontier import claims as frontier
from db.frontier import leases, runs
from db.frontier.insert import add_urls
from db.queries.status import explain
from db.records.article import Candidate, MatchDecision, NewArticle
from db.records.keys import fingerprint
from db.records.outcome import Edges, Outcome, Stored
from db.records.url import Lease
from tests.db.frontier_rows import NOW, article, done, features, new_url, seed_row, start, wish
from tests.db.stores import EachTimeNew

pytestmark = pytest.mark.dialects

TEXT = "市图书馆新馆昨天开放，首日迎来三千多名读者，馆藏图书八十万册。" * 3


def same_words(new: NewArticle, candidates: Sequence[Candidate]) -> MatchDecision | None:
    """A judge for the tests: half of the features shared is a copy, same site and title is the same page."""
    own = set(memoryview(new.features).cast("I"))
    for candidate in candidates:
        similarity = len(own & set(memoryview(features(candidate.text)).cast("I"))) / len(own)
        if similarity >= 0.5:
            same = candidate.site_id == new.site_id and (
                candidate.title == new.title or candidate.points_to == new.id or new.canonical_id == candidate.id
            )
            return MatchDecision(
                candidate, similarity, "test", "edited", repeats=True, same_page=same, own_wording=similarity < 1
            )
    return None


store = EachTimeNew(same_words).store


@pytest.fixture
def leased_urls(run_in: Callable) -> dict[str, Lease]:
    """Leases of four pages on three hosts."""
    urls = ["http://a.example/1", "http://b.example/1", "http://b.example/2", "http://c.example/1"]
    resumed = run_in(runs.start_run, start(seed_row("http://a.example/")))
    run_in(add_urls, (NOW, [new_url(url) for url in urls]))
    run_in(leases.take_hosts, (resumed.run_id, 9))
    wants = {fingerprint(f"{h}.example"): 9 for h in "abc"}
    return {c.url: c for c in run_in(frontier.lease, wish(resumed.run_id, wants)).urls}


def lease_again(connection: Connection, ids: Sequence[int]) -> Sequence[int]:
    """Hand a URL out once more, as a later visit would."""
    for key in ids:
        connection.execute(text("UPDATE url SET state = 'leased', leased_by = 1 WHERE id = :key"), {"key": key})
    return ids


def rows(database: Database, sql: str) -> list[tuple]:
    with database.engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(sql))]


def put(run_in: Callable, leased_urls: dict[str, Lease], url: str, body: str, **values: object) -> str:
    same_as = values.pop("same_as", None)
    run_in(lease_again, leased_urls[url].id)
    return run_in(store, done(leased_urls[url], article=article(url, body, **values), same_as=same_as)).article


def test_page_links_and_state_in_one_go(run_in: Callable, leased_urls: dict[str, Lease], database: Database) -> None:
    lease = leased_urls["http://a.example/1"]
    found = [new_url("http://a.example/new", depth=2), new_url("http://x.example/", reason="outside")]
    stored = run_in(store, done(lease, new_urls=found, links=Edges([n.id for n in found], bytes([1, 1]))))
    assert (stored.new_urls, stored.queued, stored.hosts) == (2, 1, {fingerprint("a.example")})
    assert rows(database, "SELECT count(*) FROM link") == [(2,)]
    assert rows(database, f"SELECT state, http_status, leased_by FROM url WHERE id = {lease.id}") == [
        ("done", 200, None)
    ]
    assert ("outside",) in rows(database, "SELECT reason FROM v_dropped")


def test_nothing_is_half_done(database: Database, run_in: Callable, leased_urls: dict[str, Lease]) -> None:
    bad = done(
        leased_urls["http://a.example/1"], article=article("http://a.example/1", TEXT), links=Edges((None,), bytes([1]))
    )
    with pytest.raises(Exception, match=r"(?i)null"):
        run_in(store, bad)
    assert rows(database, "SELECT count(*) FROM article") == [(0,)]
    assert rows(database, "SELECT count(*) FROM url WHERE state = 'leased'") == [(4,)]


def test_copy_on_another_site_is_stored_with_its_evidence(
    run_in: Callable, leased_urls: dict, database: Database
) -> None:
    assert put(run_in, leased_urls, "http://a.example/1", TEXT) == "new"
    assert put(run_in, leased_urls, "http://b.example/1", TEXT, title="转载") == "duplicate"
    view = rows(database, "SELECT url, text, duplicate_of FROM v_articles WHERE duplicate_of IS NOT NULL")
    assert view == [("http://b.example/1", TEXT, "http://a.example/1")]
    assert rows(database, "SELECT similarity, method FROM duplicate") == [(1.0, "test")]
    assert rows(database, "SELECT size FROM cluster") == [(2,)]


def test_copies_of_copies_point_to_the_original(run_in: Callable, leased_urls: dict, database: Database) -> None:
    put(run_in, leased_urls, "http://a.example/1", TEXT)
    put(run_in, leased_urls, "http://b.example/1", TEXT + "（据新华社电）", title="二")
    put(run_in, leased_urls, "http://c.example/1", TEXT + "（据新华社电）本报综合", title="三")
    assert rows(database, "SELECT DISTINCT duplicate_of FROM v_articles") == [(None,), ("http://a.example/1",)] or rows(
        database, "SELECT count(DISTINCT duplicate_of) FROM v_articles"
    ) == [(1,)]


def test_another_address_of_a_page_is_no_article(run_in: Callable, leased_urls: dict, database: Database) -> None:
    put(run_in, leased_urls, "http://b.example/1", TEXT)
    assert put(run_in, leased_urls, "http://b.example/2", TEXT) == "same page"
    assert rows(database, "SELECT count(*) FROM article") == [(1,)]
    assert rows(database, "SELECT url, reason, same_as FROM v_dropped") == [
        ("http://b.example/2", "same page", "http://b.example/1")
    ]


def test_page_moves_to_its_canonical_url_when_that_comes(
    run_in: Callable, leased_urls: dict, database: Database
) -> None:
    canonical = fingerprint("http://b.example/1")
    put(run_in, leased_urls, "http://a.example/1", TEXT + "尾", title="别处的转载")
    put(run_in, leased_urls, "http://b.example/2", TEXT, title="打印", same_as=canonical)
    assert put(run_in, leased_urls, "http://b.example/1", TEXT, title="题目") == "updated"
    assert rows(database, "SELECT url, title FROM v_articles ORDER BY url") == [
        ("http://a.example/1", "别处的转载"),
        ("http://b.example/1", "题目"),
    ]


def test_page_whose_article_moves_away_in_the_batch_that_brings_it_another_stays_stored(
    run_in: Callable, leased_urls: dict, database: Database
) -> None:
    short, long = "http://b.example/1", "http://b.example/2?print=1"
    run_in(add_urls, (NOW, [new_url(long)]))
    lease = replace(leased_urls["http://b.example/2"], id=fingerprint(long), url=long)
    run_in(lease_again, lease.id)
    run_in(store, done(lease, article=article(long, TEXT)))
    outcomes = [
        done(leased_urls[short], article=article(short, TEXT)),
        done(lease, article=article(long, "港口航线恢复通航，首班船昨天早晨靠岸。" * 5), next_visit=NOW + 9),
    ]
    results = run_in(store_in_batches, [outcomes])
    assert [one.article for one in results] == ["updated", "new"]
    shown = rows(database, "SELECT url, reason, same_as, next_visit FROM url JOIN article USING (id) ORDER BY url")
    assert shown == [(short, None, None, None), (long, None, None, NOW + 9)]


ADDRESSES = [
    # paths, what each calls canonical, the one that is stored
    ({"/a.html?print=1": "", "/a.html": "", "/news/a.html": ""}, "/a.html"),
    ({"/a.html?x=1": "/long/name.html", "/long/name.html": "/long/name.html", "/b?y": ""}, "/long/name.html"),
    ({"/b.html": "", "/a.html": "", "/c.html": "/d.html"}, "/a.html"),
    ({"/a.html": "/gone.html", "/b.html?p=1": "/gone.html", "/c.html": "/gone.html"}, "/a.html"),
    ({"/b.html": "/a.html", "/a.html": "/b.html", "/c.html?": "/b.html"}, "/a.html"),
    ({"/m/1.html": "", "/news/2024/1.html": "", "/1?x": ""}, "/news/2024/1.html"),
]


PLACES = (
    "SELECT u.url, u.reason, o.url, a.html, a.text FROM url u "
    "LEFT JOIN article a ON a.id = u.id LEFT JOIN url o ON o.id = u.same_as"
)


def store_in_batches(connection: Connection, batches: Sequence[Sequence[Sequence[Outcome]]]) -> list[list[Stored]]:
    """Store outcomes, some together."""
    for batch in batches[0]:
        lease_again(connection, [one.lease.id for one in batch])
    return [[stored for batch in batches[0] for stored in store(connection, batch)]]


def test_address_of_a_page_does_not_depend_on_arrival(run_in: Callable, leased_urls: dict, database: Database) -> None:
    for number, (pages, stored) in enumerate(ADDRESSES):
        found = set()
        for turn, order in enumerate(itertools.permutations(pages)):
            first = 0x4E00 + 90 * (9 * number + turn)
            base, body = f"http://h{number}{turn}.example", "".join(map(chr, range(first, first + 80)))
            run_in(add_urls, (NOW, [new_url(base + path) for path in order]))
            outcomes = []
            for path in order:
                canonical = fingerprint(base + pages[path]) if pages[path] not in {"", path} else None
                page = article(base + path, body, html=path, canonical_id=canonical)
                lease = replace(leased_urls["http://a.example/1"], id=page.id, url=base + path)
                outcomes.append(done(lease, article=page, same_as=canonical))
            results = run_in(store_in_batches, [outcomes] if turn % 2 else [[one] for one in outcomes])
            assert sum(result.article.is_added for result in results) == 1
            kept = sorted(rows(database, f"{PLACES} WHERE u.url LIKE '{base}/%'"))
            found.add(str(kept).replace(base, "").replace(body, ""))
        assert len(found) == 1
        assert f"('{stored}', None, " in found.pop()


def test_changed_text_keeps_the_old_version(run_in: Callable, leased_urls: dict, database: Database) -> None:
    put(run_in, leased_urls, "http://a.example/1", TEXT)
    assert put(run_in, leased_urls, "http://a.example/1", TEXT) == "unchanged"
    assert (
        put(run_in, leased_urls, "http://a.example/1", "更正：" + TEXT, seen="2025-01-02T00:00:00+00:00") == "updated"
    )
    assert rows(database, "SELECT text FROM article_version") == [(TEXT,)]
    assert rows(database, "SELECT text FROM article") == [("更正：" + TEXT,)]


def test_known_urls_keep_the_better_of_both(run_in: Callable, leased_urls: dict, database: Database) -> None:
    url = "http://a.example/late"
    run_in(add_urls, (NOW, [new_url(url, depth=5, score=0.1, reason="nofollow")]))
    run_in(add_urls, (NOW, [new_url(url, depth=4, score=0.2), new_url("http://a.example/1", depth=0)]))
    run_in(add_urls, (NOW, [new_url(url, depth=2, score=0.3)]))
    run_in(add_urls, (NOW, [new_url(url, depth=3, score=0.25)]))
    run_in(add_urls, (NOW, [new_url(url, depth=9, reason="outside")]))
    assert rows(database, f"SELECT state, depth, score FROM url WHERE id = {fingerprint(url)}") == [("pending", 2, 0.3)]


def test_article_published_first_stands_for_the_rest(run_in: Callable, leased_urls: dict, database: Database) -> None:
    late, early = "2025-03-02T08:00:00+08:00", "2025-03-01T23:30:00+00:00"
    put(run_in, leased_urls, "http://a.example/1", TEXT, published_at=late, published_precision="minute")
    put(run_in, leased_urls, "http://b.example/1", TEXT, title="再转", published_at=None)
    put(run_in, leased_urls, "http://c.example/1", TEXT + "。", published_at=early, published_precision="minute")
    view = rows(database, "SELECT url, duplicate_of, text FROM v_articles ORDER BY url")
    assert view == [
        ("http://a.example/1", "http://c.example/1", TEXT),
        ("http://b.example/1", "http://c.example/1", TEXT),
        ("http://c.example/1", None, TEXT + "。"),
    ]
    assert rows(database, "SELECT id, size FROM cluster") == [(fingerprint("http://c.example/1"), 3)]


def test_words_and_the_relevance_of_a_page_are_kept(
    run_in: Callable, leased_urls: dict[str, Lease], database: Database
) -> None:
    url, other = "http://a.example/1", "http://b.example/1"
    run_in(store, done(leased_urls[url], article=article(url, TEXT, relevance=0.123456), terms=(0.5, b"\0a")))
    run_in(store, done(leased_urls[other], article=article(other, "另一篇文章，说的是别的事情。" * 5)))
    assert rows(database, "SELECT url, relevance FROM v_articles ORDER BY url") == [(url, 0.1235), (other, None)]
    assert rows(database, "SELECT url_id, relevance FROM page_terms") == [(leased_urls[url].id, 0.5)]
    run_in(lease_again, leased_urls[url].id)
    run_in(store, done(leased_urls[url], terms=(0.25, b"b")))
    with database.engine.connect() as connection:
        (kept,) = connection.execute(text("SELECT relevance, terms FROM page_terms")).all()
    assert (kept.relevance, bytes(kept.terms)) == (0.25, b"b")


def test_explanation_has_the_settings_of_the_newest_run(
    run_in: Callable, leased_urls: dict[str, Lease], database: Database
) -> None:
    with database.engine.begin() as connection:
        settings = {"text": '{"CRAWL_PRIORITY": {"depth": 2}}'}
        connection.execute(text("UPDATE url SET score_parts = '{\"depth\": 0.5}'"))
        connection.execute(text("UPDATE run SET settings = '{}'"))
        connection.execute(
            text("INSERT INTO run (id, started, machine, pid, alive_until, settings) VALUES (9, '', '', 1, 0, :text)"),
            settings,
        )
        known = explain(connection, "http://a.example/1")
    assert known is not None
    assert (known.parts, known.settings) == ({"depth": 0.5}, {"CRAWL_PRIORITY": {"depth": 2}})
