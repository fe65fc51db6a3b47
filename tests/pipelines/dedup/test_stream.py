import io
import random
import time
from collections.abc import Callable

import pytest

from db.records.evidence import CONTAINS, EDITED, PART_OF, QUOTES, REPEATING, SAME, TEMPLATE
from pipelines.dedup import THRESHOLD, method
from pipelines.dedup.shape import Comparison
from pipelines.dedup.stream import Counts, Finder, Pair, write_pairs
from tests.table import each_row

FOOTERS = [
    "分享到：微信 微博 QQ空间 打印 关闭 字号 大 中 小",
    "【版权声明】未经本网授权，不得转载、摘编上述作品。",
    "责任编辑：李明",
]


def line(seed: int, size: int = 40) -> str:
    choose = random.Random(seed)
    return "".join(chr(choose.randrange(0x4E00, 0x9FA5)) for _ in range(size)) + "。"


def story(seed: int, lines: int = 12) -> list[str]:
    return [line(1_000 * seed + number) for number in range(lines)]


def text(*parts: list[str]) -> str:
    return "\n".join(line for part in parts for line in part)


def finder() -> Finder:
    return Finder(method(), THRESHOLD, [])


def repeated(pairs: list[Pair]) -> set[int]:
    return {pair.earlier for pair in pairs if pair.kind in REPEATING}


@each_row(
    ("verdict", "expected"),
    [
        (Comparison(1.0, SAME), False),
        (Comparison(0.97, EDITED, 0.97), False),
        (Comparison(0.85, EDITED, 0.97), True),
        (Comparison(1.0, EDITED, 0.8), True),
        (Comparison(1.0, CONTAINS, 0.5), True),
        (Comparison(1.0, PART_OF, 0.5), True),
    ],
)
def test_wording_of_its_own_is_what_another_text_cannot_stand_for(verdict: Comparison, *, expected: bool) -> None:
    assert verdict.has_own_wording() is expected


@each_row(
    ("change", "texts"),
    [
        (lambda lines: lines, 1),
        (lambda lines: [*lines[:-1], "（完）" + lines[-1]], 1),
        (lambda lines: lines[:5], 2),
        (lambda lines: [*lines, *story(2)], 2),
        (lambda _: story(2), 2),
    ],
)
def test_text_that_another_can_stand_for_is_not_indexed(change: Callable, texts: int) -> None:
    finds = finder()
    finds.add(0, "", text(story(1)))
    finds.add(1, "", text(change(story(1))))
    assert len(finds.index) == texts


def test_reprints_are_found_among_others_and_told_by_kind() -> None:
    finds, original = finder(), story(1)
    for seed in range(30):
        finds.add(seed, "", text(story(seed)))
    assert finds.add(100, "", text(["据新华社消息，" + original[0]], original[1:])) == [
        Pair(1, pytest.approx(1.0, abs=0.01), EDITED)
    ]
    assert {(pair.earlier, pair.kind) for pair in finds.add(101, "", text(original[:5]))} == {
        (1, PART_OF),
        (100, PART_OF),
    }
    assert {pair.kind for pair in finds.add(102, "", text(original, story(99)))} == {CONTAINS}
    assert finds.add(103, "", text(original[:3], story(98))) != []
    assert repeated(finds.add(104, "", text(original[:3], story(97)))) == set()
    assert finds.add(105, "", text(story(96))) == []


def test_passage_is_a_quotation() -> None:
    finds = finder()
    finds.add(0, "", text(story(1)))
    assert [(pair.earlier, pair.kind) for pair in finds.add(1, "", text(story(1)[:4], story(2)))] == [(0, QUOTES)]


def test_copies_of_copies_are_pairs() -> None:
    finds, original = finder(), story(1)
    variants = [
        original,
        ["据报道，" + original[0], *original[1:]],
        original,
        [*original[:-1], original[-1] + "（完）"],
    ]
    found = [repeated(finds.add(number, "", text(variant))) for number, variant in enumerate(variants * 2)]
    assert found == [set(range(number)) for number in range(8)]


def test_text_of_two_stories_does_not_make_them_one() -> None:
    finds, one, other = finder(), story(1), story(2)
    finds.add(0, "", text(one, other))
    assert repeated(finds.add(1, "", text(one))) == {0}
    assert repeated(finds.add(2, "", text(other))) == {0}
    assert repeated(finds.add(3, "", text(["快讯。"], one))) == {0, 1}
    assert repeated(finds.add(4, "", text(["快讯。"], other))) == {0, 2}


def test_additions_of_a_longer_version_are_found_again() -> None:
    finds, one, added = finder(), story(1), story(2, 4)
    finds.add(0, "", text(one))
    assert repeated(finds.add(1, "", text(one, added))) == {0}
    assert repeated(finds.add(2, "", text(added))) == {1}


def test_boilerplate_that_was_learned_does_not_hide_a_reprint_nor_make_one() -> None:
    finds = finder()
    for seed in range(6):
        finds.add(seed, "", text(story(seed, 3), FOOTERS * 2))
    brief = story(50, 2)
    finds.add(50, "", text(brief, story(51, 1)))
    assert repeated(finds.add(60, "", text(FOOTERS, brief, FOOTERS, FOOTERS))) == {50}
    assert finds.add(61, "", text(story(61, 2), FOOTERS)) == []


def test_bulletins_of_a_series_are_related_and_no_duplicates() -> None:
    finds, choose, kinds = finder(), random.Random(1), set()
    for day in range(40):
        bulletin = text(
            [
                f"{number}市{day % 28 + 1}日最高气温{choose.randint(5, 36)}度，最低气温{choose.randint(-9, 20)}度。"
                for number in "甲乙丙丁戊"
            ],
            ["气象专家提醒，近期昼夜温差较大，市民出行请注意及时增减衣物，驾驶员朋友请控制车速，注意行车安全。"],
        )
        pairs = finds.add(day, "", bulletin)
        assert repeated(pairs) == set()
        kinds |= {pair.kind for pair in pairs}
    assert TEMPLATE in kinds


@each_row("kind", ["exact", "edited", "own wording"])
@pytest.mark.slow
def test_story_of_very_many_copies_stays_found_and_fast(kind: str) -> None:
    finds, original, copies = finder(), story(1, 20), 300
    took = []
    for number in range(copies):
        lines = list(original)
        if kind == "edited":
            lines[0] = f"据{line(number, 4)}消息，{lines[0]}"
            del lines[1 + number % 19]
        if kind == "own wording" and number:
            lines = [line(90_000 + number, 200), *lines[: 12 + number % 8]]
        started = time.process_time()
        pairs = finds.add(number, "", text(lines))
        took.append(time.process_time() - started)
        assert bool(repeated(pairs)) == (number > 0)
    assert sum(took[-100:]) < 3 * sum(took[100:200]) + 0.2
    assert sum(took) < copies * 0.04


def test_shuffled_sentences_cost_no_more_than_others() -> None:
    finds, lines = finder(), story(1, 40)
    started = time.process_time()
    for number in range(200):
        random.Random(number).shuffle(lines)
        pairs = finds.add(number, "", text(lines))
        assert bool(repeated(pairs)) == (number > 0)
    assert time.process_time() - started < 4


HOSTILE = {
    "nothing": "。，",
    "one letter": "x" * 1_000_000,
    "one character": "中" * 1_000_000,
    "ten megabytes": line(1, 5_000) * 660,
    "numbers": "12 345 6 " * 50_000,
    "one number": "1" * 500_000,
    "scripts": "中a1 한국 ไทย العربية" * 3_000,
    "surrogates": "a\ud800b\udfff中" * 50_000,
    "lines": "ab cd\n" * 300_000,
    "marks": "e\u0301\u0316" * 100_000,
}


@each_row("name", HOSTILE)
def test_hostile_texts_cost_a_bounded_time_and_repeat_themselves(name: str) -> None:
    finds, hostile = finder(), HOSTILE[name]
    started = time.process_time()
    assert finds.add(0, "", hostile) == []
    again = finds.add(1, "", hostile)
    nearly = finds.add(2, "", hostile[: len(hostile) * 9 // 10])
    assert time.process_time() - started < 4
    assert again == ([] if name == "nothing" else [Pair(0, 1.0, SAME)])
    assert name == "nothing" or 0 in repeated(nearly)


def programme(number: int) -> str:
    """A page of a series: another programme in the slots of the same frame."""
    topics = [line(1_000 + 10 * number + slot, 8) for slot in range(3)]
    return (
        f"大家好，我与同事为大家主持每周五晚上的历史节目，今天的主要内容包括：{topics[0]}以及{topics[1]}欢迎收听本期节目"
        f"。那么小组的同事，可以先跟我们说说「{topics[2]}」吗？感谢各位听众的支持，也欢迎通过电子邮件与我们的编辑部联系"
    )


def test_third_of_a_kind_frees_the_second() -> None:
    finds, out = finder(), io.StringIO()
    assert repeated(finds.add(0, "", programme(0))) == set()
    (second,) = finds.add(1, "", programme(1))
    assert (second.kind, second.link) == (EDITED, (1, 0)), "nothing shows yet that they are no reprints"
    assert finds.index.story(1) == 0
    third = finds.add(2, "", programme(2))
    assert {pair.kind for pair in third} == {TEMPLATE}
    assert finds.revoked == {(1, 0)}
    assert [finds.index.story(number) for number in range(3)] == [0, 1, 2]
    for number in range(3):
        assert repeated(finds.add(10 + number, "", f"据报道，{programme(number)}")) == {number}
    documents = [(str(number), "", programme(number)) for number in range(5)]
    written = write_pairs(finder(), [*documents, ("5", "", f"据报道，{programme(1)}")], out, REPEATING)
    assert [pair.split()[:2] for pair in out.getvalue().splitlines()] == [["1", "5"]]
    assert written == Counts(6, 1, 1)


def test_reprints_with_leads_of_their_own_stay_reprints() -> None:
    finds, original = finder(), story(1, 12)
    finds.add(0, "", text(original))
    for number in range(1, 8):
        assert 0 in repeated(finds.add(number, "", text([line(700 + number, 120)], original[: 8 + number % 3])))
    assert finds.revoked == set()


def test_receptions_that_differ_in_names_alone_are_stories_of_their_own() -> None:
    rest = (
        "两国建交以来，双边关系始终保持健康稳定发展势头，各领域务实合作取得丰硕成果，给两国人民带来了实实在在的好处",
        "以更加开放的姿态推进互利合作，把两国关系提高到新的水平，双方还就{}交换了意见，客人感谢主人的热情款待，并转达了本国人民的问候",
        "高度评价中国的发展成就，愿同中方深化各领域交流合作，加强在国际和地区事务中的沟通协调，推动两国关系迈上新台阶",
    )
    named = [
        ("塞拉利昂总统卡马拉", "铁路建设", "孙丽玉和胡平"),
        ("乌拉圭总理拉卡列", "渔业保护", "林刚涵和郑欣"),
        ("斐济外长兰布卡", "航班恢复", "赵思远和高晴"),
        ("秘鲁议长博鲁阿尔特", "数字经济", "周梓晨和何嘉"),
    ]
    texts = [
        f"罗艳在宾馆会见{guest}，{rest[0]}，{rest[1].format(matter)}，{rest[2]}，{guest}离开时对送行的人们说再见，{aides}等参加。"
        for guest, matter, aides in named
    ]
    chosen = method()
    pair = [chosen.prepare("", one) for one in texts[:2]]
    assert chosen.compare(*pair).similarity >= 0.9
    finds = finder()
    for number, body in enumerate(texts):
        named_before = repeated(finds.add(number, "", body))
        assert not named_before or number == 1, "two do not show what is a frame"
    assert finds.revoked == {(1, 0)}
    assert repeated(finds.add(10, "", f"据报道，{texts[2]}")) == {2}
