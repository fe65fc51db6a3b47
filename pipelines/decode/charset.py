"""Which legacy character set bytes are written in: the one in which they read like some language.

Every candidate gives a reading of the same bytes. In the right one, most signs outside ASCII are among the commonest of
a language that uses the set; in a wrong one they are scattered over the table. That holds from a dozen signs on, where
declarations lie and byte statistics waver.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

import cchardet

from .text import words

_SMALL: Final[Mapping[str, str]] = {
    "French": "éèàùâêîôûçëïüœæÿ",
    "German": "äöüß",
    "Spanish": "áéíóúñüªº",
    "Portuguese": "áéíóúàâêôãõçüªº",
    "Italian": "àèéìòù",
    "Catalan": "àçèéíïòóúü·",
    "Dutch": "éëèïóöüáê",
    "Swedish": "åäöé",
    "Norwegian": "æøåéèòóôä",
    "Icelandic": "áéíóúýðþæö",
    "Estonian": "äöõüšž",
    "Polish": "ąćęłńóśźż",
    "Czech": "áčďéěíňóřšťúůýž",
    "Slovak": "áäčďéíĺľňóôŕšťúýž",
    "Hungarian": "áéíóöőúüű",
    "Romanian": "ăâîşţ",
    "Romanian of today": "ăâîșț",
    "Croatian": "čćđšž",
    "Turkish": "ğışçöüâîûİ",
    "Azerbaijani": "əğışçöüİ",
    "Lithuanian": "ąčęėįšųūž",
    "Latvian": "āčēģīķļņšūž",
    "Vietnamese": "ăâđêôơưàáãảạằắẵẳặầấẫẩậèéẽẻẹềếễểệìíĩỉịòóõỏọồốỗổộờớỡởợùúũủụừứữửựỳýỹỷỵ",
    "Vietnamese, tones apart": "àáâăđèéêíóôơùúư\u0300\u0301\u0303\u0309\u0323",
}
LETTERS: Final = {name: frozenset(small + small.upper()) for name, small in _SMALL.items()}
"""By language; capitals too."""

_READ_AS: Final = ("cp1252", "cp1250", "latin-1", "iso8859-2", "cp1254", "cp1257", "mac_roman", "cp850")
_WRITTEN_IN: Final = ("cp1250", "iso8859-2", "cp1252", "cp1254", "cp1257", "mac_roman", "cp850", "cp852", "cp1258")
_LEAST_SIGNS: Final = 10
_LEAST_DIFFERENT: Final = 3
# Of the letters of a text in one language, next to all are of it; names of others are few.
_MOST_STRANGE: Final = 0.94
_LEAST_MEANT: Final = 0.98


@cache
def languages(codec: str) -> tuple[str, ...]:
    """Return the names of the languages that can be written in a character set."""
    return tuple(name for name, small in _SMALL.items() if len(small.encode(codec, "ignore")) == len(small))


def belonging(counts: Mapping[str, int], names: Iterable[str]) -> int:
    """Return how many letters are of the one language that most of them are of.

    Args:
        counts: letters outside a-z, and how often each occurs.
        names: of languages.

    >>> belonging({"é": 5, "ą": 1}, ["French", "Polish"])
    5
    """
    return max((sum(n for sign, n in counts.items() if sign in LETTERS[name]) for name in names), default=0)


def is_misread(counts: Mapping[str, int]) -> bool:
    """Return whether letters are of no language, but of one when the set in which they were read is exchanged.

    Args:
        counts: letters outside a-z, and signs that stand among letters, and how often each occurs.

    Returns:
        False where too few are there to tell, and for languages that are not known here.

    Cost: O(different signs); the many readings only for a text in which letters of several languages stand.

    >>> is_misread({"ø": 9, "ì": 7, "è": 5, "á": 9, "í": 9, "ù": 3, "š": 4, "é": 4})
    True
    """
    signs = sum(counts.values())
    if signs < _LEAST_SIGNS or belonging(counts, LETTERS) > _MOST_STRANGE * signs:
        return False
    for wrong in _READ_AS:
        for right in _WRITTEN_IN:
            if wrong == right:
                continue
            other: dict[str, int] = {}
            for sign, n in counts.items():
                meant = sign.encode(wrong, "ignore").decode(right, "ignore")
                other[meant] = other.get(meant, 0) + n
            if len(other) >= _LEAST_DIFFERENT and belonging(other, languages(right)) >= _LEAST_MEANT * signs:
                return True
    return False


# ---- Which legacy character set bytes are written in: the one in which they read like some language.


_HANS: Final = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如"
    "都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两"
    "高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比"
    "员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区"
    "保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确"
    "传师观清今切院让识候带导争运闻网站首页记者编辑责任据悉来源"
)
_HANT: Final = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如"
    "都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩"
    "高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比"
    "員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區"
    "保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確"
    "傳師觀清今切院讓識候帶導爭運聞網站首頁記者編輯責任據悉來源臺灣灣"
)
_KANA: Final = (
    "".join(map(chr, (*range(0x3041, 0x3094), *range(0x30A1, 0x30F7))))
    + "ー日本人年月大国会中出者事見行分前生五間上東合気時"
)
_HANGUL: Final = (
    "이다의는을에가고한도로하지기사은인어를리자서시부해정있대전아나원장그국수일보과만라주들구공제경비성상동조연세스"
    "것여할안소우민신화명관무면치회당관계였했며진으선유오생위과적요거말더때중년월까교문방발현없모내용게습니김박니등물개"
)
_KANJI: Final = (
    "日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金員九入選立開手米力学問高代"
    "明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首意法不来作性的要用制治度務強気小七成期公野協取都和統以機平総加山思"
    "家話世受区領多県続進正安設保改数記院女初北午指権心界支第産結百派点教報済書府活原先共得解名交資予川向際査勝面委告軍文反元重近千考判"
    "認画海参売利組知案道信策集在件団別物側任引使求所次水半品昨論計死官増係感特情投示変打男基私各始島直両朝革価式確村提運終挙果西勢減台"
    "広容必応演電歳住争談能無再位置企真流格有疑口過局少放税検藤町常校料沢裁状工建語球営空職証土与急止送援供可役構木割聞身費付施切由説転"
    "食比難防補車優夫研収断井何南石足違消境神番規術護展態導鮮備宅害配副算視条幹独警宮究育席輸訪楽起万着乗店述残想線率病農州武声質念待試"
)
_MARKS: Final = "’“”–—‘…•·©®™°€«»„"

# The commoner half of an alphabet is enough: it covers four signs of five in its own language, two of five elsewhere.
_RUSSIAN: Final = "оеаинтсрвлкмдпуія"
_GREEK: Final = "αοιετσνρκπμληςάΆ"
_SETS: Final[Mapping[str, str]] = {
    "gb18030": _HANS + _HANT,
    "big5hkscs": _HANT,
    "cp932": _KANA + _KANJI,
    "euc_jp": _KANA + _KANJI,
    "cp949": _HANGUL,
    "cp1251": _RUSSIAN,
    "koi8-u": _RUSSIAN,
    "iso8859-5": _RUSSIAN,
    "cp866": _RUSSIAN,
    "cp1253": _GREEK,
    "iso8859-7": _GREEK,
    "cp1255": "יוהלאמרתבשנחפ",
    "cp1256": "اليمنوهرتبعدسفة",
    "iso8859-6": "اليمنوهرتبعدسفة",
    "cp874": "ารนอกเง่มยลวดท้สตะปบัิีู",
}
# The commonest first; those of the web's standard hold marks of the press too.
_LATIN: Final = ("cp1252", "cp1250", "iso8859-2", "iso8859-15", "cp1254", "cp1257", "cp1258")
COMMON_HAN: Final = frozenset(_HANS + _HANT)
"""Signs of which half of any Chinese text consists."""
COMMON_KANJI: Final = frozenset(_KANJI)
COMMON_HANGUL: Final = frozenset(_HANGUL)
COMMON_CYRILLIC: Final = frozenset(_RUSSIAN + _RUSSIAN.upper())
COMMON_GREEK: Final = frozenset(_GREEK + _GREEK.upper()) - frozenset("Ά")
_COMMON: Final = {codec: frozenset(signs) for codec, signs in _SETS.items()}
_LETTERS: Final = "".join(sorted(frozenset().union(*LETTERS.values())))
# Letters inside a word, or alone in it, and marks around one.
_ACCENTED: Final = re.compile(
    f"(?<=[A-Za-z])[{_LETTERS}]+|(?<![{_LETTERS}])[{_LETTERS}]+(?=[a-z])|(?<=[ '>])[{_LETTERS}](?= )"
    f"|(?<=[ >])[{_MARKS}]|[{_MARKS}](?=[ .,<])"
)
_WIDE: Final = frozenset({"gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"})
# The commonest on the web first: among equals the first one is taken.
_KNOWN: Final = tuple(dict.fromkeys(("gb18030", "cp1252", *_COMMON, *_LATIN)))
# Typographic signs stand in texts of every language and say nothing about which one it is.
_NEUTRAL = re.compile(r"[\x00-\x7f\xa0，。、：；？！（）《》“”‘’「」『』·—…％－～【】　０-９Ａ-Ｚａ-ｚ№«»–]+")
# Signs of other scripts inside Latin words come from a wrong reading; CJK texts hold Latin words without blanks.
_SIGN: Final = r"[^\x00-\x7f\xa0«»“”‘’–—…№·]"
_MIXED = re.compile(f"(?<=[A-Za-z]){_SIGN}|{_SIGN}(?=[A-Za-z])")
_ENCLOSED = re.compile(f"(?<=[A-Za-z]){_SIGN}(?=[A-Za-z])")
_MARKED: Final = "¤"
_WRONG = re.compile("[\ufffd\x80-\x9f\ue000-\uf8ff\uff61-\uff9f]")
_SAMPLE_CHARS: Final = 3000
# Shares of common signs in a wrong reading and in the right one.
_WIDE_SHARES: Final = (0.05, 0.55)
_ALPHABET_SHARES: Final = (0.35, 0.8)
_LATIN_SHARES: Final = (0.0, 1.0)
_SURE: Final = 0.7
_DECLARED_BONUS: Final = 0.12
_DETECTED_BONUS: Final = 0.08
_DEFAULT_BONUS: Final = 0.04
"""For the set that servers declare who know nothing."""
_LEAST: Final = 0.15
_BROKEN: Final = -0.3
_FEW: Final = 8
"""So many signs weigh half of what many would."""

# A declared name stands for its widest superset, as in browsers.
_SUPERSET: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "gb18030",
    "cp936": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-13": "cp1257",
    "iso8859-8": "cp1255",
    "koi8-r": "koi8-u",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "shift_jis_2004": "cp932",
    "euc_jis_2004": "euc_jp",
    "tis-620": "cp874",
    "iso8859-11": "cp874",
    "utf-8-sig": "utf-8",
    "cesu-8": "utf-8",
}
# What a page cannot be declared to be in: the byte order is not known, or it is no character set of pages at all.
_REFUSED: Final = words(
    "utf-7 utf-16 utf-32 utf-16-le utf-16-be utf-32-le utf-32-be hz idna punycode unicode_escape raw_unicode_escape "
    "unicode-escape raw-unicode-escape undefined mbcs oem"
)
# Names that only browsers know, and what typing errors leave of the common ones.
_FAMILIES: Final = (
    ("gb", "gb18030"),
    ("cn", "gb18030"),
    ("big5", "big5hkscs"),
    ("utf", "utf-8"),
    ("unicode", "utf-8"),
    ("sjis", "cp932"),
    ("shiftjis", "cp932"),
    ("windows31j", "cp932"),
    ("eucjp", "euc_jp"),
    ("euckr", "cp949"),
    ("ksc", "cp949"),
    ("windows949", "cp949"),
    ("koi8", "koi8-u"),
    ("win1251", "cp1251"),
)


def codec(name: str) -> str:
    """Return the Python codec that a declared name means.

    Args:
        name: as declared; typos of the common families are read as meant.

    Returns:
        Name of the widest superset, empty for what is no character set or cannot be one of an undeclared byte order.

    >>> codec("gb_2312-80;"), codec("UTF8mb4"), codec("rot13")
    ('gb18030', 'utf-8', '')
    """
    name = name.strip().lower().strip("\"';, ").removeprefix("x-").removeprefix("x-")
    try:
        found = codecs.lookup(name).name
        b"    ".decode(found)
    except (LookupError, ValueError, TypeError):  # the last two: names with NUL, codecs that are no character sets
        squeezed = re.sub(r"[^a-z0-9]", "", name)
        return next((meant for start, meant in _FAMILIES if squeezed.startswith(start)), "")
    if found.startswith("iso2022"):
        return ""
    return _SUPERSET.get(found, "" if found in _REFUSED else found)


def likeness(sample: bytes, codec: str) -> tuple[float, int]:
    """Return how much a reading of bytes looks like a language of its character set.

    Args:
        sample: bytes, some of them outside ASCII.
        codec: a Python codec.

    Returns:
        About 1, the most, for the right reading and 0 for a wrong one, far less for one with signs that texts do not
        hold; and the number of signs that this was seen on.

    Cost: O(bytes).
    """
    text = sample.decode(codec, "replace")[:_SAMPLE_CHARS]
    wrong = len(_WRONG.findall(text))
    if codec in _LATIN:
        signs = sum(not sign.isascii() and sign != "\xa0" for sign in text)
        placed = Counter("".join(_ACCENTED.findall(text)))
        common = belonging(placed, languages(codec)) + sum(map(placed.__getitem__, _MARKS))
    else:
        letters = _NEUTRAL.sub("", (_ENCLOSED if codec in _WIDE else _MIXED).sub(_MARKED, text))
        signs = len(letters)
        common = sum(map(_COMMON.get(codec, frozenset()).__contains__, letters))
    if not signs:
        return 0.0, 0
    chance, usual = _WIDE_SHARES if codec in _WIDE else _LATIN_SHARES if codec in _LATIN else _ALPHABET_SHARES
    return min(1.0, ((common - 3 * wrong) / signs - chance) / (usual - chance)), signs


def choose(sample: bytes, declared: tuple[str, ...]) -> str:
    """Return the codec in which bytes, which are not UTF-8, are best read.

    Args:
        sample: bytes, some of them outside ASCII.
        declared: codecs that the page and its server name, the more trusted first.

    Returns:
        A codec. Where too little is there to read like a language: the declared one if it breaks little, else the
        likelier of the two commonest on the web.

    Cost: O(bytes of the sample) per known set; one pass when the declared set reads well.
    """
    for name in declared:
        if name in _COMMON and likeness(sample, name)[0] >= _SURE:
            return name
    detected = codec(cchardet.detect(sample).get("encoding") or "")
    if detected in _COMMON and likeness(sample, detected)[0] >= _SURE:
        return detected
    bonus = {name: _DEFAULT_BONUS if name == "cp1252" else _DECLARED_BONUS for name in declared}
    if detected and detected not in _LATIN:  # among those, statistics of bytes are mostly wrong
        bonus[detected] = bonus.get(detected, 0.0) + _DETECTED_BONUS
    bonus.pop("utf-8", None)
    read = {name: likeness(sample, name) for name in (*bonus, *(name for name in _KNOWN if name not in bonus))}
    found = {name: share + bonus.get(name, 0.0) for name, (share, _) in read.items()}
    best = max(found, key=found.__getitem__)
    share, signs = read[best]
    if share * signs / (signs + _FEW) >= _LEAST:
        return best
    for name in declared:
        if name in read and read[name][0] >= max(read["cp1252"][0], _BROKEN):
            return name
    chinese, signs = read["gb18030"]
    return "gb18030" if signs > 1 and chinese > max(read["cp1252"][0] - 0.2, _BROKEN) else "cp1252"


# ---- How bytes of a character set become text: as browsers read them, where Python's codecs know less of a set.


_REPLACED: Final = "\ufffd"
_MOST_ERRORS: Final = 5_000
"""A text with more errors is left as it is: each costs a call."""
_HANDLER: Final = "readings"
# Big5 as in Taiwan, where Python knows only that of Hong Kong: marks that stand between the parts of foreign names.
_TAIWAN: Final = {"•": "‧", "∼": "～", "､": "﹑", "‾": "¯"}
_VENDORS: Final = frozenset({0x2D, *range(0x79, 0x7D)})
"""Rows of the Japanese table that vendors have filled: circled numbers, units, rare signs in names."""


def read(data: bytes, codec: str) -> str:
    r"""Return the text that bytes are in a character set.

    Args:
        data: any bytes.
        codec: a Python codec.

    Returns:
        The text; what the set does not hold is U+FFFD.

    Cost: O(bytes).

    >>> read(b"\x80 5", "gb18030"), read(b"\xad\xa1", "euc_jp")
    ('€ 5', '①')
    """
    text = data.decode(codec, "replace")
    if codec == "big5hkscs":
        for hong_kong, taiwan in _TAIWAN.items():
            text = text.replace(hong_kong, taiwan)
    elif codec == "cp1258":  # tones are letters of their own there
        text = unicodedata.normalize("NFC", text)
    if codec in _EXTENDED and 0 < text.count(_REPLACED) < _MOST_ERRORS:
        text = data.decode(codec, _HANDLER)
    return text


def _extended(error: UnicodeError) -> tuple[str, int]:
    """What browsers read where a codec knows nothing."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if error.encoding == "gb18030":
        return ("€", error.start + 1) if pair[:1] == b"\x80" else (_REPLACED, error.end)
    row, cell = (byte & 0x7F for byte in pair) if len(pair) == 2 else (0, 0)
    if row in _VENDORS and 0x21 <= cell <= 0x7E:
        return _shifted(row, cell).decode("cp932", "replace"), error.start + 2
    return _REPLACED, error.end


def _shifted(row: int, cell: int) -> bytes:
    """A place of the Japanese table as Shift_JIS writes it."""
    first = (row + 1) // 2 + (0x70 if row < 0x5F else 0xB0)
    return bytes((first, cell + 0x7E if row % 2 == 0 else cell + 0x1F + (cell >= 0x60)))


_EXTENDED: Final = frozenset({"gb18030", "euc_jp", "iso2022_jp_2"})
codecs.register_error(_HANDLER, _extended)


# ---- Sets in which a sign takes two or four bytes, without a byte order mark; sets in which ASCII stands for Chinese.


_WIDE_SETS: Final = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_LEAST_BYTES: Final = 8
_LEAST_ZEROS: Final = 0.2
_LEAST_SHARE: Final = 0.3
_LEAST_HAN: Final = 12
_HAN = re.compile("[\\u3400-\\u9fff]")
_USUAL = re.compile("[\\n\\r\\t -~\\u3001-\\u30ff\\uff01-\\uff5e]")
_WIDE_COMMON: Final = COMMON_HAN | COMMON_HANGUL


def wide_set(head: bytes, content_type: str = "") -> str:
    """Return the wide set that bytes are in, by where their zeros stand; empty when they are in none.

    Where the header names such a set and there are few zeros, as in a text without markup, the byte order counts in
    which the text reads like one.

    Args:
        head: the first bytes of a page, without byte order mark.
        content_type: the value of the HTTP header.

    Cost: O(bytes).
    """
    if len(head) < _LEAST_BYTES:
        return ""
    if b"\0" in head:
        quarter = len(head) // 4
        zeros = [head[at : 4 * quarter : 4].count(0) / quarter for at in range(4)]
        for name, (a, b, c, d) in (("utf-32-le", (0, 1, 2, 3)), ("utf-32-be", (3, 2, 1, 0))):
            if zeros[c] > 0.95 and zeros[d] > 0.95 and zeros[a] < 0.1 and zeros[b] < 0.95:
                return name
        even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
        name = "utf-16-le" if odd > even else "utf-16-be"
        if max(odd, even) > max(_LEAST_ZEROS, 5 * min(odd, even)) and _share(head, name) >= _LEAST_SHARE:
            return name
    declared = content_type.lower()
    if "utf-16" not in declared and "utf-32" not in declared:
        return ""
    shares = {name: _share(head, name) for name in _WIDE_SETS}
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= _LEAST_SHARE else ""


def _share(head: bytes, name: str) -> float:
    """How much of a reading is usual signs."""
    text = head.decode(name, "replace")
    usual = len(_USUAL.findall(text)) + sum(map(_WIDE_COMMON.__contains__, text))
    return usual / max(1, len(text))


def is_chinese(text: str) -> bool:
    """Return whether a reading of ASCII as Chinese reads like Chinese.

    >>> is_chinese("河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段，"), is_chinese("a ~{ b ~}")
    (True, False)
    """
    han = _HAN.findall(text)
    return len(han) >= _LEAST_HAN and sum(map(COMMON_HAN.__contains__, han)) >= _LEAST_SHARE * len(han)
