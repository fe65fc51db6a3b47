"""A request to the web page and its answer.

A page is a function from a `Visit` to a response. It runs in a thread, reads the database with `visit.read` and renders
a template with `visit.page`. Exceptions become error pages:

    NotHere           not found: 404
    BadRequest        a parameter is wrong: 400
    DatabaseProblem   the database is missing, locked or of another version: 503
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

import jinja2
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from db.engine.database import Database, Query, open_for_reading, parse_url, without_password
from db.engine.errors import DatabaseProblem
from db.search.clicks import beside
from pipelines.decode.text import clean
from pipelines.search.search import SearchOptions
from pipelines.text.words import index_words

from ...options.in_force import InForce
from . import shown
from .desk import Desk, DeskOptions
from .kept import KeptValues
from .language import LANGUAGES, Language, choose
from .readers import COOKIE, Readers
from .workers import Cancellation, Overloaded, ReaderLeft, Workers

logger = logging.getLogger(__name__)

T = TypeVar("T")
Show = Callable[["Visit"], Response]

HERE: Final = Path(__file__).parents[1]
THEMES: Final = ("light", "dark", "auto")
VIEWS: Final = ("cards", "list")
"""Forms of search results."""
_YEAR = 365 * 86_400
_MOST_TEXT = 300
_MOST_VALUES = 50
_MOST_QUOTED = 1_000
"""Characters of a URL-encoded parameter: enough for any query, and little in a page with fifty links."""
_AGAIN_SECONDS = "5"
_MOST_ID = 1 << 63
_BRACKETS = re.compile(r" \([^()]*(?:\([^()]*\)[^()]*)*\)")
_WHOLE = re.compile(r"-?[0-9]{1,19}")


class NotHere(LookupError):
    """There is no such page, article or story; the text is a message key."""


class BadRequest(ValueError):
    """A parameter is wrong; the text says which one and what is allowed."""


@dataclass(frozen=True, slots=True)
class WebOptions:
    """Options of the web page; names of loopback are always accepted.

    With `any_address` all IP addresses are accepted as host names; `is_learning` records what readers open.
    """

    names: Sequence[str] = ()
    any_address: bool = False
    is_learning: bool = False
    search: SearchOptions = field(default_factory=SearchOptions)
    in_force: Sequence[InForce] = ()
    desk: DeskOptions = field(default_factory=DeskOptions)


class WebSite:
    """The parts that all requests share: the database, the templates, the options.

    The database is opened at the first request, and reopened when its file has been replaced.
    """

    def __init__(self, database_url: str, options: WebOptions) -> None:
        self.options = options
        self.static = {path.name: _digest(path) for path in (HERE / "static").iterdir()}
        self.templates = _templates(self.static)
        self.workers = Workers()
        self.readers = Readers(beside(database_url), is_learning=options.is_learning)
        self.kept = KeptValues()
        self.desk = Desk(options.desk)
        self._database_url = database_url
        self._opened: tuple[Database, object] | None = None
        self._lock = threading.Lock()
        self._logged = ""

    def database(self) -> Database:
        """Return the database, open for reading.

        Raises:
            DatabaseProblem: it is missing or of another version.
        """
        file = self._file()
        with self._lock:
            if self._opened is not None and self._opened[1] == file:
                return self._opened[0]
            self._forget()
            opened = open_for_reading(self._database_url)
            self._opened = (opened, file)
            return opened

    def read(self, query: Query[T]) -> T:
        """Run a query on a read-only connection.

        Raises:
            DatabaseProblem: it cannot be read at the moment.
        """
        with self.database().reading_only() as connection:
            return query(connection)

    async def in_thread(self, visit: Visit, work: Callable[[], Response]) -> Response:
        """Compute an answer in a thread while its reader waits; refuse when overloaded."""
        try:
            return await self.workers.run(work, visit.request.receive, visit.cancellation)
        except ReaderLeft:
            return Response(status_code=503)  # which goes nowhere
        except Overloaded:
            return visit.unavailable("problem.busy")

    def for_readers(self, problem: DatabaseProblem) -> str:
        """Return the message of a problem without folders or the database's own text."""
        sentence = str(problem)
        if sentence != self._logged:
            self._logged = sentence
            logger.warning("%s", sentence)
        url = parse_url(self._database_url)
        if url.database:
            for name in (self._database_url, without_password(self._database_url), url.database):
                sentence = sentence.replace(name, Path(url.database).name)
        return shown.without_folders(_BRACKETS.sub("", sentence))

    def warm(self) -> None:
        """Load templates and the dictionary before the first request needs them."""
        for name in self.templates.list_templates():
            self.templates.get_template(name)
        index_words("新闻", "zh")

    def close(self) -> None:
        self.workers.close()
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        if self._opened is not None:
            self._opened[0].close()
            self._opened = None
            self.kept.forget()
            if self.desk.index is not None:
                self.desk.index.forget()

    def _file(self) -> object:
        url = parse_url(self._database_url)
        if url.get_backend_name() != "sqlite" or url.database is None:
            return None
        try:
            status = Path(url.database).stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino


class Visit:
    """A request; `cut` names the parameters that were too long and were cut."""

    def __init__(self, site: WebSite, request: Request) -> None:
        self.site = site
        self.request = request
        asked, cookies = request.query_params, request.cookies
        self.language = Language(
            choose(asked.get("lang"), cookies.get("lang"), request.headers.get("accept-language", ""))
        )
        self.theme = next((each for each in (asked.get("theme"), cookies.get("theme")) if each in THEMES), "auto")
        self.view = next((each for each in (asked.get("view"), cookies.get("view")) if each in VIEWS), VIEWS[0])
        self.is_api = request.url.path.startswith("/api")
        self.cut: set[str] = set()
        self.cancellation = Cancellation()
        self._read: dict[str, Sequence[str]] = {}

    def read(self, query: Query[T]) -> T:
        """Run a query on a read-only connection while the reader waits.

        Raises:
            DatabaseProblem: the database cannot be read at the moment.
            ReaderLeft: the reader has disconnected.
        """
        with self.site.database().reading_only() as connection, self.cancellation.covering(connection):
            return query(connection)

    def text(self, name: str, most: int = _MOST_TEXT) -> str:
        """Return a URL parameter, cleaned; empty if missing.

        Raises:
            BadRequest: it is too long.
        """
        given = self.request.query_params.get(name, "")
        if len(given) > most:
            raise BadRequest(f"{name} has {len(given):,} characters; at most {most:,} are allowed")
        self._read[name] = [given]
        return clean(given)

    def texts(self, name: str, most: int = _MOST_TEXT) -> list[str]:
        """Return the different values of a repeated URL parameter, cleaned.

        Raises:
            BadRequest: there are too many, or one is too long.
        """
        given = self.request.query_params.getlist(name)
        if len(given) > _MOST_VALUES:
            raise BadRequest(f"{name} is given {len(given):,} times; at most {_MOST_VALUES} are allowed")
        for each in given:
            if len(each) > most:
                raise BadRequest(f"{name} has {len(each):,} characters; at most {most:,} are allowed")
        self._read[name] = given
        return list(dict.fromkeys(text for each in given if (text := clean(each))))

    def choice(self, name: str, allowed: Sequence[str], default: str) -> str:
        """Return a parameter that is one of a few words, or the default.

        Raises:
            BadRequest: it is another word.
        """
        given = self.text(name)
        if given and given not in allowed:
            raise BadRequest(
                f"{name} is {shown.short(given, 40)!r}; {', '.join(allowed[:-1])} and {allowed[-1]} are allowed"
            )
        return given or default

    def beginning(self, name: str) -> str:
        """Return a URL parameter, cleaned, and cut to keep the links of a page short."""
        given = self.request.query_params.get(name, "")
        beginning = shown.beginning(given, _MOST_QUOTED)
        if beginning != given:
            self.cut.add(name)
        self._read[name] = [beginning]
        return clean(beginning)

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """Return a URL parameter that is an integer.

        Raises:
            BadRequest: it is no integer, or out of bounds.
        """
        given = self.text(name)
        if not given:
            return default
        number = _whole(given)
        if number is None or not least <= number <= most:
            raise BadRequest(
                f"{name} is {shown.short(given, 40)!r}; a whole number from {least:,} to {most:,} is allowed"
            )
        return number

    def one_of(self, name: str, allowed: Sequence[str]) -> str:
        """Return a URL parameter that is one of a few words, by default the first.

        Raises:
            BadRequest: it is another one.
        """
        given = self.text(name) or allowed[0]
        if given not in allowed:
            raise BadRequest(f"{name} is {shown.short(given, 40)!r}; one of these is allowed: {', '.join(allowed)}")
        return given

    def number_in_path(self, missing: str) -> int:
        """Return the identifier in the path.

        Raises:
            NotHere: it is no valid identifier; `missing` is the message key.
        """
        number = _whole(str(self.request.path_params["id"]))
        if number is None or not -_MOST_ID <= number < _MOST_ID:
            raise NotHere(missing)
        return number

    def here(self, path: str | None = None, **changes: object) -> str:
        """Return the URL of this page, or of another, with changed parameters.

        None or an empty string removes a parameter, a list gives it several values. Parameters that no page has read
        are dropped. Language, theme and view are kept in cookies, not in URLs.
        """
        unchanged = [
            (name, each)
            for name in self.request.query_params
            if name not in changes
            for each in self._read.get(name, ())
            if each
        ]
        changed = [
            (name, str(each))
            for name, value in changes.items()
            for each in (value if isinstance(value, list | tuple) else [value])
            if each not in {None, ""}
        ]
        query = urlencode([*unchanged, *changed], errors="replace")
        # two slashes at the beginning, or what browsers take for them, would name another server
        this_path = self.request.url.path
        page = path or "/" + (this_path.lstrip("/\\\t\r\n ") if len(this_path) <= _MOST_QUOTED else "")
        return page + (f"?{query}" if query else "")

    def note_hits(self, response: Response, text: str, article_ids: Sequence[int], offset: int) -> None:
        readers = self.site.readers
        if readers.is_learning:
            cookie = readers.found(self.request.cookies.get(COOKIE), text, article_ids, offset)
            response.set_cookie(COOKIE, cookie, httponly=True, samesite="strict")

    def note_click(self, article_id: int) -> int | None:
        """Record a click on a hit; return its number for the page's script."""
        readers = self.site.readers
        return readers.opened(self.request.cookies.get(COOKIE), article_id) if readers.is_learning else None

    def page(self, template: str, *, status: int = 200, **values: object) -> Response:
        """Render a template, which also has `t` (messages), `visit`, `moment` and `day`."""
        code = self.language.code
        body = self.site.templates.get_template(template).render(
            {
                "t": self.language,
                "visit": self,
                "moment": lambda time: shown.moment(time, code),
                "day": lambda time: shown.day(time, code),
                **values,
            }
        )
        response = self.answer(body, "text/html; charset=utf-8", status=status)
        response.headers["Vary"] = "Cookie, Accept-Language"
        for name, allowed in (("lang", LANGUAGES), ("theme", THEMES), ("view", VIEWS)):
            chosen = self.request.query_params.get(name, "")
            if chosen in allowed:
                response.set_cookie(name, chosen, max_age=_YEAR, httponly=True, samesite="strict")
        return response

    def json(self, value: object, *, status: int = 200) -> Response:
        # a lone surrogate, which UTF-8 has not, comes out as the escape that JSON has for it
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
        return self.answer(body, "application/json", status=status)

    def answer(self, body: str | bytes, media_type: str, *, status: int = 200) -> Response:
        content = body.encode("utf-8", "backslashreplace") if isinstance(body, str) else body
        headers = {"Cache-Control": "no-store"}
        if status == 200:
            tag = f'W/"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
            headers = {"Cache-Control": "private, no-cache", "ETag": tag}
            sent_tags = self.request.headers.get("if-none-match", "")
            if tag in (each.strip() for each in sent_tags.split(",")):
                return Response(status_code=304, headers=headers)
        return Response(content, status, headers, media_type)

    def problem(self, status: int, key: str, detail: str = "") -> Response:
        """Return an error page, or JSON for the API.

        The title has the message `key`, and the sentence below it `key` with `.text`; `detail` is in English.
        """
        if self.is_api:
            english = Language("en")
            return self.json({"error": {"status": status, "message": detail or english(f"{key}.text")}}, status=status)
        return self.page("problem.html", status=status, key=key, detail=detail, code=status)

    def unavailable(self, key: str, detail: str = "") -> Response:
        """Return a temporary error; the reader is asked to try again."""
        response = self.problem(503, key, detail)
        response.headers["Retry-After"] = _AGAIN_SECONDS
        return response


def answering(site: WebSite, show: Show) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        visit = Visit(site, request)
        return await site.in_thread(visit, lambda: respond(visit, show))

    return answer


def respond(visit: Visit, show: Show) -> Response:
    try:
        return show(visit)
    except NotHere as missing:
        return visit.problem(404, str(missing))
    except BadRequest as wrong:
        return visit.problem(400, "problem.bad", str(wrong))
    except DatabaseProblem as problem:
        return visit.unavailable("problem.database", visit.site.for_readers(problem))
    except Exception:
        if visit.cancellation.is_cancelled:  # its query was interrupted, and nobody reads the answer
            return Response(status_code=503)
        logger.exception("The page %s failed", shown.harmless(visit.request.url.path))
        return visit.problem(500, "problem.fault")


def refused(site: WebSite) -> Callable[[Request, Exception], Any]:
    """Return the handler of errors raised by the router."""

    async def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        key = "problem.missing" if error.status_code == 404 else "problem.refused"
        visit = Visit(site, request)
        response = await site.in_thread(visit, lambda: visit.problem(error.status_code, key))
        response.headers.update(error.headers or {})
        return response

    return answer


def _whole(given: str) -> int | None:
    # int() takes digits of all scripts and underscores, and fails at those without end
    return int(given) if _WHOLE.fullmatch(given) else None


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=6).hexdigest()


def _templates(static: Mapping[str, str]) -> jinja2.Environment:
    """Return the template environment, which sanitises and escapes every value."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=shown.harmless,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "web_url": shown.web_url,
        "number": shown.number,
        "size": shown.size,
        "short": shown.short,
        "paragraphs": shown.paragraphs,
        "from_unix": shown.from_unix,
        "is_language": shown.is_language,
    }
    environment.globals["static"] = lambda name: f"/static/{name}?v={static[name]}"
    environment.globals["languages"] = LANGUAGES
    return environment
