"""What a site's memory holds: bounded, fading, the same after packing, and never more for an article seen twice."""

from __future__ import annotations

import pickle
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.extract.simpletree import MAX_CHILDREN, MAX_STEPS, similarity
from pipelines.records import PageSample
from pipelines.site_memory.knowledge import (
    MAX_PATHS,
    MAX_STORIES,
    MAX_TEMPLATES,
    MAX_TERMS,
    MAX_TEXTS,
    NOTHING,
    SiteModel,
    learn,
    learn_batch,
    pack,
    template_of,
    unpack,
)
from tests.table import each_row

WORDS = st.integers(0, 2**32 - 1)
KEYS = st.integers(-(2**63), 2**63 - 1)
OBSERVATIONS = st.builds(
    PageSample,
    article=KEYS,
    texts=st.lists(KEYS, max_size=60).map(tuple),
    tree=st.lists(WORDS, max_size=MAX_CHILDREN, unique=True).map(tuple),
    path=st.lists(WORDS, max_size=MAX_STEPS).map(tuple),
    stories=st.lists(KEYS, max_size=20).map(tuple),
    terms=st.none() | st.dictionaries(WORDS, st.integers(1, 1000), max_size=60),
)


def page(article: int, *texts: int, tree: tuple[int, ...] = (1, 2, 3), path: tuple[int, ...] = (7, 8)) -> PageSample:
    return PageSample(article, texts, tree, path)


def counts(knowledge: SiteModel) -> list[float]:
    """All counts."""
    templates = knowledge.templates
    paths = [count for template in templates for count in template.paths.values()]
    named = [*knowledge.stories.values(), *(spread.total for spread in knowledge.terms.terms.values())]
    return [knowledge.pages, *knowledge.texts.values(), *(template.pages for template in templates), *paths, *named]


def equal(one: SiteModel, other: SiteModel) -> bool:
    """Whether the same is known, with counts as exact as they are packed."""
    first, second = (
        (k.seen, list(k.texts), k.articles, [(t.tree, list(t.paths)) for t in k.templates], list(k.stories))
        for k in (one, other)
    )
    same_terms = list(one.terms.terms) == list(other.terms.terms)
    return first == second and same_terms and counts(one) == pytest.approx(counts(other), rel=1e-5)


def test_shares_of_a_small_site() -> None:
    known = learn_batch(NOTHING, [page(1, 10, 11), page(2, 10, 12), page(3, 10, 13)])
    assert known.seen == 3
    assert known.texts[10] == pytest.approx(known.pages)
    assert known.texts[11] < known.texts[12] < known.texts[13] == 1.0
    (template,) = known.templates
    assert template.paths == {(7, 8): pytest.approx(template.pages)}


def test_article_at_two_addresses_counts_once() -> None:
    once = learn(NOTHING, page(1, 10))
    assert learn(once, page(1, 10, 99)) is once


def test_text_twice_on_a_page_counts_once() -> None:
    assert learn(NOTHING, page(1, 10, 10)).texts == {10: 1.0}


def test_pages_unlike_each_other_are_of_two_templates() -> None:
    known = learn_batch(NOTHING, [page(1, tree=(1, 2, 3)), page(2, tree=(4, 5, 6)), page(3, tree=(1, 2, 3))])
    assert [template.tree for template in known.templates] == [(1, 2, 3), (4, 5, 6)]
    assert template_of(known.templates, (4, 5, 6, 7)) is known.templates[1]
    assert template_of(known.templates, (1, 5, 9)) is None


def test_new_place_of_the_body_takes_over() -> None:
    """The site moves its text but keeps the rest of its template."""
    known = learn_batch(NOTHING, [page(n, path=(1,)) for n in range(60)])
    before = known.templates[0]
    assert before.paths[(1,)] == pytest.approx(before.pages)
    known = learn_batch(known, [page(n, path=(2,)) for n in range(100, 180)])
    after = known.templates[0]
    assert after.paths[(2,)] > 3 * after.paths[(1,)]


def test_repeated_texts_are_kept_among_others() -> None:
    """Every page brings a hundred texts of its own; the ones of the site must not be driven out."""
    known = NOTHING
    for n in range(200):
        known = learn(known, page(n, 1, 2, 3, *range(1000 + 100 * n, 1100 + 100 * n)))
    assert len(known.texts) == MAX_TEXTS
    assert all(known.texts[key] == pytest.approx(known.pages) for key in (1, 2, 3))


@given(st.lists(OBSERVATIONS, max_size=12))
def test_bounds(samples: list[PageSample]) -> None:
    known = learn_batch(NOTHING, samples)
    assert known.seen <= len(samples)
    assert len(known.texts) <= MAX_TEXTS
    assert len(known.templates) <= MAX_TEMPLATES
    assert all(len(template.paths) <= MAX_PATHS for template in known.templates)
    assert all(0 < count <= known.pages + 1e-9 for count in known.texts.values())
    assert all(count <= t.pages + 1e-9 for t in known.templates for count in t.paths.values())
    assert len(known.stories) <= MAX_STORIES
    assert len(known.terms.terms) <= MAX_TERMS
    assert len(pack(known)) < 21_000
    assert pickle.loads(pickle.dumps(known)) == known


@given(st.lists(OBSERVATIONS, max_size=8))
def test_packing_loses_nothing_that_counts(samples: list[PageSample]) -> None:
    known = learn_batch(NOTHING, samples)
    again = unpack(pack(known))
    assert equal(again, known)
    assert pack(again) == pack(known)


def test_learning_in_parts_is_learning_at_once() -> None:
    """A restart between two pages changes nothing (but for the precision of counts)."""
    pages = [page(n, 1, n, n + 1) for n in range(30)]
    at_once = learn_batch(NOTHING, pages)
    in_parts = learn_batch(unpack(pack(learn_batch(NOTHING, pages[:11]))), pages[11:])
    assert equal(in_parts, at_once)


def test_model_of_an_earlier_version_is_read() -> None:
    """It ended with the templates: what follows is two counts, here of nothing, and the spread of no page."""
    known = learn_batch(NOTHING, [page(n, 1, n) for n in range(5)])
    assert equal(unpack(pack(known)[: -struct.calcsize("<HH2f")]), known)


@each_row("data", [b"", b"\0", b"\1", b"\xff" * 40, pack(learn(NOTHING, page(1, 2, 3)))[:-3]])
def test_damaged_bytes_are_no_knowledge(data: bytes) -> None:
    assert unpack(data) == NOTHING


@given(st.lists(WORDS, unique=True), st.lists(WORDS, unique=True))
def test_similarity_is_symmetric(one: list[int], other: list[int]) -> None:
    first, second = tuple(one), tuple(other)
    assert similarity(first, second) == similarity(second, first)
    assert 0.0 <= similarity(first, second) <= 1.0
    assert similarity(first, first) == 1.0
