"""The newsroom over HTTP: what the pages say, where they lead, and how the server answers."""

import gzip
import http.client
import json
import socket
import time
from collections import Counter
from urllib.parse import urljoin, urlsplit

import pytest
from lxml import etree, html

from crawler.demo.server import Newsroom
from tests.waiting import wait_for

BLOCK = {"p", "div", "td", "br", "li", "h1", "time", "tr"}


class Client:
    """One connection, kept open."""

    def __init__(self, newsroom):
        self.connection = http.client.HTTPConnection("127.0.0.1", newsroom.port, timeout=300)

    def get(self, url, method="GET", **headers):
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, target, headers={"Host": parts.netloc, **fields})
        response = self.connection.getresponse()
        return response, response.read()


@pytest.fixture(scope="module")
def newsroom():
    with Newsroom() as opened:
        yield opened


@pytest.fixture(scope="module")
def client(newsroom):
    client = Client(newsroom)
    yield client
    client.connection.close()


@pytest.fixture(scope="module")
def walk(newsroom, client):
    """Every address that links, feeds, sitemaps and robots.txt lead to: url -> status, document or None, depth."""
    seen, queue = {}, [(url, 0) for url in newsroom.seeds()]
    queue += [(f"{url}robots.txt", 0) for url in newsroom.seeds()] + [(f"{newsroom.seeds()[-1]}sitemap.xml", 0)]
    for url, depth in queue:
        if url in seen or url in newsroom.forbidden():
            continue
        response, body = client.get(url)
        kind = response.headers["Content-Type"] or ""
        document, found = None, []
        if response.status == 301:
            found = [response.headers["Location"]]
        elif kind.startswith("text/html") and response.status == 200:
            document = parse(body, url)
            document.make_links_absolute(url)
            found = [*document.xpath("//a/@href"), *document.xpath("//link[@rel='alternate']/@href")]
        elif "xml" in kind or "gzip" in kind:
            tree = etree.fromstring(gzip.decompress(body) if "gzip" in kind else body)
            found = [*tree.xpath("//*[local-name()='loc' or local-name()='link']/text()"), *tree.xpath("//@href")]
        elif url.endswith("robots.txt") and response.status == 200:
            found = [line.split(" ", 1)[1] for line in body.decode().splitlines() if line.startswith("Sitemap: ")]
        seen[url] = (response.status, document, depth)
        inside = [urljoin(url, link).partition("#")[0] for link in found]
        queue += [(link, depth + 1) for link in inside if urlsplit(link).hostname in HOSTS]
    return seen


HOSTS = {f"{name}.localhost" for name in ("wanbao", "daobao", "kuaixun", "zhengfu", "herald")}


def parse(body, url):
    encoding = {"wanbao": "gbk", "daobao": "big5"}.get(urlsplit(url).hostname.partition(".")[0], "utf-8")
    return html.fromstring(body.decode(encoding))


def lines(document):
    """The text of a page, a line per block."""
    text = []
    for event, element in etree.iterwalk(document, events=("start", "end", "comment")):
        if event == "start":
            text += ["\n" if element.tag in BLOCK else "", element.text or ""]
        else:
            text += ["\n" if element.tag in BLOCK else "", element.tail or ""]
    return [line.strip(" 　\xa0") for line in "".join(text).splitlines()]


def test_article_pages_say_what_the_truth_says(newsroom, client):
    for article in newsroom.truth():
        shown = []
        for url in (article.url, *article.parts):
            response, body = client.get(url)
            assert response.status == 200, url
            document = parse(body, url)
            shown += lines(document)
            assert document.xpath("//title")[0].text.startswith(article.title)
            assert any(article.title == line for line in lines(document)), url
        for paragraph in article.text.split("\n"):
            assert paragraph in shown, (article.url, paragraph)
        whole = "\n".join(shown)
        assert all(author in whole for author in article.authors)
        assert article.source in whole


def test_everything_but_the_forbidden_page_is_reached(newsroom, walk):
    wanted = {url for article in newsroom.truth() for url in (article.url, *article.parts)}
    assert wanted <= set(walk)
    assert Counter(status for status, *_ in walk.values()) == {200: len(walk) - 3, 301: 1, 404: 2}
    missing = {urlsplit(url).path for url, (status, *_) in walk.items() if status == 404}
    assert missing == {"/competitions/", "/robots.txt"}


def test_links_alone_do_not_reach_the_hidden_notices(newsroom, walk):
    named = {url for document in documents(walk) for url in document.xpath("//a/@href")}
    unnamed = {article.url for article in newsroom.truth()} - {url.partition("?")[0] for url in named}
    assert {urlsplit(url).hostname for url in unnamed} == {"zhengfu.localhost"}
    assert len(unnamed) == 4


def test_there_are_several_levels(newsroom, walk):
    depths = [walk[article.url][2] for article in newsroom.truth() if article.url in walk]
    assert max(depths) >= 3


def documents(walk):
    return [document for _, document, _ in walk.values() if document is not None]


def test_every_page_links_home_to_channels_and_some_leave(newsroom, walk):
    for url, (_, document, _) in walk.items():
        if document is not None and "/print/" not in url:
            links = document.xpath("//a/@href")
            assert urljoin(url, "/") in links, url
            assert len(set(links)) >= 7, url
    outside = {url for document in documents(walk) for url in document.xpath("//a/@href") if "localhost" not in url}
    assert {url for url in outside if url.startswith("http")} == {"http://example.com/"}
    homes = set(newsroom.seeds())
    for home in homes:
        assert homes <= {*walk[home][1].xpath("//a/@href"), home}


def test_forbidden_page_is_linked(newsroom, client, walk):
    (forbidden,) = newsroom.forbidden()
    assert any(forbidden in document.xpath("//a/@href") for document in documents(walk))
    assert client.get(forbidden)[0].status == 200
    robots = client.get(urljoin(forbidden, "/robots.txt"))[1].decode()
    assert "Disallow: /internal/" in robots


def test_structured_data_and_canonical(newsroom, client):
    for article in newsroom.truth():
        document = parse(client.get(article.url)[1], article.url)
        if article.site in {"kuaixun", "herald"}:
            assert document.xpath("//link[@rel='canonical']/@href") == [article.url]
        if article.site == "kuaixun":
            data = json.loads(document.xpath("//script[@type='application/ld+json']")[0].text)
            assert data["headline"] == article.title == document.xpath("//meta[@property='og:title']/@content")[0]
            assert data["datePublished"] == article.published
            assert tuple(author["name"] for author in data["author"]) == article.authors
            (print_url,) = document.xpath("//a[text()='打印']/@href")
            printed = parse(client.get(urljoin(article.url, print_url))[1], article.url)
            assert printed.xpath("//link[@rel='canonical']/@href") == [article.url]
        if article.site == "herald":
            assert document.xpath("//article/header//time/@datetime") == [article.published]


def test_decoration_does_not_matter_but_page_numbers_do(newsroom, client):
    home = next(url for url in newsroom.seeds() if "kuaixun" in url)
    plain = client.get(f"{home}c/science")[1]
    assert client.get(f"{home}c/science?utm_source=x&spm=1.2")[1] == plain
    assert client.get(f"{home}c/science?spm=1.2&page=2")[1] != plain
    assert client.get(f"{home}c/science?page=99")[0].status == 404


def test_feeds_name_new_articles(newsroom, client):
    urls = {article.url for article in newsroom.truth()}
    feeds = (("kuaixun", "rss.xml", "//item/link/text()"), ("herald", "feed.atom", "//*[local-name()='entry']/*/@href"))
    for site, name, expression in feeds:
        home = next(url for url in newsroom.seeds() if site in url)
        links = etree.fromstring(client.get(home + name)[1]).xpath(expression)
        assert len(links) >= 10
        assert {link.partition("?")[0] for link in links} <= urls


def test_attachments_are_what_their_names_say(walk, client):
    files = [url for url in walk if url.endswith((".pdf", ".doc"))]
    assert len(files) >= 8
    for url in files:
        response, body = client.get(url)
        assert response.headers["Content-Type"] in {"application/pdf", "application/msword"}
        assert body.startswith(b"%PDF" if url.endswith("pdf") else b"\xd0\xcf\x11\xe0")


def test_conditional_requests(newsroom, client):
    url = newsroom.truth()[0].url
    first, body = client.get(url)
    again, nothing = client.get(url, If_None_Match=first.headers["ETag"])
    assert (again.status, nothing) == (304, b"")
    assert client.get(url, If_Modified_Since=first.headers["Last-Modified"])[0].status == 304
    assert client.get(url, If_Modified_Since="Mon, 01 Jan 2001 00:00:00 GMT")[1] == body
    assert client.get(url, If_Modified_Since="yesterday")[1] == body
    assert client.get(url, If_None_Match='"other"')[1] == body


def test_methods_hosts_and_log(newsroom, client):
    url = newsroom.seeds()[0]
    response, body = client.get(url, "HEAD")
    assert int(response.headers["Content-Length"]) > 1000
    assert body == b""
    assert client.get(url.replace("wanbao", "nobody"))[0].status == 404
    assert client.get(f"{url}none.htm")[0].status == 404
    assert client.get(f"{url}img/1001.svg")[1].startswith(b"<svg")
    refused, _ = client.get(url, "POST", User_Agent="test")
    assert refused.status == 405
    until = time.monotonic() + 10
    while (last := newsroom.requests()[-1]).status != 405:  # written after the answer was sent
        assert time.monotonic() < until
        time.sleep(0.01)
    assert (last.path, last.status, last.user_agent) == ("/", 405, "test")
    assert last.host == urlsplit(url).netloc
    assert last.start <= last.end <= time.monotonic()


def test_nonsense_ends_the_connection(newsroom):
    for nonsense in (b"\x00" * 40000, b"GET\r\n\r\n", b"\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", newsroom.port), timeout=300) as connection:
            connection.sendall(nonsense)
            connection.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda c=connection: c.recv(65536), b""))  # ends, instead of timing out
        assert not answer.startswith(b"HTTP/1.1 200"), nonsense[:10]


def test_taken_port_is_named(newsroom):
    with pytest.raises(OSError, match=rf"127\.0\.0\.1:{newsroom.port}"):
        Newsroom(port=newsroom.port).start()


def test_latency_start_and_stop():
    newsroom = Newsroom(latency_seconds=0.05)
    newsroom.stop()
    with newsroom:
        with pytest.raises(RuntimeError, match="already"):
            newsroom.start()
        client = Client(newsroom)
        client.get(newsroom.seeds()[0])
        wait_for(newsroom.requests)  # noted just after the answer has gone out
        (request,) = newsroom.requests()
        assert request.end - request.start >= 0.05
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        client.get(newsroom.seeds()[0])
    client.connection.close()
    newsroom.start()
    newsroom.stop()
