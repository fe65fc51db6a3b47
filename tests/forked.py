"""Start processes that have imported everything already: a command starts in milliseconds instead of seconds.

They are forked from a server of the tests' own. That of `multiprocessing`, of which a process has one, imports what the
first caller asked for, and a test of worker processes asks for less.
"""

from __future__ import annotations

import multiprocessing
import pkgutil
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from unittest.mock import patch

from scrapy import commands as scrapy_commands

from crawler import commands as crawler_commands

_COMMANDS = (
    f"{package.__name__}.{module.name}"
    for package in (scrapy_commands, crawler_commands)
    for module in pkgutil.iter_modules(package.__path__)
)
_OF_SCRAPY = (
    "core.downloader.handlers.http11",
    "downloadermiddlewares.cookies",
    "downloadermiddlewares.defaultheaders",
    "downloadermiddlewares.downloadtimeout",
    "downloadermiddlewares.httpcache",
    "downloadermiddlewares.redirect",
    "downloadermiddlewares.robotstxt",
    "downloadermiddlewares.useragent",
    "extensions.closespider",
    "extensions.memdebug",
    "extensions.memusage",
    "pqueues",
    "squeues",
    "statscollectors",
)
"""Imported by crawls, our own and ordinary ones, as they begin; none of them starts a reactor."""

PRELOADED = (
    "scrapy.cmdline",
    "scrapy.crawler",
    *(f"scrapy.{name}" for name in _OF_SCRAPY),
    "alembic.command",
    "alembic.config",
    "crawler.fetch.handler",
    "crawler.frontier.progress",
    "crawler.corpus.redescription",
    "crawler.corpus.reextraction",
    "crawler.run.wiring",
    "crawler.settings",
    "crawler.spiders.news",
    "pipelines.focus.profile",
    "pipelines.warm_descriptions",
    *_COMMANDS,
    "tests.crawler.crawling",
    "tests.db.engine.earlier",
)

_context = multiprocessing.get_context("forkserver")
_server = forkserver.ForkServer()
_server.set_forkserver_preload(list(PRELOADED))


def start_process(target: Callable[..., object], *arguments: object) -> BaseProcess:
    """Start a process that calls a function of a module with these arguments."""
    process = _context.Process(target=target, args=arguments)
    with patch.object(forkserver, "connect_to_new_process", _server.connect_to_new_process):
        process.start()
    return process
