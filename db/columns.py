"""What a page says of an article, as columns; and what stays of that when the page says less on a later visit."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from .records.article import NewArticle

_PUBLISHED = ("published_at", "published_precision", "published_from")
FACTS = ("authors", "source", *_PUBLISHED, "updated")
"""Columns that are put right even when the text says nothing else."""


def values_of(new: NewArticle) -> dict[str, Any]:
    """The columns that a page determines."""
    return {
        "site_id": new.site_id,
        "title": new.title,
        "authors": new.authors,
        "source": new.source,
        "published_at": new.published_at,
        "published_precision": new.published_precision,
        "published_from": new.published_from,
        "language": new.language,
        "text": new.text,
        "html": new.html,
        "summary": new.summary,
        "keywords": new.keywords,
        "classes": new.classes,
        "quality": round(new.quality, 4),
        "relevance": None if new.relevance is None else round(new.relevance, 4),
        "extractor": new.extractor,
        "text_hash": new.text_hash,
        "text_chars": len(new.text),
        "updated": new.seen,
    }


def completed(stored: Row[Any], values: dict[str, Any]) -> dict[str, Any]:
    """Values of an article that is read again: what its page no longer says of it, or less exactly, stays."""
    if values["title"] not in {"", stored.title} and values["text_hash"] != stored.text_hash:
        return values  # perhaps another one
    kept = {name: stored._mapping[name] for name in ("title", "authors", "source") if not values[name]}
    day, known = (str(one)[: len("2024-03-12")] for one in (values["published_at"], stored.published_at))
    vaguer = day == known and values["published_precision"] == "day"
    if values["published_at"] is None or (vaguer and stored.published_precision != "day"):
        kept |= {name: stored._mapping[name] for name in _PUBLISHED}
    return values | kept
