from __future__ import annotations

import numpy as np
import pytest

from pipelines.document.document import parse
from pipelines.focus.terms import (
    MAX_TERMS,
    PageTerms,
    build_page_terms,
    hash_word,
    list_texts,
    pack,
    read_document,
    read_text,
    unpack,
    weigh,
)
from pipelines.links.links import extract
from pipelines.records import Extraction
from tests.table import each_row

PAGE = b"""<title>Bridges</title><body><h1>Viaducts</h1><p>About <b>spans</b> and water and other things.</p>
<ul><li>See the <a href="/stone/tower">Old Tower</a> near the harbour</li><li><a href="/b">Ferries</a></li></ul>"""


def same(first: PageTerms, second: PageTerms) -> bool:
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in PageTerms.__slots__)


def test_hashes_are_stable() -> None:
    assert hash_word("bridge") == 307_731_712
    assert hash_word("桥") != hash_word("橋")


def test_title_headings_and_emphasis_weigh_more() -> None:
    document = parse(PAGE, "http://a.test/")
    weights = weigh(list_texts(document, Extraction()))
    assert min(weights["bridge"], weights["viaduct"]) > weights["span"] > weights["water"] > 0


def test_link_has_the_words_of_its_text_its_address_and_its_surroundings() -> None:
    document = parse(PAGE, "http://a.test/")
    links = extract(document, Extraction())
    page = read_document(document, Extraction(), links)
    assert len(page) == len(links) == 2
    assert page.anchors[: page.anchor_counts[0]].tolist() == [hash_word(word) for word in ("old", "tower", "stone")]
    assert hash_word("harbour") in page.around[: page.around_counts[0]]
    assert page.around_counts[1] == 0


def test_heaviest_terms_are_kept() -> None:
    page = build_page_terms({f"w{number}": 1.0 + number for number in range(1000)}, [])
    assert len(page.terms) == MAX_TERMS
    assert page.terms[0] == hash_word("w999")
    assert np.all(np.diff(page.weights) <= 0)


@each_row("text", ["", "bridge", "河口大桥 " * 200])
def test_packing_keeps_everything(text: str) -> None:
    page = read_text(text, [("a bridge", "http://a.test/x"), ("", "http://a.test/"), ("桥" * 300, "http://a.test/y")])
    page = unpack(pack(page))  # the weights are rounded once
    assert same(page, unpack(pack(page)))
    assert len(page) == 3


@each_row("data", [b"", b"\x09", b"\x01\x05", b"\x01\x05\x00\x01\x00\x00\x00abc"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="terms of a page"):
        unpack(data)


def test_cut_record_is_refused_everywhere() -> None:
    data = pack(read_text("bridges and rivers", [("ferries there", "http://a.test/f")]))
    for end in range(len(data)):
        with pytest.raises(ValueError, match="terms of a page"):
            unpack(data[:end])
