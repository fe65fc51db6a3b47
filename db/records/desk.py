"""Rows of the desk: saved searches and messages about what is new in them."""

from __future__ import annotations

from collections.abc import Sequence
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
