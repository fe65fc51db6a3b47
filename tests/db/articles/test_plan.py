"""Plans of what to write of an article, without a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from db.articles.plan import (
    Detach,
    Free,
    HandDown,
    Illustrate,
    Insert,
    Join,
    KeepVersion,
    Leave,
    Move,
    Plan,
    Planner,
    Reclass,
    Recount,
    Reindex,
    SetValues,
    Sign,
    SignAnew,
    StoredRow,
    TakeOver,
    Tie,
    Unite,
    Untie,
    Write,
    follow,
    frees,
    values_of,
)
from db.records.article import Added, Candidate, Keep, MatchDecision, NewArticle, Renewal, always
from db.records.evidence import Evidence
from db.records.reasons import ArticleResult
from tests.db.frontier_rows import article
from tests.table import each_row

URLS = {1: "http://a.example/1", 2: "http://a.example/2?print=1", 3: "http://b.example/3"}
TEXT = "市图书馆新馆昨天开放。"


def page(key: int, body: str = TEXT, **values: Any) -> NewArticle:
    made = article(URLS[key], body, **values)
    return NewArticle(**{name: getattr(made, name) for name in NewArticle.__dataclass_fields__} | {"id": key})


def row_of(new: NewArticle, **values: Any) -> dict[str, Any]:
    """The row of a stored article that stands for itself."""
    alone = {"cluster_id": new.id, "duplicate_of": None, "text_holder": None}
    return {"id": new.id, **values_of(new), **alone, **values}


def candidate_of(row: StoredRow, **values: Any) -> Candidate:
    fields = {name: row[name] for name in ("id", "site_id", "title", "published_at", "text_hash", "text")}
    others = {"points_to": None, "seen": row["updated"], "text_holder": row["id"], "representative": row["cluster_id"]}
    return Candidate(**{**fields, **others, **values})


def decision_of(candidate: Candidate, **values: Any) -> MatchDecision:
    evidence = {"similarity": 0.98764, "method": "test", "kind": "edited"}
    defaults = {"repeats": True, "same_page": False, "own_wording": False}
    return MatchDecision(candidate, **{**evidence, **defaults, **values})


class Stored:
    """Facts about stored articles, out of dictionaries."""

    def __init__(self, *rows: StoredRow, better: bool = False) -> None:
        self._rows = {row["id"]: row for row in rows}
        self._better = better

    def row(self, article_id: int) -> StoredRow:
        return self._rows[article_id]

    def text(self, row: StoredRow) -> str:
        return str((row if row["text_holder"] is None else self._rows[row["text_holder"]])["text"])

    def urls(self, ids: Sequence[int]) -> Mapping[int, str]:
        return {key: URLS[key] for key in ids}

    def is_better_original(self, _new: NewArticle, _original: int) -> bool:
        return self._better


def planner(
    *rows: StoredRow,
    better: bool = False,
    decision: MatchDecision | None = None,
    renewal: Renewal = Renewal.OF_PAGES,
) -> Planner:
    return Planner(Stored(*rows, better=better), lambda _new, _candidates: decision, always, renewal)


def kinds(writes: Sequence[Write]) -> list[type]:
    return [type(write) for write in writes]


EVIDENCE = Evidence(3, 1, 0.9876, "test", "edited", 0)


def test_article_that_repeats_nothing_is_inserted_and_signed() -> None:
    new = page(3)
    assert planner().of_new(new, [], None) == Plan([Insert(new), Sign(new)], Added(ArticleResult.NEW))


def test_article_that_is_only_related_keeps_its_evidence() -> None:
    new, candidate = page(3), candidate_of(row_of(page(1)))
    planned = planner().of_new(new, [candidate], decision_of(candidate, repeats=False, kind="quotes"))
    assert planned.writes == [Insert(new), Sign(new), Tie(EVIDENCE._replace(kind="quotes"))]
    assert planned.changed == frozenset()


@pytest.mark.parametrize(
    ("keep", "holder"), [(Keep.METADATA, 1), (Keep.ALL, None)], ids=["word for word", "with its text"]
)
def test_copy_leaves_its_text_to_the_holder_by_policy(keep: Keep, holder: int | None) -> None:
    new, candidate = page(3), candidate_of(row_of(page(1)))
    planned = planner().of_new(new, [candidate], decision_of(candidate, keep=keep))
    assert planned == Plan(
        [Insert(new, 1, holder), Join(1), Tie(EVIDENCE)], Added(ArticleResult.DUPLICATE, 1), frozenset({1, 3})
    )


def test_copy_in_other_words_is_signed_beside_its_original() -> None:
    new, candidate = page(3, TEXT * 2), candidate_of(row_of(page(1)))
    planned = planner().of_new(new, [candidate], decision_of(candidate, own_wording=True))
    assert planned.writes == [Insert(new, 1), Join(1), Sign(new, (1, 1)), Tie(EVIDENCE._replace(own=1))]


def test_copy_that_policy_drops_leaves_its_evidence_alone() -> None:
    new, candidate = page(3), candidate_of(row_of(page(2), cluster_id=1, duplicate_of=1))
    planned = planner().of_new(new, [candidate], decision_of(candidate, keep=Keep.NOTHING))
    assert planned.writes == [Tie(EVIDENCE._replace(of_id=2))]
    assert planned.result == Added(ArticleResult.DROPPED, 1)


def test_better_original_takes_over_whatever_the_policy() -> None:
    new, candidate = page(3), candidate_of(row_of(page(1)))
    planned = planner(better=True).of_new(new, [candidate], decision_of(candidate, keep=Keep.NOTHING))
    assert planned.writes == [Insert(new, 1), Join(1), Sign(new, (1, 1)), TakeOver(1, EVIDENCE)]


@pytest.mark.parametrize(("better", "stands"), [(False, 1), (True, 3)])
def test_copy_of_two_clusters_unites_them(*, better: bool, stands: int) -> None:
    new, one, two = page(3), candidate_of(row_of(page(1))), candidate_of(row_of(page(2)))
    decision = decision_of(one, also=[decision_of(two)])
    planned = planner(better=better).of_new(new, [one, two], decision)
    assert planned.writes[-1] == Unite(stands, 1, ((two, EVIDENCE._replace(of_id=2)),))
    assert planned.changed == {1, 2, 3}


def test_articles_that_share_but_a_frame_are_freed() -> None:
    candidate = candidate_of(row_of(page(1)), doubtful=2, representative=2)
    decision = decision_of(candidate_of(row_of(page(3))), freed=[candidate])
    assert frees(decision) == [Free(1, 2, 2)]
    assert frees(None) == []


# ---------------------------------------------------------------- one page under two URLs


def test_worse_url_completes_what_is_stored() -> None:
    stored = row_of(page(1, tags="", section="社会"))
    new = page(2, tags="桥", section="要闻", images=(("http://a.example/1.png", ""),), seen="2025-02-01T00:00:00+00:00")
    candidate = candidate_of(stored)
    planned = planner(stored).of_new(new, [candidate], decision_of(candidate, same_page=True))
    assert planned.writes == [
        SetValues(1, {"tags": "桥", "updated": "2025-02-01T00:00:00+00:00"}),
        Reindex(1),
        Illustrate(1, new.images, replaces=False),
    ]
    assert planned.result == Added(ArticleResult.SAME_PAGE, 1)


@pytest.mark.parametrize(
    ("canonical", "points_to", "moves"),
    [(None, None, True), (2, None, False), (None, 1, True), (99, None, False), (99, 98, True)],
    ids=["plainer", "names the other", "is named", "names a third", "both name a third"],
)
def test_article_stands_under_the_better_url(*, canonical: int | None, points_to: int | None, moves: bool) -> None:
    stored = row_of(page(2))
    new, candidate = page(1, canonical_id=canonical), candidate_of(stored, points_to=points_to)
    planned = planner(stored).of_new(new, [candidate], decision_of(candidate, same_page=True))
    assert (Move(2, 1) in planned.writes) == moves
    assert planned.result == (Added(ArticleResult.UPDATED, 2) if moves else Added(ArticleResult.SAME_PAGE, 2))


def test_moved_article_is_signed_anew_and_keeps_what_its_new_page_lacks() -> None:
    stored = row_of(page(2, tags="桥"))
    new, candidate = page(1, images=(("http://a.example/1.png", ""),)), candidate_of(stored)
    writes = planner(stored).of_new(new, [candidate], decision_of(candidate, same_page=True)).writes
    assert kinds(writes) == [Move, Illustrate, SignAnew, Reclass]
    assert writes[1:3] == [Illustrate(1, new.images, replaces=True), SignAnew(new, only_if_signed=True)]


# ---------------------------------------------------------------- pages that come again


def test_article_that_comes_again_as_it_was_is_not_written() -> None:
    stored = row_of(page(1))
    new = page(1, seen="2025-02-01T00:00:00+00:00")
    assert planner(stored).of_stored(stored, new, []) == Plan([Reclass(new)], Added(ArticleResult.UNCHANGED))


@each_row(
    ("values", "keeps"),
    [({}, True), ({"language": "en"}, False), ({"title": "另一个题目"}, False), ({"described_with": "2"}, False)],
)
def test_article_that_is_described_later_keeps_its_description_if_it_comes_again(
    values: dict[str, Any], keeps: object
) -> None:
    stored = row_of(page(1, keywords="图书馆", classes="culture", described_with="1"))
    writes = planner(stored).of_stored(stored, page(1, **values), []).writes
    changed = {name for write in writes if isinstance(write, SetValues) for name in write.values}
    assert ("described_with" not in changed) is keeps
    assert (Reclass not in kinds(writes)) is keeps


def test_article_read_by_another_version_says_so_and_is_unchanged() -> None:
    stored = row_of(page(1))
    new = page(1, extractor_version="2")
    writes, result, _ = planner(stored).of_stored(stored, new, [])
    assert writes == [Reclass(new), SetValues(1, {"checked_with": "density 2", "extractor_version": "2"})]
    assert result == Added(ArticleResult.UNCHANGED)


def test_other_source_is_counted_and_indexed() -> None:
    stored = row_of(page(1, source="晨报"))
    new = page(1, source="晚报", seen="2025-02-01T00:00:00+00:00")
    writes, result, _ = planner(stored).of_stored(stored, new, [])
    site = new.site_id
    assert writes[2:] == [Recount((site, "晨报"), (site, "晚报"), repeats=False), Reindex(1)]
    assert result == Added(ArticleResult.UPDATED)


OTHER = "港口航线恢复通航。"


def test_other_text_keeps_the_earlier_one() -> None:
    stored = row_of(page(1))
    new = page(1, OTHER)
    writes, result, changed = planner(stored).of_stored(stored, new, [])
    assert writes[:2] == [KeepVersion(1, stored["updated"], "题目", TEXT), HandDown(1, TEXT, "")]
    assert kinds(writes[2:]) == [SetValues, Reindex, Reclass, Untie, SignAnew]
    assert (result, changed) == (Added(ArticleResult.UPDATED, changed=True), frozenset())


def test_same_words_extracted_otherwise_are_written_without_an_earlier_text() -> None:
    stored = row_of(page(1))
    new = page(1, OTHER)
    for renewal, expected in ((Renewal.OF_PAGES, []), (Renewal.OF_TEXTS, [HandDown, SetValues, Reindex, Reclass])):
        plans = Planner(Stored(stored), lambda _new, _some: None, lambda _old, _new: False, renewal)
        writes = plans.of_stored(stored, new, []).writes
        assert kinds(writes)[:4] == expected


@pytest.mark.parametrize("still", [True, False])
def test_copy_with_another_text_stays_if_it_still_repeats_its_original(*, still: bool) -> None:
    original = row_of(page(1))
    stored = row_of(page(3), cluster_id=1, duplicate_of=1, text_holder=1, text="")
    new, candidate = page(3, OTHER), candidate_of(original)
    decision = decision_of(candidate) if still else None
    writes, _, changed = planner(original, stored, decision=decision).of_stored(stored, new, [candidate])
    assert kinds(writes[:4]) == [SetValues, Reindex, Reclass, Detach]
    assert writes[4:] == [Tie(EVIDENCE._replace(own=1)) if still else Leave(3, 1), SignAnew(new)]
    assert changed == (frozenset() if still else {1})


# ---------------------------------------------------------------- results of a batch


def test_results_follow_a_move() -> None:
    batch = [page(2), page(3), page(1)]
    added = [Added(ArticleResult.NEW), Added(ArticleResult.DUPLICATE, 2), Added(ArticleResult.UPDATED, 2)]
    follow(batch, added, 2, 1)
    assert added == [
        Added(ArticleResult.SAME_PAGE, 1),
        Added(ArticleResult.DUPLICATE, 1),
        Added(ArticleResult.NEW),
    ]
