"""A site that shows each article under several addresses: answers for `OddServer`, and a crawl of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.crawler.crawling import Finished, scrapy
from tests.crawler.odd_server import Answer, OddServer

PER_LIST = 6
_COMMON = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说"
"""Rare characters at random look like a wrong character set."""


def page(number: int) -> Answer:
    """An article like no other."""
    draw = random.Random(number)
    paragraphs = ["".join(draw.choice(_COMMON) for _ in range(60)) + "。" for _ in range(4)]
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    title = f"新闻{number}号"
    return 200, {}, f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"


def lists(number: int, links: Sequence[str]) -> Answer:
    """A page of links."""
    items = "".join(f'<li><a href="{link}">新闻标题在这里 {link}</a></li>' for link in links)
    return 200, {}, f"<html><head><title>列表{number}</title></head><body><ul>{items}</ul></body></html>"


def site(
    host: str, shapes: Sequence[str], articles: int, content: Callable[[int, int], int] = lambda n, _shape: n
) -> dict[tuple[str, str], Answer]:
    """Lists of articles, each leading to the next; every article is linked under all shapes (`{}` is its number).

    Args:
        host: its name.
        shapes: paths.
        articles: how many numbers there are.
        content: number and place of the shape -> number of the article shown there.
    """
    answers: dict[tuple[str, str], Answer] = {(host, "/robots.txt"): (404, {}, "")}
    seed = 1000 * sum(host.encode())
    for first in range(0, articles, PER_LIST):
        numbers = range(first, min(first + PER_LIST, articles))
        links = [shape.format(n) for n in numbers for shape in shapes]
        following = [f"/list/{first + PER_LIST}.html"] if first + PER_LIST < articles else []
        answers[host, f"/list/{first}.html"] = lists(first, [*links, *following])
        for place, shape in enumerate(shapes):
            answers |= {(host, shape.format(n)): page(seed + content(n, place)) for n in numbers}
    return answers


def crawl(server: OddServer, folder: Path, *hosts: str, path: str = "/list/0.html", **settings: str) -> Finished:
    """Crawl hosts of the server into `folder/news.db`."""
    seeds = folder / "seeds.txt"
    seeds.write_text("\n".join(f"http://{host}:{server.port}{path}" for host in hosts), encoding="utf-8")
    given = {
        "DATABASE_URL": f"sqlite:///{folder}/news.db",
        "ALLOW_NETWORKS": f"127.0.0.1:{server.port}",
        "HOST_DELAY": "0",
        "HOST_CONNECTIONS": "4",
        "CRAWL_PRESET": "breadth",
        "WORKERS": "1",
        **settings,
    }
    arguments = [x for setting in given.items() for x in ("-s", "=".join(setting))]
    done = scrapy(folder, "crawl", "news", "-a", f"seeds={seeds}", *arguments)
    assert done.returncode == 0, done.stderr
    return done
