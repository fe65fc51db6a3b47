"""`scrapy replicate`: what it takes, and what it prints."""

from __future__ import annotations

import json

import pytest

from crawler.demo.samples import sample_pages, sample_texts
from pipelines.document.document import parse
from pipelines.replicate import EXPERIMENTS, Experiment, harm_samples
from pipelines.training.examples import example
from tests.crawler.crawling import command


def test_experiments_are_listed() -> None:
    listed = command("replicate", "--format", "jsonl")
    assert [json.loads(line)["name"] for line in listed.stdout.splitlines()] == list(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiment_has_its_function(name: str) -> None:
    from importlib import import_module

    one: Experiment = EXPERIMENTS[name]
    assert callable(getattr(import_module(f"pipelines.replicate.{one.module}"), one.function))


def test_unknown_experiment_is_refused() -> None:
    refused = command("replicate", "wheights")
    assert refused.returncode == 2
    assert f"there is no experiment 'wheights'; there are: {', '.join(EXPERIMENTS)}" in refused.stderr


def test_samples_hold_their_texts() -> None:
    pages = [example(body, row) for body, row in sample_pages()]
    assert sum(page is not None and bool(page.content.any()) for page in pages) == len(pages) > 100
    texts = list(sample_texts())
    assert len(texts) == len(pages)
    assert parse(texts[0]["html"].encode(), "").blocks.texts
    assert {row["original"] for row in texts} & {row["id"] for row in texts}
    assert {row["label"] for row in harm_samples()} >= {"clean", "gambling", "fraud", "ad", "porn"}


@pytest.mark.slow
def test_batch_with_several_workers() -> None:
    done = command("replicate", "batch", "--format", "jsonl")
    rows = {row["method"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert rows["1 worker"]["speed-up"] == 1
    assert rows["8 workers"]["simulated_speed-up"] > rows["2 workers"]["simulated_speed-up"] > 1
