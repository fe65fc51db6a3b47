"""The watcher's part of the desk: hits, and the messages that tell of them.

A hit is written in one transaction with the position up to which articles were matched, a message with the mark of its
hits. So whatever is killed whenever, no hit is passed over and none is in two messages. What may happen twice is that a
message is sent whose answer nobody noted; it is then the same to the last letter, its key included.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ..engine.processes import is_gone
from ..records.desk import FoundHits, Message, SearchHit

_PRUNE_HITS = """
    DELETE FROM hit
    WHERE search_id = :search AND number <= :number AND NOT (is_to_tell = 1 AND message_id IS NULL) AND number <= max(
        (SELECT seen FROM search WHERE id = :search),
        coalesce((SELECT number FROM hit WHERE search_id = :search ORDER BY number DESC LIMIT 1 OFFSET :most), 0)
    )
"""
_PRUNE_MESSAGES = """
    DELETE FROM message
    WHERE search_id = :search AND told < :before AND id < (SELECT max(id) FROM message WHERE search_id = :search)
"""


class LostLease(Exception):
    """Another watcher is at work."""


def lease(connection: sqlite3.Connection, owner: str, place: str, pid: int, *, now: float, until: float) -> bool:
    """Become the one watcher, or remain it; False while another one lives."""
    row = connection.execute("SELECT owner, place, pid, until FROM watcher").fetchone()
    if row is not None and row[0] != owner and row[3] > now and not is_gone(row[1], row[2]):
        return False
    connection.execute("INSERT OR REPLACE INTO watcher VALUES (1, ?, ?, ?, ?)", (owner, place, pid, until))
    return True


def release(connection: sqlite3.Connection, owner: str) -> None:
    connection.execute("DELETE FROM watcher WHERE owner = ?", (owner,))


def check(connection: sqlite3.Connection, owner: str) -> None:
    """Raise `LostLease` unless this one is the watcher."""
    if connection.execute("SELECT 1 FROM watcher WHERE owner = ?", (owner,)).fetchone() is None:
        raise LostLease


def record(connection: sqlite3.Connection, found: Sequence[FoundHits]) -> None:
    """Write hits with the positions up to which they were looked for, each once."""
    for one in found:
        connection.executemany(
            "INSERT INTO hit (search_id, article_id, number, is_to_tell) "
            "SELECT id, ?, ?, channel <> '' FROM search WHERE id = ? ON CONFLICT DO NOTHING",
            [(hit.article_id, hit.number, one.search_id) for hit in one.hits],
        )
        connection.execute("UPDATE search SET position = max(position, ?) WHERE id = ?", (one.position, one.search_id))


def to_tell(connection: sqlite3.Connection, search_id: int, most: int, *, since: float) -> list[SearchHit]:
    """Return the first untold hits; none if a message waits or was made since."""
    busy = connection.execute(
        "SELECT 1 FROM message WHERE search_id = ? AND (told IS NULL OR created > ?) LIMIT 1", (search_id, since)
    ).fetchone()
    if busy is not None:
        return []
    rows = connection.execute(
        "SELECT article_id, number FROM hit WHERE search_id = ? AND is_to_tell = 1 AND message_id IS NULL "
        "ORDER BY number LIMIT ?",
        (search_id, most),
    )
    return [SearchHit._make(row) for row in rows]


def hits_by_hour(connection: sqlite3.Connection, search_id: int, first: int, last: int) -> dict[int, int]:
    """Count hits by the hour since 1970, between two times in milliseconds."""
    rows = connection.execute(
        "SELECT number / 3600000, count(*) FROM hit WHERE search_id = ? AND number > ? AND number <= ? GROUP BY 1",
        (search_id, first, last),
    )
    return dict(rows.fetchall())


def compose(
    connection: sqlite3.Connection, search_id: int, key: str, content: str, hits: Sequence[SearchHit], *, now: float
) -> None:
    """Make a message of hits, to be sent from now on where the search says."""
    row = connection.execute(
        "INSERT INTO message (search_id, key, channel, target, content, created, next_try) "
        "SELECT id, ?, channel, target, ?, ?, ? FROM search WHERE id = ? AND channel <> '' RETURNING id",
        (key, content, now, now, search_id),
    ).fetchone()
    if row is not None:
        connection.executemany(
            "UPDATE hit SET message_id = ? WHERE search_id = ? AND article_id = ? AND message_id IS NULL",
            [(row[0], search_id, hit.article_id) for hit in hits],
        )


def due(connection: sqlite3.Connection, now: float, most: int) -> list[Message]:
    rows = connection.execute(
        "SELECT id, key, channel, target, content, tries FROM message WHERE told IS NULL AND next_try <= ? "
        "ORDER BY next_try, id LIMIT ?",
        (now, most),
    )
    return [Message._make(row) for row in rows]


def note_told(connection: sqlite3.Connection, message_id: int, now: float) -> None:
    connection.execute("UPDATE message SET told = ?, problem = '' WHERE id = ?", (now, message_id))


def note_failure(connection: sqlite3.Connection, message_id: int, problem: str, next_try: float) -> None:
    connection.execute(
        "UPDATE message SET tries = tries + 1, problem = ?, next_try = ? WHERE id = ?", (problem, next_try, message_id)
    )


def prune(connection: sqlite3.Connection, search_id: int, number: int, most: int, before: float) -> None:
    """Remove old hits of a search, and messages told before a time, but the last one.

    Of hits up to `number` those remain that wait to be told, and the newest `most` that the reader has not seen.
    """
    connection.execute(_PRUNE_HITS, {"search": search_id, "number": number, "most": most})
    connection.execute(_PRUNE_MESSAGES, {"search": search_id, "before": before})


def states(connection: sqlite3.Connection) -> dict[int, tuple[float | None, int, str]]:
    """Return when each search last told, how many messages wait, and why."""
    rows = connection.execute(
        "SELECT search_id, max(told), count(*) - count(told), max(problem) FROM message GROUP BY search_id"
    )
    return {search_id: (told, waiting, problem) for search_id, told, waiting, problem in rows}
