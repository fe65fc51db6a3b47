"""Names of authors: how bylines are written, and what is none."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.metadata import person_names
from pipelines.parse_page import parse_page

NOW = datetime(2024, 6, 1, 4, 0, tzinfo=UTC)
TEXT = "".join(
    f"<p>第{n}段，河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段，预计年内通车。</p>" for n in range(5)
)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("作者：王小明 李雷", ["王小明", "李雷"]),
        ("作者：Diogo Carleto", ["Diogo Carleto"]),
        ("著者：後藤大地", ["後藤大地"]),
        ("采写：南都记者 余毅菁 向雪妮", ["余毅菁", "向雪妮"]),
        ("【記者王小明╱台北報導】", ["王小明"]),
        ("（文/王小明）", ["王小明"]),
        ("（圖／記者林悅翻攝）", ["林悅"]),
        ("【文/观察者网专栏作者 王文】", ["王文"]),
        ("本报记者 李雷 韩梅梅", ["李雷", "韩梅梅"]),
        ("中央社記者王小明桃園19日電", ["王小明"]),
        ("记者李莎莎黎史翔王进雨程磊", ["李莎莎", "黎史翔", "王进雨", "程磊"]),
        ("石佳/中国青年报", ["石佳"]),
        ("By Jane Doe", ["Jane Doe"]),
        ("By Jane Doe, John Roe and Max Moe", ["Jane Doe", "John Roe", "Max Moe"]),
        ("Von Ludwig van der Berg", ["Ludwig van der Berg"]),
        ("Written by Michael Larabel in Valve on 1 June 2019", ["Michael Larabel"]),
        ("Aaron Ricadela | Senior Writer | July 2, 2025", ["Aaron Ricadela"]),
        ("Sehernur Karsu | 05.04.2025", ["Sehernur Karsu"]),
        ("Jon Fingas, @jonfingas", ["Jon Fingas"]),
        ("记者从有关部门获悉，今年雨水多", []),
        ("记者纤维木工一起", []),
        ("By the end of the year", []),
        ("Last Updated: January 7, 2025", []),
    ],
)
def test_lines(line: str, names: list[str]) -> None:
    assert list(person_names.tidy(person_names.parse_line(line), [])) == names


PROSE = "昨日，河口大桥完成最后一段桥面的浇筑，工程进入收尾阶段，预计年内通车"


@pytest.mark.parametrize(
    ("paragraph", "names"),
    [
        (f"本报记者 王小明 报道 {PROSE}。", ["王小明"]),
        (f"DeepMind已将其研究结果发表，{PROSE}。（编译/林靖东）", ["林靖东"]),
        (f"{PROSE}，桥头的商户也开始装修门面，准备迎接游客。（记者 李雷）", ["李雷"]),
        (f"当天，有记者王某到现场采访，{PROSE}。", []),
    ],
)
def test_prose(paragraph: str, names: list[str]) -> None:
    assert list(person_names.tidy(person_names.parse_prose(paragraph), [])) == names


def test_words_that_are_no_names() -> None:
    raw = [
        "River Post",
        "Jane Doe",
        "http://x.com/a",
        "admin",
        "x" * 200,
        "April 15",
        "Written by",
        "jane-doe",
        "intro <h",
    ]
    assert person_names.tidy(raw, ["River Post"]) == ("Jane Doe",)


@pytest.mark.parametrize(
    ("head", "line", "names"),
    [
        ("", "<p>2024-03-12 08:30 作者：王小明</p>", ("王小明",)),
        ("", "<div class=author-name>Team Harbour</div><p>12 March 2024</p>", ("Team Harbour",)),
        ("", "<p><span>By</span> <a href=/u/1>Jane Doe</a> <span>December 8</span></p>", ("Jane Doe",)),
        ("", "<p>By</p><p>Jane Doe</p>", ("Jane Doe",)),
        ("<meta name=author content='Jane Doe'>", "<p>x</p>", ("Jane Doe",)),
        ("<meta property=og:site_name content=河口网><meta name=author content=河口网>", "<p>2024-03-12</p>", ()),
        (
            '<script type="application/ld+json">{"@type":"NewsArticle","author":[{"name":"Jos&eacute; Doe"}]}</script>',
            "<p>By Jane Roe</p>",
            ("José Doe",),
        ),
    ],
)
def test_pages(head: str, line: str, names: tuple[str, ...]) -> None:
    body = f"<title>河口大桥合龙在即</title>{head}<h1>河口大桥合龙在即</h1>{line}<div>{TEXT}</div>"
    page = parse_page(body.encode(), "http://e.com/a/1.html", fetched_at=NOW)
    assert page.metadata.authors == names


def test_editors_that_the_author_element_names_are_no_authors() -> None:
    page = (
        "<html><head><title>河口大桥完成浇筑</title><meta name=author content=严玉洁></head><body>"
        f"<h1>河口大桥完成浇筑</h1><p>2024-03-12 08:30 来源：山海日报</p>{TEXT}%s</body></html>"
    )
    url = "http://bj.example/20240312/1.html"
    read = [
        parse_page((page % line).encode(), url, fetched_at=NOW).metadata.authors
        for line in ("", "<p>【责任编辑：严玉洁】</p>")
    ]
    assert read == [("严玉洁",), ()]


@given(st.text(max_size=300))
def test_any_line_is_read(text: str) -> None:
    for names in (person_names.parse_line(text), person_names.parse_prose(text), [text]):
        for name in person_names.tidy(names, []):
            assert 2 <= len(name) <= person_names.MAX_NAME_CHARS


@pytest.mark.parametrize(
    "line",
    ["记者" + "王李" * 140, "记者" + "王" * 60, "作者：" + "王小" * 140, "（" * 300, "By " + "A" * 297, "/" * 300],
)
def test_hostile_lines_cost_little(line: str) -> None:
    start = time.process_time()
    for names in (person_names.parse_line(line), person_names.parse_prose(line), [line]):
        person_names.tidy(names, [])
    assert time.process_time() - start < 0.1
