"""Learning of kinds from made-up pages."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from pipelines.document.document import Document
from pipelines.extract import extractor
from pipelines.page_kind.model import KindModel
from pipelines.page_kind.words import Words
from pipelines.records import Extraction, PageKind
from pipelines.training.page_kind import KindExample, Params, deal, learn
from pipelines.training.page_kind_examples import KnownPage, examples, kind_of, site_of
from tests.table import each_row

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SMALL = Params(hidden=8, networks=2, epochs=60, site_hosts=2, text_hosts=2)


def made(number: int, kind: PageKind) -> KindExample:
    """A page that shows its kind by one feature and by one word; another of each is noise."""
    rng = np.random.default_rng(number)
    values = {"prose": float(kind is PageKind.ARTICLE) + rng.normal(0, 0.2), "noise": rng.normal()}
    word = {PageKind.FORM: "b:submit", PageKind.LIST: "c:card"}.get(kind, "c:story")
    return KindExample(
        kind,
        f"site{number % 40}",
        values,
        Words(frozenset({word, f"t:{rng.integers(50)}"}), frozenset({"said"})),
        ({},),
    )


def many() -> list[KindExample]:
    kinds = (PageKind.ARTICLE, PageKind.ARTICLE, PageKind.FORM, PageKind.LIST)
    return [made(number, kinds[number % 4]) for number in range(400)]


def test_learned_model_tells_kinds_apart_and_survives_its_file() -> None:
    pytest.importorskip("sklearn")
    model, figures = learn(many(), 1, SMALL)
    assert figures["others_kept"] < 0.02
    assert figures["calibration_error"] < 0.05
    again = KindModel.of(model.model())
    for kind in (PageKind.ARTICLE, PageKind.FORM, PageKind.LIST):
        page = made(1234, kind)
        chances = again.predict(page.values, page.words, {})
        assert again.kinds[int(chances.argmax())] is kind
        assert chances.sum() == pytest.approx(1)
        assert chances == pytest.approx(model.predict(page.values, page.words, {}), abs=0.01)


def test_refused_articles_cost_more() -> None:
    pytest.importorskip("sklearn")
    threshold = {cost: learn(many(), 1, replace(SMALL, cost=cost))[0].threshold for cost in (1.0, 10.0)}
    assert threshold == {1.0: 0.5, 10.0: pytest.approx(1 / 11)}


def test_text_in_data_is_learned_from_in_its_place() -> None:
    line = "The council voted seven to two on Tuesday to repair the old ferry, said its harbour master. " * 3
    state = json.dumps({"title": "Council votes for the old ferry", "published": "2026-05-12", "content": line})
    body = f"<title>Council votes for the old ferry</title><p>Wenlow Post</p><script>window.s={state}</script>"

    def read(document: Document) -> Extraction:
        return extractor("rules")(document)

    for kind, at in ((PageKind.ARTICLE, 0), (PageKind.THREAD, 1)):
        row = {"id": "a", "page_type": {PageKind.ARTICLE: "article", PageKind.THREAD: "forum"}[kind]}
        found = list(examples(KnownPage.of(body.encode(), row), read, NOW))
        assert [one.kind for one in found] == [kind] * (2 + at)
        assert "council" in found[at].words.text


def test_learning_needs_articles_and_others() -> None:
    pytest.importorskip("sklearn")
    with pytest.raises(ValueError, match="one kind"):
        learn([made(number, PageKind.FORM) for number in range(50)], 1, SMALL)


def test_deal_keeps_a_site_together() -> None:
    sites = np.arange(300) % 60
    folds = deal(sites, 4, 1)
    assert all(len(set(folds[sites == site])) == 1 for site in range(60))
    assert set(folds) == {0, 1, 2, 3}


@each_row(
    ("row", "kind"),
    [
        ({"subtype": "login", "page_type": "other"}, PageKind.FORM),
        ({"subtype": "home", "page_type": "list"}, PageKind.LIST),
        ({"page_type": "service", "kind": "not_article"}, PageKind.COMPANY),
        ({"page_type": "documentation"}, None),
        ({"subtype": "recipe", "page_type": "other"}, None),
        ({"kind": "article"}, PageKind.ARTICLE),
        ({"subtype": "answer", "page_type": "qa", "kind": "article"}, PageKind.ARTICLE),
        ({"subtype": "question", "page_type": "qa", "kind": "not_article"}, PageKind.THREAD),
        ({"subtype": "posts of a user", "page_type": "profile"}, PageKind.LIST),
        ({"subtype": "captcha", "page_type": "other"}, PageKind.OTHER),
        ({"subtype": "product", "page_type": "home"}, PageKind.LIST),
        ({"subtype": "documentation", "page_type": "other"}, None),
        ({}, None),
    ],
)
def test_kind_of_a_row(row: dict[str, str], kind: PageKind | None) -> None:
    assert kind_of(row) is kind


def test_examples_are_a_page_and_its_text_alone() -> None:
    row = {"id": "a", "subtype": "list", "url": "https://www.shop.example.co.uk/news/"}

    def read(document: Document) -> Extraction:
        return extractor("rules")(document)

    text = "".join(f"<p>All that is new on day {day}, from the harbour to the hills.</p>" for day in range(9))
    body = f"<h1>News</h1><nav class=menu><a href=/a>Home</a></nav>{text}"
    whole, bare = examples(KnownPage.of(body.encode(), row), read, NOW)
    assert (whole.kind, whole.site, len(whole.addresses)) == (PageKind.LIST, "example.co.uk", 2)
    assert (bare.kind, bare.site, bare.addresses) == (PageKind.LIST, "example.co.uk", ())
    assert "c:menu" in whole.words.site - bare.words.site
    assert site_of({"id": "b"}) == "b"
    assert len({site_of({"host": "posts.example", "account": name}) for name in ("A", "B", "A", None)}) == 3
    assert not list(examples(KnownPage.of(b"", row), read, NOW))
