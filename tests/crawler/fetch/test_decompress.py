"""Content codings: whatever servers say and do, the page comes out, and never more than is allowed."""

from __future__ import annotations

import gzip
import random
import sys
import time
import zlib
from collections.abc import Callable, Sequence

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.decompress import UNSAID, Bomb, Decoder, DecodingBounds
from tests.table import each_row

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BOUNDS = DecodingBounds(8 << 20, 200.0)
PAGE = ("<html>" + "".join(f"<p>第{random.Random(n).random()}段</p>" for n in range(2_000))).encode()
TEXT = "没有标记的纯文本，也说成是压缩过的。".encode() * 20


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "raw": raw_deflate,
    "br": lambda data: brotli.compress(data, quality=5),
    "zstd": zstd.compress,
}
SAID = {"raw": "deflate"}


def decode(codings: Sequence[str], data: bytes, length: int = 1 << 16) -> tuple[bytes, bool, bool]:
    """Body, whether it was cut, whether it is broken."""
    decoder = Decoder(codings, BOUNDS)
    parts = [piece for at in range(0, len(data), length) for piece in decoder.feed(data[at : at + length])]
    parts += decoder.finish()
    return b"".join(parts), decoder.is_cut, decoder.is_broken


@each_row("name", PACK)
@each_row("length", [1, 700, 1 << 16])
def test_every_coding(name: str, length: int) -> None:
    assert decode([SAID.get(name, name)], PACK[name](PAGE), length) == (PAGE, False, False)


@each_row("outer", PACK)
@each_row("inner", PACK)
def test_one_on_the_other(inner: str, outer: str) -> None:
    said = [SAID.get(inner, inner), SAID.get(outer, outer)]
    assert decode(said, PACK[outer](PACK[inner](PAGE))) == (PAGE, False, False)


@each_row("said", [["gzip"], ["deflate"], ["br"], ["zstd"], ["utf-8"], ["none"], [], ["gzip", "br"]])
@each_row("body", [PAGE, TEXT, b"", b"x", b"{}"])
def test_body_that_is_not_coded_stays_as_it_is(said: list[str], body: bytes) -> None:
    assert decode(said, body, 100) == (body, False, False)


@each_row("said", ["gzip", "deflate", "br", "zstd"])
@each_row("real", ["gzip", "zstd"])
def test_magic_numbers_count_more_than_the_header(said: str, real: str) -> None:
    assert decode([said], PACK[real](PAGE)) == (PAGE, False, False)


@each_row("said", [[], ["gzip"], ["identity"], ["br"]])
def test_undeclared_coding_is_undone_where_it_may_be(said: list[str]) -> None:
    twice = gzip.compress(PAGE) if said != ["br"] else brotli.compress(gzip.compress(PAGE))
    data = gzip.compress(twice) if said == ["gzip"] else twice
    assert decode([UNSAID, *said], data, 100) == (PAGE, False, False)
    assert decode([UNSAID, *said], data[:-100], 100)[2]
    assert decode([UNSAID], b"x^ is a text", 5) == (b"x^ is a text", False, False)
    short = Decoder([UNSAID, "gzip"], BOUNDS)
    short.feed(gzip.compress(PAGE))
    assert short.is_complete
    assert not Decoder([UNSAID], BOUNDS).is_complete


@each_row("name", PACK)
def test_stream_that_ends_early_is_broken_and_gives_what_came(name: str) -> None:
    body, is_cut, is_broken = decode([SAID.get(name, name)], PACK[name](PAGE)[:-500], 1_000)
    assert (is_cut, is_broken) == (False, True)
    assert PAGE.startswith(body)
    if name not in {"zstd", "br"}:  # those come in large blocks
        assert len(body) > len(PAGE) / 2


def test_wrong_bytes_break_it() -> None:
    data = bytearray(gzip.compress(PAGE))
    data[len(data) // 2 : len(data) // 2 + 64] = b"\xff" * 64
    assert decode(["gzip"], bytes(data))[2]


@each_row("length", [1, 700, 1 << 16])
def test_checksums_that_are_wrong_or_missing_are_no_loss(length: int) -> None:
    for trailer in (b"", b"\0\0\0", b"\0" * 8):
        assert decode(["gzip"], gzip.compress(PAGE)[:-8] + trailer, length) == (PAGE, False, False)
        assert decode(["deflate"], zlib.compress(PAGE)[:-4] + trailer[:4], length) == (PAGE, False, False)


@each_row("length", [1, 700])
def test_head_of_gzip_may_hold_much(length: int) -> None:
    data = raw_deflate(PAGE)
    named = b"\x1f\x8b\x08\x1e\0\0\0\0\0\xff\x05\0extra" + b"page.html\0" + b"a comment\0" + b"\x12\x34"
    assert decode(["gzip"], named + data + b"\0" * 8, length) == (PAGE, False, False)
    for wrong in (b"\x1f\x8b\x08\xe0" + bytes(60), named[:24] + b"x" * 200_000):
        body, _, is_broken = decode(["gzip"], wrong)
        assert (body, is_broken) == (b"", True)


def test_members_one_after_the_other_and_rubbish_after_the_end() -> None:
    assert decode(["gzip"], gzip.compress(PAGE) + gzip.compress(TEXT)) == (PAGE + TEXT, False, False)
    for name in ("gzip", "deflate", "zstd"):
        assert decode([name], PACK[name](PAGE) + b"\0\0rubbish") == (PAGE, False, False)
    assert decode(["gzip"], gzip.compress(b"") * 20_000, 1 << 20)[0] == b""  # and does not take seconds


def test_long_body_is_cut_at_the_bound() -> None:
    noise = random.Random(1).randbytes(3_000)
    long = b"".join(noise + random.Random(n).randbytes(40) for n in range(3_400))
    for name in ("gzip", "deflate", "zstd"):
        body, is_cut, _ = decode([name], PACK[name](long), 1 << 16)
        assert (len(body), is_cut) == (BOUNDS.size, True)
    body, is_cut, _ = decode([], b"x" * (BOUNDS.size + 1))
    assert (len(body), is_cut) == (BOUNDS.size, True)
    assert decode([], b"x" * BOUNDS.size)[1] is False


UNIT = (b"<div><p>bomb bomb</p></div>" * (1 << 16))[: 1 << 20]


def packed(name: str, megabytes: int) -> bytes:
    return PACK[name](UNIT * megabytes)


@each_row("name", ["gzip", "deflate", "br", "zstd"])
@each_row("layers", [1, 2, 3])
def test_bomb_is_found_before_it_goes_off(name: str, layers: int) -> None:
    data = packed(name, 40)
    for _ in range(layers - 1):
        data = gzip.compress(data)
    decoder = Decoder([name] + ["gzip"] * (layers - 1), BOUNDS)
    began = time.process_time()
    with pytest.raises(Bomb):
        decoder.feed(data)
    assert time.process_time() - began < 2  # 40 MB would take it seconds to decode and to keep


def test_more_layers_than_anybody_honest_uses() -> None:
    with pytest.raises(Bomb):
        Decoder(["gzip"] * 4, BOUNDS)
    Decoder(["identity", "gzip", "utf-8", "gzip", "gzip", "x"], BOUNDS)


@given(st.sampled_from(["gzip", "deflate", "br", "zstd"]), st.binary(max_size=300), st.integers(1, 100))
def test_noise_never_raises(name: str, noise: bytes, length: int) -> None:
    for data in (noise, PACK[name](b"x" * 50)[:10] + noise):
        body, _, _ = decode([name], data, length)
        assert len(body) <= BOUNDS.size
