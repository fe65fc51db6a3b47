"""Articles on a topic within budgets of pages, by preset: on the newsroom, gazettes of the test web, and sections.

    uv run python -m tests.benchmarks.topic [--webs demo,7,21] [--presets breadth,pagerank,news,focused] [--details]
    uv run python -m tests.benchmarks.topic --replay [--webs demo,7,21]

A web is `demo`, the seed of a test web (see `tests.benchmarks.webworld`), or `sections`: every second text of a
labelled set in BENCH_DATA, with topics in words and as classes of a model that was learned from the others. The crawls
without a topic are one for each preset, those with `focused` one for each topic; no pause between requests. The order
in which pages were fetched says what each budget would have brought. An article is on a topic because a reader said so
(newsroom), because it stands in that section, is such a bulletin or names the word in its headline or often (test web),
or because of its label: never because of how the crawler judges it. Prints for each web the mean over its topics, and
the budgets at which `focused` is behind.

How many rounds of scoring a crawl without pauses holds is up to chance. `--replay` crawls each web once, whole, and
plays `focused` on what was stored (`tests.benchmarks.order`): with the rounds of a crawl that has pauses, and
with two in all.
"""

from __future__ import annotations

import html
import json
import random
import sqlite3
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from crawler.demo.content import load_articles
from crawler.demo.server import Newsroom
from crawler.rank.rounds import Rounds
from pipelines.focus import record
from pipelines.records import BlockKind

from ..crawler.crawling import scrapy
from ..crawler.odd_server import Answer, OddServer
from . import webworld
from .commands import new_parser, with_settings
from .crawl_order import table
from .order import CrawlOrder
from .text_classes import rows

PRESETS = ("breadth", "pagerank", "news", "focused")
BUDGETS = (25, 50, 75, 100, 150, 200, 300, 500)
PER_SITE = 60
_PORT = 8580
NEWSROOM = {
    "体育 比赛 球队": (1008, 2113, 4006, 2015, 2016, 2024, 2027),
    "天气 防汛 气象": (1003, 1004, 1005, 3008, 3009, 4012, 4017),
    "交通 公交": (1015, 3111, 1021, 3001, 3018, 1113, 3010, 3024, 2007),
    "医生 医院 健康": (4005, 2025, 1112, 2018, 3016, 2103),
    "历史 文物 遗产": (1009, 2101, 2001, 4102, 3007, 3012, 2028, 1014),
    "股市": (2002, 2003, 2004),
    "动物 生态": (4003, 2121, 2006, 1111, 2017, 1102, 2021, 4101),
    "教育 學校 學生": (2012, 4013, 4014, 4015, 1006, 3011),
    "科技 机器人": (2009, 2011, 1101, 2012, 2018, 2026, 4104, 3020),
    "sport swimming rowing": (5005, 5012, 5020, 5010, 5019),
    "reef crabs tide": (5002, 5017, 5024),
}
"""Topic -> numbers of the articles on it, as a reader of all headlines and leads sorted them, in all scripts."""
OFTEN = 4
GAZETTES: Mapping[str, Callable[[Any], bool]] = {
    "天气预报 气温": lambda article: "天气预报" in article.title,
    "股市 沪指 收盘": lambda article: "收盘综述" in article.title,
    "体育": lambda article: article.channel in {"体育", "體育"},
    "健康": lambda article: article.channel == "健康",
    "医院": lambda article: _names(article, "医院", "醫院"),
    "大学": lambda article: _names(article, "大学", "大學"),
}
"""Topic -> test of an article of the test web's truth."""
SECTIONS = {
    "体育": "体育 比赛 球队",
    "财经": "财经 股市 公司",
    "健康": "健康 医院 疾病",
    "军事": "军事 部队 武器",
}
"""Label of the set `sogouc` -> the topic in words."""
PER_LIST = 12


@dataclass(frozen=True, slots=True)
class Web:
    """A served web: seeds, what may be reached, URLs of the articles on each topic, and a model of classes."""

    seeds: Sequence[str]
    network: str
    topics: Mapping[str, frozenset[str]]
    classes: str = "shipped"


def _names(article: Any, *words: str) -> bool:
    text = "".join(article.paras)
    return any(word in article.title or text.count(word) >= OFTEN for word in words)


def newsroom(served: Newsroom) -> Web:
    """The demo and its topics."""
    numbers = {one.key: one.number for articles in load_articles().values() for one in articles}
    sites = [one for articles in load_articles().values() for one in articles]
    urls = {numbers[one.key]: true.url for one, true in zip(sites, _in_order(served, sites), strict=True)}
    topics = {topic: frozenset(urls[number] for number in wanted) for topic, wanted in NEWSROOM.items()}
    return Web(served.seeds(), f"127.0.0.1:{served.port}", topics)


def _in_order(served: Newsroom, articles: Sequence[Any]) -> list[Any]:
    """The truth of each article."""
    truth = {(one.site, one.title, one.published): one for one in served.truth()}
    return [truth[one.site, one.title, one.published.isoformat()] for one in articles]


def gazettes(folder: Path, seed: int, port: int) -> Web:
    """The gazettes of a test web and their topics."""
    world = _module().World(seed, port, PER_SITE)
    articles = [article for article in world.articles if article.site.group == "gazette"]
    topics = {
        topic: frozenset(url for one in articles if test(one) for url in (one.url, *one.aliases))
        for topic, test in GAZETTES.items()
    }
    seeds = (folder / "seeds-gazette.txt").read_text(encoding="utf-8").split()
    return Web(seeds, webworld.NETWORK, topics)


@contextmanager
def sections(folder: Path) -> Iterator[Web]:
    """Sections of labelled texts, each with lists of its own; of the links of articles six of ten stay in it.

    Lists have no names, links the first words of the text they lead to.
    """
    learned, shown = (rows("sogouc")[half::2] for half in (0, 1))
    data, model = folder / "rows.jsonl", folder / "model.json"
    data.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in learned), encoding="utf-8")
    done = scrapy(folder, "train", "classes", str(data), "--output", str(model), timeout=500)
    if done.returncode:
        raise RuntimeError(done.stderr)
    draw = random.Random(5)
    of_label: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(shown):
        of_label[row["label"]].append(number)
    titles = [html.escape(row["text"][:16]) for row in shown]
    answers: dict[tuple[str, str], Answer] = {}
    home: list[tuple[str, str]] = []
    for place, numbers in enumerate(of_label.values()):
        home.append((f"/s{place}-0.html", f"栏目{place}"))
        for first in range(0, len(numbers), PER_LIST):
            listed = [(f"/{number}.html", titles[number]) for number in numbers[first : first + PER_LIST]]
            following = [(f"/s{place}-{first + PER_LIST}.html", "下一页")] if first + PER_LIST < len(numbers) else []
            answers["a.localhost", f"/s{place}-{first}.html"] = _written(f"栏目{place}", [], [*listed, *following])
    answers["a.localhost", "/"] = _written("首页", [], home)
    for number, row in enumerate(shown):
        others = [
            draw.choice(of_label[row["label"]]) if draw.random() < 0.6 else draw.randrange(len(shown)) for _ in range(4)
        ]
        links = [(f"/{other}.html", titles[other]) for other in others]
        answers["a.localhost", f"/{number}.html"] = _written(titles[number], row["text"].split("\n"), links)
    with OddServer(answers) as server:
        base = f"http://a.localhost:{server.port}"
        topics = {}
        for label, words in SECTIONS.items():
            topics |= dict.fromkeys((words, f"class:{label}"), frozenset(f"{base}/{n}.html" for n in of_label[label]))
        yield Web([f"{base}/"], f"127.0.0.1:{server.port}", topics, str(model))


def _written(title: str, paragraphs: Sequence[str], links: Sequence[tuple[str, str]]) -> Answer:
    body = "".join(f"<p>{html.escape(text)}</p>" for text in paragraphs)
    items = "".join(f'<li><a href="{url}">{anchor}</a></li>' for url, anchor in links)
    head = f"<html><head><title>{title}</title></head><body><h1>{title}</h1>"
    return 200, {}, f"{head}{body}<ul>{items}</ul></body></html>"


def _module() -> ModuleType:
    sys.path.insert(0, str(webworld.WEB))
    import webworld as served

    return served


@contextmanager
def stored(web: Web, preset: str, topic: str, pages: int) -> Iterator[sqlite3.Connection]:
    """The database of a crawl of at most so many pages; 0 for all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "seeds.txt").write_text("\n".join(web.seeds), encoding="utf-8")
        values = {
            "DATABASE_URL": f"sqlite:///{folder}/news.db",
            "ALLOW_NETWORKS": web.network,
            "HOST_DELAY": 0,
            "CRAWL_PRESET": preset,
            "CLASSES": web.classes,
            **({"TOPIC": topic} if topic else {}),
            **({"MAX_PAGES": pages} if pages else {}),
        }
        done = scrapy(folder, "crawl", "news", "-a", f"seeds={folder}/seeds.txt", *with_settings(values), timeout=300)
        if done.returncode not in {0, 3}:
            raise RuntimeError(done.stderr)
        with sqlite3.connect(folder / "news.db") as database:
            yield database


def _fetched(database: sqlite3.Connection) -> list[str]:
    """Fetched pages in their order: the URL of the article that each brought, or an empty string."""
    asked = (
        "SELECT CASE WHEN a.id IS NULL AND p.id IS NULL THEN '' ELSE u.url END FROM url u "
        "LEFT JOIN article a ON a.id = u.id LEFT JOIN part p ON p.id = u.id "
        "WHERE u.kind = 'page' AND u.state IN ('done', 'failed') ORDER BY u.fetched_at"
    )
    return [url for (url,) in database.execute(asked)]


def crawl(web: Web, preset: str, topic: str, pages: int) -> list[str]:
    """Crawl at most so many pages; see `_fetched`."""
    with stored(web, preset, topic, pages) as database:
        return _fetched(database)


class _TwoRounds(Rounds):
    """Rounds of a crawl without pauses: two."""

    def due(self, pages: int) -> bool:
        return any(self._last < at <= pages for at in (60, 220))


class Replay(CrawlOrder):
    """Crawls what a database holds, in the order of `focused`.

    Args:
        database: of a whole crawl with a topic.
        topic: another one.
        rounds: when the queue is scored anew.
    """

    def __init__(self, database: sqlite3.Connection, topic: str, rounds: Rounds) -> None:
        super().__init__()
        self.set_topic(topic, [])
        self._rounds = rounds
        self._stored = dict(database.execute("SELECT u.url, t.terms FROM page_terms t JOIN url u ON u.id = t.url_id"))
        self._url_of = dict(database.execute("SELECT id, url FROM url"))

    def fetch(self, url: str) -> None:
        """Take over a stored page."""
        if url not in self._stored:
            return
        terms, targets = record.unpack(self._stored[url])
        links = [self._url_of.get(target, "") for target in targets.tolist()]
        self.take(url, links, [int(BlockKind.BODY)] * len(links), terms)

    def _round(self) -> None:
        super()._round()
        if self._topic is not None and self._ranking.feedback is not None:
            self._topic = replace(self._topic, feedback=self._ranking.feedback)


def replay(web: Web) -> dict[str, dict[str, list[int]]]:
    """Topic -> rounds -> articles by budget."""
    results: dict[str, dict[str, list[int]]] = {}
    with stored(web, "breadth", next(iter(web.topics)), 0) as database:
        articles = set(_fetched(database))
        for topic, wanted in web.topics.items():
            if topic.startswith("class:"):
                continue
            for name, rounds in (("focused, many rounds", Rounds()), ("focused, two rounds", _TwoRounds())):
                order, pages = Replay(database, topic, rounds), []
                order.add_seeds(web.seeds)
                while len(pages) < BUDGETS[-1] and (chosen := order.next_urls(12)):
                    for url in chosen:
                        order.fetch(url)
                    pages += [url if url in articles else "" for url in chosen]
                results.setdefault(topic, {})[name] = found(pages, wanted)
    return results


def found(pages: Sequence[str], wanted: frozenset[str]) -> list[int]:
    """Articles on the topic among the first pages, for each budget."""
    hits = [0, *accumulate(page in wanted for page in pages)]
    return [hits[min(budget, len(pages))] for budget in BUDGETS]


def compare(web: Web, presets: Sequence[str]) -> dict[str, dict[str, list[int]]]:
    """Topic -> preset -> articles by budget."""
    plain = {preset: crawl(web, preset, "", BUDGETS[-1]) for preset in presets if preset != "focused"}
    results: dict[str, dict[str, list[int]]] = {}
    for topic, wanted in web.topics.items():
        results[topic] = {preset: found(pages, wanted) for preset, pages in plain.items()}
        if "focused" in presets:
            results[topic]["focused"] = found(crawl(web, "focused", topic, BUDGETS[-1]), wanted)
    return results


def report(name: str, web: Web, results: Mapping[str, Mapping[str, Sequence[int]]], *, details: bool) -> None:
    """Print the means, and where `focused` finds less than another preset."""
    presets = list(next(iter(results.values())))
    rows = [
        [f"`{preset}`", *(f"{mean:.1f}" for mean in np.mean([of[preset] for of in results.values()], axis=0))]
        for preset in presets
    ]
    print(f"\n{name}: mean of {len(results)} topics\n\n{table(['preset', *map(str, BUDGETS)], rows)}\n")
    for topic, of in results.items():
        best = np.max([counts for preset, counts in of.items() if preset != "focused"] or [of["focused"]], axis=0)
        behind = np.array(of.get("focused", best)) - best
        worst = ", ".join(f"{n} at {b}" for n, b in zip(behind.tolist(), BUDGETS, strict=True) if n < 0)
        print(f"{topic} ({len(web.topics[topic])}): {worst or 'never behind'}")
        if details:
            print(*(f"  {preset:9}{counts}" for preset, counts in of.items()), sep="\n")


@contextmanager
def served(name: str, port: int) -> Iterator[tuple[str, Web]]:
    """Serve a web by its name; with a title for people."""
    with tempfile.TemporaryDirectory() as of_web:
        folder = Path(of_web)
        if name == "demo":
            with Newsroom() as room:
                yield "Newsroom", newsroom(room)
        elif name == "sections":
            with sections(folder) as web:
                yield "Sections", web
        else:
            with webworld.serving(folder, seed=int(name), per_site=PER_SITE, port=port, control=port + 1) as world:
                yield f"Gazettes, seed {name}", gazettes(world, int(name), port)


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve, crawl and print."""
    parser = new_parser(__doc__)
    parser.add_argument("--webs", default="demo,7,21")
    parser.add_argument("--presets", default=",".join(PRESETS))
    parser.add_argument("--details", action="store_true")
    parser.add_argument("--replay", action="store_true", help="play focused on one whole crawl of each web")
    options = parser.parse_args(arguments)
    for name in options.webs.split(","):
        with served(name, _PORT) as (title, web):
            results = replay(web) if options.replay else compare(web, options.presets.split(","))
            report(title, web, results, details=options.details)


if __name__ == "__main__":
    main()
