"""The page behind nginx and Caddy, as docs/operate.md configures them, and its unit of systemd."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from crawler.manage.journal import Journal
from crawler.manage.passwords import Role
from tests.crawler.crawling import ROOT
from tests.crawler.web.operating import OPERATOR, Visitor, passwords
from tests.crawler.web.serving import serving
from tests.waiting import wait_for

NAME = "news.example"
_SERVING = ("--manage", "--name", NAME, "--root-path", "/news", "--trusted-proxy", "127.0.0.1")


def example(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", (ROOT / "docs" / "operate.md").read_text("utf-8"), re.DOTALL)
    assert found, f"docs/operate.md has no example of {kind}"
    return found[1]


def free_port() -> int:
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of its own for the name, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "news.example.pem", folder / "news.example.key"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    private.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    private.chmod(0o600)
    return public, private


def _nginx(folder: Path, port: int, server_port: int) -> list[str]:
    site = example("nginx").replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
    site = site.replace("/etc/ssl/", f"{folder}/").replace("127.0.0.1:8080", f"127.0.0.1:{server_port}")
    own = [f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")]
    user = "user root;" if os.geteuid() == 0 else ""
    config = folder / "nginx.conf"
    config.write_text(
        f"{user} daemon off; pid {folder}/nginx.pid; worker_processes 1; error_log stderr;\n"
        f"events {{}}\nhttp {{ access_log off; {' '.join(own)}\n{site}}}\n"
    )
    return ["nginx", "-p", str(folder), "-c", str(config)]


def _caddy(folder: Path, port: int, server_port: int) -> list[str]:
    site = example("caddy").replace(f"{NAME} {{", f"{NAME}:{port} {{\n    bind 127.0.0.1", 1)
    site = site.replace("/etc/ssl/", f"{folder}/").replace("127.0.0.1:8080", f"127.0.0.1:{server_port}")
    config = folder / "Caddyfile"
    config.write_text(f"{{\n    admin off\n    auto_https disable_redirects\n}}\n{site}")
    return ["caddy", "run", "--config", str(config), "--adapter", "caddyfile"]


PROXIES = {"nginx": _nginx, "caddy": _caddy}


@contextmanager
def proxied(proxy: str, folder: Path, server_port: int) -> Iterator[Visitor]:
    """Run a proxy before a server; a browser that asks it for the name by https."""
    public, _ = certificate(folder)
    port = free_port()
    command = PROXIES[proxy](folder, port, server_port)
    surroundings = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    log = folder / "proxy.log"
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out, env=surroundings) as process:
        try:
            wait_for(lambda: _answers(port) or process.poll() is not None, "the proxy did not start")
            assert process.poll() is None, log.read_text("utf-8")
            context = ssl.create_default_context(cafile=str(public))
            with Visitor(f"https://127.0.0.1:{port}", verify=context) as visitor:
                visitor.client.headers["Host"] = f"{NAME}:{port}"
                visitor.origin = f"https://{NAME}:{port}"
                visitor.client.event_hooks = {"request": [_name]}
                yield visitor
        finally:
            process.terminate()
            process.wait(20)


def _name(request: object) -> None:
    request.extensions["sni_hostname"] = NAME  # type: ignore[attr-defined]


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@pytest.mark.parametrize("proxy", PROXIES)
def test_page_behind_a_proxy(proxy: str, tmp_path: Path, stand: Path) -> None:
    if shutil.which(proxy) is None:
        pytest.skip(f"no {proxy}: install Debian's package `{proxy}`")
    shutil.copyfile(stand, tmp_path / "news.db")
    passwords(tmp_path / "news.db", Role.OPERATOR)
    with serving(tmp_path, tmp_path / "news.db", *_SERVING) as server, proxied(proxy, tmp_path, server.port) as visitor:
        # what a client makes up of itself does not get through
        made_up = {"X_Forwarded_For": "203.0.113.66", "X_Forwarded_Host": "evil.example", "X_Forwarded_Proto": "http"}
        first = visitor.get("/news/", **made_up)
        assert first.status_code == 200, first.text
        assert first.headers["content-encoding"] == "gzip"
        links = re.findall(r'(?:href|src|action)="(/[^"]*)"', first.text)
        assert links
        assert all(link.startswith("/news/") for link in links)
        for link in {one for one in links if "/static/" in one}:
            assert visitor.get(link).status_code == 200
        form = {"role": "operator", "password": OPERATOR, "next": "/operate"}
        signed_in = visitor.post("/news/sign-in", form, **made_up)
        assert signed_in.status_code == 303, signed_in.text
        assert signed_in.headers["location"] == "/news/operate"
        cookie = signed_in.headers["set-cookie"]
        assert cookie.startswith("__Host-session-")
        assert "Secure" in cookie
        assert visitor.get("/news/operate").status_code == 200
        (change,) = Journal(tmp_path / "news.manage").latest(1)
        assert change.address == "127.0.0.1"
        token = visitor.token("/news/operate")
        limits = {"MAX_PAGES": "9", "token": token}
        assert visitor.post("/news/operate/limits", limits, Origin="https://evil.example").status_code == 403
        assert visitor.post("/news/operate/limits", limits, Origin=visitor.origin.replace("s:", ":")).status_code == 403
        kept = visitor.post("/news/operate/limits", limits)
        assert (kept.status_code, kept.headers["location"]) == (303, "/news/operate")
        assert f"{visitor.origin}/news/feed.atom" in visitor.get("/news/feed.atom").text
        exported = visitor.get("/news/api/export?format=jsonl&reprints=1")
        assert exported.status_code == 200
        assert len(exported.text.splitlines()) > 20, "a file that is streamed comes whole"
        big = visitor.post("/news/operate/preview", {"seeds": "x" * 200_000, "token": token})
        assert big.status_code == 413
        assert visitor.get("/news/crawl").status_code == 200
        assert visitor.send("/news/operate", "/news/sign-out").headers["location"] == "/news/sign-in"
        assert visitor.get("/news/crawl").headers["location"].startswith("/news/sign-in?next=")


def test_unit_of_systemd_is_one(tmp_path: Path) -> None:
    text = example("ini")
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(text)
    service = unit["Service"]
    for name in ("NoNewPrivileges", "ProtectHome", "PrivateTmp"):
        assert service[name] == "yes"
    assert service["ProtectSystem"] == "strict"
    if shutil.which("systemd-analyze") is None:
        return
    here = re.sub(r"ExecStart=\S+", "ExecStart=/bin/true", text).replace("User=news", "User=root")
    file = tmp_path / "newscrawler-page.service"
    file.write_text(here.replace("WorkingDirectory=/opt/newscrawler", f"WorkingDirectory={tmp_path}"), "utf-8")
    done = subprocess.run(["systemd-analyze", "verify", str(file)], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if file.name in line] == []
    assert "Unknown" not in done.stderr
