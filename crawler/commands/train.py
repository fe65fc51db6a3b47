"""`scrapy train WHAT FROM ...`: train a model of main text, or learn a profile."""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from scrapy.exceptions import UsageError

from ..corpus.documents import WANTED, language_of, opened, page_of, rows_of
from ..corpus.gold import read_corpus
from ..corpus.saved_pages import InputError, everything, page_url, read
from ..options.given import value_of
from ..run.command import NewsCommand
from ..run.exit_codes import EXIT_STOPPED

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from pipelines.text.analysis import AnalysedText
    from pipelines.training.classes import LabelledText
    from pipelines.training.examples import Example
    from pipelines.training.harmful import HarmExample
    from pipelines.training.keywords import KeywordExample
    from pipelines.training.page_kind_examples import KnownPage
    from pipelines.training.trained import Trained


MOST_URLS: Final = 500
"""URLs of a history that are fetched: the first ones, each once."""


class Command(NewsCommand):
    usage = "<blocks|combined|kinds|words|classes|keywords|harmful|lexicon|profile> <from> [<from> ...] [options]"
    summary = "Learn models of main text, classes, keywords or harm from known texts, or a profile"
    description = (
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
    most_arguments = None
    examples = (
        ("scrapy train profile liked/ history.csv", "Learn what you like from saved pages and your browser's history"),
        ("scrapy train blocks corpus/ --output blocks.json", "Learn the weights of an extractor, try them elsewhere"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
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
            "--synonyms",
            type=Path,
            metavar="FILE",
            help="classes, by fuzzy: two words and their closeness, as 0.8, a line: counted together in a text",
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
        from pipelines.models import files
        from pipelines.training.trained import require

        if not args or args[0] not in MODELS or (len(args) < 2 and not MODELS[args[0]].reads_crawl):
            raise UsageError(
                f"name what to learn ({', '.join(MODELS)}) and what from: folders, for a profile pages",
                print_help=False,
            )
        name, sources = args[0], args[1:]
        chosen = MODELS[name]
        opts.method = opts.method or (value_of(self.settings, "CLASSIFIER") if name == "classes" else "combined")
        output = opts.output or (files.path(name) if chosen.is_shipped else Path(f"{name}.json"))
        self.refuse_outputs(output, opts.report, inputs=sources)
        if chosen.package:
            require(chosen.package)
        options = {option: getattr(opts, option) for option in chosen.options}
        try:
            pages = _Counted(chosen.read(sources, self.settings))
            learn_model = importlib.import_module(f"pipelines.training.{chosen.module}").learn_model
            trained: Trained = learn_model(iter(pages), **options, **chosen.others(self.settings))
            if opts.report and trained.report is not None:
                report = json.dumps(trained.report, ensure_ascii=False, indent=1)
                opts.report.write_text(f"{report}\n", encoding="utf-8")
            line = ["scrapy", "train", name]
            line += [source if "://" in source else Path(source).resolve().name for source in sources]
            for option, value in options.items():
                if value is not None:
                    line += [f"--{option}", str(value)]
            notes = {"pages": pages.count, **trained.notes}
            output.write_text(files.dumps(name, trained.model, shlex.join(line), notes), encoding="utf-8")
        except KeyboardInterrupt:
            self.fail("stopped; nothing was written", EXIT_STOPPED)
        else:
            figures = "".join(f", {figure} {value}" for figure, value in trained.notes.items())
            sys.stdout.write(f"{pages.count} pages{figures}: {output}\n")


class _Counted:
    def __init__(self, pages: Iterator[Any]) -> None:
        self.pages = pages
        self.count = 0

    def __iter__(self) -> Iterator[Any]:
        for page in self.pages:
            self.count += 1
            yield page


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1 on")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no share from 0 to 1")
    return share


def _corpora(names: Sequence[str], _: Settings) -> Iterator[Example]:
    from pipelines.training.examples import example

    return _folders(names, example)


def _known_pages(names: Sequence[str], _: Settings) -> Iterator[KnownPage]:
    from pipelines.training.page_kind_examples import KnownPage, kind_of

    def known_page(body: bytes, row: Mapping[str, Any]) -> KnownPage | None:
        return KnownPage.of(body, row) if kind_of(row) is not None and not row.get("suspect") else None

    return _folders(names, known_page)


def _folders(names: Sequence[str], make: Callable[[bytes, Mapping[str, Any]], Any]) -> Iterator[Any]:
    from ..terminal.text import Terminal

    console = Terminal(stderr=True)
    for name in names:
        if console.is_terminal:
            console.print(f"reading {name}", markup=False)
        yield from read_corpus(Path(name), make)


def _liked(names: Sequence[str], settings: Settings) -> Iterator[Mapping[str, float]]:
    """Yield the weighted words of each page named; unreadable pages are reported.

    Names are files of saved pages, folders of them, URLs, and exports of a browser's history: CSV with a column `url`.
    """
    from pipelines.document.document import parse
    from pipelines.extract import extractor
    from pipelines.focus.profile import weigh_page

    histories = [name for name in names if name.lower().endswith(".csv")]
    urls = [_url(name) for name in names if "://" in name]
    urls += [url for name in histories for url in _history(Path(name))]
    extract = extractor(value_of(settings, "EXTRACTOR"), value_of(settings, "EXTRACTOR_PARAMS"))
    most_bytes = value_of(settings, "DOWNLOAD_MAXSIZE")
    for saved in everything([name for name in names if "://" not in name and name not in histories]):
        try:
            body = read(saved, most_bytes)
        except InputError as problem:
            _pass_over(saved.id, str(problem))
            continue
        document = parse(body, page_url(saved.url, body))
        yield weigh_page(document, extract(document))
    if urls:
        from ..fetch.one_shot import fetch

        for url, page in fetch(urls, settings, value_of(settings, "CONCURRENT_REQUESTS")).items():
            if page.problem:
                _pass_over(url, page.problem)
                continue
            document = parse(page.body, page.url, page.content_type)
            yield weigh_page(document, extract(document))


def _history(path: Path) -> list[str]:
    """Return the URLs of a browser's history, each once, in the file's order.

    The first line of the CSV names a column `url`, in any case; other columns are ignored.
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
    urls = list(dict.fromkeys(url for cell in cells if "://" in cell and (url := canonicalize(cell.strip()))))
    if not urls:
        raise InputError(f"{path} names no web address")
    return urls[:MOST_URLS]


def _url(name: str) -> str:
    from pipelines.urls import canonicalize

    url = canonicalize(name)
    if url is None:
        raise InputError(f"{name!r} is no http or https URL")
    return url


def _pass_over(name: str, why: str) -> None:
    sys.stderr.write(f"scrapy train: {name} is passed over: {why}\n")


def _labelled(names: Sequence[str], _: Settings) -> Iterator[LabelledText]:
    from pipelines.text.classes.structure import place
    from pipelines.text.classes.vectors import Text
    from pipelines.training.classes import LabelledText

    wanted = 'a JSON object like {"id": 1, "text": "...", "label": "sport"} is expected, or "labels": ["a", "b"]'
    for where, row in _text_rows(names, wanted):
        labels = row["labels"] if "labels" in row else [row.get("label")]
        if not isinstance(labels, list) or not all(isinstance(label, str) and label for label in labels):
            raise InputError(f"{where}: its label is missing; {wanted}")
        text = Text(row["title"], row["text"])
        if isinstance(html := row.get("html"), str):
            text = place(page_of(html), row["title"], row["text"])
        yield LabelledText(text._replace(language=language_of(row)), tuple(labels), str(row.get("source") or ""))


def _with_keywords(names: Sequence[str], _: Settings) -> Iterator[KeywordExample]:
    from pipelines.text.analysis import analyse
    from pipelines.text.frequencies import shipped
    from pipelines.training.keywords import example

    wanted = 'a JSON object like {"id": 1, "text": "...", "keys": ["bridge", "river"]} is expected'
    for where, row in _text_rows(names, wanted):
        keys = row.get("keys")
        if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
            raise InputError(f"{where}: its keys are missing; {wanted}")
        yield example(analyse(row["title"], row["text"], language_of(row)), keys, shipped())


def _judged(names: Sequence[str], _: Settings) -> Iterator[HarmExample]:
    from pipelines.training.harmful import CLEAN_LABELS, KIND_OF, HarmExample

    labels = (*CLEAN_LABELS, *KIND_OF)
    wanted = 'a JSON object like {"id": 1, "text": "...", "label": "clean"} is expected'
    for where, row in _text_rows(names, wanted):
        if row.get("label") not in labels:
            raise InputError(f"{where}: its label {row.get('label')!r} is none of {', '.join(labels)}; {wanted}")
        links = row.get("links") or []
        if not isinstance(links, list) or not all(isinstance(link, str) for link in links):
            raise InputError(f"{where}: its links are no list of texts; {wanted}")
        yield HarmExample(row["label"], row["title"], row["text"], str(row.get("source") or ""), tuple(links))


def _text_rows(names: Sequence[str], wanted: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place of each row of files, for messages, and the row."""
    for name in names:
        with opened(name) as lines:
            for key, row in rows_of(lines, name, wanted):
                yield f"{name}, document {key}", row


def _analysed(names: Sequence[str], settings: Settings) -> Iterator[AnalysedText]:
    from pipelines.export.read import read_articles
    from pipelines.text.analysis import analyse

    if not names:
        for article in read_articles(value_of(settings, "DATABASE_URL")):
            if article.duplicate_of is None:
                yield analyse(article.title, article.text, article.language)
    for _, row in _text_rows(names, WANTED):
        yield analyse(row["title"], row["text"], language_of(row))


@dataclass(frozen=True, slots=True)
class _Model:
    module: str
    """In `pipelines.training`: its `learn_model` takes the examples, and the options as keywords."""
    read: Callable[[Sequence[str], Settings], Iterator[Any]]
    options: tuple[str, ...] = ()
    others: Callable[[Settings], Mapping[str, object]] = lambda _: {}
    """Returns further keywords of `learn_model`."""
    package: str = ""
    """Of the extra `train`, without which no page is read."""
    is_shipped: bool = False
    """Without `--output` it goes where the crawl reads it, else into the current folder."""
    reads_crawl: bool = False
    """Without names it learns from the crawl's database."""


MODELS: Final[Mapping[str, _Model]] = {
    "blocks": _Model("weighted", _corpora, ("particles", "generations", "seed"), is_shipped=True),
    "combined": _Model("extraction", _corpora, ("networks", "epochs", "seed"), package="sklearn", is_shipped=True),
    "kinds": _Model(
        "page_kind_examples",
        _known_pages,
        ("seed",),
        lambda _: {"fetched_at": datetime.now(UTC)},
        package="sklearn",
        is_shipped=True,
    ),
    "words": _Model("naive_bayes", _corpora, ("words",), is_shipped=True),
    "classes": _Model(
        "classes",
        _labelled,
        ("method", "select", "precision", "synonyms"),
        lambda settings: {"params": value_of(settings, "CLASSIFIER_PARAMS")},
    ),
    "keywords": _Model("keywords", _with_keywords, ("method",)),
    "harmful": _Model("harmful", _judged, ("seed",), package="sklearn"),
    "lexicon": _Model("vocabulary", _analysed, reads_crawl=True),
    "profile": _Model("profile", _liked, ("terms",)),
}
"""Models by name; that of a shipped one is also the name of its file."""
