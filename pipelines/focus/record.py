"""Stored form of a page's terms and the targets of its links."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from . import terms
from .terms import PageTerms

_COUNT = struct.Struct("<I")


def pack(page: PageTerms, targets: Sequence[int]) -> bytes:
    """Pack a page's terms and links' targets; `ValueError` unless one per link."""
    if len(targets) != len(page):
        raise ValueError(f"{len(targets)} targets for {len(page)} links; it takes one for each")
    return _COUNT.pack(len(targets)) + np.array(targets, "<i8").tobytes() + terms.pack(page)


def unpack(data: bytes) -> tuple[PageTerms, NDArray[np.int64]]:
    """Unpack the bytes of `pack`; `ValueError` if they are incomplete or others."""
    if len(data) < _COUNT.size:
        raise ValueError(f"words of a page have {len(data)} bytes; they take at least {_COUNT.size}")
    (links,) = _COUNT.unpack_from(data)
    at = _COUNT.size + 8 * links
    page = terms.unpack(data[at:])
    return page, np.frombuffer(data, "<i8", links, _COUNT.size).astype(np.int64)
