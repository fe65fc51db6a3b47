"""Methods from outside the project: found by import path, checked before anything starts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.dedup import METHODS, Method, method
from pipelines.document.document import parse
from pipelines.extract import extractor
from pipelines.params import plug_in
from pipelines.records import Extraction

ROOT = Path(__file__).parents[2]
MODULE = """
from dataclasses import dataclass, replace

from pipelines.dedup import method as find
from pipelines.records import Extraction

NUMBER = 3


def first(document):
    return Extraction(document.blocks.texts[0], confidence=0.5)


def some(document, *, blocks=1, joined_by=" "):
    return Extraction(joined_by.join(document.blocks.texts[:blocks]))


@dataclass(frozen=True)
class Last:
    blocks: int = 1

    def __post_init__(self):
        if self.blocks < 1:
            raise ValueError("at least one block")

    def __call__(self, document):
        return Extraction(" ".join(document.blocks.texts[-self.blocks:]))


class Holder:
    inner = some


class NotCallable:
    pass


async def later(document):
    return Extraction()


def text(document):
    return "a text"


def nothing():
    return None


def shingles(length=8):
    return replace(find("combined", {"shingle_chars": length}), name="mine")
"""
PAGE = parse(b"<title>t</title><p>one</p><p>two</p><p>three</p>", "http://a.example/")


@pytest.fixture(scope="module", autouse=True)
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A module in the current folder, which is not on Python's path."""
    folder, before, path = tmp_path_factory.mktemp("outside"), Path.cwd(), list(sys.path)
    (folder / "plugged.py").write_text(MODULE, encoding="utf-8")
    (folder / "broken_plugged.py").write_text("import plugged\nplugged.no_such_name\n", encoding="utf-8")
    (folder / "needing_plugged.py").write_text("import no_such_module_anywhere\n", encoding="utf-8")
    sys.path[:] = [one for one in sys.path if one]
    os.chdir(folder)
    yield folder
    os.chdir(before)
    sys.path[:] = path


@pytest.mark.parametrize(
    ("name", "params", "text"),
    [
        ("plugged:first", None, "one"),
        ("plugged:some", {"blocks": 2}, "one two"),
        ("plugged:some", {"blocks": 2, "joined_by": "-"}, "one-two"),
        ("plugged:Last", None, "three"),
        ("plugged:Last", {"blocks": 2}, "two three"),
        ("plugged:Holder.inner", None, "one"),
    ],
)
def test_extractor_by_import_path(name: str, params: dict[str, object] | None, text: str) -> None:
    assert extractor(name, params)(PAGE).text == text


def test_duplicate_method_by_import_path() -> None:
    mine, own = method("plugged:shingles", {"length": 12}), method("combined", {"shingle_chars": 12})
    assert isinstance(mine, Method)
    assert (mine.name, mine.form) == ("mine", own.form)
    assert mine.sign("", "一座新桥" * 9) == own.sign("", "一座新桥" * 9)
    assert "plugged:shingles" not in METHODS


@pytest.mark.parametrize(
    ("name", "params", "told"),
    [
        ("nowhere_plugged:first", None, "no module 'nowhere_plugged' in the current folder or on PYTHONPATH"),
        ("plugged.inner:first", None, "no module 'plugged.inner' in the current folder"),
        ("plugged:second", None, "the module 'plugged' has no 'second'"),
        ("plugged:", None, "the module 'plugged' has no ''"),
        (":first", None, "importing it failed"),
        ("broken_plugged:first", None, "importing it failed .AttributeError: .* 'no_such_name'"),
        ("needing_plugged:first", None, "importing it failed .ModuleNotFoundError: .*no_such_module_anywhere"),
        ("plugged:NUMBER", None, "cannot be called; it takes a function, or a class with __call__"),
        ("plugged:NotCallable", None, "instances of extractor 'plugged:NotCallable' cannot be called"),
        ("plugged:nothing", None, "cannot be called with a document: too many positional arguments"),
        ("plugged:first", {"blocks": 2}, "a document and the parameters .*unexpected keyword argument 'blocks'"),
        ("plugged:Last", {"words": 2}, "cannot be made with the parameters .*unexpected keyword argument 'words'"),
        ("plugged:Last", {"blocks": 0}, "cannot be made with .*ValueError: at least one block"),
        ("plugged:later", None, "is asynchronous; it takes a plain function"),
    ],
)
def test_wrong_extractor_is_told_in_one_sentence(name: str, params: dict[str, object] | None, told: str) -> None:
    with pytest.raises(ValueError, match=told) as caught:
        extractor(name, params)
    assert "\n" not in str(caught.value)


def test_wrong_duplicate_method_is_told_in_one_sentence() -> None:
    with pytest.raises(ValueError, match="duplicate method 'plugged:nothing' returned NoneType, not a Method"):
        method("plugged:nothing")
    with pytest.raises(ValueError, match="cannot be called with no arguments: missing a required argument: 'document'"):
        method("plugged:first")


def test_extractor_must_return_an_extraction() -> None:
    with pytest.raises(TypeError, match="extractor 'plugged:text' returned str, not an Extraction"):
        extractor("plugged:text")(PAGE)
    assert isinstance(extractor("plugged:text")(parse(b"", "http://a.example/")), Extraction), "no blocks, no question"


def test_function_of_c_is_called_unchecked() -> None:
    assert plug_in("builtins:max", None, "thing", takes="a list")([1, 3, 2]) == 3


def test_current_folder_comes_last(module: Path) -> None:
    """A file of the user's takes the place of no module of others, ours least of all."""
    (module / "json.py").write_text("raise SystemExit", encoding="utf-8")
    code = "from pipelines.params import plug_in; import sys; print(plug_in('json:dumps', None, 'it', takes='a')([1]))"
    line = [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}; print(sys.path[-1])"]
    done = subprocess.run(line, cwd=module, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines() == ["[1]", str(module)]
