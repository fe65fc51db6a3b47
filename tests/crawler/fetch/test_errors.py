"""Reasons: short, harmless, the same for the same cause; and headers as text."""

from __future__ import annotations

import errno
import ssl
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch import http_parser
from crawler.fetch.errors import FetchError, clean, why
from crawler.fetch.guard import AddressRefused
from db.records.reasons import FailReason, label
from pipelines.urls import MAX_URL_CHARS, canonicalize
from tests.table import each_row


def not_valid(message: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed")
    error.verify_message = message
    return error


@each_row(
    ("error", "reason"),
    [
        (FetchError(FailReason.STALLED), "stalled"),
        (AddressRefused("h.cn", "10.0.0.1"), "IP address not allowed"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed ('10.0.0.1', 80)"), "connection refused"),
        (ConnectionResetError(errno.ECONNRESET, "x"), "connection lost"),
        (OSError("Multiple exceptions: http://user:pass@h.cn/"), "connection lost"),
        (TimeoutError(), "timed out"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number"), "TLS failed: connection lost"),
        (not_valid("certificate has expired"), "certificate not valid: certificate has expired"),
        (
            not_valid("Hostname mismatch, certificate is not valid for '\x1b[31mh.cn'."),
            "certificate not valid: Hostname mismatch",
        ),
        (ValueError("http://user:pass@h.cn/"), "invalid URL"),
        (RuntimeError("http://user:pass@h.cn/"), "internal error: RuntimeError"),
        (None, "internal error: NoneType"),
    ],
)
def test_reasons_name_the_cause_and_nothing_of_the_request(error: Exception | None, reason: str) -> None:
    assert label(*why(error)) == reason
    assert "pass" not in reason


def test_permanent_errors_are_final() -> None:
    assert FailReason.BOMB.is_final
    assert why(not_valid("certificate has expired"))[0].is_final
    assert not FailReason.TIMED_OUT.is_final


@given(st.text())
def test_text_of_others_is_one_harmless_line(text: str) -> None:
    shown = clean(text)
    assert len(shown) <= 150
    assert not any(unicodedata.category(char)[0] == "C" for char in shown)
    assert clean(shown) == shown


def test_escape_sequences_and_directions() -> None:
    assert clean("a\x1b[31m\r\nERROR: \u202eb\0") == "a[31m ERROR: b"


@each_row(
    ("sent", "leads_to"),
    [
        (b"/a", "http://h.cn/a"),
        ("/新闻/正文 一.html".encode(), "http://h.cn/%E6%96%B0%E9%97%BB/%E6%AD%A3%E6%96%87%20%E4%B8%80.html"),
        ("/新闻".encode("gbk") + b"?a=1&b=%20", "http://h.cn/%D0%C2%CE%C5?a=1&b=%20"),
        (b"//user:pass@h.cn/a", "http://h.cn/a"),
        (b"/a\0b", "http://h.cn/ab"),
        (b"/" + b"x" * 9_000, None),
        (b"/" + b"\xff" * (MAX_URL_CHARS // 3 + 1), None),
        (b"file:///etc/passwd", None),
        (b"", "http://h.cn/x"),
    ],
)
def test_redirect_targets(sent: bytes, leads_to: str | None) -> None:
    assert canonicalize(http_parser.location([sent, b"/other"]), "http://h.cn/x") == leads_to


def test_headers_as_text() -> None:
    assert http_parser.text([b"noindex\0", b"nofollow \xff"]) == "noindex, nofollow \ufffd"
    assert len(http_parser.text([b"x" * 100_000])) == 8_000
