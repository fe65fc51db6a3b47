"""The page of settings: those of this program, and those of the latest runs."""

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
from ..frame.shown import without_folders
from ..frame.visit import Visit
from .board import board_page

_RUNS = 3
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """A setting as the page shows it.

    Attributes:
        name, source, where, help: as `InForce` has them, the help without markup.
        of_runs: values of the runs; None where a run did not tell.
        differs: of each run, whether its value is another one than this program's.
    """

    name: str
    value: str
    source: Origin
    where: str
    help: str
    is_changed: bool
    of_runs: Sequence[str | None]
    differs: Sequence[bool]


def show(visit: Visit) -> Response:
    found = visit.read(lambda connection: curves(connection, time.time(), _RUNS))[:_RUNS]
    only_changed = visit.text("only") == "changed"
    rows = [_shown(each, found) for each in visit.site.options.in_force]
    groups = {each.name: each.group for each in visit.site.options.in_force}
    kept = [each for each in rows if not only_changed or each.is_changed or any(each.differs)]
    return board_page(
        visit,
        "settings.html",
        section="settings",
        groups=list(_grouped(kept, groups)),
        runs=[each.run for each in found],
        only_changed=only_changed,
    )


def _grouped(rows: Sequence[ShownSetting], groups: Mapping[str, str]) -> Iterator[tuple[str, list[ShownSetting]]]:
    for group, members in groupby(rows, key=lambda each: groups[each.name]):
        yield group, list(members)


def _shown(each: InForce, runs: Sequence[Curve]) -> ShownSetting:
    told: list[Any] = [dict(run.settings).get(each.name, _UNTOLD) for run in runs]
    return ShownSetting(
        name=each.name,
        value=without_folders(as_given(each.value)),
        source=each.source,
        where=without_folders(each.where),
        help=_LINK.sub(r"\1", each.help).replace("`", ""),
        is_changed=each.source is not Origin.DEFAULT,
        of_runs=[None if value is _UNTOLD else without_folders(as_given(value)) for value in told],
        differs=[value is not _UNTOLD and value != each.value for value in told],
    )


_UNTOLD = object()
