"""Bounded memory of URLs in the table, so that not every link has to be looked up."""

from __future__ import annotations

from collections.abc import Sequence


class KnownUrls:
    """Smallest depth at which URLs were seen, for at most `most` (of 100 bytes each)."""

    def __init__(self, most: int) -> None:
        self._half = max(1, most // 2)
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def get(self, key: int) -> int | None:
        depth = self._young.get(key)
        if depth is None and (depth := self._old.get(key)) is not None:
            self._keep(key, depth)
        return depth

    def depths(self, keys: Sequence[int]) -> list[int | None]:
        young = self._young.get
        return [depth if (depth := young(key)) is not None else self.get(key) for key in keys]

    def __contains__(self, key: int) -> bool:
        return key in self._young or key in self._old

    def note(self, key: int, depth: int) -> None:
        smallest = self.get(key)
        if smallest is None or depth < smallest:
            self._keep(key, depth)

    def clear(self) -> None:
        self._young, self._old = {}, {}

    def _keep(self, key: int, depth: int) -> None:
        self._young[key] = depth
        if len(self._young) >= self._half:
            self._old, self._young = self._young, {}
