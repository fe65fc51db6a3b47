"""Preloading in the fork server of the models that describe articles."""

from __future__ import annotations

from . import warm
from .describe import DEFAULT, describer

warm.share(lambda: describer(DEFAULT).describe("新闻", "今天的新闻 news。", "zh"))
