"""How fast the whole crawl is: a local server of generated pages, the real command, CPU of the processes by themselves.

    uv run python -m tests.benchmarks.crawl_speed [--pages 10000] [--hosts 50] [--database URL]

Pages of about 50 KB with 60 links each, over hosts that are addresses of loopback. Beside it, in the same run, a Scrapy
spider that fetches the same pages and does nothing else. Prints pages a second, CPU milliseconds a page of the crawling
process and of the workers, and peak memory. Quote ratios: absolute times are those of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

PORT = 8720
NET = "127.0.2."
TICKS = os.sysconf("SC_CLK_TCK")
ROOT = Path(__file__).parents[2]
FETCH_ONLY = """
import sys
import scrapy
from scrapy.crawler import CrawlerProcess

class Fetch(scrapy.Spider):
    name = "fetch"
    async def start(self):
        for line in open(sys.argv[1]):
            yield scrapy.Request(line.strip(), dont_filter=True)
    def parse(self, response):
        pass

process = CrawlerProcess({"LOG_ENABLED": False, "CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "DOWNLOAD_DELAY": 0, "ROBOTSTXT_OBEY": False, "TELNETCONSOLE_ENABLED": False, "COOKIES_ENABLED": False,
    "CONCURRENT_ITEMS": 1})
process.crawl(Fetch)
process.start()
"""


def page(number: int, pages: int, hosts: int) -> bytes:
    """One generated article: about 50 KB, 60 links, text of its own."""
    rng = random.Random(number)
    syllables = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年"
    words = ["".join(rng.choices(syllables, k=2)) for _ in range(400)]
    paragraphs = "".join(
        f"<p>{''.join(rng.choices(words, k=90))}，{''.join(rng.choices(words, k=60))}。</p>" for _ in range(8)
    )
    targets = [rng.randrange(pages) for _ in range(59)] + [(number + 1) % pages]
    links = "".join(f'<li><a href="{address(t, hosts)}">第{t}条新闻的标题文字</a></li>' for t in targets)
    filler = "<div class='x' data-a='" + "0123456789abcdef" * 30 + "'></div>"
    day = f"2025-01-{number % 28 + 1:02d}"
    return (
        f"<!doctype html><html><head><meta charset='utf-8'><title>第{number}条新闻的标题文字</title></head><body>"
        f"<div class='nav'>导航</div><h1>第{number}条新闻的标题文字</h1><p>{day} 08:30 来源：新闻</p>"
        f"<div class='text'>{paragraphs}</div><ul class='list'>{links}</ul>{filler * 50}</body></html>"
    ).encode()


def address(number: int, hosts: int) -> str:
    """Where page `number` lives."""
    return f"http://{NET}{number % hosts + 1}:{PORT}/p/{number}.html"


def serve(pages: int, hosts: int, ready: object) -> None:
    """The server's process: every page is rendered once, at its first request."""
    cache: dict[int, bytes] = {}

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ", 2)[1]
                if path == b"/robots.txt":
                    body, kind = b"User-agent: *\nAllow: /\n", b"text/plain"
                elif path.startswith(b"/p/"):
                    number = int(path[3:-5])
                    if number not in cache:
                        cache[number] = page(number, pages, hosts)
                    body, kind = cache[number], b"text/html; charset=utf-8"
                else:
                    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                    continue
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (kind, len(body)))
                writer.write(body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def main() -> None:
        for n in range(hosts):
            await asyncio.start_server(client, f"{NET}{n + 1}", PORT)
        ready.set()  # type: ignore[attr-defined]
        await asyncio.Event().wait()

    asyncio.run(main())


@dataclass
class Usage:
    """CPU seconds of a command's own process and of its children, and peak memory of all in MB."""

    wall: float = 0.0
    own: dict[int, float] = field(default_factory=dict)
    peak_mb: float = 0.0
    output: str = ""


def watch(command: list[str]) -> tuple[Usage, int]:
    """Run a command and account for its processes until it ends."""
    usage = Usage()
    started = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            memory = 0.0
            for pid in family(process.pid):
                cpu, resident = account(pid)
                usage.own[pid] = max(cpu, usage.own.get(pid, 0.0))
                memory += resident
            usage.peak_mb = max(usage.peak_mb, memory)
            time.sleep(0.1)
        output.seek(0)
        usage.output = output.read().decode("utf-8", "replace")
    usage.wall = time.monotonic() - started
    return usage, process.pid


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    members = [pid]
    for member in members:
        try:
            members += map(int, Path(f"/proc/{member}/task/{member}/children").read_text().split())
        except OSError:
            continue
    return members


def account(pid: int) -> tuple[float, float]:
    """CPU seconds and resident MB of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS, int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def row(name: str, usage: Usage, pid: int, pages: int) -> str:
    """One line of the table."""
    own = usage.own.get(pid, 0.0)
    others = sum(cpu for key, cpu in usage.own.items() if key != pid)
    return (
        f"{name:<12} {pages / usage.wall:8.0f} {1000 * own / pages:12.2f} {1000 * others / pages:12.2f} "
        f"{usage.peak_mb:9.0f} {usage.wall:7.1f}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--database", default="", help="DATABASE_URL to write to; a SQLite file by default")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    server = context.Process(target=serve, args=(options.pages, options.hosts, ready), daemon=True)
    server.start()
    ready.wait(60)
    with tempfile.TemporaryDirectory() as folder:
        urls = Path(folder, "urls.txt")
        urls.write_text("\n".join(address(n, options.hosts) for n in range(options.pages)))
        seeds = Path(folder, "seeds.txt")
        seeds.write_text(address(0, options.hosts) + " stay=any\n")
        script = Path(folder, "fetch.py")
        script.write_text(FETCH_ONLY)
        print(f"{'':<12} {'pages/s':>8} {'CPU ms/page':>12} {'workers':>12} {'peak MB':>9} {'seconds':>7}")
        for _ in range(2):  # the first round renders the pages
            usage, pid = watch([sys.executable, str(script), str(urls)])
        print(row("fetch only", usage, pid, options.pages))
        database = options.database or f"sqlite:///{folder}/news.db"
        settings = {
            "DATABASE_URL": database,
            "ALLOW_NETWORKS": f"{NET}0/24",
            "HOST_DELAY": "0",
            "MAX_PAGES": str(options.pages),
        }
        command = [sys.executable, "-m", "scrapy", "crawl", "news", "-a", f"seeds={seeds}"]
        usage, pid = watch([*command, *[x for name, value in settings.items() for x in ("-s", f"{name}={value}")]])
        print(row("newscrawler", usage, pid, options.pages))
        print(usage.output[-400:])
    server.terminate()


if __name__ == "__main__":
    main()
