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


def _hidden(given: str) -> str:
    return "***" if given else ""


_SQLITE = "sqlite:///news.db"
_SHORTEST_LEASE = 20.0
"""A run's sign of life stands in line behind a transaction that may wait for locks: five seconds for each, eight when
another process is frozen. A shorter lease would let runs be taken for dead that only wait."""
_CORES = os.cpu_count() or 2

_TABLE: dict[str, dict[Option, str]] = {
    "storage": {
        Option("DATABASE_URL", _SQLITE, databases, variable="DATABASE_URL", secret=_without_password): (
            "where results are stored: a URL, or the path of a SQLite file (also from the variable "
            "`DATABASE_URL`); several Postgres databases, separated by commas or spaces, share a crawl "
            "([docs/shards.md](docs/shards.md))"
        ),
        Option("SHARD", None, limit, least=1): (
            "which of several databases this process works on (1 is the first); if not set, the one with the "
            "fewest processes"
        ),
        Option("DATABASE_PATIENCE", 300.0, number): (
            "seconds to wait for a locked or silent database before giving up (at the start at most 60)"
        ),
        Option("STORE_HTML", "articles", word, SHOULD, "", among=("articles", "all", "none")): (
            "keep the raw bytes of `articles`, of `all` pages that are read, or `none`; `scrapy extract "
            "--database` needs them ([docs/performance.md](docs/performance.md) says what they cost)"
        ),
        Option("STORE_WARC", "", text): (
            "folder of WARC files for everything that is fetched ([docs/archives.md](docs/archives.md)); with "
            "`STORE_HTML=none` the bytes of articles are kept only there"
        ),
        Option("STORE_KINDS", ["article"], words, SHOULD, "", among=tuple(kind.word for kind in PageKind)): (
            "kinds of pages to store, separated by commas: `article`, `thread` (of a forum), `list`, `product`, "
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
            "days for which rows are kept, as JSON (`null`: for ever): `outside` (7) URLs outside the seeds' "
            "scope, of which only what ranking needs is kept afterwards; `pages` raw pages, deleted by whole "
            "months (on Postgres a partition); `versions` earlier texts of articles; `signals` what the score of "
            "a fetched URL was made of (`scrapy why` shows it); `duplicates` texts that new ones are compared "
            "with (bounds the index: 0.5 KB an article)"
        ),
    },
    "limits": {
        Option("MAX_PAGES", None, limit, MUST, "limits.pages"): (
            "most pages in the database, over all runs, exactly; redirects, robots.txt, sitemaps and feeds do not count"
        ),
        Option("MAX_PAGES_PER_HOST", None, limit, MUST, "limits.pages_per_host"): "the same for each host",
        Option("MAX_PAGES_PER_RUN", None, limit, MUST, "limits.pages_per_run"): (
            "the same from the start of a crawl to its end, over all processes that join it"
        ),
        Option("MAX_PAGES_PER_DAY", None, limit, MUST, "limits.pages_per_day"): "the same for each day (UTC)",
        Option("MAX_DEPTH", None, limit, MUST, "limits.depth"): ("most links from a seed"),
        Option("SINCE", None, when, SHOULD, ""): (
            'a day (`2024-05-01`) or a period before now (`7d`): articles published earlier are not stored ("too '
            'old"), and earlier feed and sitemap entries, URLs with an earlier date, and further pages of a list '
            "with nothing newer are not followed; a seed's `since=` takes precedence"
        ),
        Option("UNTIL", None, when, SHOULD, ""): 'the same for articles published later ("too new")',
        Option("TRAPS", default=True, parse=flag, agree=SHOULD): (
            "block endless URL patterns whose pages bring nothing: calendars, session ids, facets, ... "
            "([docs/traps.md](docs/traps.md))"
        ),
        Option("SOFT_404_PROBE", default=True, parse=flag, agree=SHOULD): (
            "if the pages of a host look alike, ask it for a page that does not exist (in at most three folders),"
            " to learn what it shows then"
        ),
    },
    "order": {
        Option("CRAWL_PRESET", None, text, SCORING, ""): (
            "named set of weights for the order: `breadth`, `pagerank`, `news`, `focused`; if not set `news`, "
            "with a topic `focused`"
        ),
        Option("CRAWL_PRIORITY", {}, mapping, SCORING, "", example='{"depth": 1, "freshness": 0.5}'): (
            "weight of each signal on top of the preset, as JSON "
            "([docs/crawl-order.md](docs/crawl-order.md#signals)); also of one of networkx, `nx:NAME`, or of your own, "
            "`module:name`"
        ),
        Option("RANK_EVERY_PAGES", 5000, whole, least=1): (
            "score the queue again after this many pages, or when the fetched pages have grown by 4 %"
        ),
        Option("HOST_PATIENCE", 60.0, number, most=86_400): (
            "most seconds for which a host that may be asked is passed over for better pages of others"
        ),
    },
    "search": {
        Option("SEARCH_WEIGHTS", {}, weights, NO, "", most=100, among=tuple(SIGNALS), example='{"freshness": 0.3}'): (
            "weight of each signal in the order of search results, as JSON: "
            + ", ".join(f"`{name}` {weight:g}" for name, weight in SIGNALS.items())
        ),
        Option("SEARCH_SYNONYMS", "", text, NO, ""): (
            "file of synonyms, two words a line and their closeness (`酒店 宾馆 0.9`), that a search for related words "
            "(`--expand`) looks for, too"
        ),
    },
    "desk": {
        Option("DESK", "", text): (
            "file of saved searches, alerts and marks ([docs/desk.md](docs/desk.md)); if empty, `news.desk.db` beside "
            "`news.db`, for Postgres the database's name in the current folder"
        ),
        Option(
            "ALERT_MAIL",
            {},
            record,
            NO,
            "",
            example='{"host": "smtp.example.org", "from": "news@example.org", "to": ["me@example.org"]}',
            parts=(
                Option("host", "", text, to=""),
                Option("port", 587, whole, to="", least=1, most=65_535),
                Option("security", "starttls", word, to="", among=("starttls", "tls", "none")),
                Option("user", "", text, to=""),
                Option("from", "", text, to=""),
                Option("to", [], names, to=""),
            ),
        ): (
            "mail server for alerts, as JSON: `host`, `port` (587), `security` (`starttls`, `tls` or `none`), `user`, "
            "`from`, and `to`, the addresses that alerts may go to"
        ),
        Option("ALERT_MAIL_PASSWORD", "", text, NO, "", variable="ALERT_MAIL_PASSWORD", secret=_hidden): (
            "password of that user; better from the variable `ALERT_MAIL_PASSWORD`"
        ),
        Option("ALERT_MINUTES", 10.0, number, NO, "", most=10_080): (
            "least minutes between two messages of a saved search"
        ),
    },
    "topic": {
        Option("TOPIC", "", text, SCORING, ""): (
            "topic of the crawl in words, or classes of the model in `CLASSES`: `class:sport,finance`"
        ),
        Option("PROFILE", "", text, SCORING, ""): (
            "file made by `scrapy train profile`: look for similar pages; `readers`: for pages like the articles that "
            "readers of `scrapy serve --learn` stay with, learnt again while the crawl goes on"
        ),
        Option("FOCUS_MIN", 0.0, number, SHOULD, "", most=1): "relevance below which an article is off topic (0 to 1)",
        Option("FOCUS_BELOW", "drop", word, SHOULD, "", among=("drop", "store")): (
            '`drop` such articles or `store` them, both with the reason "off topic"'
        ),
    },
    "politeness": {
        Option("CONTACT", "", text, NO, "", variable="CRAWL_CONTACT"): (
            "URL or e-mail address in the User-Agent (also from the variable `CRAWL_CONTACT`)"
        ),
        Option("USER_AGENT", f"{ROBOTS_AGENT}/0.1", text, NO, ""): (
            f"what servers see; robots.txt is read for `{ROBOTS_AGENT}`"
        ),
        Option("NOINDEX", "honour", word, SHOULD, "", among=("honour", "store")): (
            "`honour`: an article that asks not to be indexed (`noindex` in the page or its header) is not "
            "stored, only its links are followed; `store`: it is stored like any other. `v_dropped` and `scrapy "
            "why` name such articles with the setting"
        ),
        Option("HOST_DELAY", 1.0, number, SHOULD, "delay.delay"): "seconds between two requests to a host",
        Option("HOST_DELAY_FACTOR", 2.0, number, SHOULD, "delay.factor", most=100): (
            "or this many times the host's recent answer time, if that is more, up to 30 seconds; not when "
            "`HOST_DELAY` is 0 and the host answers within a second"
        ),
        Option("HOST_CONNECTIONS", 1, whole, SHOULD, "connections", least=1): "requests under way per host",
        Option("SAME_IP_DELAY", 0.0, number, SHOULD, most=3600): (
            "seconds between two requests to hosts at one IP address, with one request under way; 0: each host "
            "has its own clock"
        ),
        Option("CRAWL_DELAY_CAP", 30.0, number, SHOULD, "delay.most_crawl_delay"): (
            "longest delay in seconds that a robots.txt may ask for; nothing is fetched from a host that asks for"
            ' more ("crawl-delay too long")'
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
            "how failing hosts are treated, as JSON: after `failures` (10) in a row a host is left alone for "
            "`seconds` (5), then four times as long each time, up to an hour; after `backoffs` (6) in a row "
            "without a good answer it counts as dead until the next run (in a long one for a day), and its URLs "
            'are skipped ("host unreachable", "robots unreachable", "host busy"). If only such hosts are left, '
            "the crawl waits until `wait` (60) seconds after the last good answer of any host"
        ),
        Option("NETWORK_PATIENCE", 300.0, number, NO, "network_patience"): (
            "seconds to wait for the network of this machine when no host answers any more; then the crawl stops "
            "with exit code 3 (`-a mode=watch` keeps waiting)"
        ),
        Option("ALLOW_NETWORKS", [], names, NO, ""): (
            "IP addresses that may be contacted although they are not public, e.g. `10.1.0.0/16,127.0.0.1:8080`"
        ),
        Option("TLS_UNVERIFIED_HOSTS", [], names, NO, ""): (
            "hosts whose certificates are not verified, such as `old.example.cn` or `*.example.cn`"
        ),
        Option("PROXY", "", proxies, NO, "", secret=written): (
            "proxy for all requests: `http://user:password@host:port` or `socks5://...`; of several the first "
            "that works. If empty, the variables `http_proxy`, `https_proxy` and `no_proxy` count; `none`: no "
            "proxy. A seed's `proxy=` takes precedence ([docs/fetching.md](docs/fetching.md#proxies))"
        ),
        Option("PROXY_RESOLVES", default=False, parse=flag, to=""): (
            "give proxies host names instead of checked IP addresses, which gives up the guard against private "
            "addresses: for proxies that allow no other connections, or where names cannot be resolved"
        ),
        Option("SITE_COOKIES", default=True, parse=flag, to="fetch.cookies"): (
            "keep cookies in memory, separately for each site, and send them back (at most 4 KB); `False`: none at all"
        ),
    },
    "revisits": {
        Option("REVISIT_WORTH", 3600.0, number, SHOULD, "schedule.worth", least=1): (
            "seconds by which an article may be found later if that saves a request: lists are visited at "
            "intervals learned from what they bring. Smaller values find news sooner, with more requests"
        ),
        Option("REVISIT_MIN", 300.0, number, SHOULD, "schedule.least", least=1): ("shortest interval in seconds"),
        Option("REVISIT_MAX", 604_800.0, number, SHOULD, "schedule.most", least=1): ("longest interval in seconds"),
        Option("REVISIT_ARTICLES", 7.0, number, SHOULD, "schedule.article_seconds", most=36_500, unit=DAY): (
            "days of age up to which articles are checked again, less and less often; each at least once (0: never)"
        ),
        Option("REVISIT_AHEAD", 86_400.0, number, NO, "ahead"): (
            "a finished crawl that is run again also visits what is due within this many seconds"
        ),
    },
    "reading pages": {
        Option("EXTRACTOR", "combined", text, SHOULD): (
            "how the main text is found ([docs/extraction.md](docs/extraction.md#extractors)), or `module:name` "
            "of your own ([docs/extending.md](docs/extending.md))"
        ),
        Option("EXTRACTOR_PARAMS", {}, mapping, SHOULD, ""): "the method's parameters",
        Option("SITE_MEMORY", default=True, parse=flag, agree=SHOULD): (
            "learn from the pages of each host which texts are repeated and where its templates have the text "
            "(`0`: off)"
        ),
        Option("KEYWORDS", "combined", text, SHOULD, ""): (
            "how keywords are found: `combined`, `bayes`, `network`, `tfidf` ([docs/text.md](docs/text.md)), or "
            "`module:name` of your own; a summary comes with them (empty: neither)"
        ),
        Option("KEYWORD_PARAMS", {}, mapping, SHOULD, ""): (
            "the method's parameters ([docs/text.md](docs/text.md#keywords))"
        ),
        Option("CLASSES", "shipped", text, SHOULD, ""): (
            "model file made by `scrapy train classes`, or `shipped`: news sections, Chinese and English. "
            "Articles get the classes that are likely enough, with memberships, and none in a language that the "
            "model does not know (empty or `none`: no classes)"
        ),
        Option("CLASSIFIER", "combined", text, NO, ""): (
            "how `scrapy train classes` learns: `combined`, `svm`, `naive_bayes`, `knn`, `fuzzy`, `structure` "
            "([docs/text.md](docs/text.md#classes)); a model names its own"
        ),
        Option("CLASSIFIER_PARAMS", {}, mapping, NO, ""): "the classifier's parameters",
        Option("HARMFUL", "flag", word, SHOULD, "", among=("off", "store", "flag", "drop")): (
            "gambling, porn, fraud, abuse, adverts and hijacked pages: `store` them with the judgement in `harm` "
            'and `harm_kind`, `flag` them with the reason "harmful" as well, `drop` them, or `off`: judge nothing'
        ),
        Option("HARMFUL_METHOD", "combined", word, SHOULD, "", among=("combined", "blocks")): (
            "how harm is judged: `combined`, by titles, text and links; `blocks`, the way of a paper (S26), by the "
            "extracted text alone, each line counting as surely as it is content"
        ),
        Option("DESCRIBE", "now", word, NO, "", among=("now", "later")): (
            "when articles get keywords, summary and classes: `now`, while their page is read; or `later`, while no "
            "page waits for a worker, and all that is left before the crawl ends "
            "([docs/text.md](docs/text.md#described-later))"
        ),
        Option("WORDS", "", text, SHOULD, ""): (
            "file of Chinese words that the dictionary lacks, one a line, for keywords and summaries; or a "
            "lexicon made by `scrapy train lexicon`"
        ),
        Option("DUPLICATES", "link", word, SHOULD, "", among=("drop", "link", "keep")): (
            "what happens to a duplicate: `link` (stored with `duplicate_of`, and with its text unless the other "
            "has it word for word), `keep` (with its text), `drop` (only the evidence; the URL's reason is "
            '"duplicate")'
        ),
        Option("DUPLICATE_SITES", {}, mapping, SHOULD, "", example='{"example.com": "keep"}'): (
            'the same for single sites, e.g. `{"example.com": "keep"}`'
        ),
        Option("DUPLICATE_THRESHOLD", 0.8, number, SHOULD, "", most=1): (
            "similarity from which a text counts as a duplicate"
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
            "bounds of memory in MB, as JSON: `worker` (300) for reading one page, beyond what a worker has at "
            "its start; `duplicates` (256) for the index of duplicates, the rest of which lies in files that the "
            "operating system maps, beside a SQLite database in `news.db.duplicates/`, else temporary ones; "
            "`rank` (2000) for the link graph, beyond which the URLs found first keep their scores; `rendering` "
            "(400) for one page in the browser"
        ),
        Option("DUPLICATE_METHOD", "combined", text, MUST, ""): (
            "how duplicates are found ([docs/duplicates.md](docs/duplicates.md)), or `module:name` of your own"
        ),
        Option("DUPLICATE_PARAMS", {}, mapping, MUST, ""): "the method's parameters",
        Option("URL_RULES", 0.9, number, SHOULD, least=0.5, most=1): (
            "how certain it must be that a parameter or slug makes no difference before URLs that differ only in "
            "it are skipped (0.5 to 1; `1`: off)"
        ),
        Option("WORKERS", _CORES, whole, least=1, most=max(32, 8 * _CORES), shown="number of cores"): (
            "processes that read pages; each needs 100 MB"
        ),
        Option("RENDER", "never", word, SHOULD, among=("never", "auto")): (
            "render pages whose text is made by script, in a browser without a network of its own: `never`, or "
            "`auto` where it is needed ([docs/rendering.md](docs/rendering.md)); a seed's `render=` takes "
            "precedence"
        ),
        Option("RENDER_BROWSER", "", text, NO, "rendering.browser"): (
            "path of a Chromium, preferably a headless shell; if empty, one is looked for"
        ),
        Option("RENDER_ISOLATION", default=True, parse=flag, to="rendering.isolation"): (
            "run the browser in its own user and network namespace, so that pages cannot reach a network past the"
            " crawl; `False` renders even where the system refuses namespaces, and gives that up"
        ),
    },
    "size and time of answers": {
        Option("DOWNLOAD_TIMEOUT", 50, number, NO, "fetch.seconds", least=0.1): (
            "most seconds for one fetch, from the connection to the last byte"
        ),
        Option("STALL_SECONDS", 20.0, number, NO, "answer.stall", least=0.1): (
            "once the first byte has arrived, a fetch ends after this many seconds without another"
        ),
        Option("DOWNLOAD_MAXSIZE", 8 << 20, whole, NO, "answer.size", least=1024, shown="8 MiB"): (
            "most bytes of a body, as sent and decoded; a body that is cut is read for links and stored as no article"
        ),
    },
    "logs and alarms": {
        Option("LOG_FILE", None, text, to=""): ("file for the log, instead of stderr"),
        Option(
            "LOG_LEVEL",
            scrapy_settings.DEFAULTS["LOG_LEVEL"],
            word,
            among=("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG"),
            to="",
        ): ("lowest level that is logged: `CRITICAL`, `ERROR`, `WARNING`, `INFO` or `DEBUG`"),
        Option("LOG_JSON", default=False, parse=flag): (
            "write the log as JSON lines, and print nothing else ([docs/running.md](docs/running.md))"
        ),
        Option("METRICS_PORT", 0, whole, most=65_535): (
            "port on 127.0.0.1 for Prometheus metrics of the crawl (`0`: none)"
        ),
        Option("HEALTH_WINDOW", 40, whole, least=10, most=200, off=True): (
            "how many of a host's latest answers are compared with earlier ones, to raise an alarm when a site "
            "changes its layout, blocks the crawl, slows down ... (10 to 200; `0`: off)"
        ),
    },
    "scale": {
        Option("CONCURRENT_REQUESTS", 64, whole, NO, "in_flight", least=1): (
            "pages under way over all hosts: being fetched, read or stored"
        ),
        Option("HOST_WINDOW", 8, whole, NO, "window", least=1): (
            "URLs of a host held in memory; fewer keep the order more exact"
        ),
        Option("MAX_HOSTS", 2000, whole, TOLD, "hosts", least=1): "hosts held in memory at a time",
        Option("LEASE_SECONDS", 60.0, number, least=_SHORTEST_LEASE): (
            "a process without a sign of life for this long loses its work to the others (Postgres)"
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
