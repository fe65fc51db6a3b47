"""The cache of scripts."""

from __future__ import annotations

from crawler.render.records import BrowserAnswer
from crawler.render.script_cache import ScriptCache
from tests.table import each_row

PAGE = "https://news.test/a"
URL = "https://cdn.test/app.js"


def test_scripts_are_kept_for_the_pages_of_a_host() -> None:
    cache = ScriptCache()
    answer = BrowserAnswer(200, (("Cache-Control", "max-age=600"),), b"x")
    cache.keep(PAGE, URL, answer)
    assert cache.get("https://news.test/b", URL) is answer
    assert cache.get("https://other.test/", URL) is None


@each_row(
    "answer",
    [
        BrowserAnswer(404, (), b"x"),
        BrowserAnswer(302, (("Location", "/x"),)),
        BrowserAnswer(200, (("CACHE-CONTROL", "Private, max-age=9"),), b"x"),
        BrowserAnswer(200, (), b"x" * (9 << 20)),
    ],
)
def test_errors_large_and_private_answers_are_not_kept(answer: BrowserAnswer) -> None:
    cache = ScriptCache()
    cache.keep(PAGE, URL, answer)
    assert cache.get(PAGE, URL) is None
