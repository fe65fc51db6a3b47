"""島報: a Taiwanese daily of the 2000s, in Big5 and traditional characters."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, ClassVar

from .site import DemoSite, Listing, Story, link
from .xml import robots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .content import InventedArticle
    from .site import DemoPage

_STYLE = """
body{font-family:"PMingLiU","Noto Serif CJK TC",serif;margin:0;background:#f3f6f4;color:#222}
#page{width:940px;margin:0 auto;background:#fff;padding:0 18px}
#top{border-bottom:4px double #0b6b57;padding:14px 0}
#top b{font-size:40px;color:#0b6b57;letter-spacing:12px}
#menu a{margin-right:22px;color:#0b6b57}
#left{float:left;width:640px}
#right{float:right;width:260px;font-size:14px;background:#eef4f1;padding:10px}
.story p{font-size:18px;line-height:1.9;text-indent:0}
.pic{float:right;width:220px;margin:0 0 10px 14px;font-size:13px;color:#777}
.list li{margin:9px 0}
.bar{color:#777;font-size:14px}
#foot{clear:both;border-top:1px solid #999;font-size:13px;padding:14px 0}
"""


class Daobao(DemoSite):
    """The island's daily."""

    name = "daobao"
    title = "島報"
    encoding = "big5"
    content_type = "text/html; charset=Big5"
    channels: ClassVar[Mapping[str, str]] = {"local": "地方", "life": "生活", "science": "科學", "culture": "文化"}

    def path(self, article: InventedArticle, part: int = 1) -> str:
        """Return a path such as /news/paper/4001."""
        return f"/news/paper/{article.number}" + (f"/{part}" if part > 1 else "")

    def list_path(self, slug: str, page: int = 1) -> str:
        """Return a path such as /list/local or /list/local/2."""
        return f"/list/{slug}" + (f"/{page}" if page > 1 else "")

    def extras(self) -> dict[str, Callable[[], DemoPage]]:
        """Return an imprint, and a robots.txt that forbids nothing."""
        return {
            "/about": lambda: self.html(
                self._frame("關於島報", "<h2>關於島報</h2><p>一九八八年創刊，每日出報兩大張。</p>")
            ),
            "/robots.txt": lambda: robots("User-agent: *\nAllow: /\n"),
        }

    def home(self) -> str:
        """Show the newest articles, then each channel."""
        blocks = "".join(
            f"<h3>{link(self.list_path(slug), name)}</h3>{self._items(articles[:4])}"
            for slug, (name, articles) in self.lists().items()
        )
        first = self.listed[0]
        friends = "｜".join(link(url, title) for title, url in self.friends)
        return self._frame(
            "島報 DAOBAO",
            f"<h2>{link(self.path(first), first.title)}</h2><p>{escape(first.summary)}</p>{blocks}",
            f"<p>友站連結：{friends}</p>",
        )

    def listing(self, listing: Listing) -> str:
        """Show a channel with links to older pages."""
        turns = [
            link(self.list_path(listing.slug, page), f"第 {page} 頁") if page != listing.page else f"第 {page} 頁"
            for page in range(1, listing.pages + 1)
        ]
        return self._frame(
            f"{listing.name}新聞 | 島報",
            f"<h2>{listing.name}</h2>{self._items(listing.articles)}<div class=pager>{'　'.join(turns)}</div>",
        )

    def story(self, story: Story) -> str:
        """Show paragraphs in P tags that are never closed, as the old editor left them."""
        article = story.article
        text = "\n".join(f"<p>{escape(paragraph)}" for paragraph in story.paragraphs)
        credit = f'<p class="bar">來源／{escape(article.source)}' if article.source else ""
        near = "".join(
            f"<li>{label}：{link(self.path(other), other.title)}"
            for label, other in (("上一則", story.newer), ("下一則", story.older))
            if other
        )
        return self._frame(
            f"{article.title} | {self.channels[article.channel]} | 島報",
            f'<div class="bar">{link("/", "首頁")} &gt; {self.channel_link(article)}</div>'
            f'<h1>{escape(article.title)}</h1><div class="bar">{_date(article)}　'
            f"記者／{escape('、'.join(article.authors))}</div>"
            f'<div class="pic"><img src="/img/{article.number}.svg" width=220 alt="">（島報資料照片）</div>'
            f'<div class="story">\n{text}\n{credit}</div>'
            f'<div class="bar">分享：<a href="#">臉書</a> <a href="#">噗浪</a> '
            f'<a href="javascript:print()">列印</a></div>'
            f"<ul>{near}</ul><h4>延伸閱讀</h4>{self._items(story.related)}",
        )

    def _items(self, articles: Iterable[InventedArticle]) -> str:
        """List articles, one a line."""
        rows = "".join(
            f'<li>{link(self.path(article), article.title)} <span class="bar">{article.published:%Y/%m/%d}</span>'
            for article in articles
        )
        return f'<ul class="list">{rows}</ul>'

    def _frame(self, title: str, body: str, friends: str = "") -> str:
        """Put everything around the left column."""
        menu = "".join(link(self.list_path(slug), name) for slug, name in self.channels.items())
        hot = "".join(f"<li>{link(self.path(article), article.title)}" for article in self.hot)
        return f"""<html lang="zh-TW"><head><meta http-equiv="Content-Type" content="text/html; charset=big5">
<title>{escape(title)}</title><style>{_STYLE}</style></head><body><div id="page">
<div id="top"><b>島報</b> 每一座島都有話說</div><p id="menu">{link("/", "首頁")}{menu}</p>
<div id="left">{body}</div>
<div id="right"><h4>熱門新聞</h4><ol>{hot}</ol>
<div class="ad">廣告　阿順海鮮粥，台東總店新開幕，憑報紙送小菜一碟</div></div>
<div id="foot">{friends}島報股份有限公司 版權所有 不得轉載　訂報專線 0800-000-000　{link("/about", "關於島報")}</div>
</div></body></html>"""


def _date(article: InventedArticle) -> str:
    """Write a date, of every other article in years of the Republic (1912 is 1)."""
    when = article.published
    if article.number % 2:
        return f"中華民國{when.year - 1911}年{when.month}月{when.day}日 {when:%H:%M}"
    return f"{when:%Y/%m/%d %H:%M}"
