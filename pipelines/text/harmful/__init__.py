"""Harmful pages: gambling, porn, fraud, abuse, adverts, hijacked ones.

A method judges a page by its titles, its text, the texts of its links, and a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from . import blocks, judge
from .records import HarmVerdict

METHODS: Final[Mapping[str, Callable[..., HarmVerdict]]] = {"combined": judge.judge, "blocks": blocks.judge}
DEFAULT: Final = "combined"
