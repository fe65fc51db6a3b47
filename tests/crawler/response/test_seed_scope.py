"""Scopes of seeds: whose a host is, and its sitemaps."""

from __future__ import annotations

from crawler.rank.priority import Priority
from crawler.response.seed_scope import SeedScope, seed_row

NOW = 1_700_000_000.0


def test_owner_of_a_host_is_found_without_a_look_at_all_seeds() -> None:
    rows = [seed_row(f"http://www.s{n}.com.cn/", stay="host", depth=None, pages=None, topic="") for n in range(2_000)]
    rows.append(seed_row("http://news.b.cn/", stay="site", depth=0, pages=None, topic=""))
    seeds = SeedScope(rows, None)
    assert seeds.owns("s7.com.cn")
    assert seeds.owns("www.s7.com.cn")
    assert seeds.owns("blog.b.cn")
    assert not seeds.owns("m.s7.com.cn")
    assert not seeds.owns("c.cn")
    priority = Priority("news", {})
    assert [
        new.seed_id for new in seeds.sitemaps("www.s7.com.cn", "http://www.s7.com.cn/", (), priority=priority, now=NOW)
    ] == [rows[7].id]
    assert seeds.sitemaps("s7.com.cn", "http://s7.com.cn/", (), priority=priority, now=NOW) == []
    seeds.adopt(rows[7].id, "s7.net")
    assert seeds.owns("www.s7.net")
    assert (
        seeds.sitemaps("s7.net", "http://s7.net/", (), priority=priority, now=NOW)[0].url == "http://s7.net/sitemap.xml"
    )
    assert seeds.sitemaps("news.b.cn", "http://news.b.cn/", (), priority=priority, now=NOW) == [], "only itself"
