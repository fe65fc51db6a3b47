"""The architecture as imports tell it: crawler -> pipelines -> db, and pure modules that stay pure."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("crawler", "pipelines", "db")
MAY_IMPORT = {"crawler": {"crawler", "pipelines", "db"}, "pipelines": {"pipelines", "db"}, "db": {"db"}}

# Modules (or packages of them) that only compute.
PURE = (
    "pipelines.extract",
    "pipelines.dedup",
    "pipelines.focus",
    "pipelines.text",
    "pipelines.records",
    "pipelines.urls",
    "pipelines.links.scope",
    "pipelines.dedup.judge",
    "pipelines.params",
    "pipelines.articles.multipage",
    "pipelines.traps.patterns",
    "pipelines.traps.signals",
    "pipelines.articles.changes",
    "pipelines.decode.content_type",
    "crawler.rank",
    "crawler.politeness.ip_clock",
    "crawler.frontier.host_queues",
    "crawler.politeness.delay",
    "crawler.politeness.robots",
    "crawler.health",
    "crawler.politeness.backoff",
    "crawler.response.seen_urls",
    "crawler.response.outcome",
    "crawler.response.new_urls",
    "crawler.response.revisit",
    "crawler.response.revisit_schedule",
    "crawler.fetch.cookies",
    "crawler.fetch.decompress",
    "crawler.fetch.http_parser",
    "crawler.fetch.guard",
    "crawler.fetch.http_parser",
    "crawler.fetch.errors",
    "crawler.fetch.body_slots",
    "crawler.fetch.http_parser",
    "crawler.response.context",
    "crawler.run.seeds",
    "crawler.run.terminal",
    "crawler.learn.traps.host",
    "crawler.learn.traps.crawl",
    "crawler.learn.traps.host",
    "crawler.learn.traps.crawl",
    "db.records",
)
# Not pure themselves, but they define records (classes, never functions) that pure modules may take and return.
RECORDS = (
    "pipelines.stages",
    "pipelines.worker",
)
# What waits, writes, draws lots or reads the clock. (`crawler.run.seeds` reads its file, which no import shows.)
IMPURE = {
    "alembic",
    "asyncio",
    "multiprocessing",
    "pebble",
    "psycopg",
    "random",
    "scrapy",
    "secrets",
    "socket",
    "sqlalchemy",
    "sqlite3",
    "subprocess",
    "threading",
    "time",
    "twisted",
    "urllib.request",
}
CLOCKS = {"now", "utcnow", "today"}
SQL = {"sqlalchemy", "psycopg", "alembic", "sqlite3"}
NETWORK = {"scrapy", "twisted"}


class Import(NamedTuple):
    """One import: by which module, in which line, of what, and which names from it."""

    by: str
    line: int
    of: str
    names: tuple[str, ...]
    relative: bool

    def __str__(self) -> str:
        return f"{self.by}:{self.line} imports {', '.join(self.names) or 'all'} of {self.of}"


@cache
def modules() -> dict[str, ast.Module]:
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return found


def is_package(name: str) -> bool:
    return (ROOT / name.replace(".", "/")).is_dir()


def imports_of(name: str, *, tree: ast.AST | None = None) -> Iterator[Import]:
    """All imports, those inside functions too; those for type checkers alone left out."""
    for node in ast.iter_child_nodes(tree if tree is not None else modules()[name]):
        if isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(name, node.lineno, alias.name, (), relative=False)
        elif isinstance(node, ast.ImportFrom):
            of = node.module or ""
            if node.level:
                parts = name.split(".")
                base = parts[: len(parts) - node.level + is_package(name)]
                of = ".".join([*base, of] if of else base)
            # `from . import links` imports a module, `from .links import extract` a name
            names = tuple(alias.name for alias in node.names)
            submodules = [n for n in names if of.split(".")[0] in PACKAGES and f"{of}.{n}" in modules()]
            for submodule in submodules:
                yield Import(name, node.lineno, f"{of}.{submodule}", (), bool(node.level))
            rest = tuple(n for n in names if n not in submodules)
            if rest:
                yield Import(name, node.lineno, of, rest, bool(node.level))
        else:
            yield from imports_of(name, tree=node)


def under(name: str, roots: tuple[str, ...] | set[str]) -> bool:
    return any(name == root or name.startswith(f"{root}.") for root in roots)


def pure_modules() -> list[str]:
    return [name for name in modules() if under(name, PURE)]


def is_record(each: Import) -> bool:
    """Classes are written with a capital letter, functions are not."""
    return under(each.of, RECORDS) and bool(each.names) and all(name[0].isupper() for name in each.names)


def test_the_reader_of_imports_sees_all_forms() -> None:
    """The other tests are worth what this reader sees."""
    seen = {(each.by, each.of) for name in modules() for each in imports_of(name)}
    assert ("crawler.response.outcome", "pipelines.links.scope") in seen  # absolute
    assert ("crawler.response.new_urls", "crawler.rank.priority") in seen  # relative
    assert ("pipelines.parse_page", "pipelines.dedup") in seen  # up two levels
    assert ("pipelines.parse_page", "pipelines.links.links") in seen  # a module out of the own package
    assert ("crawler.run.config", "crawler.settings") in seen


def test_imports_run_downwards_only() -> None:
    wrong = [
        str(each)
        for name in modules()
        for each in imports_of(name)
        if (of := each.of.split(".")[0]) in PACKAGES and of not in MAY_IMPORT[name.split(".")[0]]
    ]
    assert wrong == []


def test_tests_are_imported_by_nothing() -> None:
    assert [str(each) for name in modules() for each in imports_of(name) if under(each.of, ("tests",))] == []


def test_relative_inside_a_package_absolute_between() -> None:
    wrong = [
        str(each)
        for name in modules()
        for each in imports_of(name)
        if name != "db.migrations.env"  # Alembic runs it by path
        and each.of.split(".")[0] in PACKAGES
        and (each.of.split(".")[0] == name.split(".")[0]) != each.relative
    ]
    assert wrong == []


def test_no_package_is_imported_as_a_whole() -> None:
    """`import db` would take a stranger of that name; `from db.articles.page_transaction import ...` fails loudly."""
    wrong = [str(each) for name in modules() for each in imports_of(name) if not each.relative and each.of in PACKAGES]
    assert wrong == []


@pytest.mark.parametrize(
    "root", [root for root in PURE if is_package(root) or (ROOT / f"{root.replace('.', '/')}.py").exists()]
)
def test_pure_modules_stay_pure(root: str) -> None:
    wrong = []
    names = [name for name in pure_modules() if under(name, (root,))]
    assert names
    for name in names:
        for each in imports_of(name):
            own = each.of.split(".")[0] in PACKAGES
            if under(each.of, IMPURE) or (own and not under(each.of, PURE) and not is_record(each)):
                wrong.append(str(each))
    assert wrong == []


@pytest.mark.parametrize("name", pure_modules())
def test_pure_modules_ask_no_clock(name: str) -> None:
    asked = [
        f"{name}:{node.lineno} calls {ast.unparse(node.func)}"
        for node in ast.walk(modules()[name])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS
    ]
    assert asked == []


def test_no_module_knows_both_the_network_and_sql() -> None:
    both = []
    for name in modules():
        used = {each.of.split(".")[0] for each in imports_of(name)}
        if used & SQL and used & NETWORK:
            both.append(name)
    assert both == []


def test_sql_stays_in_db() -> None:
    outside = [
        str(each)
        for name in modules()
        if not under(name, ("db", "crawler.commands", "crawler.jobs"))
        for each in imports_of(name)
        if under(each.of, SQL)
    ]
    assert outside == []


def test_records_import_the_standard_library_only() -> None:
    wrong = [
        str(each)
        for name in modules()
        if under(name, ("db.records",))
        for each in imports_of(name)
        if each.of.split(".")[0] not in sys.stdlib_module_names and not under(each.of, ("db.records",))
    ]
    assert wrong == []


def test_top_level_packages_hold_a_docstring_only() -> None:
    for package in PACKAGES:
        body = modules()[package].body
        assert len(body) == 1
        assert ast.get_docstring(modules()[package])


def test_hashes_are_stable() -> None:
    """Built-in `hash` of text differs from process to process; what is stored must not."""
    salted = [
        f"{name}:{node.lineno}"
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hash"
    ]
    assert salted == []


def test_every_import_is_there() -> None:
    """A wrong import inside a function would show at run time only."""
    missing = [
        str(each)
        for name in modules()
        for each in imports_of(name)
        if each.of.split(".")[0] in PACKAGES and each.of not in modules()
    ]
    assert missing == []
    assert not set(PACKAGES) & sys.stdlib_module_names


def test_a_crawl_starts_without_what_takes_long_to_import() -> None:
    """Scrapy imports all commands whichever is run: what one of them needs must not cost the others a second."""
    commands = sorted(name for name in modules() if under(name, ("crawler.commands",)))
    start = f"import sys, importlib; [importlib.import_module(name) for name in {commands!r}]"
    start += "; import crawler.frontier.scheduler, crawler.spiders.news, crawler.fetch.handler; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", start], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not {"scipy", "networkx", "jieba", "requests"} & set(loaded.split())
