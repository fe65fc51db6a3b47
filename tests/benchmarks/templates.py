"""Short stories of one template that differ in their facts, stories of stock phrases, and edited copies of both.

    uv run python -m tests.benchmarks.templates [zh en ...] [--seeds 5] [--fitted] [--worst 5]

Obituaries, closes, matches, weather, lotteries, courts, accidents and results in eight languages (`templates.json`):
the slots of a template are filled by lot, the rest is equal in all its stories. Texts of a pool are put together from
phrases of it, and no sentence of a pool comes twice. A pair of two stories is false. Some stories have a copy: with a
number corrected, a toll raised and a sentence more, a name spelled otherwise, lines of a site around it, another
headline, without its end, or with slips of the pen; a copy that is not found is missed.

One half of the templates and pools is for fitting (--fitted), the other for measuring.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from pipelines.dedup import THRESHOLD, Method, method
from pipelines.dedup.stream import Finder

from .commands import new_parser
from .labelled import find_pairs

_DATA: Final = json.loads(Path(__file__).with_name("templates.json").read_text("utf-8"))
LANGUAGES: Final = tuple(_DATA["templates"])
_UNSPACED: Final = {"zh", "ja"}
_COPIED = 0.6
_POOLED = 12  # texts of one pool
_NUMBER: Final = re.compile(r"[0-9]+")
_SLOT: Final = re.compile(r"\{([^{}]+)\}")


class Story(NamedTuple):
    """A text, the number of the story that it tells, its template or pool, and how it was edited."""

    title: str
    text: str
    story: int
    kind: str
    edit: str = ""
    names: Sequence[str] = ()


class _Slots:
    """Values of the slots of one story: a label or a name has one value in it."""

    def __init__(self, draw: random.Random, words: Mapping[str, str], language: str) -> None:
        self._draw = draw
        self._words = words
        self._between = "" if language in _UNSPACED else " "
        self._values: dict[str, Sequence[str]] = {}
        self.names: list[str] = []

    def fill(self, text: str) -> str:
        """Fill the slots of a piece of a template."""
        return _SLOT.sub(self._value, text)

    def _value(self, slot: re.Match[str]) -> str:
        label, _, choice = slot[1].rpartition(":")
        if not label and (choice[0].isdigit() or "|" in choice):
            return self._drawn(choice)
        label, _, part = (label or choice).partition(".")
        if label not in self._values:
            self._values[label] = self._named(label) if label == choice.partition(".")[0] else [self._drawn(choice)]
        value = self._values[label]
        return value[int(part)] if part else self._between.join(value)

    def _named(self, label: str) -> Sequence[str]:
        kind = label.rstrip("0123456789")
        if kind != "name":
            others = {value[0] for name, value in self._values.items() if name.rstrip("0123456789") == kind}
            words = [word.replace("-", " ") for word in self._words[kind].split()]
            return [self._draw.choice([word for word in words if word not in others])]
        parts = "given family" if self._between else "family given"
        found = [self._draw.choice(self._words[part].split()) for part in parts.split()]
        self.names.append(self._between.join(found))
        return found

    def _drawn(self, choice: str) -> str:
        if "|" in choice:
            return self._draw.choice(choice.split("|"))
        least, most = map(int, choice.split("-"))
        return str(self._draw.randint(least, most))


EDITS: Final = ("number", "toll", "name", "lines", "headline", "cut", "slips")


def copied(draw: random.Random, language: str, one: Story, edit: str) -> Story | None:
    """Edit a copy of a story; None when it has nothing to be edited in that way."""
    title, text = one.title, one.text
    if edit in {"number", "toll"}:
        numbers = sorted(set(_NUMBER.findall(text)))
        if not numbers:
            return None
        number = draw.choice(numbers)
        other = str(int(number) + draw.choice((1, 2, 3, 7)))
        title, text = (re.sub(rf"(?<![0-9]){number}(?![0-9])", other, part) for part in (title, text))
        if edit == "toll":
            text += ("" if language in _UNSPACED else " ") + _DATA["lines"][language][2]
    elif edit == "name":
        if not one.names:
            return None
        name = draw.choice(one.names)
        place = draw.randrange(len(name) - 2, len(name))
        for old in {name, *name.split()}:
            new = old[:-1] + ("峰" if language == "zh" else "美" if language == "ja" else old[-2] + old[-1])
            if old.endswith(name[place:]) or old in name.split()[-1:]:
                title, text = title.replace(old, new), text.replace(old, new)
                break
    elif edit == "lines":
        text = f"{_DATA['lines'][language][0]}\n{text}\n{_DATA['lines'][language][1]}"
    elif edit == "headline":
        title = _DATA["headlines"][language]
    elif edit == "cut":
        text = text[: int(len(text) * 0.8)]
    else:
        letters = [place for place, sign in enumerate(text[:-4]) if sign.isalpha()]
        for place in draw.sample(letters, 3):
            text = f"{text[:place]}{text[place + 1] if draw.random() < 0.5 else ''}{text[place + 1 :]}"
    return one._replace(title=title, text=text, edit=edit)


def _of_templates(draw: random.Random, language: str, half: str, stories: int) -> Iterator[list[Story]]:
    templates = _DATA["templates"][language]
    between = "" if language in _UNSPACED else " "
    for kind, (titles, sentences) in templates[half].items():
        joint = draw.choice((between, between, "\n"))
        found = []
        for number in range(stories):
            slots = _Slots(draw, templates["words"], language)
            title = slots.fill(titles[0])
            text = joint.join(map(slots.fill, sentences))
            found.append(Story(title, text, number, f"{language} {kind}", "", slots.names))
        yield found


def _of_pools(draw: random.Random, language: str, half: str) -> Iterator[list[Story]]:
    pool = _DATA["pools"].get(language, {}).get(half)
    if pool is None:
        return
    told: set[str] = set()
    between = "" if language in _UNSPACED else " "

    def sentence() -> str:
        while True:
            who, says, that, then = (draw.choice(pool[part].split("|")) for part in "svct")
            if (told_that := f"{who}{between}{says}{between}{that}") not in told:
                told.add(told_that)
                return told_that + then + pool["e"]

    found = []
    for number in range(_POOLED):
        lines = [between.join(sentence() for _ in range(2)) for _ in range(draw.choice((3, 4, 5)))]
        found.append(Story(lines[0][:40], "\n".join(lines), number, f"{language} phrases"))
    yield found


def stream(language: str, *, fitted: bool, seed: int, stories: int) -> list[Story]:
    """Make a stream: stories of each template and pool, some with a copy, in no order."""
    draw = random.Random(f"{language} {fitted} {seed} {stories}")
    half = "fitted" if fitted else "measured"
    found: list[Story] = []
    count = 0
    for group in (*_of_templates(draw, language, half, stories), *_of_pools(draw, language, half)):
        for one in group:
            count += 1
            found.append(one._replace(story=count))
            if draw.random() < _COPIED:
                copy = copied(draw, language, found[-1], draw.choice(EDITS))
                found += [copy] if copy else []
    draw.shuffle(found)
    return found


class Found(NamedTuple):
    """Counts by kind of story: texts, false pairs; and by kind of edit: copies, those found."""

    texts: Counter[str]
    false: Counter[str]
    copies: Counter[str]
    hits: Counter[str]


def measure(texts: Sequence[Story], found: Found, chosen: Method) -> Iterator[tuple[str, Story, Story]]:
    """Stream the texts and count.

    Yields: pairs that are wrong: "false" or "missed", and both.
    """
    finder = Finder(chosen, THRESHOLD, [])
    found.texts.update(one.kind for one in texts)
    repeated = set()
    for number, pair in find_pairs(finder, ((place, one.title, one.text) for place, one in enumerate(texts))):
        early, late = texts[pair.earlier], texts[number]
        if early.story == late.story:
            repeated.add(early.story)
        else:
            found.false[late.kind] += 1
            yield "false", early, late
    originals = {one.story: one for one in texts if not one.edit}
    for one in texts:
        if one.edit:
            found.copies[one.edit] += 1
            found.hits[one.edit] += one.story in repeated
            if one.story not in repeated:
                yield f"missed, {one.edit},", originals[one.story], one


def run(languages: Iterable[str], *, fitted: bool, seeds: int, chosen: Method) -> tuple[Found, list[Any]]:
    """Measure streams of two, three and eight stories of each template."""
    found = Found(Counter(), Counter(), Counter(), Counter())
    wrong = [
        one
        for language in languages
        for seed in range(seeds)
        for stories in (2, 3, 8)
        for one in measure(stream(language, fitted=fitted, seed=seed, stories=stories), found, chosen)
    ]
    return found, wrong


def main() -> int:
    """Print false pairs by kind of story, and copies found by kind of edit."""
    options = new_parser(__doc__)
    options.add_argument("languages", nargs="*", default=LANGUAGES)
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--fitted", action="store_true", help="the half that constants may be fitted to")
    options.add_argument("--worst", type=int, default=0, help="print so many wrong pairs")
    options.add_argument("--kinds", action="store_true", help="false pairs of each template, not of each language")
    given = options.parse_args()
    found, wrong = run(given.languages, fitted=given.fitted, seeds=given.seeds, chosen=method())
    rows: dict[str, list[int]] = {}
    for kind, many in found.texts.items():
        row = rows.setdefault(kind if given.kinds else kind[:2] + " phrases" * kind.endswith("phrases"), [0, 0])
        row[0] += many
        row[1] += found.false[kind]
    print(f"{'':20}{'texts':>8}{'false pairs':>13}")
    for kind, (many, false) in sorted(rows.items()):
        print(f"{kind:20}{many:8}{false:13}")
    print(f"{'all':20}{found.texts.total():8}{found.false.total():13}\n{'':20}{'copies':>8}{'recall':>13}")
    for edit in EDITS:
        print(f"{edit:20}{found.copies[edit]:8}{found.hits[edit] / max(1, found.copies[edit]):13.3f}")
    print(f"{'all':20}{found.copies.total():8}{found.hits.total() / max(1, found.copies.total()):13.3f}")
    random.Random(0).shuffle(wrong)
    for how, early, late in wrong[: given.worst]:
        print(f"--- {how} {late.kind}\n{early.title}\n{early.text}\n-\n{late.title}\n{late.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
