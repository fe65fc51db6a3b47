"""Examples in docstrings give what they say."""

from __future__ import annotations

import doctest
from importlib import import_module

from tests.files import files_in
from tests.test_layers import PACKAGES, ROOT


def test_examples_give_what_they_say() -> None:
    wrong = {}
    tried = 0
    for path in (path for package in PACKAGES for path in files_in(ROOT / package, "**/*.py", at_least=50)):
        if ">>> " not in path.read_text(encoding="utf-8"):
            continue
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
        tried += result.attempted
        if result.failed:
            wrong[module.__name__] = result.failed
    assert wrong == {}
    assert tried > 100
