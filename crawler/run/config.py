"""The project's settings, read once and checked before anything starts."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings, default_settings

from db.records.article import Keep
from db.records.keys import fingerprint
from db.records.run import Limits
from pipelines.dedup import Method, method
from pipelines.dedup.judge import Policy
from pipelines.extract import extractor
from pipelines.focus import profile
from pipelines.focus.topic import Topic, topic
from pipelines.urls import site_key

from .. import settings as project_settings
from ..fetch.guard import Guard
from ..fetch.tls import Trust
from ..learn.health.host import FEWEST
from ..learn.traps.host import Bounds
from ..politeness.delay import Pace, Patience
from ..rank.priority import FOCUS_SIGNALS, Priority
from ..response.context import Threshold
from ..response.revisit_schedule import DAY, Schedule


class ConfigError(ValueError):
    """A setting or argument is wrong; the text says which and what is allowed."""


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of the frontier, checked."""

    database_url: str
    database_patience: float
    limits: Limits
    pace: Pace
    patience: Patience
    same_ip_delay: float
    robots_keep: float
    robots_timeout: float
    robots_bytes: int
    connections: int
    tries: int
    redirects: int
    window: int
    hosts: int
    in_flight: int
    lease_seconds: float
    preset: str
    priority: Priority
    rank_every_pages: int
    rank_growth: float
    host_patience: float
    topic: Topic | None
    focus: Threshold
    extractor: str
    site_memory: bool
    duplicate_method: Method
    duplicates: Policy
    url_rules: float
    traps: Bounds | None
    trap_days: float
    health_window: int
    robots_agent: str
    schedule: Schedule
    ahead: float

    @classmethod
    def from_settings(cls, settings: BaseSettings, topics: Sequence[str] = ()) -> Config:
        """Read and check.

        Args:
            settings: Scrapy's settings.
            topics: what the seeds are about: the topic when `TOPIC` and `PROFILE` say nothing.

        Raises:
            ConfigError: naming the setting, its value and what is allowed.
        """
        try:
            weights = settings.getdict("CRAWL_PRIORITY")
        except (ValueError, TypeError):
            raise ConfigError(
                f"CRAWL_PRIORITY is {settings['CRAWL_PRIORITY']!r}; "
                'write signals with weights, e.g. -s CRAWL_PRIORITY=\'{"depth": 1, "freshness": 0.5}\''
            ) from None
        try:
            wanted = _topic(settings, topics)
            preset = settings["CRAWL_PRESET"] or ("news" if wanted is None else "focused")
            priority = Priority(preset, weights)
            extractor(settings["EXTRACTOR"], _mapping(settings, "EXTRACTOR_PARAMS"))
            duplicate_method = method(settings["DUPLICATE_METHOD"], _mapping(settings, "DUPLICATE_PARAMS"))
            Guard(settings.getlist("ALLOW_NETWORKS"))
            Trust(settings.getlist("TLS_UNVERIFIED_HOSTS"))
        except ValueError as error:
            raise ConfigError(str(error)) from None
        if wanted is None and priority.learns(FOCUS_SIGNALS):
            raise ConfigError(
                f"CRAWL_PRESET {preset!r} and CRAWL_PRIORITY weigh signals of a topic, but there is none; {_TOPICS}"
            )
        if wanted is None and _number(settings, "FOCUS_MIN", least=0, most=1):
            raise ConfigError(f"FOCUS_MIN is {settings['FOCUS_MIN']!r}, but there is no topic to be near to; {_TOPICS}")
        if settings["FOCUS_BELOW"] not in _BELOW:
            raise ConfigError(f"FOCUS_BELOW is {settings['FOCUS_BELOW']!r}; it takes drop or store")
        _integer(settings, "WORKERS", least=1)
        for name, least in _READING.items():
            _integer(settings, name, least=least)
        for name in ("PAGE_SECONDS", "PROGRESS_SECONDS", "DOWNLOAD_TIMEOUT", "STALL_SECONDS"):
            _number(settings, name, least=0.1)
        _number(settings, "LEAST_BYTES_PER_SECOND", least=0)
        _number(settings, "COMPRESSION_RATIO", least=1)
        _integer(settings, "DOWNLOAD_MAXSIZE", least=1024)
        _integer(settings, "HEADER_MAX_KB", least=1)
        _integer(settings, "HEADER_MAX_LINES", least=8)
        for name in ("STORE_HTML", "SITE_COOKIES"):
            _flag(settings, name)
        return cls(
            database_url=settings["DATABASE_URL"],
            database_patience=_number(settings, "DATABASE_PATIENCE", least=0),
            limits=Limits(
                _limit(settings, "MAX_PAGES"), _limit(settings, "MAX_PAGES_PER_HOST"), _limit(settings, "MAX_DEPTH")
            ),
            pace=_pace(settings),
            patience=_patience(settings),
            same_ip_delay=_number(settings, "SAME_IP_DELAY", least=0, most=3600),
            robots_keep=_number(settings, "ROBOTS_KEEP", least=1),
            robots_timeout=_number(settings, "ROBOTS_TIMEOUT", least=1),
            robots_bytes=_integer(settings, "ROBOTS_MAX_KB", least=500) << 10,
            connections=_integer(settings, "HOST_CONNECTIONS", least=1),
            tries=_integer(settings, "FETCH_TRIES", least=1),
            redirects=_integer(settings, "REDIRECT_HOPS", least=0),
            window=_integer(settings, "HOST_WINDOW", least=1),
            hosts=_integer(settings, "MAX_HOSTS", least=1),
            in_flight=_integer(settings, "CONCURRENT_REQUESTS", least=1),
            lease_seconds=_number(settings, "LEASE_SECONDS", least=_SHORTEST_LEASE),
            preset=preset,
            priority=priority,
            rank_every_pages=_integer(settings, "RANK_EVERY_PAGES", least=1),
            rank_growth=_number(settings, "RANK_GROWTH", least=0.001, most=10),
            host_patience=_number(settings, "HOST_PATIENCE", least=0, most=86_400),
            topic=wanted,
            focus=Threshold(_number(settings, "FOCUS_MIN", least=0, most=1), settings["FOCUS_BELOW"] == "drop"),
            extractor=settings["EXTRACTOR"],
            site_memory=_flag(settings, "SITE_MEMORY"),
            duplicate_method=duplicate_method,
            duplicates=_policy(settings),
            url_rules=_number(settings, "URL_RULES", least=0.5, most=1),
            traps=_traps(settings),
            trap_days=_number(settings, "TRAP_DAYS", least=0),
            health_window=_health_window(settings),
            robots_agent=project_settings.ROBOTS_AGENT,
            schedule=_schedule(settings),
            ahead=_number(settings, "REVISIT_AHEAD", least=0),
        )


_SHORTEST_LEASE = 20.0
"""A run's sign of life stands in line behind a transaction that may wait for locks: five seconds for each, eight when
another process is frozen. A shorter lease would let runs be taken for dead that only wait."""
_MOST = 2**31 - 1
"""Of any number: more can neither be stored nor waited for."""

_READING = {
    "WORKER_MEMORY_MB": 32,
    "PAGE_NODES": 1000,
    "PAGE_DEPTH": 32,
    "PAGE_CHARS": 1000,
    "PAGE_LINKS": 1,
    "SITEMAP_MAX_MB": 1,
    "SITEMAP_ENTRIES": 1,
}
"""What may be set of how much of a page is read, and the least that makes sense."""


def _schedule(settings: BaseSettings) -> Schedule:
    """When URLs are visited again.

    Raises:
        ConfigError: see `Config.from_settings`.
    """
    least, most = _number(settings, "REVISIT_MIN", least=1), _number(settings, "REVISIT_MAX", least=1)
    if most < least:
        raise ConfigError(f"REVISIT_MAX is {most:g}, less than REVISIT_MIN, {least:g}")
    days = _number(settings, "REVISIT_ARTICLES", least=0, most=36_500)
    return Schedule(_number(settings, "REVISIT_WORTH", least=1), least, most, days * DAY)


_BELOW = ("drop", "store")
_POLICIES = {"drop": Keep.NOTHING, "link": Keep.METADATA, "keep": Keep.ALL}
_TOPICS = 'give TOPIC, PROFILE, or seeds with topic="..."'


def _topic(settings: BaseSettings, topics: Sequence[str]) -> Topic | None:
    """What the crawl looks for, None when that is everything.

    Raises:
        ValueError: a topic without words, or a profile that cannot be used.
    """
    description, path = (settings["TOPIC"] or "").strip(), settings["PROFILE"] or ""
    if not description and not path:
        description = " ".join(topics)
    if not description and not path:
        return None
    return topic(description, profile=profile.load(Path(path)) if path else None)


def _health_window(settings: BaseSettings) -> int:
    """Answers of a host that are compared with those before; 0 for none.

    Raises:
        ConfigError: too few to tell anything.
    """
    window = _integer(settings, "HEALTH_WINDOW", least=0)
    if not (window == 0 or FEWEST <= window <= _MOST_HEALTH_WINDOW):
        raise ConfigError(f"HEALTH_WINDOW is {window}; it takes 0, or {FEWEST} to {_MOST_HEALTH_WINDOW}")
    return window


_MOST_HEALTH_WINDOW = 200


def _pace(settings: BaseSettings) -> Pace:
    """Pauses between requests to a host that answers well."""
    return Pace(
        delay=_number(settings, "HOST_DELAY", least=0),
        most_crawl_delay=_number(settings, "CRAWL_DELAY_CAP", least=0),
        factor=_number(settings, "HOST_DELAY_FACTOR", least=0, most=100),
        most=_number(settings, "HOST_DELAY_MAX", least=0, most=3600),
    )


def _patience(settings: BaseSettings) -> Patience:
    """What is done about hosts that do not answer properly."""
    return Patience(
        failures=_integer(settings, "HOST_FAILURES", least=1),
        rest=_number(settings, "HOST_REST", least=0.1, most=3600),
        rests=_integer(settings, "HOST_GIVE_UP", least=0),
        alone=_number(settings, "HOST_WAIT", least=0),
    )


def _policy(settings: BaseSettings) -> Policy:
    """What becomes of duplicates.

    Raises:
        ConfigError: see `Config.from_settings`.
    """
    sites = _mapping(settings, "DUPLICATE_SITES")
    for name, value in (("DUPLICATES", settings["DUPLICATES"]), *sites.items()):
        if value not in _POLICIES:
            where = name if name == "DUPLICATES" else f"DUPLICATE_SITES of {name}"
            raise ConfigError(f"{where} is {value!r}; it takes {', '.join(_POLICIES)}")
    return Policy(
        threshold=_number(settings, "DUPLICATE_THRESHOLD", least=0, most=1),
        window=_limit(settings, "DUPLICATE_WINDOW"),
        keep=_POLICIES[settings["DUPLICATES"]],
        sites={fingerprint(site_key(site.lower())): _POLICIES[value] for site, value in sites.items()},
    )


def _traps(settings: BaseSettings) -> Bounds | None:
    """How long patterns of URLs may bring nothing, None when traps are not looked for.

    Raises:
        ConfigError: see `Config.from_settings`.
    """
    bounds = Bounds(
        pages=_integer(settings, "TRAP_PATTERN_PAGES", least=5),
        host_pages=_integer(settings, "TRAP_HOST_PAGES", least=5),
        probe=_flag(settings, "SOFT_404_PROBE"),
    )
    return bounds if _flag(settings, "TRAPS") else None


def check_names(settings: BaseSettings) -> None:
    """Refuse settings given on the command line that nothing reads.

    Raises:
        ConfigError: naming the unknown setting and the one that was probably meant.
    """
    known = {name for module in (default_settings, project_settings) for name in vars(module) if name.isupper()}
    for name in settings:
        if (settings.getpriority(name) or 0) >= 40 and name not in known:
            near = difflib.get_close_matches(name.upper(), sorted(known), n=1)
            hint = f"; did you mean {near[0]}?" if near else ", and nothing reads it"
            raise ConfigError(f"there is no setting {name}{hint} (the README lists all of them)")


def _mapping(settings: BaseSettings, name: str) -> Mapping[str, Any]:
    try:
        return settings.getdict(name)
    except (ValueError, TypeError):
        raise ConfigError(f"{name} is {settings[name]!r}; write it as JSON, e.g. {json.dumps({'name': 1})}") from None


def _flag(settings: BaseSettings, name: str) -> bool:
    try:
        return settings.getbool(name)
    except ValueError:
        raise ConfigError(f"{name} is {settings[name]!r}; it takes True or False") from None


def _number(settings: BaseSettings, name: str, *, least: float, most: float = math.inf) -> float:
    try:
        value = float(settings[name])
    except (ValueError, TypeError):
        value = math.nan
    if not (math.isfinite(value) and least <= value <= min(most, _MOST)):
        upper = f" to {most:g}" if most < math.inf else f" to {_MOST}" if value > _MOST else " or more"
        raise ConfigError(f"{name} is {settings[name]!r}; it takes a number, {least:g}{upper}")
    return value


def _integer(settings: BaseSettings, name: str, *, least: int) -> int:
    value = _number(settings, name, least=least)
    if value != int(value):
        raise ConfigError(f"{name} is {settings[name]!r}; it takes a whole number")
    return int(value)


def _limit(settings: BaseSettings, name: str) -> int | None:
    """A limit, or None for none (unset, empty or "none")."""
    if settings[name] is None or str(settings[name]).strip().lower() in {"", "none"}:
        return None
    return _integer(settings, name, least=0)
