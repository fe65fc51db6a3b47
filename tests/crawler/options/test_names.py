"""Names of settings that are gone: each is answered by what replaces it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crawler.options.names import REPLACED, check_names, without_effect
from crawler.options.table import BY_NAME
from crawler.options.values import ConfigError
from tests.crawler.options.test_config import given

ROOT = Path(__file__).parents[3]


def test_settings_that_are_gone_say_what_to_do_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(REPLACED) > 30
    assert set(REPLACED) & set(BY_NAME) == set()
    for name, instead in REPLACED.items():
        sentence = f"there is no setting {name} any more: {instead}"
        with pytest.raises(ConfigError, match=re.escape(sentence)):
            check_names(given(**{name: "1"}))
        with pytest.raises(ConfigError, match=re.escape(sentence)):
            check_names(given(), {name: 1})
        with monkeypatch.context() as environment:
            environment.setenv(f"NEWS_{name}", "1")
            with pytest.raises(ConfigError, match=re.escape(f"NEWS_{name} gives: {instead}")):
                check_names(given())
        of_project = given()
        of_project.set(name, 1, "project")
        assert without_effect(of_project) == [f"{name} has no effect on this crawl: {instead}"]


def test_replacements_name_settings_and_files_that_exist() -> None:
    for instead in REPLACED.values():
        for setting, example in re.findall(r"write ([A-Z_]+)='(.*)'", instead):
            check_names(given(**{setting: example}))
            BY_NAME[setting].check(example)
        for path in re.findall(r"[\w/]+\.py", instead):
            assert (ROOT / path).is_file(), path
