"""Fetch from the web servers that are installed: nginx, lighttpd, Apache, Caddy and HAProxy, by http and https.

    uv run python -m tests.benchmarks.servers [--pages 300]

Each server is started on loopback with a few files: a page, a folder that redirects, one that is not there, a page that
has not changed. Prints for each what was read of what was wanted, and CPU milliseconds a page of the crawler's handler.
Servers that are not installed are skipped (Debian's packages: nginx-light, lighttpd, apache2, caddy, haproxy). The exit
code is 1 when anything was read wrongly.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from scrapy import Request
from scrapy.http import Response

from crawler.response.revisit import conditions
from db.records.url import State
from tests.crawler.answers import lease
from tests.crawler.fetch.test_tls import NAMES, Authority
from tests.crawler.fetching import RawServer, handler, keeping

from .commands import new_parser

PAGE = b"<html><body>" + b"".join(b"<p>%d</p>" % n for n in range(5_000)) + b"</body></html>"
HEAD = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "1"\r\nContent-Length: %d\r\n\r\n'
HOST = "good.localhost"
_START_SECONDS = 10.0

Setup = Callable[[Path, int, int], tuple[str, list[str]]]
"""Takes a folder (www/, server.pem), ports of http and https; returns a configuration and the command that reads it."""


def nginx(folder: Path, plain: int, secure: int) -> tuple[str, list[str]]:
    text = f"""
daemon off; pid {folder}/pid; error_log {folder}/log; events {{}}
http {{
  access_log off; gzip on; gzip_types text/html; types {{ text/html html; }}
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{
    listen 127.0.0.1:{plain}; listen 127.0.0.1:{secure} ssl; root {folder}/www;
    ssl_certificate {folder}/server.pem; ssl_certificate_key {folder}/server.pem;
  }}
}}"""
    return text, ["nginx", "-e", f"{folder}/log", "-c", f"{folder}/conf"]


def lighttpd(folder: Path, plain: int, secure: int) -> tuple[str, list[str]]:
    openssl = Path("/usr/lib/lighttpd/mod_openssl.so")  # Debian's lighttpd-mod-openssl
    tls = f"""
server.modules = ("mod_openssl")
$SERVER["socket"] == "127.0.0.1:{secure}" {{ ssl.engine = "enable" ssl.pemfile = "{folder}/server.pem" }}
"""
    text = f"""
server.document-root = "{folder}/www"
server.bind = "127.0.0.1"
server.port = {plain}
mimetype.assign = (".html" => "text/html")
index-file.names = ("index.html")
"""
    return text + tls * openssl.exists(), ["lighttpd", "-D", "-f", f"{folder}/conf"]


def apache2(folder: Path, plain: int, secure: int) -> tuple[str, list[str]]:
    modules = "mpm_event authz_core dir mime deflate filter ssl"
    loads = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in modules.split())
    text = f"""
ServerRoot {folder}
ServerName {HOST}
PidFile {folder}/pid
ErrorLog {folder}/log
DefaultRuntimeDir {folder}
Mutex file:{folder}
{loads}
User www-data
Group www-data
Listen 127.0.0.1:{plain}
Listen 127.0.0.1:{secure} https
TypesConfig /dev/null
DocumentRoot {folder}/www
AddType text/html .html
DirectoryIndex index.html
AddOutputFilterByType DEFLATE text/html
<VirtualHost 127.0.0.1:{secure}>
SSLEngine on
SSLCertificateFile {folder}/server.pem
</VirtualHost>
"""
    return text, ["apache2", "-X", "-f", f"{folder}/conf"]


def caddy(folder: Path, plain: int, secure: int) -> tuple[str, list[str]]:
    text = f"""{{
 admin off
 auto_https disable_redirects
}}
(site) {{
 bind 127.0.0.1
 root * {folder}/www
 encode gzip
 file_server
}}
http://{HOST}:{plain} {{
 import site
}}
https://{HOST}:{secure} {{
 import site
 tls {folder}/server.pem {folder}/server.pem
}}
"""
    return text, ["caddy", "run", "--adapter", "caddyfile", "--config", f"{folder}/conf"]


def haproxy(folder: Path, plain: int, secure: int) -> tuple[str, list[str]]:
    text = f"""
defaults
 mode http
 timeout connect 5s
 timeout client 30s
 timeout server 30s
frontend all
 bind 127.0.0.1:{plain}
 bind 127.0.0.1:{secure} ssl crt {folder}/server.pem
 http-request redirect code 301 location /folder/ if {{ path /folder }}
 http-request return status 404 content-type text/html string none if {{ path /none.html }}
 http-request return status 304 if {{ req.hdr(if-none-match) -m found }}
 default_backend pages
backend pages
 compression algo gzip
 compression type text/html
 server one 127.0.0.1:{(folder / "backend").read_text(encoding="utf-8")}
"""
    return text, ["haproxy", "-f", f"{folder}/conf"]


SERVERS: tuple[Setup, ...] = (nginx, lighttpd, apache2, caddy, haproxy)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as made:
        return int(made.getsockname()[1])


async def read(bases: list[str], pages: int) -> tuple[list[str], float]:
    """Fetch all; returns what was wrong, and CPU milliseconds a page."""
    own = handler()
    wrong: list[str] = []

    async def ask(url: str, **headers: str) -> Response:
        return await own.download_request(Request(url, headers=headers))

    try:
        for base in bases:
            page = await ask(f"{base}/page.html")
            held = lease(
                visits=1, http_status=200, state_before=State.DONE, etag=(page.headers.get("ETag") or b"").decode()
            )
            found = {
                "page": page.body == PAGE and page.status == 200,
                "folder": (await ask(f"{base}/folder")).status in {301, 302, 308},
                "missing": (await ask(f"{base}/none.html")).status == 404,
                "unchanged": (await ask(f"{base}/page.html", **conditions(held))).status == 304,
                "plain": (await ask(f"{base}/page.html", **{"Accept-Encoding": "identity"})).body == PAGE,
            }
            wrong += [f"{base.partition(':')[0]} {name}" for name, good in found.items() if not good]
        started = time.process_time()
        for n in range(pages):
            await ask(f"{bases[n % len(bases)]}/page.html")
        return wrong, (time.process_time() - started) * 1_000 / pages
    finally:
        await own.close()


def run(setup: Setup, authority: Authority, folder: Path, pages: int) -> str:
    """Start one server, fetch from it, and say in a line what came of it."""
    (folder / "www/folder").mkdir(parents=True)
    for name in ("page.html", "folder/index.html"):
        (folder / "www" / name).write_bytes(PAGE)
    folder.chmod(0o755)
    authority.context(NAMES)
    shutil.copy(
        max(authority.path.parent.glob("[0-9]*.pem"), key=lambda path: path.stat().st_mtime_ns), folder / "server.pem"
    )
    with RawServer(keeping(HEAD % len(PAGE) + PAGE)) as backend:
        (folder / "backend").write_text(str(backend.port), encoding="utf-8")
        plain, secure = free_port(), free_port()
        text, command = setup(folder, plain, secure)
        (folder / "conf").write_text(text, encoding="utf-8")
        with (folder / "output").open("wb") as output:
            server = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder)
        try:
            until = time.monotonic() + _START_SECONDS
            while not _listens(plain):
                if time.monotonic() > until or server.poll() is not None:
                    return f"did not start: {(folder / 'output').read_text(errors='replace').strip()[-300:]}"
                time.sleep(0.05)
            bases = [f"http://{HOST}:{plain}", *[f"https://{HOST}:{secure}"] * _listens(secure)]
            wrong, cost = asyncio.run(read(bases, pages))
        finally:
            server.terminate()
            server.wait(10)
    said = "all read" if not wrong else f"wrong: {', '.join(wrong)}"
    return f"{said} by {' and '.join(base.partition(':')[0] for base in bases)}, {cost:.2f} ms CPU a page"


def _told(folder: Path) -> str:
    """What a server said before it ended."""
    logs = [folder / name for name in ("output", "log")]
    return " ".join(log.read_text(errors="replace").strip()[-300:] for log in logs if log.exists())


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def main() -> int:
    parser = new_parser(__doc__)
    parser.add_argument("--pages", type=int, default=300)
    given = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="servers-") as name:
        place = Path(name)
        place.chmod(0o755)
        authority = Authority(place)
        os.environ["SSL_CERT_FILE"] = str(authority.path)
        for setup in SERVERS:
            if shutil.which(setup.__name__) is None:
                print(f"{setup.__name__:9} skipped: not installed")
                continue
            said = run(setup, authority, place / setup.__name__, given.pages)
            bad += not said.startswith("all read")
            print(f"{setup.__name__:9} {said}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
