from __future__ import annotations

import pytest

from crawler import clock
from crawler.clock import GrowthRate


def test_clock_that_is_set_back_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    before = clock.now()
    real = clock.time.time
    monkeypatch.setattr(clock.time, "time", lambda: real() - 3_600)
    assert before <= clock.now() < before + 10
    monkeypatch.setattr(clock.time, "time", lambda: real() + 3_600)
    assert clock.now() >= before + 3_600, "forwards it is believed"


def test_rate() -> None:
    rate = GrowthRate(seconds=10)
    assert rate.update(0, 100) == 0
    assert rate.update(2, 120) == 10
    assert rate.update(4, 120) == 5
    for at in range(5, 40):
        rate.update(at, 120)
    assert rate.update(40, 120) == 0, "long ago does not count"
