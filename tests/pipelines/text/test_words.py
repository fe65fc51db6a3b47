from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from unicodedata import normalize

import pytest

from crawler.demo.samples import sample_texts
from pipelines.decode.scripts import simplified
from pipelines.text import words as words_module
from pipelines.text.words import MAX_CHARS, STOP_WORDS, fold, words
from tests.pipelines.text.cutters import fast_cutter, slow_cutter, words_of
from tests.table import each_row

CHINESE = "河口大桥年底通车，两岸居民过江只要五分钟。"


@each_row(
    ("text", "found"),
    [
        ("", []),
        ("12 345, -- !", []),
        ("The rivers of Hekou", ["river", "hekou"]),
        ("cities, buses, glass, analysis, ties", ["city", "buse", "glass", "analysis", "tie"]),
        ("IT is what it is", ["IT"]),
        ("naïve Straße Москва", ["naïve", "straße", "москва"]),
        ("한국어", ["한국", "국어"]),
    ],
)
def test_words(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_chinese_is_cut_by_the_dictionary() -> None:
    found = words(CHINESE)
    assert {"河口", "大桥", "通车", "居民"} <= set(found)
    assert not STOP_WORDS & set(found)


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert len(words("bridge " * MAX_CHARS)) <= MAX_CHARS // 7 + 1


def test_chinese_without_end_costs_no_more_than_as_much_with_ends() -> None:
    def cpu(text: str) -> float:
        started = time.process_time()
        assert words(text)
        return time.process_time() - started

    cpu(CHINESE)
    assert cpu("中" * MAX_CHARS) < 3 * cpu(("中" * 199 + "。") * (MAX_CHARS // 200)) + 0.1


def test_jieba_finds_what_rjieba_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words, their parts and tags, those of words that the dictionary lacks too."""
    fast = pytest.importorskip("rjieba")
    monkeypatch.setattr("pipelines.text.words.find_spec", lambda _: None)
    slow = words_module._cutter.__wrapped__()
    assert slow is not fast
    text = (
        "河口大桥年底通车，主任郭晓锋叫莫娜看中超，恒盛充值有太大优惠，陈淼林受油后返米，王赟、杜苹在抖音代发更多地铁票，氺燚，"
        "乔托号接近哈雷彗星，其为昭和天皇所写，日结兼职，该场比心，求个上轮比分，中国科学院计算技术研究所"
    )
    assert list(slow.cut(text)) == list(fast.cut(text))
    assert list(slow.cut_for_search(text)) == list(fast.cut_for_search(text))
    assert list(slow.tag(text)) == list(fast.tag(text))
    parts = [text[at : at + 3] for at in range(len(text) - 2)]
    assert list(map(slow.has_word, parts)) == list(map(fast.has_word, parts))


def test_jieba_cuts_whole_articles_as_rjieba_does() -> None:
    """The newsroom's articles; `python -m tests.benchmarks.cutters` does it with texts of the web."""
    pytest.importorskip("rjieba")
    slow, fast = slow_cutter(), fast_cutter()
    texts = [f"{row['title']}\n{row['text']}" for row in sample_texts()]
    chinese = [text for text in texts if words_module.find_han(text)]
    assert len(chinese) > 50
    assert sum(len(words_of(fast, text)) for text in chinese) > 10_000
    assert [text for text in chinese if words_of(slow, text) != words_of(fast, text)] == []


def test_words_are_the_same_tagged_or_not() -> None:
    runs = ["看新河口大桥", "两岸居民过江只要五分钟", "通车"]
    tagged = list(words_module.tagged_runs(runs))
    assert words_module.find_han(", ".join(runs)) == runs
    assert words_module.cut_han(runs) == [word for run, _ in tagged for word in run]
    assert [len(run) for run, _ in tagged] == [len(tags) for _, tags in tagged]
    assert words_module.cut_han([runs[1]]) == list(tagged[1][0])
    assert words_module.cut_han([]) == []


def test_dictionary_says_nothing_and_writes_nothing(tmp_path: Path) -> None:
    """jieba's own set-up prints to standard error and keeps a cache among temporary files."""
    code = "from pipelines.text.words import words; words('中文')"
    environment = {"TMPDIR": str(tmp_path), "PATH": "/usr/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert list(tmp_path.iterdir()) == []


def test_folding_is_that_of_unicode() -> None:
    """A table has the forms of assigned characters; those beyond are their own, beside any of the others."""
    text = "ＨＥ ß ﬁ 大橋 한 \U00020000 \U000323af\U000323b0 \U000e0100\U0010ffff İ"
    folded = [normalize("NFKC", normalize("NFKC", one).casefold()).translate(simplified()) for one in text]
    assert fold(text) == "".join(folded)
    assert fold("大橋\U000e0100") == "大桥\U000e0100"


def test_folding_joins_kana_of_half_width_with_their_marks() -> None:
    assert fold("ｶﾞｽ ﾊﾟﾝ ﾄﾖﾀ") == fold("ガス パン トヨタ")
