"""Read and check settings, from command line, environment or file."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES

from .table import BY_NAME, OPTIONS
from .values import ConfigError, Option

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

ENVIRONMENT = 35
"""Scrapy's priority of what they give: above that of the project and of spiders, below that of the command line."""


def check_values(settings: BaseSettings) -> None:
    """Check the value of each setting by itself; raises `ConfigError` for the first."""
    checked(settings)


def value_of(settings: BaseSettings, name: str) -> Any:
    """Return the checked value of one setting; raises `ConfigError`."""
    option = BY_NAME[name]
    return option.check(settings[name], called(settings, option))


def feed_names(settings: BaseSettings) -> list[str]:
    """Return the files and URLs that Scrapy's `FEEDS` (`-o`) names."""
    return list(settings.getdict("FEEDS"))


def checked(settings: BaseSettings) -> tuple[dict[str, Any], Mapping[str, dict[str, Any]]]:
    """Check all values; returns them by name, and by record and field (`Option.to`)."""
    given = {option.name: value_of(settings, option.name) for option in OPTIONS}
    records: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for option in OPTIONS:
        _place(records, option, given[option.name])
        for part in option.parts:
            _place(records, part, given[option.name][part.name])
    return given, records


def _place(records: Mapping[str, dict[str, Any]], option: Option, value: Any) -> None:
    if option.to == "":
        return
    record, _, field = (option.to or option.name.lower()).rpartition(".")
    records[record][field] = value if option.unit == 1 or value is None else value * option.unit


@contextmanager
def problems_of(settings: BaseSettings, *concerned: str) -> Iterator[None]:
    """Raise problems as `ConfigError`, with the environment variables at fault."""
    try:
        yield
    except ValueError as error:
        shown = [called(settings, BY_NAME[name]) for name in concerned]
        variables = ", ".join(name for name in shown if name not in concerned)
        raise ConfigError(f"{error}{f' (given by {variables})' if variables else ''}") from None


def name_contact(settings: BaseSettings) -> None:
    """Complete the User-Agent with the contact, unless the user gave one."""
    contact = value_of(settings, "CONTACT")
    if contact and not is_given(settings, "USER_AGENT"):
        settings.set("USER_AGENT", f"{settings['USER_AGENT']} (+{contact})", priority="spider")


def open_to(settings: BaseSettings, address: str) -> None:
    """Let a crawl reach a server of ours, without pauses unless the user gave one."""
    settings.set("ALLOW_NETWORKS", [*value_of(settings, "ALLOW_NETWORKS"), address], "cmdline")
    if not is_given(settings, "HOST_DELAY"):
        settings.set("HOST_DELAY", 0, "cmdline")


def is_given(settings: BaseSettings, name: str) -> bool:
    return (settings.getpriority(name) or 0) >= ENVIRONMENT


def command_line(settings: BaseSettings) -> dict[str, str]:
    """Return the settings given with -s, as they were given."""
    least = SETTINGS_PRIORITIES["cmdline"]
    given = (option.name for option in OPTIONS if (settings.getpriority(option.name) or 0) >= least)
    return {name: str(settings[name]) for name in given}


def apply_environment(settings: BaseSettings) -> None:
    """Give settings the values of environment variables that are not empty."""
    for option in OPTIONS:
        if (variable := _variable(option)) is not None:
            settings.set(option.name, os.environ[variable], ENVIRONMENT)


def _variable(option: Option) -> str | None:
    return next((name for name in option.variables if os.environ.get(name)), None)


def called(settings: BaseSettings, option: Option) -> str:
    """Return a setting's name for messages: the variable, if that gave the value."""
    by_variable = settings.getpriority(option.name) == ENVIRONMENT
    return (_variable(option) if by_variable else None) or option.name
