"""Scripts and style sheets of pages, kept for the other pages of their host."""

from __future__ import annotations

from urllib.parse import urlsplit

from cachetools import TTLCache

from .records import BrowserAnswer

_BYTES = 32 << 20
_SECONDS = 600.0
_FORBIDS = ("no-store", "no-cache", "private")


class ScriptCache:
    """Answers by page host and URL: servers may answer pages of other hosts otherwise."""

    def __init__(self) -> None:
        self._answers: TTLCache[tuple[str, str], BrowserAnswer] = TTLCache(_BYTES, _SECONDS, getsizeof=_size)

    def get(self, page: str, url: str) -> BrowserAnswer | None:
        return self._answers.get((urlsplit(page).netloc, url))

    def keep(self, page: str, url: str, answer: BrowserAnswer) -> None:
        """Keep a whole answer, unless its headers forbid it."""
        cache_control = " ".join(value.lower() for name, value in answer.headers if name.lower() == "cache-control")
        is_allowed = not any(word in cache_control for word in _FORBIDS)
        if answer.status == 200 and len(answer.body) < _BYTES // 4 and is_allowed:
            self._answers[urlsplit(page).netloc, url] = answer


def _size(answer: BrowserAnswer) -> int:
    return len(answer.body) + sum(len(name) + len(value) for name, value in answer.headers)
