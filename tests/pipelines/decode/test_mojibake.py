"""Texts read in a wrong set are told from texts of any language."""

# ruff: noqa: E501 - East Asian signs count twice

from __future__ import annotations

import gzip
import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from db.records.reasons import PageReason
from pipelines.decode.mojibake import DOUBTFUL, suspicion
from pipelines.parse_page import parse_page
from tests.files import files_in
from tests.table import each_row

NOW = datetime(2024, 6, 1, tzinfo=UTC)
DATA = Path(os.environ.get("BENCH_DATA") or "../shared/data")
TEXTS = {
    "zh": "河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段，预计年底以前可以通车，记者从市政府了解到这一消息。市民表示，大桥"
    "建成以后，从城东到城西只需要十分钟时间，出行将会非常方便，大家都很期待。",
    "zh-TW": "山城咖啡季將於本週末在舊車站廣場登場，三十多家烘豆店擺攤，主辦單位說今年的活動會更熱鬧，歡迎民眾參加。市政府表示，"
    "當天將有免費接駁車往返。",
    "ja": "川沿いの古い駅が図書館になりました。町の人たちは子どものころの切符を持ちより、思い出を話しています。新しい図書館は来月から"
    "開館する予定で、市長は多くの市民に利用してほしいと話しました。",
    "ko": "시청은 어제 새로운 지하철 노선을 내년 봄에 착공한다고 밝혔다. 주민들은 기대와 걱정을 함께 이야기했다. 공사는 삼 년 동안 "
    "계속될 예정이다.",
    "ru": "Городской совет вчера объявил, что новая линия метро будет открыта весной, жители ждут этого давно. Строительство "
    "началось три года назад и обошлось городу в миллиард рублей.",
    "el": "Ο δήμος ανακοίνωσε χθες ότι η νέα γραμμή του μετρό θα ανοίξει την άνοιξη και οι κάτοικοι χαίρονται. Τα έργα "
    "ξεκίνησαν πριν από τρία χρόνια και κόστισαν πολλά χρήματα.",
    "fr": "La mairie a annoncé hier que la nouvelle ligne de métro, très attendue, sera ouverte dès l’été à tous. Les travaux "
    "ont commencé il y a trois années déjà, et les élus espèrent que les retards seront évités.",
}
NATIVE = {
    "zh": ("utf-8", "gb18030"), "zh-TW": ("utf-8", "big5", "gb18030"), "ja": ("utf-8", "cp932", "euc_jp"),
    "ko": ("utf-8", "cp949"), "ru": ("utf-8", "cp1251", "koi8-r"), "el": ("utf-8", "cp1253"), "fr": ("utf-8", "cp1252"),
}  # fmt: skip
WRONG = ("utf-8", "latin-1", "cp1252", "gb18030", "big5hkscs", "cp932", "euc_jp", "cp949", "cp1251", "koi8-r", "cp1253")
OTHERS = {
    "vi": "Chính phủ vừa công bố kế hoạch xây dựng tuyến đường sắt đô thị mới, dự kiến hoàn thành vào cuối năm sau.",
    "cs": "Město včera oznámilo, že nová linka metra bude otevřena na jaře příštího roku, řekl starosta.",
    "kk": "Қала әкімдігі кеше жаңа метро желісі көктемде ашылатынын хабарлады. Тұрғындар оны көп жылдан бері күтіп жүр.",
    "mn": "Хотын захиргаа өчигдөр шинэ метроны шугамыг хавар нээнэ гэж мэдэгдлээ. Оршин суугчид олон жил хүлээж байна.",
    "uk": "Міська влада вчора оголосила, що нову лінію метро відкриють навесні, мешканці чекають на неї вже багато років.",
    "is": "Borgin tilkynnti í gær að ný lína yrði opnuð í vor. Íbúar hafa beðið þess í mörg ár, sagði borgarstjórinn.",
    "polytonic": "Μῆνιν ἄειδε θεὰ Πηληϊάδεω Ἀχιλῆος οὐλομένην, ἣ μυρί᾽ Ἀχαιοῖς ἄλγε᾽ ἔθηκε, πολλὰς δ᾽ ἰφθίμους ψυχὰς",
    "classical": "子曰學而時習之不亦說乎有朋自遠方來不亦樂乎人不知而不慍不亦君子乎有子曰其為人也孝弟而好犯上者鮮矣",
    "poem": "床前明月光，疑是地上霜。举头望明月，低头思故乡。千山鸟飞绝，万径人踪灭。孤舟蓑笠翁，独钓寒江雪。",
    "names": "张伟、王芳、李娜、刘洋、陈静、杨帆、赵磊、黄敏、周杰、吴涛、徐丽、孙鹏、马超、朱婷、胡军、郭靖、何洁、高峰、林徽",
    "chemistry": "本品含乙酰水杨酸、对乙酰氨基酚、马来酸氯苯那敏、盐酸伪麻黄碱、氢溴酸右美沙芬、枸橼酸喷托维林、蔗糖",
    "capitals": "ГОРОДСКОЙ СОВЕТ ВЧЕРА ОБЪЯВИЛ, ЧТО НОВАЯ ЛИНИЯ МЕТРО БУДЕТ ОТКРЫТА ВЕСНОЙ, ЖИТЕЛИ ЖДУТ ЭТОГО ДАВНО.",
    "hanja": "國會는 어제 本會議를 열어 豫算案을 처리했다. 與野는 합의에 이르지 못했다고 黨 關係者가 말했다.",
    "cantonese": "佢哋話呢間餐廳嘅嘢食好好味，我哋聽日再嚟食過啦，唔該晒你喎。",
    "german": "Er sagte: „Das macht Spaß“, und ging zum „Fluß“ – „groß“.",
    "french": "« C’est l’été », dit-il à Noël ; « Où ça ? » L’œuvre coûte 12 €, près de 3°C.",
    "thai": "เทศบาลประกาศเมื่อวานว่ารถไฟฟ้าสายใหม่จะเปิดในฤดูใบไม้ผลิ",
    "arabic": "أعلنت البلدية أمس أن خط المترو الجديد سيفتح في الربيع",
    "vocalised": "بِسْمِ اللَّهِ الرَّحْمٰنِ الرَّحِيمِ، الْحَمْدُ لِلَّهِ رَبِّ الْعَالَمِينَ",
    "pointed": "בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם וְאֵת הָאָרֶץ׃ וְהָאָרֶץ הָיְתָה תֹהוּ וָבֹהוּ",
    "formulas": "∑ x² + y³ = 4π·r²; α, β, γ ± 3 µm, 20 °C, ½ cup. " * 5,
    "times": "A table 3×“4” and 5×° wide.",
    "pictures": "Great day 😀😀😀🎉 ❤️ ✅✅ → ★★★",
    "ascii": "plain text",
    "nothing": "",
}


@each_row("text", [*TEXTS.values(), *OTHERS.values()])
@each_row("times", [1, 7])
def test_texts_of_any_language_are_right(text: str, times: int) -> None:
    assert suspicion(f"{text} " * times) < DOUBTFUL


@each_row("language", TEXTS)
def test_wrong_readings_are_found(language: str) -> None:
    text = TEXTS[language]
    missed = []
    for right in NATIVE[language]:
        for wrong in WRONG:
            read = text.encode(right, "ignore").decode(wrong, "replace")
            same = wrong == right or {right, wrong} == {"latin-1", "cp1252"}
            if not same and suspicion(read) < DOUBTFUL:
                missed.append(f"{right} as {wrong}: {suspicion(read):.2f} {read[:30]}")
    # Greek for Russian, Korean for Japanese signs: of 170 pairs a few read like a language
    assert len(missed) <= 1, missed


LATIN = {
    "cs": (
        "Olomouc letos opraví historickou kašnu na náměstí, rozhodli zastupitelé, řekl primátor.",
        ("cp1250", "iso8859-2"),
    ),
    "hu": (
        "Megnyílt az új kerékpárút, a polgármester további hidakat ígért, és őrzik a fűzfákat; örülnek.",
        ("cp1250",),
    ),
    "tr": (
        "Belediye başkanı yürüyüş yolunun ağaçlarla ışıklandırıldığını söyledi, çok sayıda kişi katıldı.",
        ("cp1254",),
    ),
    "sv": (
        "Kommunalrådet säger att vägen längs älven blir upplyst och att snön röjs på lördagar.",
        ("cp1252", "cp850"),
    ),
    "fr": (
        "La mairie a annoncé que l'école, très attendue, sera rénovée dès cet été à Orléans.",
        ("mac_roman", "cp850"),
    ),
}


@each_row("language", LATIN)
def test_letters_of_several_languages_are_of_none(language: str) -> None:
    text, sets = LATIN[language][0] * 2, LATIN[language][1]
    assert suspicion(text) < DOUBTFUL
    for right in sets:
        for wrong in ("cp1252", "cp1250", "cp1254", "mac_roman"):
            read = text.encode(right).decode(wrong, "replace")
            assert read == text or suspicion(read) >= DOUBTFUL, f"{right} as {wrong}: {read}"


@each_row(("right", "wrong"), [("cp855", "cp1255"), ("cp437", "cp1255"), ("mac_roman", "cp874")])
def test_points_and_tones_on_no_letter_are_a_doubt(right: str, wrong: str) -> None:
    text = TEXTS["ru" if right == "cp855" else "fr"]
    assert suspicion(text.encode(right, "ignore").decode(wrong, "replace")) >= DOUBTFUL


def test_names_of_other_languages_are_no_doubt() -> None:
    names = "Müller, Łukasz, Šimić, Çelik, Øster, Peña, Nagyné Szőke, Dvořák, Gonçalves, Þór, Ştefănescu, Jõgi"
    assert suspicion(f"In der Mannschaft stehen {names}; für sie wäre es die größte Überraschung.") < DOUBTFUL


@each_row(
    "text",
    [
        "锟斤拷锟斤拷锟斤拷锟斤拷",
        "×\xa0×©×™×\x9d ×©×œ×•×\x9d",
        "烫烫烫烫烫烫烫烫烫烫烫烫",
        "\ufffd" * 20,
        "It costs Â£1, not Â£125 â€“ heâ€™s sure",
    ],
)
def test_famous_ones(text: str) -> None:
    assert suspicion(text) >= DOUBTFUL


def test_wrong_sign_in_a_long_text_is_no_doubt() -> None:
    assert suspicion(TEXTS["zh"] * 3 + "\ufffd") < DOUBTFUL


@each_row("unit", ["Ã©", "锟斤拷", "Р»", "аБ", "é", "\ufffd", "中", "a", "ÿ" * 9])
def test_linear(unit: str) -> None:
    start = time.process_time()
    assert 0 <= suspicion(unit * 300_000) <= 1
    assert time.process_time() - start < 2


@each_row("wrong", ["latin-1", "gb18030", "cp1251"])
def test_page_whose_server_converted_it_wrongly_is_in_doubt(wrong: str) -> None:
    paragraphs = "".join(f"<p>{TEXTS['zh'].encode().decode(wrong, 'replace')}</p>" for _ in range(4))
    page = parse_page(f"<h1>x</h1><article>{paragraphs}</article>".encode(), "http://h.cn/1.html", fetched_at=NOW)
    assert page.doubt == (PageReason.DOUBTFUL_ENCODING if page.extraction.text else None)
    right = "".join(f"<p>{TEXTS['zh']}</p>" for _ in range(4))
    page = parse_page(f"<h1>标题</h1><article>{right}</article>".encode(), "http://h.cn/1.html", fetched_at=NOW)
    assert (bool(page.extraction.text), page.doubt) == (True, None)


@pytest.mark.skipif(not (DATA / "zhgold").is_dir(), reason="no saved pages: BENCH_DATA names their folder")
def test_no_doubt_about_real_pages() -> None:
    rows = [json.loads(line) for line in (DATA / "zhgold" / "gold.jsonl").read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows if suspicion(row.get("text") or "") >= DOUBTFUL] == []
    for file in files_in(DATA / "zhgold", "**/*.gz", at_least=20)[:20]:
        assert not parse_page(gzip.decompress(file.read_bytes()), "http://h.cn/1.html", fetched_at=NOW).doubt
