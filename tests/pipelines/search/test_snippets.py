from __future__ import annotations

import time
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from pipelines.search.query import read_query
from pipelines.search.ranking import weigh
from pipelines.search.records import SearchQuery, Span
from pipelines.search.snippets import SNIPPET_CHARS, mark, snippet
from tests.table import each_row


def shown(query: str, text: str, language: str = "zh", most: int = SNIPPET_CHARS) -> str:
    terms = read_query(SearchQuery(query)).terms
    return written(snippet(text, terms, weigh(terms, {}, 10).tolist(), language, most))


def written(spans: list[Span]) -> str:
    return "".join(f"[{span.text}]" if span.is_match else span.text for span in spans)


@each_row(
    ("query", "text", "marked"),
    [
        ("河口大桥", "河口大橋今天通車。", "[河口大橋]今天通車。"),
        ("bridges", "The Bridge opens; abridged.", "The [Bridge] opens; abridged."),
        ("中华人民共和国", "共和国的人民", "[共和国]的[人民]"),
        ("ＡＢＣ１２", "abc12 xabc12", "[abc12] xabc12"),
        ("fine", "a ﬁne ﬂow", "a [ﬁne] ﬂow"),
        ("東京タワー", "有名な東京タワーへ", "有名な[東京タワー]へ"),
        ("1000", "cost 1,000 yuan", "cost [1,000] yuan"),
        ("大桥的", "的大桥的", "的[大桥]的"),
        ("的", "我的书", "我[的]书"),
        ("café", "the cafe\u0301s", "the [cafés]"),
        ("x", "<b>x</b>", "<b>[x]</b>"),
        ("Munoz", "El alcalde Muñoz ganó", "El alcalde [Muñoz] ganó"),
        ("Duesseldorf", "in Düsseldorf, DÜSSELDORF", "in [Düsseldorf], [DÜSSELDORF]"),
        ("δημαρχος", "Ο Δήμαρχος.", "Ο [Δήμαρχος]."),
        ("مدرسة", "في بالمَدرسة الجديدة", "في [بالمَدرسة] الجديدة"),
        ("ירושלים", "אושר בירושלים", "אושר [בירושלים]"),
        ("کتابخانه", "در کتاب\u200cخانه\u200cی ملی", "در [کتاب\u200cخانه\u200cی] ملی"),
        ("किताब", "यह किताबें हैं किताब", "यह किताबें हैं [किताब]"),
        ("ガス", "ﬁx ｶﾞｽ代", "ﬁx [ｶﾞｽ]代"),
        ("1250", "عدد ١٬٢٥٠ طالب", "عدد [١٬٢٥٠] طالب"),
        ("zebra", "nothing here", "nothing here"),
        ("", "", ""),
    ],
)
def test_words_are_marked_as_they_stand(query: str, text: str, marked: str) -> None:
    assert shown(query, text, "en") == marked


@each_row("before", ["extraordinarily long words everywhere " * 4, "x" * 150, "长" * 150])
def test_snippet_begins_with_a_whole_word(before: str) -> None:
    begun = shown("bridge", f"{before} cost of the bridge", "en").partition("[")[0].removeprefix("…")
    at = before.find(begun.split()[0])
    assert begun
    assert "长" in begun or begun.startswith("cost") or before[at - 1 : at] in {"", " "}


def test_snippet_begins_at_the_sentence_with_most_of_the_query() -> None:
    text = "第一句话说天气。" * 40 + "大桥很长。" + "又一句话。" * 40 + "河口大桥由市长剪彩。" + "最后一句话。" * 40
    assert shown("河口 大桥 市长", text, most=40).startswith("…[河口大桥]由[市长]剪彩。")


def test_snippet_of_a_sentence_without_end_begins_near_the_word() -> None:
    text = "好" * 1_000 + "大桥" + "坏" * 1_000
    found = shown("大桥", text, most=100)
    assert "[大桥]" in found
    assert len(found) <= 100 + len("……[]")


def test_snippet_ends_at_the_end_of_a_word() -> None:
    assert shown("one", "one " + "longword " * 50, "en", 50).endswith("longword …")


def test_snippet_of_a_long_text_takes_a_bounded_time() -> None:
    for text in ("大桥" * 500_000, "bridge " * 150_000, "大桥。" * 300_000, "\n" * 1_000_000):
        started = time.process_time()
        assert len(shown("大桥 bridge", text)) < 3 * SNIPPET_CHARS
        assert time.process_time() - started < 2


def test_titles_are_marked_whole() -> None:
    terms = read_query(SearchQuery("bridge")).terms
    assert written(mark("New bridges", terms, "en")) == "New [bridges]"
    assert written(mark("x" * 1_000, terms, "en")) == "x" * 300 + "…"


@given(st.text(max_size=20), st.text(max_size=600), st.integers(20, 100))
def test_snippet_is_a_part_of_its_text(query: str, text: str, most: int) -> None:
    terms = read_query(SearchQuery(query + text[:5])).terms
    spans = snippet(text, terms, [1.0] * len(terms), "", most)
    inner = "".join(span.text for span in spans).removeprefix("…").removesuffix("…")
    whole = " ".join(unicodedata.normalize("NFC", text).split())
    assert " ".join(inner.split()) in f" {whole} …"
    assert len(inner) <= most + 1
