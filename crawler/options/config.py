"""Build the `Config` of a crawl from checked settings.

Every command of `scrapy` reads this module, so it imports what a crawl is made of only where a `Config` is made.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import NotConfigured

from db.records.article import Keep
from db.records.keys import fingerprint
from db.records.run import KeepDays, Limits
from pipelines.dates.period import Period
from pipelines.records import PageKind
from pipelines.version import extraction_version

from ..fetch.proxies import read_environment
from ..response.revisit_schedule import Schedule
from .alerts import AlertOptions, alert_options
from .given import checked, problems_of
from .table import OPTIONS, ROBOTS_AGENT
from .values import NO, ConfigError

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from pipelines.dedup import Method
    from pipelines.dedup.judge import Policy
    from pipelines.describe import DescribeOptions
    from pipelines.focus.topic import Topic
    from pipelines.worker import KeepRaw, ParseOptions

    from ..fetch.connection import FetchOptions
    from ..politeness.delay import BackoffPolicy, DelayPolicy
    from ..rank.priority import Priority
    from ..render.records import RenderOptions
    from ..render.requests import RobotsPolicy
    from ..response.context import HarmPolicy, Threshold


_POLICIES = {"drop": Keep.NOTHING, "link": Keep.METADATA, "keep": Keep.ALL}
_REDIRECTS = 8
"""Redirects in a row: browsers follow 20, robots.txt 5 (RFC 9309, 2.3.1.2). Chosen by hand, as all bounds here."""
_ROBOTS_KEEP_SECONDS = 86_400.0
"""RFC 9309, 2.4: a robots.txt should not be used for longer than a day."""
_ROBOTS_SECONDS = 30.0
"""For a robots.txt to come: while there is none, nothing of its host is fetched."""
_PAGE_SECONDS = 20.0
"""For reading one page, which takes some hundredths of a second: what takes longer hangs."""
_TOPICS = 'give TOPIC, PROFILE, or seeds with topic="..."'


@dataclass(frozen=True, slots=True)
class Config:
    """The checked values of all settings.

    Attributes:
        agreed: values in which processes that share the database should agree or which they tell each other.
        connections, window: requests under way, and URLs held in memory, per host.
        hosts, in_flight: hosts held in memory, requests under way.
        network_patience: seconds to wait for a network that is down.
        topic: None when the crawl looks for everything.
        ahead: seconds, `REVISIT_AHEAD`.
    """

    agreed: Mapping[str, Any]
    robots_agent: str
    database_url: str
    shard: int | None
    database_patience: float
    store_html: KeepRaw
    store_warc: str
    keep: KeepDays
    limits: Limits
    period: Period
    traps: bool
    soft_404_probe: bool
    preset: str
    priority: Priority
    rank_every_pages: int
    rank_memory: int
    host_patience: float
    topic: Topic | None
    follows_readers: bool
    focus: Threshold
    honours_noindex: bool
    harmful: HarmPolicy
    delay: DelayPolicy
    backoff: BackoffPolicy
    connections: int
    same_ip_delay: float
    tries: int
    network_patience: float
    schedule: Schedule
    ahead: float
    fetch: FetchOptions
    extractor: str
    site_memory: bool
    describes_later: bool
    duplicate_method: Method
    duplicates: Policy
    duplicate_memory_bytes: int
    url_rules: float
    render: str
    rendering: RenderOptions
    workers: int
    worker_memory_bytes: int
    parse_options: ParseOptions
    desk: str
    alerts: AlertOptions
    extractor_version: str
    log_json: bool
    metrics_port: int
    health_window: int
    in_flight: int
    window: int
    hosts: int
    lease_seconds: float
    progress_seconds: float
    robots_bytes: int
    redirects: int = _REDIRECTS
    robots_keep: float = _ROBOTS_KEEP_SECONDS
    robots_timeout: float = _ROBOTS_SECONDS
    page_seconds: float = _PAGE_SECONDS

    def __reduce__(self) -> tuple[Any, ...]:
        """Send plain values to other processes: functions, as of a method, cannot be sent."""
        return _sent, ({field.name: getattr(self, field.name) for field in fields(self)} | {"duplicate_method": None},)

    @property
    def robots_policy(self) -> RobotsPolicy:
        """Return how robots.txt files are read of hosts that a rendered page asks."""
        from ..render.requests import RobotsPolicy

        return RobotsPolicy(
            agent=self.robots_agent,
            keep=self.robots_keep,
            timeout=self.robots_timeout,
            size=self.robots_bytes,
            most_delay=self.delay.most_crawl_delay,
        )

    @classmethod
    def from_settings(cls, settings: BaseSettings, about: Sequence[str] = ()) -> Config:
        """Read and check; the topic is that of the seeds (`about`) if settings name none.

        Raises:
            ConfigError: naming the setting, its value and what is allowed.
        """
        from pipelines.dedup import method
        from pipelines.extract import extractor
        from pipelines.focus.profile import READERS
        from pipelines.worker import KeepRaw, ParseOptions

        from ..politeness.delay import MOST_ROBOTS_BYTES, BackoffPolicy, DelayPolicy
        from ..rank.priority import FOCUS_SIGNALS, Priority
        from ..render.records import RenderOptions
        from ..response.context import HarmPolicy, Threshold

        given, records = checked(settings)
        with problems_of(settings, "REVISIT_MAX", "REVISIT_MIN"):
            if given["REVISIT_MAX"] < given["REVISIT_MIN"]:
                raise ConfigError(
                    f"REVISIT_MAX is {given['REVISIT_MAX']:g}, less than REVISIT_MIN, {given['REVISIT_MIN']:g}"
                )
        with problems_of(settings, "SINCE", "UNTIL"):
            period = Period(given["SINCE"], given["UNTIL"])
            if period.is_empty(time.time()):
                raise ConfigError(f"UNTIL is {settings['UNTIL']}, before SINCE, {settings['SINCE']}")
        describe = _describe(settings, given)
        with problems_of(settings, "TOPIC", "PROFILE"):
            wanted = _topic(given["TOPIC"], given["PROFILE"], about, describe)
        preset = preset_of(given, about)
        with problems_of(settings, "CRAWL_PRESET", "CRAWL_PRIORITY"):
            priority = Priority(preset, given["CRAWL_PRIORITY"])
            if wanted is None and priority.learns(FOCUS_SIGNALS):
                raise ConfigError(
                    f"CRAWL_PRESET {preset!r} and CRAWL_PRIORITY weigh signals of a topic, but there is none; {_TOPICS}"
                )
        with problems_of(settings, "EXTRACTOR", "EXTRACTOR_PARAMS"):
            extractor(given["EXTRACTOR"], given["EXTRACTOR_PARAMS"])
        duplicates = given["DUPLICATE_METHOD"], given["DUPLICATE_PARAMS"]
        with problems_of(settings, "DUPLICATE_METHOD", "DUPLICATE_PARAMS"):
            duplicate_method = method(*duplicates)
        with problems_of(settings, "FOCUS_MIN"):
            if wanted is None and given["FOCUS_MIN"]:
                raise ConfigError(
                    f"FOCUS_MIN is {settings['FOCUS_MIN']!r}, but there is no topic to be near to; {_TOPICS}"
                )
            if wanted is not None and not wanted.is_given and given["FOCUS_MIN"]:
                raise ConfigError(
                    f"FOCUS_MIN is {settings['FOCUS_MIN']!r}, but what readers stay with (PROFILE={READERS}) only "
                    "steers a crawl, and drops nothing; give a TOPIC, too"
                )
        with problems_of(settings, "DUPLICATE_SITES"):
            policy = _duplicates(given)
        agreed = {option.name: given[option.name] for option in OPTIONS if option.agree is not NO}
        agreed["CRAWL_PRESET"] = preset
        return cls(
            **records[""],
            agreed=json.loads(json.dumps(agreed, default=str)),  # as another process reads it
            robots_agent=ROBOTS_AGENT,
            robots_bytes=MOST_ROBOTS_BYTES,
            keep=KeepDays(**records["keep"]),
            limits=Limits(**records["limits"]),
            period=period,
            preset=preset,
            priority=priority,
            topic=wanted,
            follows_readers=given["PROFILE"] == READERS,
            focus=Threshold(given["FOCUS_MIN"], given["FOCUS_BELOW"] == "drop"),
            honours_noindex=given["NOINDEX"] == "honour",
            harmful=HarmPolicy(given["HARMFUL"]),
            delay=DelayPolicy(**records["delay"]),
            backoff=BackoffPolicy(**records["backoff"]),
            schedule=Schedule(**records["schedule"]),
            rendering=RenderOptions(**records["rendering"]),
            fetch=fetch_options(settings),
            alerts=alert_options(settings),
            store_html=KeepRaw(given["STORE_HTML"]),
            describes_later=given["DESCRIBE"] == "later" and bool(describe.keywords or describe.classes),
            duplicate_method=duplicate_method,
            duplicates=policy,
            parse_options=ParseOptions(
                given["EXTRACTOR"],
                given["EXTRACTOR_PARAMS"],
                *duplicates,
                kinds=frozenset(PageKind[one.upper()] for one in given["STORE_KINDS"]),
                describe=describe,
            ),
            extractor_version=extraction_version(given["EXTRACTOR"], given["EXTRACTOR_PARAMS"]),
        )


def _sent(values: dict[str, Any]) -> Config:
    from pipelines.dedup import method

    options = values["parse_options"]
    return Config(**{**values, "duplicate_method": method(options.duplicates, options.duplicate_params)})


def fetch_options(settings: BaseSettings) -> FetchOptions:
    """Return the part that fetching needs, also without a crawl; raises `ConfigError`."""
    from ..fetch.connection import FetchBounds, FetchOptions
    from ..fetch.guard import Guard
    from ..fetch.proxies import ProxyOptions
    from ..fetch.tls import Trust

    given, records = checked(settings)
    bounds = FetchBounds(**records["answer"])
    with problems_of(settings, "ALLOW_NETWORKS"):
        guard = Guard(given["ALLOW_NETWORKS"])
    with problems_of(settings, "TLS_UNVERIFIED_HOSTS"):
        trust = Trust(given["TLS_UNVERIFIED_HOSTS"])
    bind = settings.get("DOWNLOAD_BIND_ADDRESS")
    bind = (bind, 0) if isinstance(bind, str) else bind
    try:
        through = ProxyOptions(given["PROXY"], read_environment(os.environ), resolves=given["PROXY_RESOLVES"])
    except ValueError as error:
        raise ConfigError(str(error)) from None
    return FetchOptions(
        guard,
        trust,
        bounds=bounds,
        bind=bind,
        records=bool(given["STORE_WARC"]),
        proxies=through,
        **records["fetch"],
    )


class CrawlConfig:
    """Scrapy extension that holds the `Config` of a crawl for what Scrapy builds."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @cached_property
    def config(self) -> Config:
        """The configuration, built when it is first asked for; raises `ConfigError`."""
        seeds = getattr(self._crawler.spider, "seeds", None)
        return Config.from_settings(self._crawler.settings, topics_of(seeds))

    @classmethod
    def of(cls, crawler: Crawler) -> Config:
        """Return the configuration of a crawl whose extensions are built.

        Raises:
            ConfigError: see `Config.from_settings`.
            NotConfigured: `EXTENSIONS` does not name this one.
        """
        holder = crawler.get_extension(cls)
        if holder is None:
            raise NotConfigured("EXTENSIONS must hold crawler.options.config.CrawlConfig")
        return holder.config


def topics_of(seeds: Any) -> list[str]:
    """Return the topics of seeds; none of unreadable ones, which the session refuses."""
    from .seeds import SeedError, read_seeds, topics

    with suppress(SeedError):
        return topics(read_seeds(seeds) if isinstance(seeds, str) else seeds or ())
    return []


def preset_of(given: Mapping[str, Any], about: Sequence[str]) -> str:
    return given["CRAWL_PRESET"] or ("focused" if given["TOPIC"] or given["PROFILE"] or about else "news")


def _topic(description: str, path: str, about: Sequence[str], describe: DescribeOptions) -> Topic | None:
    from pipelines.describe import class_names
    from pipelines.focus import profile
    from pipelines.focus.topic import by_classes, make_topic, named_classes, of_readers

    description = description or ("" if path else " ".join(about))
    if path == profile.READERS and not named_classes(description):
        return of_readers(description)
    if not description and not path:
        return None
    if classes := named_classes(description):
        if path:
            raise ValueError("TOPIC names classes, and PROFILE a file of words; give either")
        labels = class_names(describe)
        if not labels:
            raise ValueError("TOPIC names classes, but CLASSES names no model; set CLASSES=shipped, or a file of yours")
        for name in classes:
            if name not in labels:
                raise ValueError(f"the model of CLASSES has no class {name!r}; it knows {', '.join(labels)}")
        return by_classes(classes)
    return make_topic(description, profile=profile.load(Path(path)) if path else None)


def _describe(settings: BaseSettings, given: Mapping[str, Any]) -> DescribeOptions:
    from pipelines.describe import SHIPPED, DescribeOptions, check, classes_need_pages
    from pipelines.text.keywords import FILES as KEYWORD_FILES

    classes = "" if given["CLASSES"].lower() == "none" else given["CLASSES"]
    params = {
        name: str(Path(value).absolute()) if name in KEYWORD_FILES and isinstance(value, str) and value else value
        for name, value in given["KEYWORD_PARAMS"].items()
    }
    options = DescribeOptions(
        given["KEYWORDS"],
        params,
        classes if classes in {"", SHIPPED} else str(Path(classes).absolute()),
        given["HARMFUL"] != "off",
        given["WORDS"] and str(Path(given["WORDS"]).absolute()),
        gives_reasons=given["HARMFUL"] != "store",
        harm_method=given["HARMFUL_METHOD"],
    )
    with problems_of(settings, "KEYWORDS", "KEYWORD_PARAMS", "CLASSES", "WORDS"):
        check(options)
        if given["DESCRIBE"] == "later" and classes_need_pages(options):
            raise ConfigError("the model of CLASSES looks at pages, not at texts alone; set DESCRIBE=now")
    return options


def _duplicates(given: Mapping[str, Any]) -> Policy:
    from pipelines.dedup.judge import Policy
    from pipelines.urls import site_key

    sites = given["DUPLICATE_SITES"]
    for site, value in sites.items():
        if value not in _POLICIES:
            raise ConfigError(f"DUPLICATE_SITES of {site} is {value!r}; it takes {', '.join(_POLICIES)}")
    return Policy(
        threshold=given["DUPLICATE_THRESHOLD"],
        window=given["KEEP_DAYS"]["duplicates"],
        keep=_POLICIES[given["DUPLICATES"]],
        sites={fingerprint(site_key(site.lower())): _POLICIES[value] for site, value in sites.items()},
    )
