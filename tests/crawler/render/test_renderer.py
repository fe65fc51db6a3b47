"""Rendering with a real browser, whose every request is answered from memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.render.records import BrowserAnswer, BrowserRequest, PageDocument, RenderOptions, RenderProblem, RenderWish
from crawler.render.renderer import Renderer
from tests.crawler.options.test_effects import config
from tests.waiting import wait_for

from .hostile_pages import BAIT, BREAK_OUTS, FORGERY, HOST, listeners
from .site import HOME, Browsing, Site, data, document, script, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def programs() -> Iterator[Path]:
    """A folder for programs that anybody may run: a browser is never started as root."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def program(path: Path, text: str) -> str:
    """Write a shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture(scope="module")
def browsing() -> Iterator[Browsing]:
    own = Browsing(RenderOptions(places=4, requests=20, seconds=8.0))
    yield own
    own.close()


def test_text_of_an_api_is_read_after_its_script_has_run(browsing: Browsing) -> None:
    site = Site(
        {
            "/app.js": script(
                "fetch('http://api.test/1',{headers:{'x-app':'1'}}).then(r=>r.json())"
                ".then(d=>document.body.append(d.text))"
            ),
            "http://api.test/1": data('{"text": "正文来自接口"}', Access_Control_Allow_Origin="*"),
        }
    )
    shown = browsing.show("<div id=app></div><img src=/i.png><script src=/app.js></script>", site)
    assert "正文来自接口" in shown.html.decode()
    assert shown.problem is None
    # neither the document, nor a picture, nor the question whether the API may be asked
    assert [(each.url, each.kind) for each in site.asked] == [
        (f"{HOME}app.js", "script"),
        ("http://api.test/1", "xhr"),
    ]
    assert shown.requests == 2


def test_scripts_are_asked_once_for_the_pages_of_a_host(browsing: Browsing) -> None:
    site = Site({"/kept.js": script("document.body.append('A')"), "/not.js": script("0", cache_control="no-store")})
    for _ in range(2):
        assert "A" in browsing.show("<script src=/kept.js></script><script src=/not.js></script>", site).html.decode()
    assert sorted(each.url for each in site.asked) == [f"{HOME}kept.js", f"{HOME}not.js", f"{HOME}not.js"]


def test_redirect_of_an_api_is_a_request_of_its_own(browsing: Browsing) -> None:
    site = Site(
        {"/a": BrowserAnswer(302, (("Location", "/b"),)), "/b": data("moved"), "/c": BrowserAnswer(refused="no")}
    )
    shown = browsing.show(
        "<script>fetch('/a').then(r=>r.text()).then(t=>document.body.append(t));"
        "fetch('/c').catch(()=>document.body.append('refused'))</script>",
        site,
    )
    assert {each.url for each in site.asked} == {f"{HOME}a", f"{HOME}b", f"{HOME}c"}
    assert re.search("(moved.*refused|refused.*moved)", shown.html.decode())


def test_page_keeps_its_document(browsing: Browsing) -> None:
    site = Site({"/next": BrowserAnswer(200, (("Content-Type", "text/html"),), b"another page")})
    shown = browsing.show("<p>first</p><script>setTimeout(()=>{location.href='/next'},20)</script>", site)
    assert "first" in shown.html.decode()
    assert site.asked == []


def test_profile_of_a_page_goes_with_it(browsing: Browsing) -> None:
    store = """<script>
        document.body.append(localStorage.k || document.cookie || "clean");
        localStorage.k = document.cookie = "k=1";
        </script>"""
    for _ in range(2):
        assert "</script>clean</body>" in browsing.show(store).html.decode()


def test_list_is_scrolled_and_more_is_loaded(browsing: Browsing) -> None:
    add = """let n = 0;
        function add() {
          for (let i = 0; i < 3; i++)
            list.insertAdjacentHTML("beforeend", `<li style=height:200px><a href=/${n++}>A headline</a></li>`);
        }"""
    scrolled = f"""<ul id=list></ul><p id=end>end</p><script>{add}
        new IntersectionObserver((seen) => {{ if (seen[0].isIntersecting && n < 12) add(); }}).observe(end);</script>"""
    pressed = f"""<ul id=list></ul><button onclick="n < 12 ? add() : this.remove(); return false">加载更多</button>
        <script>{add} add()</script>"""
    linked = pressed.replace("<button", "<a href=/page/2").replace("</button>", "</a>")
    for shown in browsing.show_all([document(each) for each in (scrolled, pressed, linked)], wish=RenderWish.LINKS):
        found = set(re.findall(r'href="/(\d+)"', shown.html.decode()))
        assert found == {str(n) for n in range(12)}


def test_article_is_shown_as_tall_as_it_is_and_unfolded(browsing: Browsing) -> None:
    tall = """<article><div style=height:3000px></div><p id=end>end</p></article><script>
        let n = 0;
        new IntersectionObserver((seen) => {
          if (seen[0].isIntersecting && n++ < 3)
            end.insertAdjacentHTML("beforebegin", `<p style=height:3000px>part ${n}</p>`);
        }).observe(end);</script>"""
    folded = "<p>Beginning.</p><div class=unfold-btn onclick='this.outerHTML=\"the rest\"'>点击展开全文</div>"
    elsewhere = "<p>Beginning.</p><a href=/other onclick='this.outerHTML=\"another page\"'>Read more</a>"
    shown = [each.html.decode() for each in browsing.show_all([document(each) for each in (tall, folded, elsewhere)])]
    assert "part 3" in shown[0]
    assert "the rest" in shown[1]
    assert "Read more</a>" in shown[2], "a link to another page is not pressed"


def test_consent_is_refused(browsing: Browsing) -> None:
    wall = (
        """<script>function go(how) { document.querySelector(".wall").innerHTML = how; }</script>
        <div class=wall><p>We value your privacy and use cookies.</p>
        <button onclick="go('agreed')">Accept all</button><button onclick="go('refused')">Reject all</button></div>
        <button onclick="go('deleted')">Decline</button><p>"""
        + "A long article. " * 500
    )
    html = browsing.show(wall).html.decode()
    assert '<div class="wall">refused</div>' in html


def test_open_shadow_trees_are_read(browsing: Browsing) -> None:
    shown = browsing.show(
        "<x-story></x-story><script>customElements.define('x-story',class extends HTMLElement{connectedCallback(){"
        "this.attachShadow({mode:'open'}).innerHTML='<style>p{}</style><p>in the '+'shadow</p>'}})</script>"
    )
    assert "<p>in the shadow</p>" in shown.html.decode()


def test_nothing_leaves_the_browser_and_nothing_is_forged(browsing: Browsing) -> None:
    with listeners() as arrived:
        pages = [document(arrived.fill(page).decode(), f"{HOST}/") for page in (*BREAK_OUTS.values(), FORGERY)]
        shown = browsing.show_all(pages, wish=RenderWish.LINKS)
        assert arrived.came == []
    for each in shown:
        assert each.problem is None
        html = re.sub(r"<script.*?</script>", "", each.html.decode(), flags=re.DOTALL)
        assert "A page of a hostile site" in html
        assert not re.search(f"{BAIT}|FORGED|root:x:0|opened|registered", html)


@pytest.mark.slow
def test_pages_beyond_their_bounds_cost_only_themselves() -> None:
    browsing = Browsing(RenderOptions(places=5, requests=5, seconds=5.0, memory_bytes=200 << 20))
    floods = [
        "<p>text</p><script>setTimeout(()=>{for(;;);},50)</script>",
        "<p>text</p><script>for(let i=0;i<50;i++)fetch('/x?'+i).catch(()=>0)</script>",
        "<script>const a=[];for(let i=0;i<9;i++)setInterval(()=>a.push(new Uint8Array(16<<20).fill(1)),1)</script>",
        "<script>let d=document.body;for(let i=0;i<1e5;i++)d=d.appendChild(document.createElement('p'))</script>",
    ]
    try:
        loop, many, memory, deep, calm = browsing.show_all([document(each) for each in (*floods, "<p>calm</p>")])
        processes = browsing.renderer.processes()
    finally:
        browsing.close()
    assert (loop.problem, b"text" in loop.html) == (RenderProblem.TIMED_OUT, True)
    assert (many.problem, many.requests, b"text" in many.html) == (RenderProblem.TOO_MANY_REQUESTS, 5, True)
    assert (memory.problem, memory.html) == (RenderProblem.TOO_MUCH_MEMORY, b"")
    assert deep.problem is RenderProblem.CRASHED
    assert (calm.problem, b"calm" in calm.html) == (None, True)
    assert not any(is_alive(pid) for pid in processes)


def test_browser_that_crashed_or_is_spent_is_replaced() -> None:
    browsing = Browsing(RenderOptions(pages_a_browser=2))
    slow = Site({"/slow": data("x")})

    async def kill() -> RenderProblem | None:
        page = document("<script>setInterval(()=>fetch('/slow'),1)</script>")
        showing = asyncio.ensure_future(browsing.renderer.render(page, RenderWish.TEXT, slow.fetch))
        while not slow.asked:
            await asyncio.sleep(0.01)
        for pid in browsing.renderer.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return (await showing).problem

    try:
        assert browsing.run(kill) is RenderProblem.CRASHED
        seen = []
        for _ in range(3):
            assert b"again" in browsing.show("<p>again</p>").html
            seen.append(tuple(browsing.renderer.processes())[:1])
    finally:
        browsing.close()
    # the first ends after its second page, the second was started for the third
    assert len(seen[0]) == 1
    assert seen[1] == ()
    assert len(seen[2]) == 1
    assert seen[0] != seen[2]


def test_browser_is_not_root_has_no_network_and_keeps_its_sandbox(browsing: Browsing) -> None:
    seen = []

    async def look(request: BrowserRequest) -> BrowserAnswer:
        for pid in browsing.renderer.processes():
            with contextlib.suppress(OSError):  # of a page before, and gone
                command = Path("/proc", str(pid), "cmdline").read_text()
                lines = Path("/proc", str(pid), "status").read_text().splitlines()
                status = dict(line.split(":", 1) for line in lines)
                network = Path("/proc", str(pid), "net", "dev").read_text() if os.getuid() == 0 else ""
                seen.append((command, status["Uid"].split(), status["Seccomp"].strip(), network.splitlines()[2:]))
        return BrowserAnswer()

    page = document("<script src=/x.js></script>")
    browsing.run(lambda: browsing.renderer.render(page, RenderWish.TEXT, look))
    assert len(seen) >= 8
    assert all("0" not in users for _, users, _, _ in seen)
    # the first is still outside: it waits for the namespaces to end
    assert all(line.split()[:2] == ["lo:", "0"] for _, _, _, network in seen[1:] for line in network)
    filtered = [seccomp for command, _, seccomp, _ in seen if "--type=renderer" in command]
    assert filtered
    assert set(filtered) == {"2"}


def test_answer_that_is_no_page_is_said(browsing: Browsing) -> None:
    archive = PageDocument(HOME, 200, (("Content-Type", "application/zip"),), b"PK\x03\x04")
    assert browsing.show_all([archive])[0].problem is RenderProblem.NOT_A_PAGE


def test_nothing_is_rendered_after_the_end() -> None:
    browsing = Browsing(RenderOptions())
    browsing.run(browsing.renderer.close)
    assert browsing.show("<p>x</p>").problem is RenderProblem.NO_BROWSER
    assert browsing.renderer.processes() == []
    browsing.close()


def test_failure_of_fetch_is_raised(browsing: Browsing) -> None:
    async def fetch(request: BrowserRequest) -> BrowserAnswer:
        raise ArithmeticError(request.url)

    with pytest.raises(ArithmeticError, match=r"/failing\.js"):
        browsing.run(
            lambda: browsing.renderer.render(document("<script src=/failing.js></script>"), RenderWish.TEXT, fetch)
        )


def test_nothing_is_left_after_kill() -> None:
    code = f"""
import asyncio, os, signal
from crawler.render.records import *
from crawler.render.renderer import Renderer
async def fetch(request): return BrowserAnswer()
async def main():
    renderer = Renderer(RenderOptions())
    page = PageDocument({HOME!r}, 200, (("Content-Type", "text/html"),), b"<script>for(;;);</script>")
    showing = asyncio.ensure_future(renderer.render(page, RenderWish.TEXT, fetch))
    while len(renderer.processes()) < 8: await asyncio.sleep(.05)
    print(*renderer.processes(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert run.returncode == -signal.SIGKILL
    pids = [int(word) for word in run.stdout.split()]
    assert len(pids) >= 8
    wait_for(lambda: not any(is_alive(pid) for pid in pids))


def test_browser_that_is_missing_or_broken_is_one_sentence(programs: Path) -> None:
    broken = program(programs / "broken", "echo no such library >&2; exit 1")
    for browser, detail in ((str(programs / "none"), "none"), (broken, "no such library")):
        browsing = Browsing(RenderOptions(browser=browser))
        shown = browsing.show("<p>x</p>")
        browsing.close()
        assert shown.problem is RenderProblem.NO_BROWSER
        assert detail in shown.detail
        assert shown.html == b""


def test_system_without_namespaces_renders_only_when_told_so(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(programs / "unshare", "echo 'unshare: unshare failed: Operation not permitted' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    refused = Browsing(RenderOptions())
    shown = refused.show("<p>x</p>")
    refused.close()
    assert (shown.problem, shown.detail) == (
        RenderProblem.NO_ISOLATION,
        "unshare: unshare failed: Operation not permitted",
    )
    told = Browsing(RenderOptions(isolation=False))
    html = told.show("<p>x</p><script>document.body.append('y')</script>").html
    told.close()
    assert b"<p>x</p>" in html
    assert b"</script>y" in html


def test_renderer_without_a_wish_starts_no_browser() -> None:
    renderer = Renderer(RenderOptions())
    assert renderer.processes() == []
    asyncio.run(renderer.close())


def is_alive(pid: int) -> bool:
    """Tell a process that runs from one that is gone or a zombie."""
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("isolation", [True, False])
def test_browser_has_the_network_of_the_crawl_only_without_isolation(*, isolation: bool) -> None:
    before = browsers()
    browsing = Browsing(config(RENDER_ISOLATION=isolation).rendering)
    try:
        assert "text" in browsing.show("<p>text", Site({})).html.decode()
        networks = {network for pid, network in browsers().items() if pid not in before}
    finally:
        browsing.close()
    assert networks
    assert (os.readlink("/proc/self/ns/net") in networks) is not isolation


def browsers() -> dict[int, str]:
    """Processes of browsers below this one, each with its network namespace."""
    parents, names = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            name, _, fields = (folder / "stat").read_text().partition("(")[2].rpartition(")")
            parents[int(folder.name)], names[int(folder.name)] = int(fields.split()[1]), name
    networks = {}
    for pid, name in names.items():
        parent = pid
        while parent in parents and parent != os.getpid():
            parent = parents[parent]
        if parent == os.getpid() and name.startswith("chrom"):
            with contextlib.suppress(OSError):
                networks[pid] = os.readlink(f"/proc/{pid}/ns/net")
    return networks
