"""`scrapy config`: what it shows in each form."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from scrapy.cmdline import execute

from crawler.options.table import OPTIONS
from tests.crawler.crawling import ROOT


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run the command in this process; returns what it prints."""

    def said(*words: str) -> str:
        monkeypatch.chdir(ROOT)
        with pytest.raises(SystemExit) as ended:
            execute(["scrapy", "config", *words])
        out, errors = capsys.readouterr()
        assert (ended.value.code, errors) == (0, "")
        return out

    for option in OPTIONS:
        for name in option.variables:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NEWS_DATABASE_URL", "postgresql://me:secret@h.example/news")
    monkeypatch.setenv("NEWS_MAX_PAGES", "500")
    return said


def test_config_prints_json_lines_of_all_settings(said) -> None:
    rows = [json.loads(line) for line in said("--format", "jsonl").splitlines()]
    assert [row["name"] for row in rows] == [option.name for option in OPTIONS]
    by_name = {row["name"]: row for row in rows}
    assert by_name["DATABASE_URL"]["value"] == "postgresql://me:***@h.example/news"
    pages = by_name["MAX_PAGES"]
    assert (pages["value"], pages["source"], pages["where"]) == (500, "environment", "NEWS_MAX_PAGES")
    assert by_name["MAX_DEPTH"]["value"] is None


def test_config_prints_a_table_of_what_was_changed(said, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text('https://news.example.com/ topic="ports"\n', encoding="utf-8")
    out = said("--changed", "--seeds", str(seeds), "-s", "HOST_DELAY=2")
    lines = {line.split()[0]: line for line in out.splitlines() if line}
    assert {"DATABASE_URL", "MAX_PAGES", "HOST_DELAY", "TOPIC"} <= set(lines)
    assert "MAX_DEPTH" not in lines
    assert "secret" not in out
    assert lines["TOPIC"].split() == ["TOPIC", "ports", "seeds", "topic="]


def test_config_prints_csv_of_the_named(said) -> None:
    rows = list(csv.DictReader(io.StringIO(said("CONTACT", "FOCUS_MIN", "--format", "csv", "-s", "CONTACT==1+1"))))
    assert [row["name"] for row in rows] == ["CONTACT", "FOCUS_MIN"]
    assert rows[0]["value"] == "'=1+1"
    assert rows[1]["value"] == "0.0"
