"""Processes of the tests begin with everything imported: otherwise each would take seconds to import it anew."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pipelines.worker import process_context
from tests.forked import PRELOADED, start_process


def tell_missing(path: Path) -> None:
    path.write_text(json.dumps([name for name in PRELOADED if name not in sys.modules]), "utf-8")


def test_all_modules_are_imported_beside_another_server(tmp_path: Path) -> None:
    process_context("json")
    process = start_process(tell_missing, tmp_path / "missing.json")
    process.join(300)
    assert process.exitcode == 0
    assert json.loads((tmp_path / "missing.json").read_text("utf-8")) == []
