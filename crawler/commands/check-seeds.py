"""`scrapy check-seeds FILE`: look at all seeds before a long crawl.

Scrapy names a command as its module, hence the dash; nothing imports it.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from ..options.config import Config
from ..options.values import ConfigError
from ..run.command import NewsCommand, add_format
from ..run.exit_codes import EXIT_FOUND
from .crawl import Demo

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..fetch.one_shot import Ask
    from ..learn.seed_check import SeedReport
    from ..options.seeds import Seed


class Command(NewsCommand):
    usage = "[--format NAME] <file|url ...>"
    summary = "Look at seeds before a crawl: reachable, robots.txt, feeds, sitemaps, how large and how long"
    description = (
        "Fetch robots.txt, the front page, some feeds and sitemaps of every seed, as politely as the crawl will, "
        "and say what a crawl would have of it. Nothing is stored. Exit code 0: all are well; 1: some seeds would "
        "bring nothing."
    )
    most_arguments = None
    examples = (
        ("scrapy check-seeds seeds.txt", "Look at every seed of a file"),
        ("scrapy check-seeds https://www.example.com/ --format jsonl", "Look at one site, for a script"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_format(parser)

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from ..fetch.one_shot import with_client
        from ..options.seeds import refuse_private, seeds_of, topics
        from ..terminal.output import Output
        from ..terminal.text import Field

        if not args:
            raise ConfigError("name a seeds file, or URLs: scrapy check-seeds seeds.txt")
        demo = Demo(self.settings)
        try:
            seeds = seeds_of(" ".join(args), demo.open)
            config = Config.from_settings(self.settings, topics(seeds))
            refuse_private(seeds, config.fetch.guard)
            reports = with_client(partial(_check, seeds, config), self.settings)
        finally:
            demo.close()
        fields = (
            Field("seed", cut=True, key="url"),
            Field("", key="line"),
            Field("", key="is_bad"),
            Field("problem"),
            Field("answer", key="status", right=True),
            Field("", key="final_url"),
            Field("", key="redirects"),
            Field("robots", drop=6),
            Field("", key="allowed"),
            Field("", key="crawl_delay"),
            Field("delay", right=True, drop=5, show=lambda seconds: f"{seconds:g} s"),
            Field("feeds", right=True, drop=3, show=_count),
            Field("sitemaps", right=True, drop=4, show=_count),
            Field("", key="sitemap_urls"),
            Field("newest", drop=2),
            Field("kind", drop=7),
            Field("links", right=True, drop=9),
            Field("language", drop=10),
            Field("pages", right=True, show=lambda pages: "?" if pages is None else f"{pages:,}"),
            Field("time", right=True, key="seconds", show=_duration),
        )
        output = Output(opts.format, wide=opts.wide)
        output.show("Seeds", fields, [list(asdict(one).values()) for one in reports])
        output.say(_summary(reports))
        if any(one.is_bad for one in reports):
            self.exitcode = EXIT_FOUND


async def _check(seeds: Sequence[Seed], config: Config, ask: Ask) -> list[SeedReport]:
    from ..learn.seed_check import check_seeds

    shows = sys.stderr.isatty()

    def done(count: int) -> None:
        if shows:
            sys.stderr.write(f"\r{count} of {len(seeds)} seeds" + "\n" * (count == len(seeds)))

    return await check_seeds(seeds, config, ask, done)


def _count(urls: tuple[str, ...]) -> str:
    return f"{len(urls)}" if urls else ""


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def _summary(reports: list[SeedReport]) -> str:
    bad = sum(one.is_bad for one in reports)
    longest = max((one.seconds or 0.0 for one in reports), default=0.0)
    pages = sum(one.pages or 0 for one in reports)
    unknown = sum(one.pages is None and not one.is_bad for one in reports)
    also = f", and {unknown} whose size nothing tells" if unknown else ""
    return (
        f"{len(reports) - bad} of {len(reports)} seeds are well; some {pages:,} pages{also}. Hosts are asked beside "
        f"each other: {_duration(longest)} for the largest one."
    )
