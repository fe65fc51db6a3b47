"""`scrapy train WHAT FOLDER ...`: learn a model of main text from pages whose texts are known."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from pipelines.extract import combined, fusion, models, network, weighted_learning, worth
from pipelines.extract.training import Example

from ..frontier import EXIT_STOPPED, EXIT_USAGE
from ._corpus import examples

Learned = tuple[Mapping[str, object], Mapping[str, object]]
"""A model as JSON keeps it, and the figures noted beside it."""


def _blocks(pages: Iterator[Example], options: argparse.Namespace) -> Learned:
    """Supports, weights and threshold of the extractor `weighted`."""
    rng = np.random.default_rng(options.seed)
    model, fitness = weighted_learning.learn(pages, rng, particles=options.particles, generations=options.generations)
    return asdict(model), {"fitness": round(fitness, 4)}


def _combined(pages: Iterator[Example], options: argparse.Namespace) -> Learned:
    """Networks of the extractor `combined`."""
    params = network.Params(networks=options.networks, epochs=options.epochs)
    return combined.learn(pages, options.seed, params).model(), {}


def _words(pages: Iterator[Example], options: argparse.Namespace) -> Learned:
    """Worthy and worthless words of the extractor `fusion`."""
    model = worth.learn(fusion.lessons(pages), options.words)
    rounded = {word: round(odds, 3) for word, odds in model.words.items()}
    return {"prior": round(model.prior, 4), "words": rounded}, {}


LEARNERS: Final[Mapping[str, tuple[Callable[[Iterator[Example], argparse.Namespace], Learned], tuple[str, ...]]]] = {
    "blocks": (_blocks, ("particles", "generations", "seed")),
    "combined": (_combined, ("networks", "epochs", "seed")),
    "words": (_words, ("words",)),
}
"""What can be learnt, which is also the name of its model: the function, and the options that it reads."""


class Command(ScrapyCommand):
    """Learn."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        """What, and from where."""
        return f"<{'|'.join(LEARNERS)}> <folder> [<folder> ...] [options]"

    def short_desc(self) -> str:
        """One line for `scrapy`."""
        return "Learn a model of main text from pages whose texts are known"

    def long_desc(self) -> str:
        """What the arguments are."""
        return (
            "blocks: weights of the extractor `weighted`; combined: networks of the extractor `combined`; words: words "
            "of the extractor `fusion`. A folder holds "
            "gold.jsonl (a JSON object per line with id and text, best with title) and the pages, as `file` says or "
            "else as <id>.html.gz."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Scrapy's own, those of the learners, and `--output`."""
        super().add_options(parser)
        parser.add_argument(
            "--particles", type=_count, default=100, metavar="N", help="blocks: size of the swarm (100)"
        )
        parser.add_argument("--generations", type=_count, default=1000, metavar="N", help="blocks: its steps (1000)")
        parser.add_argument("--networks", type=_count, default=4, metavar="N", help="combined: how many vote (4)")
        parser.add_argument(
            "--epochs", type=_count, default=40, metavar="N", help="combined: passes over the pages (40)"
        )
        parser.add_argument("--seed", type=int, default=1, metavar="N", help="where chance starts from (1)")
        parser.add_argument("--words", type=_count, default=2000, metavar="N", help="words: how many are kept (2000)")
        parser.add_argument(
            "--output", type=Path, metavar="FILE", help="where to write the model (default: where the crawl reads it)"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Learn and write; errors are one line each."""
        if len(args) < 2 or args[0] not in LEARNERS:
            raise UsageError(f"name what to learn ({', '.join(LEARNERS)}) and one folder or more")
        what, folders = args[0], [Path(name) for name in args[1:]]
        output = opts.output or models.path(what)
        learn, options = LEARNERS[what]
        try:
            if not output.parent.is_dir():
                raise ValueError(f"there is no folder {output.parent} to write to")
            pages = _Pages(folders)
            model, notes = learn(iter(pages), opts)
            made_by = shlex.join(
                ["scrapy", "train", what, *(folder.resolve().name for folder in folders)]
                + [part for name in options for part in (f"--{name}", str(getattr(opts, name)))]
            )
            output.write_text(models.dumps(model, made_by, {"pages": pages.count, **notes}), encoding="utf-8")
        except (ValueError, OSError) as problem:
            self._fail(str(problem), EXIT_USAGE)
        except KeyboardInterrupt:
            self._fail("stopped; nothing was written", EXIT_STOPPED)
        else:
            said = "".join(f", {name} {value}" for name, value in notes.items())
            sys.stdout.write(f"{pages.count} pages{said}: {output}\n")

    def _fail(self, sentence: str, code: int) -> None:
        sys.stderr.write(f"scrapy train: {sentence}\n")
        self.exitcode = code


class _Pages:
    """The pages of several folders, counted as they are read."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = folders
        self.count = 0

    def __iter__(self) -> Iterator[Example]:
        console = Console(stderr=True, highlight=False)
        for folder in self.folders:
            if console.is_terminal:
                console.print(f"reading {folder}", markup=False)
            for example in examples(folder):
                self.count += 1
                yield example


def _count(text: str) -> int:
    """A whole number, 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1 on")
    return int(text)
