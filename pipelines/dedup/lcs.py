"""Verification of a candidate by common runs, LCS, conflicting values and facts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq

from db.records.evidence import CONTAINS, DIFFERENT, EDITED, PART_OF, QUOTES, SAME, TEMPLATE

from .differences import Replaced, Wording, share_sentences
from .normalize import WORD, build_tables
from .shape import Comparison, calibrate
from .shingles import Places, Sums

_VALUE: Final = re.compile(
    "([0-9东南西北晴阴雨雪涨跌升降上下提增减周期第]"  # one set first: the engine skips to it
    "(?:(?<=[0-9])(?: ?[0-9])*|(?<=[上下提降增减])[调涨跌升降浮行高低加少]|(?<=[周期第])[一二三四五六七八九十日]+)?)"
)
"""Values that a bulletin changes from day to day: numbers (1,234.5 is one), and in Chinese winds, weather, ups and
downs, days of the week and ordinals."""
_NUMBER, _WORD = "0", "±"  # masks of values
# Chosen by hand; what they reach is measured by `python -m tests.benchmarks.templates`.
_SHIFT = 16  # characters by which insertions may move a stretch
_FEW_STRETCHES = 6
_FACTS, _MOST_SLIPS = 2, 4  # for each piece that replaces another
_FEW_EDGES = 3  # of common text: of one gap inside, and one at an end
_CHARS_A_GAP = 2.0  # of usual windows: more gaps are slips of the pen
# Chosen by hand.
_MOST_RUNS = 200  # the longest runs, which are put in order
_BEFORE, _AFTER = 2, 2  # characters around a value that say what it counts


@dataclass(frozen=True, slots=True)
class VerifyParams:
    """Parameters of a comparison.

    Fitted on labelled Chinese and English reprints, but no command of the fit is recorded; the result is measured by
    `python -m tests.benchmarks.duplicates --edits`. `rest_share` was fitted by `tests.benchmarks.frames --folds`;
    `slots` and `edited_share` were chosen on all labelled documents (docs/duplicates.md).

    Attributes:
        unspaced_chars, word_chars: shortest common run that counts, in scripts without and with spaces.
        unspaced_pivot, word_pivot: share of common text that becomes a similarity of `CALIBRATED`; unrelated texts in
            scripts with spaces have more in common.
        least: similarity below which no text repeats the other, whatever the caller's threshold.
        passage: shortest passage, in `unspaced_chars` or `word_chars`, that is a quotation.
        length_ratio: shorter over longer length from which a near-duplicate is "edited", not a part.
        lcs_share: share of common runs from which the LCS is worth its cost.
        conflicts: values in equal surroundings that must disagree to make a bulletin of another day.
        conflict_share: share of them that must disagree.
        doubtful, doubtful_share: share of common text below which one conflict, and this share, is enough.
        rest_chars, rest_share: characters of a text, and their share of it, that must be left without a frame for it
            to be judged by them.
        slot_share: length from which other characters stand in the place of some, as a share of the length of these.
        slots: places between common text, other in each of three texts, that show a frame of whatever share of it.
        edited_share: characters in common from which a piece came of the one in its place by changes.
        stretch, in_order, sentences: mean length of common stretches, in `unspaced_chars` or `word_chars`, below which
            texts may share no more than stock phrases: if the LCS, and sentences in common, are less than these shares.
        slip: length of what stands in the place of other characters, in `unspaced_chars` or `word_chars`, below which
            these are slips of the pen.
        fact_chars: characters to a fact that differs, at most, where headlines do not tell.
        slot_chars: longest piece in the place of another that is looked at for facts.
    """

    unspaced_chars: int = 6
    word_chars: int = 14
    unspaced_pivot: float = 0.62
    word_pivot: float = 0.70
    least: float = 0.5
    passage: float = 8.0
    length_ratio: float = 0.7
    lcs_share: float = 0.3
    block_chars: int = 2_000
    conflicts: int = 2
    conflict_share: float = 0.4
    doubtful: float = 0.75
    doubtful_share: float = 0.5
    rest_chars: int = 12
    rest_share: float = 0.2
    slot_share: float = 0.3
    slots: int = 3
    edited_share: float = 0.6
    stretch: float = 9.0
    in_order: float = 0.8
    sentences: float = 0.4
    slip: float = 0.2
    fact_chars: int = 200
    slot_chars: int = 120


class WindowedText:
    __slots__ = (
        "_slots",
        "_values",
        "_wording",
        "ends",
        "full",
        "hashes",
        "raw",
        "starts",
        "text",
        "title",
        "unspaced",
    )

    def __init__(self, text: Sums, params: VerifyParams = VerifyParams(), *, title: str = "", raw: str = "") -> None:
        self.title = title
        self.raw = raw
        self.full = text.full
        self.text = text.text
        self.starts, self.ends, self.hashes = text.windows(params.unspaced_chars, params.word_chars)
        self.unspaced = text.unspaced
        self._slots: dict[str, set[str]] | None = None
        self._values: list[str] | None = None
        self._wording: Wording | None = None

    def wording(self) -> Wording:
        if self._wording is None:
            self._wording = Wording(self.title, self.raw, self.text)
        return self._wording

    def values(self) -> list[str]:
        if self._values is None:
            self._values = _VALUE.findall(self.text)
        return self._values

    def slots(self) -> dict[str, set[str]]:
        """Group values by the characters around them, other values being masked."""
        if self._slots is None:
            parts = _VALUE.split(" " * _BEFORE + self.text + " " * _AFTER)
            values = parts[1::2]
            parts[1::2] = [_NUMBER if value[0] <= "9" else _WORD for value in values]
            masked = "".join(parts)
            slots: dict[str, set[str]] = {}
            place = -1
            for before, value in zip(parts[::2], values, strict=False):
                place += len(before) + 1
                slots.setdefault(masked[place - _BEFORE : place + _AFTER + 1], set()).add(value.replace(" ", ""))
            self._slots = slots
        return self._slots


def compare(one: WindowedText, other: WindowedText, params: VerifyParams = VerifyParams()) -> Comparison:
    """Compare two texts; empty ones are different from everything.

    Two measures see different edits. *Coverage*, the share of the shorter text in runs of some characters that the
    longer has too, does not mind moved paragraphs, added boilerplate or cuts. The longest common subsequence (*LCS*)
    does not mind scattered changes of single characters; it is asked for when coverage alone is too little. The share
    of common text is the coverage, or the mean of both where that is more.

    Daily bulletins (weather, markets, results) share most of their text and are different stories: when a good part of
    the values (numbers, days, directions) in equal surroundings disagree, the texts are a template.

    Cost:    O(length): 0.05 ms at 1,000 characters; the LCS runs in blocks of `block_chars`.
    Source:  LCS: bit-parallel, H. Hyyrö, Bit-parallel LCS-length computation revisited, 2004 (in RapidFuzz).
             Coverage over the shorter and over the longer text are the containment and the resemblance of A. Broder,
             On the resemblance and containment of documents, 1997, by characters instead of shingles.
    Differs: the LCS is a second opinion here, because alone it misses moved paragraphs and accepts bulletins.
    """
    if not one.full or not other.full:
        return Comparison(0.0, DIFFERENT)
    if one.full == other.full:
        return Comparison(1.0, SAME)
    short, long = _by_length(one, other)
    ratio = len(short.full) / len(long.full)
    runs = _runs(short, long)
    pivot = params.word_pivot + (params.unspaced_pivot - params.word_pivot) * short.unspaced
    share = _share(short, long, runs, pivot, params)
    similarity = calibrate(share, pivot)
    fresh = max(0, len(one.full) - round(share * len(short.text)))
    if similarity < params.least:
        passage = _in_chars(params.passage, short, params)
        is_long = round(runs.share * runs.covered.size) >= passage and _longest(runs.covered) >= passage
        return Comparison(similarity, QUOTES if is_long else DIFFERENT, share * ratio)
    kind = _tell_other_story(short, long, runs, share, params) if runs.share < 1.0 else None
    if kind is not None:
        bound = params.least if kind == QUOTES else params.least / 2
        return Comparison(min(similarity, bound), kind, share * ratio)
    if ratio >= params.length_ratio:
        return Comparison(similarity, EDITED, share * ratio, fresh)
    return Comparison(similarity, PART_OF if one is short else CONTAINS, share * ratio, fresh)


def rest_share(one: WindowedText, other: WindowedText, third: WindowedText, params: VerifyParams) -> float:
    """Compute how much a text keeps of another one beside what a third has, too.

    Texts of one kind share a frame: what a third text holds as well proves nothing about the first two. Of the rest of
    the shorter one the share counts that stands in the longer or has nothing in its place there: a lead of its own
    before a cut report is none of a frame, whose slots are filled in each. Where the longer has in its place what the
    third has, one of the two was edited. It is 1 when too little is left to tell: a small share of the text, in few
    places between others.
    """
    short, long = _by_length(one, other)
    only_short, only_long = ~_runs(short, third).covered, ~_runs(long, third).covered
    least = _in_chars(1 / 3, short, params)
    kept_chars = replaced_chars = slots = 0
    last = end = 0
    chain = _chain(_runs(short, long))
    for place, (start, stop, begin, finish) in enumerate([*chain, (len(short.text),) * 2 + (len(long.text),) * 2]):
        left, others = int(np.count_nonzero(only_short[last:start])), int(np.count_nonzero(only_long[end:begin]))
        if begin - end < params.slot_share * (start - last):
            kept_chars += left
        elif min(left, others) >= params.slot_share * max(left, others):
            if _is_edited(short.text[last:start], long.text[end:begin], least, params.edited_share):
                kept_chars += left
            else:
                replaced_chars += left
                slots += left > 0 and 0 < place < len(chain)
        elif start - last >= params.slot_share * (begin - end):
            kept_chars += max(left, others)
        kept_chars += int(np.count_nonzero(only_short[max(last, start) : stop]))
        last, end = max(last, stop), max(end, finish)
    decided = kept_chars + replaced_chars
    if decided < params.rest_chars or (decided < params.rest_share * len(short.text) and slots < params.slots):
        return 1.0
    return kept_chars / decided


def _is_edited(one: str, other: str, least: float, share: float) -> bool:
    longest = max(len(one), len(other))
    return longest < least or LCSseq.similarity(one, other) > share * longest


def _chain(runs: _Runs) -> list[tuple[int, int, int, int]]:
    if not runs.starts.size:
        return []
    breaks = np.flatnonzero((np.diff(runs.starts) != 1) | (np.diff(runs.there) != 1))
    firsts, lasts = np.append(0, breaks + 1), np.append(breaks, runs.starts.size - 1)
    if firsts.size > _MOST_RUNS:
        longest = np.sort(np.argsort(firsts - lasts, kind="stable")[:_MOST_RUNS])
        firsts, lasts = firsts[longest], lasts[longest]
    begins, finishes = runs.there[firsts], runs.there[lasts]
    weights = np.zeros(firsts.size, np.int64)
    before = np.full(firsts.size, -1)
    for place in range(firsts.size):
        reached = np.where(finishes[:place] < begins[place], weights[:place], 0)
        best = int(reached.argmax()) if place else -1
        if best >= 0 and reached[best] > 0:
            before[place] = best
            weights[place] = reached[best]
        weights[place] += lasts[place] - firsts[place] + 1
    spans = []
    place = int(weights.argmax())
    while place >= 0:
        first, last = firsts[place], lasts[place]
        width = int(runs.ends[last] - runs.starts[last])
        span = int(runs.starts[first]), int(runs.ends[last]), int(begins[place]), int(finishes[place]) + width
        spans.append(span)
        place = int(before[place])
    return spans[::-1]


def _by_length(one: WindowedText, other: WindowedText) -> tuple[WindowedText, WindowedText]:
    """Return the shorter text first; of equal lengths the same from both sides."""
    first = (len(one.full), one.full) <= (len(other.full), other.full)
    return (one, other) if first else (other, one)


class _Runs(NamedTuple):
    starts: Places
    ends: Places
    there: Places
    covered: npt.NDArray[np.bool_]
    share: float


def _share(short: WindowedText, long: WindowedText, runs: _Runs, pivot: float, params: VerifyParams) -> float:
    share = runs.share
    if max(params.lcs_share, 2 * pivot - 1) <= share < pivot:
        share = max(share, (share + _lcs_share(short, long, runs, params)) / 2)
    return share


def _runs(short: WindowedText, long: WindowedText) -> _Runs:
    """Look up the windows of the short text among those of the long.

    The table has one place a hash: what is lost in a collision, the neighbours make good, which overlap.
    """
    size = len(short.text)
    bits = (4 * long.hashes.size).bit_length()
    shift = np.uint64(64 - bits)
    table = np.zeros(1 << bits, np.int32)
    table[(long.hashes >> shift).view(np.int64)] = np.arange(long.hashes.size, dtype=np.int32)
    places = table.take((short.hashes >> shift).view(np.int64))
    matching = (long.hashes.take(places) == short.hashes).nonzero()[0]
    starts = short.starts.take(matching)
    ends = short.ends.take(matching)
    steps = np.bincount(starts, minlength=size + 1) - np.bincount(ends, minlength=size + 1)
    covered = np.cumsum(steps[:-1]) > 0
    return _Runs(starts, ends, long.starts.take(places.take(matching)), covered, int(np.count_nonzero(covered)) / size)


def _tell_other_story(
    short: WindowedText, long: WindowedText, runs: _Runs, share: float, params: VerifyParams
) -> str | None:
    same_values = _are_values_equal(short, long)
    if not same_values and _values_disagree(short, long, share, params):
        return TEMPLATE
    if np.count_nonzero(runs.covered[1:] != runs.covered[:-1]) < _FEW_EDGES:
        return None
    gaps = _gaps(short, runs, params)
    if gaps is None:
        return None
    if _share_phrases_only(short, long, runs, gaps, params):
        return QUOTES
    by_names = short.title != long.title and short.unspaced < 0.5  # which have capitals
    if (by_names or not same_values) and _facts_differ(short, long, gaps, same_values=same_values, params=params):
        return TEMPLATE
    return None


class _Gaps(NamedTuple):
    """Breaks between common stretches: places in the shorter text, and in the longer."""

    ends: Places
    starts: Places
    finishes: Places
    begins: Places
    first: tuple[int, int]
    last: tuple[int, int]


def _gaps(short: WindowedText, runs: _Runs, params: VerifyParams) -> _Gaps | None:
    """Find the breaks, without windows at spaces, which are short and stand anywhere."""
    starts, ends, there = runs.starts, runs.ends, runs.there
    if short.unspaced < 0.5:
        usual = ends - starts == params.word_chars
        starts, ends, there = starts.compress(usual), ends.compress(usual), there.compress(usual)
    if not starts.size:
        return None
    shifts = there - starts
    breaks = ((starts[1:] > ends[:-1]) | (shifts[1:] != shifts[:-1])).nonzero()[0]
    after, last = breaks + 1, int(ends[-1])
    return _Gaps(
        ends[breaks],
        starts[after],
        ends[breaks] + shifts[breaks],
        there[after],
        (int(starts[0]), int(there[0])),
        (last, last + int(shifts[-1])),
    )


def _share_phrases_only(
    short: WindowedText, long: WindowedText, runs: _Runs, gaps: _Gaps, params: VerifyParams
) -> bool:
    if gaps.ends.size < _FEW_STRETCHES:
        return False
    moved = np.abs((gaps.begins - gaps.starts) - (gaps.finishes - gaps.ends)) > _SHIFT
    if np.count_nonzero(moved) < _FEW_STRETCHES:
        return False
    lengths = np.append(gaps.ends.compress(moved), gaps.last[0]) - np.append(gaps.first[0], gaps.starts.compress(moved))
    if float(lengths @ lengths) >= _in_chars(params.stretch, short, params) * int(lengths.sum()):
        return False
    if _lcs_share(short, long, runs, params) >= params.in_order:
        return False
    return not share_sentences(short.raw, long.raw, params.sentences)


def _facts_differ(
    short: WindowedText, long: WindowedText, gaps: _Gaps, *, same_values: bool, params: VerifyParams
) -> bool:
    size, other_size = len(short.text), len(long.text)
    if gaps.ends.size * _in_chars(_CHARS_A_GAP, short, params) > size:
        return False
    left, right = gaps.starts - gaps.ends, gaps.begins - gaps.finishes
    longest, shortest = np.maximum(left, right), np.minimum(left, right)
    near = (longest <= params.slot_chars) & (shortest > -_SHIFT)
    large = near & (shortest > 0) & (longest >= _in_chars(params.slip, short, params))
    around = [
        (here, there)
        for here, there in (
            ((0, gaps.first[0]), (0, gaps.first[1])),
            ((gaps.last[0], size), (gaps.last[1], other_size)),
        )
        if 0 < here[1] - here[0] <= params.slot_chars and 0 < there[1] - there[0] <= params.slot_chars
    ]
    replaced = int(np.count_nonzero(large))
    slips = int(np.count_nonzero(near)) - replaced
    replaced += len(around)
    if not replaced or slips > _MOST_SLIPS * replaced:
        return False
    facts = None
    if short.title != long.title:
        facts = Replaced(short.wording(), long.wording(), params.fact_chars)
    if facts is None or not facts.linked:
        if same_values or replaced < _FACTS or slips > replaced or _FACTS * params.fact_chars * replaced < size:
            return False
        facts = facts or Replaced(short.wording(), long.wording(), params.fact_chars)
    places = near.nonzero()[0]
    within = zip(*(of[places].tolist() for of in gaps[:4]), strict=True)
    pieces = [*around, *(((end, start), (finish, begin)) for end, start, finish, begin in within)]
    for here, there in pieces:
        if not facts.add(*_whole_words(short.text, long.text, here, there)):
            return False
    return facts.are_of_two_stories()


def _whole_words(one: str, other: str, here: tuple[int, int], there: tuple[int, int]) -> tuple[str, str]:
    (start, stop), (begin, finish) = here, there
    stop, finish = max(start, stop), max(begin, finish)
    while start and begin and one[start - 1] == other[begin - 1] and _is_of_word(one[start - 1]):
        start, begin = start - 1, begin - 1
    while stop < len(one) and finish < len(other) and one[stop] == other[finish] and _is_of_word(one[stop]):
        stop, finish = stop + 1, finish + 1
    return one[start:stop], other[begin:finish]


def _is_of_word(character: str) -> bool:
    return character != " " and build_tables().kind[min(ord(character), 0x33479)] == WORD


def _lcs_share(short: WindowedText, long: WindowedText, runs: _Runs, params: VerifyParams) -> float:
    size, block = len(short.text), params.block_chars
    common = 0
    for start in range(0, size, block):
        first, last = np.searchsorted(runs.starts, (start, start + block))
        if first < last:
            piece = short.text[start : start + block]
            there = start + int(np.median(runs.there[first:last] - runs.starts[first:last]))
            margin = len(piece) // 4
            common += LCSseq.similarity(piece, long.text[max(0, there - margin) : max(0, there + len(piece) + margin)])
    return min(1.0, common / size)


def _longest(covered: npt.NDArray[np.bool_]) -> int:
    framed = np.zeros(covered.size + 2, np.bool_)
    framed[1:-1] = covered
    edges = (framed[1:] != framed[:-1]).nonzero()[0]
    return int((edges[1::2] - edges[::2]).max(initial=0))


def _in_chars(windows: float, short: WindowedText, params: VerifyParams) -> float:
    return windows * (params.word_chars + (params.unspaced_chars - params.word_chars) * short.unspaced)


def _are_values_equal(short: WindowedText, long: WindowedText) -> bool:
    rest = iter(long.values())
    return all(value in rest for value in short.values())


def _values_disagree(short: WindowedText, long: WindowedText, share: float, params: VerifyParams) -> bool:
    places = conflicts = 0
    second = long.slots()
    for slot, values in short.slots().items():
        others = second.get(slot)
        if others:
            common = min(len(values), len(others))
            differ = common - len(values & others)
            conflicts += differ
            places += common if slot[_BEFORE] == _NUMBER else differ  # words that agree are in every text
    if share < params.doubtful and conflicts >= max(1.0, params.doubtful_share * places):
        return True
    return conflicts >= max(params.conflicts, params.conflict_share * places)
