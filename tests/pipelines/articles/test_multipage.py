"""Which pages make one article, in which order, and as which text."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records.article import NewArticle
from db.records.part import Chain, Part
from pipelines.articles.multipage import MAX_PARTS, arrange, continues, join, make_joiner
from pipelines.records import Description
from tests.db.frontier_rows import article
from tests.db.stores import SIGN
from tests.table import each_row


@each_row(
    ("title", "other"),
    [
        ("长江大桥昨日通车", "长江大桥昨日通车"),
        ("长江大桥昨日通车", "长江大桥昨日通车(2)"),
        ("长江大桥昨日通车（2）", "长江大桥昨日通车（3）"),
        ("长江大桥昨日通车", "长江大桥昨日通车 第2页"),
        ("長江大橋昨日通車", "长江大桥昨日通车_2"),
        ("Bridge opens after ten years", "Bridge opens after ten years - Page 2 of 5"),
        ("长江大桥昨日通车", "长江大桥昨日通车 市民步行过江"),
        ("长江大桥昨日通车", ""),
        ("", ""),
    ],
)
def test_titles_of_one_article(title: str, other: str) -> None:
    assert continues(title, other)
    assert continues(other, title)


@each_row(
    ("title", "other"),
    [
        ("长江大桥昨日通车", "市图书馆新馆开放"),
        ("要闻", "要闻之外：市图书馆新馆开放"),
        ("2024年预算", "2025年预算"),
        ("Bridge opens", "Library opens"),
    ],
)
def test_titles_of_different_articles(title: str, other: str) -> None:
    assert not continues(title, other)
    assert not continues(other, title)


def part(key: int, before: int | None = None, behind: int | None = None, **values: Any) -> Part:
    defaults: dict[str, Any] = {"number": key if key < 100 else 0, "title": "题目一二三四", "text_hash": key}
    return Part(
        id=key,
        group_id=1,
        first_id=key,
        position=0,
        joined=0,
        next_id=behind,
        previous_id=before,
        **{**defaults, **values},
    )


def row_of(n: int) -> list[Part]:
    return [part(i, i - 1 if i > 1 else None, i + 1 if i < n else None) for i in range(1, n + 1)]


def test_parts_in_order() -> None:
    assert arrange(row_of(3)) == [Chain((1, 2, 3))]
    assert arrange([]) == []


def test_order_in_which_they_came_does_not_matter() -> None:
    parts = row_of(9)
    random.Random(1).shuffle(parts)
    assert arrange(parts) == [Chain(tuple(range(1, 10)))]


def test_links_in_one_direction_are_enough() -> None:
    assert arrange([replace(p, previous_id=None) for p in row_of(3)]) == [Chain((1, 2, 3))]
    assert arrange([replace(p, next_id=None) for p in row_of(3)]) == [Chain((1, 2, 3))]


def test_missing_parts_are_named() -> None:
    one, two, three, four = row_of(4)
    assert arrange([one]) == [Chain((1,), missing=(2,))]
    assert arrange([four]) == [Chain((4,), missing=(3,))]
    assert arrange([one, two, four]) == [Chain((1, 2, 4), missing=(3,))]
    assert arrange([two, three]) == [Chain((2, 3), missing=(1, 4))]
    assert arrange([one, four]) == [Chain((1,), missing=(2,)), Chain((4,), missing=(3,))]


def test_rings_end() -> None:
    assert arrange([part(1, None, 2), part(2, 1, 3), part(3, 2, 1)]) == [Chain((1, 2, 3))]
    assert arrange([part(1, None, 1)]) == [Chain((1,))]
    unnumbered = [part(101, None, 102), part(102, None, 101)]
    assert arrange(unnumbered) == [Chain((101, 102))]


def test_another_headline_begins_another_article() -> None:
    parts = [
        part(1, None, 2),
        part(2, 1, 3),
        part(3, 2, 4, title="别的文章标题"),
        part(4, 3, None, title="别的文章标题"),
    ]
    assert arrange(parts) == [Chain((1, 2)), Chain((3, 4))]


def test_same_page_at_another_number_adds_nothing_and_is_not_followed() -> None:
    one, two = part(1, None, 2), part(2, 1, 3, text_hash=1)
    assert arrange([one, two]) == [Chain((1,), repeats=(2,))]
    assert arrange([one, two, part(3, 2, None)]) == [Chain((1, 3), repeats=(2,))]


def test_other_addresses_of_parts() -> None:
    one, two, three = row_of(3)
    first_again, second_again = part(101, None, 2, number=1), part(102, 1, 3, number=2)
    assert arrange([one, two, three, first_again, second_again]) == [Chain((1, 2, 3), repeats=(101, 102))]
    # also when the other address would come first
    assert arrange([one, replace(two, id=103), three, part(2, 1, 3, text_hash=103)])[0].parts in {
        (1, 2, 3),
        (1, 103, 3),
    }


def test_article_has_so_many_parts_at_most() -> None:
    chain = arrange([replace(p, number=0) for p in row_of(MAX_PARTS + 5)])[0]
    assert chain == Chain(tuple(range(1, MAX_PARTS + 1)), surplus=tuple(range(MAX_PARTS + 1, MAX_PARTS + 6)))
    assert arrange([*row_of(MAX_PARTS)[:-1], part(MAX_PARTS, MAX_PARTS - 1, 999)])[0].missing == ()


KEYS = st.one_of(st.none(), st.integers(1, 8))


@given(
    st.lists(
        st.builds(
            part,
            st.integers(1, 8),
            KEYS,
            KEYS,
            number=st.integers(0, 3),
            title=st.sampled_from(["", "题目一二三四", "别的标题一二"]),
            text_hash=st.integers(0, 2),
        ),
        unique_by=lambda p: p.id,
        max_size=8,
    ),
    st.randoms(use_true_random=False),
)
def test_every_part_has_one_place_for_any_pages(parts: list[Part], dice: random.Random) -> None:
    chains = arrange(parts)
    places = [key for c in chains for key in (*c.parts, *c.repeats, *c.surplus)]
    assert sorted(places) == sorted(p.id for p in parts)
    assert all(chain.parts for chain in chains)
    assert all(key not in places for chain in chains for key in chain.missing)
    dice.shuffle(parts)
    assert arrange(parts) == chains


# ---------------------------------------------------------------- texts


LINES = [f"第{n}段说的是第{n * 7}件事，与前面各段都不相同，细节另有{n * 13}处。" for n in range(40)]


def page(*lines: str, tag: str = "p", **values: Any) -> NewArticle:
    html = "\n".join(f"<{tag}>{line}</{tag}>" for line in lines)
    return article("http://h.cn/1", "\n".join(lines), html=html, **values)


def joined(*pages: NewArticle) -> list[str]:
    made = join(pages)
    assert [line[3:-4] for line in made.html.split("\n")] == made.text.split("\n")
    return made.text.split("\n")


def test_texts_follow_each_other() -> None:
    assert joined(page(*LINES[:3]), page(*LINES[3:6]), page(*LINES[6:8])) == LINES[:8]


def test_lines_that_every_page_repeats_are_kept_once() -> None:
    head, foot = "2024年3月1日 新华社 张三", "责任编辑：李四"
    pages = [page(head, *LINES[i : i + 3], foot) for i in (0, 3, 6)]
    assert joined(*pages) == [head, *LINES[:9], foot]


def test_headlines_and_page_numbers_are_left_out() -> None:
    title = "长江大桥昨日通车"
    pages = [
        page(*LINES[:3], "下一页", title=title),
        page(title, *LINES[3:6], "上一页 1 2 3 下一页", title=title),
        page("长江大桥昨日通车（3）", *LINES[6:8], "第3页 共3页", title=title),
    ]
    assert joined(*pages) == LINES[:8]


def test_paragraph_at_the_seam_of_both_pages_stands_once() -> None:
    assert joined(page(*LINES[:4]), page(*LINES[3:7])) == LINES[:7]


def test_lines_repeated_inside_a_part_stay() -> None:
    said = "“是的。”他说。"
    first, second = [*LINES[:8], said, *LINES[8:16]], [*LINES[16:24], said, *LINES[24:32]]
    assert joined(page(*first), page(*second)) == first + second


def test_numbers_in_tables_are_no_page_numbers() -> None:
    assert joined(page(*LINES[:2], "12/20", "35"), page("1 2 3", *LINES[2:4])) == [
        *LINES[:2],
        "12/20",
        "35",
        "1 2 3",
        *LINES[2:4],
    ]


def test_page_that_says_nothing_new_adds_nothing() -> None:
    assert joined(page(*LINES[:3]), page(*LINES[:3]), page(*LINES[3:5])) == LINES[:5]


def test_lists_stay_whole() -> None:
    first = replace(page(*LINES[:2]), html=f"<ul>\n<li>{LINES[0]}</li>\n<li>{LINES[1]}</li>\n</ul>")
    second = replace(page(LINES[1]), html=f"<ul>\n<li>{LINES[1]}</li>\n</ul>")
    assert join([first, second]).html == first.html


def test_data_come_from_the_first_part_that_has_them() -> None:
    first = page(*LINES[:2], title="题目一（1）", images=(("http://h.cn/1.jpg", ""),), quality=1.0, seen="2025-01-01")
    second = page(
        *LINES[2:4],
        title="题目一（2）",
        authors="张三",
        published_at="2025-01-01T08:00:00+08:00",
        published_precision="minute",
        published_from="visible",
        images=(("http://h.cn/2.jpg", "图"), ("http://h.cn/1.jpg", "旧")),
        quality=0.0,
        seen="2025-01-02",
    )
    made = join([first, second])
    assert (made.title, made.authors, made.published_at) == ("题目一", "张三", second.published_at)
    assert (made.published_precision, made.published_from) == ("minute", "visible")
    guessed = replace(first, published_at="2024-12-31", published_precision="guess")
    assert join([guessed, second]).published_at == second.published_at
    assert join([guessed, first]).published_at == "2024-12-31"
    assert made.images == (("http://h.cn/1.jpg", ""), ("http://h.cn/2.jpg", "图"))
    assert made.seen == "2025-01-02"
    assert 0 < made.quality < 1
    sign = SIGN(made.title, made.text)
    signed = make_joiner(SIGN, lambda *_: Description()).join([first, second])
    assert signed == replace(made, text_hash=sign.exact, features=sign.features, length=sign.length)


def test_single_part_is_what_its_page_was() -> None:
    alone = page(*LINES[:3], "下一页", title="连载（2）")
    assert join([alone]) == alone


@pytest.mark.slow
def test_hostile_lines_cost_little() -> None:
    pages = [page("第1页" * 25_000, "1" * 125_000, "<" * 125_000, title="第 1 页" * 12_500) for _ in range(3)]
    started = time.process_time()
    join(pages)
    assert time.process_time() - started < 6


def test_part_that_says_only_what_stands_before_it_adds_nothing() -> None:
    pages = [[f"第{number}页第{n}段说的是另一件事。" for n in range(8)] for number in range(3)]
    whole = [line for lines in pages for line in lines]
    assert joined(page(*whole), *(page(*lines) for lines in pages[1:])) == whole
