r"""JavaScript literals, read without running them.

JSON is read by the library. Everything else is first rewritten as JSON, token by token: `undefined`, `!0`, `void 0`,
`new Date(n)`, single quotes, bare keys, `\x3c`, concatenated strings, and functions that only return a value. A call of
a function that decodes its argument becomes that argument; of an expression inside an object or a list the first
operand stands (`'1' * 1` is `'1'`). Other calls and functions become null; anything that is no value ends the reading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

MAX_TOKENS: Final = 20_000
"""States of real pages that are no JSON have up to 9,000; 20,000 take 40 ms."""
MAX_DEPTH: Final = 120
"""Trees of components are nested some sixty deep."""

_TOKEN = re.compile(
    r"""
    [\s\ufeff]*+(?://[^\n]*+\s*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/\s*+)*+
    (?:
      (?P<plain>"[^"\\\x00-\x1f]*+")
    | (?P<string>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|`(?:[^`\\$]|\\.|\$(?!\{))*+`)
    | (?P<number>[-+]?(?:0[xX][0-9a-fA-F]{1,16}|(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][-+]?\d{1,4})?)(?![\w$.]))
    | (?P<mark>[{}\[\](),:;])
    | (?P<constant>void\s0|void\(0\)|![01](?![\w$])|-Infinity\b)
    | (?P<name>[A-Za-z_$][\w$]*+(?:\.[A-Za-z_$][\w$]*+)*+)
    | (?P<other>=>|\.\.\.|.)
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS: Final = {
    "true": "true", "false": "false", "null": "null", "undefined": "null", "NaN": "null", "Infinity": "null",
    "-Infinity": "null", "void 0": "null", "void(0)": "null", "!0": "true", "!1": "false",
}  # fmt: skip
_DECODING = re.compile(r"(?:decode|unescape|parse|atob|freeze)\w{0,20}$", re.IGNORECASE)
"""Names of functions of which the argument is the value: `JSON.parse`, `decodeURIComponent`, a page's own."""
_ENDS: Final = frozenset({",", "}", "]", ")", ""})
_MADE_OF: Final = frozenset({"Date", "Map", "Set", "URL", "String", "Number"})
_RETURN = re.compile(r"\breturn\s?(?=[{\[(])")
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\}|(u[0-9a-fA-F]{4})|([0bfnrtv])|(\r\n|[\n\r\u2028\u2029])|(.))",
    re.DOTALL,
)
_CONTROLS: Final = {"0": "\\u0000", "v": "\\u000b"}
_OPEN: Final = {"{": "}", "[": "]", "(": ")"}


class Read(NamedTuple):
    value: object
    end: int


class _NoLiteral(Exception):
    """The text at this place is no literal, or too large a one."""


def read_literal(text: str, start: int = 0, tokens: int = MAX_TOKENS) -> Read | None:
    """Read the value that begins at a place of a script; None if there is no literal.

    White space and comments may come first. The value is as `json.loads` would give it.
    Cost: O(characters); at most `tokens` tokens of a literal that is no JSON.

    >>> read_literal("{env:'prod',login:undefined,flags:[!0,void 0],at:new Date(17e8)}").value
    {'env': 'prod', 'login': None, 'flags': [True, None], 'at': 1700000000.0}
    >>> read_literal("(function(a,b){return {x:a,y:[b]}}(null,'z'))").value
    {'x': None, 'y': ['z']}
    """
    if text[start : start + 1] in {"{", "["}:
        try:
            return Read(*_DECODER.raw_decode(text, start))
        except (ValueError, RecursionError):
            pass
    reader = _Reader(text, start, {}, tokens)
    try:
        reader.value()
        return Read(json.loads("".join(reader.out), strict=False), reader.at)
    except (_NoLiteral, ValueError, RecursionError):
        return None


_DECODER: Final = json.JSONDecoder(strict=False)


class _Reader:
    """One pass over the tokens of a value, which is rewritten as JSON.

    `out` is the JSON so far, `at` the place behind the last token.
    """

    def __init__(self, text: str, at: int, names: Mapping[str, str], tokens: int) -> None:
        self._text = text
        self._names = names
        self._left = tokens
        self._depth = 0
        self.at = at
        self.out: list[str] = []

    def value(self) -> None:
        first = len(self.out)
        self._single()
        while self._peek() == "+":
            self._next()
            second = len(self.out)
            self._single()
            if self.out[first][:1] != '"' or self.out[second][:1] != '"':
                if not self._depth:
                    raise _NoLiteral
                self.out[first:] = ["null"]
                continue
            self.out[second - 1] = self.out[second - 1][:-1]  # one string from here on: '"a', 'b"'
            self.out[second] = self.out[second][1:]

    def _operand(self) -> None:
        """Write a value inside brackets; of an expression the first operand."""
        self.value()
        while self._peek() not in _ENDS:
            _, token = self._next()
            if token in _OPEN:
                self._balanced(_OPEN[token])

    def _single(self) -> None:
        kind, token = self._next()
        if kind == "plain":
            self.out.append(token)
        elif kind == "string":
            self.out.append(_quoted(token))
        elif kind == "number":
            self.out.append(_number(token))
        elif kind == "constant":
            self.out.append(_CONSTANTS[token])
        elif token == "{":
            self._object()
        elif token == "[":
            self._list()
        elif token == "(":
            self._bracketed()
        elif token == "function":
            self._function()
        elif token in {"new", "async", "typeof", "await"}:
            self._called()
        elif kind == "name":
            self._name(token)
        else:
            raise _NoLiteral

    def _object(self) -> None:
        self._enter()
        self.out.append("{")
        is_first = True
        while True:
            kind, token = self._next()
            if token == "}" and kind == "mark":
                break
            if token == "," and kind == "mark":
                continue
            if token == "...":
                self._dropped()
                continue
            if not is_first:
                self.out.append(",")
            is_first = False
            if kind == "plain":
                self.out.append(token)
            elif kind == "string":
                self.out.append(_quoted(token))
            elif kind in {"name", "number"} and "." not in token:
                self.out.append(f'"{token}"')
            else:
                raise _NoLiteral
            follows = self._peek()
            if follows == ":":
                self._next()
                self.out.append(":")
                self._operand()
            elif follows in {",", "}"} and kind == "name":  # the name of a variable is key and value
                self.out += [":", self._names.get(token, "null")]
            else:
                raise _NoLiteral
        self.out.append("}")
        self._depth -= 1

    def _list(self) -> None:
        self._enter()
        self.out.append("[")
        count = 0
        while (token := self._peek()) != "]":
            if count:
                if token != ",":
                    raise _NoLiteral
                self._next()
                token = self._peek()
                if token == "]":
                    break
                self.out.append(",")
            count += 1
            if token == "...":
                self._next()
                self._dropped()
                self.out.append("null")
            elif token == ",":
                self.out.append("null")
            else:
                self._operand()
        self._next()
        self.out.append("]")
        self._depth -= 1

    def _bracketed(self) -> None:
        self._enter()
        self.value()
        kind, token = self._next()
        if token != ")" or kind != "mark":
            raise _NoLiteral
        self._depth -= 1

    def _name(self, name: str) -> None:
        if name in _CONSTANTS:
            self.out.append(_CONSTANTS[name])
            return
        follows = self._peek()
        if follows == "(" and _DECODING.search(name):
            self._next()
            self._decoded()
        else:
            if follows == "(":
                self._next()
                self._balanced(")")
            elif not self._depth and follows not in {*_ENDS, ";"}:
                raise _NoLiteral
            self.out.append(self._names.get(name, "null"))

    def _decoded(self) -> None:
        """Write the first argument of a call whose bracket is open."""
        self._enter()
        if self._peek() == ")":
            self.out.append("null")
        else:
            self._operand()
        self._balanced(")")
        self._depth -= 1

    def _called(self) -> None:
        _, name = self._next()
        if self._peek() != "(":
            self.out.append("null")
            return
        self._next()
        if name in _MADE_OF and self._peek() != ")":
            self.value()
            if self._next()[1] != ")":
                raise _NoLiteral
        else:
            self._balanced(")")
            self.out.append("null")

    def _function(self) -> None:
        """Write the value that a function returns if it is called at once, else null.

        The call follows behind its body, `function(){}()`, or behind the bracket around it, `(function(){})()`: that
        bracket's end is taken here, and the call's end there.
        """
        names = self._parameters()
        body = self.at
        self._balanced("}")
        inside = self._text[body : self.at - 1]
        if is_wrapped := self._peek() == ")":
            at = self.at
            self._next()
            if self._peek() != "(":
                self.at = at
        if self._peek() != "(":
            self.out.append("null")
            return
        self._next()
        given = self._arguments(names)
        if not is_wrapped:
            self._next()
        returned = _RETURN.search(inside)
        if returned is None:
            raise _NoLiteral
        reader = _Reader(inside, returned.end(), given, self._left)
        reader._depth = self._depth
        reader.value()
        self._left = reader._left
        self.out += reader.out

    def _parameters(self) -> list[str]:
        names: list[str] = []
        kind, token = self._next()
        if kind == "name":
            kind, token = self._next()
        while token != ")":
            kind, token = self._next()
            if kind == "name":
                names.append(token)
        if self._next()[1] != "{":
            raise _NoLiteral
        return names

    def _arguments(self, names: Sequence[str]) -> dict[str, str]:
        given = dict.fromkeys(names, "null")
        for name in names:
            if self._peek() == ")":
                break
            start = len(self.out)
            self.value()
            given[name] = "".join(self.out[start:])
            del self.out[start:]
            if self._peek() == ",":
                self._next()
        if self._peek() != ")":
            raise _NoLiteral
        return given

    def _dropped(self) -> None:
        start = len(self.out)
        self.value()
        del self.out[start:]

    def _balanced(self, end: str) -> None:
        waiting = [end]
        while waiting:
            kind, token = self._next()
            if kind != "mark":
                continue
            if token in _OPEN:
                waiting.append(_OPEN[token])
            elif token == waiting[-1]:
                waiting.pop()
            elif token in {")", "]", "}"}:
                raise _NoLiteral

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _NoLiteral

    def _next(self) -> tuple[str, str]:
        self._left -= 1
        match = _TOKEN.match(self._text, self.at)
        if match is None or self._left < 0:
            raise _NoLiteral
        self.at = match.end()
        kind = match.lastgroup or ""
        return kind, match[kind]

    def _peek(self) -> str:
        match = _TOKEN.match(self._text, self.at)
        return "" if match is None else match[match.lastgroup or 0]


def _quoted(token: str) -> str:
    inside = _ESCAPE.sub(_unescaped, token[1:-1])
    return f'"{_BARE.sub(_escaped, inside)}"'


_BARE = re.compile(r'\\.|["\x00-\x1f]', re.DOTALL)


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    return char if char[0] == "\\" else f"\\u{ord(char):04x}"


def _unescaped(match: re.Match[str]) -> str:
    byte, point, unit, letter, broken, other = match.groups()
    if byte:
        return f"\\u00{byte}"
    if point:
        return json.dumps(chr(min(int(point, 16), 0x10FFFF)))[1:-1]
    if unit:
        return match[0]
    if letter:
        return _CONTROLS.get(letter, f"\\{letter}")
    if broken:
        return ""
    return f"\\{other}" if other in '"\\/' else other


def _number(token: str) -> str:
    if token[:2].lower() == "0x" or token[1:3].lower() == "0x":
        return str(int(token, 16))
    number = float(token)
    return token if _PLAIN.fullmatch(token) else repr(number) if abs(number) < 1e300 else "null"


_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d{1,2})?")
