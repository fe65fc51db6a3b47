"""Words of a crawl: learned, kept in a file, used."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.models.files import ModelError, dumps
from pipelines.text.analysis import analyse
from pipelines.text.frequencies import shipped
from pipelines.text.vocabulary import Vocabulary, load
from pipelines.training.vocabulary import learn

NEW = "赛博青瓦"
AROUND = (
    "渔民介绍{}的历史。", "市民参观{}以后很高兴。", "关于{}，渔民了解到新情况。", "去年{}开放。", "他喜欢{}和音乐。",
    "画家描绘{}风景。", "学校组织学生游览{}。", "老人回忆{}往事。", "保护{}刻不容缓。",
)  # fmt: skip
REST = "渔民说城市建设发展很快，经济形势良好，人民生活改善。天气预报说明天有雨，出门请带伞。"
TEXTS = [around.format(NEW) + REST * 3 for around in AROUND] * 3


@pytest.fixture(scope="module")
def model() -> dict[str, object]:
    return learn(analyse("新船", text, "zh") for text in TEXTS)


@pytest.fixture
def learned(model: dict[str, object], tmp_path: Path) -> Vocabulary:
    path = tmp_path / "lexicon.json"
    path.write_text(dumps("lexicon", model, "", {}), encoding="utf-8")
    return load(str(path))


def test_word_of_the_crawl_is_cut_as_one(learned: Vocabulary) -> None:
    text = f"游客喜爱{NEW}"
    assert NEW not in analyse("", text, "zh").words
    assert NEW in analyse("", text, "zh", learned.lexicon).words


def test_words_of_the_crawl_are_less_rare_than_elsewhere(learned: Vocabulary) -> None:
    for term in ("渔民", NEW):
        assert learned.frequencies.idf(term) < shipped().idf(term)
    assert learned.frequencies.idf("量子") == pytest.approx(shipped().idf("量子"), abs=0.05)


def test_own_dictionary_is_a_vocabulary_too(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text(NEW, encoding="utf-8")
    found = load(str(tmp_path / "words.txt"))
    assert found.lexicon.words == {NEW}
    assert found.frequencies.idf("渔民") == shipped().idf("渔民")
    assert load("").lexicon.words == frozenset()


def test_nothing_to_learn_from() -> None:
    with pytest.raises(ModelError, match="no texts"):
        learn([])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"kind": "lexicon", "version": 9, "model": {}}', "version 9 instead of 2; train it again"),
        ('{"kind": "classes", "version": 2, "model": {}}', "is no model of lexicon; scrapy train lexicon makes one"),
        ('{"kind": "lexicon", "version": 2, "model": {"terms": {}, "new": {"x": 1}, "documents": 1}}', "is broken"),
        ('{"kind": "lexicon", "version": 2, "model": {"terms": {}}}', "is broken"),
        ("{broken", "is not JSON"),
        ("Latin", "line 1: word 'Latin'"),
    ],
)
def test_files_that_are_no_vocabulary(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "lexicon.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=why):
        load(str(path))
