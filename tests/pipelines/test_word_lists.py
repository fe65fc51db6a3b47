"""Files of words, and the patterns made of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipelines.word_lists import WordLists
from tests.files import files_in
from tests.table import each_row

ROOT = Path(__file__).resolve().parents[2] / "pipelines"
FILES = [path for path in files_in(ROOT, "**/*.txt", at_least=12) if "\n[" in path.read_text(encoding="utf-8")]


@pytest.fixture
def lists(tmp_path: Path) -> WordLists:
    path = tmp_path / "words.txt"
    path.write_text("# By language.\n\n[by]\nby, written by,\nvon\n\n[marks]\n文, ], 图\n", encoding="utf-8")
    return WordLists(path)


def test_lists_keep_their_order(lists: WordLists) -> None:
    assert lists["by"] == ["by", "written by", "von"]


def test_lists_are_joined(lists: WordLists) -> None:
    assert lists.words("by", "marks") == {"by", "written by", "von", "文", "]", "图"}


def test_unknown_list(lists: WordLists) -> None:
    with pytest.raises(KeyError):
        lists.pattern("at")


def test_longest_entry_is_tried_first(lists: WordLists) -> None:
    assert lists.choices("by") == r"written\sby|von|by"
    assert lists.choices("by", behind=":?") == r"written\sby:?|von:?|by:?"


def test_single_characters_make_a_class(lists: WordLists) -> None:
    assert re.findall(lists.pattern("marks"), "文]图by") == ["文", "]", "图"]
    assert re.fullmatch(lists.pattern("by", "marks"), "written by")


def test_all_files_are_found() -> None:
    assert len(FILES) >= 9


@each_row("path", FILES)
def test_each_list_is_read(path: Path) -> None:
    """A list that no code names is dead; an entry that stands twice in a list is an error of editing."""
    lines = path.read_text(encoding="utf-8").splitlines()
    names = [line[1:-1] for line in lines if line.startswith("[")]
    assert len(set(names)) == len(names)
    code = "".join(file.read_text(encoding="utf-8") for file in ROOT.rglob("*.py"))
    lists = WordLists(path)
    for name in names:
        assert (
            re.search(rf"['\"]{name}['\"]", code)
            or re.search(r"solar month|before a year", name)
            or "class_names" in path.name
        ), name
        assert len(set(lists[name])) == len(lists[name]) > 0, name
