"""`scrapy replicate NAME [FROM ...]`: do the experiment of a paper again."""

from __future__ import annotations

import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy.exceptions import UsageError

from ..corpus.documents import WANTED, opened, rows_of
from ..corpus.gold import read_corpus
from ..options.config import Config
from ..run.command import NewsCommand, add_format

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from pipelines.replicate import Experiment
    from pipelines.replicate.batch import Measured
    from pipelines.replicate.table import Replication
    from pipelines.training.examples import Example

    from ..terminal.output import Output

_WORKERS: Final = (1, 2, 4)
_PARTITIONS: Final = 32


class Command(NewsCommand):
    usage = "[<experiment> [<from> ...]] [--seed N]"
    summary = "Do the experiment of a paper again, and print its table beside ours"
    description = (
        "Without a name the experiments are listed. Pages come from folders that hold gold.jsonl and the pages (see "
        "scrapy train), texts from files of JSON lines (.gz is unpacked) with id, text, maybe title, label or labels, "
        "keys, html, source, and original (the id of the text that one repeats). Without them the articles of the "
        "bundled newsroom are taken: few, and easier than those of the web."
    )
    most_arguments = None
    examples = (
        ("scrapy replicate", "List the experiments"),
        ("scrapy replicate weights corpus/", "Learn the weights of block features by a particle swarm, and test them"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--seed", type=int, default=1, metavar="N", help="where chance starts from (1)")
        add_format(parser, "table", "jsonl")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from pipelines.replicate import EXPERIMENTS, replicate

        from ..terminal.output import Output

        output = Output(opts.format)
        if not args:
            _list(output, EXPERIMENTS)
            return
        name, sources = args[0], args[1:]
        if name not in EXPERIMENTS:
            raise UsageError(f"there is no experiment {name!r}; there are: {', '.join(EXPERIMENTS)}", print_help=False)
        material = self._material(EXPERIMENTS[name], sources)
        _show(output, name, replicate(name, material, opts.seed))

    def _material(self, experiment: Experiment, sources: Sequence[str]) -> Any:
        from pipelines.replicate import Material

        if experiment.material is Material.NOTHING:
            if sources:
                raise UsageError(f"{experiment.function} is a simulation, and takes no material", print_help=False)
            return ()
        if experiment.material is Material.PAGES:
            return _pages(sources)
        if experiment.material is Material.BODIES:
            return _measured(Config.from_settings(self.settings), sources)
        return _texts(sources, is_harm=experiment.material is Material.HARM)


def _pages(sources: Sequence[str]) -> list[Example]:
    from pipelines.training.examples import example

    from ..demo.samples import sample_pages

    if not sources:
        return [page for body, row in sample_pages() if (page := example(body, row)) is not None]
    return [page for folder in sources for page in read_corpus(Path(folder), example)]


def _texts(sources: Sequence[str], *, is_harm: bool) -> list[Mapping[str, Any]]:
    from pipelines.replicate import harm_samples

    from ..demo.samples import sample_texts

    rows: list[Mapping[str, Any]] = []
    for name in sources:
        with opened(name) as lines:
            rows += [row for _, row in rows_of(lines, name, WANTED)]
    return rows or list(harm_samples() if is_harm else sample_texts())


def _measured(config: Config, sources: Sequence[str]) -> Measured:
    """Extract the pages of a folder by 1, 2 and 4 workers, and each partition alone."""
    from pipelines.replicate.batch import Measured

    from ..batch import cluster, extract, frame
    from ..corpus import sources as page_sources
    from ..demo.samples import sample_pages

    if len(sources) > 1:
        raise UsageError("batch takes one source of pages, as scrapy batch extract does", print_help=False)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not sources:
            (folder / "pages").mkdir()
            for number, (body, _) in enumerate(sample_pages()):
                (folder / "pages" / f"{number:04}.html").write_bytes(body)
        cut = page_sources.find(sources[0] if sources else str(folder / "pages")).cut(_PARTITIONS, folder)
        task = partial(extract.extract_pages, config, packed=False)
        whole = {}
        for workers in _WORKERS:
            with cluster.connected(workers, None) as client:
                for turn in ("first", "second"):  # in the first turn the workers start and load their models
                    parts = frame.Parts(folder / f"{workers}-{turn}", {})
                    whole[workers] = _seconds(partial(frame.run, client, parts, task, cut))
        task(cut[0])
        alone = [_seconds(partial(task, part)) for part in cut]
        pages = sum(1 for part in cut for _ in part.pages([]))
    return Measured(alone, whole, pages)


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _list(output: Output, experiments: Mapping[str, Experiment]) -> None:
    from ..terminal.text import Field

    rows = [(name, one.summary, str(one.material)) for name, one in experiments.items()]
    output.show("Experiments", [Field("Name"), Field("Compares"), Field("Takes")], rows)


def _show(output: Output, name: str, done: Replication) -> None:
    from ..terminal.text import Field

    has_paper = {figure for row in done.rows for figure in row.paper}
    fields = [Field("Method", key="method")]
    for figure in done.figures:
        fields.append(Field(figure, right=True, show=_number))
        if figure in has_paper:
            fields.append(Field(f"{figure} (paper)", right=True, show=_number))
    rows = [
        (
            row.name,
            *(
                figures.get(figure)
                for figure in done.figures
                for figures in ((row.ours, row.paper) if figure in has_paper else (row.ours,))
            ),
        )
        for row in done.rows
    ]
    output.show(name, fields, rows)
    if output.is_table:
        sys.stdout.write("\n" + "\n".join([done.source, *done.notes]) + "\n")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
