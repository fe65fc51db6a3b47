"""Command lines: of the benchmarks, and of the crawls that they start."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def new_parser(description: str | None) -> argparse.ArgumentParser:
    """Make a parser whose help is the text of a benchmark's module."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def with_settings(settings: Mapping[str, object]) -> list[str]:
    """Return settings as arguments of a command: `-s NAME=VALUE` for each."""
    return [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]


def crawl_command(seeds: Path | str, settings: Mapping[str, object]) -> list[str]:
    """Return the command that crawls these seeds."""
    return [sys.executable, "-m", "scrapy", "crawl", "news", "-a", f"seeds={seeds}", *with_settings(settings)]
