"""Why a request brought no page, in words that can be stored, shown and counted. Pure.

What a server or a certificate says ends up in errors; nothing of it is passed on but through `clean`.

    FetchError      a request failed; its text is the reason
    why             the reason of any error
    clean           a text of others as one harmless line
    is_final        whether asking again would bring the same
"""

from __future__ import annotations

import errno
import ssl
import unicodedata

from .guard import AddressRefused

TIMED_OUT = "timed out"
STALLED = "stalled"
NO_HOST = "no such host"
LOST = "connection lost"
REFUSED = "address not allowed"
BOMB = "compression bomb"
CERTIFICATE = "certificate not valid"
BODY_CUT = "body cut"
HEADERS_DROPPED = "headers dropped"
TRUNCATED = "truncated"
TOO_LONG = "URL too long"
OUT_OF_HANDLES = "out of file handles"
"""`Page.error` of a request that could not be made because no file could be opened here."""
HANDLES_PAUSE = 5.0
"""Seconds to wait when this machine could not make a request."""

_FINAL = (BOMB, CERTIFICATE, REFUSED)
_MOST_CHARS = 150
_ERRORS = {
    errno.ECONNREFUSED: "connection refused",
    errno.ENETUNREACH: "network unreachable",
    errno.EHOSTUNREACH: "host unreachable",
    errno.ETIMEDOUT: TIMED_OUT,
}


class FetchError(Exception):
    """A request brought no answer that can be used.

    Attributes:
        reason: a short text of ours, the same for the same cause; `clean` has seen what others said in it.
        bounds: names of bounds that were the cause.
    """

    def __init__(self, reason: str, bounds: tuple[str, ...] = ()) -> None:
        """Keep both."""
        super().__init__(reason)
        self.reason = reason
        self.bounds = bounds


def why(error: BaseException | None) -> str:
    """Say why a request failed.

    Args:
        error: what was raised.

    Returns:
        A short reason that names no address, password or anything else of the request.
    """
    match error:
        case FetchError():
            reason = error.reason
        case AddressRefused():
            reason = REFUSED
        case ssl.SSLCertVerificationError():
            reason = f"{CERTIFICATE}: {_certificate(error)}"
        case ssl.SSLError():
            reason = f"TLS failed: {clean((getattr(error, 'reason', '') or LOST).replace('_', ' ').lower())}"
        case TimeoutError():
            reason = TIMED_OUT
        case OSError():
            reason = _ERRORS.get(error.errno or 0, LOST)
        case ValueError():
            reason = "not a usable address"
        case _:
            reason = type(error).__name__
    return reason


def clean(text: str) -> str:
    """Make one short line of a text of others.

    Args:
        text: anything.

    Returns:
        At most 150 characters; control and format characters are left out, white space is one blank.
    """
    kept = "".join(" " if char.isspace() else char for char in text[: 4 * _MOST_CHARS])
    shown = "".join(char for char in kept if unicodedata.category(char)[0] != "C")
    return " ".join(shown.split())[:_MOST_CHARS]


def is_final(reason: str) -> bool:
    """Tell whether asking again soon would bring the same."""
    return reason.startswith(_FINAL)


def _certificate(error: ssl.SSLCertVerificationError) -> str:
    """What is wrong with a certificate, without the name of the host."""
    said = clean(getattr(error, "verify_message", "") or "not verified")
    return said.partition(",")[0] if "mismatch" in said else said
