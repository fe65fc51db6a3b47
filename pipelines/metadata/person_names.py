"""Names of people in the ways bylines are written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from ..dates.parse import MONTHS
from ..decode.text import clean, shorten, unique
from ..word_lists import WordLists
from .name_words import is_chinese_word, is_made_of_words

MAX_AUTHORS: Final = 20
MAX_NAME_CHARS: Final = 60
_MAX_RUN_CHARS: Final = 24
_LONGEST_BYLINE: Final = 160
_LONGEST_INITIALS: Final = 5
_LONGEST_PEN_NAME: Final = 3

LISTS: Final = WordLists(Path(__file__).with_name("words") / "authors.txt")
_any = LISTS.pattern

# Chinese and Japanese bylines
_REPORTER, _HELPER, _REPORTS = _any("reporters"), _any("helpers"), _any("reports")
# A pen name may follow a label with a colon or slash; after a bare 记者 only what starts with a family name counts.
_STRONG = re.compile(
    rf"{_any('author labels')}(?:\s?[:：/／╱｜|丨]|(?=\s))\s{{0,3}}|"
    rf"(?:^|[（(【〔\[\s。！？”」]){_any('text labels')}\s?[/／╱|｜丨:：・=＝●]\s{{0,3}}"
)
_WEAK = re.compile(rf"(?:{_any('reporters', 'writers')}|({_HELPER}))\s?[:：/／╱]?\s{{0,3}}")
_ROLE = re.compile(rf"[\u4e00-\u9fff]{{0,8}}{_any('reporters', 'helpers')}\s{{0,2}}[:：]?\s{{0,2}}")
_CHINESE = re.compile(r"[者员員文撰执執编編译譯采材报報道导導/／╱发發主]")
_HAN_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff·A-Za-z0-9 　、，,/／&]{2,60}")
_TOKEN = re.compile(r"[ 　、，,/／&]+|(?<=[\u4e00-\u9fff]{2})和(?=[\u4e00-\u9fff]{2})")
# 田 原
_SPACED = re.compile(
    r"(?:(?<![\u4e00-\u9fff])|(?<=[者员員文]))([\u4e00-\u9fff])[ 　]{1,2}([\u4e00-\u9fff])(?![\u4e00-\u9fff])"
)
_PICTURE = re.compile(rf"(?:^|[^文]){_any('picture labels')}\s?[/／╱｜|:：][\u4e00-\u9fff]{{0,14}}\s?$")
_PHOTOGRAPHED = re.compile(r"\s{0,2}[/／]?\s?(?:[摄攝](?!影)|[摄攝]影(?=\s*$|[)）。，,])|供[图圖])")
# 石佳/中国青年报
_OF_PAPER = re.compile(r"^[（(]?([\u4e00-\u9fff]{2,3})\s?[/／]\s?[\u4e00-\u9fff]{2,10}[报報网網社台臺]")
_REPORT = re.compile(rf"(?:^|[（(\s\d])([\u4e00-\u9fff]{{2,3}})\s?{_REPORTS}[)）】]?$")
# 【王小明╱台北報導】, 王小明 文/图, 王小明 发表于 2019年3月12日
_SIGNED = re.compile(
    rf"(?:^[\s【〔［（(\[◎□]{{0,3}}|\d\s{{1,3}})([\u4e00-\u9fff]{{2,4}})\s?[╱／/]\s?[\u4e00-\u9fff]{{2,6}}"
    rf"(?:{_REPORTS}|[电電]|特稿)|"
    r"(?:^|[\s（(])([\u4e00-\u9fff]{2,4}(?:[ 、][\u4e00-\u9fff]{2,4}){0,3}?)\s{0,2}(?:文\s?[/／、]?\s?[图圖摄攝]|"
    r"[/／╱]文(?![\u4e00-\u9fff]))"
)
# ……年内通车。”文/王小明
_END = re.compile(
    rf"(?:(?<=[。！？”」』）)])|(?<=\s)){_any('closing labels')}?\s?[/／|｜丨]?\s?"
    rf"(?:{_any('closing signatures')}\s?[/／|｜丨:：]?\s?)[\u4e00-\u9fff]{{2,4}}(?:[ 、][\u4e00-\u9fff]{{2,4}}){{0,3}}"
    r"[)）。]?(?:\s{1,4}[图圖]\s?[/／|｜丨].{1,20})?$"
)
# 【山海醒報／林歆芳】
_FROM_PAPER = re.compile(
    r"(?:^|[\s【〔［（(\[◎□])[\u4e00-\u9fff]{1,8}(?:[報报社網网台臺訊讯]|新[聞闻])\s?[╱／/]\s?"
    r"([\u4e00-\u9fff]{2,4})\s?(?:$|[】〕］）)\]])"
)
# 中新社北京1月17日电 (张晓宁), 山海网讯（李雷 韩梅梅）
_DATELINE = re.compile(
    r"^[\s　]{0,4}[^，。；,;]{2,24}?[电電讯訊]\s?"
    r"[（(]\s?([\u4e00-\u9fff]{2,4}(?:[ 　、，,][\u4e00-\u9fff]{2,4}){0,5})\s?[)）]"
)
# ……年内通车。（李学刚）, (李艳 撰稿)
_BRACKET_END = re.compile(
    rf"(?:^|[。！？”」』…\s])\s?[（(【〔\[]\s?([\u4e00-\u9fff]{{2,4}}(?:[ 　、，,][\u4e00-\u9fff]{{2,4}}){{0,4}}?)"
    rf"\s?(?:{_any('writers', 'text labels', 'reports')}|发自[\u4e00-\u9fff]{{2,6}}|"
    rf"[/／╱][\u4e00-\u9fff]{{2,6}}{_REPORTS})?"
    r"\s?[)）】〕\]]。?$"
)
_POSTED = re.compile(
    rf"(?:^|[\t|｜·])\s?由?\s?([^\s:：，。|｜]{{2,20}})\s{{1,3}}(?:于\s.{{4,22}}\s)?{_any('posted')}于\s?[:：]?\s?(?=\S{{0,4}}\d)"
)
# What may stand right behind a name: the end, another label, a place with date or slash.
_BEHIND = re.compile(
    rf"$|\d{{1,2}}[月日]|[\s　、，,/／╱|｜&)）】\]:：。；;]|{_any('behind names')}|[电電文]\b|"
    rf"[\u4e00-\u9fff]{{2,3}}(?:\d|{_any('behind places')}|[/／╱])"
)
_OTHER_ROLES: Final = LISTS.words("other roles")
_STOPS: Final = frozenset("。！？；…)）】")
_ROLES: Final = LISTS.words("reporters", "helpers", "writers")
_ROLE_ENDS, _SIGNATURE_ENDS = (
    re.compile(f"[{''.join({word[-1] for word in words})}]") for words in (_ROLES, LISTS["closing signatures"])
)
"""Last characters of their words, one of which stands where one of the words does."""
_OPENS = re.compile(r"\s{0,3}[（(]")
_FAMILY: Final = LISTS.words("family names")
_COMPOUND: Final = LISTS.words("compound family names")

# Bylines of other languages
_PREPOSITION = _any("prepositions")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ][\w.'’-]{0,20}(?: [A-Za-zÀ-ɏ][A-Za-zÀ-ɏ.'’-]{0,20}){0,3}")
# Jane Doe | Senior Writer | July 2, 2025; Jane Doe, @janedoe
_HEAD = re.compile(r"([^\W\d_\u2e80-\uffef][^\d|｜·•,，–—\t@:：\u2e80-\uffef]{3,50})[|｜·•,，–—\t]")
_DATE_BEHIND = re.compile(r"@\w|(?:\d\d?,?|[./-]|[^\W\d_]\.?)\s?20\d\d(?!\d)|(?<!\d)20\d\d[-/.年]\d")
# Dec 26, 2025 • Jane Doe in Business
_NAME_BEHIND = re.compile(
    r"20\d\d\s?[|｜·•,–—\t-]?\s?([^\W\d_a-z\u2e80-\uffef][^\W\d_]{0,20}\.?(?:[ ][^\W\d_a-z][\w.'’-]{0,20}){1,3})"
    r"(?=$|\s?[|｜·•–—\t]|\s(?:in|on|for)\s)"
)
_HAS_DAY = re.compile(r"(?:19|20)\d\d|\d{1,2}:\d\d")
_SENTENCE_END = re.compile(r"(?<=[^\W\d_]{3})\.\s")
_NO_HEAD: Final = LISTS.words("no dated name")
_PART = re.compile(
    r"\s{0,3}[|｜·•;](?:\s{1,3}|$)|\s{1,3}[–—-]{1,2}\s{1,3}|\t(?=\S{1,12}\s{0,2}:)|"
    rf"(?<=\d[\s,]) ?(?={_PREPOSITION}\s)|(?<=\d)\s{{1,3}}(?={_PREPOSITION}\s)|\s(?={_any('picture fields')}s?\s?:)",
    re.IGNORECASE,
)
"""Where one field of a line ends: March 12, 2024 · by Jane Doe; Text: Jane Doe Foto: John Roe."""
_MIXED = re.compile(r"^[\w.-]{3,30}$")
_JOINED = re.compile(rf"\t({_any('and')}|[&,])\t")
_MAYBE = re.compile(rf"(?<!\w){_any('byline hints', 'labels')}|기자")
_GERMAN_DATE: Final = r"(?:am\s)?[\d.:, ]{6,24}(?:\sUhr)?"
_FRENCH_DATE: Final = r"le\s[\d/.]{6,10}(?:\sà\s[\dh:]{4,5})?"
_WRITTEN: Final = (
    rf"(?:(?:{_any('before by')}\s{{1,2}})?by|"
    rf"(?:(?:{_any('before von')}|{_any('dated before von')}\s{_GERMAN_DATE})\s)?von|"
    rf"(?:(?:{_any('before par')}|{_any('dated before par')}\s{_FRENCH_DATE})\s)?par|"
    rf"(?:{_any('before por')}\s)?por|(?:{_any('before di')}\s)?d[ia]|(?:door|av|af)(?:\sonze\s\w{{4,20}})?|"
    rf"{_any('other prepositions')}"
)
_LABELS: Final = rf"{_any('labels')}(?:\(?[ae]?s?\)?|in|en|es|ka)"
_BY = re.compile(
    rf"^(?:{_WRITTEN}|{_LABELS}(?=\s{{0,2}}[:：])|{_any('bare labels')}(?:es|ka|in)?(?=\s)))"
    r"(?:\s{0,2}[:：]\s{0,3}|\s{1,3})([^\W\d_][^\d|•·@\t:]{2,80})",
    re.IGNORECASE,
)
_BY_INSIDE = re.compile(rf"(?<=[\s)]){_PREPOSITION}\s(?=[^\W\d_a-z])")
_LABEL_FIELD = re.compile(
    rf"(?:^|\t)(?:{_WRITTEN})|{_LABELS}|作者|楼主|文)\s{{0,2}}[:：]?\t\s{{0,2}}([^\t:：]{{2,40}})(?:\t|$)",
    re.IGNORECASE,
)
_KOREAN_NAMES: Final = r"([가-힣]{2,4}(?:\s?[·,]\s?[가-힣]{2,4}){0,3})"
_KOREAN = re.compile(
    rf"(?:^|[\s(\[=]){_KOREAN_NAMES}\s?{_any('korean ranks')}?기자(?:$|[\s)\]=·])|"
    rf"(?:^|[\s(\[|·]){_any('korean labels')}(?:\s?[/·:=]\s?|\s){_KOREAN_NAMES}(?=$|[\s)\]/|·,])"
)
_KOREAN_SPLIT = re.compile(r"\s?[·,]\s?")
_AND: Final = rf"{_any('and')}\s"
_OTHERS_BEHIND = re.compile(
    rf"[;,.|·]?\s{{1,3}}(?:and\s)?(?:medically\s)?{_any('others by')}\s{_PREPOSITION}\s.*$", re.IGNORECASE
)
_FROM_PLACE = re.compile(rf"{_any('before cities')}\s")
_JOINED_NAMES = re.compile(rf"[,、，&;/\s](?:(?<!\s)|{_AND})")
_SPLIT = re.compile(
    rf"\s{{0,3}}(?:[;,，、/／&|｜\t]\s{{0,3}}(?:{_AND})?|\s{_AND}|\s[–—-]\s|\s{{2,}})\s{{0,3}}|\u3000|(?<=[가-힣])·(?=[가-힣])"
)

_ATTACHED = re.compile(r"(?<=\w\s)(\w{2,20})\s[وו](\w{2,20})(?=\s\w)")
"""In Arabic and Hebrew "and" is the first letter of the next word."""
_WITH_VAV: Final = LISTS.words("names with vav")

# What stands around a name, and is cut off
_PREFIX = re.compile(
    rf"^(?:(?:{_any('prefixes of by')} )?(?:by|von|par|por|di)\s|"
    rf"[\u4e00-\u9fff]{{2,8}}{_any('columnists')}\s{{0,2}}|{_any('papers of reporters')}?"
    rf"(?:{_any('reporter labels')}\s?[:：/／╱]?|{_any('text prefixes')}\s{{0,2}}[:：/／╱])\s{{0,3}}|"
    rf"{_any('korean labels')}\s?[/·:]?\s)",
    re.IGNORECASE,
)
_SUFFIX = re.compile(
    rf"(?:\s?[(（【].{{0,40}}|\s{_any('joint authors')}\s.{{2,30}}|[/／╱].{{0,30}}|\s?{_any('suffixes')}|"
    rf"\s{_any('suffixes behind blanks')}|\s{_any('korean pictures')}\s?[/:·]?\s.{{2,20}}|"
    rf"\s{_any('picture suffixes')}\s?[/:：・／|].{{1,20}})$"
)
_LABELLED = re.compile(r"([^:：・]{1,24}?)\s?[:：・]\s?(.{2,60})$")
_PICTURES = re.compile(rf"^{_any('pictures begin')}|{_any('pictures')}", re.IGNORECASE)
_PLACE_BEHIND = re.compile(rf"^((?:[^\W\d_][\w.'’-]*\s){{1,3}}[^\W\d_][\w.'’-]*)\s{_any('before places')}\s.*$")
"""Jo Hale in London."""
_NO_PART, _RANK = _any("no parts of names"), _any("ranks")
_TITLE_BEHIND = re.compile(
    rf"^((?!the\s)(?:(?!{_NO_PART})[^\W\d_][\w.'’-]{{0,20}}\s){{1,3}}(?!{_NO_PART}|{_RANK})[^\W\d_][\w.'’-]{{0,20}})"
    rf"[\s,]{{1,3}}(?:{_RANK}\s)*{_any('jobs behind names')}s?$",
    re.IGNORECASE,
)
_ROLE_BEHIND = re.compile(
    rf"\s{_any('going on')}\s.*$|\s(?:staff\s)?{_any('jobs of papers')}$|\s(?:the\s)?{_any('papers behind names')}$",
    re.IGNORECASE,
)
_DAYS: Final = LISTS.words("days of the week")
_BEHIND_DAY: Final = LISTS.words("behind a weekday")

# What is no name of a person
_STOP: Final = LISTS.words("no names")
_NO_NAME = re.compile(
    rf"^(?:{_any('posting')}(?:于|於)?(?:$|[^\u4e00-\u9fff])|{_any('posted at')}[于於]|共\d|文章$|"
    rf"{_any('no beginnings of names')})"
)
_INTERFACE: Final = LISTS.words("interface")
_SQUEEZED_INTERFACE: Final = LISTS.words("squeezed interface")
_SOFTWARE = re.compile(
    rf"\b{_any('software')}\b|(?:cms|\sUI)\s(?:team|inc)|cms$|^{_any('software credits')}\s(?:by|&)|©|copyright",
    re.IGNORECASE,
)
_PARTICLES: Final = LISTS.words("particles")
_OFFICE = re.compile(rf"(?:^|[\s-]){_any('jobs')}s?$|\b{_any('offices')} of\b", re.IGNORECASE)
_PICTURED = re.compile(rf"{_any('pictured')}s?\s|.*{_any('japanese links')}", re.IGNORECASE)
_OFFICE_WORD = re.compile(rf"{_any('office words')}$")
_TEAM = re.compile(
    rf"((?!{_any('no beginnings of teams')}\s)[^\W\d_][\w.&'’ -]{{1,40}}) {_any('teams')}$|team [^\W\d_]{{3,20}}$",
    re.IGNORECASE,
)
_EDITORIAL: Final = LISTS.words("editorial offices")
_STAFF: Final = frozenset({"staff", "newsroom", "redaktion", "redaction", "rédaction", "redazione", "redacción"})
_LONGEST_OFFICE: Final = 12
_NO_TEAM: Final = LISTS.words("no teams")
_AGENCIES: Final = LISTS.words("agencies")
_PRESS = re.compile(rf"(?:the )?{_any('press')}$", re.IGNORECASE)
_NO_MARKS: Final = str.maketrans("", "", ".®™℠ ")
_DEGREES: Final = LISTS.words("degrees")
_TITLED: Final = re.compile(
    rf"{_any('licences')}\s|no\s{_any('missing')}\b|(?:\w+\s)?admin(?:istrator)?$",
    re.IGNORECASE,
)
"""Licences, roles and places for a name that is missing: Licensed Electrician, No Caption, NOC Admin."""
_BUTTON = re.compile(rf"^{_any('buttons')}\s|\b{_any('lists of articles')} by\b", re.IGNORECASE)
_NO_LETTER = re.compile(r"[→←<>⟨⟩{}#*=+^~\[\]\\]")
_SLUG = re.compile(r"[a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){1,5}$")
_DATE = re.compile(r"([^\W\d_]{3,10})\.? \d{1,2}|\d{1,2}\.? ([^\W\d_]{3,10})")
_CLOCK = re.compile(r"\d[.:]\d\d|\b[ap]\.?m\.?$", re.IGNORECASE)
_PUBLISHER = re.compile(rf"{_any('publisher endings')}$|^{_any('publisher beginnings')}|[前日]$")
_ORGANISATION = re.compile(_any("organisation characters"))
_COMPANY = re.compile(
    r"(?:^|[\s,])(?:s\.\s?a|[aα]\.\s?[eε]|gmbh|inc|ltd|llc|corp|s\.?r\.?l|s\.\s?p\.\s?a|sp\. ?z ?o\. ?o|pty|plc|b\.v|"
    r"ооо|зао|оао)\.?$|"
    r"(?:有限公司|株式会社|㈱)$",
    re.IGNORECASE,
)
"""Legal forms of companies."""
_HOST = re.compile(r"[a-z0-9-]{1,40}(?:\.[a-z0-9-]{2,20}){1,3}$")


_NAMES_AUTHOR = re.compile(
    rf"{_any('author labels', 'reporters', 'helpers', 'writers', 'reports')}|기자|"
    rf"(?<!\w){_any('labels', 'prepositions')}(?!\w)"
)


def may_name(line: str) -> bool:
    return bool(_CHINESE.search(line) or _MAYBE.search(line.lower()) or "20" in line or "@" in line)


def has_label(line: str) -> bool:
    """Tell whether the head or end of a line says that it names an author."""
    return any(_NAMES_AUTHOR.search(part) for part in (line[:60].lower(), line[-60:].lower()))


def parse_line(line: str, *, dated: bool = True) -> list[str]:
    """Extract names of a byline: 作者：王小明, 【記者王小明╱台北報導】, "By Jane Doe".

    Fields of the line are separated by tabs; only its first 300 characters count. If `dated`, a name before a date is
    taken too: Jane Doe | July 2, 2025.

    Cost: O(characters).

    >>> parse_line("【記者王小明╱台北報導】")
    ['王小明']
    """
    line = line[:300]
    return (_chinese(line) if _CHINESE.search(line) else []) or _western(line, dated=dated)


def _chinese(line: str) -> list[str]:
    line = _SPACED.sub(_joined, line)
    for match in _STRONG.finditer(line):
        names = _names_at(line, match.end(), strict=False)
        if names:
            return names
    weak = [(bool(match[1]), _names_at(line, match.end(), strict=True)) for match in _WEAK.finditer(line)]
    if any(names for _, names in weak):
        # In a bracket of the text helpers are those who sent something in.
        reporters = [name for is_helper, names in weak for name in names if not is_helper]
        return reporters if reporters and _OPENS.match(line) else [name for _, names in weak for name in names]
    for pattern in (_REPORT, _OF_PAPER, _FROM_PAPER):
        named = pattern.search(line)
        if named and is_person(named[1]):
            return [named[1]]
    named = _SIGNED.search(line)
    if named:
        return [name for name in _TOKEN.split(named[1] or named[2]) if is_person(name)]
    named = _POSTED.search(line)
    return [named[1]] if named else []


def _joined(match: re.Match[str]) -> str:
    """Return a name of two characters without the blank between them: 田 原."""
    return match[1] + match[2] if match[1] in _FAMILY else match[0]


def _western(line: str, *, dated: bool) -> list[str]:
    if dated and len(line) <= 120 and ("20" in line or "@" in line):
        named = _before_date(line) or _after_date(line)
        if named:
            return named
    if not _MAYBE.search(line.lower()):
        return []
    korean = _KOREAN.search(line)
    if korean:
        return _KOREAN_SPLIT.split(korean[1] or korean[2])
    field = _LABEL_FIELD.search(line)
    if field and _MIXED.search(field[1]) and len(field[1].split()) == 1:
        return [field[1]]  # a handle
    line = _OTHERS_BEHIND.sub("", _JOINED.sub(r" \1 ", line))
    for part in _parts(line):
        match = _BY.match(part.strip())
        if match:
            # In prose "by" goes on in small letters.
            cut = (_ROLE_BEHIND.sub("", name) for name in _SPLIT.split(match[1]))
            names = [name for name in cut if name and _is_western(name) and not _FROM_PLACE.match(name)]
            if names:
                return names
    return []


def _parts(line: str) -> list[str]:
    """Cut a line where its fields end, and before "by" behind a date."""
    if len(line) > _LONGEST_BYLINE:
        line = line[:_LONGEST_BYLINE].rpartition(" ")[0]
        ends = [end.start() for end in _SENTENCE_END.finditer(line)]
        return [line[: ends[0]]] if ends and _BY.match(line) else []
    parts = _PART.split(line)
    inside = _BY_INSIDE.search(line) if _HAS_DAY.search(line) else None
    return [*parts, line[inside.start() :]] if inside else parts


def _after_date(line: str) -> list[str]:
    """Extract a name behind a date: Dec 26, 2025 • Jane Doe in Business."""
    named = _NAME_BEHIND.search(line)
    if not named or not is_name(named[1]) or named[1].split()[0].lower() in _NO_HEAD:
        return []
    return [named[1]]


def _before_date(line: str) -> list[str]:
    """Extract names before a date or account: Jane Doe | Writer | July 2, 2025."""
    head = _HEAD.match(line)
    parts = head[1].split() if head else []
    if not head or not 2 <= len(parts) <= 4 or parts[0].lower() in _NO_HEAD or parts[0].lower() in MONTHS:
        return []
    dated = _DATE_BEHIND.search(line, head.end(), head.end() + 60)
    if not dated or not _is_western(head[1]) or _BY.match(line):
        return []
    several = _SPLIT.split(line.partition("\t")[0])
    return several if all(map(is_name, several)) else [head[1].strip()]


def parse_prose(line: str) -> list[str]:
    """Extract names at the head or end of a paragraph: 本报记者 王小明 报道, （记者 李雷）.

    A reporter who merely appears in the story does not count.
    Cost: O(1), the first and the last 60 characters.
    """
    if len(line) <= 60 and line[-1:] not in _STOPS and (names := parse_line(line)):
        return names
    for piece in (line[:60], line[-60:]) if len(line) > 60 else (line,):
        if not _ROLE_ENDS.search(piece):
            continue
        part = _SPACED.sub(_joined, piece)
        helpers: list[str] = []
        for match in _WEAK.finditer(part):
            bracket = max(
                part.rfind("（", 0, match.start()),
                part.rfind("(", 0, match.start()),
                part.rfind("【", 0, match.start()),
            )
            closed = max(part.rfind("）", 0, match.start()), part.rfind(")", 0, match.start()))
            if match.start() <= 6 or bracket > closed:
                names = _names_at(part, match.end(), strict=True)
                if names and not match[1]:
                    return names
                helpers = helpers or names
        if helpers:
            return helpers
    dateline = _DATELINE.match(line[:80])
    return (_persons(dateline[1]) if dateline else []) or _signed(line)


def _signed(line: str) -> list[str]:
    if len(line) <= 40:
        return parse_line(line)
    end = line[-40:]
    signed = _SIGNED.match(line[:40]) or (_SIGNATURE_ENDS.search(end) and _END.search(end))
    if signed:
        return parse_line(signed[0])
    bracket = max(line.rfind("（", -30), line.rfind("(", -30), line.rfind("【", -30))
    if bracket >= 0 and line[-1] in ")）】。":
        return parse_line(line[bracket:])
    return parse_line(line[-16:]) if _REPORT.search(line[-16:]) else []


def parse_signature(line: str) -> list[str]:
    """Extract the names in a bracket that ends a text: ……年内通车。（李学刚）.

    Cost: O(1), the last 40 characters.
    """
    signed = _BRACKET_END.search(line[-40:])
    return _persons(signed[1]) if signed else []


def parse_names(line: str) -> list[str]:
    """Extract the names of a line of nothing else: Jo Hale, Kim Roe & Lee Dunn."""
    is_han = "\u4e00" <= line[:1] <= "\u9fff"
    if not is_han and not line[:1].isupper():
        return []
    if is_name(line):
        return [line]
    if is_han and all(map(is_person, line.split())):
        return line.split()
    if not _JOINED_NAMES.search(line):
        return []
    names = [name for name in _SPLIT.split(line) if name]
    *people, last = names or [""]
    if people and all(map(is_name, people)):
        return names if is_name(last) else people if is_office(last) or same(last, LISTS["press"]) else []
    return []


def is_of_pictures(label: str) -> bool:
    """Tell whether the name behind a label is a photographer's."""
    return _PICTURES.search(label.strip()) is not None


def _persons(run: str) -> list[str]:
    """Split a run of names, behind that of their paper; empty if one is a word."""
    names = [name for name in _TOKEN.split(_SPACED.sub(_joined, run)) if name]
    if names and names[-1][-1] in "摄攝":
        return []
    if len(names) > 1 and _PUBLISHER.search(names[0]):
        names = names[1:]
    return names if all(map(_may_sign, names)) else []


def _may_sign(name: str) -> bool:
    return is_person(name) or (
        len(name) <= _LONGEST_PEN_NAME
        and name not in _ROLES
        and not _ORGANISATION.search(name)
        and name not in _STOP
        and not is_made_of_words(name)
    )


def is_person(text: str) -> bool:
    """Tell whether a field can only be a Chinese personal name.

    >>> is_person("王小明"), is_person("新华网")
    (True, False)
    """
    return (
        ((2 <= len(text) <= 3 and text[0] in _FAMILY) or (len(text) in {3, 4} and text[:2] in _COMPOUND))
        and all("\u4e00" <= char <= "\u9fff" for char in text)
        and not _ORGANISATION.search(text)
        and text not in _STOP
        and not is_chinese_word(text)
    )


@lru_cache(maxsize=4096)
def is_name(text: str) -> bool:
    parts = text.split()
    return is_person(text) or (
        2 <= len(parts) <= 4
        and text[0].isupper()
        and not any(map(str.isdigit, text))
        and _is_western(text)
        and _has_form(text)
        and not is_made_of_words(text)
    )


def _names_at(line: str, start: int, *, strict: bool) -> list[str]:
    """Extract names at `start`; if `strict`, with a family name and a proper end."""
    role = _ROLE.match(line, start)
    if role:
        start = role.end()
    latin = _LATIN.match(line, start)
    if latin and not strict:
        return [latin[0]]
    run = _HAN_RUN.match(line, start)
    if not run:
        return []
    reporters: list[str] = []
    text = run[0]
    at = 0
    for token in _TOKEN.split(text):
        at = text.find(token, at)
        if not token:
            continue
        if token[0].isascii() and strict:
            break
        behind = line[start + at + len(token) :][:12]
        if behind[:1] in {":", "："} or token in _OTHER_ROLES:
            break  # the next label: 作者： 时间：
        if (
            reporters
            and not strict
            and is_person(reporters[0])
            and not all(map(is_person, _cut(token, behind) or [token]))
        ):
            break  # 作者：李兆清 江蘇南通 職員
        if (
            not strict
            and (len(token) <= 4 or token[0].isascii() or token[0] not in _FAMILY)
            and not _NO_NAME.match(token)
        ):
            names = [token] if len(token) <= 10 and token not in _STOP else []
        else:
            names = _cut(token, behind)
        reporters += names
        at += sum(map(len, names))
        if not names or len("".join(names)) < len(token):
            break
    is_picture = strict and (_PHOTOGRAPHED.match(line, start + at) or _PICTURE.search(line[:start]))
    return [] if is_picture else reporters


def _cut(token: str, behind: str) -> list[str]:
    """Split names written one after another without a break: 李莎莎黎史翔王进雨."""
    text = token[:_MAX_RUN_CHARS]
    line = token + behind

    @cache
    def names_from(at: int) -> tuple[str, ...]:
        if text[at : at + 1] not in _FAMILY:
            return ()
        for size in (3, 2, 4):
            name, end = text[at : at + size], at + size
            if len(name) < size or name in _STOP or name[1:] in {"者", "们"} or name[-1] == "翻":  # 翻摄
                continue
            rest = len(text) - end
            goes_on = rest >= 2 and text[end] in _FAMILY
            if (
                _BEHIND.match(line, end)
                or (size == 3 and goes_on and _BEHIND.match(line, end + 2))
                or (size < 4 and rest >= 3 and goes_on and names_from(end))
            ):
                return (name, *names_from(end))
        return ()

    return list(names_from(0))


@dataclass(frozen=True, slots=True)
class NameTest:
    """Test that every candidate for an author passes.

    Attributes:
        houses: names of the site that may stand for its authors.
        handles: those that the page links to their authors.
        is_thread: authors are users, of whom many go by a handle.
    """

    sites: tuple[str, ...] = ()
    houses: tuple[str, ...] = ()
    handles: frozenset[str] = frozenset()
    is_thread: bool = False

    def tidy(self, names: Iterable[str]) -> tuple[str, ...]:
        """Split raw names, strip labels and titles, drop what names nobody.

        At most `MAX_AUTHORS` distinct names of at most `MAX_NAME_CHARS` characters remain: of people, else of offices.
        Cost: O(characters).

        >>> NameTest(("The Sample",)).tidy(["By Jo Hale in London and Kim Roe", "The Sample", "Staff Directory"])
        ('Jo Hale', 'Kim Roe')
        """
        raws = list(names)
        if not raws:
            return ()
        sites = {fold(site) for site in self.sites if site}
        somebody: list[str] = []
        for raw in raws:
            line = _OTHERS_BEHIND.sub("", clean(shorten(raw, 400).replace("\t", "|")))
            for number, part in enumerate(_SPLIT.split(_ATTACHED.sub(_parted, line))):
                if number and _FROM_PLACE.match(part):
                    continue
                name = _stripped(part)
                if self.names_somebody(name) and fold(name) not in sites:
                    somebody.append(name)
        people = [name for name in somebody if not _names_no_person(name)]
        return unique(people or somebody, MAX_AUTHORS)

    def names_somebody(self, name: str) -> bool:
        """Tell whether a string can name a person, an office or an agency.

        >>> test = NameTest()
        >>> [test.names_somebody(name) for name in ("金杰远", "发表于", "Jo Hale", "Text", "AFP", "LTO", "express1")]
        [True, False, True, False, True, False, False]
        """
        if not _has_form(name):
            return False
        has_digits = any(map(str.isdigit, name))
        if is_handle(name) or has_digits:
            is_user = self.is_thread or (name in self.handles and not has_digits)
            return is_user and ((name.isalnum() and has_digits) or not is_made_of_words(name))
        if is_office(name) or same(name, self.houses):
            return True
        if _COMPANY.search(name):
            return False
        return not (_is_initials(name) or _TITLED.match(name) or _is_phrase(name) or is_made_of_words(name))


def _names_no_person(name: str) -> bool:
    """Tell whether a name beside others is that of an office, an agency or a site."""
    return bool(_OFFICE.search(name)) or is_office(name) or name in _AGENCIES or bool(_HOST.match(name.lower()))


def _parted(match: re.Match[str]) -> str:
    return match[0] if match[0].split()[1] in _WITH_VAV else f"{match[1]} | {match[2]}"


@lru_cache(maxsize=4096)
def _stripped(part: str) -> str:
    name = part.strip(" .:：·-–—|»«›　()（）[]【】<>\"'“”")
    labelled = _LABELLED.match(name)
    if labelled and is_made_of_words(labelled[1]):
        name = "" if _PICTURES.search(labelled[1]) else labelled[2]
    name = _SUFFIX.sub("", _PREFIX.sub("", name)).strip(" .:：()（）[]【】©")
    name = _TITLE_BEHIND.sub(r"\1", _without_day(name))
    name = _PLACE_BEHIND.sub(r"\1", name)
    return name[:-1] if name[-1:] in {"摄", "攝"} and is_person(name[:-1]) else name


def is_editorial_office(name: str) -> bool:
    """Tell whether a name is the staff of a site, without the site's name or with it.

    >>> [is_editorial_office(name) for name in ("News Desk", "9News Staff", "山海编辑部", "Jo Hale")]
    [True, True, True, False]
    """
    lower = name.strip().lower()
    site, _, staff = lower.rpartition(" ")
    is_of_site = staff in _STAFF and (any(map(str.isdigit, site)) or not is_made_of_words(site or staff))
    is_short = len(lower) <= _LONGEST_OFFICE and lower[-3:] in _EDITORIAL
    return len(lower) <= MAX_NAME_CHARS and (lower in _EDITORIAL or is_of_site or is_short)


def names_house(name: str) -> bool:
    return _has_form(name) and not is_handle(name) and not _is_initials(name)


def same(name: str, others: Iterable[str]) -> bool:
    """Tell whether a name is one of others, ignoring case, blanks and marks."""
    return fold(name) in {fold(other) for other in others if other}


def _without_day(name: str) -> str:
    """Cut a day of the week or a month behind a name: Anne Petit le Mardi."""
    while " " in name:
        head, _, last = name.rpartition(" ")
        is_month = last.lower() in MONTHS and " " in head
        if last.lower() not in _DAYS and not is_month and last not in _BEHIND_DAY:
            break
        name = head
    return name


@lru_cache(maxsize=4096)
def _has_form(name: str) -> bool:
    folded = fold(name)
    return (
        2 <= len(name) <= MAX_NAME_CHARS
        and bool(folded)
        and name.lower() not in _STOP
        and name.lower().replace("-", " ") not in _INTERFACE
        and name.lower() not in _DAYS
        and name.lower() not in MONTHS
        and not _SOFTWARE.search(name)
        and not _NO_NAME.match(name)
        and not _PUBLISHER.search(name)
        and not any(char in name for char in ":：=@。，？！")
        and sum(map(str.isdigit, name)) <= 3
        and name[0].isalpha()
        and not _CLOCK.search(name)
        and "http" not in folded
        and not _HOST.match(name)
        and "www" not in folded
        and len(name.split()) <= 6
        and (" " not in name or not _is_small(name) or name.split(maxsplit=1)[0] in _PARTICLES)
        and not _NO_LETTER.search(name)
        and folded not in _SQUEEZED_INTERFACE
        and not _SLUG.match(name)
        and not _is_date(name)
        and not _BUTTON.search(name)
    )


def is_handle(name: str) -> bool:
    """Tell whether a name looks like a login: express1, jane_doe, siegi."""
    return " " not in name and name.isascii() and (name.islower() or "_" in name)


def _is_initials(name: str) -> bool:
    """Tell whether a name is a degree, or capital letters of no agency."""
    letters = name.translate(_NO_MARKS)
    if letters.casefold() in _DEGREES:
        return True
    return len(letters) <= _LONGEST_INITIALS and letters.isascii() and letters.isupper() and name not in _AGENCIES


def is_office(name: str) -> bool:
    """Tell whether a name is an office or agency made of words: Gear Team."""
    match = _TEAM.match(name)
    return (match is not None and (match[1] or "").lower() not in _NO_TEAM) or _PRESS.match(name) is not None


def _is_phrase(name: str) -> bool:
    """Tell whether a name describes a picture, or has a small word (no particle)."""
    return bool(_PICTURED.match(name)) or any(
        _is_small(word) and word.isalpha() and word not in _PARTICLES and not _OFFICE_WORD.match(word)
        for word in name.split()[1:]
    )


def _is_small(word: str) -> bool:
    return word[0].islower() and not "\u10d0" <= word[0] <= "\u10ff"  # Georgian has no capitals in names


def _is_western(name: str) -> bool:
    return all(not _is_small(word) or word in _PARTICLES or word[1:2] == "'" for word in name.split())


def _is_date(name: str) -> bool:
    match = _DATE.match(name)
    return bool(match) and ((match[1] or match[2]).lower() in MONTHS if match else False)


@lru_cache(maxsize=4096)
def fold(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()
