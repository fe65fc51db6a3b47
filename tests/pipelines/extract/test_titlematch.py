"""Containers that speak of the title."""

from __future__ import annotations

import pytest

from pipelines.document.document import parse
from pipelines.extract.titlematch import Params, extract, overlaps
from tests.table import each_row

TEXT = "河口大桥年底通车，届时两岸居民过江只要五分钟。负责施工的工程师说，最难的是深水区的三座主墩，工期很短。"
OTHER = (
    "本站提醒您，投资有风险，入市须谨慎，一切后果由读者自己承担，与本站的立场无关。"
    "本站保留所有权利，转载必究，违者将被追究责任。"
)


@each_row("title", ["大桥通车_新闻", "大桥通车 - 新闻", "大桥通车|新闻", "_大桥通车"])
def test_overlap_is_how_often_each_term_is_said(title: str) -> None:
    body = f"<title>{title}</title><div id=a>大桥通车，大桥</div><div id=b><a href=/>大桥通车</a></div>"
    document = parse(body.encode(), "")
    # The terms 大桥, 桥通, 通车 are said 2 + 1 + 1 times; in links they do not count.
    first, second = (node for node, tag in enumerate(document.tags) if tag == "div")
    assert overlaps(document)[[first, second]].tolist() == pytest.approx([4 / 3, 0])


def test_of_two_containers_the_one_that_speaks_of_the_title() -> None:
    body = f"<title>河口大桥通车</title><div>{OTHER}</div><div>{TEXT}</div>"
    body = f"<body>{body}<ul>{'<li><a href=/>另一条新闻标题在此处</a>' * 20}</ul></body>"
    assert extract(parse(body.encode(), ""), Params()).text == TEXT


def test_without_a_title_the_other_tests_decide() -> None:
    assert extract(parse(f"<div>{TEXT}</div>".encode(), ""), Params()).text == TEXT


def test_innermost_container_is_taken_when_none_is_thin() -> None:
    body = f"<title>河口大桥通车</title><div><div>{OTHER}</div><div>{TEXT}</div></div>"
    assert extract(parse(body.encode(), ""), Params(mark_density=1)).text == TEXT


@each_row("density, passes", [(0.09, True), (0.11, False)])
def test_marks_are_punctuation_and_not_tags(density: float, passes: bool) -> None:  # noqa: FBT001
    """S19: TEXT has 51 characters, 5 of them marks, so m is .098, however many tags cut it."""
    assert (len(TEXT), sum(mark in "，。" for mark in TEXT)) == (51, 5)
    body = f"<title>河口大桥通车</title><div>{'</b><b>'.join(['<b>', *TEXT, '</b>'])}</div><div>{OTHER}</div>"
    found = extract(parse(body.encode(), ""), Params(mark_density=density, least_chars=45))
    assert (found.text.replace(" ", "") == TEXT) is passes
