"""`scrapy demo` in a process of its own."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

PROJECT = Path(__file__).parents[3]


def demo(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", "demo", *arguments],
        cwd=PROJECT,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_demo_serves_until_a_signal():
    with demo("--port", "0") as process:
        try:
            printed = [process.stdout.readline().strip() for _ in range(6)]
            home = urlsplit(printed[-1])
            connection = http.client.HTTPConnection("127.0.0.1", home.port, timeout=300)
            connection.request("GET", "/", headers={"Host": home.netloc})
            assert connection.getresponse().status == 200
            connection.close()
            process.send_signal(signal.SIGTERM)
            rest, errors = process.communicate(timeout=600)
        finally:
            process.kill()
    assert process.returncode == 0, errors
    assert "closed" in rest
    assert len({urlsplit(url).hostname for url in printed[1:]}) == 5


def test_taken_port_is_one_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with demo("--port", str(port)) as process:
            _, errors = process.communicate(timeout=600)
    assert process.returncode == 2
    assert errors.count("\n") == 1
    assert str(port) in errors
