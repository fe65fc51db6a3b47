"""The combined extractor: what it keeps, refuses and says of itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.document.document import parse
from pipelines.extract.combined import Params, choose, extract, network
from pipelines.extract.features import features, title_block

PAGE = """<html><head><title>河口大桥昨日完成浇筑_滨江日报</title></head><body>
<div class=nav><a href=/>首页</a> <a href=/a>要闻</a> <a href=/b>财经</a></div>
<div class=main><h1>河口大桥昨日完成浇筑</h1><div class=info>2024-03-12 08:30 来源：滨江日报 记者 王小明</div>
<div class=content>
<p>本报讯，河口大桥主塔昨日完成最后一次混凝土浇筑，标志着这座全长三千余米的跨江通道进入收尾阶段。</p>
<h2>质量</h2>
<p>建设方表示，施工期间共浇筑混凝土六万立方米，全部一次验收合格，预计明年六月通车。</p>
<p>通车以后，两岸车程由一小时缩短到十分钟，沿线居民说，盼了十年的桥终于要通了。</p>
</div>
<div class=editor>责任编辑：李雷</div>
<div class=related><h3>相关新闻</h3><ul>
<li><a href=/1>江北新区年内开工三条快速路</a><li><a href=/2>轮渡票价下月起下调</a></ul></div>
</div><div class=footer>版权所有 滨江日报 不得转载</div></body></html>""".encode()


def test_keeps_the_text_and_nothing_else() -> None:
    found = extract(parse(PAGE, "http://bj.example/20240312/1.html"), Params())
    lines = found.text.split("\n")
    assert lines[0].startswith("本报讯，河口大桥主塔")
    assert lines[-1].endswith("终于要通了。")
    assert len(lines) in {3, 4}
    assert found.confidence > 0.7
    assert "headline" in found.evidence
    assert len(found.scores) == len(parse(PAGE, "").blocks)


def test_features_are_those_of_the_training() -> None:
    table = features(parse(PAGE, ""))
    assert table.names == network().features
    assert np.isfinite(table.values).all()


def test_headline_is_found_where_the_title_repeats_it() -> None:
    document = parse(PAGE, "")
    assert document.blocks.texts[title_block(document)] == "河口大桥昨日完成浇筑"
    assert title_block(parse(b"<p>no title", "")) == -1


@pytest.mark.parametrize("body", [b"", b"<html></html>", b"<p>", b"\x00", b"<a href=/>x</a>", "<p>。".encode()])
def test_pages_without_text_give_a_reason(body: bytes) -> None:
    found = extract(parse(body, "http://e.example/"), Params())
    assert found.text == ""
    assert found.reason in {"no text", "no prose", "text too short"}


def test_higher_bar_refuses_more() -> None:
    document = parse(PAGE, "")
    assert extract(document, Params(min_confidence=1.0)).reason == "no prose"
    assert extract(document, Params(min_chars=10_000)).reason == "text too short"


@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.integers(1, 50)), min_size=1, max_size=8))
def test_choice_is_the_best_of_all(pairs: list[tuple[float, int]]) -> None:
    """No other set of blocks has a higher expected F1."""
    chances = np.array([chance for chance, _ in pairs])
    mass = np.array([float(size) for _, size in pairs])
    kept, expected = choose(chances, mass)
    assert kept == sorted(kept)
    best = max(
        2 * (chances * mass)[list(mask)].sum() / (mass[list(mask)].sum() + (chances * mass).sum())
        for mask in product([False, True], repeat=len(pairs))
        if any(mask)
    )
    assert expected == pytest.approx(best, abs=1e-6)


@given(st.binary(max_size=400))
def test_any_bytes_give_a_result(body: bytes) -> None:
    found = extract(parse(body, "http://e.example/"), Params())
    assert 0 <= found.confidence <= 1
    assert bool(found.text) != bool(found.reason)
