from __future__ import annotations

import numpy as np
import pytest

from crawler.rank.priority import PRESETS
from pipelines.focus.focus import PARTS, Focus, Params
from pipelines.focus.terms import read_text
from pipelines.focus.topic import USUAL, Topic, by_classes, make_topic
from tests.table import each_row

OWN = ("bridge", "river", "steel", "span", "pier", "cable", "arch", "engineer")
OTHER = ("rice", "butter", "onion", "garlic", "soup", "oven", "recipe", "cook")
COMMON = ("city", "people", "day", "place", "work", "world", "story", "name")


def text(rng: np.random.Generator, own: bool) -> str:  # noqa: FBT001
    return " ".join(rng.choice(OWN if own else OTHER, 20)) + " " + " ".join(rng.choice(COMMON, 20))


def web(rng: np.random.Generator, pages: int) -> tuple[list[str], list[np.ndarray], np.ndarray]:
    """Pages of two subjects in turn; nine links of ten stay within the subject."""
    subject = np.arange(pages) % 2 == 0
    texts = [text(rng, bool(one)) for one in subject]
    links = []
    for number in range(pages):
        stays = rng.random(8) < 0.9
        wanted = np.where(stays, subject[number], ~subject[number])
        links.append(rng.integers(0, pages // 2, 8) * 2 + ~wanted)
    return texts, links, subject


def crawled(
    pages: int = 300, fetched: int = 80, params: Params | None = None, topic: Topic | None = None
) -> tuple[Focus, np.ndarray]:
    """A focus that has seen the first pages, and the subjects of all; anchors say nothing."""
    rng = np.random.default_rng(5)
    texts, links, subject = web(rng, pages)
    focus = Focus(topic or make_topic("bridges"), params or Params())
    focus.mark_seeds([0])
    for number in range(fetched):
        anchors = [("more", f"http://a.test/{target}") for target in links[number]]
        near = 0.9 if subject[number] else 0.02
        focus.add(number, read_text(texts[number], anchors), links[number].astype(np.int32), relevance=near)
    return focus, subject


def total(focus: Focus, known: int) -> np.ndarray:
    found = focus.signals(known)
    return sum(weight * found[name] for name, weight in PRESETS["focused"].items() if name in found)


def test_pages_of_the_topic_come_first() -> None:
    focus, subject = crawled()
    waiting = np.arange(80, 300)
    best = waiting[np.argsort(-total(focus, 300)[waiting], kind="stable")][:60]
    assert subject[best].mean() > 0.85
    for name in ("profile", "context", "sibling"):
        value = focus.signals(300)[name][waiting]
        assert value[subject[waiting]].mean() > value[~subject[waiting]].mean()


def test_pages_of_the_classes_come_first() -> None:
    focus, subject = crawled(topic=by_classes(("building",)))
    waiting = np.arange(80, 300)
    best = waiting[np.argsort(-total(focus, 300)[waiting], kind="stable")][:60]
    assert subject[best].mean() > 0.85
    numbers, relevance = focus.relevance()
    assert relevance == pytest.approx(np.where(subject[numbers], 0.9, 0.02))
    assert focus.feedback is None


def test_signals_are_shares_for_all_pages() -> None:
    focus, _ = crawled()
    found = focus.signals(500)
    assert set(found) == set(PARTS)
    for values in found.values():
        assert values.dtype == np.float32
        assert values.shape == (500,)
        assert 0 <= values.min() <= values.max() <= 1
        assert values[300:] == pytest.approx(USUAL)


def test_same_pages_give_the_same_signals() -> None:
    first, second = crawled()[0].signals(300), crawled()[0].signals(300)
    assert all(np.array_equal(first[name], second[name]) for name in PARTS)


def test_anchor_that_names_the_topic() -> None:
    focus = Focus(make_topic("bridges"))
    links = [("Old bridge", "http://a.test/1"), ("Soup", "http://a.test/2"), ("Rice", "http://a.test/3")]
    focus.add(0, read_text("city people", links), np.array([1, 2, 3], np.int32))
    found = focus.signals(4)["anchor"]
    assert found[1] > max(found[2], found[3])


def test_links_like_those_that_led_to_nothing_of_use_come_last() -> None:
    found = []
    for wasted in (False, True):
        focus = Focus(make_topic("bridges"))
        for page in range(12):
            links = [("Print", f"http://a.test/print/{page}"), ("More", f"http://a.test/more/{page}")]
            targets = np.array([100 + page, 200 + page], np.int32)
            focus.add(page, read_text("old bridge over the river", links), targets)
        for page in range(10):
            focus.add(100 + page, read_text("old bridge over the river", []), np.zeros(0, np.int32), wasted=wasted)
        found.append(focus.signals(300)["profile"])
    useful, useless = found
    assert useful[[110, 111]] == pytest.approx(useful[[210, 211]])
    assert useless[[110, 111]] == pytest.approx(useful[[110, 111]] * (1 - 10 / 13), abs=1e-5)
    assert useless[[210, 211]] == pytest.approx(useful[[210, 211]])


def test_nothing_known_is_nothing_promised() -> None:
    focus = Focus(make_topic("bridges"))
    assert all(values == pytest.approx(USUAL) for values in focus.signals(3).values())
    focus.add(0, read_text("", []), np.zeros(0, np.int32))
    assert all(values == pytest.approx(USUAL) for values in focus.signals(3).values())


def test_old_pages_are_forgotten_but_not_what_they_promised() -> None:
    focus, _ = crawled(fetched=60, params=Params(pages=60))
    before = focus.signals(301)["profile"]
    only_first = np.setdiff1d(np.arange(300), np.unique(np.concatenate(web(np.random.default_rng(5), 300)[1][15:60])))
    focus.add(300, read_text("bridge", []), np.zeros(0, np.int32))
    assert len(focus) == 45
    after = focus.signals(301)["profile"]
    assert np.array_equal(after[only_first], before[only_first])


def test_links_to_pages_without_number_change_nothing_for_others() -> None:
    focus = Focus(make_topic("bridges"))
    links = [("Old bridge", "http://a.test/1"), ("Soup", "http://a.test/2"), ("Rice", "http://a.test/3")]
    focus.add(0, read_text("city people", links), np.array([1, -1, 2], np.int32))
    found = focus.signals(3)["anchor"]
    assert found.shape == (3,)
    assert found[1] > found[2]
    with pytest.raises(ValueError, match="a target is -2"):
        focus.add(1, read_text("", links[:1]), np.array([-2], np.int32))


def test_one_target_for_each_link() -> None:
    with pytest.raises(ValueError, match="2 targets for 1 links"):
        Focus(make_topic("bridges")).add(0, read_text("x", [("a", "http://a.test/")]), np.zeros(2, np.int32))


@each_row("params", [{"pages": 3}, {"buckets": 1000}, {"buckets": 1}])
def test_params(params: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="it takes"):
        Params(**params)


def test_preset_weighs_every_part_as_it_should() -> None:
    of_topic = {signal: PRESETS["focused"][signal] for signal in PARTS}
    assert of_topic == pytest.approx({signal: sum(parts.values()) for signal, parts in PARTS.items()})
