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
    """The value of a setting, and where it comes from.

    Attributes:
        name: of the setting.
        value, default: as JSON has them; passwords are `***`.
        source: where the value comes from.
        where: the variable, file or setting that gives it; empty for defaults.
        group, help: what docs/settings.md says.
    """

    name: str
    value: Any
    default: Any
    source: Origin
    where: str
    group: str
    help: str


def in_force(settings: BaseSettings, about: Sequence[str] = ()) -> list[InForce]:
    """Return all settings as a news crawl has them, in the order of the table.

    Args:
        settings: the project's, with what the command line and the environment give.
        about: what the seeds are about.

    Raises:
        ConfigError: a value is wrong.
    """
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
    """Return where a value comes from, and the name of that."""
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
    """Return a value as JSON has it, without passwords."""
    return option.secret(value) if option.secret else json.loads(json.dumps(value, default=str))
