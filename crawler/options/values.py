"""Options and the parsers of single values, each of which says what it takes.

To parse a value of another kind, write a function of an `Option` and the value as given that returns the checked one or
raises `ValueError` with a sentence that begins "it takes".
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from scrapy.settings import BaseSettings

from pipelines.dates.period import Bound

from ..fetch.proxies import read_proxies

if TYPE_CHECKING:
    from ..fetch.proxies import Route


class ConfigError(ValueError):
    """A setting or argument is wrong; the text says which and what is allowed."""


class Agree(Enum):
    """Need for processes that share a database to have the same value of a setting."""

    NO = "need not"
    TOLD = "need not, but know each other's"
    SHOULD = "should: the later one warns"
    MUST = "must: the later one is refused"
    SCORING = "must; and a run with another value than the last one scores the queue anew"


NO, TOLD, SHOULD, MUST, SCORING = Agree

PREFIX = "NEWS_"
"""Of the environment variables that give settings."""


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """A setting.

    Attributes:
        to: where `Config` has the value: a field (the name in lower case when None), a field of a record
            (`limits.pages`), or nowhere by itself ("").
        off: a number may also be 0, which switches something off.
        unit: what 1 is in the unit of `Config`.
        among: the words that a word is one of, or that are taken.
        example, parts: of a JSON object.
        shown: the default in docs/settings.md, where it depends on the machine or is hard to read.
        variable: environment variable that gives it beside `NEWS_<name>`.
        secret: shows the checked value without passwords, which messages leave out altogether; None when it has none.
    """

    name: str
    default: Any
    parse: Callable[[Option, Any], Any]
    agree: Agree = NO
    to: str | None = None
    least: float = 0
    most: float = math.inf
    off: bool = False
    unit: float = 1
    among: tuple[str, ...] = ()
    example: str = '{"name": 1}'
    shown: str | None = None
    variable: str = ""
    secret: Callable[[Any], str] | None = None
    parts: tuple[Option, ...] = ()
    group: str = ""
    help: str = ""

    @property
    def variables(self) -> list[str]:
        """Names of the environment variables that give it; the first counts most."""
        return [f"{PREFIX}{self.name}", *filter(None, [self.variable])]

    def check(self, given: Any, called: str = "") -> Any:
        """Return the checked value of a given one: text, or of its type.

        Raises:
            ConfigError: naming the setting (as `called`, if given), its value and what is allowed.
        """
        try:
            return self.parse(self, given)
        except (ValueError, TypeError) as error:
            value = "" if self.secret else f" is {given!r};"
            raise ConfigError(f"{called or self.name}{value or ':'} {error}") from None


def text(_option: Option, given: Any) -> str:
    return str(given or "").strip()


def databases(option: Option, given: Any) -> str:
    """Parse one database, or several as a text or list, into what `Shards.read` takes."""
    if isinstance(given, str) and given.lstrip().startswith("["):
        try:
            given = json.loads(given)
        except ValueError:
            raise ValueError(
                'write several as a JSON list, e.g. ["postgresql://a/news", "postgresql://b/news"]'
            ) from None
    return " ".join(map(str, given)) if isinstance(given, list | tuple) else text(option, given)


def proxies(_option: Option, given: Any) -> Route:
    return read_proxies(" ".join(map(str, given)) if isinstance(given, list | tuple) else str(given or ""))


def flag(_option: Option, given: Any) -> bool:
    with suppress(ValueError, TypeError):
        return BaseSettings({"it": given}).getbool("it")
    raise ValueError("it takes True or False")


def word(option: Option, given: Any) -> str:
    if given not in option.among:
        raise ValueError(f"it takes {(' or ' if len(option.among) == 2 else ', ').join(option.among)}")
    return str(given)


def words(option: Option, given: Any) -> list[str]:
    given_words = {one.strip().lower() for one in names(option, given)} - {""}
    if not given_words or given_words - set(option.among):
        raise ValueError(f"it takes one or more of {', '.join(option.among)}, separated by commas")
    return [one for one in option.among if one in given_words]


def number(option: Option, given: Any) -> float:
    try:
        value = float(given)
    except (ValueError, TypeError):
        value = math.nan
    if not (option.least <= value <= min(option.most, _MOST) or (option.off and value == 0)):
        upper = f" to {option.most:g}" if option.most < math.inf else f" to {_MOST}" if value > _MOST else " or more"
        raise ValueError(f"it takes {'0, or ' * option.off}a number, {option.least:g}{upper}")
    return value


_MOST = 2**31 - 1
"""Of any number: more can neither be stored nor waited for."""


def whole(option: Option, given: Any) -> int:
    value = number(option, given)
    if value != int(value):
        raise ValueError("it takes a whole number")
    return int(value)


def limit(option: Option, given: Any) -> int | None:
    """Parse a limit, None for no limit (not set, empty or "none")."""
    return None if given is None or str(given).strip().lower() in {"", "none"} else whole(option, given)


def when(_option: Option, given: Any) -> Bound | None:
    """Parse a day or a time before now, None for no bound."""
    return None if given is None or str(given).strip().lower() in {"", "none"} else Bound.read(str(given))


def names(_option: Option, given: Any) -> list[str]:
    with suppress(TypeError):
        return [str(one) for one in BaseSettings({"it": given}).getlist("it")]
    raise ValueError("it takes a list, or a text with commas")


def mapping(option: Option, given: Any) -> dict[str, Any]:
    with suppress(ValueError, TypeError):
        return BaseSettings({"it": given}).getdict("it")
    raise ValueError(f"write it as JSON, e.g. -s {option.name}='{option.example}'")


def record(option: Option, given: Any) -> dict[str, Any]:
    """Parse a JSON object of the parts of an option; missing ones are defaults."""
    values = mapping(option, given)
    for name in values:
        if name not in (part_names := [part.name for part in option.parts]):
            raise ValueError(f"it has no part {name!r}; they are: {', '.join(part_names)}")
    return {part.name: part.check(values.get(part.name, part.default)) for part in option.parts}


def weights(option: Option, given: Any) -> dict[str, float]:
    given_weights = mapping(option, given)
    for name, value in given_weights.items():
        if name not in option.among:
            raise ValueError(f"{name!r} is no signal; they are: {', '.join(option.among)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= option.most:
            raise ValueError(f"a weight is a number, 0 to {option.most:g}")
    return {name: float(value) for name, value in given_weights.items()}
