"""Selectors that are suggested: the shortest stable ones that are right on nearly all pages of a sample."""

from __future__ import annotations

from pipelines.suggest import (
    Naming,
    PageToRead,
    Sampling,
    SelectorFit,
    Trial,
    choose,
    is_stable,
    most_named,
    templates_of,
)
from pipelines.worker import ParseOptions
from tests.table import each_row

OPTIONS = ParseOptions()


def story(n: int, body: str = 'class="text c{n} css-x1y2"', name: str = "h1") -> PageToRead:
    """A page whose place in the template differs from others by what stands above the text."""
    text = "".join(
        f"<p>On day {n * 10 + line} the council met, and it decided to build bridge number {n} over the river.</p>"
        for line in range(4 + n % 3)
    )
    adverts = "<div>Advert</div>" * (n % 3)
    body = body.replace("{n}", str(n))
    html = (
        f"<html><head><title>Bridge {n} of the town - Sample</title></head><body>"
        f"<div class='top'><a href='/'>Home</a></div>{adverts}"
        f"<{name}>Bridge {n} of the town</{name}><p class='meta'><span class='who'>By Jane Doe</span> "
        f"<span class='at'>2024-03-{n + 1:02} 08:{n + 10}</span></p><div {body}>{text}</div>"
        "<div class='foot'>Copyright Sample</div></body></html>"
    )
    return PageToRead(html.encode(), f"http://a.example/news/{n}.html", "", 1.8e9)


def suggest(pages: list[PageToRead]) -> dict[str, SelectorFit]:
    samples = [Sampling(page).done(OPTIONS) for page in pages]
    assert None not in samples
    tried = most_named([Naming(page, templates_of(samples)).done(OPTIONS) for page in pages])
    return choose([Trial(page, tried).done(OPTIONS) for page in pages])


def test_suggestion_is_short_and_without_names_that_change() -> None:
    found = suggest([story(n) for n in range(9)])
    assert {name: one.selector for name, one in found.items()} == {
        "body": "css:.text",
        "title": "css:h1",
        "published": "css:.at",
        "author": "css:.who",
    }
    assert {(one.right, one.of, one.is_suggested) for one in found.values()} == {(9, 9, True)}


def test_selector_that_is_right_too_seldom_is_not_suggested() -> None:
    """Half of the pages are of another template."""
    pages = [story(n, 'class="text"' if n % 2 else 'id="story"', "h1" if n % 2 else "h2") for n in range(10)]
    found = suggest(pages)
    assert (found["body"].right, found["body"].is_suggested) == (5, False)
    assert (found["title"].right, found["title"].is_suggested) == (5, False)
    assert found["published"].is_suggested


def test_body_without_a_name_is_found_by_its_place_or_not_at_all() -> None:
    found = suggest([story(n, "") for n in range(9)])
    assert not found.get("body", SelectorFit("", 0, 9, 0.0)).is_suggested
    named = [
        PageToRead(one.body.replace(b"<h1>", b"<div class='page'><h1>"), one.url, "", 1.8e9)
        for one in map(story, range(6))
    ]
    bare = [PageToRead(one.body.replace(b"text c", b"c"), one.url, "", 1.8e9) for one in named]
    assert suggest(bare)["body"].selector in {"css:.page > div", "css:.page > div:nth-of-type(1)", "css:.page"}


def test_list_is_no_sample() -> None:
    items = "".join(f'<li><a href="/news/{n}.html">A headline about the town, number {n}</a></li>' for n in range(30))
    page = PageToRead(f"<html><body><ul>{items}</ul></body></html>".encode(), "http://a.example/", "", 1.8e9)
    assert Sampling(page).done(OPTIONS) is None
    assert choose([]) == {}


@each_row(
    ("name", "stable"),
    [
        ("article-body", True),
        ("articleBody", True),
        ("article__body", True),
        ("TRS_Editor", True),
        ("p", False),
        ("post-4711", False),
        ("css-abcdef", False),
        ("sc-bdVaJa", False),
        ("Body_text__xYzAb", False),
        ("is-active", False),
        ("first", False),
        ("bcdfghjkl", False),
        ("x" * 50, False),
    ],
)
def test_names_that_a_build_tool_or_a_state_makes_are_not_stable(name: str, stable: bool) -> None:  # noqa: FBT001
    assert is_stable(name) is stable
