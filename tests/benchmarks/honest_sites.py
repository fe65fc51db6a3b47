"""More honest sites than the tests have time for, see `tests.crawler.trap_sites`."""

from __future__ import annotations

import random
from collections.abc import Callable
from urllib.parse import parse_qsl

from tests.benchmarks.trap_sites import hx
from tests.crawler.trap_sites import HOST, Shown, Site, _article, _home, words

MORE_HONEST: dict[str, tuple[Site, int]] = {}
"""Sites with the number of their articles."""


def honest(name: str, n: int) -> Callable:
    def register(f: Callable) -> Callable:
        MORE_HONEST[name] = (f, n)
        return f

    return register


@honest("10,000 in a chain", 10000)
def _10_000_in_a_chain(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    if p == "/":
        return _home("/1.html")
    k = int(p[1:-5])
    if not 1 <= k <= 10000:
        return None
    return _article(k, f"/{k + 1}.html", f"/{k + 2}.html", f"/{k - 1}.html")


@honest("500 list pages", 5000)
def _500_list_pages(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    if p == "/":
        return _home("/list/1")
    if p.startswith("/list/"):
        k = int(p[6:])
        return Shown(
            [*(f"/a/{n}.html" for n in range(10 * k - 9, 10 * k + 1)), *([f"/list/{k + 1}"] if k < 500 else [])],
            "新闻列表 下一页",
        )
    return _article(int(p[3:-5]), "/list/1")


@honest("500 list pages, all named", 5000)
def _500_list_pages_all_named(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    if p == "/":
        return _home(*(f"/list/{k}" for k in range(1, 501)))
    if p.startswith("/list/"):
        k = int(p[6:])
        return Shown(
            [
                *(f"/a/{n}.html" for n in range(10 * k - 9, 10 * k + 1)),
                *(f"/list/{k + d}" for d in (1, 2, 3) if k + d <= 500),
            ],
            "新闻列表 下一页",
        )
    return _article(int(p[3:-5]), "/list/1")


@honest("500 list pages by query", 5000)
def _500_list_pages_by_query(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    q = dict(parse_qsl(p.partition("?")[2]))
    if p == "/":
        return _home("/index.php?page=1")
    if "page" in q:
        k = int(q["page"])
        return Shown(
            [
                *(f"/index.php?id={n}" for n in range(10 * k - 9, 10 * k + 1)),
                *([f"/index.php?page={k + 1}"] if k < 500 else []),
            ],
            "新闻列表 下一页",
        )
    return _article(int(q["id"]), "/index.php?page=1")


@honest("one parameter, 50 sections of empty", 2000)
def _one_parameter_50_sections_of_empty(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    q = dict(parse_qsl(p.partition("?")[2]))
    if p == "/":
        return _home(*(f"/index.php?id={n}" for n in range(1, 51)))
    k = int(q["id"])
    if k <= 50:
        return Shown(
            [f"/index.php?id={k * 1000 + i}" for i in range(40)] + [f"/index.php?id={k % 50 + 1}"],
            f"栏目 {words(k, 20)}",
        )
    return _article(k, f"/index.php?id={k // 1000}")


@honest("lists of known articles first", 2000)
def _lists_of_known_articles_first(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    if p == "/":
        return _home(*(f"/topic/{k}" for k in range(100)), "/list/1")
    if p.startswith("/topic/"):
        k = int(p[7:])
        return Shown([f"/a/{n}.html" for n in range(10 * k, 10 * k + 10)], f"专题 {words(p, 5)}")
    if p.startswith("/list/"):
        k = int(p[6:])
        here = [f"/a/{n}.html" for n in range(10 * k - 10, 10 * k)]
        return Shown([*here, *(f"/list/{k + d}" for d in (1, 2, 3) if k + d <= 200)], "新闻列表 下一页")
    return _article(int(p[3:-5]), "/list/1")


@honest("hex ids", 3000)
def _hex_ids(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    if p == "/":
        return _home("/p/" + format(0, "032x"))
    k = int(p[3:], 16)
    if p.startswith("/l/"):
        return Shown(
            [f"/p/{n:032x}" for n in range(k * 20, k * 20 + 20)] + ([f"/l/{k + 1:032x}"] if k < 149 else []), "列表"
        )
    return _article(k, f"/l/{0:032x}", f"/p/{(k * 17 + 3) % 3000:032x}")


LANGS = ["en", "zh", "fr", "de", "ja", "ko", "es", "ru", "ar", "pt"]


@honest("languages", 10 * 200)
def _languages(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    if p == "/":
        return _home(*(f"/{lang}/" for lang in LANGS))
    s = p.strip("/").split("/")
    if len(s) == 1:
        return Shown([f"/{s[0]}/c{n}/" for n in range(20)] + [f"/{lang}/" for lang in LANGS], f"{s[0]} home")
    if len(s) == 2:
        c = int(s[1][1:])
        return Shown(
            [f"/{s[0]}/c{c}/{n}.html" for n in range(10)] + [f"/{lang}/c{c}/" for lang in LANGS], f"{s[0]} {c} list"
        )
    return _fa(p, *(f"/{lang}/{s[1]}/{s[2]}" for lang in LANGS))


def _fa(k: str, *links: str) -> Shown:
    return Shown(("/", *links), words(k, 200), article=str(k))


@honest("three session links each", 1000)
def _three_session_links_each(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    path, _, qs = p.partition("?")
    q = dict(parse_qsl(qs))
    if p == "/":
        return _home("/list?page=1")
    if path == "/list":
        k = int(q["page"])
        return Shown(
            [f"/show/{n}.html?zq={hx((n, j), 8)}" for n in range(10 * k - 9, 10 * k + 1) for j in range(3)]
            + ([f"/list?page={k + 1}"] if k < 100 else []),
            "新闻列表",
        )
    return _fa(path, "/list?page=1")


@honest("print, amp and mobile", 400)
def _print_amp_and_mobile(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    if p == "/":
        return _home("/news/1.html")
    k = int("".join(c for c in p if c.isdigit())[:6])
    if not 1 <= k <= 400:
        return None
    return Shown(
        [f"/news/{k + 1}.html", f"/news/{k + 2}.html", f"/print/{k}.html", f"/amp/{k}.html", f"/m/{k}.html"],
        words(k, 200),
        article=str(k),
    )


@honest("reply links", 400)
def _reply_links(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    path = p.partition("?")[0]
    if p == "/":
        return _home("/news/1.html")
    k = int(path[6:-5])
    if k > 400:
        return None
    return Shown(
        [f"/news/{k + 1}.html", f"/news/{k + 2}.html", *(f"/news/{k}.html?replytocom={k * 10 + j}" for j in range(10))],
        words(k, 200),
        article=str(k),
    )


@honest("sorted lists", 600)
def _sorted_lists(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    path, _, qs = p.partition("?")
    q = dict(parse_qsl(qs))
    if p == "/":
        return _home("/list?page=1&sort=new&dir=asc")
    if path == "/list":
        k = int(q["page"])
        o = list(range(600))
        random.Random(q["sort"]).shuffle(o)
        o = o if q["dir"] == "asc" else o[::-1]
        mine = [f"/a/{n}" for n in o[k * 10 - 10 : k * 10]]
        return Shown(
            mine
            + [f"/list?page={j}&sort={q['sort']}&dir={q['dir']}" for j in (k - 1, k + 1) if 1 <= j <= 60]
            + [f"/list?page=1&sort={s}&dir={d}" for s in ("new", "hot", "name", "size") for d in ("asc", "desc")],
            "列表",
        )
    return _fa(path, "/")


@honest("big forum", 2000)
def _big_forum(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    path, _, qs = p.partition("?")
    dict(parse_qsl(qs))
    if p == "/":
        return _home(*(f"/f{n}-1.html" for n in range(1, 11)))
    if path.startswith("/f"):
        b, k = map(int, path[2:-5].split("-"))
        return Shown(
            [f"/t{b * 1000 + n}-1.html" for n in range(k * 10, k * 10 + 10)]
            + ([f"/f{b}-{k + 1}.html"] if k < 20 else []),
            "版块",
        )
    if path.startswith("/t"):
        t, k = map(int, path[2:-5].split("-"))
        links = (
            [f"/u{(t * 3 + j) % 5000}.html" for j in range(3)]
            + ([f"/t{t}-{k + 1}.html"] if k < 3 else [])
            + [f"/post.php?reply={t}", f"/post.php?quote={t * 10 + k}"]
        )
        return Shown(links, words((t, k), 200), article=str(t) if k == 1 else "") if k > 1 else _fa(str(t), *links)
    if path.startswith("/u"):
        return Shown([f"/u{(int(path[2:-5]) + 7) % 5000}.html"], "会员资料 " + words(path, 5))
    return Shown(["/login"], "请登录") if path.startswith("/post") else Shown([], "请登录")


@honest("archive by day in path, sparse", 300)
def _archive_by_day_in_path_sparse(u: str) -> Shown | None:
    p = u.removeprefix(HOST)

    def f(k: int) -> str:
        return f"/{2000 + k // 336}/{k // 28 % 12 + 1:02d}/{k % 28 + 1:02d}/"

    if p == "/":
        return _home(f(0), f(3000))
    s = p.strip("/").split("/")
    if len(s) == 4:
        return _fa(p, "/")
    y, m, d = map(int, s)
    k = (y - 2000) * 336 + (m - 1) * 28 + d - 1
    if not 0 <= k < 6000:
        return Shown([], "无")
    return Shown([f(k) + "story.html"] * (k % 20 == 0) + [f(k + 1), f(k - 1)], f"{y}-{m}-{d} 当日新闻")


@honest("pdf-like leaf pages", 300)
def _pdf_like_leaf_pages(u: str) -> Shown | None:
    p = u.removeprefix(HOST)
    if p == "/":
        return _home("/doc/1")
    s = p.strip("/").split("/")
    k = int(s[1])
    if len(s) == 2:
        return _fa(p, *(f"/doc/{k + j}" for j in (1, 2) if k + j <= 300), *(f"/doc/{k}/fig/{j}" for j in range(20)))
    return Shown([f"/doc/{k}/fig/{j}" for j in range(20)] + [f"/doc/{k}"], words(p, 15))
