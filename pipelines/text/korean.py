"""Stems of Korean words: what is left of a noun without its particles.

Words carry particles (다리를, 항구에서는) and verbs their endings. Without a dictionary of forms this is cut by endings
alone, which is enough for keywords: phrases are made of nouns.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_HANGUL = re.compile(r"[\uac00-\ud7a3]{2,}")
_LEAST_STEM: Final = 2
_PARTICLE = re.compile(
    r"(?:으로부터|에서부터|로부터|에게서|이라고|이라는|이라며|까지는|에서는|에서도|에게는|으로는|으로도|에서의|으로써|으로서|"
    r"이라도|라고|라는|라며|에서|에게|한테|께서|부터|까지|마다|조차|마저|밖에|보다|처럼|만큼|대로|이나|이란|에는|에도|와의|과의|"
    r"로는|로도|로써|로서|으로|이며|이자|은|는|이|가|을|를|의|에|와|과|도|만|로|나)$"
)
_PREDICATE = re.compile(
    r"(?:다|다고|냐고|자고|것\w*|(?<![사창광보최금재경선신예권공충해])고|"
    r"[았었였겠했됐렸졌쳤갔왔났봤](?:으며|지만|는데|던|고|을|기|음)|며|면서|지만|는데|려고|도록|[하되지이]고|[하되지]기|"
    r"[하되지이](?:는|면|게|여|던|자)|아서|어서|해서|여서|해야|어야|아야|위해|대해|통해|따라|관한|대한|위한|따른|의한|인한|"
    r"[가-힣]지는|르는|하지|되지|않는|않은|있는|없는|같은|많은|했던|됐던|된|될|한다는|된다는|[한된인]다며|까|네요|어요|아요|"
    r"해요|죠|세요)$"
)
_SAYS_LITTLE: Final = frozenset(
    {
        "것으로", "것이", "것은", "것을", "것도", "이날", "오전", "오후", "지난", "이번", "이후", "이전",
        "당시", "현재", "최근", "올해", "지난해", "내년", "모든", "여러", "다른", "새로운", "함께", "다시",
        "또한", "그리고", "하지만", "그러나", "때문에", "가운데", "등을", "등의", "등이", "명의", "년의", "개의",
        "이런", "그런", "어떤", "우리", "가장", "매우", "더욱", "약간", "전에",
    }
)  # fmt: skip


class KoreanStem(NamedTuple):
    """A word without its particle; `is_closed` if one was cut off that ends a phrase."""

    stem: str
    is_closed: bool
    is_predicate: bool


@lru_cache(maxsize=20_000)
def stem(word: str) -> KoreanStem | None:
    """Return the stem of a word; None if it is not written in Hangul.

    >>> stem("다리를"), stem("개통되었다").is_predicate, stem("bridge")
    (KoreanStem(stem='다리', is_closed=True, is_predicate=False), True, None)
    """
    if not _HANGUL.fullmatch(word):
        return None
    if word in _SAYS_LITTLE or (len(word) > _LEAST_STEM and _PREDICATE.search(word)):
        return KoreanStem(word, is_closed=True, is_predicate=True)
    particle = _PARTICLE.search(word)
    if particle is None or particle.start() < _LEAST_STEM:
        return KoreanStem(word, is_closed=False, is_predicate=False)
    return KoreanStem(word[: particle.start()], is_closed=particle[0] != "의", is_predicate=False)
