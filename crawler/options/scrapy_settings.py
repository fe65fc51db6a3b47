"""Settings of Scrapy that make a spider the news crawl, and what each does there.

Only spiders of the news crawl get them: any other spider of the project runs with Scrapy's own scheduler, download
handlers and middlewares.

    apply       gives them to a spider
    refusal     says what stands in for a setting that has no effect on the crawl
    HONOURED, REFUSED, INERT    all settings of Scrapy but those in `crawler.options.table`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from scrapy.settings import default_settings
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import install_reactor

from ..fetch.guarded import GUARDED
from .values import ConfigError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

FIXED: dict[str, Any] = {
    **GUARDED,
    "SCHEDULER": "crawler.frontier.scheduler.FrontierScheduler",
    "ITEM_PIPELINES_BASE": {  # before those of users, who get what is stored and cannot keep a page from that
        "crawler.run.wiring.ConfiguredExtractStage": -200,
        "pipelines.stages.StoreStage": -100,
        "pipelines.stages.LastStage": 10_000,
    },
    "EXTENSIONS_BASE": {
        **GUARDED["EXTENSIONS_BASE"],
        "crawler.options.config.CrawlConfig": 0,
        "pipelines.stages.CrawlAccess": 0,
        "scrapy.extensions.closespider.CloseSpider": 0,
        "crawler.run.exporters.NewsFeeds": 0,
        "scrapy.extensions.memdebug.MemoryDebugger": 0,
        "scrapy.extensions.memusage.MemoryUsage": 0,
        "crawler.frontier.progress.Progress": 500,
    },
    "FEED_EXPORTERS_BASE": default_settings.FEED_EXPORTERS_BASE | {"csv": "crawler.run.exporters.CsvExporter"},
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1000,  # the host clock is the frontier's
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_SLOTS": {},
    "CONCURRENT_ITEMS": 1,  # an answer gives one item; Scrapy makes this many tasks for each
    "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 512 << 20,  # the frontier bounds what is in flight
}
"""Parts of the crawl; a user adds to them (`ITEM_PIPELINES`, ...) but does not replace them."""

COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES", "SPIDER_MIDDLEWARES")

NEEDED = frozenset(
    {
        *GUARDED["EXTENSIONS_BASE"],
        "crawler.options.config.CrawlConfig",
        "pipelines.stages.CrawlAccess",
        *FIXED["ITEM_PIPELINES_BASE"],
    }
)

DEFAULTS: dict[str, Any] = {
    "DOWNLOADER": "crawler.fetch.downloader.PageDownloader",
    "LOG_FORMATTER": "crawler.frontier.progress.QuietFormatter",
    "LOG_LEVEL": "WARNING",
    "LOG_FORMAT": "%(asctime)s %(levelname)s: %(message)s",
    "STATS_DUMP": False,
    "WARN_ON_GENERATOR_RETURN_VALUE": False,  # looked for on every page; the spider has no generators
    "DEFAULT_REQUEST_HEADERS": {
        "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
        "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5,*;q=0.3",
    },
}
"""Defaults that a user may change, also in `crawler/settings.py`."""

# ------------------------------------------------------------ what each setting of Scrapy does in the news crawl

HONOURED = """
    ADDONS ASYNCIO_EVENT_LOOP AWS_* BOT_NAME CLOSESPIDER_* DEFAULT_DROPITEM_LOG_LEVEL DEFAULT_REQUEST_HEADERS
    DOWNLOADER DOWNLOADER_MIDDLEWARES DOWNLOAD_BIND_ADDRESS DOWNLOAD_HANDLERS EXTENSIONS FEEDS FEED_EXPORTERS
    FEED_EXPORT_* FEED_FORMAT FEED_STORAGES FEED_STORAGE_* FEED_STORE_EMPTY FEED_TEMPDIR FEED_URI* FILES_*
    FORCE_CRAWLER_PROCESS GCS_* IMAGES_* ITEM_PIPELINES LOG_* MAIL_* MEMDEBUG_* MEMUSAGE_*
    PERIODIC_LOG_* REACTOR_THREADPOOL_MAXSIZE SPIDER_LOADER_* SPIDER_MIDDLEWARES SPIDER_MODULES STATSMAILER_* STATS_*
    WARN_ON_GENERATOR_RETURN_VALUE
"""

INERT = {
    "COMMANDS_MODULE": "Scrapy reads it before it reads -s",
    "DEFAULT_ITEM_CLASS EDITOR NEWSPIDER_MODULE SPIDER_CONTRACTS TEMPLATES_DIR": "other commands of Scrapy read it",
    "FTP_*": "for the handler of ftp, which DOWNLOAD_HANDLERS can add",
}
"""Without effect on any crawl, with or without news: they pass."""

REFUSED = {
    "AUTOTHROTTLE_*": "HOST_DELAY_FACTOR slows down for hosts that are slow",
    "COMPRESSION_ENABLED": "the download handler decodes bodies, within DOWNLOAD_MAXSIZE",
    "CONCURRENT_ITEMS SCRAPER_SLOT_MAX_ACTIVE_SIZE": "CONCURRENT_REQUESTS bounds the pages under way",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "HOST_CONNECTIONS bounds the requests under way per host",
    "CONCURRENT_REQUESTS_PER_IP": "SAME_IP_DELAY leaves one request under way per IP address",
    "COOKIES_*": "SITE_COOKIES says whether cookies are kept",
    "CRAWLSPIDER_FOLLOW_LINKS": "stay= and depth= in the seeds file say which links are followed",
    "DEPTH_LIMIT": "MAX_DEPTH limits the links from a seed",
    "DEPTH_PRIORITY DEPTH_STATS_VERBOSE": "CRAWL_PRESET and CRAWL_PRIORITY set the order",
    "DNSCACHE_* DNS_* TWISTED_DNS_RESOLVER": "the system resolves names, which are kept for ten minutes",
    "DOWNLOADER_CLIENT* DOWNLOAD_TLS_* DOWNLOAD_VERIFY_CERTIFICATES": (
        "certificates are verified, but those of TLS_UNVERIFIED_HOSTS"
    ),
    "DOWNLOADER_STATS LOGSTATS_INTERVAL": "the crawl counts by itself, PROGRESS_SECONDS says how often it tells",
    "DOWNLOAD_DELAY* DOWNLOAD_SLOTS RANDOMIZE_DOWNLOAD_DELAY": "HOST_DELAY sets the pause between requests to a host",
    "DOWNLOAD_FAIL_ON_DATALOSS": "what is cut is read for links and stored as no article, see DOWNLOAD_MAXSIZE",
    "DOWNLOAD_WARNSIZE": "DOWNLOAD_MAXSIZE bounds bodies",
    "DUPEFILTER_* REQUEST_FINGERPRINTER_CLASS": "URL_RULES says which URLs are the same",
    "HTTP2_* HTTPX_*": "HTTP/1.1 is spoken",
    "HTTPAUTH_*": "no password is sent, if not by a middleware that DOWNLOADER_MIDDLEWARES names",
    "HTTPCACHE_*": "STORE_HTML keeps pages in the database",
    "HTTPERROR_*": "every status becomes a state of its URL, see `scrapy status`",
    "HTTPPROXY_*": "PROXY says through which proxies hosts are asked",
    "ITEM_PROCESSOR": "ITEM_PIPELINES adds what works on articles",
    "JOBDIR SCHEDULER SCHEDULER_*": "the queue is in the database that DATABASE_URL names",
    "METAREFRESH_* REDIRECT_*": "eight redirects in a row are followed",
    "REFERER_* REFERRER_*": "no Referer is sent",
    "REMOTE_CONTROL_* TELNETCONSOLE_*": "its extension is loaded when EXTENSIONS names it",
    "RETRY_*": "FETCH_TRIES says how often a URL is tried",
    "ROBOTSTXT_*": "robots.txt is always obeyed, for newscrawler",
    "TWISTED_REACTOR*": "the crawl needs that of asyncio",
    "URLLENGTH_LIMIT": "URLs of more than 2000 characters are skipped",
    "*_BASE": "the setting without _BASE adds to what is there",
}
"""Without effect on the news crawl, where something else has it; or what it needs is fixed."""

READERS = {
    "COMPRESSION_ENABLED": "HttpCompressionMiddleware",
    "COOKIES_*": "CookiesMiddleware",
    "DOWNLOADER_STATS": "DownloaderStats",
    "HTTPAUTH_*": "HttpAuthMiddleware",
    "HTTPCACHE_*": "HttpCacheMiddleware",
    "LOGSTATS_INTERVAL": "LogStats",
    "REFERER_* REFERRER_*": "RefererMiddleware",
    "REMOTE_CONTROL_*": "RemoteControl",
    "TELNETCONSOLE_*": "TelnetConsole",
}
"""Components of Scrapy that a user may add by name: their settings are honoured then."""


def apply(settings: BaseSettings) -> None:
    """Make a spider's settings those of the news crawl, in place.

    `-s` and the spider's own `custom_settings` win; over `DEFAULTS`, the project's settings do, too.
    """
    settings.setdict(FIXED, "spider")
    settings.setdict(DEFAULTS, "addon")


def apply_log(settings: BaseSettings) -> None:
    """Set what Scrapy needs for its log before a spider has settings."""
    settings.setdict({name: value for name, value in DEFAULTS.items() if name.startswith("LOG_")}, "addon")


def check_components(settings: BaseSettings) -> None:
    """Import the classes that Scrapy is to build; raises `ConfigError`, naming one."""
    named = [(name, path, place) for name in COMPONENTS for path, place in settings.getdict(name).items()]
    named += [("FEED_EXPORTERS", path, 0) for path in settings.getdict("FEED_EXPORTERS").values()]
    for name, path, place in named:
        if path in NEEDED:
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


def set_reactor(settings: BaseSettings) -> None:
    """Install Twisted's reactor as Scrapy will, before anything imports another one."""
    if settings.getbool("TWISTED_REACTOR_ENABLED") and not settings.getbool("FORCE_CRAWLER_PROCESS"):
        install_reactor(settings["TWISTED_REACTOR"], settings["ASYNCIO_EVENT_LOOP"])


def refusal(name: str, components: Iterable[str] = ()) -> str | None:
    """Return what stands in for a setting without effect; None for all others.

    `components` are the import paths of what the user adds to the crawl.
    """
    reader = _find(name, READERS)
    if reader is not None and any(path.rpartition(".")[2] == reader for path in components):
        return None
    return _find(name, REFUSED)


def _find(name: str, table: Mapping[str, str]) -> str | None:
    return next((text for names, text in table.items() if any(fnmatchcase(name, one) for one in names.split())), None)
