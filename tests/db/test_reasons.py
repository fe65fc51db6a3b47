"""Reasons: one meaning for each text, and nobody who takes a text apart."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from db.records.reasons import REASONS, ArticleResult, FailReason, PageReason, SkipReason, counted, label, reason_of
from pipelines.records import REASON_OF_KIND, PageKind
from tests.files import files_in
from tests.table import each_row

ROOT = Path(__file__).parents[2]


def test_text_names_one_reason() -> None:
    assert len({str(reason) for reason in REASONS}) == len(REASONS)
    assert [reason_of(str(reason)) for reason in REASONS] == list(REASONS)
    assert reason_of(None) is reason_of("") is None
    with pytest.raises(KeyError):
        reason_of("http 404")


def test_labels_tell_reason_and_detail() -> None:
    assert label(SkipReason.TRAP, "calendar") == "trap: calendar"
    assert label(FailReason.HTTP, "404") == "http error: 404"
    assert label(PageReason.LIST, None) == "list page"
    assert label(None) == ""


def test_days_are_not_counted_one_by_one() -> None:
    days = [(SkipReason.TOO_OLD, "2024-05-01"), (SkipReason.TOO_OLD, "2024-05-02"), (SkipReason.TOO_NEW, "2026-01-01")]
    assert {counted(*day) for day in days} == {"too old", "too new"}
    assert counted(FailReason.HTTP, "404") == label(FailReason.HTTP, "404")


def test_no_reason_keeps_a_page_and_sends_it_away() -> None:
    for reason in REASONS:
        assert not (reason.is_list and (reason.is_part or reason.is_settled or reason.is_doubt)), reason
        assert not (reason.is_dead_host and not reason.may_be_reconsidered), reason
        assert not (reason.may_be_overruled and not isinstance(reason, SkipReason)), reason


def test_results_that_store_nothing_say_why() -> None:
    stored = {result for result in ArticleResult if result.why_not_stored is None}
    assert set(ArticleResult) - stored == {ArticleResult.SAME_PAGE, ArticleResult.DROPPED}
    assert (
        {result for result in ArticleResult if result.is_added} < {r for r in ArticleResult if r.is_exported} < stored
    )


@each_row("package", ["crawler", "pipelines", "db"])
def test_code_never_takes_the_text_of_a_reason_apart(package: str) -> None:
    apart = {"startswith", "endswith", "like", "ilike", "removeprefix", "partition", "split", "contains"}
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in files_in(ROOT / package, "**/*.py", at_least=50)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in apart
        and ast.unparse(node.value).rpartition(".")[2] in {"reason", "unreadable", "why_not"}
    ]
    assert found == []


def test_reasons_of_kinds_are_those_that_pages_have() -> None:
    assert set(REASON_OF_KIND) == set(PageKind)
    assert all(reason.is_kind for reason in REASON_OF_KIND.values())
    assert {reason for reason in REASONS if reason.is_kind} - set(REASON_OF_KIND.values()) == {"login wall", "soft 404"}
