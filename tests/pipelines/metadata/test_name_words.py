"""Words that are no names of people, and the lists that they come from."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pipelines.decode.scripts import simplify
from pipelines.metadata import name_words
from pipelines.metadata.name_words import is_chinese_word, is_made_of_words
from pipelines.metadata.person_names import NameTest
from tests.table import each_row

DICTIONARIES = [
    Path(name_words.__file__).parent / "words" / f"{name}.txt" for name in ("chinese", "english", "interface", "places")
]


@each_row(
    "name",
    [
        # of pages
        "发表于", "相关文章", "返回个人主页", "最后回复", "行情实时播报", "注冊", "註冊", "登录", "收起", "活動列表",
        "最新消息",
        "新規登録", "関連記事", "人気記事ランキング", "続きを読む", "로그인", "회원가입", "기사목록", "댓글쓰기",
        "Text", "Category", "Related Articles", "Most Emailed", "Staff Directory", "Contact Us", "Pin It", "Date",
        "Publié", "Lire la suite", "Mot de passe oublié", "Leer más", "Iniciar sesión", "Leggi tutto", "Leia mais",
        "Mehr lesen", "Passwort vergessen", "Lees verder", "Źródło", "Zaloguj się", "Источник", "Читать далее",
        "Персональные данные", "Devamını oku", "Giriş yap", "Läs mer", "Glemt kodeord", "Přihlásit se", "Σύνδεση",
        "Διαβάστε περισσότερα", "تسجيل الدخول", "المزيد", "ورود", "בית", "पासवर्ड", "เข้าสู่ระบบ", "Đăng nhập", "Baca juga",
        # of languages
        "vom", "the", "Business Need", "Crafting wonder", "Company Size", "Gamer sounds off", "quantum",
        # of places
        "Seoul", "서울", "首尔", "北京", "東京", "Pakistan", "Rzeszów", "Москва", "New Zealand", "São Paulo", "القاهرة",
        # of logins, and initials
        "express1", "jane_doe", "katk", "LTO", "RSS", "qq326", "PA2",
    ],
)  # fmt: skip
def test_names_of_nobody(name: str) -> None:
    assert NameTest().tidy([name]) == ()


@each_row(
    "name",
    [
        "金杰远", "王小明", "司马文", "高峰", "文彦博", "歐陽娜娜", "山海客", "田中太郎", "お米ゴハン", "김철수",
        "Nguyễn Văn An",
        "Jane Doe", "Will Young", "Grant Hodges", "Rich Johnston", "Mark Read", "Jordan Page", "Paris Hill",
        "May Brown",
        "Ludwig van der Berg", "Leonardo da Vinci", "Seán O'Casey", "J. K. Rowling", "Jean-Luc Picard",
        "Ayşe Demir", "Łukasz Dąb", "Иван Петров", "Νίκος Παπαδόπουλος", "أحمد سالم", "राहुल शर्मा", "זאב כהן",
        "สมชาย ใจดี",
        "AFP", "DPA", "Associated Press", "Guardian staff reporter", "Gear Team", "ASCII編集部", "Becky", "PAP",
    ],
)  # fmt: skip
def test_names_of_people_offices_and_agencies(name: str) -> None:
    assert NameTest().tidy([name]) == (name,)


def test_handles_are_names_in_threads() -> None:
    handles = ["express1", "jane_doe", "siegi", "text"]
    assert NameTest(is_thread=True).tidy(handles) == ("express1", "jane_doe", "siegi")


@each_row(
    ("raw", "names"),
    [
        ("By Jo Hale in London and Kim Roe in Paris", ("Jo Hale", "Kim Roe")),
        ("Jo Hale, Science Correspondent, and Kim Roe", ("Jo Hale", "Kim Roe")),
        ("Yazan: Ali Kaya ve Elif Demir", ("Ali Kaya", "Elif Demir")),
        ("كتب: أحمد سالم", ("أحمد سالم",)),
        ("लेखक: राहुल शर्मा", ("राहुल शर्मा",)),
        ("글 김철수 사진 이영희", ("김철수",)),
        ("文・田中太郎　写真・鈴木花子", ("田中太郎",)),
        ("Foto: Jan Vogt", ()),
        ("Jane Doe | WBEZ", ("Jane Doe",)),
    ],
)
def test_labels_and_places_are_cut_off(raw: str, names: tuple[str, ...]) -> None:
    assert NameTest().tidy([raw]) == names


def test_dictionary_words_that_begin_like_names() -> None:
    assert [word for word in ("时间", "時間", "关于", "安全", "金杰远", "王小明") if is_chinese_word(word)] == [
        "时间",
        "時間",
        "关于",
        "安全",
    ]


@each_row("path", DICTIONARIES)
def test_lists_are_folded_and_in_order(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) > 3000
    assert lines == sorted(set(lines))
    assert [line for line in lines if not line or line != simplify(line).casefold()] == []


@given(st.text(max_size=40))
def test_any_name_is_judged(name: str) -> None:
    assert isinstance(is_made_of_words(name), bool)
    assert is_made_of_words(name) == is_made_of_words(f" {name}\n")


def test_long_runs_cost_little() -> None:
    """A run is cut in as many steps as it has characters, not in as many ways as there are to cut it."""
    assert is_made_of_words("文章新闻" * 20_000)
    assert not is_made_of_words("文章新闻" * 20_000 + "彦")
