"""Show the browser pages that try to leave it or to take all there is.

    uv run python -m tests.benchmarks.break_outs [--only WORD]

For each page: seconds, the most memory that the browser's processes took meanwhile (PSS), requests, and its problem.
Ends with 1 if anything arrived at a listener, a page brought back a listener's answer or a file, or took too long.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
import time
from pathlib import Path

from crawler.render.records import BrowserAnswer, BrowserRequest, PageDocument, RenderOptions, RenderWish
from crawler.render.renderer import Renderer
from tests.crawler.render.hostile_pages import BAIT, BREAK_OUTS, FLOODS, FORGERY, HOST, Listeners, listeners

from .commands import new_parser

SECONDS = 10.0
LATEST = SECONDS + 8.0
"""To read and to end a page that was stopped at its bound."""
SECRETS = (BAIT, "root:x:0", "FORGED", "opened", "registered")


async def answer(request: BrowserRequest) -> BrowserAnswer:
    """Answer as the hostile site does, and refuse the listeners, as the guard does."""
    if not request.url.startswith(HOST + "/"):
        return BrowserAnswer(refused="not permitted")
    path = request.url.removeprefix(HOST)
    if path.startswith("/to?"):
        return BrowserAnswer(302, (("Location", path.removeprefix("/to?")),))
    return BrowserAnswer(200, (("Content-Type", "text/javascript"),), b"fetch('http://127.0.0.1:9/')")


def memory(pids: list[int]) -> int:
    """Sum the PSS of processes in bytes."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, StopIteration):
            lines = Path("/proc", str(pid), "smaps_rollup").read_text().splitlines()
            total += int(next(line for line in lines if line.startswith("Pss:")).split()[1]) << 10
    return total


async def peak(renderer: Renderer, most: list[int]) -> None:
    """Note the most memory that is seen."""
    while True:
        most[0] = max(most[0], await asyncio.to_thread(memory, renderer.processes()))
        await asyncio.sleep(0.2)


async def try_page(renderer: Renderer, page: bytes, arrived: Listeners) -> tuple[str, bool]:
    """Show a page; a line about it, and true if it stayed inside and in its bounds."""
    arrived.came.clear()
    most = [0]
    watching = asyncio.ensure_future(peak(renderer, most))
    start = time.monotonic()
    document = PageDocument(f"{HOST}/", 200, (("Content-Type", "text/html"),), page)
    shown = await renderer.render(document, RenderWish.LINKS, answer)
    seconds = time.monotonic() - start
    watching.cancel()
    shows = re.sub(r"<script.*?</script>", "", shown.html.decode(), flags=re.DOTALL)  # whose text names these words
    got = [word for word in SECRETS if word in shows]
    fine = not arrived.came and not got and seconds < LATEST
    line = f"{seconds:5.1f} s {most[0] >> 20:5} MB {shown.requests:3} requests {len(shown.html):8} bytes"
    return f"{line}  {shown.problem or ''} {arrived.came or ''} {got or ''}", fine


async def main(only: str) -> int:
    """Try all pages."""
    renderer = Renderer(RenderOptions(seconds=SECONDS))
    wrong = 0
    with listeners() as arrived:
        try:
            for name, page in {**BREAK_OUTS, **FLOODS, "forgery": FORGERY}.items():
                if only in name:
                    line, fine = await try_page(renderer, arrived.fill(page), arrived)
                    wrong += not fine
                    sys.stdout.write(f"{'' if fine else 'WRONG '}{name:24} {line}\n")
                    sys.stdout.flush()
        finally:
            await renderer.close()
    sys.stdout.write(f"{wrong} wrong\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    parser = new_parser(__doc__)
    parser.add_argument("--only", default="", help="word in the names of the cases to try")
    sys.exit(asyncio.run(main(parser.parse_args().only)))
