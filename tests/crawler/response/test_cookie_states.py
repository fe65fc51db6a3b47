"""States of redirects and cookies: remembered within bounds, new ones told from old ones."""

from __future__ import annotations

from crawler.response.cookie_states import _MOST_STATES, CookieStates
from pipelines.links.scope import identify
from tests.crawler.answers import NO_LINKS, URL, listed, page


def test_states_of_a_redirect() -> None:
    sent = [""]
    states = CookieStates(lambda _url: sent[-1])
    assert states.is_new(identify(URL)) is None
    states.note(page(302))
    assert states.is_new(identify(URL)) is False
    sent.append("a=1")
    assert states.is_new(identify(URL)) is True
    states.note(page(302, cookies="a=1"))
    assert states.is_new(identify(URL)) is False
    # what was asked before this crawl is not known
    assert states.is_new(identify("http://h.cn/other")) is True


def test_states_of_pages_that_show_something_are_not_kept() -> None:
    states = CookieStates()
    for shown in (page(200), page(404), page(200, parsed=listed(NO_LINKS))):
        states.note(shown)
        assert states.is_new(identify(URL)) is None
    states.note(page(200, parsed=listed(NO_LINKS, sends_to=URL)))
    assert states.is_new(identify(URL)) is False


def test_states_are_bounded() -> None:
    states = CookieStates(lambda _url: "never the same")
    for number in range(_MOST_STATES):
        assert states.is_new(identify(URL)) is True
        states.note(page(302, cookies=str(number)))
    assert states.is_new(identify(URL)) is False
