"""Chinese words of a user, or found in a crawl, that the dictionary does not have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..decode.scripts import simplify

MOST_CHARS = 20
_HAN = re.compile(rf"[\u3400-\u4dbf\u4e00-\u9fff]{{2,{MOST_CHARS}}}")


class Lexicon:
    """Words that are cut out of a text before the dictionary cuts the rest.

    `ValueError` shows one that has not 2 to `MOST_CHARS` Chinese characters.
    """

    __slots__ = ("_by_start", "words")

    def __init__(self, words: Iterable[str] = ()) -> None:
        self.words = frozenset(map(simplify, words))
        self._by_start: dict[str, list[str]] = {}
        for word in sorted(self.words, key=len, reverse=True):
            if not _HAN.fullmatch(word):
                raise ValueError(f"word {word[:60]!r}; it takes 2 to {MOST_CHARS} Chinese characters")
            self._by_start.setdefault(word[:2], []).append(word)

    def split(self, run: str) -> Iterator[tuple[str, bool]]:
        """Yield (piece, is it a word of the lexicon), the longest words first.

        >>> list(Lexicon(["河口大桥"]).split("新河口大桥通车"))
        [('新', False), ('河口大桥', True), ('通车', False)]
        """
        rest = at = 0
        by_start = self._by_start
        while by_start and at < len(run) - 1:
            for word in by_start.get(run[at : at + 2], ()):
                if run.startswith(word, at):
                    if rest < at:
                        yield run[rest:at], False
                    yield word, True
                    rest = at = at + len(word)
                    break
            else:
                at += 1
        if rest < len(run):
            yield run[rest:], False


def read_lexicon(text: str) -> Lexicon:
    r"""Read a user's dictionary, a word a line; `ValueError` names a line without one.

    What follows a blank, and lines that begin with #, do not count.

    >>> sorted(read_lexicon("# bridges\n河口大桥 5 ns\n").words)
    ['河口大桥']
    """
    words = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        word = line.partition("#")[0].split(maxsplit=1)[:1]
        if word:
            try:
                Lexicon(word)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
        words += word
    return Lexicon(words)
