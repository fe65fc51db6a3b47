"""Files of models: the header, the shipped ones, and those that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipelines.models import files
from pipelines.models.files import VERSION, ModelError
from tests.files import files_in

SHIPPED = files_in(files.path("").parent, "*.json", at_least=10)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_model_has_the_header(path: Path) -> None:
    made = json.loads(path.read_text(encoding="utf-8"))
    assert (made["kind"], made["version"]) == (path.stem.partition("_")[0], VERSION)
    assert made["made_by"].startswith(("scrapy train ", "python -m tests.benchmarks."))
    assert made["pages"] > 500
    assert f"learned from {made['pages']} pages" in files.describe(path.stem)


def test_file_is_the_same_for_the_same_model() -> None:
    text = files.dumps("words", {"a": [1]}, "x", {"pages": 2})
    header = '{\n "kind": "words",\n "version": 2,\n "made_by": "x",\n "pages": 2,'
    assert text == f'{header}\n "model": {{\n  "a": [\n   1\n  ]\n }}\n}}\n'
    assert files.loads(text, "w.json", "words") == ("w.json", "words", {"a": [1]})


def test_load_makes_an_object_once() -> None:
    made: list[object] = []

    def make(model: Any) -> list[object]:
        made.append(model["threshold"])
        return made

    assert files.load("blocks", make) is files.load("blocks", make)
    assert len(made) == 1


def test_missing_model_is_named_with_the_command_that_makes_one() -> None:
    with pytest.raises(ModelError, match=r"nothing cannot be used: .*No such file.*; scrapy train nothing makes one"):
        files.load("nothing", dict)


def test_damaged_model_is_named_with_the_command_that_makes_one() -> None:
    def make(model: Any) -> Any:
        return model["no such part"]

    with pytest.raises(ModelError, match=r"blocks\.json is broken \(KeyError.*\); train it again with"):
        files.load("blocks", make)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is no model of words: it is not JSON; scrapy train words makes one"),
        ("[" * 100_000, "it is not JSON"),
        ("[1]", "is no model of words; scrapy train words makes one"),
        ('{"kind": "words", "version": 2, "model": []}', "is no model of words"),
        ('{"kind": "blocks", "version": 2, "model": {}}', "is no model of words"),
        ('{"kind": ["words"], "version": 2, "model": {}}', "is no model of words"),
        ('{"kind": "words", "version": 3, "model": {}}', "the version 3 instead of 2; train it again"),
        ('{"kind": "words", "model": {}}', "the version None instead of 2; train it again"),
        ('{"format": 1, "model": {}}', "the version 1 instead of 2; train it again with scrapy train words"),
    ],
)
def test_other_files_are_refused(text: str, why: str) -> None:
    with pytest.raises(ModelError, match=why):
        files.loads(text, "w.json", "words")
