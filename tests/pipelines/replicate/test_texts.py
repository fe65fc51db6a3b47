"""Experiments on texts: figures of few texts by hand."""

from __future__ import annotations

import pytest

from pipelines.replicate import harm_samples
from pipelines.replicate.texts import harmful, keywords, near_duplicates

STORY = (
    "河口大桥将在年底通车，两岸居民过江只要五分钟。大桥全长三公里，主跨八百米，由省交通厅投资建设，明年还将开通公交。"
)
OTHER = "市图书馆从下周一起把闭馆时间推迟到晚上十点。馆长说，上班族提得最多的就是下班后没有地方看书，夜间只开放一层。"


def test_near_duplicates_found_and_compared() -> None:
    texts = [
        {"id": "1", "title": "大桥通车", "text": STORY},
        {"id": "2", "title": "夜间开放", "text": OTHER},
        {"id": "3", "title": "大桥通车", "text": STORY + "本报讯。", "original": "1"},
    ]
    rows = {row.name: row for row in near_duplicates(texts, 1).rows}
    assert rows["combined"].ours["found"] == rows["combined"].ours["precision"] == 1
    # one of the three pairs is compared
    assert rows["combined"].ours["share of comparisons"] == pytest.approx(1 / 3)
    assert rows["S31 keyword index"].paper == {"found": 0.94, "share of comparisons": 0.0004}
    with pytest.raises(ValueError, match="no text repeats another"):
        near_duplicates(texts[:2], 1)


def test_keywords_are_compared_as_they_are_indexed() -> None:
    text = "The ferry crosses the river. Ferries are slow. The ferry is old, and the river is wide."
    texts = [{"id": "1", "title": "", "text": text, "keys": ["Ferry", "river"]}, {"id": "2", "title": "", "text": text}]
    rows = {row.name: row.ours for row in keywords(texts, 1).rows}
    assert rows["tf-idf"]["R"] == 1
    assert rows["tf-idf"]["P"] == pytest.approx(2 / 5)
    with pytest.raises(ValueError, match="no text has its keywords"):
        keywords(texts[1:], 1)


def test_harm_of_the_samples() -> None:
    rows = {row.name: row for row in harmful(list(harm_samples()), 1).rows}
    assert rows["combined"].ours["P"] == rows["S26 weighted blocks"].ours["P"] == 1
    assert rows["S26 weighted blocks"].paper["F"] == 0.9102
    with pytest.raises(ValueError, match="all of one sort"):
        harmful([row for row in harm_samples() if row["label"] == "clean"], 1)
