"""A small site visited twice: what changed in between is found, and no page is called what it is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crawler.crawling import command, rows
from tests.crawler.odd_server import Answer, OddServer
from tests.crawler.repeating_site import crawl

HOST = "a.localhost"
SUBJECTS = ("河口大桥", "山城车站", "东湖公园", "市立图书馆", "老城茶馆", "北岸码头", "南门小学", "西山果园")
GONE = "页面不存在"


def story(subject: str, number: int) -> tuple[str, str]:
    """Title and page of a short story."""
    title = f"{subject}第{870 + number}天迎来新变化"
    text = (
        f"{subject}昨日完成了今年第{number + 3}次整修，附近居民可以从明天早上{number + 5}点起重新使用。"
        f"负责人在现场表示，整个工程比原来的计划提前了{number + 2}天，费用也少于预算。"
    )
    return title, text


def shown(title: str, text: str) -> Answer:
    return (
        200,
        {},
        f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>2024-03-12 08:30</p><p>{text}</p>"
        f'<a href="/">首页</a></body></html>',
    )


class Site:
    """A home page of ten links and eight stories; the home shows the stories' titles of today."""

    def __init__(self) -> None:
        self.stories = {f"/{number}.html": story(subject, number) for number, subject in enumerate(SUBJECTS)}
        self.answers: dict[tuple[str, str], Answer | Callable[[], Answer]] = {
            (HOST, "/"): self.home,
            (HOST, "/about.html"): shown("关于我们", "本报创办于山城。"),
            (HOST, "/contact.html"): shown("联系我们", "请写信给编辑部。"),
            (HOST, "/robots.txt"): (404, {}, ""),
        }
        for path in self.stories:
            self.answers[HOST, path] = self.answer(path)
        self.server = OddServer(self.answers)

    def answer(self, path: str) -> Callable[[], Answer]:
        return lambda: shown(*self.stories[path])

    def home(self) -> Answer:
        titles = {path: title for path, (title, _) in self.stories.items()}
        links = [*titles.items(), ("/about.html", "关于我们"), ("/contact.html", "联系我们")]
        items = "".join(f'<li><a href="{path}">{title}</a></li>' for path, title in links)
        return 200, {}, f"<html><head><title>山城晨报</title></head><body><ul>{items}</ul></body></html>"

    def change(self) -> None:
        """Let one story become a notice, two go, one move, and one come."""
        one, two, three, four = list(self.stories)[:4]
        self.stories[one] = GONE, "您要访问的页面不存在或已被删除。"
        self.answers[HOST, two] = 404, {}, "<h1>404</h1>"
        self.answers[HOST, three] = 410, {}, "<h1>410</h1>"
        self.stories["/moved.html"] = self.stories.pop(four)
        self.answers[HOST, "/moved.html"] = self.answer("/moved.html")
        self.answers[HOST, four] = 301, {"Location": "/moved.html"}, ""
        self.stories["/new.html"] = story("中心医院", 8)
        self.answers[HOST, "/new.html"] = self.answer("/new.html")


@pytest.mark.parametrize("missing", ["a notice", "with status 404", "the home page"])
def test_home_and_stories_of_a_small_site(tmp_path: Path, missing: str) -> None:
    site = Site()
    notice = shown(GONE, "您要访问的页面不存在或已被删除。")
    site.server.missing = {"a notice": notice, "the home page": site.home}.get(missing, (404, {}, "nothing"))
    with site.server:
        crawl(site.server, tmp_path, HOST, path="/")
        assert len(stored(tmp_path)) == len(SUBJECTS)
        site.change()
        done = command("recrawl", "--all", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
        assert not done.returncode, done.stderr
        crawl(site.server, tmp_path, HOST, path="/")
    assert site.server.paths().count("a/") > 1
    urls = {path: tuple(row) for path, *row in rows(tmp_path, f"SELECT {PATH}, state, reason FROM url")}
    assert urls["/"] == ("done", "list page")
    assert urls["/new.html"] == urls["/moved.html"] == urls["/0.html"] == ("done", None)
    assert urls["/2.html"] == ("failed", "http error")
    assert urls["/3.html"] == ("skipped", "redirect")
    titles = {title for title, _ in site.stories.values()} - {GONE}
    articles = stored(tmp_path)
    assert titles <= set(articles)
    # what is stored of a page stays until it is said twice that there is none, or with 410
    assert {title for title, gone in articles.items() if gone} == {story(SUBJECTS[2], 2)[0]}
    assert len(articles) == len(SUBJECTS) + 1
    assert GONE not in articles


PATH = "'/' || substr(url, instr(substr(url, 8), '/') + 8)"


def stored(folder: Path) -> dict[str, str | None]:
    """Title of every article, and since when it is gone."""
    return dict(rows(folder, "SELECT title, gone FROM article"))
