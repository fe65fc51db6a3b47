"""More traps than the tests have time for, see `tests.crawler.trap_sites`."""

from __future__ import annotations

import random
from collections.abc import Callable
from urllib.parse import urlencode

from db.records.keys import fingerprint
from tests.crawler.trap_sites import Shown, Site, _with_news, words


def hx(x: object, n: int = 16) -> str:
    return f"{fingerprint(str(x)) & ((1 << 64) - 1):016x}"[:n]


def word(seed: object) -> str:
    d = random.Random(str(seed))
    return "".join(d.choice("bcdfghklmnprst") + d.choice("aeiou") for _ in range(3))


MORE_TRAPS: dict[str, tuple[Site, int]] = {}
"""Sites with the number of pages that the trap may cost."""


def trap(name: str, first: str, most: int = 200) -> Callable:
    def register(f: Callable) -> Callable:
        MORE_TRAPS[name] = (_with_news(f, first), most)
        return f

    return register


@trap("session segment", "/s/0123456789abcdef/browse/1")
def _session_segment(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/s/{hx(p + str(c))}/browse/{c}" for c in range(6)], "目录 浏览")


@trap("session first segment", "/0123456789abcdef/browse/1")
def _session_first_segment(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/{hx(p + str(c))}/browse/{c}" for c in range(6)], "目录 浏览")


@trap("unknown session param", "/view?c=1&zq=00aa")
def _unknown_session_param(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/view?c={c}&zq={hx(p + str(c), 8)}" for c in range(6)], f"目录 浏览 {words(q.get('c'), 40)}")


@trap("week calendar", "/week/2025-W27")
def _week_calendar(p: str, q: dict[str, str]) -> Shown:
    y, w = map(int, p[6:].split("-W"))
    n = y * 52 + w

    def f(k: int) -> str:
        return f"/week/{k // 52}-W{k % 52:02d}"

    return Shown([f(n + 1), f(n - 1)], f"{y} 第{w}周 没有活动安排")


@trap("day calendar at root", "/2025/06/30/")
def _day_calendar_at_root(p: str, q: dict[str, str]) -> Shown:
    y, m, d = map(int, p.strip("/").split("/"))
    n = (y * 12 + m - 1) * 28 + d - 1

    def f(k: int) -> str:
        return f"/{k // 28 // 12:04d}/{k // 28 % 12 + 1:02d}/{k % 28 + 1:02d}/"

    return Shown([f(n + 1), f(n - 1), f(n + 28), f(n - 28)], f"{y}年{m}月{d}日 今日无内容")


@trap("day calendar with a text each", "/diary/2025/06/30/")
def _day_calendar_with_a_text_each(p: str, q: dict[str, str]) -> Shown:
    y, m, d = map(int, p[7:].strip("/").split("/"))
    n = (y * 12 + m - 1) * 28 + d - 1

    def f(k: int) -> str:
        return f"/diary/{k // 28 // 12:04d}/{k // 28 % 12 + 1:02d}/{k % 28 + 1:02d}/"

    return Shown([f(n + 1), f(n - 1), f(n + 28), f(n - 28)], f"{y}年{m}月{d}日 {words(n, 15)}")


ATTR = ["red", "blue", "green", "large", "small", "sale", "new", "cheap", "cotton", "wool", "men", "women"]


@trap("facets in the path", "/shop/red/", 900)
def _facets_in_the_path(p: str, q: dict[str, str]) -> Shown:
    have = p.strip("/").split("/")[1:]
    more = [a for a in ATTR if a not in have]
    return Shown(
        [f"/shop/{'/'.join([*have, a])}/" for a in more]
        + [f"/shop/{'/'.join(have[:-1])}/" if have[:-1] else "/shop/red/"],
        f"商品 筛选 {' '.join(have)}",
    )


@trap("facets with own items", "/shop/red/", 900)
def _facets_with_own_items(p: str, q: dict[str, str]) -> Shown:
    have = p.strip("/").split("/")[1:]
    more = [a for a in ATTR if a not in have]
    items = [f"/item/{fingerprint(p + str(i)) % 2000}" for i in range(8)] if p.startswith("/shop") else []
    return Shown(
        [f"/shop/{'/'.join([*have, a])}/" for a in more if p.startswith("/shop")] + items, f"商品 {words(p, 60)}"
    )


@trap("offset without end", "/feed?offset=20")
def _offset_without_end(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/feed?offset={int(q['offset']) + 20}"], "加载更多")


@trap("offset random texts", "/feed?offset=20")
def _offset_random_texts(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/feed?offset={int(q['offset']) + 20}"], "加载更多" + words(p, 200))


TAGS = [word(i) for i in range(30)]


@trap("tags combined", "/tag/" + TAGS[0], 300)
def _tags_combined(p: str, q: dict[str, str]) -> Shown:
    have = p[5:].split("+")
    return Shown([f"/tag/{'+'.join(sorted({*have, t}))}" for t in TAGS if t not in have], f"标签 {' '.join(have)}")


@trap("searches lead to searches", "/search?q=first")
def _searches_lead_to_searches(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/search?q={word(p + str(i))}" for i in range(8)], f"搜索 {q['q']} 的结果")


@trap("searches in the path", "/search/first", 300)
def _searches_in_the_path(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/search/{word(p + str(i))}" for i in range(8)], f"搜索 的结果 {words(p, 40)}")


@trap("login return", "/login?return=%2F")
def _login_return(p: str, q: dict[str, str]) -> Shown:
    return Shown(
        [f"/login?{urlencode({'return': p})}", f"/register?{urlencode({'return': p})}"] if len(p) < 1500 else [],
        "请登录后继续 用户名 密码",
    )


@trap("wiki history", "/w/index.php?title=Main&action=history", 300)
def _wiki_history(p: str, q: dict[str, str]) -> Shown:
    t = q.get("title", "Main")
    r = int(q.get("oldid", 0))
    return Shown(
        [f"/w/index.php?title={t}&diff={r + k}&oldid={r + k - 1}" for k in range(1, 4)]
        + [f"/w/index.php?title={t}&oldid={r + k}" for k in range(1, 3)]
        + [f"/w/index.php?title={word((t, i))}&action={a}" for i in range(2) for a in ("history", "edit")],
        f"修订 {words(p, 50)}",
    )


@trap("mirror folders", "/m1/list/1.html")
def _mirror_folders(p: str, q: dict[str, str]) -> Shown:
    n = p.rpartition("/")[2]
    k = int(p.split("/")[1][1:])
    return Shown([f"/m{k + 1}/list/{n}", f"/m{k * 2}/list/{int(n[:-5]) % 9 + 1}.html"], f"列表 {words(n, 30)}")


@trap("mirror folders word names", "/mirror/list/1.html", 300)
def _mirror_folders_word_names(p: str, q: dict[str, str]) -> Shown:
    n = p.rpartition("/")[2]
    return Shown([f"/{word(p)}/list/{n}", f"/{word(p + 'x')}/list/{int(n[:-5]) % 9 + 1}.html"], f"列表 {words(n, 30)}")


@trap("mirror of articles", "/mirror/story/1.html", 300)
def _mirror_of_articles(p: str, q: dict[str, str]) -> Shown:
    n = p.rpartition("/")[2]
    k = int(n[:-5])
    return Shown([f"/{word(p)}/story/{n}", f"/{word(p + 'x')}/story/{k % 8 + 1}.html"], words(k, 200), article=str(k))


@trap("relative deepening", "/more/", 400)
def _relative_deepening(p: str, q: dict[str, str]) -> Shown:
    return Shown([p + word(p + str(i)) + "/" for i in range(2)], f"目录 {words(p, 20)}")


@trap("relative deepening no slash", "/more/x.html", 400)
def _relative_deepening_no_slash(p: str, q: dict[str, str]) -> Shown:
    h = p.rpartition("/")[0]
    return Shown([f"{h}/{word(p + str(i))}/x.html" for i in range(3)], "目录")


@trap("soft 404 random text", "/old/a.html")
def _soft_404_random_text(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/old/{hx(p + str(n), 8)}.html" for n in range(5)], f"页面不存在 {words(p, 80)}", missing=True)


@trap("soft 404 random text, unsaid", "/old/a.html")
def _soft_404_random_text_unsaid(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/old/{hx(p + str(n), 8)}.html" for n in range(5)], f"看看别的 {words(p, 80)}")


@trap("soft 404 slugs", "/old/some-words-here")
def _soft_404_slugs(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/old/{word(p + str(n))}-{word(n)}-{word(p)}" for n in range(5)], f"看看别的 {words(p, 80)}")


@trap("stamp in the path", "/list/20250630120000/1.html")
def _stamp_in_the_path(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/list/{20250630120000 + fingerprint(p + str(i)) % 10**7}/{i}.html" for i in range(5)], "最新列表")


@trap("stamp after a dash", "/list-20250630-120000")
def _stamp_after_a_dash(p: str, q: dict[str, str]) -> Shown:
    return Shown(
        [f"/list-{20250630 + fingerprint(p + str(i)) % 300}-{fingerprint(p + str(i)) % 10**6:06d}" for i in range(5)],
        "最新列表",
    )


@trap("random subfolder pages no news", "/zz/1", 300)
def _random_subfolder_pages_no_news(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/{word(p + str(i))}" for i in range(5)], f"{words(p, 80)}")


@trap("user profiles", "/u/1", 2100)
def _user_profiles(p: str, q: dict[str, str]) -> Shown:
    k = int(p[3:])
    return Shown([f"/u/{(k * 7 + i) % 2000}" for i in range(5)], f"会员 {words(k, 30)}")


@trap("poll pages", "/vote?item=1&choice=1")
def _poll_pages(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/vote?item={fingerprint(p + str(i)) % 10**6}&choice={i}" for i in range(4)], "投票成功")


@trap("share links", "/share?url=a&title=b")
def _share_links(p: str, q: dict[str, str]) -> Shown:
    return Shown(
        [f"/share?{urlencode({'url': p, 'title': words(p, 3), 'n': i})}" for i in range(3)] if len(p) < 1000 else [],
        "分享到",
    )


@trap("semicolon sessions", "/browse;jsessionid=00AA?c=1")
def _semicolon_sessions(p: str, q: dict[str, str]) -> Shown:
    return Shown([f"/browse;jsessionid={hx(p + str(c)).upper()}?c={c}" for c in range(5)], "目录")


@trap("translate proxy", "/tr/en/page/1", 500)
def _translate_proxy(p: str, q: dict[str, str]) -> Shown:
    s = p.strip("/").split("/")
    return Shown(
        [f"/tr/{word(i)}/page/{(int(s[3]) * 3 + k) % 10**6}" for i in range(3) for k in range(2)],
        f"translated {words(p, 40)}",
    )
