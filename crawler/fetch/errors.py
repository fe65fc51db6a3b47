"""Fetch errors as reasons that can be stored, shown and counted. Pure.

What a server or a certificate says ends up in errors; nothing of it is passed on but through `clean`.
"""

from __future__ import annotations

import errno
import ssl
import unicodedata

from db.records.reasons import FailReason, label

from .guard import AddressRefused

BODY_CUT = "body cut"
HEADERS_DROPPED = "headers dropped"
HANDLES_PAUSE = 5.0
"""Seconds to wait when this machine, or no proxy, could make a request."""

_MOST_CHARS = 150
_ERRORS = {
    errno.ECONNREFUSED: FailReason.CONNECTION_REFUSED,
    errno.ENETUNREACH: FailReason.NETWORK_UNREACHABLE,
    errno.EHOSTUNREACH: FailReason.NO_ROUTE,
    errno.ETIMEDOUT: FailReason.TIMED_OUT,
}


class FetchError(OSError):
    """A request brought no response that can be used.

    An `OSError`, because Scrapy's retries take those for faults that may pass. `bounds` names those that were the
    cause; text from others in `detail` has gone through `clean`.
    """

    def __init__(self, reason: FailReason, bounds: tuple[str, ...] = (), detail: str = "") -> None:
        super().__init__(label(reason, detail))
        self.reason = reason
        self.bounds = bounds
        self.detail = detail


def why(error: BaseException | None) -> tuple[FailReason, str]:
    """Return why a request failed, with details that name nothing of the request."""
    match error:
        case FetchError():
            reason_and_detail = error.reason, error.detail
        case AddressRefused():
            reason_and_detail = FailReason.ADDRESS_REFUSED, ""
        case ssl.SSLCertVerificationError():
            reason_and_detail = FailReason.CERTIFICATE, _certificate(error)
        case ssl.SSLError():
            tls_reason = getattr(error, "reason", "") or FailReason.LOST
            reason_and_detail = FailReason.TLS, clean(tls_reason.replace("_", " ").lower())
        case TimeoutError():
            reason_and_detail = FailReason.TIMED_OUT, ""
        case OSError():
            reason_and_detail = _ERRORS.get(error.errno or 0, FailReason.LOST), ""
        case ValueError():
            reason_and_detail = FailReason.INVALID_URL, ""
        case _:
            reason_and_detail = FailReason.INTERNAL, type(error).__name__
    return reason_and_detail


def clean(text: str) -> str:
    """Make a line of at most 150 characters of a text, without control characters."""
    spaced = "".join(" " if char.isspace() else char for char in text[: 4 * _MOST_CHARS])
    shown = "".join(char for char in spaced if unicodedata.category(char)[0] != "C")
    return " ".join(shown.split())[:_MOST_CHARS]


def _certificate(error: ssl.SSLCertVerificationError) -> str:
    message = clean(getattr(error, "verify_message", "") or "not verified")
    return message.partition(",")[0] if "mismatch" in message else message
