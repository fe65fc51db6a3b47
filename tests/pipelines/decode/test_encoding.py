"""Character sets: right, wrong and no declarations over every legacy set, mixed and cut pages."""

from __future__ import annotations

import time
from encodings.aliases import aliases

from pipelines.decode.charset import choose, find_codec
from pipelines.decode.encoding import decode, is_binary
from pipelines.decode.mojibake import DOUBTFUL, suspicion
from pipelines.document.document import parse
from tests.table import each_row

TEXTS = {
    "hans": "河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段，预计年底以前可以通车，记者从市政府了解到。",
    "hant": "山城咖啡季將於本週末在舊車站廣場登場，三十多家烘豆店擺攤，主辦單位說今年的活動會更熱鬧。",
    "ja": "川沿いの古い駅が図書館になりました。町の人たちは子どものころの切符を持ちより、思い出を話しています。",
    "ko": "시청은 어제 새로운 지하철 노선을 내년 봄에 착공한다고 밝혔다. 주민들은 기대와 걱정을 함께 이야기했다.",
    "ru": "Городской совет вчера объявил, что новая линия метро будет открыта весной, жители ждут этого давно.",
    "el": "Ο δήμος ανακοίνωσε χθες ότι η νέα γραμμή του μετρό θα ανοίξει την άνοιξη και οι κάτοικοι χαίρονται.",
    "he": "העירייה הודיעה אתמול כי הקו החדש של הרכבת ייפתח באביב והתושבים מחכים לו כבר שנים רבות.",
    "ar": "أعلنت البلدية أمس أن خط المترو الجديد سيفتح في الربيع وأن السكان ينتظرونه منذ سنوات طويلة.",
    "th": "เทศบาลประกาศเมื่อวานว่ารถไฟฟ้าสายใหม่จะเปิดในฤดูใบไม้ผลิ และชาวเมืองรอคอยมานานหลายปี",
    "pl": "Władze ogłosiły wczoraj, że nowa linia metra zostanie otwarta wiosną, mieszkańcy czekają na to od lat.",
    "tr": "Belediye dün yeni metro hattının ilkbaharda açılacağını duyurdu; şehir sakinleri bunu yıllardır bekliyor.",
    "fr": "La mairie a annoncé hier que la nouvelle ligne de métro, très attendue, sera ouverte dès l’été à tous.",
}
TEXTS |= {
    "hu": "Megnyílt az új kerékpárút a folyó mentén, a polgármester hidakat is ígért, és őrzik a fűzfákat.",
    "cs": "Město letos opraví historickou kašnu, rozhodli zastupitelé, a vymění potrubí, které už léta prosakuje.",
    "lt": "Šeštadienį atidarytas naujas pėsčiųjų tiltas, kurio gyventojai laukė daugiau kaip dešimt metų; džiaugėsi.",
    "is": "Ný sundlaug verður opnuð í haust að sögn bæjarstjóra, íbúar fagna því að þurfa ekki að aka langa leið.",
    "kanji": "東京都知事選挙、投票率過去最低。現職再選確実、野党共闘実現せず。経済産業省、半導体工場建設支援策発表。",
}
SETS = [
    ("hu", "cp1250"), ("hu", "iso8859-2"), ("cs", "cp1250"), ("cs", "iso8859-2"), ("lt", "cp1257"), ("is", "cp1252"),
    ("kanji", "cp932"), ("kanji", "euc_jp"),
    ("hans", "gbk"), ("hans", "gb18030"), ("hant", "gbk"), ("hant", "big5"), ("hant", "big5hkscs"),
    ("ja", "cp932"), ("ja", "euc_jp"), ("ja", "iso2022_jp"), ("ko", "euc_kr"), ("ru", "cp1251"), ("ru", "koi8-r"),
    ("ru", "iso8859-5"), ("ru", "cp866"), ("el", "cp1253"), ("he", "cp1255"), ("ar", "cp1256"), ("th", "cp874"),
    ("pl", "cp1250"), ("pl", "iso8859-2"), ("tr", "cp1254"), ("fr", "cp1252"),
]  # fmt: skip
SOURCES = {
    "none": ("", ""),
    "header says utf-8": ("text/html; charset=utf-8", ""),
    "meta says utf-8": ("", "<meta charset=utf-8>"),
    "both say latin": ("text/html; charset=iso-8859-1", "<meta charset=iso-8859-1>"),
    "both say gb2312": ("text/html;charset=GB2312", '<meta http-equiv=x content="text/html; charset=gb2312">'),
    "both say big5": ("text/html; charset=big5", '<meta charset="big5">'),
}


@each_row("source", SOURCES)
@each_row(("language", "name"), SETS)
def test_declarations_that_say_otherwise(language: str, name: str, source: str) -> None:
    header, meta = SOURCES[source]
    text = f"{meta}<p>{TEXTS[language]}</p>"
    assert decode(text.encode(name), header)[0] == text


@each_row(("language", "name"), SETS)
def test_in_a_page_full_of_scripts(language: str, name: str) -> None:
    script = "<script>var a = {b: 1, c: [2, 3]};</script>\n" * 3000
    text = f"<title>x</title>{script}<p>{TEXTS[language]}</p>"
    assert decode(text.encode(name))[0] == text


@each_row(
    ("declared", "meant"),
    [
        ("gb2312", "gb18030"), ("GBK", "gb18030"), ("gb-2312", "gb18030"), ("gb_2312-80", "gb18030"),
        ("x-gbk", "gb18030"), ("gb18030;", "gb18030"), ("utf8mb4", "utf-8"), ("utf-8;", "utf-8"), ("UTF_8", "utf-8"),
        ("unicode", "utf-8"), ("big5-eten", "big5hkscs"), ("x-x-big5", "big5hkscs"), ("x-sjis", "cp932"),
        ("windows-31j", "cp932"), ("ks_c_5601-1987", "cp949"), ("windows-949", "cp949"), ("latin1", "cp1252"),
        ("iso-8859-1", "cp1252"), ("koi8-r", "koi8-u"), ("utf-7", ""), ("utf-16", ""), ("rot13", ""), ("hex", ""),
        ("none", ""), ("", ""), ("\x00", ""),
    ],
)  # fmt: skip
def test_codec_of_declared_names(declared: str, meant: str) -> None:
    assert find_codec(declared) == meant


@each_row("gap", [5_000, 70_000, 300_000])
def test_declaration_far_down_decides_where_bytes_do_not(gap: int) -> None:
    """One Polish letter reads as well in the Western set."""
    head = "<script>" + "x = 1;" * (gap // 6) + "</script>"
    text = f'{head}<meta http-equiv="content-type" content="text/html; charset=iso-8859-2"><p>tę</p>'
    found, name = decode(text.encode("iso8859-2"))
    assert (found, name) == (text, "iso8859-2")


@each_row("order", ["utf-16-le", "utf-16-be"])
@each_row("language", ["hans", "fr"])
def test_wide_characters_without_a_mark(order: str, language: str) -> None:
    body = f"<html><head><title>x</title></head><body><p>{TEXTS[language]}</p></body></html>".encode(order)
    assert decode(body)[1] == "utf-16"
    assert parse(body, "http://e.com/").blocks.texts == [TEXTS[language]]
    assert not is_binary(body)


@each_row("order", ["utf-16-le", "utf-16-be"])
def test_byte_order_marks(order: str) -> None:
    assert decode(("\ufeff" + TEXTS["hans"]).encode(order), "text/html; charset=gbk")[0] == TEXTS["hans"]


@each_row("fragment", ["gbk", "cp1252"])
def test_fragment_in_another_set(fragment: str) -> None:
    inside = TEXTS["hans"] if fragment == "gbk" else "it’s the café’s “best” year"
    body = f"<p>{TEXTS['hant']}</p>".encode() * 5 + f"<div>{inside}</div>".encode(fragment)
    found, name = decode(body, "text/html; charset=utf-8")
    assert name == "utf-8"
    assert TEXTS["hant"] in found
    assert inside in found


def test_character_cut_in_utf_8_costs_itself() -> None:
    body = f'<meta name=description content="{TEXTS["hans"]}'.encode()[:-1] + f'"><p>{TEXTS["hans"]}</p>'.encode()
    found, name = decode(body)
    assert name == "utf-8"
    assert found.count("\ufffd") == 1
    assert f"<p>{TEXTS['hans']}</p>" in found


@each_row(("language", "name"), [*SETS, ("hans", "utf-8"), ("ja", "utf-8")])
def test_body_cut_anywhere(language: str, name: str) -> None:
    body = f"<p>{TEXTS[language]}</p>".encode(name)
    for at in range(len(body) - 30, len(body)):
        assert decode(body[:at])[0].startswith(f"<p>{TEXTS[language][:30]}")


@each_row("text", ["it’s", "Straße", "naïve café", "© 2003", "à la carte", "Gefl\u00fcchtete aus Osnabrück"])
def test_character_or_two_are_western(text: str) -> None:
    assert decode(f"<p>{text}</p>".encode("cp1252"))[0] == f"<p>{text}</p>"


MARKED = (
    "<p>\xa0The council voted.</p><p>\xa0Rain is expected.</p>",
    "<p>Built in 1881 · 12 × 30 m, 20º north, see § 4 and £3.</p>",
    "<p>“Sold out”, he said — it’s the year’s best…</p>",
    "<p>© 2003 • £5 for the ½ day</p><p>×Close</p>",
    "<p>Open 9–5 · 25°C · “no”</p>" * 9,
    "<p>©2003 £The “Post” — £5 §4 ½day</p>\n<p>º £2·</p>",
    "<p>—</p><p>News</p>" * 20,
    "<p>»</p><p>©</p>",
    "<p>•</p>" * 9,
)


@each_row("declared", ["", "utf-8", "iso-8859-1", "windows-1252"])
def test_marks_of_western_pages_are_no_letters(declared: str) -> None:
    """A detector takes them for Cyrillic and Thai; iso-8859-1 stands for windows-1252."""
    wrong = [text for text in MARKED if decode(text.encode("cp1252"), f"text/html; charset={declared}")[0] != text]
    assert wrong == []


@each_row("declared", ["gb2312", "big5", "euc-kr", "shift_jis", "windows-1251"])
def test_marks_of_english_pages_in_the_set_that_they_declare(declared: str) -> None:
    codec = {"gb2312": "gb18030", "big5": "cp950", "shift_jis": "cp932", "windows-1251": "cp1251"}.get(
        declared, declared
    )
    for text in ("<p>“Sold out”, he said.</p>", "<p>It § rained … on “Monday”</p>" * 5, "<p>20° and ‘more’…</p>"):
        for header, page in ((f"text/html; charset={declared}", text), ("", f"<meta charset={declared}>{text}")):
            assert decode(page.encode(codec), header)[0] == page


def test_letters_in_the_set_that_is_declared() -> None:
    """Few letters tell nothing of their set; those of Estonia and of Romania are in many."""
    for text, codec in (
        ("oksjon šokolaadist", "iso8859-15"),
        ("și țara", "iso8859-16"),
        ("„Taip“ ir ne", "iso8859-13"),
    ):
        page = f"<p>{text}</p>"
        assert decode(page.encode(codec), f"text/html; charset={codec}")[0] == page


@each_row("language", ["hu", "cs", "ru", "el", "hans"])
@each_row("declared", ["", "utf-8", "iso-8859-1"])
def test_long_line_is_sampled_as_a_whole(language: str, declared: str) -> None:
    codec = {"ru": "cp1251", "el": "cp1253", "hans": "gb18030"}.get(language, "cp1250")
    plain = "The quick brown fox jumps over the lazy dog. " * 300
    text = f"<p>{plain}{TEXTS[language]} {plain}</p>"
    assert decode(text.encode(codec), f"text/html; charset={declared}")[0] == text


def test_blank_and_newer_letters_of_gbk() -> None:
    body = b"\xa3\xa0\xa3\xa0" + TEXTS["hans"].encode("gbk") + b"\xfe\x59\xa8\xbc"
    assert decode(body, "charset=gbk")[0] == f"\u3000\u3000{TEXTS['hans']}龴ḿ"


@each_row("name", ["cp855", "cp775", "cp852", "johab", "hp_roman8"])
def test_sets_that_browsers_do_not_know_are_a_doubt(name: str) -> None:
    language = {"cp855": "ru", "cp775": "lt", "johab": "ko", "hp_roman8": "fr"}.get(name, "pl")
    assert suspicion(decode((TEXTS[language] * 2).encode(name, "ignore"))[0]) >= DOUBTFUL


def test_short_chinese() -> None:
    for text in ("首页", "大桥通车", "本网讯"):
        assert decode(f"<p>{text}</p>".encode("gbk"))[0] == f"<p>{text}</p>"


def test_choose_prefers_the_declared_set_where_both_read_well() -> None:
    polish = TEXTS["pl"].encode("iso8859-2")
    assert choose(polish, ("iso8859-2",)) == "iso8859-2"
    assert choose(polish, ("gb18030", "cp1251")) in {"iso8859-2", "cp1250"}
    assert choose(b"", ()) == choose(b"\xa3 3", ("utf-8",)) == "cp1252"


@each_row("unit", [b"\xff", b"\x1b\x80", b"\xb0\xa1", b"~{", b"\x1b$", b"\x00a", b"<\xe4", b"<meta charset"])
def test_large_and_hostile(unit: bytes) -> None:
    start = time.process_time()
    decode(unit * (2_000_000 // len(unit)))
    assert time.process_time() - start < 3


@each_row("name", sorted({*aliases.values(), "idna", "punycode", "unicode_escape", "undefined", "utf_8_sig"}))
def test_every_codec_that_can_be_declared(name: str) -> None:
    """Python knows codecs that raise whatever they are told to do about errors."""
    body = bytes(range(256)) * 3 + TEXTS["hans"].encode("gbk")
    assert isinstance(decode(body, f"text/html; charset={name}")[0], str)
    assert isinstance(decode(b"<p>\\u0041\\N \xff\xfe", f"text/html; charset={name}")[0], str)


PAGE = "<html><head><title>标题</title></head><body>" + f"<p>{TEXTS['hans']}</p>" * 3 + "</body></html>"


@each_row("name", ["utf-16-le", "utf-16-be"])
@each_row("header", ["", "text/html; charset=gbk", "text/html; charset=utf-16"])
def test_wide_sets_without_a_mark(name: str, header: str) -> None:
    assert decode(PAGE.encode(name), header) == (PAGE, "utf-16")
    assert not is_binary(PAGE.encode(name))


@each_row("name", ["utf-16-le", "utf-16-be"])
def test_wide_sets_without_any_markup(name: str) -> None:
    text = TEXTS["hans"] * 4
    assert decode(text.encode(name), "text/plain; charset=utf-16")[0] == text


def test_marks_that_lie() -> None:
    assert decode(b"\xff\xfe" + PAGE.encode("utf-16-be")) == (PAGE, "utf-16")
    assert decode(b"\xff\xfe" + PAGE.encode())[0] == PAGE
    assert decode(b"\xef\xbb\xbf" + PAGE.encode("gb18030"))[0] == PAGE


@each_row("name", ["hz", "utf-7"])
def test_sets_that_browsers_refuse_stay_ascii(name: str) -> None:
    body = PAGE.encode(name)
    assert decode(body, f"text/html; charset={name}") == (body.decode("ascii"), "utf-8")


def test_iso_2022_kr_that_nobody_declares() -> None:
    text = f"<p>{TEXTS['ko']}</p>"
    assert decode(text.encode("iso2022_kr")) == (text, "iso2022_kr")


@each_row("name", ["gb18030", "big5", "cp932", "euc_jp", "cp949"])
def test_broken_characters_do_not_rule_their_set_out(name: str) -> None:
    language = {"gb18030": "hans", "big5": "hant", "cp949": "ko"}.get(name, "ja")
    text = f"<p>{TEXTS[language]}</p>\n"
    cut = f"<title>{TEXTS[language][:9]}".encode(name)[:-1] + b"</title>"
    for header in ("", "text/html; charset=iso-8859-1", "text/html; charset=utf-8"):
        assert text * 4 in decode(text.encode(name) * 4 + cut + text.encode(name) * 4, header)[0]


def test_pound_signs_on_an_english_page_are_western() -> None:
    text = "<p>Tickets £3/£1 – “worth more than £4 billion”, it’s said.</p>" * 9
    assert decode(text.encode("cp1252"))[0] == text


def test_characters_beyond_the_basic_plane() -> None:
    text = "<p>𠮷野家的䶮先生说😀</p>" * 3
    halves = b"".join(_halves(sign) for sign in text)
    assert decode(halves)[0] == text
    assert decode(text.replace("😀", "").encode("gb18030"), "text/html; charset=gb2312")[0] == text.replace("😀", "")


def _halves(sign: str) -> bytes:
    """A sign in UTF-8; one beyond the basic plane as two halves, each in three bytes."""
    beyond = ord(sign) - 0x10000
    if beyond < 0:
        return sign.encode()
    return (chr(0xD800 + (beyond >> 10)) + chr(0xDC00 + (beyond & 0x3FF))).encode("utf-8", "surrogatepass")


@each_row(("body", "footer"), [("utf-8", "gb18030"), ("gb18030", "utf-8")])
def test_footer_in_another_set(body: str, footer: str) -> None:
    article, foot = f"<p>{TEXTS['hans']}</p>" * 3, "<div>版权所有 河口新闻网</div>"
    found, _ = decode(article.encode(body) + foot.encode(footer), "text/html; charset=utf-8")
    assert article in found


@each_row("name", ['"utf-8"', "'gbk'", "utf-8;", "UTF8MB4", "x-gbk", "%s", "utf-7", "gb2312,utf-8", "\0"])
@each_row("real", ["utf-8", "gb18030"])
def test_names_that_are_none(name: str, real: str) -> None:
    page = f"<meta charset={name}>{PAGE}"
    assert decode(page.encode(real), f"text/html; charset={name}")[0] == page


@each_row(("name", "language"), [("utf-8", "ru"), ("gb18030", "hans"), ("big5", "hant"), ("cp932", "ja")])
@each_row("declared", ["utf-16", "UTF-16LE", "utf-32"])
def test_wide_set_that_is_only_declared(name: str, language: str, declared: str) -> None:
    page = f"<html><title>x</title><p>{TEXTS[language]}</p></html>"
    assert decode(page.encode(name), f"text/html; charset={declared}")[0] == page


@each_row(("name", "language"), [("gb18030", "hans"), ("big5", "hant"), ("cp1251", "ru"), ("cp932", "ja")])
@each_row("times", [1, 9])
def test_fragments_in_utf_8(name: str, language: str, times: int) -> None:
    text, line = TEXTS[language], TEXTS["hans" if language == "hans" else language][:20]
    parts = ((f"<title>{line}</title>{f'<p>{text}</p>' * 4}").encode(name), f"<i>{line}</i>".encode() * times)
    for body in (b"".join(parts), b"".join(reversed(parts))):
        found, _ = decode(body, "text/html; charset=utf-8")
        assert (found.count(text), found.count(f"<i>{line}</i>")) == (4, times)


@each_row(
    ("body", "declared", "text"),
    [
        (b"\x80 100 " + TEXTS["hans"].encode("gbk"), "gbk", f"€ 100 {TEXTS['hans']}"),
        (TEXTS["ja"].encode("euc_jp") + b"\xad\xa1\xad\xea\xfc\xe2", "euc-jp", f"{TEXTS['ja']}①㈱髙"),
        (TEXTS["ja"].encode("iso2022_jp") + b"\x1b$B-!-j\x1b(B", "iso-2022-jp", f"{TEXTS['ja']}①㈱"),
        (f"{TEXTS['hant']}尼爾‧阿姆斯壯～".encode("cp950"), "big5", f"{TEXTS['hant']}尼爾‧阿姆斯壯～"),
        ("Thành phố Đà Nẵng mở thêm tuyến".encode("cp1258", "ignore"), "windows-1258", "Thành ph Đà Nng m thêm tuyn"),
        (
            "l'œuvre coûte 12 €, a-t-il déclaré".encode("iso8859-15"),
            "iso-8859-15",
            "l'œuvre coûte 12 €, a-t-il déclaré",
        ),
    ],
)
def test_bytes_that_browsers_read_and_python_does_not(body: bytes, declared: str, text: str) -> None:
    assert decode(body, f"text/html; charset={declared}")[0] == text


def test_tones_apart() -> None:
    assert decode(
        "<p>Đa` Nă\u0303ng mơ\u0309 thêm tuyê\u0301n xe buy\u0301t</p>".encode("cp1258"), "charset=windows-1258"
    )[0].startswith("<p>Đa` Nẵng mở thêm tuyến")
