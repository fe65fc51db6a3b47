"""What near-duplicates are commonly found with, as small as it can be written: to be measured beside our methods.

Each takes the texts in order and returns the pairs it finds, by their places, and how many pairs it compared. All of
them normalise as our own methods do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

from pipelines.dedup.normalize import UNSPACED, build_tables, encode, exact_hash, normalize

Pairs = list[tuple[int, int]]

UNSPACED_CHARS, WORD_CHARS = 5, 8
"""Shingles of MinHash, in scripts without and with spaces."""
PERMUTATIONS = 128
JACCARD = 0.4
DISTANCE = 3


def shingles(text: str) -> npt.NDArray[np.uint64]:
    """Hashes of all character n-grams of the normalised text; n goes by the script of most characters."""
    codes = encode(normalize(text))
    unspaced = 2 * np.count_nonzero(build_tables().kind.take(codes, mode="clip") == UNSPACED) > codes.size
    size = min(codes.size, UNSPACED_CHARS if unspaced else WORD_CHARS)
    many = codes.size - size + 1 if size else 0
    hashes = np.zeros(many, np.uint64)
    for at in range(size):
        hashes = (hashes ^ codes[at : at + many]) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(32)
    return hashes


def exact(texts: Iterable[str]) -> tuple[Pairs, int]:
    """Equal hashes of the normalised texts."""
    seen: defaultdict[int, list[int]] = defaultdict(list)
    pairs: Pairs = []
    for number, text in enumerate(texts):
        same = seen[exact_hash(normalize(text))]
        pairs += [(other, number) for other in same]
        same.append(number)
    return pairs, 0


def simhash(texts: Iterable[str]) -> tuple[Pairs, int]:
    """64 bits of majority votes over shingles; all pairs whose bits differ in three places at most.

    Source: M. Charikar, Similarity estimation techniques from rounding algorithms, 2002; G. Manku et al., Detecting
    near-duplicates for web crawling, 2007 (64 bits, distance 3).
    """
    prints = np.zeros(1024, np.uint64)
    pairs: Pairs = []
    number = 0
    for number, text in enumerate(texts):
        hashes = shingles(text)
        bits = np.unpackbits(hashes.view(np.uint8)).reshape(-1, 64)
        votes = bits.sum(axis=0, dtype=np.int64) * 2 > len(bits)
        own = np.packbits(votes).view(np.uint64)[0]
        if number >= prints.size:
            prints = np.concatenate((prints, np.zeros_like(prints)))
        close = np.flatnonzero(np.bitwise_count(prints[:number] ^ own) <= DISTANCE)
        if hashes.size:
            pairs += [(other, number) for other in close.tolist()]
        prints[number] = own
    return pairs, number * (number + 1) // 2


def minhash(texts: Iterable[str]) -> tuple[Pairs, int]:
    """MinHash with LSH bands of two by rensa; candidates whose estimated Jaccard similarity suffices.

    Source: A. Broder, On the resemblance and containment of documents, 1997; P. Indyk and R. Motwani, 1998 (LSH).
    """
    from rensa import RMinHash, RMinHashLSH

    lsh = RMinHashLSH(JACCARD, PERMUTATIONS, PERMUTATIONS // 2)
    kept = []
    pairs: Pairs = []
    compared = 0
    for number, text in enumerate(texts):
        sketch = RMinHash(PERMUTATIONS, 42)
        packed = shingles(text).tobytes()
        sketch.update([packed[at : at + 8] for at in range(0, len(packed), 8)])
        for other in lsh.query(sketch):
            compared += 1
            if sketch.jaccard(kept[other]) >= JACCARD:
                pairs.append((other, number))
        lsh.insert(number, sketch)
        kept.append(sketch)
    return pairs, compared


def peers() -> dict[str, Callable[[Iterable[str]], tuple[Pairs, int]]]:
    """Those that can be run, by name."""
    found = {"exact hash": exact, "SimHash 64, distance <= 3": simhash}
    if find_spec("rensa") is not None:
        found["MinHash-128 LSH, J >= .4"] = minhash
    return found
