"""Rows of the desk: saved searches, messages about what is new in them, marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class SavedSearch(NamedTuple):
    """A search with a name.

    Attributes:
        query: parameters of the search page, URL-encoded.
        seen: `article.number` up to which the reader has looked.
        position: `article.number` up to which articles were matched.
        channel: `mail`, `webhook`, or empty for no alerts; `target` is the address or URL.
        language: that of messages, `zh` or `en`.
        unread: articles that fit, stored after `seen`.
    """

    id: int
    name: str
    query: str
    created: float
    seen: int
    position: int
    channel: str
    target: str
    language: str
    unread: int = 0


class SearchHit(NamedTuple):
    """An article that fits a saved search; `number` is its `article.number`."""

    article_id: int
    number: int


class Message(NamedTuple):
    """A message that waits to be sent, the same however often it is sent.

    Attributes:
        key: names the message for its receiver.
        content: JSON.
        tries: how often it was sent in vain.
    """

    id: int
    key: str
    channel: str
    target: str
    content: str
    tries: int


class FoundHits(NamedTuple):
    """The hits of a search among the articles up to `position`."""

    search_id: int
    position: int
    hits: Sequence[SearchHit]


class ArticleMarks(NamedTuple):
    """The marks of an article; times are Unix times, None for never.

    Attributes:
        labels: names, in the order of the alphabet.
        note: plain text.
    """

    read_at: float | None = None
    starred_at: float | None = None
    labels: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class MarkedArticles:
    """Ids of the articles of a database that have marks.

    Attributes:
        labels: by the key of their label (`label_key`).
        names: of labels, by their key.
        number: another one after each change of the desk.
    """

    starred: frozenset[int] = frozenset()
    read: frozenset[int] = frozenset()
    labels: Mapping[str, frozenset[int]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    number: int = 0


def label_key(name: str) -> str:
    """Return a label as it is compared: capitals and blanks make no difference.

    >>> label_key(" To  Read"), label_key("STRASSE") == label_key("straße")
    ('to read', True)
    """
    return " ".join(name.split()).casefold()
