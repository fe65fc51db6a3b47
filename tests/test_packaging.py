"""What goes into the wheel, what it needs, and that the project names no place where it was made."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from tests.files import files_in
from tests.table import each_row

ROOT = Path(__file__).resolve().parents[1]
TOP = {"crawler", "pipelines", "db"}
# Folders that are packages without an `__init__.py`: Alembic runs their files by path.
NAMESPACES = {"db.migrations", "db.migrations.versions"}
# Needed in a checkout only: what new revisions are made from.
CHECKOUT_ONLY = {"db/migrations/script.py.mako"}

# Written so that this file does not match itself.
FOREIGN = {
    "a package index": re.compile(r'/simple["]|files\.pythonhosted|pypi\.org/|/packages/[0-9a-f]{2}/[0-9a-f]{2}/'),
    "a folder of somebody's machine": re.compile(
        r"(?<![\w.~}])/(?:work/[a-z]|workspace/|root/|home/[a-z]|Users/[a-zA-Z])"
    ),
}


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def normal(requirement: str) -> str:
    """Name of a requirement as indexes compare it: `psycopg[binary]>=3` -> `psycopg`."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name is not None, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def requirements() -> list[str]:
    made = project()
    groups = [entry for group in made["dependency-groups"].values() for entry in group]
    return [*made["project"]["dependencies"], *(entry for entry in groups if isinstance(entry, str))]


def packages() -> set[str]:
    """What setuptools finds under the project's settings (`find` in pyproject.toml counts namespaces)."""
    finder = project()["tool"]["setuptools"]["packages"]["find"]
    assert set(finder) <= {"include", "namespaces", "exclude", "where"}
    found = set()
    todo = [(folder, folder.name) for folder in ROOT.iterdir()]
    while todo:
        folder, name = todo.pop()
        if not folder.is_dir() or "." in folder.name or folder.name == "__pycache__":
            continue
        todo.extend((inner, f"{name}.{inner.name}") for inner in folder.iterdir())
        if any(fnmatchcase(name, pattern) for pattern in finder["include"]):
            found.add(name)
    return found


def files() -> list[Path]:
    """Files under version control, or about to be."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_finder_is_that_of_setuptools() -> None:
    discovery = pytest.importorskip("setuptools.discovery", reason="setuptools is not installed")
    include = project()["tool"]["setuptools"]["packages"]["find"]["include"]
    found = discovery.PEP420PackageFinder.find(str(ROOT), include=include)
    assert {name for name in found if "__pycache__" not in name} == packages()


def test_exactly_three_packages_at_the_top() -> None:
    assert {name.split(".")[0] for name in packages()} == TOP


def test_three_packages_are_siblings() -> None:
    for name in TOP:
        module = __import__(name)
        assert module.__file__ is not None
        assert Path(module.__file__).resolve().parent == ROOT / name


def test_every_folder_of_code_is_a_package() -> None:
    with_code = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for name in TOP
        for path in files_in(ROOT / name, "**/*.py", at_least=50)
    }
    assert with_code <= packages()
    without_init = {name for name in with_code if not (ROOT / name.replace(".", "/") / "__init__.py").exists()}
    assert without_init <= NAMESPACES


@each_row("package", sorted(project()["tool"]["setuptools"]["package-data"]))
def test_data_files_exist(package: str) -> None:
    folder = ROOT / package.replace(".", "/")
    patterns = project()["tool"]["setuptools"]["package-data"][package]
    assert folder.is_dir()
    assert any(path.is_file() for pattern in patterns for path in folder.glob(pattern))


def test_no_data_file_is_left_out_of_the_wheel() -> None:
    data = project()["tool"]["setuptools"]["package-data"]
    shipped = {
        path
        for package, patterns in data.items()
        for pattern in patterns
        for path in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    left_out = [
        name
        for path in files()
        if (name := path.relative_to(ROOT).as_posix()).split("/")[0] in TOP
        and path.suffix != ".py"
        and path not in shipped
        and name not in CHECKOUT_ONLY
    ]
    assert left_out == []


def test_every_dependency_has_an_exact_pin() -> None:
    pins = project()["tool"]["uv"]["constraint-dependencies"]
    wrong = [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+(?: *;.*)?", pin)]
    assert wrong == []
    pinned = {normal(pin) for pin in pins}
    assert [entry for entry in requirements() if normal(entry) not in pinned] == []


def test_dependencies_are_named_without_versions() -> None:
    """The pins stand in one place."""
    allowed = r"[A-Za-z0-9._-]+(?:\[[a-z,]+\])?(?:; python_version < '[0-9.]+')?"
    assert [entry for entry in requirements() if not re.fullmatch(allowed, entry)] == []
    assert len({normal(entry) for entry in requirements()}) == len(requirements())


def test_every_foreign_import_is_a_dependency() -> None:
    """What is imported must be asked for, not come along with something else (Twisted is Scrapy's own interface)."""
    made = project()["project"]
    extras = made["optional-dependencies"].values()
    asked = {normal(entry) for entries in (made["dependencies"], *extras) for entry in entries}
    providers = packages_distributions()
    standard = sys.stdlib_module_names | {"compression", "twisted"}  # the first from Python 3.14 on
    missing = set()
    for name in TOP:
        for path in files_in(ROOT / name, "**/*.py", at_least=50):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    named = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    named = [node.module or ""]
                else:
                    continue
                for top in {each.split(".")[0] for each in named} - TOP - standard:
                    if not asked & {normal(provider) for provider in providers.get(top, [top])}:
                        missing.add(f"{path.relative_to(ROOT)}: {top}")
    assert missing == set()


def test_readme_and_license_are_there() -> None:
    made = project()["project"]
    assert (ROOT / made["readme"]).is_file()
    assert all((ROOT / name).is_file() for name in made["license-files"])


@each_row("what", sorted(FOREIGN))
def test_no_file_names_a_place_where_it_was_made(what: str) -> None:
    found = []
    for path in files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if match := FOREIGN[what].search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {match[0]}")
    assert found == []


def test_patterns_find_what_they_are_for() -> None:
    index, folder = FOREIGN["a package index"], FOREIGN["a folder of somebody's machine"]
    for text in ('url = "http://10.0.0.1:80/simple' + '"', "https://pypi." + "org/x", "/packages/" + "ab/0f/x.whl"):
        assert index.search(text)
    for text in ("cd /wo" + "rk/x", "see /ho" + "me/me/x", "/Us" + "ers/Me", '"/ro' + 'ot/x"'):
        assert folder.search(text)
    assert not folder.search("http://h.cn/home/a and ../press/x and ~/root/x")
