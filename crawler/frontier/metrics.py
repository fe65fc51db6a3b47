"""Metrics of a crawl for Prometheus, on a port of loopback (`METRICS_PORT`).

They are named as in the dashboard and the table `run_sample`, with `news_` before, and read when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from db.frontier.samples import sample_of

from .. import clock
from ..options.values import ConfigError

try:
    from prometheus_client import CollectorRegistry, start_http_server
    from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
except ImportError:  # an extra; this module is imported by crawls with a METRICS_PORT alone
    raise ConfigError("METRICS_PORT needs prometheus-client: uv sync --extra metrics") from None

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

    from .crawl import Crawl

ADDRESS = "127.0.0.1"
COUNTERS = {
    "pages": "Pages fetched",
    "articles": "Articles stored, those that repeat another one among them",
    "duplicates": "Articles that repeat another one",
    "failed": "Pages that could not be had",
    "bytes": "Bytes of bodies, decoded",
}
"""Counts of this run: attributes of `RunSample`, exported with the suffix `_total`."""
GAUGES = {
    "queued": "URLs that wait, leased ones among them; only where one process knows them all",
    "pages_per_second": "Pages fetched a second, lately",
    "in_flight": "Requests under way",
    "hosts_active": "Hosts with URLs in memory",
    "database_waits": "1 while the database does not answer",
}


class MetricsEndpoint:
    """Answers Prometheus until it is closed; shows nothing before `crawl` is set.

    Raises:
        ConfigError: the port cannot be listened on.
    """

    def __init__(self, port: int) -> None:
        self.crawl: Crawl | None = None
        registry = CollectorRegistry()
        registry.register(self)
        try:
            server, self._thread = start_http_server(port, ADDRESS, registry)
        except OSError as error:
            why = (error.strerror or "it cannot be used").lower()
            raise ConfigError(
                f"METRICS_PORT is {port}, but {ADDRESS} port {port} cannot be listened on ({why}); name another one"
            ) from None
        self._server: WSGIServer = server

    def collect(self) -> Iterator[Metric]:
        crawl = self.crawl
        if crawl is None:
            return
        session, queues = crawl.session, crawl.queues
        queued = None if crawl.held.is_shared else max(0, crawl.pending.count) + len(queues)
        sample = sample_of(dict(session.stats), clock.now(), queued)
        for name, description in COUNTERS.items():
            yield CounterMetricFamily(f"news_{name}", description, value=getattr(sample, name))
        dropped = CounterMetricFamily("news_dropped", "Pages that became no article, by reason", labels=["reason"])
        for reason, count in sample.reasons.items():
            dropped.add_metric([reason], count)
        yield dropped
        hosts = list(queues.hosts.values())  # at once: the crawl goes on beside this thread
        values: dict[str, Any] = {
            "queued": queued,
            "pages_per_second": session.pages_per_second,
            "in_flight": len(queues.in_flight),
            "hosts_active": sum(1 for host in hosts if host.queue or host.busy),
            "database_waits": int(bool(session.line.waits_for)),
        }
        for name, description in GAUGES.items():
            if values[name] is not None:
                yield GaugeMetricFamily(f"news_{name}", description, value=values[name])
        run = {"run": str(session.resumed.run_id), "version": str(session.config.agreed.get("VERSION", ""))}
        yield InfoMetricFamily("news_run", "The run", value={name: value for name, value in run.items() if value})

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
