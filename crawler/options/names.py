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

_SCRAPYS = {name for name in vars(default_settings) if name.isupper()}
_NEAR = 0.8
"""Likeness of names from which one is taken for a misspelling of the other."""


def check_names(settings: BaseSettings, custom: Mapping[str, Any] | None = None) -> None:
    """Refuse settings that have no effect on the news crawl, and misspelt ones.

    A name that is like none of ours or Scrapy's is taken for one of code that the user adds; the log says so.
    The same holds for environment variables that begin like ours.

    Args:
        settings: of which those from the command line are checked.
        custom: a spider's `custom_settings`, which are checked, too.

    Raises:
        ConfigError: naming what stands in for the setting, or the one that was probably meant.
    """
    _check_variables()
    added = [path for name in scrapy_settings.COMPONENTS for path in map(str, settings.getdict(name))]
    typed = [name for name in settings if is_given(settings, name)]
    for name in (*typed, *(custom or ())):
        if name in BY_NAME:
            continue
        if instead := scrapy_settings.refusal(name, added):
            raise ConfigError(f"{name} has no effect on this crawl: {instead}")
        if name in _SCRAPYS:
            continue
        if near := difflib.get_close_matches(name.upper(), sorted(_SCRAPYS | set(BY_NAME)), n=1, cutoff=_NEAR):
            raise ConfigError(
                f"there is no setting {name}; did you mean {near[0]}? (the README lists all; write one of your own "
                "into crawler/settings.py)"
            )
        if name in typed:
            logger.warning("%s is a setting of neither this project nor Scrapy, but left to code of your own", name)


def _check_variables() -> None:
    """Refuse misspelt environment variables; warn of others like ours.

    Raises:
        ConfigError: naming the one that was probably meant.
    """
    ours = [variable for option in OPTIONS for variable in option.variables]
    for name in sorted(os.environ):
        if not name.startswith(PREFIX) or name in ours or not os.environ[name]:
            continue
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
    return [f"{name} has no effect on this crawl: {said}" for name in names if (said := scrapy_settings.refusal(name))]
