"""All matches of a search, in both kinds of database, beside what the command exports."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from db.engine.database import open_for_reading
from pipelines.export.read import read_articles
from pipelines.search.every import EveryMatch
from pipelines.search.records import SearchQuery
from pipelines.search.search import SearchOptions


@pytest.mark.parametrize("is_ranked", [True, False])
@pytest.mark.parametrize("text", ["工程队", "title:修", "修老桥 -之后", "passenger ferries", "老桥 site:c.example", ""])
def test_matches_are_those_of_the_command_each_once(crawled: str, text: str, *, is_ranked: bool) -> None:
    expected = {int(one.id): one for one in read_articles(crawled, query=text)}
    assert expected
    with closing(open_for_reading(crawled)) as database:

        def found(*, reprints: bool) -> list[int]:
            query, now = SearchQuery(text), time.time()
            steps = EveryMatch(database.read, query, SearchOptions(), now, is_ranked=is_ranked, reprints=reprints)
            return [key for step in steps for key in step]

        every = found(reprints=True)
        assert sorted(every) == sorted(expected)
        stories = found(reprints=False)
        assert len(stories) == len({expected[key].duplicate_of or expected[key].url for key in every})
        if not is_ranked:
            times = [expected[key].published_utc or expected[key].first_seen for key in every]
            assert times == sorted(times, reverse=True)
