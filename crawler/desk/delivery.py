"""Send messages of the desk: by mail, or as JSON to a webhook.

A webhook is an https URL of a public address, or one of this machine. Names are checked by what they resolve to, and
the connection is made to the address that was checked, as those of a crawl are (`crawler.fetch.guard`).
"""

from __future__ import annotations

import json
import smtplib
import socket
from email.message import EmailMessage
from email.utils import formatdate, parseaddr
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final
from urllib.parse import SplitResult, urlsplit

from db.records.desk import Message

from ..fetch.guard import Guard
from ..fetch.tls import trusting_context
from ..options.alerts import LOOPBACK, AlertOptions

MAIL: Final = "mail"
WEBHOOK: Final = "webhook"
_SECONDS: Final = 20.0
_PORTS: Final = {"http": 80, "https": 443}
_MOST_URL: Final = 2_000
_TEXTS: Final = {
    "en": {
        "subject": "{name}: {count} new",
        "burst": "Unusually many: {hits} in the last hour, where {usual:g} are usual.",
        "untitled": "(no title)",
        "foot": "Saved search: {name}",
    },
    "zh": {
        "subject": "{name}：{count} 篇新文章",
        "burst": "异常增多：最近一小时 {hits} 篇，通常为 {usual:g} 篇。",
        "untitled": "（无标题）",
        "foot": "保存的搜索：{name}",
    },
}


class DeliveryError(Exception):
    """A message was not accepted; the text says why in one sentence."""


def objection(channel: str, target: str, options: AlertOptions, *, allows_loopback: bool) -> str:
    """Say why messages cannot be sent there; empty when they may."""
    if channel == MAIL:
        if options.mail is None:
            return "no mail server is set; give one in ALERT_MAIL"
        return "" if target in options.mail.recipients else "this address is not among those of ALERT_MAIL"
    try:
        parts = urlsplit(target)
        host, port = parts.hostname or "", _port(parts)
    except ValueError:
        return "this is no URL"
    if len(target) > _MOST_URL or not host or parts.scheme not in _PORTS or parts.username is not None:
        return "a webhook is a URL such as https://example.org/hook"
    if host in LOOPBACK:
        is_open = allows_loopback or options.guard.permits("::1" if ":" in host else "127.0.0.1", port)
        return "" if is_open else "webhooks of this machine are for those who use it; ALLOW_NETWORKS can open it"
    return "" if parts.scheme == "https" else "a webhook needs https, unless it is on this machine"


def send(message: Message, options: AlertOptions) -> None:
    """Send a message and wait until it is accepted.

    Raises:
        DeliveryError: it was not accepted, or nobody knows.
    """
    try:
        if message.channel == MAIL:
            _mail(message, options)
        else:
            _post(message, options)
    except (OSError, smtplib.SMTPException, HTTPException, ValueError) as error:
        raise DeliveryError(f"{type(error).__name__}: {error}".partition("\n")[0][:300]) from error


def written(message: Message, sender: str) -> EmailMessage:
    """Write a message as a mail; the same message is always the same mail."""
    content = json.loads(message.content)
    text = _TEXTS.get(content["search"]["language"], _TEXTS["en"])
    name, articles = _one_line(content["search"]["name"]), content["articles"]
    mail = EmailMessage()
    mail["Subject"] = text["subject"].format(name=name, count=len(articles))
    mail["From"] = sender
    mail["To"] = message.target
    mail["Date"] = formatdate(content["time"])
    mail["Message-ID"] = f"<{message.key}@{parseaddr(sender)[1].rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"
    lines = [text["burst"].format(**content["burst"]), ""] if content["burst"] else []
    for each in articles:
        where = " · ".join(filter(None, (each["site"], each["published_at"] or "")))
        lines += [_one_line(each["title"]) or text["untitled"], _one_line(where), each["url"], ""]
    lines.append(text["foot"].format(name=name))
    mail.set_content("\n".join(lines), cte="base64")
    return mail


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _mail(message: Message, options: AlertOptions) -> None:
    mail = options.mail
    if mail is None:
        raise DeliveryError("no mail server is set; give one in ALERT_MAIL")
    context = trusting_context()
    if mail.security == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(mail.host, mail.port, timeout=_SECONDS, context=context)
    else:
        server = smtplib.SMTP(mail.host, mail.port, timeout=_SECONDS)
    with server:
        if mail.security == "starttls":
            server.starttls(context=context)
        if mail.user:
            server.login(mail.user, mail.password)
        server.send_message(written(message, mail.sender))


def _post(message: Message, options: AlertOptions) -> None:
    parts = urlsplit(message.target)
    host, port = parts.hostname or "", _port(parts)
    if parts.scheme != "https" and host not in LOOPBACK:
        raise DeliveryError("a webhook needs https, unless it is on this machine")
    address = _address(host, port, options.guard)
    connection = (
        _TlsConnection(host, port, address) if parts.scheme == "https" else _PlainConnection(host, port, address)
    )
    body = json.dumps({"id": message.key, **json.loads(message.content)}, ensure_ascii=False).encode()
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = {"Content-Type": "application/json", "Idempotency-Key": message.key, "User-Agent": "newscrawler"}
    try:
        connection.request("POST", path.encode("ascii", "ignore").decode(), body, headers)
        status = connection.getresponse().status
    finally:
        connection.close()
    if not 200 <= status < 300:  # redirects are not followed: they might lead anywhere
        raise DeliveryError(f"the webhook answered with status {status}")


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS.get(parts.scheme, 0)


def _address(host: str, port: int, guard: Guard) -> str:
    found = [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    if host in LOOPBACK:
        return found[0]
    for address in found:
        if guard.permits(address, port):
            return address
    raise DeliveryError(f"{host} is at {found[0]}, which is not public; ALLOW_NETWORKS can open it")


class _PlainConnection(HTTPConnection):
    def __init__(self, host: str, port: int, address: str) -> None:
        super().__init__(host, port, timeout=_SECONDS)
        self._address = address

    def connect(self) -> None:
        """Connect to the address that was checked."""
        self.sock = socket.create_connection((self._address, self.port), self.timeout)


class _TlsConnection(HTTPSConnection):
    def __init__(self, host: str, port: int, address: str) -> None:
        self._trust = trusting_context()
        super().__init__(host, port, timeout=_SECONDS, context=self._trust)
        self._address = address

    def connect(self) -> None:
        """Connect to the address that was checked, which has to prove the name."""
        plain = socket.create_connection((self._address, self.port), self.timeout)
        self.sock = self._trust.wrap_socket(plain, server_hostname=self.host)
