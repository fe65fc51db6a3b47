"""The documents name every setting, exit code, command, table and registry name; what they promise is tested.

`python -m tests.test_docs` writes docs/settings.md.
"""

from __future__ import annotations

import re
from pathlib import Path

from crawler import settings
from crawler.options.scrapy_settings import DEFAULTS
from crawler.options.seeds import OPTIONS as SEED_OPTIONS
from crawler.options.table import OPTIONS
from crawler.options.values import Option
from crawler.rank.priority import PRESETS, SIGNALS
from crawler.run import exit_codes
from crawler.run.exit_codes import EXIT_NOTHING, EXIT_STOPPED, EXIT_USAGE
from pipelines.extract import EXTRACTORS
from tests.files import files_in

ROOT = Path(__file__).parents[1]
MOST_README_BYTES = 14 * 1024


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


TABLE = re.compile(r"(?<=<!-- settings -->\n).*?(?=<!-- end of settings -->)", re.DOTALL)


def _default(option: Option) -> str:
    """Return a default as the table shows it."""
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
    """Return the table: a row for each group, and one for each setting."""
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for group in dict.fromkeys(option.group for option in OPTIONS):
        lines.append(f"| **{group}** | | |")
        of_group = [option for option in OPTIONS if option.group == group]
        help_in_docs = [option.help.replace("](docs/", "](") for option in of_group]
        lines += [
            f"| `{option.name}` | {_default(option)} | {text} |"
            for option, text in zip(of_group, help_in_docs, strict=True)
        ]
    return "\n".join(lines) + "\n"


def test_settings_page_has_the_table() -> None:
    table = TABLE.search(page("docs/settings.md"))
    assert table, "docs/settings.md has lost the marks around its settings"
    assert table[0] == table_of_settings(), "run: uv run python -m tests.test_docs"


def test_settings_have_help_and_are_in_force() -> None:
    wrong = [
        option.name
        for option in OPTIONS
        if not option.help or DEFAULTS.get(option.name, getattr(settings, option.name, None)) != option.default
    ]
    assert wrong == []


def test_readme_is_short_and_names_settings_that_exist() -> None:
    readme = page("README.md")
    assert len(readme.encode()) <= MOST_README_BYTES
    rows = re.findall(r"^\| ((?:`[A-Z_]+`(?:, )?)+) \|", readme, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(rows) == 10
    assert named <= {option.name for option in OPTIONS}


def test_registry_names_are_explained() -> None:
    wanted = {"docs/extraction.md": [*EXTRACTORS], "docs/crawl-order.md": [*SIGNALS, *PRESETS]}
    missing = [(name, where) for where, names in wanted.items() for name in names if f"`{name}`" not in page(where)]
    assert missing == []


def test_exit_codes_are_explained() -> None:
    codes = [code for name, code in vars(exit_codes).items() if name.startswith("EXIT_")]
    assert len(codes) > 5
    assert [code for code in codes if not re.search(rf"^\| {code} \|", page("README.md"), re.MULTILINE)] == []


def test_commands_are_explained() -> None:
    names = [
        path.stem
        for path in files_in(ROOT / "crawler" / "commands", "[a-z]*.py", at_least=15)
        if path.stem != "runspider"
    ]
    assert [name for name in names if f"    uv run scrapy {name}" not in page("docs/commands.md")] == []


def test_seed_options_are_explained() -> None:
    assert [option for option in SEED_OPTIONS if f"`{option}=" not in page("README.md")] == []


def test_every_page_is_listed_for_a_reader() -> None:
    listed = set(re.findall(r"\]\(([\w.-]+)\)", page("docs/README.md")))
    assert {path.name for path in files_in(ROOT / "docs", "*.*", at_least=10)} - {"README.md"} <= listed


RUNNING = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")


def test_unit_file_fits_the_exit_codes() -> None:
    lines = {line.strip() for line in RUNNING.splitlines()}
    assert f"RestartPreventExitStatus={EXIT_USAGE} {EXIT_NOTHING}" in lines
    assert f"RestartForceExitStatus={EXIT_STOPPED}" in lines
    assert f"SuccessExitStatus={EXIT_STOPPED}" in lines
    assert lines >= {"Restart=on-failure", "KillMode=mixed"}


def test_settings_in_the_guide_exist() -> None:
    known = {name for option in OPTIONS for name in (option.name, *option.variables)}
    named = set(re.findall(r"`([A-Z]+_[A-Z_]+)", RUNNING))
    assert len(named) > 10
    assert [name for name in named - known if not hasattr(settings, name)] == []


def test_messages_in_the_guide_are_those_of_the_program() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in files_in(ROOT / "db", "**/*.py", at_least=50))
    sentences = re.findall(r"^\| `([a-z ]+)`", RUNNING, re.MULTILINE)
    assert sentences
    assert [sentence for sentence in sentences if sentence not in sources] == []


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


def _wrong_with(named: str, default: str, tests: str) -> list[str]:
    """Return the faults of a promise: an unknown setting, another default, a test that does not exist."""
    faults = []
    for name in re.findall(r"`([A-Z][A-Z_]+)`", named):
        if not hasattr(settings, name):
            faults.append(f"there is no setting {name}")
            continue
        value = getattr(settings, name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and f"{value:.12g}" not in default.replace(",", ""):
            faults.append(f"{name} is {value:.12g}")
    named_tests = re.findall(r"`([\w/]+\.py)::(\w+)`", tests)
    for path, test in named_tests:
        source = ROOT / "tests" / path
        if not source.is_file() or f"def {test}(" not in source.read_text(encoding="utf-8"):
            faults.append(f"there is no {path}::{test}")
    return faults if named_tests else [*faults, "names no test"]


def test_promises_name_their_setting_its_default_and_a_test() -> None:
    wrong = {row[0]: faults for row in _PROMISES if (faults := _wrong_with(*row[1:]))}
    assert wrong == {}


PAPERS = dict(re.findall(r"^### (S\d\d) .*\n((?:(?!#).*\n)+)", page("docs/papers.md"), re.MULTILINE))
_METHODS = {*range(1, 9), *range(10, 20), *range(21, 28), 30, 31, *range(35, 39), 40}
_LABELS = ["Source", "Run", "Formula", "Differs", "Paper", "By hand"]


def test_papers_have_every_method_and_what_differs() -> None:
    assert {int(name[1:]) for name in PAPERS} == _METHODS
    labels = {name: re.findall(r"^- ([A-Z][a-z]+(?: \w+)?): \S", text, re.MULTILINE) for name, text in PAPERS.items()}
    assert {name: found for name, found in labels.items() if found != _LABELS} == {}
    assert [name for name, text in PAPERS.items() if not re.search(r" Here[:,]", text)] == []


def test_papers_name_files_tests_settings_and_commands_that_exist() -> None:
    wrong = []
    for name, text in PAPERS.items():
        by_hand = text[text.index("- By hand:") :]
        if "::test_" not in by_hand:
            wrong.append(f"{name}: names no test")
        for path, test in re.findall(r"`((?:crawler|pipelines|tests)/[\w/]+\.py)(?:::(\w+))?`", text):
            source = ROOT / path
            if not source.is_file() or (test and f"def {test}(" not in source.read_text(encoding="utf-8")):
                wrong.append(f"{name}: {path} {test}")
        wrong += [
            f"{name}: {setting}" for setting in re.findall(r"-s ([A-Z_]+)=", text) if not hasattr(settings, setting)
        ]
        files = {path.stem for path in (ROOT / "crawler" / "commands").glob("*.py")} | {"crawl"}
        wrong += [f"{name}: {command}" for command in re.findall(r"scrapy ([a-z-]+)", text) if command not in files]
    assert wrong == []


if __name__ == "__main__":
    text = TABLE.sub(lambda _: table_of_settings(), page("docs/settings.md"))
    (ROOT / "docs" / "settings.md").write_text(text, encoding="utf-8")
