"""The two cutters of Chinese words side by side: jieba, and rjieba, which goes first where it is installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pipelines.text import words


def slow_cutter() -> Any:
    """jieba, as the project sets it up."""
    return words._SlowCutter()


def fast_cutter() -> Any:
    return import_module("rjieba")


def words_of(cutter: Any, text: str) -> list[tuple[str, ...]]:
    """Words of a text with their tags, and those of the search mode."""
    found: list[tuple[str, ...]] = []
    for run in words.find_han(words.fold(text)):
        found += map(tuple, cutter.tag(run))
        found += ((word,) for word in cutter.cut(run))
        found += ((word,) for word in cutter.cut_for_search(run))
    return found
