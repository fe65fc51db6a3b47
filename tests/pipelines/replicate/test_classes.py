from __future__ import annotations

import pytest

from pipelines.replicate.classes import MOST, classes, features, macro_f1
from pipelines.text.classes.vectors import Text
from pipelines.training.classes import LabelledText

SPORT, MONEY = "the team won the match, praised the {} coach", "the bank cut {} rates and the market rose"
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ROWS = [
    {"id": f"{label} {word}", "title": "", "text": f"{word} {text.format(word)}", "label": label, "language": "en"}
    for label, text in (("sport", SPORT), ("money", MONEY))
    for word in WORDS
]


def test_macro_f1_by_hand() -> None:
    # a: told of two texts, one right of two: P .5, R .5. b: told of two, one right of one: P .5, R 1, F 2/3.
    texts = [LabelledText(Text("", ""), (label,), "") for label in "aab"]
    assert macro_f1(texts, [("a",), ("b",), ("a", "b")]) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert macro_f1(texts, [(), (), ()]) == 0


def test_each_selection_is_judged_under_each_classifier() -> None:
    table = features(ROWS, 1)
    assert len(table.rows) == 18
    assert [row.name for row in table.rows][:2] == ["kNN, df", "kNN, ig"]
    for row in table.rows:
        assert row.ours["F1"] == 1, "words tell these texts apart, whatever chooses among them"
        assert row.ours["CPU s"] > 0


def test_classes_are_counted_by_how_many_a_text_has() -> None:
    table = classes(ROWS, 1)
    figures = {row.name: row.ours for row in table.rows}
    assert figures["combined"] == {"F1": 1, "none": 0, "one": 1, "several": 0}
    assert all(sum(row[size] for size in ("none", "one", "several")) == pytest.approx(1) for row in figures.values())
    assert table.notes[0] == "24 texts, 0 of them with their page, four folds by source."


def test_pages_are_read_where_there_are_some() -> None:
    html = [{**row, "html": f"<body><p>{row['text']}</p></body>"} for row in ROWS]
    assert classes(html, 1).notes[0].startswith("24 texts, 24 of them with their page")


def test_labels_that_no_term_tells_are_not_learned() -> None:
    # Each word stands in one text of either label, each phrase in six.
    rows = [{**row, "label": "ab"[(number + number // len(WORDS)) % 2]} for number, row in enumerate(ROWS)]
    assert max(row.ours["F1"] for row in features(rows, 1).rows) < 0.75


def test_refuse_texts_of_one_class() -> None:
    with pytest.raises(ValueError, match=r"classes \['sport'\]; give rows with label"):
        features(ROWS[: len(WORDS)], 1)
    assert MOST >= 1000
