"""The house as imports tell it: floors, rooms without circles, and modules that only compute."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import networkx

from tests.files import files_in
from tests.table import each_row

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("crawler", "pipelines", "db")
STOREYS = {"crawler": {"crawler", "pipelines", "db"}, "pipelines": {"pipelines", "db"}, "db": {"db"}}
FEWEST_FILES = 3
"""In a room, its `__init__.py` counted: fewer belong into the room of their subject."""
FRAMEWORK_ROOMS = {"crawler.spiders", "db.migrations", "db.migrations.versions"}
"""Laid out as Scrapy and Alembic look for them."""

# Rooms and loose modules of each package by floor, the highest first. A floor imports those below it, never one above
# and never its neighbours; type-only imports count.
FLOORS = {
    "crawler": (
        {"commands", "settings"},
        {"web"},
        {"spiders", "frontier", "batch"},
        {"learn", "corpus", "desk", "manage"},
        {"run"},
        {"options"},
        {"response"},
        {"render"},
        {"politeness"},
        {"fetch", "rank", "demo"},
        {"clock", "terminal"},
    ),
    "pipelines": (
        {"replicate"},
        {"stages", "warm_descriptions", "export", "training", "suggest"},
        {"warm"},
        {"worker"},
        {"parse_page", "describe"},
        {"articles"},
        {"dedup"},
        {"item"},
        {"site_memory", "focus", "page_kind", "search"},
        {"extract"},
        {"links"},
        {"text_form"},
        {"metadata", "text", "script_data"},
        {"url_rules"},
        {"document"},
        {"dates"},
        {"decode"},
        {"urls", "records", "params", "version", "models", "word_lists"},
    ),
    "db": (
        {"articles", "sites", "queries"},
        {"search", "shards", "desk"},
        {"frontier"},
        {"engine", "migrations"},
        {"tables"},
        {"records"},
    ),
}

# Modules (or packages of them) that wait, write, draw lots, read the clock or speak SQL. All others only compute.
IMPURE = (
    "crawler.batch",
    "crawler.clock",
    "crawler.commands",
    "crawler.corpus",
    "crawler.demo",
    "crawler.desk",
    "crawler.fetch",
    "crawler.frontier",
    "crawler.learn",
    "crawler.manage",
    "crawler.options",
    "crawler.politeness.hosts",
    "crawler.render",
    "crawler.rank.worker",
    "crawler.run",
    "crawler.settings",
    "crawler.spiders",
    "crawler.web",
    "db.articles",
    "db.desk",
    "db.engine",
    "db.frontier",
    "db.migrations",
    "db.queries",
    "db.search",
    "db.shards",
    "db.sites",
    "db.tables",
    "pipelines.replicate.classes",  # measures seconds of CPU
    "pipelines.search.conditions",
    "pipelines.search.every",
    "pipelines.search.matching",
    "pipelines.search.search",
    "pipelines.search.stored",
    "pipelines.export.read",
    "pipelines.stages",
    "pipelines.warm",
    "pipelines.warm_descriptions",
    "pipelines.worker",
)
# Pure ones in rooms that are not.
PURE = (
    "crawler.fetch.body_slots",
    "crawler.fetch.cookies",
    "crawler.fetch.decompress",
    "crawler.fetch.errors",
    "crawler.fetch.guard",
    "crawler.fetch.http_parser",
    "crawler.fetch.proxies",
    "crawler.desk.burst",
    "crawler.frontier.host_queues",
    "crawler.learn.health.answers",
    "crawler.learn.health.host",
    "crawler.learn.health.messages",
    "crawler.learn.health.statistics",
    "crawler.learn.traps.host",
    "crawler.render.records",
    "crawler.render.script_cache",
    "crawler.options.seeds",
    "crawler.run.stats",
    "crawler.web.drawing",
    "db.articles.part_plan",
    "db.articles.plan",
)
ACTING = {
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
"""What pure modules do not import."""
CLOCKS = {"now", "utcnow", "today"}
SQL = {"sqlalchemy", "psycopg", "alembic", "sqlite3"}
NETWORK = {"scrapy", "twisted"}


class Import(NamedTuple):
    """One import: by which module, in which line, of what, and which names from it.

    `bound` is the name that a module has there which was imported as a whole.
    """

    by: str
    line: int
    of: str
    names: tuple[str, ...]
    relative: bool
    bound: str = ""

    def __str__(self) -> str:
        return f"{self.by}:{self.line} imports {', '.join(self.names) or 'all'} of {self.of}"


@cache
def modules() -> dict[str, ast.Module]:
    found = {}
    for package in PACKAGES:
        for path in files_in(ROOT / package, "**/*.py", at_least=50):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return found


def is_package(name: str) -> bool:
    return (ROOT / name.replace(".", "/")).is_dir()


@cache
def imports_of(name: str) -> tuple[Import, ...]:
    """All imports: those inside functions and those for type checkers too."""
    return tuple(_imports(name, modules()[name]))


def _imports(name: str, tree: ast.Module) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(name, node.lineno, alias.name, (), relative=False, bound=alias.asname or alias.name)
        elif isinstance(node, ast.ImportFrom):
            of = node.module or ""
            if node.level:
                parts = name.split(".")
                base = parts[: len(parts) - node.level + is_package(name)]
                of = ".".join([*base, of] if of else base)
            # `from . import links` imports a module, `from .links import extract` a name
            bound = {alias.name: alias.asname or alias.name for alias in node.names}
            names = tuple(bound)
            submodules = [n for n in names if of.split(".")[0] in PACKAGES and f"{of}.{n}" in modules()]
            for submodule in submodules:
                yield Import(name, node.lineno, f"{of}.{submodule}", (), bool(node.level), bound[submodule])
            rest = tuple(n for n in names if n not in submodules)
            if rest:
                yield Import(name, node.lineno, of, rest, bool(node.level))


def own_imports() -> Iterator[Import]:
    for name in modules():
        yield from (each for each in imports_of(name) if each.of.split(".")[0] in PACKAGES)


def under(name: str, roots: tuple[str, ...] | set[str]) -> bool:
    return any(name == root or name.startswith(f"{root}.") for root in roots)


def is_pure(name: str) -> bool:
    return under(name, PURE) or not under(name, IMPURE)


def floor(name: str) -> int:
    """Height of a module's room in its package; 0 is the lowest floor."""
    package, room = name.split(".")[:2]
    return next(len(FLOORS[package]) - at for at, rooms in enumerate(FLOORS[package]) if room in rooms)


def folder(name: str) -> str:
    """Folder of a module. A module loose at the top of a package is a room of its own."""
    return name if is_package(name) or name.count(".") == 1 else name.rpartition(".")[0]


def circles(arrows: set[tuple[str, str]]) -> list[list[str]]:
    graph = networkx.DiGraph(arrows)
    return [sorted(found) for found in networkx.strongly_connected_components(graph) if len(found) > 1]


def test_reader_of_imports_sees_all_forms() -> None:
    """The other tests are worth what this reader sees."""
    seen = {(each.by, each.of) for each in own_imports()}
    assert ("crawler.response.outcome", "pipelines.urls") in seen  # absolute
    assert ("crawler.response.new_urls", "crawler.rank.priority") in seen  # relative, up two levels
    assert ("pipelines.parse_page", "pipelines.links.links") in seen  # a module out of a package
    assert ("pipelines.worker", "pipelines.parse_page") in seen
    assert any(isinstance(node, ast.If) for tree in modules().values() for node in tree.body)


def test_packages_import_downwards() -> None:
    wrong = [str(each) for each in own_imports() if each.of.split(".")[0] not in STOREYS[each.by.split(".")[0]]]
    assert wrong == []


def test_every_room_has_a_floor() -> None:
    rooms = {name.split(".")[1] for name in modules() if "." in name}
    assert rooms == {room for floors in FLOORS.values() for on_floor in floors for room in on_floor}


def test_rooms_import_downwards() -> None:
    wrong = []
    for each in own_imports():
        by, of = (tuple(name.split(".")[:2]) for name in (each.by, each.of))
        if by[0] == of[0] and by != of and floor(each.of) >= floor(each.by):
            wrong.append(str(each))
    assert wrong == []


def test_files_and_folders_have_no_circles() -> None:
    arrows = {(each.by, each.of) for each in own_imports() if each.by != each.of}
    assert circles(arrows) == []
    between = {(folder(by), folder(of)) for by, of in arrows}
    assert circles({(by, of) for by, of in between if by != of}) == []


def test_rooms_hold_three_files_or_more() -> None:
    held = defaultdict(list)
    for name in modules():
        held[name if is_package(name) else name.rpartition(".")[0]].append(name)
    small = {room: names for room, names in held.items() if len(names) < FEWEST_FILES and room.count(".")}
    assert set(small) - FRAMEWORK_ROOMS == set()


def test_no_tuple_is_starred_in_place() -> None:
    """`f(*(a, b, c))` hides which value goes to which parameter."""
    starred = [
        f"{name}:{node.lineno}"
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple)
    ]
    assert starred == []


def test_training_is_imported_by_commands_that_train_alone() -> None:
    wrong = {
        str(each)
        for each in own_imports()
        if under(each.of, ("pipelines.training",))
        and not under(
            each.by,
            ("pipelines.training", "pipelines.replicate", "crawler.commands.train", "crawler.commands.replicate"),
        )
    }
    assert wrong == set()


def test_class_names_are_unique() -> None:
    """`Params` aside, the frozen parameters of each method; and the class that Scrapy looks for in each command."""
    seen = defaultdict(list)
    for name, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                seen[node.name].append(name)
    assert {each: names for each, names in seen.items() if len(names) > 1 and each not in {"Params", "Command"}} == {}


def is_record(node: ast.stmt) -> bool:
    if not isinstance(node, ast.ClassDef):
        return False
    told = [each.func if isinstance(each, ast.Call) else each for each in (*node.decorator_list, *node.bases)]
    return any(ast.unparse(each).rpartition(".")[2] in {"dataclass", "NamedTuple", "TypedDict"} for each in told)


def top_level(tree: ast.Module) -> dict[str, ast.stmt]:
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update((each.id, node) for each in targets if isinstance(each, ast.Name))
    return found


def shown_by(node: ast.AST) -> set[str]:
    """Names that who uses a definition has to do with: those in signatures, public fields and bases, in constants."""
    parts: list[ast.AST] = [node]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        parts = [node.args, *([node.returns] if node.returns else [])]
    elif isinstance(node, ast.ClassDef):
        parts = [*node.bases, *(each for each in node.body if not _is_hidden(each))]
        return {name for each in parts for name in shown_by(each)}
    return {each.id for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)}


def _is_hidden(member: ast.stmt) -> bool:
    name = getattr(member, "name", "")
    if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
        name = member.target.id
    return name.startswith("_") and not name.endswith("__")


@cache
def used_elsewhere() -> frozenset[tuple[str, str]]:
    """Names of modules that another file imports, or takes from a module that it imports."""
    benchmarks = files_in(ROOT / "tests/benchmarks", "*.py", at_least=20)
    trees = modules() | {f"tests.benchmarks.{path.stem}": ast.parse(path.read_text("utf-8")) for path in benchmarks}
    used = set()
    for name, tree in trees.items():
        bound = {}
        for each in _imports(name, tree):
            used.update((each.of, one) for one in each.names)
            bound[each.bound] = each.of
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in bound:
                used.add((bound[node.value.id], node.attr))
    return frozenset(used)


def reached(name: str) -> set[str]:
    """Find the names of a module that other files use, directly or through a definition that shows them."""
    defined = top_level(modules()[name])
    found: set[str] = set()
    more = {each for each in defined if (name, each) in used_elsewhere()}
    while more:
        found |= more
        more = {each for one in more for each in shown_by(defined[one])} & defined.keys() - found
    return found


def test_record_is_used_in_two_files_or_private() -> None:
    """A second file uses a record that it names, or gets from what it names.

    It gets a record from a function that takes or returns it, from a class with such a method or field, from a constant
    made of it. Such a record has no underscore, and all others have one. Files are those of the three packages, and the
    benchmarks; other tests do not count, or each record would be used.
    """
    public, private = [], []
    for name, tree in modules().items():
        others = reached(name)
        for node in filter(is_record, tree.body):
            record = node.name  # type: ignore[attr-defined]
            if record.startswith("_") and record in others:
                private.append(f"{name}.{record}")
            elif not record.startswith("_") and record not in others:
                public.append(f"{name}.{record}")
    assert public == [], "used in one file"
    assert private == [], "used in another file"


def test_reader_of_records_sees_all_forms() -> None:
    assert sum(is_record(node) for tree in modules().values() for node in tree.body) > 400
    assert "Outcome" in reached("db.records.outcome")  # by its name
    assert "Params" in reached("crawler.rank.surfer")  # as a name of a module
    assert "RawPage" in reached("db.queries.pages")  # as what a function returns
    assert "SiteFeed" in reached("db.queries.sites")  # as a field of what a function returns
    assert "_BlockScores" not in reached("crawler.rank.blockrank")


def test_records_import_the_standard_library_alone() -> None:
    wrong = [
        str(each)
        for name in modules()
        if under(name, ("db.records",))
        for each in imports_of(name)
        if each.of.split(".")[0] not in sys.stdlib_module_names and not under(each.of, ("db.records",))
    ]
    assert wrong == []


def test_tests_are_imported_by_nothing() -> None:
    assert [str(each) for name in modules() for each in imports_of(name) if under(each.of, ("tests",))] == []


def test_imports_are_relative_inside_a_package_and_absolute_between() -> None:
    wrong = [
        str(each)
        for each in own_imports()
        if each.by != "db.migrations.env"  # Alembic runs it by path
        and (each.of.split(".")[0] == each.by.split(".")[0]) != each.relative
    ]
    assert wrong == []


def test_packages_are_not_imported_as_a_whole() -> None:
    """`import db` would take a stranger of that name; `from db.engine.database import ...` fails loudly."""
    assert [str(each) for each in own_imports() if not each.relative and each.of in PACKAGES] == []


def test_pure_modules_stay_pure() -> None:
    wrong = []
    for name in filter(is_pure, modules()):
        for each in imports_of(name):
            own = each.of.split(".")[0] in PACKAGES
            if under(each.of, ACTING) or (own and not is_pure(each.of) and each.of not in PACKAGES):
                wrong.append(str(each))
    assert wrong == []


def test_lists_of_purity_name_what_exists() -> None:
    assert [name for name in (*IMPURE, *PURE) if not any(under(each, (name,)) for each in modules())] == []


def test_pure_modules_ask_no_clock() -> None:
    asked = [
        f"{name}:{node.lineno} calls {ast.unparse(node.func)}"
        for name in filter(is_pure, modules())
        for node in ast.walk(modules()[name])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CLOCKS
    ]
    assert asked == []


def test_network_and_sql_share_no_module() -> None:
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
        if not under(name, ("db", "crawler.commands"))
        for each in imports_of(name)
        if under(each.of, SQL)
    ]
    assert outside == []


def test_top_level_packages_hold_a_docstring_only() -> None:
    """But for `pipelines`: numpy reads how many threads it may use when it is imported, which is after the package."""
    for package in PACKAGES:
        assert len(modules()[package].body) == (3 if package == "pipelines" else 1)
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
    assert [str(each) for each in own_imports() if each.of not in modules()] == []
    assert not set(PACKAGES) & sys.stdlib_module_names


def test_crawl_starts_without_what_takes_long_to_import() -> None:
    """Scrapy imports all commands whichever is run: what one of them needs must not cost the others a second."""
    commands = sorted(name for name in modules() if under(name, ("crawler.commands",)))
    start = f"import sys, importlib; [importlib.import_module(name) for name in {commands!r}]"
    start += "; import crawler.frontier.scheduler, crawler.spiders.news, crawler.fetch.handler; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", start], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    slow = {"scipy", "networkx", "jieba", "requests", "sklearn", "matplotlib", "bs4", "markdownify"}
    slow |= {"pipelines.parse_page", "pipelines.metadata.person_names"}  # of use in worker processes alone
    assert not slow & set(loaded.split())


@each_row("kind", [ast.Module, ast.ClassDef, ast.FunctionDef])
def test_first_lines_of_docstrings_are_plain(kind: type[ast.Module | ast.ClassDef | ast.FunctionDef]) -> None:
    """They say the thing: in at most 80 characters, and never as a question ("What ...", "Whether ...")."""
    wrong = []
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, kind) and (text := ast.get_docstring(node)):
                first = text.split("\n")[0]
                if len(first) > 80 or first.split()[0] in {"What", "Which", "How", "Whether", "Who"}:
                    wrong.append(f"{name}:{getattr(node, 'lineno', 1)}: {first}")
    assert wrong == []
