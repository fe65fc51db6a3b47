"""Widths of texts in pictures, in Latin letters."""

from __future__ import annotations

_FIRST_WIDE = "\u2e80"


def letters(text: str) -> int:
    """Return the width of a text in Latin letters; a Chinese character counts two.

    >>> letters("abc"), letters("港口")
    (3, 4)
    """
    return sum(1 + (character >= _FIRST_WIDE) for character in text)


def cut(text: str, most: float) -> str:
    """Cut a text to a width in letters, ending with an ellipsis.

    Cost: O(characters).

    >>> cut("harbour", 7), cut("harbour", 5), cut("港口吊车", 5)
    ('harbour', 'harb…', '港口…')
    """
    if letters(text) <= most:
        return text
    taken, beginning = 1, ""
    for character in text:
        taken += letters(character)
        if taken > most:
            break
        beginning += character
    return f"{beginning.rstrip()}…"
