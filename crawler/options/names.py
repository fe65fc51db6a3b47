"""Names of settings: refuse those without effect and misspelt ones."""

from __future__ import annotations

import difflib
import logging
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES, default_settings

from . import scrapy_settings
from .given import is_given
from .table import BY_NAME, OPTIONS
from .values import PREFIX, ConfigError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

REPLACED = {
    "TRAP_PATTERN_PAGES": (
        "it is fixed at 30 pages (`Bounds` in crawler/learn/traps/host.py); TRAPS=False switches traps off"
    ),
    "TRAP_HOST_PAGES": (
        "it is fixed at 200 pages (`Bounds` in crawler/learn/traps/host.py); TRAPS=False switches traps off"
    ),
    "TRAP_DAYS": "it is fixed at 7 days (crawler/learn/learning.py); TRAPS=False switches traps off",
    "RANK_GROWTH": (
        "it is fixed at 0.04 (crawler/frontier/rescore.py); RANK_EVERY_PAGES has the queue scored more often"
    ),
    "ROBOTS_KEEP": "it is fixed at a day, as RFC 9309 has it (crawler/options/config.py)",
    "ROBOTS_TIMEOUT": "it is fixed at 30 seconds (crawler/options/config.py)",
    "ROBOTS_MAX_KB": "it is fixed at 1024 KB (crawler/politeness/delay.py)",
    "HOST_FAILURES": """write HOST_BACKOFF='{"failures": 10}'""",
    "HOST_REST": """write HOST_BACKOFF='{"seconds": 5}'""",
    "HOST_GIVE_UP": """write HOST_BACKOFF='{"backoffs": 6}'""",
    "HOST_WAIT": """write HOST_BACKOFF='{"wait": 60}'""",
    "HOST_DELAY_MAX": "it is fixed at 30 seconds (`DelayPolicy`); HOST_DELAY_FACTOR=0 leaves HOST_DELAY alone",
    "REDIRECT_HOPS": "it is fixed at 8 redirects (crawler/options/config.py)",
    "RENDER_PAGES": "it is fixed at 2 pages at a time (`RenderOptions` in crawler/render/records.py)",
    "RENDER_SECONDS": "it is fixed at 20 seconds (`RenderOptions` in crawler/render/records.py)",
    "RENDER_REQUESTS": "it is fixed at 60 requests (`RenderOptions` in crawler/render/records.py)",
    "RENDER_MEMORY_MB": """write MEMORY_MB='{"rendering": 400}'""",
    "PAGE_SECONDS": "it is fixed at 20 seconds (crawler/options/config.py)",
    "PAGE_NODES": "it is fixed at 80,000 elements (`PageLimits` in pipelines/document/limits.py)",
    "PAGE_DEPTH": "it is fixed at 512 levels (`PageLimits` in pipelines/document/limits.py)",
    "PAGE_CHARS": "it is fixed at 1,000,000 characters (`PageLimits` in pipelines/document/limits.py)",
    "PAGE_LINKS": "it is fixed at 2,000 links (`PageLimits` in pipelines/document/limits.py)",
    "SITEMAP_MAX_MB": "it is fixed at 50 MB, as sitemaps.org has it (`PageLimits` in pipelines/document/limits.py)",
    "SITEMAP_ENTRIES": "it is fixed at 50,000, as sitemaps.org has it (`PageLimits` in pipelines/document/limits.py)",
    "LEAST_BYTES_PER_SECOND": (
        "it is fixed at 100 (`FetchBounds`); STALL_SECONDS and DOWNLOAD_TIMEOUT bound slow answers"
    ),
    "COMPRESSION_RATIO": (
        "it is fixed at 200 (`FetchBounds` in crawler/fetch/connection.py); DOWNLOAD_MAXSIZE bounds bodies"
    ),
    "HEADER_MAX_KB": "it is fixed at 64 KB (`HeadBounds` in crawler/fetch/http_parser.py)",
    "HEADER_MAX_LINES": "it is fixed at 256 lines (`HeadBounds` in crawler/fetch/http_parser.py)",
    "KEEP_OUTSIDE": """write KEEP_DAYS='{"outside": 7}'""",
    "KEEP_PAGES": """write KEEP_DAYS='{"pages": 90}'""",
    "KEEP_VERSIONS": """write KEEP_DAYS='{"versions": 90}'""",
    "KEEP_SIGNALS": """write KEEP_DAYS='{"signals": 90}'""",
    "DUPLICATE_WINDOW": """write KEEP_DAYS='{"duplicates": 30}'""",
    "DUPLICATE_MEMORY_MB": """write MEMORY_MB='{"duplicates": 256}'""",
    "RANK_MEMORY_MB": """write MEMORY_MB='{"rank": 2000}'""",
    "WORKER_MEMORY_MB": """write MEMORY_MB='{"worker": 300}'""",
}
"""Settings of earlier versions, and what to do instead."""
_SCRAPYS = {name for name in vars(default_settings) if name.isupper()}
_NEAR = 0.8
"""Likeness of names from which one is taken for a misspelling of the other."""


def check_names(settings: BaseSettings, custom: Mapping[str, Any] | None = None) -> None:
    """Refuse settings that have no effect on the news crawl, and misspelt ones.

    A name that is like none of ours or Scrapy's is taken for one of code that the user adds; the log says so. The same
    holds for environment variables that begin like ours. `custom` are the `custom_settings` of a spider.

    Raises:
        ConfigError: naming what stands in for the setting, or the one that was probably meant.
    """
    _check_variables()
    added = [path for name in scrapy_settings.COMPONENTS for path in map(str, settings.getdict(name))]
    typed = [name for name in settings if is_given(settings, name)]
    for name in (*typed, *(custom or ())):
        if name in BY_NAME:
            continue
        if name in REPLACED:
            raise ConfigError(f"there is no setting {name} any more: {REPLACED[name]}")
        if instead := scrapy_settings.refusal(name, added):
            raise ConfigError(f"{name} has no effect on this crawl: {instead}")
        if name in _SCRAPYS:
            continue
        if near := difflib.get_close_matches(name.upper(), sorted(_SCRAPYS | set(BY_NAME)), n=1, cutoff=_NEAR):
            raise ConfigError(
                f"there is no setting {name}; did you mean {near[0]}? (docs/settings.md lists all; write one of your "
                "own into crawler/settings.py)"
            )
        if name in typed:
            logger.warning("%s is a setting of neither this project nor Scrapy, but left to code of your own", name)


def _check_variables() -> None:
    ours = [variable for option in OPTIONS for variable in option.variables]
    for name in sorted(os.environ):
        if not name.startswith(PREFIX) or name in ours or not os.environ[name]:
            continue
        if instead := REPLACED.get(name.removeprefix(PREFIX)):
            setting = name.removeprefix(PREFIX)
            raise ConfigError(f"there is no setting {setting} any more, which the variable {name} gives: {instead}")
        if near := difflib.get_close_matches(name, ours, n=1, cutoff=_NEAR):
            raise ConfigError(
                f"there is no setting for the environment variable {name}; did you mean {near[0]}? (unset it, if it is "
                "another program's)"
            )
        nearest = difflib.get_close_matches(name, ours, n=1, cutoff=0)[0]
        logger.warning("the environment variable %s is of no setting, and ignored; the nearest is %s", name, nearest)


def without_effect(settings: BaseSettings) -> list[str]:
    """Say which settings of `crawler/settings.py` mean nothing to the news crawl."""
    project = SETTINGS_PRIORITIES["project"]
    names = sorted(name for name in settings if settings.getpriority(name) == project and name not in BY_NAME)
    instead = {name: REPLACED.get(name) or scrapy_settings.refusal(name) for name in names}
    return [f"{name} has no effect on this crawl: {text}" for name, text in instead.items() if text]
