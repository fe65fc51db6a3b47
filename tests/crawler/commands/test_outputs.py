"""No command writes over what it reads, over the database or twice into one file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.crawler.crawling import command
from tests.table import each_row

DOCUMENT = '{"id": 1, "title": "题目", "text": "一篇新闻的正文"}\n'
INPUTS = {
    "docs.jsonl": DOCUMENT,
    "queries.jsonl": DOCUMENT,
    "out.part": DOCUMENT,
    "seeds.txt": "https://a.example/\n",
    "page.html": "<p>一段文字。</p>",
    "pages/one.html": "<p>一段文字。</p>",
    "pages/gold.jsonl": '{"id": "one", "text": "一段文字。"}\n',
    "list/pages.jsonl": '{"id": 1, "file": "one.html"}\n',
    "list/one.html": "<p>一段文字。</p>",
}
LINKS = {"soft.jsonl": "docs.jsonl", "soft.db": "news.db"}
HARD = {"hard.jsonl": "docs.jsonl", "hard.db": "news.db"}
URL = "-s DATABASE_URL=sqlite:///~/news.db"

LINES = [
    "batch extract ~/news.db --output ~/news.db",
    "batch extract sqlite:///~/other.db --output ~/other.db",
    "batch extract ~/pages --output ~/pages/one.html",
    "batch describe ~/docs.jsonl --output ~/docs.jsonl",
    "batch duplicates ~/other.db --output ~/other.db",
    "batch duplicates ~/other.db --output ~/other.db-wal",
    f"batch duplicates ~/docs.jsonl --output ~/news.db {URL}",
    "batch rank ~/other.db --output ~/other.db",
    "crawl news -a seeds=~/seeds.txt -O ~/seeds.txt",
    f"crawl news -a seeds=~/seeds.txt -o ~/news.db:csv {URL}",
    "crawl news -a seeds=~/seeds.txt --logfile ~/seeds.txt",
    f"status --logfile ~/news.db {URL}",
    f"status --pidfile ~/news.db {URL}",
    f"status -s LOG_FILE=~/soft.db {URL}",
    "describe --input ~/docs.jsonl --output ~/docs.jsonl",
    "describe --input ~/docs.jsonl --output ~/hard.jsonl",
    f"describe --input ~/docs.jsonl --output ~/news.db {URL}",
    "duplicates --input ~/docs.jsonl --output ~/soft.jsonl",
    "duplicates --input ~/docs.jsonl --output ~/hard.jsonl",
    f"duplicates --input ~/docs.jsonl --output ~/news.db {URL}",
    "extract ~/page.html --output ~/page.html",
    "extract ~/page.html --explain ~/page.html",
    "extract ~/page.html --output ~/both.txt --explain ~/both.txt",
    "extract ~/out.part --output ~/out",
    "extract ~/pages --output ~/pages/one.html",
    "extract --manifest ~/list/pages.jsonl --output ~/list/pages.jsonl",
    "extract --manifest ~/list/pages.jsonl --output ~/list/one.html",
    f"extract ~/page.html --output ~/news.db {URL}",
    f"export articles --format jsonl --overwrite --output ~/hard.db {URL}",
    f"export articles --format jsonl --overwrite --output ~/news.db-wal {URL}",
    "search --documents ~/docs.jsonl --queries ~/queries.jsonl --output ~/docs.jsonl",
    "search --documents ~/docs.jsonl --queries ~/queries.jsonl --output ~/queries.jsonl",
    f"search --documents ~/docs.jsonl --queries ~/queries.jsonl --output ~/news.db {URL}",
    "train blocks ~/pages --output ~/pages/gold.jsonl",
    "train classes ~/docs.jsonl --output ~/docs.jsonl",
    f"train classes ~/docs.jsonl --output ~/model.json --report ~/news.db {URL}",
    "rank --graph ~/named.svg -s DATABASE_URL=sqlite:///~/named.svg",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, sqlite_tables: str) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for name, content in INPUTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    for name in ("news.db", "other.db", "named.svg"):
        shutil.copy(sqlite_tables, folder / name)
    for name, target in LINKS.items():
        (folder / name).symlink_to(folder / target)
    for name, target in HARD.items():
        (folder / name).hardlink_to(folder / target)
    for name in ("other.db-wal", "news.db-wal"):
        (folder / name).touch()
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@each_row("line", LINES)
def test_output_that_is_read_is_refused(line: str, files: Path) -> None:
    before = content(files)
    done = command(*line.replace("~", str(files)).split())
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert content(files) == before


def test_outputs_that_are_no_inputs_are_written(files: Path, tmp_path: Path) -> None:
    for name in ("pages/out.txt", "pages/out.txt"):  # beside the pages that are read, twice
        assert command("extract", str(files / "pages"), "--output", str(files / name)).returncode == 0
    (files / "pages/out.txt").unlink()
    devices = ("--output", "/dev/null", "--explain", "/dev/null")
    assert command("extract", str(files / "page.html"), *devices).returncode == 0
    assert Path("/dev/null").is_char_device()
    done = command("duplicates", "--input", str(files / "docs.jsonl"), "--output", str(tmp_path / "docs.jsonl"))
    assert done.returncode == 0
