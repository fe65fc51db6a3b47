"""Clusters: who stands for one, the tree of evidence, what is stored of a copy, and what happens when texts change."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, text

from db.articles import clusters, signatures
from db.articles.apply import absorb
from db.articles.candidates import stored_rows
from db.articles.page_transaction import Store
from db.articles.regroup import group_again
from db.engine.database import Database
from db.frontier import claims, leases, runs
from db.frontier.insert import add_urls
from db.queries.reprints import reprints
from db.records.article import Keep
from db.records.keys import fingerprint
from db.records.outcome import Outcome, Stored
from db.records.url import Lease
from pipelines.dedup.judge import SignatureIndex
from pipelines.search.terms import index_terms
from tests.db.frontier_rows import NOW, article, done, new_url, seed_row, start, wish
from tests.db.stores import METHOD, SIGN, EachTimeNew, real_judge, store_of
from tests.pipelines.dedup.test_stream import programme

HOSTS = ["a.example", "b.example", "c.example", "d.example"]
STORY = "".join(
    f"{place}的工程队昨天修好了第{number}座桥，{who}说通车以后附近{number * 7}户居民不必再绕路。"
    for number, (place, who) in enumerate(
        [("城东", "队长"), ("江北", "工程师"), ("南山", "村民"), ("西岭", "司机"), ("新港", "市长"), ("老街", "店主")],
        3,
    )
)
MORE = STORY + "".join(
    f"记者{name}从{place}发来的补充报道说明了施工中的困难。" for name, place in zip("赵钱孙李", "东西南北", strict=True)
)
OTHER = "".join(
    f"第{number}届邮票展览本周开幕，收藏家{name}带来了三十年前的珍品。"
    for number, name in enumerate("赵钱孙李周吴郑王", 11)
)


def bulletin(day: int) -> str:
    """The weather of a day."""
    cities = "".join(
        f"{city}地区白天的最高气温预计为{day * 3 + n}度，夜间的最低气温预计为{day + n}度，"
        f"降水的概率预计为百分之{day * 9 + n}。"
        for n, city in enumerate(["江州", "临海", "云埠", "青川"], 1)
    )
    return f"市气象台今天早晨发布未来一天的天气预报。{cities}请广大市民出行之前留意最新的天气预报，注意防寒保暖。"


def story(seed: int) -> str:
    """Sentences of words drawn by lot."""
    choose = random.Random(seed)
    return "".join("".join(chr(choose.randrange(0x4E00, 0x9000)) for _ in range(25)) + "。" for _ in range(8))


class Crawl:
    """Pages of several hosts that come one by one."""

    def __init__(self, run_in: Callable, database: Database) -> None:
        self._run_in = run_in
        self._database = database
        run_id = run_in(runs.start_run, start(seed_row("http://a.example/"))).run_id
        run_in(add_urls, (NOW, [new_url(f"http://{host}/{n}") for host in HOSTS for n in range(12)]))
        run_in(leases.take_hosts, (run_id, 9))
        wants = {fingerprint(host): 12 for host in HOSTS}
        self.leases: dict[str, Lease] = {c.url: c for c in run_in(claims.lease, wish(run_id, wants)).urls}

    def outcome(self, host: str, number: int, body: str, **values: Any) -> Outcome:
        """A page with an article, fetched."""
        lease = self.leases[f"http://{host}.example/{number}"]
        self._run_in(_lease, lease.id)
        sign = SIGN("", body)
        signed = {"text_hash": sign.exact, "features": sign.features, "length": sign.length}
        values = {"title": f"{host}的标题", **signed, **values}
        return done(lease, article=article(lease.url, body, **values))

    def come(self, host: str, number: int, body: str, keep: Keep = Keep.METADATA, **values: Any) -> str:
        """The same, stored; returns what became of it."""
        store = EachTimeNew(real_judge(keep=keep)).store
        what: str = self._run_in(store, self.outcome(host, number, body, **values)).article
        return what

    def remove(self, host: str, number: int) -> None:
        """Delete the article of a page, if there is one."""

        def work(connection: Connection) -> None:
            for row in stored_rows(connection, [self.leases[f"http://{host}.example/{number}"].id]).values():
                clusters.remove(connection, row)

        self._database.write(work)

    def come_together(self, store: Store, *outcomes: Outcome) -> list[str]:
        """Pages that are stored in one batch; returns what became of each."""

        return [str(stored.article) for stored in self.batch(store, *outcomes)]

    def store(self, store: Store, host: str, number: int, body: str, **values: Any) -> Stored:
        """A page that is stored by itself."""
        return self.batch(store, self.outcome(host, number, body, **values))[0]

    def batch(self, store: Store, *outcomes: Outcome) -> list[Stored]:
        """Pages that are stored in one batch."""
        results: list[Stored] = self._database.write(lambda connection: store.store(connection, outcomes))
        return results

    def rows(self, sql: str) -> list[tuple]:
        with self._database.engine.connect() as connection:
            return [tuple(row) for row in connection.execute(text(sql))]

    def tree(self) -> dict[str, str]:
        """Which article the evidence of each is about."""
        sql = "SELECT u.url, o.url FROM duplicate d JOIN url u ON u.id = d.article_id JOIN url o ON o.id = d.of_id"
        return {mine[7]: other[7] for mine, other in self.rows(sql)}

    def original(self) -> str:
        """The article that stands for the only cluster of more than one."""
        return str(self.rows("SELECT url FROM cluster c JOIN url u ON u.id = c.id WHERE size > 1")[0][0])[7]


def _lease(connection: Any, ids: list[int]) -> list[int]:
    for key in ids:
        connection.execute(text("UPDATE url SET state = 'leased', leased_by = 1 WHERE id = :key"), {"key": key})
    return ids


@pytest.fixture
def crawl(run_in: Callable, database: Database) -> Crawl:
    return Crawl(run_in, database)


def dated(value: str, precision: str = "minute") -> dict[str, str]:
    return {"published_at": value, "published_precision": precision}


def test_earlier_original_takes_over_and_the_tree_turns(crawl: Crawl) -> None:
    assert crawl.come("b", 1, STORY, **dated("2025-03-02T08:00:00+08:00")) == "new"
    assert crawl.come("c", 1, MORE, **dated("2025-03-03T08:00:00+08:00")) == "duplicate"
    assert crawl.tree() == {"c": "b"}
    assert crawl.come("a", 1, MORE, **dated("2025-03-01T08:00:00+08:00")) == "duplicate"
    assert crawl.original() == "a"
    assert crawl.tree() == {"c": "a", "b": "c"}
    kinds = dict(crawl.rows("SELECT substr(u.url, 8, 1), d.kind FROM duplicate d JOIN url u ON u.id = d.article_id"))
    assert kinds == {"c": "same", "b": "edited"}
    assert {row[0] for row in crawl.rows("SELECT text FROM v_articles")} == {STORY, MORE}
    with_text = crawl.rows("SELECT count(*) FROM article WHERE text != ''")
    assert with_text == [(3,)], "what stood for the cluster once keeps its text"


def test_day_decides_nothing_within_that_day_but_the_source_does(crawl: Crawl) -> None:
    for number in range(3):
        crawl.come("a", 5 + number, story(number), source="晨报", title=f"旧闻{number}")
    assert crawl.come("b", 1, STORY, source="晨报", **dated("2025-03-02", "day")) == "new"
    assert crawl.come("a", 1, STORY, source="晨报", **dated("2025-03-02T09:00:00+08:00")) == "duplicate"
    assert crawl.original() == "a", "its site is the 晨报"


def test_guessed_year_decides_nothing(crawl: Crawl) -> None:
    assert crawl.come("b", 1, STORY, **dated("2025-03-02T08:00:00+08:00")) == "new"
    assert crawl.come("a", 1, STORY, **dated("2025-03-01T08:00:00+08:00", "guess")) == "duplicate"
    assert crawl.original() == "b"


def test_guessed_year_stays_until_a_page_states_one(crawl: Crawl) -> None:
    known = "SELECT published_at, published_precision FROM v_articles"
    for stated, kept in (
        (dated("2025-03-02T08:00+08:00", "guess"), ("2025-03-02T08:00+08:00", "guess")),
        (dated("2026-03-02T08:00+08:00", "guess"), ("2025-03-02T08:00+08:00", "guess")),
        (dated("2024-03-02", "day"), ("2024-03-02", "day")),
        (dated("2026-03-02T08:00+08:00", "guess"), ("2024-03-02", "day")),
    ):
        crawl.come("a", 1, STORY, **stated)
        assert crawl.rows(known) == [kept]


def test_name_of_the_site_in_the_source_is_enough(crawl: Crawl) -> None:
    crawl.come("b", 1, STORY, source="来自 A.example")
    crawl.come("a", 1, STORY)
    assert crawl.original() == "a"


def test_site_that_writes_its_own_is_the_better_original(crawl: Crawl) -> None:
    for number in range(4):
        crawl.come("a", 4 + number, story(number), title=f"头条{number}")
        crawl.come("b", 4 + number, story(number), title=f"转载{number}")
    crawl.come("b", 1, STORY)
    crawl.come("a", 1, STORY)
    clusters = crawl.rows(f"SELECT size FROM cluster WHERE id = {fingerprint('http://a.example/1')}")
    assert clusters == [(2,)]


def test_without_any_sign_the_first_stays(crawl: Crawl) -> None:
    crawl.come("b", 1, STORY)
    crawl.come("a", 1, STORY)
    assert crawl.original() == "b"


def test_article_that_repeats_two_clusters_makes_them_one(crawl: Crawl) -> None:
    one, two = story(1), story(1)[:50] + story(2)[50:150] + story(1)[150:]
    middle = story(1)[:100] + story(2)[100:150] + story(1)[150:]
    assert crawl.come("a", 1, one, **dated("2025-03-03T08:00:00+08:00")) == "new"
    assert crawl.come("b", 1, two, **dated("2025-03-01T08:00:00+08:00")) == "new"
    assert crawl.come("c", 1, middle, **dated("2025-03-04T08:00:00+08:00")) == "duplicate"
    assert crawl.original() == "b"
    assert crawl.rows("SELECT size FROM cluster") == [(3,)]
    assert crawl.tree() == {"a": "c", "c": "b"}
    assert crawl.rows("SELECT count(*) FROM article WHERE duplicate_of IS NOT NULL") == [(2,)]


@pytest.mark.parametrize("keep", list(Keep))
def test_stored_columns_of_a_copy(crawl: Crawl, keep: Keep) -> None:
    crawl.come("a", 1, STORY, title="桥修好了")
    what = crawl.come("b", 1, STORY, keep=keep, html="<p>html</p>")
    stored = crawl.rows(f"SELECT text, html, text_chars FROM article WHERE id = {fingerprint('http://b.example/1')}")
    expected = {
        Keep.NOTHING: ("dropped", []),
        Keep.METADATA: ("duplicate", [("", "", len(STORY))]),
        Keep.ALL: ("duplicate", [(STORY, "<p>html</p>", len(STORY))]),
    }
    assert (what, stored) == expected[keep]
    assert crawl.tree() == {"b": "a"}, "the evidence stays in any case"
    url = crawl.rows("SELECT state, reason, same_as FROM url WHERE url = 'http://b.example/1'")
    reason = ("duplicate", fingerprint("http://a.example/1")) if keep is Keep.NOTHING else (None, None)
    assert url == [("done", *reason)]


def test_copy_that_is_not_stored_and_comes_again_has_its_new_evidence_alone(crawl: Crawl) -> None:
    crawl.come("a", 1, STORY)
    crawl.come("b", 1, OTHER)
    for body in (STORY, STORY, OTHER):
        assert crawl.come("c", 1, body, keep=Keep.NOTHING) == "dropped"
    assert crawl.tree() == {"c": "b"}
    assert crawl.rows("SELECT count(*) FROM duplicate") == [(1,)]


def test_copy_with_wording_of_its_own_keeps_its_text_and_finds_copies(crawl: Crawl) -> None:
    crawl.come("a", 1, STORY)
    crawl.come("b", 1, MORE)
    assert crawl.rows("SELECT text FROM article WHERE duplicate_of IS NOT NULL") == [(MORE,)]
    crawl.come("c", 1, MORE[len(STORY) // 2 :])
    assert crawl.tree() == {"b": "a", "c": "b"}


TRADITIONAL = "城東的工程隊昨天修好了第三座橋，隊長說通車以後附近二十一戶居民不必再繞路。" * 3
SIMPLIFIED = "城东的工程队昨天修好了第三座桥，队长说通车以后附近二十一户居民不必再绕路。" * 3


def texts(crawl: Crawl) -> dict[str, str]:
    """What the view shows of each article."""
    return {url[7:]: body for url, body in crawl.rows("SELECT url, text FROM v_articles")}


@pytest.mark.parametrize("other", [TRADITIONAL, SIMPLIFIED.replace("，", ", "), SIMPLIFIED.replace("。", "。\n")])
def test_copy_in_another_script_or_with_other_signs_is_shown_in_its_own(crawl: Crawl, other: str) -> None:
    crawl.come("a", 1, SIMPLIFIED)
    assert crawl.come("b", 1, other) == "duplicate"
    assert crawl.come("c", 1, other) == "duplicate"
    assert crawl.come("d", 1, SIMPLIFIED) == "duplicate"
    shown = texts(crawl)
    assert shown == {"a.example/1": SIMPLIFIED, "b.example/1": other, "c.example/1": other, "d.example/1": SIMPLIFIED}
    assert crawl.rows("SELECT count(*) FROM article WHERE text = ''") == [(2,)], "each text is stored once"
    assert crawl.tree() == {"b": "a", "c": "b", "d": "a"}


def test_near_copy_is_shown_in_its_own_words(crawl: Crawl) -> None:
    slip = STORY.replace("昨天", "昨日", 1)
    crawl.come("a", 1, STORY)
    assert crawl.come("b", 1, slip) == "duplicate"
    assert texts(crawl) == {"a.example/1": STORY, "b.example/1": slip}


@pytest.mark.parametrize("changed", ["a", "b", "c"])
def test_page_that_changes_its_script_changes_its_own_text_alone(
    crawl: Crawl, database: Database, changed: str
) -> None:
    for host in "abc":
        crawl.come(host, 1, SIMPLIFIED)
    assert crawl.come(changed, 1, TRADITIONAL, seen="2025-01-02T00:00:00+00:00") == "updated"
    expected = {f"{host}.example/1": TRADITIONAL if host == changed else SIMPLIFIED for host in "abc"}
    assert texts(crawl) == expected
    assert crawl.come(changed, 1, TRADITIONAL, seen="2025-01-02T00:00:00+00:00") == "unchanged"
    assert crawl.come("d", 1, SIMPLIFIED) == "duplicate"
    with database.engine.connect() as connection:
        found = signatures.check(connection, METHOD.form, SIGN)
    assert (found.missing, found.orphans, found.wrong) == ([], [], [])


def test_earlier_copy_is_stored_whatever_the_policy(crawl: Crawl) -> None:
    crawl.come("a", 1, STORY, **dated("2025-03-02T08:00:00+08:00"))
    assert crawl.come("b", 1, STORY, keep=Keep.NOTHING, **dated("2025-03-01T08:00:00+08:00")) == "duplicate"
    assert crawl.original() == "b"
    assert crawl.rows("SELECT count(*) FROM article WHERE text = ''") == [(0,)]


def test_copy_that_comes_again_unchanged_is_unchanged(crawl: Crawl) -> None:
    crawl.come("a", 1, STORY)
    crawl.come("b", 1, STORY)
    assert crawl.come("b", 1, STORY) == "unchanged"
    assert crawl.rows("SELECT count(*) FROM article_version") == [(0,)]


def test_copy_that_becomes_another_text_leaves_its_cluster(crawl: Crawl) -> None:
    crawl.come("a", 1, STORY)
    crawl.come("b", 1, STORY)
    assert crawl.come("b", 1, OTHER, seen="2025-01-02T00:00:00+00:00") == "updated"
    assert crawl.rows("SELECT size FROM cluster ORDER BY id") == [(1,), (1,)]
    assert crawl.rows("SELECT count(*) FROM duplicate") == [(0,)]
    assert crawl.come("c", 1, OTHER) == "duplicate", "it is found by its new text"
    assert crawl.tree() == {"c": "b"}


def test_copy_that_is_still_one_after_a_change_keeps_its_text(crawl: Crawl) -> None:
    crawl.come("a", 1, STORY)
    crawl.come("b", 1, STORY)
    crawl.come("b", 1, MORE, seen="2025-01-02T00:00:00+00:00")
    assert crawl.rows("SELECT text FROM article WHERE duplicate_of IS NOT NULL") == [(MORE,)]
    assert crawl.rows("SELECT size FROM cluster") == [(2,)]


def test_new_text_of_an_article_is_found_and_a_version_is_no_duplicate(crawl: Crawl) -> None:
    crawl.come("a", 1, STORY)
    assert crawl.come("a", 1, OTHER, seen="2025-01-02T00:00:00+00:00") == "updated"
    assert crawl.come("b", 1, OTHER) == "duplicate"
    assert crawl.rows("SELECT count(*) FROM article_version") == [(1,)]


def test_bulletins_are_kept_apart_with_their_evidence(crawl: Crawl) -> None:
    assert crawl.come("a", 1, bulletin(3), title="天气") == "new"
    assert crawl.come("a", 2, bulletin(8), title="天气") == "new"
    assert crawl.rows("SELECT kind FROM duplicate") == [("template",)]
    assert crawl.rows("SELECT count(*) FROM article WHERE duplicate_of IS NULL") == [(2,)]


def test_tree_for_people(crawl: Crawl, database: Database) -> None:
    crawl.come("a", 1, STORY, source="晨报")
    crawl.come("b", 1, MORE)
    crawl.come("c", 1, MORE, keep=Keep.NOTHING)
    with database.engine.connect() as connection:
        for host in "abc":
            found = reprints(connection, f"http://{host}.example/1", 10)
            assert found is not None
            assert [one.url for one in found.articles] == ["http://a.example/1", "http://b.example/1"]
        assert found.size == 2
        assert found.articles[1].of_id == found.articles[0].id
        assert reprints(connection, "http://d.example/1", 10) is None
        assert reprints(connection, "http://nowhere.example/", 10) is None


def test_text_of_copies_stays_when_the_original_changes(crawl: Crawl) -> None:
    for host in "abc":
        crawl.come(host, 1, STORY)
    crawl.come("a", 1, OTHER, seen="2025-01-02T00:00:00+00:00")
    assert dict(crawl.rows("SELECT url, text FROM v_articles")) == {
        "http://a.example/1": OTHER,
        "http://b.example/1": STORY,
        "http://c.example/1": STORY,
    }
    assert crawl.rows("SELECT count(*) FROM article WHERE text = ''") == [(1,)], "one of the copies has it"
    assert crawl.come("d", 1, MORE) == "duplicate", "what they repeated is still found"


def test_copy_in_one_batch_with_a_change_of_the_holder_of_its_text_points_to_the_heir(crawl: Crawl) -> None:
    old, recent = "2025-01-01T00:00:00+00:00", "2025-02-01T00:00:00+00:00"
    crawl.come("a", 1, STORY + OTHER, seen=old)
    crawl.come("b", 1, STORY, seen=old)  # a part, which holds its text though it stands for nothing
    crawl.come("c", 1, STORY, seen=old)
    crawl.come("d", 1, STORY, seen=recent)
    of = """SELECT substr(u.url, 8), substr(holder.url, 8)
        FROM article a JOIN url u ON u.id = a.id JOIN url holder ON holder.id = a.text_holder"""
    assert dict(crawl.rows(of)) == {"c.example/1": "b.example/1", "d.example/1": "b.example/1"}
    window = Store(1, real_judge(window=7), SignatureIndex(METHOD, 7), store_of().joiner, index_terms)
    update = crawl.outcome("b", 1, OTHER, seen="2025-01-02T00:00:00+00:00")  # the other part: of the same cluster
    copy = crawl.outcome("a", 2, STORY, seen=recent)  # all but one of the cluster are too old to be looked up
    assert crawl.come_together(window, update, copy) == ["updated", "duplicate"]
    assert dict(crawl.rows(of)) == {"d.example/1": "c.example/1", "a.example/2": "c.example/1"}
    texts = dict(crawl.rows("SELECT substr(url, 8), text FROM v_articles"))
    assert (texts["b.example/1"], texts["a.example/2"]) == (OTHER, STORY)


def test_evidence_makes_no_circle_when_copies_change(crawl: Crawl) -> None:
    crawl.come("a", 1, STORY)
    crawl.come("b", 1, MORE)
    crawl.come("c", 1, MORE + story(1)[:52])
    assert crawl.tree() == {"b": "a", "c": "b"}
    crawl.come("b", 1, MORE + story(1)[:52], seen="2025-01-02T00:00:00+00:00")
    assert crawl.tree() == {"b": "c", "c": "a"}


def _edited(draw: random.Random, text: str) -> str:
    """A copy: whole, cut, longer, or with some characters changed."""
    sentences = text.split("。")[:-1]
    what = draw.randrange(4)
    if what == 1:
        sentences = sentences[draw.randrange(len(sentences)) :]
    if what == 2:
        sentences += story(draw.randrange(100)).split("。")[: draw.randrange(1, 4)]
    characters = list("。".join(sentences) + "。")
    if what == 3:
        for place in draw.sample(range(len(characters)), draw.randrange(1, 20)):
            characters[place] = chr(draw.randrange(0x4E00, 0x9000))
    return "".join(characters)


def copies_of(seed: int) -> list[str]:
    """A story of some 200 characters as five pages have it."""
    told, draw = story(seed), random.Random(-seed)
    added = "".join(chr(draw.randrange(0x4E00, 0x9000)) for _ in range(180)) + "。"
    return [
        told,
        told.replace("。", "，", 3),
        added + told,
        told[: len(told) * 3 // 4],
        "（记者报道）" + told[26:] + told[:26],
    ]


def _edits() -> list[str]:
    draw, texts = random.Random(1), [story(1), story(2)]
    for _ in range(8):
        texts.append(_edited(draw, draw.choice(texts)))
    return texts


def assert_whole(crawl: Crawl, database: Database) -> None:
    """Check that one article of each cluster stands for it and nothing dangles."""
    stored = {row[0]: row for row in crawl.rows("SELECT id, cluster_id, duplicate_of, text, text_holder FROM article")}
    above = dict(crawl.rows("SELECT article_id, of_id FROM duplicate WHERE kind NOT IN ('template', 'quotes')"))
    above = {key: of for key, of in above.items() if key in stored}  # copies that are not stored have evidence
    sizes = dict(crawl.rows("SELECT id, size FROM cluster"))
    assert sizes == Counter(cluster_id for _, cluster_id, *_ in stored.values())
    assert set(above) == {key for key, row in stored.items() if row[2] is not None}
    for key, cluster_id, duplicate_of, text_, text_holder in stored.values():
        assert duplicate_of in {None, cluster_id}
        assert (duplicate_of is None) == (key == cluster_id)
        assert bool(text_) == (text_holder is None)
        assert text_holder is None or stored[text_holder][3]
        chain = [key]
        while chain[-1] in above:
            assert above[chain[-1]] not in chain
            chain.append(above[chain[-1]])
        assert chain[-1] == cluster_id
    with database.engine.connect() as connection:
        found = signatures.check(connection, METHOD.form, SIGN)
    assert (found.missing, found.orphans, found.wrong) == ([], [], [])
    assert_counted(crawl)


def assert_counted(crawl: Crawl) -> None:
    """Check that the counters of sites and sources say what is stored."""
    kinds = "sum(CASE WHEN duplicate_of IS NULL THEN 1 ELSE 0 END), count(duplicate_of)"
    stored = crawl.rows(f"SELECT site_id, {kinds} FROM article GROUP BY site_id ORDER BY site_id")
    counted = "SELECT id, originals, reprints FROM site WHERE originals <> 0 OR reprints <> 0 ORDER BY id"
    assert crawl.rows(counted) == stored
    named = "SELECT site_id, source, count(*) FROM article WHERE source <> '' GROUP BY site_id, source ORDER BY 1, 2"
    counted = "SELECT site_id, source, articles FROM source_attribution WHERE articles <> 0 ORDER BY 1, 2"
    assert crawl.rows(counted) == crawl.rows(named)


PLACES = [(host, number) for host in "abcd" for number in range(3)]
TOLD = (story(9) + story(10) + story(11))[:421]
POOL = [
    TOLD,
    story(12)[:199] + TOLD + story(13)[:199],
    *copies_of(1),
    *copies_of(2)[:3],
    *(programme(number) for number in range(4)),
    f"据报道，{programme(1)}",
    *_edits(),
]
EVENT = st.tuples(st.sampled_from(PLACES), st.integers(0, len(POOL)), st.integers(0, 28), st.booleans())


@settings(
    max_examples=settings.default.max_examples // 6,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(events=st.lists(EVENT, min_size=12, max_size=24), keep=st.sampled_from(Keep))
def test_clusters_stay_whole_whatever_comes(
    crawl: Crawl, database: Database, events: list[tuple[tuple[str, int], int, int, bool]], keep: Keep
) -> None:
    store = store_of(judge=real_judge(0.65, keep=keep))
    batch: dict[tuple[str, int], Outcome] = {}
    for step, (page, of, day, ends) in enumerate(events):
        if ends or page in batch or of == len(POOL):
            crawl.come_together(store, *batch.values())
            batch.clear()
        if of == len(POOL):
            crawl.remove(*page)
        else:
            values = dated(f"2025-03-{day:02}T08:00:00+08:00") if day else {}
            seen = f"2025-01-01T00:00:{step:02}+00:00"
            values |= {"source": ["", "晨报", "晚报"][day % 3], "title": "".join(map(str, page)), "seen": seen}
            batch[page] = crawl.outcome(*page, POOL[of], **values)
    crawl.come_together(store, *batch.values())
    assert_whole(crawl, database)
    for page in PLACES:
        crawl.remove(*page)
    left = [crawl.rows(f"SELECT count(*) FROM {name}")[0][0] for name in ("article", "cluster", "image")]
    assert left == [0, 0, 0]
    assert crawl.rows("SELECT * FROM signature WHERE article_id <> 0") == []
    assert_counted(crawl)


APART = text("UPDATE article SET duplicate_of = NULL")
TIED = (
    "SELECT id, cluster_id, duplicate_of FROM article ORDER BY id",
    "SELECT * FROM duplicate ORDER BY article_id",
    "SELECT * FROM cluster ORDER BY id",
    "SELECT id, originals, reprints FROM site ORDER BY id",
    "SELECT * FROM source_attribution ORDER BY site_id, source",
    "SELECT article_id, day, length, features, fresh FROM signature WHERE article_id <> 0 ORDER BY article_id",
    "SELECT article_id, cluster_id FROM search_document ORDER BY article_id",
)


@pytest.mark.parametrize("seed", [1, 2])
def test_articles_grouped_again_are_as_they_came(crawl: Crawl, database: Database, seed: int) -> None:
    draw = random.Random(seed)
    texts = [story(1), story(2)]
    for step, (host, number) in enumerate((host, number) for number in range(8) for host in "abcd"):
        texts.append(_edited(draw, draw.choice(texts)))
        values = dated(f"2025-03-{draw.randrange(1, 28):02}T08:00:00+08:00") if draw.random() < 0.6 else {}
        crawl.come(
            host, number, texts[-1], source=draw.choice(["", "a"]), seen=f"2025-01-01T00:00:{step:02}+00:00", **values
        )
    before = [crawl.rows(sql) for sql in TIED]
    assert len(before[1]) > 5
    database.write(lambda connection: connection.execute(APART))

    def again(connection: Connection) -> int:
        return group_again(
            connection, real_judge(), SignatureIndex(METHOD, None), lambda one: SIGN(one.title, one.text)
        )

    assert database.write(again) == len(before[0])
    assert [crawl.rows(sql) for sql in TIED] == before
    with database.engine.connect() as connection:
        assert not signatures.check(connection, METHOD.form, SIGN)


def test_numbers_count_up_and_none_comes_again(crawl: Crawl, database: Database) -> None:
    crawl.come("a", 1, STORY)
    crawl.come("a", 2, OTHER)
    first, second = (number for (number,) in crawl.rows("SELECT number FROM article ORDER BY number"))
    assert second == first + 1
    database.write(lambda connection: [connection.execute(text(f"DELETE FROM {n}")) for n in ("cluster", "article")])
    crawl.come("b", 1, story(1), seen="2025-01-01T00:00:01+00:00")
    assert crawl.rows("SELECT number FROM article")[0][0] > second


def test_memberships_come_and_change_with_their_article(crawl: Crawl) -> None:
    def memberships() -> list[tuple]:
        return crawl.rows("SELECT name, membership FROM article_class ORDER BY membership DESC")

    crawl.come("a", 1, STORY, classes="sport", memberships=[("sport", 0.75), ("travel", 0.25)])
    assert memberships() == [("sport", 0.75), ("travel", 0.25)]
    crawl.come("a", 1, OTHER, classes="culture", memberships=[("culture", 0.5)])
    assert memberships() == [("culture", 0.5)]
    crawl.come("a", 1, OTHER, classes="culture", memberships=[("culture", 0.7), ("travel", 0.1)])
    assert memberships() == [("culture", 0.7), ("travel", 0.1)], "nothing else of it has changed"
    crawl.come("a", 1, OTHER, seen="2025-01-02T00:00:00+00:00")
    assert memberships() == []


@pytest.mark.parametrize("seed", range(2))
def test_one_article_stands_for_a_story_whatever_the_order(crawl: Crawl, seed: int) -> None:
    draw = random.Random(seed)
    pages = [
        (HOSTS[place % 4][0], of + 6 * (place // 4), of, body)
        for of in range(6)
        for place, body in enumerate(copies_of(of + 1))
    ]
    draw.shuffle(pages)
    store = store_of(judge=real_judge())
    while pages:
        batch = [pages.pop() for _ in range(min(len(pages), draw.randint(1, 5)))]
        crawl.come_together(store, *(crawl.outcome(host, n, body, title=f"{host}{n}题") for host, n, _, body in batch))
    sizes = crawl.rows("SELECT size FROM cluster")
    assert sizes == [(5,)] * 6
    alone = crawl.rows("SELECT count(*) FROM article WHERE duplicate_of IS NULL AND cluster_id = id")
    tied = crawl.rows("SELECT count(*) FROM article JOIN cluster c ON c.id = cluster_id WHERE duplicate_of = c.id")
    assert (alone, tied) == ([(6,)], [(24,)])
    assert_counted(crawl)


def test_story_that_two_clusters_hold_as_a_whole_makes_them_one(crawl: Crawl) -> None:
    told = story(1)
    for order in ("bca", "abc", "cab"):
        first = 3 * ["bca", "abc", "cab"].index(order)
        bodies = {"a": told, "b": told + story(2 + first)[:180], "c": story(3 + first)[:180] + told}
        if order != "bca":
            bodies = {name: body.replace(told, story(50 + first)) for name, body in bodies.items()}
        for name in order:
            crawl.come(name, first, bodies[name], title=f"{name}{first}题")
    assert crawl.rows("SELECT size FROM cluster") == [(3,)] * 3


@pytest.mark.parametrize("together", [1, 3, 6])
def test_third_of_a_kind_frees_the_second(crawl: Crawl, database: Database, together: int) -> None:
    pages = [("abcd"[n % 4], n, programme(n)) for n in range(3)]
    pages[2:2] = [("c", 5, programme(1)), ("d", 4, f"据报道，{programme(1)}")]
    store = store_of(judge=real_judge(0.65))
    outcomes = [crawl.outcome(host, n, body, title=f"{n}题") for host, n, body in pages]
    crawl.come_together(store, *outcomes[:4])
    assert crawl.rows("SELECT size FROM cluster") == [(4,)], "nothing shows yet that they are no reprints"
    outcomes += [crawl.outcome("a", 6, programme(3), title="6题"), crawl.outcome("b", 7, programme(1), title="7题")]
    for first in range(4, 7, together):
        crawl.come_together(store_of(judge=real_judge(0.65)), *outcomes[first : first + together])
    assert_whole(crawl, database)
    kinds = "SELECT u.url, d.kind FROM duplicate d JOIN url u ON u.id = d.article_id WHERE u.url LIKE '%b.example/1'"
    assert crawl.rows(kinds) == [("http://b.example/1", "template")]
    stands = "SELECT o.url, size FROM cluster JOIN url o ON o.id = cluster.id ORDER BY o.url"
    assert crawl.rows(stands) == [(f"http://{name}", size) for name, size in WHOLE]
    assert crawl.rows("SELECT sum(originals), sum(reprints) FROM site") == [(4, 3)]
    stories = crawl.rows("SELECT cluster, count(*) FROM signature WHERE article_id <> 0 GROUP BY cluster")
    assert len(stories) == 4


def test_freed_article_is_handed_on_and_numbered_as_new(crawl: Crawl) -> None:
    store = store_of(judge=real_judge(0.65))
    stored = [crawl.store(store, "abcd"[n % 4], n, programme(n), title=f"{n}题") for n in range(3)]
    late = crawl.leases["http://b.example/1"].id
    assert [one.article for one in stored] == ["new", "duplicate", "new"]
    assert [one.beside for one in stored] == [[], [], [late]]
    numbered = "SELECT substr(url, 8) FROM article JOIN url ON url.id = article.id ORDER BY number"
    assert crawl.rows(numbered) == [("a.example/0",), ("c.example/2",), ("b.example/1",)]
    assert_counted(crawl)


def test_freed_article_of_the_same_batch_is_handed_on_once(crawl: Crawl) -> None:
    store = store_of(judge=real_judge(0.65))
    pages = [crawl.outcome("abcd"[n % 4], n, programme(n), title=f"{n}题") for n in range(3)]
    results: list[Stored] = crawl.batch(store, *pages)
    assert [one.article for one in results] == ["new", "duplicate", "new"]
    assert [one.beside for one in results] == [[], [], []]
    assert crawl.rows("SELECT count(*) FROM article WHERE duplicate_of IS NULL") == [(3,)]


def test_copy_that_takes_the_place_of_a_merged_article_is_handed_on(crawl: Crawl, database: Database) -> None:
    for host in "abc":
        crawl.come(host, 1, STORY, source="晨报")
    first, second = (crawl.leases[f"http://{host}.example/1"].id for host in "ab")
    assert database.write(lambda connection: absorb(connection, second, [first])) == [second]
    assert crawl.rows("SELECT id FROM article WHERE duplicate_of IS NULL") == [(second,)]
    assert crawl.rows("SELECT id FROM article ORDER BY number")[-1] == (second,)
    assert_counted(crawl)
    third = crawl.leases["http://c.example/1"].id
    assert database.write(lambda connection: absorb(connection, second, [third])) == []
    assert_counted(crawl)


def test_removed_article_leaves_its_place_to_a_copy_of_another_site(crawl: Crawl) -> None:
    for host in "abc":
        crawl.come(host, 1, STORY)
    crawl.remove("a", 1)
    assert_counted(crawl)
    crawl.remove("c", 1)
    assert_counted(crawl)


WHOLE = [("a.example/0", 1), ("a.example/6", 1), ("b.example/1", 4), ("c.example/2", 1)]


def page_facts(crawl: Crawl) -> list[tuple]:
    """What is stored of the only article, and under which URL."""
    columns = "v.url, v.authors, v.source, v.section, v.tags, v.description, v.published_at, v.text, i.url"
    return crawl.rows(f"SELECT {columns} FROM v_articles v LEFT JOIN image i ON i.article_id = CAST(v.id AS BIGINT)")


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
@pytest.mark.parametrize("images", [(), (("http://a.example/own.png", ""),)])
def test_article_of_two_addresses_has_what_either_says(crawl: Crawl, order: tuple[int, int], images: tuple) -> None:
    day, minute, first = "2025-03-02", "2025-03-02T08:00:00+08:00", crawl.leases["http://a.example/1"].id
    said: dict[int, dict[str, Any]] = {
        1: {"published_at": day, "published_precision": "day", "authors": "赵一", "images": images},
        2: {
            **{"published_at": minute, "published_precision": "minute", "authors": "钱二", "source": "晨报"},
            **{"section": "社会", "tags": "桥", "description": "桥", "images": (("http://a.example/other.png", ""),)},
            **{"canonical_id": first},
        },
    }
    for number in order:
        outcome = crawl.outcome("a", number, STORY, **said[number])
        crawl.batch(store_of(judge=real_judge()), replace(outcome, same_as=said[number].get("canonical_id")))
    picture = images[0][0] if images else "http://a.example/other.png"
    facts = ("赵一", "晨报", "社会", "桥", "桥", minute, STORY)
    assert page_facts(crawl) == [("http://a.example/1", *facts, picture)]
    assert_counted(crawl)
    before = page_facts(crawl)
    crawl.come("a", 1, STORY, **said[1])
    assert page_facts(crawl) == before, "its page says no more than before"
