"""Long blocks, and short ones like the title or a sub-heading."""

from __future__ import annotations

import math
from collections import Counter

from pipelines.document.document import parse
from pipelines.document.tokens import cosine, terms
from pipelines.extract.headings import Params, extract, long_blocks, topics

LONG = "负责施工的工程师说，最难的是深水区的三座主墩，每天只有两个小时的平潮期可以作业。"


def test_long_is_more_than_k_characters_for_each_link() -> None:
    links = "<a href=/>甲</a>" * 2
    document = parse(f"<p>{LONG}</p><p>{LONG}{links}</p><p>短，</p>".encode(), "")
    assert long_blocks(document, Params(least_chars=30, link_chars=20)).tolist() == [True, False, False]
    assert long_blocks(document, Params(least_chars=30, link_chars=19)).tolist() == [True, True, False]
    assert not long_blocks(document, Params(least_chars=len(LONG), link_chars=1)).any()


def test_headings_over_lists_are_no_topics() -> None:
    body = f"<title>标题</title><h1>大桥</h1><p>{LONG}</p><h3>热点</h3><p><a href=/>甲</a></p>"
    document = parse(body.encode(), "")
    assert topics(document, long_blocks(document, Params())) == [Counter(["标题"]), Counter(["大桥"])]


def test_short_lines_are_kept_when_they_are_like_a_heading() -> None:
    body = f"<title>大桥年底通车</title><p>{LONG}</p><p>大桥通车</p><p>注册领红包</p><h2>深水施工</h2><p>{LONG}</p>"
    assert extract(parse(body.encode(), ""), Params()).text == f"{LONG}\n大桥通车\n深水施工\n{LONG}"


def test_lines_far_from_the_text_are_not() -> None:
    body = f"<title>大桥年底通车</title><p>大桥通车</p>{'<p>x</p>' * 5}<p>{LONG}</p>"
    assert extract(parse(body.encode(), ""), Params()).text == LONG


def test_cosine_of_term_frequencies() -> None:
    # (1, 1, 1) and (1, 2, 0)
    assert cosine(Counter("abc"), Counter("abb")) == 3 / math.sqrt(3 * 5)
    assert cosine(Counter("a"), Counter()) == 0
    assert cosine(Counter("aab"), Counter("aab")) == 1


def test_terms_are_pairs_of_characters_and_words() -> None:
    assert terms("《大桥》,Big bridge_2024 桥 ทดสอบ") == ["大桥", "big", "bridge", "2024", "桥", "ทด", "ดส", "สอ", "อบ"]
    assert terms("，。 _") == []
