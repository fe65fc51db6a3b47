"""`scrapy train`: what it writes, and one line about wrong input."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.describe import describer
from pipelines.extract.combined import network
from pipelines.extract.network import StagedNetwork
from pipelines.extract.weighted import FEATURES, WeightedModel
from pipelines.focus.profile import load
from tests.crawler.crawling import ROOT, command, scrapy
from tests.crawler.odd_server import OddServer

TEXT = "河口大桥年底通车，届时两岸居民过江只要五分钟。负责施工的工程师说，最难的是深水区的三座主墩，工期很短。"
PAGE = f"<title>大桥</title><ul><li><a href=/>首页</a></ul><p>版权所有，不得转载。</p><p>{TEXT}</p><p>{TEXT[::-1]}</p>"
ROW = {"text": f"{TEXT}\n{TEXT[::-1]}"}
LIKED = "<title>大桥</title><h1>桥梁施工</h1><p>河口大桥年底通车，工程师说主墩最难。</p>"
SMALL = ("--particles", "5", "--generations", "5")


def corpus(folder: Path, *rows: object) -> Path:
    folder.mkdir()
    for name in ("a", "b", "c", "d"):
        (folder / f"{name}.html.gz").write_bytes(gzip.compress(PAGE.encode("gbk")))
    (folder / "plain.html").write_bytes(PAGE.encode())
    lines = "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
    (folder / "gold.jsonl").write_text(lines, encoding="utf-8")
    return folder


def test_blocks_are_learnt(tmp_path: Path) -> None:
    pages = [{"id": name} | ROW for name in "abcd"]
    folders = corpus(tmp_path / "one", *pages), corpus(tmp_path / "two", {"id": "e", "file": "plain.html"} | ROW)
    done = command("train", "blocks", *map(str, folders), *SMALL, "--output", str(tmp_path / "m.json"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("5 pages, fitness ")
    found = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert found["made_by"] == "scrapy train blocks one two --particles 5 --generations 5 --seed 1"
    assert {feature.name for feature in WeightedModel.from_mapping(found["model"]).features} == set(FEATURES)


def test_words_are_learnt(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "one", *({"id": name} | ROW for name in "abcd"))
    done = command("train", "words", str(folder), "--words", "7", "--output", str(tmp_path / "m.json"))
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert len(found["model"]["words"]) == 7
    assert found["pages"] == 4


def test_classes_are_learnt(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "text": "球队主场获胜", "title": "足球", "label": "sport", "source": "a.example"},
        {"id": 2, "text": "球队客场获胜", "labels": ["sport"], "html": "<h1>足球</h1><p>球队客场获胜"},
        {"id": 3, "text": "央行下调利率", "label": "finance", "language": "zh"},
    ] + [{"id": n, "text": f"球队在{word}获胜", "label": "sport"} for n, word in enumerate("东西南北中", 4)]
    data, out, report = tmp_path / "rows.jsonl.gz", tmp_path / "m.json", tmp_path / "r.json"
    data.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    given = ("--select", "chi2:50", "--precision", "0.5")
    done = command("train", "classes", str(data), *given, "--report", str(report), "-o", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(out.read_text())["made_by"] == (
        "scrapy train classes rows.jsonl.gz --method combined --select chi2:50 --precision 0.5"
    )
    assert list(json.loads(out.read_text())["model"]["languages"]) == ["zh"]
    assert done.stdout.startswith("8 pages, classes 2, f1 ")
    assert ", zh 8 of 8 texts with a class, precision 0.8750, threshold " in done.stdout
    assert describer().with_model(out).describe("", "球队在东获胜", "zh").classes == ("sport",)
    assert "球" in {term["term"] for term in json.loads(report.read_text())[1]["terms"]}


def test_fuzzy_classes_are_learnt_with_synonyms(tmp_path: Path) -> None:
    rows = [{"id": n, "text": "酒店，宾馆，湖边", "label": "travel"} for n in range(4)]
    rows += [{"id": n, "text": "央行下调利率", "label": "finance"} for n in range(4, 8)]
    data, words, out = tmp_path / "rows.jsonl", tmp_path / "words.txt", tmp_path / "m.json"
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    words.write_text("酒店 宾馆 0.9\n酒店 无此词\n", encoding="utf-8")
    done = command("train", "classes", str(data), "--method", "fuzzy", "--synonyms", str(words), "-o", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    ((_, _, closeness),) = json.loads(out.read_text())["model"]["classifier"]["synonyms"]
    assert closeness == 0.9


@pytest.mark.parametrize(
    ("row", "more", "why"),
    [
        ({"id": 1, "text": "a"}, (), "document 1: its label is missing"),
        ({"id": 1, "text": "a", "labels": "sport"}, (), "document 1: its label is missing"),
        ({"id": 1, "label": "sport"}, (), "line 1: id or text is missing"),
        ({"id": 1, "text": "a", "label": "sport"}, (), "only the class 'sport'"),
        ({"id": 1, "text": "a", "label": "sport"}, ("--select", "best"), "names no measure"),
        ({"id": 1, "text": "a", "label": "sport"}, ("--precision", "2"), "2 is no share from 0 to 1"),
        ({"id": 1, "text": "a", "label": "sport"}, ("--method", "magic"), "unknown classifier 'magic'"),
        ({"id": 1, "text": "a", "label": "sport"}, ("-s", "CLASSIFIER=magic"), "unknown classifier 'magic'"),
        ({"id": 1, "text": "a", "label": "b"}, ("-s", 'CLASSIFIER_PARAMS={"x": 1}'), "has no parameter 'x'"),
        ({"id": 1, "text": "a", "label": "b"}, ("--synonyms", "no.txt"), "for the classifier fuzzy, not for combined"),
        ({"id": 1, "text": "a", "label": "b"}, ("--method", "fuzzy", "--synonyms", "no.txt"), "no.txt cannot be read"),
    ],
)
def test_classes_from_wrong_rows(tmp_path: Path, row: dict[str, object], more: tuple[str, ...], why: str) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(row), encoding="utf-8")
    done = command("train", "classes", str(data), *more, "-o", str(tmp_path / "m.json"))
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert not (tmp_path / "m.json").exists()


def test_keywords_are_learnt(tmp_path: Path) -> None:
    rows = [{"id": n, "title": f"{n}号大桥通车", "text": TEXT * 2, "keys": ["大桥", "主墩"]} for n in range(20)]
    data, out = tmp_path / "rows.jsonl", tmp_path / "m.json"
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = command("train", "keywords", str(data), "--method", "bayes", "-o", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(out.read_text())["made_by"] == "scrapy train keywords rows.jsonl --method bayes"
    found = describer().with_model(out)
    assert "主墩" in found.describe("", TEXT, "zh").keywords[:3]
    assert found.describe("", "The bridge of Hekou was opened.", "en").keywords


def test_harmful_is_learnt(tmp_path: Path) -> None:
    pairs = list(enumerate(itertools.product("山水云雨风雷花鸟", ("大桥", "公园", "学校", "医院", "车站"))))
    rows = [{"id": n, "text": f"你好，昨天我去了{a}{b}，真好玩", "label": "ham"} for n, (a, b) in pairs]
    rows += [{"id": n, "text": f"{b}加微信{a}，日结工资，注册送彩金", "label": "spam"} for n, (a, b) in pairs]
    data, out, report = tmp_path / "rows.jsonl", tmp_path / "m.json", tmp_path / "r.json"
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = command("train", "harmful", str(data), "--report", str(report), "-o", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(out.read_text())["made_by"] == "scrapy train harmful rows.jsonl --seed 1"
    assert json.loads(report.read_text())["short"]["spam"] > 0.9
    found = describer().with_model(out)
    assert found.describe("", "加微信99，日结工资，注册送彩金", "zh").harm_kind
    assert not found.describe("", "你好，昨天我去了大桥", "zh").harm_kind


@pytest.mark.parametrize(
    ("line", "row", "why"),
    [
        ("keywords", {"id": 1, "text": "a"}, "document 1: its keys are missing"),
        ("keywords", {"id": 1, "text": "a", "keys": "b"}, "document 1: its keys are missing"),
        ("keywords", {"id": 1, "text": "", "keys": []}, "no text has a candidate"),
        ("keywords", {"id": 1, "text": "bridge", "keys": []}, "0 of 1 candidates are keywords"),
        ("keywords --method knn", {"id": 1, "text": "a", "keys": ["b"]}, "'knn'; keywords are learned by combined or"),
        ("harmful", {"id": 1, "text": "a"}, "document 1: its label None is none of clean, ham"),
        ("harmful", {"id": 1, "text": "a", "label": "good"}, "document 1: its label 'good' is none of"),
        ("harmful", {"id": 1, "text": "a", "label": ["ad"]}, "is none of"),
        ("harmful", {"id": 1, "text": "a", "label": "ham"}, "are of one side"),
        ("harmful", {"id": 1, "text": "a", "label": "ham", "links": "a"}, "document 1: its links are no list of texts"),
    ],
)
def test_keywords_and_harm_from_wrong_rows(tmp_path: Path, line: str, row: dict[str, object], why: str) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(row), encoding="utf-8")
    what, *more = line.split()
    done = command("train", what, str(data), *more, "-o", str(tmp_path / "m.json"))
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert not (tmp_path / "m.json").exists()


def test_networks_are_learnt(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "one", *({"id": name} | ROW for name in "abcd"))
    small = ("--networks", "2", "--epochs", "3", "--output", str(tmp_path / "m.json"))
    done = command("train", "combined", str(folder), *small)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert found["made_by"] == "scrapy train combined one --networks 2 --epochs 3 --seed 1"
    networks = StagedNetwork.of(found["model"])
    assert networks.first.features == network().first.features
    assert networks.second.features == network().second.features
    assert [layer.shape[0] for layer in networks.first.weights] == [2, 2, 2]


def test_missing_library_is_one_line(tmp_path: Path) -> None:
    """Said before any page is read; nothing else needs it."""
    (tmp_path / "sklearn.py").write_text("raise ImportError", encoding="utf-8")
    line = [sys.executable, "-m", "scrapy", "train", "combined", str(tmp_path / "none")]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "scrapy train: training networks needs scikit-learn: uv sync --extra train\n"


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ("{", "gold.jsonl, line 2: "),
        ("[1]", "line 2: a row must be an object"),
        ({"id": "a"}, "line 2: text of 'a' is None; it takes a string"),
        ({"text": "x"}, "line 2: "),
        ({"id": "e"} | ROW, "e.html.gz"),
        ({"id": "e", "file": "broken.gz"} | ROW, "line 2: "),
    ],
)
def test_broken_row_is_one_line(tmp_path: Path, row: object, part: str) -> None:
    folder = corpus(tmp_path / "one", {"id": "a"} | ROW, row)
    (folder / "broken.gz").write_bytes(b"\x1f\x8b and nothing")
    done = command("train", "blocks", str(folder), *SMALL, "--output", str(tmp_path / "m.json"))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert part in done.stderr
    assert not (tmp_path / "m.json").exists()


def test_folders_that_are_no_corpus(tmp_path: Path) -> None:
    other = corpus(tmp_path / "other", {"id": "a", "text": "别的文字，在这里一个也没有出现过。"})
    lists = corpus(tmp_path / "lists", {"id": "a", "page_type": "list"})
    for folder, part in (
        (tmp_path / "none", "cannot be read"),
        (other, "no page that holds its text"),
        (lists, "0 worthy and 0 worthless texts"),
    ):
        done = command("train", "words", str(folder), "--output", str(tmp_path / "m.json"))
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert part in done.stderr


def test_there_must_be_a_place_for_the_model(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "one", {"id": "a"} | ROW)
    done = command("train", "words", str(folder), "--output", str(tmp_path / "no" / "m.json"))
    assert done.returncode == 2
    assert "there is no folder" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [(), ("blocks",), ("magic", "x"), ("blocks", "x", "--particles", "0"), ("words", "x", "--words", "many")],
)
def test_wrong_use(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = command("train", *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_profile_is_learnt_from_files(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    for name in "ab":
        (pages / f"{name}.html").write_text(LIKED, encoding="utf-8")
    done = scrapy(tmp_path, "train", "profile", str(pages), "--terms", "5", "-o", str(tmp_path / "p.json"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("2 pages: ")
    found = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    assert found["made_by"] == "scrapy train profile pages --terms 5"
    assert len(found["model"]) == 5
    assert "大桥" in load(tmp_path / "p.json")


def test_profile_is_learnt_from_a_history(tmp_path: Path) -> None:
    """Pages that cannot be had are told of and passed over."""
    history = tmp_path / "history.csv"
    with OddServer({("a.localhost", "/liked"): (200, {}, LIKED)}) as server:
        site = f"http://a.localhost:{server.port}"
        rows = ("Title,URL,Visits", f"x,{site}/liked,3", f"x,{site}/liked,1", f"x,{site}/gone,1", "x,chrome://new,9")
        history.write_text("\n".join(rows), encoding="utf-8")
        allowed = ("-s", f"ALLOW_NETWORKS=127.0.0.1:{server.port}", "-s", "HOST_DELAY=0")
        done = scrapy(tmp_path, "train", "profile", str(history), "-o", str(tmp_path / "p.json"), *allowed)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 pages: ")
    assert f"{site}/gone is passed over: http 404" in done.stderr
    assert "大桥" in load(tmp_path / "p.json")


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("h.csv", "title\nx\n", "has no column url"),
        ("h.csv", "", "has no column url"),
        ("h.csv", "url\nabout:blank\n", "names no web address"),
        ("h.html", "", "no words to learn from"),
        ("none.html", None, "there is no file or folder"),
    ],
)
def test_nothing_to_learn_a_profile_from(tmp_path: Path, name: str, text: str | None, part: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = scrapy(tmp_path, "train", "profile", str(tmp_path / name), "-o", str(tmp_path / "p.json"))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert part in done.stderr
    assert not (tmp_path / "p.json").exists()
