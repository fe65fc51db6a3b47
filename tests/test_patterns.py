"""No regular expression of ours takes more than linear time, whatever a page or server sends."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import crawler
import pipelines
from tests.table import each_row

SIZE = 1_500
SUSPICIOUS_SECONDS = 0.004
RUNS = (
    " ", "　", "\n", "0", "2024-", "12:", "a", "a@", "www.", "a.", "é", "中", "来源：", "作者 ", "(", "）", "“", "<",
    "<a ", "&#", "-", "=", '"', "、", "/", "%41", "_", "1年", " - ", "a b ", "й", "Ã",
)  # fmt: skip
SUFFIXES = ("", "!", "\x00", "年", ">", "完")


@cache
def patterns() -> dict[str, re.Pattern]:
    """All compiled patterns that modules hold, also in their collections, by where they stand."""
    found: dict[str, re.Pattern] = {}
    for package in (pipelines, crawler):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".demo" in module.name or module.name == "crawler.settings":
                continue
            for name, value in vars(importlib.import_module(module.name)).items():
                for at, pattern in enumerate(compiled(value)):
                    if pattern not in found.values():
                        found[f"{module.name}.{name}[{at}]"] = pattern
    return found


def compiled(value: object) -> Iterator[re.Pattern]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from compiled(each)
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from compiled(each)


def hostile(pattern: re.Pattern, size: int) -> Iterator[str]:
    """Long runs, and runs of what the pattern itself is made of, each with an end that lets nothing match."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    own = tuple(dict.fromkeys(re.findall(r"[\w<>=:：来源作者、/-]+", source, re.ASCII)))[:6]
    for unit in (*RUNS, *own):
        run = (unit * (size // len(unit) + 1))[:size]
        for suffix in SUFFIXES if unit in {" ", "0", "a", "中"} else SUFFIXES[:2]:
            yield run + suffix
    for first in own[:3]:
        for unit in (" ", "a", "0", "中"):
            yield first + unit * size + "!"


def cost(pattern: re.Pattern, text: str, *, anchored: bool = False) -> float:
    """CPU seconds of finding everything, or of looking at the beginning."""
    subject = text if isinstance(pattern.pattern, str) else text.encode("utf-8", "replace")
    start = time.process_time()
    if anchored:
        pattern.match(subject)
        pattern.fullmatch(subject)
    else:
        sum(1 for _ in pattern.finditer(subject))
    return time.process_time() - start


def is_anchored(name: str) -> bool:
    """Whether a module only ever asks what its texts begin with."""
    module, _, variable = name.partition("[")[0].rpartition(".")
    source = Path(str(importlib.import_module(module).__file__)).read_text(encoding="utf-8")
    uses = set(re.findall(rf"\b{variable}\.(\w+)\(", source))
    return bool(uses) and uses <= {"match", "fullmatch"}


def test_patterns_are_found() -> None:
    assert len(patterns()) > 100
    assert any(name.startswith("pipelines.dates.parse.") for name in patterns())


SHORT = {
    "pipelines.url_rules.forms._HEAD": 250,
    "pipelines.url_rules.forms._TAIL": 250,
    "pipelines.url_rules.forms._CLASSES": 250,
}
"""Patterns that are only asked about texts of so many characters."""


@pytest.mark.slow
def test_all_are_linear() -> None:
    slow = []
    for name, pattern in patterns().items():
        anchored = is_anchored(name)
        size = SHORT.get(name.partition("[")[0], SIZE)
        grown = size if size < SIZE else 4 * size
        for text, eighth, whole in zip(*(hostile(pattern, n) for n in (size, grown // 8, grown)), strict=True):
            if cost(pattern, text, anchored=anchored) > SUSPICIOUS_SECONDS:  # most take far less: growth decides
                before = min(cost(pattern, eighth, anchored=anchored) for _ in range(3))
                after = min(cost(pattern, whole, anchored=anchored) for _ in range(3))
                if after > 0.02 and after > 24 * before:  # 8 times would be linear, 64 times quadratic
                    slow.append(f"{name}: {after:.2f} s for {text[:12]!r} ... {text[-1]!r}")
                    break
    assert not slow, slow


@each_row("bad", [r"(a+)+$", r"\s*x", r"(?:a|a)*b"])
def test_test_finds_what_backtracks(bad: str) -> None:
    size = 22 if bad[0] == "(" else SIZE
    unit, pattern = " " if "s" in bad else "a", re.compile(bad)
    whole, eighth = (min(cost(pattern, unit * n + "!") for _ in range(3)) for n in (size, size // 8))
    assert whole > 16 * eighth  # 8 times would be linear, 64 times quadratic
