"""Marks of articles: read, starred, labels, a note.

Their key is the URL. The id of an article is a hash of its URL (`fingerprint`), so a database that is made anew has the
same ids, and no other table is needed to find what is marked; yet an id counts only while the database has this very
URL under it.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, select

from ..engine.statements import among
from ..records.desk import ArticleMarks, MarkedArticles, label_key
from ..records.keys import fingerprint
from ..tables.articles import ArticleRow
from ..tables.urls import UrlRow
from .file import DeskFile

STAR, UNSTAR, READ, UNREAD, LABEL, UNLABEL = DEEDS = ("star", "unstar", "read", "unread", "label", "unlabel")
MOST_MARKED: Final = 100_000
"""Articles that have marks."""
MOST_LABELS: Final = 20
"""Labels of an article."""
MOST_NAMES: Final = 1_000
"""Different labels of a desk."""
MOST_LABEL_CHARS: Final = 60
MOST_NOTE_CHARS: Final = 10_000
_SEPARATORS: Final = re.compile("[,;，；、\n]")

Read = Callable[[Callable[[Connection], Any]], Any]
"""Runs a query on a read-only connection to the crawl's database."""

_GIVEN = "(SELECT value FROM json_each(:given))"
_WANTED = "(SELECT value FROM json_each(:wanted))"
_DEEDS: Final[Mapping[str, str]] = {
    STAR: f"UPDATE mark SET starred_at = :now WHERE starred_at IS NULL AND url IN {_GIVEN}",
    UNSTAR: f"UPDATE mark SET starred_at = NULL WHERE url IN {_GIVEN}",
    READ: f"UPDATE mark SET read_at = :now WHERE read_at IS NULL AND url IN {_GIVEN}",
    UNREAD: f"UPDATE mark SET read_at = NULL WHERE url IN {_GIVEN}",
    UNLABEL: f"""
    DELETE FROM mark_label WHERE label_id IN (SELECT id FROM label WHERE key IN {_WANTED})
    AND mark_id IN (SELECT id FROM mark WHERE url IN {_GIVEN})
    """,
    # of an article that would have too many it adds none
    LABEL: f"""
    INSERT INTO mark_label SELECT m.id, l.id FROM mark m, label l
    WHERE m.url IN {_GIVEN} AND l.key IN {_WANTED} AND :most >= (
        SELECT count(*) FROM label a
        WHERE a.key IN {_WANTED} OR a.id IN (SELECT label_id FROM mark_label WHERE mark_id = m.id)
    ) ON CONFLICT DO NOTHING
    """,
}
_HAVING_ALL = f"""
SELECT count(*) FROM mark m WHERE url IN {_GIVEN} AND :wanted_labels = (
    SELECT count(*) FROM mark_label JOIN label ON label.id = label_id WHERE mark_id = m.id AND key IN {_WANTED}
)
"""
_OF_URLS = f"""
SELECT url, read_at, starred_at, note,
    (SELECT json_group_array(name) FROM mark_label JOIN label ON label.id = label_id WHERE mark_id = mark.id)
FROM mark WHERE url IN {_GIVEN}
"""
_EMPTIED = f"""
DELETE FROM mark WHERE url IN {_GIVEN} AND read_at IS NULL AND starred_at IS NULL AND note = ''
AND NOT EXISTS (SELECT 1 FROM mark_label WHERE mark_id = mark.id)
"""


def split_labels(text: str) -> list[str]:
    """Return the different labels of a text: commas and semicolons stand between them.

    Raises:
        ValueError: there is none, there are too many, or one is too long.

    >>> split_labels("Ports,  to read、港口, ports")
    ['Ports', 'to read', '港口']
    """
    names: dict[str, str] = {}
    for name in _SEPARATORS.split(text):
        if name.strip():
            names.setdefault(label_key(name), " ".join(name.split()))
    labels = list(names.values())
    if not 0 < len(labels) <= MOST_LABELS:
        raise ValueError(f"give 1 to {MOST_LABELS} labels, with commas between them")
    if max(map(len, labels)) > MOST_LABEL_CHARS:
        raise ValueError(f"a label has at most {MOST_LABEL_CHARS} characters")
    return labels


def change(connection: sqlite3.Connection, urls: Iterable[str], deed: str, labels: Sequence[str], now: float) -> int:
    """Do one of `DEEDS` with articles; return how many are then as they were wanted.

    Those that have as many labels as an article may have get no further one, and are not counted. `labels` are those of
    `split_labels`, for the deeds that need some.

    Raises:
        ValueError: too many articles would have marks, or there would be too many labels.

    Cost: 15 microseconds an article.
    """
    different = list(dict.fromkeys(urls))
    wanted = {label_key(name): name for name in labels}
    values = {"given": json.dumps(different), "wanted": json.dumps(list(wanted)), "most": MOST_LABELS, "now": now}
    if deed in {STAR, READ, LABEL}:
        _add(connection, different)
    if deed == LABEL:
        _add_labels(connection, wanted)
    connection.execute(_DEEDS[deed], values)
    done = len(different)
    if deed == LABEL:
        done = connection.execute(_HAVING_ALL, {**values, "wanted_labels": len(wanted)}).fetchone()[0]
    _tidy(connection, different)
    return done


def write_note(connection: sqlite3.Connection, url: str, note: str) -> None:
    """Keep a note of an article; an empty one removes it.

    Raises:
        ValueError: it is too long, or too many articles have marks.
    """
    if len(note) > MOST_NOTE_CHARS:
        raise ValueError(f"the note has {len(note):,} characters; at most {MOST_NOTE_CHARS:,} are allowed")
    _add(connection, [url])
    connection.execute("UPDATE mark SET note = ? WHERE url = ?", (note, url))
    _tidy(connection, [url])


def marks_of(connection: sqlite3.Connection, urls: Iterable[str]) -> dict[str, ArticleMarks]:
    """Return the marks of articles by their URLs, of those that have some."""
    rows = connection.execute(_OF_URLS, {"given": json.dumps(list(urls))})
    return {
        url: ArticleMarks(read_at, starred_at, tuple(sorted(json.loads(names), key=label_key)), note)
        for url, read_at, starred_at, note, names in rows
    }


def label_counts(connection: sqlite3.Connection) -> list[tuple[str, int]]:
    """Return all labels with the number of their articles, by the alphabet."""
    rows = connection.execute(
        "SELECT name, (SELECT count(*) FROM mark_label WHERE label_id = label.id) FROM label ORDER BY key"
    )
    return rows.fetchall()


def article_urls(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return the URLs of those of some ids that are articles of the crawl's database."""
    return {row.id: row.url for row in connection.execute(_ARTICLES, {"ids": list(ids)})}


class MarkIndex:
    """The marked articles of a desk as searches take them; kept until a mark changes.

    For any number of threads. Cost: 0.3 ms; after a change, and the first time, 5 microseconds for each marked article
    and 10 for each that is new.
    """

    def __init__(self, file: DeskFile) -> None:
        self.file = file
        self._marked = MarkedArticles()
        self._number: int | None = None
        self._checked: dict[str, int | None] = {}
        self._lock = threading.Lock()

    def marked(self, reads: Sequence[Read]) -> MarkedArticles:
        """Return what is marked of the articles in some databases.

        Raises:
            DatabaseProblem: the desk, or a database, cannot be read.
        """
        with self._lock, self.file.reading() as connection:
            number = connection.execute("SELECT number FROM mark_state").fetchone()[0]
            if number != self._number:
                self._marked, self._number = self._load(connection, reads, number), number
            return self._marked

    def forget(self) -> None:
        """Forget the database: another one is read from now on."""
        with self._lock:
            self._number = None
            self._checked.clear()

    def _load(self, connection: sqlite3.Connection, reads: Sequence[Read], number: int) -> MarkedArticles:
        rows = connection.execute("SELECT id, url, read_at IS NULL, starred_at IS NULL FROM mark").fetchall()
        new = {url: fingerprint(url) for _, url, _, _ in rows if url not in self._checked}
        url_by_id = {key: url for url, key in new.items()}
        foreign = {key for read in reads if new for key in read(partial(_foreign, url_by_id=url_by_id))}
        self._checked |= {url: None if key in foreign else key for url, key in new.items()}
        keys = {mark_id: self._checked[url] for mark_id, url, _, _ in rows}
        labels: dict[str, set[int]] = {}
        names = dict(connection.execute("SELECT key, name FROM label"))
        of_labels = "SELECT key, mark_id FROM mark_label JOIN label ON label.id = label_id"
        for label, mark_id in connection.execute(of_labels):
            if (article_id := keys[mark_id]) is not None:
                labels.setdefault(label, set()).add(article_id)
        return MarkedArticles(
            frozenset(key for n, _, _, unstarred in rows if not unstarred and (key := keys[n]) is not None),
            frozenset(key for n, _, unread, _ in rows if not unread and (key := keys[n]) is not None),
            {label: frozenset(ids) for label, ids in labels.items()},
            names,
            number,
        )


def _foreign(connection: Connection, url_by_id: Mapping[int, str]) -> list[int]:
    """Return those of some ids under which a database has another URL."""
    rows = connection.execute(_URLS, {"ids": list(url_by_id)})
    return [row.id for row in rows if row.url != url_by_id[row.id]]


def _add(connection: sqlite3.Connection, urls: Sequence[str]) -> None:
    connection.executemany("INSERT INTO mark (url) VALUES (?) ON CONFLICT DO NOTHING", [(url,) for url in urls])
    if connection.execute("SELECT count(*) FROM mark").fetchone()[0] > MOST_MARKED:
        raise ValueError(f"a desk has at most {MOST_MARKED:,} articles with marks; take some back")


def _add_labels(connection: sqlite3.Connection, name_by_key: Mapping[str, str]) -> None:
    connection.executemany("INSERT INTO label (key, name) VALUES (?, ?) ON CONFLICT DO NOTHING", name_by_key.items())
    if connection.execute("SELECT count(*) FROM label").fetchone()[0] > MOST_NAMES:
        raise ValueError(f"a desk has at most {MOST_NAMES:,} labels; remove some")


def _tidy(connection: sqlite3.Connection, urls: Sequence[str]) -> None:
    """Remove what has no marks, and labels of nothing; number the state anew."""
    connection.execute(_EMPTIED, {"given": json.dumps(urls)})
    connection.execute("DELETE FROM label WHERE id NOT IN (SELECT label_id FROM mark_label)")
    # a random number: a desk that was put back from a copy has none that stood for another state
    connection.execute("UPDATE mark_state SET number = random()")


_url, _article = UrlRow.table(), ArticleRow.table()
_URLS = select(_url.c.id, _url.c.url).where(among(_url.c.id))
_ARTICLES = _URLS.join(_article, _article.c.id == _url.c.id)
