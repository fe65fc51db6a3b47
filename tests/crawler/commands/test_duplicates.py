"""`scrapy duplicates`: documents of a file, the tree of reprints, check and rebuild."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from crawler.commands.duplicates import find
from crawler.corpus.saved_pages import InputError
from db.engine.database import open_for_crawl
from db.records.evidence import RELATED, REPEATING
from pipelines.dedup import method
from pipelines.dedup.stream import Counts
from tests.crawler.crawling import Finished, command
from tests.db.articles.test_clusters import MORE, OTHER, STORY, Crawl, bulletin

METHOD = method()


def documents(*rows: Any) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def pairs(
    folder: Path, content: bytes, kinds: Iterable[str] = REPEATING, name: str = "docs.jsonl"
) -> tuple[Counts, list]:
    (folder / name).write_bytes(content)
    counts = find(str(folder / name), str(folder / "pairs.tsv"), METHOD, 0.8, frozenset(kinds))
    return counts, [line.split("\t") for line in (folder / "pairs.tsv").read_text(encoding="utf-8").splitlines()]


DOCUMENTS = documents(
    {"id": 7, "title": "桥", "text": STORY},
    {"id": "b", "text": OTHER, "more": 1},
    {"id": "c", "title": None, "text": STORY.replace("。", " ！\n")},
    {"id": "d", "text": STORY[: len(STORY) // 2]},
    {"id": "e", "text": ""},
    {"id": "f", "text": ""},
)


def test_pairs_of_a_file(tmp_path: Path) -> None:
    counts, found = pairs(tmp_path, DOCUMENTS)
    assert counts == (6, 3, 2)
    assert [(a, b, kind) for a, b, _, kind in found] == [
        ("7", "c", "same"), ("7", "d", "part-of"), ("c", "d", "part-of"),
    ]  # fmt: skip
    assert all(0.8 <= float(similarity) <= 1 for _, _, similarity, _ in found)


def test_packed_file_gives_the_same(tmp_path: Path) -> None:
    assert pairs(tmp_path, gzip.compress(DOCUMENTS), name="docs.jsonl.gz") == pairs(tmp_path, DOCUMENTS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"id": 1, "text": "a"}\nno json\n', "line 2: no JSON"),
        (b'{"id": 1}\n', "line 1: id or text is missing"),
        (b'{"id": 1, "text": 5}\n', "line 1"),
        (b"[1]\n", "line 1"),
        (b'\n{"id": "a\\tb", "text": "a"}\n', "line 2: the id has a tab"),
        (b"[" * 100_000, "line 1"),
        (b"\xff\xfe\n", "line 1"),
    ],
)
def test_wrong_lines_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        pairs(tmp_path, content)


def test_file_cut_short_is_named_and_what_was_found_is_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="damaged"):
        pairs(tmp_path, gzip.compress(DOCUMENTS)[:-9], name="docs.jsonl.gz")
    assert (tmp_path / "pairs.tsv").read_text(encoding="utf-8").startswith("7\tc\t")


def test_damage_in_the_middle_is_named(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(DOCUMENTS))
    packed[40:60] = bytes(20)
    with pytest.raises(InputError, match=r"damaged|no JSON"):
        pairs(tmp_path, bytes(packed), name="docs.jsonl.gz")


def test_hostile_documents_end_well(tmp_path: Path) -> None:
    odd = ["", "\ud800" * 50, "哈" * 1_000_000, "0123456789 " * 50_000, "a中\u0301ب" * 5_000, "\0" * 9, "哈" * 999_999]
    counts, found = pairs(tmp_path, documents(*({"id": n, "text": text} for n, text in enumerate(odd))))
    assert counts.documents == len(odd)
    assert [pair[:2] for pair in found] == [["2", "6"]]


def run(folder: Path, *arguments: str) -> Finished:
    done = command("duplicates", "-s", f"DATABASE_URL=sqlite:///{folder}/news.db", *arguments)
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    database = open_for_crawl(f"sqlite:///{tmp_path}/news.db")

    def run_in(work: Any, payload: Any) -> Any:
        with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
            return work(connection, [payload])[0]

    crawl = Crawl(run_in, database)
    crawl.come("a", 1, STORY, source="晨报")
    crawl.come("b", 1, MORE)
    crawl.come("c", 1, STORY)
    database.close()
    return tmp_path


def test_tree_the_check_and_the_rebuild(stored: Path) -> None:
    shown = run(stored, "--show", "http://b.example/1")
    assert shown.returncode == 0
    assert [shown.stdout.index(part) for part in ("http://a.example/1", "http://b.example/1")] == sorted(
        shown.stdout.index(part) for part in ("http://a.example/1", "http://b.example/1")
    )
    for part in ("a.example, source 晨报", "+ 记者赵从东发来的补充报道", "1 more sentences", "text not kept"):
        assert part in shown.stdout
    checked = run(stored, "--check")
    assert (checked.returncode, "another way" in checked.stdout) == (1, True), "no crawl has said how they were made"
    assert "2 signatures made" in run(stored, "--rebuild").stdout
    assert run(stored, "--check").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--show", "http://nowhere.example/"), "has no article"),
        (("--show", ""), "no http(s) URL"),
        (("--input", "none.jsonl"), "none.jsonl"),
        (("--input", "none.jsonl", "--method", "magic"), "combined"),
    ],
)
def test_wrong_use(tmp_path: Path, arguments: tuple[str, ...], part: str) -> None:
    open_for_crawl(f"sqlite:///{tmp_path}/news.db").close()
    done = run(tmp_path, *arguments)
    assert (done.returncode, part in done.stderr) == (2, True), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_related_pairs_only_when_asked_for(tmp_path: Path) -> None:
    content = documents({"id": 1, "text": bulletin(3)}, {"id": 2, "text": bulletin(8)})
    assert pairs(tmp_path, content)[1] == []
    assert [row[3] for row in pairs(tmp_path, content, REPEATING | RELATED)[1]] == ["template"]
