"""As in the paper: liked pages are learnt from, others are told apart, and weights help."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pipelines.document.document import parse
from pipelines.document.tokens import cosine
from pipelines.focus.profile import LikedArticle, load, of_readers, reasons, weigh_page
from pipelines.models.files import dumps
from pipelines.records import Extraction
from pipelines.text.words import words
from pipelines.training.profile import TERMS, learn
from tests.table import each_row

LIKED = ("桥梁 大桥 施工 桥墩 工程师 通车", "bridge river steel engineer span harbour")
OTHERS = (
    ("蔬菜 价格 市场 农民 批发", "market price vegetable farmer"),
    ("球队 比赛 冠军 教练", "match champion coach league"),
)
NOISE = ("城市", "居民", "报道", "活动", "服务", "people", "city", "report", "service", "street", "number", "office")


def page(rng: np.random.Generator, subject: str, other: str) -> str:
    """A page on a subject, which its title and headings say; its text has as many words of other subjects."""
    own, foreign = subject.split(), other.split()
    title, heading, strong = (" ".join(rng.choice(own, 2)) for _ in range(3))
    text = " ".join(rng.permutation([*rng.choice(own, 8), *rng.choice(foreign, 8), *rng.choice(NOISE, 60)]))
    return f"<title>{title}</title><body><h1>{heading}</h1><p>{text} <strong>{strong}</strong></p>"


def plain(html: str) -> Counter[str]:
    return Counter(words(" ".join(parse(html.encode(), "http://a.test/x").blocks.texts)))


def weighted(html: str) -> dict[str, float]:
    return dict(weigh_page(parse(html.encode(), "http://a.test/x"), Extraction()))


@each_row("language", [0, 1])
def test_liked_pages_are_told_from_others_and_weights_help(language: int) -> None:
    rng = np.random.default_rng(7)
    subjects = [other[language] for other in OTHERS]
    liked = [page(rng, LIKED[language], rng.choice(subjects)) for _ in range(150)]
    others = [page(rng, rng.choice(subjects), LIKED[language]) for _ in range(50)]
    precision = {}
    for name, read in (("weighted", weighted), ("plain", plain)):
        profile = learn([read(html) for html in liked[:100]])
        assert len(profile) <= TERMS
        scores = [cosine(Counter(profile), Counter(read(html))) for html in liked[100:] + others]
        best = np.argsort(scores)[-50:]
        precision[name] = float(np.mean(best < 50))
    assert precision["weighted"] > precision["plain"]
    assert precision["weighted"] >= 0.9


def test_heaviest_terms_make_the_profile() -> None:
    assert learn([{"bridge": 4.0, "river": 3.0}, {"bridge": 1.0}], terms=1) == {"bridge": 1.0}


def test_pages_of_any_length_count_the_same() -> None:
    assert learn([{"a": 1000.0}, {"b": 1.0}]) == {"a": 1.0, "b": 1.0}


READ = [
    LikedArticle("bridge", "river", 0.3),
    LikedArticle("ferry", "river", 0.1),
    LikedArticle("market", "vegetables", -0.2),
]


def test_profile_of_readers_by_hand() -> None:
    """A word of a title counts 5, of a text 1, and the first words of a page 3 and 3 / 2 ^ (1/20) more.

    So a page has (8, 3.897891), of length 8.899024. Bridge has .3 x 8, river .4 x 3.897891, ferry .1 x 8 over it; what
    readers left counts nothing. Divided by the heaviest that is 1, .6496 and .3333.
    """
    assert of_readers(READ) == pytest.approx({"bridge": 1.0, "river": 0.6496, "ferry": 0.3333}, abs=1e-4)
    assert of_readers(READ[2:]) == of_readers([]) == {}


def test_articles_that_brought_words_are_the_reasons() -> None:
    found = reasons(READ, "A ferry on the river, past the market")
    assert found == [("bridge", ["river"]), ("ferry", ["ferry", "river"])]
    assert reasons(READ, "Snow") == []


@each_row("pages", [[], [{}], [{}, {}]])
def test_no_words_is_an_error(pages: list[dict[str, float]]) -> None:
    with pytest.raises(ValueError, match="no words"):
        learn(pages)


def test_terms_must_be_positive() -> None:
    with pytest.raises(ValueError, match="terms is 0"):
        learn([{"a": 1.0}], 0)


def test_file_holds_what_was_learnt(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_text(
        dumps("profile", {"桥梁": 1.0, "river": 0.5}, "scrapy train profile x", {"pages": 1}), encoding="utf-8"
    )
    assert load(path) == {"桥梁": 1.0, "river": 0.5}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"kind": "profile", "version": 9, "model": {"a": 1}}',
        '{"format": 1, "model": {"a": 1}}',
        '{"kind": "profile", "version": 2, "model": {}}',
        '{"kind": "profile", "version": 2, "model": {"a": -1}}',
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "profile.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"profile\.json cannot be used .*scrapy train profile"):
        load(path)
    with pytest.raises(ValueError, match="cannot be used"):
        load(tmp_path / "none.json")
