"""Signals computed by networkx, or by own functions that take a networkx graph.

Such a signal is named `nx:LEVEL:FUNCTION`. The level says which graph the function gets: that of `hosts` (also when it
is left out), of `sites`, or of the `pages` that most links lead to. The function is one of networkx, as in
`nx:katz_centrality` or `nx:katz_centrality(alpha=0.01)`, or `module:name`. A `module:name` alone is one of these, on
pages, if the first parameter of the function is annotated as a networkx graph.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipelines.params import is_import_path, plug_in

from .numbering import Ids, Numbers

if TYPE_CHECKING:
    import networkx

    from .graph import LinkGraph

Values = NDArray[np.float64]
Names = Callable[[str, Ids], list[str]]
"""Names of hosts or sites, or URLs of pages, by their identifiers; empty for unknown ones."""

HOSTS, SITES, PAGES = LEVELS = ("hosts", "sites", "pages")
MOST_NODES = 20_000
"""Hosts, sites or pages of a graph: those that most links lead to. The others have the value 0."""
_PREFIX = "nx:"
_GRAPHS = {"Graph", "DiGraph"}


class NetworkSignal(NamedTuple):
    """A level and a function: the name of one of networkx, or `module:name`."""

    level: str
    function: str
    params: tuple[tuple[str, object], ...] = ()


@cache
def network(name: str) -> NetworkSignal | None:
    """Read the name of a signal; None if it is no signal of a network.

    Raises:
        ValueError: there is no such module, or parameters are not of the form `(name=value, name=value)`.

    >>> network("nx:pages:katz_centrality(alpha=0.01)")
    NetworkSignal(level='pages', function='katz_centrality', params=(('alpha', 0.01),))
    >>> network("depth")
    """
    if name.startswith(_PREFIX):
        called, given = _CALL.fullmatch(name.removeprefix(_PREFIX)).groups()  # type: ignore[union-attr]
        level, _, function = called.partition(":")
        params = tuple(_param(name, part) for part in (given or "").split(",") if part.strip())
        return NetworkSignal(*((level, function) if level in LEVELS else (HOSTS, called)), params)
    if is_import_path(name) and _takes_graph(plug_in(name, None, "signal", takes="what is found")):
        return NetworkSignal(PAGES, name)
    return None


_CALL = re.compile(r"(.*?)(?:\((.*)\))?", re.DOTALL)


def _param(name: str, part: str) -> tuple[str, object]:
    key, equals, text = (each.strip() for each in part.partition("="))
    if not (equals and text and key.isidentifier()):
        raise ValueError(f"signal {name!r}: {part.strip()!r} is no parameter; write name=value, as in (alpha=0.01)")
    try:
        return key, json.loads(text)
    except ValueError:
        return key, text


def _takes_graph(function: Callable[..., Any]) -> bool:
    try:
        first = next(iter(signature(function).parameters.values()), None)
    except ValueError:  # of some functions in C
        return False
    wanted = None if first is None else first.annotation
    text = wanted if isinstance(wanted, str) else getattr(wanted, "__name__", "")
    return text.strip("\"' ").partition("[")[0].rpartition(".")[2] in _GRAPHS


def try_out(name: str) -> None:
    """Check a signal of a network on four nodes that all can reach each other.

    Raises:
        ValueError: there is no such function, it needs more than a graph, or gives no number for each node.
    """
    of_network = network(name)
    assert of_network is not None
    import networkx  # noqa: PLC0415 - as in `to_networkx`

    trial = networkx.DiGraph()
    for node in range(4):
        trial.add_node(node, url=f"http://h{node}.example/", host=f"h{node}.example", site=f"h{node}.example")
        trial.nodes[node].update(score=0.0, depth=node, pages=1, queued=1, fetched=1)
    for source, target in ((0, 1), (1, 2), (2, 0), (1, 0), (2, 3), (3, 0)):
        trial.add_edge(source, target, weight=1, block="body")
    try:
        computed(of_network, trial, 4)
    except Exception as error:
        if isinstance(error, _UnknownFunctionError):
            raise ValueError(f"signal {name!r}: {error}") from None
        problem = f"signal {name!r} failed when tried out on a graph of four nodes ({type(error).__name__}: {error})"
        raise ValueError(problem) from error


class _UnknownFunctionError(ValueError):
    """The name of a function is not known, or it needs more than a graph."""


def _function(name: str, params: Mapping[str, object]) -> Callable[[networkx.DiGraph], object]:
    if is_import_path(name):
        return plug_in(name, params, "signal", takes="a networkx.DiGraph")
    import networkx  # noqa: PLC0415

    found = None if name.startswith("_") else getattr(networkx, name, None)
    if not callable(found) or isinstance(found, type):
        names = [each for each in dir(networkx) if callable(getattr(networkx, each))]
        near = [each for each in names if name and name in each][:3] or get_close_matches(name, names, 3)
        raise _UnknownFunctionError(
            f"networkx has no function {name!r}" + (f"; names like it: {', '.join(near)}" if near else "")
        )
    required = [
        each.name
        for each in list(signature(found).parameters.values())[1:]
        if each.default is Parameter.empty
        and each.name not in params
        and each.kind in {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
    ]
    if required:
        raise _UnknownFunctionError(f"networkx.{name} takes more than a graph: {', '.join(required)}")

    def directed_or_not(graph: networkx.DiGraph) -> object:
        try:
            return found(graph, **params)
        except networkx.NetworkXNotImplemented:
            return found(graph.to_undirected(), **params)

    return directed_or_not


def computed(of_network: NetworkSignal, graph: networkx.DiGraph, size: int) -> Values:
    """Compute the values that the function of a signal returns, by node.

    Numbers that are no node have 0. A function of networkx that is only defined on undirected graphs gets one in which
    every link leads both ways.

    Raises:
        ValueError, TypeError: no number for each node.
        Exception: whatever the function raises.
    """
    if not len(graph):
        return np.zeros(size)
    result = _function(of_network.function, dict(of_network.params))(graph)
    if not isinstance(result, Mapping):
        raise TypeError(f"it returned {type(result).__name__}; a dict of a number for each node is needed")
    if not result.keys() <= graph.nodes:
        raise ValueError("it returned values of nodes that the graph does not have")
    values = np.zeros(size)
    try:
        numbers = np.array([float(value) for value in result.values()])
    except TypeError:
        kind = type(next(iter(result.values()))).__name__
        raise TypeError(f"it returned {kind} for a node; a number is needed") from None
    values[np.fromiter(result, np.int64, len(result))] = np.nan_to_num(numbers, nan=0.0, posinf=0.0, neginf=0.0)
    return values


def shared_scale(values: Values) -> Values:
    """Map values to [0, 1]: divide by the largest; 0 and what is below it is 0.

    >>> shared_scale(np.array([-1.0, 0.0, 2.0, 8.0])).tolist()
    [0.0, 0.0, 0.25, 1.0]
    """
    values = np.maximum(values, 0.0)
    return np.asarray(values / max(float(values.max(initial=0.0)), np.finfo(np.float64).tiny), np.float64)


def of_level(
    graph: LinkGraph, level: str, names: Names | None = None, columns: Mapping[str, NDArray[Any]] | None = None
) -> tuple[networkx.DiGraph, NDArray[np.integer[Any]]]:
    """Make the networkx graph of a level; return it and the node of each page.

    Nodes have the attributes `host` or `site` (its name), `pages`, `fetched` and `queued` (how many), and edges
    `weight`, the number of links; or, of pages, those of `LinkGraph.to_networkx`. Hosts that are not known are left
    out. `columns` have a value for each page: `queued` and others.

    Cost: O(links), and some kilobytes a node.
    """
    columns = columns or {}
    if level == PAGES:
        pages = _most_linked(graph.in_links())
        urls = dict(zip(pages.tolist(), names(level, graph.ids[pages]), strict=True)) if names else None
        return graph.to_networkx(urls, pages=pages, columns=columns), np.arange(len(graph))
    return _of_groups(graph, level, names, columns)


def _most_linked(in_links: NDArray[Any]) -> Numbers:
    return np.sort(np.argsort(-in_links, kind="stable")[:MOST_NODES]).astype(np.int32)


def _of_groups(
    graph: LinkGraph, level: str, names: Names | None, columns: Mapping[str, NDArray[Any]]
) -> tuple[networkx.DiGraph, Numbers]:
    import networkx  # noqa: PLC0415

    groups, ids = (graph.host_numbers, graph.host_ids) if level == HOSTS else (graph.site_numbers, graph.site_ids)
    size = len(ids)
    sources, targets = groups[graph.fetched][graph.link_rows()], groups[graph.targets]
    between = (sources != targets) & (sources > 0) & (targets > 0)
    pairs = sources[between].astype(np.int64) * size + targets[between]
    pairs, weights = np.unique(pairs, return_counts=True)
    in_links = np.bincount(pairs % size, weights=weights, minlength=size)
    in_links[0] = -1.0
    chosen = _most_linked(in_links)
    chosen = chosen[chosen > 0]
    is_node = np.zeros(size, np.bool_)
    is_node[chosen] = True
    counts = {
        "pages": np.bincount(groups, minlength=size),
        "fetched": np.bincount(groups[graph.fetched], minlength=size),
    }
    if "queued" in columns:
        counts["queued"] = np.bincount(groups, weights=columns["queued"], minlength=size).astype(np.int64)
    made = networkx.DiGraph()
    labels = names(level, ids[chosen]) if names else [""] * len(chosen)
    rows = zip(*(column[chosen].tolist() for column in counts.values()), strict=True)
    for node, label, row in zip(chosen.tolist(), labels, rows, strict=True):
        made.add_node(node, **{level[:-1]: label}, **dict(zip(counts, row, strict=True)))
    inside = is_node[pairs // size] & is_node[pairs % size]
    edges = (column[inside].tolist() for column in (pairs // size, pairs % size, weights))
    made.add_weighted_edges_from(zip(*edges, strict=True))
    return made, groups
