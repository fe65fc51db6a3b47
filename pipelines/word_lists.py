"""Files of words: names, labels and phrases, apart from the rules that use them.

A line `[name]` begins a list; its entries follow, parted by commas and line ends. Lines that begin with `#` are
comments.
"""

from __future__ import annotations

import re
from pathlib import Path


class WordLists:
    """The lists of one file, by name.

    Raises:
        KeyError: no list has that name.
    """

    def __init__(self, path: Path) -> None:
        self._lists: dict[str, list[str]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("[") and line.endswith("]"):
                entries = self._lists.setdefault(line[1:-1], [])
            elif line and not line.startswith("#"):
                entries += filter(None, map(str.strip, line.split(",")))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._lists)

    def __getitem__(self, name: str) -> list[str]:
        return self._lists[name]

    def words(self, *names: str) -> frozenset[str]:
        return frozenset(entry for name in names for entry in self[name])

    def pattern(self, *names: str) -> str:
        """Return a regular expression group of `choices`."""
        entries = self.words(*names)
        if all(len(entry) == 1 for entry in entries):
            return f"[{''.join(map(re.escape, sorted(entries)))}]"
        return f"(?:{self.choices(*names)})"

    def choices(self, *names: str, behind: str = "") -> str:
        r"""Return alternatives for a regular expression, the longest entry first.

        Each begins with a letter, so that a search skips to one of these; a blank stands for `\s`, and the regular
        expression `behind` follows each.
        """
        longest_first = sorted(self.words(*names), key=lambda entry: (-len(entry), entry))
        return "|".join(re.escape(entry).replace("\\ ", r"\s") + behind for entry in longest_first)
