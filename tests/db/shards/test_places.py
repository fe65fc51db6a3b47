from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import closing

import pytest
from sqlalchemy import text

from db.engine.database import Database, open_for_crawl
from db.engine.errors import DatabaseGone, WrongDatabase
from db.shards.places import enter


@pytest.fixture
def two(two_urls: tuple[str, str]) -> Iterator[list[Database]]:
    """Two opened databases, empty."""
    with closing(open_for_crawl(two_urls[0])) as one, closing(open_for_crawl(two_urls[1])) as other:
        yield [one, other]


def test_order_and_number_are_kept_from_the_first_time(two: list[Database]) -> None:
    one, other = two
    enter([one, other])
    enter([one, other])
    enter([None, other])
    for wrong in ([other, one], [one], [other], [one, other, None]):
        with pytest.raises(WrongDatabase, match=r"is database \d of 2 of its crawl; name all of them"):
            enter(wrong)


def test_databases_of_two_crawls_are_refused(two: list[Database]) -> None:
    one, other = two
    enter([one, other])
    other.write(lambda connection: connection.execute(text("UPDATE shard SET crawl = 'another'")))
    with pytest.raises(WrongDatabase, match="is of another crawl than those named before it"):
        enter([one, other])


def test_crawl_of_one_database_gets_no_second(two: list[Database]) -> None:
    one, other = two
    enter([one])
    add = "INSERT INTO url (id, url, host_id, kind, state, depth, score, found_in, found_at) "
    add += "VALUES (1, 'http://a.example/', 1, 'page', 'pending', 0, 0, 0, 0)"
    one.write(lambda connection: connection.execute(text(add)))
    with pytest.raises(WrongDatabase, match="holds a crawl of one database; name it alone"):
        enter([one, other])
    enter([one])


def test_crawl_cannot_begin_while_a_database_is_down(two: list[Database]) -> None:
    for places in itertools.permutations([two[0], None]):
        with pytest.raises(DatabaseGone, match="all of them must"):
            enter(places)
