"""A crawl of a site that shows everything by script, in a real browser; its API is on a host of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.render.chromium import find
from pipelines.decode import zstd
from tests.crawler.crawling import Finished, rows, scrapy
from tests.crawler.odd_server import Answer, OddServer

pytestmark = pytest.mark.skipif(find() is None, reason="no Chromium is installed here")

APP = """
const api = 'http://api.localhost:PORT', root = document.getElementById('app'), path = location.pathname;
async function ask(what) { const got = await fetch(api + what); if (!got.ok) throw 0; return got.json(); }
async function home(page) {
  const got = await ask('/list/' + page);
  for (const one of got.items) {
    const item = document.createElement('li');
    item.innerHTML = '<h3><a href="/story/' + one + '.html">第' + one + '号新闻的标题，写得长一点</a></h3>';
    list.append(item);
  }
  more.hidden = !got.next; more.onclick = () => home(got.next);
}
async function story(id) {
  try {
    const got = await ask('/story/' + id);
    document.title = got.title;
    root.innerHTML = '<article><h1>' + got.title + '</h1><p>2024-05-01 10:20</p>' + got.body + '</article>';
    for (const one of got.related || [])
      root.innerHTML += '<aside><a href="/story/' + one + '.html">第' + one + '号新闻的标题，写得长一点</a></aside>';
  } catch (none) { root.innerHTML = '<p>页面不存在</p>'; }
}
if (path === '/') { root.innerHTML = '<ul id=list></ul><button id=more>加载更多</button>'; home(1); }
else story(path.match(/story\\/(\\w+)/)[1]);
"""
SHELL = (
    "<!doctype html><html><head><title>应用</title><script src=/app.js defer></script></head><body><div id=app></div>"
)
STORIES = range(1, 7)
CARRIED, RELATED = 5, 6
"""A story that its page carries as data, and one that only the first one's script names."""
PRIVATE = "private1"


def as_json(value: object) -> Answer:
    headers = {"Content-Type": "application/json", "Access-Control-Allow-Origin": "*"}
    return 200, headers, json.dumps(value, ensure_ascii=False)


def story(number: int) -> dict[str, str]:
    text = (
        f"第{number}号新闻：记者从市里获悉，编号{number * 7919}的工程已经完成，居民可以放心使用，后续安排将另行公布。"
    )
    body = "".join(
        f"<p>{text}这是报道的第{part}段，讲的是第{number * 31 + part}个方面的情况。</p>" for part in range(6)
    )
    return {"title": f"第{number}号新闻的标题，写得长一点", "body": body}


def answers() -> dict[tuple[str, str], Answer]:
    site: dict[tuple[str, str], Answer] = {
        ("www.localhost", "/robots.txt"): (404, {}, ""),
        ("www.localhost", "/app.js"): (200, {"Content-Type": "text/javascript"}, APP),
        ("api.localhost", "/robots.txt"): (
            200,
            {"Content-Type": "text/plain"},
            "User-agent: *\nDisallow: /story/private",
        ),
        ("api.localhost", f"/story/{PRIVATE}"): as_json(story(99)),
        ("api.localhost", "/list/1"): as_json({"items": [1, 2, 3], "next": 2}),
        ("api.localhost", "/list/2"): as_json({"items": [4, 5, PRIVATE, "nowhere"], "next": None}),
    }
    for path in ("/", f"/story/{PRIVATE}.html", "/story/nowhere.html", *(f"/story/{n}.html" for n in STORIES)):
        site["www.localhost", path] = (200, {"ETag": '"shell"'}, SHELL)
    site |= {("api.localhost", f"/story/{n}"): as_json(story(n)) for n in STORIES}
    data = f"<script type=application/json>{json.dumps(story(CARRIED))}</script>"
    site["www.localhost", f"/story/{CARRIED}.html"] = (200, {}, SHELL + data)
    site["api.localhost", f"/story/{CARRIED}"] = as_json({**story(CARRIED), "related": [RELATED]})
    return site


def crawl(server: OddServer, folder: Path, *options: str, **settings: str) -> Finished:
    given = {
        "DATABASE_URL": f"sqlite:///{folder}/news.db",
        "ALLOW_NETWORKS": f"127.0.0.1:{server.port}",
        "HOST_DELAY": "0",
        "WORKERS": "1",
        **settings,
    }
    arguments = [x for setting in given.items() for x in ("-s", "=".join(setting))]
    seeds = " ".join([f"http://www.localhost:{server.port}/", *options])
    done = scrapy(folder, "crawl", "news", "-a", f"seeds={seeds}", *arguments)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OddServer, Path, Finished]]:
    folder = tmp_path_factory.mktemp("rendered")
    with OddServer(answers()) as server:
        yield server, folder, crawl(server, folder, RENDER="auto", STORE_WARC=f"{folder}/archive")


def test_articles_of_all_the_lists_are_found_with_their_texts(crawled: tuple[OddServer, Path, Finished]) -> None:
    _, folder, _ = crawled
    found = dict(rows(folder, "SELECT u.url, a.text FROM article a JOIN url u ON u.id = a.id"))
    assert {url.rpartition("/")[2] for url in found} == {f"{n}.html" for n in STORIES}
    for url, text in found.items():
        number = int(url.rpartition("/")[2].removesuffix(".html"))
        assert text.count(f"编号{number * 7919}") == 6
    assert rows(folder, "SELECT DISTINCT text_from FROM article") == [("browser",)]


def test_robots_of_the_api_is_obeyed(crawled: tuple[OddServer, Path, Finished]) -> None:
    server, folder, _ = crawled
    asked = server.paths()
    assert asked.count("api/robots.txt") == 1
    assert asked.index("api/robots.txt") < asked.index("api/list/1")
    assert f"api/story/{PRIVATE}" not in asked
    assert asked.count("www/app.js") == 1
    assert asked.count("www/") == 1
    assert rows(folder, "SELECT count(*) FROM article JOIN url USING (id) WHERE url LIKE '%private%'") == [(0,)]


def test_not_found_that_only_the_script_says_is_no_article(crawled: tuple[OddServer, Path, Finished]) -> None:
    _, folder, _ = crawled
    reason = rows(folder, "SELECT reason FROM url WHERE url LIKE '%/nowhere.html'")
    assert reason == [("soft 404",)]


def test_document_of_the_browser_is_kept_beside_the_bytes(crawled: tuple[OddServer, Path, Finished]) -> None:
    _, folder, _ = crawled
    query = "SELECT body, dom FROM page JOIN url u ON u.id = url_id WHERE u.url LIKE '%/story/1.html'"
    ((body, dom),) = rows(folder, query)
    assert zstd.decompress(body).decode() == SHELL
    assert "编号7919" in zstd.decompress(dom).decode()


def test_no_page_of_a_browser_is_asked_conditionally(crawled: tuple[OddServer, Path, Finished]) -> None:
    _, folder, _ = crawled
    assert rows(folder, "SELECT count(*) FROM url WHERE etag IS NOT NULL") == [(0,)]


def test_gains_are_told(crawled: tuple[OddServer, Path, Finished]) -> None:
    _, folder, _ = crawled
    gains = rows(folder, "SELECT wish, tries, gains FROM render_gain ORDER BY wish")
    assert gains == [("links", 1, 1), ("related", 1, 1), ("text", 7, 5)]
    told = scrapy(folder, "status", "--format", "jsonl", "-s", f"DATABASE_URL=sqlite:///{folder}/news.db")
    records = [json.loads(line) for line in told.stdout.splitlines()]
    assert [(one["wish"], one["gains"]) for one in records if one["record"] == "rendered"] == [
        ("text", 5),
        ("links", 1),
        ("related", 1),
    ]


def test_archive_read_in_again_gives_the_same_without_a_browser(
    crawled: tuple[OddServer, Path, Finished], tmp_path: Path
) -> None:
    server, folder, _ = crawled
    asked = len(server.asked)
    (archive,) = (folder / "archive").iterdir()
    database = f"DATABASE_URL=sqlite:///{tmp_path}/news.db"
    done = scrapy(tmp_path, "crawl", "news", "-a", f"seeds=warc:{archive}", "-s", database, "-s", "RENDER=auto")
    assert done.returncode == 0, done.stderr
    texts = "SELECT u.url, a.title, a.text, a.text_from FROM article a JOIN url u ON u.id = a.id ORDER BY u.url"
    assert rows(tmp_path, texts) == rows(folder, texts)
    assert len(server.asked) == asked


def test_seed_goes_before_the_setting(tmp_path: Path) -> None:
    with OddServer(answers()) as server:
        crawl(server, tmp_path, "render=never", RENDER="auto")
        assert "www/app.js" not in server.paths()
    assert rows(tmp_path, "SELECT reason FROM url WHERE found_in = 11") == [("needs a browser",)]


def test_crawl_without_a_browser_says_what_would_read_its_pages(tmp_path: Path) -> None:
    with OddServer(answers()) as server:
        done = crawl(server, tmp_path)
    assert "1 page needs a browser: -s RENDER=auto" in done.stderr


def test_missing_browser_is_one_sentence(tmp_path: Path) -> None:
    with OddServer(answers()) as server:
        done = crawl(server, tmp_path, RENDER="auto", RENDER_BROWSER="/nowhere/chromium")
    assert done.stderr.count("not rendered") == 1
    assert "RENDER_BROWSER" in done.stderr
