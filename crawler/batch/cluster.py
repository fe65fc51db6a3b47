"""Open the scheduler of a batch: one of this machine, or any by its address."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

_LOOPBACK: Final = "127.0.0.1"
_CONNECT_SECONDS: Final = 10.0
_ALLOWED_FAILURES: Final = 3
"""Workers that a partition may lose before it is given up."""
_SETTINGS: Final = {
    "scheduler.allowed-failures": _ALLOWED_FAILURES,
    "admin.low-level-log-length": 0,
    # A partition takes seconds: Dask's timers, of 10 and 20 ms, took a tenth as long as all pages.
    "admin.tick.interval": "1s",
    "admin.system-monitor.interval": "2s",
    "worker.profile.enabled": False,
    "worker.memory.monitor-interval": "1s",
}
_OWN_NAMES: Final = (_LOOPBACK, "localhost")
_ALIKE: Final = ("python", "dask", "distributed", "cloudpickle", "newscrawler")
"""Packages whose versions must agree everywhere; on the scheduler only Dask's own."""


class ClusterError(ValueError):
    """Raised when the scheduler or its workers cannot be used; the text says why."""


@contextmanager
def connected(workers: int, address: str | None, *, dashboard: bool = False) -> Iterator[Client]:
    """Open the scheduler of a batch and print where its dashboard is, if it has one.

    Whoever can speak to a scheduler can make its workers run anything. So the scheduler of this machine and its workers
    speak TLS with a certificate made for this batch, which other users of the machine do not have.

    Args:
        workers: number started on this machine, each with one thread.
        address: of another scheduler, which has its own workers; None for one of this machine.
        dashboard: whether that of this machine shows pages of what it does, to anybody on the machine.

    Raises:
        ClusterError: nobody is there, its version is another, or its workers lack the program.
    """
    if find_spec("distributed") is None:
        raise ClusterError("batches need Dask: uv sync --extra batch")
    import dask  # noqa: PLC0415 - an extra
    from distributed import Client, LocalCluster, Security  # noqa: PLC0415

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is said in a sentence
    if address is not None:
        with _client(address) as client:
            _refuse_others(client, address)
            _tell(client)
            yield client
        return
    silent = ("worker", "nanny") if dashboard else ("worker", "nanny", "scheduler")
    settings = _SETTINGS | {f"{part}.http.routes": [] for part in silent}
    with (
        dask.config.set({f"distributed.{name}": value for name, value in settings.items()}),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host=_LOOPBACK,
            protocol="tls://",
            security=Security.temporary(),
            dashboard_address=f"{_LOOPBACK}:0" if dashboard else None,
            scheduler_kwargs={"dashboard_address": f"{_LOOPBACK}:0"},  # else it takes Dask's usual port
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        _refuse_foreign_hosts(cluster)
        if dashboard:
            _tell(client)
        yield client


def _refuse_foreign_hosts(cluster: LocalCluster) -> None:
    """Answer only requests that name this machine, so that foreign pages read nothing.

    If somebody else's host name resolved to the loopback address, their script would count as the dashboard's own.
    """
    from tornado.routing import Router  # noqa: PLC0415 - of Dask

    class OwnHosts(Router):
        def find_handler(self, request: Any, **options: Any) -> Any:
            return inner.find_handler(request, **options) if request.host_name in _OWN_NAMES else None

    server = cluster.scheduler.http_server
    inner = server.request_callback
    server.request_callback = OwnHosts()


@contextmanager
def _client(address: str) -> Iterator[Client]:
    from distributed import Client  # noqa: PLC0415

    try:
        with warnings.catch_warnings():  # of versions that make no difference here
            warnings.simplefilter("ignore")
            client = Client(address, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError, TypeError) as error:
        why = str(error).split("\n")[0]
        raise ClusterError(
            f"no scheduler of Dask can be used at {address} ({why}); start one with `dask scheduler`, or name another"
        ) from None
    with client:
        yield client


def _refuse_others(client: Client, address: str) -> None:
    if not client.nthreads():
        raise ClusterError(f"the scheduler at {address} has no workers; start some with `dask worker {address}`")
    versions = client.get_versions(packages=["newscrawler"])
    expected = versions["client"]["packages"]
    others: list[tuple[str, Mapping[str, Any], tuple[str, ...]]] = [
        (f"the scheduler at {address}", versions["scheduler"]["packages"], _ALIKE[1:3])
    ]
    others += [
        (f"the worker at {name}", each["packages"], _ALIKE) for name, each in sorted(versions["workers"].items())
    ]
    for who, packages, names in others:
        for name in names:
            if packages.get(name) is None:
                raise ClusterError(f"{who} lacks {name}; install this program there with `uv sync --extra batch`")
            if packages[name] != expected[name]:
                raise ClusterError(f"{who} has {name} {packages[name]}, here it is {expected[name]}; make them agree")


def _tell(client: Client) -> None:
    if link := client.dashboard_link:
        sys.stderr.write(f"dashboard: {link}\n")
        sys.stderr.flush()
