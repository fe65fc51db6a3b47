"""The process that ranks."""

from __future__ import annotations

import signal

import pytest

from crawler.rank import worker


def test_signals_that_take_too_long_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_NETWORK_SECONDS", 0.05)
    before = signal.getsignal(signal.SIGALRM)
    with (
        pytest.raises(TimeoutError, match=r"it took more than 0\.05 seconds and is not tried again"),
        worker._bounded(),
    ):
        for _ in range(10**9):
            pass
    assert signal.getsignal(signal.SIGALRM) == before
    with worker._bounded():
        pass
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
