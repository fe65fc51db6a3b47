"""Languages: many are known, neighbours are told apart, and what is none is unknown."""

from __future__ import annotations

import time

from pipelines.metadata.language import detect
from pipelines.search.terms import index_terms
from pipelines.text.words import stop_words, tagger
from tests.languages import STRANGE, TEXTS
from tests.table import each_row

CODES = {"kanji": "ja", "sr-Latn": "sr"}
NEIGHBOURS = {"ast": "es", "crh": "az", "gag": "tr", "nds": "de", "scn": "co", "szl": "pl", "tpi": "bi"}
"""Languages so near to one that CLD2 knows that they score like it."""


def test_languages_are_known() -> None:
    texts = {name: text for name, text in TEXTS.items() if name != "kanji"}
    assert {name: detect(text) for name, text in texts.items()} == {name: CODES.get(name, name) for name in texts}


def test_languages_are_known_by_a_sentence() -> None:
    """Danish and Norwegian, Indonesian and Malay, Bosnian and Croatian share theirs."""
    shared = {"no", "id", "bs", "hr", "sr-Latn", "kanji"}
    wrong = {
        name: detect(text[:80]) for name, text in TEXTS.items() if detect(text[:80]) != name and name not in shared
    }
    assert wrong == {}


def test_other_languages_are_unknown() -> None:
    found = {name: detect(text) for name, text in STRANGE.items()}
    assert {name: code for name, code in found.items() if code} == NEIGHBOURS


def test_other_languages_are_those_that_are_declared() -> None:
    assert {name: detect(text, name) for name, text in STRANGE.items() if name != "tpi"} == {
        name: name for name in STRANGE if name != "tpi"
    }


@each_row("text", ["asdf qwer zxcv lkjh mnbv", "12:30 25.3. 4-0", "ⵜⴰⵎⴰⵣⵉⵖⵜ ⵜⵓⵜⵍⴰⵢⵜ", "", "ꯃꯩꯇꯩꯂꯣꯟ"])
def test_scribble_and_scripts_alone_are_unknown(text: str) -> None:
    assert detect(text) == ""


def test_declared_language_counts_where_the_text_does_not_tell() -> None:
    assert detect(TEXTS["kanji"], "ja") == "ja"
    assert detect(TEXTS["zh-Hans"], "ja") == "zh-Hans"
    assert detect(TEXTS["zh-Hant"][:40], "ja") == "zh-Hant"
    assert detect(TEXTS["no"][:60], "nb-NO") == "no"
    assert detect(TEXTS["da"][:60], "da") == "da"
    assert detect(TEXTS["en"], "de") == "en"
    assert detect(TEXTS["de"], "eng") == "de"
    assert detect("12:30 25.3.", "deu") == "de"


def test_markup_in_a_text_is_text() -> None:
    text = "<" + TEXTS["sk"]
    assert detect(text) == "sk"


def test_every_code_has_words_and_stems_or_none() -> None:
    """A language that search and keywords do not know is read as words alone."""
    for code in {*TEXTS, *STRANGE, ""}:
        assert stop_words(code) is not None
        tag = tagger(code)
        assert tag is None or tag("word")
        assert index_terms("A title", TEXTS.get(code, "word"), "", "", code).words


def test_speed() -> None:
    texts = [text * 6 for text in TEXTS.values()]
    start = time.process_time()
    for text in texts * 4:
        detect(text)
    assert (time.process_time() - start) / len(texts) / 4 < 0.01
