"""URLs that rules take for one: which are skipped, that none is lost, and what pages say of rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import text

from db.engine.database import Database
from db.frontier import aliases, claims, leases, runs
from db.frontier.insert import add_urls
from db.records.article import Candidate, MatchDecision, NewArticle
from db.records.keys import fingerprint, is_sampled
from db.records.reasons import SkipReason
from db.records.url import Lease, NewUrl, State
from db.sites import url_rules
from db.sites.url_rules import RuleRow
from tests.db.frontier_rows import NOW, article, done, new_url, seed_row, start, wish
from tests.db.stores import EachTimeNew

A = fingerprint("a.example")
SEED = "http://a.example/"
FORM, OTHER_FORM = 77, 78


def same_text(new: NewArticle, found: Sequence[Candidate]) -> MatchDecision | None:
    """A judge: an equal text is the same page."""
    for one in found:
        if one.text == new.text:
            return MatchDecision(one, 1.0, "test", "same", repeats=True, same_page=True, own_wording=False)
    return None


store = EachTimeNew(same_text).store


def address(name: str) -> str:
    """An address that is not among those fetched nevertheless, with this name in it."""
    tries = (f"http://a.example/{name}?n={n}" for n in range(99))
    return next(url for url in tries if not is_sampled(fingerprint(url)))


ONE, TWO, THREE = map(address, ("one", "two", "three"))


def of_form(url: str, form: int | None = FORM, **values: object) -> NewUrl:
    return new_url(url, form=form, **values)


@pytest.fixture
def lease(run_in: Callable) -> Callable:
    """Start a run; lease one of the URLs that wait."""
    run_in(runs.start_run, start(seed_row(SEED)))
    run_in(add_urls, (NOW, [new_url(SEED)]))
    run_in(leases.take_hosts, (1, 9))

    def lease_one(url: str, **values: object) -> Lease:
        found = run_in(claims.lease, wish(1, {A: 99}, **values)).urls
        run_in(claims.release, (1, [c for c in found if c.url != url]))
        return next(c for c in found if c.url == url)

    return lease_one


@pytest.fixture
def states(database: Database) -> Callable[[], dict[str, tuple]]:
    """State, reason and the URL that it is the same as, of every URL but the seed."""

    def ask() -> dict[str, tuple]:
        query = text(
            "SELECT u.url, u.state, u.reason, o.url FROM url u LEFT JOIN url o ON o.id = u.same_as "
            "WHERE u.kind = 'page' AND u.depth > 0"
        )
        with database.engine.connect() as connection:
            return {row[0]: tuple(row[1:]) for row in connection.execute(query) if row[0] != SEED}

    return ask


WAITS = ("pending", None, None)


def same_as(url: str) -> tuple[str, str, str]:
    return ("skipped", "url rule", url)


def found(run_in: Callable, leased: Lease, *new: NewUrl, **values: object) -> object:
    return run_in(store, done(leased, new_urls=new, reason="list page", **values))


def test_of_one_form_the_first_waits(lease: Callable, run_in: Callable, states: Callable, database: Database) -> None:
    """What has no form, or is not to be fetched, takes no part."""
    none, outside, nofollow, later = map(address, ("none", "outside", "nofollow", "later"))
    apart = of_form(none, None), of_form(outside, reason="outside"), of_form(nofollow, reason="nofollow")
    stored = found(run_in, lease(SEED), *apart, of_form(ONE), of_form(TWO), of_form(THREE, OTHER_FORM))
    waiting = {ONE: WAITS, TWO: same_as(ONE), THREE: WAITS, none: WAITS}
    others = {url: ("skipped", why, None) for url, why in ((outside, "outside"), (nofollow, "nofollow"))}
    assert states() == waiting | others
    assert (stored.new_urls, stored.queued) == (6, 3)
    with database.engine.connect() as connection:
        stand = dict(map(tuple, connection.execute(text("SELECT id, url_id FROM url_form"))))
    assert stand == {FORM: fingerprint(ONE), OTHER_FORM: fingerprint(THREE)}
    assert stored.refused == {SkipReason.URL_RULE: 1, SkipReason.OUTSIDE: 1, SkipReason.NOFOLLOW: 1}
    found(run_in, lease(THREE), of_form(later))
    assert states()[later] == same_as(ONE)
    known = found(run_in, lease(ONE), *apart)
    assert not known.refused, "a link that is not followed counts once, on however many pages it stands"


def test_one_in_sixteen_is_fetched_nevertheless(lease: Callable, run_in: Callable, states: Callable) -> None:
    urls = [f"http://a.example/{n}" for n in range(160)]
    stored = found(run_in, lease(SEED), *map(of_form, urls))
    waiting = {url for url, state in states().items() if state == WAITS}
    assert waiting == {urls[0], *(url for url in urls if is_sampled(fingerprint(url)))}
    assert 4 < len(waiting) < 22
    assert stored.refused[SkipReason.URL_RULE] == 160 - len(waiting)


def test_urls_skipped_for_a_page_without_article_wait_again(
    lease: Callable, run_in: Callable, states: Callable
) -> None:
    barren = {
        "missing": {"state": State.FAILED, "reason": "http error"},
        "list": {"reason": "list page"},
        "noindex": {"reason": "noindex"},
        "refused": {"state": State.SKIPPED, "reason": "IP address not allowed"},
    }
    good = {
        "offtopic": {"reason": "off topic"},
        "again": {"state": State.PENDING, "reason": "http error", "next_visit": NOW + 9},
        "redirect": {"state": State.SKIPPED, "reason": "redirect", "same_as": 5},
        "article": {"article": article(address("article"), "一")},
    }
    number = {name: n for n, name in enumerate((*barren, *good))}
    pairs = [of_form(address(name + variant), number[name]) for name in number for variant in ("", "-2")]
    found(run_in, lease(SEED), *pairs, of_form(ONE))
    for name, values in (barren | good).items():
        before = states()[address(name + "-2")]
        stored = run_in(store, done(lease(address(name)), **values))
        assert (before, states()[address(name + "-2")]) == (
            same_as(address(name)),
            WAITS if name in barren else same_as(address(name)),
        )
        assert (A in stored.hosts) == (name in barren or name == "again"), "its host has work"
    # whoever is found later is measured by what stands then
    found(run_in, lease(ONE), *(of_form(address(name + "-3"), number[name]) for name in number))
    later = {name: states()[address(name + "-3")] for name in number}
    assert later == {name: WAITS if name in barren else same_as(address(name)) for name in number}


def test_new_form_takes_the_place_of_one_that_brought_nothing(
    lease: Callable, run_in: Callable, states: Callable
) -> None:
    found(run_in, lease(SEED), of_form(ONE), of_form(THREE, OTHER_FORM))
    run_in(store, done(lease(ONE), state=State.FAILED, reason="http error"))
    found(run_in, lease(THREE), of_form(TWO), of_form(address("four")))
    assert (states()[TWO], states()[address("four")]) == (WAITS, same_as(TWO))


def test_rules_of_robots_revive_too(lease: Callable, run_in: Callable, states: Callable) -> None:
    found(run_in, lease(SEED), of_form(ONE), of_form(TWO))
    forbidden = {"disallow_reason": lambda _host, url: SkipReason.ROBOTS if url == ONE else None}
    assert lease(TWO, **forbidden).url == TWO, "in one go"
    assert states()[ONE] == ("skipped", "robots", None)


def test_redirect_targets_and_seeds_are_fetched(lease: Callable, run_in: Callable, states: Callable) -> None:
    four = address("four")
    found(run_in, lease(SEED), of_form(ONE), *map(of_form, (TWO, THREE, four)))
    leads = [new_url(TWO, hops=1), new_url(THREE)]
    away = {"state": State.SKIPPED, "reason": "redirect", "same_as": fingerprint(TWO)}
    run_in(store, done(lease(ONE), new_urls=leads, **away))
    run_in(add_urls, (NOW, [new_url(four, again=True)]))
    assert {url: states()[url] for url in (TWO, THREE, four)} == {TWO: WAITS, THREE: same_as(ONE), four: WAITS}


# ---------------------------------------------------------------- what pages say


def test_content_of_pages(lease: Callable, run_in: Callable, database: Database) -> None:
    """Articles, other addresses of them, redirects to them, lists; nothing else."""
    names = ("article", "repeated", "redirect", "list", "missing", "empty", "moved", "home", "loop")
    urls = {name: address(name) for name in names}
    ids = {name: fingerprint(url) for name, url in urls.items()}
    found(run_in, lease(SEED), *(new_url(url) for url in urls.values()))
    away = {"state": State.SKIPPED, "reason": "redirect"}
    for name, values in {
        "article": {"article": article(urls["article"], "一")},
        "repeated": {"article": article(urls["repeated"], "一")},
        "redirect": {**away, "same_as": ids["repeated"]},
        "list": {"reason": "list page", "same_as": ids["article"]},
        "missing": {"state": State.FAILED, "reason": "http error"},
        "empty": {"reason": "no text"},
        "moved": {"article": article(urls["moved"], "二", canonical_id=ids["home"]), "same_as": ids["home"]},
        "home": {"article": article(urls["home"], "二")},
        "loop": {**away, "same_as": ids["loop"]},
    }.items():
        run_in(store, done(lease(urls[name]), **values))
    held = dict(database.read(lambda c: url_rules.evidence(c, A, 99)))
    assert held.pop(SEED) == fingerprint(SEED)
    assert held == {
        urls[name]: ids[of]
        for name, of in {
            "article": "article",
            "repeated": "article",
            "redirect": "article",
            "list": "list",
            "moved": "home",
            "home": "home",
        }.items()
    }
    assert len(database.read(lambda c: url_rules.evidence(c, A, 2))) <= 2
    assert database.read(lambda c: url_rules.hosts_with_repeats(c, 9)) == [(A, "a.example")]


def test_rules_take_the_place_of_those_before(lease: Callable, run_in: Callable, database: Database) -> None:
    one, two = (RuleRow("parameter", f"/?{n}", 30, n, 0.5 + n / 10, n, "[]") for n in (0, 1))
    run_in(url_rules.save, (A, [one, two]))
    assert database.read(url_rules.rules) == [("a.example", two), ("a.example", one)]
    assert run_in(url_rules.used, None) == {A: [("parameter", "/?1")]}
    assert database.read(lambda c: url_rules.used_of(c, A)) == [("parameter", "/?1")]
    run_in(url_rules.save, (A, [one]))
    assert database.read(url_rules.rules) == [("a.example", one)]
    assert run_in(url_rules.used, None) == {}


def test_queue_is_brought_in_line_with_new_rules_and_back(
    lease: Callable, run_in: Callable, states: Callable, database: Database
) -> None:
    found(run_in, lease(SEED), *(new_url(url) for url in (ONE, TWO, THREE)))
    run_in(store, done(lease(ONE), article=article(ONE, "一")))
    run_in(store, done(lease(THREE), state=State.FAILED, reason="http error"))
    known = database.read(lambda c: url_rules.known_urls(c, A, 99))
    assert [(one.url, one.waits, one.found_in) for one in known] == [(ONE, False, 1), (TWO, True, 1)]
    one, two, three = map(fingerprint, (ONE, TWO, THREE))
    run_in(aliases.fill, [(FORM, A, one), (FORM, A, two), (OTHER_FORM, A, two)])
    assert run_in(aliases.skip_waiting, [(two, three)]) == 0, "what failed represents nothing"
    assert run_in(aliases.skip_waiting, [(two, one), (one, two)]) == 1
    assert states()[TWO] == same_as(ONE)
    assert database.read(lambda c: url_rules.skipped_urls(c, A)) == [(two, TWO, ONE)]
    with database.engine.connect() as connection:
        stand = dict(map(tuple, connection.execute(text("SELECT id, url_id FROM url_form"))))
    assert stand == {FORM: one, OTHER_FORM: two}
    assert [run_in(aliases.clear, A) for _ in range(2)] == [2, 0]
    assert run_in(aliases.let_wait, (A, [one, two])) == 1
    assert states()[TWO] == WAITS
    with database.engine.connect() as connection:
        assert connection.execute(text(f"SELECT queued FROM host WHERE id = {A}")).scalar_one() == 2, "told its owner"
