from __future__ import annotations

from collections import Counter

import pytest

from db.engine.errors import WrongDatabase
from db.records.keys import fingerprint
from db.shards.databases import Shards
from tests.table import each_row

ONE, TWO = "postgresql://me@a:5432/news", "postgresql://me@b/news"


@each_row("between", [" ", ",", ", ", "\n\t", " , \n"])
def test_list_is_read_whatever_separates_it(between: str) -> None:
    assert Shards.read(f" {ONE}{between}{TWO}\n").urls == (ONE, TWO)


@each_row(
    "given",
    [
        "news.db",
        "two words, and more.db",
        "sqlite:///a b,c.db",
        "postgresql:///db?host=h1,h2",
        "postgresql://me:a,b@h/db",
    ],
)
def test_single_database_is_never_split(given: str) -> None:
    assert Shards.read(given).urls == (given,)


@each_row(
    ("given", "said"),
    [
        (f"{ONE} sqlite:///news.db", "is not Postgres"),
        (f"{ONE} {TWO} postgresql+psycopg://you:secret@a/news", "a/news twice"),
        (f"{ONE},postgresql://me:secret@b:99999999/news", "port"),
    ],
)
def test_wrong_list_is_refused_without_its_password(given: str, said: str) -> None:
    with pytest.raises(WrongDatabase, match=said) as refused:
        Shards.read(given)
    assert "secret" not in str(refused.value)


def test_sites_are_dealt_evenly_and_for_good() -> None:
    shards = Shards((ONE, TWO, "postgresql://c/news"))
    dealt = Counter(shards.of(fingerprint(f"site-{n}.example")) for n in range(3000))
    assert min(dealt.values()) > 900
    assert len(dealt) == len(shards)
    assert [shards.of(fingerprint(name)) for name in ("a.example", "b.example", "127.0.0.1")] == [2, 1, 2]
