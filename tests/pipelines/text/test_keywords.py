from __future__ import annotations

import math
import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.models import files
from pipelines.models.arrays import unpack
from pipelines.text.analysis import analyse
from pipelines.text.frequencies import LearnedFrequencies, ShippedFrequencies, shipped
from pipelines.text.keywords import METHODS, bayes, combined, method, network, read, tfidf
from pipelines.text.keywords.candidates import COLUMNS, MOST, KeywordCandidates, find
from pipelines.training.keywords import example, learn
from tests.table import each_row

TITLE = "河口大桥年底通车"
TEXT = (
    "本报讯 河口大桥将在年底通车，两岸居民过江只要五分钟。大桥全长三公里，主跨八百米，由省交通厅投资建设。\n"
    "交通厅负责人说，河口大桥通车后，渡轮仍将保留，轮渡公司的职工不会失业。\n"
    "大桥建设历时四年，施工单位克服了台风和洪水的影响。专家认为，河口大桥的抗风设计达到国际先进水平。"
)
ENGLISH = (
    "The Hekou bridge will open this year, the transport ministry said. The suspension bridge is long. "
    "Ferry workers keep their jobs, and the ferry company will run the river tours. Typhoon damage delayed the "
    "suspension bridge, engineers said. The Hekou bridge cost 2.5 billion."
)
NAMES = sorted(METHODS)


@each_row("name", NAMES)
@each_row(("title", "text", "wanted"), [(TITLE, TEXT, "大桥"), ("Hekou bridge opens", ENGLISH, "bridge")])
def test_methods_find_the_subject(name: str, title: str, text: str, wanted: str) -> None:
    found = method(name)(analyse(title, text), shipped())
    assert any(wanted in term for term, _ in found[:3])
    weights = [weight for _, weight in found]
    assert weights == sorted(weights, reverse=True)
    assert len({term for term, _ in found}) == len(found)


@each_row("name", NAMES)
@each_row("text", ["", "大", "。！", "12 345 6.7 2024", "the of and", "a" * 100_000, "ก" * 3000])
def test_methods_find_nothing_where_nothing_is(name: str, text: str) -> None:
    assert len(method(name)(analyse("", text), shipped())) <= 1


@each_row("name", ["combined", "bayes", "tfidf"])
@each_row("unit", ["中", "河口大桥abc", "word ", "xyz。"])
def test_long_texts_take_bounded_time(name: str, unit: str) -> None:
    text = analyse("", unit * (1_000_000 // len(unit)))
    made = method(name)
    made(analyse(TITLE, TEXT), shipped())
    started = time.process_time()
    assert len(made(text, shipped())) <= MOST
    assert time.process_time() - started < 2


def test_network_takes_bounded_time() -> None:
    text = analyse("", "".join(chr(0x4E00 + n % 5000) + chr(0x4E00 + n * 7 % 5000) for n in range(10_000)))
    started = time.process_time()
    assert len(method("network")(text, shipped())) <= network.DEFAULTS.most_words
    assert time.process_time() - started < 8


@given(
    st.text(alphabet="河口大桥通车的 。，《》ab1.\n-'ก한A", max_size=150), st.text(alphabet="河口大桥AB ", max_size=10)
)
def test_candidates_stand_in_the_text(text: str, title: str) -> None:
    analysed = analyse(title, text)
    found = find(analysed, shipped())
    assert found.table.shape == (len(found.terms), len(COLUMNS))
    assert np.isfinite(found.table).all()
    plain = " ".join(analysed.text.split())
    assert all(term in plain for term in found.terms)


def test_candidates_are_counted_as_a_reader_would() -> None:
    found = find(analyse(TITLE, TEXT), shipped())
    at = found.terms.index("河口大桥")
    assert round(float(np.expm1(found.column("tf")[at]))) == (TITLE + TEXT).count("河口大桥")
    assert found.column("in_title")[at] == 1
    assert found.column("words")[at] == 2


def test_place_of_a_phrase_is_that_of_its_words() -> None:
    known = ShippedFrequencies({"hekou": (8.5, 1.0), "ferri": (8.5, -0.5)}, 11.0, 8.5)
    found = find(analyse("", "The Hekou ferry and a bridge.", "en"), known)
    opening = dict(zip(found.terms, found.column("opening"), strict=True))
    assert opening == {"Hekou": 1.0, "ferry": -0.5, "Hekou ferry": 0.25, "bridge": 0.0}
    (_, beijing), (_, learned) = (each.look_up(["北京"])[0] for each in (shipped(), LearnedFrequencies()))
    assert learned == beijing > 0


def test_phrases_do_not_reach_over_stop_words_and_signs() -> None:
    terms = find(analyse("", "Ferries of Hekou. Bridges, rivers", "en"), shipped()).terms
    assert set(terms) == {"Ferries", "Hekou", "Bridges", "rivers"}


PAIRS = ("《》", "〈〉", "“”", "‘’", "''", '""', "「」", "『』", "【】", "（）", "()", "[]", "〔〕", "«»", "„“")


@each_row("name", NAMES)
@each_row("pair", PAIRS)
@each_row(
    ("title", "text"),
    [
        (
            "{0}云埠市城市供水应急预案{1}政策解读",
            "{0}云埠市城市供水应急预案{1}今日施行。供水 {0}应急预案{1} 已公布，城市{0}供水{1}水厂照常。",
        ),
        (
            "The {0}Reading level{1} test",
            "Pupils print the {0}reading level{1} card. The reading {0}level card{1} print costs more.",
        ),
    ],
)
def test_keywords_keep_no_mark_of_a_pair(name: str, pair: str, title: str, text: str) -> None:
    found = method(name)(analyse(title.format(*pair), text.format(*pair)), shipped())
    assert found
    assert [term for term, _ in found if any(mark in term for mark in pair)] == []


@each_row("text", ["Pensioners' rebate goes", "Teachers’ union"])
def test_genitives_stay_inside_keywords(text: str) -> None:
    assert text in find(analyse("", text), shipped()).terms


def test_title_boosts_a_term() -> None:
    text, params = analyse("Ferry workers", ENGLISH), tfidf.Params(title=20.0)
    assert tfidf.extract(text, shipped(), params)[0][0].lower().startswith(("ferry", "workers"))


def test_network_weighs_neighbours_in_their_direction() -> None:
    graph = network.build(analyse("red bridge", "A red bridge and a ferry. The bridge.", "en"))
    assert graph["red"]["bridg"]["weight"] == network.DEFAULTS.title + 1
    assert graph["red"]["bridg"]["distance"] == 1 / graph["red"]["bridg"]["weight"]
    assert not graph.has_edge("bridg", "red")


def test_network_centrality_by_hand() -> None:
    """S21: alpha and gamma lead to the hub, which leads to beta and delta.

    Betweenness: 4 of the 4 x 3 pairs go by the hub, 1/3; the mean of five is 1/15, so its increment is the largest.
    Closeness: the hub is 1 from two of four others, 2/2 x 2/4 = .5; beta and delta are 1, 2, 2 from three, 3/5 x 3/4 =
    .45; the mean is .28, and the increments are .22 and .17.
    """
    text = analyse("", "Alpha hub beta. Gamma hub delta.", "en")
    assert nx.betweenness_centrality(network.build(text))["hub"] == pytest.approx(1 / 3)
    weights = {word.lower(): weight for word, weight in network.extract(text, shipped())}
    assert weights == pytest.approx(
        {"hub": 1.0, "beta": 0.5 * 0.17 / 0.22, "delta": 0.5 * 0.17 / 0.22, "alpha": 0.0, "gamma": 0.0}
    )


def test_network_of_a_centre_by_hand() -> None:
    """S21, second form: weighted degrees 4 and 1, no triangles, so .8 and .2; all ways to the centre go by the hub."""
    text = analyse("", "Alpha hub beta. Gamma hub delta.", "en")
    params = network.Params(form=network.Form.CLUSTERING, centre=3)
    weights = {word.lower(): weight for word, weight in network.extract(text, shipped(), params)}
    assert weights["hub"] == pytest.approx(0.99 + 0.01 * 0.8)
    assert weights["alpha"] == pytest.approx(0.01 * 0.2)


def test_connectedness_counts_triangles() -> None:
    graph = nx.DiGraph([("a", "b", {"weight": 2.0}), ("b", "c", {"weight": 1.0}), ("c", "a", {"weight": 1.0})])
    # degrees 3, 3, 2; one directed triangle of two possible ones at each node: clustering 1/2
    assert network.connectedness(graph, 0.2) == pytest.approx({"a": 0.9, "b": 0.9, "c": 0.8 * 2 / 3 + 0.1})


def test_crawl_frequencies_take_over_from_the_start() -> None:
    learned = LearnedFrequencies()
    start = learned.idf("bridg")
    assert start == pytest.approx(shipped().idf("bridg"), abs=1e-9)
    for number in range(2000):
        learned.learn(["bridg", f"other{number}"])
    assert learned.idf("bridg") < 1 < start
    assert learned.idf("other7") > learned.idf("bridg")


def test_crawl_frequencies_forget_the_rarest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.text.frequencies.MOST_TERMS", 50)
    learned = LearnedFrequencies()
    for number in range(200):
        learned.learn(["bridg", f"a{number}", f"b{number}"])
    assert len(learned.counts) <= 50
    assert learned.idf("bridg") < shipped().idf("bridg")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="known: bayes, combined, network, tfidf, or module:name"):
        method("textrank")
    with pytest.raises(ValueError, match="one of centrality, clustering"):
        method("network", {"form": "round"})


def some_examples() -> list:
    texts = [
        (TITLE, TEXT, ["河口大桥", "通车"], "zh"),
        ("Hekou bridge", ENGLISH, ["suspension bridges", "ferry"], "en"),
    ]
    return [example(analyse(title, text, language), keys, shipped()) for title, text, keys, language in texts * 20]


def test_bayes_learns_from_examples() -> None:
    examples = some_examples()
    models = bayes.read(learn("bayes", examples))
    best = bayes.rank(examples[0].found, models)[0]
    assert best[0] == "河口大桥"
    assert models["han"].prior < 0


def test_naive_bayes_by_hand() -> None:
    """Of four candidates one is a keyword, and it alone stands first in the text.

    Eighths of the places (0, 1, 1, 1) lie at .375, .75 and 1: four bins, the first with the keyword and the last with
    the others. With one added to each count, P(bin | keyword) is 2/5 and 1/5, P(bin | other) 1/7 and 4/7.
    """
    table = np.full((4, len(COLUMNS)), 5.0)
    table[:, COLUMNS.index("first")] = [0, 1, 1, 1]
    candidates = KeywordCandidates(("桥", "河", "船", "岸"), table)
    model = bayes.learn([(candidates, np.array([1.0, 0, 0, 0]))])
    at = bayes.FEATURES.index("first")
    assert model.edges[at].tolist() == [0.375, 0.75, 1]
    assert model.prior == pytest.approx(math.log(1 / 3))
    # The other features are the same for all, in the second of two bins: 2/3 against 4/5.
    same = 3 * math.log((2 / 3) / (4 / 5))
    first, last = math.log((2 / 5) / (1 / 7)), math.log((1 / 5) / (4 / 7))
    assert model.log_odds(candidates) == pytest.approx([math.log(1 / 3) + same + odds for odds in (first, *[last] * 3)])


def test_combined_learns_from_examples() -> None:
    pytest.importorskip("sklearn")
    examples = some_examples()
    models = combined.read(learn("combined", examples))
    for each, wanted in ((examples[0], {"河口大桥", "通车"}), (examples[1], {"suspension bridge", "Ferry"})):
        assert {term for term, _ in combined.rank(each.found, models)[:2]} == wanted


def test_news_are_told_from_abstracts() -> None:
    """The shipped gate, by length and style."""
    abstract = (
        "Stability of suspension bridges under wind\nA nonlinear model of the deck is derived and its bifurcations are "
        "analysed numerically. The proposed damping scheme reduces the amplitude of torsional oscillations."
    )
    news = (
        "Hekou bridge opens\nHEKOU - Mayor Lin Wei opened the Hekou Bridge on Monday, four years after work began. "
        "We waited long, said Chen Hong, a captain from Linchuan. Lin said the old ferry would run until June."
    )
    odds = [
        combined.shipped()["other"].gate.log_odds(combined.style(find(analyse("", text, "en"), shipped()).table))[0]
        for text in (news, abstract)
    ]
    assert odds[0] > 0 > odds[1]


def test_trees_are_followed_as_by_hand() -> None:
    table = np.random.default_rng(7).random((40, len(COLUMNS))) * 20
    for script, model in combined.shipped().items():
        trees = files.read(files.path("keywords"), "keywords").model["scripts"][script]["trees"]
        for row, odds in zip(table, model.trees.log_odds(table), strict=True):
            total = trees["base"]
            for columns, borders, leaves in zip(
                *map(unpack, (trees["columns"], trees["borders"], trees["leaves"])), strict=True
            ):
                node = 0
                while node < len(columns):
                    node = 2 * node + 1 + int(row[columns[node]] > borders[node])
                total += leaves[node - len(columns)]
            assert odds == pytest.approx(total)


@each_row(("name", "file"), [("combined", "keywords"), ("bayes", "keywords_bayes")])
def test_shipped_models_can_be_given_as_files(name: str, file: str) -> None:
    text = analyse(TITLE, TEXT)
    assert read(files.read(files.path(file), "keywords"))(text, shipped()) == method(name)(text, shipped())


def test_examples_without_keywords_are_refused() -> None:
    nothing = [example(analyse(TITLE, TEXT), ["渡轮价格"], shipped())]
    with pytest.raises(ValueError, match=r"0 of \d+ candidates are keywords"):
        learn("bayes", nothing)
    with pytest.raises(ValueError, match="no text has a candidate"):
        learn("bayes", [])


@each_row("broken", [{}, {"han": {}}, {"han": {"edges": [], "weights": [], "prior": 0}}, {"han": 3}])
def test_broken_models_are_refused(broken: dict) -> None:
    for kind in (bayes, combined):
        with pytest.raises(ValueError, match="scrapy train keywords"):
            kind.read(broken)
