"""Selectors of seeds in a crawl: what is stored by them, what is said when they find nothing, and `scrapy suggest`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawler.demo.server import Newsroom
from tests.crawler.crawling import Finished, crawl, rows, scrapy
from tests.crawler.odd_server import Answer, OddServer
from tests.crawler.repeating_site import lists, page

ALONE = ("SITE_MEMORY=False",)
_BY_SOURCE = "SELECT text_from, count(*) FROM v_articles WHERE url LIKE '%{}%' GROUP BY text_from"


@pytest.fixture(scope="module")
def newsroom() -> Iterator[Newsroom]:
    with Newsroom(port=0) as serving:
        yield serving


@pytest.fixture(scope="module")
def crawled(newsroom: Newsroom, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawled")
    seeds = [f"http://{name}.localhost:{newsroom.port}/" for name in ("herald", "kuaixun")]
    done = crawl(newsroom, folder, *ALONE, seeds=seeds)
    assert done.returncode == 0, done.stderr
    return folder


def database(folder: Path) -> str:
    return f"sqlite:///{folder}/news.db"


def suggest(folder: Path, *arguments: str) -> Finished:
    return scrapy(folder, "suggest", "--database", database(folder), *arguments)


def stored(folder: Path, host: str) -> dict[str, tuple]:
    columns = "url, title, authors, published_at, text"
    return {row[0]: row[1:] for row in rows(folder, f"SELECT {columns} FROM v_articles WHERE url LIKE '%{host}%'")}


# ---------------------------------------------------------------- suggested, and put into a seeds file


def test_line_that_is_suggested_works_in_a_seeds_file(newsroom: Newsroom, crawled: Path, tmp_path: Path) -> None:
    """Texts, titles, authors and times are those found without selectors, after a stop in between as well."""
    host = f"herald.localhost:{newsroom.port}"
    told = suggest(crawled, host)
    assert told.returncode == 0, told.stderr
    line, *comments = told.stdout.strip().splitlines()
    assert line.startswith(f'http://{host}/ body="css:article" title="css:h1" published="css:time::attr(datetime)" ')
    assert all(one.startswith("#") for one in comments), "the whole may be put into a seeds file"
    alone = stored(crawled, host)
    assert f"# body: css:article is right on {len(alone)} of {len(alone)} pages, text F1 1.00 " in told.stdout
    seeds = told.stdout.splitlines()
    for limit in ("MAX_PAGES_PER_RUN=20", "MAX_PAGES_PER_RUN=1000"):
        done = crawl(newsroom, tmp_path, *ALONE, limit, seeds=seeds)
        assert done.returncode == 0, done.stderr
    columns = "body, title, published, author"
    (given,) = rows(tmp_path, f"SELECT {columns} FROM seed")
    assert given[:3] == ("css:article", "css:h1", "css:time::attr(datetime)")
    assert dict(rows(tmp_path, _BY_SOURCE.format(host))) == {"selector": len(alone)}
    chosen = stored(tmp_path, host)
    assert chosen.keys() == alone.keys()
    differ = [url for url, row in chosen.items() if row != alone[url]]
    assert len(differ) * 10 <= len(alone), [(chosen[url], alone[url]) for url in differ]
    with sqlite3.connect(tmp_path / "news.db") as connection:
        connection.execute("UPDATE article SET extractor_version = '0', checked_with = 'old 0'")
        connection.execute("UPDATE seed SET title = 'css:.byline a'")
    again = scrapy(tmp_path, "extract", "--database", "-s", f"DATABASE_URL={database(tmp_path)}", "-s", "SITE_MEMORY=0")
    assert again.returncode == 0, again.stderr
    assert dict(rows(tmp_path, _BY_SOURCE.format(host))) == {"selector": len(alone)}
    bylines = [(title, authors) for title, authors, *_ in stored(tmp_path, host).values() if authors]
    assert bylines
    wrong = [(title, authors) for title, authors in bylines if not authors.startswith(title)]
    assert wrong == [], again.stdout


def test_selectors_are_for_the_hosts_of_their_seed_alone(newsroom: Newsroom, tmp_path: Path) -> None:
    zhengfu, wanbao = (f"{name}.localhost:{newsroom.port}" for name in ("zhengfu", "wanbao"))
    seeds = [f'http://{zhengfu}/ stay=any depth=1 body="css:.TRS_Editor, #content"', f"http://{wanbao}/ depth=1"]
    done = crawl(newsroom, tmp_path, *ALONE, "MAX_PAGES=60", seeds=seeds)
    assert done.returncode == 0, done.stderr
    assert dict(rows(tmp_path, _BY_SOURCE.format(zhengfu))).keys() == {"selector"}
    assert dict(rows(tmp_path, _BY_SOURCE.format(wanbao))).keys() == {"html"}


def test_suggestion_for_scripts(newsroom: Newsroom, crawled: Path) -> None:
    host = f"kuaixun.localhost:{newsroom.port}"
    told = suggest(crawled, f"http://{host}/a/1.html", "--pages", "12", "--format", "jsonl")
    row = json.loads(told.stdout)
    assert (row["host"], row["pages"], row["articles"]) == (host, 12, 12)
    assert "body" not in row, "its names are made anew with each version of the site"
    assert row["title"] == "css:h1"
    assert row["tried"]["title"] == {"selector": "css:h1", "right": 12, "of": 12, "agreement": 1.0}


def test_suggestion_from_saved_pages(newsroom: Newsroom, tmp_path: Path) -> None:
    for n in range(6):
        title, text = f"Bridge {n} of the town", f"On day {n} the council met, and decided to build bridge {n}. " * 9
        html = f"<html><body><h1>{title}</h1><div class='story'><p>{text}</p></div></body></html>"
        (tmp_path / f"{n}.html").write_text(html, encoding="utf-8")
    told = scrapy(tmp_path, "suggest", "www.a.example", str(tmp_path))
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith('http://www.a.example/ body="css:.story" title="css:h1"\n')


def test_suggestion_without_pages_says_what_to_do(crawled: Path, tmp_path: Path) -> None:
    told = suggest(crawled, "www.nowhere.example")
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == (
        "scrapy suggest: the database keeps no page of an article of www.nowhere.example; crawl it first (not with "
        "STORE_HTML=none), or name a folder or WARC file of saved pages\n"
    )
    missing = scrapy(tmp_path, "suggest", "www.a.example", str(tmp_path / "none"))
    assert "there is no file or folder" in missing.stderr
    assert "name a host" in suggest(crawled).stderr
    assert "--pages is 0" in suggest(crawled, "a.example", "--pages", "0").stderr


# ---------------------------------------------------------------- wrong ones, and a template that changes


def test_wrong_selector_stops_the_crawl_before_it_starts(newsroom: Newsroom, tmp_path: Path) -> None:
    seeds = ["http://a.localhost/", 'http://b.localhost/ body="css:div.."']
    done = crawl(newsroom, tmp_path, seeds=seeds)
    assert done.returncode == 2
    assert "line 2: body=css:div..: expected ident, got <DELIM '.' at 4>" in done.stderr
    assert not (tmp_path / "news.db").exists()
    checked = scrapy(tmp_path, "check-seeds", 'http://b.localhost/ title="xpath://["')
    assert checked.returncode == 2
    assert "title=xpath://[: invalid expression in //[" in checked.stderr


def story(number: int, name: str) -> Answer:
    status, headers, html = page(number)
    return status, headers, html.replace("<p>", f'<div class="{name}"><p>', 1).replace("</body>", "</div></body>")


def test_alarm_when_the_template_has_changed_and_its_cure(tmp_path: Path) -> None:
    """Nothing is lost by it, and with the selectors that `scrapy suggest` prints the alarm ends."""
    host = "a.localhost"
    answers: dict[tuple[str, str], Any] = {(host, "/robots.txt"): (404, {}, "")}
    for number, name in enumerate(("story", "text", "text")):
        paths = [f"/news/{n + 1000 * (number + 1)}.html" for n in range(24)]
        answers[host, f"/list/{number}.html"] = lists(number, paths)
        answers |= {(host, path): story(n + 100 * number, name) for n, path in enumerate(paths)}

    def crawl_list(number: int, selectors: str) -> str:
        seeds = tmp_path / "seeds.txt"
        seeds.write_text(f"http://{host}:{server.port}/list/{number}.html {selectors}", encoding="utf-8")
        given = (
            f"DATABASE_URL={database(tmp_path)}",
            f"ALLOW_NETWORKS=127.0.0.1:{server.port}",
            *("HOST_DELAY=0", "CRAWL_PRESET=breadth", "WORKERS=1", "HARMFUL=off"),
        )
        done = scrapy(tmp_path, "crawl", "news", "-a", f"seeds={seeds}", *[x for one in given for x in ("-s", one)])
        assert done.returncode == 0, done.stderr
        return done.stderr

    by_source = "SELECT text_from, count(*) FROM article GROUP BY text_from ORDER BY text_from"
    with OddServer(answers) as server:
        assert "Alarms" not in crawl_list(0, 'body="css:.story" title="css:h1"')
        assert rows(tmp_path, by_source) == [("selector", 24)]
        said = crawl_list(1, 'body="css:.story" title="css:h1"')
        assert rows(tmp_path, by_source) == [("html", 24), ("selector", 24)]
        cure = f"run 'scrapy suggest {host}:{server.port}' and put the selectors that it prints behind the seed"
        assert "layout changed: articles on which selectors of the seed find nothing: 10 of the last 20" in said
        assert said.count(cure) == 2, said  # once in the log, once in the summary
        status = scrapy(tmp_path, "status", "--wide", "-s", f"DATABASE_URL={database(tmp_path)}").stdout
        assert cure in " ".join(status.split())
        told = suggest(tmp_path, f"{host}:{server.port}", "--pages", "20", "--format", "jsonl")
        row = json.loads(told.stdout)
        assert (row["body"], row["title"]) == ("css:.text", "css:h1")
        assert "Alarms" not in crawl_list(2, f'body="{row["body"]}" title="{row["title"]}"')
        assert rows(tmp_path, "SELECT kind, until IS NULL FROM alarm") == [("layout", 0)]
    assert rows(tmp_path, by_source) == [("html", 24), ("selector", 48)]
