"""Citations, beside answers written by hand from the standards."""

from __future__ import annotations

import re

import pytest

from db.records.article import COLUMNS, ArticleItem
from pipelines.export.citations import bibtex, cite, gbt7714, ris
from tests.table import each_row

CHINESE = {
    "id": "255",
    "title": "大风沙过后的思考。",
    "authors": "傅刚、赵承、李佳路",
    "source": "北京青年报",
    "site": "bjyouth.example",
    "published_at": "2000-01-12T08:30+08:00",
    "first_seen": "2005-09-27T01:00:00+00:00",
    "fetched_at": "2005-09-28T01:00:00+00:00",
    "language": "zh-Hans",
    "url": "http://www.bjyouth.example/Bqb/20000412/B/4216%5ED0412B1401.htm",
}
ENGLISH = {
    **CHINESE,
    "id": "-1",
    "title": "Ferry fares rise 5%: who pays the {harbour} & port_fund?",
    "authors": "Ada Mary Byron、Vincent van Gogh、Reuters and AP",
    "source": "Harbour Herald",
    "site": "herald.example",
    "published_at": "2024-03-12",
    "fetched_at": "2024-05-01T00:00:00+00:00",
    "language": "en",
    "url": "https://herald.example/a_b?x={1}&y=%20#top",
}


CITED_BY = {"bibtex": bibtex, "ris": ris, "gbt7714": gbt7714}


def test_gbt_7714_cites_a_newspaper_as_the_standard_does() -> None:
    assert gbt7714(CHINESE) == (
        "傅刚, 赵承, 李佳路. 大风沙过后的思考[N/OL]. 北京青年报, 2000-01-12[2005-09-28]. "
        "http://www.bjyouth.example/Bqb/20000412/B/4216%5ED0412B1401.htm.\n"
    )
    assert gbt7714(ENGLISH) == (
        "BYRON A M, VAN GOGH V, Reuters and AP. Ferry fares rise 5%: who pays the {harbour} & port_fund?[N/OL]. "
        "Harbour Herald, 2024-03-12[2024-05-01]. https://herald.example/a_b?x={1}&y=%20#top.\n"
    )


@each_row(
    ("changed", "cited"),
    [({"authors": "萧钰", "source": ""}, "萧钰. 题[EB/OL]. (2000-01-12)[2005-09-28]. http://a.example."),
     ({"authors": "", "source": "新华社"}, "新华社. 题[EB/OL]. (2000-01-12)[2005-09-28]. http://a.example."),
     ({"authors": "", "source": ""}, "题[EB/OL]. (2000-01-12)[2005-09-28]. http://a.example."),
     ({"authors": "", "source": "大公報"}, "题[N/OL]. 大公報, 2000-01-12[2005-09-28]. http://a.example."),
     ({"authors": "", "source": "大公报", "published_at": None}, "题[N/OL]. 大公报[2005-09-28]. http://a.example."),
     ({"authors": "", "source": "", "published_at": None, "fetched_at": None},
      "题[EB/OL]. [2005-09-27]. http://a.example."),
     ({"authors": "甲、乙、丙、丁"}, "甲, 乙, 丙, 等. 题[N/OL]. 北京青年报, 2000-01-12[2005-09-28]. http://a.example."),
     ({"authors": "Ada Byron、Jean-Paul Sartre、Li Wei、Bo Ek", "language": "en", "source": ""},
      "BYRON A, SARTRE J P, WEI L, et al. 题[EB/OL]. (2000-01-12)[2005-09-28]. http://a.example."),
     ({"authors": "Byron, Ada", "language": "en", "source": ""},
      "BYRON A. 题[EB/OL]. (2000-01-12)[2005-09-28]. http://a.example.")],
)  # fmt: skip
def test_gbt_7714_of_other_sources(changed: dict[str, str | None], cited: str) -> None:
    assert gbt7714({**CHINESE, "title": "题", "url": "http://a.example", **changed}) == cited + "\n"


def test_bibtex_escapes_what_tex_reads_as_commands() -> None:
    assert (
        bibtex(ENGLISH)
        == r"""@misc{herald2024-ffffffffffffffff,
  author = {Ada Mary Byron and Vincent van Gogh and {Reuters and AP}},
  title = {{Ferry fares rise 5\%: who pays the \textbraceleft{}harbour\textbraceright{} \& port\_fund?}},
  howpublished = {Harbour Herald},
  year = {2024},
  date = {2024-03-12},
  url = {https://herald.example/a_b?x=%7B1%7D&y=%20#top},
  urldate = {2024-05-01},
  langid = {english},
  month = mar,
}

"""
    )
    assert (
        bibtex(CHINESE)
        == r"""@misc{bjyouth2000-00000000000000ff,
  author = {傅刚 and 赵承 and 李佳路},
  title = {{大风沙过后的思考。}},
  howpublished = {北京青年报},
  year = {2000},
  date = {2000-01-12},
  url = {http://www.bjyouth.example/Bqb/20000412/B/4216%5ED0412B1401.htm},
  urldate = {2005-09-28},
  langid = {chinese},
  month = jan,
}

"""
    )


@pytest.mark.parametrize("nasty", ["}", "{", "\\", "\\input{/etc/passwd}", "}}, url = {x", "%\n@misc{x,", '^~$#_<>|"'])
def test_bibtex_stays_one_entry_whatever_a_page_says(nasty: str) -> None:
    entry = bibtex({**ENGLISH, "title": nasty, "authors": nasty, "source": nasty, "site": nasty, "url": nasty})
    depth = 0
    for place, sign in enumerate(entry):
        depth += (sign == "{") - (sign == "}")
        assert depth > 0 or sign == "}" or place < entry.index("{") or entry[place:].isspace()
    assert depth == 0
    assert re.findall(r"^  (\w+) = ", entry, re.MULTILINE)[:3] == ["author", "title", "howpublished"]
    assert not re.search(r"\\(?!text|[$&#_%])", entry)


def test_ris_is_as_managers_import_it() -> None:
    assert ris(ENGLISH).split("\r\n") == [
        "TY  - NEWS",
        "AU  - Byron, Ada Mary",
        "AU  - van Gogh, Vincent",
        "AU  - Reuters and AP",
        "TI  - Ferry fares rise 5%: who pays the {harbour} & port_fund?",
        "T2  - Harbour Herald",
        "PY  - 2024",
        "DA  - 2024/03/12",
        "Y2  - 2024/05/01",
        "LA  - en",
        "UR  - https://herald.example/a_b?x={1}&y=%20#top",
        "ER  - ",
        "",
        "",
    ]
    web = ris({**CHINESE, "source": "", "title": "一\r\nER  - \r\n二", "published_at": None})
    assert web.split("\r\n")[:6] == [
        "TY  - ELEC",
        "AU  - 傅刚",
        "AU  - 赵承",
        "AU  - 李佳路",
        "TI  - 一 ER - 二",
        "PB  - bjyouth.example",
    ]
    assert web.count("\r\nER  - ") == 1


def test_stored_article_is_cited_in_every_style() -> None:
    values = {name: CHINESE.get(name) for name in COLUMNS} | {"authors": ["傅刚", "赵承", "李佳路"]}
    cited = cite(ArticleItem(**values))
    assert cited == {name: make(CHINESE).replace("\r\n", "\n").strip() for name, make in CITED_BY.items()}
