"""Patterns of URLs: what is abstracted, what is kept apart, and what is taken for a path without end."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from pipelines.url_rules.forms import patterns
from pipelines.url_rules.trap_patterns import EXACT, FOLDER, HOST, SHAPE, disallow_reason
from tests.table import each_row

HOST_URL = "http://a.example"


@each_row(
    ("path", "exact", "folder", "shape"),
    [
        ("/", "/", "/", "/"),
        ("/news/2024-05-01/123.html", "/news/<date>/<number>.html", "/news/*/*.html", "/*/*/*.html"),
        ("/2024/05/", "/<number>/<number>/", "/*/*/", "/*/*/"),
        ("/missing/0f3ab12c.html", "/missing/<id>.html", "/missing/*.html", "/*/*.html"),
        ("/shop?size=2&color=1", "/shop?color&size", "/shop?", "/*?"),
        ("/index.php?m=show&id=7", "/index.php?id&m=show", "/index.php?", "/*.php?"),
        ("/forum/view.php?t=1", "/forum/view.php?t", "/forum/view.php?", "/*/*.php?"),
        ("/view/3;jsessionid=x?sid=ab12", "/view/<number>;?sid", "/view/*?", "/*/*?"),
        ("/%E6%96%B0/t20240512_9.html", "/<text>/t<number>_<number>.html", "/*/*.html", "/*/*.html"),
        ("/tag/foo", "/tag/foo", "/tag/*", "/*/*"),
        ("/a/b/c/d/e/f/g/h", "/a/b/c/d/e/f/**", "/a/*/*/*/*/*/**", "/*/*/*/*/*/*/**"),
        ("/deep/news/up/news/x/", "/deep/**", "/deep/**", "/**"),
        ("/a/1/2/3/4/5/6/7/8/9", "/a/**", "/a/**", "/**"),
    ],
)
def test_patterns(path: str, exact: str, folder: str, shape: str) -> None:
    assert patterns(HOST_URL + path)[:3] == (exact, folder, shape)


@each_row("path", ["/x/news/list/news/list/news/list/", "/a/a/a/", "/x/b1/b1/b1/c.html"])
def test_path_that_runs_round_is_refused_at_once(path: str) -> None:
    assert disallow_reason(HOST_URL + path, {}) == "endless path"


@each_row("path", ["/2024/5/5/5/", "/news/news/", "/a/b/a/b/", "/1/1/1/1/1.html", "/a//b///"])
def test_paths_that_people_make_are_not(path: str) -> None:
    assert disallow_reason(HOST_URL + path, {}) == ""


def test_blocked_patterns_and_what_is_open_all_the_same() -> None:
    blocked = {(SHAPE, "/*/*.html"): "look-alike pages", (EXACT, "/news/<number>.html"): ""}
    assert disallow_reason(f"{HOST_URL}/other/1.html", blocked) == "look-alike pages"
    assert disallow_reason(f"{HOST_URL}/news/1.html", blocked) == ""
    assert disallow_reason(f"{HOST_URL}/cal?d=1", {(FOLDER, "/cal?"): "calendar"}) == "calendar"
    assert disallow_reason(f"{HOST_URL}/any", {(HOST, ""): "link farm"}) == "link farm"


@given(st.text(alphabet="abz019-_/.?&=;%~", max_size=400))
def test_any_url_has_patterns_of_bounded_length(rest: str) -> None:
    found = patterns(f"{HOST_URL}/{rest}")
    assert all(0 < len(text) <= 200 for text in found[:3])


@each_row("piece", ["a-", "1", "a1", "/", "a/", "&", "a=b&", "%", ".a", "0f"])
def test_long_urls_cost_little(piece: str) -> None:
    url = f"{HOST_URL}/{piece * (20_000 // len(piece))}"
    begun = time.process_time()
    patterns(url)
    assert time.process_time() - begun < 3
