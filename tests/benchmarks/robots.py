"""Robots files: decisions of the own reader beside Protego's, every difference explained.

    uv run python -m tests.benchmarks.robots --files 2000
    uv run python -m tests.benchmarks.robots FOLDER

Without a folder of robots files they are made: lines of every kind in random order, agents, blanks, misspelt fields,
rules of other hosts. For each file, three agents (ours, one that it names, one that nobody names) ask for the paths of
its rules and paths beside them. A difference is explained when Protego decides alike after the file was rewritten as
the class says; what no class explains is listed and ends the command with code 1.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from protego import Protego

from crawler.politeness.delay import MOST_ROBOTS_BYTES, decode_robots
from crawler.politeness.robots import parse
from pipelines.urls import bare_host, canonicalize

from .commands import new_parser

OWN: Final = "newscrawler"
HOST: Final = "h.example"
_MOST_PATHS: Final = 40
_SHOWN: Final = 5
_RULE = re.compile(r"^\s*(?:allow|di[a-z]+)\s*:\s*([^\s#]+)", re.IGNORECASE | re.MULTILINE)
_AGENT = re.compile(r"^\s*user-?agent\s*:\s*([A-Za-z_-]{3,})", re.IGNORECASE | re.MULTILINE)
_BETWEEN = re.compile(r"^\s*(?:crawl|request)[ -](?:delay|rate).*$", re.IGNORECASE | re.MULTILINE)
_UNKNOWN = re.compile(
    r"^(?!\s*(?:user|(?:allow|di[a-z]+)|di[sa]|site|crawl|request|#)).*$", re.IGNORECASE | re.MULTILINE
)
_ORIGIN = re.compile(r"^(\s*[a-z]+\s*:\s*)(https?://[^\s/?#*$]*)([^\s#]*).*$", re.IGNORECASE | re.MULTILINE)
_BARE = re.compile(r"^(\s*(?:allow|di[a-z]+)\s*:[^\S\n]*)(?=[^\s/*#])(?!https?:)", re.IGNORECASE | re.MULTILINE)
_VERSION = re.compile(r"^(\s*user-?agent\s*:\s*)([^\n#]*)", re.IGNORECASE | re.MULTILINE)
_TOKEN = re.compile(r"\*?([A-Za-z_-]+)")
_BREAKS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def _own_paths(text: str) -> str:
    """Write rules with this site's origin as paths, and leave out those of others."""

    def path(rule: re.Match[str]) -> str:
        url = canonicalize(rule[2])
        return f"{rule[1]}{rule[3] or '/'}" if url and bare_host(url) == HOST else ""

    return _ORIGIN.sub(path, text)


def _names(text: str) -> str:
    """Write agents as the product tokens that RFC 9309 compares."""

    def name(line: re.Match[str]) -> str:
        value = line[2].strip()
        token = _TOKEN.match(value)
        return line[1] + (token[1] if token else "*" if value == "*" else "nobody-at-all")

    return _VERSION.sub(name, text)


CLASSES: Final[tuple[tuple[str, Callable[[str], str]], ...]] = (
    ("Crawl-delay or Request-rate between agents ends no list of them", lambda text: _BETWEEN.sub("", text)),
    ("other fields end no list of agents", lambda text: _UNKNOWN.sub("", text)),
    ("a rule with an origin is for that host", _own_paths),
    ("a rule without its slash begins with one", lambda text: _BARE.sub(r"\1/", text)),
    ("agents are compared by their product token", _names),
    ("only line feeds and carriage returns end a line", lambda text: _BREAKS.sub(" ", text)),
)
"""Reasons for which the own reader decides otherwise, with changes that make Protego decide alike."""


def make_file(rng: random.Random) -> str:
    """Make a robots file of random lines."""
    agents = ["*", OWN, "Googlebot", "baiduspider", f"{OWN}/2.1", "*bot", f"x{OWN}", "Mozilla/5.0", "a b"]
    fields = ["Disallow", "disallow", "Allow", "ALLOW", "Dissallow", "Disallow "]
    paths = ["/", "", "/a", "/a/", "/a/b", "/*.php$", "/*?", "a", "*", "/a*b$", "/%61", "/新", "/%e6%96%b0", "/a b"]
    origins = [f"http://{HOST}/a", f"https://www.{HOST}/b", "http://other.example/", f"http://sub.{HOST}/a/"]
    lines: list[str] = []
    for _ in range(rng.randrange(1, 30)):
        kind = rng.random()
        if kind < 0.3:
            lines.append(f"User-agent: {rng.choice(agents)}")
        elif kind < 0.8:
            lines.append(f"{rng.choice(fields)}: {rng.choice(paths if rng.random() < 0.85 else origins)}")
        else:
            lines.append(
                rng.choice(
                    ["Crawl-delay: 5", "Request-rate: 1/5", "Sitemap: /s.xml", "Host: h", "Clean-param: a", "", "# x"]
                )
            )
    return rng.choice(["\n", "\r\n"]).join(lines)


def paths_of(text: str) -> list[str]:
    """Return canonical URLs of the paths of a file's rules, and of paths beside them."""
    found = dict.fromkeys(
        rule.split("://", 1)[-1].partition("/")[2] if "://" in rule else rule for rule in _RULE.findall(text)
    )
    urls: dict[str, None] = {f"http://{HOST}/": None, f"http://{HOST}/news/1.html": None}
    for rule in list(found)[:_MOST_PATHS]:
        plain = rule.rstrip("$").replace("*", "x")
        for path in (plain, plain + "x/1", plain[:-1]):
            url = canonicalize(f"http://{HOST}/{path.lstrip('/')}")
            if url:
                urls[url] = None
    return list(urls)


def compare(text: str) -> Iterator[tuple[str, str]]:
    """Yield (class, agent and URL) of each difference; an empty class explains none."""
    named = _AGENT.findall(text)
    agents = [OWN, *named[:1], "nobody"]
    urls = paths_of(text)
    theirs = Protego.parse(text)
    rewritten: list[tuple[str, Protego]] = []
    for agent in dict.fromkeys(agents):
        robots = parse(text, agent)
        for url in urls:
            own = robots.allows(url)
            if own == theirs.can_fetch(url, agent):
                continue
            if not rewritten:
                rewritten = list(_rewritings(text))
            reason = next((name for name, other in rewritten if other.can_fetch(url, agent) == own), "")
            yield reason, f"{agent} {url} {'allowed' if own else 'forbidden'} by us"


def _rewritings(text: str) -> Iterator[tuple[str, Protego]]:
    """Yield Protego's reading of a file rewritten for each class, then for several."""
    text = text.replace("\r", "\n")
    for name, rewrite in CLASSES:
        yield name, Protego.parse(rewrite(text))
    for name, rewrite in CLASSES:
        text = rewrite(text)
        yield f"several, up to: {name}", Protego.parse(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare and print; 1 when a difference is left unexplained."""
    parser = new_parser(__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="robots files; made when left out")
    parser.add_argument("--files", type=int, default=2000, help="most files")
    options = parser.parse_args(arguments)
    if options.folder is None:
        rng = random.Random(1)
        texts: Iterator[tuple[str, str]] = ((str(n), make_file(rng)) for n in range(options.files))
    else:
        files = sorted(path for path in options.folder.rglob("*") if path.is_file())[: options.files]
        texts = ((path.name, decode_robots(path.read_bytes(), MOST_ROBOTS_BYTES)) for path in files)
    classes: Counter[str] = Counter()
    touched: Counter[str] = Counter()
    unexplained: list[str] = []
    count = 0
    for name, text in texts:
        count += 1
        found = list(compare(text))
        classes.update(reason for reason, _ in found)
        touched.update({reason for reason, _ in found})
        unexplained += [f"{name}: {what}" for reason, what in found if not reason]
    print(f"{count} files")
    for reason, decisions in classes.most_common():
        print(f"{decisions:6} decisions in {touched[reason]:4} files: {reason or 'NOT EXPLAINED'}")
    print("\n".join(unexplained[:_SHOWN]))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
