"""Queries of every operator, and how many stories fulfil each, counted in the texts themselves.

The words are drawn from the articles, so the queries can be asked of any database. What counts is told here once more,
and plainly: of each article all texts are read, and Python tells whether they fulfil the query. The letters are folded
by `pipelines.text.words.fold`, Chinese is cut by its dictionary to draw words, and endings are Snowball's; nothing else
is shared with the search.
"""

from __future__ import annotations

import dataclasses
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import Stemmer
from sqlalchemy import Connection

from db.engine.database import Database
from db.records.search import TERM_FIELDS
from pipelines.search.records import SearchQuery
from pipelines.search.search import SearchOptions, search
from pipelines.text.words import STOP_WORDS, fold, han_runs
from tests.benchmarks.data import corpus_folder, read_rows
from tests.crawler.web.newsstand import Newsstand, Story, invented

SAVED = ("zhgold", "daniel", "fundus", "magic-article", "xmu")
NOW = 1_718_000_000.0

NEW_TEXT, NEW_FIELD = 20_000, 500
"""Characters of a text and of other fields that are searched."""
_SAMPLED = 400
_COLUMNS = (*TERM_FIELDS, "section", "classes", "site", "published_at", "published_utc", "first_seen")
_ROWS = (
    f"SELECT a.cluster_id, {', '.join(f'v.{name}' for name in _COLUMNS)} "
    "FROM v_articles AS v JOIN article AS a ON a.number = v.number"
)
_UNIT = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]|[^\\W_\u3400-\u4dbf\u4e00-\u9fff]+")
_WORD = re.compile("[^\\W_\u3400-\u4dbf\u4e00-\u9fff]+")
_HAN = re.compile("[\u4e00-\u9fff]+")
_BLANK = re.compile("[-\\s'’]+")
_STEMMER = Stemmer.Stemmer("english")


class Article:
    """An article as it is stored; its texts folded when they are asked for."""

    def __init__(self, row: Sequence[Any]) -> None:
        self.cluster = row[0]
        self.values: dict[str, str] = dict(zip(_COLUMNS, (value or "" for value in row[1:]), strict=True))

    @cached_property
    def folded(self) -> dict[str, str]:
        return {
            name: fold(self.values[name][: NEW_TEXT if name == "text" else NEW_FIELD])
            for name in ("title", "text", "authors", "source", "description", "tags")
        }

    @cached_property
    def anywhere(self) -> str:
        return "\n".join(self.folded.values())

    @cached_property
    def stems(self) -> dict[str, set[str]]:
        return {name: set(map(_stem, _WORD.findall(text))) for name, text in self.folded.items()}

    @cached_property
    def lines(self) -> list[str]:
        return [_BLANK.sub(" ", self.folded[name]) for name in ("title", "text")]

    @cached_property
    def units(self) -> list[list[str]]:
        return [list(map(_stem, _UNIT.findall(self.folded[name]))) for name in ("title", "text")]

    @property
    def day(self) -> str:
        return (self.values["published_at"] or self.values["published_utc"] or self.values["first_seen"])[:10]


@lru_cache(maxsize=100_000)
def _stem(text: str) -> str:
    return str(_STEMMER.stemWord(text))


Holds = Callable[[Article], bool]


class Asked(NamedTuple):
    """A query, and what tells whether an article fulfils it."""

    text: str
    holds: Holds


class Counted(NamedTuple):
    """A query with the number of stories that the search tells, and those that were counted in the texts."""

    text: str
    total: int
    is_exact: bool
    counted: int

    @property
    def is_right(self) -> bool:
        return self.total == self.counted if self.is_exact else self.total < self.counted


def made(count: int, seed: int = 3) -> list[Story]:
    """Make stories of the sentences of the demo's, in three years on nine sites, one in twenty a reprint."""
    draw = random.Random(seed)
    by_language: dict[str, list[str]] = {}
    for story in invented():
        by_language.setdefault(story.language, []).extend(line for line in story.text.split("\n") if line)
    stories: list[Story] = []
    for number in range(count):
        lang = draw.choice(("zh-Hans", "zh-Hans", "zh-Hant", "en"))
        day = date(2021, 6, 1) + timedelta(days=draw.randrange(1_000))
        text = "\n".join(draw.sample(by_language[lang], 6))
        one = Story(
            f"https://site{draw.randrange(9)}.example/{number}",
            draw.choice(by_language[lang])[:40],
            text,
            draw.choice(("李四", "王小明、张伟", "")),
            draw.choice(("新华社", "Herald", "")),
            draw.choice(("财经", "体育", "")),
            lang,
            f"{day}T08:00:00+08:00",
        )
        copied = draw.choice(stories) if stories and draw.random() < 0.05 else one
        stories.append(dataclasses.replace(copied, url=one.url))
    return stories


def saved() -> list[Story]:
    """Return the Chinese and English articles of saved pages below BENCH_DATA, with the texts that people have marked.

    Of other languages only those may be asked for whose endings `word` knows.
    """
    stories = []
    for corpus in SAVED:
        for number, row in enumerate(read_rows(corpus_folder(corpus) / "gold.jsonl")):
            if row.get("lang") in {"zh", "en"} and row["text"]:
                stories.append(
                    Story(
                        f"https://{corpus}{number % 7}.example/{number}",
                        row.get("title") or "",
                        row["text"],
                        "、".join(row.get("authors") or ()),
                        row.get("source") or "",
                        language="en" if row["lang"] == "en" else "zh-Hans",
                        published_at=(row.get("published") or "")[:10] or None,
                    )
                )
    return stories


def store(database: Database, stories: Sequence[Story]) -> None:
    """Store stories as a crawl does."""
    newsstand = Newsstand(database, NOW)
    newsstand.begin()
    newsstand.store(stories)


def articles_of(connection: Connection, most: int = 1 << 40) -> Iterator[Article]:
    for row in connection.execution_options(yield_per=1_000).exec_driver_sql(f"{_ROWS} LIMIT {most}"):
        yield Article(row)


def word(text: str) -> Holds:
    """A word in any field, in whatever form; a Chinese one in a piece."""
    if _HAN.match(text):
        return lambda one: text in one.anywhere
    return lambda one: text[:3] in one.anywhere and any(_stem(text) in stems for stems in one.stems.values())


def phrase(text: str, *fields: str) -> Holds:
    """A phrase as it is written, in title or text, or in the fields given."""
    folded = _BLANK.sub(" ", fold(text))
    names = fields or ("title", "text")
    if _HAN.fullmatch(folded):
        return lambda one: any(folded in one.folded[name] for name in names)
    pattern = re.compile(rf"(?<![^\W_\u4e00-\u9fff]){re.escape(folded)}(?![^\W_\u4e00-\u9fff])")
    first = folded.split()[0]
    return lambda one: first in one.anywhere and any(map(pattern.search, one.lines))


def stem_in(field: str, text: str) -> Holds:
    return lambda one: _stem(text) in one.stems[field]


def value(field: str, text: str) -> Holds:
    return lambda one: text in one.values[field].split("、")


def language(code: str) -> Holds:
    return lambda one: one.values["language"].partition("-")[0] == code


def since(day: str) -> Holds:
    return lambda one: one.day[: len(day)] >= day


def until(day: str) -> Holds:
    return lambda one: one.day[: len(day)] <= day


def near(distance: int, *parts: str) -> Holds:
    """Words with at most so many others between them, whichever comes first."""
    asked = [list(map(_stem, _UNIT.findall(fold(part)))) for part in parts]

    def holds(one: Article) -> bool:
        return all(part[0][:3] in one.anywhere for part in asked) and any(map(_is_near, one.units))

    def _is_near(units: Sequence[str]) -> bool:
        places = [
            [n for n, unit in enumerate(units) if unit == part[0] and list(units[n : n + len(part)]) == part]
            for part in asked
        ]
        first, second = (len(part) for part in asked)
        return any(
            b - (a + first) <= distance if a <= b else a - (b + second) <= distance
            for a in places[0]
            for b in places[1]
        )

    return holds


def no(part: Holds) -> Holds:
    return lambda one: not part(one)


def all_of(*parts: Holds) -> Holds:
    return lambda one: all(part(one) for part in parts)


def any_of(*parts: Holds) -> Holds:
    return lambda one: any(part(one) for part in parts)


def queries(articles: Sequence[Article], seed: int = 5) -> list[Asked]:
    """Draw queries of every operator whose words stand in these articles."""
    draw = random.Random(seed)
    chinese, long, english, together, pairs = _words(articles)
    a, b, c = [text for text, _ in chinese.most_common(3)]
    rare = min(chinese, key=lambda each: (chinese[each], each))
    e, f = [text for text, _ in english.most_common(2)]
    run, two = together.most_common(1)[0][0], pairs.most_common(1)[0][0]
    x, y = two.split()
    piece = _piece(draw, articles)
    longer = long.most_common(1)[0][0]
    named = {
        name: next((each.values[name] for each in articles if each.values[name]), "")
        for name in ("authors", "source", "section", "classes", "site")
    }
    author, class_ = named["authors"].split("、")[0], named["classes"].split("、")[0]
    months = sorted({each.day[:7] for each in articles})
    m, n = months[len(months) // 3], months[2 * len(months) // 3]
    is_author = phrase(author, "authors") if _HAN.fullmatch(author) else phrase_in_authors(author)
    asked = [
        Asked(a, word(a)),
        Asked(rare, word(rare)),
        Asked(f"{a} {b}", all_of(word(a), word(b))),
        Asked(f"{a} AND {b} {c}", all_of(word(a), word(b), word(c))),
        Asked(longer, word(longer)),
        Asked(e, word(e)),
        Asked(f"{e} {f}", all_of(word(e), word(f))),
        Asked(e.upper(), word(e)),
        Asked("".join(chr(ord(sign) + 0xFEE0) for sign in e), word(e)),
        Asked(f"“{run}”", phrase(run)),
        Asked(f"“{piece}”", phrase(piece)),
        Asked(f'"{two}"', phrase(two)),
        Asked(f'"{x}-{y}"', phrase(two)),
        Asked(f"“{a[0]}”", phrase(a[0])),
        Asked(f"{a} OR {b}", any_of(word(a), word(b))),
        Asked(f"{a} OR “{run}”", any_of(word(a), phrase(run))),
        Asked(f"{rare} OR {e}", any_of(word(rare), word(e))),
        Asked(f"({a} OR {b}) AND {c}", all_of(any_of(word(a), word(b)), word(c))),
        Asked(f"{a} AND ({b} OR -{c})", all_of(word(a), any_of(word(b), no(word(c))))),
        Asked(f"{a} -{b}", all_of(word(a), no(word(b)))),
        Asked(f"{a} -“{run}”", all_of(word(a), no(phrase(run)))),
        Asked(f"-{a}", no(word(a))),
        Asked(f"-“{run}”", no(phrase(run))),
        Asked(f"-{e} lang:en", all_of(no(word(e)), language("en"))),
        Asked(f"-({a} {b})", no(all_of(word(a), word(b)))),
        Asked(f"{a} -({b} OR {c})", all_of(word(a), no(word(b)), no(word(c)))),
        Asked(f"title:{a}", phrase(a, "title")),
        Asked(f"title:“{run}”", phrase(run, "title")),
        Asked(f"title:({a} OR {b})", any_of(phrase(a, "title"), phrase(b, "title"))),
        Asked(f"title:{e}", stem_in("title", e)),
        Asked(f'author:"{author}"', is_author),
        Asked(f'source:"{named["source"]}"', value("source", named["source"])),
        Asked(f'{a} section:"{named["section"]}"', all_of(word(a), value("section", named["section"]))),
        Asked(f'class:"{class_}"', value("classes", class_)),
        Asked(f"{a} site:{named['site']}", all_of(word(a), value("site", named["site"]))),
        Asked(
            f"{b} OR (site:{named['site']} -{a})", any_of(word(b), all_of(value("site", named["site"]), no(word(a))))
        ),
        Asked("lang:zh", language("zh")),
        Asked(f"{a} after:{m}", all_of(word(a), since(m))),
        Asked(f"after:{m} before:{n}", all_of(since(m), until(n))),
        Asked(f"before:{n} -{a}", all_of(until(n), no(word(a)))),
        Asked(f"near:5({a} {b})", near(5, a, b)),
        Asked(f"near:0({run[:2]} {run[2:]})", near(0, run[:2], run[2:])),
        Asked(f"near:10({e} {f})", near(10, e, f)),
        Asked(f"{c} -near:20({a} {b})", all_of(word(c), no(near(20, a, b)))),
    ]
    return [each for each in asked if ':""' not in each.text]


def phrase_in_authors(name: str) -> Holds:
    pattern = re.compile(rf"(?<![^\W_]){re.escape(fold(name))}(?![^\W_])")
    return lambda one: bool(pattern.search(one.folded["authors"]))


def _words(articles: Sequence[Article]) -> tuple[Counter[str], Counter[str], Counter[str], Counter[str], Counter[str]]:
    """Count in how many articles stand Chinese words of two and of more characters, English words, and two together."""
    counts: tuple[Counter[str], ...] = tuple(Counter() for _ in range(5))
    for one in articles:
        text = one.folded["text"]
        runs = [cut for _, cut in han_runs(text)]
        single = {each for cut in runs for each in cut if each not in STOP_WORDS and _is_one(each)}
        counts[0].update(each for each in single if len(each) == 2)
        counts[1].update(each for each in single if len(each) > 2)
        counts[3].update({x + y for cut in runs for x, y in pairwise(cut) if {x, y} <= single and len(x + y) == 4})
        if one.values["language"] == "en":
            words = re.findall(r"\b[a-z]{4,}\b", text)
            counts[2].update({each for each in words if each not in STOP_WORDS})
            counts[4].update(
                {
                    f"{x} {y}"
                    for x, y in re.findall(r"\b(?=([a-z]{4,}) ([a-z]{4,})\b)", text)
                    if {x, y}.isdisjoint(STOP_WORDS)
                }
            )
    return counts  # type: ignore[return-value]


@lru_cache(maxsize=100_000)
def _is_one(text: str) -> bool:
    """Tell whether the dictionary leaves a word in a piece where it stands alone."""
    return [cut for _, cut in han_runs(text)] == [[text]]


def _piece(draw: random.Random, articles: Sequence[Article]) -> str:
    """Draw seven Chinese characters out of a text."""
    runs = [run for one in articles for run in _HAN.findall(one.folded["text"]) if len(run) > 9]
    return draw.choice(runs)[1:8]


def compare(connection: Connection, seed: int = 5) -> list[Counted]:
    """Ask the queries of a database, and count their stories in all its texts."""
    sample = list(articles_of(connection, _SAMPLED))
    asked = queries(sample, seed)
    stories: list[set[int]] = [set() for _ in asked]
    for one in articles_of(connection):
        for each, found in zip(asked, stories, strict=True):
            if each.holds(one):
                found.add(one.cluster)
    results = []
    for each, found in zip(asked, stories, strict=True):
        query = SearchQuery(each.text, limit=1, is_thorough=True)
        result = search(connection, query, SearchOptions(), time.time())
        results.append(Counted(each.text, result.total, result.is_exact, len(found)))
    return results
