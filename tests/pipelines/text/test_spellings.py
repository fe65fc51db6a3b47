"""Spellings of words: the index and a query meet whatever marks, articles and joiners they are written with."""

from __future__ import annotations

from unicodedata import normalize

from hypothesis import given
from hypothesis import strategies as st

from pipelines.text.spellings import asked_spellings, plain, spellings
from pipelines.text.words import fold, other_word_list
from tests.table import each_row


@each_row(
    ("written", "is_plain"),
    [
        ("Muñoz", "munoz"), ("Łódź", "lodz"), ("Đà Nẵng", "da nang"), ("Diyarbakır İZMİR", "diyarbakir izmir"),
        ("Malmø Ærø Œuvre", "malmo aero oeuvre"), ("Þórður Guðmundsson", "thordur gudmundsson"), ("Ħamrun", "hamrun"),
        ("Größe STRASSE ẞ", "grosse strasse ss"), ("Ɓauchi Ɗanja ƙasa", "bauchi danja kasa"), ("ŋ ə ɛ ɔ", "n e e o"),
        ("București şi țară", "bucuresti si tara"), ("Dvořák", "dvorak"), ("Ģertrūde", "gertrude"),
        ("ﬁn ĳs", "fin ijs"),
        ("ΔΉΜΑΡΧΟΣ δήμαρχος ϊΐ", "δημαρχοσ δημαρχοσ ιι"), ("ёлка Ѝ й ї ў", "елка и й ї ў"), ("за́мок", "замок"),
        ("أحمد إلى آخر مدرسة", "احمد الي اخر مدرسه"), ("مُدَرِّسٌ محمـــد", "مدرس محمد"), ("کتاب‌خانهٔ ملی", "كتابخانه ملي"),
        ("יְרוּשָׁלַיִם שׁלום", "ירושלים שלום"), ("１２٣४۵๖", "123456"), ("ＡＢＣ", "abc"), ("क़लम", "कलम"),
        ("각", "각"), ("がぎ", "がぎ"), ("ในประเทศ", "ในประเทศ"), ("हिन्दी", "हिन्दी"), ("co\u00adop", "coop"),
    ],
)  # fmt: skip
def test_plain_form_of_letters(written: str, is_plain: str) -> None:
    for form in ("NFC", "NFD"):
        assert plain(fold(normalize(form, written))) == is_plain


@each_row(
    ("asked", "in_text"),
    [
        ("Duesseldorf", "Düsseldorf"), ("Dusseldorf", "Düsseldorf"), ("Düsseldorf", "Duesseldorf"), ("Malmoe", "Malmö"),
        ("Djokovic", "Đoković"), ("Dokovic", "Đoković"), ("Aarhus", "Århus"), ("Arhus", "Århus"),
        ("مدرسة", "المدرسة"), ("المدرسة", "مدرسة"), ("مدرسة", "وبالمدرسة"), ("مدرسة", "للمدرسة"), ("مدرسه", "فالمدرسة"),
        ("قالت", "وقالت"), ("الاسكندرية", "الإسكندرية"), ("اسكندرية", "بالإسكندرية"), ("المدرسة", "ومدرسة"),
        ("ירושלים", "בירושלים"), ("ירושלים", "ושבירושלים"), ("הממשלה", "ממשלה"), ("ממשלה", "והממשלה"),
        ("שר", "והשר"), ("כסף", "שהכסף"), ("צהל", 'צה"ל'), ("צה״ל", 'צה"ל'), ("צהל", "לצה״ל"),
        ("کتابخانه", "کتاب‌خانه‌ی"), ("کتاب‌خانه", "کتابخانه"), ("كتاب", "کتاب‌ها"), ("خانه", "کتاب‌خانه"),
        ("paral·lel", "parallel"), ("parallel", "paral·lel"),
    ],
)  # fmt: skip
def test_word_of_a_query_meets_that_of_a_text(asked: str, in_text: str) -> None:
    (one,), (other,) = (other_word_list(fold(word)) for word in (asked, in_text))
    assert set(asked_spellings(one)) & set(spellings(other))


@each_row(
    ("asked", "in_text"),
    [
        ("duell", "dull"), ("Muller", "Mueller"), ("й", "и"), ("наи", "най"), ("كتاب", "تاب"), ("حرية", "رية"),
        ("מדינה", "דינה"), ("בחירות", "חירות"), ("وزير", "زير"), ("گل", "كل"), ("か", "が"), ("각", "가"), ("ก่า", "กา"),
    ],
)  # fmt: skip
def test_word_of_a_query_does_not_meet_another(asked: str, in_text: str) -> None:
    assert not set(asked_spellings(fold(asked))) & set(spellings(fold(in_text)))


@given(st.text(max_size=60))
def test_spellings_of_any_word(text: str) -> None:
    for word in other_word_list(fold(text)):
        found = spellings(word)
        assert set(asked_spellings(word)) <= set(found)
        assert len(found) < 20
        assert all(found)
    assert plain(plain(fold(text))) == plain(fold(text))


def test_marks_stay_in_their_words() -> None:
    assert other_word_list(fold("हिन्दी में मُحَمَّد דָּבָר p’ять")) == ("हिन्दी", "में", "मُحَمَّد", "דָּבָר", "p", "ять")
