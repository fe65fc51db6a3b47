"""Several crawls share Postgres databases; some are killed, Postgres is restarted: is the result exact?

    uv run python -m tests.benchmarks.many_processes [--pages 2000] [--hosts 50] [--shards 1] [--processes 2]
        [--kills 10] [--restarts 1] [--restart-mode fast] [--seed 1] [--postgres URL] [--max-pages N]
        [--max-pages-per-host N] [--host-delay 0] [--latency 0.02] [--lease 20] [--set NAME=VALUE ...] [--limit 600]
        [--folder DIR]

Starts a Postgres server of its own (or makes databases on the one named; then there are no restarts), a web server of
generated pages, and real `scrapy crawl news` commands, `--processes` for each of the `--shards`. At random moments,
drawn from the seed and tied to the progress of the crawl, it kills one with its whole process group (SIGKILL) and at
once starts the same command again. What has to be right in the end is in `exactness.py`. The exit code is 1 when
something is not.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self

from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import DBAPIError

from db.engine.database import parse_url
from tests.benchmarks.exactness import Check, Life, Snapshot, database_checks, equal, life_of, page_number, wire_checks
from tests.benchmarks.static_site import NETWORK, Request, Serving, Site
from tests.postgres import NoPostgres, Postgres, empty_database

from .commands import PROJECT, new_parser

_POLL_SECONDS = 0.02
_JITTER_SECONDS = 0.5
_DEATH_SECONDS = 3.0
_BEYOND = 8
"""So many pages are answered beyond those at which something is to happen: the crawl cannot end before."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do to whom.

    Attributes:
        pages, hosts, latency: the site; latency is the seconds that every answer takes.
        shards: databases of the crawl.
        processes: crawls at a time in each.
        kills, restarts: how often a crawl is killed, the database server restarted.
        seed: of everything random.
        max_pages, max_pages_per_host, host_delay, lease: settings of the crawls.
        limit: seconds after which all is ended and has failed.
        settings: further settings, as NAME=VALUE.
    """

    pages: int = 2000
    hosts: int = 50
    latency: float = 0.02
    shards: int = 1
    processes: int = 2
    kills: int = 10
    restarts: int = 1
    seed: int = 1
    max_pages: int | None = None
    max_pages_per_host: int | None = None
    host_delay: float = 0.0
    lease: float = 20.0
    limit: float = 600.0
    settings: tuple[str, ...] = ()

    def arguments(self, slot: int, seeds: Path, database_url: str) -> list[str]:
        """The command of one process. Its User-Agent says which one it is, for the log."""
        settings = {
            "DATABASE_URL": database_url,
            "ALLOW_NETWORKS": NETWORK,
            "CONTACT": f"process-{slot}@many.test",
            "HOST_DELAY": f"{self.host_delay:g}",
            "LEASE_SECONDS": f"{self.lease:g}",
            "MAX_PAGES": str(self.max_pages or "none"),
            "MAX_PAGES_PER_HOST": str(self.max_pages_per_host or "none"),
        }
        pairs = [f"{name}={value}" for name, value in settings.items()] + list(self.settings)
        return ["crawl", "news", "-a", f"seeds={seeds}", *[x for pair in pairs for x in ("-s", pair)]]

    def moments(self, rng: random.Random) -> list[tuple[int, str]]:
        """When something happens, in pages served, and what: "kill" or "restart"."""
        most = self.max_pages or self.pages
        if self.max_pages_per_host:
            most = min(most, self.hosts * self.max_pages_per_host)
        what = ["kill"] * self.kills + ["restart"] * self.restarts
        return sorted((int(rng.uniform(0.02, 0.9) * (most - _BEYOND)), event) for event in what)


class Command(Protocol):
    """A command under way in a session of its own."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None:
        """Return its exit code, None while it runs."""

    def wait(self) -> int:
        """Wait for its end and return its exit code."""


def start(arguments: Sequence[str], log: Path) -> Command:
    """Start a `scrapy` command; what it says goes to a file."""
    with log.open("wb") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "scrapy", *arguments],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


class Crew:
    """The crawling processes. Leaving the context ends all of them and their workers."""

    def __init__(
        self, plan: Plan, folder: Path, seeds: Path, database_url: str, launch: Callable[[Sequence[str], Path], Command]
    ) -> None:
        self.lives: list[Life] = []
        self._plan, self._folder, self._seeds, self._database_url = plan, folder, seeds, database_url
        self._launch = launch
        self._processes: dict[int, Command] = {}

    def start(self, slot: int) -> None:
        """Start a process in a place."""
        arguments = self._plan.arguments(slot, self._seeds, self._database_url)
        number = sum(life.slot == slot for life in self.lives)
        process = self._launch(arguments, self._folder / f"process-{slot}-{number}.log")
        self._processes[process.pid] = process
        self.lives.append(Life(slot, process.pid, time.monotonic()))

    def living(self) -> list[Life]:
        """Those under way now."""
        for life in self.lives:
            if life.exit_code is None:
                life.exit_code = self._processes[life.pid].poll()
        return [life for life in self.lives if life.exit_code is None]

    def kill(self, life: Life) -> bool:
        """End a process and its workers at once; False when it has ended by itself before."""
        if life not in self.living():
            return False
        at = time.monotonic()
        try:
            os.killpg(life.pid, signal.SIGKILL)
        except ProcessLookupError:  # it has come to its end since, or has no session of its own yet
            return False
        life.exit_code = self._processes[life.pid].wait()
        if life.exit_code != -signal.SIGKILL:
            return False
        life.killed = at
        return True

    def orphans(self) -> list[int]:
        """Processes of ended crawls that are still there after a while."""
        deadline = time.monotonic() + _DEATH_SECONDS
        ours = {life.pid for life in self.lives if life.exit_code is not None}
        while (found := [pid for pid, session in _sessions() if session in ours]) and time.monotonic() < deadline:
            time.sleep(0.1)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for life in self.living():
            self.kill(life)
        for pid in self.orphans():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _sessions() -> list[tuple[int, int]]:
    """Every living process of this machine and its session, which is the process identifier of who began it."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = entry.read_text().rpartition(")")[2].split()
            if fields[0] not in "ZX":
                found.append((int(entry.parent.name), int(fields[3])))
    return found


@dataclass
class Result:
    """What a crawl came to, and whether that is right."""

    plan: Plan
    checks: list[Check] = field(default_factory=list)
    lives: list[Life] = field(default_factory=list)
    log: list[Request] = field(default_factory=list)
    totals: list[tuple[int, str, dict[str, int]]] = field(default_factory=list)
    wall: float = 0.0

    @property
    def good(self) -> bool:
        """Whether everything is right."""
        return all(check.good for check in self.checks)

    def report(self) -> str:
        """The checks as a table, then how the work was shared and how long it took."""
        lines = [f"{'':<38} {'wanted':>8} {'found':>8}"]
        for check in self.checks:
            verdict = "ok" if check.good else "WRONG"
            lines.append(f"{check.name:<38} {check.wanted!s:>8} {check.found!s:>8}  {verdict:<5} {check.note}".rstrip())
        shares = Counter(
            life.slot if (life := life_of(request, self.lives)) else -1
            for request in self.log
            if request.status == 200 and request.path.startswith("/p/")
        )
        fetched = {request.path for request in self.log if request.path.startswith("/p/")}
        starts = sorted(request.start for request in self.log)
        pause = max((b - a for a, b in itertools.pairwise(starts)), default=0.0)
        lines += [
            "",
            f"pages answered, by place: {', '.join(f'{slot}: {n}' for slot, n in sorted(shares.items()))}",
            *(f"run {key}: {outcome}, {n.get('pages', 0)} pages" for key, outcome, n in self.totals),
            f"{self.wall:.1f} s, {len(fetched) / self.wall:.1f} pages/s, longest pause of all requests {pause:.1f} s",
            "everything is right" if self.good else "NOT EXACT",
        ]
        return "\n".join(lines)


def run(
    plan: Plan,
    databases: Sequence[str],
    folder: Path,
    restart: Callable[[], None] | None = None,
    launch: Callable[[Sequence[str], Path], Command] = start,
) -> Result:
    """Crawl as planned into empty Postgres databases and judge what came of it.

    Args:
        plan: what to do.
        databases: URLs of empty ones, as many as there are shards.
        folder: where the seeds and the logs of all processes and of the web server go.
        restart: restarts the database server.
        launch: starts a command with its arguments; what it says goes to a file.
    """
    result = Result(plan)
    engines = [create_engine(parse_url(url), pool_pre_ping=True) for url in databases]
    with ExitStack() as stack:
        for engine in engines:
            stack.callback(engine.dispose)
        serving = stack.enter_context(
            Serving(
                plan.pages,
                plan.hosts,
                latency=plan.latency,
                log=folder / "requests.jsonl",
                holds=[pages + _BEYOND for pages, _ in plan.moments(random.Random(plan.seed))],
            )
        )
        seeds = folder / "seeds.txt"
        seeds.write_text(f"{serving.site.address(0)} stay=any\n")
        crew = stack.enter_context(Crew(plan, folder, seeds, ", ".join(databases), launch))
        started = time.monotonic()
        done, snapshots = _crawl(plan, crew, serving, engines, restart)
        result.wall = time.monotonic() - started
        in_time = not crew.living()
        result.lives, result.log = crew.lives, list(serving.requests())
        ends = Counter(life.exit_code for life in crew.lives if life.killed is None)
        result.checks = [
            equal("ended in time", wanted=True, found=in_time),
            equal("crawls ended with exit code 0", plan.shards * plan.processes, ends[0], f"{dict(ends)}"),
            equal("kills", plan.kills, done["kill"]),
            equal("restarts of the database", plan.restarts, done["restart"]),
            equal("processes that outlived their crawl", 0, len(crew.orphans())),
            *_stored(engines, serving.site, plan, result),
            *wire_checks(result.log, crew.lives, snapshots, delay=plan.host_delay),
        ]
    return result


def _stored(engines: Sequence[Engine], site: Site, plan: Plan, result: Result) -> list[Check]:
    """The checks of the database; also fetches what each run says of itself."""
    with ExitStack() as stack:
        connections = [stack.enter_context(engine.connect()) for engine in engines]
        for connection in connections:
            runs = connection.execute(text("SELECT id, outcome, totals FROM run ORDER BY id"))
            result.totals += [(key, outcome or "no end", json.loads(totals or "{}")) for key, outcome, totals in runs]
        limits = {"max_pages": plan.max_pages, "max_pages_per_host": plan.max_pages_per_host}
        return database_checks(connections, site, **limits)


def _crawl(
    plan: Plan, crew: Crew, serving: Serving, engines: Sequence[Engine], restart: Callable[[], None] | None
) -> tuple[Counter[str], list[Snapshot]]:
    """Run the processes to their end, with everything that is planned to happen in between."""
    rng = random.Random(plan.seed)
    moments = plan.moments(rng)
    done: Counter[str] = Counter()
    snapshots: list[Snapshot] = []
    deadline = time.monotonic() + plan.limit
    for slot in range(plan.shards * plan.processes):
        crew.start(slot)
    served: set[str] = set()
    read = 0
    while (living := crew.living()) and time.monotonic() < deadline:
        log = serving.requests()
        served.update(request.path for request in log[read:] if request.path.startswith("/p/"))
        read = len(log)
        if not moments or len(served) < moments[0][0]:
            time.sleep(_POLL_SECONDS)
            continue
        event = moments[0][1]
        time.sleep(rng.uniform(0, _JITTER_SECONDS))
        if event == "restart":
            assert restart is not None
            restart()
        else:
            with suppress(DBAPIError):
                snapshots.append(_snapshot(engines))
            life = rng.choice(living)
            if not crew.kill(life):
                continue  # it came to its end just now: another one
            crew.start(life.slot)
        moments.pop(0)
        done[event] += 1
        serving.release()
    return done, snapshots


def _snapshot(engines: Sequence[Engine]) -> Snapshot:
    """The pages stored at this moment."""
    done: set[int] = set()
    for engine in engines:
        with engine.connect() as connection:
            if connection.execute(text("SELECT to_regclass('url')")).scalar():
                urls = connection.execute(text("SELECT url FROM url WHERE state = 'done' AND kind = 'page'")).scalars()
                done.update(map(page_number, urls))
    return Snapshot(time.monotonic(), frozenset(done))


def main(arguments: Sequence[str] | None = None) -> int:
    """Crawl, judge, print."""
    parser = new_parser(__doc__)
    plan = Plan()
    for name in ("pages", "hosts", "shards", "processes", "kills", "restarts", "seed"):
        parser.add_argument(f"--{name}", type=int, default=getattr(plan, name))
    for name in ("max-pages", "max-pages-per-host"):
        parser.add_argument(f"--{name}", type=int)
    for name in ("host-delay", "latency", "lease", "limit"):
        parser.add_argument(f"--{name}", type=float, default=getattr(plan, name.replace("-", "_")))
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--restart-mode", choices=("fast", "immediate"), default="fast")
    parser.add_argument("--postgres", metavar="URL", help="a server to make a database on")
    parser.add_argument("--folder", type=Path, help="where the logs go and stay")
    options = vars(parser.parse_args(arguments))
    mode, server, folder = (options.pop(name) for name in ("restart_mode", "postgres", "folder"))
    plan = Plan(**{**options, "settings": tuple(options["settings"])})
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything started is ended
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="many-")))
        folder.mkdir(parents=True, exist_ok=True)
        restart = None
        if server is None:
            try:
                postgres = stack.enter_context(Postgres())
            except NoPostgres as problem:
                parser.error(str(problem))
            server, restart = postgres.url, lambda: postgres.restart(mode)
        else:
            plan = Plan(**{**options, "settings": plan.settings, "restarts": 0})
        names = [f"many_{os.getpid()}_{n}" for n in range(plan.shards)]
        databases = [stack.enter_context(empty_database(server, name)) for name in names]
        result = run(plan, databases, folder.resolve(), restart)
        print(result.report())
    return 0 if result.good else 1


if __name__ == "__main__":
    sys.exit(main())
