"""Imported by the fork server before the first worker is forked: what all workers need is made once and shared."""

from __future__ import annotations

from .dedup import signature
from .urls import site_key
from .worker import work

SHARED = (signature("新闻 news"), site_key("news.example.com.cn"), work)
