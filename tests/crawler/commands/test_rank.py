"""`scrapy rank` on a crawl of the newsroom."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import networkx
import numpy as np
import pytest

from crawler.demo.server import Newsroom
from crawler.rank import siterank
from crawler.rank.methods import METHODS, OF_BLOCKS
from crawler.web.inspection.link_graph import read_graph
from db.engine.database import Database, open_for_crawl, open_for_reading
from db.frontier import claims as frontier
from db.frontier import leases, runs
from db.frontier.insert import add_urls
from db.records.keys import fingerprint
from db.records.outcome import Edges
from pipelines.records import BlockKind
from tests.crawler.crawling import command, crawl, rows
from tests.db.frontier_rows import NOW, done, new_url, seed_row, start, wish
from tests.db.stores import store_of
from tests.table import each_row


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rank")
    with Newsroom(port=0) as newsroom:
        done = crawl(newsroom, folder)
    assert done.returncode == 0, done.stderr
    return folder


def rank(folder: Path, *arguments: str) -> str:
    done = command("rank", "-s", f"DATABASE_URL=sqlite:///{folder}/news.db", *arguments)
    fonts = re.sub(
        "^scrapy rank: no font of this machine has the characters [^\n]+ fonts-noto-cjk[^\n]+\n$", "", done.stderr
    )
    assert (done.returncode, fonts) == (0, "")
    return done.stdout


def test_pagerank_is_that_of_networkx(crawled: Path) -> None:
    out = rank(crawled, "--top", "1000", "--all")
    made = networkx.DiGraph(rows(crawled, "SELECT source, target FROM link WHERE source <> target"))
    names = dict(rows(crawled, "SELECT id, url FROM url WHERE kind = 'page'"))
    made.add_nodes_from(names)
    expected = {names[key]: score for key, score in networkx.pagerank(made, tol=1e-12).items() if key in names}
    shown = re.findall(r"^ *\d+ +([0-9.e-]+) +([0-9,]+) +(\w+) .*?(http\S+)$", out, re.MULTILINE)
    assert {url for *_, url in shown} == set(expected)
    assert [float(score) for score, *_ in shown] == pytest.approx([expected[url] for *_, url in shown], rel=1e-3)
    states = dict(rows(crawled, "SELECT url, state FROM url WHERE kind = 'page'"))
    assert all(states[url] == state for _, _, state, url in shown)
    in_links = dict(rows(crawled, "SELECT u.url, count(*) FROM link JOIN url u ON u.id = target GROUP BY target"))
    own = dict(rows(crawled, "SELECT u.url, 1 FROM link JOIN url u ON u.id = target WHERE source = target"))
    assert {url: int(n.replace(",", "")) for _, n, _, url in shown} == {
        url: in_links.get(url, 0) - own.get(url, 0) for url in expected
    }
    assert f"{len(made):,} pages" in out


NETWORKS = ("nx:katz_centrality", "nx:sites:pagerank", "nx:pages:core_number")


@each_row("method", [*METHODS, *OF_BLOCKS, *NETWORKS])
def test_every_method(crawled: Path, method: str) -> None:
    out = rank(crawled, "--by", method, "--top", "3")
    assert f"Best pages by {method}" in out
    assert len(re.findall(r" http", out)) == (6 if method in OF_BLOCKS else 3)
    assert ("Best sites" in out) == (method in {"site", "nx:sites:pagerank"})
    assert ("Best hosts" in out) == (method == "nx:katz_centrality")
    assert ("Kinds of blocks" in out) == (method in OF_BLOCKS)


def records(folder: Path, *arguments: str) -> list[dict]:
    return [json.loads(line) for line in rank(folder, "--format", "jsonl", "--top", "1000", *arguments).splitlines()]


def test_scores_of_networks_are_those_of_networkx(crawled: Path) -> None:
    """On the graph of hosts, where a link weighs as much as there are links, and on that of pages."""
    sql = """SELECT a.host_id, b.host_id FROM link JOIN url a ON a.id = source JOIN url b ON b.id = target
             WHERE b.kind = 'page'"""
    hosts = networkx.DiGraph()
    names = dict(rows(crawled, "SELECT id, name FROM host"))
    for source, target in rows(crawled, sql):
        if source != target:
            weight = hosts.get_edge_data(source, target, {"weight": 0})["weight"]
            hosts.add_edge(source, target, weight=weight + 1)
    hosts.add_nodes_from(key for (key,) in rows(crawled, "SELECT DISTINCT host_id FROM url WHERE kind = 'page'"))
    expected = {names[key]: score for key, score in networkx.pagerank(hosts).items()}
    found = {each["host"]: each["score"] for each in records(crawled, "--by", "nx:hosts:pagerank") if "host" in each}
    assert found == pytest.approx(expected)


def test_pagerank_from_seeds_is_that_of_networkx(crawled: Path) -> None:
    made = networkx.DiGraph(rows(crawled, "SELECT source, target FROM link WHERE source <> target"))
    names = dict(rows(crawled, "SELECT id, url FROM url WHERE kind = 'page'"))
    made.add_nodes_from(names)
    seeds = dict.fromkeys((key for (key,) in rows(crawled, "SELECT id FROM seed")), 1.0)
    scores = networkx.pagerank(made, personalization=seeds, tol=1e-12, max_iter=1000)
    expected = {names[key]: score for key, score in scores.items() if key in names}
    found = {each["url"]: each["score"] for each in records(crawled, "--from", "seeds", "--all")}
    assert found == pytest.approx(expected, abs=1e-6)


def test_groups_of_site_rank_may_be_hosts(crawled: Path) -> None:
    out = records(crawled, "--by", "site", "--group", "host")
    hosts = {each["host"]: each["score"] for each in out if "host" in each}
    graph = read_graph(open_for_reading(f"sqlite:///{crawled}/news.db"), NOW).links
    of_hosts = siterank.site_scores(graph, groups=graph.host_numbers).tolist()
    expected = dict(zip(graph.host_ids.tolist(), of_hosts, strict=True))
    names = dict(rows(crawled, "SELECT name, id FROM host"))
    assert len(hosts) > 5
    assert hosts == pytest.approx({name: expected[names[name]] for name in hosts}, abs=1e-6)


def test_groups_of_site_rank_may_be_ip_addresses(crawled: Path) -> None:
    """All hosts that answered are at one address; those that did not stand alone, by name."""
    answered = dict(rows(crawled, "SELECT id, ip_address FROM host WHERE ip_address IS NOT NULL"))
    assert set(answered.values()) == {"127.0.0.1"}
    graph = read_graph(open_for_reading(f"sqlite:///{crawled}/news.db"), NOW).links
    of_host = [0 if key in answered else number for number, key in enumerate(graph.host_ids.tolist(), 1)]
    groups = np.array(of_host, np.int32)[graph.host_numbers]
    wanted = siterank.site_scores(graph, groups=groups)[0]
    (together,) = [each for each in records(crawled, "--by", "site", "--group", "ip") if each.get("ip") == "127.0.0.1"]
    assert together["score"] == pytest.approx(wanted, abs=1e-6)
    assert together["pages"] == (groups == 0).sum()


def test_function_of_a_user_gets_urls_and_depths(
    crawled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = """
def deep(graph: "networkx.DiGraph"):
    return {page: seen["depth"] + 100 * ("herald" in seen["host"]) for page, seen in graph.nodes(data=True)}
"""
    (tmp_path / "userranks.py").write_text(code, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = {each["url"]: each["score"] for each in records(crawled, "--by", "userranks:deep", "--all")}
    known = dict(rows(crawled, "SELECT url, depth FROM url WHERE kind = 'page'"))
    assert found == {url: depth + 100 * ("herald" in url.split("/")[2]) for url, depth in known.items()}


def listed(out: str) -> set[str]:
    return set(re.findall(r" (http\S+)$", out, re.MULTILINE))


def test_best_pages_are_stored_articles(crawled: Path) -> None:
    articles = {url for (url,) in rows(crawled, "SELECT url FROM url JOIN article USING (id)")}
    titles = {title for (title,) in rows(crawled, "SELECT title FROM article")}
    out = rank(crawled, "--top", "1000")
    assert listed(out) == articles
    assert sum(title in out for title in titles) > 100
    lists = {url for (url,) in rows(crawled, "SELECT url FROM url WHERE reason = 'list page' AND state = 'done'")}
    assert listed(rank(crawled, "--by", "hubs", "--top", "1000")) == articles | lists
    everything = listed(rank(crawled, "--top", "1000", "--all"))
    gone = {url for (url,) in rows(crawled, "SELECT url FROM url WHERE kind = 'page' AND state <> 'done'")}
    assert gone
    assert gone | lists | articles <= everything


@pytest.mark.slow
def test_pictures_and_a_file_for_others(crawled: Path) -> None:
    for ending, beginning in ((".svg", b"<?xml"), (".PNG", b"\x89PNG"), (".graphml", b"<?xml")):
        path = crawled / f"graph{ending}"
        assert str(path) in rank(crawled, "--graph", str(path)).replace("\n", "")
        assert path.read_bytes().startswith(beginning)
    titles = [title for (title,) in rows(crawled, "SELECT title FROM article WHERE length(title) < 20")]
    picture = (crawled / "graph.svg").read_text(encoding="utf-8")
    assert sum(f">{title}</text>" in picture for title in titles) > 5
    made = networkx.read_graphml(crawled / "graph.graphml")
    names = {url for (url,) in rows(crawled, "SELECT url FROM url WHERE kind = 'page'")}
    assert {url for _, url in made.nodes(data="url")} == names


def test_graph_is_that_of_the_tables(database: Database, run_in: Callable) -> None:
    urls = ["http://a.example/1", "http://a.example/2", "http://b.example/1", "http://b.example/2"]
    ids = [fingerprint(url) for url in urls]
    resumed = run_in(runs.start_run, start(seed_row("http://a.example/")))
    run_in(add_urls, (NOW, [new_url(url) for url in urls]))
    run_in(leases.take_hosts, (resumed.run_id, 9))
    wants = {fingerprint(name): 9 for name in ("a.example", "b.example")}
    leased_urls = {lease.url: lease for lease in run_in(frontier.lease, wish(resumed.run_id, wants)).urls}
    store = store_of(resumed.run_id).store
    nowhere = fingerprint("http://nowhere.example/")
    for at, (page, targets) in enumerate({2: [0, 3, nowhere], 0: [], 1: [1, 2]}.items()):
        found = [target if target == nowhere else ids[target] for target in targets]
        edges = Edges(sorted(found), bytes([BlockKind.BODY]) * len(found))
        terms = (page / 4, b"words") if page else None
        run_in(store, done(leased_urls[urls[page]], fetched_at=NOW + at, links=edges, terms=terms))
    read = read_graph(database, NOW + 100)
    graph, relevance, shown = read.links, read.relevance, read.shown
    assert not any(pages.any() for pages in shown.values()), "no article, no list"
    by_id = dict(zip(graph.ids.tolist(), range(len(graph)), strict=True))
    assert graph.ids[graph.fetched].tolist() == [ids[2], ids[0], ids[1]]
    assert np.diff(graph.starts).tolist() == [3, 0, 1]
    linked = {
        (graph.ids[graph.fetched[r]], graph.ids[t]) for r, t in zip(graph.link_rows(), graph.targets, strict=True)
    }
    assert linked == {(ids[2], ids[0]), (ids[2], ids[3]), (ids[2], nowhere), (ids[1], ids[2])}
    assert set(graph.blocks.tolist()) == {BlockKind.BODY}
    assert graph.host_ids[graph.host_numbers[by_id[ids[3]]]] == fingerprint("b.example")
    assert graph.site_numbers[by_id[nowhere]] == 0
    assert [relevance[by_id[key]] for key in (*ids, nowhere)] == [0.0, 0.25, 0.5, 0.0, 0.0]


def test_crawl_without_pages(tmp_path: Path) -> None:
    open_for_crawl(f"sqlite:///{tmp_path}/news.db").close()
    for method in (*METHODS, *OF_BLOCKS, *NETWORKS):
        assert "0 pages, 0 of them fetched, 0 links" in rank(tmp_path, "--by", method)
    assert "The best" in rank(tmp_path, "--graph", f"{tmp_path}/empty.png")


@each_row(
    ("arguments", "part"),
    [
        (["--by", "luck"], "--by 'luck' is unknown; use one of: pagerank, hits,"),
        (["--by", "topic"], "near to a topic; crawl with one"),
        (["--by", "nx:katz"], "networkx has no function 'katz'; names like it: katz_centrality"),
        (["--by", "nx:eigenvector_centrality_of"], "networkx has no function"),
        (["--from", "hosts"], "--from 'hosts' is unknown; use seeds or topic"),
        (["--by", "hits", "--from", "seeds"], "--from has no effect on --by hits; it is for pagerank, block, site"),
        (["--topic", "0.5"], "--topic has no effect on --by pagerank; it is for hits, hubs"),
        (["--by", "hits", "--topic", "2"], "--topic '2' is no relevance"),
        (["--by", "hits", "--topic", "0.5"], "--topic 0.5: the nearest page in"),
        (["--by", "site", "--group", "town"], "--group 'town' is unknown; use one of: site, host, ip"),
        (["--top", "0"], "--top '0' is no number from 1 to 100000"),
        (["--top", "many"], "--top 'many'"),
        (["--graph", "x.pdf"], "use one of: .svg, .png, .graphml"),
        (["--graph", "/nowhere/x.svg"], "there is no folder /nowhere"),
        (["-s", "DATABASE_URL=sqlite:////nowhere/x.db"], "there is no database"),
    ],
)
def test_wrong_use(crawled: Path, arguments: list[str], part: str) -> None:
    done = command("rank", "-s", f"DATABASE_URL=sqlite:///{crawled}/news.db", *arguments)
    assert (done.returncode, part in done.stderr) == (2, True), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_by_topic(crawled: Path, tmp_path: Path) -> None:
    copied = tmp_path / "news.db"
    with sqlite3.connect(crawled / "news.db") as file, sqlite3.connect(copied) as copy:
        file.backup(copy)
        (key, url), *_ = copy.execute("SELECT id, url FROM url JOIN article USING (id)").fetchall()
        copy.execute("INSERT INTO page_terms (url_id, relevance, terms) VALUES (?, 0.75, x'00')", (key,))
    out = rank(tmp_path, "--by", "topic", "--top", "1", "--graph", f"{tmp_path}/topic.svg")
    assert re.search(rf" 1 +0.75 .* {re.escape(url)}", out)
    near = records(tmp_path, "--from", "topic", "--all")
    (of_page,) = [each["score"] for each in near if each["url"] == url]
    assert of_page > 0.15 - 1e-6, "at least what jumps bring"
    within = records(tmp_path, "--by", "hubs", "--topic", "0.5", "--all")
    query = """SELECT url FROM url WHERE id IN (SELECT source FROM link WHERE target = ?)
               OR id IN (SELECT target FROM link WHERE source = ?) OR id = ?"""
    with sqlite3.connect(copied) as copy:
        neighbours = {name for (name,) in copy.execute(query, (key, key, key))}
    assert {each["url"] for each in within if each["score"] > 0} <= neighbours
    assert "size: topic" in (tmp_path / "topic.svg").read_text(encoding="utf-8")


def test_file_that_is_no_database(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "news.db") as file:
        file.execute("CREATE TABLE other (x)")
    done = command("rank", "-s", f"DATABASE_URL=sqlite:///{tmp_path}/news.db")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
