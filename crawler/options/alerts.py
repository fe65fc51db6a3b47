"""Options of the desk: its file, and how alerts are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parseaddr
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..fetch.guard import Guard
from .given import checked, problems_of

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class MailOptions:
    """The server that takes mail, and who may get it.

    `security` is `starttls`, `tls` or `none`; without `user` nobody logs in.
    """

    host: str
    port: int
    security: str
    user: str
    password: str = field(repr=False)
    sender: str
    recipients: Sequence[str]


@dataclass(frozen=True, slots=True)
class AlertOptions:
    """Options of alerts.

    At most one message a search is sent in `minutes`. `mail` is None where no server is named.
    """

    mail: MailOptions | None = None
    minutes: float = 10.0
    guard: Guard = field(default_factory=Guard)


def alert_options(settings: BaseSettings) -> AlertOptions:
    """Read how alerts are sent.

    Raises:
        ConfigError: a part that mail needs is missing.
    """
    given, _ = checked(settings)
    with problems_of(settings, "ALLOW_NETWORKS"):
        guard = Guard(given["ALLOW_NETWORKS"])
    with problems_of(settings, "ALERT_MAIL", "ALERT_MAIL_PASSWORD"):
        mail = _mail(given["ALERT_MAIL"], given["ALERT_MAIL_PASSWORD"])
    return AlertOptions(mail, given["ALERT_MINUTES"], guard)


def desk_path(named: str, database_url: str) -> Path:
    """Return the file of the desk: the one named, or that beside the database."""
    from db.desk.file import beside  # noqa: PLC0415 - it imports SQLAlchemy

    return Path(named) if named else beside(database_url)


def _mail(given: Mapping[str, Any], password: str) -> MailOptions | None:
    if not given.get("host"):
        return None
    if not given["to"] or not all("@" in parseaddr(each)[1] for each in (given["from"], *given["to"])):
        raise ValueError(
            'ALERT_MAIL needs addresses: {"host": "smtp.example.org", "from": "news@example.org", '
            '"to": ["me@example.org"]}'
        )
    if given["security"] == "none" and password and given["host"] not in LOOPBACK:
        raise ValueError('ALERT_MAIL would send the password unencrypted; set "security" to "starttls" or "tls"')
    return MailOptions(
        host=given["host"],
        port=given["port"],
        security=given["security"],
        user=given["user"],
        password=password,
        sender=given["from"],
        recipients=tuple(given["to"]),
    )
