"""The URL that an answer leads to, identified when the answer comes."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.response.redirects import of_seed, with_redirect
from db.records.reasons import FailReason, SkipReason
from db.records.url import Kind
from pipelines.links.scope import Scope, identify
from pipelines.records import BlockKind
from tests.crawler.answers import URL, lease, page

SEED = {"found_in": BlockKind.SEED}


def target_of(status: int, url: str = URL, **values: Any) -> tuple[str, str | None] | None:
    target = page(status, url, **values).redirect
    return None if target is None else (target.url, target.reason)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/b?utm_source=x#top", ("http://h.cn/b", None)),
        ("http://other.cn/x", ("http://other.cn/x", SkipReason.OUTSIDE)),
        ("/b.zip", ("http://h.cn/b.zip", SkipReason.FILE)),
        ("mailto:a@h.cn", None),
        ("", None),
        ("/" + "a" * 3_000, None),
    ],
)
def test_redirect_is_normalised_and_bounded(location: str, expected: tuple[str, str | None] | None) -> None:
    assert target_of(301, headers={"location": location}) == expected
    assert target_of(200, headers={"location": location}) is None


def test_redirect_of_robots_txt_may_leave_the_scope() -> None:
    headers = {"location": "http://cdn.net/robots.txt"}
    assert target_of(301, kind=Kind.ROBOTS, headers=headers) == ("http://cdn.net/robots.txt", None)


def test_redirect_with_a_new_cookie_keeps_its_normal_form() -> None:
    headers = {"location": "/a;jsessionid=1F"}
    assert target_of(302, headers=headers) == (f"{URL};jsessionid=1F", None)
    assert target_of(302, headers=headers, new_cookie=True) == (URL, None)


def test_redirect_by_http_is_only_for_bare_hosts() -> None:
    values: dict[str, Any] = {"error": FailReason.CONNECTION_REFUSED}
    assert target_of(0, "https://h.cn/", scope=Scope("host", ("h.cn",), bare=True), **values) == ("http://h.cn/", None)
    assert target_of(0, "https://h.cn/", **values) is None


@pytest.mark.parametrize(("host", "reason"), [("news.h.cn", None), ("other.cn", SkipReason.OUTSIDE)])
def test_redirect_of_a_seed_may_go_to_another_host_of_its_site(host: str, reason: SkipReason | None) -> None:
    headers = {"location": f"http://{host}/"}
    assert target_of(301, headers=headers, **SEED) == (f"http://{host}/", reason)
    assert target_of(301, headers=headers) == (f"http://{host}/", SkipReason.OUTSIDE)
    assert target_of(301, headers=headers, seed_id=None, **SEED) == (f"http://{host}/", SkipReason.OUTSIDE)


def test_redirect_of_a_seed_is_followed_in_spite_of_its_own_rules() -> None:
    target = identify("http://h.cn/b", scope=Scope("host", ("h.cn",), exclude=("/b",)))
    assert (target.reason, target.detail) == (SkipReason.EXCLUDED, "exclude=/b")
    assert of_seed(target, lease(), target.site_id) is target
    wanted = of_seed(target, lease(**SEED), target.site_id)
    assert (wanted.reason, wanted.detail) == (None, "")


def test_page_out_of_scope_after_a_redirect_is_away() -> None:
    away = page(200, "http://other.cn/", hops=1)
    assert away.is_away
    assert not page(200, "http://other.cn/").is_away
    assert not page(200, hops=1).is_away
    assert not page(200, "http://news.h.cn/", hops=1, **SEED).is_away
    assert with_redirect(away) == away
