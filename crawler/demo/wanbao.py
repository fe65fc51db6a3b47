"""云埠晚报: an evening paper of 2004: nested tables, FONT tags, GBK called gb2312."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, ClassVar

from .site import DemoSite, Listing, Story, link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .content import InventedArticle
    from .site import DemoPage

_NUMBERS = {"bendi": 1, "wenti": 2, "caijing": 3, "fukan": 4}
_INDENT = "　　"
_STYLE = """
body{margin:0;background:#e9e4d8;font:14px/1.7 SimSun,"Songti SC",serif}
a{color:#123a7a;text-decoration:none}
a:hover{color:#c00;text-decoration:underline}
td{font-size:14px}
.zi{font-size:16px;line-height:30px}
.lan{background:#8c1d18;color:#fff}
.lan a{color:#fff}
.xiao{font-size:12px;color:#666}
.kuang{border:1px solid #c9bfa8}
"""


class Wanbao(DemoSite):
    """The old evening paper."""

    name = "wanbao"
    title = "云埠晚报"
    encoding = "gbk"
    content_type = "text/html"
    channels: ClassVar[Mapping[str, str]] = {
        "bendi": "本埠新闻", "wenti": "文化体育", "caijing": "财经三农", "fukan": "澜水副刊",
    }  # fmt: skip

    def path(self, article: InventedArticle, part: int = 1) -> str:
        """/2024/03/05/content_1001.htm, further pages content_1001_2.htm."""
        suffix = f"_{part}" if part > 1 else ""
        return f"/{article.published:%Y/%m/%d}/content_{article.number}{suffix}.htm"

    def list_path(self, slug: str, page: int = 1) -> str:
        """/list_1_1.htm."""
        return f"/list_{_NUMBERS[slug]}_{page}.htm"

    def extras(self) -> dict[str, Callable[[], DemoPage]]:
        """Return an imprint."""
        return {
            "/about.htm": lambda: self.html(
                self._frame("关于我们", "<p>云埠晚报创刊于一九八五年，周一至周六出版。</p>")
            )
        }

    def home(self) -> str:
        """Show two columns of channels."""
        cells = [
            f'<td width="50%" valign="top" class="kuang"><table width="100%" cellpadding="4"><tr><td class="lan">'
            f"<b>{link(self.list_path(slug), name)}</b></td></tr><tr><td>{self._rows(articles[:5])}</td></tr>"
            f'<tr><td align="right" class="xiao">{link(self.list_path(slug), "更多>>")}</td></tr></table></td>'
            for slug, (name, articles) in self.lists().items()
        ]
        rows = "".join(f"<tr>{first}{second}</tr>" for first, second in zip(cells[::2], cells[1::2], strict=True))
        return self._frame(
            f"{self.title} - 云埠新闻门户", f'<table width="100%" cellspacing="6">{rows}</table>', self._friend_row()
        )

    def listing(self, listing: Listing) -> str:
        """Show a list with numbered pages."""
        pages = []
        if listing.page > 1:
            pages.append(link(self.list_path(listing.slug, listing.page - 1), "上一页"))
        for page in range(1, listing.pages + 1):
            there = link(self.list_path(listing.slug, page), f"[{page}]")
            pages.append(f"<b>[{page}]</b>" if page == listing.page else there)
        if listing.page < listing.pages:
            pages.append(link(self.list_path(listing.slug, listing.page + 1), "下一页"))
        return self._frame(
            f"{listing.name} - {self.title}",
            f'<table width="100%" cellpadding="6" class="kuang"><tr><td class="lan"><b>{listing.name}</b></td></tr>'
            f"<tr><td>{self._rows(listing.articles)}</td></tr>"
            f'<tr><td align="center">共{listing.pages}页 {" ".join(pages)}</td></tr></table>',
        )

    def story(self, story: Story) -> str:
        """Show the text between line breaks, in the innermost of three tables."""
        article = story.article
        author = f"&nbsp;&nbsp;作者：{escape(' '.join(article.authors))}" if article.authors else ""
        text = "<br><br>\n".join(_INDENT + escape(paragraph) for paragraph in story.paragraphs)
        editor = f'<p align="right">（责任编辑：{escape(article.detail("editor"))}）</p>'
        near = "".join(
            f"{label}：{link(self.path(other), other.title)}<br>"
            for label, other in (("上一篇", story.newer), ("下一篇", story.older))
            if other
        )
        return self._frame(
            f"{article.title} - {self.channels[article.channel]} - {self.title}",
            '<table width="100%" class="kuang" bgcolor="#ffffff"><tr><td class="xiao">当前位置：'
            f"{link('/', '首页')} &gt; {self.channel_link(article)} &gt; 正文</td></tr>"
            f'<tr><td align="center"><h1><font size="5" face="黑体">{escape(article.title)}</font></h1>'
            f'<font color="#666666">{article.published:%Y年%m月%d日 %H:%M}&nbsp;&nbsp;'
            f"来源：{escape(article.source)}{author}</font></td></tr>"
            f'<tr><td><table width="92%" align="center"><tr><td class="zi" id="content">\n{text}\n'
            f"{self._parts(story)}{editor}</td></tr></table></td></tr>"
            f'<tr><td class="xiao">{near}</td></tr>'
            f"<tr><td><b>相关新闻</b><br>{self._rows(story.related)}</td></tr></table>",
        )

    def _parts(self, story: Story) -> str:
        """Link the pages of an article over several pages."""
        article, count = story.article, len(story.article.parts)
        if count == 1:
            return ""
        pages = [
            f"<b>{part}</b>" if part == story.part else link(self.path(article, part), str(part))
            for part in range(1, count + 1)
        ]
        if story.part > 1:
            pages.insert(0, link(self.path(article, story.part - 1), "上一页"))
        if story.part < count:
            pages.append(link(self.path(article, story.part + 1), "下一页"))
        return f'<p align="center">{" ".join(pages)}</p>'

    def _rows(self, articles: Iterable[InventedArticle]) -> str:
        """List articles, one a line."""
        return "".join(
            f"·{link(self.path(article), article.title, 'target=_blank')}"
            f' <font class="xiao">[{article.published:%m-%d}]</font><br>\n'
            for article in articles
        )

    def _friend_row(self) -> str:
        """Link to other sites."""
        friends = " | ".join(link(url, title) for title, url in self.friends)
        return f'<tr><td class="xiao" align="center">友情链接：{friends}</td></tr>'

    def _frame(self, title: str, body: str, friends: str = "") -> str:
        """Put everything around the middle column."""
        menu = " | ".join(link(self.list_path(slug), name) for slug, name in self.channels.items())
        hot = "".join(f"{n}. {link(self.path(article), article.title)}<br>" for n, article in enumerate(self.hot, 1))
        return f"""<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">
<html><head><meta http-equiv="Content-Type" content="text/html; charset=gb2312">
<title>{escape(title)}</title><style type="text/css">{_STYLE}</style></head>
<body><table width="960" align="center" bgcolor="#fbf8ef" cellpadding="6">
<tr><td colspan="2"><font size="7" color="#8c1d18" face="楷体"><b>云埠晚报</b></font>
<span class="xiao">国内统一刊号 CN00-0000 今日八版 零售一元</span></td></tr>
<tr><td colspan="2" class="lan">{link("/", "首页")} | {menu}</td></tr>
<tr><td valign="top" width="700">{body}</td>
<td valign="top" width="240"><table width="100%" class="kuang"><tr><td class="lan"><b>点击排行</b></td></tr>
<tr><td class="xiao">{hot}</td></tr></table><br>
<table width="100%" bgcolor="#ffe9a8"><tr><td align="center"><font color="red"><b>广告</b></font><br>
老赵家电维修 上门不收费 修不好不要钱<br><font size="5">八八一二三四五</font></td></tr></table></td></tr>
<tr><td colspan="2"><table width="100%">{friends}
<tr><td align="center" class="xiao">版权所有 云埠晚报社 未经书面授权不得转载或建立镜像<br>
地址：云埠市东桥区报社巷2号 新闻热线：8810000 <a href="/about.htm">关于我们</a></td></tr></table></td></tr>
</table></body></html>"""
