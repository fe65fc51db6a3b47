"""The newsroom's articles: enough of them, different ones, and printable in their sites' character sets."""

from itertools import combinations

import pytest

from crawler.demo import content
from crawler.demo.content import SITES, InventedArticle, load_articles
from tests.table import each_row

ARTICLES = [article for articles in load_articles().values() for article in articles]
ORIGINALS = [article for article in ARTICLES if not article.reprint_kind]
REPRINTS = {article.key: article for article in ARTICLES if article.reprint_kind}
BY_KEY = {article.key: article for article in ARTICLES}


def shingles(article: InventedArticle) -> set[str]:
    text = "".join(article.paragraphs)
    length = 12 if article.site == "herald" else 3
    return {text[i : i + length] for i in range(len(text) - length + 1)}


def test_there_are_enough_articles_in_every_language():
    assert set(load_articles()) == set(SITES)
    count = {site: sum(article.site == site for article in ORIGINALS) for site in SITES}
    assert len(ORIGINALS) >= 110
    assert len(REPRINTS) >= 20
    assert count["daobao"] / len(ORIGINALS) == pytest.approx(0.15, abs=0.02)
    assert count["herald"] / len(ORIGINALS) == pytest.approx(0.20, abs=0.02)
    assert {article.reprint_kind for article in REPRINTS.values()} == {"exact", "edited", "script"}


def test_numbers_and_titles_are_unique_and_dates_lie_in_two_years():
    assert len({article.number for article in ARTICLES}) == len(ARTICLES)
    assert len({article.title for article in ORIGINALS}) == len(ORIGINALS)
    assert {article.published.year for article in ARTICLES} == {2024, 2025}
    assert all(article.published.tzinfo for article in ARTICLES)
    for articles in load_articles().values():
        assert list(articles) == sorted(articles, key=lambda article: article.published, reverse=True)


def test_originals_differ():
    grams = {article.key: shingles(article) for article in ORIGINALS}
    alike = [
        (one, other)
        for one, other in combinations(grams, 2)
        if len(grams[one] & grams[other]) > 0.3 * min(len(grams[one]), len(grams[other]))
    ]
    # bulletins of the same kind: rain, market close, prawn prices, flood warnings
    assert {key for pair in alike for key in pair} <= {
        "wanbao/1003", "wanbao/1004", "wanbao/1005", "kuaixun/2002", "kuaixun/2003", "kuaixun/2004",
        "herald/5003", "herald/5004", "zhengfu/3008", "zhengfu/3009",
    }  # fmt: skip


@each_row(("site", "encoding"), [("wanbao", "gbk"), ("daobao", "big5")])
def test_texts_fit_their_character_set(site, encoding):
    for article in load_articles()[site]:
        for text in (article.title, *article.authors, article.source, *article.paragraphs):
            assert text.encode(encoding).decode(encoding) == text


def test_gb2312_would_not_be_enough():
    text = "".join("".join((*article.authors, *article.paragraphs)) for article in load_articles()["wanbao"])
    with pytest.raises(UnicodeEncodeError):
        text.encode("gb2312")


@each_row("reprint", REPRINTS.values())
def test_reprints_relate_to_their_originals(reprint):
    original = BY_KEY[reprint.reprint_of]
    assert not original.reprint_kind
    assert reprint.published > original.published
    common = set(reprint.paragraphs) & set(original.paragraphs)
    if reprint.reprint_kind == "exact":
        assert (reprint.title, reprint.paragraphs) == (original.title, original.paragraphs)
    elif reprint.reprint_kind == "edited":
        assert reprint.title != original.title
        assert common
        assert reprint.paragraphs != original.paragraphs
    else:
        assert len(reprint.paragraphs) == len(original.paragraphs)
        assert not common
        assert [len(line) for line in reprint.paragraphs] == [len(line) for line in original.paragraphs]


def test_one_article_has_three_pages():
    assert [len(article.parts) for article in ARTICLES if len(article.parts) > 1] == [3]


@each_row(
    ("lines", "complaint"),
    [
        (["=== x", "t", "2024-01-01 | c | | s", "p"], "invalid literal"),
        (["=== 1 stolen wanbao/1001", "2024-01-01 | c | | s"], "stolen"),
        (["=== 1", "t", "tomorrow | c | | s", "p"], "isoformat"),
    ],
)
def test_wrong_entry_is_refused(lines, complaint):
    with pytest.raises(ValueError, match=complaint):
        content._parse("wanbao", lines)
