"""The guide to extending: a copy of the project is changed as its blocks say, and really used."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from crawler.demo.server import Newsroom
from pipelines.records import BlockKind

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
CHANGES = [block for kind, block in BLOCKS if kind == "python"]
COMMANDS = [line for kind, block in BLOCKS if kind == "sh" for line in block.splitlines()]
HEAD = re.compile(r"# (?P<file>\S+\.py)(?:, (?P<where>at the end|above|below|in place of)(?: `(?P<line>.+)`)?)?")
PAGE = ROOT / "tests" / "pages" / "english.html"
SITES = ("herald", "kuaixun")
EXTRACTORS = ("longblocks", "ownmethods:long_lines", "ownmethods:Without")


def change(project: Path, block: str) -> None:
    """Do to a project what a block of the guide says."""
    first, _, rest = block.partition("\n")
    head = HEAD.fullmatch(first)
    assert head is not None, first
    path = project / head["file"]
    if head["where"] is None:
        assert not path.exists(), path
        path.write_text(rest, encoding="utf-8")
        return
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if head["where"] == "at the end":
        lines.append(rest)
    else:
        places = [at for at, line in enumerate(lines) if line.strip().startswith(head["line"])]
        assert len(places) == 1, f"{head['file']} has {len(places)} lines that begin with {head['line']}"
        begin = places[0] + (head["where"] == "below")
        lines[begin : begin + (head["where"] == "in place of")] = [rest]
    path.write_text("".join(lines), encoding="utf-8")


def command(name: str) -> list[str]:
    """The arguments of the guide's command that begins like this."""
    (line,) = [line for line in COMMANDS if line.startswith(f"uv run scrapy {name}")]
    return shlex.split(line)[3:]


def run(project: Path, *arguments: str, code: str = "-m") -> str:
    """Run Scrapy, or other Python code, in a project; returns all that it prints."""
    what = [code, "scrapy"] if code == "-m" else ["-c", code]
    arguments = (sys.executable, *what, *arguments)
    done = subprocess.run(arguments, check=False, cwd=project, capture_output=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with everything that the guide adds."""
    folder = tmp_path_factory.mktemp("extended")
    for package in ("crawler", "pipelines", "db"):
        shutil.copytree(ROOT / package, folder / package)
    shutil.copy(ROOT / "scrapy.cfg", folder)
    for block in CHANGES:
        change(folder, block)
    return folder


@dataclass
class Crawled:
    project: Path
    newsroom: Newsroom
    output: str

    def rows(self, sql: str) -> list[tuple]:
        with closing(sqlite3.connect(self.project / "news.db")) as database:
            return database.execute(sql).fetchall()


@pytest.fixture(scope="module")
def crawled(project: Path) -> Iterator[Crawled]:
    """One crawl by the guide's command, with all that was added."""
    with Newsroom(port=0) as newsroom:
        seeds = [f"http://{site}.localhost:{newsroom.port}/" for site in SITES]
        (project / "seeds.txt").write_text("\n".join(seeds), encoding="utf-8")
        allowed = f"ALLOW_NETWORKS=127.0.0.1:{newsroom.port}"
        settings = (allowed, "HOST_DELAY=0", "CRAWL_PRESET=breadth", "WORKERS=1")
        output = run(project, *command("crawl"), *[x for s in settings for x in ("-s", s)])
        yield Crawled(project, newsroom, output)


def test_every_block_is_put_to_use() -> None:
    assert {kind for kind, _ in BLOCKS} == {"python", "sh"}
    used = (*(f"extract page.html --extractor {name}" for name in EXTRACTORS), "rank", "-h", "newest", "crawl")
    assert [name for name in used if not command(name)] == []
    assert len(COMMANDS) == len(used)
    named = set(re.findall(r"`((?:crawler|pipelines|db|tests)/[\w/]+(?:\.\w+)?)`", GUIDE))
    made = {head["file"] for block in CHANGES if (head := HEAD.match(block)) and head["where"] is None}
    assert [name for name in sorted(named - made) if not (ROOT / name).exists()] == []


@pytest.mark.slow
def test_extractor_is_found_by_its_name(project: Path) -> None:
    shutil.copy(PAGE, project / "page.html")
    extracted = run(project, *command("extract page.html --extractor longblocks"))
    assert "The restored river ferry" in extracted
    code = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from pipelines.parse_page import parse_page
body = Path("page.html").read_bytes()
for chars in (20, 90):
    page = parse_page(body, "http://a.example/1", fetched_at=datetime.now(UTC), extractor="longblocks",
                      params={"block_chars": chars})
    print(len(page.extraction.text))
"""
    short, long = map(int, run(project, code=code).split())
    assert 0 < long < short
    assert short == len(extracted.strip())


def test_extractor_reads_the_pages_of_a_crawl(crawled: Crawled) -> None:
    assert crawled.rows("SELECT DISTINCT extractor FROM article") == [("longblocks",)]


@pytest.mark.slow
def test_extractors_from_outside_are_called_with_their_parameters(project: Path) -> None:
    shutil.copy(PAGE, project / "page.html")
    lines = run(project, *command("extract page.html --extractor ownmethods:long_lines")).strip().splitlines()
    assert len(lines) > 1
    assert min(map(len, lines)) >= 60
    assert "no article" in run(project, *command("extract page.html --extractor ownmethods:Without"))


def test_signal_and_duplicate_method_from_outside_are_used(crawled: Crawled) -> None:
    short = "json_extract(score_parts, '$.\"ownmethods:short_paths\"')"
    assert {value for (value,) in crawled.rows(f"SELECT DISTINCT {short} FROM url WHERE score_parts != ''")} == {0, 1}
    links = "json_extract(score_parts, '$.\"ownmethods:between_sections\"')"
    values = {value for (value,) in crawled.rows(f"SELECT DISTINCT {links} FROM url WHERE score_parts != ''")}
    assert (min(values) >= 0, max(values)) == (True, 1), "seeds have 1"
    ((form,),) = crawled.rows("SELECT form FROM signature_form")
    assert form.startswith("shingles 6 ")
    assert ("short shingles",) in crawled.rows("SELECT DISTINCT method FROM duplicate")


def test_function_of_a_graph_ranks_pages(crawled: Crawled) -> None:
    """The scores are numbers of different first folders in the addresses of the pages that link to a page."""
    told = run(crawled.project, *command("rank"), "--format", "jsonl", "--top", "10")
    found = {each["url"]: each["score"] for each in map(json.loads, told.splitlines())}
    links = crawled.rows(
        "SELECT b.url, a.url FROM link JOIN url a ON a.id = source JOIN url b ON b.id = target WHERE a.id <> b.id"
    )
    assert len(found) == 10
    assert max(found.values()) > 1
    for url, score in found.items():
        assert score == len({source.split("/")[3] for target, source in links if target == url})


def test_signal_is_weighed(crawled: Crawled) -> None:
    dated = "CAST(json_extract(score_parts, '$.dated') AS INTEGER)"
    found = f"FROM url WHERE kind = 'page' AND depth > 0 AND found_in <= {BlockKind.SITEMAP.value}"
    scored = crawled.rows(f"SELECT {dated}, min(score), max(score) {found} GROUP BY 1 ORDER BY 1")
    (undated, _, most), (is_dated, least, _) = scored
    assert (undated, is_dated) == (0, 1)
    assert most < 2, "depth and the path alone"
    assert least > 2


def test_setting_reaches_the_extension(crawled: Crawled) -> None:
    titles = [
        title
        for (title,) in crawled.rows("SELECT title FROM v_articles WHERE duplicate_of IS NULL AND title LIKE '% the %'")
    ]
    assert titles
    assert [title for title in titles if f"the: {title}" not in crawled.output] == []


def test_command_is_listed_and_reads_the_new_column(crawled: Crawled) -> None:
    assert re.search(r"^  newest +List the newest articles$", run(crawled.project, *command("-h")), re.MULTILINE)
    told = run(crawled.project, *command("newest")).splitlines()
    newest = "SELECT title || ' (' || site_name || ')' FROM v_articles LIMIT 5"
    assert told == [line for (line,) in crawled.rows(newest)]


def test_column_holds_what_the_pages_state(crawled: Crawled) -> None:
    named = "SELECT site_name, count(*) FROM v_articles WHERE url LIKE 'http://{}%' GROUP BY 1"
    assert dict(crawled.rows(named.format("kuaixun")))["快讯网"] > 10
    assert set(dict(crawled.rows(named.format("herald")))) == {""}


def test_pipeline_and_exporter_write_a_file_of_their_own(crawled: Crawled) -> None:
    written = (crawled.project / "articles.md").read_text(encoding="utf-8")
    stored = crawled.rows("SELECT title, text FROM v_articles WHERE duplicate_of IS NULL")
    assert len(stored) > 50
    for title, text in stored:
        teaser = text.partition("\n")[0][:80]
        assert f"## {title}\n\n{teaser}\n\n" in written


def test_pictures_of_articles_are_kept(crawled: Crawled) -> None:
    shown = crawled.rows("SELECT count(DISTINCT url) FROM image WHERE url LIKE '%.svg'")
    assert shown != [(0,)]
    kept = [path.read_bytes() for path in (crawled.project / "pictures").rglob("*.svg")]
    assert kept != []
    assert all(b"<svg" in one for one in kept)


def test_middleware_changes_the_requests_of_one_host(crawled: Crawled) -> None:
    agents = {("herald" in request.host, request.user_agent) for request in crawled.newsroom.requests()}
    assert agents == {(False, "newscrawler/0.1"), (True, "newscrawler/0.1 (+https://example.org/about-our-crawl)")}


def test_pipeline_keeps_copies_out_of_the_file_and_they_stay_stored(crawled: Crawled) -> None:
    written = (crawled.project / "articles.md").read_text(encoding="utf-8")
    ((articles,),) = crawled.rows("SELECT count(*) FROM v_articles")
    ((copies,),) = crawled.rows("SELECT count(*) FROM v_articles WHERE duplicate_of IS NOT NULL")
    assert copies > 0
    assert articles - copies <= written.count("## ") < articles
    assert crawled.rows("SELECT count(*) FROM url WHERE state = 'leased' OR reason = 'internal error'") == [(0,)]
