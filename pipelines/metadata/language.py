"""The language of a text, from its script, its commonest words and what the page declares."""

from __future__ import annotations

import re
from typing import Final

_HANS: Final = frozenset(
    "这个们来时国为说对会发过进动经学开关问产业现实员长东车书学习买卖门间见观觉电话网络设计论议语请谁让认记许证识试"
    "应该还选边远运连达万与专义乐"
    "乡争亚亲亿从众优传伤华协单卫历压厂听启员响团园围图场坏块坚坛处备复头夺奋奖妇妈孙宁宝实审宽对导将尔尘层岁岛币师"
    "帮庄庆库庙张弹强归当录"
)
_HANT: Final = frozenset(
    "這個們來時國為說對會發過進動經學開關問產業現實員長東車書學習買賣門間見觀覺電話網絡設計論議語請誰讓認記許證識試"
    "應該還選邊遠運連達萬與專義樂"
    "鄉爭亞親億從眾優傳傷華協單衛歷壓廠聽啟響團園圍圖場壞塊堅壇處備復頭奪奮獎婦媽孫寧寶審寬導將爾塵層歲島幣師幫莊慶"
    "庫廟張彈強歸當錄"
)
_ONLY_HANS: Final = _HANS - _HANT
_ONLY_HANT: Final = _HANT - _HANS
_WORDS: Final = {
    "en": "the of and to in is that for was with are this have from",
    "de": "der die und das ist nicht mit den von ein eine auch auf für",
    "fr": "le la les des et est une dans pour que qui sur pas avec",
    "es": "el la los las que del una por con para es en se como",
    "pt": "o os que do da em um uma para com não é dos mais",
    "it": "il di che la per un una del è con non sono della gli",
    "nl": "de het een van en dat is op te zijn voor met niet aan",
    "pl": "w i na się z nie do że jest to o jak po przez",
    "cs": "a v se na je že o z do s to pro jsou také",
    "sv": "och att det som en på är av för med till den har inte",
    "da": "og i at det er en til på af for med den ikke der",
    "no": "og i det er på som en til av for med ikke har at",
    "fi": "ja on ei että se oli mutta hän myös kun ovat mukaan sekä",
    "ro": "și în de la cu pe care nu este din pentru că au mai",
    "hu": "a az és hogy nem is egy meg van volt csak de már",
    "tr": "ve bir bu da için ile çok olarak de olan daha gibi ne",
    "id": "yang dan di untuk dengan ini dari dalam pada tidak itu akan",
    "vi": "và của là có không được cho các trong một người với",
    "ru": "и в не на что с по как это из за его но для",
    "uk": "і в не на що з та до це як за його але для",
    "bg": "и на да от за се в че са по не като с до",
    "el": "και το να του η της με που για από την στο δεν",
}
_STOP: Final = {
    word: [code for code, text in _WORDS.items() if word in text.split()]
    for text in _WORDS.values()
    for word in text.split()
}
_SCRIPTS: Final = (
    ("ko", re.compile("[\uac00-\ud7af]+")),
    ("ar", re.compile("[\u0600-\u06ff]+")),
    ("he", re.compile("[\u0590-\u05ff]+")),
    ("th", re.compile("[\u0e00-\u0e7f]+")),
    ("hi", re.compile("[\u0900-\u097f]+")),
    ("bn", re.compile("[\u0980-\u09ff]+")),
    ("ta", re.compile("[\u0b80-\u0bff]+")),
    ("ka", re.compile("[\u10a0-\u10ff]+")),
    ("hy", re.compile("[\u0530-\u058f]+")),
)
_OTHER = re.compile("[\u0530-\u10ff\uac00-\ud7af]")
_CJK = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]+")
_KANA = re.compile("[\u3040-\u30ff]+")
_WORD = re.compile(r"[^\W\d_]+")
_SAMPLE_CHARS: Final = 1800
_VOTERS: Final = 160
_TELLING_CHARS: Final = 600


def detect(text: str, declared: str = "") -> str:
    """Return the language of `text`: ISO 639-1, "zh-Hans" or "zh-Hant" for Chinese, empty when unknown.

    The script decides where it can; among languages of one script the page's declaration counts unless the commonest
    words clearly speak for another language.

    Args:
        text: the article, or whatever text the page has.
        declared: value of `<html lang>` or `og:locale`.

    Cost: O(1,800 characters).

    >>> detect("国务院总理在会议上说，经济发展要稳。")
    'zh-Hans'
    """
    sample = text[:_SAMPLE_CHARS]
    words = _WORD.findall(sample)
    letters = max(sum(map(len, words)), 1)
    han, kana = _count(_CJK, sample), _count(_KANA, sample)
    if han + kana > 0.25 * letters:
        if kana > 0.1 * (han + kana):
            return "ja"
        return _chinese(sample, declared)
    code = re.split(r"[-_]", declared.strip().lower(), maxsplit=1)[0]
    for name, pattern in _SCRIPTS if _OTHER.search(sample) else ():
        if _count(pattern, sample) > 0.4 * letters:
            same_script = {"ar": ("ar", "fa", "ur", "ckb"), "hi": ("hi", "mr", "ne")}.get(name, (name,))
            return code if code in same_script else name
    votes: dict[str, int] = {}
    for word in words[:_VOTERS]:
        for language in _STOP.get(word.lower(), ()):
            votes[language] = votes.get(language, 0) + 1
    best = max(votes, key=lambda name: votes[name]) if votes else ""
    plausible = len(code) in {2, 3} and code.isalpha() and code != "zh"
    if plausible and (not best or votes[best] < 8 or votes.get(code, 0) * 2 >= votes[best] or code not in _WORDS):
        return code
    return best if best and votes[best] >= 3 else ""


def _count(pattern: re.Pattern[str], text: str) -> int:
    """Characters that match; an absent script costs one scan."""
    return sum(map(len, pattern.findall(text)))


def _chinese(sample: str, declared: str) -> str:
    """Simplified or traditional, by the characters that only one of the two writes."""
    sample = sample[:_TELLING_CHARS]
    simple = sum(map(_ONLY_HANS.__contains__, sample))
    traditional = sum(map(_ONLY_HANT.__contains__, sample))
    if simple == traditional:
        declared = declared.lower()
        return "zh-Hant" if any(mark in declared for mark in ("tw", "hk", "mo", "hant")) else "zh-Hans"
    return "zh-Hans" if simple > traditional else "zh-Hant"
