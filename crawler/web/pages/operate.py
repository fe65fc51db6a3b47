"""The pages on which operators manage a crawl, and the list of what they did."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from starlette.responses import Response

from db.articles.drop import Dropping
from db.articles.drop import find as find_dropping
from db.engine.errors import DatabaseProblem
from db.queries.status import RunStatus, runs_shown
from db.records.run import Asked
from pipelines.decode.text import clean
from pipelines.urls import canonicalize, host_key

from ...manage.limits import LIMITS
from ...manage.manager import Manager
from ...manage.programs import Busy, Ran
from ...options.seeds import SeedError
from ...run.session import MODES
from ..frame.posting import Form, led_to
from ..frame.shown import from_unix, without_folders
from ..frame.visit import BadRequest, NotHere, Visit

T = TypeVar("T")

PATH: Final = "/operate"
_MOST_RUNS: Final = 3
_MOST_CHANGES: Final = 50
_MOST_LOG: Final = 6_000
_MOST_SHOWN_SEEDS: Final = 200
_MOST_TEXT: Final = 2_000
_MOST_SEEDS_TEXT: Final = 40_000
_ASKED: Final[Mapping[str, Asked]] = {"pause": Asked.PAUSE, "resume": Asked.NOTHING, "stop": Asked.STOP}


def show(visit: Visit) -> Response:
    """Show what may be done; with `part=live` what changes by itself alone."""
    manager = _manager(visit)
    runs = _runs(visit)
    has_begun, code = manager.programs.begun()
    state: dict[str, Any] = {
        "runs": runs,
        "is_running": any(run.is_running for run in runs),
        "has_begun": has_begun,
        "code": code,
        "log": without_folders(clean(manager.programs.log(_MOST_LOG))),
    }
    if visit.text("part") == "live":
        return visit.page("operate_live.html", section="operate", **state)
    problem, seeds = "", []
    try:
        seeds = manager.seeds.seeds()
    except SeedError as wrong:
        problem = without_folders(str(wrong))
    journal = visit.site.access.journal
    return visit.page(
        "operate.html",
        section="operate",
        modes=MODES,
        seeds=[seed.url for seed in seeds[-_MOST_SHOWN_SEEDS:]],
        seed_count=len(seeds),
        seed_file=manager.seeds.path.name,
        problem=problem,
        limits=[(name, manager.limits.read().get(name, "")) for name in LIMITS],
        changes=[
            (from_unix(change.at), change) for change in (journal.latest(_MOST_CHANGES) if journal is not None else ())
        ],
        **state,
    )


def show_preview(visit: Visit) -> Response:
    """Show what a look at seeds has found, or that it is under way."""
    name = str(visit.request.path_params["id"])
    preview = _manager(visit).preview_of(name)
    if preview is None:
        raise NotHere("problem.preview")
    return visit.page("operate_preview.html", section="operate", name=name, preview=preview)


def show_drop(visit: Visit) -> Response:
    """Show what would be deleted, before it is."""
    what = visit.text("what", _MOST_TEXT).strip()
    dropping = _dropping(visit, what)
    if dropping is None:
        raise BadRequest(f"there is no host or seed {what[:100]!r} in the database")
    return visit.page("operate_drop.html", section="operate", what=what, dropping=dropping)


def ask(visit: Visit, form: Form) -> Response:
    """Ask a run, or all, to pause, go on, or stop."""
    what, run = form.get("what", ""), form.get("run", "")
    if what not in _ASKED:
        raise BadRequest(f"what is to be one of {', '.join(_ASKED)}")
    if run and not (run.isascii() and run.isdigit() and len(run) < 18):
        raise BadRequest("run is to be a whole number")
    count = _manager(visit).ask(int(run) if run else None, _ASKED[what])
    _note(visit, what, f"run {run}" if run else "all runs", f"asked {count}")
    if not count:
        raise BadRequest("no such crawl is running, or it stops already")
    return led_to(PATH)


def start(visit: Visit, form: Form) -> Response:
    """Start a crawl of the seeds."""
    manager, mode = _manager(visit), form.get("mode", MODES[0])
    if mode not in MODES:
        raise BadRequest(f"mode is to be one of {', '.join(MODES)}")
    alone = visit.site.database().is_sqlite if _has_database(visit) else True
    if alone and any(run.is_running for run in _runs(visit)):
        raise BadRequest("a crawl is running; stop it first")
    if not _seeds(manager.seeds.seeds):
        raise BadRequest("there are no seeds; add one first")
    _trying(visit, "start", mode, lambda: manager.start(mode, alone=alone))
    return led_to(PATH)


def preview(visit: Visit, form: Form) -> Response:
    """Look at seeds as `scrapy check-seeds` does, before they are added."""
    text = form.get("seeds", "")
    if len(text) > _MOST_SEEDS_TEXT:
        raise BadRequest(f"the seeds have {len(text):,} characters; at most {_MOST_SEEDS_TEXT:,} are allowed")
    name = _seeds(lambda: _manager(visit).preview(text))
    return led_to(f"{PATH}/preview/{name}")


def add(visit: Visit, _form: Form) -> Response:
    """Write seeds that were looked at to the file."""
    manager = _manager(visit)
    looked_at = manager.preview_of(str(visit.request.path_params["id"]))
    if looked_at is None or looked_at.is_added:
        raise NotHere("problem.preview")
    lines = _seeds(lambda: manager.seeds.add(looked_at.text))
    looked_at.is_added = True
    _note(visit, "add seeds", " ".join(lines), "ok")
    return led_to(PATH)


def revisit(visit: Visit, form: Form) -> Response:
    """Have a host or a page visited again."""
    what = _host_or_url(form.get("what", ""))
    _command(visit, "revisit", what, lambda: _manager(visit).revisit(what))
    return led_to(PATH)


def drop(visit: Visit, form: Form) -> Response:
    """Delete what was shown, once its name has been typed."""
    what, articles = form.get("what", "").strip(), form.get("articles") == "1"
    dropping = _dropping(visit, what)
    if dropping is None:
        raise BadRequest(f"there is no host or seed {what[:100]!r} in the database")
    if form.get("typed", "").strip() != dropping.name:
        raise BadRequest(f"type {dropping.name} to delete it; nothing was deleted")
    detail = f"{dropping.name}{' with its articles' if articles else ''}"
    _command(visit, "drop", detail, lambda: _manager(visit).drop(dropping.name, articles=articles))
    return led_to(PATH)


def limit(visit: Visit, form: Form) -> Response:
    """Keep limits for the next crawl."""
    given = {name: form.get(name, "") for name in LIMITS}
    try:
        limits = _manager(visit).limits.write(given)
    except ValueError as wrong:
        raise BadRequest(str(wrong)) from None
    _note(visit, "limits", " ".join(f"{name}={value}" for name, value in limits.items()) or "none", "ok")
    return led_to(PATH)


def _manager(visit: Visit) -> Manager:
    manager = visit.site.options.manager
    if manager is None:
        raise NotHere("problem.missing")
    return manager


def _has_database(visit: Visit) -> bool:
    try:
        visit.site.database()
    except DatabaseProblem:
        return False
    return True


def _runs(visit: Visit) -> list[RunStatus]:
    """Return living runs and the latest others; none while there is no database."""
    if not _has_database(visit):
        return []
    return visit.read(lambda connection: list(runs_shown(connection, time.time(), _MOST_RUNS)))


def _seeds(work: Callable[[], T]) -> T:
    try:
        return work()
    except SeedError as wrong:
        raise BadRequest(without_folders(str(wrong))) from None


def _host_or_url(text: str) -> str:
    what = clean(text).strip()
    url = canonicalize(what if "://" in what else f"http://{what}") if what and len(what) <= _MOST_TEXT else None
    if url is None:
        raise BadRequest(f"{what[:100]!r} is neither a host nor a URL")
    return url if "://" in what else host_key(url)


def _dropping(visit: Visit, what: str) -> Dropping | None:
    named = _host_or_url(what)
    urls = [named] if "://" in named else [f"https://{named}/", f"http://{named}/"]
    return visit.read(lambda connection: find_dropping(connection, "" if "://" in named else named, urls))


def _command(visit: Visit, what: str, detail: str, run: Callable[[], Ran]) -> None:
    ran = _trying(visit, what, detail, run, is_noted=False)
    said = without_folders(ran.said())
    if ran.code != 0:
        _note(visit, what, detail, f"failed: {said}")
        raise BadRequest(said or "it took too long; run the command on the server")
    _note(visit, what, detail, said)


def _trying(visit: Visit, what: str, detail: str, work: Callable[[], T], *, is_noted: bool = True) -> T:
    try:
        done = work()
    except Busy:
        raise BadRequest("another command is under way; try again when it has ended") from None
    except SeedError as wrong:
        raise BadRequest(without_folders(str(wrong))) from None
    except OSError as error:
        _note(visit, what, detail, f"failed: {error.strerror}")
        raise BadRequest(f"it could not be started ({error.strerror}); look after the server's folder") from None
    if is_noted:
        _note(visit, what, detail, "ok")
    return done


def _note(visit: Visit, what: str, detail: str, result: str) -> None:
    session = visit.visitor.session
    visit.site.access.note(visit.request, None if session is None else session.role, what, detail, result)
