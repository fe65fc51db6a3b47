"""Preloading in the fork server of what all workers share."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from .dedup import method
from .extract.combined import network
from .links.scope import Scope
from .metadata.name_words import is_chinese_word, is_made_of_words
from .models.files import ModelError
from .page_kind.model import shipped
from .search.terms import index_terms
from .urls import site_key
from .worker import Job, ParseOptions, parse_job

SHARED: list[object] = []


def share(*makers: Callable[[], object]) -> None:
    """Keep what each maker returns, for all processes that are forked from this one.

    One whose model cannot be used is left out: each page will say so, while an error here would end the fork server.
    """
    for make in makers:
        with suppress(ModelError):
            SHARED.append(make())
    # A collection in a process forked from this one would write to each object, and its memory would no longer be
    # shared.
    gc.collect()
    gc.freeze()


share(
    lambda: method().sign("新闻 news", "新闻 news"),
    lambda: index_terms("新闻", "news", "", "", "en"),
    lambda: site_key("news.example.com.cn"),
    network,
    shipped,
    lambda: parse_job(
        Job("page", b"<p>news</p>", "http://news.example/", "", "", 0.0, Scope("any", ())), ParseOptions()
    ),
    lambda: is_made_of_words("Jane Doe"),
    lambda: is_chinese_word("新闻"),
    lambda: np.ones((256, 256)) @ np.ones((256, 256)),  # BLAS takes its working memory with the first large product
)
