"""Tries of rendering are counted a host and wish."""

from __future__ import annotations

from collections.abc import Callable

from db.sites.render_gains import RenderRecord, RenderTry, load, save


def test_tries_are_counted_and_a_gain_ends_a_row_of_misses(run_in: Callable) -> None:
    assert run_in(load, 7) == {}
    for gained, at in ((False, 1.0), (False, 2.0), (True, 3.0), (False, 4.0)):
        run_in(save, RenderTry(7, "text", gained, at))
    run_in(save, RenderTry(7, "links", gained=True, at=5.0))
    assert run_in(load, 7) == {"text": RenderRecord(4, 1, 1, 4.0), "links": RenderRecord(1, 1, 0, 5.0)}
    assert run_in(load, 8) == {}


def test_record_in_memory_is_that_of_the_table(run_in: Callable) -> None:
    record = RenderRecord()
    for gained, at in ((True, 1.0), (False, 2.0)):
        run_in(save, RenderTry(9, "text", gained, at))
        record = record.after(gained, at)
    assert run_in(load, 9) == {"text": record}
