"""Hold all settings in one table: names, defaults, kinds, bounds, help.

Scrapy's defaults, the checks, the agreement of processes and docs/settings.md come from it. To add a setting, add a row
here and its field to `Config`, or to the record in it that the row names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pipelines.records import PageKind
from pipelines.search.records import SIGNALS

from ..fetch.proxies import written
from ..response.revisit_schedule import DAY
from . import scrapy_settings
from .values import (
    MUST,
    NO,
    SCORING,
    SHOULD,
    TOLD,
    Agree,
    Option,
    databases,
    flag,
    limit,
    mapping,
    names,
    number,
    proxies,
    record,
    text,
    weights,
    when,
    whole,
    word,
    words,
)

ROBOTS_AGENT = "newscrawler"
"""The product token by which robots.txt files address us."""


def _without_password(given: str) -> str:
    from db.engine.database import without_password  # noqa: PLC0415 - it imports SQLAlchemy

    return without_password(given)


_SQLITE = "sqlite:///news.db"
_SHORTEST_LEASE = 20.0
"""A run's sign of life stands in line behind a transaction that may wait for locks: five seconds for each, eight when
another process is frozen. A shorter lease would let runs be taken for dead that only wait."""
_CORES = os.cpu_count() or 2

_TABLE: dict[str, dict[Option, str]] = {
    "where the result goes": {
        Option("DATABASE_URL", _SQLITE, databases, variable="DATABASE_URL", secret=_without_password): (
            "where the result goes: a URL, or the path of a SQLite file (also from the variable `DATABASE_URL`); "
            "several Postgres databases share a crawl ([docs/shards.md](docs/shards.md)), separated by commas or spaces"
        ),
        Option("SHARD", None, limit, least=1): (
            "which of several databases this process works on, 1 is the first; without it the one that has the fewest "
            "processes"
        ),
        Option("DATABASE_PATIENCE", 300.0, number): (
            "seconds to wait for a locked or silent database before giving up (at the start at most 60)"
        ),
        Option("STORE_HTML", "articles", word, SHOULD, "", among=("articles", "all", "none")): (
            "keep the fetched bytes of articles, of all pages that are read, or of none; `scrapy extract --database` "
            "needs them ([docs/performance.md](docs/performance.md) says what they cost)"
        ),
        Option("STORE_WARC", "", text): (
            "folder of WARC files for all that is fetched, as it came ([docs/archives.md](docs/archives.md)); with "
            "`STORE_HTML=none` the bytes of articles are kept there only"
        ),
        Option("STORE_KINDS", ["article"], words, SHOULD, "", among=tuple(kind.word for kind in PageKind)): (
            "kinds of pages that are stored, separated by commas: `article`, `thread` (of a forum), `list`, `product`, "
            "`company`, `form`, `notice`, `media`, `other`; the column `kind` tells them apart"
        ),
        Option(
            "KEEP_DAYS",
            {},
            record,
            SHOULD,
            "",
            example='{"pages": 90}',
            parts=(
                Option("outside", 7, limit, to="keep.outside"),
                Option("pages", None, limit, to="keep.pages"),
                Option("versions", None, limit, to="keep.versions"),
                Option("signals", None, limit, to="keep.signals"),
                Option("duplicates", None, limit, to=""),
            ),
        ): (
            "days for which rows are kept, as JSON (`null`: for ever): `outside` (7) URLs outside of the seeds' scope, "
            "of which then only what ranking needs is left; `pages` stored bytes of pages, until the month in which "
            "they were fetched is older (on Postgres a partition); `versions` earlier texts of articles; `signals` "
            "what the score of a fetched URL was made of, which `scrapy why` shows; `duplicates` texts with which new "
            "ones are compared (bounds the index: 0.5 KB an article)"
        ),
    },
    "how far": {
        Option("MAX_PAGES", None, limit, MUST, "limits.pages"): (
            "pages in the database, over all runs, exactly; redirects, robots.txt, sitemaps and feeds do not count"
        ),
        Option("MAX_PAGES_PER_HOST", None, limit, MUST, "limits.pages_per_host"): "the same for each host",
        Option("MAX_PAGES_PER_RUN", None, limit, MUST, "limits.pages_per_run"): (
            "the same from the start of a crawl to its end; processes that join it share them"
        ),
        Option("MAX_PAGES_PER_DAY", None, limit, MUST, "limits.pages_per_day"): "the same for each day (UTC)",
        Option("MAX_DEPTH", None, limit, MUST, "limits.depth"): "links from the seed",
        Option("SINCE", None, when, SHOULD, ""): (
            'day (`2024-05-01`) or time before now (`7d`): articles published earlier are not stored ("too old"); '
            "feed and sitemap entries, URLs with such a date, and further pages of a list with nothing newer are not "
            "followed; a seed's `since=` goes first"
        ),
        Option("UNTIL", None, when, SHOULD, ""): 'the same for articles published later ("too new")',
        Option("TRAPS", default=True, parse=flag, agree=SHOULD): (
            "block patterns of URLs whose pages bring nothing without end: calendars, session ids, facets, ... "
            "([docs/traps.md](docs/traps.md))"
        ),
        Option("SOFT_404_PROBE", default=True, parse=flag, agree=SHOULD): (
            "ask a host whose pages look alike for a page that does not exist (in three folders at most), to know what "
            "it shows then"
        ),
    },
    "in which order": {
        Option("CRAWL_PRESET", None, text, SCORING, ""): (
            "named set of weights for the order: `breadth`, `pagerank`, `news`, `focused`; when not set `news`, with a "
            "topic `focused`"
        ),
        Option("CRAWL_PRIORITY", {}, mapping, SCORING, "", example='{"depth": 1, "freshness": 0.5}'): (
            "weight of each signal, on top of the preset, as JSON (below); also of `module:name`, a signal of your own"
        ),
        Option(
            "RANK_EVERY_PAGES", 5000, whole, least=1
        ): "the queue is scored again after so many pages, or when the fetched pages have grown by 4 %",
        Option("HOST_PATIENCE", 60.0, number, most=86_400): (
            "seconds for which a host that may be asked is passed over for better pages of others"
        ),
    },
    "what is found": {
        Option("SEARCH_WEIGHTS", {}, weights, NO, "", most=100, among=tuple(SIGNALS), example='{"freshness": 0.3}'): (
            "weight of each signal in the order of search results, as JSON: "
            + ", ".join(f"`{name}` {weight:g}" for name, weight in SIGNALS.items())
        ),
    },
    "what for": {
        Option("TOPIC", "", text, SCORING, ""): (
            "what the crawl looks for, in words, or classes of the model in `CLASSES`: `class:sport,finance`"
        ),
        Option("PROFILE", "", text, SCORING, ""): (
            "file of a profile made by `scrapy train profile`: look for pages like those"
        ),
        Option("FOCUS_MIN", 0.0, number, SHOULD, "", most=1): "relevance below which an article is off topic (0 to 1)",
        Option("FOCUS_BELOW", "drop", word, SHOULD, "", among=("drop", "store")): (
            'such articles are dropped, or with `store` kept, both with the reason "off topic"'
        ),
    },
    "how politely": {
        Option("CONTACT", "", text, NO, "", variable="CRAWL_CONTACT"): (
            "URL or mail address that the User-Agent names (also from the variable `CRAWL_CONTACT`)"
        ),
        Option("USER_AGENT", f"{ROBOTS_AGENT}/0.1", text, NO, ""): (
            f"what servers see; robots.txt is read for `{ROBOTS_AGENT}`"
        ),
        Option("NOINDEX", "honour", word, SHOULD, "", among=("honour", "store")): (
            "an article that asks not to be indexed (`noindex` in the page or its header) is not stored, only its "
            "links "
            "are followed; or with `store` it is kept like any other. `v_dropped` and `scrapy why` name such articles "
            "with the setting"
        ),
        Option("HOST_DELAY", 1.0, number, SHOULD, "delay.delay"): "seconds between two requests to a host",
        Option("HOST_DELAY_FACTOR", 2.0, number, SHOULD, "delay.factor", most=100): (
            "or this many times as long as the host lately takes to answer, if that is more, up to 30 seconds; not "
            "when `HOST_DELAY` is 0 and it answers within a second"
        ),
        Option("HOST_CONNECTIONS", 1, whole, SHOULD, "connections", least=1): "requests under way per host",
        Option("SAME_IP_DELAY", 0.0, number, SHOULD, most=3600): (
            "seconds between two requests to hosts at one IP address, one request under way; 0: each host has a clock "
            "of its own"
        ),
        Option("CRAWL_DELAY_CAP", 30.0, number, SHOULD, "delay.most_crawl_delay"): (
            "a robots.txt may ask for up to this many seconds; of a host that asks for more nothing is fetched "
            '("crawl-delay too long")'
        ),
        Option("FETCH_TRIES", 3, whole, NO, "tries", least=1): "tries of a URL, with growing pauses",
        Option(
            "HOST_BACKOFF",
            {},
            record,
            NO,
            "",
            example='{"failures": 5, "seconds": 60}',
            parts=(
                Option("failures", 10, whole, to="backoff.failures", least=1),
                Option("seconds", 5.0, number, to="backoff.rest", least=0.1, most=3600),
                Option("backoffs", 6, whole, to="backoff.rests"),
                Option("wait", 60.0, number, to="backoff.alone"),
            ),
        ): (
            "what is done about a host that fails, as JSON: after `failures` (10) in a row it is left alone for "
            "`seconds` (5), then for four times as long each time, up to an hour; after `backoffs` (6) in a row "
            "without a good answer it is taken for dead until the next run (in a long one for a day), its URLs skipped "
            '("host unreachable", "robots unreachable", "host busy"). When such hosts are all that is left, they are '
            "waited for until `wait` (60) seconds after the last good answer of any host"
        ),
        Option("NETWORK_PATIENCE", 300.0, number, NO, "network_patience"): (
            "seconds to wait for the network of this machine when no host answers any more; then the crawl stops with "
            "exit code 3 (`-a mode=watch` waits on)"
        ),
        Option("ALLOW_NETWORKS", [], names, NO, ""): (
            "IP addresses that may be reached although they are not public, e.g. `10.1.0.0/16,127.0.0.1:8080`"
        ),
        Option("TLS_UNVERIFIED_HOSTS", [], names, NO, ""): (
            "hosts whose certificates are not verified, such as `old.example.cn` or `*.example.cn`"
        ),
        Option("PROXY", "", proxies, NO, "", secret=written): (
            "the proxy through which hosts are asked: `http://user:password@host:port` or `socks5://...`; of several "
            "the first that serves. When it is empty, the variables `http_proxy`, `https_proxy` and `no_proxy` count; "
            "`none`: no proxy. A seed's `proxy=` goes first ([docs/fetching.md](docs/fetching.md#proxies))"
        ),
        Option("PROXY_RESOLVES", default=False, parse=flag, to=""): (
            "proxies are given names of hosts instead of IP addresses that were checked, which gives up the guard "
            "against private addresses: for those that open no other connections, or where names cannot be resolved"
        ),
        Option("SITE_COOKIES", default=True, parse=flag, to="fetch.cookies"): (
            "cookies are kept in memory, for each site on its own, and sent back to it (at most 4 KB); `False`: none "
            "at all"
        ),
    },
    "when again": {
        Option("REVISIT_WORTH", 3600.0, number, SHOULD, "schedule.worth", least=1): (
            "seconds for which an article may wait to be found to save a request: lists are visited again at intervals "
            "learned from what they bring; smaller finds news sooner and asks more"
        ),
        Option("REVISIT_MIN", 300.0, number, SHOULD, "schedule.least", least=1): "seconds, the shortest interval",
        Option("REVISIT_MAX", 604_800.0, number, SHOULD, "schedule.most", least=1): "seconds, the longest interval",
        Option("REVISIT_ARTICLES", 7.0, number, SHOULD, "schedule.article_seconds", most=36_500, unit=DAY): (
            "days of age until which articles are looked at again, less and less; each at least once more (0: never)"
        ),
        Option("REVISIT_AHEAD", 86_400.0, number, NO, "ahead"): (
            "a finished crawl that is run again visits what would be due within so many seconds"
        ),
    },
    "what a page becomes": {
        Option("EXTRACTOR", "combined", text, SHOULD): (
            "how the main text is found (below), or `module:name` of your own ([docs/extending.md](docs/extending.md))"
        ),
        Option("EXTRACTOR_PARAMS", {}, mapping, SHOULD, ""): "the method's parameters",
        Option("SITE_MEMORY", default=True, parse=flag, agree=SHOULD): (
            "learn from the pages of each host which texts come back and where its templates keep the body (`0`: off)"
        ),
        Option("KEYWORDS", "combined", text, SHOULD, ""): (
            "how keywords are found: `combined`, `bayes`, `network`, `tfidf` ([docs/text.md](docs/text.md)), or "
            "`module:name` of your own; with them comes a summary (empty: neither)"
        ),
        Option("KEYWORD_PARAMS", {}, mapping, SHOULD, ""): "the method's parameters",
        Option("CLASSES", "shipped", text, SHOULD, ""): (
            "file of a model made by `scrapy train classes`, which names its classifier, or `shipped`: news sections, "
            "Chinese and English; an article gets the classes that are likely enough, with memberships, and none in a "
            "language that the model does not know (empty or `none`: no classes)"
        ),
        Option("CLASSIFIER", "combined", text, NO, ""): (
            "how `scrapy train classes` learns: `combined`, `svm`, `naive_bayes`, `knn`, `fuzzy`, `structure` "
            "([docs/text.md](docs/text.md#classes)); a model names its own"
        ),
        Option("CLASSIFIER_PARAMS", {}, mapping, NO, ""): "the classifier's parameters",
        Option("HARMFUL", "flag", word, SHOULD, "", among=("off", "store", "flag", "drop")): (
            "gambling, porn, fraud, abuse, adverts and hijacked pages are stored with the verdict in `harm` and "
            '`harm_kind` (`store`), get the reason "harmful", too (`flag`), or are not stored (`drop`); with `off` '
            "nothing is judged"
        ),
        Option("WORDS", "", text, SHOULD, ""): (
            "file of Chinese words, one a line, that the dictionary does not have, for keywords and summaries; or what "
            "`scrapy train lexicon` learned of a crawl"
        ),
        Option("DUPLICATES", "link", word, SHOULD, "", among=("drop", "link", "keep")): (
            "what becomes of a duplicate: `link` (stored with `duplicate_of`, its text unless the other has it word "
            'for word), `keep` (with its text), `drop` (evidence only; the URL\'s reason is "duplicate")'
        ),
        Option("DUPLICATE_SITES", {}, mapping, SHOULD, "", example='{"example.com": "keep"}'): (
            'the same for single sites, e.g. `{"example.com": "keep"}`'
        ),
        Option("DUPLICATE_THRESHOLD", 0.8, number, SHOULD, "", most=1): (
            "similarity from which a text counts as a repetition"
        ),
        Option(
            "MEMORY_MB",
            {},
            record,
            NO,
            "",
            example='{"worker": 500}',
            parts=(
                Option("worker", 300, whole, to="worker_memory_bytes", least=32, unit=1 << 20),
                Option("duplicates", 256, whole, to="duplicate_memory_bytes", least=16, unit=1 << 20),
                Option("rank", 2000, whole, to="rank_memory", least=1, unit=1 << 20),
                Option("rendering", 400, whole, to="rendering.memory_bytes", least=64, unit=1 << 20),
            ),
        ): (
            "bounds of memory in MB, as JSON: `worker` (300) that reading one page may cost beyond what a worker has "
            "at its start; `duplicates` (256) of the index by which duplicates are found, whose other part moves to "
            "files that the operating system maps, beside a SQLite database in `news.db.duplicates/`, else temporary "
            "ones; `rank` (2000) of the graph of links, when it is full the URLs found first keep their scores; "
            "`rendering` (400) that one page may take in the browser"
        ),
        Option("DUPLICATE_METHOD", "combined", text, MUST, ""): (
            "how duplicates are found ([docs/duplicates.md](docs/duplicates.md)), or `module:name` of your own"
        ),
        Option("DUPLICATE_PARAMS", {}, mapping, MUST, ""): "the method's parameters",
        Option("URL_RULES", 0.9, number, SHOULD, least=0.5, most=1): (
            "how sure it must be that a parameter or slug makes no difference for URLs that differ in nothing else to "
            "be skipped (0.5 to 1; `1`: off)"
        ),
        Option("WORKERS", _CORES, whole, least=1, most=max(32, 8 * _CORES), shown="number of cores"): (
            "processes that read pages, of 100 MB each"
        ),
        Option("RENDER", "never", word, SHOULD, among=("never", "auto")): (
            "pages whose text is made by script are shown in a browser that has no network of its own: `never`, or "
            "with `auto` those that need it ([docs/rendering.md](docs/rendering.md)); a seed's `render=` goes first"
        ),
        Option("RENDER_BROWSER", "", text, NO, "rendering.browser"): (
            "path of a Chromium, best a headless shell; when empty one is looked for"
        ),
        Option("RENDER_ISOLATION", default=True, parse=flag, to="rendering.isolation"): (
            "the browser runs in a user and network namespace of its own, so that pages cannot reach a network past "
            "the crawl; `False` renders where the system refuses namespaces, and gives that up"
        ),
    },
    "how much of one answer": {
        Option("DOWNLOAD_TIMEOUT", 50, number, NO, "fetch.seconds", least=0.1): (
            "seconds that one fetch may take, from the connection to the last byte"
        ),
        Option("STALL_SECONDS", 20.0, number, NO, "answer.stall", least=0.1): (
            "once its first byte has come, a fetch ends after so many seconds without one"
        ),
        Option("DOWNLOAD_MAXSIZE", 8 << 20, whole, NO, "answer.size", least=1024, shown="8 MiB"): (
            "bytes of a body, as sent and decoded; what is cut is read for links and stored as no article"
        ),
    },
    "when something is wrong": {
        Option("LOG_FILE", None, text, to=""): "where the log goes, instead of stderr",
        Option(
            "LOG_LEVEL",
            scrapy_settings.DEFAULTS["LOG_LEVEL"],
            word,
            among=("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG"),
            to="",
        ): ("what is less grave is not logged: `CRITICAL`, `ERROR`, `WARNING`, `INFO` or `DEBUG`"),
        Option("LOG_JSON", default=False, parse=flag): (
            "write the log as JSON lines, and nothing else beside it ([docs/running.md](docs/running.md))"
        ),
        Option("METRICS_PORT", 0, whole, most=65_535): (
            "port of 127.0.0.1 at which Prometheus reads the metrics of the crawl (`0`: none)"
        ),
        Option("HEALTH_WINDOW", 40, whole, least=10, most=200, off=True): (
            "so many of a host's last answers are compared with those before, to raise an alarm when a site changes "
            "its layout, blocks, slows down ... (10 to 200; `0`: off)"
        ),
    },
    "how much at once": {
        Option("CONCURRENT_REQUESTS", 64, whole, NO, "in_flight", least=1): (
            "pages under way over all hosts: being fetched, read or stored"
        ),
        Option("HOST_WINDOW", 8, whole, NO, "window", least=1): (
            "URLs of a host held in memory; fewer keep the order truer"
        ),
        Option("MAX_HOSTS", 2000, whole, TOLD, "hosts", least=1): "hosts held in memory at a time",
        Option("LEASE_SECONDS", 60.0, number, least=_SHORTEST_LEASE): (
            "after this long without a sign of life a process's work is taken over by the others (Postgres)"
        ),
        Option("PROGRESS_SECONDS", 10.0, number, least=0.1): ("seconds between progress lines when not on a terminal"),
    },
}

OPTIONS = tuple(
    replace(option, group=group, help=help_) for group, rows in _TABLE.items() for option, help_ in rows.items()
)
"""All settings that a user tunes, in the order of docs/settings.md."""
BY_NAME = {option.name: option for option in OPTIONS}


def defaults() -> dict[str, Any]:
    """Return the defaults by name of all that is not for the news crawl alone."""
    return {option.name: option.default for option in OPTIONS if option.name not in scrapy_settings.DEFAULTS}


def differing(one: Mapping[str, Any], other: Mapping[str, Any], *kinds: Agree) -> list[str]:
    """Return the settings of these kinds in which two runs' `Config.agreed` differ."""
    return [o.name for o in OPTIONS if o.agree in kinds and one.get(o.name) != other.get(o.name)]
