from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipelines.describe import DescribeOptions, check
from pipelines.text.analysis import analyse
from pipelines.text.frequencies import shipped
from pipelines.text.keywords import bayes, method
from pipelines.text.keywords.candidates import find
from pipelines.text.synonyms import Thesaurus, merge, overlap, read_glosses, read_synonyms
from tests.table import each_row

HOTELS = (
    "The inn is full. The hotel by the harbour is full, and the hotel on the hill is closed. "
    "Ferries leave the harbour for the lodge."
)
BANK = (
    "bank\tbank\tinstitution that keeps money and gives loans\n"
    "bank\tshore\tsloping land beside a river\n"
    "mortgage\tmortgage\tloans that an institution gives for houses\n"
    "shore\tshore\tland along the water\n"
)


def test_file_of_synonyms() -> None:
    assert read_synonyms("酒店 宾馆 0.9\n\n飞机\t客机\n") == {("酒店", "宾馆"): 0.9, ("飞机", "客机"): 1.0}


@each_row("line", ["酒店", "酒店 宾馆 2", "酒店 宾馆 0", "酒店 宾馆 nan", "a b .5 c"])
def test_refuse_a_line_that_is_no_pair(line: str) -> None:
    with pytest.raises(ValueError, match=r"line 2 is .*; it takes two words and a closeness up to 1"):
        read_synonyms(f"a b\n{line}")


def test_file_of_glosses() -> None:
    glosses = "苹果\t水果\t果树的果实\n\n苹果\t公司\t生产手机\n"
    assert read_glosses(glosses) == {"苹果": {"水果": "果树的果实", "公司": "生产手机"}}


@each_row("line", ["苹果", "苹果 水果 果实", "苹果\t水果", "苹果\t\t果实", "a\tb\tc\td"])
def test_refuse_a_line_that_is_no_gloss(line: str) -> None:
    with pytest.raises(ValueError, match=r"line 2 is .*; it takes a word, a sense and a gloss with tabs between"):
        read_glosses(f"a\tb\tc\n{line}")


def test_overlap_by_hand() -> None:
    """A run of three counts 9; "x a" and "b" apart are 4 + 1; each word is counted once."""
    assert overlap(list("abcd"), list("xabc")) == 9
    assert overlap(list("xab"), list("bxa")) == 4 + 1
    assert overlap(list("aa"), list("a")) == 1
    assert overlap([], list("a")) == overlap(list("a"), list("b")) == 0


@each_row("closeness", [0.4, 0.5, 0.75])
def test_words_closer_than_the_threshold_are_one(closeness: float) -> None:
    """inn-hotel .9; lodge-hotel .5, which is not more than .5: the most frequent of a group stands for it."""
    thesaurus = Thesaurus({("inn", "hotel"): 0.9, ("lodge", "hotel"): 0.5, ("inn", "castle"): 1.0})
    counts = merge(analyse("", HOTELS, "en"), thesaurus, closeness).counts
    assert (counts["hotel"], counts["inn"], counts["lodg"]) == ((4, 0, 0) if closeness < 0.5 else (3, 0, 1))
    assert counts["harbour"] == 2


def test_closeness_is_transitive() -> None:
    thesaurus = Thesaurus({("inn", "lodges"): 0.9, ("lodge", "HOTELS"): 0.9})
    assert merge(analyse("", HOTELS, "en"), thesaurus, 0.5).counts["hotel"] == 4


def test_nothing_is_merged_without_files() -> None:
    text = analyse("", HOTELS, "en")
    assert merge(text, Thesaurus(), 0.0) is text
    assert method("bayes", {"merge": 0.0})(text, shipped()) == method("bayes")(text, shipped())


def test_sense_by_hand() -> None:
    """Gloss of bank: institut keep money give loan; of mortgage: loan institut give hous.

    They share the words institut, give and loan, apart: 1 + 1 + 1 = 3. The gloss of the shore has none of them, but
    "river" stands in it once, and it shares "land" with that of the shore: 1 + 1 = 2.
    """
    thesaurus = Thesaurus({("shore", "coast"): 1.0}, read_glosses(BANK))
    money = merge(analyse("", "The bank sells a mortgage. A coast.", "en"), thesaurus, 0.5)
    assert money.counts["bank"] == money.counts["coast"] == 1
    river = merge(analyse("", "A shore is the bank of a river. A coast.", "en"), thesaurus, 0.5)
    assert river.counts == {"shore": 3, "river": 1}


def test_chinese_senses() -> None:
    glosses = "苹果\t水果\t果树的果实\n苹果\t苹果公司\t生产手机和电脑的公司\n"
    thesaurus = Thesaurus({("水果", "鲜果"): 0.9}, read_glosses(glosses))
    market = merge(analyse("", "果园的果树多，苹果很甜。水果涨价。", "zh"), thesaurus, 0.5)
    assert market.counts["苹果"] + market.counts["水果"] == 2
    assert 0 in {market.counts["苹果"], market.counts["水果"]}
    phones = merge(analyse("", "苹果发布手机。水果涨价。", "zh"), thesaurus, 0.5)
    assert phones.counts["苹果"] == phones.counts["水果"] == 1


def test_candidates_are_counted_as_one_word() -> None:
    """The features of naive Bayes: three times, first as the second word, its length that of what stands there."""
    text = merge(analyse("", HOTELS, "en"), Thesaurus({("inn", "hotel"): 0.9}), 0.5)
    found = find(text, shipped())
    at = found.terms.index("inn")
    assert "hotel" not in found.terms
    assert float(np.expm1(found.column("tf")[at])) == pytest.approx(3)
    assert found.column("first")[at] == pytest.approx(1 / len(text))


def test_keywords_of_one_meaning_are_one(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("\ufeff酒店 宾馆 0.9\n", encoding="utf-8")
    text = analyse("", "宾馆爆满。海边的酒店涨价，山上的酒店停业。港口的渡轮停航。", "zh")
    both = {"酒店", "宾馆"}
    plain = [term for term, _ in method("bayes")(text, shipped())]
    merged = [term for term, _ in method("bayes", {"synonyms": str(words)})(text, shipped())]
    assert both <= set(plain)
    assert len(both & set(merged)) == 1
    apart = method("bayes", {"synonyms": str(words), "merge": 0.9})(text, shipped())
    assert [term for term, _ in apart] == plain


def test_file_is_read_once(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("inn hotel\n", encoding="utf-8")
    made = method("bayes", {"synonyms": str(words)})
    words.unlink()
    assert "hotel" not in [term for term, _ in made(analyse("", HOTELS, "en"), shipped())]


@each_row("name", ["synonyms", "glosses"])
def test_file_that_cannot_be_read_is_told_at_once(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"the {name} /nowhere.txt cannot be read: No such file"):
        check(DescribeOptions("bayes", {name: "/nowhere.txt"}))
    with pytest.raises(ValueError, match=rf"parameter '{name}' of keyword method 'bayes' is 3; it takes text"):
        method("bayes", {name: 3})
    broken = tmp_path / "broken.txt"
    broken.write_bytes(b"\xff\xfe\n")
    with pytest.raises(ValueError, match=rf"the {name} .*broken.txt are not UTF-8"):
        bayes.Params(**{name: str(broken)})
    broken.write_text("a\n", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"the {name} .*broken.txt: line 1 is 'a'"):
        bayes.Params(**{name: str(broken)})


def test_closeness_is_checked() -> None:
    with pytest.raises(ValueError, match=r"merge is 2\.0; it takes a closeness from 0 up to 1"):
        method("bayes", {"merge": 2})


def test_version_names_what_the_file_says(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    versions = set()
    for line in ("inn hotel", "inn castle"):
        words.write_text(line, encoding="utf-8")
        versions.add(DescribeOptions("bayes", {"synonyms": str(words)}).version())
    assert len(versions) == 2
