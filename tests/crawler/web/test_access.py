"""Passwords, sessions and roles: what strangers, readers and operators get, and what attackers do not."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from crawler.commands.serve import Command
from crawler.manage.journal import Journal
from crawler.manage.passwords import PasswordError, PasswordFile, Role
from crawler.web.app import CHANGES, MANAGING_PAGES, OPERATOR_CHANGES, OPERATOR_PAGES, PAGES, make_app
from crawler.web.frame.access import AccessOptions, own_path
from crawler.web.frame.outside import networks, root_path
from crawler.web.frame.sessions import IDLE_SECONDS, LONGEST_SECONDS, TRIES, TRY_SECONDS, Attempts, Sessions
from crawler.web.frame.visit import WebOptions
from tests.crawler.crawling import command
from tests.crawler.web.operating import OPERATOR, READER, Visitor, passwords
from tests.crawler.web.serving import serving
from tests.table import each_row

WORDS = {Role.OPERATOR: OPERATOR, Role.READER: READER}


class Browser:
    """Asks an application without a server; keeps its cookies."""

    def __init__(self, site: Site, client: str = "127.0.0.1", base: str = "http://localhost") -> None:
        self._run = site.loop.run
        self.base = base
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(site.app, client=(client, 1)), base_url=base, timeout=60
        )
        site.browsers.append(self)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self._run(self.client.get(path, headers={name.replace("_", "-"): one for name, one in headers.items()}))

    def post(self, path: str, form: dict[str, str], **headers: str) -> httpx.Response:
        names = {"Origin": self.base, **{name.replace("_", "-"): one for name, one in headers.items()}}
        return self._run(self.client.post(path, data=form, headers=names))

    def sign_in(self, role: Role, password: str = "", back: str = "/", **headers: str) -> httpx.Response:
        form = {"role": role.value, "password": password or WORDS[role], "next": back}
        return self.post("/sign-in", form, **headers)

    def token(self) -> str:
        found = re.search(r'name="token" value="([0-9a-f]{96})"', self.get("/").text)
        assert found, "there is no form with a token"
        return found[1]

    def close(self) -> None:
        self._run(self.client.aclose())


class Site:
    """An application over a copy of the newsstand, with passwords."""

    def __init__(self, folder: Path, stand: Path, *roles: Role, **options: object) -> None:
        database = folder / "news.db"
        shutil.copyfile(stand, database)
        self.folder = folder / "news.manage"
        self.passwords = passwords(database, *roles)
        self.loop = asyncio.Runner()
        self.browsers: list[Browser] = []
        access = AccessOptions(self.folder, **options)
        self.app = make_app(f"sqlite:///{database}", WebOptions(("news.example",), access=access))

    def close(self) -> None:
        for one in self.browsers:
            one.close()
        self.app.state.site.close()
        self.loop.close()


@pytest.fixture
def managed(tmp_path: Path, stand: Path) -> Iterator[Site]:
    site = Site(tmp_path, stand, Role.OPERATOR, manages=True)
    yield site
    site.close()


@pytest.fixture
def guarded(tmp_path: Path, stand: Path) -> Iterator[Site]:
    """Readers need a password, too."""
    site = Site(tmp_path, stand, Role.READER, Role.OPERATOR, manages=True)
    yield site
    site.close()


def paths(rows: object) -> list[str]:
    return [path.replace("{id}", "1").replace("{name:path}", "a.example") for path, _ in rows]  # type: ignore[attr-defined]


# ---------------------------------------------------------------- passwords


def test_password_file_holds_no_password_and_is_its_owners_alone(tmp_path: Path) -> None:
    file = PasswordFile(tmp_path / "made" / "access.json")
    file.change(Role.OPERATOR, OPERATOR)
    text = file.path.read_text("utf-8")
    assert OPERATOR not in text
    assert os.stat(file.path).st_mode & 0o777 == 0o600
    assert os.stat(file.path.parent).st_mode & 0o777 == 0o700
    stored = json.loads(text)["scrypt"]["operator"]
    assert (stored["n"], stored["r"], stored["p"], len(stored["salt"])) == (1 << 15, 8, 3, 32)
    assert file.check(Role.OPERATOR, OPERATOR)
    assert not any(file.check(role, OPERATOR) for role in (Role.READER, None))
    assert not file.check(Role.OPERATOR, OPERATOR + " ")
    first = file.stamp(Role.OPERATOR)
    file.change(Role.OPERATOR, OPERATOR)
    assert file.stamp(Role.OPERATOR) != first, "the salt is another each time"


@each_row("password", ["", "short", "x" * 1_001])
def test_password_has_a_length(password: str, tmp_path: Path) -> None:
    with pytest.raises(PasswordError, match="characters"):
        PasswordFile(tmp_path / "access.json").change(Role.OPERATOR, password)


@each_row("content", ["", "{}", '{"scrypt": {"operator": {}}}', '{"scrypt": {"king": {}}}', '{"scrypt": {"operator": {"n": 3, "r": 8, "p": 1, "salt": "00", "key": "00"}}}', "\x00"])  # fmt: skip # noqa: E501
def test_broken_file_lets_nobody_in(content: str, tmp_path: Path) -> None:
    path = tmp_path / "access.json"
    path.write_text(content, "utf-8")
    path.chmod(0o600)
    with pytest.raises(PasswordError, match="set them anew"):
        PasswordFile(path).roles()


def test_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = PasswordFile(tmp_path / "access.json")
    file.change(Role.READER, READER)
    file.path.chmod(0o644)
    with pytest.raises(PasswordError, match="chmod 600"):
        PasswordFile(file.path).roles()


def test_unknown_role_costs_as_much_as_a_wrong_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted are the calls of scrypt with their cost, not seconds."""
    import hashlib

    file = PasswordFile(tmp_path / "access.json")
    file.change(Role.OPERATOR, OPERATOR)
    costs: list[tuple[int, int, int]] = []
    real = hashlib.scrypt

    def counted(secret: bytes, **options: int) -> bytes:
        costs.append((options["n"], options["r"], options["p"]))
        return real(secret, **options)

    monkeypatch.setattr(hashlib, "scrypt", counted)
    for role in (Role.OPERATOR, Role.READER, None):
        assert not file.check(role, "something else")
    assert len(costs) == 3
    assert len(set(costs)) == 1


# ---------------------------------------------------------------- sessions


def test_session_ends_by_itself() -> None:
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    sent = sessions.begin(Role.READER, b"stamp")
    while now[0] < LONGEST_SECONDS - IDLE_SECONDS:
        now[0] += IDLE_SECONDS - 1
        assert sessions.find(sent, lambda _: b"stamp") is not None
    now[0] = LONGEST_SECONDS + 1
    assert sessions.find(sent, lambda _: b"stamp") is None
    idle = sessions.begin(Role.READER, b"stamp")
    now[0] += IDLE_SECONDS + 1
    assert sessions.find(idle, lambda _: b"stamp") is None
    changed = sessions.begin(Role.READER, b"stamp")
    assert sessions.find(changed, lambda _: b"another") is None
    assert sessions.find(changed, lambda _: b"stamp") is None, "once ended it stays so"


def test_tokens_differ_and_belong_to_one_session() -> None:
    sessions = Sessions()
    one, other = (sessions.find(sessions.begin(Role.READER, b"s"), lambda _: b"s") for _ in range(2))
    assert one is not None
    assert other is not None
    tokens = {one.token() for _ in range(5)}
    assert len(tokens) == 5
    assert all(one.knows(token) for token in tokens)
    assert not any(other.knows(token) for token in tokens)
    assert not any(one.knows(wrong) for wrong in ("", "é" * 96, "0" * 96, tokens.pop()[:-1]))


def test_attempts_of_an_address_come_back_and_no_other_pays_for_them() -> None:
    now = [0.0]
    attempts = Attempts(lambda: now[0])
    assert [attempts.wait("2001:db8::1") for _ in range(TRIES)] == [0.0] * TRIES
    assert 0 < attempts.wait("2001:db8::2") <= TRY_SECONDS, "one customer has a whole network"
    assert attempts.wait("2001:db8:0:1::1") == 0.0
    now[0] += TRY_SECONDS
    assert attempts.wait("2001:db8::1") == 0.0
    assert attempts.wait("2001:db8::1") > 0
    for number in range(30_000):
        attempts.wait(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(attempts._left) <= 10_000


def test_cookie_is_strict_and_signing_out_ends_it_on_the_server(managed: Site) -> None:
    browser = Browser(managed)
    answer = browser.sign_in(Role.OPERATOR, back="/crawl")
    assert (answer.status_code, answer.headers["location"]) == (303, "/crawl")
    cookie = answer.headers["set-cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=strict", "Path=/"))
    assert "Secure" not in cookie
    assert OPERATOR not in cookie
    assert browser.get("/crawl").status_code == 200
    assert browser.get("/crawl").headers["cache-control"] == "no-store"
    stolen = cookie.partition(";")[0]
    assert browser.post("/sign-out", {"token": browser.token()}).status_code == 303
    thief = Browser(managed)
    assert thief.get("/crawl", Cookie=stolen).status_code == 303
    assert browser.get("/crawl").status_code == 303


def test_cookie_of_https_is_for_https_alone(managed: Site) -> None:
    browser = Browser(managed, "203.0.113.9", "https://news.example")
    answer = browser.sign_in(Role.OPERATOR)
    name, _, rest = answer.headers["set-cookie"].partition("=")
    assert name.startswith("__Host-session-")
    assert all(part in rest for part in ("Secure", "HttpOnly", "SameSite=strict", "Path=/;"))
    assert "Domain" not in rest
    assert browser.get("/crawl").status_code == 200
    plain = f"{name.removeprefix('__Host-')}={rest.partition(';')[0]}"
    assert Browser(managed, "203.0.113.9", "https://news.example").get("/crawl", Cookie=plain).status_code == 303


def test_session_that_a_browser_brings_is_never_used(managed: Site) -> None:
    """Session fixation: what was known before signing in is worth nothing after it."""
    browser = Browser(managed)
    first = browser.sign_in(Role.OPERATOR).headers["set-cookie"].partition(";")[0]
    name = first.partition("=")[0]
    for brought in (f"{name}=chosen", first):
        fresh = Browser(managed)
        answer = fresh.sign_in(Role.OPERATOR, Cookie=brought)
        cookies = [one.partition(";")[0] for one in answer.headers.get_list("set-cookie")]
        assert cookies[-1].startswith(f"{name}=")
        assert cookies[-1] != brought
        assert Browser(managed).get("/crawl", Cookie=brought).status_code == 303, "it has ended"


def test_another_password_ends_all_sessions(managed: Site) -> None:
    browser = Browser(managed)
    browser.sign_in(Role.OPERATOR)
    assert browser.get("/crawl").status_code == 200
    managed.passwords.change(Role.OPERATOR, "an entirely different one")
    assert browser.get("/crawl").status_code == 303


def test_file_that_breaks_while_the_server_runs_lets_nobody_in(guarded: Site) -> None:
    browser = Browser(guarded)
    browser.sign_in(Role.OPERATOR)
    guarded.passwords.path.write_text("{}", "utf-8")
    assert browser.get("/").status_code == 303
    assert browser.get("/crawl").status_code == 303
    assert browser.sign_in(Role.OPERATOR).status_code == 403


def test_brute_force_is_slowed_down_and_noted_once(managed: Site) -> None:
    browser, other = Browser(managed, "127.0.0.7"), Browser(managed, "127.0.0.8")
    answers = [browser.sign_in(Role.OPERATOR, f"guess {number}") for number in range(TRIES + 2)]
    assert [answer.status_code for answer in answers] == [403] * TRIES + [429] * 2
    assert 0 < int(answers[-1].headers["retry-after"]) <= TRY_SECONDS
    assert browser.sign_in(Role.OPERATOR).status_code == 429, "the right one has to wait as well"
    assert other.sign_in(Role.OPERATOR).status_code == 303, "nobody else is locked out"
    noted = Journal(managed.folder).path.read_text("utf-8")
    assert "guess" not in noted
    assert noted.count("too many wrong passwords") == 1, "guesses do not push out what operators did"


def test_passwords_are_looked_at_two_at_a_time_and_the_rest_is_told_to_come_again(managed: Site) -> None:
    access = managed.app.state.site.access
    most = [0, 0]

    def slow(_role: Role | None, _password: str) -> bool:
        import time

        most[0] += 1
        most[1] = max(most)
        time.sleep(0.05)
        most[0] -= 1
        return False

    access._fits = slow

    async def burst() -> list[int]:
        transport = [httpx.ASGITransport(managed.app, client=(f"127.0.1.{number}", 1)) for number in range(30)]
        clients = [httpx.AsyncClient(transport=one, base_url="http://localhost") for one in transport]
        form = {"role": "operator", "password": "x" * 12}
        headers = {"Origin": "http://localhost"}
        answers = await asyncio.gather(*(one.post("/sign-in", data=form, headers=headers) for one in clients))
        for one in clients:
            await one.aclose()
        return [answer.status_code for answer in answers]

    codes = managed.loop.run(burst())
    assert most[1] <= 2
    assert codes.count(403) == 8
    assert codes.count(429) == 22
    assert access._waiting == 0


def test_plain_password_from_another_machine_is_refused(managed: Site) -> None:
    """The password is not even looked at; nor is a cookie set."""
    stranger = Browser(managed, "203.0.113.9", "http://news.example")
    page = stranger.get("/sign-in").text
    assert "https" in page
    assert 'type="password"' not in page
    answer = stranger.sign_in(Role.OPERATOR)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


# ---------------------------------------------------------------- who sees what


def test_without_passwords_on_this_machine_all_is_as_it_was(tmp_path: Path, stand: Path) -> None:
    site = Site(tmp_path, stand)
    browser = Browser(site)
    assert [browser.get(path).status_code for path in paths(OPERATOR_PAGES)].count(200) >= 6
    assert "/sign-in" not in browser.get("/").text
    assert [browser.get(path).status_code for path in paths(MANAGING_PAGES)] == [403] * len(MANAGING_PAGES)
    assert [browser.post(path, {}).status_code for path in paths(OPERATOR_CHANGES)] == [403] * len(OPERATOR_CHANGES)
    site.close()


def test_operator_of_a_server_without_manage_looks_and_changes_nothing(tmp_path: Path, stand: Path) -> None:
    site = Site(tmp_path, stand, Role.OPERATOR, is_local=False)
    browser = Browser(site)
    assert browser.get("/crawl").status_code == 303
    browser.sign_in(Role.OPERATOR)
    assert browser.get("/crawl").status_code == 200
    form = {"token": browser.token()}
    assert [browser.get(path).status_code for path in paths(MANAGING_PAGES)] == [403] * len(MANAGING_PAGES)
    assert [browser.post(path, form).status_code for path in paths(OPERATOR_CHANGES)] == [403] * len(OPERATOR_CHANGES)
    site.close()


def test_server_for_others_shows_readers_no_operators_tabs(tmp_path: Path, stand: Path) -> None:
    site = Site(tmp_path, stand, is_local=False)
    browser = Browser(site)
    assert browser.get("/").status_code == 200
    assert 'href="/crawl"' not in browser.get("/").text
    assert {browser.get(path).status_code for path in paths(OPERATOR_PAGES)} == {403}
    site.close()


def test_readers_and_strangers_have_no_operators_pages(guarded: Site) -> None:
    stranger, reader, operator = Browser(guarded), Browser(guarded), Browser(guarded)
    assert reader.sign_in(Role.READER).status_code == 303
    assert operator.sign_in(Role.OPERATOR).status_code == 303
    for path in paths(PAGES):
        code = 403 if path.startswith("/api") else 303
        assert stranger.get(path).status_code == code, path
    for path in paths(OPERATOR_PAGES) + paths(MANAGING_PAGES):
        assert stranger.get(path).status_code in {303, 403}, path
        assert reader.get(path).status_code == 403, path
    for path in (
        "/nothing",
        "/crawl/",
        "//crawl",
        "/CRAWL",
        "/./crawl",
        "/operate/",
        "/%2e/operate",
        "/sites/../crawl",
    ):
        for browser in (stranger, reader):
            assert "<h1>Crawl</h1>" not in browser.get(path).text, path
    assert 'href="/crawl"' not in reader.get("/").text
    assert 'href="/operate"' in operator.get("/").text
    assert [operator.get(path).status_code for path in ("/", "/crawl", "/settings", "/api/crawl")] == [200] * 4
    assert stranger.get("/static/style.css").status_code == 200
    assert "tabs" not in stranger.get("/sign-in").text


def test_part_of_a_page_is_loaded_anew_when_its_session_has_ended(managed: Site) -> None:
    answer = Browser(managed).get("/operate?part=live", HX_Request="true")
    assert (answer.headers["hx-refresh"], answer.text) == ("true", "")


def test_readers_are_led_to_no_operators_page(guarded: Site) -> None:
    reader = Browser(guarded)
    reader.sign_in(Role.READER)
    article = reader.get("/api/search?limit=1").json()["hits"][0]["id"]
    text = reader.get("/?q=港口").text + reader.get(f"/article/{article}").text
    for path in ("/crawl", "/sites", "/graph", "/why", "/settings", "/operate"):
        assert f'href="{path}' not in text, path


def test_forms_need_the_role_the_origin_and_the_token(guarded: Site) -> None:
    stranger, reader, operator = Browser(guarded), Browser(guarded), Browser(guarded)
    reader.sign_in(Role.READER)
    operator.sign_in(Role.OPERATOR)
    tokens = {reader: reader.token(), operator: operator.token()}
    for path in paths(OPERATOR_CHANGES):
        assert stranger.post(path, {}).status_code == 403, path
        assert reader.post(path, {"token": tokens[reader]}).status_code == 403, path
    for path in (*paths(OPERATOR_CHANGES), *paths(CHANGES), "/sign-out"):
        assert operator.post(path, {}).status_code == 403, path
        assert operator.post(path, {"token": tokens[reader]}).status_code == 403, path
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}):
            assert operator.post(path, {"token": tokens[operator]}, **headers).status_code == 403, path
    assert operator.get("/crawl").status_code == 200, "nobody has signed them out"
    assert operator.post("/sign-in", {}, Origin="http://evil.example").status_code == 403


def test_post_that_came_without_tls_changes_nothing_on_a_page_with_it(managed: Site) -> None:
    browser = Browser(managed, "203.0.113.9", "https://news.example")
    browser.sign_in(Role.OPERATOR)
    form = {"token": browser.token()}
    assert browser.post("/sign-out", form, Origin="http://news.example").status_code == 403
    assert browser.post("/sign-out", form).status_code == 303


@each_row(
    ("given", "place"),
    [("/crawl?run=1&lang=zh", "/crawl?run=1&lang=zh"), ("//evil.example", "/"), ("/\\evil.example", "/"),
     ("https://evil.example", "/"),
     ("/\t/evil.example", "/"), ("/a\r\nSet-Cookie: a=b", "/"), ("javascript:alert(1)", "/"), ("", "/"), ("crawl", "/"),
     ("/%0d%0aSet-Cookie:a=b", "/%0d%0aSet-Cookie:a=b"), ("/港", "/"), ("/" + "a" * 3_000, "/")],
)  # fmt: skip
def test_next_leads_to_this_server_alone(managed: Site, given: str, place: str) -> None:
    assert own_path(given) == place
    answer = Browser(managed).sign_in(Role.OPERATOR, back=given)
    assert answer.headers["location"] == place
    assert "a=b" not in [one.partition(";")[0] for one in answer.headers.get_list("set-cookie")]


def test_stranger_is_led_back_after_signing_in(managed: Site) -> None:
    browser = Browser(managed)
    led = browser.get("/crawl?run=1").headers["location"]
    assert led == "/sign-in?next=%2Fcrawl%3Frun%3D1"
    assert 'name="next" value="/crawl?run=1"' in browser.get(led).text


# ---------------------------------------------------------------- proxies


def trusting(folder: Path, stand: Path, *proxies: str, root: str = "") -> Site:
    return Site(folder, stand, Role.OPERATOR, manages=True, is_local=False, proxies=proxies, root_path=root)


def test_words_of_a_proxy_count_where_it_is_trusted_alone(tmp_path: Path, stand: Path) -> None:
    site = trusting(tmp_path, stand, "127.0.0.1", "10.0.0.0/8")
    told = {"X_Forwarded_Proto": "https", "X_Forwarded_Host": "news.example", "X_Forwarded_For": "203.0.113.5"}
    through = Browser(site, "127.0.0.1", "http://127.0.0.1:8080")
    answer = through.sign_in(Role.OPERATOR, **told, Origin="https://news.example")
    assert answer.status_code == 303
    assert answer.headers["set-cookie"].startswith("__Host-")
    assert Journal(site.folder).latest(1)[0].address == "203.0.113.5"
    forger = Browser(site, "203.0.113.66", "http://news.example")
    for one in ("127.0.0.1", "127.0.0.1, 127.0.0.1", "::1"):
        forged = forger.sign_in(Role.OPERATOR, X_Forwarded_Proto="https", X_Forwarded_For=one)
        assert forged.status_code == 403, "who is no proxy is not believed"
    assert (
        Browser(site, "203.0.113.66").get("/", Host="evil.example", X_Forwarded_Host="news.example").status_code == 400
    )
    assert through.get("/", X_Forwarded_Host="evil.example").status_code == 400
    site.close()


def test_forged_addresses_before_the_proxys_own_do_not_count(tmp_path: Path, stand: Path) -> None:
    """The last address that is no proxy's: what is left of it a client has made up."""
    site = trusting(tmp_path, stand, "127.0.0.1", "10.0.0.0/8")
    browser = Browser(site, "127.0.0.1", "http://news.example")
    secure = {"X_Forwarded_Proto": "https", "Origin": "https://news.example"}
    codes = [
        browser.sign_in(
            Role.OPERATOR, "a wrong one", X_Forwarded_For=f"198.51.100.{number}, 203.0.113.9, 10.0.0.2", **secure
        ).status_code
        for number in range(TRIES + 1)
    ]
    assert codes == [403] * TRIES + [429]
    site.close()


@each_row("comes", ["", "/news"])
def test_server_below_a_path_is_whole(tmp_path: Path, stand: Path, comes: str) -> None:
    """The proxy may take the path away or not: all links, forms, redirects and cookies are below it."""
    (tmp_path / "below").mkdir(exist_ok=True)
    site = Site(tmp_path / "below", stand, Role.OPERATOR, manages=True, root_path="/news")
    browser = Browser(site)
    for path in ("/", "/?q=港口", "/desk", "/compare?q=a&q=b", "/sign-in"):
        found = re.findall(r'(?:href|src|action|hx-get)="([^"]*)"', browser.get(comes + path).text)
        wrong = [one for one in found if one.startswith("/") and not one.startswith("/news/")]
        assert wrong == [], path
        assert len(found) > 10
        assert not any("/news/news" in one for one in found)
    answer = (
        browser.sign_in(Role.OPERATOR, back="/crawl")
        if not comes
        else browser.post("/news/sign-in", {"role": "operator", "password": OPERATOR, "next": "/crawl"})
    )
    assert answer.headers["location"] == "/news/crawl"
    assert "Path=/news/" in answer.headers["set-cookie"]
    assert browser.get("/news/crawl").status_code == 200
    assert "Path=/news/" in browser.get("/news/?lang=zh").headers["set-cookie"]
    assert browser.get(f"{comes}/nothing").status_code == 404
    assert browser.get(f"{comes}/api/openapi.json").json()["servers"] == [{"url": "/news/"}]
    assert browser.get(f"{comes}/api/search?limit=1").json()["next"].startswith("/news/api/search")
    assert "http://localhost/news/feed.atom" in browser.get(f"{comes}/feed.atom").text
    assert browser.get("/news").status_code == 200
    assert browser.get(f"{comes}/static/style.css").status_code == 200
    site.close()


def test_options_of_proxies_are_checked() -> None:
    assert [root_path(one) for one in ("", "/", "/news", "/a/b/")] == ["", "", "/news", "/a/b"]
    for wrong in ("news", "/a b", "//evil.example", '/"x', "/..", "/a/../b", "/%2e"):
        with pytest.raises(ValueError, match="root-path"):
            root_path(wrong)
    assert len(networks(["127.0.0.1", "10.0.0.0/8", "fd00::/8"])) == 3
    for wrong in ("*", "proxy.example", "10.0.0.1/8", ""):
        with pytest.raises(ValueError, match="trusted-proxy"):
            networks([wrong])


# ---------------------------------------------------------------- the command


def test_manage_needs_a_password_and_tls(tmp_path: Path, stand: Path) -> None:
    shutil.copyfile(stand, tmp_path / "news.db")
    database = ("--database", str(tmp_path / "news.db"))
    without = command("serve", "--manage", *database)
    assert without.returncode == 2
    assert "--set-password" in without.stderr
    passwords(tmp_path / "news.db", Role.OPERATOR)
    plain = command("serve", "--manage", "--host", "0.0.0.0", "--port", "0", *database)
    assert plain.returncode == 2
    assert "--trusted-proxy" in plain.stderr
    assert Command.name


def test_password_is_read_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(f"{READER}\n"))
    done = command("serve", "--set-password", "--role", "reader", "--database", str(tmp_path / "news.db"))
    assert done.returncode == 0, done.stderr
    assert READER not in done.stdout
    assert PasswordFile(tmp_path / "news.manage" / "access.json").check(Role.READER, READER)


def test_real_server_signs_in_and_out(tmp_path: Path, stand: Path) -> None:
    shutil.copyfile(stand, tmp_path / "news.db")
    passwords(tmp_path / "news.db", Role.READER)
    with serving(tmp_path, tmp_path / "news.db") as server, Visitor(server.origin) as visitor:
        assert visitor.get("/").status_code == 303
        assert visitor.sign_in(Role.READER, "wrong password").status_code == 403
        assert visitor.sign_in(Role.READER).status_code == 303
        assert visitor.get("/").status_code == 200
        assert visitor.get("/crawl").status_code == 403
        assert visitor.send("/", "/sign-out").status_code == 303
        assert visitor.get("/").status_code == 303


# ---------------------------------------------------------------- the list of changes


def test_changes_are_lines_whatever_was_sent(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "made", lambda: 1.0)
    journal.note("operator", "127.0.0.1", "drop", 'a\n{"at": 2, "role": "operator"}\u2028\x85', "ok")
    journal.note("operator", "127.0.0.1", "start", "x" * 10_000)
    assert len(journal.path.read_bytes().splitlines()) == 2
    assert [one.what for one in journal.latest(10)] == ["start", "drop"]
    with journal.path.open("ab") as file:
        file.write(b"broken\n[]\n")
    assert len(journal.latest(10)) == 2
    assert os.stat(journal.path).st_mode & 0o777 == 0o600
    for _ in range(2_500):
        journal.note("", "a" * 500, "sign in", "b" * 500)
    assert sum(one.stat().st_size for one in journal.path.parent.iterdir()) < 3 << 20
