"""Moments and normal densities against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import moments as naive
from tests.seeds import seeds

from bayou import NaiveBayes
from bayou.align import from_empty
from bayou.block import Block
from bayou.densities.gaussian import Gaussian
from bayou.encoding.column_block import NO_COLUMNS
from bayou.kernels.gaussian import add_gaussian
from bayou.kernels.gaussian_rows import gaussian_predict_then_update
from bayou.kernels.normal import pooled
from bayou.schema import Growth, Kind, Schema
from bayou.summaries.moments import Moments
from bayou.testing.contract import fingerprint

NUMBERS = st.one_of(st.floats(-1e3, 1e3, width=32), st.just(float("nan")), st.sampled_from([0.0, 1.0, 1e6]))
ROWS = st.lists(
    st.tuples(NUMBERS, NUMBERS, st.integers(-1, 2), st.sampled_from([0, 0.25, 1, 2, 3])),
    min_size=1,
    max_size=30,
)


def block_of(rows):
    x = np.array([r[:2] for r in rows], dtype=float)
    return Block(
        x,
        np.empty((len(rows), 0), np.int32),
        (),
        np.array([r[2] for r in rows], np.int32),
        np.array([float(r[3]) for r in rows]),
    )


def empty():
    schema = Schema()
    schema.grow(Growth(classes=list("abc"), columns=[("x", Kind.NUMERIC), ("y", Kind.NUMERIC)]))
    summary = Moments()
    summary.realign(from_empty(schema))
    return summary


def exact(block, j, c=None):
    rows = [i for i in range(block.n) if block.y[i] >= 0 and (c is None or block.y[i] == c)]
    return naive.moments([float(block.numeric[i, j]) for i in rows], [float(block.w[i]) for i in rows])


def test_classes_are_pooled_from_nothing():
    """Means far below 1 are not lost in where the sum began, and a column without rows is at 0."""
    n, mean = np.array([[2.0, 0.0], [1.0, 0.0]]), np.array([[1e-20, 0.0], [4e-20, 0.0]])
    centre, variance = pooled(n, mean, np.array([[3e-40, 0.0], [0.0, 0.0]]), 0)
    assert centre == pytest.approx(2e-20, rel=1e-12)
    assert variance == pytest.approx(3e-40, rel=1e-12)
    assert pooled(n, mean, np.zeros((2, 2)), 1) == (0.0, 0.0)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS)
def test_moments_against_fractions(rows):
    block, summary = block_of(rows), empty()
    summary.update(block)
    for c in range(3):
        for j in range(2):
            n, mean, m2 = exact(block, j, c)
            assert summary.n[c, j] == n
            assert summary.mean[c, j] == pytest.approx(float(mean), rel=1e-12, abs=1e-9)
            assert summary.m2[c, j] == pytest.approx(float(m2), rel=1e-9, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, ddof=st.sampled_from([0, 1]))
def test_densities_against_fractions(rows, ddof):
    block, summary = block_of(rows), empty()
    summary.update(block)
    terms = Gaussian(ddof=ddof, floor=1e-6).terms(summary, block)
    for j in range(2):
        pooled = exact(block, j)
        spread = float(pooled[2] / pooled[0]) if pooled[0] else 0.0
        if 0.0 < spread < 1e-6:
            continue
        for c in range(3):
            own = exact(block, j, c)
            for i in range(block.n):
                expected = naive.log_density(float(block.numeric[i, j]), own, pooled, ddof, 1e-6)
                assert terms[i, j, c] == pytest.approx(expected, rel=1e-6, abs=1e-6)


@settings(max_examples=60, deadline=None)
@given(rows=ROWS, ddof=st.sampled_from([0, 1]), floor=st.sampled_from([0.0, 1e-9, 0.5]))
def test_densities_are_those_before_each_row(rows, ddof, floor):
    block, reader = block_of(rows), Gaussian(ddof, floor)
    tested, stepping = empty(), empty()
    out, expected = np.zeros((block.n, 3)), np.zeros((block.n, 3))
    reader.predict_then_update(tested, block, out)
    for i in range(block.n):
        row = block.rows(i, i + 1)
        reader.add_log_prob(stepping, row, expected[i : i + 1])
        assert expected[i] == pytest.approx(reader.terms(stepping, row)[0].sum(axis=0), rel=1e-12, abs=1e-12)
        stepping.update(row)
    assert np.array_equal(out, expected)
    assert np.array_equal(tested.m2, stepping.m2)
    assert np.isfinite(out).all()


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
def test_variance_far_from_zero(scale):
    """Relative error at most 1e-9 up to mean/sigma = 1e6, never negative."""
    values = (np.random.default_rng(0).normal(size=2000) + scale).tolist()
    summary = empty()
    summary.update(block_of([(x, x, 0, 1) for x in values]))
    n = len(values)
    mean = sum(map(Fraction, values)) / n
    true = sum((Fraction(x) - mean) ** 2 for x in values)
    assert float(abs(Fraction(summary.m2[0, 0]) - true) / true) <= 1e-9


def test_subtracting_the_last_row_leaves_nothing_behind():
    block, summary = block_of([(3.0, float("nan"), 0, 2)]), empty()
    summary.update(block)
    summary.subtract(block)
    assert not summary.n.any()
    assert not summary.m2.any()
    assert not summary.mean.any()


def test_column_ranges_of_threads_leave_the_bits_alone():
    from bayou.kernels.moments import add_rows

    rng = np.random.default_rng(1)
    x, y, w = rng.normal(size=(50, 9)), rng.integers(0, 2, 50).astype(np.int32), np.ones(50)
    whole_state, parts = np.zeros((3, 2, 9)), np.zeros((3, 2, 9))
    add_rows(*whole_state, x, y, w, 0, 9, False)
    add_rows(*parts, x, y, w, 5, 9, True)
    add_rows(*parts, x, y, w, 0, 5, False)
    assert np.array_equal(whole_state, parts)


@pytest.mark.parametrize("far", [1e3, 1e5, 1e7, -1e7])
def test_a_value_far_away_makes_narrow_classes_lean_on_the_column_at_once(far):
    """Within a block as one row after the other, bit for bit: the next row meets the variance that the floor gives."""
    rng = np.random.default_rng(3)
    x = 1e-3 * rng.normal(size=60)
    y = np.arange(60) % 3
    x[30] = far
    rows = [{"x": float(v)} for v in x]
    whole, single = NaiveBayes("gaussian"), NaiveBayes("gaussian")
    together = whole.test_then_train_batch(rows, y.tolist())
    one_by_one = [single.test_then_train_batch([row], [int(c)])[0] for row, c in zip(rows, y, strict=True)]
    for i, row in enumerate(one_by_one):
        assert together[i, : len(row)].tolist() == row.tolist()
    assert fingerprint(whole) == fingerprint(single)


@settings(max_examples=100, deadline=None)
@given(
    columns=st.integers(1, 200),
    exponents=st.sampled_from([(-300, 300), (-300, -290), (290, 300), (-3, 3)]),
    missing=st.sampled_from([0.0, 0.1, 0.9, 1.0]),
    silent=st.sampled_from([0.0, 0.2]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_logarithm_of_a_product_is_the_sum_of_logarithms(columns, exponents, missing, silent, seed):
    """From one column to several tiles, with halves that over- and underflow after two factors."""
    rng = np.random.default_rng(seed)
    half = 10.0 ** rng.uniform(*exponents, (3, columns))
    half[:, rng.random(columns) < silent] = 0.0
    x, away = rng.normal(size=(4, columns)), rng.normal(size=(3, columns))
    centre = np.where(half > 0.0, x[0] + away / np.sqrt(np.where(half > 0.0, half, 1.0)), 0.0)
    x[:] = x[0]
    x[1:][rng.random((3, columns)) < missing] = np.nan
    out = np.zeros((4, 3))
    add_gaussian(out, x, centre, half)
    for i in range(4):
        for c in range(3):
            expected = naive.log_density_of_row(x[i].tolist(), centre[c].tolist(), half[c].tolist())
            assert out[i, c] == pytest.approx(expected, rel=1e-12, abs=1e-10)


@pytest.mark.parametrize("columns", [1, 2, 5, 63, 64, 65, 131])
def test_a_column_that_says_nothing_leaves_the_bits_alone(columns):
    rng = np.random.default_rng(columns)
    x, centre, half = rng.normal(size=(5, columns)), rng.normal(size=(2, columns)), rng.random((2, columns))
    out, padded = np.zeros((5, 2)), np.zeros((5, 2))
    add_gaussian(out, x, centre, half)
    wider = [
        np.append(a, np.full((len(a), 1), fill), axis=1)
        for a, fill in ((x, np.nan), (centre, 1.0), (half, 2.0))
    ]
    add_gaussian(padded, *wider)
    assert padded.tobytes() == out.tobytes()
    wider[0][:, -1], wider[2][:, -1] = 3.0, 0.0
    padded[:] = 0.0
    add_gaussian(padded, *wider)
    assert padded.tobytes() == out.tobytes()


def _hard_rows(rng, n, columns, missing):
    """Columns on scales from 1e-150 to 1e135, some constant or constant in a class, with rare values far away."""
    y = rng.integers(-1, 3, n).astype(np.int32)
    x = rng.normal(size=(n, columns)) + y[:, None]
    kind = rng.integers(0, 6, columns)
    x[:, kind == 0] = 7.0
    x[:, kind == 1] *= y[:, None] == 1
    x[:, kind == 2] *= 10.0 ** rng.integers(-9, 1, (n, 1))
    x[rng.random(x.shape) < 0.02] *= 1e5
    x *= 10.0 ** rng.choice([-150, -8, 0, 0, 3, 130], columns)
    x[rng.random(x.shape) < missing] = np.nan
    w = rng.choice([0.0, 0.4, 1.0, 1.0, 1.0, 2.0], n)
    return Block(x, np.empty((n, 0), np.int32), (), y, w, no_missing=missing == 0.0)


def _moments(columns):
    summary, schema = Moments(), Schema()
    schema.grow(Growth(classes=list("abc"), columns=[(f"x{j}", Kind.NUMERIC) for j in range(columns)]))
    summary.realign(from_empty(schema))
    return summary


@settings(max_examples=60, deadline=None)
@given(
    columns=st.sampled_from([1, 2, 3, 4, 6, 7, 8, 17, 63, 64, 65, 130]),
    missing=st.sampled_from([0.0, 0.01, 0.3]),
    ddof=st.sampled_from([0, 1]),
    floor=st.sampled_from([0.0, 1e-9, 1e-3, 0.5]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_bits_are_the_same_at_every_cut(columns, missing, ddof, floor, seed):
    """In one block, in pieces, row by row through the tables of all rows and through the kernel for one."""
    rng = np.random.default_rng(seed)
    n, reader = 60, Gaussian(ddof, floor)
    block = _hard_rows(rng, n, columns, missing)
    whole, pieces, stepping = (_moments(columns) for _ in range(3))
    out, cut, expected, tables = (np.zeros((n, 3)) for _ in range(4))
    reader.predict_then_update(whole, block, out)
    for where, part in block.cut(sorted(rng.choice(n, 5).tolist())):
        reader.predict_then_update(pieces, part, cut[where])
    for i in range(n):
        reader.add_log_prob(stepping, block.rows(i, i + 1), expected[i : i + 1])
        twice, pair = [i, i], np.zeros((2, 3))
        both = Block(block.numeric[twice], block.codes[twice], (), block.y[twice], block.w[twice])
        reader.add_log_prob(stepping, both, pair)
        tables[i] = pair[1]
        stepping.update(block.rows(i, i + 1))
    assert np.isfinite(out).all()
    assert cut.tobytes() == out.tobytes()
    assert expected.tobytes() == out.tobytes()
    assert tables.tobytes() == out.tobytes()
    for name in ("n", "mean", "m2"):
        states = [getattr(s, name).tobytes() for s in (whole, pieces, stepping)]
        assert states[0] == states[1] == states[2]


@settings(max_examples=40, deadline=None)
@given(
    columns=st.sampled_from([1, 3, 4, 6, 9, 64]),
    classes=st.sampled_from([1, 2, 3]),
    ddof=st.sampled_from([0, 1]),
    far=st.sampled_from([0.0, 1e7]),
    seed=st.integers(0, 2**32 - 1),
)
def test_ordinary_rows_have_the_bits_of_rows_that_may_be_missing(columns, classes, ddof, far, seed):
    """Four columns at a time where it is known that nothing is missing, one after the other where it is not."""
    rng = np.random.default_rng(seed)
    n, reader = 300, Gaussian(ddof, 1e-9)
    y = rng.integers(-1, classes, n).astype(np.int32)
    x = rng.normal(size=(n, columns)) * 10.0 ** rng.integers(-3, 4, columns) + y[:, None]
    x[200] += far
    w = rng.choice([0.0, 0.3, 1.0, 1.0, 1.0, 2.0], n)
    states, outs = [], []
    for known in (False, True):
        summary, out = _moments(columns), np.zeros((n, 3))
        block = Block(x, np.empty((n, 0), np.int32), (), y, w, no_missing=known)
        for where, part in block.cut([7, 150]):
            reader.predict_then_update(summary, part, out[where])
        states.append([getattr(summary, name).tobytes() for name in ("n", "mean", "m2")])
        outs.append(out.tobytes())
    assert outs[0] == outs[1]
    assert states[0] == states[1]


def awkward(rng, n, p, classes):
    """Rows with columns that are constant, at all or within a class, flags, far values, and classes that come late."""
    x = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, p)
    kind = rng.integers(0, 6, p)
    shares = rng.random(classes) ** 3 + 1e-3
    y = rng.choice(classes, n, p=shares / shares.sum()).astype(np.int32)
    y[: n // 2] = np.minimum(y[: n // 2], rng.integers(0, classes))
    x[:, kind == 0] = 7.25
    flags = rng.random((n, p)) < rng.random((classes, p))[y] * (rng.random((classes, p)) < 0.5)[y]
    x[:, kind == 1] = flags[:, kind == 1]
    for j in np.flatnonzero(kind == 2):
        x[y == rng.integers(0, classes), j] = 1.0 / 3.0
    x[rng.random((n, p)) < 0.005 * (kind == 3)] = 1e9
    y[rng.random(n) < 0.05] = -1
    return x, y


@pytest.mark.parametrize("seed", seeds("gaussian", "lanes"))
@pytest.mark.parametrize(("p", "classes"), [(1, 2), (3, 1), (5, 3), (8, 2), (54, 7), (64, 4), (150, 3)])
@pytest.mark.parametrize(("ddof", "floor"), [(0.0, 1e-6), (1.0, 0.0), (0.0, 0.01)])
def test_lanes_have_the_bits_of_single_columns(seed, p, classes, ddof, floor):
    """Also while classes use the pooled variance of a column, and where blocks begin and end."""
    rng = np.random.default_rng([seed, p, classes])
    x, y = awkward(rng, 400, p, classes)
    for weights in (np.ones(400), rng.choice([0.0, 0.25, 1.0, 3.0], 400)):
        states, found = [], []
        for cuts, no_missing in (([0, 400], False), ([0, 400], True), ([0, 1, 2, 37, 200, 400], True)):
            n, mean, m2 = np.zeros((3, classes, p))
            out = np.zeros((400, classes))
            for lo, hi in pairwise(cuts):
                gaussian_predict_then_update(
                    n, mean, m2, out[lo:hi], x[lo:hi], NO_COLUMNS, y[lo:hi], weights[lo:hi], no_missing, ddof, floor
                )  # fmt: skip
            states.append([a.tobytes() for a in (n, mean, m2)])
            found.append(out)
        assert states[0] == states[1] == states[2]
        assert np.array_equal(found[0], found[1])
        assert np.array_equal(found[0], found[2])
        assert np.isfinite(found[0]).all()
