"""JSON lines parsed at once, by our kernel or by Arrow, are what they are one by one."""

from __future__ import annotations

import json
import random
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou.streams.cells import Label
from bayou.streams.jsonl import JsonObjects
from bayou.streams.layout import Layout
from bayou.streams.source import ColumnType

CELLS = [
    b"1", b"0.1", b"-0", b"-0.0", b"0", b"1e5", b"1E-400", b"1e400", b"123456789012345678901234567890", b"NaN",
    b"Infinity", b"-Infinity", b"Inf", b"01", b"1.", b".5", b"+1", b"null", b"true", b"false", b'""', b'"a"',
    b'"\\u00e9"', b'"\\ud800"',
    b'"\xc3\xa9"', b'"\xff"', b'"a\\nb"', b'"tab\there"', b'"2026-11-17"', b'"2026-11-17T10:00:00Z"', b"[1]",
    b'{"x": 1}', b'"} null"', b'"}"',
    b"9007199254740993", b'"\\u0000"', b"1 2", b'"a" "b"',
]  # fmt: skip
KEYS = [b'"n"', b'"s"', b'"t"', b'"d"', b'"y"', b'"skip"', b'"new"']
WHOLE = [
    b"{} null {}",
    b"{} null",
    b"null {}",
    b"{}  null{}",
    b"",
    b"{}",
    b"[]",
    b"{",
    b"{}{}",
    b'{"n": 1} x',
    b" {} ",
    b"null",
    b'{"n": 1,}',
    b"// {}",
    b'\xef\xbb\xbf{"n": 1}',
]


def _object(pairs: list[tuple[bytes, bytes]]) -> bytes:
    return b"{" + b", ".join(key + b": " + cell for key, cell in pairs) + b"}"


pairs = st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(CELLS)), max_size=4)
usual = st.tuples(st.floats(allow_nan=False), st.sampled_from(["a", "b"])).map(
    lambda row: f'{{"n": {row[0]!r}, "s": "{row[1]}", "y": 1}}'.encode()
)
objects = st.lists(st.one_of(usual, pairs.map(_object), st.sampled_from(WHOLE)), max_size=6)


def _layout(label: Label) -> Layout:
    kinds = {"n": "numeric", "s": "nominal", "t": "text", "d": "date"}
    columns = {name: ColumnType(kind) for name, kind in kinds.items()}  # type: ignore[arg-type]
    return Layout(columns, "y", label, {"skip": "numeric"}, (*columns, "y", "skip"))


def _seen(draft: Any) -> Any:
    columns = {name: (str(column.type), repr(column.to_pylist())) for name, column in draft.columns.items()}
    return columns, draft.records.tolist(), draft.total, sorted(map(repr, draft.misfits))


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("label", ["string", "int64", "float64", "bool"])
@settings(max_examples=60, deadline=None)
@given(lines=objects)
def test_at_once_is_one_by_one(label: Label, kernel: bool, lines: list[bytes]) -> None:
    quick, slow = JsonObjects(_layout(label)), JsonObjects(_layout(label))
    quick._plain = quick._plain if kernel else None
    slow._at_once = lambda objects, lines: None  # type: ignore[method-assign]
    assert _seen(quick.draft(lines)) == _seen(slow.draft(lines))
    for line in lines:
        assert _seen(quick.draft([line])) == _seen(slow.draft([line]))


def test_usual_lines_are_parsed_at_once() -> None:
    lines = [b'{"n": 1.5, "s": "a", "y": 1}', b'{"n": 2, "d": "2026-11-17", "t": "x y", "skip": 3}']
    objects = JsonObjects(_layout("int64"))
    assert objects._at_once(lines) is not None
    assert objects._plain is not None
    assert objects._plain.columns(b"\n".join(lines), 2) is not None
    objects._plain = None
    assert objects._at_once(lines) is not None


def test_numbers_have_the_bits_that_python_gives_them() -> None:
    draw = random.Random(7)
    numbers = [repr(struct.unpack("d", struct.pack("Q", draw.getrandbits(64)))[0]) for _ in range(5_000)]
    numbers = [number for number in numbers if "n" not in number]  # nan and inf
    numbers += [
        f"{draw.randrange(10**25)}.{draw.randrange(10**25)}e{draw.randrange(-320, 250)}" for _ in range(5_000)
    ]
    objects = JsonObjects(Layout({"n": ColumnType("numeric")}, None, "string", {}, ("n",)))
    assert objects._plain is not None
    found = objects._plain.columns(
        "\n".join(f'{{"n": {number}}}' for number in numbers).encode(), len(numbers)
    )
    assert found is not None
    assert found["n"].to_pylist() == [float(number) for number in numbers]


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb"])
def test_names_with_escapes_are_left_to_others(name: str) -> None:
    objects = JsonObjects(Layout({name: ColumnType("numeric")}, None, "string", {}, (name,)))
    draft = objects.draft([json.dumps({name: 1}).encode()])
    assert draft.columns[name].to_pylist() == [1.0]
