"""Publish time as readers see it, in the lines around headline and text.

The weights of `Weights` were chosen by hand. `python -m tests.benchmarks.visible_times`, on all corpora with gold times
(1,172 pages with a visible one), searched others by fold: 1,200 right days and minutes on sites that the search did not
see, 1,194 with these. In the metadata as a whole one day of 1,346 and no minute changed, so these stayed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from db.records.article import GUESS

from ..dates import parse
from ..dates.parse import Moment
from ..dates.relative import find_named_weekday, read_relative
from ..dates.timezones import Habits
from ..document.document import Document
from ..document.noise import is_stamp
from ..word_lists import WordLists
from .lines import split_fields

_LISTS: Final = WordLists(Path(__file__).with_name("words") / "times.txt")
_any = _LISTS.pattern
# Patterns of words are for small letters and every choice begins with a letter: a search skips to one of these.
_SPAN: Final = _any("spans")
_CHANGED: Final = "|".join(
    (_LISTS.choices("changed", behind=f"{_SPAN}?"), _LISTS.choices("changed elsewhere"), r"stand\s?:")
)
_OTHER: Final = f"{_LISTS.choices('other', behind=f'(?:{_SPAN}|[于到至:：])')}|{_LISTS.choices('other elsewhere')}"
_STATED: Final = "|".join(
    (
        _LISTS.choices("stated", behind=_SPAN),
        r"时间(?<![\d个個]时间)|時間(?<![\d个個]時間)|日期(?<![\d个個]日期)",
        _LISTS.choices("stated with a preposition", behind="[于於：:]"),
        _LISTS.choices("stated elsewhere"),
    )
)
_LABEL = re.compile(f"{_CHANGED}|{_OTHER}|{_STATED}")
_KINDS: Final = (("changed", re.compile(_CHANGED)), ("other", re.compile(_OTHER)))
_TIME_WORD = re.compile(_any("near times"))
_PAGE = re.compile(_any("page"))
_FEWEST_ITEMS = 3
_WEEKDAY = re.compile(rf"{_LISTS.choices('weekdays')}|tag\b")
_VAGUE: Final = _LISTS.words("spans")
"""Inside the text these may refer to anything."""
_RANGE = re.compile(rf"\d\s?[日年月]?\s?(?:[至到~～—–]| - | {_any('to')} )\s?(?:\d|[A-Z][a-z]+ \d)")
# What every way of writing a moment holds, in a short line and in a longer one: most lines hold none.
_TIME_CHAR = re.compile(r"[\d〇零○年前昨今刚剛]")
_DIGITS = re.compile(r"\d(?:\d{3}|\s?[:：月/.-]\s?\d)")
_HAN = re.compile("[〇零○一二三年前昨今刚剛民](?:(?<=[前昨今刚剛民])|(?<!年)年|(?<=年).{1,3}月)")
_WORD = re.compile("|".join((_LISTS.choices("near days", behind=r"\b"), _LISTS.choices("korean days"))))
_MAX_LINE_CHARS: Final = 300
_BOX_CHARS: Final = 24
_SHORT_CHARS: Final = 40
_DAY_OVER_MONTH = re.compile(r"(\d\d) ((?:19|20)\d\d)\s?[-./年]\s?(\d\d)月?")
_OPENING = re.compile(r"([\w(][^–—]{4,40}?)\s?(?:[–—]|\s-)\s.{40}")
"""A date in front of the first sentence: "27.1.2022 - The ferry ..."."""
_MOST_TOLD: Final = 2
"""With more relative times above the text they belong to a list of other articles."""
_AT_ONCE: Final = timedelta(minutes=15)


class LineNumbers(NamedTuple):
    near: Sequence[int]
    kept: Sequence[int]


class Weights(NamedTuple):
    nearest: float = 10.0
    step: float = 0.3  # off for each line before it in the order of `near`,
    farthest: float = 5.0  # but no more than this
    chars: float = 1 / 40  # off for each character of its line, of 200 at most
    clock: float = 2.5
    stated: float = 4.0  # a label says that the article was published then
    time_word: float = 1.5  # a word of such a label stands somewhere in the line
    changed: float = -4.0
    relative: float = -3.0
    headline: float = -3.0  # mostly the day of what is told
    behind: float = -2.0  # without a label: of a comment, or of another article
    linked: float = -3.0

    def at(self, position: int) -> float:
        return self.nearest - min(self.step * position, self.farthest)


WEIGHTS: Final = Weights()


class TimeLine(NamedTuple):
    """A line that shows a time; `label` is "stated", "changed", "other" or empty."""

    moment: Moment
    label: str
    is_relative: bool
    is_above: bool
    chars: int
    has_time_word: bool
    is_headline: bool
    is_behind: bool
    is_link: bool

    def rank(self, position: int, weights: Weights) -> float:
        """Return how likely this is when the article was published; more than 0 counts."""
        rank = weights.at(position) - min(self.chars, 200) * weights.chars
        rank += weights.clock if self.moment.has_clock else 0
        if self.label == "stated":
            rank += weights.stated
        elif self.has_time_word:
            rank += weights.time_word
        rank += weights.changed if self.label == "changed" else 0
        rank += weights.relative if self.is_relative else 0
        rank += weights.headline if self.is_headline else 0
        rank += weights.behind if self.is_behind else 0
        return rank + (weights.linked if self.is_link else 0)


def read_visible(document: Document, lines: LineNumbers, now: datetime, habits: Habits) -> tuple[Moment | None, bool]:
    """Return the best time near the headline, and whether it is relative to `now`.

    A labelled time goes before a bare one, one with a clock before a day; one whose year is a guess comes last.
    Cost: O(characters of `near`).
    """
    return choose((read_line(document, lines, index, now, habits) for index in lines.near), WEIGHTS)


def choose(lines: Iterable[TimeLine | None], weights: Weights) -> tuple[Moment | None, bool]:
    """Return the time of highest rank, and whether it is relative.

    `lines` are in the order of `near`, None for a line without a time.
    """
    best: Moment | None = None
    best_rank, best_relative = 0.0, False
    guess: Moment | None = None
    guess_rank = 0.0
    relatives_above = 0
    for position, line in enumerate(lines):
        if line is not None:
            relatives_above += line.is_relative and line.is_above
            rank = line.rank(position, weights)
            if line.moment.precision == GUESS:
                guess, guess_rank = (line.moment, rank) if rank > guess_rank else (guess, guess_rank)
            elif rank > best_rank:
                best, best_rank, best_relative = line.moment, rank, line.is_relative
        if best_rank >= weights.at(position + 1) + weights.clock + weights.stated and not best_relative:
            break
    if (best_relative or best is None) and relatives_above > _MOST_TOLD:
        return None, False  # a list of other articles
    return (best, best_relative) if best else (guess, guess is not None)


def read_line(document: Document, lines: LineNumbers, index: int, now: datetime, habits: Habits) -> TimeLine | None:
    """Read the time in a line; None if it has none of the article.

    Cost: O(characters of the line).
    """
    near, text_blocks = lines
    blocks = document.blocks
    first, last = (text_blocks[0], text_blocks[-1]) if text_blocks else (-1, len(blocks))
    text = _opening(blocks.texts[index]) if index == first else blocks.texts[index]
    if len(text) > _MAX_LINE_CHARS or not _may_hold(text):
        return None
    linked = blocks.link_chars[index]
    if text is blocks.texts[index]:
        moment, label, is_relative = _in_line(document, index, now, habits, inside=first < index <= last)
    else:
        moment, label, is_relative = parse.read(text, now, habits), "", False
    if linked and index > last and not label:
        return None  # another article's
    if moment is None or _PAGE.search(text.lower()):
        return None
    if moment.precision == GUESS and first < index <= last and not label:
        return None  # of what is told
    if index < near[0] and not label and _is_today(moment, text, now, habits):
        return None
    return TimeLine(
        moment,
        label,
        is_relative,
        is_above=index < first,
        chars=len(text),
        has_time_word=_TIME_WORD.search(text) is not None,
        is_headline=index == near[0] and index < first and not label and not is_stamp(text),
        is_behind=index > last and not label,
        is_link=linked * 2 > blocks.chars[index],
    )


def _opening(text: str) -> str:
    date = _OPENING.match(text)
    return date[1] if date and is_stamp(date[1]) else text


def read_newest(document: Document, now: datetime) -> datetime | None:
    """Return the newest time in lines of a list; None when fewer than three show one.

    Cost: O(characters).
    """
    habits, ends_of_days = Habits(), []
    for text in document.blocks.texts:
        if len(text) > _MAX_LINE_CHARS or not _may_hold(text) or _PAGE.search(text.lower()):
            continue
        moment = parse.read(text, now, habits) or read_relative(text, now, habits)
        if moment is not None and not _is_today(moment, text, now, habits):
            ends_of_days.append(datetime.combine(moment.day, time.max, UTC))
    return max(ends_of_days) if len(ends_of_days) >= _FEWEST_ITEMS else None


def _may_hold(text: str) -> bool:
    match = _TIME_CHAR.search(text) if len(text) <= _SHORT_CHARS else _DIGITS.search(text) or _HAN.search(text)
    return bool(match or _WORD.search(text.lower()))


def _is_today(moment: Moment, text: str, now: datetime, habits: Habits) -> bool:
    if moment.has_clock:
        is_now = now - datetime.fromisoformat(moment.iso) < _AT_ONCE
    else:
        is_now = moment.day == now.astimezone(habits.zone).date()
    return is_now and bool(_WEEKDAY.search(text.lower()) or find_named_weekday(text, habits.language) is not None)


def _in_line(
    document: Document, index: int, now: datetime, habits: Habits, *, inside: bool
) -> tuple[Moment | None, str, bool]:
    texts = document.blocks.texts
    text = texts[index]
    prose = text[-1] in "。！？；…”" or (len(text) >= 60 and text[-1] == ".")
    may_be_told = not prose and len(text) < 2 * _SHORT_CHARS
    # Most lines hold no time: their words need not be looked at.
    if (
        len(text) > _BOX_CHARS
        and not parse.read(text, now, habits)
        and not (may_be_told and read_relative(text, now, habits))
    ):
        return None, "", False
    pieces = _pieces(text)
    for wanted in ("stated", "", "changed"):
        for label, word, piece in pieces:
            if (
                label != wanted
                or not piece
                or (prose and not label)
                or (inside and (word in _VAGUE or _RANGE.search(piece)))
            ):
                continue
            absolute = parse.read(piece, now, habits)
            if absolute is None and label:
                absolute = parse.read_stamp(piece[len(word) :].strip(":： "), now, habits)
            if absolute and (absolute.has_clock or len(text) > _BOX_CHARS):
                return absolute, label, False
            if absolute is None and may_be_told:
                moment = read_relative(piece, now, habits)
                if moment:
                    return moment, label, True
            joined = _boxed(document, index, now, habits) if len(text) <= _BOX_CHARS else None
            if absolute or joined:
                return (joined if joined and (not absolute or joined.has_clock) else absolute), label, False
    return None, "", False


def _pieces(text: str) -> list[tuple[str, str, str]]:
    """Cut a line at the labels of times: (kind, word, what follows)."""
    small = text.lower()
    # one capital has a small form of two characters, which would move the others
    labels = list(_LABEL.finditer(small if len(small) == len(text) else text))
    pieces = [("", "", text[: labels[0].start()] if labels else text)]
    for match, end in zip(labels, [*(label.start() for label in labels), len(text)][1:], strict=True):
        word, piece = match[0], text[match.start() : end]
        kind = next((name for name, pattern in _KINDS if pattern.match(word)), "stated")
        if not any(map(str.isdigit, piece)) and not pieces[-1][0] and len(pieces[-1][2]) > 3:
            pieces[-1] = kind, word, pieces[-1][2]  # the word stands behind
        else:
            pieces.append((kind, word, piece))
    return pieces


def _boxed(document: Document, index: int, now: datetime, habits: Habits) -> Moment | None:
    """Read a date that is split over several boxes: year, day, clock."""
    texts = document.blocks.texts
    boxes = [texts[at] for at in range(index, min(index + 3, len(texts))) if len(texts[at]) <= _BOX_CHARS]
    inside = split_fields(document, index)
    for parts in (boxes, inside):
        if len(parts) > 1:
            line = " ".join(parts)
            moment = parse.read(_DAY_OVER_MONTH.sub(r"\2-\3-\1", line), now, habits)
            if moment:
                return moment
    return None
