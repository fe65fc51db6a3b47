from __future__ import annotations

import pytest

from pipelines.text.analysis import analyse
from pipelines.text.lexicon import Lexicon
from pipelines.training.new_words import NewWords, Params

FRAMES = (
    "专家介绍{}的历史", "市民参观{}以后很高兴", "关于{}，记者了解到新情况", "去年{}开放", "他喜欢{}和音乐",
    "今天{}下雨", "警方封锁{}附近道路", "画家描绘{}风景", "《{}》出版", "学校组织学生游览{}",
    "老人回忆{}往事", "保护{}刻不容缓",
)  # fmt: skip
WORD = "赛博青瓦"


@pytest.fixture(scope="module")
def learned() -> NewWords:
    found = NewWords()
    for frame in FRAMES:
        found.learn(analyse("", frame.format(WORD), "zh"))
        found.learn(analyse("", "城市建设发展很快，经济形势良好，人民生活改善。", "zh"))
    return found


def test_free_and_firm_words_are_found(learned: NewWords) -> None:
    assert WORD not in analyse("", WORD).words
    found = {each.word: each for each in learned.find(Params(cohesion=2.0))}
    assert WORD in found
    assert found[WORD].count == len(FRAMES)


def test_neighbours_that_never_vary_are_no_word(learned: NewWords) -> None:
    assert "形势良好" not in {each.word for each in learned.find(Params(cohesion=0.0))}


def test_new_words_make_a_lexicon(learned: NewWords) -> None:
    lexicon = Lexicon(each.word for each in learned.find(Params(cohesion=2.0)))
    assert WORD in analyse("", f"游客喜爱{WORD}", "zh", lexicon).words


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.training.new_words.MOST_PAIRS", 40)
    found = NewWords()
    for number in range(300):
        found.learn(analyse("", f"大桥通车{chr(0x4E00 + number)}城市{chr(0x5E00 + number)}经济{chr(0x6E00 + number)}"))
    assert len(found) <= 40


def test_nothing_is_learned_of_nothing() -> None:
    found = NewWords()
    for text in ("", "12 34", "bridge over water", "。。。"):
        found.learn(analyse("", text))
    assert found.find(Params(count=1, cohesion=-9.0, freedom=0.0)) == []
