"""Joint counts: by hand, against the slow twin, and bitmaps against direct counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import joint as naive
from tests.reach import reach

from bayou.kernels import bitmaps
from bayou.kernels import joint_counts as kernels


class Tables:
    """Empty tables over columns of the given sizes."""

    def __init__(self, sizes, k, order):
        self.sizes = np.array(sizes, dtype=np.int64)
        self.layout = np.empty((3, len(sizes) + 1), dtype=np.int64)
        kernels.fill_layout(self.layout, self.sizes)
        cells, pairs, triples = self.layout[:, -1]
        self.classes, self.present = np.zeros(k), np.zeros((len(sizes), k))
        self.singles, self.pairs = np.zeros((cells, k)), np.zeros((pairs, k))
        self.triples = np.zeros((triples if order == 3 else 0, k))
        self.seen = np.zeros(len(sizes), dtype=np.int64)

    def count(self, codes, y, w, sign=1.0):
        kernels.count_rows(
            self.classes, self.singles, self.present, self.seen, self.pairs, self.triples,
            self.layout, codes, y, w, sign,
        )  # fmt: skip
        return self

    def cell(self, values, c):
        """The count of a combination of values, by column."""
        o, held = self.layout[0], sorted(values.items(), reverse=True)
        cells = [(j, int(o[j] + v)) for j, v in held]
        if not cells:
            return self.classes[c]
        if len(cells) == 1:
            return self.singles[cells[0][1], c]
        flat = [x for pair in cells for x in pair]
        if len(cells) == 2:
            return self.pairs[kernels.pair_cell(self.layout, *flat), c]
        return self.triples[kernels.triple_cell(self.layout, *flat), c]


def draw(rng, n, sizes, k, missing=0.0):
    codes = np.column_stack([rng.integers(0, s, n) for s in sizes] or [np.zeros((n, 0))]).astype(np.int32)
    codes[rng.random(codes.shape) < missing] = -1
    return codes, rng.integers(-1, k, n).astype(np.int32)


def test_five_rows_by_hand():
    codes = np.array([[0, 1, 0], [0, 1, 1], [1, -1, 1], [0, 0, 0], [0, 1, 0]], dtype=np.int32)
    y, w = np.array([0, 0, 1, -1, 0], dtype=np.int32), np.array([1.0, 2.0, 1.0, 1.0, 0.0])
    t = Tables([2, 2, 2], 2, 3).count(codes, y, w)
    assert t.classes.tolist() == [3.0, 1.0]
    assert t.cell({0: 0, 1: 1}, 0) == 3.0
    assert t.cell({0: 0, 1: 1, 2: 1}, 0) == 2.0
    assert t.cell({0: 1, 2: 1}, 1) == 1.0
    assert t.cell({0: 1, 1: 1}, 1) == 0.0
    assert t.present.tolist() == [[3.0, 1.0], [3.0, 0.0], [3.0, 1.0]]
    assert t.seen.tolist() == [2, 1, 2]


cases = st.tuples(
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.integers(1, 3),
    st.integers(0, 40),
    st.integers(0, 999),
)


@settings(deadline=None, max_examples=40)
@given(cases, st.sampled_from([0.0, 0.3, 1.0]))
def test_counts_are_the_twins(case, missing):
    sizes, k, n, seed = case
    rng = np.random.default_rng(seed)
    codes, y = draw(rng, n, sizes, k, missing)
    w = rng.choice([0.0, 1.0, 2.5], n)
    t, twin = Tables(sizes, k, 3).count(codes, y, w), naive.count(codes.tolist(), y.tolist(), w.tolist(), 3)
    total = sum(float(a.sum()) for a in (t.classes, t.singles, t.pairs, t.triples))
    assert total == pytest.approx(sum(twin.values()))
    for (cells, c), weight in twin.items():
        assert t.cell(dict(cells), c) == weight
    t.count(codes, y, w, -1.0)
    assert not any(a.any() for a in (t.classes, t.singles, t.pairs, t.triples, t.seen))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=6),
    st.integers(1, 3),
    st.sampled_from([0, 1, 63, 64, 65, 300, 4500]),
    st.integers(0, 999),
    st.sampled_from([0.0, 0.1]),
)
def test_bitmaps_count_what_direct_counting_counts(sizes, k, n, seed, missing):
    rng = np.random.default_rng(seed)
    codes, y = draw(rng, n, sizes, k, missing)
    w = rng.choice([0.0, 1.0, 1.0], n)
    direct = Tables(sizes, k, 3).count(codes, y, w)
    order, ends = np.empty(n + 1, dtype=np.int64), np.empty(k + 1, dtype=np.int64)
    bitmaps.rows_by_class(order, ends, y, w)
    gaps = np.empty(len(sizes), dtype=np.int32)
    bitmaps.find_missing(gaps, codes)
    assert (gaps < 0).tolist() == (codes < 0).any(axis=0).tolist()
    first = (gaps >= 0).astype(np.int64)
    singles, pairs, triples = (np.full(len(a), 7) for a in (direct.singles, direct.pairs, direct.triples))
    maps = np.empty((len(singles), bitmaps.WORDS), dtype=np.uint64)
    for c in range(k):
        rows = order[ends[c] : ends[c + 1]]
        assert rows.tolist() == np.flatnonzero((y == c) & (w > 0)).tolist()
        bitmaps.count_class(singles, pairs, triples, maps, codes, rows, direct.layout, first)
        np.testing.assert_array_equal(singles, direct.singles[:, c])
        np.testing.assert_array_equal(pairs, direct.pairs[:, c])
        np.testing.assert_array_equal(triples, direct.triples[:, c])


def test_popcount():
    for x in (0, 1, 2**63, 2**64 - 1, 0x123456789ABCDEF0):
        assert reach(bitmaps.popcount)(np.uint64(x)) == x.bit_count()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 999))
def test_moving_cells_is_counting_moved_codes(seed):
    rng = np.random.default_rng(seed)
    sizes, k = rng.integers(1, 4, 4).tolist(), 2
    codes, y = draw(rng, 50, sizes, k, 0.1)
    w = np.ones(50)
    columns = rng.permutation(6)[:4]
    new_sizes = rng.integers(1, 5, 6)
    parts = [rng.integers(0, new_sizes[c], s) for c, s in zip(columns, sizes, strict=True)]
    moved = np.full((50, 6), -1, dtype=np.int32)
    for j, c in enumerate(columns):
        there = codes[:, j] >= 0
        moved[there, c] = parts[j][codes[there, j]]
    old, want, got = Tables(sizes, k, 3).count(codes, y, w), Tables(new_sizes, k, 3), Tables(new_sizes, k, 3)
    want.count(moved, y, w)
    cells = np.concatenate([want.layout[0, c] + part for c, part in zip(columns, parts, strict=True)])
    kernels.move_pairs(got.pairs, old.pairs, got.layout, old.layout, columns, cells)
    kernels.move_triples(got.triples, old.triples, got.layout, old.layout, columns, cells)
    np.testing.assert_array_equal(got.pairs, want.pairs)
    np.testing.assert_array_equal(got.triples, want.triples)


def test_values_on_cuts_lie_left():
    codes = np.zeros((5, 3), dtype=np.int32)
    numeric = np.array([[1.0, 5.0], [1.5, 5.0], [np.nan, 5.0], [9.0, np.nan], [2.0, -np.inf]])
    cuts = np.array([[1.0, 2.0], [0.0, 1.0]])
    kernels.place_on_grid(codes, numeric, cuts, np.array([1, 0]), 1)
    assert codes.tolist() == [[0, 0, -1], [0, 1, -1], [0, -1, -1], [0, 2, -1], [0, 1, -1]]
