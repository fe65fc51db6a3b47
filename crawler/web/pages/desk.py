"""The desk: saved searches, what is new in them, and where it is told."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import parse_qsl

from starlette.responses import Response

from db.desk import outbox, searches
from db.desk.file import DeskFile
from db.desk.marks import label_counts
from db.engine.errors import DatabaseProblem
from db.records.desk import MarkedArticles, SavedSearch
from db.records.search import FoundArticle
from db.search import find
from pipelines.decode.text import clean
from pipelines.search.stored import StandingQuery

from ...desk.delivery import MAIL, WEBHOOK, objection
from ...desk.matching import catch_up, query_of
from ..frame.posting import Form, led_to
from ..frame.visit import BadRequest, NotHere, Visit

_MISSING: Final = "problem.saved"
_MOST_NAME: Final = 100
MOST_QUERY: Final = 8_000
_MOST_HITS: Final = 200


@dataclass(frozen=True, slots=True)
class _ShownSearch:
    """A saved search with its conditions and what became of its messages."""

    saved: SavedSearch
    conditions: Sequence[tuple[str, str]]
    told: str | None
    waiting: int
    problem: str


def show(visit: Visit) -> Response:
    """List the saved searches with what is new in each, and the labels."""
    refused = visit.site.desk.objection()
    saved: list[_ShownSearch] = []
    labels: list[tuple[str, int]] = []
    if not refused:
        file = file_of(visit)
        _match(visit, file)
        with file.reading() as connection:
            states = outbox.states(connection)
            saved = [_shown(one, states) for one in searches.all_searches(connection)]
            labels = label_counts(connection)
    marked = visit.site.desk.marked(visit.read) or MarkedArticles()
    numbers = [(name, len(ids)) for name, ids in (("starred", marked.starred), ("read", marked.read)) if ids]
    return visit.page("desk.html", section="desk", refused=refused, saved=saved, labels=labels, numbers=numbers)


def show_one(visit: Visit) -> Response:
    """Show the new hits of a saved search, the newest first."""
    file = file_of(visit)
    _match(visit, file)
    with file.reading() as connection:
        saved = _one(visit, searches.one_search(connection, _number(visit)))
        hits = searches.new_hits(connection, saved.id, _MOST_HITS)
        states = outbox.states(connection)
    ids = [hit.article_id for hit in hits]
    articles: Mapping[int, FoundArticle] = visit.read(lambda one: find.shown(one, ids))
    mail = visit.site.desk.options.alerts.mail
    return visit.page(
        "desk_search.html",
        section="desk",
        one=_shown(saved, states),
        hits=[articles[each] for each in ids if each in articles],
        latest=max((hit.number for hit in hits), default=saved.position),
        recipients=() if mail is None else mail.recipients,
    )


def save(visit: Visit, form: Form) -> Response:
    """Save a search under a name."""
    file = file_of(visit)
    query = form.get("query", "")
    if len(query) > MOST_QUERY:
        raise BadRequest(f"the search has {len(query):,} characters; at most {MOST_QUERY:,} are allowed")
    try:
        asked = query_of(query, visit.site.desk.marked(visit.read))
        standing = StandingQuery(asked)
        if standing.is_wordless:
            raise BadRequest("the query has no word in it")
        visit.read(lambda connection: standing.among(connection, [], time.time()))  # reads its times, too
    except ValueError as wrong:
        raise BadRequest(str(wrong)) from None
    name = _name(form, otherwise=asked.text)
    position = visit.read(find.last_number)
    try:
        with file.writing() as connection:
            saved = searches.add(connection, name, query, position, time.time())
    except ValueError as too_many:
        raise BadRequest(str(too_many)) from None
    if saved is None:
        raise BadRequest(f"there is a saved search {name!r} already; choose another name")
    return led_to("/desk")


def look(visit: Visit, form: Form) -> Response:
    """Note that the reader has seen the hits up to a number."""
    file, number = file_of(visit), form.get("number", "")
    if not number.isascii() or not number.isdigit() or len(number) > 18:
        raise BadRequest("number is to be a whole number")
    with file.writing() as connection:
        searches.look(connection, _one(visit, searches.one_search(connection, _number(visit))).id, int(number))
    return led_to("/desk")


def rename(visit: Visit, form: Form) -> Response:
    file, name = file_of(visit), _name(form)
    with file.writing() as connection:
        saved = _one(visit, searches.one_search(connection, _number(visit)))
        if not searches.rename(connection, saved.id, name):
            raise BadRequest(f"there is a saved search {name!r} already; choose another name")
    return led_to(f"/desk/{saved.id}")


def remove(visit: Visit, _form: Form) -> Response:
    file = file_of(visit)
    with file.writing() as connection:
        searches.remove(connection, _number(visit))
    return led_to("/desk")


def alert(visit: Visit, form: Form) -> Response:
    """Choose where hits are told: by `mail`, to a `webhook`, or nowhere."""
    file, channel = file_of(visit), form.get("channel", "")
    target = clean(form.get(channel, "")).strip() if channel in {MAIL, WEBHOOK} else ""
    options = visit.site.desk.options
    if channel not in {"", MAIL, WEBHOOK}:
        raise BadRequest("channel is to be mail, webhook, or empty")
    wrong = objection(channel, target, options.alerts, allows_loopback=options.allows_loopback) if channel else ""
    if wrong:
        raise BadRequest(wrong)
    with file.writing() as connection:
        saved = _one(visit, searches.one_search(connection, _number(visit)))
        searches.set_alert(connection, saved.id, channel, target, visit.language.code)
    return led_to(f"/desk/{saved.id}")


def file_of(visit: Visit) -> DeskFile:
    """Return the file of the desk.

    Raises:
        BadRequest: nothing can be kept in it.
    """
    refused = visit.site.desk.objection()
    if refused or visit.site.desk.file is None:
        raise BadRequest(refused)
    return visit.site.desk.file


def _match(visit: Visit, file: DeskFile) -> None:
    """Match what has just been stored; the watcher does the rest when that is much."""
    try:
        catch_up(file, visit.read, time.time())
    except DatabaseProblem:  # locked, say: what is known is shown
        return


def _number(visit: Visit) -> int:
    return visit.number_in_path(_MISSING)


def _one(_visit: Visit, saved: SavedSearch | None) -> SavedSearch:
    if saved is None:
        raise NotHere(_MISSING)
    return saved


def _name(form: Form, otherwise: str = "") -> str:
    name = " ".join(clean(form.get("name", "") or otherwise[:_MOST_NAME]).split())
    if not 0 < len(name) <= _MOST_NAME:
        raise BadRequest(f"a saved search needs a name of 1 to {_MOST_NAME} characters")
    return name


def _shown(saved: SavedSearch, states: Mapping[int, tuple[float | None, int, str]]) -> _ShownSearch:
    told, waiting, problem = states.get(saved.id, (None, 0, ""))
    moment = None if told is None else datetime.fromtimestamp(int(told), UTC).isoformat()
    return _ShownSearch(saved, parse_qsl(saved.query), moment, waiting, problem)
