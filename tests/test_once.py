"""Things that all workers of a run share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.once import once


def test_shared_folder_is_made_once_and_by_the_next_after_a_failure(tmp_path_factory: pytest.TempPathFactory) -> None:
    name, made = f"shared-{id(tmp_path_factory)}", []

    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise RuntimeError

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "whole").touch()

    with pytest.raises(RuntimeError):
        once(tmp_path_factory, name, fail)
    folders = {once(tmp_path_factory, name, make) for _ in range(3)}
    assert len(made) == len(folders) == 1
    assert [path.name for path in folders.pop().iterdir()] == ["whole"]
