"""Categories of a container's content, by its class, id, role or tag.

Names are cut into words, and each word is looked up: `post-meta`, `postMeta` and `meta_post` mean the same. A name is
evidence only; the learned extractor weighs it against everything else. The words were collected by hand.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORDS: Final[dict[str, str]] = {
    "comment": "comment comments commentlist cmt cmts disqus respond reply replies pinglun kommentar kommentare koment "
    "komentarze opinie commentaires comentarios livefyre gentie commentary discuss discussion feedback ds thread",
    "share": "share sharing shares bdshare jiathis social sns follow fenxiang weibo weixin wechat wx qrcode erweima "
    "facebook twitter addthis addtoany like likes zan dig vote digg favor collect qq qr code sharedaddy",
    "related": "related relate relation relevant recommend recommended recommendation recommendations rec xgxw xgyd "
    "tuijian hot hotnews rank ranking ranks top10 paihang phb popular most read trending more morenews latest also "
    "similar guess outbrain taboola recent readmore previous next prev pre linked xg aboutnews correlation teaser "
    "teasers suggest suggested moreon newsin",
    "nav": "nav navi navigation navbar topnav subnav menu menus submenu breadcrumb breadcrumbs crumb crumbs path "
    "location position weizhi channel channels mnav logo mbx dangqian where bread topbar toolbar skip",
    "header": "header head top hd masthead banner topper",
    "footer": "footer foot ft copyright bottom colophon friendlink friendlinks links yqlink legal copyleft link bq "
    "imprint copy",
    "advert": "ad ads adsbygoogle adv advert advertisement advertise advertising adsense gg guanggao sponsor sponsored "
    "promo promotion promotions commercial dfp adbox adslot werbung anzeige",
    "side": "side sidebar aside right rightbar left leftbar secondary widget widgets rightside leftside rail sidebox "
    "column2 col2 extra sub",
    "info": "info meta byline author authors source laiyuan date time pubtime pubdate publish published posted writer "
    "editor bianji zrbj artinfo postmeta timestamp credit credits attribution infos tool tools font fontsize views "
    "count sourcename dateline reporter user profile avatar bio biography userinfo",
    "tags": "tag tags keyword keywords label labels taglist topics topic tagcloud categories category cat biaoqian",
    "caption": "caption captions figcaption figure photo photos image images img pic pics picture gallery slideshow "
    "slide wp media thumbnail thumb",
    "form": "login signin signup register form search subscribe subscription newsletter popup modal dialog cookie "
    "cookies consent gdpr overlay app download paywall notice alert input vip captcha toast appdown",
    "title": "title headline heading biaoti subject tit bt h1 articletitle",
    "content": "content contents article articlebody articlecontent body text post entry story main detail details "
    "artibody artical zhengwen neirong zoom trs editor js rich maincontent newscontent articletext storybody "
    "postcontent entrycontent cont con context message paragraph prose markdown blog newsbody p_content "
    "postbody story-body",
    "list": "list lists item items card cards ul li grid block box module feed listing news newslist row index",
    "page": "page pages pagination pager pagebar pagenav paging fenye pagelist pn pg",
    "hidden": "hidden hide none sr visually screen invisible noprint print",
    "forum": "forum bbs floor louzhu pls plc plm postmessage sig signature postlist viewthread answer answers question "
    "questions comment-content topic-body reply-content",
}  # fmt: skip
CATEGORIES: Final = (*_WORDS, "quote", "table")
"""In the order of their bits."""
_BITS: Final[dict[str, int]] = {}
for _number, _words in enumerate(_WORDS.values()):
    for _word in _words.split():
        _BITS[_word] = _BITS.get(_word, 0) | 1 << _number
_NUMBER: Final = {category: number for number, category in enumerate(CATEGORIES)}
TAG_CATEGORIES: Final = {
    "nav": (_NUMBER["nav"],),
    "menu": (_NUMBER["nav"],),
    "header": (_NUMBER["header"],),
    "footer": (_NUMBER["footer"],),
    "address": (_NUMBER["footer"],),
    "aside": (_NUMBER["side"],),
    "form": (_NUMBER["form"],),
    "dialog": (_NUMBER["form"],),
    "figure": (_NUMBER["caption"],),
    "figcaption": (_NUMBER["caption"],),
    "article": (_NUMBER["content"],),
    "main": (_NUMBER["content"],),
    "ul": (_NUMBER["list"],),
    "ol": (_NUMBER["list"],),
    "dl": (_NUMBER["list"],),
    "blockquote": (_NUMBER["quote"],),
    "table": (_NUMBER["table"],),
}
_WORD = re.compile(r"[a-z]{1,40}[0-9]{0,2}")
_LEAST_STEM: Final = 4
_BEGINNINGS: Final = frozenset(word[:_LEAST_STEM] for word in _BITS)
_ENDINGS: Final = frozenset(word[-_LEAST_STEM:] for word in _BITS)


@lru_cache(maxsize=16384)
def find_categories(name: str) -> tuple[int, ...]:
    """Return the categories of a container's name, as places in `CATEGORIES`.

    Args:
        name: class, id, role and the like in lower case, joined by blanks; may be empty.

    Cost: O(characters), once per name.

    >>> [CATEGORIES[number] for number in find_categories("post-comments")]
    ['comment', 'content']
    """
    bits = 0
    for word in _WORD.findall(name):
        bits |= _bits(word)
    return _places(bits)


@lru_cache(maxsize=65536)
def _bits(word: str) -> int:
    found = _BITS.get(word)
    return _BITS.get(word.rstrip("0123456789"), 0) or _stem(word) if found is None else found


@lru_cache(maxsize=1024)
def _places(bits: int) -> tuple[int, ...]:
    return tuple(number for number in range(len(_WORDS)) if bits >> number & 1)


def _stem(word: str) -> int:
    """Return the categories of a word that begins or ends with a known one."""
    if len(word) < 7 or (word[:_LEAST_STEM] not in _BEGINNINGS and word[-_LEAST_STEM:] not in _ENDINGS):
        return 0
    for size in range(len(word) - 2, _LEAST_STEM - 1, -1):
        found = _BITS.get(word[:size], 0) or _BITS.get(word[-size:], 0)
        if found:
            return found
    return 0
