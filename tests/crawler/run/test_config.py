"""Settings: what is read, and what the messages say about wrong ones."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy.settings import Settings

from crawler import settings as project_settings
from crawler.rank.priority import PRESETS
from crawler.run.config import Config, ConfigError, check_names
from db.records.article import Keep
from db.records.keys import fingerprint
from db.records.run import Limits
from pipelines.dedup.judge import Policy


def given(**values: Any) -> Settings:
    """The project's settings, and values as `-s NAME=VALUE` sets them."""
    made = Settings()
    made.setmodule(project_settings, "project")
    made.setdict(values, "cmdline")
    return made


def test_defaults_work() -> None:
    config = Config.from_settings(given())
    assert config.limits == Limits(None, None, None)
    assert config.priority.weights == PRESETS["news"]
    assert (config.connections, config.pace.delay, config.tries) == (1, 1.0, 3)
    assert config.extractor == "combined"
    assert config.robots_agent == "newscrawler"
    check_names(given())


def test_values_of_the_command_line_are_text() -> None:
    config = Config.from_settings(
        given(
            MAX_PAGES="500",
            MAX_PAGES_PER_HOST=" none ",
            MAX_DEPTH="0",
            HOST_DELAY="0.5",
            HOST_CONNECTIONS="2",
            CRAWL_PRESET="breadth",
            CRAWL_PRIORITY='{"block": 2, "depth": 0}',
            RANK_EVERY_PAGES="100",
            RANK_GROWTH="0.5",
            EXTRACTOR_PARAMS='{"min_chars": 10}',
            DUPLICATE_THRESHOLD="1",
            ALLOW_NETWORKS="127.0.0.1:8710",
            DATABASE_URL="sqlite:///x.db",
        )
    )
    assert config.limits == Limits(500, None, 0)
    assert config.pace.delay == 0.5
    assert config.connections == 2
    assert config.priority.weights == {"block": 2.0}
    assert (config.rank_every_pages, config.rank_growth, config.host_patience) == (100, 0.5, 60.0)
    assert config.duplicates.threshold == 1.0
    assert config.database_url == "sqlite:///x.db"


def test_bounds_of_intervals_the_wrong_way_round() -> None:
    with pytest.raises(ConfigError, match="REVISIT_MAX is 60, less than REVISIT_MIN, 300"):
        Config.from_settings(given(REVISIT_MAX=60))


@pytest.mark.parametrize("none", [None, "", "None", "NONE", "  "])
def test_no_limit(none: Any) -> None:
    assert Config.from_settings(given(MAX_PAGES=none, MAX_DEPTH=none)).limits == Limits()


NUMBERS = [
    "MAX_PAGES",
    "MAX_PAGES_PER_HOST",
    "MAX_DEPTH",
    "HOST_DELAY",
    "HOST_DELAY_FACTOR",
    "HOST_DELAY_MAX",
    "SAME_IP_DELAY",
    "CRAWL_DELAY_CAP",
    "ROBOTS_KEEP",
    "ROBOTS_TIMEOUT",
    "ROBOTS_MAX_KB",
    "HOST_REST",
    "HOST_GIVE_UP",
    "HOST_WAIT",
    "HOST_CONNECTIONS",
    "FETCH_TRIES",
    "HOST_FAILURES",
    "REDIRECT_HOPS",
    "HOST_WINDOW",
    "MAX_HOSTS",
    "CONCURRENT_REQUESTS",
    "LEASE_SECONDS",
    "DUPLICATE_THRESHOLD",
    "DATABASE_PATIENCE",
    "WORKER_MEMORY_MB",
    "PAGE_NODES",
    "PAGE_DEPTH",
    "PAGE_CHARS",
    "PAGE_LINKS",
    "SITEMAP_MAX_MB",
    "SITEMAP_ENTRIES",
    "REVISIT_WORTH",
    "REVISIT_MIN",
    "REVISIT_MAX",
    "REVISIT_ARTICLES",
    "REVISIT_AHEAD",
    "TRAP_PATTERN_PAGES",
    "TRAP_HOST_PAGES",
    "TRAP_DAYS",
    "HEALTH_WINDOW",
]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["many", "-1", "nan", "1,5", "1 2", [1]])
def test_no_number_or_a_negative_one(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=name) as raised:
        Config.from_settings(given(**{name: value}))
    assert repr(value) in str(raised.value)
    assert "it takes a number" in str(raised.value)


@pytest.mark.parametrize("name", [name for name in NUMBERS if not name.startswith("MAX_")])
def test_a_number_must_be_given(name: str) -> None:
    for value in ("", None):
        with pytest.raises(ConfigError, match=name):
            Config.from_settings(given(**{name: value}))


@pytest.mark.parametrize("name", ["MAX_PAGES", "HOST_CONNECTIONS"])
@pytest.mark.parametrize("value", ["1.5", "inf", "1e400"])
def test_whole_numbers(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=name):
        Config.from_settings(given(**{name: value}))


@pytest.mark.parametrize("name", ["HOST_DELAY", "LEASE_SECONDS"])
def test_a_pause_without_end_is_none(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        Config.from_settings(given(**{name: "inf"}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HOST_CONNECTIONS", "0"),
        ("FETCH_TRIES", "0"),
        ("HOST_WINDOW", "0"),
        ("MAX_HOSTS", "0"),
        ("LEASE_SECONDS", "19.9"),
    ],
)
def test_too_small(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is '{value}'; it takes a number, (1|20) or more"):
        Config.from_settings(given(**{name: value}))


@pytest.mark.parametrize("name", ["MAX_PAGES", "WORKERS", "DATABASE_PATIENCE"])
def test_what_nothing_can_hold(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is '1e20'; it takes a number, [01] to 2147483647"):
        Config.from_settings(given(**{name: "1e20"}))


def test_too_large() -> None:
    with pytest.raises(ConfigError, match="DUPLICATE_THRESHOLD is '65'; it takes a number, 0 to 1"):
        Config.from_settings(given(DUPLICATE_THRESHOLD="65"))


@pytest.mark.parametrize("value", ["{", "depth=1", "[1, 2]", "3", "null", '"depth"'])
def test_priority_that_is_no_mapping(value: str) -> None:
    with pytest.raises(ConfigError, match=r"CRAWL_PRIORITY is .* e\.g\. -s CRAWL_PRIORITY"):
        Config.from_settings(given(CRAWL_PRIORITY=value))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("CRAWL_PRIORITY", '{"dept": 1}', "unknown signal 'dept'; the signals are: address"),
        ("CRAWL_PRIORITY", '{"depth": "1"}', r"CRAWL_PRIORITY\['depth'\] is '1'; a weight is a finite number"),
        ("CRAWL_PRIORITY", '{"depth": Infinity}', "a weight is a finite number"),
        ("CRAWL_PRESET", "best", "CRAWL_PRESET 'best' is unknown; use one of: breadth"),
        (
            "CRAWL_PRIORITY",
            '{"freshness": 0, "siterank": 0, "pagerank": 0, "host": 0, "block": 0, "depth": 0}',
            "at least",
        ),
        ("RANK_EVERY_PAGES", "0", "RANK_EVERY_PAGES is '0'; it takes a number, 1 or more"),
        ("RANK_GROWTH", "0", "RANK_GROWTH is '0'; it takes a number, 0.001 to 10"),
        ("HEALTH_WINDOW", "9", "HEALTH_WINDOW is 9; it takes 0, or 10 to 200"),
        ("HEALTH_WINDOW", "201", "HEALTH_WINDOW is 201; it takes 0, or 10 to 200"),
        ("HOST_PATIENCE", "-1", "HOST_PATIENCE is '-1'; it takes a number, 0 to 86400"),
        ("CRAWL_PRESET", "focused", "but there is none; give TOPIC, PROFILE, or seeds with topic="),
        ("CRAWL_PRIORITY", '{"anchor": 1}', "but there is none; give TOPIC"),
        ("TOPIC", "的 和 123", "the topic '的 和 123' has no word to look for"),
        ("PROFILE", "/nowhere/profile.json", "the profile /nowhere/profile.json cannot be used"),
        ("FOCUS_MIN", "0.5", "FOCUS_MIN is '0.5', but there is no topic to be near to; give TOPIC"),
        ("HOST_PATIENCE", "1e9", "HOST_PATIENCE is '1e9'; it takes a number, 0 to 86400"),
        ("FOCUS_MIN", "1.5", "FOCUS_MIN is '1.5'; it takes a number, 0 to 1"),
        ("FOCUS_BELOW", "hide", "FOCUS_BELOW is 'hide'; it takes drop or store"),
        ("EXTRACTOR", "magic", "unknown extractor 'magic'; known: "),
        ("EXTRACTOR_PARAMS", "{", "EXTRACTOR_PARAMS is '{'; write it as JSON"),
        ("EXTRACTOR_PARAMS", '{"min_char": 1}', "has no parameter 'min_char'; known: "),
        ("ALLOW_NETWORKS", "10.0.0.0/33", "ALLOW_NETWORKS: '10.0.0.0/33' is no network"),
        ("TLS_UNVERIFIED_HOSTS", "https://a.cn/", "TLS_UNVERIFIED_HOSTS: 'https://a.cn/' is no host"),
        ("SITE_COOKIES", "often", "SITE_COOKIES is 'often'; it takes True or False"),
        ("STALL_SECONDS", "0", "STALL_SECONDS is '0'; it takes a number, 0.1 or more"),
        ("LEAST_BYTES_PER_SECOND", "-1", "LEAST_BYTES_PER_SECOND is '-1'; it takes a number, 0 or more"),
        ("COMPRESSION_RATIO", "0.5", "COMPRESSION_RATIO is '0.5'; it takes a number, 1 or more"),
        ("HEADER_MAX_KB", "0", "HEADER_MAX_KB is '0'; it takes a number, 1 or more"),
        ("HEADER_MAX_LINES", "1", "HEADER_MAX_LINES is '1'; it takes a number, 8 or more"),
    ],
)
def test_unknown_names_and_values(name: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Config.from_settings(given(**{name: value}))


@pytest.mark.parametrize(
    "value", ['{"min_chars": [1]}', '{"min_chars": "ten"}', '{"link_share": null}', '{"min_chars": 1.5}']
)
def test_parameters_that_every_page_would_fail_on(value: str) -> None:
    with pytest.raises(ConfigError, match=r"EXTRACTOR_PARAMS|parameter"):
        Config.from_settings(given(EXTRACTOR_PARAMS=value))


def test_parameters_that_are_names() -> None:
    config = Config.from_settings(given(EXTRACTOR="weighted", EXTRACTOR_PARAMS='{"preset": "wuqi2011"}'))
    assert config.extractor == "weighted"
    with pytest.raises(ConfigError, match=r"'preset' .* is 'wuqi'; it takes one of learned, wuqi2011"):
        Config.from_settings(given(EXTRACTOR="weighted", EXTRACTOR_PARAMS='{"preset": "wuqi"}'))


@pytest.mark.parametrize(
    ("extractor", "value"),
    [("lineblocks", '{"width": 0}'), ("bte", '{"token_chars": 0}'), ("headings", '{"reach": -1}')],
)
def test_parameters_out_of_range(extractor: str, value: str) -> None:
    with pytest.raises(ConfigError, match=r"or more|above 0"):
        Config.from_settings(given(EXTRACTOR=extractor, EXTRACTOR_PARAMS=value))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("MAX_PAGE", "did you mean MAX_PAGES"),
        ("max_pages", "did you mean MAX_PAGES"),
        ("HOSTDELAY", "did you mean HOST_DELAY"),
        ("QWXYZ", "nothing reads it"),
    ],
)
def test_misspelt_names(name: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=f"there is no setting {name}.*{hint}"):
        check_names(given(**{name: "1"}))


def test_names_of_this_project_and_of_scrapy_are_known() -> None:
    check_names(given(MAX_PAGES="1", LOG_LEVEL="INFO", DOWNLOAD_TIMEOUT="5", EXTRACTOR_PARAMS="{}"))


def test_unknown_names_that_were_not_typed_are_nobodys_mistake() -> None:
    made = given()
    made.set("SOMEBODYS_ADDON", 1, "addon")
    check_names(made)


def test_a_topic_makes_the_crawl_focused() -> None:
    assert Config.from_settings(given()).preset == "news"
    config = Config.from_settings(given(TOPIC="港口 航运"))
    assert config.preset == "focused"
    assert config.topic is not None
    assert Config.from_settings(given(TOPIC="港口", CRAWL_PRESET="breadth")).priority.weights == {"depth": 1.0}


def test_the_seeds_topics_count_when_no_other_is_given() -> None:
    of_seeds = Config.from_settings(given(), ["港口 航运", "桥梁"]).topic
    both = Config.from_settings(given(TOPIC="港口 航运 桥梁")).topic
    other = Config.from_settings(given(TOPIC="足球"), ["港口 航运", "桥梁"]).topic
    assert of_seeds is not None
    assert both is not None
    assert other is not None
    assert of_seeds.wanted.tolist() == both.wanted.tolist()
    assert len(other.wanted) == 1


def test_what_becomes_of_duplicates() -> None:
    config = Config.from_settings(
        given(DUPLICATES="drop", DUPLICATE_SITES='{"News.Example.com": "keep"}', DUPLICATE_WINDOW="30")
    )
    policy = config.duplicates
    assert (policy.keep, policy.window, policy.threshold) == (Keep.NOTHING, 30, 0.8)
    assert policy.sites == {fingerprint("example.com"): Keep.ALL}
    assert Config.from_settings(given()).duplicates == Policy(0.8)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"DUPLICATES": "delete"}, "DUPLICATES is 'delete'; it takes drop, link, keep"),
        ({"DUPLICATE_SITES": '{"a.example": "no"}'}, "DUPLICATE_SITES of a.example is 'no'"),
        ({"DUPLICATE_SITES": "a.example"}, "write it as JSON"),
        ({"DUPLICATE_METHOD": "magic"}, "known: combined"),
        ({"DUPLICATE_PARAMS": '{"luck": 1}'}, "has no parameter 'luck'; known: "),
        ({"DUPLICATE_WINDOW": "-1"}, "DUPLICATE_WINDOW is '-1'"),
    ],
)
def test_wrong_words_about_duplicates(values: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Config.from_settings(given(**values))
