"""Look-ups in compiled code, against a dictionary."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou.encoding.forms import as_arrow, form_of
from bayou.encoding.lookup import REACH, Lookup, translate_known
from bayou.kernels.look_up import MISS, rows_of_columns
from bayou.kernels.utf8 import encode_utf8
from bayou.schema import Vocabulary
from bayou.text.string_table import StringTable

EDGES = [-(1 << 63), (1 << 63) - 1, (1 << 62) + 3]
TEXT = st.text(st.sampled_from("abé日😀\0"), max_size=20) | st.text(max_size=3)


def filled(vocabulary, column, learn=True):
    codes = np.full((3, len(column)), 7, dtype=np.int32)
    misses = Lookup(vocabulary).fill(form_of(column), column, codes, 1, learn)
    assert (codes[::2] == 7).all()
    return codes[1].tolist(), misses


@settings(max_examples=60, deadline=None)
@given(
    known=st.lists(TEXT | st.integers(0, 3), unique_by=repr, max_size=12),
    cells=st.lists(st.none() | TEXT, min_size=1, max_size=30),
    offset=st.integers(0, 9),
    kind=st.sampled_from([pa.string(), pa.large_string(), pa.string_view()]),
    learn=st.booleans(),
)
def test_strings_are_found_by_their_bytes(known, cells, offset, kind, learn):
    place = {value: code for code, value in enumerate(known) if isinstance(value, str)}
    cells = cells + [value for value in known if isinstance(value, str)]
    unknown = MISS if learn else -1
    expected = [-1 if cell is None else place.get(cell, unknown) for cell in cells]
    column = pa.array(["before"] * offset + cells, kind)[offset:]
    codes, misses = filled(Vocabulary(known), column, learn)
    assert codes == expected
    assert misses == expected.count(MISS)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_a_missing_string_is_none_of_the_known_ones(kind):
    assert filled(Vocabulary(["a"]), pa.array([None, "a", "b"], kind)) == ([-1, 0, MISS], 1)


def test_utf8_at_the_ends_of_every_length():
    """The last code point of so many bytes and the first of one more, as Python writes them."""
    points = [1, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF]
    texts = [chr(point) for point in points] + ["".join(map(chr, points)), ""]
    widest = max(map(len, texts))
    padded = np.array([[*map(ord, text), *[0] * (widest - len(text))] for text in texts], dtype=np.uint32)
    data, ends = np.zeros(4 * padded.size, dtype=np.uint8), np.zeros(len(texts) + 1, dtype=np.int64)
    encode_utf8(data, ends, padded)
    found = [data[lo:hi].tobytes() for lo, hi in itertools.pairwise(ends.tolist())]
    assert found == [text.encode() for text in texts]


@pytest.mark.parametrize("n", [3, 300, 5000])
def test_a_table_that_grows_is_the_one_made_at_once(n):
    """Names that differ in one byte anywhere, entered in pieces, are all found."""
    names = [f"{i:>{1 + i % 23}}|{i:x}" for i in range(n)]
    table, at = StringTable(), 0
    for step in (1, 2, n // 2, n):
        table = table.with_values(names[at : at + step])
        at = min(n, at + step)
    assert table.size == n
    codes = np.empty((1, n), dtype=np.int32)
    lookup = Lookup(Vocabulary(names))
    lookup._strings = table
    assert lookup.fill(form_of(pa.array(names)), names, codes, 0, True) == 0
    assert codes[0].tolist() == list(range(n))


@settings(max_examples=60, deadline=None)
@given(
    known=st.lists(st.integers(-9, 9) | st.sampled_from([2.0, 0.5, True, "1"]), unique_by=repr, max_size=6),
    cells=st.lists(st.none() | st.integers(-12, 12) | st.sampled_from(EDGES), min_size=1, max_size=9),
)
def test_integers_are_looked_up_one_by_one(known, cells):
    vocabulary = Vocabulary(known)
    expected = [-1 if c is None else vocabulary.codes.get(c, MISS) for c in cells]
    assert filled(vocabulary, pa.array([0, *cells], pa.int64())[1:])[0] == expected
    if None not in cells:
        assert filled(vocabulary, np.array(cells))[0] == expected


def test_integers_too_far_apart_or_too_large_are_left_to_others():
    assert filled(Vocabulary([0, REACH + 1]), np.array([0, 1]))[1] is None
    assert filled(Vocabulary([-3, 1]), np.array([1, (1 << 64) - 3], dtype=np.uint64))[1] is None
    assert filled(Vocabulary([-3, 1, 1 << 70]), np.array([1, 1], dtype=np.uint32))[0] == [1, 1]


def test_flags_are_not_integers():
    flags = np.array([True, False])
    assert filled(Vocabulary([1, True, 0]), flags)[0] == [1, MISS]
    assert filled(Vocabulary([1, True, 0]), np.array([1, 0]))[0] == [0, 2]
    assert filled(Vocabulary([1, True, 0]), pa.array([None, True, False])[1:])[0] == [1, MISS]


@settings(max_examples=60, deadline=None)
@given(cells=st.lists(TEXT | st.text(st.characters(min_codepoint=0xD700, max_codepoint=0xE100))))
def test_strings_of_numpy_become_the_utf_8_of_python(cells):
    column = np.array(cells + ["é"] * 16)
    data = as_arrow(column).buffers()[2].to_pybytes()
    text = "".join(column.tolist()).encode("utf-8", "surrogatepass")
    assert data[: len(text)] == text
    assert as_arrow(np.array([f"{c}" for c in "aé日😀"] * 5, dtype=">U3")).to_pylist() == list("aé日😀") * 5


@pytest.mark.parametrize(("n", "q"), [(0, 2), (1, 1), (3, 0), (700, 5)])
def test_columns_become_rows(n, q):
    columns = np.arange(n * q, dtype=np.int32).reshape(q, n)
    rows = np.full((n, 2 * q), -7, dtype=np.int32)
    places = 2 * np.arange(q)[::-1]
    rows_of_columns(rows, columns, places)
    assert rows[:, places].tolist() == columns.T.tolist()
    assert (rows[:, 1::2] == -7).all()


# with as many entries before those in use as an index that was taken for a negative one would be missing
INDEX_TYPES = [
    (pa.int8(), 0),
    (pa.uint8(), 200),
    (pa.int16(), 200),
    (pa.uint16(), 40_000),
    (pa.int32(), 0),
    (pa.uint32(), 70_000),
    (pa.int64(), 0),
]


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n=st.integers(0, 150), q=st.integers(1, 4), offset=st.integers(0, 9))
def test_columns_with_known_dictionaries_are_translated_at_once(data, n, q, offset):
    """Each column as by itself; what has another dictionary, or an entry without a code, is left."""
    known = ["a", "b", "c"]
    rows, expected, columns = np.full((n, q + 1), -7, dtype=np.int32), {}, []
    for j in range(q):
        kind, unused = data.draw(st.sampled_from(INDEX_TYPES))
        names = [*map(str, range(unused)), *known, "unknown"]
        cells = data.draw(st.lists(st.none() | st.sampled_from(known), min_size=n, max_size=n))
        if n and data.draw(st.booleans()):
            cells[data.draw(st.integers(0, n - 1))] = "unknown"
        indices = pa.array([0] * offset + [None if c is None else names.index(c) for c in cells], kind)
        column = pa.DictionaryArray.from_arrays(indices, names)[offset:]
        lookup, met = Lookup(Vocabulary(["b", "a", "c"])), data.draw(st.booleans())
        if met:  # every entry, in a batch before this one
            before = pa.DictionaryArray.from_arrays(pa.array(range(unused, unused + 4), kind), names)
            lookup.fill(form_of(before), before, np.empty((1, 4), dtype=np.int32), 0, True)
        columns.append((j, lookup, form_of(column)))
        if met and "unknown" not in cells:
            expected[j] = [-1 if c is None else ["b", "a", "c"].index(c) for c in cells]
    left = translate_known(rows, columns)
    assert left == [j for j in range(q) if j not in expected]
    for j, codes in expected.items():
        assert rows[:, j].tolist() == codes
    assert (rows[:, q] == -7).all()
