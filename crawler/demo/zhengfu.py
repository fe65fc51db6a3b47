"""云埠市人民政府公告栏: short notices with tables and files, some in the sitemap alone."""

from __future__ import annotations

import gzip
from functools import partial
from html import escape
from typing import TYPE_CHECKING, ClassVar

from .site import DemoPage, DemoSite, Listing, Story, link
from .xml import robots, sitemap, sitemap_index, xml_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .content import InventedArticle

FORBIDDEN = "/internal/duty.html"
"""Linked from every page and forbidden by robots.txt."""

_FILE_TYPES = {"pdf": "application/pdf", "doc": "application/msword"}
_STYLE = """
body{margin:0;font:16px/1.8 "Microsoft YaHei",sans-serif;color:#333;background:#fff}
.top{background:#1c5fa8;color:#fff;padding:26px 8%;font-size:30px}
.nav{background:#164c87;padding:8px 8%}
.nav a{color:#fff;margin-right:30px}
.main{width:84%;margin:20px auto}
a{color:#1c5fa8;text-decoration:none}
.bt{font-size:26px;text-align:center;color:#b00;margin:20px 0}
.fbsj{text-align:center;color:#888;font-size:14px}
.xxgk{width:100%;border-collapse:collapse;font-size:14px}
.xxgk td{border:1px solid #ccc;padding:5px 10px}
.xxgk .k{background:#f0f5fb;width:110px}
.list li{list-style:none;border-bottom:1px dashed #ccc;padding:6px 0}
.list span{float:right;color:#888}
.foot{background:#f2f2f2;text-align:center;font-size:13px;padding:20px}
"""


class Zhengfu(DemoSite):
    """The town's notice board."""

    name = "zhengfu"
    title = "云埠市人民政府公告栏"
    per_page = 5
    channels: ClassVar[Mapping[str, str]] = {
        "tongzhi": "通知公告", "gongshi": "公示公告", "renshi": "人事信息", "jiedu": "政策解读",
    }  # fmt: skip

    def path(self, article: InventedArticle, part: int = 1) -> str:
        """Return a path such as /zwgk/tongzhi/202401/t20240122_3001.html."""
        suffix = f"_{part}" if part > 1 else ""
        return f"{_folder(article)}t{article.published:%Y%m%d}_{article.number}{suffix}.html"

    def list_path(self, slug: str, page: int = 1) -> str:
        """Return a path such as /zwgk/tongzhi/index.html; the second page is index_1.html."""
        return f"/zwgk/{slug}/index{f'_{page - 1}' if page > 1 else ''}.html"

    def extras(self) -> dict[str, Callable[[], DemoPage]]:
        """Return files, sitemaps, robots.txt and the page it forbids."""
        attached = {
            _folder(article) + name: partial(_file, name) for article in self.articles for name, _ in _files(article)
        }
        return attached | {
            FORBIDDEN: lambda: self.html(self._frame("值班表", "<p>本周值班：周一 甲组，周二 乙组，周三 丙组。</p>")),
            "/robots.txt": lambda: robots(
                f"User-agent: *\nDisallow: /internal/\n\nSitemap: {self.origin}/sitemap_index.xml\n"
            ),
            "/sitemap_index.xml": lambda: xml_page(
                sitemap_index([f"{self.origin}/sitemap-pages.xml", f"{self.origin}/sitemap-articles.xml.gz"])
            ),
            "/sitemap-pages.xml": lambda: xml_page(
                sitemap([(self.origin + self.list_path(slug), "") for slug in self.channels])
            ),
            "/sitemap-articles.xml.gz": self._packed_sitemap,
        }

    def home(self) -> str:
        """Show the first notices of every sort."""
        blocks = "".join(
            f"<h3>{name} <small>{link(self.list_path(slug), '更多')}</small></h3>{self._items(articles[:4])}"
            for slug, (name, articles) in self.lists().items()
        )
        friends = "　".join(link(url, title) for title, url in self.friends)
        return self._frame(self.title, f"{blocks}<p>网站链接：{friends}</p>")

    def listing(self, listing: Listing) -> str:
        """Show a list with first, next and last page."""
        turns = [f"共{listing.pages}页"]
        if listing.page > 1:
            turns += [
                link(self.list_path(listing.slug), "首页"),
                link(self.list_path(listing.slug, listing.page - 1), "上一页"),
            ]
        if listing.page < listing.pages:
            turns += [
                link(self.list_path(listing.slug, listing.page + 1), "下一页"),
                link(self.list_path(listing.slug, listing.pages), "尾页"),
            ]
        items = self._items(listing.articles)
        return self._frame(f"{listing.name}_{self.title}", f"<h3>{listing.name}</h3>{items}<p>{' '.join(turns)}</p>")

    def story(self, story: Story) -> str:
        """Show table, title, text and files."""
        article = story.article
        text = "\n".join(f'<p style="text-indent:2em">{escape(paragraph)}</p>' for paragraph in story.paragraphs)
        files = "".join(f"<li>附件：{link('./' + name, label)}</li>" for name, label in _files(article))
        author = f"　作者：{escape('、'.join(article.authors))}" if article.authors else ""
        made = article.detail("made") or f"{article.published:%Y-%m-%d}"
        rows = [
            ("索引号", f"YB{article.number}-{article.published:%Y-%m%d}", "主题分类", self.channels[article.channel]),
            ("发文机关", article.detail("agency"), "成文日期", made),
            ("发文字号", article.detail("doc") or "无", "有效性", "有效"),
        ]
        table = "".join(
            f'<tr><td class="k">{a}</td><td>{escape(b)}</td><td class="k">{c}</td><td>{escape(d)}</td></tr>'
            for a, b, c, d in rows
        )
        head = (
            f'<meta name="ArticleTitle" content="{escape(article.title)}">'
            f'<meta name="PubDate" content="{article.published:%Y-%m-%d %H:%M}">'
            f'<meta name="ContentSource" content="{escape(article.source)}">'
        )
        return self._frame(
            f"{article.title}_{self.title}",
            f"<p>您的位置：{link('/', '首页')} &gt; 政务公开 &gt; {self.channel_link(article)}</p>"
            f'<table class="xxgk">{table}</table><div class="bt">{escape(article.title)}</div>'
            f'<div class="fbsj">发布时间：{article.published:%Y-%m-%d %H:%M}　'
            f"来源：{escape(article.source)}{author}　字体：【大 中 小】</div>"
            f'<div class="TRS_Editor">{text}</div><ul>{files}</ul>'
            '<p><a href="javascript:window.print()">打印本页</a> '
            '<a href="javascript:window.close()">关闭窗口</a></p>'
            f"<h4>相关信息</h4>{self._items(story.related)}",
            head,
        )

    def _packed_sitemap(self) -> DemoPage:
        """Make a compressed sitemap of all articles."""
        text = sitemap((self.url(article), article.published.isoformat()) for article in self.articles)
        return DemoPage(gzip.compress(text.encode(), mtime=0), "application/gzip")

    def _items(self, articles: Iterable[InventedArticle]) -> str:
        """List notices, one a line."""
        rows = "".join(
            f"<li><span>{article.published:%Y-%m-%d}</span>{link(self.path(article), article.title)}</li>"
            for article in articles
        )
        return f'<ul class="list">{rows}</ul>'

    def _frame(self, title: str, body: str, head: str = "") -> str:
        """Put header and footer around a page."""
        menu = "".join(link(self.list_path(slug), name) for slug, name in self.channels.items())
        return f"""<!DOCTYPE html><html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8">
<meta name="SiteName" content="{self.title}">{head}<title>{escape(title)}</title><style>{_STYLE}</style></head><body>
<div class="top">{self.title}</div><div class="nav">{link("/", "首页")}{menu}</div><div class="main">{body}</div>
<div class="foot">主办：云埠市人民政府办公室　网站标识码：0000000001　{link(FORBIDDEN, "内部值班")}<br>
建议使用1366×768以上分辨率浏览</div></body></html>"""


def _folder(article: InventedArticle) -> str:
    """Return the folder of an article and its files."""
    return f"/zwgk/{article.channel}/{article.published:%Y%m}/"


def _files(article: InventedArticle) -> list[tuple[str, str]]:
    """Return name and label of the attached files."""
    return [
        (f"P{article.published:%Y%m%d}{article.number}_{n}.{label.rpartition('.')[2]}", label)
        for n, label in enumerate(article.details_of("files"), 1)
    ]


def _file(name: str) -> DemoPage:
    """Make bytes that begin as a file of this type does."""
    kind = name.rpartition(".")[2]
    head = b"%PDF-1.4\n%%EOF\n" if kind == "pdf" else b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64)
    return DemoPage(head, _FILE_TYPES[kind])
