"""Streams of texts that share a frame and tell different stories, with true copies among them.

    uv run python -m tests.benchmarks.frames [zh en] [--seeds 3] [--fitted] [--worst 5]
    uv run python -m tests.benchmarks.frames --folds       fit constants on one half of the labelled, measure the other

Programme pages, show notes, receptions, ceremonies, bulletins and notices of many sources, in Chinese and English: a
frame of the source, and slots filled with names, numbers, and headlines and sentences of the labelled articles (see
`labelled`). Some of them have copies: with another headline and lines of a site, cut, with a new lead, with changed
characters, or two of these. Texts come in no order, a fifth of them are articles without a frame.

A pair of stories of one frame that is called a duplicate is false. "At once" counts pairs as they are named when the
later text comes, "in the end" without those that are taken back. One half of the kinds of frames is for fitting
(--fitted), the other for measuring; each half has its own articles.

--folds deals the labelled near-duplicates in two: Chinese ones by their source, English ones, nine tenths of which are
of one source, by story. Of the constants that lose on one half at most a thousandth of recall and a hundredth of the
weakest edit, those are taken that leave the fewest false pairs in the streams of fitted kinds; the row of the other
half, and of the streams of measured kinds, is what they are worth.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from db.records.evidence import REPEATING
from pipelines.dedup import THRESHOLD
from pipelines.dedup.boilerplate import AS_FITTED, FrameParams
from pipelines.dedup.combined import Params
from pipelines.dedup.combined import method as combined
from pipelines.dedup.stream import Finder

from .commands import new_parser
from .data import require_data
from .labelled import FOLDER, Labels, Score, find_pairs, load, score

_SOURCES, _STORIES = 6, (2, 12)
_COPIED = 0.4
_ARTICLES = 0.2

_AS_COMPARED: Final = Params()

Paragraphs = list[str]

_FRAMES: Final = json.loads(Path(__file__).with_name("frames.json").read_text("utf-8"))
"""Frames by half, language and kind: paragraphs, of each of which a source has one wording; and words for slots."""


class FramedText(NamedTuple):
    """A text of a stream, with the story that it tells and the frame that it has."""

    title: str
    text: str
    story: int
    frame: str


@dataclass
class _Pool:
    """Headlines and sentences of articles, each taken once, and other words for slots."""

    draw: random.Random
    language: str
    topics: list[str]
    sentences: list[str]

    def word(self, name: str) -> str:  # noqa: PLR0911 - a case for each kind of slot
        """Draw a word for a slot."""
        words = _FRAMES["words"][self.language]
        draw, spaced = self.draw, self.language == "en"
        if name == "topic":
            return self.topics.pop()
        if name == "sentence":
            return self.sentences.pop()
        if name in {"name", "host", "aide"} or (name == "foreign" and spaced):
            if spaced:
                return f"{draw.choice(words['given'].split())} {draw.choice(words['family'].split())}"
            return draw.choice(words["family"]) + "".join(draw.sample(words["given"], draw.choice((1, 2))))
        if name == "n":
            return str(draw.randint(10, 59))
        if name == "low":
            return str(draw.randint(1, 4))
        if name == "many":
            return str(draw.randint(101, 4_999))
        if name == "year":
            return str(draw.randint(2019, 2025))
        if name == "date":
            month, day = draw.randint(1, 12), draw.randint(1, 28)
            return f"{day}/{month}/{draw.randint(2015, 2025)}" if spaced else f"{month}月{day}日"
        return draw.choice(words[name].split()).replace("-", " ")


_OF_SOURCE = {"site", "show", "host"}
_REPEATED = {"place", "country", "foreign"}  # the same wherever it stands in a text


def _story(pool: _Pool, wording: Sequence[str], fixed: Mapping[str, str]) -> tuple[str, Paragraphs]:
    """Fill the slots of a source's wording."""
    same = dict(fixed)

    def value(name: str) -> str:
        if name in same:
            return same[name]
        found = pool.word(name)
        if name in _REPEATED:
            same[name] = found
        return found

    paragraphs = []
    for paragraph in wording:
        parts = paragraph.replace("}", "{").split("{")
        parts[1::2] = map(value, parts[1::2])
        paragraphs.append("".join(parts))
    return pool.word("topic"), paragraphs


def _copy(pool: _Pool, title: str, paragraphs: Sequence[str]) -> tuple[str, Paragraphs]:
    """Make an edited copy of a text, with one or two edits."""
    draw, copied = pool.draw, list(paragraphs)
    for edit in draw.sample(("reprint", "cut", "lead", "characters"), draw.choice((1, 1, 2))):
        if edit == "reprint":
            title = pool.word("topic")
            copied = [pool.word("topic"), *copied, pool.word("topic")]
        elif edit == "cut":
            copied[-1] = copied[-1][: len(copied[-1]) // 3]
        elif edit == "lead":
            copied = [pool.word("sentence"), *copied]
        else:
            copied = [_changed(draw, one) for one in copied]
    return title, copied


def _changed(draw: random.Random, text: str) -> str:
    """Change two characters in a hundred."""
    other = "的一是在不了有和人这" if text and text[0] > "\u2fff" else "etaoinshrd"
    return "".join(draw.choice(other) if one.isalpha() and draw.random() < 0.02 else one for one in text)


def stream(language: str, *, fitted: bool, seed: int) -> list[FramedText]:
    """Make a stream."""
    draw = random.Random(f"{language} {fitted} {seed}")
    originals = [one for one in load(language).documents.values() if one["edit"] == "orig" and one["title"]]
    articles = [one for one in originals if (int(one["cluster"][1:]) % 2 == 0) == fitted]
    draw.shuffle(articles)
    stop = "。" if language == "zh" else ". "
    sentences = [
        sentence.strip() + stop.strip()
        for one in articles
        for sentence in one["text"].replace("\n", " ").split(stop)
        if 25 <= len(sentence) * (1 if language == "zh" else 0.4) <= 80
    ]
    draw.shuffle(sentences)
    pool = _Pool(draw, language, sorted({one["title"] for one in articles}), sentences)
    found: list[FramedText] = []
    story = 0
    for kind, frame in _FRAMES["fitted" if fitted else "measured"][language].items():
        for source in range(_SOURCES):
            name = f"{pool.word('place')}{'广播' if language == 'zh' else ' Radio'}"
            fixed = {"site": name, "show": pool.word("show"), "host": pool.word("name")}
            wording = [draw.choice(paragraph) for paragraph in frame]
            for _ in range(draw.randint(*_STORIES)):
                title, paragraphs = _story(pool, wording, fixed)
                story += 1
                found.append(FramedText(title, "\n".join(paragraphs), story, f"{kind} {source}"))
                if draw.random() < _COPIED:
                    title, paragraphs = _copy(pool, title, paragraphs)
                    found.append(FramedText(title, "\n".join(paragraphs), story, f"{kind} {source}"))
    for number, one in enumerate(articles[: int(len(found) * _ARTICLES)]):
        found.append(FramedText(one["title"], one["text"], -number, ""))
    draw.shuffle(found)
    return found


@dataclass
class Found:
    """Counts of pairs by kind of frame: false and true, at once and in the end."""

    documents: Counter[str]
    copies: Counter[str]
    false_at_once: Counter[str]
    false: Counter[str]
    hits_at_once: Counter[str]
    hits: Counter[str]

    @classmethod
    def nothing(cls) -> Found:
        """Count from zero."""
        return cls(*(Counter() for _ in range(6)))


def measure(
    texts: Sequence[FramedText], found: Found, params: FrameParams = AS_FITTED, verify: Params = _AS_COMPARED
) -> Iterator[tuple[float, FramedText, FramedText, bool]]:
    """Stream the texts and count.

    Yields: pairs that are wrong in the end: their similarity, both, and whether they are a false one.
    """
    finder = Finder(combined(verify), THRESHOLD, [], frames=params)
    kind_of: Callable[[FramedText], str] = lambda one: one.frame.split(" ")[0]  # noqa: E731 - short
    named = []
    stories: Counter[int] = Counter()
    for number, one in enumerate(texts):
        kind = kind_of(one)
        found.documents[kind] += 1
        found.copies[kind] += stories[one.story]
        stories[one.story] += 1
        named += [(number, pair) for pair in finder.add(number, one.title, one.text) if pair.kind in REPEATING]
    seen = set()
    for number, pair in named:
        early, late = texts[pair.earlier], texts[number]
        is_true, revoked, kind = early.story == late.story, pair.link in finder.revoked, kind_of(late)
        (found.hits_at_once if is_true else found.false_at_once)[kind] += 1
        if not revoked:
            (found.hits if is_true else found.false)[kind] += 1
            seen.add((pair.earlier, number))
            if not is_true:
                yield pair.similarity, early, late, True
    first: dict[int, int] = {}
    for number, one in enumerate(texts):
        early_number = first.setdefault(one.story, number)
        if early_number != number and (early_number, number) not in seen:
            yield 0.0, texts[early_number], one, False


def _row(name: str, kinds: Sequence[str], found: Found) -> str:
    documents, copies = (sum(of[kind] for kind in kinds) for of in (found.documents, found.copies))
    false = [1e3 * sum(of[kind] for kind in kinds) / max(1, documents) for of in (found.false_at_once, found.false)]
    hits = [sum(of[kind] for kind in kinds) / max(1, copies) for of in (found.hits_at_once, found.hits)]
    return f"{name:14}{documents:10}{false[0]:10.1f}{false[1]:10.1f}{copies:8}{hits[0]:10.4f}{hits[1]:8.4f}"


def _halves(language: str) -> list[Labels]:
    """Deal labelled documents: no story, and in Chinese no source, is in both."""
    labels = load(language)

    def is_first(document: Mapping[str, Any]) -> bool:
        if document["tmpl"] is not None:
            return bool(document["tmpl"] % 2)
        if language == "zh":
            return bool(document["src"] == "xwlb")
        return min(int(cluster[1:]) for cluster in (document["cluster"], *document["also"])) % 2 == 0

    halves = []
    for half in (True, False):
        documents = {number: one for number, one in labels.documents.items() if is_first(one) is half}
        pairs = {pair: label for pair, label in labels.pairs.items() if documents.keys() >= set(pair)}
        halves.append(Labels(documents, pairs, labels.grey))
    return halves


def _scored(labels: Labels, params: FrameParams, verify: Params) -> Score:
    finder = Finder(combined(verify), THRESHOLD, [], frames=params)
    return score(labels, [(pair.earlier, number) for number, pair in find_pairs(finder, labels.texts())])


def _streamed(language: str, *, fitted: bool, params: FrameParams, verify: Params) -> tuple[float, float]:
    found = Found.nothing()
    for _ in measure(stream(language, fitted=fitted, seed=0), found, params, verify):
        pass
    return 1e3 * found.false.total() / found.documents.total(), found.hits.total() / found.copies.total()


def fold(language: str) -> None:
    """Choose constants on each half, and print what they reach on the other."""
    halves = _halves(language)
    tried = []
    for sure, least_rest, rest_share in product((0.9, 0.96), (0.3, 0.4, 0.5), (0.1, 0.2)):
        params, verify = FrameParams(sure=sure, least_rest=least_rest), Params(rest_share=rest_share)
        scores = [_scored(half, params, verify) for half in halves]
        tried.append(
            (scores, [_streamed(language, fitted=fitted, params=params, verify=verify) for fitted in (True, False)])
        )
        print(
            f"{language} sure {sure} least_rest {least_rest} rest_share {rest_share}: {_told(*tried[-1])}",
            flush=True,
        )
    for half in (0, 1):
        recall = max(scores[half].recall for scores, _ in tried) - 0.001
        weakest = max(scores[half].weakest[1] for scores, _ in tried) - 0.01
        good = [one for one in tried if one[0][half].recall >= recall and one[0][half].weakest[1] >= weakest]
        print(f"{language} chosen on half {half + 1}: {_told(*min(good, key=lambda one: one[1][0][0]))}")


def _told(scores: Sequence[Score], streams: Sequence[tuple[float, float]]) -> str:
    told = [
        f"half {half} P {one.precision:.4f} R {one.recall:.4f} {one.weakest[0]} {one.weakest[1]:.3f}"
        for half, one in enumerate(scores, 1)
    ]
    told += [
        f"{name} {false:.1f} false, R {recall:.3f}"
        for name, (false, recall) in zip(("fitted", "measured"), streams, strict=True)
    ]
    return "; ".join(told)


def main() -> int:
    """Measure the streams of all seeds."""
    options = new_parser(__doc__)
    options.add_argument("languages", nargs="*", default=["zh", "en"])
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--fitted", action="store_true", help="the kinds of frames that constants may be fitted to")
    options.add_argument("--folds", action="store_true", help="fit on one half of the labelled, measure the other")
    options.add_argument("--worst", type=int, default=0, help="print so many wrong pairs of each language")
    chosen = options.parse_args()
    require_data(*(FOLDER / language for language in chosen.languages))
    if chosen.folds:
        for language in chosen.languages:
            fold(language)
        return 0
    for language in chosen.languages:
        found = Found.nothing()
        wrong = [
            one
            for seed in range(chosen.seeds)
            for one in measure(stream(language, fitted=chosen.fitted, seed=seed), found)
        ]
        head = "false pairs per 1,000    copies   recall"
        print(f"{language:14}{'documents':>10}  {head}\n{'':26}at once in the end       at once in the end")
        for kind in found.documents:
            print(_row(kind or "articles", [kind], found))
        print(_row("all", list(found.documents), found))
        random.Random(0).shuffle(wrong)
        for similarity, early, late, is_false in wrong[: chosen.worst]:
            print(
                f"--- {'false' if is_false else 'missed'} {similarity:.2f} {early.frame}\n{early.text}\n-\n{late.text}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
