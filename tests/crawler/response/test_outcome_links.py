"""What links, feeds and sitemaps of a page mean for the frontier."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from crawler.response.new_urls import url_id
from crawler.response.outcome import depth_memory, judge
from db.records.keys import fingerprint
from db.records.url import Kind, State
from pipelines.records import BlockKind
from tests.crawler.answers import FAR, NOW, SEED_ID, by_url, edges, links, listed, page, remember, replace_lease, rules
from tests.table import each_row


class TestLinks:
    def test_new_rows_and_all_edges(self) -> None:
        found = links(
            "http://h.cn/1",
            "http://h.cn/2",
            "http://other.cn/3",
            "http://h.cn/4.pdf",
            "http://h.cn/5",
            blocks=bytes([BlockKind.LIST, BlockKind.NAVIGATION, BlockKind.OTHER, BlockKind.BODY, BlockKind.FOOTER]),
            nofollow=b"\0\0\0\0\1",
        )
        outcome = judge(page(parsed=listed(found)), rules())
        assert (outcome.state, outcome.reason, outcome.counted) == (State.DONE, "list page", True)
        rows = by_url(outcome)
        assert {url: row.reason for url, row in rows.items()} == {
            "http://h.cn/1": None,
            "http://h.cn/2": None,
            "http://other.cn/3": "outside",
            "http://h.cn/4.pdf": "file",
            "http://h.cn/5": "nofollow",
        }
        first = rows["http://h.cn/2"]
        assert (first.depth, first.found_in, first.seed_id, first.kind) == (2, BlockKind.NAVIGATION, SEED_ID, Kind.PAGE)
        assert (first.host, first.site, first.anchor) == ("h.cn", "h.cn", "about http://h.cn/2")
        assert first.id == fingerprint(first.url)
        assert first.host_id == fingerprint("h.cn")
        assert edges(outcome) == [(fingerprint(u), b) for u, b in zip(found.urls, found.blocks, strict=True)]

    def test_known_ones_are_edges_only_unless_nearer(self) -> None:
        found = links(
            "http://h.cn/same", "http://h.cn/deep", "http://h.cn/waits", "http://o.cn/out", "http://h.cn/near"
        )
        known = {
            fingerprint("http://h.cn/same"): 2,
            fingerprint("http://h.cn/deep"): 3,
            fingerprint("http://h.cn/waits"): FAR,
            fingerprint("http://o.cn/out"): FAR,
            fingerprint("http://h.cn/near"): 0,
        }
        outcome = judge(page(parsed=listed(found)), rules(known=remember(known)))
        assert set(by_url(outcome)) == {"http://h.cn/deep", "http://h.cn/waits"}
        assert len(edges(outcome)) == 5

    def test_too_deep(self) -> None:
        found = links("http://h.cn/1", "http://o.cn/2")
        outcome = judge(page(parsed=listed(found), depth=2), rules(depth=2))
        assert {row.reason for row in outcome.new_urls} == {"too deep", "outside"}
        assert by_url(outcome)["http://h.cn/1"].depth == 3
        assert by_url(judge(page(parsed=listed(found), depth=1), rules(depth=2)))["http://h.cn/1"].reason is None
        assert judge(page(parsed=listed(found), depth=0), rules(depth=0)).new_urls[0].reason == "too deep"

    def test_dates_make_links_fresher(self) -> None:
        found = links("http://h.cn/1", "http://h.cn/2", dates=(NOW, 0.0))
        rows = by_url(judge(page(parsed=listed(found), kind=Kind.FEED), rules()))
        assert rows["http://h.cn/1"].dated == NOW
        assert rows["http://h.cn/2"].dated is None
        assert rows["http://h.cn/1"].score > rows["http://h.cn/2"].score

    @each_row("kind", [Kind.FEED, Kind.SITEMAP])
    def test_sources_give_links_but_no_edges(self, kind: str) -> None:
        outcome = judge(page(parsed=listed(links("http://h.cn/1")), kind=kind), rules())
        assert len(outcome.new_urls) == 1
        assert outcome.new_urls[0].kind == Kind.PAGE
        assert edges(outcome) == []
        assert not outcome.counted
        assert outcome.article is None

    def test_memory_keeps_depths_and_lets_other_links_win(self) -> None:
        outcome = judge(page(parsed=listed(links("http://h.cn/1", "http://o.cn/2"))), rules())
        assert dict(depth_memory(outcome)) == {fingerprint("http://h.cn/1"): 2, fingerprint("http://o.cn/2"): FAR}

    @given(
        st.lists(
            st.tuples(st.integers(0, 30), st.sampled_from(["h.cn", "www.h.cn", "o.cn"]), st.booleans()),
            unique_by=lambda link: link[:2],
        ),
        st.dictionaries(st.integers(0, 30), st.sampled_from([0, 2, 3, FAR])),
        st.sampled_from([None, 1, 2]),
    )
    def test_remembered_links_bring_nothing_new(self, found: Any, known: Any, depth: int | None) -> None:
        urls = [f"http://{host}/{number}" for number, host, _ in found]
        memory = remember({fingerprint(f"http://h.cn/{number}"): at for number, at in known.items()})
        read = page(parsed=listed(links(*urls, nofollow=bytes(nofollow for *_, nofollow in found))))
        outcome = judge(read, rules(known=memory, depth=depth))
        assert len(edges(outcome)) == len(urls)
        for key, at in depth_memory(outcome):
            memory.note(key, at)
        # read once more, nothing is new but links that may win later and none of them can
        assert [row for row in judge(read, rules(known=memory, depth=depth)).new_urls if not row.reason] == []


class TestSources:
    FEEDS = ("http://h.cn/rss.xml", "http://o.cn/rss.xml")

    @each_row("depth", [0, 1])
    def test_feeds_of_home_and_channel_pages(self, depth: int) -> None:
        outcome = judge(page(parsed=listed(links(), feeds=self.FEEDS), depth=depth), rules())
        rows = by_url(outcome)
        assert [(rows[url].kind, rows[url].reason) for url in self.FEEDS] == [(Kind.FEED, None), (Kind.FEED, "outside")]
        assert rows[self.FEEDS[0]].depth == depth
        assert rows[self.FEEDS[0]].found_in == BlockKind.FEED

    def test_not_those_of_deeper_pages_nor_of_sources_nor_known_ones(self) -> None:
        assert judge(page(parsed=listed(links(), feeds=self.FEEDS), depth=2), rules()).new_urls == ()
        assert judge(page(parsed=listed(links(), feeds=self.FEEDS), kind=Kind.FEED), rules()).new_urls == ()
        known = {url_id(url, Kind.FEED): 0 for url in self.FEEDS}
        assert (
            judge(page(parsed=listed(links(), feeds=self.FEEDS), depth=0), rules(known=remember(known))).new_urls == ()
        )

    def test_sitemap_index_names_sitemaps(self) -> None:
        named = ("http://h.cn/s1.xml", "http://o.cn/s2.xml")
        outcome = judge(page(parsed=listed(links(), sitemaps=named), kind=Kind.SITEMAP, depth=0), rules())
        rows = by_url(outcome)
        assert [(rows[u].kind, rows[u].hops, rows[u].reason) for u in named] == [
            (Kind.SITEMAP, 1, None),
            (Kind.SITEMAP, 1, "outside"),
        ]
        assert not outcome.counted

    def test_indexes_of_indexes_end(self) -> None:
        nested = page(parsed=listed(links(), sitemaps=("http://h.cn/s.xml",)), kind=Kind.SITEMAP, hops=4)
        assert judge(nested, rules()).new_urls == ()
        assert len(judge(replace_lease(nested, hops=3), rules()).new_urls) == 1

    def test_index_in_an_index_names_a_few(self) -> None:
        named = tuple(f"http://h.cn/s{n}.xml" for n in range(20))
        first = page(parsed=listed(links(), sitemaps=named), kind=Kind.SITEMAP, found_in=BlockKind.SITEMAP, hops=0)
        assert len(judge(first, rules()).new_urls) == 20
        assert len(judge(replace_lease(first, hops=1), rules()).new_urls) == 3
        assert judge(replace_lease(first, hops=2), rules()).new_urls == ()
        redirected = replace_lease(first, hops=1, found_in=BlockKind.REDIRECT)
        assert len(judge(redirected, rules()).new_urls) == 20

    def test_seed_that_turns_out_to_be_a_sitemap_index_is_followed(self) -> None:
        parsed = listed(links(), sitemaps=("http://h.cn/s.xml",), reason="feed or sitemap")
        outcome = judge(page(parsed=parsed, depth=0, found_in=BlockKind.SEED), rules())
        assert [(row.url, row.kind) for row in outcome.new_urls] == [("http://h.cn/s.xml", Kind.SITEMAP)]
