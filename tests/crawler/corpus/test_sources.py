"""Sources of batches and how they are cut."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from crawler.batch.frame import Done, Parts
from crawler.corpus.saved_pages import InputError, SavedPage
from crawler.corpus.sources import LineSource, find, shares
from tests.table import each_row


@each_row("count", [0, 1, 7, 1000])
@each_row("partitions", [0, 1, 3, 1001])
def test_shares_cover_all_once(count: int, partitions: int) -> None:
    found = shares(count, partitions, 100)
    assert [n for start, end in found for n in range(start, end)] == list(range(count))
    assert len(found) == max(1, min(partitions or -(-count // 100), count))


def lines(folder: Path, name: str, rows: list[str]) -> Path:
    path = folder / name
    data = "\n".join(rows).encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def pages(source: LineSource, partitions: int, folder: Path) -> tuple[list[SavedPage], list[str]]:
    notes: list[str] = []
    return [page for part in source.cut(partitions, folder) for page in part.pages(notes)], notes


@pytest.mark.parametrize("name", ["docs.jsonl", "docs.jsonl.gz"])
def test_lines_are_read_once_however_the_file_is_cut(tmp_path: Path, name: str) -> None:
    rows = [json.dumps({"id": n, "html": f"<p>{'字' * n}</p>", "url": f"a.example/{n}"}) for n in range(40)]
    rows[7], rows[20] = "{broken", ""
    source = LineSource(lines(tmp_path, name, rows))
    whole, notes = pages(source, 1, tmp_path)
    assert [page.id for page in whole] == [str(n) for n in range(40) if n not in (7, 20)]
    at = len("\n".join(rows[:7])) + 1
    wanted = 'a JSON object like {"id": 1, "html": "..."} is expected'
    assert notes == [f"{tmp_path / name}, byte {at}: no page; {wanted}"]
    for partitions in (2, 13, 500):
        assert pages(source, partitions, tmp_path) == (whole, notes)


def test_packed_lines_half_written_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    rows = [json.dumps({"id": n, "title": "t", "text": f"{n * n}"}) for n in range(5_000)]
    path = lines(tmp_path, "docs.jsonl.gz", rows)
    path.write_bytes(path.read_bytes()[:-2_000])
    notes: list[str] = []
    found = [row for part in LineSource(path).cut(9, tmp_path) for row in part.rows(notes, "")]
    assert 3_000 < len(found) < 5_000
    assert [key for key, _ in found] == [str(n) for n in range(len(found))]
    assert [f"{path} is damaged behind byte" in note for note in notes] == [False, True]


def test_kind_of_a_source_is_told_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    for number in range(5):
        (tmp_path / "pages" / f"{number}.html").write_text("<p>x</p>")
    cut = find(str(tmp_path / "pages")).cut(2, tmp_path)
    names = [[Path(page.id).name for page in part.pages([])] for part in cut]
    assert names == [["0.html", "1.html"], ["2.html", "3.html", "4.html"]]
    for name in ("missing.jsonl", "missing", "missing.warc.gz"):
        with pytest.raises(InputError, match="there is no file"):
            find(str(tmp_path / name))


def test_parts_of_another_batch_are_refused(tmp_path: Path) -> None:
    parts = Parts(tmp_path / "out.parts", {"files": 2, "EXTRACTOR": "density"})
    parts.put(1, Done(b"b", {"pages": 1}))
    again = Parts(tmp_path / "out.parts", {"EXTRACTOR": "density", "files": 2})
    assert (again.has(0), again.has(1), again.told(1).counts) == (False, True, {"pages": 1})
    with pytest.raises(ValueError, match=r"out\.parts holds parts of another batch \(other EXTRACTOR\); finish"):
        Parts(tmp_path / "out.parts", {"EXTRACTOR": "bte", "files": 2})
    again.put(0, Done(b"a"))
    again.join(2, tmp_path / "out")
    assert ((tmp_path / "out").read_bytes(), (tmp_path / "out.parts").exists()) == (b"ab", False)


def test_lines_say_when_their_pages_were_fetched(tmp_path: Path) -> None:
    rows = [json.dumps({"id": n, "html": "<p>a</p>", "fetched_at": at}) for n, at in enumerate(["2024-03-12", "soon"])]
    found, notes = pages(LineSource(lines(tmp_path, "docs.jsonl", rows)), 1, tmp_path)
    assert [page.fetched_at for page in found] == [1710201600.0]
    assert len(notes) == 1
