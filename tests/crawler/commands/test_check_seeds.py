"""`scrapy check-seeds` on servers of all kinds: what it says of each, and how it asks them."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.crawler.crawling import scrapy
from tests.crawler.odd_server import Answer, OddServer, article, redirect
from tests.table import each_row

DELAY = 0.05
XML = {"Content-Type": "application/xml"}


def page(title: str, *links: str, head: str = "") -> Answer:
    """A front page: headlines and nothing else."""
    items = "".join(f'<li><a href="{url}">本市今日公布第{n}项港口建设计划全文</a></li>' for n, url in enumerate(links))
    return (
        200,
        {},
        f"<html><head><title>{title}</title>{head}</head><body><h1>{title}</h1><ul>{items}</ul></body></html>",
    )


def sitemap(*urls: str, day: str) -> Answer:
    entries = "".join(f"<url><loc>{url}</loc><lastmod>{day}</lastmod></url>" for url in urls)
    return 200, XML, f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'


def text(body: str) -> Answer:
    return 200, {"Content-Type": "text/plain"}, body


BASE = "http://{}.localhost:PORT"
LINKS = [f"/news/{n}.html" for n in range(12)]
WHOLE = BASE.format("whole")
CHILDREN = [f"{WHOLE}/map{n}.xml" for n in range(8)]
FEED = '<link rel="alternate" type="application/rss+xml" href="/rss.xml">'
ANSWERS: dict[tuple[str, str], Any] = {
    ("whole.localhost", "/"): page("新闻网", *LINKS, head=FEED),
    ("whole.localhost", "/robots.txt"): text(f"User-agent: *\nCrawl-delay: 0.1\nSitemap: {WHOLE}/index.xml"),
    ("whole.localhost", "/rss.xml"): (
        200,
        XML,
        f"<rss><channel><item><link>{WHOLE}/news/1.html</link>"
        "<pubDate>Tue, 02 Jan 2024 08:00:00 GMT</pubDate></item></channel></rss>",
    ),
    ("whole.localhost", "/index.xml"): (
        200,
        XML,
        f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in CHILDREN)}</sitemapindex>",
    ),
    **{
        ("whole.localhost", f"/map{n}.xml"): sitemap(
            *(f"{WHOLE}/news/{n}-{m}.html" for m in range(10)), day=f"2024-05-{n + 1:02}"
        )
        for n in range(8)
    },
    ("plain.localhost", "/"): page("时报", *LINKS),
    ("closed.localhost", "/robots.txt"): text("User-agent: *\nDisallow: /"),
    ("ill.localhost", "/robots.txt"): (503, {}, ""),
    ("slow.localhost", "/robots.txt"): text("User-agent: *\nCrawl-delay: 3600"),
    ("moved.localhost", "/"): redirect(f"{BASE.format('plain')}/"),
    ("circle.localhost", "/"): redirect("/"),
    ("alone.localhost", "/"): article("关于我们"),
}
GOOD = ("whole", "plain")


@dataclass
class Checked:
    code: int
    reports: dict[str, dict[str, Any]]
    asked: list[tuple[float, str, str]]
    folder: Path


def check(server: OddServer, folder: Path, names: list[str], *options: str) -> Any:
    seeds = folder / "seeds.txt"
    lines = [f"{BASE.format(name)}/".replace("PORT", str(server.port)) for name in names]
    seeds.write_text("\n".join([*lines, *(["http://127.0.0.1:9/"] if "gone" in names else [])]), encoding="utf-8")
    settings = (f"DATABASE_URL=sqlite:///{folder}/news.db", f"HOST_DELAY={DELAY}", "WORKERS=1")
    settings += (f"ALLOW_NETWORKS=127.0.0.1:{server.port},127.0.0.1:9", "MAX_PAGES_PER_HOST=60")
    return scrapy(folder, "check-seeds", str(seeds), *options, *[x for s in settings for x in ("-s", s)])


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checked]:
    """All kinds of seeds in one file."""
    folder = tmp_path_factory.mktemp("checked")
    with OddServer(ANSWERS) as server:
        names = ["whole", "plain", "closed", "ill", "slow", "moved", "circle", "alone", "gone"]
        done = check(server, folder, names, "--format", "jsonl")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert done.stderr == ""
        reports = {row["url"].partition("//")[2].partition(".")[0]: row for row in rows}
        yield Checked(done.returncode, reports, server.asked, folder)


def test_good_seed_is_measured(checked: Checked) -> None:
    whole = checked.reports["whole"]
    assert (whole["is_bad"], whole["problem"], whole["status"], whole["robots"]) == (False, "", 200, "rules")
    assert (whole["kind"], whole["links"], whole["language"]) == ("list", 12, "zh-Hans")
    assert (whole["crawl_delay"], whole["delay"]) == (0.1, 0.1)
    assert [url.rpartition("/")[2] for url in whole["feeds"]] == ["rss.xml"]
    assert len(whole["sitemaps"]) == 9
    assert whole["sitemap_urls"] == 80, "four of eight were read"
    assert whole["newest"] == "2024-05-04"
    assert (whole["pages"], whole["seconds"]) == (60, pytest.approx(6.0)), "as many as MAX_PAGES_PER_HOST lets"


def test_size_of_a_seed_without_sitemap_is_unknown(checked: Checked) -> None:
    plain = checked.reports["plain"]
    assert (plain["is_bad"], plain["robots"], plain["sitemap_urls"], plain["pages"]) == (False, "none", None, None)


@each_row(
    ("name", "problem"),
    [
        ("closed", "robots.txt keeps us out (robots); take it out"),
        ("slow", "robots.txt keeps us out (crawl-delay too long)"),
        ("ill", "its robots.txt answers http 503; "),
        ("circle", "it redirects more than 8 times; correct the address"),
        ("alone", "no links to follow, no feed and no sitemap; name a page"),
        ("gone", "it answers http 404; correct the address, or take it out"),
        ("127", "it cannot be reached (connection refused); correct"),
    ],
)
def test_bad_seed_is_named_with_what_to_do(checked: Checked, name: str, problem: str) -> None:
    report = checked.reports[name]
    assert report["is_bad"]
    assert problem in report["problem"]
    assert report["allowed"] == (name not in {"closed", "slow"})
    assert checked.code == 1


def test_redirect_to_another_host_is_a_hint(checked: Checked) -> None:
    moved = checked.reports["moved"]
    assert (moved["is_bad"], moved["redirects"], moved["links"]) == (False, 1, 12)
    assert moved["problem"] == f"it redirects to another host; write {moved['final_url']} instead"


def test_hosts_are_asked_politely(checked: Checked) -> None:
    by_host = defaultdict(list)
    for at, host, path in checked.asked:
        by_host[host].append((at, path))
    for host, own in by_host.items():
        assert own[0][1] == "/robots.txt"
        assert all(b[0] - a[0] >= DELAY for a, b in itertools.pairwise(own)), host
        assert len(own) <= 10
    assert [path for _, path in by_host["closed.localhost"]] == ["/robots.txt"]
    assert [path for _, path in by_host["ill.localhost"]] == ["/robots.txt"]
    assert not (checked.folder / "news.db").exists()


def test_good_seeds_are_a_table_and_code_0(tmp_path: Path) -> None:
    with OddServer(ANSWERS) as server:
        done = check(server, tmp_path, list(GOOD))
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of 2 seeds are well; some 60 pages, and 1 whose size nothing tells." in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()[2:5]] == [
        "seed", *(f"{BASE.format(name)}/".replace("PORT", str(server.port)) for name in GOOD),
    ]  # fmt: skip
