"""Leaves that are long, hold sentence marks and outweigh their markup."""

from __future__ import annotations

from pipelines.document.document import parse
from pipelines.extract.leaves import Params, candidates, extract
from tests.table import each_row

GOOD = "负责施工的工程师说，最难的是深水区的三座主墩，每天只有两个小时的平潮期可以作业。"
MANY_TAGS = "".join(f"<span class=character style='color:red'>{sign}</span>" for sign in GOOD)


@each_row(
    ("markup", "passes"),
    [
        (f"<p>{GOOD}</p>", True),
        ("<p>工程师说，最难的是，主墩。</p>", False),
        (f"<p>{GOOD.replace('，', '').replace('。', '')}</p>", False),
        (f"<p>{MANY_TAGS}</p>", False),
        (f"<p><a href=/>{GOOD}</a></p>", False),
    ],
)
def test_all_three_thresholds(markup: str, passes: bool) -> None:  # noqa: FBT001
    assert candidates(parse(markup.encode(), ""), Params()).tolist() == [passes]


@each_row("density, passes", [(0.85, True), (0.86, False)])
def test_density_by_hand(density: float, passes: bool) -> None:  # noqa: FBT001
    """GOOD has 40 characters, its element 7 more: 40 / 47 is .851."""
    assert len(GOOD) == 40
    assert candidates(parse(f"<p>{GOOD}</p>".encode(), ""), Params(least_density=density)).tolist() == [passes]


def test_short_leaves_among_candidates_are_rescued() -> None:
    body = f"<div><p>{GOOD}</p><h3>最难的地方</h3><p>{GOOD}</p></div><div><p>{GOOD}</p><h3>广告</h3></div>"
    assert extract(parse(body.encode(), ""), Params()).text == f"{GOOD}\n最难的地方\n{GOOD}\n{GOOD}"


def test_lines_between_breaks_have_their_node_as_parent() -> None:
    body = f"<div>{GOOD}<br>最难的地方<br>{GOOD}</div><div>广告</div>"
    assert extract(parse(body.encode(), ""), Params(least_siblings=2)).text == f"{GOOD}\n最难的地方\n{GOOD}"
