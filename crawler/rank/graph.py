"""The link graph of a crawl as arrays: pages by number, links in fetching order.

Pages are numbered in the order in which they become known, so that scores of an earlier state of the graph belong to
the first pages of a later one. Only fetched pages have links: each has a *row*. Link analysis then needs a few arrays
only, which scipy reads as a sparse matrix without a copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pipelines.records import BlockKind
from pipelines.urls import host_key

from .numbering import Column, Ids, Numbering, Numbers

if TYPE_CHECKING:
    import networkx

Blocks = NDArray[np.uint8]
Values = NDArray[np.float64]

_BATCH_LINKS = 1 << 20
"""Links taken in together, so that temporary arrays stay small."""


class LinkGraph:
    """Pages and their links, growing in bulk.

    Pages are known by the 64-bit identifiers of the tables; host and site 0 stand for "not told yet". A page links to
    another at most once (the first link counts), never to itself.

    Cost: 5 bytes a link and 28 to 36 a page, up to twice as much while arrays grow; 0.2 microseconds a link.
    """

    __slots__ = (
        "_blocks",
        "_fetched",
        "_host_numbers",
        "_hosts",
        "_pages",
        "_row_of",
        "_site_of_host",
        "_sites",
        "_starts",
        "_targets",
    )

    def __init__(self) -> None:
        self._pages = Numbering()
        self._hosts = Numbering([0])
        self._sites = Numbering([0])
        self._site_of_host = Column(np.int32, [0])
        self._host_numbers = Column(np.int32)
        self._row_of = Column(np.int32)
        self._fetched = Column(np.int32)
        self._starts = Column(np.int64, [0])
        self._targets = Column(np.int32)
        self._blocks = Column(np.uint8)

    # ------------------------------------------------------------ what is there

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def rows(self) -> int:
        return len(self._fetched)

    @property
    def ids(self) -> Ids:
        return self._pages.ids

    @property
    def host_numbers(self) -> Numbers:
        return self._host_numbers.values

    @property
    def host_ids(self) -> Ids:
        return self._hosts.ids

    @property
    def site_of_host(self) -> Numbers:
        return self._site_of_host.values

    @property
    def site_ids(self) -> Ids:
        return self._sites.ids

    @property
    def site_numbers(self) -> Numbers:
        """Site of every page (a new array)."""
        return self.site_of_host[self.host_numbers]

    @property
    def row_of(self) -> Numbers:
        """Row of every page; -1 for one that has not been fetched."""
        return self._row_of.values

    @property
    def fetched(self) -> Numbers:
        return self._fetched.values

    @property
    def starts(self) -> NDArray[np.int64]:
        """Start of the links of each row, and the end of the last: rows + 1 numbers."""
        return self._starts.values

    @property
    def targets(self) -> Numbers:
        return self._targets.values

    @property
    def blocks(self) -> Blocks:
        return self._blocks.values

    def numbers(self, ids: Ids) -> Numbers:
        """Return the numbers of pages; -1 for unknown ones."""
        return self._pages.find(ids)

    def in_links(self) -> NDArray[np.int64]:
        return np.bincount(self.targets, minlength=len(self)).astype(np.int64, copy=False)

    def link_rows(self) -> Numbers:
        """Row of each link (a new array)."""
        return np.repeat(np.arange(self.rows, dtype=np.int32), np.diff(self.starts))

    def matrix(self, weights: Values | None = None) -> sparse.csc_array:
        """Return the links as a matrix, pages x rows: a column is one fetched page.

        Weights of links must be finite and not negative; each is 1 when they are left out.

        Raises:
            ValueError: another number of weights than links, or a weight that is not allowed.
        Cost: 8 bytes a link for the weights when left out; the links themselves are not copied.
        """
        if weights is None:
            weights = np.ones(len(self.targets))
        elif len(weights) != len(self.targets):
            raise ValueError(f"{len(weights)} weights for {len(self.targets)} links; one for each is needed")
        elif not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise ValueError("a weight of a link is not finite or below 0; weights are finite and at least 0")
        # columns' starts in the type of the targets: otherwise scipy would copy one of the two
        narrow = self.starts.astype(np.int32) if len(weights) < np.iinfo(np.int32).max else self.starts
        targets = self.targets.view()
        targets.flags.writeable = False  # some methods of matrices change them in place
        return sparse.csc_array((weights, targets, narrow), shape=(len(self), self.rows))

    # ------------------------------------------------------------ growing

    def add_pages(self, ids: Ids, hosts: Ids, sites: Ids) -> Numbers:
        """Add pages with their hosts and sites; return the pages' numbers.

        An identifier may come again; a page whose host is known keeps it.

        Raises:
            ValueError: the three are not of one length.
        """
        if not len(ids) == len(hosts) == len(sites):
            raise ValueError(f"{len(ids)} pages, {len(hosts)} hosts and {len(sites)} sites; as many of each are needed")
        pages, host_numbers, site_numbers = self._numbers_of(ids), self._hosts.add(hosts), self._sites.add(sites)
        _lengthen(self._site_of_host, len(self._hosts), 0)
        # backwards, so that what is said first is written last and stays
        of_host = self.site_of_host
        unset = np.flatnonzero((of_host[host_numbers] == 0) & (host_numbers > 0))[::-1]
        of_host[host_numbers[unset]] = site_numbers[unset]
        of_page = self.host_numbers
        unset = np.flatnonzero(of_page[pages] == 0)[::-1]
        of_page[pages[unset]] = host_numbers[unset]
        return pages

    def add_links(self, sources: Ids, counts: Numbers, targets: Ids, blocks: Blocks) -> None:
        """Add fetched pages, in the order of fetching, with all their links.

        Sources that have links already are skipped, also those without any; links of a page to itself and repeated ones
        are dropped. Unknown pages are made known, of an unknown host.

        Args:
            sources: identifiers of pages.
            counts: links of each.
            targets: identifiers of the pages linked to, one source's after the other's.
            blocks: `BlockKind` of each of these links.

        Raises:
            ValueError: lengths that do not fit, or a block that is no `BlockKind`.
        Cost: 0.2 microseconds a link.
        """
        if len(sources) != len(counts) or (np.asarray(counts) < 0).any():
            raise ValueError(f"{len(sources)} sources and {len(counts)} counts; each source has one count, 0 or more")
        ends = np.cumsum(counts, dtype=np.int64)
        total = int(ends[-1]) if len(ends) else 0
        if not total == len(targets) == len(blocks):
            raise ValueError(f"{len(targets)} targets and {len(blocks)} blocks, but the counts say {total} links")
        if total and int(blocks.max()) > max(BlockKind):
            raise ValueError(f"block {int(blocks.max())} is no kind of block; they go from 0 to {max(BlockKind)}")
        first = 0
        while first < len(sources):
            begin = int(ends[first]) - int(counts[first])
            last = max(first + 1, int(np.searchsorted(ends, begin + _BATCH_LINKS, side="right")))
            links = slice(begin, int(ends[last - 1]))
            self._add_rows(sources[first:last], counts[first:last], targets[links], blocks[links])
            first = last

    def _numbers_of(self, ids: Ids) -> Numbers:
        pages = self._pages.add(ids)
        _lengthen(self._host_numbers, len(self), 0)
        _lengthen(self._row_of, len(self), -1)
        return pages

    def _add_rows(self, sources: Ids, counts: Numbers, target_ids: Ids, blocks: Blocks) -> None:
        pages = self._numbers_of(sources)
        _, first = np.unique(pages, return_index=True)
        new = np.zeros(len(pages), np.bool_)
        new[first] = True
        new &= self.row_of[pages] < 0
        if not new.all():
            of_new = np.repeat(new, counts)
            pages, counts, target_ids, blocks = pages[new], counts[new], target_ids[of_new], blocks[of_new]
        targets = self._numbers_of(target_ids)
        rows = np.repeat(np.arange(len(pages), dtype=np.int64), counts)
        good = targets != pages[rows]
        _leave_out_repeated(rows, targets, good)
        if not good.all():
            targets, blocks, rows = targets[good], blocks[good], rows[good]
        self.row_of[pages] = np.arange(self.rows, self.rows + len(pages), dtype=np.int32)
        self._fetched.extend(pages)
        self._starts.extend(len(self._targets) + np.cumsum(np.bincount(rows, minlength=len(pages))))
        self._targets.extend(targets)
        self._blocks.extend(blocks)

    # ------------------------------------------------------------ for people

    def to_networkx(
        self,
        urls: Mapping[int, str] | None = None,
        scores: Values | None = None,
        pages: Numbers | None = None,
        columns: Mapping[str, NDArray[Any]] | None = None,
    ) -> networkx.DiGraph:
        """Convert to networkx: nodes are page numbers, with what is known of them.

        They have the attributes `url`, `host` and `score` (empty or 0 where unknown), `fetched`, and those of `columns`
        (a value for each page); edges have `block`, the name of its kind. `urls` are by page number; only `pages` and
        the links among them are taken, or all when left out.

        Cost: about 400 bytes a link, so 1,000,000 of them at most are sensible.
        """
        import networkx  # noqa: PLC0415 - takes a third of a second, and only pictures and files need it

        network = networkx.DiGraph()
        taken = np.ones(len(self), np.bool_)
        if pages is not None:
            taken[:] = False
            taken[pages] = True
        nodes = np.flatnonzero(taken)
        known = {"score": np.zeros(len(self)) if scores is None else scores, "fetched": self.row_of >= 0}
        known |= columns or {}
        values = zip(*(column[nodes].tolist() for column in known.values()), strict=True)
        for page, row in zip(nodes.tolist(), values, strict=True):
            url = (urls or {}).get(page, "")
            network.add_node(page, url=url, host=host_key(url) if url else "", **dict(zip(known, row, strict=True)))
        sources = self.fetched[self.link_rows()]
        inside = np.flatnonzero(taken[sources] & taken[self.targets])
        names = [kind.name.lower() for kind in BlockKind]
        edges: tuple[NDArray[Any], ...] = (sources[inside], self.targets[inside], self.blocks[inside])
        for source, target, block in zip(*(column.tolist() for column in edges), strict=True):
            network.add_edge(source, target, block=names[block])
        return network


def _lengthen(column: Column, size: int, value: int) -> None:
    if size > len(column):
        column.extend(np.full(size - len(column), value))


def _leave_out_repeated(rows: NDArray[np.int64], targets: Numbers, good: NDArray[np.bool_]) -> None:
    keys = (rows << 32) | targets
    ordered = np.sort(keys)  # far cheaper than finding the first of each, and mostly there is nothing to find
    if (ordered[1:] == ordered[:-1]).any():
        _, first = np.unique(keys, return_index=True)
        again = np.ones(len(keys), np.bool_)
        again[first] = False
        good &= ~again
