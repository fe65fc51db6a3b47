"""Files that may be open."""

from __future__ import annotations

import pytest

from crawler.run.process import files_needed, spare_files
from crawler.run.wiring import ConfiguredNetwork
from tests.crawler.fetching import crawler
from tests.table import each_row


@each_row(("allowed", "spare"), [(-1, None), (100, 0), (228, 0), (1_024, 796)])
def test_spare_files_are_those_that_requests_do_not_need(allowed: int, spare: int | None) -> None:
    assert files_needed(64) == 228
    assert spare_files(allowed, 64) == spare


@pytest.mark.parametrize(("allowed", "kept"), [(-1, 2_000), (65_536, 2_000), (1_024, 398), (228, 0)])
def test_connections_are_kept_as_far_as_files_allow(monkeypatch: pytest.MonkeyPatch, allowed: int, kept: int) -> None:
    monkeypatch.setattr("crawler.run.wiring.raise_limit", lambda: allowed)
    assert ConfiguredNetwork.from_crawler(crawler()).options.idle == kept
