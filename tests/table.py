"""Tables of cases: one test walks the rows and tells all that are wrong in one message.

For rows that cost less than the frame that pytest gives each test. Rows that need a fixture of their own, or that one
wants to run by name, are parametrised instead.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

_MOST_CHARS = 300


def each_row(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test once for each row, as `pytest.mark.parametrize` would; fixtures are the same for all rows.

    Args:
        names: parameters of the test that a row gives, as for `parametrize`.
        rows: a tuple each, or one value where there is one name.

    Raises:
        ValueError: there are no rows, or one has a mark of its own.
    """
    split = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    is_single = isinstance(names, str) and "," not in names
    cases = [_values(row, is_single=is_single) for row in rows]
    if not cases:
        raise ValueError(f"a table without rows of {names} tests nothing")

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def walk(*args: Any, **fixtures: Any) -> None:
            wrong = []
            for case in cases:
                try:
                    test(*args, **fixtures, **dict(zip(split, case, strict=True)))
                except pytest.skip.Exception:
                    continue
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001
                    wrong.append((case, error))
            if len(wrong) == 1:
                wrong[0][1].add_note(f"row {_shown(wrong[0][0])}")
                raise wrong[0][1]
            if wrong:
                told = "\n\n".join(f"{_shown(case)}: {type(error).__name__}: {error}" for case, error in wrong)
                raise AssertionError(f"{len(wrong)} of {len(cases)} rows are wrong:\n{told}") from wrong[0][1]

        signature = inspect.signature(test)
        left = [each for name, each in signature.parameters.items() if name not in split]
        walk.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return walk

    return decorate


def _values(row: Any, *, is_single: bool) -> Sequence[Any]:
    if hasattr(row, "marks"):  # a `pytest.param`
        if row.marks:
            raise ValueError(f"a row of a table has no marks: {row}")
        return tuple(row.values)
    return (row,) if is_single else tuple(row)


def _shown(case: Sequence[Any]) -> str:
    text = ", ".join(map(repr, case))
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}..."
