"""Settings of all spiders of the project.

The defaults come from the table in `crawler.options.table`. What makes a spider the news crawl (its scheduler,
download handlers, stages) is given to that spider alone, by `crawler.options.scrapy_settings`.
"""

from .options.table import ROBOTS_AGENT, defaults

globals().update(defaults())

BOT_NAME = ROBOTS_AGENT
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
COMMANDS_MODULE = "crawler.commands"
FEED_EXPORT_ENCODING = "utf-8"
