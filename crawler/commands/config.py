"""`scrapy config`: the settings in force, and where each came from."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from ..options.config import Config
from ..options.in_force import Origin, as_given, in_force
from ..options.values import ConfigError
from ..run.command import NewsCommand, add_format

if TYPE_CHECKING:
    import argparse


class Command(NewsCommand):
    usage = "[--changed] [--seeds FILE] [--format NAME] [SETTING ...]"
    summary = "Show the settings in force, and where each came from"
    description = (
        "Later ones win: default, crawler/settings.py, topic= of the seeds, environment variables NEWS_<SETTING> "
        "(NEWS_MAX_PAGES=500), -s on the command line. Passwords are not shown."
    )
    most_arguments = None
    examples = (
        ("scrapy config", "Show all settings in force, and where each came from"),
        ("scrapy config --changed", "Show those that are not as they come"),
        ("scrapy config HOST_DELAY MAX_PAGES --format jsonl", "Show two of them, for a script"),
        ("scrapy config --changed --seeds seeds.txt -s MAX_PAGES=100", "Show what a crawl with -s would have"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--changed", action="store_true", help="only what differs from the defaults or was given")
        parser.add_argument("--seeds", default="", metavar="FILE", help="seeds of the crawl, for the topic they give")
        add_format(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from ..options.seeds import read_seeds, topics
        from ..terminal.output import Output
        from ..terminal.text import Field

        about = topics(read_seeds(opts.seeds)) if opts.seeds else []
        Config.from_settings(self.settings, about)  # what contradicts each other is refused
        settings_by_name = {one.name: one for one in in_force(self.settings, about)}
        for name in args:
            if name not in settings_by_name:
                near = difflib.get_close_matches(name.upper(), settings_by_name, n=1, cutoff=0)[0]
                raise ConfigError(f"there is no setting {name}; the nearest name is {near} (scrapy config lists all)")
        rows = [
            (one.name, one.value, one.source.value, one.where, one.default, one.help)
            for one in (settings_by_name[name] for name in dict.fromkeys(args or settings_by_name))
            if not opts.changed or one.source is not Origin.DEFAULT
        ]
        fields = (
            Field("setting", key="name"),
            Field("value", show=as_given),
            Field("from", key="source"),
            Field("where", drop=2),
            Field("default", drop=1, show=as_given),
            Field("", key="help"),
        )
        output = Output(opts.format, wide=opts.wide)
        if not rows:
            output.say("all settings are as they come")
            return
        output.show("Settings", fields, rows)
