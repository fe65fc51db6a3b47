"""Methods from outside the project in a crawl: the real command, with a module that stands elsewhere."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.crawler.crawling import rows
from tests.crawler.odd_server import Answer, OddServer, article
from tests.crawler.test_item_pipelines import Crawled, command
from tests.waiting import PATIENCE_SECONDS

MODULE = '''
import os
from dataclasses import dataclass, replace

import numpy as np

from pipelines.dedup import method
from pipelines.extract import extractor


class Odd(Exception):
    """One that cannot be pickled."""

    def __init__(self, document, why):
        super().__init__(why)
        self.document = document


@dataclass(frozen=True)
class Careful:
    """An extractor of ours, but for some pages."""

    name: str = "density"
    marked: str = ""

    def __call__(self, document):
        if document.url.endswith(("/3", "/4", "/5")):
            raise Odd(document, "not this one")
        if document.url.endswith("/6"):
            os._exit(3)
        if document.url.endswith("/7"):
            return None
        found = extractor(self.name)(document)
        return replace(found, evidence="careful", text=found.text and self.marked + found.text)


def seventh(finds):
    with open("processes.txt", "a") as file:
        file.write(f"{os.getpid()}\\n")
    return np.where(finds.segments == 1, 0.7, 0.0)


def short(shingle=6):
    return replace(method("combined", {"shingle_chars": shingle}), name="short")
'''
SETTINGS = {
    "EXTRACTOR": "theirs:Careful",
    "EXTRACTOR_PARAMS": json.dumps({"marked": "Read. "}),
    "CRAWL_PRIORITY": json.dumps({"theirs:seventh": 1, "pagerank": 1}),
    "RANK_EVERY_PAGES": "2",
    "DOWNLOAD_TIMEOUT": "70",
    "STALL_SECONDS": "70",
    "HOST_WINDOW": "1",
    "SITE_MEMORY": "False",
    "DUPLICATE_METHOD": "theirs:short",
    "DUPLICATE_PARAMS": json.dumps({"shingle": 5}),
}


def when_ranked(processes: Path, answer: Answer) -> Answer:
    """Answer when the signal has been asked for by two processes, or after a minute."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and len(set(processes.read_text("utf-8").split())) < 2:
        time.sleep(0.05)
    return answer


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """One crawl with an extractor, a signal and a method of finding duplicates that are none of ours."""
    folder = tmp_path_factory.mktemp("plugged")
    paths = [f"/{n}" for n in range(12)]
    answers: dict = {("a.localhost", path): article(f"第{path[1:]}篇新闻说的是别的事") for path in paths}
    answers["a.localhost", "/"] = article("首页", *paths)
    for path in paths[-3:]:  # while something is left, there is something to rank
        answers["a.localhost", path] = partial(when_ranked, folder / "processes.txt", answers["a.localhost", path])
    with OddServer(answers) as server:
        done = command(folder, server, MODULE, *[x for pair in SETTINGS.items() for x in ("-s", "=".join(pair))])
        assert done.returncode == 3, done.stderr
        yield Crawled(server, folder, done.stderr)


def test_extractor_reads_the_pages(crawled: Crawled) -> None:
    stored = rows(crawled.folder, "SELECT extractor, text FROM v_articles")
    assert len(stored) >= 7
    assert {name for name, _ in stored} == {"theirs:Careful"}
    assert all(text.startswith("Read. ") for _, text in stored)


def test_error_of_an_extractor_costs_its_page_and_is_told_once_with_a_count(crawled: Crawled) -> None:
    failed = dict(rows(crawled.folder, "SELECT url, reason_detail FROM url WHERE reason = 'internal error'"))
    assert {crawled.path(url): why for url, why in failed.items()} == {
        "/3": "Odd",
        "/4": "Odd",
        "/5": "Odd",
        "/7": "TypeError",
    }
    assert len(re.findall(r"in __call__\n +raise Odd\(document", crawled.output)) == 1
    assert "more of that kind are only counted" in crawled.output
    assert "5 pages could not be read: internal error: Odd (3)" in crawled.output
    assert "TypeError: extractor 'theirs:Careful' returned NoneType, not an Extraction" in crawled.output


def test_extractor_that_ends_its_process_costs_its_page(crawled: Crawled) -> None:
    assert rows(crawled.folder, "SELECT reason FROM url WHERE url LIKE '%/6'") == [("worker died",)]


def test_signal_orders_the_queue_here_and_in_the_process_that_ranks(crawled: Crawled) -> None:
    assert len(set(crawled.lines("processes.txt"))) == 2
    value = "json_extract(score_parts, '$.\"theirs:seventh\"')"
    assert rows(crawled.folder, f"SELECT DISTINCT {value} FROM url WHERE url LIKE '%/1_'") == [(0.7,)]


def test_duplicate_method_makes_the_signatures_and_the_evidence(crawled: Crawled) -> None:
    ((form,),) = rows(crawled.folder, "SELECT form FROM signature_form")
    assert form.startswith("shingles 5 ")
    assert {method for (method,) in rows(crawled.folder, "SELECT method FROM duplicate")} <= {"short", "exact"}


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("EXTRACTOR=nowhere:it", "extractor 'nowhere:it': no module 'nowhere' in the current folder or on PYTHONPATH"),
        ("EXTRACTOR=theirs:Odd", "extractor 'theirs:Odd' cannot be made with the parameters {}"),
        ('CRAWL_PRIORITY={"nx:katz": 1}', "networkx has no function 'katz'; names like it: katz_centrality"),
        ('CRAWL_PRIORITY={"theirs:short": 1}', "signal 'theirs:short' failed when tried out on two URLs"),
        ("DUPLICATE_METHOD=theirs:nothing", "duplicate method 'theirs:nothing': the module 'theirs' has no 'nothing'"),
    ],
)
def test_wrong_method_is_named_before_anything_starts(tmp_path: Path, setting: str, told: str) -> None:
    with OddServer({("a.localhost", "/"): article("首页")}) as server:
        done = command(tmp_path, server, MODULE, "-s", setting)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert server.asked == []
