"""A browser's part in signing in and sending forms to `scrapy serve --manage`, by HTTP alone."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import httpx

from crawler.manage.passwords import FILE, PasswordFile, Role
from tests.crawler.web.serving import Server, serving

OPERATOR, READER = "the operator's own words", "what the readers know"
_FORM = re.compile(r'<form\b[^>]*action="([^"]*)"[^>]*method="post"[^>]*>(.*?)</form>', re.DOTALL)
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)">')


def passwords(database: Path, *roles: Role) -> PasswordFile:
    """Give roles their passwords, beside a database."""
    return passwords_in(database.with_suffix(".manage"), *roles)


def passwords_in(folder: Path, *roles: Role) -> PasswordFile:
    file = PasswordFile(folder / FILE)
    for role in roles:
        file.change(role, OPERATOR if role is Role.OPERATOR else READER)
    return file


class Visitor:
    """A browser: it keeps cookies, and sends forms as pages have them."""

    def __init__(self, origin: str, **options: object) -> None:
        self.origin = origin
        self.client = httpx.Client(base_url=origin, timeout=60, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def post(self, path: str, form: dict[str, str], **headers: str) -> httpx.Response:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(path, data=form, headers={"Origin": self.origin, **names})

    def sign_in(
        self, role: Role = Role.OPERATOR, password: str = "", back: str = "/", **headers: str
    ) -> httpx.Response:
        known = password or (OPERATOR if role is Role.OPERATOR else READER)
        return self.post("/sign-in", {"role": role.value, "password": known, "next": back}, **headers)

    def token(self, page: str = "/") -> str:
        found = re.search(r'name="token" value="([0-9a-f]{96})"', self.get(page).text)
        return found[1] if found else ""

    def send(self, page: str, action: str, **fields: str) -> httpx.Response:
        """Fill in the form of a page; with all its hidden fields."""
        forms = {found[1]: found[2] for found in _FORM.finditer(self.get(page).text)}
        hidden = {name: html.unescape(value) for name, value in _HIDDEN.findall(forms[action])}
        return self.post(action, {**hidden, **fields})


@contextmanager
def managed(folder: Path, database: Path | str, *options: str) -> Iterator[tuple[Server, Visitor]]:
    """Serve with --manage, and a browser that has signed in as operator."""
    passwords_in(folder / "news.manage", Role.OPERATOR)
    given = ("--manage", "--manage-folder", str(folder / "news.manage"), "--seeds", str(folder / "seeds.txt"), *options)
    with serving(folder, database, *given) as server, Visitor(server.origin) as visitor:
        assert visitor.sign_in().status_code == 303
        yield server, visitor
