"""`scrapy runspider FILE`: run the spider of a file.

One of the news has the checks and exit codes of `scrapy crawl`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands.runspider import Command as ScrapyRunSpider
from scrapy.commands.runspider import _import_file
from scrapy.utils.spider import iter_spider_classes

from ..options.scrapy_settings import set_reactor
from ..options.values import ConfigError
from . import crawl

if TYPE_CHECKING:
    import argparse
    from typing import Any, ClassVar

    from scrapy import Spider


class Command(crawl.Command):
    usage = "FILE [-a NAME=VALUE ...] [-s SETTING=VALUE ...] [-o FILE]"
    summary = "Run a spider of a file"
    description = "Run the spider in a Python file. One of the news is run as by 'scrapy crawl'."
    default_settings: ClassVar[dict[str, Any]] = ScrapyRunSpider.default_settings
    examples = (("scrapy runspider myspider.py -o items.jsonl", "Run a spider that is in no project"),)

    def find(self, args: list[str]) -> type[Spider]:
        """Return the spider of the file; raises `ConfigError`."""
        if not args:
            raise ConfigError("name the file: scrapy runspider myspider.py")
        if not Path(args[0]).is_file():
            raise ConfigError(f"there is no file {args[0]}")
        set_reactor(self.settings)  # files import it
        try:
            spiders = list(iter_spider_classes(_import_file(args[0])))
        except (ImportError, ValueError) as problem:
            raise ConfigError(f"{args[0]} cannot be imported ({problem})") from None
        if not spiders:
            raise ConfigError(f"{args[0]} has no spider")
        return spiders[-1]

    def run_other(self, args: list[str], opts: argparse.Namespace) -> None:
        ScrapyRunSpider.run(self, args, opts)  # type: ignore[arg-type]
