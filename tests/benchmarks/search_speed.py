"""Search among a million articles: cost of indexing, time of queries, size of the index.

    uv run python -m tests.benchmarks.search_speed build sqlite:///big.db --articles 1000000
    uv run python -m tests.benchmarks.search_speed query sqlite:///big.db
    uv run python -m tests.benchmarks.search_speed indexing sqlite:///small.db --articles 20000

Articles are recombined from sentences of `text/search_*/docs.jsonl.gz` below BENCH_DATA (default: `../shared/data`
beside the project): 400 sites, three years, one in twenty a reprint; they are written by the code of the crawl, with
rows of sites, hosts, URLs and a run. Terms are put together from those of the sentences, as workers would make them of
the whole. `indexing` writes the same articles with and without the index and compares the transactions. `query` asks a
mix of headlines, words, common words, phrases, filters, English and misspelt words.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from sqlalchemy import Connection

from db.articles import apply
from db.engine.database import Database, open_for_crawl, open_for_reading
from db.engine.statements import insert_rows, is_postgres
from db.records.article import MatchDecision, NewArticle
from db.records.keys import fingerprint
from db.records.search import IndexTerms
from db.search import index as search_index
from db.tables.runs import RunRow
from db.tables.urls import HostRow, SiteRow, UrlRow
from pipelines.dedup import method
from pipelines.dedup.judge import SignatureIndex
from pipelines.search.records import SearchQuery
from pipelines.search.search import SearchOptions, search
from pipelines.search.terms import BODY_SHIFT, HASH_SHIFT, LEAD, MOST_IN_BODY, NAMES, TITLE, index_terms

from .commands import new_parser
from .data import DATA, read_rows

TEXT = DATA / "text"
SETS = {"search_xwlb": ("zh-Hans", 12), "search_drcd": ("zh-Hant", 4), "search_cmrc": ("zh-Hans", 3)}
"""Sets of documents with their language, and how often each is drawn; English is drawn beside them."""
ENGLISH = ("search_cranfield", 1)
SITES, REPRINTS, BATCH, MERGED, ROUNDS = 400, 0.05, 200, 5, 3
FIRST, DAYS = datetime(2023, 12, 1, tzinfo=UTC), 1_092
SECTIONS = ("国内", "国际", "财经", "体育", "文化", "科技", "社会", "")
AUTHORS = ("李四", "", "王小明、张伟", "", "Jane Miller", "")
CLASSES = ("politics", "economy", "sport", "culture", "science", "society")
_SENTENCE = re.compile(r"[^。！？\n]{8,300}[。！？]?")
_ENGLISH = re.compile(r"[^.\n]{20,400} \.")


class Sentence(NamedTuple):
    """A sentence with its words and its packed terms, without their heads."""

    text: str
    words: tuple[str, ...]
    numbers: np.ndarray
    tokens: int
    form: int


class Content(NamedTuple):
    """The part that reprints of each other share."""

    title: str
    text: str
    language: str
    authors: str
    source: str
    terms: IndexTerms


class RealTexts:
    """Articles of recombined sentences, from a seed; `count` of them fill the years."""

    def __init__(self, count: int, seed: int = 1) -> None:
        self._count = count
        self._draw = random.Random(seed)
        self._documents: dict[str, list[list[Sentence]]] = {}
        for name, language, pattern in [(n, s[0], _SENTENCE) for n, s in SETS.items()] + [(ENGLISH[0], "en", _ENGLISH)]:
            self._documents[name] = list(self._read(name, language, pattern))
        names = [*SETS, ENGLISH[0]]
        self._names = names
        self._shares = [*(share for _, share in SETS.values()), ENGLISH[1]]
        self._recent: list[Content] = []
        self._names_of: dict[tuple[str, str], Sentence] = {}

    def _read(self, name: str, language: str, pattern: re.Pattern[str]) -> Iterator[list[Sentence]]:
        for row in islice(read_rows(TEXT / name / "docs.jsonl.gz"), 6_000):
            sentences = [self._sentence(text, language) for text in pattern.findall(row["text"])[:30]]
            if sentences:
                yield sentences

    @staticmethod
    def _sentence(text: str, language: str) -> Sentence:
        words, terms = index_terms("", text, "", "", language)
        numbers = np.frombuffer(terms, "<u4")
        return Sentence(text, tuple(words.split(" ")), numbers[2:], int(numbers[1]), int(numbers[0] >> 24))

    def articles(self, first: int, count: int) -> Iterator[NewArticle]:
        """Yield articles with these numbers."""
        for number in range(first, first + count):
            if self._recent and self._draw.random() < REPRINTS:
                yield self._article(number, self._draw.choice(self._recent))
                continue
            name = self._draw.choices(self._names, self._shares)[0]
            made = self._made(number, name)
            self._recent = [*self._recent[-200:], made]
            yield self._article(number, made)

    def _made(self, number: int, name: str) -> Content:
        documents = self._documents[name]
        language = SETS[name][0] if name in SETS else "en"
        parts: list[Sentence] = []
        wanted = self._draw.randint(450, 1_100) if language != "en" else self._draw.randint(1_000, 2_500)
        chars = 0
        while chars < wanted:
            document = documents[int(self._draw.random() * len(documents))]
            start = int(self._draw.random() * len(document))
            some = document[start : start + 1 + int(self._draw.random() * 4)]
            parts += some
            chars += sum(len(part.text) for part in some)
        title, *rest = sorted(parts[:3], key=lambda part: len(part.text)) + parts[3:]
        text = "\n".join(part.text for part in rest)
        authors = AUTHORS[number % len(AUTHORS)]
        source = f"第{number % 60}通讯社" if number % 3 else ""
        names = self._names_of.get((authors, source))
        if names is None:
            names = self._names_of[authors, source] = self._sentence(f"{authors}\n{source}", "zh-Hans")
        numbers = np.sort(np.concatenate([part.numbers for part in rest]))
        starts = np.flatnonzero(np.diff(numbers >> HASH_SHIFT, prepend=-1))
        bodies = np.minimum(np.add.reduceat(numbers >> BODY_SHIFT & MOST_IN_BODY, starts), MOST_IN_BODY)
        fields = [numbers[starts] >> HASH_SHIFT << HASH_SHIFT | bodies << BODY_SHIFT]
        fields += [
            part.numbers >> HASH_SHIFT << HASH_SHIFT | bit
            for part, bit in ((title, TITLE), (names, NAMES), (rest[0], LEAD))
        ]
        each = np.sort(np.concatenate(fields))
        starts = np.flatnonzero(np.diff(each >> HASH_SHIFT, prepend=-1))
        heads = [title.form << 24 | title.tokens, sum(part.tokens for part in rest)]
        terms = np.concatenate([heads, np.bitwise_or.reduceat(each, starts)]).astype("<u4").tobytes()
        words = " ".join(set(title.words).union(names.words, *[part.words for part in rest]) - {""})
        return Content(title.text, text, language, authors, source, IndexTerms(words, terms))

    def _article(self, number: int, content: Content) -> NewArticle:
        site = int(SITES * self._draw.random() ** 2)
        day = min(1.0, number / self._count) * DAYS + self._draw.random() * 3
        moment = FIRST + timedelta(days=day, seconds=self._draw.randrange(86_400))
        return NewArticle(
            id=fingerprint(url_of(number, site)),
            site_id=fingerprint(f"site{site}.example"),
            title=content.title,
            authors=content.authors,
            source=content.source,
            published_at=moment.isoformat(timespec="seconds"),
            published_utc=str(moment.replace(tzinfo=None)),
            published_precision="second",
            published_from="meta",
            language=content.language,
            text=content.text,
            html="",
            description="",
            tags="",
            section=SECTIONS[number % len(SECTIONS)],
            classes=CLASSES[number % len(CLASSES)],
            quality=0.9,
            extractor="combined",
            text_hash=fingerprint(content.text),
            features=b"",
            length=0,
            images=(),
            canonical_id=None,
            seen=(moment + timedelta(minutes=10)).isoformat(timespec="seconds"),
            index_terms=content.terms,
        )


def url_of(number: int, site: int) -> str:
    return f"https://www.site{site}.example/news/{number // 250}/{number}.html"


def same_text(new: NewArticle, candidates: Any) -> MatchDecision | None:
    """Judge: what has the same text is a reprint."""
    for one in candidates:
        if one.text == new.text and one.id != new.id:
            return MatchDecision(one, 1.0, "exact", "same", repeats=True, same_page=False, own_wording=False)
    return None


def prepare(database: Database) -> None:
    """Write sites, hosts and a run."""

    def rows(connection: Connection) -> None:
        names = [(fingerprint(f"site{n}.example"), f"site{n}.example", FIRST.isoformat()) for n in range(SITES)]
        insert_rows(connection, SiteRow.table(), ("id", "name", "first_seen"), names)
        hosts = [(fingerprint(f"www.{name}"), key, f"www.{name}", "https") for key, name, _ in names]
        insert_rows(connection, HostRow.table(), ("id", "site_id", "name", "scheme"), hosts)
        begun, ended = FIRST.isoformat(), (FIRST + timedelta(days=DAYS)).isoformat()
        values = {"started": begun, "finished": ended, "outcome": "finished", "exit_code": 0, "machine": "bench"}
        more = {"pid": 1, "alive_until": 0.0, "settings": "{}", "totals": "{}"}
        connection.execute(RunRow.table().insert().values(**values, **more))

    database.write(rows)


_SITE_NUMBERS = {fingerprint(f"site{n}.example"): n for n in range(SITES)}
_URL = ("id", "url", "host_id", "kind", "state", "page_kind", "depth", "score", "score_parts", "found_in", "found_at")


def write_batch(connection: Connection, articles: list[NewArticle], numbers: range, index: SignatureIndex) -> None:
    """Write articles and their URLs as a crawl has them in the end."""
    draw = random.Random(numbers.start)
    urls = []
    for number, new in zip(numbers, articles, strict=True):
        found = url_of(number, _SITE_NUMBERS[new.site_id])
        score = round(draw.random() ** 3, 4)
        parts = json.dumps({"pagerank": score, "freshness": 0.5})
        at = datetime.fromisoformat(new.seen).timestamp()
        host = fingerprint(found.split("/")[2])
        urls.append((new.id, found, host, "page", "done", "article", 2, score, parts, 1, at, at, 200, 1))
    insert_rows(connection, UrlRow.table(), (*_URL, "fetched_at", "http_status", "visits"), urls)
    apply.add(connection, articles, same_text, index, make_terms=index_terms)


def build(url: str, count: int) -> None:
    """Build a database, going on where it was left."""
    database = open_for_crawl(url)
    texts = RealTexts(count)
    index = SignatureIndex(method(), None)
    first = database.read(lambda c: c.exec_driver_sql("SELECT count(*) FROM url").scalar_one())
    if not first:
        prepare(database)
    begun = time.perf_counter()
    with database.connect_writer() as connection:
        for start in range(first, count, BATCH):
            numbers = range(start, min(start + BATCH, count))
            articles = list(texts.articles(start, len(numbers)))
            with database.writing(connection):
                write_batch(connection, articles, numbers, index)
            if (start // BATCH) % 50 == 0:
                print(f"{numbers.stop:,} articles, {time.perf_counter() - begun:.0f} s", flush=True)
        if is_postgres(connection):
            connection.exec_driver_sql("COMMIT")
    database.close()


def indexing(url: str, count: int) -> None:
    """Write the same articles with and without the index; print the difference."""
    spent: dict[str, float] = {}
    cpu: dict[str, float] = {}
    merging = dict.fromkeys(("with", "without"), 0.0)
    for name in ("with", "without"):
        database = open_for_crawl(url.replace("NAME", name))
        prepare(database)
        texts = RealTexts(count)
        index = SignatureIndex(method(), None)
        wall = used = 0.0
        nothing = mock.patch.object(search_index, "insert", return_value=None)
        with database.connect_writer() as connection:
            for start in range(0, count, BATCH):
                numbers = range(start, min(start + BATCH, count))
                articles = list(texts.articles(start, len(numbers)))
                before, cpu_before = time.perf_counter(), time.process_time()
                if name == "without":
                    nothing.start()
                with database.writing(connection):
                    write_batch(connection, articles, numbers, index)
                if name == "without":
                    nothing.stop()
                wall += time.perf_counter() - before
                used += time.process_time() - cpu_before
                if start // BATCH % MERGED == MERGED - 1:  # as a crawl does beside its pages
                    before = time.perf_counter()
                    database.read(search_index.merge_pending)
                    merging[name] += time.perf_counter() - before
        spent[name], cpu[name] = 1000 * wall / count, 1000 * used / count
        database.close()
    for name, values in (("time", spent), ("CPU of this process", cpu)):
        more = values["with"] - values["without"]
        print(f"{name}: {values['without']:.3f} ms an article without, {values['with']:.3f} with: {more:.3f} more")
    print(f"merged beside: {1000 * merging['with'] / count:.3f} ms an article")


def queries(seed: int = 7) -> list[tuple[str, SearchQuery]]:
    """Draw a mix of queries, each with its kind."""
    draw = random.Random(seed)
    headlines = []
    for name in ("search_xwlb", "search_drcd", "search_cmrc"):
        headlines += [row["text"] for row in islice(read_rows(TEXT / name / "queries.dev.jsonl.gz"), 200)]
    english = [row["text"] for row in read_rows(TEXT / ENGLISH[0] / "queries.dev.jsonl.gz")]
    words = [
        "港口",
        "航运",
        "台风",
        "经济",
        "教育",
        "医院",
        "足球",
        "桥梁",
        "铁路",
        "农业",
        "环境",
        "法院",
        "股市",
        "博物馆",
        "大学",
        "地震",
        "外交",
        "能源",
        "旅游",
        "粮食",
    ]
    common = [
        "中国",
        "发展",
        "人民",
        "我们",
        "工作",
        "国家",
        "新闻",
        "中国",
        "经济",
        "发展",
        "中国",
        "人民",
        "合作",
        "北京",
        "记者",
        "消息",
    ]
    mixed: list[tuple[str, SearchQuery]] = []
    for _ in range(30):
        headline = draw.choice(headlines)
        mixed += [
            ("headline", SearchQuery(headline)),
            ("one word", SearchQuery(draw.choice(words))),
            ("two words", SearchQuery(" ".join(draw.sample(words, 2)))),
            ("three words", SearchQuery(" ".join(draw.sample(words + common, 3)))),
            ("common", SearchQuery(draw.choice(common))),
            ("two common", SearchQuery(" ".join(draw.sample(common, 2)))),
            ("phrase", SearchQuery(f"“{headline[2:8]}”")),
            ("site", SearchQuery(draw.choice(words), site=f"site{draw.randrange(300)}.example")),
            ("dates", SearchQuery(draw.choice(common), since="2018-03-01", until="2018-05-31")),
            ("language", SearchQuery(draw.choice(words), language="zh-Hant")),
            ("english", SearchQuery(draw.choice(english))),
            ("misspelt", SearchQuery("".join(draw.sample(headline[:8], min(8, len(headline)))))),
            ("newest", SearchQuery()),
            ("newest of site", SearchQuery(site=f"site{draw.randrange(300)}.example")),
        ]
    return mixed


def query(url: str) -> None:
    """Ask the mix several times; print times of the first round, and the fastest, which others disturb least."""
    database = open_for_reading(url)
    mixed = queries()
    times: list[list[float]] = []
    cpu = time.process_time()
    with database.engine.connect() as connection:
        for _, one in mixed[:14]:  # imports, dictionaries, caches of statements
            search(connection, one, SearchOptions(), time.time())
        for _ in range(ROUNDS):
            times.append([])
            cpu = time.process_time()
            for _, one in mixed:
                begun = time.perf_counter()
                search(connection, one, SearchOptions(), time.time())
                times[-1].append(1000 * (time.perf_counter() - begun))
        cpu = 1000 * (time.process_time() - cpu) / len(mixed)
        kinds = dict.fromkeys(kind for kind, _ in mixed)
        for name in (*kinds, "all"):
            of_kind = [n for n, (kind, _) in enumerate(mixed) if name in {kind, "all"}]
            first, fastest = [times[0][n] for n in of_kind], [min(each[n] for each in times) for n in of_kind]
            shown = (f"p50 {statistics.median(each):6.1f} p95 {_p95(each):6.1f}" for each in (first, fastest))
            print(f"{name:15} first: {next(shown)} ms   fastest of {ROUNDS}: {next(shown)} ms")
        print(f"CPU of this process: {cpu:.1f} ms a query")
        for name, size in sizes(connection):
            print(f"{name:25} {size / 1e6:10.1f} MB")
    database.close()


def _p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]


def sizes(connection: Connection) -> list[tuple[str, int]]:
    """Bytes of the index and of all."""
    if is_postgres(connection):
        names = "pg_table_size('search_document'), pg_relation_size('ix_search_document_words')"
        row = connection.exec_driver_sql(f"SELECT {names}, pg_database_size(current_database())").one()
        return list(zip(("search_document", "words (GIN)", "database"), row, strict=True))
    words = connection.exec_driver_sql("SELECT sum(length(block)) FROM search_words_data").scalar_one()
    terms = connection.exec_driver_sql(
        "SELECT (SELECT count(*) FROM search_document) * avg(length(terms) + 60) FROM "
        "(SELECT terms FROM search_document LIMIT 20000)"
    ).scalar_one()
    pages = connection.exec_driver_sql("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    return [("search_words", words), ("search_document", int(terms)), ("database", pages.scalar_one())]


def main() -> None:
    parser = new_parser(__doc__)
    parser.add_argument("work", choices=("build", "query", "indexing"))
    parser.add_argument("url", help="for indexing with NAME in it, for two databases")
    parser.add_argument("--articles", type=int, default=20_000)
    given = parser.parse_args()
    if given.work == "build":
        build(given.url, given.articles)
    elif given.work == "indexing":
        indexing(given.url, given.articles)
    else:
        query(given.url)


if __name__ == "__main__":
    main()
