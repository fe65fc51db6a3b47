"""Help and start of commands: examples that are right, and nothing imported before it is needed."""

from __future__ import annotations

import json
import os
import pkgutil
import shlex
import subprocess
import sys
from pathlib import Path

from scrapy import cmdline
from scrapy.settings import Settings

from crawler import commands
from crawler.commands import crawl
from crawler.run.command import NewsCommand
from db.engine.database import open_for_crawl
from tests.crawler.crawling import ROOT, scrapy
from tests.table import each_row

NAMES = sorted(module.name for module in pkgutil.iter_modules(commands.__path__) if module.name[0] != "_")
LOADED = """
import json, sys
from scrapy import cmdline
from scrapy.utils.project import get_project_settings
settings = get_project_settings()
for name, command in cmdline._get_commands_dict(settings, True).items():
    if command.__module__.startswith("crawler.") or {bare}:
        parser = cmdline.ScrapyArgumentParser(conflict_handler="resolve")
        command.settings = settings
        command.add_options(parser)
        command.syntax(), command.short_desc(), command.long_desc()
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})))
"""
"""Script that says which modules the help of all commands imports, in one process."""
STARTED = """
import atexit, sys
from scrapy import cmdline
atexit.register(lambda: sys.stderr.write(" ".join(sys.modules)))
cmdline.execute(["scrapy", *sys.argv[1:]])
"""
"""Script that runs a command and says which modules were imported."""


def loaded(folder: Path, *, bare: bool) -> set[str]:
    """Packages and modules that are in memory after the help of all commands."""
    environment = {name: value for name, value in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
    command = [sys.executable, "-c", LOADED.format(bare=bare)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def parsed(name: str) -> tuple[cmdline.ScrapyArgumentParser, NewsCommand]:
    command = cmdline._get_commands_from_module("crawler.commands", inproject=True)[name]
    command.settings = Settings()
    parser = cmdline.ScrapyArgumentParser(conflict_handler="resolve", prog=name)
    command.add_options(parser)
    return parser, command


def test_commands_import_no_library_before_they_run(tmp_path: Path) -> None:
    """Scrapy imports all commands whichever is run; a library that one needs would slow down all."""
    more = loaded(ROOT, bare=False) - loaded(tmp_path, bare=True)
    ours = {"crawler", "pipelines", "db", "__editable___newscrawler_0_1_0_finder"}
    assert more - sys.stdlib_module_names - ours == set()
    assert "crawler" in more  # it did look at the project


@each_row(
    ("command", "needless"),
    [
        ("version", {"rich", "numpy", "sqlalchemy"}),
        ("search bridge", {"alembic", "db.frontier", "rapidfuzz", "pebble", "pipelines.parse_page"}),
        ("extract tests/pages/en_1996_wire_pre.html", {"rich", "sqlalchemy", "pipelines.parse_page"}),
    ],
)
def test_command_loads_nothing_that_it_does_not_use(tmp_path: Path, command: str, needless: set[str]) -> None:
    """Loading modules is most of the time that a short command takes."""
    url = f"sqlite:///{tmp_path}/news.db"
    open_for_crawl(url).close()
    arguments = [sys.executable, "-c", STARTED, *command.split(), "-s", f"DATABASE_URL={url}"]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "crawler.settings" in done.stderr.split()
    assert needless & set(done.stderr.split()) == set()


@each_row("name", NAMES)
def test_help_has_examples_that_are_right(name: str) -> None:
    parser, command = parsed(name)
    help_ = parser.format_help()
    assert help_.isascii()
    assert command.examples
    for line, _ in command.examples:
        words = shlex.split(line)
        assert words[:2] == ["scrapy", name]
        assert line in help_
        _, args = parser.parse_known_args(words[2:])
        assert [arg for arg in args if arg.startswith("-") and arg != "-"] == []
        assert command.most_arguments is None or len(args) <= command.most_arguments


def test_arguments_behind_two_dashes_are_no_options() -> None:
    _, command = parsed("search")
    assert command._checked_arguments(["bridge", "--", "-5", "--"]) == ["bridge", "-5", "--"]


def test_help_of_crawl_names_the_arguments() -> None:
    help_ = parsed("crawl")[0].format_help()
    assert "seeds" in crawl._ARGUMENTS
    for name, (values, does) in crawl._ARGUMENTS.items():
        assert f"-a {name}={values}\n      {does}\n" in help_


def test_version_names_ours(tmp_path: Path) -> None:
    done = scrapy(tmp_path, "version", "-v")
    said = dict(line.split(":", 1) for line in done.stdout.splitlines())
    said = {name.strip(): value.strip() for name, value in said.items()}
    assert done.returncode == 0
    assert {"Scrapy", "newscrawler", "database schema", "model combined"} <= set(said)
    assert "pages" in said["model combined"]
