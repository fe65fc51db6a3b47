"""Robots rules, and the pauses after trouble."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.politeness.delay import (
    MOST_ROBOTS_BYTES,
    BackoffPolicy,
    DelayPolicy,
    RobotsRules,
    Speed,
    decode_robots,
    retry_after,
    retry_pause,
    whole_lines,
)
from db.records.reasons import SkipReason
from tests.table import each_row

AGENT = "newscrawler"
NOW = 1_700_000_000.0


def http_date(unix_seconds: float) -> str:
    return format_datetime(datetime.fromtimestamp(unix_seconds, UTC), usegmt=True)


class TestRules:
    def test_no_text_allows_everything(self) -> None:
        rules = RobotsRules("", AGENT)
        assert rules.disallow_reason("http://h.cn/private") is None
        assert rules.delay_seconds == 0.0
        assert rules.sitemaps == []

    def test_reason_forbids_everything_whatever_the_text_says(self) -> None:
        rules = RobotsRules(
            "User-agent: *\nAllow: /\nCrawl-delay: 9\nSitemap: http://h.cn/s.xml", AGENT, "robots unreachable"
        )
        assert rules.disallow_reason("http://h.cn/") == "robots unreachable"
        assert rules.delay_seconds == 0.0
        assert rules.sitemaps == []

    def test_own_group_counts_before_the_one_for_all(self) -> None:
        text = "User-agent: *\nDisallow: /\n\nUser-agent: NewsCrawler\nDisallow: /a\nAllow: /a/b$\nCrawl-delay: 4"
        rules = RobotsRules(text, AGENT)
        assert rules.disallow_reason("http://h.cn/") is None
        assert rules.disallow_reason("http://h.cn/a/x") == "robots"
        assert rules.disallow_reason("http://h.cn/a/b") is None
        assert rules.delay_seconds == 4.0
        assert RobotsRules(text, "other").disallow_reason("http://h.cn/") == "robots"

    def test_paths_outside_ascii_and_sitemaps(self) -> None:
        rules = RobotsRules("User-agent: *\nDisallow: /内部/\nSitemap: /s.xml\nSitemap: http://h.cn/新.xml", AGENT)
        assert rules.disallow_reason("http://h.cn/%E5%86%85%E9%83%A8/1") == "robots"
        assert rules.disallow_reason("http://h.cn/%E6%96%B0/1") is None
        assert rules.sitemaps == ["/s.xml", "http://h.cn/新.xml"]

    @each_row("delay", ["-5", "nan", "inf", "x", ""])
    def test_senseless_delays_do_not_count(self, delay: str) -> None:
        rules = RobotsRules(f"User-agent: *\nCrawl-delay: {delay}", AGENT)
        assert DelayPolicy(1.0, 30.0).between(rules) == 1.0

    @each_row("text", ["<!DOCTYPE html><html><body>404</body></html>", "\ufeff\n\n", ":::\n#", "\x00\x01"])
    def test_non_robots_text_forbids_nothing(self, text: str) -> None:
        assert RobotsRules(text, AGENT).disallow_reason("http://h.cn/a") is None


class TestDecodeRobots:
    def test_mark_zero_bytes_and_wrong_bytes(self) -> None:
        assert decode_robots(b"\xef\xbb\xbfUser-agent: *\0\nDisallow: /\xff") == "User-agent: *\nDisallow: /%FF"

    def test_only_the_first_part_of_a_long_file_is_read(self) -> None:
        body = b"#" * MOST_ROBOTS_BYTES + b"\nUser-agent: *\nDisallow: /"
        assert decode_robots(body) == ""
        assert decode_robots(b"Disallow: /a\nDisallow: /b\n", 20) == "Disallow: /a\n"
        assert decode_robots("Disallow: /新\rDisallow: /新".encode(), 28) == "Disallow: /新\r"
        assert decode_robots(b"Disallow: /", 11) == "Disallow: /"

    @given(st.lists(st.sampled_from([b"Disallow: /ab", b"\n", b"\r\n", b"\r", b"x", b""])), st.integers(0, 60))
    def test_no_rule_is_ever_halved(self, pieces: list[bytes], most: int) -> None:
        body = b"".join(pieces)
        cut = whole_lines(body[:most])
        assert body.startswith(cut)
        assert not cut or cut.endswith((b"\n", b"\r"))
        assert not set(body[len(cut) : most]) & set(b"\r\n")

    @given(st.binary())
    def test_any_bytes(self, body: bytes) -> None:
        assert "\0" not in decode_robots(body)


class TestPace:
    def test_longer_of_both_up_to_the_cap(self) -> None:
        delay = DelayPolicy(1.0, 30.0)
        assert delay.between(None) == 1.0
        assert delay.between(RobotsRules("User-agent: *\nCrawl-delay: 0.5", AGENT)) == 1.0
        assert delay.between(RobotsRules("User-agent: *\nCrawl-delay: 10", AGENT)) == 10.0
        assert delay.between(RobotsRules("User-agent: *\nCrawl-delay: 86400", AGENT)) == 30.0
        assert delay.between(RobotsRules("User-agent: *\nRequest-rate: 1/7", AGENT)) == 7.0
        assert delay.between(RobotsRules("User-agent: *\nRequest-rate: 1/" + "9" * 4000, AGENT)) == 30.0

    def test_cap_does_not_shorten_the_own_delay(self) -> None:
        assert DelayPolicy(60.0, 30.0).between(RobotsRules("User-agent: *\nCrawl-delay: 86400", AGENT)) == 60.0

    def test_beyond_the_cap_nothing_is_fetched(self) -> None:
        text = "User-agent: *\nCrawl-delay: 31"
        assert RobotsRules(text, AGENT, most_delay=30.0).disallow_reason("http://h.cn/") is SkipReason.CRAWL_DELAY
        assert RobotsRules(text, AGENT, most_delay=31.0).disallow_reason("http://h.cn/") is None
        assert RobotsRules(text + "\nUser-agent: newscrawler\nDisallow:", AGENT, most_delay=30.0).reason is None

    def test_host_that_answers_slowly_is_asked_less_often_and_within_bounds(self) -> None:
        delay = DelayPolicy(1.0, 30.0, factor=2.0, most=20.0)
        speed = Speed()
        pauses = []
        for seconds in [4.0] * 30 + [600.0] * 30 + [0.01] * 60:
            speed = delay.observe(speed, seconds)
            pauses.append(delay.between(None, speed))
        assert pauses[29] == pytest.approx(8.0, rel=0.01)
        assert pauses[:30] == sorted(pauses[:30])
        assert pauses[59] == 20.0
        assert pauses[-1] == 1.0

    def test_one_slow_page_says_nothing_about_its_host(self) -> None:
        delay, speed = DelayPolicy(1.0, 30.0, factor=2.0), Speed()
        for seconds in (0.1, 0.1, 50.0, 0.1, 0.1):
            speed = delay.observe(speed, seconds)
            assert delay.between(None, speed) == 1.0

    def test_without_a_delay_a_quick_host_is_not_waited_for(self) -> None:
        delay = DelayPolicy(0.0, 30.0, factor=2.0)
        assert delay.between(None, Speed(0.9, 0.9)) == 0.0
        assert delay.between(None, Speed(3.0, 3.0)) == 6.0
        assert DelayPolicy(1.0, 30.0).between(None, Speed(3.0, 3.0)) == 1.0

    def test_backoff(self) -> None:
        backoff = BackoffPolicy(failures=10, rest=5.0, rests=6, alone=60.0)
        assert [backoff.pause(n) for n in range(6)] == [0.0, 0.0, 2.0, 4.0, 8.0, 8.0]
        assert [backoff.backoff(n) for n in range(1, 8)] == [5.0, 20.0, 80.0, 320.0, 1280.0, 3600.0, 3600.0]
        assert backoff.backoff(1, took=30.0) == 60.0
        assert backoff.backoff(1, took=1e9) == backoff.backoff(10**9) == 3600.0
        assert [backoff.is_dead(n) for n in (1, 6, 7)] == [False, False, True]

    def test_retries_wait_longer_and_longer(self) -> None:
        assert [retry_pause(n) for n in range(1, 8)] == [2.0, 8.0, 32.0, 128.0, 512.0, 2048.0, 3600.0]
        assert retry_pause(0) == retry_pause(-3) == 2.0
        assert retry_pause(10_000) == 3600.0


class TestRetryAfter:
    @each_row(
        ("value", "seconds"),
        [
            ("120", 120.0),
            (" 7\t", 7.0),
            ("0", 0.0),
            ("86400", 3600.0),
            ("9" * 5_000, 3600.0),
            (http_date(NOW + 90), 90.0),
            (http_date(NOW - 90), 0.0),
            (http_date(NOW + 1e7), 3600.0),
            (format_datetime(datetime.fromtimestamp(NOW + 90, UTC)), 90.0),  # +0000 for GMT
        ],
    )
    def test_number_or_date(self, value: str, seconds: float) -> None:
        assert retry_after(value, NOW) == pytest.approx(seconds)

    @each_row("value", ["", "  ", "soon", "-5", "1.5", "１２", "²", "120, 240", "1e3", "Wed, 99 Foo 2023"])
    def test_nothing_usable(self, value: str) -> None:
        assert retry_after(value, NOW) is None

    @each_row(
        "value",
        [
            "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
            "Mon, 01 Jan 2024 00:00:00 +99999999999999999999",
            "Mon, 01 Jan 2024 00:00:00 +9999",
            "Mon, 99999999999999999999 Jan 2024 00:00:00 GMT",
        ],
    )
    def test_impossible_dates_say_nothing(self, value: str) -> None:
        assert retry_after(value, NOW) is None

    @given(
        st.one_of(
            st.text(), st.from_regex(r"(Mon, )?[0-9]{1,3} (Jan|Dec|X) [0-9]{1,5} [0-9:]{1,8} ?([+-][0-9]{1,6}|GMT)?")
        )
    )
    @example("Mon, 01 Jan 0100 00:00:00 -0000")
    def test_always_within_an_hour(self, value: str) -> None:
        seconds = retry_after(value, NOW)
        assert seconds is None or 0.0 <= seconds <= 3600.0
