"""Block-level link analysis against the matrices of the paper, written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crawler.rank import blockrank, pagerank
from crawler.rank.finds import BLOCK_VALUE
from crawler.rank.graph import LinkGraph
from crawler.rank.surfer import Params
from pipelines.records import BlockKind
from tests.crawler.rank.graphs import add, graph_of, random_web
from tests.table import each_row

EXACT = blockrank.Params(surfer=Params(tolerance=1e-13))


def matrices(graph: LinkGraph) -> tuple[list[tuple[int, int]], np.ndarray, np.ndarray]:
    """The blocks (page, kind), X (pages x blocks) and Z (blocks x pages)."""
    linked: dict[tuple[int, int], list[int]] = {}
    for row, page in enumerate(graph.fetched.tolist()):
        links = slice(int(graph.starts[row]), int(graph.starts[row + 1]))
        for target, kind in sorted(zip(graph.targets[links].tolist(), graph.blocks[links].tolist(), strict=True)):
            linked.setdefault((page, kind), []).append(target)
    blocks = sorted(linked, key=lambda block: (graph.row_of[block[0]], block[1]))
    x, z = np.zeros((len(graph), len(blocks))), np.zeros((len(blocks), len(graph)))
    for n, (page, kind) in enumerate(blocks):
        x[page, n] = BLOCK_VALUE[BlockKind(kind)]
        z[n, linked[page, kind]] = 1 / len(linked[page, kind])
    rows = x.sum(axis=1, keepdims=True)
    return blocks, np.divide(x, rows, out=x, where=rows > 0), z


def walk(steps: np.ndarray, damping: float = 0.85) -> np.ndarray:
    """Where a walk ends that jumps to all alike when it jumps or is lost."""
    size = len(steps)
    lost = 1 - damping * steps.sum(axis=1, keepdims=True)
    full = damping * steps + lost / size
    values, vectors = np.linalg.eig(full.T)
    found = np.real(vectors[:, np.argmax(np.real(values))])
    return found / found.sum()


def test_x_and_z_as_in_the_paper() -> None:
    graph = random_web(60, 500)
    blocks, x, z = matrices(graph)
    steps = x @ z
    assert steps[graph.fetched].sum(axis=1) == pytest.approx((np.diff(graph.starts) > 0).astype(float))
    assert pytest.approx(steps[graph.fetched]) == graph.matrix(blockrank.link_weights(graph)).toarray().T
    assert blockrank.score(graph, EXACT) == pytest.approx(walk(steps), abs=1e-9)
    found = blockrank.block_scores(graph, EXACT)
    assert list(zip(found.pages.tolist(), found.kinds.tolist(), strict=True)) == blocks
    assert found.scores == pytest.approx(walk(z @ x), abs=1e-9)


def test_page_by_hand() -> None:
    """Two links in the text, four in the footer: 1 / 1.1 and 0.1 / 1.1 of the page, divided by two and by four."""
    graph = LinkGraph()
    kinds = np.array([BlockKind.BODY] * 2 + [BlockKind.FOOTER] * 4, np.uint8)
    graph.add_links(np.array([0]), np.array([6], np.int32), np.arange(1, 7), kinds)
    assert blockrank.link_weights(graph) == pytest.approx([1 / 2.2] * 2 + [0.1 / 4.4] * 4)
    scores = blockrank.score(graph)
    assert scores[1] > 1.3 * scores[3]
    assert pagerank.score(graph)[1] == pytest.approx(pagerank.score(graph)[3])


def test_link_in_the_text_beats_many_in_the_footer() -> None:
    """PageRank prefers what every footer names; block by block, what one text names wins."""
    graph = LinkGraph()
    for page in range(1, 11):
        add(graph, {page: [page % 10 + 1]})
    story, imprint = 100, 200
    sources, targets, kinds = [], [], []
    for page in range(11, 31):
        sources += [page] * 5
        targets += [imprint, 201, 202, 203, story if page < 16 else page - 10]
        kinds += [BlockKind.FOOTER] * 4 + [BlockKind.BODY]
    counts = np.full(20, 5, np.int32)
    graph.add_links(np.unique(sources), counts, np.array(targets), np.array(kinds, np.uint8))
    s, i = graph.numbers(np.array([story, imprint])).tolist()
    plain, by_block = pagerank.score(graph), blockrank.score(graph)
    assert plain[i] > plain[s]
    assert by_block[s] > by_block[i]


def test_blocks_without_importance_hand_on_nothing() -> None:
    graph = graph_of({1: [2], 2: [1]})
    nothing = blockrank.Params(importance=dict.fromkeys(BlockKind, 0.0))
    assert blockrank.link_weights(graph, nothing).tolist() == [0.0, 0.0]
    assert blockrank.score(graph, nothing).tolist() == [0.5, 0.5]
    assert blockrank.block_scores(graph, nothing).scores.tolist() == [0.5, 0.5]


def test_without_links() -> None:
    assert blockrank.score(LinkGraph()).tolist() == []
    assert blockrank.block_scores(LinkGraph()).scores.tolist() == []
    assert blockrank.block_scores(graph_of({1: []})).pages.tolist() == []


def test_many_batches_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_web(500, 3000)
    expected = blockrank.link_weights(graph)
    monkeypatch.setattr(blockrank, "_BATCH_ROWS", 7)
    assert (blockrank.link_weights(graph) == expected).all()


@each_row("importance", [{}, {**BLOCK_VALUE, BlockKind.BODY: -1.0}, {**BLOCK_VALUE, BlockKind.BODY: np.nan}])
def test_wrong_importance(importance: Any) -> None:
    with pytest.raises(ValueError, match="BODY"):
        blockrank.Params(importance=importance)


def linked(*rows: tuple[int, BlockKind, int]) -> LinkGraph:
    """Pages in the order of their first link: (page, block, target)."""
    graph = LinkGraph()
    pages = list(dict.fromkeys(page for page, *_ in rows))
    counts = np.array([sum(row[0] == page for row in rows) for page in pages], np.int32)
    targets, kinds = np.array([row[2] for row in rows]), np.array([row[1] for row in rows], np.uint8)
    graph.add_links(np.array(pages), counts, targets, kinds)
    return graph


def test_pagerank_of_pages_by_hand() -> None:
    """1 links to 2 in its list and to 3 in its footer, which are worth 1 and .1; the other two are not read.

    All jumps and what is handed on by 2 and 3 are shared alike, which makes x1; x2 = x1 (1 + .85 * 10/11) and
    x3 = x1 (1 + .85 / 11) with the sum 3.85 x1 = 1.
    """
    graph = linked((1, BlockKind.LIST, 2), (1, BlockKind.FOOTER, 3))
    assert blockrank.score(graph, EXACT) == pytest.approx([0.259740, 0.460449, 0.279811], abs=1e-6)


def test_blockrank_by_hand() -> None:
    """Page 1 has a list that links to 2 and a footer that links to 3; the texts of both link to 1.

    From a text the surfer comes to the list 10 times in 11, from the list to the text of 2, from the footer to that of
    3. With s for both texts together, s = .075 + .85 (.075 + .85 s) = .5; the list has .0375 + .85 * 10/11 s, the
    footer .0375 + .85 / 11 s, and the texts .0375 + .85 of these.
    """
    graph = linked((1, BlockKind.LIST, 2), (1, BlockKind.FOOTER, 3), (2, BlockKind.BODY, 1), (3, BlockKind.BODY, 1))
    found = blockrank.block_scores(graph, EXACT)
    of_blocks = {(0, "LIST"): 0.423864, (0, "FOOTER"): 0.076136, (1, "BODY"): 0.397784, (2, "BODY"): 0.102216}
    kinds = [BlockKind(kind).name for kind in found.kinds.tolist()]
    shown = dict(zip(zip(found.pages.tolist(), kinds, strict=True), found.scores.tolist(), strict=True))
    assert shown == pytest.approx(of_blocks, abs=1e-6)
    assert found.of_pages(3) == pytest.approx([0.5, 0.397784, 0.102216], abs=1e-6)


def test_hits_of_blocks_by_hand() -> None:
    """The list of 1 links to 2 and 3, its footer to 4, the text of 5 to 3; links weigh 5/11 each, 1/11, and 1.

    The list and the text share 3: their matrix is (50 55; 55 121) / 121, with the main value 150.961821 / 121 and the
    vector (1, 1.835669). The footer has no part in it.
    """
    rows = (1, BlockKind.LIST, 2), (1, BlockKind.LIST, 3), (1, BlockKind.FOOTER, 4), (5, BlockKind.BODY, 3)
    blocks, authorities = blockrank.block_hits(linked(*rows))
    kinds = [BlockKind(kind).name for kind in blocks.kinds.tolist()]
    shown = dict(zip(kinds, blocks.scores.tolist(), strict=True))
    assert shown == pytest.approx({"LIST": 0.352650, "FOOTER": 0, "BODY": 0.647350}, abs=1e-6)
    assert authorities == pytest.approx([0, 0, 0.165605, 0.834395, 0], abs=1e-6)  # of 1, 5, 2, 3 and 4


def test_hits_of_blocks_without_links_or_importance_are_equal() -> None:
    blocks, authorities = blockrank.block_hits(graph_of({1: [], 2: []}))
    assert (blocks.scores.tolist(), authorities.tolist()) == ([], [0.5, 0.5])
    nothing = blockrank.Params(importance=dict.fromkeys(BlockKind, 0.0))
    assert blockrank.block_hits(graph_of({1: [2], 2: [1]}), nothing)[0].scores.tolist() == [0.5, 0.5]
