"""The page of settings: those of this program and of the latest runs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from starlette.responses import Response

from db.queries.board import Curve, curves

from ...options.in_force import InForce, Origin, as_given
from ..frame.language import Language
from ..frame.shown import without_folders
from ..frame.visit import Visit
from .board import board_page

_RUNS = 3
_MOST_ASKED = 80
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class _ShownSetting:
    """A setting, its value in each run (None if not recorded), and where that differs."""

    name: str
    value: str
    source: Origin
    where: str
    help: str
    is_changed: bool
    of_runs: Sequence[str | None]
    differs: Sequence[bool]


def show(visit: Visit) -> Response:
    runs = visit.read(lambda connection: curves(connection, time.time(), _RUNS))[:_RUNS]
    only_changed = visit.text("only") == "changed"
    asked = visit.text("q", _MOST_ASKED).strip()
    rows = [_shown(each, runs) for each in visit.site.options.in_force]
    groups = {each.name: each.group for each in visit.site.options.in_force}
    shown = [
        each
        for each in rows
        if (not only_changed or each.is_changed or any(each.differs)) and _fits(each, asked, visit.language)
    ]
    return board_page(
        visit,
        "settings.html",
        section="settings",
        groups=list(_grouped(shown, groups)),
        runs=[each.run for each in runs],
        only_changed=only_changed,
        asked=asked,
    )


def _fits(each: _ShownSetting, asked: str, t: Language) -> bool:
    key = f"setting.{each.name}"
    about = f"{each.name} {each.value} {each.help} {t(key) if t.has(key) else ''}".lower()
    return all(word in about for word in asked.lower().split())


def _grouped(rows: Sequence[_ShownSetting], groups: Mapping[str, str]) -> Iterator[tuple[str, list[_ShownSetting]]]:
    for group, members in groupby(rows, key=lambda each: groups[each.name]):
        yield group, list(members)


def _shown(each: InForce, runs: Sequence[Curve]) -> _ShownSetting:
    values: list[Any] = [dict(run.settings).get(each.name, _UNTOLD) for run in runs]
    return _ShownSetting(
        name=each.name,
        value=without_folders(as_given(each.value)),
        source=each.source,
        where=without_folders(each.where),
        help=_LINK.sub(r"\1", each.help).replace("`", ""),
        is_changed=each.source is not Origin.DEFAULT,
        of_runs=[None if value is _UNTOLD else without_folders(as_given(value)) for value in values],
        differs=[value is not _UNTOLD and value != each.value for value in values],
    )


_UNTOLD = object()
