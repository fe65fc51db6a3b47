"""Tables of cases."""

from __future__ import annotations

import inspect

import pytest

from tests.table import each_row


def test_table_calls_the_test_with_each_row_and_fixtures() -> None:
    calls = []

    @each_row(("a", "b"), [(1, 2), pytest.param(3, 4, id="x")])
    @each_row("c", "xy")
    def walked(fixture: str, a: int, b: int, c: str) -> None:
        calls.append((fixture, a, b, c))

    assert list(inspect.signature(walked).parameters) == ["fixture"]
    walked(fixture="f")
    assert calls == [("f", 1, 2, "x"), ("f", 1, 2, "y"), ("f", 3, 4, "x"), ("f", 3, 4, "y")]


def test_table_tells_all_rows_that_are_wrong() -> None:
    @each_row("n", range(6))
    def even(n: int) -> None:
        if n == 5:
            pytest.fail("odd")
        assert n % 2 == 0

    with pytest.raises(AssertionError, match=r"(?s)3 of 6 rows are wrong:\n1: Assert.*\n3: .*\n5: Failed: odd"):
        even()


def test_table_keeps_the_error_of_a_single_wrong_row() -> None:
    @each_row("n", [1, 0])
    def divided(n: int) -> None:
        assert 1 / n == 1

    with pytest.raises(ZeroDivisionError) as raised:
        divided()
    assert raised.value.__notes__ == ["row 0"]


def test_table_without_rows_or_with_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="tests nothing"):
        each_row("n", [])
    with pytest.raises(ValueError, match="no marks"):
        each_row("n", [pytest.param(1, marks=pytest.mark.xfail)])
