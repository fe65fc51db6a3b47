"""Preloading in the fork server of the models that describe articles."""

from __future__ import annotations

import gc

from . import warm
from .describe import DEFAULT, describer

SHARED = *warm.SHARED, describer(DEFAULT).describe("新闻", "今天的新闻 news。", "zh")

gc.collect()
gc.freeze()
