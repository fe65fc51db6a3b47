"""Scrapy's exporters, where their files and the readers of these need care."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.exceptions import NotConfigured
from scrapy.exporters import CsvItemExporter
from scrapy.extensions.feedexport import FeedExporter, FeedSlot, FileFeedStorage, apply_uri_params

from pipelines.export.cells import harmless
from pipelines.stages import CrawlAccess

from ..options.values import ConfigError
from .exit_codes import EXIT_DATABASE

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from db.engine.database import Database

    from ..options.config import Config

from db.records.article import COLUMNS, JOINED_BY, ArticleItem

_WHOLE = frozenset({"json", "xml"})
"""Formats of one document a file: what is added to it makes it unreadable."""
EXPORT = "scrapy export articles --output articles.csv"


class CsvExporter(CsvItemExporter):
    """CSV for spreadsheets, with the columns of `v_articles`, and the URLs of images.

    HTML, which does not go into a cell, is left out unless `FEED_EXPORT_FIELDS` names it. Other formats have all fields
    and stay as they are: nobody runs them. A file that begins with the same header gets no second one.
    """

    def __init__(self, file: Any, join_multivalued: str = JOINED_BY, **options: Any) -> None:
        super().__init__(file, join_multivalued=join_multivalued, **options)
        self._first_row = _first_row(getattr(file, "name", None), self.encoding)

    def export_item(self, item: Any) -> None:
        if not self.fields_to_export and isinstance(item, ArticleItem):
            self.fields_to_export = (*COLUMNS, "images")
        named = self.fields_to_export
        if named and self._first_row == list(named.values() if isinstance(named, Mapping) else named):
            self.include_headers_line = False
        super().export_item(item)

    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        """Join lists: names as in the database, images by their URLs."""
        if name == "images" and isinstance(value, list):
            return " ".join(str(one["url"]) for one in value)
        return super().serialize_field(field, name, value)

    def _build_row(self, values: Iterable[Any]) -> Iterator[Any]:
        yield from map(harmless, super()._build_row(values))


class NewsFeeds(FeedExporter):
    """Exports of `-o` and `FEEDS`, through to the disk; a failure ends the crawl."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._failed = False

    def check(self, spider: type[Spider], arguments: Mapping[str, Any]) -> None:
        """Open the files that will be written; raises `ConfigError` if one cannot be."""
        stand_in: Any = SimpleNamespace(**{"name": spider.name, **arguments})  # no spider is built yet
        for template, options in self.feeds.items():
            try:
                uri = apply_uri_params(template, self._get_uri_params(stand_in, options["uri_params"]))
                storage = self._get_storage(uri, options)
                if isinstance(storage, FileFeedStorage):
                    path = Path(storage.path)
                    _try_to_write(path)
                    if options["format"] in _WHOLE and storage.write_mode == "ab" and _holds_something(path):
                        raise ConfigError(
                            f"-o {template} exists, and nothing can be added to a file of {options['format']}: name a "
                            ".jsonl or .csv file, which the same command goes on with, or write it anew with -O"
                        )
            except KeyError as error:
                raise ConfigError(f"-o {template}: there is nothing of the name {error} to put in") from None
            except OSError as error:
                raise ConfigError(f"-o {template} cannot be written ({error.strerror}); name another file") from None

    def _storage_supported(self, uri: str, feed_options: dict[str, Any]) -> bool:
        """Raise what is missing to write to a URI, instead of logging it."""
        if urlsplit(uri).scheme not in self.storages and not PureWindowsPath(uri).drive:
            raise NotConfigured(f"-o {uri}: nothing is written to such a URL; name a file")
        try:
            self._get_storage(uri, feed_options)
        except NotConfigured as lack:
            raise NotConfigured(f"-o {uri}: {lack}") from None
        return True

    def _exporter_supported(self, format_: str) -> bool:
        if format_ not in self.exporters:
            raise NotConfigured(f"FEEDS names the format {format_!r}; there is {', '.join(sorted(self.exporters))}")
        return True

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Write an article through to the disk, so that the file holds it whole."""
        if self._failed:
            return
        try:
            super().item_scraped(item, spider)
            for slot in self.slots:
                if slot.file is not None:
                    slot.file.flush()
        except OSError as error:
            self._fail(", ".join(self.feeds), error)

    async def _close_slot(self, slot: FeedSlot, spider: Spider) -> None:
        """End a file; storages that send it somewhere do so now."""
        kind = f"feedexport/failed_count/{type(slot.storage).__name__}"
        failed = self.crawler.stats.get_value(kind, 0)
        try:
            slot.finish_exporting()
            if slot.file is not None:
                slot.file.flush()
            if not self._failed:
                await super()._close_slot(slot, spider)
        except OSError as error:
            self._fail(slot.uri, error)
        if self._failed and slot.file is not None and isinstance(slot.storage, FileFeedStorage):
            with suppress(OSError):
                slot.file.close()
        if self.crawler.stats.get_value(kind, 0) > failed:
            self._fail(slot.uri, OSError(0, "see above"))

    def _fail(self, uri: str, error: OSError) -> None:
        if not self._failed:
            self._failed = True
            problem = f"the export {uri} cannot be written ({error.strerror or error})"
            CrawlAccess.of(self.crawler).services.export_failed(problem)
            self.crawler.stats.set_value("crawl/exit_code", EXIT_DATABASE)


def check_exports(crawler: Crawler, arguments: Mapping[str, Any], config: Config) -> None:
    """Raise `ConfigError` when what is crawled could not be written where it is to go."""
    try:
        feeds = NewsFeeds(crawler)
    except NotConfigured as lack:
        if str(lack):  # else there is nothing to export
            raise ConfigError(str(lack)) from None
        return
    if config.describes_later:
        raise ConfigError(
            "-o and FEEDS get articles as they are stored, which with DESCRIBE=later is before they are described; "
            f"leave them out and run '{EXPORT}' after the crawl, or set DESCRIBE=now"
        )
    feeds.check(crawler.spidercls, arguments)


def _first_row(name: object, encoding: str | None) -> list[str]:
    """Return the first row of a CSV file; empty for no file or another encoding."""
    if not isinstance(name, str | Path) or not Path(name).is_file():
        return []
    with suppress(OSError, ValueError, csv.Error), open(name, encoding=encoding, newline="") as file:
        return next(csv.reader(file), [])
    return []


def _holds_something(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _try_to_write(path: Path) -> None:
    """Open a file to write to it; leaves it as it was."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        return  # a device or a pipe: to open it would begin something
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.open("ab").close()
    if is_new:
        path.unlink()


def command_on(database: Database, line: str) -> str:
    """Return a command line of ours for a database; it has no password there."""
    if not database.is_sqlite:
        return f"{line}, with the same DATABASE_URL"
    return line if database.name == "news.db" else f"{line} -s DATABASE_URL={shlex.quote(database.name)}"


def export_command(database: Database) -> str:
    return command_on(database, EXPORT)
