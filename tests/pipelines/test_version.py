"""Version of what reads pages: the same for the same code, another for any other."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pipelines.version import _DESCRIBING, _READING, extraction_version
from tests.table import each_row


def test_version_is_that_of_the_program_and_of_code_and_parameters() -> None:
    version = extraction_version("density", {})
    assert version == extraction_version("density", {})
    assert version.startswith("0.1.0+")
    assert version != extraction_version("density", {"min_chars": 7})


def test_extractor_from_elsewhere_has_the_version_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    versions = set()
    for line in ("A = 1", "A = 2"):
        (tmp_path / "my_extractor.py").write_text(line, encoding="utf-8")
        versions.add(extraction_version("my_extractor:extract", {}))
    assert len(versions) == 2


def test_all_data_of_reading_counts() -> None:
    package = Path(extraction_version.__code__.co_filename).parent
    files = [path for room in ("metadata", "models") for path in (package / room).rglob("*.*") if path.is_file()]
    assert {path.suffix for path in files} - {".pyc"} == {".py", ".json", ".txt"}


@each_row("name", [*_READING, *_DESCRIBING])
def test_code_that_counts_is_there(name: str) -> None:
    assert (Path(extraction_version.__code__.co_filename).parent / name).exists()
