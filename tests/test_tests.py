"""Rules for the tests themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.files import files_in
from tests.table import each_row

TESTS = Path(__file__).resolve().parent
CHECKS = {"raises", "warns", "fail"}
"""Of pytest."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def trees() -> dict[str, ast.Module]:
    paths = files_in(TESTS, "**/*.py", at_least=200)
    paths = [path for path in paths if "benchmarks" not in path.relative_to(TESTS).parts]
    return {str(path.relative_to(TESTS)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def called(function: ast.AST) -> Iterator[str]:
    """Names of all that a function calls, without the objects they are called on."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            yield node.func.id if isinstance(node.func, ast.Name) else node.func.attr


def asserts(function: ast.AST) -> bool:
    return any(isinstance(node, ast.Assert) for node in ast.walk(function)) or bool(CHECKS & set(called(function)))


def without_assertion(trees: dict[str, ast.Module]) -> list[str]:
    """Tests that assert nothing, neither themselves nor in a function of the tests that they call."""
    helpers = {each.name for tree in trees.values() for each in functions(tree) if asserts(each)}
    return [
        f"{name}:{each.lineno} {each.name}"
        for name, tree in trees.items()
        for each in functions(tree)
        if each.name.startswith("test_") and not asserts(each) and not helpers & set(called(each))
    ]


@each_row(
    ("body", "is_found"),
    [("one()", True), ("assert one()", False), ("with pytest.raises(OSError): one()", False), ("check(one())", False)],
)
def test_reader_tells_tests_without_assertion(body: str, is_found: object) -> None:
    source = f"def check(it):\n    assert it\ndef test_one():\n    {body}\n"
    assert bool(without_assertion({"test_x.py": ast.parse(source)})) is is_found


def test_tests_assert_something() -> None:
    assert without_assertion(trees()) == []


def test_names_begin_with_the_verb_or_the_thing_under_test() -> None:
    """So that a red test is found by its subject."""
    forbidden = {
        "a",
        "an",
        "the",
        "what",
        "whatever",
        "which",
        "who",
        "whoever",
        "how",
        "it",
        "its",
        "they",
        "when",
        "where",
        "whether",
    }
    wrong = [
        f"{name}:{each.lineno} {each.name}"
        for name, tree in trees().items()
        for each in functions(tree)
        if each.name.startswith("test_") and each.name.split("_")[1] in forbidden
    ]
    assert wrong == []


def at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """All that is run when a module is imported: not the bodies of functions, but their decorators and defaults."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if isinstance(node, Function):
            yield from (inner for each in (*node.decorator_list, node.args) for inner in ast.walk(each))
        else:
            yield from at_import(node)


def globs_at_import(trees: dict[str, ast.Module]) -> list[str]:
    return [
        f"{name}:{node.lineno}"
        for name, tree in trees.items()
        for node in at_import(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"glob", "rglob", "iterdir"}
    ]


def test_reader_finds_globs_in_parametrisations_and_constants() -> None:
    for source in (
        'FILES = sorted(Path("x").glob("*.py"))',
        '@mark.parametrize("path", sorted(ROOT.rglob("*.py")))\ndef test_x(path): assert path',
        'class TestX:\n    @mark.parametrize("path", [*ROOT.iterdir()])\n    def test_x(self, path): assert path',
    ):
        assert len(globs_at_import({"test_x.py": ast.parse(source)})) == 1, source
    assert globs_at_import({"test_x.py": ast.parse("def test_x():\n    assert list(ROOT.glob('*'))")}) == []


def test_parametrisations_by_files_say_how_many_there_must_be() -> None:
    assert globs_at_import(trees()) == [], "files_in of tests/files.py counts them"
