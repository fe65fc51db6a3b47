"""Where information drops most sharply."""

from __future__ import annotations

from pipelines.document.document import parse
from pipelines.document.view import measure
from pipelines.extract.decay import Params, extract, information, primary

LINE = "一二三四五六七八九，"


def test_information_is_text_that_punctuation_vouches_for() -> None:
    document = parse(f"<p>{LINE}</p><p>一二三四五六七八九十</p><p><a href=/>{LINE}</a></p>".encode(), "")
    assert information(document, Params(mark_chars=5, bare_share=0.1)).tolist() == [5.5, 1, 0]


def test_node_before_the_drop() -> None:
    body = f"<div class=page><div class=menu><a href=/>x</a></div><div class=text>{f'<p>{LINE}</p>' * 5}</div></div>"
    document = parse(body.encode(), "")
    amounts = measure(document).sums(information(document, Params()))
    # On the way html, body, div, div, p stand 50, 50, 50, 50 and 10 characters: the drop of 40 is behind the inner div.
    assert document.names[primary(document, amounts)] == "text"


def test_text_without_paragraphs_is_its_own_node() -> None:
    document = parse(f"<body><div><div class=text>{f'{LINE}<br>' * 5}</div></div></body>".encode(), "")
    assert document.names[primary(document, measure(document).sums(information(document, Params())))] == "text"


def test_longer_of_two_paragraphs_does_not_win() -> None:
    document = parse(f"<div><div class=text><p>{LINE * 2}</p><p>{LINE * 3}</p></div></div>".encode(), "")
    # 50 characters, then 30 and none: the drop of 30 counts by 30 / 50.
    assert document.names[primary(document, measure(document).sums(information(document, Params())))] == "text"


def test_links_inside_are_noise() -> None:
    body = f"<div><p>{LINE * 2}</p><p><a href=/>{LINE}</a></p><p>{LINE * 3}</p></div>"
    assert extract(parse(body.encode(), ""), Params()).text == f"{LINE * 2}\n{LINE * 3}"
