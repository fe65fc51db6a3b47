"""Crawls of other programs: what `tests.benchmarks.peers` and `crawl_speed` run beside ours.

    python -m tests.benchmarks.peer_crawls fetch URLS                            Scrapy downloads, and nothing else
    python -m tests.benchmarks.peer_crawls scrapy URLS DATABASE EXTRACTOR        follows links from the first URL
    python -m tests.benchmarks.peer_crawls scrapy-given URLS DATABASE EXTRACTOR  reads these URLs alone
    python -m tests.benchmarks.peer_crawls crawlee URLS DATABASE EXTRACTOR       likewise

URLS is a file with one on each line. Each article becomes a SQLite row; nothing else is kept.
"""

from __future__ import annotations

import logging
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple


class Article(NamedTuple):
    """One row."""

    url: str
    title: str
    authors: str
    published: str
    text: str


class Stored:
    """A database with a transaction for each article."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path)
        self._connection.execute("CREATE TABLE article (url, title, authors, published, text)")

    def add(self, article: Article) -> None:
        with self._connection:
            self._connection.execute("INSERT INTO article VALUES (?, ?, ?, ?, ?)", article)


def of_trafilatura(page: str, url: str, _language: str | None = None) -> Article:
    from trafilatura import bare_extraction

    found = bare_extraction(page, url=url, with_metadata=True)
    if found is None:
        return Article(url, "", "", "", "")
    return Article(url, found.title or "", found.author or "", found.date or "", found.text or "")


def of_readability(page: str, url: str, _language: str | None = None) -> Article:
    from lxml.html import fromstring
    from readability import Document

    document = Document(page, url=url)
    return Article(url, document.short_title(), "", "", fromstring(document.summary()).text_content())


def of_newspaper(page: str, url: str, language: str | None = None) -> Article:
    from newspaper import Article as Newspaper
    from tldextract import TLDExtract, tldextract

    class Offline(Newspaper):
        def fetch_images(self) -> None:
            """Look for none: their sizes are asked of their servers, whatever is set."""

    if tldextract.TLD_EXTRACTOR.suffix_list_urls:  # else it looks for a newer list of suffixes on the network
        tldextract.TLD_EXTRACTOR = TLDExtract(suffix_list_urls=())
    found = Offline(url, language=language)
    found.download(input_html=page)
    found.parse()
    return Article(url, found.title, ", ".join(found.authors), str(found.publish_date or ""), found.text)


EXTRACTORS: dict[str, Callable[[str, str, str | None], Article]] = {
    "trafilatura": of_trafilatura,
    "readability": of_readability,
    "newspaper": of_newspaper,
}
"""Functions of a decoded page, its URL and, where the program cannot tell it, its language."""
LANGUAGE = "zh"
"""Of the generated pages, which name none."""


def scrapy_crawl(urls: list[str], use: Callable[[str, str], None] | None = None, *, follows: bool = False) -> None:
    """Crawl with Scrapy, as few of its parts switched on as a user would leave."""
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy.http import TextResponse
    from scrapy.linkextractors import LinkExtractor

    links = LinkExtractor()

    class Peer(scrapy.Spider):
        name = "peer"

        async def start(self) -> AsyncIterator[scrapy.Request]:
            for url in urls[:1] if follows else urls:
                yield scrapy.Request(url)

        def parse(self, response: TextResponse) -> Iterator[scrapy.Request]:
            if use:
                use(response.text, response.url)
            if follows:
                yield from (scrapy.Request(link.url) for link in links.extract_links(response))

    process = CrawlerProcess(
        {
            "LOG_ENABLED": False,
            "CONCURRENT_REQUESTS": 64,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False,
            "TELNETCONSOLE_ENABLED": False,
            "COOKIES_ENABLED": False,
            "CONCURRENT_ITEMS": 1,
        }
    )
    process.crawl(Peer)
    process.start()


def crawlee_crawl(urls: list[str], use: Callable[[str, str], None]) -> None:
    """Download with crawlee's crawler without a browser, its storage in memory."""
    import asyncio

    from crawlee import ConcurrencySettings
    from crawlee.crawlers import HttpCrawler, HttpCrawlingContext
    from crawlee.storage_clients import MemoryStorageClient

    async def handle(context: HttpCrawlingContext) -> None:
        use((await context.http_response.read()).decode(), context.request.url)

    crawler = HttpCrawler(
        request_handler=handle,
        storage_client=MemoryStorageClient(),
        configure_logging=False,
        concurrency_settings=ConcurrencySettings(desired_concurrency=64),
    )
    asyncio.run(crawler.run(urls))


def main(program: str, urls: str, database: str = "", extractor: str = "") -> None:
    """Run one crawl."""
    logging.disable(logging.CRITICAL)  # they say much about broken markup
    listed = Path(urls).read_text("utf-8").split()
    if program == "fetch":
        scrapy_crawl(listed)
        return
    stored, extract = Stored(database), EXTRACTORS[extractor]
    programs = {"scrapy": partial(scrapy_crawl, follows=True), "scrapy-given": scrapy_crawl, "crawlee": crawlee_crawl}
    programs[program](listed, lambda page, url: stored.add(extract(page, url, LANGUAGE)))


if __name__ == "__main__":
    main(*sys.argv[1:])
