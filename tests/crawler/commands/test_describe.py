"""`scrapy describe`: documents of a file, models, what is wrong with either."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from crawler.commands.describe import describe
from crawler.corpus.saved_pages import InputError
from pipelines.describe import describer
from pipelines.models import files
from tests.crawler.crawling import command

STORY = "河口大桥昨日通车。市长王明在仪式上说，大桥全长三公里，投资十亿元，两岸居民过江只要五分钟。"
ENGLISH = "The team won the football match. The coach praised the goalkeeper, who saved three penalties in the final."


def rows(folder: Path, *documents: Any, name: str = "docs.jsonl", out: str = "out.jsonl") -> list[dict[str, Any]]:
    """Describe documents, and return the rows that are written."""
    data = "".join(json.dumps(each) + "\n" for each in documents).encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    count = describe(str(folder / name), str(folder / out), describer(), "")
    written = (folder / out).read_bytes()
    found = [json.loads(line) for line in (gzip.decompress(written) if out.endswith(".gz") else written).splitlines()]
    assert [row["id"] for row in found] == [each["id"] for each in documents]
    assert count == len(documents)
    return found


def test_documents_are_described(tmp_path: Path) -> None:
    links = "".join(f"<a href=/{n}>加微信{n}，网上赌场注册送彩金</a>" for n in range(9))
    page = f"<title>加微信领红包，网上赌场注册送彩金</title><h1>Football</h1><p>{ENGLISH}</p>{links}"
    bridge, match, spam = rows(
        tmp_path,
        {"id": 7, "title": "河口大桥通车", "text": STORY * 2, "language": "zh"},
        {"id": "b", "title": "Final", "text": ENGLISH, "html": page, "more": 1},
        {"id": "c", "title": None, "text": "加微信领红包，网上赌场注册送彩金，百家乐现金棋牌"},
    )
    assert any("大桥" in word for word in bridge["keywords"])
    assert bridge["summary"] in STORY
    assert (bridge["verdict"], bridge["kind"], bridge["reasons"]) == (False, None, "")
    assert match["classes"] == [match["class"]] == ["sport"]
    assert next(iter(match["memberships"])) == "sport"
    assert (match["verdict"], match["kind"]) == (True, "hijacked")
    assert [reason.partition(": ")[0] for reason in match["reasons"].split("; ")] == ["title", "links"]
    assert spam["verdict"] is True
    assert spam["harmful"] > 0.5 > bridge["harmful"]
    assert spam["reasons"].startswith("text: ")


def test_packed_files_give_the_same(tmp_path: Path) -> None:
    one = {"id": 1, "text": STORY}
    assert rows(tmp_path, one, name="docs.jsonl.gz", out="out.jsonl.gz") == rows(tmp_path, one)


@pytest.mark.parametrize(
    "text", ["", " \n", "桥", "word", "x" * 1_000_000, "桥" * 1_000_000, "9" * 1_000_000, "1 2 3", "\ud800", "�\x00"]
)
def test_odd_texts_are_described_in_bounded_time(tmp_path: Path, text: str) -> None:
    (row,) = rows(tmp_path, {"id": 1, "title": text, "text": text})
    assert len(json.dumps(row)) < 10_000
    assert bool(row["keywords"]) <= (text.strip("�\x00 \n") != "")
    assert row["verdict"] is False


def test_mixed_scripts_are_described(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, {"id": 1, "text": "Привет 河口大桥 bridge ไทย ひらがな 한국어 عربى"})
    assert row["keywords"]


def test_broken_lines_are_named_and_those_before_written(tmp_path: Path) -> None:
    (tmp_path / "in").write_text('{"id": 1, "text": "桥"}\n\n{"id": 2}\n{"id": 3, "text": ""}\n', encoding="utf-8")
    with pytest.raises(InputError, match="in, line 3: id or text is missing"):
        describe(str(tmp_path / "in"), str(tmp_path / "out"), describer(), "")
    assert [json.loads(line)["id"] for line in (tmp_path / "out").read_text(encoding="utf-8").splitlines()] == [1]


def test_command_tells_how_many_it_described(tmp_path: Path) -> None:
    (tmp_path / "in").write_text('{"id": 1, "text": "bridge"}\n', encoding="utf-8")
    done = command("describe", "--input", str(tmp_path / "in"), "--language", "en")
    assert (done.returncode, done.stderr) == (0, "1 documents described\n")
    assert json.loads(done.stdout)["keywords"] == ["bridge"]


def test_settings_count_for_files(tmp_path: Path) -> None:
    (tmp_path / "in").write_text(json.dumps({"id": 1, "text": STORY}), encoding="utf-8")
    (tmp_path / "words").write_text("桥昨日", encoding="utf-8")
    given = ("KEYWORDS=tfidf", "CLASSES=none", "HARMFUL=off", f"WORDS={tmp_path / 'words'}")
    done = command("describe", "--input", str(tmp_path / "in"), *(part for each in given for part in ("-s", each)))
    found = json.loads(done.stdout)
    assert (found["class"], found["harmful"]) == (None, None)
    assert "桥昨日" in found["keywords"]


def test_model_of_keywords_by_combined_is_used(tmp_path: Path) -> None:
    text = files.path("keywords").read_text(encoding="utf-8")
    without = {"method": "combined", "scripts": {}}
    (tmp_path / "m.json").write_text(text, encoding="utf-8")
    (tmp_path / "none.json").write_text(files.dumps("keywords", without, "", {}), encoding="utf-8")
    found = describer().with_model(tmp_path / "m.json").describe("", STORY, "zh")
    assert found == describer().describe("", STORY, "zh")
    with pytest.raises(ValueError, match="is broken"):
        describer().with_model(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (None, "cannot be read: No such file"),
        ("", "is no model of classes or keywords or harmful or lexicon: it is not JSON; scrapy train"),
        ("[1]", "is no model of"),
        ('{"kind": "traps", "version": 2, "model": {}}', "is no model of"),
        ('{"format": 1, "model": {"kind": "classes", "version": 1}}', "has the version 1 instead of 2; train it again"),
        ('{"kind": "classes", "version": 2, "model": {}}', "is broken (KeyError"),
        ('{"kind": "harmful", "version": 2, "model": {}}', "is broken (KeyError"),
        ('{"kind": "keywords", "version": 2, "model": {"method": "network"}}', "is broken (KeyError"),
        ('{"kind": "keywords", "version": 2, "model": {"method": ["bayes"]}}', "is broken (TypeError"),
        ('{"kind": "keywords", "version": 2, "model": {"method": "bayes", "scripts": {"han": {}}}}', "is broken"),
    ],
)
def test_wrong_models_are_refused_in_a_sentence(tmp_path: Path, model: str | None, why: str) -> None:
    if model is not None:
        (tmp_path / "m.json").write_text(model, encoding="utf-8")
    (tmp_path / "in").write_text("", encoding="utf-8")
    done = command("describe", "--input", str(tmp_path / "in"), "--model", str(tmp_path / "m.json"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert why in done.stderr
