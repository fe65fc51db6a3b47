"""Certificates: only valid ones, unless a host is known to have none; tried against real servers."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID
from scrapy.http import Response

from crawler.fetch.errors import why
from crawler.fetch.tls import Trust
from db.records.reasons import label
from tests.crawler.fetching import RawServer, answering, fetch

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
SUITES = (
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-RSA-CHACHA20-POLY1305",
    "ECDHE-RSA-AES128-SHA256",
    "ECDHE-RSA-AES256-SHA384",
    "ECDHE-RSA-AES128-SHA",
    "ECDHE-RSA-AES256-SHA",
    "AES128-GCM-SHA256",
    "AES256-GCM-SHA384",
    "AES128-SHA256",
    "AES256-SHA256",
    "AES128-SHA",
    "AES256-SHA",
)
"""Of TLS 1.2: exchange of keys by RSA alone, and MACs by SHA-1, are all that some old servers have."""
_Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
NAMES: list[x509.GeneralName] = [x509.DNSName("good.localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]


class Authority:
    """Signs certificates; `folder/ca.pem` is its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = self._build("Test Authority", self._key, [], until=NOW + DAY, is_ca=True)
        self.path = folder / "ca.pem"
        self.path.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def _build(self, name: str, key: _Key, names: list, *, until: datetime.datetime, is_ca: bool) -> x509.Certificate:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        issuer = subject if is_ca else self.certificate.subject
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(NOW - 3 * DAY).not_valid_after(until)
        builder = builder.add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return builder.sign(self._key if not is_ca else key, hashes.SHA256())

    def wrap(
        self, names: list, *, until: datetime.datetime = NOW + DAY, selfsigned: bool = False, key: _Key | None = None
    ) -> Callable[[socket.socket], socket.socket]:
        """What makes a TLS server's socket of an accepted one."""
        context = self.context(names, until=until, selfsigned=selfsigned, key=key)
        return lambda accepted: context.wrap_socket(accepted, server_side=True)

    def context(
        self, names: list, *, until: datetime.datetime = NOW + DAY, selfsigned: bool = False, key: _Key | None = None
    ) -> ssl.SSLContext:
        """A TLS server's context."""
        key = key or ec.generate_private_key(ec.SECP256R1())
        certificate = self._build("server", key, names, until=until, is_ca=selfsigned)
        path = self._folder / f"{certificate.serial_number}.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + private)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_ciphers("DEFAULT:@SECLEVEL=0")  # also for keys that nobody should have
        context.load_cert_chain(path)
        return context


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """An authority that the system trusts."""
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.path))
    return made


def reasons(server: RawServer, *hosts: str, **settings: object) -> list[object]:
    """What came of fetching from the server under some names: the status, or why not."""
    urls = [server.url(scheme="https", host=host) for host in hosts]
    results = fetch(*urls, ALLOW_NETWORKS=f"127.0.0.1:{server.port}", **settings)
    return [result.status if isinstance(result, Response) else label(*why(result)) for result in results]


def test_valid_certificate_is_believed_for_its_names_only(authority: Authority) -> None:
    with RawServer(answering(OK), wrap=authority.wrap(NAMES)) as server:
        found = reasons(server, "good.localhost", "127.0.0.1", "other.localhost", "127.1")
        assert found == [200, 200, *["certificate not valid: Hostname mismatch"] * 2]
        assert len(server.requests) == 2


def test_certificate_stands_in_the_response(authority: Authority) -> None:
    with RawServer(answering(OK), wrap=authority.wrap(NAMES)) as server:
        (response,) = fetch(server.url(scheme="https", host="good.localhost"))
    assert isinstance(response, Response)
    certificate = x509.load_pem_x509_certificate(response.certificate.dumpPEM())
    assert certificate.subject.rfc4514_string() == "CN=server"
    with RawServer(answering(OK)) as server:
        (response,) = fetch(server.url())
    assert isinstance(response, Response)
    assert response.certificate is None


def test_expired_and_selfsigned(authority: Authority) -> None:
    with RawServer(answering(OK), wrap=authority.wrap(NAMES, until=NOW - DAY)) as server:
        assert reasons(server, "good.localhost") == ["certificate not valid: certificate has expired"]
    with RawServer(answering(OK), wrap=authority.wrap(NAMES, selfsigned=True)) as server:
        (reason,) = reasons(server, "good.localhost")
        assert reason in {
            "certificate not valid: self-signed certificate",
            "certificate not valid: self signed certificate",
        }
        assert server.requests == []


def test_unknown_authority(tmp_path: Path) -> None:
    with RawServer(answering(OK), wrap=Authority(tmp_path).wrap(NAMES)) as server:
        (reason,) = reasons(server, "good.localhost")
        assert str(reason).startswith("certificate not valid: unable to get ")


def test_host_that_is_known_to_be_bad_is_taken_as_it_is(tmp_path: Path) -> None:
    with RawServer(answering(OK), wrap=Authority(tmp_path).wrap(NAMES, until=NOW - DAY)) as server:
        found = reasons(server, "good.localhost", "bad.localhost", TLS_UNVERIFIED_HOSTS=["good.localhost"])
        assert found[0] == 200
        assert str(found[1]).startswith("certificate not valid")
        assert reasons(server, "bad.localhost", "127.0.0.1", TLS_UNVERIFIED_HOSTS="*.localhost,127.0.0.1") == [200, 200]


def test_every_suite_of_tls_1_2_is_spoken(authority: Authority) -> None:
    context = authority.context(NAMES, key=rsa.generate_private_key(65537, 2048))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    spoken: list[str] = []

    def wrap(accepted: socket.socket) -> socket.socket:
        wrapped = context.wrap_socket(accepted, server_side=True)
        spoken.append(wrapped.cipher()[0])
        return wrapped

    with RawServer(answering(OK), wrap=wrap) as server:
        for suite in SUITES:
            context.set_ciphers(f"{suite}:@SECLEVEL=1")
            assert reasons(server, "good.localhost") == [200], suite
    assert spoken == list(SUITES)


def test_short_keys_are_not_believed(authority: Authority) -> None:
    short = rsa.generate_private_key(65537, 1024)
    with RawServer(answering(OK), wrap=authority.wrap(NAMES, key=short)) as server:
        (reason,) = reasons(server, "good.localhost")
    assert str(reason).startswith(("certificate not valid", "TLS failed"))


def test_server_that_speaks_no_tls(authority: Authority) -> None:
    def speak(accepted: socket.socket) -> socket.socket:
        accepted.recv(10_000)
        accepted.sendall(OK)
        return accepted

    with RawServer(answering(OK), wrap=speak) as server:
        (reason,) = reasons(server, "127.0.0.1")
    assert str(reason).startswith("TLS failed: ")


def test_trust_knows_its_hosts() -> None:
    trust = Trust([" Old.example.cn ", "*.gov.test", "10.0.0.1", ""])
    assert not trust.verifies("old.example.cn")
    assert not trust.verifies("a.b.gov.test")
    assert not trust.verifies("10.0.0.1")
    assert trust.verifies("gov.test")
    assert trust.verifies("xold.example.cn")
    for wrong in ("https://a.cn", "a b", "a.cn/x", "*"):
        with pytest.raises(ValueError, match="TLS_UNVERIFIED_HOSTS"):
            Trust([wrong])
