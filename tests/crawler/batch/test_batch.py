"""Batches on a real scheduler of Dask whose workers are killed, and commands that are."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import psutil
import pytest

from crawler.batch.cluster import connected
from crawler.batch.frame import BatchStopped, in_order
from tests.crawler.crawling import Finished, command, start
from tests.files import files_in
from tests.table import each_row

if TYPE_CHECKING:
    from distributed import Client

PAGES = Path(__file__).parents[2] / "pages"
NAMES = ("zh_t*", "zh_w*", "home*", "section*", "english*", "forum*")
"""Pages of several kinds, few enough for tests that read them again and again."""
EXTRACTOR = """
import os
from pipelines.extract import extractor

class Careful:
    def __call__(self, document):
        if document.url.endswith("/kills"):
            os._exit(3)
        return extractor("density")(document)
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Two workers that can be killed, shared by all; they can import the extractor above."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "batchmethods.py").write_text(EXTRACTOR)
    sys.path.insert(0, str(folder))
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as opened,
        Client(opened) as client,
    ):
        yield client
    sys.path.remove(str(folder))


def chosen_pages() -> list[Path]:
    return [path for name in NAMES for path in files_in(PAGES, f"{name}.html", at_least=2)]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of pages, as JSON lines."""
    path = tmp_path_factory.mktemp("source") / "pages.jsonl"
    pages = chosen_pages() * 2
    with path.open("w") as out:
        for number, page in enumerate(pages):
            html = page.read_bytes().decode("utf-8", "replace")
            row = {"id": number, "html": html, "url": f"http://a.example/{page.stem}-{number}.html"}
            out.write(json.dumps(row) + "\n")
    return path


def batch(cluster: Client, *arguments: str | Path) -> Finished:
    done = command("batch", *map(str, arguments), "--scheduler", cluster.cluster.scheduler_address)
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def whole(cluster: Client, source: Path) -> bytes:
    """The output of a batch that nobody disturbed."""
    output = source.with_name("whole.jsonl")
    done = batch(cluster, "extract", source, "--output", output, "--partitions", "2")
    assert (done.returncode, done.stdout.split(",")[0]) == (0, f"{2 * len(chosen_pages())} pages")
    return output.read_bytes()


def test_output_is_that_of_the_command_for_single_pages(tmp_path: Path, cluster: Client) -> None:
    output, alone, pages = (tmp_path / name for name in ("out.jsonl.gz", "alone.jsonl", "pages"))
    pages.mkdir()
    for path in chosen_pages():
        shutil.copy(path, pages)
    assert batch(cluster, "extract", pages, "--output", output).returncode == 0
    assert command("extract", "--format", "jsonl", "--output", str(alone), str(pages)).returncode == 0
    found = [json.loads(line) for line in gzip.decompress(output.read_bytes()).splitlines()]
    wanted = [json.loads(line) for line in alone.read_bytes().splitlines()]
    assert len(found) == len(chosen_pages()) > 20
    assert found == wanted


@pytest.mark.slow
def test_killed_workers_cost_their_tasks_which_are_done_again(
    tmp_path: Path, cluster: Client, source: Path, whole: bytes
) -> None:
    output = tmp_path / "out.jsonl"
    parts = tmp_path / "out.jsonl.parts"
    killed: list[int] = []

    def kill() -> None:
        while len(list(parts.glob("*.part"))) < 2:
            time.sleep(0.02)
        killed.append(min(cluster.run(os.getpid).values()))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    done = batch(cluster, "extract", source, "--output", output, "--partitions", "10")
    killer.join()
    assert (done.returncode, len(killed)) == (0, 1)
    assert output.read_bytes() == whole
    assert not parts.exists()


KILLED_AFTER_TWO_PARTS = """
import os, signal
from crawler.batch.frame import Parts
put = Parts.put
def put_and_die(self, number, done):
    put(self, number, done)
    if len(list(self.folder.glob("*.part"))) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
Parts.put = put_and_die
"""


@pytest.mark.slow
def test_killed_batch_goes_on_with_the_rest(tmp_path: Path, cluster: Client, source: Path, whole: bytes) -> None:
    output = tmp_path / "out.jsonl"
    parts = tmp_path / "out.jsonl.parts"
    arguments = ["extract", str(source), "--output", str(output), "--partitions", "10"]
    address = cluster.cluster.scheduler_address
    running = start(tmp_path, "batch", *arguments, "--scheduler", address, before=KILLED_AFTER_TWO_PARTS)
    assert running.finish().returncode == -signal.SIGKILL
    assert not output.exists()
    kept = {path: path.stat().st_mtime_ns for path in parts.glob("*.part")}
    other = batch(cluster, *arguments, "-s", "EXTRACTOR=bte")
    assert (other.returncode, "holds parts of another batch (other EXTRACTOR" in other.stderr) == (2, True)
    shutil.copytree(parts, tmp_path / "copy")
    assert batch(cluster, *arguments).returncode == 0
    assert output.read_bytes() == whole
    assert 2 <= len(kept) < 10


def test_page_that_kills_its_worker_is_set_aside(tmp_path: Path, cluster: Client) -> None:
    source, output = tmp_path / "pages.jsonl", tmp_path / "out.jsonl"
    html = (PAGES / "english.html").read_text()
    rows = [{"id": n, "html": html, "url": f"http://a.example/{'kills' if n == 3 else n}"} for n in range(8)]
    source.write_text("\n".join(map(json.dumps, rows)))
    done = batch(cluster, "extract", source, "--output", output, "-s", "EXTRACTOR=batchmethods:Careful")
    assert (done.returncode, done.stdout) == (0, "8 pages, 7 articles, 1 could not be read\n")
    found = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["reason"] for row in found if row["reason"]] == ["worker died: exit code 3"]
    assert [row["id"] for row in found if not row["text"]] == ["3"]


def test_documents_are_described_as_by_the_command(tmp_path: Path, cluster: Client) -> None:
    source, output, alone = (tmp_path / name for name in ("docs.jsonl", "out.jsonl", "alone.jsonl"))
    texts = [
        "港口城市的航运公司今年开通了新的航线。" * 3,
        "The city council approved the new harbour budget on Monday. " * 4,
    ]
    source.write_text("\n".join(json.dumps({"id": n, "title": text[:9], "text": text}) for n, text in enumerate(texts)))
    done = batch(cluster, "describe", source, "--output", output)
    assert (done.returncode, done.stdout) == (0, "2 documents\n")
    assert command("describe", "--input", str(source), "--output", str(alone)).returncode == 0
    assert output.read_bytes() == alone.read_bytes()


@pytest.mark.slow
def test_task_that_kills_every_worker_ends_the_batch_and_says_so(cluster: Client) -> None:
    cluster.cluster.scheduler.allowed_failures = 1  # of the usual 3, because starting workers is what takes long
    with pytest.raises(BatchStopped, match=r"each of 2 workers that had it was killed"):
        list(in_order(cluster, die, [1, 2, 0, 3]))
    cluster.wait_for_workers(1, timeout=60)
    assert list(in_order(cluster, die, [5])) == [5]


def die(number: int) -> int:
    if number == 0:
        time.sleep(0.5)  # the guard of a worker that dies while it starts takes it for one that cannot be started
        os._exit(9)
    return number


@each_row(
    ("arguments", "part"),
    [
        (["extract"], "name what to do (extract, describe, duplicates, rank) and a source"),
        (["sing", "a"], "name what to do"),
        (["extract", "pages/", "--workers", "0"], "--workers is '0'; it takes a number, 1 or more"),
        (["extract", "missing", "--output", "out"], "there is no file or folder missing"),
        (["extract", "pages.jsonl"], "pages.jsonl is no database to write to; name a file with --output"),
        (["extract", "no.db", "--output", "out"], "there is no database no.db yet"),
        (["extract", "no.db"], "no.db yet"),
        (["describe", "pages/", "--output", "out"], "pages/ is no file of JSON lines"),
    ],
)
def test_wrong_use_is_refused_in_a_sentence(arguments: list[str], part: str) -> None:
    done = command("batch", *arguments)
    assert (done.returncode, part in done.stderr, len(done.stderr.splitlines())) == (2, True, 1), done.stderr


def test_scheduler_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr("crawler.batch.cluster._CONNECT_SECONDS", 0.5)
    arguments = ["batch", "extract", str(PAGES), "--output", str(tmp_path / "out"), "--scheduler"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    done = command(*arguments, f"tcp://127.0.0.1:{port}")
    assert (done.returncode, "no scheduler of Dask can be used at tcp://127" in done.stderr) == (2, True), done.stderr
    with LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster:
        done = command(*arguments, cluster.scheduler_address)
    assert (done.returncode, "has no workers; start some with `dask worker" in done.stderr) == (2, True), done.stderr


def listening(process: int) -> set[int]:
    """Ports that a process and those below it listen on."""
    everyone = [psutil.Process(process), *psutil.Process(process).children(recursive=True)]
    return {
        one.laddr.port for each in everyone for one in each.net_connections("tcp") if one.status == psutil.CONN_LISTEN
    }


def answer_of(port: int, path: str, host: str) -> int:
    """Status of what is answered, 0 for nothing that is HTTP."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        connection.request("GET", path, headers={"Host": f"{host}:{port}"})
        return connection.getresponse().status
    except (http.client.HTTPException, OSError):
        return 0
    finally:
        connection.close()


def greeting(port: int, *, tls: bool) -> bytes:
    """Words said first to somebody without a certificate who only listens, as parts of Dask do."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=1) as opened:
        try:
            if not tls:
                return opened.recv(100)
            with context.wrap_socket(opened) as wrapped:
                return wrapped.recv(100)
        except OSError:
            return b""


PATHS = ("/", "/status", "/info/main/workers.html", "/json/counts.json", "/metrics", "/health", "/api/v1")


@pytest.mark.parametrize("dashboard", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_scheduler_of_this_machine_obeys_nobody_else(
    dashboard: Literal[True, False], capfd: pytest.CaptureFixture[str]
) -> None:
    before = listening(os.getpid())
    with connected(1, None, dashboard=dashboard) as client:
        address = client.scheduler.address
        assert client.submit(os.getpid).result() != os.getpid()
        ports = listening(os.getpid()) - before
        assert int(address.rpartition(":")[2]) in ports
        for port in ports:
            assert (greeting(port, tls=False), greeting(port, tls=True)) == (b"", b"")
        shown = {path for path in PATHS for port in ports if answer_of(port, path, "localhost") == 200}
        assert ("/status" in shown, "dashboard: " in capfd.readouterr().err) == (dashboard, dashboard)
        assert dashboard or not shown
        assert not {path for path in PATHS for port in ports if answer_of(port, path, "evil.example") == 200}


@pytest.mark.slow
def test_parts_of_dask_without_certificates_greet_whoever_listens(cluster: Client) -> None:
    assert greeting(int(cluster.scheduler.address.rpartition(":")[2]), tls=False)
