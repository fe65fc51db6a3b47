"""Messages on their way: to whom they go, how the connection is secured, and what a refusal says."""

from __future__ import annotations

import ipaddress
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509

from crawler.desk.delivery import DeliveryError, send
from crawler.fetch.guard import Guard
from crawler.options.alerts import AlertOptions
from db.records.desk import Message
from tests.crawler.desk.growing import http_sink, mail_options, mail_sink, unused_port
from tests.crawler.fetch.test_tls import NAMES, Authority

PASSWORD = "a secret of the mail server"


def message(target: str, channel: str = "webhook") -> Message:
    content = '{"search": {"id": 1, "name": "n", "language": "en"}, "time": 0, "burst": null, "articles": []}'
    return Message(1, "k", channel, target, content, 0)


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """An authority that the system trusts."""
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.path))
    return made


class Logins:
    """Asks for the password, and notes who was let in."""

    def __init__(self) -> None:
        self.names: list[bytes] = []

    def __call__(self, *given: object) -> AuthResult:
        login = given[-1]
        assert isinstance(login, LoginPassword)
        if login.password != PASSWORD.encode():
            return AuthResult(success=False, handled=False)
        self.names.append(login.login)
        return AuthResult(success=True)


def secured(security: str, authority: Authority) -> dict[str, object]:
    """Options of a mail server."""
    context = authority.context(NAMES)
    encrypted = {"ssl_context": context} if security == "tls" else {"tls_context": context, "require_starttls": True}
    return {**encrypted, "auth_require_tls": security == "starttls"}


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_mail_is_sent_encrypted_with_a_login(security: str, authority: Authority) -> None:
    port, logins = unused_port(), Logins()
    mail = replace(mail_options(port), security=security, user="me", password=PASSWORD)
    with mail_sink(port, **secured(security, authority), authenticator=logins) as sink:
        send(message("me@example.org", "mail"), AlertOptions(mail))
        assert [one["Message-ID"] for one in sink.mails] == ["<k@example.org>"]
        with pytest.raises(DeliveryError, match="Authentication") as refused:
            send(message("me@example.org", "mail"), AlertOptions(replace(mail, password="another")))
        assert "another" not in str(refused.value)
    assert (len(sink.mails), logins.names) == (1, [b"me"])


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_mail_server_without_a_valid_certificate_gets_no_password(security: str, tmp_path: Path) -> None:
    port, logins = unused_port(), Logins()
    mail = replace(mail_options(port), security=security, user="me", password=PASSWORD)
    with (
        mail_sink(port, **secured(security, Authority(tmp_path)), authenticator=logins) as sink,
        pytest.raises(DeliveryError, match="certificate verify failed"),
    ):
        send(message("me@example.org", "mail"), AlertOptions(mail))
    assert (sink.mails, logins.names) == ([], [])


def test_server_that_offers_no_encryption_gets_no_password() -> None:
    port = unused_port()
    mail = replace(mail_options(port), security="starttls", user="me", password=PASSWORD)
    with mail_sink(port) as sink, pytest.raises(DeliveryError, match="STARTTLS"):
        send(message("me@example.org", "mail"), AlertOptions(mail))
    assert sink.mails == []


def test_https_webhook_proves_its_name(authority: Authority) -> None:
    address = "127.0.0.2"
    for names, problem in (([x509.IPAddress(ipaddress.ip_address(address))], ""), (NAMES, "certificate verify failed")):
        with http_sink(address, authority.context(names)) as sink:
            port = sink.server.server_port
            hook = message(f"https://{address}:{port}/hook")
            with pytest.raises(DeliveryError, match="not public"):
                send(hook, AlertOptions())
            with pytest.raises(DeliveryError, match=problem) if problem else nullcontext():
                send(hook, AlertOptions(guard=Guard([f"{address}:{port}"])))
        assert sink.keys == ([] if problem else ["k"])


@pytest.mark.parametrize(
    "url", ["https://10.0.0.1/", "https://192.168.1.1:8443/x", "https://[fe80::1]/", "https://a.b:22/"]
)
def test_private_addresses_get_nothing(url: str) -> None:
    with pytest.raises(DeliveryError):
        send(message(url), AlertOptions())


def test_networks_that_are_allowed_are_asked() -> None:
    """Nobody listens there; the guard has let it through."""
    with pytest.raises(DeliveryError, match="Refused"):
        send(message("https://127.0.0.9:9/"), AlertOptions(guard=Guard(["127.0.0.9:9"])))
