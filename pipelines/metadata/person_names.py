"""Names of people in the ways bylines are written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from ..dates.parse import MONTHS
from ..decode.text import clean, shorten, unique, words
from .name_words import is_chinese_word, is_made_of_words

MAX_AUTHORS: Final = 20
MAX_NAME_CHARS: Final = 60

_MAX_RUN_CHARS: Final = 24
# A pen name may follow a label with a colon or slash; after a bare 记者 only what starts with a family name counts.
_STRONG = re.compile(
    r"(?:作者|撰文|撰稿|采写|執筆|执笔|编译|編譯|著者|筆者|取材|楼主|樓主)(?:\s?[:：/／╱｜|丨]|(?=\s))\s{0,3}|(?:^|"
    r"[（(【〔\[\s。！？”」])(?:文字?|图文|圖文|图/?文|文/?图)\s?[/／╱|｜丨:：・]\s{0,3}"
)
_WEAK = re.compile(r"(?:记者|記者|(通讯员|通訊員)|评论员|評論員|作者|编译|編譯|撰稿)\s?[:：/／╱]?\s{0,3}")
_ROLE = re.compile(r"[\u4e00-\u9fff]{0,8}(?:记者|記者|通讯员|通訊員|评论员|評論員)\s{0,2}[:：]?\s{0,2}")
_CHINESE = re.compile(r"[者员員文撰执執编編译譯采材报報道导導/／╱发發主]")
_HAN_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff·A-Za-z0-9 　、，,/／&]{2,60}")
_TOKEN = re.compile(r"[ 　、，,/／&]+|(?<=[\u4e00-\u9fff]{2})和(?=[\u4e00-\u9fff]{2})")
# 田 原
_SPACED = re.compile(
    r"(?:(?<![\u4e00-\u9fff])|(?<=[者员員文]))([\u4e00-\u9fff])[ 　]{1,2}([\u4e00-\u9fff])(?![\u4e00-\u9fff])"
)
_PICTURE = re.compile(r"(?:^|[^文])(?:图|圖|摄影|攝影|影像)\s?[/／╱｜|:：][\u4e00-\u9fff]{0,14}\s?$")
_PHOTOGRAPHED = re.compile(r"\s{0,2}[/／]?\s?(?:[摄攝](?!影)|[摄攝]影(?=$|[\s)）。，,])|供图|供圖)")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ][\w.'’-]{0,20}(?: [A-Za-zÀ-ɏ][A-Za-zÀ-ɏ.'’-]{0,20}){0,3}")
# 石佳/中国青年报
_OF_PAPER = re.compile(r"^[（(]?([\u4e00-\u9fff]{2,3})\s?[/／]\s?[\u4e00-\u9fff]{2,10}[报報网網社台臺]")
# Jane Doe | Senior Writer | July 2, 2025; Jane Doe, @janedoe
_HEAD = re.compile(r"([^\W\d_\u2e80-\uffef][^\d|｜·•,，–—\t@:：\u2e80-\uffef]{3,50})[|｜·•,，–—\t]")
_DATE_BEHIND = re.compile(r"@\w|(?:\d\d?,?|[./-]|[^\W\d_]\.?)\s?20\d\d(?!\d)|(?<!\d)20\d\d[-/.年]\d")
_NO_HEAD: Final = words(
    "updated published posted last breaking home news share photo video image opinion sports business politics "
    "world monday tuesday wednesday thursday friday saturday sunday press new the this our all copyright"
)
_REPORT = re.compile(r"(?:^|[（(\s\d])([\u4e00-\u9fff]{2,3})\s?(?:報導|报道|報道)[)）】]?$")
# 【王小明╱台北報導】, 王小明 文/图, 王小明 发表于 2019年3月12日
_SIGNED = re.compile(
    r"(?:^[\s【〔［（(\[◎□]{0,3}|\d\s{1,3})([\u4e00-\u9fff]{2,4})\s?[╱／/]\s?[\u4e00-\u9fff]{2,6}(?:報導|报道|報道|[电電]|特稿)|"
    r"(?:^|[\s（(])([\u4e00-\u9fff]{2,4}(?:[ 、][\u4e00-\u9fff]{2,4}){0,3}?)\s{0,2}(?:文\s?[/／、]?\s?[图圖摄攝]|"
    r"[/／╱]文(?![\u4e00-\u9fff]))"
)
# ……年内通车。”文/王小明
_END = re.compile(
    r"(?:(?<=[。！？”」』）)])|(?<=\s))(?:文|图文|圖文|编译|撰文|撰稿)?\s?[/／|｜丨]?\s?(?:(?:文|图文|撰文|编译|記者|"
    r"记者)\s?[/／|｜丨:：]?\s?)[\u4e00-\u9fff]{2,4}(?:[ 、][\u4e00-\u9fff]{2,4}){0,3}[)）。]?"
    r"(?:\s{1,4}[图圖]\s?[/／|｜丨].{1,20})?$"
)
_POSTED = re.compile(
    r"(?:^|[\t|｜·])\s?由?\s?([^\s:：，。|｜]{2,20})\s{1,3}(?:于\s.{4,22}\s)?(?:发表|發表|发布|發佈|写|寫|撰写)于\s?[:：]?\s?(?=\S{0,4}\d)"
)
_PART = re.compile(
    r"\s{0,3}[|｜·•;](?:\s{1,3}|$)|\s{1,3}[–—-]{1,2}\s{1,3}|\t(?=\S{1,12}\s{0,2}:)|"
    r"(?<=\d[\s,]) ?(?=(?:by|von|par|por|di|av|af)\s)|"
    r"(?<=\d)\s{1,3}(?=(?:by|von|par|por|di|av|af)\s)|\s(?=(?:Foto|Photo|Image|Fotografie|Bild|Фото)s?\s?:)",
    re.IGNORECASE,
)
"""Where one field of a line ends: March 12, 2024 · by Jane Doe; Text: Jane Doe Foto: John Roe."""
_MIXED = re.compile(r"^[\w.-]{3,30}$")
_JOINED = re.compile(r"\t(and|und|et|y|e|и|og|och|en|&|,)\t")
_LONGEST_BYLINE: Final = 160
_MAYBE = re.compile(
    r"(?<!\w)(?:by|von|par|por|di|da|av|af|door|oleh|au?[tv]h?[eo]u?r|автор|текст|te[xk]st|yaz|penulis|écri|scri|skriv|"
    r"writer|"
    r"reporter|redact|redak|redação|starter|verfass|forfatt|författ|szerző|γράφει|συντάκτης)|기자",
)
_WRITTEN: Final = (
    r"(?:(?:(?:written|posted|published|submitted|created|compiled|contributed|story|stories|article|words|text|"
    r"report|"
    r"reporting|reported|analysis|column|essay|review|(?:a\s)?guest\s(?:post|column|blog|article)|blog(?:\spost)?|"
    r"post|"
    r"photos\sand\stext)\s{1,2})?by|"
    r"(?:(?:geschrieben|verfasst|veröffentlicht|erstellt|(?:ein\s)?(?:gast)?(?:beitrag|kommentar|artikel)|text|"
    r"interview|"
    r"(?:veröffentlicht|geschrieben|erstellt)\s(?:am\s)?[\d.:, ]{6,24}(?:\sUhr)?)\s)?von|"
    r"(?:(?:écrit|rédigé|publié|posté|article|(?:publié|posté)\sle\s[\d/.]{6,10}(?:\sà\s[\dh:]{4,5})?)\s)?par|"
    r"(?:(?:escrito|publicado|texto|redactado|redigido|postado)\s)?por|(?:(?:scritto|pubblicato|articolo|"
    r"testo)\s)?d[ia]|"
    r"a\scura\sdi|(?:door|av|af)(?:\sonze\s\w{4,20})?|(?:skrevet|skriven)\sa[vf]|oleh|γράφει\s(?:ο|η)|thread\sstarter"
)
_LABELS: Final = (
    r"(?:author|autor|auteur|autore|автор|автори|авторы|текст|text|texte|texto|testo|tekst|words|writer|reporter|"
    r"journalist|yazar|yazan|yazı|penulis|szerző|συντάκτης|skribent|forfatter|författare|verfasser|"
    r"reda[ck]te?u?rs?(?:in)?|"
    r"redacción|redação|redazione|rédaction|by|von|par|por|di)(?:\(?[ae]?s?\)?|in|en|es|ka)"
)
_BY = re.compile(
    rf"^(?:{_WRITTEN}|{_LABELS}(?=\s{{0,2}}[:：])|(?:author|autor|auteur|autore|автор|writer)(?:es|ka|in)?(?=\s)))"
    r"(?:\s{0,2}[:：]\s{0,3}|\s{1,3})([^\W\d_][^\d|•·@\t:]{2,80})",
    re.IGNORECASE,
)
"""Labels of the languages at hand, and the names behind them."""
_LABEL_FIELD = re.compile(
    rf"(?:^|\t)(?:{_WRITTEN})|{_LABELS}|作者|楼主|文)\s{{0,2}}[:：]?\t\s{{0,2}}([^\t:：]{{2,40}})(?:\t|$)",
    re.IGNORECASE,
)
"""A label that is a field of its own, and the next field: that may be any name."""
_KOREAN = re.compile(r"(?:^|[\s(\[=])([가-힣]{2,4})\s?(?:선임|수석)?기자(?:$|[\s)\]=])")
# The commonest family names, in both scripts.
_FAMILY: Final = frozenset(
    "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅沈曾"
    "彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎閻"
    "余潘杜戴夏钟鍾汪田任姜范方石姚谭譚廖邹鄒熊金陆陸郝孔白崔康毛邱秦江史顾顧侯邵孟龙龍万萬段雷钱錢汤湯尹黎易常武乔"
    "喬贺賀赖賴龚龔文庞樊兰殷施陶洪翟安颜顏"
    "倪严嚴牛温芦季俞章鲁葛伍韦申尤毕聂丛焦向柳邢路岳齐梅莫庄莊辛管祝左涂谷祁时舒耿牟卜詹關关苗凌费纪靳盛童欧甄项曲"
    "成游阳裴溫席卫查屈鲍位覃霍翁隋植甘景薄单包"
    "司柏宁柯阮桂闵解强柴华车冉房边辜吉饶刁瞿戚丘古米池滕晋苑邬臧畅宫来"
    "闫佟褚佘桑鞠屠晏栾阚麻苟冼麦尚仲仇卓蔺蒙娄荆储虞宗荣冷沙简巩盖郎鹿楚揭欧冀蓝敖覃窦商匡茅乐支巫糜胥蒲籍浦逯蔚扈鄢郗晁亓綦"
    "閻閆陰陳闞樂紀纪闕歐藍簡鍾鄔詹費賓萬塗區區關齊勞榮衛倪蘭駱骆籃巴阙宓艾戈"
)
_COMPOUND: Final = words(
    "欧阳 歐陽 司马 司馬 上官 诸葛 諸葛 夏侯 皇甫 尉迟 公孙 令狐 慕容 司徒 端木 东方 南宫 范姜 張簡 张简"
)
# What may stand right behind a name: the end, another label, a place with date or slash.
_BEHIND = re.compile(
    r"$|\d{1,2}[月日]|[\s　、，,/／╱|｜&)）】\]:：。；;]|(?:报道|報導|報道|报导|摄|攝|翻|"
    r"通讯员|通訊員|实习|實習|综合|綜合|整理|整合|"
    r"编辑|电\b|電\b|专访|專訪|特稿|撰|文\b)|"
    r"[\u4e00-\u9fff]{2,3}(?:\d|報導|报道|传真|傳真|專電|专电|[/／╱])"
)
_STOP: Final = words(
    "admin administrator name editor staff author redaktion redaction none null unknown guest 编辑 佚名 未知 "
    "匿名 全部 小编 管理员 本站 网络 互联网 综合 本报 记者 记者们 通讯员 作者 来源 责任编辑 编辑部 报道 報導 "
    "综合报道 整合 整理 原创 转载 不详 专业 网友 系统 发布 楼主 版主 摄影 手记 观察 调查 团队 提问 会 节 站 证 "
    "实习生 图片 简介 通讯 嘉义 嘉義 台北 北京 上海 广州 高雄 台中 台南 新北 桃園 當前位置 当前位置 首页 字体 "
    "字體 字号 字號 打印 列印 分享 收藏 大中小 稿源 来源 图文 视频 专栏作者 by von par por di staff contributor "
    "contributors taboola outbrain follow share comments author"
)
_NO_NAME = re.compile(
    r"^(?:[上下]一[篇页頁条條章]|(?:发表|發表|发布|發佈|發布|发帖|發帖|编辑|編輯|回复|回覆|更新)(?:于|於)?(?:$|[^\u4e00-\u9fff])|(?:发表|發表|发布|發佈|發布)[于於]|人?评论|收藏|如何|正有|发消息|發消息|加好友|加为|关注|關注|点击|點擊|推荐|推薦|暂无|暫無|更多|共\d|总篇|文章$|简介|簡介|授权|授權|本人|单位|單位|"
    r"投稿|认证|专栏|為|是|的|在|从|對|对|了)"
)
_DAYS: Final = words(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun montag "
    "dienstag mittwoch donnerstag freitag samstag sonnabend sonntag lundi mardi mercredi jeudi vendredi samedi "
    "dimanche lunes martes miércoles jueves viernes sábado domingo segunda-feira terça-feira quarta-feira "
    "quinta-feira sexta-feira lunedì martedì mercoledì giovedì venerdì sabato domenica понедельник вторник среда "
    "четверг пятница суббота воскресенье pazartesi salı çarşamba perşembe cuma cumartesi pazar poniedziałek "
    "wtorek środa czwartek piątek sobota niedziela maandag dinsdag woensdag donderdag vrijdag zaterdag zondag "
    "måndag tisdag onsdag torsdag fredag lördag söndag mandag tirsdag lørdag søndag 星期一 星期二 星期三 星期四 "
    "星期五 星期六 星期日 星期天 周一 周二 周三 周四 周五 周六 周日 週一 週二 週三 週四 週五 週六 週日 today "
    "yesterday heute gestern hoy ayer oggi ieri сегодня вчера"
)
_INTERFACE: Final = words(
    "bio writer service services solution solutions "
    "country link links about sponsored advertisement advertorial ad member senior-member moderator "
    "administrator super-user marketing bluesky twitter facebook linkedin instagram whatsapp telegram youtube "
    "pinterest reddit email mail copy print menu search home news sport sports business opinion politics world "
    "tech technology health culture lifestyle entertainment travel food local national international video "
    "videos photos gallery newsletter newsletters subscribe donate contact privacy terms cookies help faq blog "
    "share-this follow-us sign-in log-in login register profile settings more redacción redacao redação "
    "redazione rédaction redakcja редакция haber-merkezi haber merkezi press-release pressemitteilung editorial "
    "editorial-team editorial-staff news-desk newsdesk web-desk staff-reporter staff-writer staff-report "
    "our-reporter our-correspondent special-correspondent correspondent web-team content-team webmaster "
    "site-admin root test user username anonymous anonym unbekannt inconnu anónimo аноним post-by article-by "
    "story-by text-by insights-from by-line 登入 宋体 昵称 暱稱 用户名 新手上路 游客 访客 赞赏 文字大小 来自 關注 关注 "
    "私信 打赏 点赞 點讚 登录 登錄 注册 註冊 回复 回覆 楼层 发帖 發帖 只看该作者 只看楼主 点击 阅读 总篇数 "
    "社会关注 评论 社论 社論 帝国cms phpcms discuz dedecms wordpress typecho joomla drupal"
)
"""Words of the user interface, of staffs and of software, folded; with a hyphen for a blank."""
_SOFTWARE = re.compile(
    r"\b(?:discuz|comsenz|phpwind|dedecms|phpcms|wordpress|joomla|drupal|typecho|empirecms)\b|(?:cms|"
    r"\sUI)\s(?:team|inc)|cms$|"
    r"^(?:designer|designed|powered|developed|created|copyright)\s(?:by|&)|©|copyright",
    re.IGNORECASE,
)
_PHRASES: Final = words(
    "writtenby postedby lastupdated updated published readmore seefullbio authorbio abouttheauthor followus signin "
    "login gettyimages istockphoto staffwriter guestauthor allposts viewprofile"
)
_PARTICLES: Final = words(
    "de da do dos das del della di du la le el van von der den ter ten bin al y e zu zur af te the"
)
_OFFICE = re.compile(
    r"(?:^|[\s-])(?:writer|reporter|correspondent|journalist|editor|columnist|contributor|photographer|producer|"
    r"coordinator|"
    r"specialist|strategist|manager|analyst|consultant|officer|engineer)s?$|"
    r"\b(?:director|president|head|manager|founder) of\b",
    re.IGNORECASE,
)
"""Offices and jobs: "AP Technology Writer" beside "Jane Doe" is no second author."""
_LABELLED = re.compile(r"([^:：・]{1,24}?)\s?[:：・]\s?(.{2,60})$")
_PICTURES = re.compile(
    r"^(?:photo|foto|fotó|image|imagen|imagem|bild|kuva|video|illustration|фото|φωτ|صور|تصوير)|写真|撮影|摄影|攝影|[图圖]|사진|"
    r"영상",
    re.IGNORECASE,
)
_PICTURED = re.compile(
    r"(?:photo|foto|image|photograph|video|фото)s?\s|.*(?:の記事|一覧|をみる|を見る|はこちら)", re.IGNORECASE
)
_OFFICE_WORD = re.compile(
    r"(?:team|staff|editors|editorial|desk|newsroom|redaktion|redacci[oó]n|rédaction|reporters?|writers?|correspondents?)$"
)
_TEAM = re.compile(
    r"((?!our\s|all\s|contact\s|about\s|meet\s)[^\W\d_][\w.&'’ -]{1,40}) (?:team|staff|editors|desk|"
    r"editorial|newsroom|redaktion|staff (?:reporter|writer)|agency|hospital|university|institute|foundation|"
    r"media)$|team [^\W\d_]{3,20}$",
    re.IGNORECASE,
)
_NO_TEAM: Final = words(
    "help service support front information editorial web news content site sales the social digital multi our travel"
)
"""With these before it a team may be that of any site."""
_AGENCIES: Final = words(
    "AAP ABC AFP AGI AIPS ANI ANP ANSA AP APA ATS BBC BELGA CBC CBS CNN CP CTK DAPD DDP DPA EFE EPD ESPN IANS KNA "
    "KYODO LUSA MDR MTI NBC NDR NHK NPR NTB NTV PA PAP PBS PTI QMI REUTERS RFE RFI RTR SDA SID SWR TASS TIME TMZ TT "
    "UKPA UNI UPI VOA WDR XINHUA YNA ZDF"
)
_PRESS = re.compile(
    r"(?:the )?(?:(?:associated|canadian|united|australian associated) press(?: international)?|press association|"
    r"press trust of india|agence france-presse|united news of india|economist|new york times|national geographic)$",
    re.IGNORECASE,
)
"""Agencies and papers whose names are made of words."""
_LONGEST_INITIALS: Final = 5
_NO_MARKS: Final = str.maketrans("", "", ".®™℠ ")
_DEGREES: Final = words("phd dphil mphil edd psyd pharmd msc bsc bcom meng beng llb llm esq jr sr")
_TITLED: Final = re.compile(
    r"(?:licensed|certified|registered|chartered|accredited|board[- ]certified)\s"
    r"|no\s(?:caption|author|byline|name|image)\b|(?:\w+\s)?admin(?:istrator)?$",
    re.IGNORECASE,
)
"""Licences, roles and places for a name that is missing: Licensed Electrician, No Caption, NOC Admin."""
_PLACE_BEHIND = re.compile(r"^((?:[^\W\d_][\w.'’-]*\s){1,3}[^\W\d_][\w.'’-]*)\s(?:in|at|for|from|using|reporting)\s.*$")
"""Jo Hale in London."""
_BUTTON = re.compile(
    r"^(?:view|see|read|show|sign|posted|reviewed|results|filed|last|about|more|all|next|previous|skip|back|go|"
    r"please|"
    r"click|creative commons)"
    r"\s|\b(?:articles|posts|stories) by\b",
    re.IGNORECASE,
)
_NO_LETTER = re.compile(r"[→←<>⟨⟩{}#*=+^~\[\]\\]")
_TITLE_BEHIND = re.compile(
    r"^((?!the\s)(?:(?!staff|team|web|desk)[^\W\d_][\w.'’-]{0,20}\s){1,3}(?!staff|team|web|desk|senior|"
    r"contributing|deputy|"
    r"associate|managing|chief|executive|guest|news|freelance)[^\W\d_][\w.'’-]{0,20})[\s,]{1,3}(?:(?:senior|staff|"
    r"contributing|deputy|associate|managing|chief|executive|guest|news|freelance)\s)*"
    r"(?:editor|writer|reporter|correspondent|columnist|contributor|journalist|author)s?$",
    re.IGNORECASE,
)
"""Jane Doe Senior Writer."""
_ROLE_BEHIND = re.compile(
    r"\s(?:in|on|at|for|with|from|is|was|to|and the|avec|mit)\s.*$|"
    r"\s(?:staff\s)?(?:writer|reporter|correspondent|columnist)$|\s(?:the\s)?(?:associated press|reuters|afp|cnn|"
    r"bloomberg)$",
    re.IGNORECASE,
)
_SLUG = re.compile(r"[a-z0-9]{1,30}(?:-[a-z0-9]{1,30}){1,5}$")
_DATE = re.compile(r"([^\W\d_]{3,10})\.? \d{1,2}|\d{1,2}\.? ([^\W\d_]{3,10})")
_CLOCK = re.compile(r"\d[.:]\d\d|\b[ap]\.?m\.?$", re.IGNORECASE)
_PUBLISHER = re.compile(
    r"(?:通讯社|通訊社|中央社|新华社|中新社|日报|日報|晚报|信報|早报|时报|時報|商报|网|網|电视台|广播|新闻|企鹅号|"
    r"编辑部|中心|频道|公司|资讯|資訊|行情|专区|栏目|手机版|整理|委员会|人民政府|[日号][电電讯訊])$|^发布|^今日|[前日]$"
)
_ORGANISATION = re.compile(r"[网網報报社讯訊台臺刊版店會会局院部厅所公司频道日晚间新闻资]")
_HOST = re.compile(r"[a-z0-9-]{1,40}(?:\.[a-z0-9-]{2,20}){1,3}$")
_AND: Final = r"(?:and|und|et|y|e|и|і|та|en|og|och|ve|και)\s"
_SPLIT = re.compile(rf"\s{{0,3}}(?:[;,，、/／&|｜\t]\s{{0,3}}(?:{_AND})?|\s{_AND}|\s[–—-]\s|\s{{2,}})\s{{0,3}}|\u3000")
_PREFIX = re.compile(
    r"^(?:(?:(?:published|posted|written|reviewed|article|post|story|words|text) )?(?:by|von|par|por|di)\s|"
    r"[\u4e00-\u9fff]{2,8}(?:专栏作者|专栏作家|"
    r"特约评论员)\s{0,2}|(?:本报|本報|新华社|实习|见习|特约|首席)?"
    r"(?:(?:作者|记者|記者|通讯员|撰文|撰稿)\s?[:：/／╱]?|(?:文字?|author|由)\s{0,2}[:：/／╱])\s{0,3}|(?:글|취재)\s?[/·:]?\s)",
    re.IGNORECASE,
)
_SUFFIX = re.compile(
    r"(?:\s?[(（【].{0,40}|\s(?:avec|with|mit)\s.{2,30}|[/／╱].{0,30}|\s?(?:綜合報導|综合报道|台北報導|報導|报道|報道|实习记者|编辑|編輯)|"
    r"\s(?:攝|摄|文|撰|기자|특파원|논설위원)|\s(?:사진|영상)\s?[/:·]?\s.{2,20}|"
    r"\s(?:写真|撮影|摄影|攝影|[图圖])\s?[/:：・／|].{1,20})$"
)


def may_name(line: str) -> bool:
    """Tell cheaply whether `parse_line` could find a name."""
    return bool(_CHINESE.search(line) or _MAYBE.search(line.lower()) or "20" in line or "@" in line)


def parse_line(line: str, *, dated: bool = True) -> list[str]:
    """Extract names of a byline: 作者：王小明, 【記者王小明╱台北報導】, "By Jane Doe".

    Args:
        line: one line of a page, fields separated by tabs; only its first 300 characters count.
        dated: take a name before a date, too: Jane Doe | July 2, 2025.

    Returns:
        Names in order, maybe none.

    Cost: O(characters).

    >>> parse_line("【記者王小明╱台北報導】")
    ['王小明']
    """
    line = line[:300]
    return (_chinese(line) if _CHINESE.search(line) else []) or _western(line, dated=dated)


def _chinese(line: str) -> list[str]:
    """Extract names behind Chinese labels, or before the paper they write for."""
    line = _SPACED.sub(_joined, line)
    for match in _STRONG.finditer(line):
        found = _names_at(line, match.end(), strict=False)
        if found:
            return found
    reporters: list[str] = []
    helpers: list[str] = []
    for match in _WEAK.finditer(line):
        (helpers if match[1] else reporters).extend(_names_at(line, match.end(), strict=True))
    if reporters or helpers:
        return reporters or helpers
    for pattern in (_REPORT, _OF_PAPER):
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
    """Extract names behind "By" and its like, or in front of a date."""
    named = _before_date(line) if dated and len(line) <= 120 and ("20" in line or "@" in line) else []
    if named:
        return named
    if not _MAYBE.search(line.lower()):
        return []
    korean = _KOREAN.search(line)
    if korean:
        return [korean[1]]
    field = _LABEL_FIELD.search(line)
    if field and _MIXED.search(field[1]) and len(field[1].split()) == 1:
        return [field[1]]  # a handle
    line = _JOINED.sub(r" \1 ", line)
    for part in _PART.split(line) if len(line) <= _LONGEST_BYLINE else ():
        match = _BY.match(part.strip())
        if match:
            # In prose "by" goes on in small letters.
            cut = (_ROLE_BEHIND.sub("", name) for name in _SPLIT.split(match[1]))
            names = [name for name in cut if name and _is_western(name)]
            if names:
                return names
    return []


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

    Args:
        line: a first or last paragraph of a text; only the first and the last 60 characters count.

    Returns:
        Names in order, maybe none; a reporter who merely acts in the story is none.

    Cost: O(1).
    """
    for piece in (line[:60], line[-60:]) if len(line) > 60 else (line,):
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
                found = _names_at(part, match.end(), strict=True)
                if found and not match[1]:
                    return found
                helpers = helpers or found
        if helpers:
            return helpers
    if len(line) <= 40:
        return parse_line(line)
    signed = _SIGNED.match(line[:40]) or _END.search(line[-40:])
    if signed:
        return parse_line(signed[0])
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
        ((2 <= len(text) <= 3 and text[0] in _FAMILY) or (len(text) in {3, 4} and text[:2] in _COMPOUND))
        and all("\u4e00" <= char <= "\u9fff" for char in text)
        and not _ORGANISATION.search(text)
        and text not in _STOP
        and not is_chinese_word(text)
    )


def is_name(text: str) -> bool:
    """Tell whether a line reads like the name of one person and nothing else."""
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
        if behind[:1] in {":", "："}:
            break  # the next label: 作者： 时间：
        if found and not strict and is_person(found[0]) and not all(map(is_person, _cut(token, behind) or [token])):
            break  # 作者：李兆清 江蘇南通 職員
        if (
            not strict
            and (len(token) <= 4 or token[0].isascii() or token[0] not in _FAMILY)
            and not _NO_NAME.match(token)
        ):
            names = [token] if len(token) <= 10 and token not in _STOP else []
        else:
            names = _cut(token, behind)
        found += names
        at += sum(map(len, names))
        if not names or len("".join(names)) < len(token):
            break
    is_picture = strict and (_PHOTOGRAPHED.match(line, start + at) or _PICTURE.search(line[:start]))
    return [] if is_picture else found


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
        sites: what the site calls itself; never an author.
        houses: the same, where that may stand for its authors.
        handles: those that the page links to their authors.
        is_thread: whether authors are users, of whom many go by a handle.
    """

    sites: tuple[str, ...] = ()
    houses: tuple[str, ...] = ()
    handles: frozenset[str] = frozenset()
    is_thread: bool = False

    def tidy(self, names: Iterable[str]) -> tuple[str, ...]:
        """Split raw names, strip labels and titles, drop what names nobody.

        Args:
            names: raw values of metas, JSON-LD or bylines.

        Returns:
            At most `MAX_AUTHORS` distinct names of at most `MAX_NAME_CHARS` characters, of people, else of offices.

        Cost: O(characters).

        >>> NameTest(("The Sample",)).tidy(["By Jo Hale in London and Kim Roe", "The Sample", "Staff Directory"])
        ('Jo Hale', 'Kim Roe')
        """
        raws = list(names)
        if not raws:
            return ()
        sites = {_fold(site) for site in self.sites if site}
        found: list[str] = []
        for raw in raws:
            for part in _SPLIT.split(clean(shorten(raw, 400).replace("\t", "|"))):
                name = _stripped(part)
                if self.names_somebody(name) and _fold(name) not in sites:
                    found.append(name)
        people = [name for name in found if not _OFFICE.search(name)]
        return unique(people or found, MAX_AUTHORS)

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
        if _is_office(name) or same(name, self.houses):
            return True
        return not (_is_initials(name) or _TITLED.match(name) or _is_phrase(name) or is_made_of_words(name))


def _stripped(part: str) -> str:
    """Return a part of a byline without its label, marks, office and place."""
    name = part.strip(" .:：·-–—|»«›　()（）[]【】<>\"'“”")
    labelled = _LABELLED.match(name)
    if labelled and is_made_of_words(labelled[1]):
        name = "" if _PICTURES.search(labelled[1]) else labelled[2]
    name = _SUFFIX.sub("", _PREFIX.sub("", name)).strip(" .:：()（）[]【】©")
    name = _TITLE_BEHIND.sub(r"\1", _without_day(name))
    name = _PLACE_BEHIND.sub(r"\1", name)
    return name[:-1] if name[-1:] in {"摄", "攝"} and is_person(name[:-1]) else name


def names_house(name: str) -> bool:
    """Tell whether the name of a site can stand for its authors."""
    return _has_form(name) and not is_handle(name) and not _is_initials(name)


def same(name: str, others: Iterable[str]) -> bool:
    """Tell whether a name is one of others but for case, blanks and marks."""
    return _fold(name) in {_fold(other) for other in others if other}


def _without_day(name: str) -> str:
    """Cut the day of the week or the month behind a name: Anne Petit le Mardi."""
    while " " in name:
        head, _, last = name.rpartition(" ")
        is_month = last.lower() in MONTHS and " " in head
        if last.lower() not in _DAYS and not is_month and last not in {"le", "am", "el", "on"}:
            break
        name = head
    return name


def _has_form(name: str) -> bool:
    """Tell whether a string has the form of a name."""
    folded = _fold(name)
    return (
        2 <= len(name) <= MAX_NAME_CHARS
        and bool(folded)
        and name.lower() not in _STOP
        and name.lower().replace(" ", "-") not in _INTERFACE
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
        and (" " not in name or not name[0].islower() or name.split(maxsplit=1)[0] in _PARTICLES)
        and not _NO_LETTER.search(name)
        and folded not in _PHRASES
        and not _SLUG.match(name)
        and not _is_date(name)
        and not _BUTTON.search(name)
    )


def is_handle(name: str) -> bool:
    """Tell whether a name is one of a login: express1, jane_doe, siegi."""
    return " " not in name and name.isascii() and (name.islower() or "_" in name)


def _is_initials(name: str) -> bool:
    """Tell whether a name is but capital letters of nobody known, or a degree."""
    letters = name.translate(_NO_MARKS)
    if letters.casefold() in _DEGREES:
        return True
    return len(letters) <= _LONGEST_INITIALS and letters.isascii() and letters.isupper() and name not in _AGENCIES


def _is_office(name: str) -> bool:
    """Tell whether a name is that of an office or agency made of words: Gear Team."""
    match = _TEAM.match(name)
    return (match is not None and (match[1] or "").lower() not in _NO_TEAM) or _PRESS.match(name) is not None


def _is_phrase(name: str) -> bool:
    """Tell whether a name is of a picture, or has a small word that is no particle."""
    return bool(_PICTURED.match(name)) or any(
        word[0].islower() and word.isalpha() and word not in _PARTICLES and not _OFFICE_WORD.match(word)
        for word in name.split()[1:]
    )


def _is_western(name: str) -> bool:
    """Tell whether all words of a name begin with a capital or are particles."""
    return all(not word[0].islower() or word in _PARTICLES or word[1:2] == "'" for word in name.split())


def _is_date(name: str) -> bool:
    """Tell whether a name is a month with a day."""
    match = _DATE.match(name)
    return bool(match) and ((match[1] or match[2]).lower() in MONTHS if match else False)


@lru_cache(maxsize=4096)
def _fold(name: str) -> str:
    """Fold a name for comparison."""
    return re.sub(r"[\W_]+", "", name).lower()
