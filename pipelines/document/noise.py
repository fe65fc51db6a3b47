"""Noise around articles: names of containers, headings and lines of templates.

The words were collected by hand; a match is a suspicion, the extractors decide. Patterns expect lower case and match
line by line; each begins with literals, so that the engine skips what cannot match.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ..dates.names import find_month, find_weekday

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
    r"(?:(?=\W|\d)|$|(?<=app)|(?<=扫)|(?<=下方)|(?<=精彩)|(?<=转自)|(?<=转载)|(?<=进入)|(?<=注明)|(?<=转载))",
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
    # no group at the beginning: then a search skips to the characters that any of these begins with
    r"says[ ]?:?$|said[ ]?:?$|wrote[ ]?:?$|writes[ ]?:?$|reply[ ]?:?$|reply\b|comments?\b|"
    r"responses? to|leave a |permalink|回复|回覆|"
    r"留言|楼主|發表於|发表于|沙发|网友|網友|评论|評論|跟帖|posted (?:on|at|by)|joined\b|kommentar|respuesta|коммент",
    re.MULTILINE,
)

# Headings of what stands beside or behind a text; small letters, the whole line.
_ASIDE = re.compile(
    r"^\W{0,4}(?:share(?: (?:this|on|via|with)\b.{0,40}| now| article| post| story)?|up next|next up|read next|"
    r"recent(?:ly)? (?:posts?|articles?|news|stories|added)|latest (?:stories|posts?|articles?|news|from .{1,40})|"
    r"(?:if you (?:liked|enjoyed) this.{0,40}|you (?:may|might|will|'ll|could)(?: also)? (?:like|enjoy|be interested|"
    r"love)|"
    r"(?:other|more) (?:posts|articles|stories|reading|resources|guides|news|recommendations)|more .{1,30} "
    r"recommendations|"
    r"(?:additional|further|suggested|recommended|related) (?:reading|articles?|posts?|stories|content|topics?|links?|"
    r"resources|"
    r"guides|products|news|video|coverage)|keep (?:reading|exploring)|don['’]t miss|most (?:read|popular|"
    r"viewed)).{0,60}|"
    r"about (?:the )?(?:authors?|writers?|contributors?)|(?:the|our) authors?|meet (?:the )?authors?|authors? bio|"
    r"reader interactions|"
    r"like this|ask a question|leave a (?:reply|comment).{0,30}|(?:post|add) (?:a|your) (?:comment|opinion)|"
    r"(?:products and|related) (?:solutions|products|services)|filed under.{0,60}|topics|tags|tagged.{0,60}|explore "
    r"more.{0,40}|"
    r"image credits?|photo credits?|sponsored(?: content)?|comments?|related|"
    r"смотрите также.{0,40}|читайте (?:также|другие|ещё|еще).{0,60}|другие (?:новости|материалы).{0,40}|по теме|"
    r"czytaj (?:też|także|więcej|również).{0,80}|zobacz (?:też|także|również).{0,80}|przeczytaj (?:też|także|"
    r"również).{0,80}|"
    r"les også.{0,80}|läs (?:även|också|mer).{0,80}|lees ook.{0,80}|mehr zum thema.{0,60}|lesen sie (?:auch|"
    r"mehr).{0,80}|"
    r"(?:à )?lire aussi.{0,80}|lee también.{0,80}|leggi anche.{0,80}|leia também.{0,80}|ilgili haberler?|baca "
    r"juga.{0,80}|"
    r"διαβάστε (?:επίσης|ακόμη|και).{0,80}|σχετικά(?: άρθρα| θέματα)?|関連(?:記事|ニュース|リンク).{0,20}|"
    r"あわせて読みたい|더보기)"
    r"\W{0,4}$"
)
# What leads to another story from between two paragraphs: one of these, a mark, and a link; small letters.
_POINTER = re.compile(
    r"^\W{0,4}(?:related(?: (?:stor(?:y|ies)|articles?|posts?|reading|news|content|coverage|videos?|links?))?|"
    r"(?:you (?:may|might) )?(?:also )?read(?: (?:also|more|next|this|on|here))?|also|see(?: also| more)?|more|"
    r"must[- ]?read|recommended|(?:watch|listen)(?: (?:now|also|more|this|here))?|video|photos|pictures|gallery|"
    r"explore(?: more)?|don['’]t miss|(?:à )?lire(?: aussi)?|voir aussi|lee(?:r)?(?: también| además| más)?|"
    r"te puede interesar|mira también|ver también|(?:leia|veja)(?: também| mais)?|leggi(?: anche)?|guarda anche|"
    r"(?:lesen sie|lies) (?:auch|mehr|hier)|mehr(?: zum thema| dazu)?|siehe auch|lees (?:ook|meer)|zie ook|"
    r"(?:czytaj|zobacz)(?: też| także| również| więcej)?|(?:читайте|смотрите)(?: также)?|читайте також|"
    r"(?:διαβάστε|δείτε)(?: επίσης| ακόμα| ακόμη)?|ilgili haber|läs (?:mer|också|även)|les (?:mer|også)|læs også|"
    r"lue (?:myös|lisää)|baca(?: juga)?|(?:čtěte|přečtěte si)(?: také)?|関連記事?|相关(?:阅读|新闻|报道)?|延伸阅读|"
    r"推荐阅读|관련기사)\s{0,2}(?:[:：>»|–—-]|→)\s{0,3}(?!https?:)\S"
)
# Tables of contents, counters and labels that stand over a text; small letters, the whole line.
_ABOVE = re.compile(
    r"^\W{0,4}(?:(?:on|in) this (?:page|article|post|guide|story)|(?:table of )?contents?|jump to(?: section| recipe)?|"
    r"skip to .{1,30}|"
    r"目录|目錄|share|save|listen|print|email|play|newsletter|advertisement|article content|recommended|story "
    r"highlights|"
    r"toggle .{1,30}|hide|show more|loading.{0,20}|"
    r"(?:reading time|read time|lesezeit|temps de lecture|время чтения|tiempo de lectura)\W{0,4}.{0,20}|"
    r"\W{0,3}\d{1,3}\+? ?[–-]?(?:min\w{0,4}\.?|minutes?) (?:read|listen|de lecture|lesezeit|di lettura|de lectura)|"
    r"[\d.,]{1,9} ?[km]? (?:views?|shares?|comments?|reads?|likes?)|(?:просмотров|wyświetleń|点击|阅读|"
    r"浏览)\W{1,3}\d{1,9}|"
    r"(?:posted|published|filed|written) (?:in|under)\W.{1,60})\W{0,4}$"
)
# Who took the pictures; what is asked of readers, sold to them, and said of the site; small letters.
_CREDIT = re.compile(
    r"^\W{0,3}(?:(?:photo|image|picture|video|illustration|graphic|foto|bild|photograph)s?(?: (?:credits?|source|"
    r"courtesy(?: of)?|by)|"
    r"\W{0,2}:|ed by).{1,80}|credits?:.{1,80}|.{0,60}(?:/| via | ?\|\s?)(?:getty ?images?|shutterstock|istock|reuters|"
    r"afp|ap|unsplash|pexels|"
    r"alamy|dpa|afp|epa)(?:[/ ].{0,30})?|.{0,40}courtesy (?:of |photo).{0,60}|©.{1,60}|"
    r"[（(]?(?:图片|圖片|配图|题图|封面图|资料图|資料圖)?(?:来源|來源|提供|供图|供圖)\W{0,2}[:：].{1,30}|"
    r"[（(](?:图片|圖片)(?:提供|来源|來源).{1,30}|images? (?:used|licensed) under .{1,60}|"
    # the initials of who edited it
    r"\([a-z]{2,3}(?:[,/] ?[a-z]{2,3}){0,4})\W{0,3}$"
)
_CALL = re.compile(
    r"^\W{0,6}(?:(?:please |be sure to |make sure to )?(?:sign up|signup|"
    r"subscribe|register)\b.{0,20}(?:for|to|and|now|today|here|below|get|"
    r"newsletter|channel|$)|"
    r"(?:please )?(?:follow|like|find|connect with|stay connected with|catch|visit) (?:us|me|our|the author|[\w "
    r"]{1,40} on (?:facebook|"
    r"twitter|x\b|instagram|telegram|youtube|google|linkedin|whatsapp|tiktok))|be a fan of|"
    r"get (?:the latest|our|more|weekly|daily|news|breaking|exclusive|free).{0,80}(?:inbox|newsletter|e-?mail|updates|"
    r"in your)|"
    r"(?:want|need|looking for) (?:more|up-to|to (?:get|stay|learn more|do more|read more)).{0,100}(?:sign up|"
    r"newsletter|subscribe|like'?|"
    r"follow|today|us)\b|for (?:more|the latest|all|ndtv|breaking).{0,60}(?:follow|subscribe|download|visit|click)|"
    r"(?:download|get|install) (?:the|our) .{0,40}app\b|(?:become|be) a (?:member|patron|subscriber|supporter)|buy "
    r"(?:me )?a (?:coffee|cool)|"
    r"support (?:us|our|my|[\w ]{1,30}!)|donate\b|pin (?:this|it|me)\b|pinterest image|save (?:this|it) (?:for later|"
    r"to pinterest)|"
    r"(?:enjoy(?:ed)?|like|love) (?:the|this) (?:post|article|story)\?|"
    r"have (?:a|any) (?:tip|story|news|question)|got a (?:tip|story)|(?:contact|e-?mail|write to) (?:us|the (?:author|"
    r"writer|reporter)|our|him|her) at|"
    r"if you (?:like|liked|enjoy|enjoyed|found|read this far|want to (?:support|read more))\b.{0,100}(?:share|consider|"
    r"subscribe|sign|follow|"
    r"thank|support|tell|check|donate|leave)|thanks? (?:you )?for reading|click here to (?:subscribe|sign|join|read|"
    r"see|view|download).{0,50}|"
    r"(?:view|read|see) (?:the )?(?:original|full|all|next|also|online)\b.{0,60}$|note to readers|share (?:this|your "
    r"thoughts|on)|"
    r"(?:let us know|tell us|what do you think|do you (?:agree|have)).{0,80}comments?|"
    r"scroll (?:down|on)|story continues|continue reading|keep reading|read (?:more|next|also)\b.{0,90}|"
    r"il vous reste .{1,12}de cet article|(?:la suite|cet article) est réservée? aux abonnés|weiterlesen mit|jetzt "
    r"(?:lesen|abonnieren|anmelden)|"
    r"abonnez-vous|inscrivez-vous|suivez-nous|síguenos|suscríbe|seguici|iscriviti|подпис(?:ывайтесь|аться|ка на)|"
    r"следите за|"
    r"μείνετε συντονισμ|ακολουθήστε|polub nas|dołącz do|śledź nas|扫码|长按|点击(?:上方|下方|阅读原文)|欢迎(?:关注|"
    r"订阅|投稿|扫)|"
    r"关注(?:我们|本|公众)|更多(?:精彩|内容|资讯).{0,40}(?:关注|点击|请)|(?:本文)?(?:链接|連結|原文地址|永久链接|"
    r"本文地址)\s?[:：])"
)
_DISCLOSED = re.compile(
    r"affiliate (?:links?|commission|program|disclosure|partner)|earn\b.{0,40}\bcommissions?\b|"
    r"(?:buy|purchase|click|links?)\b.{0,60}\b(?:through|via|on|using) (?:our|my|these|the) links?\b|supported by "
    r"(?:our )?readers|reader-supported|"
    r"independently (?:evaluate|select|review|chosen|researched)|may earn\b.{0,40}(?:money|commission|from)|may "
    r"contain (?:affiliate|links to)|"
    r"(?:this|the) (?:post|article|story|content|site)\b.{0,40}(?:sponsored by|contains? (?:affiliate|sponsored)|first "
    r"appeared on|"
    r"is for informational|in partnership with|may be reproduced)|^originally (?:published|appeared|posted)|"
    r"cookielawinfo|^cookie\s+(?:duration|description|type)|"
    r"we reserve the right|投资者据此操作|风险自担"
)
_HAN_TAIL = re.compile(
    r"^[（(\[【<＜]?\s?(?:本文|[据據原])?(?:(?:资料|資料|图文|文章|本文|信息|消息|內容|内容)?(?:来源|來源|出处|"
    r"出處)(?:于|於|自|[:：]).{1,40}|摘自.{1,30}|"
    r"转自.{1,30}|"
    r"[据據]《.{1,20}》.{0,8}|(?:特别|特別|郑重|鄭重)?声明[:：].{1,90}|(?:投稿|联系|聯絡|爆料|来稿)(?:邮箱|电话|热线|"
    r"信箱|電話)\s?[:：].{1,80}|(?:责任|責任|责|"
    r"責|实习|值班|执行|网络|本文|文字|本期|图文|新媒体)?(?:编辑|編輯|编|編|编审|编校|主编|校对|校對|审核|審核|监制|"
    r"監製)"
    r"\s{0,2}[:：/／|｜丨\s].{1,40}|.{2,12}(?:撰稿|供稿|摄影报道|整理|编译|編譯)|圖說.{0,120}|"
    r"(?:圖|图|照片|视频|影音|完整影音|圖片)\s?[:：/／].{1,80}|(?:特约|本报|本網|本网)?(?:记者|記者|通讯员|"
    r"通訊員)[^，。！？]{2,24}(?:报道|報導|報道|摄|攝|整理|文|图)?|(?:综合|綜合|整理|编译|編譯){1,2}自[^。]{2,60}|"
    r".{0,10}(?:关键词|關鍵詞|關鍵字|关键字)\s?[:：].{0,60})"
    r"\s?[）)\]】>＞]?。?$"
)
_PICTURED = re.compile(r"^[▲△↑▼▽]\s?\S|^[^，。]{0,30}(?:制图|製圖|绘图)\s?[/／:：]\s?\S{2,12}$")
_PICTURED_CHARS: Final = 200
_STAMP_WORDS: Final = (
    "mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday jan feb mar "
    "apr may jun jul "
    "aug sep sept oct nov dec january february march april june july august september october november december am pm "
    "a.m p.m et est "
    "edt pst pdt ist gmt utc bst cet at on by in updated published posted last modified date first written the of st "
    "nd rd th ago hours "
    "hour minutes minute day days week weeks month months time times read min online print share stand uhr von am vom "
    "den um geändert "
    "aktualisiert veröffentlicht publié le mis jour mise à janvier février mars avril mai juin juillet août septembre "
    "octobre novembre "
    "décembre januar februar märz juni juli oktober dezember enero febrero marzo abril mayo junio julio agosto "
    "septiembre octubre "
    "noviembre diciembre de del a las hs gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre ore "
    "stycznia lutego "
    "marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia poniedziałek wtorek środa "
    "czwartek piątek sobota "
    "niedziela января февраля марта апреля мая июня июля августа сентября октября ноября декабря понедельник вторник "
    "среда четверг "
    "пятница суббота воскресенье опубликовано обновлено news associated press reuters "
    "modifié modifiée modification publiée publicado publicada actualizado actualizada atualizado atualizada "
    "pubblicato pubblicata aggiornato aggiornata ultima modifica publicat actualitzat actualizat opublikowano "
    "aktualizacja publikováno zveřejněno aktualizováno megjelent frissítve julkaistu päivitetty publicerad uppdaterad "
    "publisert oppdatert opdateret gepubliceerd bijgewerkt yayınlanma güncelleme diterbitkan diperbarui wib đăng cập "
    "nhật lúc ngày дата публикации опубликован опубликована обновлен обновлена опубліковано оновлено објављено "
    "δημοσίευση δημοσιεύτηκε δημοσιεύθηκε ενημέρωση ενημερώθηκε פורסם עודכן نشر تاريخ النشر تحديث انتشار تاریخ প্রকাশ "
    "প্রকাশিত আপডেট प्रकाशित अपडेट เผยแพร่ อัปเดต"
)
_STAMP: Final = frozenset(_STAMP_WORDS.split())
_ENDS: Final = frozenset(".。,，;；")
_YEAR = re.compile(r"\d(?:st|nd|rd|th)?,? (?:19|20)\d\d|(?:1[34]|19|2[05])\d\d")
"""Of the common calendar, of that of Thailand (25..), of Iran (13.., 14..)."""
_TOKEN = re.compile(
    # with the vowel signs of India and Thailand
    r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0900-\u0965\u0970-\u09e5\u09f0-\u0d65\u0e31-\u0e4e])*(?:\.[^\W\d_])?"
)
_DIGIT = re.compile(r"\d")
"""In whatever script."""
_STAMP_CHARS: Final = 90
_POINTER_CHARS: Final = 240


_CAPTION_NAME: Final = re.compile(
    r"caption|(?:^|[\s_-])(?:pic|img|image|photo|foto|tu)s?[-_]?(?:text|desc|title|info|note|intro|credit|zhu)|"
    r"(?:^|[\s_-])credits?(?:$|[\s_-])"
)


@lru_cache(maxsize=8192)
def is_caption_name(name: str) -> bool:
    """Tell whether an element is named after captions or credits of pictures.

    >>> is_caption_name("pic-intro"), is_caption_name("picture")
    (True, False)
    """
    return _CAPTION_NAME.search(name) is not None


@lru_cache(maxsize=8192)
def is_noisy_name(name: str) -> bool:
    return bool(_NAME.search(name)) and not _BODY_NAME.search(name)


def is_label(text: str) -> bool:
    """Heads a side section (related stories, rankings, comments)."""
    return len(text) <= 90 and bool(LABEL.match(text.lower()))


def is_copyright(text: str) -> bool:
    return len(text) <= 600 and bool(IMPRINT.search(text.lower()))


def is_tail(text: str) -> bool:
    return len(text) <= 160 and bool(TAIL.match(text.lower()) if len(text) <= 80 else _EDITOR.match(text))


def is_extra(text: str) -> bool:
    return is_tail(text) or is_label(text) or is_copyright(text)


def is_reply(text: str) -> bool:
    """Heads a later post of a forum thread (2#, 3楼, #4)."""
    return bool(_REPLY.match(text.lower()))


def is_info(text: str) -> bool:
    return len(text) <= 160 and bool(INFO.search(text.lower()) or DATE.search(text))


def is_aside(text: str) -> bool:
    """Heads other stories, authors or comments."""
    return len(text) <= 80 and text[-1:] not in _ENDS and bool(_ASIDE.match(text.lower()))


def is_pointer(text: str) -> bool:
    """Tell whether a line that is a link leads to another story.

    >>> is_pointer("READ MORE: Ferry fares rise"), is_pointer("More: https://ferry.example/")
    (True, False)
    """
    return len(text) <= _POINTER_CHARS and bool(_POINTER.match(text.lower()))


def is_stamp(text: str) -> bool:
    """Tell whether a line says nothing but when something was published.

    >>> is_stamp("2:51pm Monday 16th January 2012"), is_stamp("29 พฤศจิกายน 2553")
    (True, True)
    >>> is_stamp("In January 2012 rain fell.")
    False
    """
    if len(text) > _STAMP_CHARS:
        return False
    figures = text if text.isascii() else _DIGIT.sub(lambda digit: str(int(digit[0])), text)
    if not DATE.search(figures) and not _YEAR.search(figures):
        return False
    return all(word in _STAMP or len(word) <= 2 or _is_of_calendar(word) for word in _TOKEN.findall(text.lower()))


@lru_cache(maxsize=4096)
def _is_of_calendar(word: str) -> bool:
    return find_month(word, "") is not None or find_weekday(word, "") is not None


def is_above(text: str) -> bool:
    return is_counter(text) or is_frame(text)


def is_counter(text: str) -> bool:
    """Counts readers or minutes or heads a table of contents."""
    return len(text) <= 90 and bool(_ABOVE.match(text.lower()))


def is_frame(text: str) -> bool:
    """Captions, credits, calls to subscribe and to share, disclosures, editors."""
    line = text.lower()
    size = len(line)
    return (
        (size <= 140 and bool(_CREDIT.match(line) or _HAN_TAIL.match(line)))
        or (size <= 160 and bool(_CALL.match(line)))
        or (size <= 700 and bool(_DISCLOSED.search(line)))
        or (size <= _PICTURED_CHARS and not line.isascii() and bool(_PICTURED.search(line)))
        or is_aside(text)
    )
