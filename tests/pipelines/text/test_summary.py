from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipelines.text.analysis import analyse
from pipelines.text.frequencies import shipped
from pipelines.text.summary import DEFAULTS, Params, _borders, _choose, _Sentence, _size, summarise
from tests.table import each_row

LEAD = "河口大桥将在年底通车，两岸居民过江只要五分钟。"
NUMBERS = "大桥全长三公里，主跨八百米，由省交通厅投资12亿元建设。"
ASIDE = "天气很好。"
CUE = "专家指出，大桥建成表明抗风设计达到国际先进水平。"


def summary(title: str, text: str, params: Params = DEFAULTS) -> str:
    return summarise(analyse(title, text), shipped(), params)


def test_summary_takes_lead_and_telling_sentences_in_their_order() -> None:
    found = summary("河口大桥年底通车", LEAD + ASIDE + CUE + NUMBERS)
    assert found.startswith(LEAD)
    assert ASIDE not in found
    assert found == LEAD + CUE + NUMBERS


def test_turn_marks_the_key_sentence() -> None:
    """S27: what follows 然而, 但是, 不过 is the key; without it the earlier sentence comes first."""
    first, second = "大桥采用双塔斜拉结构设计方案。", "不过工程师担心台风季节桥面会封闭。"
    only = Params(sentences=1, lead=0, words=0, tail=0, borders=0)
    assert (
        summary("", first + second + NUMBERS, Params(sentences=1, lead=0, words=0, tail=0, borders=0, numbers=0))
        == second
    )
    assert summary("", first + second.removeprefix("不过") + NUMBERS, only) == NUMBERS


def test_borders_of_paragraphs_gain() -> None:
    """S27: the first and the last sentence of each paragraph; of five sentences the third is inside."""
    sentences = [f"{place}岸的居民代表昨天参观了施工现场。" for place in ("东", "南", "西", "北", "中")]
    text = "\n".join(["".join(sentences[:1]), "".join(sentences[1:4]), sentences[4]])
    only = Params(sentences=5, chars=500, lead=0, words=0, tail=0, numbers=0, likeness=1.0, borders=1.0)
    spans = analyse("", text)
    assert _borders(spans) == {1, 3}
    assert "西岸" not in summary("", text, replace(only, sentences=2))


def test_summary_does_not_say_a_thing_twice() -> None:
    again = LEAD.replace("只要", "仅需")
    assert again not in summary("", LEAD + again + NUMBERS)
    assert summary("", LEAD + again + NUMBERS) == LEAD + NUMBERS


def test_title_draws_sentences() -> None:
    text = "记者昨天下午在现场看到许多市民前来参观游览。" + ASIDE + "渡轮公司的职工不会失业，轮渡仍将保留。"
    assert "渡轮公司" in summary("渡轮保留 职工不失业", text, Params(sentences=1, lead=0.3))
    assert "记者" in summary("", text, Params(sentences=1))


def test_english_sentences_keep_their_blanks() -> None:
    text = "The Hekou bridge opens this year. Ferry workers keep their jobs, officials said. Why?"
    assert summary("", text) == "The Hekou bridge opens this year. Ferry workers keep their jobs, officials said."


def test_heading_without_a_mark_stands_apart() -> None:
    heading = "抗风设计达到国际先进水平"
    assert summary("河口通车", f"{heading}\n{NUMBERS}") == f"{heading} {NUMBERS}"


@each_row("text", ["", "。！？", "12 345", "大"])
def test_nothing_to_say(text: str) -> None:
    assert summary("", text) in ("", text)


def test_single_short_sentence_stands() -> None:
    assert summary("河口大桥", "大桥通车。") == "大桥通车。"


@each_row("unit", ["中", "大桥，", "a", "word ", "大桥通车了。", "1"])
def test_megabyte_is_cut_short(unit: str) -> None:
    summary(LEAD, LEAD)
    started = time.process_time()
    assert len(summary("", unit * (1_000_000 // len(unit)))) <= 2 * DEFAULTS.chars + 1
    assert time.process_time() - started < 12  # of which most may be the collector of all that the tests before left


@given(st.text(alphabet="河口大桥通车。，！\n .ab1?", max_size=300))
def test_summary_is_made_of_the_text(text: str) -> None:
    plain = "".join(text.split())
    pieces = summary("", text).replace("…", "。").split("。")
    assert all("".join(piece.split()) in plain for piece in pieces)


@given(st.data())
def test_sentences_scored_late_are_chosen_as_if_all_had_been_scored(data: st.DataObject) -> None:
    texts = ("结果表明，共有三百人", "但是没有人来到这里", "而且下雨了？", "The bridge was opened on Monday.", "也好")
    bags = st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True).map(np.array)
    scores = st.sampled_from((0.0, 0.2, 0.3, 0.5, 1.0))
    sentences = data.draw(st.lists(st.builds(_Sentence, st.sampled_from(texts), bags, scores, st.booleans())))
    params = Params(chars=data.draw(st.integers(5, 60)), leans=data.draw(st.sampled_from((-0.1, 0.4))))
    in_title = np.arange(10) < data.draw(st.integers(0, 3))
    chosen: list[int] = []
    room = params.chars
    for place in sorted(range(len(sentences)), key=lambda each: (-sentences[each].score(params), each)):
        bag, size = {*sentences[place].terms.tolist()}, _size(sentences[place].shown(params.chars))
        others = [{*sentences[other].terms.tolist()} for other in chosen]
        repeats = any(len(bag & other) > params.likeness * min(len(bag), len(other)) for other in others)
        is_titled = len(sentences) > 1 and in_title[sentences[place].terms].all()
        if len(chosen) < params.sentences and not (repeats or is_titled or (chosen and size > room)):
            chosen.append(place)
            room -= size
    assert _choose(sentences, in_title, params) == sorted(chosen)
