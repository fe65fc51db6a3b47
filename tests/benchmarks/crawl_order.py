"""The order of the crawl against others, in a simulator that replays stored graphs of links: tables for the documents.

    uv run python -m tests.benchmarks.crawl_order [--topics 10]
    uv run --with scikit-learn python -m tests.benchmarks.crawl_order --focused [--topics 10]

Needs the simulator and its graphs: `BENCH_DATA` names their folder. The first table has the area under the curve of the
share of all PageRank that was fetched, over the first half of the pages; the second that of pages on a topic, over the
first 1,000 pages. The simulator's own orders stand beside ours, which is `tests.benchmarks.order.CrawlOrder`.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("BENCH_DATA", "../shared/data"))
GRAPHS = ("flink", "wikispeedia", "polblogs")
OURS = "url:tests.benchmarks.order:CrawlOrder:preset="
IMPORTANCE = {
    "breadth-first": "fifo",
    "PageRank of what is known, every 100 pages": "pagerank:k=100",
    "preset `breadth`": f"{OURS}breadth",
    "preset `news`": f"{OURS}news",
    "preset `pagerank`": f"{OURS}pagerank",
    "oracle": "oracle",
}
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


def importance(tool: Any) -> str:
    """Areas under the curve, graphs as columns."""
    found = {}
    for graph in GRAPHS:
        options = options_of(data=str(DATA / "order" / graph), order=",".join(IMPORTANCE.values()))
        with redirect_stdout(io.StringIO()):
            found[graph] = tool.run_importance(options)
    rows = [[name, *(f"{found[graph][spec]['auc']:.4f}" for graph in GRAPHS)] for name, spec in IMPORTANCE.items()]
    return table(["order", *GRAPHS], rows)


def focused(tool: Any, topics: int) -> str:
    """Areas under the curve on topics, and CPU seconds for 1,000 pages."""
    options = options_of(data=str(DATA / "order" / "wikispeedia"), order=",".join(FOCUSED.values()), topics=topics)
    with redirect_stdout(io.StringIO()):
        found = tool.run_focused(options)
    rows = [[name, f"{found[s]['auc']:.3f}", f"{found[s]['s/1k']:.1f}"] for name, s in FOCUSED.items()]
    return table(["order", f"wikispeedia, {topics} topics", "CPU seconds for 1,000 pages"], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--focused", action="store_true", help="pages on topics instead of important ones")
    parser.add_argument("--topics", type=int, default=10)
    options = parser.parse_args(arguments)
    tool = simulator()
    print(focused(tool, options.topics) if options.focused else importance(tool))


if __name__ == "__main__":
    main()
