"""Tests of JavaScript literals."""

from __future__ import annotations

import json
import time

from hypothesis import given
from hypothesis import strategies as st

from pipelines.script_data.literals import read_literal
from tests.table import each_row


@each_row(
    ("text", "value"),
    [
        (
            "{env:'prod',login:undefined,at:new Date(1700000000000),}",
            {"env": "prod", "login": None, "at": 1700000000000},
        ),
        ("[!0,!1,void 0,,.5,0x1F,-1]", [True, False, None, None, 0.5, 31, -1]),
        ("(function(a,b){a.x=1;return {x:a,y:[b]}}(null,'z'))", {"x": None, "y": ["z"]}),
        ("(function(a){return {a}})('z')", {"a": "z"}),
        (r"""{a:"\x3cp>" + 'q"\'',b:`t`}""", {"a": "<p>q\"'", "b": "t"}),
        (r"'\u{1F600}'", "\N{GRINNING FACE}"),
        ("{a:1 /* one */, // two\n b:function(){return 2}}", {"a": 1, "b": None}),
        ("{a:new Map([[1,2]]),b:f.g(1,{x:2}),...c}", {"a": [[1, 2]], "b": None}),
        (r'JSON.parse("{\"a\":1}")', '{"a":1}'),
        (
            "{a:JsDecode('x\\x0ay'),b:page.unescapeHtml(),c:f('z'),d:decode(g('1'), 2)}",
            {"a": "x\ny", "b": None, "c": None, "d": None},
        ),
        (
            "{a:'1' * 1,b:x ? 'y' : [1],c:['z' || {w:2}, 1 + n],d:'u' + v}",
            {"a": "1", "b": None, "c": ["z", None], "d": None},
        ),
    ],
)
def test_literals_are_read(text, value):
    """Read what JSON cannot say."""
    found = read_literal(text)
    assert found is not None
    assert found.value == value


@each_row("text", ["{return x}", "{a:", "", "x=>1", "{'a' 1}"])
def test_code_is_no_literal(text):
    """Refuse what is no value."""
    assert read_literal(text) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.text() | st.integers(),
        lambda one: st.lists(one) | st.dictionaries(st.text(), one),
    )
)
def test_json_is_read_as_json(value):
    """Agree with the library on JSON, also beside what is none."""
    found = read_literal(json.dumps([value, 1]))
    assert found is not None
    assert found.value == [value, 1]
    loose = read_literal(json.dumps([value])[:-1] + ",undefined]")
    assert loose is not None
    assert loose.value == [value, None]


@each_row(
    "text",
    [
        "{a:" * 9000,
        "[" * 9000,
        "decode(" * 9000,
        "{a:1*[" * 9000,
        "(function(a){" * 5000,
        "{a:b(" * 5000,
        "'a'+" * 20000,
        "/*" * 9000,
    ],
)
def test_hostile_literals_cost_little(text):
    """Stop soon in what was made to take long."""
    begun = time.process_time()
    assert read_literal(text) is None
    assert time.process_time() - begun < 3
