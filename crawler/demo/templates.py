"""Templates of the newsroom's pages: `templates/<folder>/<name>`, format strings with loops and conditions.

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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .site import DemoSite


class Markup(str):
    """Text that is HTML or XML already."""

    __slots__ = ()


def link(url: str, text: str, attributes: str = "") -> Markup:
    """Make an HTML link; URL and text are escaped, attributes are not."""
    return Markup(f'<a href="{escape(url)}"{attributes and " " + attributes}>{escape(text)}</a>')


def fill(site: DemoSite, name: str, values: Mapping[str, Any]) -> Markup:
    """Fill in a template of a site, or one in XML.

    Args:
        site: whose page it is; `site` in the template.
        name: without its ending for HTML; one that ends in `.xml` lies in `templates/xml`.
        values: by the names that the template uses.
    """
    folder = "xml" if name.endswith(".xml") else site.name
    filler = _Filler(site, {**values, "site": site}, name[-4:] if folder == "xml" else "")
    return Markup(filler.vformat(read(folder, name if folder == "xml" else f"{name}.html"), (), filler.values))


@lru_cache(maxsize=128)
def read(folder: str, file: str) -> str:
    """Read a template or style sheet, with continued lines joined."""
    text = files(__package__).joinpath("templates", folder, file).read_text(encoding="utf-8")
    return re.sub(r"\n    ", "", text.removesuffix("\n"))


class _Filler(Formatter):
    """The language of the templates."""

    def __init__(self, site: DemoSite, values: Mapping[str, Any], ending: str) -> None:
        self.site = site
        self.values = values
        self.ending = ending

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """Turn an article into its path or URL, a date into ISO 8601."""
        if conversion is None:
            return value
        return {"p": self.site.path, "u": self.site.url, "i": lambda date: date.isoformat()}[conversion](value)

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write a value, or the templates that stand for it."""
        sign, (name, _, between) = format_spec[:1], format_spec[1:].partition("|")
        if sign == "@":
            each = value if isinstance(value, list | tuple) else [value] if value else []
            return between.join(self._named(name, it, n) for n, it in enumerate(each, 1))
        if sign and sign in "?!":
            return fill(self.site, name + self.ending, self.values) if bool(value) == (sign == "?") else ""
        return value if isinstance(value, Markup) else escape(format(value, format_spec))

    def _named(self, name: str, it: Any, n: int) -> str:
        if not name:
            return self.format_field(it, "")
        return fill(self.site, name + self.ending, {**self.values, "it": it, "n": n})
