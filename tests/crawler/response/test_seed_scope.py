"""Scopes of seeds: whose a host is, and its sitemaps."""

from __future__ import annotations

from dataclasses import replace

from crawler.rank.priority import Priority
from crawler.response.seed_scope import SeedScope, seed_row
from pipelines.document.selectors import NO_SELECTORS, Selectors
from tests.crawler.answers import lease

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


def test_proxies_of_a_seed_are_those_of_its_pages_and_of_what_is_asked_for_them() -> None:
    plain = seed_row("http://a.cn/", stay="any", depth=None, pages=None, topic="")
    proxied = replace(seed_row("http://b.cn/", stay="any", depth=None, pages=None, topic=""), proxy="socks5://p.cn:1")
    seeds = SeedScope([plain], None)
    assert not seeds.have_proxies
    assert seeds.proxy_of(lease("http://b.cn/x", seed_id=proxied.id)) == ""
    seeds.learn([proxied])
    assert seeds.have_proxies
    assert seeds.proxy_of(lease("http://a.cn/x", seed_id=proxied.id)) == "socks5://p.cn:1"
    robots = [lease(f"http://{host}/robots.txt", seed_id=None) for host in ("a.cn", "b.cn", "far.cn")]
    assert [seeds.proxy_of(one) for one in robots] == ["", "socks5://p.cn:1", ""]
    seeds.note_askers({"far.cn": proxied.id})
    assert seeds.proxy_of(robots[2]) == seeds.proxy_of_host("far.cn") == "socks5://p.cn:1"
    seeds.learn([replace(proxied, proxy="")])
    assert not seeds.have_proxies


def test_selectors_are_those_of_the_own_seed_on_its_own_hosts() -> None:
    plain = seed_row("http://a.cn/news/", stay="path", depth=None, pages=None, topic="")
    chosen = seed_row("http://b.cn/", stay="any", depth=None, pages=None, topic="", body="css:.b", author="css:.by")
    seeds = SeedScope([plain], None)
    assert seeds.selectors_of(lease("http://b.cn/x", seed_id=chosen.id)) == NO_SELECTORS
    seeds.learn([chosen])
    for url, seed_id in (("http://b.cn/x", chosen.id), ("http://www.b.cn/x", chosen.id), ("http://b.cn/x", plain.id)):
        assert seeds.selectors_of(lease(url, seed_id=seed_id)) == Selectors(body="css:.b", author="css:.by"), url
    for url, seed_id in (("http://a.cn/x", chosen.id), ("http://far.cn/x", chosen.id), ("http://a.cn/x", plain.id)):
        assert seeds.selectors_of(lease(url, seed_id=seed_id)) == NO_SELECTORS, url
    seeds.adopt(chosen.id, "b.com")
    assert seeds.selectors_of(lease("http://b.com/x", seed_id=chosen.id)).body == "css:.b"
    seeds.learn([replace(chosen, body="", author="")])
    assert seeds.selectors_of(lease("http://b.cn/x", seed_id=chosen.id)) == NO_SELECTORS
