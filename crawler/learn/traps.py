"""Traps: patterns of URLs whose pages bring nothing and only lead to more of their kind.

Which addresses will bring an article nobody can know; but pages that a program makes without end have few patterns
(`pipelines.patterns`), and of each pattern it is counted what its pages brought. A pattern is shut when

- so many of its pages in a row brought nothing: no article, nor a link by which an article was found later;
- these pages showed no article that its pages had not shown before (lists of known articles are honest);
- and it grows: its pages lead to ever more URLs of unfruitful patterns. What does not grow comes to an end by itself.

A pattern that has brought articles has more time, in proportion to how rare they were. When something is found after
all - by a page fetched before, or in a later crawl, which tries a few of its pages again - it is opened.

Pure: what is remembered of one host, and what pages change in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipelines.patterns import (
    ANSWER,
    ENDLESS_PATH,
    EXACT,
    FOLDER,
    HOST,
    SHAPE,
    Key,
    Patterns,
    key_of,
    patterns,
)

from .trapkinds import FARM, LOOK_ALIKE, NOTHING, SOFT_404, suspicion_of
from .trappattern import FEW_PAGES, LEAST_GROWTH, Bounds, Pattern, Seen, open_for_trial

_DEEP_SHARE = 0.5
_SHOWN_WEIGHT = 0.1
"""What a page counts that shows articles which its pattern has not shown before."""
_OWN_TEXT_WEIGHT = 0.5
"""What a page counts that is like no other of its pattern and whose address looks honest."""
_MOST_GROWTH = 5
_DOUBTS = 3
_MOST_PROBES = 3
_MOST_STRANGE = 20
"""So many new folders in a row without an article, and further ones promise nothing."""
_MOST_PATTERNS = 300


class HostTraps:
    """What is known of the patterns of one host's URLs.

    Args:
        bounds: how long they may bring nothing.
        foreign: whether the host is no seed's own.
        known: patterns as they were stored.
    """

    def __init__(self, bounds: Bounds, *, foreign: bool = False, known: Iterable[Pattern] = ()) -> None:
        self._bounds = bounds
        self._foreign = foreign
        self._patterns: dict[Key, Pattern] = {(one.level, one.text): one for one in known}
        self._folders = {key_of(text): one for (level, text), one in self._patterns.items() if level == FOLDER}
        self.shut: dict[Key, str] = {}
        """Pattern -> kind, empty for those that are open although a wider one is shut. Other threads read it."""
        self._wide = False
        self._shut_heads: frozenset[str] = frozenset()
        self._note_shut()
        self._strange = 0
        self._doubtful = ""
        self._asked: set[str] = set()

    def observe(self, seen: Seen, now: float) -> list[Pattern]:
        """Take a page into account; returns the patterns that have been shut for it."""
        found = patterns(seen.url)
        own = [self._pattern(level, text, seen.url) for level, text in self._keys(found)]
        for one in own:
            one.pages += 1
            one.changed = True
        suspicion = suspicion_of(seen.url, found)
        same = [one.repeats(seen.sketch) for one in own]
        if seen.brought and not (same[EXACT] and suspicion):  # a calendar's days differ in their dates, as bulletins do
            return self._praise(own, seen, now)
        own[FOLDER].doubts += seen.missing or seen.again or same[EXACT]
        self._doubtful = found.folder if own[FOLDER].doubts >= _DOUBTS else ""
        self._strange += own[FOLDER].pages == 1
        growth = self._growth(seen.found)
        if seen.is_wall and not growth:
            return []
        promising = self._promising(seen, own[FOLDER])
        sure = bool(suspicion or seen.missing or not seen.sketch or _head(found.folder) in self._shut_heads)
        for one, repeats in zip(own, same, strict=True):
            one.alike += repeats
            weight = 1.0 if sure or repeats else _OWN_TEXT_WEIGHT
            one.barren += _SHOWN_WEIGHT if one.shows_more(promising) else weight
            one.grown += growth
            one.missing += seen.missing
        return self._close([one for one in own if self._is_spent(one, suspicion)], suspicion, now)

    @property
    def missing(self) -> tuple[int, ...] | None:
        """Outlines of what the host shows when there is no such page; None while nothing speaks for such."""
        return self._outlines() or (() if self._asked else None)

    def _outlines(self) -> tuple[int, ...]:
        return tuple(int(text, 16) for level, text in self.shut if level == ANSWER)

    def wants_probe(self) -> bool:
        """Whether to ask the host for a page that does not exist beside the one seen last; once for each folder."""
        folder = self._doubtful
        if not (folder and self._bounds.probe and len(self._asked) < _MOST_PROBES) or folder in self._asked:
            return False
        if self._outlines():
            return False
        self._asked.add(folder)
        return True

    def answered(self, outline: int, url: str, now: float) -> None:
        """What the host showed for a page that does not exist, 0 for nothing that looks like a page."""
        if outline:
            text = f"{outline:016x}"
            why = "the host answers so, with status 200, when there is no such page"
            self._patterns[ANSWER, text] = Pattern(
                text, ANSWER, pages=1, kind=SOFT_404, shut_at=now, why=why, example=url
            )
            self._note_shut()

    def credit(self, url: str) -> list[Pattern]:
        """A page led to an article; returns the patterns that are open again for it, or have stood their trial."""
        opened = []
        for key in self._keys(patterns(url))[:HOST]:
            one = self._patterns.get(key)
            if one is None:
                continue
            self._relieve(one)
            if one.kind or one.trial:
                one.kind, one.why, one.trial = "", "", False
                opened.append(one)
        if opened:
            self._note_shut()
        return opened

    def try_again(self, key: Key) -> bool:
        """Open a pattern for a few pages; whether it was shut."""
        one = self._patterns.get(key)
        if one is None or not one.kind:
            return False
        open_for_trial(one, self._bounds)
        self._note_shut()
        return True

    def worth_keeping(self) -> list[Pattern]:
        """Patterns that differ from what is stored, as far as they matter."""
        return [
            one for one in self._patterns.values() if one.changed and (one.pages >= FEW_PAGES or one.kind or one.trial)
        ]

    def shut_before(self, moment: float) -> list[Key]:
        """Patterns that were shut before a time."""
        return [key for key, kind in self.shut.items() if kind and self._patterns[key].shut_at < moment]

    # ------------------------------------------------------------ patterns

    def _keys(self, found: Patterns) -> list[Key]:
        keys = [(EXACT, found.exact), (FOLDER, found.folder), (SHAPE, found.shape)]
        return [*keys, (HOST, "")] if self._foreign else keys

    def _pattern(self, level: int, text: str, url: str) -> Pattern:
        one = self._patterns.get((level, text))
        if one is None:
            if len(self._patterns) >= _MOST_PATTERNS:
                self._forget()
            one = self._patterns[level, text] = Pattern(text, level, example=url)
            if level == FOLDER:
                self._folders[key_of(text)] = one
        return one

    def _forget(self) -> None:
        """Drop the half of the open patterns that have cost least."""
        by_cost = sorted((one for one in self._patterns.values() if not one.kind), key=lambda one: one.pages)
        for one in by_cost[: len(by_cost) // 2]:
            del self._patterns[one.level, one.text]
            if one.level == FOLDER:
                self._folders.pop(key_of(one.text), None)

    # ------------------------------------------------------------ pages

    def _praise(self, own: Sequence[Pattern], seen: Seen, now: float) -> list[Pattern]:
        """A page was an article. On a host that only others name, those of farms name nothing: no time, no author."""
        self._strange = 0
        last = HOST if self._foreign and not seen.named else len(own)
        for one in own[:last]:
            self._relieve(one)
        for one in own[last:]:
            one.barren += 1
        return self._close([one for one in own[last:] if self._is_spent(one, "")], FARM, now)

    def _growth(self, found: Sequence[int]) -> int:
        """How many of the URLs that a page named first promise nothing better; their patterns have grown, too."""
        growth = 0
        for key in found:
            folder = self._folders.get(key)
            if folder is not None and folder.brought and folder.barren < FEW_PAGES:
                continue
            growth += 1
            if folder is not None:
                folder.grown += 1
        return min(growth, _MOST_GROWTH)

    def _promising(self, seen: Seen, own: Pattern) -> list[int]:
        """Links of a page to others than of its own kind, which may be articles or lead to some."""
        dull = {0, *(key for key, one in self._folders.items() if one.is_dull)}
        if own.is_unproven:
            dull.add(key_of(own.text))
        if self._strange >= _MOST_STRANGE:
            return [
                link
                for link, where in zip(seen.links, seen.folders, strict=True)
                if where not in dull and where in self._folders
            ]
        return [link for link, where in zip(seen.links, seen.folders, strict=True) if where not in dull]

    def _is_spent(self, one: Pattern, suspicion: str) -> bool:
        """Whether a pattern has brought nothing for too long."""
        if one.kind:
            return False
        if one.level == HOST:
            return one.barren >= self._bounds.host_pages
        patience = one.patience(self._bounds) * (_DEEP_SHARE if suspicion == ENDLESS_PATH else 1.0)
        return one.barren >= patience and one.grown >= LEAST_GROWTH * one.barren

    def _close(self, spent: Sequence[Pattern], suspicion: str, now: float) -> list[Pattern]:
        """Shut patterns, and say why."""
        for one in spent:
            one.kind = FARM if one.level == HOST else suspicion or _by_its_pages(one)
            one.shut_at, one.trial, one.changed = now, False, True
            one.why = _reason(one)
        if spent:
            self._note_shut()
        return list(spent)

    def _note_shut(self) -> None:
        shut = {key: one.kind for key, one in self._patterns.items() if one.kind}
        self._wide = any(level in {FOLDER, SHAPE} for level, _ in shut)
        self._shut_heads = frozenset(_head(text) for level, text in shut if level == FOLDER) - {""}
        if self._wide:  # a trap may have the shape of honest pages
            shut |= {key: "" for key, one in self._patterns.items() if key[0] < SHAPE and one.is_fruitful}
        self.shut = shut

    def _relieve(self, one: Pattern) -> None:
        """Something came of a page of a pattern: at the first time it is told apart from wider ones that are shut."""
        first = not one.brought
        one.relieve()
        if first and self._wide:
            self._note_shut()


def _head(folder: str) -> str:
    """The folder that a pattern lies in by its name; empty when it has none."""
    head, slash, _ = folder[1:].partition("/")
    return head if slash and head != "*" else ""


def _by_its_pages(one: Pattern) -> str:
    """What kind of trap the pages say it is."""
    if one.missing * 2 > one.barren:
        return SOFT_404
    return LOOK_ALIKE if one.alike * 2 > one.barren else NOTHING


def _reason(one: Pattern) -> str:
    """Why a pattern is shut."""
    if one.level == HOST:
        return f"{one.pages} pages, of which none said when or by whom it was written"
    since = f" since the last of {one.brought} articles" if one.brought else ""
    return f"{one.barren:.0f} pages in a row brought no article{since}, and named {one.grown} more URLs like them"
