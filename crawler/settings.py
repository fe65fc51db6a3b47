"""Settings with working defaults. The README explains those a user tunes; `-s NAME=VALUE` overrides any of them.

The second half is how this project uses Scrapy: its own scheduler is the frontier, every redirect, failure and retry
becomes a state in the database, and nothing of Scrapy's spider middlewares is needed.
"""

import os

BOT_NAME = "newscrawler"
SPIDER_MODULES = ["crawler.spiders"]
COMMANDS_MODULE = "crawler.commands"

# ---- where the result goes
DATABASE_URL = os.environ.get("DATABASE_URL", "sqlite:///news.db")
DATABASE_PATIENCE = 300.0
STORE_HTML = False

# ---- how far
MAX_PAGES = None
MAX_PAGES_PER_HOST = None
MAX_DEPTH = None
TRAPS = True
TRAP_PATTERN_PAGES = 30
TRAP_HOST_PAGES = 200
TRAP_DAYS = 7.0
SOFT_404_PROBE = True

# ---- in which order
CRAWL_PRESET = None
CRAWL_PRIORITY: dict[str, float] = {}
RANK_EVERY_PAGES = 5000
RANK_GROWTH = 0.04
HOST_PATIENCE = 60.0

# ---- what for
TOPIC = ""
PROFILE = ""
FOCUS_MIN = 0.0
FOCUS_BELOW = "drop"

# ---- how politely
CONTACT = os.environ.get("CRAWL_CONTACT", "")
HOST_DELAY = 1.0
HOST_DELAY_FACTOR = 2.0
HOST_DELAY_MAX = 30.0
HOST_CONNECTIONS = 1
SAME_IP_DELAY = 0.0
CRAWL_DELAY_CAP = 30.0
ROBOTS_KEEP = 86_400.0
ROBOTS_TIMEOUT = 30.0
ROBOTS_MAX_KB = 1024
FETCH_TRIES = 3
HOST_FAILURES = 10
HOST_REST = 5.0
HOST_GIVE_UP = 6
HOST_WAIT = 60.0
REDIRECT_HOPS = 8
ALLOW_NETWORKS: list[str] = []
TLS_UNVERIFIED_HOSTS: list[str] = []
SITE_COOKIES = True

# ---- when again
REVISIT_WORTH = 3600.0
REVISIT_MIN = 300.0
REVISIT_MAX = 604800.0
REVISIT_ARTICLES = 7.0
REVISIT_AHEAD = 86400.0

# ---- what a page becomes
EXTRACTOR = "combined"
EXTRACTOR_PARAMS: dict[str, object] = {}
SITE_MEMORY = True
DUPLICATE_METHOD = "combined"
DUPLICATE_PARAMS: dict[str, object] = {}
DUPLICATE_THRESHOLD = 0.8
DUPLICATE_WINDOW = None
DUPLICATES = "link"
DUPLICATE_SITES: dict[str, str] = {}
URL_RULES = 0.9
WORKERS = os.cpu_count() or 2
PAGE_SECONDS = 20.0
WORKER_MEMORY_MB = 300
PAGE_NODES = 80_000
PAGE_DEPTH = 512
PAGE_CHARS = 1_000_000
PAGE_LINKS = 2000
SITEMAP_MAX_MB = 50
SITEMAP_ENTRIES = 50_000

# ---- how much of one answer
DOWNLOAD_TIMEOUT = 60
STALL_SECONDS = 20.0
LEAST_BYTES_PER_SECOND = 100.0
COMPRESSION_RATIO = 200.0
HEADER_MAX_KB = 64
HEADER_MAX_LINES = 256

# ---- when something is wrong
HEALTH_WINDOW = 40

# ---- how much at once
CONCURRENT_REQUESTS = 64
HOST_WINDOW = 8
MAX_HOSTS = 2000
LEASE_SECONDS = 60.0
PROGRESS_SECONDS = 10.0

# ---- Scrapy
ROBOTS_AGENT = BOT_NAME
USER_AGENT = f"{BOT_NAME}/0.1"  # the contact is added by the spider
DEFAULT_REQUEST_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
    "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5,*;q=0.3",
}
SCHEDULER = "crawler.frontier.scheduler.FrontierScheduler"
TWISTED_DNS_RESOLVER = "crawler.fetch.dns.GuardedResolver"
DOWNLOAD_HANDLERS = {
    "http": "crawler.fetch.handler.GuardedHandler",
    "https": "crawler.fetch.handler.GuardedHandler",
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
}
ITEM_PIPELINES = {"pipelines.stages.ExtractStage": 100, "pipelines.stages.StoreStage": 900}
EXTENSIONS = {
    "crawler.fetch.handler.Network": 0,
    "pipelines.stages.CrawlAccess": 0,
    "crawler.frontier.progress.Progress": 500,
    "scrapy.extensions.corestats.CoreStats": None,
    "scrapy.extensions.logstats.LogStats": None,
    "scrapy.extensions.logcount.LogCount": None,
    "scrapy.extensions.telnet.TelnetConsole": None,
    "scrapy.extensions.remote_control.RemoteControl": None,
}
LOG_FORMATTER = "crawler.frontier.progress.QuietFormatter"
LOG_LEVEL = "WARNING"
LOG_FORMAT = "%(asctime)s %(levelname)s: %(message)s"
STATS_DUMP = False
FEED_EXPORTERS = {"csv": "crawler.run.exporters.CsvExporter"}
FEED_EXPORT_ENCODING = "utf-8"
TELNETCONSOLE_ENABLED = False

ROBOTSTXT_OBEY = False  # the frontier does, see crawler.politeness.delay
REDIRECT_ENABLED = False
METAREFRESH_ENABLED = False
RETRY_ENABLED = False
COOKIES_ENABLED = False  # the download handler keeps them, see crawler.cookies
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
