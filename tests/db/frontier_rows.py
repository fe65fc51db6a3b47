"""Short ways to make rows for the tests of the frontier and the store."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime
from typing import Any

from db.frontier.leases import LifeSign
from db.records.article import NewArticle
from db.records.keys import fingerprint
from db.records.lease import LeaseRequest
from db.records.outcome import Outcome
from db.records.reasons import SkipReason, reason_of
from db.records.run import Limits, RunStart, StoredSeed
from db.records.url import NewUrl, State

NOW = 1_700_000_000.0
NO_LIMITS = Limits()


def seed_row(url: str, **values: Any) -> StoredSeed:
    host = url.split("/")[2]
    defaults = {"stay": "host", "depth": None, "pages": None, "topic": "", "hosts": (host,)}
    return StoredSeed(id=fingerprint(url), url=url, **{**defaults, **values})


def start(*seeds: StoredSeed, **values: Any) -> RunStart:
    defaults: dict[str, Any] = {
        "started": "2025-01-01T00:00:00+00:00",
        "machine": "here",
        "pid": 1,
        "place": "",
        "settings": "{}",
        "now": NOW,
        "lease_seconds": 60,
        "limits": NO_LIMITS,
        "admit": lambda _others: None,
    }
    return RunStart(seeds=seeds, **{**defaults, **values})


def new_url(url: str, **values: Any) -> NewUrl:
    host = url.split("/")[2]
    defaults: dict[str, Any] = {
        "kind": "page",
        "depth": 1,
        "score": 0.5,
        "score_parts": None,
        "found_in": 1,
    }
    if "reason" in values:
        values["reason"] = reason_of(values["reason"])
    return NewUrl(
        id=fingerprint(url),
        url=url,
        host_id=fingerprint(host),
        host=host,
        site_id=fingerprint(host),
        site=host,
        **{**defaults, **values},
    )


def wish(run_id: int, wants: dict[int, int] | None = None, **values: Any) -> LeaseRequest:
    defaults: dict[str, Any] = {
        "robots_only": frozenset(),
        "disallow_reason": lambda _host, _url: None,
        "closed": lambda _host: None,
        "limits": Limits(),
        "now": NOW,
    }
    if trap := values.pop("trap", None):
        values["refuse"] = lambda one: (SkipReason.TRAP, trap(one)) if trap(one) else None
    return LeaseRequest(run_id=run_id, wants=wants or {}, **{**defaults, **values})


def sign(run_id: int, now: float, **values: Any) -> LifeSign:
    defaults: dict[str, Any] = {"lease_seconds": 60, "hosts": 0, "pages_per_second": 0.0, "totals": {}}
    return LifeSign(run_id=run_id, now=now, **{**defaults, **values})


def done(lease: Any, **values: Any) -> Outcome:
    defaults: dict[str, Any] = {"state": State.DONE, "counted": True, "http_status": 200, "fetched_at": NOW + 1}
    if "reason" in values:
        values["reason"] = reason_of(values["reason"])
    return Outcome(lease=lease, **{**defaults, **values})


def features(text: str) -> bytes:
    """Hashes of all runs of four characters."""
    hashes = {fingerprint(text[i : i + 4]) & 0xFFFFFFFF for i in range(max(1, len(text) - 3))}
    return array("I", sorted(hashes)).tobytes()


def _utc(published: str | None) -> str | None:
    """The same time in UTC; of a day its midnight there."""
    if published is None:
        return None
    stamp = datetime.fromisoformat(published)
    return str(stamp.astimezone(UTC).replace(tzinfo=None) if stamp.tzinfo else stamp)


def article(url: str, text: str, **values: Any) -> NewArticle:
    host = url.split("/")[2]
    defaults: dict[str, Any] = {
        "title": "题目",
        "authors": "",
        "source": "",
        "published_at": None,
        "published_utc": _utc(values.get("published_at")),
        "published_precision": None,
        "published_from": None,
        "language": "zh-Hans",
        "html": "",
        "description": "",
        "tags": "",
        "section": "",
        "quality": 0.9,
        "extractor": "density",
        "images": (),
        "canonical_id": None,
        "seen": "2025-01-01T00:00:00+00:00",
        "text_hash": fingerprint(text),
        "features": features(text),
        "length": len(text),
    }
    return NewArticle(id=fingerprint(url), site_id=fingerprint(host), text=text, **{**defaults, **values})
