"""Mojibake (文字化け): text that was read in a wrong character set.

Right bytes may hold a wrong text, converted before anyone fetched it. A wrong reading leaves traces that no language
has, such as nothing but rare Chinese characters. The weights and shares were chosen by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
_HANGUL_SYLLABLES: Final = (
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
# The commoner half of an alphabet is enough: it covers four letters of five in its own language, two of five elsewhere.
_RUSSIAN: Final = "оеаинтсрвлкмдпуія"
_GREEK_HALF: Final = "αοιετσνρκπμληςά"
COMMON_HAN: Final = frozenset(_HANS + _HANT)
"""Half of any Chinese text consists of these."""
COMMON_KANJI: Final = frozenset(_KANJI)
COMMON_HANGUL: Final = frozenset(_HANGUL_SYLLABLES)
COMMON_CYRILLIC: Final = frozenset(_RUSSIAN + _RUSSIAN.upper())
COMMON_GREEK: Final = frozenset(_GREEK_HALF + _GREEK_HALF.upper()) - frozenset("Ά")

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
    "Finnish": "äöåšž",
    "Faroese": "áðíóúýæø",
    "Luxembourgish": "äéëèêôöüœ",
    "Afrikaans": "áéèêëíïóôöúûü",
    "Welsh": "âêîôûŵŷäëïöáéàè",
    "Maltese": "ċġħżàèìòù",
    "Esperanto": "ĉĝĥĵŝŭ",
    "Albanian": "ëçâ",
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


DOUBTFUL: Final = 0.3
"""From here on a text is doubtful: real texts stay far below, wrong readings far above."""

_SAMPLE_CHARS: Final = 20_000
_BEYOND: Final = 0x10000
(
    _NEUTRAL,
    _HAN,
    _COMMON_HAN,
    _COMMON_KANJI,
    _KANA,
    _HANGUL,
    _COMMON_HANGUL,
    _CYRILLIC,
    _COMMON_CYRILLIC,
    _GREEK,
    _COMMON_GREEK,
    _LATIN,
    _OTHER,
    _WRONG,
) = range(14)
_FEW: Final = 8
"""So many characters weigh half of what many would."""
_LETTERS_PER_CHAR: Final = 400
_WRONG_WEIGHT: Final = 2.5
_LEAST_CHARS: Final = 12
_PLAIN: Final = 4
_GREEK_LETTERS: Final = 0.25
_BROKEN_SHARE: Final = 0.12
_SWAPPED_SHARE: Final = 0.003
# What the commonest characters of a script are of all of it in wrong readings, at most, and in right ones, at least.
_HAN_SHARES: Final = (0.14, 0.3)
_NAME_SHARES: Final = (0.06, 0.13)
_STANDARD_SHARES: Final = (0.8, 0.93)
"""Names and terms have rarer characters, but still those in use."""
_KANJI_SHARES: Final = (0.14, 0.28)
_HANGUL_SHARES: Final = (0.15, 0.35)
_CYRILLIC_SHARES: Final = (0.45, 0.6)
_GREEK_SHARES: Final = (0.45, 0.6)
_JAPANESE: Final = 0.2
"""Kana per Han from which a text is Japanese."""

_READ_AS: Final = ("cp1252", "cp1250", "latin-1", "iso8859-2", "cp1254", "cp1257", "mac_roman", "cp850")
_WRITTEN_IN: Final = ("cp1250", "iso8859-2", "cp1252", "cp1254", "cp1257", "mac_roman", "cp850", "cp852", "cp1258")
_LEAST_LETTERS: Final = 10
_LEAST_DIFFERENT: Final = 3
# Of the letters of a text in one language, next to all are of it; names of others are few.
_MOST_STRANGE: Final = 0.94
_LEAST_MEANT: Final = 0.98


_ALPHABETS: Final = "\xc0-\xd6\xd8-\xf6\xf8-\u052f"  # × and ÷ are no letters
_HIGH: Final = "\\x80-\\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
# A UTF-8 sequence in the set of Western Europe (two of Hebrew, for × stands before quotes), runs of accents of none.
_AS_LATIN = re.compile(f"[Â-ÖØ-Û][{_HIGH}]|(?:×[{_HIGH}]){{2,}}|[à-ï][{_HIGH}]{{2}}|[ð-ô][{_HIGH}]{{3}}|ï¿½")
_LATIN_LETTERS: Final = range(0xA1, 0x250)
_LATIN_RUN = re.compile("[\\xa1-\u024f]{4,}")
# What no word of an alphabet holds: a mark inside it, a capital behind a small letter, letters of two alphabets.
# A set of characters stands first, because a search skips to those; what each choice demands of it comes behind.
_BROKEN_WORD = re.compile(
    f"[\xa1-\u052f‚„†‡‰‹›•™€\ufb01\ufb02](?:"
    f"(?<=[{_ALPHABETS}])[¡-©«-±´-¶¸»-¿‚-…†‡ˆ‰‹‘“•™€\xa0\xad\ufffd](?=\\w)|(?<=[¡-©¬-¶¸¹¼-¿†‡ˆ‰•™€])(?=[{_ALPHABETS}])|"
    "(?<=[a-z][¡-¿×÷‚„†‡ˆ‰‹›™\ufb01\ufb02])(?=[a-z])|(?<=[a-z][À-ÖØ-ÞŒŠŽŸ]))"
)
_AMONG_LETTERS = re.compile("[\xa1-\u024f](?:(?=[a-z])|(?<=[a-z].))")
_SWAPPED = re.compile("[ß-öø-ÿά-ώа-џґў][À-ÖØ-ÞΆ-ΏΑ-ΫЀ-ЯҐЎ]")
_CAPITALISED = re.compile("[À-ÖØ-ÞΆ-ΏΑ-ΫЀ-ЯҐ][ß-öø-ÿά-ώа-џґ]")
_TWO_ALPHABETS = re.compile("[A-Za-zÀ-ɏ][Ͱ-ԯ]|[Ͱ-ԯ][A-Za-zÀ-ɏ]|[Ͱ-Ͽ][Ѐ-ԯ]|[Ѐ-ԯ][Ͱ-Ͽ]")
# Vowel points and tones stand on a letter of their script, other marks not inside its words.
_LOOSE_MARK = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1-\u05c7](?<![\u0591-\u05f2].)|[\u064b-\u0652](?<![\u0600-\u06ff].)|"
    "[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e](?<![\u0e01-\u0e4e].)|[¡-©¬-¶¸¹¼-¾](?<=[\u0590-\u0e4e].)(?=[\u0590-\u0e4e])"
)
_HAN_IN_WORD = re.compile("(?<=[a-z])[\u3400-\u9fff](?=[a-z])")
_FAMOUS = re.compile("锟斤拷|锟斤|斤拷|烫烫烫|屯屯屯|锘锘|锘挎")


def _table() -> NDArray[np.uint8]:
    table = np.full(_BEYOND + 1, _OTHER, np.uint8)
    for first, last, kind in (
        (0x0000, 0x00C0, _NEUTRAL), (0x02B0, 0x0370, _NEUTRAL), (0x2000, 0x2800, _NEUTRAL), (0x3000, 0x3040, _NEUTRAL),
        (0xFE00, 0xFE70, _NEUTRAL), (0xFF00, 0xFF61, _NEUTRAL), (0xFFA0, 0xFFF0, _NEUTRAL), (0x0080, 0x00A0, _WRONG),
        (0xE000, 0xF900, _WRONG), (0xFF61, 0xFFA0, _WRONG), (0x2500, 0x25A0, _WRONG), (0xFFF0, 0x10000, _WRONG),
        (0x00C0, 0x0250, _LATIN), (0x1E00, 0x1F00, _LATIN), (0x0370, 0x0400, _GREEK),
        (0x0400, 0x0530, _CYRILLIC), (0x3041, 0x3100, _KANA), (0xAC00, 0xD7B0, _HANGUL), (0x3400, 0xA000, _HAN),
        (0xF900, 0xFB00, _HAN),
    ):  # fmt: skip
        table[first:last] = kind
    table[[ord(char) for char in "¤¦¨¬¯¶¸¹¼½¾³"]] = _LATIN
    table[[ord(char) for char in "×÷"]] = _NEUTRAL
    for chars, kind in (
        (COMMON_HANGUL, _COMMON_HANGUL),
        (COMMON_KANJI, _COMMON_KANJI),
        (COMMON_HAN, _COMMON_HAN),
        (COMMON_CYRILLIC, _COMMON_CYRILLIC),
        (COMMON_GREEK, _COMMON_GREEK),
    ):
        table[[ord(char) for char in chars]] = kind
    table[_BEYOND] = _NEUTRAL
    return table


_TABLE: Final = _table()


def suspicion(text: str) -> float:
    """Estimate how likely a text was read in a wrong character set, from 0 to 1.

    A headline is enough if it holds a dozen characters outside ASCII; ASCII alone gives 0.
    Cost: O(characters) of the first 20,000, some 10 ns each.

    >>> suspicion("河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段。")
    0.0
    >>> suspicion("DÃ©putÃ©s et sÃ©nateurs dÃ©noncent un arrÃªtÃ© prÃ©fectoral") > DOUBTFUL
    True
    """
    text = text[:_SAMPLE_CHARS]
    if text.isascii():
        return 0.0
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    counts: list[int] = np.bincount(_TABLE[np.minimum(codes, _BEYOND)], minlength=_WRONG + 1).tolist()
    chars = sum(counts[_HAN:])
    plain = len(text) - chars
    bad = _WRONG_WEIGHT * counts[_WRONG] + _east_asian(counts, text)
    if counts[_OTHER]:
        bad += _WRONG_WEIGHT * len(_LOOSE_MARK.findall(text))
    cyrillic, greek = counts[_CYRILLIC] + counts[_COMMON_CYRILLIC], counts[_GREEK] + counts[_COMMON_GREEK]
    if cyrillic >= _LEAST_CHARS:
        bad += cyrillic * _wrongness(counts[_COMMON_CYRILLIC] / cyrillic, _CYRILLIC_SHARES)
    if greek >= _LEAST_CHARS and greek > _GREEK_LETTERS * plain:  # fewer are letters of formulas
        bad += greek * _wrongness(counts[_COMMON_GREEK] / greek, _GREEK_SHARES)
    if counts[_LATIN] + cyrillic + greek or plain > _PLAIN * chars:
        bad += _broken_words(text, counts[_LATIN], cyrillic + greek)
    return min(1.0, bad / (chars + _FEW + plain / _LETTERS_PER_CHAR))


def _broken_words(text: str, latin: int, others: int) -> float:
    bad, letters = 0.0, latin + others
    swapped = len(_SWAPPED.findall(text))
    if swapped >= 2 and swapped > _SWAPPED_SHARE * letters and swapped > 0.5 * len(_CAPITALISED.findall(text)):
        bad += letters
    if is_misread(Counter(_AMONG_LETTERS.findall(text))):
        bad += letters
    for pattern in (_AS_LATIN, _LATIN_RUN):
        bad += sum(map(len, pattern.findall(text)))
    broken = len(_BROKEN_WORD.findall(text)) + (len(_TWO_ALPHABETS.findall(text)) if others else 0)
    return bad + (2 * broken if broken > max(1.0, _BROKEN_SHARE * letters) else 0)


def _east_asian(counts: list[int], text: str) -> float:
    common, kanji, kana = counts[_COMMON_HAN], counts[_COMMON_KANJI], counts[_KANA]
    han = counts[_HAN] + common + kanji
    bad = 0.0
    if han:
        bad += sum(map(len, _FAMOUS.findall(text))) + 2 * len(_HAN_IN_WORD.findall(text))
    if han >= _LEAST_CHARS:
        if kana >= _JAPANESE * han:
            bad += (han + kana) * _wrongness((common + kanji) / han, _KANJI_SHARES)
        else:
            rare = _wrongness(common / han, _HAN_SHARES)
            if rare:
                standard = 1.0 - _wrongness(_standard_share(text), _STANDARD_SHARES)
                rare = max(rare * (1.0 - standard), _wrongness(common / han, _NAME_SHARES))
            bad += han * rare
    hangul = counts[_HANGUL] + counts[_COMMON_HANGUL]
    if hangul >= _LEAST_CHARS:
        bad += hangul * _wrongness(counts[_COMMON_HANGUL] / hangul, _HANGUL_SHARES)
    return bad


def _standard_share(text: str) -> float:
    han = [char for char in text if "\u3400" <= char <= "\u9fff"]
    return max(sum(map(chars.__contains__, han)) for chars in _standards()) / max(1, len(han))


@cache
def _standards() -> tuple[frozenset[str], ...]:
    levels = (("gb2312", 0xB0, 0xD8, 0xA1), ("big5", 0xA4, 0xC7, 0x40), ("euc_jp", 0xB0, 0xD0, 0xA1))
    return tuple(
        frozenset(
            "".join(
                bytes((row, cell)).decode(name, "ignore") for row in range(first, last) for cell in range(low, 0xFF)
            )
        )
        for name, first, last, low in levels
    )


def _wrongness(share: float, shares: tuple[float, float]) -> float:
    wrong, right = shares
    return min(1.0, max(0.0, (right - share) / (right - wrong)))


@cache
def find_languages(codec: str) -> tuple[str, ...]:
    return tuple(name for name, small in _SMALL.items() if len(small.encode(codec, "ignore")) == len(small))


def count_belonging(counts: Mapping[str, int]) -> int:
    """Count the letters (outside a-z) of the one language that most of them belong to.

    Cost: O(different letters), in one product of matrices.

    >>> count_belonging({"é": 5, "ą": 1})
    5
    """
    places, languages = _languages()
    rows = [(places[char], n) for char, n in counts.items() if char in places]
    return int(_sums(languages, rows).max())


def _sums(table: NDArray[np.bool_], rows: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    if not rows:
        return np.zeros(table.shape[1], np.int64)
    places, counts = np.array(rows).T
    return np.asarray(counts @ table[places])


@cache
def _languages() -> tuple[dict[str, int], NDArray[np.bool_]]:
    places = {char: place for place, char in enumerate(sorted(frozenset().union(*LETTERS.values())))}
    return places, np.array([[char in letters for letters in LETTERS.values()] for char in places])


@cache
def _meanings() -> tuple[list[tuple[str, str]], NDArray[np.bool_]]:
    """Return the pair of sets of each column, and a table of meant letters.

    Rows are the characters of `_AMONG_LETTERS`; a column is the set in which a text was wrongly read, the set in which
    it was written, and a language of that: true where a letter of the language was meant.
    """
    pairs, columns = [], []
    for wrong, right in product(_READ_AS, _WRITTEN_IN):
        meant = [_reread(char, wrong, right) for char in map(chr, _LATIN_LETTERS)]
        for name in find_languages(right) if wrong != right else ():
            pairs.append((wrong, right))
            columns.append([char in LETTERS[name] for char in meant])
    return pairs, np.array(columns).T


def _reread(char: str, wrong: str, right: str) -> str:
    """Return the character that was written where this one is read, or nothing."""
    return char.encode(wrong, "ignore").decode(right, "ignore")


def is_misread(counts: Mapping[str, int]) -> bool:
    """Tell whether letters fit a language only when read in another character set.

    Characters that stand among letters count as letters. False for too few, and for unknown languages.

    Cost: O(different characters); many readings are tried, in one product of matrices, only if letters of several
        languages occur.

    >>> is_misread({"ø": 9, "ì": 7, "è": 5, "á": 9, "í": 9, "ù": 3, "š": 4, "é": 4})
    True
    """
    chars = sum(counts.values())
    if chars < _LEAST_LETTERS or count_belonging(counts) > _MOST_STRANGE * chars:
        return False
    pairs, meanings = _meanings()
    rows = [(ord(char) - _LATIN_LETTERS.start, n) for char, n in counts.items() if ord(char) in _LATIN_LETTERS]
    fitting = {pairs[place] for place in np.flatnonzero(_sums(meanings, rows) >= _LEAST_MEANT * chars)}
    return any(len({_reread(char, *pair) for char in counts}) >= _LEAST_DIFFERENT for pair in fitting)
