"""Hold all settings in one table, check them, and build the `Config` of a crawl.

Scrapy's defaults, the checks, the agreement of processes and the README's rows come from the table. To add a setting,
add a row to `_TABLE` and its field to `Config`, or to the record in it that the row names.

Every command of `scrapy` reads this module, so it imports what a crawl is made of only where a `Config` is made.

    OPTIONS         the table
    defaults        its part for `crawler.settings`
    Config          the values of a crawl, checked, built once
    value_of        the checked value of one setting, for commands that need no more
    in_force        all values, and where each came from
    differing       the settings in which two processes that share a database differ
"""

from __future__ import annotations

import difflib
import json
import logging
import math
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import install_reactor

from db.records.article import Keep
from db.records.keys import fingerprint
from db.records.run import KeepDays, Limits
from pipelines.dates.period import Bound, Period
from pipelines.records import PageKind
from pipelines.search.records import SIGNALS
from pipelines.version import extraction_version

from ..fetch.proxies import read_environment, read_proxies, written
from ..response.revisit_schedule import DAY, Schedule
from . import scrapy_settings

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from pipelines.dedup import Method
    from pipelines.dedup.judge import Policy
    from pipelines.describe import DescribeOptions
    from pipelines.focus.topic import Topic
    from pipelines.worker import KeepRaw, ParseOptions

    from ..fetch.connection import FetchOptions
    from ..fetch.proxies import Route
    from ..politeness.delay import BackoffPolicy, DelayPolicy
    from ..rank.priority import Priority
    from ..render.records import RenderOptions
    from ..render.requests import RobotsPolicy
    from ..response.context import HarmPolicy, Threshold


logger = logging.getLogger(__name__)

ROBOTS_AGENT = "newscrawler"
"""The product token by which robots.txt files address us."""


class ConfigError(ValueError):
    """A setting or argument is wrong; the text says which and what is allowed."""


class Agree(Enum):
    """Need for processes that share a database to have the same value of a setting."""

    NO = "need not"
    TOLD = "need not, but know each other's"
    SHOULD = "should: the later one warns"
    MUST = "must: the later one is refused"
    SCORING = "must; and a run with another value than the last one scores the queue anew"


NO, TOLD, SHOULD, MUST, SCORING = Agree


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """A setting.

    Attributes:
        name: as `-s NAME=VALUE` gives it.
        default: its value without `-s`.
        parse: makes the checked value of a given one, see the functions below.
        agree: whether processes must agree.
        to: where `Config` has the value: a field (the name in lower case when None), a field of a record
            (`limits.pages`), or nowhere by itself ("").
        least, most: bounds of a number.
        off: a number may also be 0, which switches something off.
        unit: what 1 is in the unit of `Config`.
        among: the words that a word is one of, or that are taken.
        example: of a JSON object.
        shown: the default in the README, where it depends on the machine or is hard to read.
        variable: environment variable that gives it beside `NEWS_<name>`.
        secret: shows the checked value without passwords, which messages leave out altogether; None when it has none.
        group, help: the README's words, set from the table.
    """

    name: str
    default: Any
    parse: Callable[[Option, Any], Any]
    agree: Agree = NO
    to: str | None = None
    least: float = 0
    most: float = math.inf
    off: bool = False
    unit: float = 1
    among: tuple[str, ...] = ()
    example: str = '{"name": 1}'
    shown: str | None = None
    variable: str = ""
    secret: Callable[[Any], str] | None = None
    group: str = ""
    help: str = ""

    @property
    def variables(self) -> list[str]:
        """Names of the environment variables that give it, the first counts most."""
        return [f"{_PREFIX}{self.name}", *filter(None, [self.variable])]

    def check(self, given: Any, called: str = "") -> Any:
        """Return the checked value of a given one.

        Args:
            given: as text, or of its type.
            called: name of the setting in the message, if it is another one.

        Raises:
            ConfigError: naming the setting, its value and what is allowed.
        """
        try:
            return self.parse(self, given)
        except (ValueError, TypeError) as error:
            value = "" if self.secret else f" is {given!r};"
            raise ConfigError(f"{called or self.name}{value or ':'} {error}") from None


def text(_option: Option, given: Any) -> str:
    """Parse a text; None is an empty one."""
    return str(given or "").strip()


def databases(option: Option, given: Any) -> str:
    """Parse one database, or several as a text or list, into what `Shards.read` takes."""
    if isinstance(given, str) and given.lstrip().startswith("["):
        try:
            given = json.loads(given)
        except ValueError:
            raise ValueError(
                'write several as a JSON list, e.g. ["postgresql://a/news", "postgresql://b/news"]'
            ) from None
    return " ".join(map(str, given)) if isinstance(given, list | tuple) else text(option, given)


def proxies(_option: Option, given: Any) -> Route:
    """Parse proxies, as a text or list."""
    return read_proxies(" ".join(map(str, given)) if isinstance(given, list | tuple) else str(given or ""))


def flag(_option: Option, given: Any) -> bool:
    """Parse True or False, in the spellings that Scrapy takes."""
    with suppress(ValueError, TypeError):
        return BaseSettings({"it": given}).getbool("it")
    raise ValueError("it takes True or False")


def word(option: Option, given: Any) -> str:
    """Parse one of some words."""
    if given not in option.among:
        raise ValueError(f"it takes {(' or ' if len(option.among) == 2 else ', ').join(option.among)}")
    return str(given)


def words(option: Option, given: Any) -> list[str]:
    """Parse a list of at least one of some words; it comes back in their order."""
    found = {one.strip().lower() for one in names(option, given)} - {""}
    if not found or found - set(option.among):
        raise ValueError(f"it takes one or more of {', '.join(option.among)}, separated by commas")
    return [one for one in option.among if one in found]


def number(option: Option, given: Any) -> float:
    """Parse a number within the bounds."""
    try:
        value = float(given)
    except (ValueError, TypeError):
        value = math.nan
    if not (option.least <= value <= min(option.most, _MOST) or (option.off and value == 0)):
        upper = f" to {option.most:g}" if option.most < math.inf else f" to {_MOST}" if value > _MOST else " or more"
        raise ValueError(f"it takes {'0, or ' * option.off}a number, {option.least:g}{upper}")
    return value


_MOST = 2**31 - 1
"""Of any number: more can neither be stored nor waited for."""


def whole(option: Option, given: Any) -> int:
    """Parse a whole number within the bounds."""
    value = number(option, given)
    if value != int(value):
        raise ValueError("it takes a whole number")
    return int(value)


def limit(option: Option, given: Any) -> int | None:
    """Parse a limit, None for no limit (not set, empty or "none")."""
    return None if given is None or str(given).strip().lower() in {"", "none"} else whole(option, given)


def when(_option: Option, given: Any) -> Bound | None:
    """Parse a day or a time before now, None for no bound."""
    return None if given is None or str(given).strip().lower() in {"", "none"} else Bound.read(str(given))


def names(_option: Option, given: Any) -> list[str]:
    """Parse a list, or a text with commas."""
    with suppress(TypeError):
        return [str(one) for one in BaseSettings({"it": given}).getlist("it")]
    raise ValueError("it takes a list, or a text with commas")


def mapping(option: Option, given: Any) -> dict[str, Any]:
    """Parse a JSON object."""
    with suppress(ValueError, TypeError):
        return BaseSettings({"it": given}).getdict("it")
    raise ValueError(f"write it as JSON, e.g. -s {option.name}='{option.example}'")


def weights(option: Option, given: Any) -> dict[str, float]:
    """Parse weights of named signals."""
    found = mapping(option, given)
    for name, value in found.items():
        if name not in option.among:
            raise ValueError(f"{name!r} is no signal; they are: {', '.join(option.among)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= option.most:
            raise ValueError(f"a weight is a number, 0 to {option.most:g}")
    return {name: float(value) for name, value in found.items()}


def _without_password(given: str) -> str:
    from db.engine.database import without_password

    return without_password(given)


_PREFIX = "NEWS_"
"""Of the environment variables that give settings."""
_ENVIRONMENT = 35
"""Scrapy's priority of what they give: above that of the project and of spiders, below that of the command line."""
_SQLITE = "sqlite:///news.db"
_SHORTEST_LEASE = 20.0
"""A run's sign of life stands in line behind a transaction that may wait for locks: five seconds for each, eight when
another process is frozen. A shorter lease would let runs be taken for dead that only wait."""
_CORES = os.cpu_count() or 2
_POLICIES = {"drop": Keep.NOTHING, "link": Keep.METADATA, "keep": Keep.ALL}
_TOPICS = 'give TOPIC, PROFILE, or seeds with topic="..."'

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
        Option("KEEP_OUTSIDE", 7, limit, SHOULD, "keep.outside"): (
            "days for which rows of URLs outside of the seeds' scope are kept; then only what ranking needs of them "
            "(`none`: for ever)"
        ),
        Option("KEEP_PAGES", None, limit, SHOULD, "keep.pages"): (
            "days for which stored bytes of pages are kept, until the month in which they were fetched is older (on "
            "Postgres a partition)"
        ),
        Option("KEEP_VERSIONS", None, limit, SHOULD, "keep.versions"): (
            "days for which earlier texts of articles are kept"
        ),
        Option("KEEP_SIGNALS", None, limit, SHOULD, "keep.signals"): (
            "days for which a fetched URL keeps what its score was made of, which `scrapy why` shows"
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
        Option("TRAP_PATTERN_PAGES", 30, whole, SHOULD, least=5): "pages of a pattern in a row that may bring nothing",
        Option("TRAP_HOST_PAGES", 200, whole, SHOULD, least=5): "the same of a host that no seed means (`stay=any`)",
        Option("TRAP_DAYS", 7.0, number): (
            "days after which a blocked pattern is put on probation: a few of its pages are tried again"
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
        Option("RANK_EVERY_PAGES", 5000, whole, least=1): "the queue is scored again after so many pages",
        Option("RANK_GROWTH", 0.04, number, least=0.001, most=10): "or when the fetched pages have grown by this share",
        Option("RANK_MEMORY_MB", 2000, whole, unit=1 << 20, to="rank_memory", least=1): (
            "memory for the graph of links; when it is full, the URLs found first are ranked no more and keep their "
            "scores"
        ),
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
            "or this many times as long as the host lately takes to answer, if that is more; not when `HOST_DELAY` is "
            "0 and it answers within a second"
        ),
        Option("HOST_DELAY_MAX", 30.0, number, SHOULD, "delay.most", most=3600): "but at most so many seconds",
        Option("HOST_CONNECTIONS", 1, whole, SHOULD, "connections", least=1): "requests under way per host",
        Option("SAME_IP_DELAY", 0.0, number, SHOULD, most=3600): (
            "seconds between two requests to hosts at one IP address, one request under way; 0: each host has a clock "
            "of its own"
        ),
        Option("CRAWL_DELAY_CAP", 30.0, number, SHOULD, "delay.most_crawl_delay"): (
            "a robots.txt may ask for up to this many seconds; of a host that asks for more nothing is fetched "
            '("crawl-delay too long")'
        ),
        Option("ROBOTS_KEEP", 86_400.0, number, SHOULD, least=1): (
            "seconds after which a robots.txt is fetched again, also while a crawl runs; the old rules hold until the "
            "new ones are there"
        ),
        Option("ROBOTS_TIMEOUT", 30.0, number, least=1): (
            "seconds to wait for a robots.txt; while it cannot be had nothing of the host is fetched, and it is asked "
            "for again and again"
        ),
        Option("ROBOTS_MAX_KB", 1024, whole, NO, "robots_bytes", least=500, unit=1024): (
            "so much of a robots.txt counts, whole lines of it (500 or more)"
        ),
        Option("FETCH_TRIES", 3, whole, NO, "tries", least=1): "tries of a URL, with growing pauses",
        Option("HOST_FAILURES", 10, whole, NO, "backoff.failures", least=1): (
            "failures in a row after which a host is in backoff"
        ),
        Option("HOST_REST", 5.0, number, NO, "backoff.rest", least=0.1, most=3600): (
            "seconds of its first backoff; each further one is four times as long, up to an hour"
        ),
        Option("HOST_GIVE_UP", 6, whole, NO, "backoff.rests"): (
            "backoffs in a row without a good answer after which the host is taken for dead until the next run (in a "
            'long one for `ROBOTS_KEEP` seconds), its URLs skipped ("host unreachable", "robots unreachable", "host '
            'busy")'
        ),
        Option("HOST_WAIT", 60.0, number, NO, "backoff.alone"): (
            "when hosts in backoff are all that is left, they are waited for until so many seconds after the last good "
            "answer of any host"
        ),
        Option("NETWORK_PATIENCE", 300.0, number, NO, "network_patience"): (
            "seconds to wait for the network of this machine when no host answers any more; then the crawl stops with "
            "exit code 3 (`-a mode=watch` waits on)"
        ),
        Option("REDIRECT_HOPS", 8, whole, NO, "redirects"): "redirects followed in a row",
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
        Option("DUPLICATES", "link", word, SHOULD, "", among=tuple(_POLICIES)): (
            "what becomes of a duplicate: `link` (stored with `duplicate_of`, its text unless the other has it word "
            'for word), `keep` (with its text), `drop` (evidence only; the URL\'s reason is "duplicate")'
        ),
        Option("DUPLICATE_SITES", {}, mapping, SHOULD, "", example='{"example.com": "keep"}'): (
            'the same for single sites, e.g. `{"example.com": "keep"}`'
        ),
        Option("DUPLICATE_THRESHOLD", 0.8, number, SHOULD, "", most=1): (
            "similarity from which a text counts as a repetition"
        ),
        Option("DUPLICATE_WINDOW", None, limit, SHOULD, ""): (
            "days after which a text is no longer looked up (bounds the index: 0.5 KB an article)"
        ),
        Option("DUPLICATE_MEMORY_MB", 256, whole, NO, "duplicate_memory_bytes", least=16, unit=1 << 20): (
            "memory of the index by which duplicates are found; the part beyond it moves to files that the operating "
            "system maps, beside a SQLite database in `news.db.duplicates/`, else temporary ones"
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
        Option("RENDER_PAGES", 2, whole, NO, "rendering.places", least=1, most=32): "pages that are rendered at a time",
        Option("RENDER_SECONDS", 20.0, number, NO, "rendering.seconds", least=1, most=600): (
            "seconds that rendering one page may take"
        ),
        Option("RENDER_REQUESTS", 60, whole, NO, "rendering.requests", least=1): "requests that it may cost",
        Option("RENDER_MEMORY_MB", 400, whole, NO, "rendering.memory_bytes", least=64, unit=1 << 20): (
            "memory that one page may take in the browser"
        ),
        Option("RENDER_ISOLATION", default=True, parse=flag, to="rendering.isolation"): (
            "the browser runs in a user and network namespace of its own, so that pages cannot reach a network past "
            "the crawl; `False` renders where the system refuses namespaces, and gives that up"
        ),
        Option("PAGE_SECONDS", 20.0, number, least=0.1): "seconds that reading one page may take",
        Option("WORKER_MEMORY_MB", 300, whole, NO, "worker_memory_bytes", least=32, unit=1 << 20): (
            "memory that it may cost beyond what a worker has at its start"
        ),
        Option("PAGE_NODES", 80_000, whole, NO, "read.nodes", least=1000): (
            'elements of a page that are read; an article that runs on where reading ended is "too large"'
        ),
        Option("PAGE_DEPTH", 512, whole, NO, "read.depth", least=32): "how deep they may stand",
        Option("PAGE_CHARS", 1_000_000, whole, NO, "read.chars", least=1000): "characters of text that are read",
        Option("PAGE_LINKS", 2000, whole, NO, "read.links", least=1): "different links of a page that are read",
        Option("SITEMAP_MAX_MB", 50, whole, NO, "read.file_bytes", least=1, unit=1 << 20): (
            "unpacked size of a sitemap that is read"
        ),
        Option("SITEMAP_ENTRIES", 50_000, whole, NO, "read.file_entries", least=1): "entries of it that are read",
    },
    "how much of one answer": {
        Option("DOWNLOAD_TIMEOUT", 50, number, NO, "fetch.seconds", least=0.1): (
            "seconds that one fetch may take, from the connection to the last byte"
        ),
        Option("STALL_SECONDS", 20.0, number, NO, "answer.stall", least=0.1): (
            "once its first byte has come, a fetch ends after so many seconds without one"
        ),
        Option("LEAST_BYTES_PER_SECOND", 100.0, number, NO, "answer.least_rate"): (
            "or with fewer bytes a second over that time"
        ),
        Option("DOWNLOAD_MAXSIZE", 8 << 20, whole, NO, "answer.size", least=1024, shown="8 MiB"): (
            "bytes of a body, as sent and decoded; what is cut is read for links and stored as no article"
        ),
        Option("COMPRESSION_RATIO", 200.0, number, NO, "answer.ratio", least=1): (
            "a body that grows more than so many times when it is decoded (beyond 1 MiB) is refused as a bomb"
        ),
        Option("HEADER_MAX_KB", 64, whole, NO, "head.size", least=1, unit=1024): (
            "headers of an answer; what is beyond is dropped, the page is not"
        ),
        Option("HEADER_MAX_LINES", 256, whole, NO, "head.lines", least=8): "the same, in lines",
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
"""All settings that a user tunes, in the README's order."""
_BY_NAME = {option.name: option for option in OPTIONS}
_SCRAPYS = {name for name in vars(default_settings) if name.isupper()}
_COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES", "SPIDER_MIDDLEWARES")
_NEAR = 0.8
"""Likeness of names from which one is taken for a misspelling of the other."""


def defaults() -> dict[str, Any]:
    """Return the defaults by name of all that is not for the news crawl alone."""
    return {option.name: option.default for option in OPTIONS if option.name not in scrapy_settings.DEFAULTS}


def check_values(settings: BaseSettings) -> None:
    """Check the value of each setting by itself.

    Raises:
        ConfigError: naming the first wrong one, its value and what is allowed.
    """
    _checked(settings)


def value_of(settings: BaseSettings, name: str) -> Any:
    """Return the checked value of one setting.

    Raises:
        ConfigError: naming the setting, its value and what is allowed.
    """
    option = _BY_NAME[name]
    return option.check(settings[name], _called(settings, option))


def feed_names(settings: BaseSettings) -> list[str]:
    """Return the files and URLs that Scrapy's `FEEDS` (`-o`) names."""
    return list(settings.getdict("FEEDS"))


@dataclass(frozen=True, slots=True)
class Config:
    """The checked values of all settings; of what is not told here the name says it.

    Attributes:
        agreed: values in which processes that share the database should agree or which they tell each other.
        delay: pauses between requests to a host that answers well.
        backoff: what is done about hosts that do not.
        connections, window: requests under way, and URLs held in memory, per host.
        hosts, in_flight: hosts held in memory, requests under way.
        tries, redirects: of a URL.
        network_patience: seconds to wait for a network that is down.
        topic: what the crawl looks for, None when that is everything.
        ahead: seconds, `REVISIT_AHEAD`.
        schedule: when URLs are visited again.
        fetch: for the download handler.
        parse_options: for the workers.
        render, rendering: whether pages are rendered, and within which bounds.
    """

    agreed: Mapping[str, Any]
    robots_agent: str
    database_url: str
    shard: int | None
    database_patience: float
    store_html: KeepRaw
    store_warc: str
    keep: KeepDays
    limits: Limits
    period: Period
    traps: bool
    trap_pattern_pages: int
    trap_host_pages: int
    trap_days: float
    soft_404_probe: bool
    preset: str
    priority: Priority
    rank_every_pages: int
    rank_growth: float
    rank_memory: int
    host_patience: float
    topic: Topic | None
    focus: Threshold
    honours_noindex: bool
    harmful: HarmPolicy
    delay: DelayPolicy
    backoff: BackoffPolicy
    connections: int
    same_ip_delay: float
    robots_keep: float
    robots_timeout: float
    robots_bytes: int
    tries: int
    redirects: int
    network_patience: float
    schedule: Schedule
    ahead: float
    fetch: FetchOptions
    extractor: str
    site_memory: bool
    duplicate_method: Method
    duplicates: Policy
    duplicate_memory_bytes: int
    url_rules: float
    render: str
    rendering: RenderOptions
    workers: int
    page_seconds: float
    worker_memory_bytes: int
    parse_options: ParseOptions
    extractor_version: str
    log_json: bool
    metrics_port: int
    health_window: int
    in_flight: int
    window: int
    hosts: int
    lease_seconds: float
    progress_seconds: float

    def __reduce__(self) -> tuple[Any, ...]:
        """Send plain values to other processes: a method is functions, which cannot be."""
        return _sent, ({field.name: getattr(self, field.name) for field in fields(self)} | {"duplicate_method": None},)

    @property
    def robots_policy(self) -> RobotsPolicy:
        """Return how robots.txt files are read of hosts that a rendered page asks."""
        from ..render.requests import RobotsPolicy

        return RobotsPolicy(
            agent=self.robots_agent,
            keep=self.robots_keep,
            timeout=self.robots_timeout,
            size=self.robots_bytes,
            most_delay=self.delay.most_crawl_delay,
        )

    @classmethod
    def of(cls, crawler: Crawler, seeds: Any = None) -> Config:
        """Return the values of a crawler, which are built when they are first asked for.

        Args:
            crawler: Scrapy's.
            seeds: as the spider is given them, while there is no spider yet.

        Raises:
            ConfigError: see `from_settings`.
        """
        if crawler not in _built:
            about = _topics_of(seeds or getattr(crawler.spider, "seeds", None))
            _built[crawler] = cls.from_settings(crawler.settings, about)
        return _built[crawler]

    @classmethod
    def from_settings(cls, settings: BaseSettings, about: Sequence[str] = ()) -> Config:
        """Read and check.

        Args:
            settings: Scrapy's settings.
            about: what the seeds are about: the topic when `TOPIC` and `PROFILE` say nothing.

        Raises:
            ConfigError: naming the setting, its value and what is allowed.
        """
        from pipelines.dedup import method
        from pipelines.document.limits import PageLimits
        from pipelines.extract import extractor
        from pipelines.worker import KeepRaw, ParseOptions

        from ..politeness.delay import BackoffPolicy, DelayPolicy
        from ..rank.priority import FOCUS_SIGNALS, Priority
        from ..render.records import RenderOptions
        from ..response.context import HarmPolicy, Threshold

        given, records = _checked(settings)
        with _about(settings, "REVISIT_MAX", "REVISIT_MIN"):
            if given["REVISIT_MAX"] < given["REVISIT_MIN"]:
                raise ConfigError(
                    f"REVISIT_MAX is {given['REVISIT_MAX']:g}, less than REVISIT_MIN, {given['REVISIT_MIN']:g}"
                )
        with _about(settings, "SINCE", "UNTIL"):
            period = Period(given["SINCE"], given["UNTIL"])
            if period.is_empty(_SOME_TIME):
                raise ConfigError(f"UNTIL is {settings['UNTIL']}, before SINCE, {settings['SINCE']}")
        describe = _describe(settings, given)
        with _about(settings, "TOPIC", "PROFILE"):
            wanted = _topic(given["TOPIC"], given["PROFILE"], about, describe)
        preset = _preset(given, about)
        with _about(settings, "CRAWL_PRESET", "CRAWL_PRIORITY"):
            priority = Priority(preset, given["CRAWL_PRIORITY"])
            if wanted is None and priority.learns(FOCUS_SIGNALS):
                raise ConfigError(
                    f"CRAWL_PRESET {preset!r} and CRAWL_PRIORITY weigh signals of a topic, but there is none; {_TOPICS}"
                )
        with _about(settings, "EXTRACTOR", "EXTRACTOR_PARAMS"):
            extractor(given["EXTRACTOR"], given["EXTRACTOR_PARAMS"])
        duplicates = given["DUPLICATE_METHOD"], given["DUPLICATE_PARAMS"]
        with _about(settings, "DUPLICATE_METHOD", "DUPLICATE_PARAMS"):
            duplicate_method = method(*duplicates)
        with _about(settings, "FOCUS_MIN"):
            if wanted is None and given["FOCUS_MIN"]:
                raise ConfigError(
                    f"FOCUS_MIN is {settings['FOCUS_MIN']!r}, but there is no topic to be near to; {_TOPICS}"
                )
        with _about(settings, "DUPLICATE_SITES"):
            policy = _duplicates(given)
        agreed = {option.name: given[option.name] for option in OPTIONS if option.agree is not NO}
        agreed["CRAWL_PRESET"] = preset
        return cls(
            **records[""],
            agreed=json.loads(json.dumps(agreed, default=str)),  # as another process reads it
            robots_agent=ROBOTS_AGENT,
            keep=KeepDays(**records["keep"]),
            limits=Limits(**records["limits"]),
            period=period,
            preset=preset,
            priority=priority,
            topic=wanted,
            focus=Threshold(given["FOCUS_MIN"], given["FOCUS_BELOW"] == "drop"),
            honours_noindex=given["NOINDEX"] == "honour",
            harmful=HarmPolicy(given["HARMFUL"]),
            delay=DelayPolicy(**records["delay"]),
            backoff=BackoffPolicy(**records["backoff"]),
            schedule=Schedule(**records["schedule"]),
            rendering=RenderOptions(**records["rendering"]),
            fetch=fetch_options(settings),
            store_html=KeepRaw(given["STORE_HTML"]),
            duplicate_method=duplicate_method,
            duplicates=policy,
            parse_options=ParseOptions(
                given["EXTRACTOR"],
                given["EXTRACTOR_PARAMS"],
                *duplicates,
                kinds=frozenset(PageKind[one.upper()] for one in given["STORE_KINDS"]),
                bounds=PageLimits(**records["read"]),
                describe=describe,
            ),
            extractor_version=extraction_version(given["EXTRACTOR"], given["EXTRACTOR_PARAMS"]),
        )


_SOME_TIME = time.time()
_built: WeakKeyDictionary[Crawler, Config] = WeakKeyDictionary()


def _sent(values: dict[str, Any]) -> Config:
    """Make a configuration of the values that were sent."""
    from pipelines.dedup import method

    options = values["parse_options"]
    return Config(**{**values, "duplicate_method": method(options.duplicates, options.duplicate_params)})


def fetch_options(settings: BaseSettings) -> FetchOptions:
    """Return the part that fetching needs, also without a crawl and its topic.

    Raises:
        ConfigError: see `Config.from_settings`.
    """
    from ..fetch.connection import FetchBounds, FetchOptions
    from ..fetch.guard import Guard
    from ..fetch.http_parser import HeadBounds
    from ..fetch.proxies import ProxyOptions
    from ..fetch.tls import Trust

    given, records = _checked(settings)
    bounds = FetchBounds(**records["answer"], head=HeadBounds(**records["head"]))
    with _about(settings, "ALLOW_NETWORKS"):
        guard = Guard(given["ALLOW_NETWORKS"])
    with _about(settings, "TLS_UNVERIFIED_HOSTS"):
        trust = Trust(given["TLS_UNVERIFIED_HOSTS"])
    bind = settings.get("DOWNLOAD_BIND_ADDRESS")
    bind = (bind, 0) if isinstance(bind, str) else bind
    try:
        through = ProxyOptions(given["PROXY"], read_environment(os.environ), resolves=given["PROXY_RESOLVES"])
    except ValueError as error:
        raise ConfigError(str(error)) from None
    return FetchOptions(
        *(guard, trust),
        bounds=bounds,
        bind=bind,
        records=bool(given["STORE_WARC"]),
        proxies=through,
        **records["fetch"],
    )


def _checked(settings: BaseSettings) -> tuple[dict[str, Any], Mapping[str, dict[str, Any]]]:
    """Check all values; returns them by name, and by record and field (`Option.to`)."""
    given = {option.name: value_of(settings, option.name) for option in OPTIONS}
    records: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for option in OPTIONS:
        if option.to != "":
            record, _, field = (option.to or option.name.lower()).rpartition(".")
            value = given[option.name]
            records[record][field] = value if option.unit == 1 else value * option.unit
    return given, records


@contextmanager
def _about(settings: BaseSettings, *concerned: str) -> Iterator[None]:
    """Raise problems as `ConfigError`, with the environment variables at fault."""
    try:
        yield
    except ValueError as error:
        called = [_called(settings, _BY_NAME[name]) for name in concerned]
        variables = ", ".join(name for name in called if name not in concerned)
        raise ConfigError(f"{error}{f' (given by {variables})' if variables else ''}") from None


def _topics_of(seeds: Any) -> list[str]:
    """Return the topics of seeds; none of unreadable ones, which the session refuses."""
    from .seeds import SeedError, read_seeds, topics

    with suppress(SeedError):
        return topics(read_seeds(seeds) if isinstance(seeds, str) else seeds or ())
    return []


def _preset(given: Mapping[str, Any], about: Sequence[str]) -> str:
    """Return the name of the weights in force."""
    return given["CRAWL_PRESET"] or ("focused" if given["TOPIC"] or given["PROFILE"] or about else "news")


def _topic(description: str, path: str, about: Sequence[str], describe: DescribeOptions) -> Topic | None:
    """Return the topic of a crawl, None without one.

    Raises:
        ValueError: a topic without words, of unknown classes, or a profile that cannot be used.
    """
    from pipelines.describe import class_names
    from pipelines.focus import profile
    from pipelines.focus.topic import by_classes, make_topic, named_classes

    description = description or ("" if path else " ".join(about))
    if not description and not path:
        return None
    if classes := named_classes(description):
        if path:
            raise ValueError("TOPIC names classes, and PROFILE a file of words; give either")
        known = class_names(describe)
        if not known:
            raise ValueError("TOPIC names classes, but CLASSES names no model; set CLASSES=shipped, or a file of yours")
        for name in classes:
            if name not in known:
                raise ValueError(f"the model of CLASSES has no class {name!r}; it knows {', '.join(known)}")
        return by_classes(classes)
    return make_topic(description, profile=profile.load(Path(path)) if path else None)


def _describe(settings: BaseSettings, given: Mapping[str, Any]) -> DescribeOptions:
    """Return by what articles are described.

    Raises:
        ConfigError: unknown method or parameter, or a file that cannot be used.
    """
    from pipelines.describe import SHIPPED, DescribeOptions, check

    classes = "" if given["CLASSES"].lower() == "none" else given["CLASSES"]
    options = DescribeOptions(
        given["KEYWORDS"],
        given["KEYWORD_PARAMS"],
        classes if classes in {"", SHIPPED} else str(Path(classes).absolute()),
        given["HARMFUL"] != "off",
        given["WORDS"] and str(Path(given["WORDS"]).absolute()),
        gives_reasons=given["HARMFUL"] != "store",
    )
    with _about(settings, "KEYWORDS", "KEYWORD_PARAMS", "CLASSES", "WORDS"):
        check(options)
    return options


def _duplicates(given: Mapping[str, Any]) -> Policy:
    """Return the policy for duplicates.

    Raises:
        ConfigError: a site's word is wrong.
    """
    from pipelines.dedup.judge import Policy
    from pipelines.urls import site_key

    sites = given["DUPLICATE_SITES"]
    for site, value in sites.items():
        if value not in _POLICIES:
            raise ConfigError(f"DUPLICATE_SITES of {site} is {value!r}; it takes {', '.join(_POLICIES)}")
    return Policy(
        threshold=given["DUPLICATE_THRESHOLD"],
        window=given["DUPLICATE_WINDOW"],
        keep=_POLICIES[given["DUPLICATES"]],
        sites={fingerprint(site_key(site.lower())): _POLICIES[value] for site, value in sites.items()},
    )


def differing(one: Mapping[str, Any], other: Mapping[str, Any], *kinds: Agree) -> list[str]:
    """Return the settings of these kinds in which two runs' `Config.agreed` differ."""
    return [o.name for o in OPTIONS if o.agree in kinds and one.get(o.name) != other.get(o.name)]


def check_names(settings: BaseSettings, custom: Mapping[str, Any] | None = None) -> None:
    """Refuse settings that have no effect on the news crawl, and misspelt ones.

    A name that is like none of ours or Scrapy's is taken for one of code that the user adds; the log says so.
    The same holds for environment variables that begin like ours.

    Args:
        settings: of which those from the command line are checked.
        custom: a spider's `custom_settings`, which are checked, too.

    Raises:
        ConfigError: naming what stands in for the setting, or the one that was probably meant.
    """
    _check_variables()
    added = [path for name in _COMPONENTS for path in map(str, settings.getdict(name))]
    typed = [name for name in settings if _is_given(settings, name)]
    for name in (*typed, *(custom or ())):
        if name in _BY_NAME:
            continue
        if instead := scrapy_settings.refusal(name, added):
            raise ConfigError(f"{name} has no effect on this crawl: {instead}")
        if name in _SCRAPYS:
            continue
        if near := difflib.get_close_matches(name.upper(), sorted(_SCRAPYS | set(_BY_NAME)), n=1, cutoff=_NEAR):
            raise ConfigError(
                f"there is no setting {name}; did you mean {near[0]}? (the README lists all; write one of your own "
                "into crawler/settings.py)"
            )
        if name in typed:
            logger.warning("%s is a setting of neither this project nor Scrapy, but left to code of your own", name)


def _check_variables() -> None:
    """Refuse misspelt environment variables; warn of others like ours.

    Raises:
        ConfigError: naming the one that was probably meant.
    """
    ours = [variable for option in OPTIONS for variable in option.variables]
    for name in sorted(os.environ):
        if not name.startswith(_PREFIX) or name in ours or not os.environ[name]:
            continue
        if near := difflib.get_close_matches(name, ours, n=1, cutoff=_NEAR):
            raise ConfigError(
                f"there is no setting for the environment variable {name}; did you mean {near[0]}? (unset it, if it is "
                "another program's)"
            )
        nearest = difflib.get_close_matches(name, ours, n=1, cutoff=0)[0]
        logger.warning("the environment variable %s is of no setting, and ignored; the nearest is %s", name, nearest)


def without_effect(settings: BaseSettings) -> list[str]:
    """Say which settings of `crawler/settings.py` mean nothing to the news crawl."""
    project = SETTINGS_PRIORITIES["project"]
    names = sorted(name for name in settings if settings.getpriority(name) == project and name not in _BY_NAME)
    return [f"{name} has no effect on this crawl: {said}" for name in names if (said := scrapy_settings.refusal(name))]


def check_components(settings: BaseSettings) -> None:
    """Import the classes that Scrapy is to build, lest it end in a traceback.

    Raises:
        ConfigError: naming the setting and the class that cannot be had.
    """
    named = [(name, path, place) for name in _COMPONENTS for path, place in settings.getdict(name).items()]
    named += [("FEED_EXPORTERS", path, 0) for path in settings.getdict("FEED_EXPORTERS").values()]
    for name, path, place in named:
        if path in scrapy_settings.NEEDED:
            raise ConfigError(f"{name} names {path!r}, a part of the crawl, which keeps its place; do not name it")
        if place is None:
            continue
        try:
            load_object(path)
        except Exception as error:
            raise ConfigError(f"{name} names {path!r}, which cannot be imported ({error})") from error
        if isinstance(place, bool) or not isinstance(place, int | float):
            raise ConfigError(f"{name} gives {path!r} the place {place!r}; it takes a number, or null to leave it out")
        if name == "ITEM_PIPELINES" and place < 0:
            raise ConfigError(f"{name} gives {path!r} the place {place}, before the crawl's own; it takes 0 to 1000")


def name_contact(settings: BaseSettings) -> None:
    """Complete the User-Agent with the contact, unless the user gave one."""
    contact = value_of(settings, "CONTACT")
    if contact and not _is_given(settings, "USER_AGENT"):
        settings.set("USER_AGENT", f"{settings['USER_AGENT']} (+{contact})", priority="spider")


def set_reactor(settings: BaseSettings) -> None:
    """Install Twisted's reactor as Scrapy will, before anything imports another one."""
    if settings.getbool("TWISTED_REACTOR_ENABLED") and not settings.getbool("FORCE_CRAWLER_PROCESS"):
        install_reactor(settings["TWISTED_REACTOR"], settings["ASYNCIO_EVENT_LOOP"])


def open_to(settings: BaseSettings, address: str) -> None:
    """Let a crawl reach a server of ours, without pauses unless the user gave one."""
    settings.set("ALLOW_NETWORKS", [*value_of(settings, "ALLOW_NETWORKS"), address], "cmdline")
    if not _is_given(settings, "HOST_DELAY"):
        settings.set("HOST_DELAY", 0, "cmdline")


def _is_given(settings: BaseSettings, name: str) -> bool:
    """Tell whether a setting comes from the command line or the environment."""
    return (settings.getpriority(name) or 0) >= _ENVIRONMENT


# ---- Where values come from.


def apply_environment(settings: BaseSettings) -> None:
    """Give settings the values of environment variables that are not empty."""
    for option in OPTIONS:
        if (variable := _variable(option)) is not None:
            settings.set(option.name, os.environ[variable], _ENVIRONMENT)


def _variable(option: Option) -> str | None:
    """Return the environment variable that gives a setting."""
    return next((name for name in option.variables if os.environ.get(name)), None)


def _called(settings: BaseSettings, option: Option) -> str:
    """Return a setting's name for messages: the variable, if that gave the value."""
    by_variable = settings.getpriority(option.name) == _ENVIRONMENT
    return (_variable(option) if by_variable else None) or option.name


class Origin(Enum):
    """Where the value of a setting comes from; later ones win over earlier ones."""

    DEFAULT = "default"
    ADDON = "add-on"
    PROJECT = "project"
    SPIDER = "spider"
    SEEDS = "seeds"
    ENVIRONMENT = "environment"
    COMMAND_LINE = "command line"


@dataclass(frozen=True, slots=True)
class InForce:
    """The value of a setting, and where it comes from.

    Attributes:
        name: of the setting.
        value, default: as JSON has them; passwords are `***`.
        source: where the value comes from.
        where: the variable, file or setting that gives it; empty for defaults.
        group, help: the README's words.
    """

    name: str
    value: Any
    default: Any
    source: Origin
    where: str
    group: str
    help: str


def in_force(settings: BaseSettings, about: Sequence[str] = ()) -> list[InForce]:
    """Return all settings as a news crawl would have them, in the README's order.

    Args:
        settings: the project's, with what the command line and the environment give.
        about: what the seeds are about.

    Raises:
        ConfigError: a value is wrong.
    """
    settings = settings.copy()
    scrapy_settings.apply(settings)
    apply_environment(settings)
    name_contact(settings)
    given, _ = _checked(settings)
    sources = {option.name: _source(settings, option, given[option.name]) for option in OPTIONS}
    if sources["USER_AGENT"][0] is Origin.SPIDER and given["CONTACT"]:
        sources["USER_AGENT"] = sources["CONTACT"][0], "CONTACT"
    if not given["CRAWL_PRESET"]:
        given["CRAWL_PRESET"] = _preset(given, about)
    if about and not (given["TOPIC"] or given["PROFILE"]):
        given["TOPIC"], sources["TOPIC"] = " ".join(about), (Origin.SEEDS, "topic=")
    return [
        InForce(
            option.name,
            _plain(option, given[option.name]),
            _plain(option, option.check(option.default)),
            *sources[option.name],
            option.group,
            option.help,
        )
        for option in OPTIONS
    ]


def as_given(value: Any) -> str:
    """Return a value as -s takes it."""
    if value is None:
        return "none"
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:.12g}" if isinstance(value, float) else f"{value}"


def _source(settings: BaseSettings, option: Option, value: Any) -> tuple[Origin, str]:
    """Return where a value comes from, and the name of that."""
    priority = settings.getpriority(option.name) or 0
    if priority >= SETTINGS_PRIORITIES["cmdline"]:
        return Origin.COMMAND_LINE, f"-s {option.name}"
    if priority >= _ENVIRONMENT:
        return Origin.ENVIRONMENT, _called(settings, option)
    if value == option.check(option.default):
        return Origin.DEFAULT, ""
    if priority >= SETTINGS_PRIORITIES["spider"]:
        return Origin.SPIDER, ""
    return (Origin.PROJECT, "crawler/settings.py") if priority >= SETTINGS_PRIORITIES["project"] else (Origin.ADDON, "")


def _plain(option: Option, value: Any) -> Any:
    """Return a value as JSON has it, without passwords."""
    return option.secret(value) if option.secret else json.loads(json.dumps(value, default=str))
