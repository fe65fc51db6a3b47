"""`scrapy search WORDS`: find stored articles by their words."""

from __future__ import annotations

import sys
import time
from argparse import BooleanOptionalAction
from typing import TYPE_CHECKING, Any

from ..options.given import value_of
from ..run.command import NewsCommand, add_format, opened_all, opened_to_change
from ..run.full_text import renew_indexes, say

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from rich.console import Console
    from rich.text import Text

    from db.desk.file import DeskFile
    from db.search.documents import SearchedDocument
    from pipelines.search.expansion import SynonymsOf
    from pipelines.search.records import Hit, SearchQuery, SearchResult, Span

    from ..terminal.output import Output

_MOST_HITS = 1_000
_COLUMNS = (
    "rank",
    "score",
    "id",
    "url",
    "site",
    "title",
    "published_at",
    "source",
    "authors",
    "language",
    "section",
    "reprints",
    "snippet",
    "partial",
)
_MOST_RANKED = 100
_AT_ONCE = 500


class Command(NewsCommand):
    usage = (
        "[WORDS...] [--site NAME] [--since DAY] [--until DAY] [--sort ORDER] [--limit N] [--format NAME] | "
        "--documents FILE --queries FILE [--output FILE] | --rebuild"
    )
    summary = "Find articles by their words"
    description = (
        "Words are sought in title, text, authors, source, description and tags; simplified and traditional "
        "characters meet, words with and without accents, and forms of a word. All words must be there; where fewer "
        'than ten stories have all, others follow. "A phrase" (“ ”, 「 」) must stand so in title or text; -word must '
        "not be there; A OR B, A AND B and brackets join; title:word, author:name, site:, source:, class:, lang:, "
        "label:, is:starred, is:read, is:unread, after: and before: say where, which and when; near:5(two words) have "
        "at most five words between. Queries that "
        "begin with - are written behind --. Without words the newest articles are listed. Of articles that repeat "
        "one another one is shown, with the number of its reprints."
    )
    most_arguments = None
    examples = (
        ("scrapy search harbour shipping", "List the best stories with these words, in any language"),
        ('scrapy search "\\"Long Bridge\\"" --site example.com --since 2024-05', "Those with this phrase, on one site"),
        ("scrapy search 'title:(port OR ferry) -strike after:2024-05'", "Use operators"),
        ("scrapy search typhoon --limit 100 --format csv", "Take a hundred of them into a spreadsheet"),
        ("scrapy search --documents docs.jsonl --queries queries.jsonl --output run.tsv", "Search any documents"),
        ("scrapy search --rebuild", "Make the full-text index anew, after an update of this program"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--site", default="", metavar="NAME", help="of sites with this in their name")
        parser.add_argument("--since", default="", metavar="DAY", help="published then or later: 2024-05-01, 7d")
        parser.add_argument("--until", default="", metavar="DAY", help="published then or earlier")
        parser.add_argument("--language", default="", metavar="CODE", help="in a language: zh, zh-Hant, en")
        parser.add_argument("--source", default="", metavar="NAME", help="of a source, as the article names it")
        parser.add_argument("--section", default="", metavar="NAME", help="in a section, as the page names it")
        parser.add_argument(
            "--class", dest="classes", default="", metavar="NAME", help="of a class, as the model names it"
        )
        parser.add_argument(
            "--sort",
            choices=("relevance", "newest", "oldest", "reprinted"),
            default="",
            help="order of the stories: by relevance (with words), the newest first (without), the oldest, or those "
            "with the most reprints",
        )
        parser.add_argument("--limit", default="10", metavar="N", help=f"stories to list (10; at most {_MOST_HITS:,})")
        parser.add_argument(
            "--expand",
            action=BooleanOptionalAction,
            default=False,
            help="search also synonyms (SEARCH_SYNONYMS), and words that go with those of the query in the articles "
            "found, and say which (no)",
        )
        add_format(parser)
        parser.add_argument("--rebuild", action="store_true", help="make the full-text index anew")
        parser.add_argument("--documents", metavar="FILE", help="search these instead: .jsonl, .jsonl.gz or -")
        parser.add_argument("--queries", metavar="FILE", help="with --documents: JSON lines with id and text")
        parser.add_argument("--output", metavar="FILE", default="-", help="with --documents: the run (standard output)")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from pipelines.search.expansion import load_synonyms
        from pipelines.search.records import SearchQuery

        from ..terminal.output import Output
        from ..terminal.text import Field

        output = Output(opts.format, wide=opts.wide)
        if opts.rebuild:
            if args:
                raise ValueError("--rebuild takes no words")
            self._rebuild(output)
            return
        if opts.documents or opts.queries:
            if args or not (opts.documents and opts.queries):
                raise ValueError("--documents and --queries go together, and take no words")
            self.refuse_outputs(opts.output, inputs=[opts.documents, opts.queries])
            weights = value_of(self.settings, "SEARCH_WEIGHTS")
            synonyms = load_synonyms(value_of(self.settings, "SEARCH_SYNONYMS"))
            counts = run_queries(
                opts.documents, opts.queries, opts.output, weights, expand=opts.expand, synonyms=synonyms
            )
            sys.stderr.write("{:,} documents, {:,} queries\n".format(*counts))
            return
        if not (opts.limit.isdecimal() and 1 <= int(opts.limit) <= _MOST_HITS):
            raise ValueError(f"--limit {opts.limit!r} is no number from 1 to {_MOST_HITS}")
        names = ("site", "since", "until", "language", "source", "section", "classes")
        values = {name: getattr(opts, name) for name in names}
        query = SearchQuery(" ".join(args), **values, limit=int(opts.limit), expand=opts.expand, sort=opts.sort)
        name, result = self._search(query)
        if output.is_table:
            _show(output.console, name, result, is_sorted=opts.sort not in {"", "relevance"})
            return
        for note in (*result.notes, *_also(result)):
            sys.stderr.write(f"{note}\n")
        rows = [_row(rank, hit, is_partial=rank > result.total) for rank, hit in enumerate(result.hits, 1)]
        output.show("", [Field("", key=name) for name in _COLUMNS], rows)

    def _search(self, query: SearchQuery) -> tuple[str, SearchResult]:
        from contextlib import ExitStack
        from dataclasses import replace

        from db.desk.marks import MarkIndex
        from db.search.clicks import ClickFile, beside
        from db.shards.databases import Shards
        from pipelines.search.clicks import learn, query_key
        from pipelines.search.expansion import load_synonyms
        from pipelines.search.query import asks_for_marks
        from pipelines.search.search import SearchOptions, search

        clicks = ClickFile(beside(Shards.read(value_of(self.settings, "DATABASE_URL")).urls[0])).read()
        model = learn(clicks)
        options = SearchOptions(
            value_of(self.settings, "SEARCH_WEIGHTS"),
            model.relevances(query_key(query.text)),
            model.readers,
            load_synonyms(value_of(self.settings, "SEARCH_SYNONYMS")),
        )
        renew_indexes(self)
        with opened_all(self) as databases, ExitStack() as stack:
            if asks_for_marks(query) and (desk := self._desk()).exists():
                query = replace(query, marked=MarkIndex(desk).marked([database.read for database in databases]))
            first, *others = [stack.enter_context(database.reading_only()) for database in databases]
            result = search(first, query, options, time.time(), others)
        return ", ".join(database.name for database in databases), result

    def _desk(self) -> DeskFile:
        from db.desk.file import DeskFile
        from db.shards.databases import Shards

        from ..options.alerts import desk_path

        first = Shards.read(value_of(self.settings, "DATABASE_URL")).urls[0]
        return DeskFile(desk_path(value_of(self.settings, "DESK"), first))

    def _rebuild(self, output: Output) -> None:
        from db.articles.signatures import write_alone
        from db.search import index
        from pipelines.search.terms import index_terms

        with opened_to_change(self) as database:
            progress = index.IndexingProgress(say)
            made = write_alone(database, lambda connection: index.rebuild(connection, index_terms, progress))
        output.say(f"Database: {database.name}\n{made:,} articles indexed")
        output.record("", {"database": database.name, "articles": made})


def run_queries(
    documents: str,
    queries: str,
    output: str,
    weights: Mapping[str, float],
    *,
    expand: bool = False,
    synonyms: SynonymsOf | None = None,
) -> tuple[int, int]:
    """Search a file of documents for each query of another; return counts of both.

    Args:
        documents: JSON lines with id and text, maybe title, language, authors, source, url and published_at; .gz is
            unpacked, "-" is standard input.
        queries: JSON lines with id and text.
        output: gets lines of tabs: id of the query, id of the document, rank from 1, at most `_MOST_RANKED` a query;
            "-" is standard output.

    Raises:
        InputError: a line that is no document or query, or a query that is wrong; nothing was searched then.
        OSError: a file that cannot be opened.

    Cost: 2 ms a document of 1,000 characters, 20 to 60 ms a query; a temporary database on the disk.
    """
    import tempfile
    from contextlib import ExitStack, closing
    from functools import partial
    from itertools import islice

    from db.engine.database import open_for_crawl
    from db.search import documents as searched
    from pipelines.search.conditions import NO_MARKS
    from pipelines.search.language import QueryError
    from pipelines.search.query import asks_for_marks
    from pipelines.search.records import SearchQuery
    from pipelines.search.search import SearchOptions, search

    from ..corpus.documents import WANTED, opened, rows_of
    from ..corpus.saved_pages import InputError

    with opened(queries) as lines:
        wanted = 'a JSON object like {"id": 1, "text": "..."} is expected'
        asked = [(key, row["text"]) for key, row in rows_of(lines, queries, wanted)]
    for key, text in asked:
        try:
            if asks_for_marks(SearchQuery(text)):
                raise InputError(f"{queries}, query {key}: {NO_MARKS}")
        except QueryError as error:
            raise InputError(f"{queries}, query {key}: {error}") from None
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        database = stack.enter_context(closing(open_for_crawl(f"sqlite:///{folder}/documents.db")))
        lines = stack.enter_context(opened(documents))
        made = (_document(n, key, row) for n, (key, row) in enumerate(rows_of(lines, documents, WANTED), 1))
        count = 0
        while some := list(islice(made, _AT_ONCE)):
            count += len(some)
            database.write(partial(searched.add, documents=some))
        options = SearchOptions({**weights, "freshness": 0.0, "links": 0.0, "clicks": 0.0}, synonyms=synonyms or {})
        out = sys.stdout if output == "-" else stack.enter_context(open(output, "w", encoding="utf-8"))
        connection = stack.enter_context(database.reading_only())
        for key, text in asked:
            hits = search(connection, SearchQuery(text, limit=_MOST_RANKED, expand=expand), options, 0.0).hits
            out.writelines(f"{key}\t{hit.url}\t{rank}\n" for rank, hit in enumerate(hits, 1))
    return count, len(asked)


def _document(number: int, key: str, row: dict[str, Any]) -> SearchedDocument:
    from db.records.article import JOINED_BY
    from db.search.documents import SearchedDocument
    from pipelines.search.terms import index_terms
    from pipelines.urls import host_key, site_key

    from ..corpus.documents import field_text, language_of

    named = row.get("authors")
    authors = JOINED_BY.join(filter(None, map(field_text, named if isinstance(named, list) else [named])))
    language, source = field_text(language_of(row)), field_text(row.get("source"))
    url = field_text(row.get("url"))
    return SearchedDocument(
        number=number,
        name=key,
        title=row["title"],
        text=row["text"],
        language=language,
        authors=authors,
        source=source,
        site=site_key(host_key(url)) if "://" in url else "",
        published_at=field_text(row.get("published_at")) or None,
        **index_terms(row["title"], row["text"], authors, source, language)._asdict(),
    )


def _row(rank: int, hit: Hit, *, is_partial: bool) -> list[Any]:
    """Return a hit as scripts get it; programs would round its number."""
    from pipelines.search.records import text_of

    made = {"rank": rank, "score": round(hit.score, 4), "id": str(hit.id), "partial": is_partial}
    made |= {"title": text_of(hit.title), "snippet": text_of(hit.snippet)}
    return [made[name] if name in made else getattr(hit, name) for name in _COLUMNS]


def _also(result: SearchResult) -> list[str]:
    return [f"also searched: {', '.join(result.also)}"] if result.also else []


def _show(console: Console, name: str, result: SearchResult, *, is_sorted: bool = False) -> None:
    from rich.table import Table
    from rich.text import Text

    from ..terminal.text import one_line, print_table, shortened

    console.print(f"Database: {name}")
    for note in (*result.notes, *_also(result)):
        console.print(one_line(note))
    if not result.hits:
        console.print("no article fits")
        return
    more = "" if result.is_exact else " or more"
    stories = "story" if result.total == 1 else "stories"
    first = "the first" if is_sorted else "the best"
    console.print(f"{result.total:,}{more} {stories}, {first} {min(len(result.hits), result.total):,} of them")
    width = min(console.width, 160) - 6
    table = Table.grid(padding=(0, 1))
    for rank, hit in enumerate(result.hits, 1):
        reprints = f", {hit.reprints:,} reprint{'s' * (hit.reprints > 1)}" if hit.reprints else ""
        source = f", source {hit.source}" if hit.source else ""
        facts = f"{hit.published_at or f'seen {hit.first_seen}'}  {hit.site}{source}{reprints}"
        if rank == result.total + 1:
            table.add_row(Text(""), Text("with some of the words\n", "bold"))
        story = Text("\n").join(
            [
                _colored(hit.title, "bold"),
                Text(one_line(facts), "dim"),
                _colored(hit.snippet, ""),
                Text(shortened(one_line(hit.url), width), "dim"),
                Text(""),
            ]
        )
        table.add_row(Text(f"{rank:>3}"), story)
    print_table(console, table)


def _colored(spans: Sequence[Span], style: str) -> Text:
    from rich.text import Text

    from ..terminal.text import one_line

    text = Text(style=style)
    for span in spans:
        text.append(one_line(span.text), "bold yellow" if span.is_match else None)
    return text
