"""`scrapy train WHAT FROM ...`: train a model of main text, or learn a profile."""

from __future__ import annotations

import argparse
import csv
import gzip
import importlib
import json
import shlex
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, cast

from scrapy.exceptions import UsageError

from ..corpus.documents import language_of, opened, page_of, rows_of
from ..corpus.saved_pages import InputError, everything, page_url, read
from ..options.given import value_of
from ..run.command import NewsCommand, sentence
from ..run.exit_codes import EXIT_STOPPED

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from pipelines.text.analysis import AnalysedText
    from pipelines.text.classes.vectors import Text
    from pipelines.training.examples import Example
    from pipelines.training.harmful import HarmExample
    from pipelines.training.keywords import KeywordExample
    from pipelines.training.page_kind_examples import KnownPage


GOLD = "gold.jsonl"
MOST_URLS: Final = 500
"""URLs of a history that are fetched: the first ones, each once."""
Learned = tuple[Mapping[str, object], Mapping[str, object]]
"""A model as JSON keeps it, and the figures noted beside it."""
LabelledText = tuple["Text", tuple[str, ...], str]
"""A text, its classes, and where it is from."""


class CorpusError(ValueError):
    """A folder is no corpus; the text says which file or row is wrong, and how."""


class Command(NewsCommand):
    """Train models."""

    most_arguments = None
    examples = (
        ("scrapy train profile liked/ history.csv", "Learn what you like from saved pages and your browser's history"),
        ("scrapy train blocks corpus/ --output blocks.json", "Learn the weights of an extractor, try them elsewhere"),
    )

    def syntax(self) -> str:
        """Return the arguments for the usage line."""
        return f"<{'|'.join(LEARNERS)}> <from> [<from> ...] [options]"

    def short_desc(self) -> str:
        """Return one line for the list of commands."""
        return "Learn models of main text, classes, keywords or harm from known texts, or a profile"

    def long_desc(self) -> str:
        """Return the description for the help."""
        return (
            "blocks: weights of the extractor `weighted`; combined: networks of the extractor `combined`; words: words "
            "of the extractor `fusion`; kinds: kinds of pages, from rows with kind, subtype or page_type. A folder "
            "holds gold.jsonl (a JSON object per line with id and text, best with title) and the pages, as `file` says "
            "or else as <id>.html.gz. profile: what you like (PROFILE), from saved pages (files, folders), URLs, and "
            "exports of a browser's history (CSV with a column url), whose pages are fetched. classes, keywords, "
            "harmful: models for scrapy describe, from files of JSON lines with id, text, best with title (.gz is "
            "unpacked) and, for classes, label or labels (none for a text of no class), maybe source (the site, whose "
            "texts are held out together) and language; for keywords, the list keys; for harmful, the label clean "
            "or ham (honest), ad, spam, gambling, porn, fraud, abuse or hijacked (the title alone is harmful). "
            "lexicon: words that the dictionary does not have, and how rare each word is, for WORDS; of such files, or "
            "without any of the articles in the database."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options to Scrapy's own."""
        super().add_options(parser)
        parser.add_argument(
            "--particles", type=_count, default=100, metavar="N", help="blocks: size of the swarm (100)"
        )
        parser.add_argument("--generations", type=_count, default=1000, metavar="N", help="blocks: its steps (1000)")
        parser.add_argument("--networks", type=_count, default=4, metavar="N", help="combined: how many vote (4)")
        parser.add_argument(
            "--epochs", type=_count, default=12, metavar="N", help="combined: passes over the pages (12)"
        )
        parser.add_argument("--seed", type=int, default=1, metavar="N", help="where chance starts from (1)")
        parser.add_argument("--words", type=_count, default=2000, metavar="N", help="words: how many are kept (2000)")
        parser.add_argument("--terms", type=_count, default=30, metavar="N", help="profile: its words (30)")
        parser.add_argument(
            "--method",
            metavar="NAME",
            help="classes: the classifier (that of the setting CLASSIFIER); keywords: combined or bayes (combined)",
        )
        parser.add_argument(
            "--select", metavar="MEASURE:N", help="classes: the terms that are kept, as chi2:2000 (by the method)"
        )
        parser.add_argument(
            "--precision",
            type=_share,
            metavar="SHARE",
            help="classes: how many of the classes told must be right in texts held out; less likely ones are not "
            "told (0: the best F1; where texts have one class each, the best is told)",
        )
        parser.add_argument(
            "--report",
            type=Path,
            metavar="FILE",
            help="classes: write the terms chosen for each class, with its F1; harmful: what is called so, by label",
        )
        parser.add_argument(
            "-o",
            "--output",
            type=Path,
            metavar="FILE",
            help="where to write it (default: where the crawl reads the model; profile.json)",
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Learn and write."""
        from pipelines.models import files

        if not args or args[0] not in LEARNERS or (len(args) < 2 and not LEARNERS[args[0]].reads_crawl):
            raise UsageError(
                f"name what to learn ({', '.join(LEARNERS)}) and what from: folders, for a profile pages",
                print_help=False,
            )
        assert self.settings is not None
        what, names = args[0], args[1:]
        learner = LEARNERS[what]
        opts.settings = self.settings
        opts.method = opts.method or (value_of(self.settings, "CLASSIFIER") if what == "classes" else "combined")
        output = opts.output or (files.path(what) if learner.is_shipped else Path(f"{what}.json"))
        self.refuse_outputs(output, opts.report, inputs=names)
        _check_module(learner.module)
        try:
            pages = _Counted(learner.read(names, self.settings))
            model, notes = learner.learn(iter(pages), opts)
            given = [name for name in learner.options if getattr(opts, name) is not None]
            made_by = shlex.join(
                ["scrapy", "train", what, *(name if "://" in name else Path(name).resolve().name for name in names)]
                + [part for name in given for part in (f"--{name}", str(getattr(opts, name)))]
            )
            output.write_text(files.dumps(what, model, made_by, {"pages": pages.count, **notes}), encoding="utf-8")
        except KeyboardInterrupt:
            self.fail("stopped; nothing was written", EXIT_STOPPED)
        else:
            said = "".join(f", {name} {value}" for name, value in notes.items())
            sys.stdout.write(f"{pages.count} pages{said}: {output}\n")


def _check_module(name: str) -> None:
    """Refuse before the pages are read, not after."""
    try:
        if name:
            importlib.import_module(name)
    except ImportError:
        raise ValueError("training networks needs scikit-learn: uv sync --extra train") from None


class _Counted:
    """Training data, counted as it is read."""

    def __init__(self, pages: Iterator[Any]) -> None:
        self.pages = pages
        self.count = 0

    def __iter__(self) -> Iterator[Any]:
        for page in self.pages:
            self.count += 1
            yield page


def _count(text: str) -> int:
    """Parse a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1 on")
    return int(text)


def _share(text: str) -> float:
    """Parse a share."""
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no share from 0 to 1")
    return share


def _corpora(names: Sequence[str], _: Settings) -> Iterator[Example]:
    """Yield the pages of several folders that hold their texts."""
    return _folders(names, _example)


def _known_pages(names: Sequence[str], _: Settings) -> Iterator[KnownPage]:
    """Yield the pages of several folders whose kinds are known."""
    return _folders(names, _known_page)


def _folders(names: Sequence[str], make: Callable[[bytes, Mapping[str, Any]], Any]) -> Iterator[Any]:
    """Yield what is made of the pages of several folders."""
    from ..terminal.text import Terminal

    console = Terminal(stderr=True)
    for name in names:
        if console.is_terminal:
            console.print(f"reading {name}", markup=False)
        yield from examples(Path(name), make)


def examples(folder: Path, make: Callable[[bytes, Mapping[str, Any]], Any] | None = None) -> Iterator[Any]:
    """Read a corpus page by page: `gold.jsonl` and the pages that its rows name.

    A row is an object with `id` and `text`; its page is `file`, by default `<id>.html.gz`. The other keys are those of
    `pipelines.training.examples.example`. Pages that do not hold their text are passed over.

    Raises:
        CorpusError: the folder, a row or a page is missing or broken; or no page can be used.
    """
    make = make or _example
    gold = folder / GOLD
    count = 0
    try:
        with gold.open(encoding="utf-8") as rows:
            for number, line in enumerate(rows, 1):
                if not line.strip():
                    continue
                try:
                    made = make(*_page(folder, line))
                except (ValueError, OSError, EOFError, zlib.error) as error:
                    why = sentence(error) if isinstance(error, OSError) else error
                    raise CorpusError(f"{gold}, line {number}: {why}") from None
                if made is not None:
                    count += 1
                    yield made
    except UnicodeDecodeError as error:
        raise CorpusError(f"{gold} is not UTF-8: {error}") from None
    except OSError as error:
        raise CorpusError(f"{gold} cannot be read: {error.strerror or error}") from None
    if not count:
        raise CorpusError(f"{gold} names no page that holds its text")


def _example(body: bytes, row: Mapping[str, Any]) -> Example | None:
    """Make the example of one row."""
    from pipelines.training.examples import example

    return example(body, row)


def _known_page(body: bytes, row: Mapping[str, Any]) -> KnownPage | None:
    """Keep a page whose kind is known."""
    from pipelines.training.page_kind_examples import KnownPage, kind_of

    return KnownPage.of(body, row) if kind_of(row) is not None and not row.get("suspect") else None


def _page(folder: Path, line: str) -> tuple[bytes, Mapping[str, Any]]:
    """Read the page of one row."""
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("a row must be an object with id and text")
    path = folder / str(row.get("file") or f"{row.get('id')}.html.gz")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{path} lies outside the folder")
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data, row


def liked(names: Sequence[str], settings: Settings) -> Iterator[Mapping[str, float]]:
    """Yield the weighted words of each page named; unreadable pages are reported.

    Args:
        names: files of saved pages, folders of them, URLs, and exports of a browser's history: CSV with a column `url`.
        settings: the project's; for the downloader and the extractor.

    Raises:
        ValueError: a name is none of these.
    """
    from pipelines.document.document import parse
    from pipelines.extract import extractor
    from pipelines.focus.profile import weigh_page

    histories = [name for name in names if name.lower().endswith(".csv")]
    urls = [_url(name) for name in names if "://" in name]
    urls += [url for name in histories for url in history(Path(name))]
    extract = extractor(value_of(settings, "EXTRACTOR"), value_of(settings, "EXTRACTOR_PARAMS"))
    most = value_of(settings, "DOWNLOAD_MAXSIZE")
    for one in everything([name for name in names if "://" not in name and name not in histories]):
        try:
            body = read(one, most)
        except InputError as problem:
            _pass_over(one.id, str(problem))
            continue
        document = parse(body, page_url(one.url, body))
        yield weigh_page(document, extract(document))
    if urls:
        from ..fetch.one_shot import fetch

        for asked, found in fetch(urls, settings).items():
            if found.problem:
                _pass_over(asked, found.problem)
                continue
            document = parse(found.body, found.url, found.content_type)
            yield weigh_page(document, extract(document))


def history(path: Path) -> list[str]:
    """Return the URLs of a browser's history, each once, in the file's order.

    Args:
        path: of a CSV file whose first line names a column `url`, in any case; other columns are ignored.

    Raises:
        ValueError: it cannot be read, has no such column or no web address in it.
    """
    from pipelines.urls import canonicalize

    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.reader(lines)
            header = [name.strip().lower() for name in next(rows, [])]
            if "url" not in header:
                raise InputError(f"{path} has no column url; its first line is {','.join(header)[:100]!r}")
            column = header.index("url")
            cells = [row[column] for row in rows if len(row) > column]
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise InputError(f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    found = list(dict.fromkeys(url for cell in cells if "://" in cell and (url := canonicalize(cell.strip()))))
    if not found:
        raise InputError(f"{path} names no web address")
    return found[:MOST_URLS]


def _url(name: str) -> str:
    from pipelines.urls import canonicalize

    url = canonicalize(name)
    if url is None:
        raise InputError(f"{name!r} is no http or https URL")
    return url


def _pass_over(name: str, why: str) -> None:
    sys.stderr.write(f"scrapy train: {name} is passed over: {why}\n")


def _blocks(pages: Iterator[Example], options: argparse.Namespace) -> Learned:
    """Learn weights and threshold of the extractor `weighted`."""
    import numpy as np

    from pipelines.training import weighted

    rng = np.random.default_rng(options.seed)
    model, fitness = weighted.learn(pages, rng, particles=options.particles, generations=options.generations)
    return asdict(model), {"fitness": round(fitness, 4)}


def _combined(pages: Iterator[Example], options: argparse.Namespace) -> Learned:
    """Learn the networks of the extractor `combined`."""
    from pipelines.training import extraction as combined

    params = combined.Params(networks=options.networks, epochs=options.epochs)
    return combined.learn(pages, options.seed, params).model(), {}


def _kinds(pages: Iterator[KnownPage], options: argparse.Namespace) -> Learned:
    """Learn the model of kinds of pages."""
    from datetime import UTC, datetime

    from pipelines.training.page_kind import Params, learn
    from pipelines.training.page_kind_examples import read_all

    found = read_all(list(pages), datetime.now(UTC), options.seed)
    model, figures = learn(found, options.seed, Params())
    return model.model(), figures


def _words(pages: Iterator[Example], options: argparse.Namespace) -> Learned:
    """Learn the words of the extractor `fusion`."""
    from pipelines.extract import fusion
    from pipelines.training import naive_bayes

    model = naive_bayes.learn(naive_bayes.labelled_leaves(pages, fusion.Params()), options.words)
    rounded = {word: round(odds, 3) for word, odds in model.words.items()}
    return {"prior": round(model.prior, 4), "words": rounded}, {}


def _classes(rows: Iterator[LabelledText], options: argparse.Namespace) -> Learned:
    """Learn classes of texts, and report the terms chosen for each."""
    from pipelines.text.classes import learner
    from pipelines.text.classes.selection import read_select
    from pipelines.training.classes import learn

    by = learner(options.method, value_of(options.settings, "CLASSIFIER_PARAMS"))
    select = read_select(options.select) if options.select else None
    if by.method.module:
        _check_module(by.method.module)
    examples = list(rows)
    model, report, held_out, _ = learn(
        [text for text, *_ in examples],
        [labels for _, labels, _ in examples],
        by,
        select,
        precision=options.precision or 0.0,
        sources=[source for *_, source in examples],
    )
    _write_report(options, report)
    notes: dict[str, object] = {"classes": len(model.labels)}
    notes["f1"] = round(fmean(float(str(row["f1"])) for row in report), 4)
    for one in held_out:
        precision = f"precision {one.right / max(one.told, 1):.4f}, threshold {one.threshold}"
        notes[one.language] = f"{one.described} of {one.texts} texts with a class, {precision}"
    return model.model(), notes


def _write_report(options: argparse.Namespace, report: object) -> None:
    """Write what was found while learning, if it is wanted."""
    if options.report:
        options.report.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _labelled(names: Sequence[str], _: Settings) -> Iterator[LabelledText]:
    """Yield texts with their classes and sources, of rows with `html` as pages."""
    from pipelines.text.classes.structure import place
    from pipelines.text.classes.vectors import Text

    wanted = 'a JSON object like {"id": 1, "text": "...", "label": "sport"} is expected, or "labels": ["a", "b"]'
    for at, row in _text_rows(names, wanted):
        labels = row["labels"] if "labels" in row else [row.get("label")]
        if not isinstance(labels, list) or not all(isinstance(label, str) and label for label in labels):
            raise InputError(f"{at}: its label is missing; {wanted}")
        text = Text(row["title"], row["text"])
        if isinstance(html := row.get("html"), str):
            text = place(page_of(html), *text[:2])
        yield text._replace(language=language_of(row)), tuple(labels), str(row.get("source") or "")


def _text_rows(names: Sequence[str], wanted: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield where each labelled row of files stands, for messages, and the row."""
    for name in names:
        with opened(name) as lines:
            for key, row in rows_of(lines, name, wanted):
                yield f"{name}, document {key}", row


def _keywords(pages: Iterator[KeywordExample], options: argparse.Namespace) -> Learned:
    """Learn which words and phrases of a text are its keywords."""
    from pipelines.training.keywords import LEARNERS, learn

    if options.method not in LEARNERS:
        raise ValueError(f"--method is {options.method!r}; keywords are learned by {' or '.join(LEARNERS)}")
    if options.method == "combined":
        _check_module("sklearn")
    examples = list(pages)
    known = sum(each.wanted.sum() for each in examples)
    model = learn(options.method, examples)
    return model, {"keywords": int(known)}


def _with_keywords(names: Sequence[str], _: Settings) -> Iterator[KeywordExample]:
    """Yield the candidates of the texts of files whose keywords are known."""
    from pipelines.text.analysis import analyse
    from pipelines.text.frequencies import shipped
    from pipelines.training.keywords import example

    wanted = 'a JSON object like {"id": 1, "text": "...", "keys": ["bridge", "river"]} is expected'
    for at, row in _text_rows(names, wanted):
        keys = row.get("keys")
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise InputError(f"{at}: its keys are missing; {wanted}")
        yield example(analyse(row["title"], row["text"], language_of(row)), keys, shipped())


def _harmful(pages: Iterator[HarmExample], options: argparse.Namespace) -> Learned:
    """Learn to tell harmful pages from honest ones."""
    from pipelines.training.harmful import learn

    model, report = learn(list(pages), options.seed)
    _write_report(options, report)
    return model.dump(), {}


def _judged(names: Sequence[str], _: Settings) -> Iterator[HarmExample]:
    """Yield the texts of files that are known to be harmful or not."""
    from pipelines.training.harmful import CLEAN_LABELS, KIND_OF, HarmExample

    known = (*CLEAN_LABELS, *KIND_OF)
    wanted = 'a JSON object like {"id": 1, "text": "...", "label": "clean"} is expected'
    for at, row in _text_rows(names, wanted):
        if row.get("label") not in known:
            raise InputError(f"{at}: its label {row.get('label')!r} is none of {', '.join(known)}; {wanted}")
        links = row.get("links") or []
        if not isinstance(links, list) or not all(isinstance(link, str) for link in links):
            raise InputError(f"{at}: its links are no list of texts; {wanted}")
        yield HarmExample(row["label"], row["title"], row["text"], str(row.get("source") or ""), tuple(links))


def _lexicon(texts: Iterator[AnalysedText], _: argparse.Namespace) -> Learned:
    """Learn new words and how many documents have each."""
    from pipelines.training.vocabulary import learn

    model = learn(texts)
    return model, {name: len(cast("dict[str, int]", model[name])) for name in ("new", "terms")}


def _analysed(names: Sequence[str], settings: Settings) -> Iterator[AnalysedText]:
    """Yield the analysed texts of files, or of the stored articles."""
    from pipelines.export.read import read_articles
    from pipelines.text.analysis import analyse

    if not names:
        for article in read_articles(value_of(settings, "DATABASE_URL")):
            if article.duplicate_of is None:
                yield analyse(article.title, article.text, article.language)
    for _, row in _text_rows(names, 'a JSON object like {"id": 1, "title": "...", "text": "..."} is expected'):
        yield analyse(row["title"], row["text"], language_of(row))


def _profile(pages: Iterator[Mapping[str, float]], options: argparse.Namespace) -> Learned:
    """Learn the user's profile, for `PROFILE`."""
    from pipelines.training import profile

    return profile.learn(pages, options.terms), {}


@dataclass(frozen=True, slots=True)
class Learner:
    """A model that can be learned.

    Attributes:
        learn: the function.
        options: that it reads.
        read: what it learns from, by the names given.
        is_shipped: the model goes where the crawl reads it unless `--output` says else, not into the current folder.
        module: a package of the extra `train` that the function needs.
        reads_crawl: without names it learns from the crawl's database.
    """

    learn: Callable[[Iterator[Any], argparse.Namespace], Learned]
    options: tuple[str, ...]
    read: Callable[[Sequence[str], Settings], Iterator[Any]]
    is_shipped: bool = True
    module: str = ""
    reads_crawl: bool = False


LEARNERS: Final[Mapping[str, Learner]] = {
    "blocks": Learner(_blocks, ("particles", "generations", "seed"), _corpora),
    "combined": Learner(_combined, ("networks", "epochs", "seed"), _corpora, module="sklearn"),
    "kinds": Learner(_kinds, ("seed",), _known_pages, module="sklearn"),
    "words": Learner(_words, ("words",), _corpora),
    "classes": Learner(_classes, ("method", "select", "precision"), _labelled, is_shipped=False),
    "keywords": Learner(_keywords, ("method",), _with_keywords, is_shipped=False),
    "harmful": Learner(_harmful, ("seed",), _judged, is_shipped=False, module="sklearn"),
    "lexicon": Learner(_lexicon, (), _analysed, is_shipped=False, reads_crawl=True),
    "profile": Learner(_profile, ("terms",), liked, is_shipped=False),
}
"""Learners by name; that of a model of main text is also the name of its file."""
