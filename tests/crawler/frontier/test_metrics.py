"""Metrics and the log for machines: of one short crawl, while it runs and on its stderr."""

from __future__ import annotations

import json
import socket
import sys
import time
from importlib import import_module
from pathlib import Path
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from crawler.demo.server import Newsroom
from crawler.frontier.metrics import COUNTERS, GAUGES
from crawler.options.config import ConfigError
from tests.crawler.crawling import ROOT, crawl, crawl_arguments, rows, start
from tests.table import each_row

DOCS = (ROOT / "docs/running.md").read_text(encoding="utf-8")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def read_metrics(port: int) -> dict[str, float]:
    """Return the values by name, sums of those with a label; empty while nobody answers."""
    try:
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            families = list(text_string_to_metric_families(answer.read().decode()))
    except OSError:  # not open yet, or closing
        return {}
    return {family.name: sum(one.value for one in family.samples) for family in families}


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, float]], str]:
    """A crawl of 60 pages with its folder, metrics as they were read meanwhile, and what stood on stderr."""
    folder, seen, port = tmp_path_factory.mktemp("metrics"), [], free_port()
    with Newsroom() as newsroom:
        settings = (f"METRICS_PORT={port}", "LOG_JSON=True", "LOG_LEVEL=INFO", "MAX_PAGES=60", "HOST_DELAY=0.1")
        running = start(folder, *crawl_arguments(newsroom, folder, *settings))
        while running.process.is_alive():
            seen.append(read_metrics(port))
            time.sleep(0.05)
        done = running.finish()
    assert done.returncode == 0, done.stderr
    return folder, [each for each in seen if each], done.stderr


def test_metrics_are_told_while_a_crawl_runs(watched: tuple[Path, list[dict[str, float]], str]) -> None:
    folder, seen, _ = watched
    pages = [each["news_pages"] for each in seen if "news_pages" in each]
    assert pages == sorted(pages)
    assert 0 < pages[-1] <= 60
    last = seen[-1]
    assert {f"news_{name}" for name in (*COUNTERS, *GAUGES, "dropped", "run_info")} <= last.keys()
    assert last["news_articles"] <= rows(folder, "SELECT count(*) FROM article")[0][0]
    assert last["news_bytes"] > 10_000


def test_metrics_have_the_names_of_the_samples(watched: tuple[Path, list[dict[str, float]], str]) -> None:
    folder, _, _ = watched
    columns = {row[1] for row in rows(folder, "PRAGMA table_info(run_sample)")}
    assert {*COUNTERS, "queued"} <= columns
    pages, articles = rows(folder, "SELECT pages, articles FROM run_sample ORDER BY at DESC LIMIT 1")[0]
    assert (pages, articles) == (60, rows(folder, "SELECT count(*) FROM article")[0][0])


@each_row("name", [*(f"news_{name}_total" for name in (*COUNTERS, "dropped")), *map("news_{}".format, GAUGES)])
def test_metric_is_documented(name: str) -> None:
    assert f"`{name}`" in DOCS or f"`{name}{{reason}}`" in DOCS


def test_log_as_json_has_an_object_on_each_line(watched: tuple[Path, list[dict[str, float]], str]) -> None:
    lines = [json.loads(line) for line in watched[2].splitlines()]
    assert len(lines) > 5
    assert all(line.keys() >= {"time", "level", "logger", "message", "run"} for line in lines)
    (end,) = (line for line in lines if "counts" in line)
    assert (end["run"], end["counts"]["pages"], end["level"]) == (1, 60, "INFO")


def test_mean_time_of_answers_is_kept_for_each_host(watched: tuple[Path, list[dict[str, float]], str]) -> None:
    times = [row[0] for row in rows(watched[0], "SELECT answer_seconds FROM host WHERE pages > 0")]
    assert times
    assert min(times) > 0


def test_port_in_use_is_refused(tmp_path: Path) -> None:
    with Newsroom() as newsroom, socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = crawl(newsroom, tmp_path, f"METRICS_PORT={port}")
    assert done.returncode == 2
    assert f"127.0.0.1 port {port} cannot be listened on (address already in use); name another one" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "news.db").exists()


def test_missing_client_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "crawler.frontier.metrics")
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(ConfigError, match="METRICS_PORT needs prometheus-client: uv sync --extra metrics"):
        import_module("crawler.frontier.metrics")
