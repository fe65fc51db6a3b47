"""快讯网: a portal of today: hashed class names, JSON-LD, a feed, decorated links."""

from __future__ import annotations

import json
from functools import partial
from html import escape
from typing import TYPE_CHECKING, ClassVar

from .site import DemoPage, DemoSite, Listing, Story, link, pick
from .xml import robots, rss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .content import InventedArticle

FEED_LENGTH = 15
_COMMENTS = (
    "早起的菜农：写得真细，看完想去现场转转。",
    "momo：第一段就抓住我了。",
    "用户8840213：有没有后续？蹲一个。",
    "老实人不吃亏：这事儿我们那边三年前就这么干了，没推开。",
    "一只路过的鸽子：数据来源能不能贴一下链接。",
    "夜班护士：下班刷到，心里暖了一下。",
    "理工男小邱：细节有出入，不过大方向没错。",
    "山里来信：家乡上新闻了，转给我妈看。",
    "不加香菜：标题党了，不过内容还行。",
    "云埠本地人：就在我家楼下，明天去看看。",
)
_STYLE = """
*{box-sizing:border-box}
body{margin:0;font:16px/1.75 -apple-system,"PingFang SC","Microsoft YaHei",sans-serif;color:#1f2329;
  background:#f5f6f7}
a{color:inherit;text-decoration:none}
a:hover{color:#d9363e}
._h1x9{background:#fff;border-bottom:1px solid #eee;padding:14px 6vw;display:flex;gap:26px}
._h1x9 b{color:#d9363e;font-size:22px}
._w7Qa{display:flex;gap:28px;max-width:1100px;margin:22px auto;padding:0 12px}
._m3Kd{flex:1;background:#fff;padding:26px 32px;border-radius:8px}
._s8Zt{width:270px}
._c5Pn{background:#fff;border-radius:8px;padding:14px 18px;margin-bottom:16px}
._t2Ru{font-size:28px;line-height:1.4;margin:0 0 10px}
._i6Vb{color:#8a919f;font-size:14px;margin-bottom:20px}
._k4Ye{padding:14px 0;border-bottom:1px solid #f0f0f0}
._p9Ls{margin:0 0 1.1em;text-align:justify}
._a0Gf{background:#fff7e6;color:#ad6800;padding:10px;font-size:14px;margin:18px 0}
._l1Mo{display:block;text-align:center;background:#f2f3f5;padding:10px}
._f3Xc{text-align:center;color:#8a919f;font-size:13px;padding:24px}
figure{margin:0 0 18px}
img{max-width:100%}
"""


class Kuaixun(DemoSite):
    """The portal."""

    name = "kuaixun"
    title = "快讯网"
    per_page = 5
    channels: ClassVar[Mapping[str, str]] = {
        "science": "科学", "tech": "科技", "money": "财经", "life": "生活", "culture": "文体",
    }  # fmt: skip

    def path(self, article: InventedArticle, part: int = 1) -> str:
        """/a/202401162001.html."""
        return f"/a/{article.published:%Y%m%d}{article.number}" + (f"_{part}" if part > 1 else "") + ".html"

    def list_path(self, slug: str, page: int = 1) -> str:
        """/c/tech and /c/tech?page=2."""
        return f"/c/{slug}" + (f"?page={page}" if page > 1 else "")

    def extras(self) -> dict[str, Callable[[], DemoPage]]:
        """Feed, print versions, the advertised page, robots.txt."""
        prints = {_print_path(article): partial(self._print, article) for article in self.articles}
        return prints | {
            "/rss.xml": lambda: rss(self, self.listed[:FEED_LENGTH]),
            "/app": lambda: self.html(self._frame("下载客户端 - 快讯网", "<h1>扫码下载快讯客户端</h1>")),
            "/robots.txt": lambda: robots("User-agent: *\nDisallow: /api/\n"),
        }

    def home(self) -> str:
        """Show the newest articles, decorated for the statistics, and the channels."""
        friends = " · ".join(link(url, title) for title, url in self.friends)
        return self._frame(
            "快讯网 - 看得见的新闻",
            self._cards(self.listed[:12], "?utm_source=home&utm_medium=feed&spm=1001.2014.3001")
            + f'<div class="_c5Pn">友情链接：{friends}</div>',
        )

    def listing(self, listing: Listing) -> str:
        """Show a channel; the button loads the next page."""
        more = (
            link(self.list_path(listing.slug, listing.page + 1), "加载更多", 'class="_l1Mo"')
            if listing.page < listing.pages
            else '<span class="_l1Mo">没有更多了</span>'
        )
        cards = self._cards(listing.articles)
        return self._frame(f"{listing.name}频道 - 快讯网", f"<h2>{listing.name}</h2>{cards}{more}")

    def story(self, story: Story) -> str:
        """Text in DIVs, with an advert in the middle and comments below."""
        article = story.article
        texts = [f'<div class="_p9Ls">{escape(paragraph)}</div>' for paragraph in story.paragraphs]
        texts.insert(1, f'<div class="_a0Gf">广告 {link("/app?from=article_ad", "下载快讯客户端，每天领红包")}</div>')
        tags = " ".join(f"<span>#{escape(tag)}</span>" for tag in article.details_of("tags"))
        comments = "".join(f'<div class="_k4Ye">{escape(line)}</div>' for line in pick(_COMMENTS, article.key, 3))
        authors = f"文 / {escape('、'.join(article.authors))}　" if article.authors else ""
        body = (
            f'<h1 class="_t2Ru">{escape(article.title)}</h1>'
            f'<div class="_i6Vb">{authors}{article.published:%Y-%m-%d %H:%M:%S}　'
            f"来源：{escape(article.source)}　{link(_print_path(article), '打印')}</div>"
            f'<figure><img src="/img/{article.number}.svg" alt=""><figcaption>资料图片</figcaption></figure>'
            f'<div class="_b7Tq">{"".join(texts)}</div>'
            f'<div class="_i6Vb">{tags}　点赞 {article.number % 97}　收藏　转发</div>'
            f"<h3>相关阅读</h3>{self._cards(story.related, '?from=related')}<h3>网友评论</h3>{comments}"
        )
        return self._frame(f"{article.title}_快讯网", body, self._head(article))

    def _head(self, article: InventedArticle) -> str:
        """Write the metadata of an article."""
        url = self.url(article)
        data = {
            "@context": "https://schema.org",
            "@type": "NewsArticle",
            "headline": article.title,
            "datePublished": article.published.isoformat(),
            "author": [{"@type": "Person", "name": name} for name in article.authors],
            "publisher": {"@type": "Organization", "name": self.title},
            "articleSection": self.channels[article.channel],
            "image": f"{self.origin}/img/{article.number}.svg",
            "mainEntityOfPage": url,
        }
        script = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
        return f"""<link rel="canonical" href="{url}"><meta property="og:type" content="article">
<meta property="og:title" content="{escape(article.title)}"><meta property="og:url" content="{url}">
<meta property="og:site_name" content="{self.title}"><meta name="keywords" content="{escape(article.detail("tags"))}">
<meta name="description" content="{escape(article.summary)}">
<meta property="article:published_time" content="{article.published.isoformat()}">
<script type="application/ld+json">{script}</script>"""

    def _print(self, article: InventedArticle) -> DemoPage:
        """Show the print version: the same text, with the page proper as canonical."""
        text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in article.paragraphs)
        return self.html(
            '<!DOCTYPE html><html lang="zh-CN"><head><meta charset="utf-8">'
            f"<title>{escape(article.title)}（打印版）</title>"
            f'<link rel="canonical" href="{self.url(article)}"></head><body><h1>{escape(article.title)}</h1>'
            f"<p>{article.published:%Y-%m-%d %H:%M:%S} 来源：{escape(article.source)}</p>{text}"
            f"<p>{link(self.path(article), '返回原文')}</p></body></html>",
            article.published,
        )

    def _cards(self, articles: Iterable[InventedArticle], decoration: str = "") -> str:
        """Title and beginning of each article."""
        return "".join(
            f'<div class="_k4Ye"><div>{link(self.path(article) + decoration, article.title, "class=_x0Jd")}</div>'
            f'<div class="_i6Vb">{escape(article.summary)} {article.published:%Y-%m-%d}</div></div>'
            for article in articles
        )

    def _frame(self, title: str, body: str, head: str = "") -> str:
        """Header, hot list, footer."""
        menu = "".join(link(self.list_path(slug), name) for slug, name in self.channels.items())
        hot = "".join(
            f"<div>{n} {link(self.path(article) + f'?from=hotlist&spm=a2.hot.{n}', article.title)}</div>"
            for n, article in enumerate(self.hot, 1)
        )
        return f"""<!DOCTYPE html><html lang="zh-CN"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>{escape(title)}</title>
<link rel="alternate" type="application/rss+xml" title="快讯网" href="/rss.xml">{head}<style>{_STYLE}</style></head>
<body><div class="_h1x9">{link("/", "快讯网", 'style="color:#d9363e;font-weight:700;font-size:22px"')}{menu}</div>
<div class="_w7Qa"><div class="_m3Kd">{body}</div><div class="_s8Zt"><div class="_c5Pn"><strong>热榜</strong>{hot}</div>
<div class="_c5Pn"><small>广告</small>
<div>{link("/app?utm_source=sidebar", "装上快讯客户端，新人领十八元红包")}</div></div></div></div>
<div class="_f3Xc">快讯网 版权所有 违法和不良信息举报：jubao@kuaixun.example　增值电信业务许可证 00-00000000<br>
未经许可不得转载，转载请注明出处</div></body></html>"""


def _print_path(article: InventedArticle) -> str:
    """/print/2001.html."""
    return f"/print/{article.number}.html"
