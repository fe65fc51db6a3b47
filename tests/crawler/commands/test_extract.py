"""`scrapy extract`: files, folders, manifests, stored and fetched pages."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from crawler.corpus.saved_pages import InputError, SavedPage, files, manifest, page_url, read
from crawler.demo.server import Newsroom
from pipelines.decode import zstd
from tests.crawler.crawling import ROOT, Finished, crawl, rows, scrapy
from tests.table import each_row

PAGES = Path(__file__).parents[2] / "pages"


def page(name: str, encoding: str = "utf-8") -> bytes:
    return (PAGES / f"{name}.html").read_text(encoding="utf-8").encode(encoding)


def extract(folder: Path, *arguments: str) -> Finished:
    done = scrapy(folder, "extract", "-s", f"DATABASE_URL=sqlite:///{folder}/news.db", *arguments)
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inner = tmp_path / "pages" / "old"
    inner.mkdir(parents=True)
    (tmp_path / "pages" / "english.html").write_bytes(page("english"))
    (inner / "table.HTM.gz").write_bytes(gzip.compress(page("table_gbk", "gbk")))
    (inner / "list.xhtml").write_bytes(page("teaser_list"))
    (inner / "notes.txt").write_text("no page")
    return tmp_path / "pages"


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_folder_as_json(tmp_path: Path, folder: Path) -> None:
    done = extract(tmp_path, str(folder), "--format", "jsonl")
    assert done.returncode == 0
    english, listing, table = lines(done.stdout)
    assert list(english) == [
        "id", "file", "url", "title", "authors", "source", "published_at", "published_utc", "language",
        "published_precision", "published_from", "description", "tags", "section", "kind", "kind_probability",
        "is_article", "reason", "text", "images", "related", "extractor", "text_from", "quality",
    ]  # fmt: skip
    assert english["authors"] == ["Jane Doe", "John Roe"]
    assert english["published_at"] == "2024-03-12T08:30:00+00:00"
    assert english["is_article"]
    assert english["text"].startswith("The restored river ferry")
    assert not listing["is_article"]
    assert listing["reason"]
    assert listing["text"] == ""
    assert table["source"] == "河口日报"
    assert table["file"].endswith("table.HTM.gz")


def test_pages_of_one_host_teach_what_it_repeats(tmp_path: Path) -> None:
    """The notice that ends each story of a host goes, in whatever order they come; other hosts keep what is theirs."""
    notice = (
        "凡注明来源为其他媒体的稿件均为转载，转载并不代表本网赞同其观点，如有疑问请在工作日拨打服务台电话与我们联系。"
    )
    stories = {
        f"p{number}": f"{place}的渔民们昨天说，第{number}批货物已经在清晨运到码头，"
        f"他们认为价格比去年高出{number}个百分点，市民代表则希望{place}的集市能够继续办下去，并请有关部门在下个月公布具体的安排。"
        for number, place in enumerate(["东港", "西港", "南港", "北港"])
    }
    rows_of_manifest = []
    for name, text in stories.items():
        title = f"港区新闻{name}号"
        body = f"<h1>{title}</h1><div class=txt><p>{text}</p><p>{text[::-1]}。</p><p>{notice}</p></div>"
        (tmp_path / f"{name}.html").write_text(f"<title>{title}</title><body>{body}", encoding="utf-8")
        host = "other.example" if name == "p3" else "h.example"
        url = f"http://{host}/news/2024/05/01/{name}.html"
        rows_of_manifest.append(json.dumps({"id": name, "file": f"{name}.html", "url": url}))
    (tmp_path / "m.jsonl").write_text("\n".join(rows_of_manifest), encoding="utf-8")
    alone, known = (
        {
            row["id"]: row["text"]
            for row in lines(extract(tmp_path, "--manifest", str(tmp_path / "m.jsonl"), *given).stdout)
        }
        for given in (("-s", "SITE_MEMORY=False"), ())
    )
    assert len(alone) == 4
    assert all(text.endswith(notice) for text in alone.values())
    assert [name for name, text in known.items() if notice in text] == ["p3"]
    assert {name: text.removesuffix(f"\n{notice}") for name, text in alone.items()} == {
        name: text.removesuffix(f"\n{notice}") for name, text in known.items()
    }


@pytest.mark.parametrize(("form", "start"), [("text", "The "), ("markdown", "# Old ferry"), ("html", "<article>")])
def test_one_page(tmp_path: Path, folder: Path, form: str, start: str) -> None:
    done = extract(tmp_path, str(folder / "english.html"), "--format", form)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(start)
    assert done.stdout.endswith("\n")


def test_page_without_article_is_named(tmp_path: Path, folder: Path) -> None:
    done = extract(tmp_path, str(folder / "old" / "list.xhtml"))
    assert (done.returncode, done.stdout) == (0, "")
    assert "no article (" in done.stderr


def test_manifest_has_a_line_for_every_row_in_its_order(tmp_path: Path, folder: Path) -> None:
    (folder / "broken.html.gz").write_bytes(gzip.compress(page("english"))[:-20])
    (folder / "picture.html").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (folder / "empty.html").touch()
    named = [
        {"id": "c", "file": "english.html", "url": "http://news.example.com/"},
        {"id": 2, "file": "missing.html"},
        {"id": "a", "file": "old/table.HTM.gz", "url": "http://h.cn/bd/1.htm"},
        {"id": "x", "file": "broken.html.gz", "url": None},
        {"id": "x", "file": "picture.html"},
        {"id": "e", "file": "empty.html"},
        {"id": "d", "file": "."},
        *({"id": f"n{number}", "file": "english.html"} for number in range(40)),
    ]
    rows_file = folder / "rows.jsonl"
    rows_file.write_text("\n".join(json.dumps(row) for row in named) + "\n\n", encoding="utf-8")
    done = extract(tmp_path, "--manifest", str(rows_file), "--output", str(tmp_path / "out.jsonl"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = lines((tmp_path / "out.jsonl").read_text(encoding="utf-8"))
    assert [row["id"] for row in found] == [str(row["id"]) for row in named]
    assert [row["file"] for row in found] == [row["file"] for row in named]
    assert [row["is_article"] for row in found] == [True, False, True, False, False, False, False, *[True] * 40]
    assert found[1]["reason"] == "no such file"
    assert found[3]["reason"].startswith("cannot be read")
    assert found[4]["reason"] == "a file, not a page"
    assert found[5]["reason"] == "no text"
    assert found[0]["url"] == "http://news.example.com/"


def test_relative_times_count_from_when_a_page_was_fetched(tmp_path: Path, folder: Path) -> None:
    prose = "<p>The restored river ferry carried its first passengers on Tuesday, after four years of repairs.</p>" * 4
    html = f"<h1>Old ferry returns to the river</h1><p>Posted 2 hours ago</p>{prose}"
    (folder / "saved.html").write_text(f"<title>Old ferry returns to the river</title>{html}", encoding="utf-8")
    named = [
        {"id": "zone", "file": "saved.html", "fetched_at": "2024-03-12T08:30+08:00"},
        {"id": "seconds", "file": "saved.html", "fetched_at": 1710203400},
        {"id": "none", "file": "saved.html"},
        {"id": "empty", "file": "saved.html", "fetched_at": None},
    ]
    rows_file = folder / "rows.jsonl"
    rows_file.write_text("\n".join(map(json.dumps, named)), encoding="utf-8")
    done = extract(tmp_path, "--manifest", str(rows_file), "--fetched-at", "2023-05-04 12:00")
    first, last = "2024-03-11 22:30:00", "2023-05-04 10:00:00"
    assert [row["published_utc"] for row in lines(done.stdout)] == [first, first, last, last]
    done = extract(tmp_path, str(folder / "saved.html"), "--fetched-at", "2023-05-04T12:00Z", "--format", "jsonl")
    assert [row["published_utc"] for row in lines(done.stdout)] == [last]


def test_explanation_to_look_at(tmp_path: Path, folder: Path) -> None:
    done = extract(tmp_path, str(folder), "--explain", str(tmp_path / "why.html"), "--output", str(tmp_path / "out"))
    assert done.returncode == 0
    shown = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert re.search(r'<span class="kept" title="[^"]*kept[^"]*">(?:<span class="at">[^<]*</span>)?The restored', shown)
    assert re.search(r'<span class="dropped" title="[^"]*">(?:<span class="at">[^<]*</span>)?All rights', shown)
    assert not re.search(r"<script|<link|<iframe|<form|\son\w+=|\ssrc=|\shref=", shown)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "name a file"),
        (["nowhere"], "no file or folder nowhere"),
        (["ftp://example.com/"], "no http or https URL"),
        (["README.md", "--fetched-at", "yesterday"], "--fetched-at is 'yesterday'; it takes a time"),
        (["--database", "--fetched-at", "2024-03-12"], "--fetched-at has no meaning with --database alone"),
        (["README.md", "--format", "pdf"], "text, markdown, html, jsonl"),
        (["README.md", "--extractor", "magic"], "density"),
        (["--manifest", "README.md"], "line 1: no JSON"),
        (["README.md", "--output", "/nowhere/x"], "/nowhere/x"),
        (["http://127.0.0.1:9/", "--database", "sqlite:////nowhere/x.db"], "there is no database"),
        (["README.md", "-s", "WORKER=1"], "WORKERS"),
    ],
)
def test_wrong_use(tmp_path: Path, arguments: list[str], part: str) -> None:
    done = extract(tmp_path, *arguments)
    assert done.returncode == 2
    assert part in done.stdout + done.stderr


@pytest.fixture(scope="module")
def newsroom() -> Iterator[Newsroom]:
    with Newsroom(port=0) as opened:
        yield opened


def test_urls_are_fetched_through_the_guard_or_read_from_the_database(tmp_path: Path, newsroom: Newsroom) -> None:
    done = crawl(newsroom, tmp_path, "STORE_HTML=all", "MAX_PAGES=12", seeds=newsroom.seeds()[:1])
    assert done.returncode == 0
    ((url, text),) = rows(tmp_path, "SELECT url, text FROM v_articles ORDER BY url LIMIT 1")
    closed = extract(tmp_path, newsroom.seeds()[1], "--format", "jsonl")
    assert "not public" in lines(closed.stdout)[0]["reason"]
    opened = f"ALLOW_NETWORKS=127.0.0.1:{newsroom.port}"
    both = extract(tmp_path, url, newsroom.seeds()[1], f"{url}.none", "--format", "jsonl", "-s", opened)
    stored, fetched, missing = lines(both.stdout)
    assert (stored["url"], stored["text"]) == (url, text)
    assert (fetched["is_article"], fetched["reason"]) == (False, "list page")
    assert missing["reason"] == "http 404"
    assert zstd.decompress(rows(tmp_path, "SELECT body FROM page LIMIT 1")[0][0])


class TestInputs:
    @each_row(
        ("url", "body", "wanted"),
        [
            ("http://e.com/a/1.html", b"", "http://e.com/a/1.html"),
            ("http://e.com", b"", "http://e.com/document.html"),
            ("e.com/a", b"", "http://e.com/a"),
            ("", b"<link rel=canonical href='https://e.com/x/1'>", "https://e.com/x/1"),
            ("http://e.com/", b"<link href=/a><link rel=\"canonical\" href=\"http://e.com/y\">", "http://e.com/y"),
            ("", b"<link rel=canonical href='https://e.com/'>", "http://page.invalid/document.html"),
            ("mailto:x", b"", "http://page.invalid/document.html"),
        ],
    )  # fmt: skip
    def test_address(self, url: str, body: bytes, wanted: str) -> None:
        assert page_url(url, body) == wanted

    def test_too_long(self, tmp_path: Path) -> None:
        packed = tmp_path / "a.html.gz"
        packed.write_bytes(gzip.compress(b" " * 10_000_000))
        with pytest.raises(InputError, match="longer than 5000 bytes"):
            read(SavedPage("a", "a", path=packed), 5000)

    def test_folder_without_pages(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="holds no page"):
            files(tmp_path)

    @pytest.mark.parametrize("value", ["soon", True, [], -5, 1e20, "nan", " "])
    def test_wrong_times(self, tmp_path: Path, value: object) -> None:
        (tmp_path / "m.jsonl").write_text(json.dumps({"id": 1, "file": "a", "fetched_at": value}), encoding="utf-8")
        with pytest.raises(InputError, match=r"line 1: fetched_at is .* it takes a time"):
            manifest(tmp_path / "m.jsonl")

    @pytest.mark.parametrize(
        "line", ["[]", "{}", '{"id": "a"}', '{"file": "a"}', '{"id": "", "file": "a"}', "{", '"a"']
    )
    def test_wrong_rows(self, tmp_path: Path, line: str) -> None:
        (tmp_path / "m.jsonl").write_text(f'{{"id": 1, "file": "a"}}\n{line}', encoding="utf-8")
        with pytest.raises(InputError, match="line 2"):
            manifest(tmp_path / "m.jsonl")


def test_manifest_reaches_no_file_outside_its_folder_that_is_no_page(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "page.html").write_text("<p>a page</p>")
    (outside / "key").write_text("secret")
    (inside / "link.html").symlink_to(outside / "key")
    (inside / "pages").symlink_to(outside)

    def named(*files: object) -> list[Path]:
        (inside / "m.jsonl").write_text("".join(json.dumps({"id": 1, "file": str(file)}) + "\n" for file in files))
        return [one.path for one in manifest(inside / "m.jsonl")]

    assert named("page.html", "./page.html", inside / "page.html", outside / "page.html") == [
        *(inside / "page.html",) * 3,
        outside / "page.html",
    ]
    for file in ("../outside/key", "../outside/page.html", "link.html", "pages/key", "pages/page.html", "a\0b"):
        with pytest.raises(InputError, match=r"line 1: "):
            named(file)
    for absolute in (outside / "key", inside / "link.html", "/etc/passwd", "/proc/self/environ"):
        with pytest.raises(InputError, match=r"lies outside the folder of the manifest"):
            named(absolute)


@pytest.mark.parametrize(
    "closed",
    [
        ">&-",
        pytest.param("<&- >&-", marks=pytest.mark.slow),
        pytest.param("2>&-", marks=pytest.mark.slow),
        pytest.param("<&- >&- 2>&-", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_closed_streams_are_no_traceback_and_no_file_takes_their_place(tmp_path: Path, closed: str) -> None:
    (tmp_path / "page.html").write_text("<p>" + "a page about ports. " * 30)
    program = f"{sys.executable} -m scrapy extract {tmp_path}/page.html"
    run = partial(subprocess.run, shell=True, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    done = run(f"{program} {closed}")
    assert (done.returncode, "Traceback" in done.stderr) == (0 if closed == "2>&-" else 2, False), done.stderr
    if "2" not in closed:
        assert (
            done.stderr == "scrapy extract: standard output is closed; name a file for the output, or leave it open\n"
        )
    assert run(f"{program} --output {tmp_path}/out.txt {closed}").returncode == 0
    assert "ports" in (tmp_path / "out.txt").read_text()
