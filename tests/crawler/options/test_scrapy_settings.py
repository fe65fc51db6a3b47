"""Scrapy's settings in the news crawl: each is honoured, refused with ours in its place, or inert on purpose."""

from __future__ import annotations

import re
from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings, default_settings

from crawler import settings as project_settings
from crawler.options import scrapy_settings
from crawler.options.names import check_names, without_effect
from crawler.options.scrapy_settings import (
    DEFAULTS,
    FIXED,
    HONOURED,
    INERT,
    READERS,
    REFUSED,
    check_components,
    refusal,
)
from crawler.options.table import OPTIONS
from crawler.options.values import ConfigError
from crawler.spiders.news import NewsSpider
from tests.table import each_row

OURS = {option.name for option in OPTIONS}
SCRAPYS = sorted({name for name in vars(default_settings) if name.isupper()} | {"CONCURRENT_REQUESTS_PER_IP"})
PATTERNS = [*HONOURED.split(), *" ".join(INERT).split(), *" ".join(REFUSED).split()]


def project(**project: Any) -> Settings:
    made = Settings()
    made.setmodule(project_settings, "project")
    made.setdict(project, "project")
    return made


def typed(**values: Any) -> Settings:
    made = project()
    made.setdict(values, "cmdline")
    return made


@each_row("name", [name for name in SCRAPYS if name not in OURS])
def test_every_setting_of_scrapy_stands_in_the_table_once(name: str) -> None:
    rows = [p for p in PATTERNS if p != "*_BASE" and re.fullmatch(p.replace("*", ".*"), name)]
    assert len(rows) == (0 if name.endswith("_BASE") else 1), rows


@each_row("pattern", PATTERNS)
def test_every_row_is_of_a_setting_of_scrapy(pattern: str) -> None:
    assert [name for name in SCRAPYS if re.fullmatch(pattern.replace("*", ".*"), name) and name not in OURS]


def test_sentences_name_settings_that_exist() -> None:
    named = {name for said in REFUSED.values() for name in re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", said)}
    assert named - OURS <= {"DOWNLOADER_MIDDLEWARES", "ITEM_PIPELINES"}
    assert len(named) > 15


@each_row(
    ("name", "instead"),
    [
        ("DEPTH_LIMIT", "MAX_DEPTH"),
        ("JOBDIR", "DATABASE_URL"),
        ("ROBOTSTXT_OBEY", "always obeyed"),
        ("AUTOTHROTTLE_ENABLED", "HOST_DELAY_FACTOR"),
        ("DOWNLOAD_DELAY", "HOST_DELAY"),
        ("CONCURRENT_REQUESTS_PER_IP", "SAME_IP_DELAY"),
        ("DOWNLOAD_VERIFY_CERTIFICATES", "TLS_UNVERIFIED_HOSTS"),
        ("DNS_TIMEOUT", "the system resolves names"),
        ("DOWNLOAD_FAIL_ON_DATALOSS", "stored as no article"),
        ("SCHEDULER", "DATABASE_URL"),
        ("EXTENSIONS_BASE", "the setting without _BASE"),
    ],
)
def test_setting_without_effect_is_refused_naming_ours(name: str, instead: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name} has no effect on this crawl: .*{instead}"):
        check_names(typed(**{name: "{}"}))
    with pytest.raises(ConfigError, match=instead):
        check_names(typed(), {name: 1})


def test_settings_of_others_pass_and_are_said(caplog: pytest.LogCaptureFixture) -> None:
    check_names(typed(MYPLUGIN_X="1", CLOSESPIDER_ITEMCOUNT="5", LOG_LEVEL="INFO"), {"ZYTE_API_KEY": "x"})
    assert [record.args for record in caplog.records] == [("MYPLUGIN_X",)]


def test_setting_of_a_component_that_the_user_adds_is_honoured() -> None:
    cache = '{"scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware": 900}'
    check_names(typed(HTTPCACHE_ENABLED="1", DOWNLOADER_MIDDLEWARES=cache))
    with pytest.raises(ConfigError, match="STORE_HTML"):
        check_names(typed(HTTPCACHE_ENABLED="1", DOWNLOADER_MIDDLEWARES='{"mine.HttpCache": 900}'))
    assert [name for names in READERS for name in names.split() if refusal(name.replace("*", "X")) is None] == []


def test_part_that_the_crawl_needs_cannot_be_left_out() -> None:
    check_components(typed(EXTENSIONS='{"crawler.frontier.progress.Progress": null}'))
    with pytest.raises(ConfigError, match=r"EXTENSIONS names 'pipelines\.stages\.CrawlAccess', a part of the crawl"):
        check_components(typed(EXTENSIONS='{"pipelines.stages.CrawlAccess": null}'))


@each_row(
    ("name", "value", "told"),
    [
        ("ITEM_PIPELINES", '{"nowhere.Late": 300}', "ITEM_PIPELINES names 'nowhere.Late', which cannot be imported"),
        ("ITEM_PIPELINES", '{"logging.Handler": -300}', "the place -300, before the crawl's own; it takes 0 to 1000"),
        (
            "ITEM_PIPELINES",
            '{"logging.Handler": "late"}',
            "the place 'late'; it takes a number",
        ),
        ("ITEM_PIPELINES", '{"pipelines.stages.StoreStage": null}', "a part of the crawl, which keeps its place"),
        ("EXTENSIONS", '{"nowhere.Late": 300}', "EXTENSIONS names 'nowhere.Late', which cannot be imported"),
    ],
)
def test_wrong_component_is_named(name: str, value: str, told: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(told)):
        check_components(typed(**{name: value}))


def test_setting_of_other_spiders_in_the_settings_file_is_said() -> None:
    assert without_effect(project()) == []
    said = without_effect(project(DEPTH_LIMIT=3, DOWNLOAD_DELAY=2, LOG_LEVEL="INFO", MYPLUGIN_X=1))
    assert [one.partition(" ")[0] for one in said] == ["DEPTH_LIMIT", "DOWNLOAD_DELAY"]


class _Mine(NewsSpider):
    name = "mine"
    custom_settings = {"LOG_LEVEL": "ERROR", "MAX_DEPTH": 1, "EXTENSIONS": {"mine.Extension": 1}}  # noqa: RUF012


def test_news_crawl_has_its_parts_and_adds_those_of_the_user() -> None:
    values = {"EXTENSIONS": {"a.B": 1}, "ITEM_PIPELINES": '{"a.C": 950}', "DOWNLOADER_MIDDLEWARES": {"a.D": 10}}
    made = Crawler(NewsSpider, typed(**values)).settings
    assert made["SCHEDULER"] == FIXED["SCHEDULER"]
    assert dict(made.getwithbase("EXTENSIONS")) == FIXED["EXTENSIONS_BASE"] | {"a.B": 1}
    assert dict(made.getwithbase("ITEM_PIPELINES")) == FIXED["ITEM_PIPELINES_BASE"] | {"a.C": 950}
    assert dict(made.getwithbase("DOWNLOADER_MIDDLEWARES")) == FIXED["DOWNLOADER_MIDDLEWARES_BASE"] | {"a.D": 10}


def test_priority_is_command_line_then_spider_then_project_then_the_news_crawls_defaults() -> None:
    def level(spider: type[Spider], settings: Settings) -> Any:
        return Crawler(spider, settings).settings["LOG_LEVEL"]

    assert level(NewsSpider, project()) == DEFAULTS["LOG_LEVEL"]
    assert level(NewsSpider, project(LOG_LEVEL="INFO")) == "INFO"
    assert level(_Mine, project(LOG_LEVEL="INFO")) == "ERROR"
    assert level(_Mine, typed(LOG_LEVEL="DEBUG")) == "DEBUG"
    made = Crawler(_Mine, project(DOWNLOAD_DELAY=3, CONCURRENT_REQUESTS_PER_DOMAIN=1)).settings
    assert (made["DOWNLOAD_DELAY"], made["CONCURRENT_REQUESTS_PER_DOMAIN"], made["MAX_DEPTH"]) == (0, 1000, 1)
    assert "mine.Extension" in made.getwithbase("EXTENSIONS")


def test_ordinary_spider_has_scrapys_settings() -> None:
    made = Crawler(Spider, project()).settings
    for name in {*FIXED, *DEFAULTS}:
        default = getattr(default_settings, name)
        assert (dict(made[name]) if isinstance(default, dict) else made[name]) == default
    own = {name for name in SCRAPYS if made.getpriority(name)}
    assert own == (OURS & set(SCRAPYS)) - set(DEFAULTS) | {
        "BOT_NAME",
        "SPIDER_MODULES",
        "NEWSPIDER_MODULE",
        "COMMANDS_MODULE",
        "FEED_EXPORT_ENCODING",
    }


def test_refusal_leaves_what_is_honoured_alone() -> None:
    assert [name for name in SCRAPYS if name in DEFAULTS and refusal(name)] == []
    assert refusal("MYPLUGIN_X") is None
    assert scrapy_settings.refusal("TELNETCONSOLE_PORT", ["scrapy.extensions.telnet.TelnetConsole"]) is None
