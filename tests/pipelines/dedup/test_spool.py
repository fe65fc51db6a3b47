from pathlib import Path

import pytest

from pipelines.dedup.spool import Spool
from tests.table import each_row

TEXTS = [("标题", "正文。\n第二段"), ("", ""), ("a\x00b", "\ud800 lone"), ("long", "x" * 300_000), ("t", "")]


def test_texts_come_back_by_number(tmp_path: Path) -> None:
    with Spool(tmp_path) as spool:
        assert [spool.append(text) for text in TEXTS] == list(range(len(TEXTS)))
        assert [spool[number] for number in (3, 0, 4, 2, 1)] == [TEXTS[number] for number in (3, 0, 4, 2, 1)]
        assert len(spool) == len(TEXTS)
        assert 0 < spool.nbytes < 10_000  # packed


def test_reading_and_writing_may_alternate() -> None:
    with Spool() as spool:
        for number in range(100):
            spool.append((str(number), "text " * number))
            assert spool[number // 2] == (str(number // 2), "text " * (number // 2))


@each_row("number", [-1, 1])
def test_number_that_is_not_there_is_refused(number: int) -> None:
    with Spool() as spool:
        spool.append(TEXTS[0])
        with pytest.raises(IndexError, match=f"text {number}: there are 1"):
            spool[number]


def test_nothing_stays_on_disk(tmp_path: Path) -> None:
    with Spool(tmp_path) as spool:
        spool.append(TEXTS[0])
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="closed"):
        spool[0]
