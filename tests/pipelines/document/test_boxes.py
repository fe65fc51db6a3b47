"""Boxes: which containers hold comments, captions and dialogs, and which only sound like it."""

from __future__ import annotations

import numpy as np

from pipelines.document.boxes import find_boxes, is_thread
from pipelines.document.document import parse
from tests.table import each_row

URL = "http://mail.example/2024/pier.html"


def flags_of(opening: str, tag: str = "div") -> tuple[bool, bool]:
    """Tell whether a text in this container stands in a box, in comments."""
    page = f"<body class=comments-open><p>{'The pier was opened. ' * 40}</p>{opening}Nice pier!</{tag}></body>"
    document = parse(page.encode(), URL)
    boxes, comments = find_boxes(document, np.ones(len(document.blocks), np.bool_))
    assert not boxes[0]
    assert not comments[0]
    return bool(boxes[-1]), bool(comments[-1])


@each_row(
    "name",
    [
        "comments",
        "comment odd alt thread-even depth-2",
        "li-comment-321198",
        "comments-area",
        "readercomments",
        "user_comments_list",
        "commentlist",
        "commentaires",
        "lista-comentarios",
        "kommentare",
        "komentarze",
        "box pinglun",
        "respond",
    ],
)
def test_comments_are_found_by_the_name_of_their_container(name: str) -> None:
    assert flags_of(f'<div class="{name}">') == (False, True)


@each_row(
    "name",
    [
        "post comments-open",
        "hentry comments-enabled",
        "comment-count",
        "recent-comments",
        "no-comments",
        "commented-on",
    ],
)
def test_names_that_only_speak_of_comments_hold_none(name: str) -> None:
    assert flags_of(f'<div class="{name}">') == (False, False)


@each_row(
    ("opening", "tag"),
    [
        ("<figure><figcaption>", "figcaption"),
        ("<nav>", "nav"),
        ("<footer>", "footer"),
        ("<form>", "form"),
        ("<p class=wp-caption-text>", "p"),
        ("<div class=imageCaption>", "div"),
        ("<div class=Bildunterschrift>", "div"),
        ("<div class='cookie-modal show'>", "div"),
        ("<div id=newsletter-popup>", "div"),
        ("<div role=dialog>", "div"),
        ("<blockquote class='postcontent lastedited'>", "blockquote"),
        ("<div style='display:none'>", "div"),
    ],
)
def test_boxes_are_found_by_tag_name_or_because_they_are_hidden(opening: str, tag: str) -> None:
    assert flags_of(opening, tag) == (True, False)


@each_row("opening", ["<aside class=factbox>", "<blockquote class=twitter-tweet>", "<div class=captionless>"])
def test_fact_boxes_and_embedded_posts_are_text(opening: str) -> None:
    assert flags_of(opening, opening[1:].split(" ", 1)[0]) == (False, False)


def test_box_that_holds_much_of_the_page_is_none() -> None:
    """Old pages stand in one form."""
    page = f"<form><p>{'The pier was opened. ' * 40}</p></form><p>Oldport</p>"
    document = parse(page.encode(), URL)
    assert not find_boxes(document, np.ones(2, np.bool_))[0].any()


@each_row(
    ("url", "head"),
    [
        ("http://forum.example/viewtopic.php?t=3", ""),
        ("http://boards.example/threads/piers.31/", ""),
        ("http://bbs.example/thread-12-1-1.html", ""),
        ("http://help.example/questions/12/how", ""),
        ("http://a.example/12", "<meta name=generator content='Discourse 3.2'>"),
        ("http://a.example/12", '<script type="application/ld+json">{"@type": "QAPage"}</script>'),
    ],
)
def test_thread_is_told_by_url_software_and_type(url: str, head: str) -> None:
    assert is_thread(parse(f"<head>{head}</head><p>Nice pier!".encode(), url))
    assert not is_thread(parse(b"<p>Nice pier!", URL))
