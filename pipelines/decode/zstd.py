"""Zstandard for what is stored: packed pages and texts, unpacked within a bound."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

compress, Compressor = zstd.compress, zstd.ZstdCompressor
_WINDOW_LOG = 27
"""A frame may look back 128 MiB, zstd's own bound for streams; those written here look back 2 MiB."""
MOST_BYTES = 1 << 30
"""Longest content of a frame, where its reader knows no lower bound."""
_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG}


class UnpackError(ValueError):
    """Packed bytes are damaged, cut off or too long once unpacked."""


def decompress(packed: bytes | memoryview, most_bytes: int = MOST_BYTES) -> bytes:
    """Unpack one frame, never more than one byte beyond `most_bytes`.

    Raises:
        UnpackError: the frame is damaged or its content is longer.
    """
    unpack = zstd.ZstdDecompressor(options=_OPTIONS)
    try:
        data = unpack.decompress(packed, most_bytes + 1)
        if len(data) > most_bytes:
            raise UnpackError(f"longer than {most_bytes} bytes")
        if not unpack.eof and data:  # the last bytes may need one more call to reach the end of the frame
            data += unpack.decompress(b"", 1)
    except (zstd.ZstdError, EOFError) as error:
        raise UnpackError(str(error)) from None
    if not unpack.eof:
        raise UnpackError("it is cut off")
    return data
