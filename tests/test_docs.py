"""The README names every setting, exit code, view, command and registry name.

`python -m tests.test_docs` writes the settings into it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crawler import settings
from crawler.options.scrapy_settings import DEFAULTS
from crawler.options.seeds import OPTIONS as SEED_OPTIONS
from crawler.options.table import OPTIONS
from crawler.options.values import Option
from crawler.rank.priority import PRESETS, SIGNALS
from crawler.run import exit_codes
from crawler.run.exit_codes import EXIT_NOTHING, EXIT_STOPPED, EXIT_USAGE
from db.tables import Record
from pipelines.extract import EXTRACTORS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


TABLE = re.compile(r"(?<=<!-- settings -->\n).*?(?=<!-- end of settings -->)", re.DOTALL)


def _default(option: Option) -> str:
    """A default as the README shows it."""
    value = option.default
    if option.shown is not None:
        return option.shown
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, str):
        return f"`{value}`" if value else ""
    return f"`{value}`" if isinstance(value, dict | list) else str(value)


def table_of_settings() -> str:
    """The README's table: a row for each group, and one for each setting."""
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for group in dict.fromkeys(option.group for option in OPTIONS):
        lines.append(f"| **{group}** | | |")
        of_group = [option for option in OPTIONS if option.group == group]
        lines += [f"| `{option.name}` | {_default(option)} | {option.help} |" for option in of_group]
    return "\n".join(lines) + "\n"


def test_readme_has_the_table_of_settings() -> None:
    found = TABLE.search(README)
    assert found, "the README has lost the marks around its settings"
    assert found[0] == table_of_settings(), "run: uv run python -m tests.test_docs"


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_settings_have_help_and_are_in_force(option: Option) -> None:
    assert option.help
    assert DEFAULTS.get(option.name, getattr(settings, option.name, None)) == option.default


@pytest.mark.parametrize("name", [*EXTRACTORS, *SIGNALS, *PRESETS])
def test_every_registry_name_stands_in_the_readme(name: str) -> None:
    assert f"`{name}`" in README


@pytest.mark.parametrize("table", sorted(Record.metadata.tables))
def test_every_table_is_explained(table: str) -> None:
    assert f"`{table}`" in README


@pytest.mark.parametrize("code", [code for name, code in vars(exit_codes).items() if name.startswith("EXIT_")])
def test_exit_codes(code: int) -> None:
    assert re.search(rf"^\| {code} \|", README, re.MULTILINE)


@pytest.mark.parametrize("path", sorted((ROOT / "crawler" / "commands").glob("[a-z]*.py")), ids=lambda p: p.stem)
def test_every_command_is_explained(path: Path) -> None:
    assert f"scrapy {path.stem}" in README


@pytest.mark.parametrize("option", SEED_OPTIONS)
def test_seed_options(option: str) -> None:
    assert f"`{option}=" in README


RUNNING = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")


def test_unit_file_fits_the_exit_codes() -> None:
    lines = {line.strip() for line in RUNNING.splitlines()}
    assert f"RestartPreventExitStatus={EXIT_USAGE} {EXIT_NOTHING}" in lines
    assert f"RestartForceExitStatus={EXIT_STOPPED}" in lines
    assert f"SuccessExitStatus={EXIT_STOPPED}" in lines
    assert lines >= {"Restart=on-failure", "KillMode=mixed"}


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([A-Z]+_[A-Z_]+)", RUNNING))))
def test_settings_in_the_guide_exist(name: str) -> None:
    assert hasattr(settings, name) or any(name in (option.name, *option.variables) for option in OPTIONS)


@pytest.mark.parametrize("sentence", re.findall(r"^\| `([a-z ]+)`", RUNNING, re.MULTILINE))
def test_messages_in_the_guide_are_those_of_the_program(sentence: str) -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "db").rglob("*.py")]
    assert any(sentence in source for source in sources)


def test_algorithms_name_their_source() -> None:
    extract = ROOT / "pipelines" / "extract"
    methods = (extract / f"{name}.py" for name in ("density", "entropy", "simpletree"))
    rank = ("priority", "pagerank", "hits", "siterank", "blockrank", "opic")
    ranking = (ROOT / "crawler" / "rank" / f"{name}.py" for name in rank)
    for path in (*methods, *ranking):
        assert re.search(r"Source:|S\d\d", path.read_text(encoding="utf-8")), path


SAFETY = (ROOT / "docs" / "safety.md").read_text(encoding="utf-8")
_PROMISES = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in SAFETY.splitlines()
    if line.startswith("| ") and "::" in line
]


def test_promises_are_there() -> None:
    assert len(_PROMISES) > 50


@pytest.mark.parametrize("row", _PROMISES, ids=[row[0][:60] for row in _PROMISES])
def test_promise_names_its_setting_its_default_and_a_test(row: list[str]) -> None:
    _, named, default, tests = row
    for name in re.findall(r"`([A-Z][A-Z_]+)`", named):
        assert hasattr(settings, name), f"there is no setting {name}"
        value = getattr(settings, name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            assert f"{value:.12g}" in default.replace(",", ""), f"{name} is {value:.12g}"
    for path, test in re.findall(r"`([\w/]+\.py)::(\w+)`", tests):
        source = ROOT / "tests" / path
        assert source.is_file(), path
        assert f"def {test}(" in source.read_text(encoding="utf-8"), f"{path} has no {test}"
    assert re.search(r"`[\w/]+\.py::\w+`", tests)


if __name__ == "__main__":
    (ROOT / "README.md").write_text(TABLE.sub(lambda _: table_of_settings(), README), encoding="utf-8")
