"""Settings: what is read, and what the messages say about wrong ones."""

from __future__ import annotations

import ast
import json
import math
import operator
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings

from crawler import settings as project_settings
from crawler.options.config import Config, CrawlConfig
from crawler.options.given import apply_environment, value_of
from crawler.options.in_force import Origin, in_force
from crawler.options.names import check_names
from crawler.options.seeds import Seed
from crawler.options.table import OPTIONS, differing
from crawler.options.values import (
    MUST,
    SCORING,
    SHOULD,
    ConfigError,
    Option,
    flag,
    limit,
    mapping,
    names,
    number,
    record,
    whole,
    word,
)
from crawler.rank.priority import PRESETS
from crawler.response.context import HarmPolicy
from db.records.article import Keep
from db.records.keys import fingerprint
from db.records.run import Limits
from pipelines.dedup.judge import Policy
from pipelines.describe import DescribeOptions
from pipelines.models.files import dumps
from pipelines.text.classes import learner
from pipelines.text.classes.vectors import Text
from pipelines.training.classes import learn
from tests.files import files_in
from tests.table import each_row


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
    assert (config.connections, config.delay.delay, config.tries) == (1, 1.0, 3)
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
            EXTRACTOR_PARAMS='{"min_chars": 10}',
            DUPLICATE_THRESHOLD="1",
            ALLOW_NETWORKS="127.0.0.1:8710",
            DATABASE_URL="sqlite:///x.db",
        )
    )
    assert config.limits == Limits(500, None, 0)
    assert config.delay.delay == 0.5
    assert config.connections == 2
    assert config.priority.weights == {"block": 2.0}
    assert (config.rank_every_pages, config.host_patience) == (100, 60.0)
    assert config.duplicates.threshold == 1.0
    assert config.database_url == "sqlite:///x.db"


def test_bounds_of_intervals_the_wrong_way_round() -> None:
    with pytest.raises(ConfigError, match="REVISIT_MAX is 60, less than REVISIT_MIN, 300"):
        Config.from_settings(given(REVISIT_MAX=60))


@each_row("none", [None, "", "None", "NONE", "  "])
def test_no_limit(none: Any) -> None:
    assert Config.from_settings(given(MAX_PAGES=none, MAX_DEPTH=none)).limits == Limits()


NUMBERS = [option for option in OPTIONS if option.parse in {number, whole, limit}]


def wrong_values(option: Option) -> list[Any]:
    """What an option of its kind and bounds refuses."""
    if option.parse is flag:
        return ["often", "2.5", [1]]
    if option.parse is word:
        return ["hide", "", None, 3, [option.default]]
    if option.parse in {mapping, record}:
        return ["{", "depth=1", "[1, 2]", "3", "null", '"depth"', 3]
    if option.parse is names:
        return [3, True]
    if option not in NUMBERS:
        return []
    wrong = ["many", "-1", "nan", "1,5", "1 2", [1], "inf", "1e400", "1e20", str(option.least - 0.01)]
    wrong += [str(option.most * 1.01)] * (option.most < math.inf)
    wrong += [str(option.least + 0.5)] * (option.parse is not number)
    return wrong + ["", None] * (option.parse is not limit)


@each_row(("option", "value"), [pytest.param(o, v, id=f"{o.name}={v!r}") for o in OPTIONS for v in wrong_values(o)])
def test_wrong_values_are_refused(option: Option, value: Any) -> None:
    with pytest.raises(ConfigError) as refused:
        Config.from_settings(given(**{option.name: value}))
    message = str(refused.value)
    assert message.startswith(f"{option.name} is {value!r}; ")
    assert "it takes " in message or "write it as JSON, e.g. " in message


@each_row("option", NUMBERS)
def test_bounds_are_allowed(option: Option) -> None:
    most = option.most if option.most < math.inf else 2**31 - 1
    for value in (option.least, most, *[0] * option.off):
        assert value_of(given(**{option.name: f"{value}"}), option.name) == value


def test_every_setting_is_read_once() -> None:
    """A default that the table places is in the `Config`, in the unit of its field."""
    config = Config.from_settings(given())
    for option in (part for one in OPTIONS for part in (one, *one.parts)):
        if option.to != "" and not (option.to or "").startswith(("answer.", "head.", "read.")):
            place = operator.attrgetter(option.to or option.name.lower())
            value = option.default if option.unit == 1 or option.default is None else option.default * option.unit
            assert place(config) == value, option.name


@each_row(
    ("name", "value", "message"),
    [
        ("CRAWL_PRIORITY", "depth=1", r"CRAWL_PRIORITY is 'depth=1'; write it as JSON, e\.g\. -s CRAWL_PRIORITY='{"),
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
        ("KEEP_DAYS", '{"days": 3}', "it has no part 'days'; they are: outside, pages, versions, signals, duplicates"),
        ("KEEP_DAYS", '{"pages": -3}', "pages is -3; it takes a number, 0 or more"),
        ("HEALTH_WINDOW", "9", "HEALTH_WINDOW is '9'; it takes 0, or a number, 10 to 200"),
        ("MAX_PAGES", "1e20", "MAX_PAGES is '1e20'; it takes a number, 0 to 2147483647"),
        ("HOST_CONNECTIONS", "1.5", "HOST_CONNECTIONS is '1.5'; it takes a whole number"),
        ("LEASE_SECONDS", "19.9", "LEASE_SECONDS is '19.9'; it takes a number, 20 or more"),
        ("CRAWL_PRESET", "focused", "but there is none; give TOPIC, PROFILE, or seeds with topic="),
        ("CRAWL_PRIORITY", '{"anchor": 1}', "but there is none; give TOPIC"),
        ("TOPIC", "的 和 123", "the topic '的 和 123' has no word to look for"),
        ("PROFILE", "/nowhere/profile.json", "the profile /nowhere/profile.json cannot be used"),
        ("FOCUS_MIN", "0.5", "FOCUS_MIN is '0.5', but there is no topic to be near to; give TOPIC"),
        ("FOCUS_MIN", "1.5", "FOCUS_MIN is '1.5'; it takes a number, 0 to 1"),
        ("FOCUS_BELOW", "hide", "FOCUS_BELOW is 'hide'; it takes drop or store"),
        ("EXTRACTOR", "magic", "unknown extractor 'magic'; known: "),
        ("EXTRACTOR_PARAMS", "{", "EXTRACTOR_PARAMS is '{'; write it as JSON"),
        ("EXTRACTOR_PARAMS", '{"min_char": 1}', "has no parameter 'min_char'; known: "),
        ("ALLOW_NETWORKS", "10.0.0.0/33", "ALLOW_NETWORKS: '10.0.0.0/33' is no network"),
        ("TLS_UNVERIFIED_HOSTS", "https://a.cn/", "TLS_UNVERIFIED_HOSTS: 'https://a.cn/' is no host"),
        ("SITE_COOKIES", "often", "SITE_COOKIES is 'often'; it takes True or False"),
        ("HOST_BACKOFF", '{"seconds": 0}', "seconds is 0; it takes a number, 0.1 to 3600"),
        ("MEMORY_MB", "500", "MEMORY_MB is '500'; write it as JSON, e.g. -s MEMORY_MB='{"),
    ],
)
def test_unknown_names_and_values(name: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Config.from_settings(given(**{name: value}))


@each_row("value", ['{"min_chars": [1]}', '{"min_chars": "ten"}', '{"link_share": null}', '{"min_chars": 1.5}'])
def test_parameters_that_every_page_would_fail_on(value: str) -> None:
    with pytest.raises(ConfigError, match=r"EXTRACTOR_PARAMS|parameter"):
        Config.from_settings(given(EXTRACTOR_PARAMS=value))


def test_parameters_that_are_names() -> None:
    config = Config.from_settings(given(EXTRACTOR="weighted", EXTRACTOR_PARAMS='{"preset": "wuqi2011"}'))
    assert config.extractor == "weighted"
    with pytest.raises(ConfigError, match=r"'preset' .* is 'wuqi'; it takes one of learned, wuqi2011"):
        Config.from_settings(given(EXTRACTOR="weighted", EXTRACTOR_PARAMS='{"preset": "wuqi"}'))


@each_row(
    ("extractor", "value"),
    [("lineblocks", '{"width": 0}'), ("bte", '{"token_chars": 0}'), ("headings", '{"reach": -1}')],
)
def test_parameters_out_of_range(extractor: str, value: str) -> None:
    with pytest.raises(ConfigError, match=r"or more|above 0"):
        Config.from_settings(given(EXTRACTOR=extractor, EXTRACTOR_PARAMS=value))


@each_row(
    ("name", "hint"),
    [
        ("MAX_PAGE", "did you mean MAX_PAGES"),
        ("max_pages", "did you mean MAX_PAGES"),
        ("HOSTDELAY", "did you mean HOST_DELAY"),
        ("DOWNLOAD_TIMEOUTS", "did you mean DOWNLOAD_TIMEOUT"),
    ],
)
def test_misspelt_names(name: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=f"there is no setting {name}.*{hint}"):
        check_names(given(**{name: "1"}))


def test_names_of_this_project_and_of_scrapy_are_known() -> None:
    known = given(MAX_PAGES="1", LOG_LEVEL="INFO", DOWNLOAD_TIMEOUT="5", EXTRACTOR_PARAMS="{}")
    check_names(known)
    known.set("LOG_LEVELS", "INFO", "cmdline")
    with pytest.raises(ConfigError, match="there is no setting LOG_LEVELS"):
        check_names(known)


def test_misspelt_names_that_were_not_typed_are_nobodys_mistake() -> None:
    made = given()
    made.set("MAX_PAGE", 1, "addon")
    check_names(made)
    made.set("MAX_PAGE", 1, "cmdline")
    with pytest.raises(ConfigError, match="MAX_PAGE"):
        check_names(made)


def test_topic_makes_the_crawl_focused() -> None:
    assert Config.from_settings(given()).preset == "news"
    config = Config.from_settings(given(TOPIC="港口 航运"))
    assert config.preset == "focused"
    assert config.topic is not None
    assert Config.from_settings(given(TOPIC="港口", CRAWL_PRESET="breadth")).priority.weights == {"depth": 1.0}


def test_seeds_topics_count_when_no_other_is_given() -> None:
    of_seeds = Config.from_settings(given(), ["港口 航运", "桥梁"]).topic
    classes = Config.from_settings(given(), ["class:sport", "class:home,travel"]).topic
    assert classes is not None
    assert classes.classes == ("sport", "home", "travel")
    both = Config.from_settings(given(TOPIC="港口 航运 桥梁")).topic
    other = Config.from_settings(given(TOPIC="足球"), ["港口 航运", "桥梁"]).topic
    assert of_seeds is not None
    assert both is not None
    assert other is not None
    assert of_seeds.wanted.tolist() == both.wanted.tolist()
    assert len(other.wanted) == 1


def test_policy_for_duplicates() -> None:
    config = Config.from_settings(
        given(DUPLICATES="drop", DUPLICATE_SITES='{"News.Example.com": "keep"}', KEEP_DAYS='{"duplicates": 30}')
    )
    policy = config.duplicates
    assert (policy.keep, policy.window, policy.threshold) == (Keep.NOTHING, 30, 0.8)
    assert policy.sites == {fingerprint("example.com"): Keep.ALL}
    assert Config.from_settings(given()).duplicates == Policy(0.8)


@each_row(
    ("values", "message"),
    [
        ({"DUPLICATES": "delete"}, "DUPLICATES is 'delete'; it takes drop, link, keep"),
        ({"DUPLICATE_SITES": '{"a.example": "no"}'}, "DUPLICATE_SITES of a.example is 'no'"),
        ({"DUPLICATE_SITES": "a.example"}, "write it as JSON"),
        ({"DUPLICATE_METHOD": "magic"}, "known: combined"),
        ({"DUPLICATE_PARAMS": '{"luck": 1}'}, "has no parameter 'luck'; known: "),
        ({"KEEP_DAYS": '{"duplicates": -1}'}, "duplicates is -1"),
    ],
)
def test_wrong_words_about_duplicates(values: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Config.from_settings(given(**values))


@each_row(
    ("values", "message"),
    [
        ({"KEYWORDS": "magic"}, "known: bayes, combined"),
        ({"KEYWORD_PARAMS": '{"luck": 1}'}, "'luck'"),
        (
            {"KEYWORDS": "bayes", "KEYWORD_PARAMS": '{"synonyms": "/nowhere.txt"}'},
            "the synonyms /nowhere.txt cannot be read",
        ),
        ({"CLASSES": "/nowhere.json"}, "/nowhere.json cannot be read"),
        ({"TOPIC": "class:sprot"}, "has no class 'sprot'; it knows autos, .*, sport, technology, travel"),
        ({"TOPIC": "class:sport", "CLASSES": "none"}, "CLASSES names no model"),
        ({"TOPIC": "class:sport", "PROFILE": "me.json"}, "TOPIC names classes, and PROFILE"),
        ({"TOPIC": "class:sport", "PROFILE": "readers"}, "TOPIC names classes, and PROFILE"),
        ({"PROFILE": "readers", "FOCUS_MIN": 0.5}, "only steers a crawl, and drops nothing; give a TOPIC"),
        ({"TOPIC": "port class:sport"}, "has words and classes"),
        ({"HARMFUL": "burn"}, "HARMFUL is 'burn'; it takes off, store, flag, drop"),
        ({"WORDS": "/nowhere.txt"}, "/nowhere.txt cannot be read"),
    ],
)
def test_wrong_words_about_descriptions(values: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Config.from_settings(given(**values))


def test_descriptions_are_switched_off() -> None:
    off = Config.from_settings(given(KEYWORDS="", CLASSES="none", HARMFUL="off")).parse_options.describe
    assert off == DescribeOptions("", {}, "", judges_harm=False)
    assert Config.from_settings(given()).parse_options.describe == DescribeOptions()
    stored = Config.from_settings(given(HARMFUL="store"))
    assert (stored.harmful, stored.parse_options.describe) == (HarmPolicy.STORE, DescribeOptions(gives_reasons=False))


def test_model_of_classes_that_looks_at_pages_is_not_for_later(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    texts = [Text(word, f"{word} {n}", language="en") for word in ("goal", "bank") for n in range(6)]
    learned = learn(texts, [("a",)] * 6 + [("b",)] * 6, learner("structure", {}))
    path.write_text(dumps("classes", learned.model.model(), "a test", {}), encoding="utf-8")
    assert not Config.from_settings(given(CLASSES=str(path))).describes_later
    with pytest.raises(ConfigError, match="set DESCRIBE=now"):
        Config.from_settings(given(CLASSES=str(path), DESCRIBE="later"))


def test_crawl_has_one_config() -> None:
    crawler = SimpleNamespace(settings=given(), spider=SimpleNamespace(seeds=[Seed("http://a.example/", topic="港口")]))
    held: Any = CrawlConfig.from_crawler(crawler)
    assert held.config.topic is not None
    crawler.get_extension = {CrawlConfig: held}.get
    assert CrawlConfig.of(crawler) is held.config
    crawler.get_extension = {}.get
    with pytest.raises(NotConfigured, match="CrawlConfig"):
        CrawlConfig.of(crawler)


def test_processes_agree() -> None:
    def agreed(**values: Any) -> dict[str, Any]:
        return json.loads(json.dumps(Config.from_settings(given(**values)).agreed))

    one = agreed(HOST_DELAY=1, CRAWL_PRIORITY={}, MAX_PAGES="5")
    assert not differing(one, agreed(HOST_DELAY="1.0", CRAWL_PRESET="news", MAX_PAGES=5), SHOULD, MUST, SCORING)
    other = agreed(HOST_DELAY=2, CRAWL_PRESET="breadth", MAX_HOSTS=3, WORKERS=1)
    assert differing(one, other, SHOULD) == ["HOST_DELAY"]
    assert differing(one, other, MUST, SCORING) == ["MAX_PAGES", "CRAWL_PRESET"]
    assert (one["MAX_HOSTS"], other["MAX_HOSTS"]) == (2000, 3)
    assert not {"DATABASE_URL", "CONTACT"} & set(one), "what every reader of the database sees holds no passwords"


PACKAGES = [Path(__file__).parents[3] / name for name in ("crawler", "pipelines", "db")]


def reads_of_settings(tree: ast.AST) -> list[int]:
    """Find lines that subscript something called settings, or name a getter of it."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if (isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr.startswith("get")))
        and ast.unparse(node.value).endswith("settings")
    ]


def test_nothing_else_reads_settings() -> None:
    paths = [path for root in PACKAGES for path in files_in(root, "**/*.py", at_least=50)]
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    trees = {path: ast.parse(text) for path, text in texts.items() if "settings" in text}
    reading = {str(path): lines for path, tree in trees.items() if (lines := reads_of_settings(tree))}
    assert {Path(path).parent.name for path in reading} == {"options"}
    importing = [
        path
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module == "settings" or (node.module is None and "settings" in [alias.name for alias in node.names]))
    ]
    assert importing == []


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without variables of ours."""
    for option in OPTIONS:
        for name in option.variables:
            monkeypatch.delenv(name, raising=False)
    return monkeypatch


def found(name: str, made: Settings, about: Sequence[str] = ()) -> tuple[Any, Origin, str]:
    """Value, source and place of a setting in force."""
    (one,) = [one for one in in_force(made, about) if one.name == name]
    return one.value, one.source, one.where


def test_environment_stands_between_project_and_command_line(environment: pytest.MonkeyPatch) -> None:
    made = given(MAX_DEPTH=3)
    made.set("HOST_DELAY", 7, "project")
    made.set("FETCH_TRIES", 9, "project")
    for name, value in (("HOST_DELAY", "2"), ("MAX_DEPTH", "8"), ("MAX_PAGES", "50"), ("TOPIC", "")):
        environment.setenv(f"NEWS_{name}", value)
    apply_environment(made)
    config = Config.from_settings(made)
    assert (config.delay.delay, config.tries, config.limits) == (2.0, 9, Limits(50, None, 3))
    assert found("HOST_DELAY", made) == (2.0, Origin.ENVIRONMENT, "NEWS_HOST_DELAY")
    assert found("FETCH_TRIES", made) == (9, Origin.PROJECT, "crawler/settings.py")
    assert found("MAX_DEPTH", made) == (3, Origin.COMMAND_LINE, "-s MAX_DEPTH")
    assert found("MAX_PAGES_PER_HOST", made) == (None, Origin.DEFAULT, "")
    assert found("TOPIC", made) == ("", Origin.DEFAULT, "")


def test_environment_gives_every_setting(environment: pytest.MonkeyPatch) -> None:
    texts = {dict: "{}", list: "10.0.0.0/8", type(None): "2024-05-01"}
    special = {"CRAWL_PRESET": "news", "STORE_KINDS": "article", "PROFILE": "", "PROXY": "socks5://me:pass@h.cn:1080"}
    for option in OPTIONS:
        number = "50" if option.parse is limit else texts.get(type(option.default), str(option.default) or "words")
        environment.setenv(f"NEWS_{option.name}", special.get(option.name, number))
    in_environment = {one.name for one in in_force(given()) if one.source is Origin.ENVIRONMENT}
    assert in_environment == {option.name for option in OPTIONS} - {"PROFILE"}


def test_names_of_old_are_variables_too(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("DATABASE_URL", "postgresql://me:secret@db.example/news?password=secret")
    environment.setenv("CRAWL_CONTACT", "me@example.com")
    hidden = "postgresql://me:***@db.example/news"
    assert found("DATABASE_URL", given()) == (hidden, Origin.ENVIRONMENT, "DATABASE_URL")
    assert found("USER_AGENT", given())[0] == "newscrawler/0.1 (+me@example.com)"
    assert found("USER_AGENT", given())[1:] == (Origin.ENVIRONMENT, "CONTACT")
    environment.setenv("NEWS_DATABASE_URL", "sqlite:///mine.db")
    assert found("DATABASE_URL", given()) == ("sqlite:///mine.db", Origin.ENVIRONMENT, "NEWS_DATABASE_URL")


def test_seeds_give_the_topic_in_force(environment: pytest.MonkeyPatch) -> None:
    assert found("TOPIC", given(), ["ports", "ships"]) == ("ports ships", Origin.SEEDS, "topic=")
    assert found("CRAWL_PRESET", given(), ["ports"])[0] == "focused"
    assert found("CRAWL_PRESET", given())[0] == "news"
    environment.setenv("NEWS_TOPIC", "cars")
    assert found("TOPIC", given(), ["ports"]) == ("cars", Origin.ENVIRONMENT, "NEWS_TOPIC")


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("NEWS_MAX_PAGES", "many", "NEWS_MAX_PAGES is 'many'; it takes a number"),
        ("NEWS_CRAWL_PRESET", "best", r"use one of: breadth.*\(given by NEWS_CRAWL_PRESET\)"),
        ("NEWS_ALLOW_NETWORKS", "10.0.0.0/33", r"is no network.*\(given by NEWS_ALLOW_NETWORKS\)"),
        ("NEWS_REVISIT_MAX", "60", r"less than REVISIT_MIN, 300 \(given by NEWS_REVISIT_MAX\)"),
    ],
)
def test_wrong_values_name_the_variable(
    environment: pytest.MonkeyPatch, variable: str, value: str, message: str
) -> None:
    environment.setenv(variable, value)
    made = given()
    apply_environment(made)
    with pytest.raises(ConfigError, match=message):
        Config.from_settings(made)


def test_unknown_variables_are_named(environment: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    environment.setenv("NEWS_LETTER", "weekly")
    check_names(given())
    assert "NEWS_LETTER is of no setting" in caplog.text
    assert "the nearest is NEWS_" in caplog.text
    environment.setenv("NEWS_MAX_PAGE", "5")
    with pytest.raises(ConfigError, match="variable NEWS_MAX_PAGE; did you mean NEWS_MAX_PAGES"):
        check_names(given())
