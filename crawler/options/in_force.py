"""Tell the settings in force and where each came from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES

from . import scrapy_settings
from .config import preset_of
from .given import ENVIRONMENT, apply_environment, called, checked, name_contact
from .table import OPTIONS
from .values import Option

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class Origin(Enum):
    """Where the value of a setting comes from; later ones win over earlier ones."""

    DEFAULT = "default"
    ADDON = "add-on"
    PROJECT = "project"
    SPIDER = "spider"
    SEEDS = "seeds"
    ENVIRONMENT = "environment"
    COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class InForce:
    """The value of a setting as JSON has it, with passwords as `***`.

    `where` is the variable, file or setting that gives it; empty for defaults.
    """

    name: str
    value: Any
    default: Any
    source: Origin
    where: str
    group: str
    help: str


def in_force(settings: BaseSettings, about: Sequence[str] = ()) -> list[InForce]:
    """Return all settings as a crawl has them; raises `ConfigError` for a wrong one."""
    settings = settings.copy()
    scrapy_settings.apply(settings)
    apply_environment(settings)
    name_contact(settings)
    given, _ = checked(settings)
    sources = {option.name: _source(settings, option, given[option.name]) for option in OPTIONS}
    if sources["USER_AGENT"][0] is Origin.SPIDER and given["CONTACT"]:
        sources["USER_AGENT"] = sources["CONTACT"][0], "CONTACT"
    if not given["CRAWL_PRESET"]:
        given["CRAWL_PRESET"] = preset_of(given, about)
    if about and not (given["TOPIC"] or given["PROFILE"]):
        given["TOPIC"], sources["TOPIC"] = " ".join(about), (Origin.SEEDS, "topic=")
    return [
        InForce(
            option.name,
            _plain(option, given[option.name]),
            _plain(option, option.check(option.default)),
            *sources[option.name],
            option.group,
            option.help,
        )
        for option in OPTIONS
    ]


def as_given(value: Any) -> str:
    """Return a value as -s takes it."""
    if value is None:
        return "none"
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:.12g}" if isinstance(value, float) else f"{value}"


def _source(settings: BaseSettings, option: Option, value: Any) -> tuple[Origin, str]:
    priority = settings.getpriority(option.name) or 0
    if priority >= SETTINGS_PRIORITIES["cmdline"]:
        return Origin.COMMAND_LINE, f"-s {option.name}"
    if priority >= ENVIRONMENT:
        return Origin.ENVIRONMENT, called(settings, option)
    if value == option.check(option.default):
        return Origin.DEFAULT, ""
    if priority >= SETTINGS_PRIORITIES["spider"]:
        return Origin.SPIDER, ""
    return (Origin.PROJECT, "crawler/settings.py") if priority >= SETTINGS_PRIORITIES["project"] else (Origin.ADDON, "")


def _plain(option: Option, value: Any) -> Any:
    return option.secret(value) if option.secret else json.loads(json.dumps(value, default=str))
