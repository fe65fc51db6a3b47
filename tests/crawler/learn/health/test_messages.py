"""Sentences of alarms."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from crawler.learn.health.findings import Change, Finding
from crawler.learn.health.host import HostHealth
from crawler.learn.health.messages import MOST_QUOTED, normal_again, sentence
from crawler.run.terminal import quoted
from tests.benchmarks.health import CHANGES, plain


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("redesigned", ["layout changed: articles were 9", "of such pages, now ", "e.g. http://a.example/news/"]),
        ("cut short", ["layout changed: typical length 1,", " characters", "scrapy extract"]),
        ("same title, no dates", ["titles missing or all the same: ", "-> 100%", "articles without a date: "]),
        ("blocking", ["blocks us: ", "answers were 403", "HOST_DELAY"]),
        ("down", ["does not answer well: 10 of the last 10 answers were timed out"]),
        ("JavaScript shell", ["pages are empty: ", "JavaScript"]),
        ("slow", ["slow: an answer takes ", "0.2 s before"]),
        ("mojibake", ["characters look wrongly decoded: wrongly decoded: "]),
    ],
)
def test_what_is_said(name: str, parts: list[str]) -> None:
    draw = random.Random(4)
    health, pages = HostHealth(40), plain(draw)
    for page in islice(pages, 300):
        health.learn(page)
    for page in islice(pages, 240):
        health.learn(CHANGES[name][0](draw, page))
        if health.alarms:
            break
    (finding,) = health.alarms
    said = sentence(finding)
    assert [part for part in parts if part not in said] == [], said


def test_what_sites_say_is_harmless() -> None:
    why = "http 403\n2024-01-01 ERROR: forged \x1b[31m\u202e" + "x" * 300
    said = sentence(Finding("blocks", (Change("blocks", 0.0, 1.0, 1e-9),), 40, 40, why))
    assert said.isprintable()
    assert len(said) < 300
    assert quoted("x" * 101, MOST_QUOTED) == "x" * MOST_QUOTED + "..."


def test_the_end_of_an_alarm() -> None:
    finding = Finding("layout", (Change("chars", 1200, 60, 1e-9),), 40)
    assert normal_again(finding, accepted=False) == "no longer: layout changed"
    assert "normal now" in normal_again(finding, accepted=True)
