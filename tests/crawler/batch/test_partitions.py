"""Duplicates and ranks by partitions, on workers of Dask in this process: those of one process, to the last byte."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sqlalchemy import Row, TextClause, text, update

from crawler.batch import ahead, duplicates, rank
from crawler.batch.frame import Parts
from crawler.batch.request import Request
from crawler.commands.duplicates import find
from crawler.corpus import sources
from crawler.options.config import Config
from crawler.rank import expected, siterank
from crawler.web.inspection.link_graph import read_graph
from db.articles import apply
from db.engine.database import Database, open_for_reading
from db.engine.statements import insert_rows
from db.frontier import counts
from db.frontier.insert import add_urls
from db.queries.status import named
from db.records.evidence import REPEATING
from db.tables.urls import HostRow, LinkRow, OutsideRow, UrlRow
from pipelines.dedup.judge import SignatureIndex
from pipelines.dedup.stream import write_pairs
from pipelines.search.terms import index_terms
from tests.crawler.driving import settings_of
from tests.db.frontier_rows import NOW, article, new_url
from tests.db.stores import METHOD, real_judge

if TYPE_CHECKING:
    from distributed import Client

PARTS = '{"depth": 1, "siterank": 0.125}'
SCORES = text("SELECT id, kind, state, score, score_parts FROM url ORDER BY id")
APART = text("UPDATE article SET duplicate_of = NULL")
TIED = text(
    "SELECT a.id, a.cluster_id, a.duplicate_of, d.of_id, d.similarity, d.method, d.kind, d.own, c.size, s.features "
    "FROM article a LEFT JOIN duplicate d ON d.article_id = a.id LEFT JOIN cluster c ON c.id = a.cluster_id "
    "LEFT JOIN signature s ON s.article_id = a.id ORDER BY a.id"
)
SIGNS = "".join(map(chr, range(0x4E00, 0x4E00 + 3_000)))


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A scheduler with two workers, shared by all."""
    from distributed import Client

    with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as opened:
        yield opened


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a command is called in: parts of a batch on Postgres are kept there."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def request(client: Client, action: str, source: str, output: Path | None, partitions: int) -> Request:
    config = Config.from_settings(settings_of(Path("news.db"), CRAWL_PRESET="news"))
    return Request(action, source, output, config, 1, client.scheduler.address, partitions)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hundred documents: a third of them copies, cut or with lines of their site around them."""
    path = tmp_path_factory.mktemp("documents") / "docs.jsonl.gz"
    choose = random.Random(7)
    stories = [["".join(choose.choices(SIGNS, k=30)) for _ in range(12)] for _ in range(130)]
    footers = [[f"第{site}网版权所有，未经许可不得转载", "责任编辑：李明"] for site in range(3)]
    with gzip.open(path, "wt", encoding="utf-8") as out:
        for number in range(200):
            lines = stories[number if number < 130 else choose.randrange(130)]
            lines = choose.choice([lines, lines[:7], lines[3:], [*lines, *stories[choose.randrange(130)]]])
            body = "\n".join([*lines, *choose.choice(footers)])
            out.write(json.dumps({"id": f"d{number}", "title": "题", "text": body}) + "\n")
        out.write(json.dumps({"id": "empty", "text": ""}) + "\n")
    return path


@pytest.mark.parametrize("partitions", [1, 7])
def test_pairs_are_those_of_one_process(tmp_path: Path, client: Client, documents: Path, partitions: int) -> None:
    config = Config.from_settings(settings_of(Path("news.db"), CRAWL_PRESET="news"))
    alone, output = tmp_path / "alone.tsv", tmp_path / "pairs.tsv"
    found = find(str(documents), str(alone), config.duplicate_method, config.duplicates.threshold, REPEATING)
    totals = duplicates.batch(request(client, "duplicates", str(documents), output, partitions))
    assert output.read_bytes() == alone.read_bytes()
    assert found.pairs > 50
    told = {"documents": 201, "duplicates": found.duplicates, "pairs": found.pairs}
    assert {name: totals.counts[name] for name in told} == told
    assert list(tmp_path.glob("*.parts")) == []


def test_steps_go_on_with_what_is_missing(tmp_path: Path, client: Client, documents: Path) -> None:
    name, source = ahead.MethodName("combined", "{}"), sources.LineSource(documents)

    def pairs() -> str:
        made = ahead.prepare(client, lambda stage: Parts(tmp_path / stage, {}), name, source.cut(4, tmp_path))
        record = duplicates.DocumentRecord(name.made(), made)
        write_pairs(record.finder(0.8), record.documents(), found := StringIO(), REPEATING)
        return found.getvalue()

    whole = pairs()
    made = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*.part")}
    assert len(made) == 5 * 4
    lost = [
        tmp_path / "compared" / "000001.part",
        tmp_path / "pairs" / "000003.part",
        tmp_path / "signed" / "000002.part",
    ]
    contents = [path.read_bytes() for path in lost]
    for path in lost:
        path.unlink()
    assert pairs() == whole
    assert [path.read_bytes() for path in lost] == contents
    assert all(path.stat().st_mtime_ns == at for path, at in made.items() if path not in lost)


def test_line_that_is_no_document_is_told_and_the_rest_goes_on(tmp_path: Path, client: Client) -> None:
    row = {"id": 1, "title": "", "text": SIGNS[:200]}
    lines = [json.dumps(row), "{", json.dumps({**row, "id": 2})]
    (tmp_path / "docs.jsonl").write_text("\n".join(lines))
    asked = request(client, "duplicates", str(tmp_path / "docs.jsonl"), tmp_path / "pairs.tsv", 2)
    totals = duplicates.batch(asked)
    assert (tmp_path / "pairs.tsv").read_text() == "1\t2\t1.0000\tsame\n"
    assert ["no JSON" in note for note in totals.notes] == [True]


def test_source_of_duplicates_that_is_none_is_refused(tmp_path: Path, client: Client) -> None:
    (tmp_path / "page.html").write_text("<p>text")
    with pytest.raises(ValueError, match="is no file of documents"):
        duplicates.batch(request(client, "duplicates", str(tmp_path / "page.html"), tmp_path / "pairs.tsv", 2))


def rows(database_url: str, sql: TextClause) -> list[Row]:
    with closing(open_for_reading(database_url)) as database:
        return list(database.read(lambda connection: connection.execute(sql).all()))


def write_web(database: Database, pages: int = 400, hosts: int = 40, sites: int = 12) -> None:
    """Write a web: pages of hosts of sites, some read, some pruned, with links to them and to what has no row."""
    rng = np.random.default_rng(3)
    keys = rng.integers(-(2**63), 2**63, pages + 20, dtype=np.int64).tolist()
    of_host = rng.integers(-(2**63), 2**63, hosts, dtype=np.int64).tolist()
    of_site = rng.integers(-(2**63), 2**63, sites, dtype=np.int64).tolist()
    home = rng.integers(0, hosts, pages).tolist()
    states = rng.choice(["done", "done", "pending", "failed", "skipped"], pages).tolist()
    urls = [
        (key, f"http://h{host}.example/{n}", of_host[host], "page" if n % 50 else "feed", state, 1, 0.5, 1, NOW, PARTS)
        for n, (key, host, state) in enumerate(zip(keys, home, states, strict=False))
    ]
    fetched = [(*row, NOW + n if row[4] in {"done", "skipped"} else None) for n, row in enumerate(urls)]
    links = [(keys[a], keys[b], 0) for a, b in rng.integers(0, pages + 20, (6 * pages, 2)).tolist() if a < pages]
    named = [(of_host[n], of_site[n % sites], f"h{n}.example", "http") for n in range(hosts - 1)]  # one has no row
    kept, pruned = fetched[:-30], [(row[0], row[2]) for row in fetched[-30:]]
    columns = (
        "id",
        "url",
        "host_id",
        "kind",
        "state",
        "depth",
        "score",
        "found_in",
        "found_at",
        "score_parts",
        "fetched_at",
    )
    with database.engine.connect().execution_options(writer=True) as connection, database.writing(connection):
        insert_rows(connection, HostRow.table(), ("id", "site_id", "name", "scheme"), named)
        insert_rows(connection, UrlRow.table(), columns, [(*row[:4], "pending", *row[5:]) for row in kept])
        counts.add(connection, [(row[2], None, "", row[5]) for row in kept])
        for state in {row[4] for row in kept}:
            ids = [row[0] for row in kept if row[4] == state]
            connection.execute(update(UrlRow.table()).where(UrlRow.table().c.id.in_(ids)).values(state=state))
        insert_rows(connection, OutsideRow.table(), ("id", "host_id"), pruned)
        insert_rows(connection, LinkRow.table(), ("source", "target", "block"), sorted(set(links)))


def test_ranks_are_those_of_one_process(tmp_path: Path, client: Client, database: Database, database_url: str) -> None:
    write_web(database)
    graph = read_graph(database, NOW + 10_000).links
    scores = dict(zip(graph.ids.tolist(), siterank.score(graph).tolist(), strict=True))
    in_links = dict(zip(graph.ids.tolist(), graph.in_links().tolist(), strict=True))
    known = database.read(lambda connection: named(connection, graph.ids.tolist()))
    whole = []
    for partitions in (1, 5):
        output = tmp_path / f"{partitions}.jsonl.gz"
        totals = rank.batch(request(client, "rank", database_url, output, partitions))
        assert (totals.counts["pages"], totals.counts["links"]) == (len(graph), len(graph.targets))
        whole.append(output.read_bytes())
    assert whole[0] == whole[1]
    rows = [json.loads(line) for line in gzip.decompress(whole[0]).splitlines()]
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    found = {row["url"]: row for row in rows}
    expected = {page.url: key for key, page in known.items() if page.kind == "page"}
    assert found.keys() == expected.keys()
    for address, key in expected.items():
        assert found[address]["score"] == pytest.approx(scores[key], abs=1e-12)
        assert (found[address]["links_in"], found[address]["state"]) == (in_links[key], known[key].state)


def test_scores_of_what_waits_have_the_rank_of_their_site(
    here: Path, client: Client, database: Database, database_url: str
) -> None:
    write_web(database)
    graph = read_graph(database, NOW + 10_000).links
    sites = graph.site_numbers
    share = (siterank.site_scores(graph) / np.maximum(np.bincount(sites), 1))[sites]
    wanted = dict(zip(graph.ids.tolist(), expected.scaled(share, len(graph)).tolist(), strict=True))
    asked = request(client, "rank", database_url, None, 3)
    weight = asked.config.priority.weights["siterank"]
    database.close()
    before = rows(database_url, SCORES)
    for _ in range(2):  # the second time changes nothing
        scored = rank.batch(asked).counts["scored"]
        after = rows(database_url, SCORES)
        assert scored == sum(row.state == "pending" and row.kind == "page" for row in after)
        for old, new in zip(before, after, strict=True):
            if new.state != "pending" or new.kind != "page":
                assert new == old
                continue
            assert json.loads(new.score_parts) == {"depth": 1, "siterank": pytest.approx(wanted[new.id], rel=1e-4)}
            assert new.score == pytest.approx(old.score + weight * (wanted[new.id] - 0.125), abs=1e-4)
    assert list(here.glob("*.parts")) == []


def test_articles_are_grouped_as_the_crawl_grouped_them(
    here: Path, client: Client, database: Database, database_url: str, run_in: Callable
) -> None:
    choose = random.Random(5)
    stories = [["".join(choose.choices(SIGNS, k=30)) for _ in range(6)] for _ in range(12)]
    urls = [f"http://{choose.choice('abc')}.example/{n}" for n in range(40)]
    run_in(add_urls, (NOW, [new_url(url) for url in urls]))
    judge, index, sign = real_judge(), SignatureIndex(METHOD, None), METHOD.sign
    for n, url in enumerate(urls):
        body = "\n".join(
            [*stories[n if n < 12 else choose.randrange(12)][choose.randrange(3) :], f"编辑：{url[7]}网值班"]
        )
        signed = sign("", body)
        one = article(url, body, text_hash=signed.exact, features=signed.features, length=signed.length)
        database.write(lambda connection, new=one: apply.add(connection, [new], judge, index, make_terms=index_terms))
    before = rows(database_url, TIED)
    assert sum(row.duplicate_of is not None for row in before) > 10
    database.write(lambda connection: connection.execute(APART))
    database.close()
    totals = duplicates.batch(request(client, "duplicates", database_url, None, 3))
    assert totals.counts["articles"] == len(before)
    assert rows(database_url, TIED) == before
    assert list(here.glob("*.parts")) == []


def test_database_without_pages_has_no_ranks(
    tmp_path: Path, client: Client, database: Database, database_url: str
) -> None:
    rank.batch(request(client, "rank", database_url, tmp_path / "out.jsonl", 2))
    assert (tmp_path / "out.jsonl").read_bytes() == b""
