"""Commands on a database of an earlier schema: each brings it up to date, and then does its work."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from db.engine.migration import SCHEMA
from tests.crawler.crawling import command, scrapy
from tests.crawler.odd_server import OddServer, article
from tests.db.engine.earlier import SCHEMAS, STATES, make_earlier
from tests.postgres import empty_database

URL = "http://zhengfu.localhost:8710/zwgk/tongzhi/202401/t20240122_3001.html"
REPEATED = 4918585015050580529
"""Identifier of its article."""
COMMANDS = (
    "status",
    "status --traps",
    f"why {URL}",
    "search 施工",
    "search --rebuild",
    "export articles",
    "export sites",
    "rank",
    "compact",
    "recrawl --lists",
    "duplicates --check",
    f"duplicates --show {URL}",
    "drop zhengfu.localhost:8710 --yes",
    "describe",
    "extract --database",
    "copy-database {folder}/news.db {folder}/copy.db",
    "batch rank {folder}/news.db --output {folder}/ranks.jsonl",
)
QUICK = {"status", "search 施工", "compact", "extract --database"}
"""Those of which one reads, one searches, one writes, and one begins a run."""


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    make_earlier(f"sqlite:///{tmp_path}/news.db", request.param)
    return tmp_path


def stored() -> dict[int, str]:
    """Texts of the articles in the files that earlier databases are made from."""
    lines = map(json.loads, (SCHEMAS / "rows.jsonl").read_text(encoding="utf-8").splitlines())
    return {line["article"]["id"]: line["article"]["text"] for line in lines if "article" in line}


def numbers(folder: Path) -> list[str]:
    """Schema of the database, and of its copy."""
    found = []
    for name in ("news.db", "news.schema-5.db"):
        with closing(sqlite3.connect(folder / name)) as database:
            found += [number for (number,) in database.execute("SELECT version_num FROM alembic_version")]
    return found


@pytest.mark.parametrize(
    "line", [line if line in QUICK else pytest.param(line, marks=pytest.mark.slow) for line in COMMANDS]
)
@pytest.mark.parametrize("folder", STATES[:1], indirect=True)
def test_command_brings_an_earlier_database_up_to_date(
    folder: Path, line: str, caplog: pytest.LogCaptureFixture
) -> None:
    words = [word.replace("{folder}", str(folder)) for word in line.split()]
    done = command(*words, "-s", f"DATABASE_URL=sqlite:///{folder}/news.db")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert numbers(folder) == [SCHEMA, "5"]
    said = [record.getMessage() for record in caplog.records if "from schema" in record.getMessage()]
    assert said == [
        f"{folder}/news.db was brought from schema 5 to {SCHEMA}; the file as it was is kept in "
        f"{folder}/news.schema-5.db"
    ]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_crawl_goes_on_in_an_earlier_database(
    tmp_path: Path, request: pytest.FixtureRequest, kind: str, state: str
) -> None:
    """What is stored stays, and what comes is compared with it."""
    if kind == "sqlite":
        crawl_on(tmp_path, f"sqlite:///{tmp_path}/news.db", state)
        return
    with empty_database(request.getfixturevalue("postgres_server"), f"earlier_{state[:2]}") as url:
        crawl_on(tmp_path, url, state)


def crawl_on(folder: Path, url: str, state: str) -> None:
    make_earlier(url, state)
    texts = stored()
    body = "".join(f"<p>{line}</p>" for line in texts[REPEATED].splitlines() if line)
    reprint = f"<html><head><title>转载</title></head><body><h1>转载</h1><article>{body}</article></body></html>"
    answers = {("a.localhost", "/1"): article("第一篇"), ("a.localhost", "/2.html"): (200, {}, reprint)}
    answers["a.localhost", "/"] = article("首页", "/1", "/2.html")
    with OddServer(answers) as server:
        seeds = folder / "seeds.txt"
        seeds.write_text(f"http://a.localhost:{server.port}/")
        settings = (f"DATABASE_URL={url}", f"ALLOW_NETWORKS=127.0.0.1:{server.port}", "HOST_DELAY=0", "WORKERS=1")
        arguments = ["crawl", "news", "-a", f"seeds={seeds}", *[x for s in settings for x in ("-s", s)]]
        done = scrapy(folder, *arguments)
    assert done.returncode == 0, done.stderr
    assert f"from schema 5 to {SCHEMA}" in done.stderr
    out = scrapy(folder, "export", "articles", "--format", "jsonl", "-s", f"DATABASE_URL={url}").stdout
    found = {int(row["id"]): row for row in map(json.loads, out.splitlines())}
    assert {key: found[key]["text"] for key in texts} == texts
    new = {row["title"]: row for key, row in found.items() if key not in texts}
    assert "第一篇" in new
    assert new["转载"]["duplicate_of"] == URL
