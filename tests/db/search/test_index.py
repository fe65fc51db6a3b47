"""The full-text index is what a rebuild would make it, whatever was written, and finds a bounded number."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

from db.articles import apply, clusters, signatures
from db.articles.candidates import stored_rows
from db.engine.database import Database, open_for_reading
from db.frontier.insert import add_urls
from db.records.article import NewArticle, Renewal
from db.records.keys import fingerprint
from db.records.search import TERM_FIELDS, IndexedArticle, IndexForm, SearchFilter
from db.search import find, index
from pipelines.dedup.judge import SignatureIndex
from pipelines.search.terms import index_terms, is_current
from tests.db.frontier_rows import NOW, article, new_url
from tests.db.stores import METHOD, SIGN, real_judge

pytestmark = pytest.mark.dialects

URLS = [f"http://{host}.example/{n}" for host in "abc" for n in range(6)]
STORIES = [
    "".join(f"{place}的第{n}座桥昨天通车，{who}说附近居民不必再绕路。" for n, who in enumerate(people, 3))
    for place, people in (("城东", "赵钱孙李周"), ("江北", "吴郑王冯陈"), ("南山", "褚卫蒋沈韩"), ("Hekou", "abcde"))
]
NOTHING = SearchFilter()


class Desk:
    """Writes articles, moves, merges and removes them, by lot."""

    def __init__(self, database: Database, seed: int) -> None:
        self.database = database
        self._draw = random.Random(seed)
        self._signatures = SignatureIndex(METHOD, None)
        self._seen = 0
        database.write(lambda connection: add_urls(connection, [(NOW, [new_url(url) for url in URLS])]))

    def step(self, connection: Connection) -> None:
        """Do something to the articles."""
        signatures.lock_articles(connection)
        signatures.catch_up(connection, self._signatures)
        stored = sorted(stored_rows(connection, [fingerprint(url) for url in URLS]))
        what = self._draw.random()
        if stored and what < 0.15:
            clusters.remove(connection, self._one(connection, stored))
        elif len(stored) > 1 and what < 0.3:
            into, other = self._draw.sample(stored, 2)
            apply.absorb(connection, into, [other], self._draw.choice([None, lambda _old, _new: True]))
        elif stored and what < 0.4:
            free = [url for url in URLS if fingerprint(url) not in stored]
            if free:
                apply.absorb(connection, fingerprint(self._draw.choice(free)), [self._draw.choice(stored)])
        else:
            self._write(connection)

    def _one(self, connection: Connection, stored: list[int]) -> Any:
        """The row of one of the articles."""
        key = self._draw.choice(stored)
        return stored_rows(connection, [key])[key]

    def _write(self, connection: Connection) -> None:
        renewal = self._draw.choice(list(Renewal))
        new = [self._article() for _ in range(self._draw.randint(1, 3))]
        new = list({one.id: one for one in new}.values())
        apply.add(connection, new, real_judge(), self._signatures, renewal=renewal, make_terms=index_terms)

    def _article(self) -> NewArticle:
        self._seen += 1
        body = self._draw.choice(STORIES)
        body += self._draw.choice(["", "", "另有补充报道。" * self._draw.randint(1, 9), "\n阅读 1"])
        sign = SIGN("", body)
        values: dict[str, Any] = {"text_hash": sign.exact, "features": sign.features, "length": sign.length}
        values["title"] = self._draw.choice(["", "大桥通车", "大橋通車", f"消息 {self._seen}"])
        values["source"] = self._draw.choice(["", "新华社", "本报"])
        values["authors"] = self._draw.choice(["", "李四"])
        values["description"] = self._draw.choice(["", "桥的消息"])
        values["tags"] = self._draw.choice(["", "大桥、交通"])
        values["section"] = self._draw.choice(["", "国内"])
        values["classes"] = self._draw.choice(["", "sport", "sport、travel"])
        day = self._draw.randint(10, 28)
        stated = f"2024-03-{day}", f"2024-05-{day}T08:00+08:00"
        values |= self._draw.choice([{}, *({"published_at": one, "published_precision": "day"} for one in stated)])
        seen = f"2025-01-01T00:{self._seen // 60:02}:{self._seen % 60:02}+00:00"
        new = article(self._draw.choice(URLS), body, seen=seen, **values)
        terms = index_terms(*(getattr(new, name) for name in TERM_FIELDS))
        known = self._draw.random() < 0.5  # as from a worker; the others as parts are joined
        return replace(new, index_terms=terms) if known else new


def contents(connection: Connection) -> dict[int, tuple[Any, ...]]:
    """The index by article: facts, terms and words, but for marks of numbers, which a rebuild gives anew."""
    rows = {row.number: row for row in connection.execute(text("SELECT * FROM search_document"))}
    if connection.dialect.name == "sqlite":
        held = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.held USING fts5vocab(main, search_words, instance)"
        connection.execute(text(held))
        pairs = connection.execute(text("SELECT doc, term FROM temp.held")).all()
    else:
        pairs = connection.execute(text("SELECT number, unnest(tsvector_to_array(words)) FROM search_document")).all()
    words: dict[int, set[str]] = {}
    for number, word in pairs:
        if not word.startswith("_b"):
            words.setdefault(number, set()).add(word)
    facts = ("site_id", "cluster_id", "time", "day", "language", "source", "section", "classes", "terms")
    return {
        row.article_id: (*(row._mapping[name] for name in facts), frozenset(words.get(number, ())))
        for number, row in rows.items()
        if row.article_id is not None
    }


class _Undo(Exception):
    pass


def rebuilt(database: Database) -> dict[int, tuple[Any, ...]]:
    """What a rebuild would make of it, which is then undone."""
    found: list[dict[int, tuple[Any, ...]]] = []

    def look(connection: Connection) -> None:
        index.rebuild(connection, index_terms, lambda _: None)
        found.append(contents(connection))
        raise _Undo

    with pytest.raises(_Undo):
        database.write(look)
    return found[0]


@pytest.mark.parametrize("seed", [1, 2])
def test_index_is_what_a_rebuild_makes_after_any_writes(database: Database, seed: int) -> None:
    desk = Desk(database, seed)
    sizes = set()
    for _ in range(12):
        for _ in range(4):
            database.write(desk.step)
        held = database.read(contents)
        ids = set(database.read(lambda connection: connection.execute(text("SELECT id FROM article")).scalars()))
        assert set(held) == ids
        assert held == rebuilt(database)
        sizes.add(len(held))
    assert len(sizes) > 2
    assert max(sizes) > 5


def test_index_of_a_write_that_failed_is_as_before(database: Database) -> None:
    desk = Desk(database, 3)
    database.write(desk.step)
    before = database.read(contents)

    def fail(connection: Connection) -> None:
        for _ in range(5):
            desk.step(connection)
        raise _Undo

    with pytest.raises(_Undo):
        database.write(fail)
    assert database.read(contents) == before


def test_number_is_never_given_twice(database: Database) -> None:
    """Of the words of a number that is gone FTS5 keeps all."""

    def numbers(connection: Connection) -> list[int]:
        index.insert(connection, [indexed(1, "old")])
        index.remove(connection, [1])
        index.insert(connection, [indexed(2, "new")])
        return [row.article_id for row in find.candidates(connection, [("old",)], NOTHING, 10).rows]

    assert database.write(numbers) == []


def test_rebuild_that_is_killed_leaves_the_index_as_it_was(sqlite_tables: str, tmp_path: Path) -> None:
    path = tmp_path / "news.db"
    path.write_bytes(Path(sqlite_tables).read_bytes())
    url = f"sqlite:///{path}"
    code = """
import os, sys
from db.engine.database import open_for_crawl
from db.search import index
from pipelines.search.terms import index_terms, is_current
from tests.db.search.test_index import Desk
database = open_for_crawl(sys.argv[1])
desk = Desk(database, 4)
for _ in range(5):
    database.write(desk.step)
os.write(1, b"written")
database.write(lambda one: index.rebuild(one, index_terms, lambda _: os.kill(os.getpid(), 9)))
"""
    died = subprocess.run([sys.executable, "-c", code, url], capture_output=True, check=False)
    assert (died.returncode, died.stdout) == (-signal.SIGKILL, b"written"), died.stderr
    database = open_for_reading(url)
    with database.engine.connect() as connection:
        count = connection.execute(text("SELECT count(*) FROM article")).scalar_one()
        found = find.candidates(connection, [("桥",), ("通车",), ("_lzh",)], NOTHING, 100)
    database.close()
    assert len(found.rows) == count > 2


def indexed(key: int, words: str, **values: Any) -> IndexedArticle:
    """A row of an article that is nowhere else."""
    defaults: dict[str, Any] = {
        "site_id": 1,
        "cluster_id": key,
        "time": 86_400 * key,
        "day": key,
        "language": "zh-Hans",
        "source": "",
        "section": "",
        "classes": "",
        "terms": b"",
    }
    return IndexedArticle(article_id=key, words=words, **{**defaults, **values})


def test_candidates_are_the_rarest_and_the_newest(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """With buckets of 64, which are as to 4,096 as 3,000 articles to 200,000."""
    monkeypatch.setattr(index, "BUCKET_BITS", 6)
    rows = [
        indexed(
            key,
            " ".join(["common", "usual" if key % 2 else "other", f"some{key % 50}", f"rare{key % 1500}"]),
            site_id=key % 7,
            language="en" if key % 3 == 0 else "zh-Hant",
            source="社" if key % 5 == 0 else "",
        )
        for key in range(1, 3_001)
    ]

    def search(connection: Connection, words: list[str], most: int = 100, **values: Any) -> tuple[set[int], bool]:
        found = find.candidates(connection, [(word,) for word in words], SearchFilter(**values), most)
        return {row.article_id for row in found.rows}, found.is_complete

    def look(connection: Connection) -> None:
        index.insert(connection, rows)
        assert search(connection, ["rare7"]) == ({7, 1507}, True)
        assert search(connection, ["rare7", "rare8"]) == ({7, 8, 1507, 1508}, True)
        assert search(connection, ["nowhere"]) == (set(), True)
        assert search(connection, ["some7"]) == (set(range(7, 3_001, 50)), True)
        newest, is_complete = search(connection, ["common"])
        assert (newest, is_complete) == (set(range(2_901, 3_001)), False)
        both, is_complete = search(connection, ["common", "usual"])
        assert {2_999, 2_997, 2_951} <= both
        assert (len(both) <= 200, is_complete) == (True, False)
        mixed, _ = search(connection, ["common", "rare7"])
        assert {7, 1507, 3_000} <= mixed
        counts = find.candidates(connection, [("common",), ("rare7",)], NOTHING, 100, ["usual"]).frequencies
        assert counts["rare7"] == 2
        assert counts["common"] == pytest.approx(3_000, rel=0.2)
        assert counts["usual"] == pytest.approx(1_500, rel=0.2)
        assert search(connection, ["common"], sites=[3])[0] == set(range(3, 3_001, 7)[-100:])
        assert search(connection, ["some7"], languages=("en",))[0] == {n for n in range(7, 3_001, 50) if n % 3 == 0}
        assert search(connection, ["some7"], sources=("社",))[0] == {n for n in range(7, 3_001, 50) if n % 5 == 0}
        assert search(connection, ["common"], first_day=400, last_day=420) == (set(range(400, 421)), True)
        assert search(connection, ["common"], since=86_400.0 * 400, last_day=420)[0] == set(range(400, 421))
        assert search(connection, ["common"], first_day=100, last_day=2_000)[0] == set(range(1_901, 2_001))
        assert search(connection, ["common"], first_day=20, last_day=10) == (set(), True)
        assert search(connection, [], sites=[3], first_day=2_990)[0] == {n for n in range(2_990, 3_001) if n % 7 == 3}
        assert search(connection, ["common"], sites=[]) == (set(), True)

    database.write(look)


FOREIGN = ['a" OR b', "'", "\\", "a NEAR b", "x*", "^x", "-x", "a b", "x) OR (y", "\0", "%s", ":x", "😀"]


@pytest.mark.parametrize("foreign", FOREIGN)
def test_signs_of_query_languages_are_no_operators(database: Database, foreign: str) -> None:
    def look(connection: Connection) -> int:
        index.insert(connection, [indexed(1, "a b x y")])
        by_word = find.candidates(connection, [(foreign,)], NOTHING, 10).rows
        either = SearchFilter(languages=(foreign,), sources=(foreign,))
        by_filter = find.candidates(connection, [("a",)], either, 10).rows
        return len(by_word) + len(by_filter)

    assert database.write(look) == 0


def make_old(connection: Connection) -> None:
    """Leave the index as an older version wrote it: its terms have another form, and its words are not there."""
    for number, terms in connection.execute(text("SELECT number, terms FROM search_document WHERE terms <> ''")).all():
        values = {"number": number, "terms": terms[:3] + b"\1" + terms[4:]}
        connection.execute(text("UPDATE search_document SET terms = :terms WHERE number = :number"), values)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("INSERT INTO search_words (search_words) VALUES ('delete-all')")
    else:
        connection.exec_driver_sql("UPDATE search_document SET words = ''")


def test_index_of_an_older_form_is_made_anew_once(database: Database) -> None:
    desk = Desk(database, 1)
    for _ in range(30):
        database.write(desk.step)
    before = database.read(contents)
    said: list[str] = []
    form = IndexForm(index_terms, is_current, said.append)
    database.write(lambda connection: index.bring_up_to_date(connection, [form]))
    assert said == []
    database.write(make_old)
    assert not database.read(lambda connection: index.has_form(connection, is_current))
    database.write(lambda connection: index.bring_up_to_date(connection, [form]))
    assert database.read(lambda connection: index.has_form(connection, is_current))
    assert database.read(contents) == before != {}
    told = len(said)
    assert told > 0
    database.write(lambda connection: index.bring_up_to_date(connection, [form]))
    assert len(said) == told
