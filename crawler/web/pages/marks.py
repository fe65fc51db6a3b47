"""Marks of articles: the forms that change them, of one article and of many.

Nothing is marked by looking: each change is a POST, of a button, a form, a key or a program.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import parse_qsl, urlencode

from starlette.responses import Response

from db.desk.marks import DEEDS, LABEL, UNLABEL, article_urls, change, split_labels, write_note
from pipelines.decode.text import clean
from pipelines.search.every import EveryMatch
from pipelines.search.search import SearchOptions

from ...desk.matching import query_of
from ..frame.posting import Form, led_to
from ..frame.visit import BadRequest, NotHere, Visit
from .desk import MOST_QUERY, file_of

MOST_AT_ONCE: Final = 10_000
"""Articles that one form marks."""
SCOPES: Final = ("picked", "page", "all")
DONE: Final = ("marked", "deed", "full")
"""Parameters that say to the search page what was done."""
_NOTE: Final = "note"
_MISSING: Final = "problem.article"
_PICK: Final = "pick."

Pairs = Sequence[tuple[str, str]]


def mark_one(visit: Visit, form: Form) -> Response:
    """Do the `deed` of a form with an article, and lead back to its page."""
    key = visit.number_in_path(_MISSING)
    mark(visit, form, key)
    return led_to(f"{_path(f'/article/{key}', _query(form))}#marks")


def mark(visit: Visit, form: Form, key: int) -> str:
    """Do what a form says with an article; return its URL.

    Raises:
        NotHere: there is no such article.
        BadRequest: the form is wrong, or nothing can be kept.
    """
    file = file_of(visit)
    url = visit.read(lambda connection: article_urls(connection, [key])).get(key)
    if url is None:
        raise NotHere(_MISSING)
    if form.get("deed") != _NOTE:
        done = _change(visit, form.get("deed", ""), form, [url])
        if not done:
            raise BadRequest("this article has as many labels as it may have; remove some")
        return url
    try:
        with file.writing() as connection:
            write_note(connection, url, "\n".join(map(clean, form.get("note", "").splitlines())).strip())
    except ValueError as wrong:
        raise BadRequest(str(wrong)) from None
    return url


def mark_many(visit: Visit, form: Form) -> Response:
    """Do the `deed` of the form of the results with articles of its `scope`.

    A button beside a result has its deed and id as `one`, such as `star.17`.
    """
    file_of(visit)
    query = _query(form)
    deed, _, one = form.get("one", "").partition(".")
    if deed:
        (key,) = _ids([one])
        mark(visit, {**form, "deed": deed}, key)
        return led_to(f"{_path('/', query)}#a{key}")
    deed = form.get("deed", "")
    ids = _chosen(visit, form, query)
    urls = visit.read(lambda connection: article_urls(connection, ids)).values()
    done = _change(visit, deed, form, list(urls))
    said = [("marked", str(done)), ("deed", deed), *([("full", str(len(urls) - done))] if len(urls) > done else [])]
    return led_to(_path("/", [*query, *said]))


def _change(visit: Visit, deed: str, form: Form, urls: Sequence[str]) -> int:
    if deed not in DEEDS:
        raise BadRequest(f"deed is {deed[:40]!r}; one of these is allowed: {', '.join(DEEDS)}")
    try:
        labels = split_labels(clean(form.get("label", ""))) if deed in {LABEL, UNLABEL} else []
        with file_of(visit).writing() as connection:
            return change(connection, urls, deed, labels, time.time())
    except ValueError as wrong:
        raise BadRequest(str(wrong)) from None


def _chosen(visit: Visit, form: Form, query: Pairs) -> list[int]:
    """Return the ids of the articles that a form is about.

    Raises:
        BadRequest: there are none.
    """
    scope = form.get("scope") or SCOPES[0]
    if scope not in SCOPES:
        raise BadRequest(f"scope is {scope[:40]!r}; one of these is allowed: {', '.join(SCOPES)}")
    if scope == "all":
        found = _every(visit, query)
    elif scope == "page":
        found = _ids(form.get("shown", "").split())
    else:
        found = _ids([name.removeprefix(_PICK) for name in form if name.startswith(_PICK)])
    if not found:
        raise BadRequest("no article is chosen; tick some, or choose all")
    return found


def _every(visit: Visit, query: Pairs) -> list[int]:
    """Return an article of each story that a search counts; at most `MOST_AT_ONCE`."""
    given = dict(query)
    asked = query_of(urlencode(query), visit.site.desk.marked(visit.read))
    asked = replace(asked, sort=given.get("sort", ""), expand=given.get("expand") == "1")
    found: list[int] = []
    try:
        steps = EveryMatch(visit.read, asked, SearchOptions(), time.time(), is_ranked=True, reprints=False)
        for ids in steps:
            found += ids
            if len(found) >= MOST_AT_ONCE:
                break
    except ValueError as wrong:
        raise BadRequest(str(wrong)) from None
    return found[:MOST_AT_ONCE]


def _query(form: Form) -> list[tuple[str, str]]:
    """Return the parameters of the search that a form came from."""
    given = form.get("query", "")
    if len(given) > MOST_QUERY:
        raise BadRequest(f"the search has {len(given):,} characters; at most {MOST_QUERY:,} are allowed")
    return [(name, value) for name, value in parse_qsl(given) if name not in DONE]


def _path(page: str, query: Pairs) -> str:
    return f"{page}?{urlencode(query, errors='replace')}" if query else page


def _ids(written: Sequence[str]) -> list[int]:
    """Read identifiers of articles.

    Raises:
        BadRequest: one is no number, or there are too many.
    """
    if len(written) > MOST_AT_ONCE:
        raise BadRequest(f"{len(written):,} articles are too many; at most {MOST_AT_ONCE:,} are marked at once")
    if not all(each.isascii() and each.removeprefix("-").isdecimal() and len(each) <= 20 for each in written):
        raise BadRequest("the number of an article is wrong; load the page again")
    return [key for each in written if -(1 << 63) <= (key := int(each)) < 1 << 63]
