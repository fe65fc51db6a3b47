"""The order of the crawl against others, in a simulator that replays stored graphs of links: tables for the documents.

    uv run python -m tests.benchmarks.crawl_order [--topics 10]
    uv run python -m tests.benchmarks.crawl_order --signals
    uv run --with scikit-learn python -m tests.benchmarks.crawl_order --focused [--topics 10]
    uv run --with scikit-learn python -m tests.benchmarks.crawl_order --campus [--seed 1]

Needs the simulator and its graphs: `BENCH_DATA` names their folder. The first table has the area under the curve of the
share of all PageRank that was fetched, over the first half of the pages; the second that of pages on a topic, over the
first 1,000 pages. `--campus` has both for webs of colleges and universities made by chance (`tests.benchmarks.campus`),
three seeds of each, and topics that are kinds of pages. The simulator's own orders stand beside ours, which is
`tests.benchmarks.order.CrawlOrder`.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from tests.benchmarks.campus import college, university

from .commands import new_parser
from .data import DATA

GRAPHS = ("flink", "wikispeedia", "polblogs")
OURS = "url:tests.benchmarks.order:CrawlOrder:preset="
IMPORTANCE = {
    "breadth-first": "fifo",
    "push": "push",
    "PageRank of what is known, every 100 pages": "pagerank:k=100",
    "preset `breadth`": f"{OURS}breadth",
    "preset `news`": f"{OURS}news",
    "preset `pagerank`": f"{OURS}pagerank",
    "oracle": "oracle",
}
SIGNALS = (
    *("depth", "pagerank", "personal", "blockrank", "siterank", "hits", "opic"),
    *("nx.pages.pagerank", "nx.pages.in_degree_centrality", "nx.pages.core_number"),
)
ALONE = {f"`{signal.replace('.', ':')}`": f"url:tests.benchmarks.order:OneSignal:signal={signal}" for signal in SIGNALS}
FOCUSED = {
    "breadth-first": "fifo",
    "best first": "bestfirst",
    "siblings": "sibling",
    "preset `focused`": f"{OURS}focused",
    "oracle": "topicoracle",
}


def simulator() -> Any:
    """The simulator's module; ends the program with a message when it is not there."""
    path = DATA.parent / "tools" / "crawl_order.py"
    if not path.exists():
        raise SystemExit(f"there is no simulator at {path}; BENCH_DATA names the folder of graphs beside it")
    spec = importlib.util.spec_from_file_location("crawl_order", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["crawl_order"] = module
    spec.loader.exec_module(module)
    return module


def options_of(**values: Any) -> argparse.Namespace:
    """Options as the simulator's command line has them."""
    defaults = {"seeds": 3, "seedsize": 5, "share": 0.5, "batch": 16, "per_host": 0, "park": 5000, "need": 0.4}
    more = {"topics": 10, "budget": 1000, "start": "examples", "lo": 60, "hi": 260, "only": None, "out": None}
    return argparse.Namespace(**{**defaults, **more, **values})


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def importance(tool: Any, orders: Mapping[str, str] = IMPORTANCE) -> str:
    """Areas under the curve, graphs as columns."""
    found = {}
    for graph in GRAPHS:
        options = options_of(data=str(DATA / "order" / graph), order=",".join(orders.values()))
        with redirect_stdout(io.StringIO()):
            found[graph] = tool.run_importance(options)
    rows = [[name, *(f"{found[graph][spec]['auc']:.4f}" for graph in GRAPHS)] for name, spec in orders.items()]
    return table(["order", *GRAPHS], rows)


def focused(tool: Any, topics: int) -> str:
    """Areas under the curve on topics, and CPU seconds for 1,000 pages."""
    options = options_of(data=str(DATA / "order" / "wikispeedia"), order=",".join(FOCUSED.values()), topics=topics)
    with redirect_stdout(io.StringIO()):
        found = tool.run_focused(options)
    rows = [[name, f"{found[s]['auc']:.3f}", f"{found[s]['s/1k']:.1f}"] for name, s in FOCUSED.items()]
    return table(["order", f"wikispeedia, {topics} topics", "CPU seconds for 1,000 pages"], rows)


def campus(tool: Any, seed: int) -> str:
    """Areas under the curve on webs made by chance, by rank and by topic; means of three webs."""
    means: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name, redirect_stdout(io.StringIO()):
        tempfile.tempdir = name  # the simulator leaves files there
        for make in (college, university):
            found = []
            for one in range(seed, seed + 3):
                folder = Path(name) / f"{make.__name__}{one}"
                make(one).write(folder)
                found.append(tool.run_importance(options_of(data=str(folder), order=",".join(IMPORTANCE.values()))))
            for what, spec in IMPORTANCE.items():
                means.setdefault(what, []).append(sum(one[spec]["auc"] for one in found) / len(found))
        found = []
        for one in range(seed, seed + 3):
            folder = Path(name) / f"university{one}"
            options = options_of(
                data=str(folder), order=",".join(FOCUSED.values()), seeds=1, hi=2000, start="department", need=0.2
            )
            found.append(tool.run_focused(options))
        by_topic = [[what, f"{sum(one[s]['auc'] for one in found) / 3:.3f}"] for what, s in FOCUSED.items()]
        tempfile.tempdir = None
    by_rank = [[what, *(f"{mean:.4f}" for mean in some)] for what, some in means.items()]
    return table(["order", "college", "university"], by_rank) + "\n\n" + table(["order", "kinds of pages"], by_topic)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one of the tables."""
    parser = new_parser(__doc__)
    parser.add_argument("--focused", action="store_true", help="pages on topics instead of important ones")
    parser.add_argument("--signals", action="store_true", help="important pages by one signal alone")
    parser.add_argument("--campus", action="store_true", help="webs of colleges and universities, made by chance")
    parser.add_argument("--seed", type=int, default=1, help="of the first of three such webs")
    parser.add_argument("--topics", type=int, default=10)
    options = parser.parse_args(arguments)
    tool = simulator()
    if options.campus:
        print(campus(tool, options.seed))
    else:
        orders = ALONE if options.signals else IMPORTANCE
        print(focused(tool, options.topics) if options.focused else importance(tool, orders))


if __name__ == "__main__":
    main()
