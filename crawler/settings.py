"""Tell Scrapy how this project uses it, and the defaults of the table of settings.

The table stands in `crawler.run.config`. The project's own scheduler is the frontier, every redirect, failure and retry
becomes a state in the database, and nothing of Scrapy's spider middlewares is needed.
"""

from .run.config import ROBOTS_AGENT, defaults

globals().update(defaults())

BOT_NAME = ROBOTS_AGENT
SPIDER_MODULES = ["crawler.spiders"]
COMMANDS_MODULE = "crawler.commands"
DEFAULT_REQUEST_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
    "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5,*;q=0.3",
}
SCHEDULER = "crawler.frontier.scheduler.FrontierScheduler"
DOWNLOAD_HANDLERS = {
    "http": "crawler.fetch.handler.GuardedHandler",
    "https": "crawler.fetch.handler.GuardedHandler",
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
}
ITEM_PIPELINES = {"crawler.run.wiring.ConfiguredExtractStage": 100, "pipelines.stages.StoreStage": 900}
EXTENSIONS = {
    "crawler.run.wiring.ConfiguredNetwork": 0,
    "pipelines.stages.CrawlAccess": 0,
    "crawler.frontier.progress.Progress": 500,
    "scrapy.extensions.corestats.CoreStats": None,
    "scrapy.extensions.logstats.LogStats": None,
    "scrapy.extensions.logcount.LogCount": None,
    "scrapy.extensions.telnet.TelnetConsole": None,
    "scrapy.extensions.remote_control.RemoteControl": None,
}
LOG_FORMATTER = "crawler.frontier.progress.QuietFormatter"
LOG_FORMAT = "%(asctime)s %(levelname)s: %(message)s"
STATS_DUMP = False
FEED_EXPORTERS = {"csv": "crawler.run.exporters.CsvExporter"}
FEED_EXPORT_ENCODING = "utf-8"
TELNETCONSOLE_ENABLED = False

ROBOTSTXT_OBEY = False  # the frontier does, see crawler.politeness.delay
REDIRECT_ENABLED = False
METAREFRESH_ENABLED = False
RETRY_ENABLED = False
COOKIES_ENABLED = False  # the download handler keeps them, see crawler.fetch.cookies
COMPRESSION_ENABLED = False  # the download handler decodes, see crawler.decoding
HTTPPROXY_ENABLED = False
REFERER_ENABLED = False
DOWNLOADER_STATS = False
DOWNLOAD_DELAY = 0
DOWNLOAD_MAXSIZE = 8 * 1024 * 1024
DOWNLOAD_WARNSIZE = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 1000  # the host clock is the frontier's
CONCURRENT_ITEMS = 1  # an answer gives one item; Scrapy makes this many tasks for each
SCRAPER_SLOT_MAX_ACTIVE_SIZE = 512 * 1024 * 1024  # the frontier bounds what is in flight
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,  # brings an HTTP client of its own into memory
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
}
SPIDER_MIDDLEWARES_BASE: dict[str, int] = {}
WARN_ON_GENERATOR_RETURN_VALUE = False  # looked for on every page; the spider has no generators
