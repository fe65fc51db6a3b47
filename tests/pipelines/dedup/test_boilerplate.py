import random

from pipelines.dedup.boilerplate import BoilerplateLines, BoilerplateParams
from tests.table import each_row

FOOTER = "【版权声明】未经本网授权，不得转载、摘编或以其他方式使用上述作品。"


def story(seed: int) -> str:
    choose = random.Random(seed)
    return "\n".join("".join(chr(choose.randrange(0x4E00, 0x9FA5)) for _ in range(40)) for _ in range(3))


def learned(stories: int, site: str = "") -> BoilerplateLines:
    lines = BoilerplateLines()
    for seed in range(stories):
        lines.learn(f"{story(seed)}\n{FOOTER}", site)
    return lines


def test_line_of_several_stories_is_left_out() -> None:
    new = story(99)
    assert learned(3).without(f"{new}\n {FOOTER}\t") == f"{new}\n {FOOTER}\t"
    assert learned(4).without(f"{new}\n {FOOTER}\t") == new


def test_story_counts_a_line_once() -> None:
    lines = BoilerplateLines()
    lines.learn("\n".join([story(1), *[FOOTER] * 9]))
    assert lines.without(f"{story(2)}\n{FOOTER}").endswith(FOOTER)


def test_sites_learn_apart() -> None:
    lines, text = learned(4, "a.example"), f"{story(99)}\n{FOOTER}"
    assert lines.without(text, "a.example") == story(99)
    assert lines.without(text, "b.example") == text


@each_row("rest", ["", "快讯", "12日"])
def test_text_of_boilerplate_stays_whole(rest: str) -> None:
    text = f"{FOOTER}\n{rest}"
    assert learned(4).without(text) == text


@each_row("line", ["的", "长" * 301])
def test_very_short_and_long_lines_are_nobodys(line: str) -> None:
    lines = BoilerplateLines()
    for seed in range(9):
        lines.learn(f"{story(seed)}\n{line}")
    assert lines.without(f"{story(99)}\n{line}").endswith(line)


def test_lines_not_seen_again_are_forgotten_and_others_stay() -> None:
    lines = BoilerplateLines(BoilerplateParams(slots=1 << 10))
    for seed in range(400):
        lines.learn(f"{story(seed)}\n{FOOTER}")
    assert lines.without(f"{story(999)}\n{FOOTER}") == story(999)
    assert sum(lines.without(story(seed)) != story(seed) for seed in range(1_000, 1_200)) <= 20


@each_row("text", ["", "\n" * 5_000, "\ud800\udfff ab\n" * 3, "x" * 1_000_000])
def test_hostile_texts_come_back(text: str) -> None:
    lines = learned(4)
    lines.learn(text, "\ud800")
    assert lines.without(text, "\ud800") == text
