"""URL rules in a crawl: what is skipped by them, that nothing is lost, and what the commands say of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence, Set
from itertools import count, islice
from pathlib import Path

from scrapy.settings import Settings
from sqlalchemy import Connection, text

from crawler import settings as project_settings
from crawler.learn.url_rules import UrlRules
from crawler.options.config import Config
from crawler.options.seeds import Seed
from crawler.run.session import Session
from db.frontier.insert import add_urls
from db.records.keys import fingerprint, is_sampled
from db.records.url import NewUrl
from pipelines.url_rules.forms import unpack
from tests.crawler.crawling import rows, scrapy
from tests.crawler.odd_server import OddServer
from tests.crawler.repeating_site import crawl, site
from tests.db.frontier_rows import new_url

ARTICLES = 30
SOURCES = ("home", "list", "top", "app")


def ask(folder: Path, *arguments: str) -> str:
    done = scrapy(folder, *arguments, "-s", f"DATABASE_URL=sqlite:///{folder}/news.db")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_superfluous_addresses_are_skipped_and_no_article_is_lost(tmp_path: Path) -> None:
    a, b = "a.localhost", "bb.localhost"
    variants = [f"/news/{{}}.html?src={source}" for source in SOURCES]
    answers = site(a, ["/news/{}.html", *variants], ARTICLES) | site(b, ["/show.php?id={}"], ARTICLES)
    with OddServer(answers) as server:
        # on a busy machine pages that look alike would be blocked before a rule is learnt
        crawl(server, tmp_path, a, b, SOFT_404_PROBE="False", TRAPS="False")
        asked = [path for path in server.paths() if "/news/" in path]
    articles = "SELECT substr(url, 8, 1), count(*) FROM article JOIN url USING (id) GROUP BY 1"
    assert rows(tmp_path, articles) == [("a", ARTICLES), ("b", ARTICLES)]
    ((skipped,),) = rows(tmp_path, "SELECT count(*) FROM url WHERE reason = 'url rule'")
    assert skipped + len(asked) == 5 * ARTICLES
    assert skipped > ARTICLES
    assert rows(tmp_path, "SELECT count(*) FROM url WHERE reason = 'url rule' AND same_as IS NULL") == [(0,)]

    rule = "?src= ignored in /news/<number>.html"
    for how in ([], ["afresh"]):
        told = ask(tmp_path, "status", "--url-rules", *how)
        assert rule in told
        assert "?id=" not in told
    one, other = rows(
        tmp_path, "SELECT u.url, o.url FROM url u JOIN url o ON o.id = u.same_as WHERE u.reason = 'url rule' LIMIT 1"
    )[0]
    told = " ".join(ask(tmp_path, "why", one).split())
    assert f"state skipped (url rule) same as {other} rule {rule} found on" in told


# ---------------------------------------------------------------- learning, without a network

HOST = "http://a.example"


def numbered(wanted: int, shape: str, *, sampled: bool) -> list[str]:
    """Addresses that are fetched in any case, or others."""
    urls = (HOST + shape.format(n) for n in count(1))
    return list(islice((url for url in urls if is_sampled(fingerprint(url)) == sampled), wanted))


def found(*urls: str) -> list[NewUrl]:
    return [new_url(url) for url in urls]


def fetch(connection: Connection, batches: Sequence[dict[str, int]]) -> list[None]:
    """Say of URLs that they have been fetched and held some article."""
    for batch in batches:
        for url, content in batch.items():
            values = {"key": fingerprint(url), "content": content}
            query = "UPDATE url SET state='done', reason='same page', fetched_at=1e9, same_as=:content WHERE id = :key"
            connection.execute(text(query), values)
    return [None for _ in batches]


def test_rules_come_and_go_with_what_is_fetched(tmp_path: Path) -> None:
    articles = numbered(15, "/news/{}.html", sampled=False)
    pages = {f"{url}{query}": n for n, url in enumerate(articles, 1) for query in ("", "?src=1", "?src=2")}
    waiting = [f"{url}?src=3" for url in articles]
    superfluous = {url for url in waiting if not is_sampled(fingerprint(url))}
    changes: list[tuple[int, Set[int]]] = []

    def states(folder: Path, urls: Iterable[str]) -> set[str]:
        return {s for url, s in rows(folder, "SELECT url, state FROM url") if url in set(urls)}

    async def learn(session: Session) -> None:
        tasks: list[asyncio.Task[None]] = []
        rules = UrlRules(session, lambda work: tasks.append(asyncio.ensure_future(work)), lambda *c: changes.append(c))
        await rules.load()
        await session.submit(add_urls, (1e9, found(*pages, *waiting)))
        await session.submit(fetch, pages)
        host = fingerprint("a.example")
        for _ in range(7):
            rules.repeated(host)
        assert not tasks
        rules.repeated(host)
        await asyncio.gather(*tasks)
        assert [str(rule) for rule in unpack(rules.of(host)).rules] == ["?src= ignored in /news/<number>.html"]
        assert changes == [(-len(superfluous), {host})]
        assert states(tmp_path, superfluous) == {"skipped"}
        assert states(tmp_path, set(waiting) - superfluous) <= {"pending"}
        assert rows(tmp_path, "SELECT count(DISTINCT url_id), count(*) FROM url_form") == [(16, 16)], "and the seed"

        others = UrlRules(session, lambda _: None, lambda *_: None)
        await others.load()
        assert others.of(host) == rules.of(host)
        assert not await rules.look_again(), "there is no news"

        # some that are fetched nevertheless turn out to be articles of their own
        own = numbered(3, "/news/{}.html?src=4", sampled=True)
        await session.submit(add_urls, (1e9, found(*own, *(url.partition("?")[0] for url in own))))
        await session.submit(fetch, {url.partition("?")[0]: 100 + n for n, url in enumerate(own)})
        await session.submit(fetch, {url: 200 + n for n, url in enumerate(own)})
        rules.stored(host)
        assert await rules.look_again()
        assert rules.of(host) == ""
        assert changes[1:] == [(len(superfluous), {host})]
        assert states(tmp_path, superfluous) == {"pending"}
        assert rows(tmp_path, "SELECT count(*) FROM url_form") == [(0,)]
        assert rows(tmp_path, "SELECT used FROM url_rule") == [(0,)]

    async def run() -> None:
        settings = Settings()
        settings.setmodule(project_settings, "project")
        settings.set("DATABASE_URL", f"sqlite:///{tmp_path}/news.db", "cmdline")
        session = await Session.begin(Config.from_settings(settings), [Seed(f"{HOST}/")])
        try:
            await learn(session)
        finally:
            await session.close()

    asyncio.run(run())
