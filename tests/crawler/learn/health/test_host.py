"""The health of one host: what raises an alarm, what ends it, and what must raise none.

The hosts are those of `tests.benchmarks.health`, which measures more of them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from itertools import islice

import pytest

from crawler.learn.health.answers import ROBOTS, AnswerKind, HostAnswer
from crawler.learn.health.host import FEWEST, Finding, HealthMonitor
from crawler.learn.health.messages import sentence
from pipelines.records import BlockKind
from tests.benchmarks.health import CHANGES, STEADY, article, other, plain
from tests.table import each_row

WINDOW = 40


def learn(health: HealthMonitor, answers: Iterable[HostAnswer]) -> list[Finding]:
    return [event for answer in answers for event in health.learn(answer)]


@each_row("name", STEADY)
@pytest.mark.slow
def test_hosts_that_stay_as_they_are_raise_no_alarm(name: str) -> None:
    health = HealthMonitor(WINDOW)
    assert learn(health, islice(STEADY[name](random.Random(5)), 2500)) == []


@each_row("name", CHANGES)
def test_change_raises_one_alarm_and_its_end_ends_it(name: str) -> None:
    change, kind = CHANGES[name]
    draw = random.Random(7)
    health, pages = HealthMonitor(WINDOW), plain(draw)
    assert learn(health, islice(pages, 300)) == []
    raised = learn(health, (change(draw, page) for page in islice(pages, 200)))
    assert [(not event.ended, event.kind) for event in raised] == [(True, kind)]
    (finding,) = health.state.active.values()
    assert finding.hits * 4 >= finding.of or finding.kind == "slow"
    ended = learn(health, islice(pages, 200))
    assert [(not event.ended, event.kind) for event in ended] == [(False, kind)]
    assert health.state.active == {}
    assert learn(health, islice(pages, 300)) == []


def test_refusals_are_noticed_before_the_host_is_left_alone() -> None:
    health, pages = HealthMonitor(WINDOW), plain(random.Random(1))
    learn(health, islice(pages, 100))
    lost = HostAnswer("http://a.example/news/2024/05/3/9.html", BlockKind.LIST, AnswerKind.FAILED, "timed out")
    events = learn(health, [lost] * 10)
    assert [event.kind for event in events] == ["unreachable"]


def test_host_that_never_answered_well() -> None:
    health = HealthMonitor(WINDOW)
    refused = [HostAnswer(f"http://a.example/{n}", BlockKind.LIST, AnswerKind.BLOCKED, "http 403") for n in range(30)]
    (event,) = learn(health, refused)
    assert (event.kind, event.why) == ("blocks", "http 403")


def test_host_whose_pages_never_showed_text() -> None:
    health = HealthMonitor(WINDOW)
    (event,) = learn(
        health, [other(random.Random(n), f"http://a.example/{n}", kind=AnswerKind.EMPTY) for n in range(60)]
    )
    assert event.kind == "empty"


def test_host_whose_articles_were_in_doubt_from_the_first_on() -> None:
    health, draw = HealthMonitor(WINDOW), random.Random(2)
    pages = [article(draw, f"http://a.example/{n}.html")._replace(doubtful=n != 7) for n in range(WINDOW)]
    (event,) = learn(health, pages[: WINDOW // 2])
    assert (event.kind, event.example) == ("encoding", pages[WINDOW // 2 - 1].url)
    assert "19 of the last 20, none before" in sentence(event)
    again = HealthMonitor(WINDOW, health.pack())
    assert learn(again, pages[WINDOW // 2 :]) == []
    well = [article(draw, f"http://a.example/{n}.html")._replace(doubtful=False) for n in range(100, 400)]
    assert [event.ended for event in learn(again, well)] == ["no longer"]


def test_some_articles_in_doubt_are_no_alarm() -> None:
    health, draw = HealthMonitor(WINDOW), random.Random(2)
    pages = (article(draw, f"http://a.example/{n}.html")._replace(doubtful=n % 5 != 0) for n in range(1000))
    assert learn(health, pages) == []


def test_robots_txt_that_cannot_be_had() -> None:
    health = HealthMonitor(WINDOW)
    learn(health, islice(plain(random.Random(1)), 100))
    lost = HostAnswer("http://a.example/robots.txt", ROBOTS, AnswerKind.FAILED, "http 503 (robots.txt)")
    events = learn(health, [lost, lost, lost, lost])
    assert [(not event.ended, event.kind) for event in events] == [(True, "unreachable")]
    ended = learn(health, islice(plain(random.Random(2)), 40))
    assert [not event.ended for event in ended] == [False]


def test_section_that_is_closed_says_nothing_of_the_others() -> None:
    health, pages = HealthMonitor(WINDOW), plain(random.Random(1))
    learn(health, islice(pages, 200))
    closed = [
        HostAnswer(f"http://a.example/vip/{n}.html", BlockKind.LIST, AnswerKind.BLOCKED, "http 403") for n in range(200)
    ]
    assert learn(health, closed) == []


def test_lists_after_articles_are_no_change() -> None:
    health, draw = HealthMonitor(WINDOW), random.Random(1)
    learn(health, islice(plain(draw), 200))
    tags = [other(draw, f"http://a.example/tag/{n}", found_in=BlockKind.BODY) for n in range(400)]
    calendar = [other(draw, f"http://a.example/day/{n}/{n}", found_in=BlockKind.OTHER) for n in range(400)]
    assert learn(health, tags + calendar) == []


def test_baseline_goes_on_from_the_kept_state() -> None:
    """Packed and unpacked after every 37th answer, it says the same."""
    draw = random.Random(3)
    pages = plain(draw)
    change, _ = CHANGES["redesigned"]
    answers = [*islice(pages, 250), *(change(draw, page) for page in islice(pages, 120)), *islice(pages, 120)]
    whole = [(not e.ended, e.kind) for e in learn(HealthMonitor(WINDOW), answers)]
    kept, said = HealthMonitor(WINDOW), []
    for first in range(0, len(answers), 37):
        said += learn(kept, answers[first : first + 37])
        kept = HealthMonitor(WINDOW, kept.pack())
    assert [(not e.ended, e.kind) for e in said] == whole == [(True, "layout"), (False, "layout")]


def test_change_between_two_runs_is_noticed_in_the_second() -> None:
    draw = random.Random(3)
    health, pages = HealthMonitor(WINDOW), plain(draw)
    learn(health, islice(pages, 120))
    again = HealthMonitor(WINDOW, health.pack())
    change, _ = CHANGES["redesigned"]
    events = learn(again, (change(draw, page) for page in islice(pages, 55)))
    assert [event.kind for event in events] == ["layout"]


def test_change_that_leaves_articles_readable_becomes_normal() -> None:
    draw = random.Random(3)
    health, pages = HealthMonitor(WINDOW), plain(draw)
    learn(health, islice(pages, 400))
    change, _ = CHANGES["cut short"]
    events = learn(health, (change(draw, page) for page in islice(pages, 1500)))
    assert [event.ended for event in events] == ["", "has stayed so for long and counts as normal now"]


@each_row(
    "state",
    ["", "[]", "{}", "null", '{"version": 0}', '{"version": 2, "answers": [1, 2]}', '{"version": 2}', "x" * 1000],
)
def test_unreadable_state_counts_as_nothing(state: str) -> None:
    assert HealthMonitor(WINDOW, state).state == HealthMonitor(WINDOW).state


def test_state_stays_small_for_any_number_of_shapes() -> None:
    draw = random.Random(1)
    health = HealthMonitor(WINDOW)
    for n in range(3000):
        folders = "/".join(draw.choice("abcdefgh") * draw.randrange(1, 5) for _ in range(draw.randrange(1, 5)))
        health.learn(article(draw, f"http://a.example/{folders}/{n}.{draw.choice(['html', 'php', 'asp'])}?k{n % 50}=1"))
    packed = health.pack()
    assert len(packed) < 25_000
    assert len(json.loads(packed)["baseline"]) <= 25


def test_window_that_proves_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=str(FEWEST)):
        HealthMonitor(FEWEST - 1)


def selected(n: int, *, missed: bool | None) -> HostAnswer:
    return HostAnswer(f"http://a.example/news/{n}.html", BlockKind.LIST, AnswerKind.ARTICLE, chars=900, missed=missed)


def test_selectors_that_find_nothing_raise_one_alarm_which_ends_by_itself() -> None:
    health = HealthMonitor(40)
    assert [health.learn(selected(n, missed=n % 3 == 0)) for n in range(60)] == [[]] * 60
    raised = [finding for n in range(60, 80) for finding in health.learn(selected(n, missed=True))]
    (finding,) = raised
    assert (finding.kind, finding.signal, finding.of, finding.hits) == ("layout", "missed", 20, 10)
    health = HealthMonitor(40, health.pack())
    assert health.state.totals["missed"] == [80, 40]
    ended = [finding for n in range(80, 110) for finding in health.learn(selected(n, missed=False))]
    assert [one.ended for one in ended] == ["no longer"]
    assert health.state.active == {}


def test_selectors_that_never_found_anything_raise_an_alarm_and_without_them_it_ends() -> None:
    health = HealthMonitor(40)
    found = [len(health.learn(selected(n, missed=True))) for n in range(12)]
    assert found == [0] * 9 + [1, 0, 0]
    assert [len(health.learn(selected(n, missed=None))) for n in range(20)].count(1) == 1
    assert health.state.active == {}
    assert [health.learn(selected(n, missed=None)) for n in range(20)] == [[]] * 20
