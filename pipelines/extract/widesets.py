"""Sets in which a sign takes two or four bytes, without a byte order mark; sets in which ASCII stands for Chinese."""

from __future__ import annotations

import re
from typing import Final

from .charsets import COMMON_HAN, COMMON_HANGUL

_SETS: Final = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_LEAST_BYTES: Final = 8
_LEAST_ZEROS: Final = 0.2
_LEAST_SHARE: Final = 0.3
_LEAST_HAN: Final = 12
_HAN = re.compile("[\\u3400-\\u9fff]")
_USUAL = re.compile("[\\n\\r\\t -~\\u3001-\\u30ff\\uff01-\\uff5e]")
_COMMON: Final = COMMON_HAN | COMMON_HANGUL


def wide_set(head: bytes, content_type: str = "") -> str:
    """Return the wide set that bytes are in, by where their zeros stand; empty when they are in none.

    Where the header names such a set and there are few zeros, as in a text without markup, the byte order counts in
    which the text reads like one.

    Args:
        head: the first bytes of a page, without byte order mark.
        content_type: the value of the HTTP header.

    Cost: O(bytes).
    """
    if len(head) < _LEAST_BYTES:
        return ""
    if b"\0" in head:
        quarter = len(head) // 4
        zeros = [head[at : 4 * quarter : 4].count(0) / quarter for at in range(4)]
        for name, (a, b, c, d) in (("utf-32-le", (0, 1, 2, 3)), ("utf-32-be", (3, 2, 1, 0))):
            if zeros[c] > 0.95 and zeros[d] > 0.95 and zeros[a] < 0.1 and zeros[b] < 0.95:
                return name
        even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
        name = "utf-16-le" if odd > even else "utf-16-be"
        if max(odd, even) > max(_LEAST_ZEROS, 5 * min(odd, even)) and _share(head, name) >= _LEAST_SHARE:
            return name
    declared = content_type.lower()
    if "utf-16" not in declared and "utf-32" not in declared:
        return ""
    shares = {name: _share(head, name) for name in _SETS}
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] >= _LEAST_SHARE else ""


def _share(head: bytes, name: str) -> float:
    """How much of a reading is usual signs."""
    text = head.decode(name, "replace")
    usual = len(_USUAL.findall(text)) + sum(map(_COMMON.__contains__, text))
    return usual / max(1, len(text))


def is_chinese(text: str) -> bool:
    """Return whether a reading of ASCII as Chinese reads like Chinese.

    >>> is_chinese("河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段，"), is_chinese("a ~{ b ~}")
    (True, False)
    """
    han = _HAN.findall(text)
    return len(han) >= _LEAST_HAN and sum(map(COMMON_HAN.__contains__, han)) >= _LEAST_SHARE * len(han)
