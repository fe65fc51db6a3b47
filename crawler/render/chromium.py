"""Find, start, watch and end Chromium, in namespaces of its own.

It has no network at all: a new network namespace has no interface but a loopback that is down. It is never root, its
own sandbox stays on, and its profile lies in memory that goes with the namespace. util-linux does it (`setpriv`,
`unshare`), as `docs/rendering.md` describes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from .devtools import Answer, DevTools, DevToolsError, Listener
from .records import RenderError, RenderOptions, RenderProblem

logger = logging.getLogger(__name__)

_NAMES = ("chromium-headless-shell", "chrome-headless-shell", "headless_shell")
_PLAYWRIGHT = "chromium_headless_shell-*/*/*headless*shell"
"""In Playwright's cache, below a folder for each version."""
_WITH_WINDOWS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_NOBODY = 65534
_START_SECONDS = 30.0
_END_SECONDS = 5.0
_WATCH_SECONDS = 0.1
"""Between two looks at memory; a page that only allocates takes some 100 MB meanwhile."""
_SCRATCH_BYTES = 128 << 20
"""Size of /dev/shm inside, for the profile and memory that processes share."""
_LAST_WORDS = 4096
_PAGE = os.sysconf("SC_PAGE_SIZE")

_FLAGS = (
    "--remote-debugging-pipe",
    "--headless",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-software-rasterizer",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-notifications",
    "--disable-remote-fonts",
    "--disable-sync",
    "--disable-site-isolation-trials",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--hide-scrollbars",
    "--log-level=3",
    "--mute-audio",
    "--no-pings",
    "--no-proxy-server",
    "--password-store=basic",
    "--blink-settings=imagesEnabled=false,dnsPrefetchingEnabled=false",
    "--disable-features=BackForwardCache,DialMediaRouteProvider,IsolateOrigins,MediaRouter,NetworkPrediction,"
    "OptimizationHints,Prerender2,SpareRendererForSitePerProcess,Translate,WebTransport,site-per-process",
)


def find(wanted: str = "") -> str | None:
    """Find the wanted browser, or a headless shell or Chromium that is installed."""
    if wanted:
        return shutil.which(wanted)
    for name in _NAMES:
        if program := shutil.which(name):
            return program
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache/ms-playwright")
    for path in sorted(cache.glob(_PLAYWRIGHT), reverse=True):
        if os.access(path, os.X_OK) and path.is_file():
            return str(path)
    return next((program for name in _WITH_WINDOWS if (program := shutil.which(name))), None)


class Chromium:
    """A running browser; `start` makes it.

    It `is_too_large` when its first process, which holds what pages store, was killed for its memory. `profiles` has
    listeners to the targets of each profile, by its name.
    """

    def __init__(self, process: subprocess.Popen[bytes], tools: DevTools, scratch: str, memory_bytes: int) -> None:
        self.tools = tools
        self.version = ""
        self.pages = 0
        self.showing = 0
        self.is_too_large = False
        self.profiles: dict[str, Listener] = {}
        self._profile_of: dict[str, str] = {}
        self._process = process
        self._family = _Family(process.pid)
        self._scratch = scratch
        self._memory_bytes = memory_bytes
        self._watch: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, options: RenderOptions) -> Chromium:
        """Start a browser.

        Raises:
            RenderError: there is none, it cannot be isolated here, or it does not answer.
        """
        browser = find(options.browser)
        if browser is None:
            raise RenderError(RenderProblem.NO_BROWSER, options.browser)
        refused = await asyncio.to_thread(why_no_namespaces)
        if refused is not None and options.isolation:
            raise RenderError(RenderProblem.NO_ISOLATION, refused)
        scratch = "" if options.isolation else tempfile.mkdtemp(prefix="browser-")
        if scratch and os.getuid() == 0:
            os.chown(scratch, _NOBODY, _NOBODY)
        flags = [*_FLAGS, f"--user-data-dir={scratch or '/dev/shm/profile'}"]
        if options.user_agent:
            flags.append(f"--user-agent={options.user_agent}")
        if refused is not None:
            flags.append("--no-sandbox")  # its sandbox is made of the same namespaces
        script = [*_NAMESPACES, "sh", "-c", _PIPES + _INSIDE, "sh"] if options.isolation else ["sh", "-c", _PLAIN, "sh"]
        process, ours = _spawn([*_unprivileged(), *script, browser, *flags, "about:blank"], scratch or "/dev/shm")
        chromium = cls(process, await DevTools.open(ours[0], ours[1]), scratch, options.memory_bytes)
        words = await _LastWords.listen(ours[2])
        try:
            version = await asyncio.wait_for(chromium.tools.send("Browser.getVersion"), _START_SECONDS)
            chromium.version = version["product"]
        except (DevToolsError, TimeoutError) as failed:
            await chromium.close()
            raise RenderError(RenderProblem.NO_BROWSER, await words.last() or f"{browser} is silent") from failed
        except BaseException:
            await chromium.close()
            raise
        chromium.tools.listen("", chromium._happened)
        chromium.tools.send("Target.setDiscoverTargets", discover=True)
        chromium.tools.send("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
        chromium._watch = asyncio.ensure_future(chromium._watch_memory())
        return chromium

    @property
    def is_gone(self) -> bool:
        return self.tools.gone.is_set()

    def processes(self) -> list[int]:
        self._family.look()
        return self._family.members()

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        self._kill()
        self.tools.close()
        await asyncio.to_thread(self._wait)
        if self._scratch:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _happened(self, method: str, event: Answer, session: str) -> None:
        """Tell a profile's listener of new targets, which wait to go on, and of crashes."""
        if method == "Target.attachedToTarget":
            target = event["targetInfo"]
            self._profile_of[target["targetId"]] = profile = target.get("browserContextId", "")
        elif method == "Target.targetCrashed":
            profile = self._profile_of.get(event["targetId"], "")
        elif method == "Target.targetDestroyed":
            self._profile_of.pop(event["targetId"], None)
            return
        else:
            return
        if (listener := self.profiles.get(profile)) is not None:
            listener(method, event, session)

    def _kill(self) -> None:
        """Kill all its processes; the one that started the namespace ends with them."""
        inside = self.processes()
        for pid in [each for each in inside if each != self._process.pid]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if len(inside) <= 1:
            self._process.kill()

    def _wait(self) -> None:
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    async def _watch_memory(self) -> None:
        """Kill each process that exceeds its memory; all if they cannot be watched."""
        try:
            await self._look_at_memory()
        except Exception:
            logger.exception("the memory of the browser cannot be watched; it is ended")
            self._kill()

    async def _look_at_memory(self) -> None:
        while not self.is_gone:
            for pid in self.processes() if self.showing else ():
                if _own_bytes(pid) > self._memory_bytes:
                    self.is_too_large |= not _is_renderer(pid)
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(_WATCH_SECONDS)


def _spawn(command: list[str], home: str) -> tuple[subprocess.Popen[bytes], tuple[int, int, int]]:
    """Start a process; return our ends of its pipes: answers, commands, stderr."""
    their_read, our_write = os.pipe()
    our_read, their_write = os.pipe()
    words, their_words = os.pipe()
    try:
        process = subprocess.Popen(
            command,
            stdin=their_read,
            stdout=their_write,
            stderr=their_words,
            cwd="/",
            start_new_session=True,  # Ctrl-C in a terminal is the crawl's, which ends the browser when it has done
            env={"HOME": home, "TMPDIR": home, "PATH": os.environ.get("PATH", "")},
        )
    except OSError as failed:
        for end in (our_read, our_write, words):
            os.close(end)
        raise RenderError(RenderProblem.NO_BROWSER, str(failed)) from failed
    finally:
        for end in (their_read, their_write, their_words):
            os.close(end)
    return process, (our_read, our_write, words)


class _LastWords(asyncio.Protocol):
    """Reads a process's stderr for as long as it lives, and keeps the end."""

    def __init__(self) -> None:
        self._tail = b""
        self._ended = asyncio.Event()

    @classmethod
    async def listen(cls, end: int) -> _LastWords:
        words = cls()
        await asyncio.get_running_loop().connect_read_pipe(lambda: words, os.fdopen(end, "rb", 0))
        return words

    def data_received(self, data: bytes) -> None:
        self._tail = (self._tail + data)[-_LAST_WORDS:]

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended.set()

    async def last(self) -> str:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), _END_SECONDS)
        lines = self._tail.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""


def _unprivileged() -> list[str]:
    """Return the start of a command that dies with the crawl and is not root."""
    start = ["setpriv", "--pdeathsig=KILL"]
    if os.getuid() == 0:
        start += [f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
    return [*start, "--"]


_NAMESPACES = (
    "unshare",
    "--user",
    "--map-root-user",
    "--net",
    "--ipc",
    "--pid",
    "--mount",
    "--fork",
    "--kill-child=KILL",
)
_PIPES = "exec 3<&0 4>&1 </dev/null >/dev/null; "
"""Where Chromium looks for its pipes."""
_PLAIN = _PIPES + 'exec "$@"'
_INSIDE = (
    f"mount -t tmpfs -o size={_SCRATCH_BYTES},mode=1777 tmpfs /dev/shm && "
    'exec unshare --user --map-user=1000 --map-group=1000 -- "$@"'
)
"""Mounts memory for the profile, then becomes an unprivileged user, or Chromium's sandbox would not start."""


def why_no_namespaces() -> str | None:
    """Try the namespaces, nested as for Chromium's sandbox; the reason if refused."""
    inner = ["unshare", "--user", "--net", "--pid", "--fork", "true"]
    try:
        tried = subprocess.run(
            [*_unprivileged(), *_NAMESPACES, "sh", "-c", _INSIDE, "sh", *inner],
            capture_output=True,
            timeout=_START_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as failed:
        return str(failed)
    if tried.returncode == 0:
        return None
    return tried.stderr.decode("utf-8", "replace").strip().splitlines()[-1:][0] if tried.stderr.strip() else "refused"


class _Family:
    """A process and its descendants, by the parents in /proc."""

    def __init__(self, root: int) -> None:
        self._is_ours = {root: True}

    def look(self) -> None:
        there = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        parents = {pid: _parent(pid) for pid in there if pid not in self._is_ours}
        self._is_ours = {pid: ours for pid, ours in self._is_ours.items() if pid in there}
        for pid in parents:
            line = [pid]  # a new process may be the child of a new one
            while (parent := parents.get(line[-1])) is not None:
                line.append(parent)
            ours = self._is_ours.get(line[-1], False)
            self._is_ours.update(dict.fromkeys(line, ours))

    def members(self) -> list[int]:
        return [pid for pid, ours in self._is_ours.items() if ours]


def _parent(pid: int) -> int | None:
    try:
        # the name of a program stands in brackets and may hold anything
        return int(Path("/proc", str(pid), "stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return None


def _own_bytes(pid: int) -> int:
    """Measure the memory of a process alone: resident minus shared; 0 if it is gone."""
    try:
        _, resident, shared, *_ = Path("/proc", str(pid), "statm").read_bytes().split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE


def _is_renderer(pid: int) -> bool:
    try:
        return b"--type=renderer" in Path("/proc", str(pid), "cmdline").read_bytes()
    except OSError:
        return True
