"""Names of people in the ways bylines are written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Final

from ..dates.parse import MONTHS
from ..decode.text import clean, unique, words

MAX_AUTHORS: Final = 20
MAX_NAME_CHARS: Final = 60

_MAX_RUN_CHARS: Final = 24
# A pen name may follow a label with a colon or slash; after a bare 记者 only what starts with a family name counts.
_STRONG = re.compile(
    r"(?:作者|撰文|撰稿|采写|執筆|执笔|编译|編譯|著者|筆者|取材)(?:\s?[:：/／╱]|(?=\s))\s{0,3}|(?:^|"
    r"[（(【\[\s])(?:文字?|"
    r"图文)\s?[/／╱|｜:：]\s{0,3}"
)
_WEAK = re.compile(r"(?:记者|記者|通讯员|通訊員|评论员|作者)\s?[:：/／╱]?\s{0,3}")
_ROLE = re.compile(r"[\u4e00-\u9fff]{0,8}(?:记者|記者|通讯员|通訊員)\s{0,2}[:：]?\s{0,2}")
_CHINESE = re.compile(r"[者员員文撰执執编編译譯采材报報道导導/／]")
_HAN_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff·A-Za-z0-9 　、，,/／&]{2,60}")
_TOKEN = re.compile(r"[ 　、，,/／&和]+")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ][\w.'’-]{0,20}(?: [A-Za-zÀ-ɏ][A-Za-zÀ-ɏ.'’-]{0,20}){0,3}")
# 石佳/中国青年报
_OF_PAPER = re.compile(r"^[（(]?([\u4e00-\u9fff]{2,3})\s?[/／]\s?[\u4e00-\u9fff]{2,10}[报報网網社台臺]")
# Jane Doe | Senior Writer | July 2, 2025; Jane Doe, @janedoe
_HEAD = re.compile(r"([^\W\d_\u2e80-\uffef][^\d|｜·•,，–—\t@:：\u2e80-\uffef]{3,50})[|｜·•,，–—\t]")
_DATE_BEHIND = re.compile(r"@\w|(?:\d\d?,?|[./-]|[^\W\d_]\.?)\s?20\d\d(?!\d)|(?<!\d)20\d\d[-/.年]\d")
_NO_HEAD: Final = words(
    "updated published posted last breaking home news share photo video image opinion sports business politics world "
    "monday tuesday wednesday thursday friday saturday sunday press new the this our all copyright"
)
_REPORT = re.compile(r"(?:^|[（(\s\d])([\u4e00-\u9fff]{2,3})\s?(?:報導|报道|報道)[)）】]?$")
_WESTERN = re.compile(
    r"(?:^|[\s|｜])(?:author|by|von|par|por|di)\s?[:：]\s{0,3}([^\t|｜:：()（）【】\[\]<>]{2,60})", re.IGNORECASE
)
_BY = re.compile(
    r"^(?:written\s|posted\s|words\s)?(?:by|von|par|por|di|text|door|av|af|autor(?:es|ka)?|"
    r"автор)\s?:?\s{1,3}([^\W\d_][^\d|•·@\t]{2,80})",
    re.IGNORECASE,
)
# The commonest family names, in both scripts.
_FAMILY: Final = frozenset(
    "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅沈曾"
    "彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎閻"
    "余潘杜戴夏钟鍾汪田任姜范方石姚谭譚廖邹鄒熊金陆陸郝孔白崔康毛邱秦江史顾顧侯邵孟龙龍万萬段雷钱錢汤湯尹黎易常武乔"
    "喬贺賀赖賴龚龔文庞樊兰殷施陶洪翟安颜顏"
    "倪严嚴牛温芦季俞章鲁葛伍韦申尤毕聂丛焦向柳邢路岳齐梅莫庄莊辛管祝左涂谷祁时舒耿牟卜詹關关苗凌费纪靳盛童欧甄项曲"
    "成游阳裴溫席卫查屈鲍位覃霍翁隋植甘景薄单包"
    "司柏宁柯阮桂闵解强柴华车冉房边辜吉饶刁瞿戚丘古米池滕晋苑邬臧畅宫来"
)
# What may stand right behind a name: the end, another label, a place with date or slash.
_BEHIND = re.compile(
    r"$|[\s　、，,/／╱|｜&)）】\]:：。；;]|(?:报道|報導|報道|报导|摄|攝|翻|通讯员|通訊員|实习|實習|综合|綜合|整理|整合|"
    r"编辑|电\b|電\b|专访|專訪|特稿|撰|文\b)|"
    r"[\u4e00-\u9fff]{2,3}(?:\d|報導|报道|传真|傳真|專電|专电|[/／╱])"
)
_STOP: Final = words(
    "admin administrator name editor staff author redaktion redaction none null unknown guest 编辑 佚名 "
    "未知 匿名 全部 小编 管理员 本站 网络 互联网 综合 本报 记者 记者们 通讯员 作者 来源 责任编辑 编辑部 报道 "
    "報導 综合报道 整合 整理 原创 转载 不详 专业 网友 系统 发布 楼主 版主 摄影 手记 观察 调查 团队 提问 "
    "会 节 站 证 实习生 图片 简介 通讯 嘉义 嘉義 台北 北京 上海 广州 高雄 台中 台南 新北 桃園 當前位置 "
    "当前位置 首页 字体 字體 字号 字號 打印 列印 分享 收藏 大中小 稿源 来源 图文 视频 专栏作者 "
    "by von par por di staff contributor contributors taboola outbrain follow share comments author"
)
_NO_NAME = re.compile(
    r"^(?:[上下]一[篇页頁条條章]|简介|簡介|授权|授權|本人|单位|單位|投稿|认证|专栏|為|是|的|在|从|對|对|了)"
)
_PHRASES: Final = words(
    "writtenby postedby lastupdated updated published readmore seefullbio authorbio abouttheauthor followus signin "
    "login gettyimages istockphoto staffwriter guestauthor allposts viewprofile"
)
_PARTICLES: Final = words(
    "de da do dos das del della di du la le el van von der den ter ten bin al y e zu zur af te the"
)
_OFFICE = re.compile(
    r"(?:^|[\s-])(?:writer|reporter|correspondent|journalist|editor|columnist|contributor|photographer|producer)s?$|"
    r"\b(?:director|president|head|manager|founder) of\b",
    re.IGNORECASE,
)
"""Offices and jobs: "AP Technology Writer" beside "Jane Doe" is no second author."""
_BUTTON = re.compile(
    r"^(?:view|see|read|show|sign|posted|reviewed|results|filed|last|about|more|all|next|previous|skip|back|go|please|"
    r"click|creative commons)"
    r"\s|\b(?:articles|posts|stories) by\b",
    re.IGNORECASE,
)
_NO_LETTER = re.compile(r"[→←<>⟨⟩{}#*=+^~\[\]\\]")
_ROLE_BEHIND = re.compile(r"\s(?:in|on|at|for|with|from|is|was|to|and the)\s.*$")
_SLUG = re.compile(r"[a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){1,5}$")
_DATE = re.compile(r"([^\W\d_]{3,10})\.? \d{1,2}|\d{1,2}\.? ([^\W\d_]{3,10})")
_CLOCK = re.compile(r"\d[.:]\d\d|\b[ap]\.?m\.?$", re.IGNORECASE)
_PUBLISHER = re.compile(
    r"(?:通讯社|通訊社|中央社|新华社|中新社|日报|日報|晚报|信報|早报|时报|時報|商报|网|網|电视台|广播|新闻|企鹅号|"
    r"编辑部|中心|频道|公司|资讯|資訊|行情|专区|栏目|手机版|整理|委员会|人民政府)$|^发布|^今日|[前日]$"
)
_ORGANISATION = re.compile(r"[网網報报社讯訊台臺刊版店會会局院部厅所公司频道日晚间新闻资]")
_HOST = re.compile(r"[a-z0-9-]{1,40}(?:\.[a-z0-9-]{2,20}){1,3}$")
_SPLIT = re.compile(r"\s{0,3}(?:[;,，、/／&|｜\t]|\s(?:and|und|et|y|e|и|en|og|och)\s|\s{2,})\s{0,3}|　")
_PREFIX = re.compile(
    r"^(?:(?:(?:published|posted|written|reviewed) )?(?:by|von|par|por|di)\s|[\u4e00-\u9fff]{2,8}(?:专栏作者|专栏作家|"
    r"特约评论员)\s{0,2}|(?:本报|本報|新华社|实习|见习|特约|首席)?"
    r"(?:(?:作者|记者|記者|通讯员|撰文|撰稿)\s?[:：/／╱]?|(?:文字?|author|由)\s{0,2}[:：/／╱])\s{0,3})",
    re.IGNORECASE,
)
_SUFFIX = re.compile(
    r"(?:\s?[(（【].{0,40}|[/／╱].{0,30}|\s?(?:綜合報導|综合报道|台北報導|報導|报道|報道|实习记者|编辑|編輯)|"
    r"\s(?:攝|摄|文|撰|기자|특파원|논설위원))$"
)


def parse_line(line: str) -> list[str]:
    """Extract names of a byline: 作者：王小明, 【記者王小明╱台北報導】, "By Jane Doe".

    Args:
        line: one line of a page, fields separated by tabs; only its first 300 characters count.

    Returns:
        Names in order, maybe none.

    Cost: O(characters).

    >>> parse_line("【記者王小明╱台北報導】")
    ['王小明']
    """
    line = line[:300]
    return (_chinese(line) if _CHINESE.search(line) else []) or _western(line)


def _chinese(line: str) -> list[str]:
    """Extract names behind Chinese labels, or before the paper they write for."""
    for match in _STRONG.finditer(line):
        found = _names_at(line, match.end(), strict=False)
        if found:
            return found
    found = []
    for match in _WEAK.finditer(line):
        found += _names_at(line, match.end(), strict=True)
    if found:
        return found
    for pattern in (_REPORT, _OF_PAPER):
        named = pattern.search(line)
        if named and is_person(named[1]):
            return [named[1]]
    return []


def _western(line: str) -> list[str]:
    """Extract names behind "By" and its like, or in front of a date."""
    named = _before_date(line) if len(line) <= 120 and ("20" in line or "@" in line) else ""
    if named:
        return [named]
    western = _WESTERN.search(line) if ":" in line or "：" in line else None
    if western is None and len(line) <= 120:
        western = _BY.match(line.strip())
    if not western:
        return []
    # In prose "by" goes on in small letters.
    return [name for name in _SPLIT.split(_ROLE_BEHIND.sub("", western[1])) if name and _is_western(name)]


def _before_date(line: str) -> str:
    """Extract the name before a date or account: Jane Doe | Writer | July 2, 2025."""
    head = _HEAD.match(line)
    parts = head[1].split() if head else []
    if not head or not 2 <= len(parts) <= 4 or parts[0].lower() in _NO_HEAD or parts[0].lower() in MONTHS:
        return ""
    dated = _DATE_BEHIND.search(line, head.end(), head.end() + 60)
    return head[1].strip() if dated and _is_western(head[1]) and not _BY.match(line) else ""


def parse_prose(line: str) -> list[str]:
    """Extract names at the head or end of a paragraph: 本报记者 王小明 报道, （记者 李雷）.

    Args:
        line: a first or last paragraph of a text; only the first and the last 60 characters count.

    Returns:
        Names in order, maybe none; a reporter who merely acts in the story is none.

    Cost: O(1).
    """
    for part in (line[:60], line[-60:]) if len(line) > 60 else (line,):
        for match in _WEAK.finditer(part):
            bracket = max(
                part.rfind("（", 0, match.start()),
                part.rfind("(", 0, match.start()),
                part.rfind("【", 0, match.start()),
            )
            closed = max(part.rfind("）", 0, match.start()), part.rfind(")", 0, match.start()))
            if match.start() <= 6 or bracket > closed:
                found = _names_at(part, match.end(), strict=True)
                if found:
                    return found
    if len(line) <= 40:
        return parse_line(line)
    bracket = max(line.rfind("（", -30), line.rfind("(", -30), line.rfind("【", -30))
    if bracket >= 0 and line[-1] in ")）】。":
        return parse_line(line[bracket:])
    return parse_line(line[-16:]) if _REPORT.search(line[-16:]) else []


def is_person(text: str) -> bool:
    """Tell whether a field of an info line can only be a Chinese personal name.

    >>> is_person("王小明"), is_person("新华网")
    (True, False)
    """
    return (
        2 <= len(text) <= 3
        and text[0] in _FAMILY
        and all("\u4e00" <= char <= "\u9fff" for char in text)
        and not _ORGANISATION.search(text)
        and text not in _STOP
    )


def is_name(text: str) -> bool:
    """Tell whether a line reads like the name of one person and nothing else."""
    parts = text.split()
    return is_person(text) or (2 <= len(parts) <= 4 and text[0].isupper() and _is_western(text) and _plausible(text))


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
    found: list[str] = []
    text = run[0]
    at = 0
    for token in _TOKEN.split(text):
        at = text.find(token, at)
        if not token:
            continue
        if token[0].isascii() and strict:
            break
        behind = line[start + at + len(token) :][:12]
        if (
            not strict
            and (len(token) <= 4 or token[0].isascii() or token[0] not in _FAMILY)
            and not _NO_NAME.match(token)
        ):
            names = [token] if len(token) <= 10 and token not in _STOP else []
        else:
            names = _cut(token, behind)
        found += names
        if not names or sum(map(len, names)) < len(token):
            break
        at += len(token)
    return found


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


def tidy(names: Iterable[str], site_names: Iterable[str]) -> tuple[str, ...]:
    """Split raw names, strip labels and titles, drop sites, links and stop words.

    Args:
        names: raw values of metas, JSON-LD or bylines.
        site_names: what the site calls itself; never an author.

    Returns:
        At most `MAX_AUTHORS` distinct names of at most `MAX_NAME_CHARS` characters.

    Cost: O(characters).
    """
    raws = list(names)
    if not raws:
        return ()
    sites = {_fold(site) for site in site_names if site}
    found: list[str] = []
    for raw in raws:
        for part in _SPLIT.split(clean(raw[:400].replace("\t", "|"))):
            name = part.strip(" .:：·-–—|　()（）[]【】<>\"'“”")
            name = _SUFFIX.sub("", _PREFIX.sub("", name)).strip(" .:：()（）[]【】")
            if name[-1:] in {"摄", "攝"} and is_person(name[:-1]):
                name = name[:-1]
            if _plausible(name) and _fold(name) not in sites:
                found.append(name)
    people = [name for name in found if not _OFFICE.search(name)]
    return unique(people or found, MAX_AUTHORS)


def _plausible(name: str) -> bool:
    """Tell whether a string can be a name at all."""
    folded = _fold(name)
    return (
        2 <= len(name) <= MAX_NAME_CHARS
        and bool(folded)
        and name.lower() not in _STOP
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
        and (" " not in name or not name[0].islower() or name.split(maxsplit=1)[0] in _PARTICLES)
        and not _NO_LETTER.search(name)
        and folded not in _PHRASES
        and not _SLUG.match(name)
        and not _is_date(name)
        and not _BUTTON.search(name)
    )


def _is_western(name: str) -> bool:
    """Tell whether all words of a name begin with a capital or are particles."""
    return all(not word[0].islower() or word in _PARTICLES or word[1:2] == "'" for word in name.split())


def _is_date(name: str) -> bool:
    """Tell whether a name is a month with a day."""
    match = _DATE.match(name)
    return bool(match) and ((match[1] or match[2]).lower() in MONTHS if match else False)


def _fold(name: str) -> str:
    """Fold a name for comparison."""
    return re.sub(r"[\W_]+", "", name).lower()
