"""Captions of pictures, and paragraphs that are none."""

from __future__ import annotations

from pipelines.document.document import parse
from pipelines.extract.borders.captions import drop_captions
from pipelines.extract.combined import weigh
from tests.table import each_row

FIRST = "The ferry crossed the strait on Monday in heavy rain, and nobody on board was hurt at all."
SECOND = "The harbour master said that the storm had come two hours earlier than the service foretold."
CAPTION = "The ferry in the harbour of Oldport."
PICTURE = "<img src=/p/1.jpg>"


def kept_of(body: str) -> list[str]:
    document = parse(f"<html><body><article>{body}</article></body></html>".encode(), "http://e.com/a.html")
    kept = drop_captions(document, list(range(len(document.blocks))), weigh(document))
    return [document.blocks.texts[index] for index in kept]


@each_row(
    "caption",
    [
        f"<div class=pic>{PICTURE}<p class=picIntro>{CAPTION}</p></div>".replace("picIntro", "pic-intro"),
        f"<div><span>{PICTURE}</span><div class=img_descr>{CAPTION}</div></div>",
        f"<figure>{PICTURE}<figcaption>{CAPTION}</figcaption></figure>",
        f"<div>{PICTURE}<p><small class=credit>{CAPTION}</small></p></div>",
    ],
)
def test_caption_beside_its_picture_is_no_text(caption: str) -> None:
    assert kept_of(f"<p>{FIRST}</p>{caption}<p>{SECOND}</p>") == [FIRST, SECOND]


@each_row("named", ["<div><p class=caption>{}</p></div>", "<div class=captioned><p>{}</p></div>"])
def test_names_without_a_picture_say_nothing(named: str) -> None:
    assert kept_of(f"<p>{FIRST}</p>{named.format(CAPTION)}<p>{SECOND}</p>") == [FIRST, CAPTION, SECOND]


def test_text_of_nothing_but_captions_stays() -> None:
    body = f"<div>{PICTURE}<p class=caption>{FIRST}</p></div>" * 3
    assert kept_of(body) == [FIRST] * 3
