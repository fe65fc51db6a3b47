"""What an article, its parts and its topic mean for the database."""

from __future__ import annotations

from dataclasses import replace

from crawler.rank.priority import Priority
from crawler.response.context import HarmPolicy, Threshold
from crawler.response.outcome import judge
from db.records.article import TextFrom
from db.records.keys import fingerprint
from db.records.outcome import StoredPage
from db.records.part import Place
from db.records.reasons import PageReason, SkipReason
from db.records.url import Kind, State
from pipelines.articles.multipage import MAX_PARTS
from pipelines.records import BlockKind, Description, PageKind, ParseResult
from tests.crawler.answers import URL, by_url, links, listed, page, remember, rules, written
from tests.table import each_row


class TestPages:
    def test_article_in_doubt_is_stored_with_the_reason(self) -> None:
        parsed = written()
        doubtful = replace(parsed, doubt=PageReason.DOUBTFUL_ENCODING)
        outcome = judge(page(parsed=doubtful), rules())
        assert (outcome.state, outcome.reason) == (State.DONE, "doubtful encoding")
        assert outcome.article is not None

    def test_description_is_stored_with_the_article(self) -> None:
        described = Description(("大桥", "通车"), "一句。", ("sport",), (("sport", 0.75), ("travel", 0.1)), 0.02)
        article = judge(page(parsed=replace(written(), description=described)), rules()).article
        assert article is not None
        assert (article.keywords, article.summary, article.classes) == ("大桥、通车", "一句。", "sport")
        assert (article.harm, article.harm_kind) == (0.02, "")
        assert article.memberships == (("sport", 0.75), ("travel", 0.1))

    @each_row("policy", [HarmPolicy.STORE, HarmPolicy.FLAG, HarmPolicy.DROP])
    def test_harmful_page_is_stored_with_the_verdict_or_the_reason_too_or_dropped(self, policy: HarmPolicy) -> None:
        reasons = "" if policy is HarmPolicy.STORE else "title: 百家乐"
        described = Description(harm=0.9, harm_kind="hijacked", harm_reasons=reasons)
        parsed = replace(written(next_page="http://h.cn/a_2"), description=described, relevance=0.2)
        outcome = judge(page(parsed=parsed), rules(harmful=policy))
        said = (None, "") if policy is HarmPolicy.STORE else ("harmful", "hijacked (title: 百家乐)")
        assert (outcome.state, outcome.reason, outcome.detail) == (State.DONE, *said)
        drops = policy is HarmPolicy.DROP
        assert (outcome.article is None, outcome.place is None) == (drops, drops)
        if outcome.article is not None:
            assert (outcome.article.harm, outcome.article.harm_kind) == (0.9, "hijacked")

    @each_row("kind", [PageKind.THREAD, PageKind.PRODUCT, PageKind.OTHER])
    def test_page_of_another_kind_that_was_kept_is_stored_like_an_article(self, kind: PageKind) -> None:
        outcome = judge(page(parsed=replace(written(), kind=kind)), rules())
        assert (outcome.reason, outcome.page_kind) == (None, kind.word)
        assert outcome.article is not None
        assert outcome.article.kind == kind.word

    def test_list_that_was_kept_is_stored_and_stays_a_list_of_no_parts(self) -> None:
        parts = written(next_page="http://h.cn/a_2")
        for noindex in (False, True):
            kept = replace(parts, kind=PageKind.LIST, reason=PageReason.LIST, noindex=noindex)
            outcome = judge(page(parsed=kept), rules())
            assert (outcome.reason, outcome.detail, outcome.place) == ("list page", "", None)
            assert (outcome.article is None) == noindex

    def test_article(self) -> None:
        headers = {"etag": '"1"', "last-modified": "Tue, 14 Nov 2023 00:00:00 GMT", "content-type": "text/html"}
        outcome = judge(page(parsed=written(), headers=headers), rules())
        assert (outcome.state, outcome.reason, outcome.counted, outcome.same_as) == (State.DONE, None, True, None)
        assert (outcome.etag, outcome.last_modified) == ('"1"', "Tue, 14 Nov 2023 00:00:00 GMT")
        article = outcome.article
        assert article is not None
        assert article.id == fingerprint(URL)
        assert article.site_id == fingerprint("h.cn")
        assert (article.title, article.authors, article.source) == ("题目", "张三、李四", "新华社")
        assert (article.text, article.html, article.quality) == ("第一段。", "<p>第一段。</p>", 0.75)
        assert (article.text_hash, article.features, article.length, article.extractor) == (5, b"abcd", 9, "density")
        assert (article.tags, article.section, article.description) == ("一、二", "要闻", "提要")
        assert list(article.images) == [("http://h.cn/1.jpg", "图")]
        assert article.related == "http://h.cn/2.html 后续"
        assert article.kind_probability == written().probability
        assert article.canonical_id is None
        assert article.seen == "2023-11-14T22:13:20+00:00"

    @each_row(
        ("published", "utc"),
        [
            ("2023-11-14", "2023-11-13 16:00:00"),
            ("2023-11-14T08:30+09:00", "2023-11-13 23:30:00"),
            ("", ""),
        ],
    )
    def test_stored_time_is_as_precise_as_that_of_the_page(self, published: str, utc: str) -> None:
        parsed = written()
        meta = replace(parsed.metadata, published_at=published, published_utc=utc)
        outcome = judge(page(parsed=replace(parsed, metadata=meta)), rules())
        assert outcome.article is not None
        assert (outcome.article.published_at, outcome.article.published_utc) == (published or None, utc or None)

    def test_noindex_is_read_for_links_and_not_stored(self) -> None:
        parsed = written()
        found = links("http://h.cn/1")
        parsed = replace(written(found=found), noindex=True)
        outcome = judge(page(parsed=parsed), rules())
        assert (outcome.state, outcome.reason, outcome.article) == (State.DONE, "noindex", None)
        assert outcome.detail == "NOINDEX=store keeps it"
        assert outcome.counted
        assert len(outcome.new_urls) == 1

    def test_noindex_is_stored_where_the_setting_says_so(self) -> None:
        outcome = judge(page(parsed=replace(written(), noindex=True)), rules(honours_noindex=False))
        assert (outcome.state, outcome.reason) == (State.DONE, None)
        assert outcome.article is not None

    def test_article_in_place_of_a_feed_is_not_stored(self) -> None:
        outcome = judge(page(parsed=written(), kind=Kind.FEED), rules())
        assert outcome.article is None
        assert not outcome.counted

    @each_row("kind", [PageKind.LIST, PageKind.OTHER])
    def test_other_pages_say_why(self, kind: PageKind) -> None:
        outcome = judge(page(parsed=ParseResult(kind, "soft 404")), rules())
        assert (outcome.state, outcome.reason, outcome.article) == (State.DONE, "soft 404", None)

    def test_raw_bytes_go_along(self) -> None:
        outcome = judge(page(parsed=replace(written(), raw=b"zst"), headers={"content-type": "text/html"}), rules())
        assert outcome.raw == StoredPage("text/html", "gb18030", b"zst")

    @each_row("source", [TextFrom.BROWSER, TextFrom.DATA])
    def test_page_made_by_script_is_never_asked_conditionally(self, source: TextFrom) -> None:
        headers = {"etag": '"1"', "last-modified": "Tue, 14 Nov 2023 00:00:00 GMT"}
        made = replace(written(), text_from=source, raw=b"zst", dom=b"dom")
        outcome = judge(page(parsed=made, headers=headers), rules())
        assert (outcome.etag, outcome.last_modified) == (None, None)
        assert outcome.raw is not None
        assert (outcome.raw.body, outcome.raw.dom) == (b"zst", b"dom")
        shell = ParseResult(PageKind.OTHER, PageReason.NEEDS_BROWSER)
        assert judge(page(parsed=shell, headers=headers), rules()).etag is None

    def test_unreadable(self) -> None:
        outcome = judge(page(unreadable="took too long to read"), rules())
        assert (outcome.state, outcome.reason, outcome.counted) == (State.FAILED, "took too long to read", True)
        assert not outcome.failed
        assert judge(page(), rules()).reason == "not read"

    def test_validators_are_kept_as_they_are_or_not_at_all(self) -> None:
        weak = judge(page(parsed=written(), headers={"etag": 'W/"a, b"', "last-modified": "some day"}), rules())
        assert (weak.etag, weak.last_modified) == ('W/"a, b"', "some day")
        outcome = judge(page(parsed=written(), headers={"etag": "x" * 999, "last-modified": "y" * 999}), rules())
        assert outcome.etag is None
        assert outcome.last_modified is None


class TestParts:
    NEXT, PREVIOUS = "http://h.cn/a_3", "http://h.cn/a_1"

    def test_pages_beside_are_named_and_fetched_before_others(self) -> None:
        parsed = written(next_page=self.NEXT, previous_page=self.PREVIOUS, page_number=2)
        outcome = judge(page(parsed=parsed, depth=3), rules(depth=3))
        assert outcome.place == Place(2, fingerprint(self.NEXT), fingerprint(self.PREVIOUS))
        for new in by_url(outcome).values():
            assert (new.found_in, new.depth, new.reason, new.soon, new.hops) == (BlockKind.PART, 3, None, True, 1)
            assert new.score > 1000

    def test_article_of_one_page(self) -> None:
        assert judge(page(parsed=written()), rules()).place is None
        assert judge(page(parsed=written(page_number=1)), rules()).place is None

    def test_number_alone(self) -> None:
        assert judge(page(parsed=written(page_number=2)), rules()).place == Place(2)
        assert judge(page(parsed=written(page_number=10**9)), rules()).place == Place(30_000)

    @each_row("url", ["http://other.cn/a_3", "http://www.h.cn/a_3", URL])
    def test_part_is_another_page_of_the_same_host(self, url: str) -> None:
        outcome = judge(page(parsed=written(next_page=url)), rules())
        assert (outcome.place, outcome.new_urls) == (None, ())

    def test_forbidden_parts_are_not_waited_for(self) -> None:
        parsed = written(next_page=self.NEXT)
        assert judge(page(parsed=parsed), rules(disallow_reason=lambda _host, _url: SkipReason.ROBOTS)).place is None
        found = links(self.NEXT, nofollow=bytes([1]))
        parsed = written(found=found, next_page=self.NEXT)
        outcome = judge(page(parsed=parsed), rules())
        assert outcome.place is None
        assert by_url(outcome)[self.NEXT].reason == "nofollow"

    def test_link_to_a_part_is_one_url(self) -> None:
        found = links(self.NEXT, "http://h.cn/b")
        parsed = written(next_page=self.NEXT)
        parsed = written(found=found, next_page=self.NEXT)
        new = by_url(judge(page(parsed=parsed), rules(known=remember({fingerprint(self.NEXT): 0}))))
        assert (new[self.NEXT].found_in, new["http://h.cn/b"].found_in) == (BlockKind.PART, BlockKind.LIST)

    def test_parts_of_parts_have_an_end(self) -> None:
        parsed = written(next_page=self.NEXT)
        outcome = judge(page(parsed=parsed, found_in=BlockKind.PART, hops=MAX_PARTS - 1), rules())
        assert by_url(outcome)[self.NEXT].hops == MAX_PARTS
        assert judge(page(parsed=parsed, found_in=BlockKind.PART, hops=MAX_PARTS), rules()).place is None
        assert judge(page(parsed=parsed, found_in=BlockKind.REDIRECT, hops=MAX_PARTS), rules()).place is not None
        last = written(next_page=self.NEXT, page_number=MAX_PARTS)
        assert judge(page(parsed=last), rules()).place == Place(MAX_PARTS)

    def test_redirect_target_of_a_part_is_the_part(self) -> None:
        moved = page(301, headers={"location": self.NEXT}, found_in=BlockKind.PART, hops=20)
        new = by_url(judge(moved, rules()))[self.NEXT]
        assert (new.found_in, new.hops, new.soon) == (BlockKind.PART, 21, True)


class TestTopic:
    WORKED = replace(written(), relevance=0.2, terms=b"words")

    def test_relevance_and_words_are_stored(self) -> None:
        outcome = judge(page(parsed=self.WORKED), rules())
        assert outcome.article is not None
        assert outcome.article.relevance == 0.2
        assert outcome.terms == (0.2, b"words")
        assert outcome.reason is None

    def test_article_that_is_not_near_enough_is_dropped_with_the_reason(self) -> None:
        outcome = judge(page(parsed=self.WORKED), rules(focus=Threshold(0.3)))
        assert outcome.article is None
        assert (outcome.state, outcome.reason) == (State.DONE, "off topic")
        assert outcome.terms == (0.2, b"words")  # it is learnt from all the same

    def test_or_stored_with_the_reason(self) -> None:
        outcome = judge(page(parsed=self.WORKED), rules(focus=Threshold(0.3, drops=False)))
        assert outcome.article is not None
        assert outcome.reason == "off topic"

    def test_links_of_a_page_off_the_topic_are_kept(self) -> None:
        found = links("http://h.cn/a", "http://h.cn/b")
        parsed = replace(listed(found), relevance=0.0, link_relevance=(0.0, 1.0))
        focused = rules(focus=Threshold(0.9), priority=Priority("focused", {}))
        first, second = judge(page(parsed=parsed), focused).new_urls
        assert (first.reason, second.reason) == (None, None)
        assert second.score > first.score  # its text speaks of the topic

    def test_without_a_topic_there_is_no_relevance(self) -> None:
        outcome = judge(page(parsed=written()), rules(focus=Threshold(0.9)))
        assert outcome.article is not None
        assert outcome.article.relevance is None
        assert outcome.terms is None
