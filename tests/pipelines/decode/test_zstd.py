"""Stored bytes come back whole, or not at all."""

from __future__ import annotations

import pytest

from pipelines.decode.zstd import Compressor, UnpackError, compress, decompress

PYTHON_ZSTANDARD = bytes.fromhex("28b52ffd200b5900006172636869766564206f6b")
"""Written by another library, as bodies in older databases are."""


@pytest.mark.parametrize("data", [b"", b"a", b"ab" * 100_000, bytes(range(256)) * 700])
def test_packed_bytes_come_back(data: bytes) -> None:
    assert decompress(compress(data, 3), len(data)) == data
    assert decompress(Compressor(level=1).compress(data, Compressor.FLUSH_FRAME)) == data


def test_content_beyond_the_bound_is_refused_before_it_is_unpacked() -> None:
    with pytest.raises(UnpackError, match="longer than 1000 bytes"):
        decompress(compress(bytes(1 << 28)), 1000)
    assert decompress(compress(bytes(1000)), 1000) == bytes(1000)


@pytest.mark.parametrize("packed", [b"", b"no zstd at all", compress(b"ab" * 1000)[:-1], compress(bytes(1 << 20))[:20]])
def test_damaged_and_cut_frames_are_refused(packed: bytes) -> None:
    with pytest.raises(UnpackError):
        decompress(packed)


def test_window_beyond_the_bound_is_refused() -> None:
    frame = b"\x28\xb5\x2f\xfd\x00\x98\x01\x00\x00"  # it may look back 512 MiB
    with pytest.raises(UnpackError, match="memory"):
        decompress(frame)


def test_frames_of_other_writers_are_read() -> None:
    assert decompress(PYTHON_ZSTANDARD) == b"archived ok"
