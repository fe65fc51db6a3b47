"""Every case of the hostile test web in a crawl of its own, and crawls that are broken on purpose.

    uv run python -m tests.benchmarks.hazards [--seeds 7 8 9] [--ids B01 F13] [--set NAME=VALUE ...] [--folder DIR]
    uv run python -m tests.benchmarks.hazards --chaos kill term lock outage full readonly [--kills 20]

The test web lies beside the project (the variable TEST_WEB names another place); TEST_WEB_PYTHON names an interpreter
that has what it needs. All runs in a network of its own without a way out, for which it has to be root. The exit code
is 1 when a case does not pass, a log has a traceback or a tree of processes needed a gigabyte.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from .commands import PROJECT, new_parser
from .webworld import PYTHON, VIEW, WEB, crawl_command, missing

_MOST_MB = 1000
_ARENA = str(WEB / "arena.sh")
_CHAOS = ("kill", "term", "lock", "outage", "full", "readonly")


def lanes(folder: Path, command: str, seed: int) -> list[dict[str, Any]]:
    """All cases of one world, four at a time."""
    more = [*VIEW, "--world-seed", str(seed)]
    environment = os.environ | {"PYTHON": PYTHON}
    run = [str(WEB / "lanes.sh"), str(folder), str(PROJECT), command, *more]
    subprocess.run(run, env=environment, stdout=subprocess.DEVNULL, check=True)
    return [case for name in "ABCD" for case in _cases(folder / f"lane{name}")]


def chosen(folder: Path, command: str, seed: int, ids: list[str]) -> list[dict[str, Any]]:
    """Some cases of one world, one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    run = [_ARENA, PYTHON, str(WEB / "caserun.py"), "--cmd", command, "--cwd", str(PROJECT), *VIEW]
    run += ["--out", str(folder), "--world-seed", str(seed), "--ids", ",".join(ids)]
    subprocess.run(run, stdout=subprocess.DEVNULL, check=True)
    return _cases(folder)


def _cases(folder: Path) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    return cases


def is_good(case: dict[str, Any]) -> bool:
    """Passed, in quiet and with little memory."""
    return case["verdict"] == "PASS" and not case["tracebacks"] and case["rss_mb"] < _MOST_MB


def report(seed: int, cases: list[dict[str, Any]]) -> int:
    """Print what came of one world; returns how many cases were not good."""
    verdicts = Counter(case["verdict"] for case in cases)
    longest = max(cases, key=lambda case: case["wall"])
    largest = max(cases, key=lambda case: case["rss_mb"])
    print(
        f"seed {seed}: {', '.join(f'{n} {verdict}' for verdict, n in verdicts.most_common())} of {len(cases)};"
        f" largest tree of processes {largest['rss_mb']} MB ({largest['id']}),"
        f" longest {longest['wall']:.0f} s ({longest['id']}),"
        f" {sum(case['tracebacks'] for case in cases)} tracebacks"
    )
    bad = [case for case in cases if not is_good(case)]
    for case in bad:
        why = "; ".join([*case["failed"], *(["tracebacks in the log"] if case["tracebacks"] else [])])
        print(f"  {case['verdict']:5} {case['id']} {case['wall']:6.1f} s {case['rss_mb']:5} MB  {case['what']}: {why}")
    for case in cases:
        if case["soft"]:
            print(f"  wished {case['id']}: {'; '.join(case['soft'])}")
    return len(bad)


def chaos(folder: Path, command: str, modes: list[str], kills: int) -> int:
    """Break crawls in every wanted way; returns how many ways lost or doubled anything."""
    reference = folder / "baseline" / "chaos.json"
    bad = 0
    for mode in ["baseline", *modes]:
        run = [_ARENA, PYTHON, str(WEB / "chaos.py"), "--cmd", command, "--cwd", str(PROJECT), "--mode", mode, *VIEW]
        run += ["--per-site", "40", "--out", str(folder / mode)]
        run += ["--n", str(kills), "--lo", "5", "--hi", "12"] if mode == "kill" else []
        run += ["--mb", "3"] if mode == "full" else []
        run += ["--ref", str(reference)] if mode != "baseline" else []
        done = subprocess.run(run, capture_output=True, text=True, check=True)
        result = json.loads(done.stdout.splitlines()[-1])
        told = ("rows", "LOST vs reference", "duplicate rows", "exits", "refetched", "tracebacks", "seconds")
        print(f"{mode:9}" + ", ".join(f"{name} {result[name]}" for name in told if name in result))
        harmed = result.get("LOST vs reference", 0) or result["duplicate rows"] or result["tracebacks"]
        bad += bool(harmed) and mode != "readonly"
    return bad


def main() -> int:
    parser = new_parser(__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[7])
    parser.add_argument("--ids", nargs="+", help="these cases only, one after the other")
    parser.add_argument("--chaos", nargs="+", choices=_CHAOS, help="break crawls in these ways instead")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings")
    parser.add_argument("--folder", type=Path, help="where the databases and logs stay")
    given = parser.parse_args()
    if why := missing():
        print(f"skipped: {why}")
        return 0
    folder = (given.folder or Path(tempfile.mkdtemp(prefix="hazards-"))).resolve()
    command = shlex.join(crawl_command(given.settings))
    print(f"results in {folder}", flush=True)
    if given.chaos:
        return int(chaos(folder, command, given.chaos, given.kills) > 0)
    bad = 0
    for seed in given.seeds:
        place = folder / f"seed-{seed}"
        cases = chosen(place, command, seed, given.ids) if given.ids else lanes(place, command, seed)
        bad += report(seed, cases)
        sys.stdout.flush()
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
