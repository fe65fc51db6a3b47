"""Noise around articles: names of containers, headings and lines of templates.

Every rule is a table of words collected by hand, so that adding one is adding a word. Rules name a suspicion only; the
extractors decide. Patterns expect lower case and match line by line; each begins with literals, which lets the engine
skip what cannot match.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

NOISE_TAGS: Final = frozenset({"nav", "footer", "aside", "dialog", "menu", "header", "form", "address"})

_NAME = re.compile(
    r"(?:^|[\s_-])(?:comments?|commentlist|kommentar\w*|koment\w*|opinie|comentari\w*|commentaire\w*|commenti|"
    r"comment[_-]?\w*|cmts?|disqus|respond|reply\w*|share\w*|sharing|bdshare\w*|social\w*|"
    r"relat\w*|recommend\w*|more[_-]?news|sidebar\w*|side|aside|rightbar|footers?|foot|copyright\w*|copy-?right|"
    r"bread-?crumbs?|crumbs?|crumb\w*|nav|navi?gation|navbar|topnav|subnav|menus?|toolbar|tools?|pagination|pager|"
    r"pagebar|"
    r"ads?|adv|advert\w*|sponsor\w*|promo\w*|hot\w*|rank\w*|top10|taglist|tags|tag-?cloud|login\w*|popup|modal|"
    r"newsletter\w*|"
    r"subscri\w*|signup|widget\w*|signature|sign|sig|qr-?code|erweima|app-?down\w*|download-?app|statement|disclaimer|"
    r"prev-?next|prenext|post-navigation|banner|links|friend-?links?|friendlink|yqlink|pinglun|xgxw|xgyd|tuijian|"
    r"fenxiang|"
    r"zan|like|dig|vote|bqsm|zrbj|editor-?info|author-?info|author-?box|bio|outbrain|taboola|dblclick|cookie\w*|"
    r"consent|gdpr|"
    r"pls|plhin-?user|authi|userinfo|skip-?links?|screen-reader\w*|sr-only|visually-?hidden|noprint|no-print|"
    r"entry-footer|"
    r"caption|figcaption|wp-caption-text|breaking\w*|most-?read|trending|teaser\w*|read-?more|see-?also|story-?links?)"
    r"(?:$|[\s_-])"
)
_BODY_NAME = re.compile(
    r"(?:^|[\s_-])(?:article-?(?:body|content|text)|articlebody|post-?(?:body|content|text)|entry-?content|story-?body|"
    r"main-?content|content-?body|news-?(?:content|body|text)|trs_editor|js_content|t_f|zoom|artibody|"
    r"rich_media_content)"
    r"(?:$|[\s_-])"
)
LABEL = re.compile(
    r"^[\W_]{0,6}(?:(?:更多|全部|最新|热门|網友|网友|精彩|所有|发表|發表|我要)?(?:评论|評論|回应|留言|跟帖|回帖|跟贴)|"
    r"(?:更多)?(?:相关|相關|延伸|推荐|推薦|拓展|扩展|热门|熱門|热点|熱點|点击|點擊|阅读|閱讀|精彩|图片|圖片|编辑|"
    r"編輯|今日|本周|最新|本類|本类|同类|"
    r"关联|近期|关键|猜你|大家|您可能|你可能|24小时|48小时|一周|最热|头条)"
    r"(?:新闻|新聞|阅读|閱讀|文章|推荐|推薦|排行|排行榜|内容|內容|资讯|資訊|报道|報導|报导|链接|鏈接|連結|帖子|专题|"
    r"專題|话题|視頻|视频|图片|博文|信息|主题|"
    r"解读|知识|产品|链结|热点|热文|热榜|搜索|词|关注|标签|下载|条目|也喜欢|还喜欢|在看|感兴趣|喜欢|也感兴趣|榜|"
    r"要闻|日志|评论|消息|稿件|的文章|"
    r"推薦文章|推荐文章|推荐新闻|推荐阅读|推薦閱讀|阅读排行|閱讀排行|点击排行)(?:推荐|推薦|排行|榜|列表)?|"
    r"猜你喜欢|热评|分享到?|share this|延伸閱讀|热榜|排行榜|点击榜|上一篇.{0,80}|下一篇.{0,80}|上一条.{0,80}|"
    r"下一条.{0,80}|"
    r"related (?:articles?|stories|posts?|news|content|topics?|links?)|read (?:more|next|also)|more (?:stories|news|"
    r"from .{1,40}|on .{1,40})|"
    r"most (?:read|popular|viewed|recent)|you may also like|also on .{1,40}|recommended(?: for you)?|see also|"
    r"trending(?: now)?|"
    r"komentarze|opinie|czytaj (?:też|także|więcej)|zobacz (?:też|także|również)|комментарии|обсуждение|читайте "
    r"также|ещё по теме|новости по теме|по теме|"
    r"kommentare|mehr zum thema|lesen sie auch|das könnte sie auch interessieren|commentaires|à lire aussi|lire "
    r"aussi|comentarios|le puede interesar|"
    r"lees ook|leggi anche|σχόλια|σχετικά(?: άρθρα)?|διαβάστε επίσης|"
    r"(?:leave a |post a |\d{1,5} )?(?:comments?|repl(?:y|ies))|add (?:a |your )?comment)"
    r"[\W_]{0,6}(?:[（(]\d{1,7}[）)]|\d{0,7}条?)[\W_]{0,4}$",
    re.MULTILINE,
)
IMPRINT = re.compile(
    r"版权所有|版權所有|copyright|©|all rights reserved|icp备|icp備|icp证|公网安备|公安备|许可证编?号|違法和不良|"
    r"违法和不良|未经授权|未經授權|"
    r"不得转载|不得轉載|著作權所有|网站标识码|主办单位|技术支持[:：]|免责声明|免責聲明|客服热线|powered by"
)
TAIL = re.compile(
    r"^[\W_]{0,3}(?:责任编辑|責任編輯|责编|責編|本文编辑|编辑|編輯|審稿|审校|校对|校對|排版|责任校对|值班主任|主编|"
    r"一审|二审|三审|监制|流程编辑|"
    r"原文链接|原文鏈接|原标题|文章来源|稿源|来源|來源|本文来源|信息来源|關鍵字|关键词|关键字|标签|標籤|tags?|"
    r"分享到?|打印|列印|"
    r"字号|字體|字体|点赞|收藏|举报|附件下载|上一篇|下一篇|版权声明|声明|特别声明|免责声明|郑重声明|扫一扫|"
    r"扫描二维码|关注微信|微信公众号|"
    r"点击下方|点击进入|更多精彩|下载app|打开app|返回|转载请注明|如需转载|本文转自|本文转载|我要反馈|我要纠错|纠错|"
    r"来稿|投稿|阅读全文|查看原文|"
    r"浏览次数|浏览量|阅读量|點閱|人气|分享按钮|本篇文章|【?(?:我要)?纠错】?|end$|已有\d+人|发表评论|網友評論)"
    r"(?:\W|\d|$|(?<=app)|(?<=扫)|(?<=下方)|(?<=精彩)|(?<=转自)|(?<=转载)|(?<=进入)|(?<=注明)|(?<=转载))",
    re.MULTILINE,
)
_EDITOR = re.compile(
    r"^[\[【（(<]?\s?(?:本文)?(?:责任编辑|責任編輯|责编|責編|编辑|編輯|执行主编|作者单位|实习编辑|网络编辑|"
    r"值班编辑)\s?[:：/／]?"
)
_REPLY = re.compile(
    r"^(?:[2-9]|1\d)\s?(?:#|楼|樓|f\b)(?:\s|$|发表|發表|大|中|小)|^#\s?[2-9]\b(?!\d)|^(?:沙发|板凳|地板)\s(?:#|发表)"
)
INFO = re.compile(
    r"来源|來源|作者|记者|責任|责任|编辑|編輯|发布|發布|发表|發表|时间|時間|日期|浏览|瀏覽|点击|點擊|阅读|閱讀|评论|"
    r"評論|字号|字體|字体|分享|打印|列印|"
    r"当前位置|目前位置|您的位置|你的位置|所在位置|首页|首頁|正文|查看|人气|收藏|关注|更新|建立|上稿|by\b|posted|"
    r"published|updated"
)
DATE = re.compile(
    r"[0-9０-９](?:[0-9]{3}[ ]{0,2}[-/.年][ ]{0,2}[0-9]{1,2}|[0-9]?:[0-9]{2}|月|(?<=1)9[0-9]{2}\b|(?<=2)0[0-9]{2}\b)"
)
COMMENT = re.compile(
    r"(?:says|said|wrote|writes|reply)[ ]?:?$|reply\b|comments?\b|responses? to|leave a |permalink|回复|回覆|"
    r"留言|楼主|發表於|发表于|沙发|网友|網友|评论|評論|跟帖|posted (?:on|at|by)|joined\b|kommentar|respuesta|коммент",
    re.MULTILINE,
)


@lru_cache(maxsize=8192)
def is_noisy_name(name: str) -> bool:
    """Tell whether a class, id or role (lower case) names a side section."""
    return bool(_NAME.search(name)) and not _BODY_NAME.search(name)


def is_label(text: str) -> bool:
    """Tell whether a line heads a side section (related stories, rankings, comments)."""
    return len(text) <= 90 and bool(LABEL.match(text.lower()))


def is_copyright(text: str) -> bool:
    """Tell whether a line is a site's imprint."""
    return len(text) <= 600 and bool(IMPRINT.search(text.lower()))


def is_tail(text: str) -> bool:
    """Tell whether a line is one that editors or templates put behind an article."""
    return len(text) <= 160 and bool(TAIL.match(text.lower()) if len(text) <= 80 else _EDITOR.match(text))


def is_extra(text: str) -> bool:
    """Tell whether a line in a body is a tail, a side section's heading or an imprint."""
    return is_tail(text) or is_label(text) or is_copyright(text)


def is_reply(text: str) -> bool:
    """Tell whether a line heads a later post of a forum thread (2#, 3楼, #4)."""
    return bool(_REPLY.match(text.lower()))


def is_info(text: str) -> bool:
    """Tell whether a short line holds date, source, author or breadcrumb, not prose."""
    return len(text) <= 160 and bool(INFO.search(text.lower()) or DATE.search(text))
