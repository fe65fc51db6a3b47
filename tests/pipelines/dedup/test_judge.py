"""Reprint, same page or neither: the judgement inside a page's transaction."""

from __future__ import annotations

from typing import Any

from db.records.article import Candidate, NewArticle
from db.records.keys import fingerprint
from pipelines.dedup import method
from pipelines.dedup.judge import DuplicateJudge, Policy
from tests.db.frontier_rows import article
from tests.table import each_row

STORY = "".join(
    f"{place}的工程队昨天修好了第{number}座桥，{who}说通车以后附近{number * 7}户居民不必再绕路。"
    for number, (place, who) in enumerate(
        [("城东", "队长"), ("江北", "工程师"), ("南山", "村民"), ("西岭", "司机"), ("新港", "市长"), ("老街", "店主")],
        3,
    )
)
OTHER = "".join(
    f"第{number}届邮票展览本周开幕，收藏家{name}带来了三十年前的珍品。"
    for number, name in enumerate("赵钱孙李周吴郑王", 11)
)
EDITED = STORY.replace("昨天", "日前").replace("附近", "周边").replace("绕路", "绕行")
REWRITTEN = EDITED.replace("修好了", "修复").replace("通车以后", "今后").replace("居民", "人家").replace("不必", "不用")
METHOD = method()
TIME = "2025-01-01T08:00:00+08:00"


def new(url: str = "http://h.cn/new", text: str = STORY, **values: Any) -> NewArticle:
    sign = METHOD.sign("", text)
    signed = {"text_hash": sign.exact, "features": sign.features, "length": sign.length}
    return article(url, text, **{"published_at": TIME, **signed, **values})


def stored(url: str = "http://h.cn/old", text: str = STORY, **values: Any) -> Candidate:
    key = fingerprint(url)
    defaults: dict[str, Any] = {
        "id": key,
        "site_id": fingerprint(url.split("/")[2]),
        "title": "题目",
        "published_at": TIME,
        "text_hash": METHOD.sign("", text).exact,
        "text": text,
        "representative": key,
        "points_to": None,
        "seen": "2025-01-01T00:00:00+00:00",
        "text_holder": key,
    }
    return Candidate(**{**defaults, **values})


judge = DuplicateJudge(METHOD, Policy(0.65))


def test_nothing_to_compare_with() -> None:
    assert judge(new(), []) is None


def test_another_story() -> None:
    assert judge(new(), [stored(text=OTHER)]) is None


def test_same_text_elsewhere_is_a_reprint() -> None:
    copy = stored("http://o.cn/old", title="另一个题目", published_at=None)
    verdict = judge(new(), [stored(text=OTHER), copy])
    assert verdict is not None
    assert verdict.candidate is copy
    assert (verdict.similarity, verdict.method, verdict.kind, verdict.same_page) == (1.0, "exact", "same", False)


def test_edited_text_is_a_reprint_on_any_site() -> None:
    for url in ("http://o.cn/old", "http://h.cn/old"):
        verdict = judge(new(text=EDITED), [stored(url)])
        assert verdict is not None
        assert not verdict.same_page
        assert 0.65 <= verdict.similarity < 1.0
        assert verdict.method != "exact"
        assert verdict.kind == "edited"


def test_threshold_decides() -> None:
    verdict = DuplicateJudge(METHOD, Policy(1.0))(new(text=EDITED), [stored("http://o.cn/old")])
    assert verdict is not None
    assert (verdict.repeats, verdict.kind) == (False, "quotes")
    assert DuplicateJudge(METHOD, Policy(1.0))(new(), [stored("http://o.cn/old")]) is not None


def test_one_article_at_two_addresses_of_a_site() -> None:
    verdict = judge(new(), [stored()])
    assert verdict is not None
    assert verdict.same_page


def test_nearly_the_same_text_under_the_same_headline_is_the_same_page() -> None:
    changed = STORY * 3 + "更新"
    verdict = judge(new(text=changed), [stored(text=STORY * 3)])
    assert verdict is not None
    assert verdict.similarity >= 0.98
    assert verdict.same_page


@each_row(
    ("values", "same"),
    [
        ({"title": "题 目！"}, True),  # compared as normalised
        ({"title": "别的"}, False),
        ({"published_at": None}, True),
        ({"published_at": "2025-01-02T08:00:00+08:00"}, False),
        ({"site_id": 9}, False),
    ],
)
def test_headline_time_and_site_must_agree(values: dict[str, Any], *, same: bool) -> None:
    verdict = judge(new(), [stored(**values)])
    assert verdict is not None
    assert verdict.same_page is same


@each_row("tie", ["new names stored", "stored names new", "both name a third"])
def test_canonical_ties_two_addresses_whatever_the_headline(tie: str) -> None:
    third = fingerprint("http://h.cn/third")
    one = new(canonical_id={"new names stored": fingerprint("http://h.cn/old"), "both name a third": third}.get(tie))
    other = stored(
        title="别的",
        published_at="2024-01-01T00:00:00+00:00",
        points_to={"stored names new": one.id, "both name a third": third}.get(tie),
    )
    verdict = judge(one, [other])
    assert verdict is not None
    assert verdict.same_page


def test_canonical_tie_holds_for_similar_texts_only() -> None:
    one = new(text=REWRITTEN, canonical_id=fingerprint("http://h.cn/old"))
    verdict = judge(one, [stored()])
    assert verdict is not None
    assert 0.65 <= verdict.similarity < 0.9
    assert not verdict.same_page
    assert judge(new(text=OTHER, canonical_id=fingerprint("http://h.cn/old")), [stored()]) is None


def test_no_canonical_on_either_side_ties_nothing() -> None:
    verdict = judge(new(canonical_id=None), [stored(title="别的", points_to=None)])
    assert verdict is not None
    assert not verdict.same_page


def test_canonical_does_not_tie_across_sites() -> None:
    verdict = judge(new(canonical_id=fingerprint("http://o.cn/old")), [stored("http://o.cn/old")])
    assert verdict is not None
    assert not verdict.same_page


def test_same_page_goes_before_a_closer_reprint() -> None:
    text = STORY * 3
    reprint = stored("http://o.cn/old", text=text)
    same = stored("http://h.cn/old", text=text + "更新")
    for candidates in ([reprint, same], [same, reprint]):
        verdict = judge(new(text=text), candidates)
        assert verdict is not None
        assert verdict.candidate is same
        assert verdict.same_page


def test_of_reprints_the_closest() -> None:
    far, near = stored("http://o.cn/1", text=EDITED), stored("http://p.cn/2", text=STORY.replace("昨天", "日前"))
    verdict = judge(new(), [far, near])
    assert verdict is not None
    assert verdict.candidate is near


def test_of_equal_ones_the_first() -> None:
    first, second = stored("http://o.cn/1"), stored("http://p.cn/2")
    verdict = judge(new(), [first, second])
    assert verdict is not None
    assert verdict.candidate is first


def test_lines_that_come_back_on_a_site_make_no_duplicates() -> None:
    foot = "".join(
        f"\n本网声明：凡注明来源为本网的第{n}类稿件，版权均属本网所有，未经授权不得转载。" for n in range(1, 6)
    )
    shorts = [
        f"{place}第{n}小学昨天迎来{n * 31}名新生，校长{name}致辞欢迎。"
        for n, (place, name) in enumerate(zip("东西南北中", "赵钱孙李周", strict=True), 2)
    ]
    fresh = DuplicateJudge(METHOD, Policy(0.65))
    others = [stored(f"http://h.cn/{n}", text=text + foot) for n, text in enumerate(shorts)]
    verdict = fresh(new(text=OTHER[:40] + foot), others)
    assert verdict is not None
    assert verdict.repeats, "nothing is known of the site yet"
    for n, text in enumerate(shorts):
        fresh(new(f"http://h.cn/{n}", text=text + foot), [])
    verdict = fresh(new(text=OTHER[:60] + foot), others)
    assert verdict is None or not verdict.repeats
