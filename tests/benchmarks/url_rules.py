"""What rules of addresses save, and whether they cost an article: sites that show articles under several addresses.

    uv run python -m tests.benchmarks.url_rules [--articles 300]

Every site is crawled twice, without rules and with them; each has addresses of another kind. Prints requests for pages,
and the articles that are in the database at the end: with rules there must be as many.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.crawler.crawling import rows
from tests.crawler.odd_server import Answer, OddServer
from tests.crawler.repeating_site import crawl, site

from .commands import new_parser

HOST = "a.localhost"
Answers = Mapping[tuple[str, str], Answer]


def plain(*shapes: str) -> Callable[[int], Answers]:
    """All shapes show the same article."""
    return lambda articles: site(HOST, shapes, articles)


def mixed(articles: int) -> Answers:
    """On one channel a parameter makes no difference, on the other one it chooses the picture."""
    same = [f"/news/{{}}.html?n={n}" for n in range(3)]
    other = [f"/photos/{{}}.html?n={n}" for n in range(3)]
    return site(HOST, same + other, articles, lambda n, place: n if place < 3 else 100_000 + 10 * n + place)


def turning(articles: int) -> Answers:
    """A parameter that makes no difference until half of the articles are found, and then one."""
    shapes = [f"/news/{{}}.html?n={n}" for n in range(3)]
    return site(HOST, shapes, articles, lambda n, place: n if n < articles // 2 else 100_000 + 10 * n + place)


def sessions(articles: int) -> Answers:
    """Every link has a number of its own."""
    draw = random.Random(1)
    names = [f"/a/{{}}.html?visit={draw.randrange(10**9)}" for _ in range(4)]
    return site(HOST, names, articles)


KINDS: Mapping[str, Callable[[int], Answers]] = {
    "one address each": plain("/show.php?id={}"),
    "parameter": plain("/news/{}.html", *(f"/news/{{}}.html?src={name}" for name in ("home", "list", "app"))),
    "two parameters": plain(
        "/news/{}.html", "/news/{}.html?src=app&v=1", "/news/{}.html?src=home", "/news/{}.html?v=2"
    ),
    "slug": plain("/news/{}-first-headline", "/news/{}-second-headline", "/news/{}-third"),
    "channel": plain("/world/{}.html", "/politics/{}.html", "/top/{}.html"),
    "visits": sessions,
    "mixed": mixed,
    "turning": turning,
}


def measure(answers: Answers, threshold: str) -> tuple[int, int, int]:
    """Requests, articles, URLs skipped by rules."""
    with tempfile.TemporaryDirectory() as folder, OddServer(answers) as server:
        crawl(server, Path(folder), HOST, URL_RULES=threshold)
        requests = sum(not path.endswith("robots.txt") for path in server.paths())
        (articles,) = rows(Path(folder), "SELECT count(*) FROM article")[0]
        (skipped,) = rows(Path(folder), "SELECT count(*) FROM url WHERE reason = 'url rule'")[0]
    return requests, articles, skipped


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each kind of site."""
    parser = new_parser(__doc__)
    parser.add_argument("--articles", type=int, default=300)
    options = parser.parse_args(arguments)
    print(f"{'addresses':<18} {'requests without':>16} {'with rules':>11} {'articles without':>17} {'with rules':>11}")
    for kind in KINDS:
        answers = KINDS[kind](options.articles)
        before, after = measure(answers, "1"), measure(answers, "0.9")
        print(f"{kind:<18} {before[0]:>16} {after[0]:>11} {before[1]:>17} {after[1]:>11}", flush=True)


if __name__ == "__main__":
    main()
