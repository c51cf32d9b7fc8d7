"""Cells of JSON objects, found by the kernel as regular expressions find them."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.naive.json_cells import cells
from tests.seeds import LONG

from bayou.kernels.json_cells import ABSENT, NULL, copy_cells, find_cells

NAMES, KINDS = [b"n", b"name", b"s", b"\xc3\xa9"], [1, 0, 2, 2]
PIECES = [
    b"{", b"}", b'"', b":", b",", b" ", b"\t", b"\r", b"-", b"0", b"17", b".", b"5", b"e", b"E", b"+", b"null", b"nul",
    b'"n"', b'"name"', b'"s"', b'"\xc3\xa9"', b'"x"', b"\\", b"true", b"[", b"]", b"\x01", b"\x7f", b"NaN",
    b'{"n": 1.5e3, "name": "\xc3\xa9", "s": "", "\xc3\xa9": null}', b'{"n":-0}', b"{}", b'{"s": "a", "n": 2',
]  # fmt: skip
plain = st.builds(
    lambda n, s, blank, more: b'{%b"n":%b%b,%b"s"%b:"%b"%b}' % (blank, blank, n, blank, blank, s, more),
    st.sampled_from([b"1", b"-2.50", b"0.1e-7", b"null", b"01", b"1."]),
    st.sampled_from([b"", b"a", b"b c", b"\xc3\xa9", b"}", b"null"]),
    st.sampled_from([b"", b" ", b"\t "]),
    st.sampled_from([b"", b', "name": 1', b', "name": "x"', b', "n": 1', b",", b', "new": 1']),
)
lines = st.lists(
    st.one_of(plain, st.lists(st.sampled_from(PIECES), max_size=9).map(b"".join)), min_size=1, max_size=4
)


def found(objects: list[bytes]) -> list[dict[bytes, bytes | None]] | None:
    text = np.frombuffer(b"\n".join(objects), np.uint8)
    begins, ends = np.zeros((2, len(NAMES), len(objects)), np.int64)
    names, name_ends = np.frombuffer(b"".join(NAMES), np.uint8).copy(), np.cumsum([0, *map(len, NAMES)])
    if not find_cells(begins, ends, text, names, name_ends, np.array(KINDS, np.int8)):
        return None
    data = np.zeros(int((ends - begins).sum()), np.uint8)
    offsets = np.zeros((len(NAMES), len(objects) + 1), np.int32)
    copy_cells(data, offsets, text, begins, ends)
    out: list[dict[bytes, bytes | None]] = []
    for row in range(len(objects)):
        cell = {}
        for column, name in enumerate(NAMES):
            begin, end = offsets[column, row : row + 2]
            if begins[column, row] == NULL:
                cell[name] = None
            elif begins[column, row] != ABSENT:
                cell[name] = data[begin:end].tobytes()
        out.append(cell)
    return out


@settings(max_examples=20_000 if LONG else 300, deadline=None)
@given(objects=lines)
@example(objects=[b'{"n": 1}', b""])
@example(objects=[b'{"n": 1} ', b"{}"])
@example(objects=[b"{"])
@example(objects=[b'{"n": -'])
@example(objects=[b'{"n": nul'])
@example(objects=[b'{"s": "a'])
@example(objects=[b'{"n": 1', b'}{"n": 1}'])
def test_cells_are_found_as_the_twin_finds_them(objects: list[bytes]) -> None:
    assert found(objects) == cells(objects, NAMES, KINDS)
