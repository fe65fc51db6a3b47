"""Sentences of alarms."""

from __future__ import annotations

import random
from itertools import islice

from crawler.learn.health.host import Finding, HealthMonitor
from crawler.learn.health.messages import MOST_QUOTED, normal_again, sentence
from crawler.terminal.text import quoted
from tests.benchmarks.health import CHANGES, plain
from tests.table import each_row


@each_row(
    ("name", "parts"),
    [
        ("redesigned", ["layout changed: pages that are no articles: ", "% -> 9", "e.g. http://a.example/news/"]),
        ("cut short", ["layout changed: articles far shorter than usual: ", "scrapy extract"]),
        ("same title, no dates", ["articles without a date: ", "-> 100%"]),
        ("blocking", ["blocks us: ", " of the last ", "answers, the last with 403", "HOST_DELAY"]),
        ("down", ["does not answer well: ", " answers, the last with timed out"]),
        ("JavaScript shell", ["pages are empty: ", "JavaScript"]),
        ("slow", ["slow: answers far slower than usual: "]),
        ("hijacked", ["looks hijacked: articles with gambling, ", "e.g. http://a.example/news/", "; tell the site"]),
        ("mojibake", ["characters look wrongly decoded: articles wrongly decoded: "]),
    ],
)
def test_messages_of_alarms(name: str, parts: list[str]) -> None:
    draw = random.Random(4)
    health, pages = HealthMonitor(40), plain(draw)
    for page in islice(pages, 300):
        health.learn(page)
    for page in islice(pages, 240):
        health.learn(CHANGES[name][0](draw, page))
        if health.state.active:
            break
    (finding,) = health.state.active.values()
    said = sentence(finding)
    assert [part for part in parts if part not in said] == [], said


def test_texts_of_sites_are_harmless() -> None:
    why = "http 403\n2024-01-01 ERROR: forged \x1b[31m\u202e" + "x" * 300
    said = sentence(Finding("blocks", "blocks", 0.0, 40, 40, why))
    assert said.isprintable()
    assert len(said) < 300
    assert quoted("x" * 101, MOST_QUOTED) == "x" * MOST_QUOTED + "..."


def test_end_of_an_alarm() -> None:
    finding = Finding("layout", "short", 0.1, 40, 36, ended="no longer")
    assert normal_again(finding) == "no longer: layout changed"
