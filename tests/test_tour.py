"""The tour and the worked example: their commands exist, their outputs agree, their pictures are small."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from importlib import import_module
from pathlib import Path

from scrapy.utils.project import get_project_settings

from crawler.demo.content import load_articles
from crawler.options.table import OPTIONS
from crawler.run.command import NewsCommand
from tests.table import each_row

ROOT = Path(__file__).parents[1]
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/tour.md")}
TOUR = PAGES["docs/tour.md"]
ORDER = (ROOT / "docs" / "crawl-order.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"^    (?:\$ )?uv run scrapy (.+)$", f"{TOUR}\n{ORDER}", re.MULTILINE)))
MOST_BYTES = 150_000


def output_of(command: str) -> str:
    """What the tour shows below a command."""
    shown = rf"^    \$ uv run scrapy {re.escape(command)}\n((?:    (?!\$ ).*\n|\n(?=    (?!\$ )))*)"
    return str(re.findall(shown, TOUR, re.MULTILINE)[0])


@each_row("command", COMMANDS)
def test_commands_take_their_options(command: str) -> None:
    name, *arguments = shlex.split(command, comments=True)
    made: NewsCommand = import_module(f"crawler.commands.{name}").Command()
    made.settings = get_project_settings()
    parser = argparse.ArgumentParser()
    made.add_options(parser)
    options, _ = parser.parse_known_args(arguments)
    assert {each.partition("=")[0] for each in options.set} <= {option.name for option in OPTIONS}
    unknown = [each for each in arguments if each.startswith("--") and each not in parser.format_help()]
    assert unknown == []


def test_tour_shows_the_newsroom_as_it_is() -> None:
    summary, status = output_of("crawl news -a seeds=demo"), output_of("status")
    articles, new, copies = (int(re.findall(rf"│ +{name} +│ +(\d+)", summary)[0]) for name in (
        "articles", "new", "duplicates of another"))  # fmt: skip
    assert articles == new + copies == sum(map(len, load_articles().values()))
    assert f"{articles} articles, {copies} of them duplicates of another" in status
    assert summary.splitlines()[-1].strip().startswith("Finished: nothing is left")


def test_tour_shows_results() -> None:
    for query in ("search 台风", 'search "swimming pool" --since 2024-06 --limit 1'):
        shown = output_of(query).splitlines()
        stories = [line for line in shown if re.match(r" {4} +\d+ \S", line)]
        assert re.search(rf"\d+ stories, the best {len(stories)} of them", shown[1])
    (hit,) = map(json.loads, output_of("search 天文馆 --format jsonl").split("\n")[:1])
    assert hit["rank"] == 1
    assert f"duplicates --show {hit['url']}" in TOUR


def test_pictures_are_there_and_small() -> None:
    for name, text in PAGES.items():
        pictures = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", text)
        assert pictures, name
        for alternative, path in pictures:
            assert len(alternative) > 5, path
            assert 0 < ((ROOT / name).parent / path).stat().st_size < MOST_BYTES, path


def test_links_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
    assert len(pages) > 25
    broken = []
    for page in pages:
        for path, anchor in re.findall(r"\]\(([\w./-]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
            target = page.parent / path if path else page
            if not target.exists():
                broken.append((page.name, path))
            elif anchor:
                heads = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
                if anchor not in {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}:
                    broken.append((page.name, f"{path}#{anchor}"))
    assert broken == []


def test_commands_of_both_readmes_are_equal() -> None:
    row = re.compile(r"^\|[^|]+\| (`uv run scrapy [^|]+) \|", re.MULTILINE)
    chinese = row.findall((ROOT / "docs" / "README.zh.md").read_text(encoding="utf-8"))
    assert [each.replace("、", ", ") for each in chinese] == row.findall(PAGES["README.md"])
