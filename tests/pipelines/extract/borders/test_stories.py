"""Other stories on the page of an article, and what belongs to it though it looks like one."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime

from pipelines.document.document import parse
from pipelines.extract.borders.stories import other_stories
from pipelines.parse_page import parse_page
from tests.table import each_row

NOW = datetime(2024, 6, 1, tzinfo=UTC)
WORDS = (
    "harbour council voted budget ferry storm minister report village bridge school river train engine market farmer",
    "price winter doctor nurse patient court judge lawyer police street driver museum painter theatre singer festival",
)


def paragraphs(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(" ".join(WORDS).split(), k=40)).capitalize() + "." for _ in range(count)]


def headline(seed: int) -> str:
    return " ".join(random.Random(1000 + seed).sample(" ".join(WORDS).split(), 6)).capitalize()


def story(seed: int, count: int, box: str = "article story", level: str = "h1", link: str = "") -> str:
    tag, name = box.split()
    text = "".join(f"<p>{line}</p>" for line in paragraphs(seed, count))
    title = f'<a href="{link}">{headline(seed)}</a>' if link else headline(seed)
    about = '<span class="byline">By Anna Holm</span> <time datetime="2024-03-03">3 March 2024</time>'
    return (
        f'<{tag} class="{name}"><header><{level}>{title}</{level}><div class="meta">{about}</div></header>'
        f'<div class="body">{text}</div></{tag}>'
    )


def flat(seed: int, count: int) -> str:
    text = "".join(f"<p>{line}</p>" for line in paragraphs(seed, count))
    return f"<h1>{headline(seed)}</h1><p>By Anna Holm, 3 March 2024</p>{text}"


def page(title: str, body: str) -> bytes:
    menu = "".join(f'<li><a href="/s{number}">Section {number}</a></li>' for number in range(8))
    return (
        f'<html><head><title>{title} - Daily Herald</title><meta property="og:title" content="{title}"></head><body>'
        f"<nav><ul>{menu}</ul></nav><main>{body}</main><footer>© Daily Herald</footer></body></html>"
    ).encode()


def text_of(title: str, body: str) -> list[str]:
    found = parse_page(page(title, body), "http://herald.example/2024/03/03/story.html", fetched_at=NOW)
    return [line for line in found.extraction.text.split("\n") if len(line) > 60]


@each_row(
    "others",
    [
        story(2, 6) + story(3, 6),
        story(2, 6, level="h2", link="/2024/03/02/b.html") + story(3, 6, level="h2", link="/2024/03/02/c.html"),
        f'<div class="endless">{story(2, 6, "div next", "h2", "/b.html")}{story(3, 6, "div next")}</div>',
        story(2, 15),
        story(2, 15, level="h2", link="/2024/03/02/b.html"),
    ],
)
def test_stories_loaded_below_are_left_out(others: str) -> None:
    assert text_of(headline(1), story(1, 4) + others) == paragraphs(1, 4)


def test_story_in_an_alike_container_above_is_left_out() -> None:
    assert text_of(headline(1), story(2, 15) + story(1, 4)) == paragraphs(1, 4)


def test_stories_without_containers_end_at_the_next_headline() -> None:
    assert text_of(headline(1), flat(1, 5) + flat(2, 5)) == paragraphs(1, 5)


def flagged(title: str, body: str) -> bool:
    return (
        other_stories(parse(page(title, body), "http://herald.example/a.html"), "".join(title.lower().split()))
        is not None
    )


def test_headline_that_repeats_the_pattern_is_another_story() -> None:
    assert flagged(headline(1), story(1, 4) + story(2, 4))


@each_row(
    ("level", "entry"),
    [("h2", "article"), ("h3", "article"), ("h2", "section"), ("h2", "div")],
)
def test_entries_of_a_live_blog_and_slides_are_one_article(level: str, entry: str) -> None:
    entries = "".join(
        f'<{entry} class="entry"><time datetime="2024-03-03T1{at}:05">1{at}:05</time><{level}>{headline(at)}</{level}>'
        f"<p>{line}</p></{entry}>"
        for at, line in enumerate(paragraphs(5, 8), 2)
    )
    lead = paragraphs(6, 1)
    own = f"<h1>{headline(1)}</h1><p>By Anna Holm, 3 March 2024</p><p>{lead[0]}</p>"
    assert text_of(headline(1), f'<article class="live">{own}{entries}</article>') == lead + paragraphs(5, 8)


@each_row(
    "part",
    [
        "<section><h1>{title}</h1><p>{text}</p><p>{text}</p></section>",
        "<h1>{title}</h1><p>{text}</p><p>{text}</p>",
        "<section><h2><a href=/shop>{title}</a></h2><p>{text}</p><p>{text}</p></section>",
        "<div class=box><h2>{title}</h2><p>3 March 2024</p><p>{text}</p><p>{text}</p></div>",
    ],
)
def test_sections_of_the_own_article_stay(part: str) -> None:
    about = "<p>By Anna Holm, 3 March 2024</p>"
    parts = "".join(part.format(title=headline(at), text=paragraphs(at, 1)[0]) for at in (2, 3))
    own = f"<h1>{headline(1)}</h1>{about}<p>{paragraphs(1, 1)[0]}</p>"
    assert not flagged(headline(1), f"<article><div class=text>{own}{parts}</div></article>")


def test_posts_that_answer_stay() -> None:
    answers = "".join(
        f"<div class=post><h3><a href=#p{at}>Re: {headline(1)}</a></h3><p>by Bo, 3 March 2024</p>"
        f"<p>{paragraphs(at, 1)[0]}</p><p>{paragraphs(at, 1)[0]}</p></div>"
        for at in (2, 3)
    )
    first = f"<div class=post><h3>{headline(1)}</h3><p>by Al, 2 March 2024</p><p>{paragraphs(1, 1)[0]}</p></div>"
    assert not flagged(headline(1), f"<div>{first}{answers}</div>")


def test_sub_headings_of_the_level_of_the_headline_stay() -> None:
    """A date in the text below one of several does not make it a story."""
    own = f"<h1>{headline(1)}</h1><p>By Anna Holm, 3 March 2024</p><p>{paragraphs(1, 1)[0]}</p>"
    parts = "".join(
        f"<h1>{headline(at)}</h1>{'<p>Drawn in March 2024</p>' * (at == 3)}<p>{paragraphs(at, 1)[0]}</p>"
        for at in range(2, 7)
    )
    assert not flagged(headline(1), f"<div class=article>{own}{parts}</div>")


@each_row("depth", [1, 150])
def test_page_of_headlines_costs_little(depth: int) -> None:
    one = f"{'<div>' * depth}<h1>{headline(2)}</h1><p>3 March 2024</p><p>{paragraphs(2, 1)[0]}</p>{'</div>' * depth}"
    document = parse(page(headline(1), story(1, 4) + one * (60_000 // (depth + 4))), "http://herald.example/a.html")
    start = time.process_time()
    assert other_stories(document, "".join(headline(1).lower().split())) is not None
    assert time.process_time() - start < 3
