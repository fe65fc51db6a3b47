"""Templates of the newsroom's pages: format strings with loops and conditions.

    {article.title}         the value, escaped unless it is `Markup`; as in any format string, `:%Y-%m-%d` may follow
    {article!p}             its path; `!u` its URL, `!i` a date in ISO 8601
    {articles:@item|, }     the template `item` for each of them as `it`, numbered `n`, with `, ` in between
    {authors:@|, }          the values themselves
    {article:?head}         the template `head` if there is a value; `:!head` if there is none

A line that is indented by four blanks continues the one before it; the last line feed of a file is left out.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from importlib.resources import files
from string import Formatter
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Site(Protocol):
    name: ClassVar[str]


class Markup(str):
    """Text that is HTML or XML already."""

    __slots__ = ()


def link(url: str, text: str, attributes: str = "") -> Markup:
    """Make an HTML link; URL and text are escaped, attributes are not."""
    return Markup(f'<a href="{escape(url)}"{attributes and " " + attributes}>{escape(text)}</a>')


@lru_cache(maxsize=128)
def read(folder: str, file: str) -> str:
    """Read a template or style sheet, with continued lines joined."""
    text = files(__package__).joinpath("templates", folder, file).read_text(encoding="utf-8")
    return re.sub(r"\n    ", "", text.removesuffix("\n"))


class Templates:
    """Templates of a site and in XML; `conversions` are what `!p` and the like do."""

    def __init__(self, site: Site, conversions: Mapping[str, Callable[[Any], object]]) -> None:
        self.site = site
        self.conversions: dict[str, Callable[[Any], object]] = {"i": lambda date: date.isoformat(), **conversions}

    def fill(self, name: str, values: Mapping[str, Any]) -> Markup:
        """Fill in a template; without ending it is HTML, with `.xml` of `templates/xml`."""
        is_xml = name.endswith(".xml")
        text = read("xml", name) if is_xml else read(self.site.name, f"{name}.html")
        filler = _Filler(self, {**values, "site": self.site}, ".xml" if is_xml else "")
        return Markup(filler.vformat(text, (), filler.values))


class _Filler(Formatter):
    def __init__(self, templates: Templates, values: Mapping[str, Any], ending: str) -> None:
        self.templates = templates
        self.values = values
        self.ending = ending

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        return value if conversion is None else self.templates.conversions[conversion](value)

    def format_field(self, value: Any, format_spec: str) -> str:
        sign, (name, _, between) = format_spec[:1], format_spec[1:].partition("|")
        if sign == "@":
            each = value if isinstance(value, list | tuple) else [value] if value else []
            return between.join(self._named(name, it, n) for n, it in enumerate(each, 1))
        if sign and sign in "?!":
            return self.templates.fill(name + self.ending, self.values) if bool(value) == (sign == "?") else ""
        return value if isinstance(value, Markup) else escape(format(value, format_spec))

    def _named(self, name: str, it: Any, n: int) -> str:
        if not name:
            return self.format_field(it, "")
        return self.templates.fill(name + self.ending, {**self.values, "it": it, "n": n})
