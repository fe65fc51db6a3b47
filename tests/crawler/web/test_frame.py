"""The frame of all pages: security, languages, escaping, what is said when something is wrong."""

from __future__ import annotations

import json
import re
import sqlite3
import string
from contextlib import closing
from pathlib import Path

import pytest
from markupsafe import Markup
from starlette.datastructures import Headers

from crawler.learn.health.host import SIGNALS, Finding
from crawler.learn.health.messages import sentence
from crawler.learn.traps.host import Pattern
from crawler.options.table import OPTIONS
from crawler.web.frame.language import LANGUAGES, Language, choose, messages
from crawler.web.frame.security import CONTENT_SECURITY_POLICY, Protection, is_same_origin
from crawler.web.frame.shown import day, harmless, is_language, moment, number, short, size, web_url
from crawler.web.frame.visit import HERE, WebOptions
from db.records.run import FAILED
from tests.crawler.web.asking import Asker
from tests.table import each_row

PAGES = ("/", "/?q=港口", "/nothing", "/article/1", "/article/x", "/api/search", "/api/nothing", "/feed.atom",
         "/static/style.css", "/?limit=0", "/crawl", "/sites")  # fmt: skip


# ---------------------------------------------------------------- security


@each_row("path", PAGES)
def test_headers_guard_every_answer(asker: Asker, path: str) -> None:
    answer = asker.get(path)
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "server" not in answer.headers


def test_policy_lets_nothing_in_from_elsewhere_and_no_inline_code() -> None:
    rules = dict(rule.strip().split(" ", 1) for rule in CONTENT_SECURITY_POLICY.split(";"))
    assert rules["default-src"] == "'none'"
    assert set(rules.values()) == {"'none'", "'self'"}


@each_row(
    ("host", "is_ours"),
    [("localhost", True), ("LOCALHOST:8080", True), ("127.0.0.1:1", True), ("[::1]:8080", True), ("news.example", True),
     ("evil.example", False), ("localhost.evil.example", False), ("10.0.0.1", False), ("", False), ("[::1", False),
     ("localhost:x", False), ("localhost@evil.example", False), ("a b", False), ("127.0.0.2", False)],
)  # fmt: skip
def test_names_of_this_server_alone_are_answered(host: str, is_ours: bool) -> None:  # noqa: FBT001
    async def nothing(*_: object) -> None: ...

    assert Protection(nothing, ["news.example"]).is_ours(host) is is_ours


def test_server_for_others_answers_to_addresses() -> None:
    async def nothing(*_: object) -> None: ...

    open_to_all = Protection(nothing, any_address=True)
    assert [open_to_all.is_ours(host) for host in ("10.0.0.1:80", "[fe80::1]", "evil.example")] == [True, True, False]


def test_foreign_name_is_refused_with_a_sentence(asker: Asker) -> None:
    answer = asker.get("/", Host="evil.example")
    assert answer.status_code == 400
    assert "evil" not in answer.text
    assert "--name" in answer.text


@each_row(("origin", "status"), [("http://evil.example", 403), ("null", 403), ("http://localhost", 405), ("", 403)])
def test_other_methods_need_the_same_origin(asker: Asker, origin: str, status: int) -> None:
    answer = asker.get("/", method="POST", **({"Origin": origin} if origin else {}))
    assert answer.status_code == status


def test_origin_needs_the_port_too() -> None:
    assert is_same_origin(Headers({"host": "localhost:8080", "origin": "http://localhost:8080"}))
    assert not is_same_origin(Headers({"host": "localhost:8080", "origin": "http://localhost:9"}))
    assert not is_same_origin(Headers({"host": "localhost"}))


# ---------------------------------------------------------------- values made harmless


@each_row(
    "url",
    ["javascript:alert(1)", " https://a.example", "https:", "https://", "//evil.example", "data:text/html,x", "",
     "java\tscript:x", "http://a b", "ftp://a.example", "https://[::1", "https://a.example/" + "x" * 5_000, None],
)  # fmt: skip
def test_only_web_urls_become_links(url: str | None) -> None:
    assert web_url(url) is None


def test_web_url_stays_as_it_is() -> None:
    assert web_url("HTTPS://a.example/ä?b=1#c") == "HTTPS://a.example/ä?b=1#c"


def test_text_acts_on_nothing_around_it() -> None:
    assert harmless("a\u202eb\x00c\u2066") == "a\\u202eb\\x00c\\u2066"
    assert harmless("港口\n") == "港口\n"
    assert harmless(Markup("<b>\u200b</b>")) == "<b>\u200b</b>"
    assert (harmless(None), harmless(3)) == ("", 3)


@each_row(
    ("time", "english", "chinese"),
    [("2024-03-12", "12 March 2024", "2024年3月12日"),
     ("2024-03-12T08:30+08:00", "12 March 2024, 08:30 UTC+8", "2024年3月12日 08:30（UTC+8）"),
     ("2024-03-12T08:30:05-03:30", "12 March 2024, 08:30:05 UTC-3:30", "2024年3月12日 08:30:05（UTC-3:30）"),
     ("2024-03-12T08:30:00+00:00", "12 March 2024, 08:30 UTC", "2024年3月12日 08:30（UTC）"),
     ("2024-99-12", "2024-99-12", "2024-99-12"), ("<b>", "<b>", "<b>"), (None, "", "")],
)  # fmt: skip
def test_times_are_shown_as_precise_as_they_are(time: str | None, english: str, chinese: str) -> None:
    assert (moment(time, "en"), moment(time, "zh")) == (english, chinese)


def test_values_are_shown_short() -> None:
    assert (number(1_234_567), number(None), number(0.125, 2)) == ("1,234,567", "–", "0.12")
    assert (size(512), size(1536), size(3 << 40)) == ("512 B", "1.5 KB", "3.0 TB")
    assert (short("abc", 3), short("abcd", 3)) == ("abc", "ab…")
    assert day("2024-03-12T08:30+08:00", "en") == "12 March 2024"
    assert (is_language("zh-Hans"), is_language('en" x="')) == (True, False)


# ---------------------------------------------------------------- languages


def test_messages_are_there_in_each_language_with_the_same_values() -> None:
    for key, texts in messages().items():
        # the English help of settings stands in their table
        assert set(texts) == ({"zh"} if key.startswith("setting.") else set(LANGUAGES)), key
        forms = {code: list(text.values()) if isinstance(text, dict) else [text] for code, text in texts.items()}
        assert all(all(each) for each in forms.values()), key
        # "1 story" needs no place for the number
        named = {
            frozenset(name for text in each for _, name, _, _ in string.Formatter().parse(text) if name)
            for each in forms.values()
        }
        assert len(named) == 1, key


def test_files_of_messages_share_no_key() -> None:
    files = [json.loads(path.read_text("utf-8")) for path in (HERE / "messages").iterdir()]
    assert sum(map(len, files)) == len(messages())


def test_settings_are_explained_in_chinese() -> None:
    assert {key for key in messages() if key.startswith("setting.")} == {f"setting.{each.name}" for each in OPTIONS}
    assert {each.group for each in OPTIONS} == {
        key.removeprefix("settings.group.") for key in messages() if key.startswith("settings.group.")
    }


def _left(text: str) -> list[str]:
    """Return the English words of a text but for commands, URLs, and what an answer said."""
    return re.findall(r"\b[a-z]{2,}", re.sub(r"https?://\S+|scrapy extract|scrapy suggest \S+|http error", "", text))


@each_row("before", [0.0, 0.02])
def test_alarms_are_said_in_chinese(before: float) -> None:
    zh = Language("zh")
    for signal, about in SIGNALS.items():
        told = sentence(Finding(about.kind, signal, before, 40, 38, "http error: 403", "https://a.test/news/1.html"))
        for text in (told, f"{told} (like 5 of 9 hosts: perhaps it is the network of this machine)"):
            assert _left(text), text
            assert _left(zh.said(text)) == [], text
        assert Language("en").said(told) == told


def test_traps_are_said_in_chinese() -> None:
    for level, brought in ((1, 0), (1, 3), (2, 0)):
        one = Pattern(level, "/c?m", pages=40, brought=brought, unproductive=30.0, grown=60)
        one.block("calendar", 0.0)
        assert _left(one.why), one.why
        assert _left(Language("zh").said(one.why)) == [], one.why


@each_row(
    ("ending", "said"),
    [
        ("finished", "已完成"),
        ("stopped watching", "已停止持续跟踪"),
        ("stopped (shutdown)", "已停止（收到停止指令）"),
        (f"{FAILED} (no seed brought a page)", "出错（没有一个种子取到网页）"),
        (f"{FAILED} (disk full: /x)", "出错（disk full: /x）"),
        ("finished but for 3 pages that could not be read", "已完成，但有 3 个网页无法读取"),
    ],
)
def test_endings_of_runs_are_said_in_chinese(ending: str, said: str) -> None:
    assert Language("zh").said(ending) == said
    assert Language("en").said(ending) == ending


def test_quotes_of_values_are_those_of_the_language() -> None:
    assert Language("zh").said("no site has 'a.example' in its name") == "没有名称包含 “a.example” 的网站"
    assert Language("en").said("no site has 'a.example' in its name") == "no site has 'a.example' in its name"


def test_stranger_makes_no_sentence_of_the_program() -> None:
    zh = Language("zh")
    assert zh.said("https://a.test/ (list), as “body (list)”") == "https://a.test/（列表），链接文字“body (list)”"
    for text in ("a b (list)", "<b>x</b>", "http 200 at", "{0.__class__}", "(" * 5_000, "W (" * 600):
        assert zh.said(text) == text


def test_pages_say_in_chinese_what_commands_print(asker: Asker) -> None:
    article = json.loads(asker.get("/api/search?q=bridge").text)["hits"][0]["url"]
    for path in ("/?q=the&since=nonsense", "/?q=port&site=nosuch.example", "/crawl", f"/why?url={article}"):
        text = re.sub(r"<[^>]*>", " ", asker.get(f"{path}&lang=zh" if "?" in path else f"{path}?lang=zh").text)
        for english in ("is no date", "in its name", "answers take", "from seed", "(list)", "quality", " at 20"):
            assert english not in text, (path, english)


def test_messages_that_are_named_exist() -> None:
    named = re.compile(r"""\bt\(\s*["']([a-z][a-z0-9.-]*[a-z0-9])["']\s*[,)]""")
    templates = {path.name: path.read_text("utf-8") for path in (HERE / "templates").iterdir()}
    missing = [(name, key) for name, text in templates.items() for key in named.findall(text) if key not in messages()]
    assert missing == []
    assert sum(len(named.findall(text)) for text in templates.values()) > 100


def test_messages_count() -> None:
    assert Language("en")("search.count", n=1) == "1 story"
    assert Language("en")("search.count", n=1_234) == "1,234 stories"
    assert Language("zh")("search.count", n=1) == "1 则报道"


@each_row(
    ("asked", "kept", "accepted", "code"),
    [("zh", "en", "en", "zh"), (None, "zh", "en", "zh"), ("fr", None, "zh-TW,en;q=0.5", "zh"), (None, None, "", "en"),
     (None, None, "en;q=0.1, zh;q=0.9", "zh"), (None, None, "zh;q=0, de", "en"), (None, "x", ",;q=a;,zh;q=9", "zh"),
     (None, None, "ZH-hans-CN", "zh")],
)  # fmt: skip
def test_language_is_that_of_url_cookie_or_browser(asked: str, kept: str, accepted: str, code: str) -> None:
    assert choose(asked, kept, accepted) == code


def test_language_and_colours_are_kept_in_cookies(asker: Asker) -> None:
    answer = asker.get("/?lang=zh&theme=dark")
    assert '<html lang="zh-Hans" data-theme="dark">' in answer.text
    cookies = answer.headers.get_list("set-cookie")
    assert [cookie.partition(";")[0] for cookie in cookies] == ["lang=zh", "theme=dark"]
    assert all("HttpOnly" in cookie and "SameSite=strict" in cookie for cookie in cookies)
    assert '<html lang="zh-Hans" data-theme="dark">' in asker.get("/", Cookie="lang=zh; theme=dark").text
    assert not asker.get("/?lang=xx&theme=<b>").headers.get_list("set-cookie")


# ---------------------------------------------------------------- what is wrong


@each_row(
    ("path", "status", "title"),
    [("/nothing", 404, "没有这个页面"), ("/article/1", 404, "没有这篇文章"), ("/story/1", 404, "没有这则报道"),
     ("/article/1/page", 404, "没有保存网页原件"), ("/?limit=0", 400, "无法处理这个请求")],
)  # fmt: skip
def test_errors_are_pages_in_the_readers_language(asker: Asker, path: str, status: int, title: str) -> None:
    answer = asker.get(path, Accept_Language="zh-CN")
    assert answer.status_code == status
    assert f"<h1>{title}</h1>" in answer.text
    assert answer.headers["cache-control"] == "no-store"


def older(path: Path) -> None:
    with closing(sqlite3.connect(path)) as made:
        made.executescript(
            "CREATE TABLE alembic_version (version_num TEXT); INSERT INTO alembic_version VALUES ('0001');"
        )


@pytest.mark.parametrize(
    ("make", "said"),
    [(lambda path: None, "there is no database"), (Path.touch, "holds no crawl yet"), (older, "older version"),
     (lambda path: path.write_text("not a database, but a text that is long enough" * 9), "no usable SQLite database")],
    ids=["missing", "empty", "older", "foreign"],
)  # fmt: skip
def test_database_that_cannot_be_shown_is_a_page(tmp_path: Path, make: object, said: str) -> None:
    assert callable(make)
    make(tmp_path / "news.db")
    with Asker(f"sqlite:///{tmp_path}/news.db") as asker:
        answer, program = asker.get("/"), asker.get("/api/search")
    assert (answer.status_code, program.status_code) == (503, 503)
    assert answer.headers["retry-after"]
    assert "The database cannot be read" in answer.text
    assert said in answer.text
    assert said in program.json()["error"]["message"]
    assert "Traceback" not in answer.text


def test_database_that_comes_later_or_is_replaced_is_shown(tmp_path: Path, stand: Path, sqlite_tables: str) -> None:
    path = tmp_path / "news.db"
    with Asker(f"sqlite:///{path}") as asker:
        assert asker.get("/").status_code == 503
        path.write_bytes(stand.read_bytes())
        assert 'class="hit"' in asker.get("/").text
        path.unlink()
        path.write_bytes(Path(sqlite_tables).read_bytes())
        answer = asker.get("/")
        assert answer.status_code == 200
        assert "No articles yet" in answer.text
        path.unlink()
        assert asker.get("/").status_code == 503


def test_fault_of_the_program_is_a_page_and_stands_in_the_log(
    stand: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret")

    with Asker(f"sqlite:///{stand}", WebOptions()) as asker:
        monkeypatch.setattr(asker.app.state.site, "database", fail)
        answer = asker.get("/article/1")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "secret" in caplog.text


# ---------------------------------------------------------------- caches


@each_row("path", ["/", "/api/search", "/feed.atom", "/static/htmx.min.js"])
def test_reader_who_has_the_page_gets_304(asker: Asker, path: str) -> None:
    first = asker.get(path)
    again = asker.get(path, If_None_Match=first.headers["etag"])
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert asker.get(path, If_None_Match='W/"other"').status_code == 200


def test_static_files_are_kept_by_their_content(asker: Asker) -> None:
    page = asker.get("/").text
    for url in re.findall(r'(?:href|src)="(/static/[^"]+)"', page):
        assert "immutable" in asker.get(url).headers["cache-control"]
    assert asker.get("/static/style.css").headers["cache-control"] == "no-cache"
    assert asker.get("/static/../app.py").status_code == 404
    assert asker.get("/static/%2e%2e/app.py").status_code == 404
