"""Saved searches: which there are, and what is new in them."""

from __future__ import annotations

import sqlite3

from ..records.desk import SavedSearch, SearchHit

MOST_SEARCHES = 200
_COLUMNS = "id, name, query, created, seen, position, channel, target, language"
_WITH_UNREAD = (
    f"SELECT {_COLUMNS}, (SELECT count(*) FROM hit WHERE search_id = search.id AND number > search.seen) FROM search"
)


def add(connection: sqlite3.Connection, name: str, query: str, position: int, now: float) -> int | None:
    """Save a search; None when the name is taken.

    Articles stored after `position` will be new in it.

    Raises:
        ValueError: there are too many.
    """
    if connection.execute("SELECT count(*) FROM search").fetchone()[0] >= MOST_SEARCHES:
        raise ValueError(f"a desk has at most {MOST_SEARCHES} saved searches; remove some")
    row = connection.execute(
        "INSERT INTO search (name, query, created, seen, position) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING "
        "RETURNING id",
        (name, query, now, position, position),
    ).fetchone()
    return None if row is None else int(row[0])


def all_searches(connection: sqlite3.Connection) -> list[SavedSearch]:
    return [SavedSearch._make(row) for row in connection.execute(f"{_WITH_UNREAD} ORDER BY name COLLATE NOCASE, id")]


def one_search(connection: sqlite3.Connection, search_id: int) -> SavedSearch | None:
    row = connection.execute(f"{_WITH_UNREAD} WHERE id = ?", (search_id,)).fetchone()
    return None if row is None else SavedSearch._make(row)


def new_hits(connection: sqlite3.Connection, search_id: int, most: int) -> list[SearchHit]:
    """Return the newest hits that the reader has not looked at."""
    rows = connection.execute(
        "SELECT h.article_id, h.number FROM hit h JOIN search s ON s.id = h.search_id "
        "WHERE s.id = ? AND h.number > s.seen ORDER BY h.number DESC LIMIT ?",
        (search_id, most),
    )
    return [SearchHit._make(row) for row in rows]


def look(connection: sqlite3.Connection, search_id: int, number: int) -> None:
    """Note that the reader has looked at all hits up to a number."""
    connection.execute("UPDATE search SET seen = max(seen, ?) WHERE id = ?", (number, search_id))


def rename(connection: sqlite3.Connection, search_id: int, name: str) -> bool:
    """Give a search another name; False when it is taken."""
    try:
        connection.execute("UPDATE search SET name = ? WHERE id = ?", (name, search_id))
    except sqlite3.IntegrityError:
        return False
    return True


def remove(connection: sqlite3.Connection, search_id: int) -> None:
    """Remove a search with its hits and messages, those that wait to be sent, too."""
    connection.execute("DELETE FROM search WHERE id = ?", (search_id,))


def set_alert(connection: sqlite3.Connection, search_id: int, channel: str, target: str, language: str) -> None:
    """Choose where to tell of hits; of those found from now on, not of earlier ones."""
    connection.execute(
        "UPDATE search SET channel = ?, target = ?, language = ? WHERE id = ?", (channel, target, language, search_id)
    )
    if not channel:
        connection.execute("UPDATE hit SET is_to_tell = 0 WHERE search_id = ? AND message_id IS NULL", (search_id,))
        connection.execute("DELETE FROM message WHERE search_id = ? AND told IS NULL", (search_id,))
