"""Values that a page carries for its scripts, and texts that it hides for them."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Final, NamedTuple
from urllib.parse import unquote

from ..document.document import Document
from .literals import MAX_TOKENS, read_literal

_MOST_CHARS: Final = 4_000_000
"""In all scripts of a page together."""
_MOST_STARTS: Final = 60
_LEAST_CHARS: Final = 120
"""A shorter script or string holds no article."""
_DEEPEST_STRINGS: Final = 3
"""JSON in a string in a string: states are quoted twice at most, and once more for safety."""
_START = re.compile(
    r"""(?:[=(,:]|\breturn)\s{0,9}(?=[{\["'`]|JSON\.parse\(|(?:window\.)?atob\(|decodeURI)|=\s{0,9}(?=\(?function\b)"""
)
"""Where a value may begin; a function that is not assigned is part of the program."""
_FLIGHT: Final = "__next_f.push("
_ROW = re.compile(r"([0-9a-f]{1,8}):(?:T([0-9a-f]{1,8}),)?")
_ANGULAR: Final = (("&q;", '"'), ("&s;", "'"), ("&l;", "<"), ("&g;", ">"), ("&a;", "&"))
"""Escapes of Angular's older versions."""
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{160,}={0,2}\s{0,9}")
_DEEPEST_STORE: Final = 5
_RECORD: Final = frozenset({"__typename", "__id"})
_WRAPPERS: Final = frozenset({"Reactive", "ShallowReactive", "Ref", "ShallowRef", "EmptyRef", "EmptyShallowRef"})


class Carried(NamedTuple):
    """Values of scripts, and hidden texts: textareas, templates, scripts of markup."""

    values: list[object]
    texts: list[str]


def read_values(document: Document) -> Carried:
    """Read all values of a page's scripts.

    Cost: O(characters of scripts), at most four million; what is no JSON costs two microseconds a token, of which no
    more than `MAX_TOKENS` are read.
    """
    values: list[object] = []
    texts: list[str] = []
    flight: list[str] = []
    left = _MOST_CHARS
    for node, tag in enumerate(document.tags):
        if tag not in {"script", "textarea", "template"}:
            continue
        element = document.elements[node]
        text = "".join(map(str, element.itertext())) if tag == "template" else element.text or ""
        text = text.lstrip().removeprefix("<![CDATA[")
        if len(text) > left or (len(text) < _LEAST_CHARS and not (tag == "script" and "{" in text)):
            continue
        left -= len(text)
        if tag != "script":
            texts.append(text)
        elif "json" in (element.get("type") or ""):
            value = decode(text)
            if value is not None:
                values.append(value)
        elif _FLIGHT in text:
            flight += _chunks(text)
        elif text.lstrip()[:1] == "<":
            texts.append(text)
        else:
            values += _assigned(text)
    if flight:
        values += _rows("".join(flight))
    for value in values:
        _link(value)
    return Carried(values, texts)


def decode(text: str, depth: int = _DEEPEST_STRINGS) -> object:  # noqa: PLR0911 - one form after the other
    """Return the value in a string of JSON, plain or encoded, else None.

    >>> decode("%7B%22a%22%3A1%7D"), decode("plain words")
    ({'a': 1}, None)
    """
    text = text.strip()
    if depth <= 0:
        return None
    if text[:1] in {"{", "["}:
        if "&q;" in text:
            for mark, sign in _ANGULAR:
                text = text.replace(mark, sign)
        try:
            return _revived(json.loads(text, strict=False))
        except (ValueError, RecursionError):
            literal = read_literal(text)
            return None if literal is None else literal.value
    if text[:3].upper() in {"%7B", "%5B", "%22"}:
        return decode(unquote(text), depth - 1)
    if text[:6] == "&quot;" or text[:7] in {"{&quot;", "[&quot;"} or text[:5] == "&#34;":
        return decode(unescape(text), depth - 1)
    if text[:1] == '"' and text[-1:] == '"':
        literal = read_literal(text)
        return decode(literal.value, depth - 1) if literal is not None and isinstance(literal.value, str) else None
    if _BASE64.fullmatch(text):
        try:
            return decode(base64.b64decode(text).decode("utf-8"), depth - 1)
        except (binascii.Error, ValueError):
            return None
    return None


def _link(value: object, depth: int = 0) -> None:
    """Replace references in a store (Apollo, Relay) by their records."""
    if depth > _DEEPEST_STORE or not isinstance(value, dict):
        return
    if sum(isinstance(one, dict) and bool(_RECORD & one.keys()) for one in value.values()) > 1:
        left = MAX_TOKENS
        waiting: list[object] = list(value.values())
        while waiting and (left := left - 1):
            held = waiting.pop()
            items = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
            for key, inner in list(items):
                name = inner.get("__ref") or inner.get("id") if isinstance(inner, dict) and len(inner) < 5 else None
                if isinstance(name, str) and isinstance(value.get(name), dict):
                    held[key] = value[name]  # type: ignore[index]
                elif isinstance(inner, (dict, list)):
                    waiting.append(inner)
        return
    for inner in value.values():
        _link(inner, depth + 1)


def _assigned(text: str) -> Iterator[object]:
    at = tokens = 0
    for _ in range(_MOST_STARTS):
        match = _START.search(text, at)
        if match is None or tokens >= MAX_TOKENS:
            return
        at = match.end()
        literal = read_literal(text, at, MAX_TOKENS - tokens)
        if literal is None:
            tokens += 50
            continue
        if text[at] not in "{[":
            tokens += (literal.end - at) // 20
        at = literal.end
        value = literal.value
        if isinstance(value, str):
            value = decode(value) if len(value) >= _LEAST_CHARS else None
        if isinstance(value, (dict, list)) and value:
            yield value


def _chunks(text: str) -> Iterator[str]:
    at = text.find(_FLIGHT)
    while at >= 0:
        at += len(_FLIGHT)
        literal = read_literal(text, at)
        if literal is not None and isinstance(literal.value, list) and len(literal.value) > 1:
            piece = literal.value[1]
            if isinstance(piece, str):
                yield piece
        at = text.find(_FLIGHT, at)


def _rows(flight: str) -> list[object]:
    """Return the values of the rows of a flight, with long texts in their places."""
    data = flight.encode("utf-8", "replace")
    texts: dict[str, str] = {}
    values: list[object] = []
    at = 0
    while at < len(data):
        match = _ROW.match(data[at : at + 20].decode("latin-1"))
        if match is None:
            end = data.find(b"\n", at)
            at = len(data) if end < 0 else end + 1
            continue
        at += match.end()
        if match[2]:
            size = int(match[2], 16)
            texts[f"${match[1]}"] = data[at : at + size].decode("utf-8", "replace")
            at += size
            continue
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        row = data[at:end].decode("utf-8", "replace")
        at = end + 1
        if row[:1] in {"{", "["}:
            try:
                values.append(json.loads(row, strict=False))
            except (ValueError, RecursionError):
                continue
    return [_filled(value, texts) for value in values] if texts else values


def _filled(value: object, texts: dict[str, str], depth: int = 60) -> object:
    if isinstance(value, str):
        return texts.get(value, value) if value[:1] == "$" else value
    if depth and isinstance(value, list):
        return [_filled(one, texts, depth - 1) for one in value]
    if depth and isinstance(value, dict):
        return {key: _filled(one, texts, depth - 1) for key, one in value.items()}
    return value


def _revived(value: object) -> object:
    """Rebuild a state of Nuxt 3 or SvelteKit (devalue): a list of linked items."""
    if not (isinstance(value, list) and len(value) > 1):
        return value
    first = value[0]
    is_wrapped = isinstance(first, list) and len(first) > 1 and first[0] in _WRAPPERS
    is_numbered = isinstance(first, dict) and first and all(type(one) is int for one in first.values())
    if not is_wrapped and not is_numbered:
        return value
    left = [MAX_TOKENS]

    def revive(number: object, depth: int) -> object:
        left[0] -= 1
        if type(number) is not int or not 0 <= number < len(value) or depth > 60 or left[0] < 0:
            return None
        item = value[number]
        if isinstance(item, dict):
            return {key: revive(one, depth + 1) for key, one in item.items()}
        if isinstance(item, list):
            if item and isinstance(item[0], str):
                return revive(item[1], depth + 1) if len(item) > 1 and item[0] != "Date" else item[1:][0:1]
            return [revive(one, depth + 1) for one in item]
        return item

    return revive(0, 0)
