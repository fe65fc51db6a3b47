"""Search results as files, and citations of an article."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import openpyxl
import pytest
from lxml import html

from crawler.web.frame.file_forms import FORMATS
from pipelines.export.read import read_articles
from tests.crawler.web.asking import Asker
from tests.table import each_row

DOCTOR = quote("医生")


def lines(asker: Asker, query: str) -> list[dict[str, Any]]:
    answer = asker.get(f"/api/export?format=jsonl&{query}")
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


@each_row("query", ["医生", "bridge", "医院 -医生", "(医生 OR bridge) lang:zh", "title:医"])
def test_export_has_all_articles_that_the_command_exports(asker: Asker, stand: Path, query: str) -> None:
    expected = {article.id for article in read_articles(str(stand), query=query)}
    found = lines(asker, f"q={quote(query)}&reprints=1")
    assert expected
    assert {row["id"] for row in found} == expected
    assert len(found) == len(expected)


@each_row(
    "query", [f"q={DOCTOR}", f"q={quote('医生 医院 学校')}", "q=bridge&language=en", "since=2024-06&until=2024-12"]
)
def test_export_has_one_article_a_story_in_the_order_shown(asker: Asker, query: str) -> None:
    found = asker.get(f"/api/search?{query}&limit=20").json()
    shown = [hit["id"] for hit in found["hits"]][: found["total"]]
    exported = [row["id"] for row in lines(asker, query)]
    assert exported[:20] == shown
    assert len(set(exported)) == len(exported) == found["total"]


def test_export_of_a_question_has_what_the_search_counts(asker: Asker) -> None:
    query = quote("医生为什么要在医院里值夜班呢？")
    total = asker.get(f"/api/search?q={query}").json()["total"]
    assert total > 3
    assert len(lines(asker, f"q={query}")) == len(lines(asker, f"q={query}&order=newest")) == total


def test_newest_come_first_when_asked_for(asker: Asker) -> None:
    for query in ("q=", f"q={DOCTOR}", "site=herald.example"):
        times = [row["published_utc"] or "" for row in lines(asker, f"{query}&order=newest&columns=published_utc")]
        assert len(times) > 1
        assert times == sorted(times, reverse=True)


def test_all_articles_are_exported_without_words(asker: Asker, stand: Path) -> None:
    assert {row["id"] for row in lines(asker, "reprints=1")} == {article.id for article in read_articles(str(stand))}


def test_limit_is_said_in_the_file(asker: Asker) -> None:
    *rows, remark = lines(asker, "limit=3")
    assert len(rows) == 3
    assert remark["remark"].startswith("There are more than these 3 articles. A server writes at most 10,000")
    every = lines(asker, f"q={DOCTOR}")
    assert lines(asker, f"q={DOCTOR}&limit={len(every)}") == every


def test_csv_and_workbook_have_the_same_rows_for_excel(asker: Asker) -> None:
    table = asker.get(f"/api/export?q={DOCTOR}")
    assert table.headers["content-disposition"] == 'attachment; filename="search.csv"'
    assert table.content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(io.StringIO(table.content.decode("utf-8-sig"), newline="")))
    assert rows[0][:3] == ["title", "url", "site"]
    book = openpyxl.load_workbook(io.BytesIO(asker.get(f"/api/export?q={DOCTOR}&format=xlsx").content))
    assert [[cell or "" for cell in row] for row in book.active.iter_rows(values_only=True)] == rows


def test_columns_are_chosen(asker: Asker) -> None:
    assert list(lines(asker, "columns=site,title&limit=1")[0]) == ["site", "title"]
    assert {"text", "html", "images"} <= set(lines(asker, "columns=all&limit=1")[0])


@each_row(("form", "part"), [("bibtex", "@misc{"), ("ris", "TY  - "), ("gbt7714", "[EB/OL]"), ("markdown", "# ")])
def test_texts_have_an_entry_for_each_article(asker: Asker, form: str, part: str) -> None:
    answer = asker.get(f"/api/export?q={DOCTOR}&format={form}")
    assert answer.headers["content-type"] == FORMATS[form].media
    count = answer.text.count(part) + (answer.text.count("[N/OL]") if form == "gbt7714" else 0)
    assert count == len(lines(asker, f"q={DOCTOR}"))


@each_row(
    ("query", "part"),
    [("format=pdf", "format is 'pdf'"), ("columns=nothing", "articles have no column 'nothing'"),
     ("format=ris&columns=url", "ris has no columns to choose"), ("order=up", "order is 'up'"),
     ("q=(a", "this bracket is not closed"), ("since=soon", "no date"), ("limit=10001", "from 1 to 10,000")],
)  # fmt: skip
def test_wrong_parameters_are_one_sentence(asker: Asker, query: str, part: str) -> None:
    answer = asker.get(f"/api/export?{query}")
    assert answer.status_code == 400
    assert part in answer.json()["error"]["message"]


def test_workbook_without_its_library_says_what_to_install(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    answer = asker.get("/api/export?format=xlsx")
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "XLSX files need XlsxWriter: uv sync --extra xlsx"


def test_head_of_a_file_has_no_body(asker: Asker) -> None:
    answer = asker.get("/api/export?format=ris", method="HEAD")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == FORMATS["ris"].media


def test_formulas_of_strangers_are_texts(hostile_stand: Path) -> None:
    with Asker(f"sqlite:///{hostile_stand}") as asker:
        rows = csv.reader(io.StringIO(asker.get("/api/export?reprints=1").content.decode("utf-8-sig"), newline=""))
        cells = [cell for row in rows for cell in row]
        assert any(cell.startswith("'=HYPERLINK") for cell in cells)
        assert not [cell for cell in cells if cell[:1] in {"=", "+", "@"}]
        for form in FORMATS:
            assert asker.get(
                f"/api/export?format={form}&columns={'' if form in 'bibtex ris gbt7714' else 'all'}"
            ).content


@each_row("language", ["en", "zh"])
def test_search_page_leads_to_its_files(asker: Asker, language: str) -> None:
    page = html.document_fromstring(asker.get(f"/?q={DOCTOR}&site=example&page=1&limit=20&lang={language}").text)
    links = [link.get("href") for link in page.cssselect(".take a")]
    assert links == [f"/api/export?q={DOCTOR}&site=example&format={form}" for form in FORMATS]
    assert all(asker.get(link).status_code == 200 for link in links)


def test_article_is_cited_on_its_page_and_as_files(asker: Asker, pages: dict[str, str]) -> None:
    page = html.document_fromstring(asker.get(pages["article"]).text)
    shown = [text.text_content() for text in page.cssselect(".cite pre")]
    links = [link.get("href") for link in page.cssselect(".cite a")]
    assert len(shown) == len(links) == 3
    for text, link in zip(shown, links, strict=True):
        answer = asker.get(link)
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.text.replace("\r\n", "\n").strip() == text.replace("\r\n", "\n").strip()
    assert asker.get(f"{pages['article']}/cite?format=apa").status_code == 400
    assert asker.get("/article/1/cite").status_code == 404
