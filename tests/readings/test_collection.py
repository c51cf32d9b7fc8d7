"""Collections against brute force over all networks, in exact fractions; both ways of reading, bit for bit."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import collections as naive
from tests.naive import joint

from bayou.align import from_empty
from bayou.block import Block
from bayou.kernels.products import multiply
from bayou.readings import joint_rows
from bayou.readings.aode import OneDependence
from bayou.readings.collection import CollectionReader, add_terms
from bayou.readings.kept import kept
from bayou.readings.parent_sets import (
    Forests,
    GivenSets,
    NoParents,
    OneParent,
    ParentSetTable,
    SuperParents,
    TwoParents,
)
from bayou.readings.prior import CountedPrior
from bayou.schema import Declared, Kind, Schema
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.joint_counts import JointCounts

patient = settings(deadline=None, max_examples=25)
seeds = st.integers(0, 10_000)


class Case:
    """Random rows of few columns, their counts both ways, and rows to predict."""

    def __init__(self, seed, m=4, n=25, k=2, order=3):
        rng = np.random.default_rng(seed)
        self.sizes, self.k, self.m = rng.integers(1, 4, m).tolist(), k, m
        columns = {f"c{j}": [f"v{v}" for v in range(s)] for j, s in enumerate(self.sizes)}
        self.schema = Schema()
        for name, values in columns.items():
            self.schema.add_column(name, Kind.NOMINAL, values)
        for name in columns:
            self.schema.vocabularies[name].declared = 0
        self.schema.classes.extend(range(k))
        self.block, self.queries = self.rows(rng, n), self.rows(rng, 12)
        self.counts = JointCounts(order)
        self.counts.realign(from_empty(self.schema))
        self.counts.order_by(rng.permutation(m))
        self.order = self.counts.reading_order.tolist()
        self.counts.update(self.block)
        self.classes = ClassCounts()
        self.classes.realign(from_empty(self.schema))
        self.classes.update(self.block)
        rows, y = self.block.codes.tolist(), self.block.y.tolist()
        self.world = naive.World(joint.count(rows, y, self.block.w.tolist(), order), self.sizes, k)

    def rows(self, rng, n):
        codes = np.column_stack([rng.integers(0, s, n) for s in self.sizes]).astype(np.int32)
        codes[rng.random(codes.shape) < 0.15] = -1
        y = rng.integers(-1, self.k, n).astype(np.int32)
        return Block(np.zeros((n, 0)), codes, (), y, rng.integers(0, 3, n).astype(float))

    def posterior(self, reader):
        out = np.zeros((self.queries.n, self.k))
        CountedPrior(1.0).add_log_prob(self.classes, self.queries, out)
        reader.add_log_prob(self.counts, self.queries, out)
        return normalised(out)


def normalised(out):
    with np.errstate(invalid="ignore"):
        odds = np.exp(out - out.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


FAMILIES = {
    "nb": (NoParents(), lambda case: naive.naive(case.m)),
    "fanc": (Forests(), lambda case: naive.forests(case.order)),
    "tc": (TwoParents(), lambda case: naive.two_parents(case.order)),
    "spc": (SuperParents(2), lambda case: naive.super_parents(case.order, 2)),
    "super parent": (OneParent(1), lambda case: naive.one_parent(case.m, 1)),
    "given": (
        GivenSets(((1, 0, -1, 2.0), (3, 0, 1, 1.0), (3, -1, -1, 5.0))),
        lambda case: {0: [((), 1)], 1: [((0,), 2)], 2: [((), 1)], 3: [((0, 1), 1), ((), 5)]},
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
@patient
@given(seed=seeds)
def test_the_vote_of_all_networks(name, seed):
    case = Case(seed)
    rule, sets = FAMILIES[name]
    if not (case.counts.seen > 0).all() or case.classes.weight.min() == 0:
        return
    got = case.posterior(CollectionReader(rule))
    for row, p in zip(case.queries.codes.tolist(), got, strict=True):
        votes = [case.world.all_networks(row, sets(case), c)[0] for c in range(case.k)]
        assert votes == [case.world.closed_form(row, sets(case), c) for c in range(case.k)]
        assert p == pytest.approx(naive.normalised(votes), rel=1e-12)


@patient
@given(seed=seeds, min_count=st.sampled_from([1, 5, 1000]))
def test_aode_is_its_formula(seed, min_count):
    case = Case(seed)
    if case.classes.weight.min() == 0:
        return
    out = np.zeros((case.queries.n, case.k))
    OneDependence(1.0, float(min_count)).add_log_prob(case.counts, case.queries, out)
    for row, p in zip(case.queries.codes.tolist(), normalised(out), strict=True):
        votes = [case.world.aode(row, c, min_count) for c in range(case.k)]
        assert p == pytest.approx(naive.normalised(votes), rel=1e-12)


READERS = {name: CollectionReader(rule) for name, (rule, _) in FAMILIES.items()} | {
    "fanc, no smoothing": CollectionReader(Forests(), 0.0),
    "super parent, no smoothing": CollectionReader(OneParent(1), 0.0),
    "aode": OneDependence(),
    "aode, often": OneDependence(0.5, 9.0),
}


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", READERS)
@patient
@given(seed=seeds)
def test_tables_direct_and_row_by_row_give_the_same_bits(name, k, seed):
    reader, case = READERS[name], Case(seed, m=5, k=k)
    one_by_one, at_once = np.zeros((case.queries.n, k)), np.zeros((case.queries.n, k))
    reader.add_log_prob(case.counts, case.queries, at_once)
    reader.add_log_prob(case.counts, repeated(case.queries, 60), many := np.zeros((60 * case.queries.n, k)))
    for i in range(case.queries.n):
        case.counts.changed()
        reader.add_log_prob(case.counts, case.queries.rows(i, i + 1), one_by_one[i : i + 1])
    np.testing.assert_array_equal(one_by_one, at_once)
    np.testing.assert_array_equal(np.tile(one_by_one, (60, 1)), many)
    if name != "aode, often":
        assert not np.isnan(at_once).any()
    tested, looped = case.counts.copy(), case.counts.copy()
    out, want = np.zeros((case.queries.n, k)), np.zeros((case.queries.n, k))
    reader.predict_then_update(tested, case.queries, out)
    for i in range(case.queries.n):
        row = case.queries.rows(i, i + 1)
        reader.add_log_prob(looped, row, want[i : i + 1])
        looped.update(row)
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(tested.pairs, looped.pairs)


@pytest.mark.parametrize("alpha", [1e-200, 0.5, 1.0])
@pytest.mark.parametrize("m", [33, 70])
@settings(deadline=None, max_examples=5)
@given(seed=seeds, real=st.booleans(), k=st.integers(1, 4))
def test_one_dependence_of_many_columns(m, alpha, seed, real, k):
    """More than a run, more than a tile, products beyond the range of floats, real weights: always the same bits."""
    case, reader = Case(seed, m=m, k=k, order=2), OneDependence(alpha)
    if real:
        case.counts.scale(0.3)
        case.queries.w[:] *= 0.7
    direct, by_table = np.zeros((case.queries.n, k)), np.zeros((60 * case.queries.n, k))
    for i in range(case.queries.n):
        reader.add_log_prob(case.counts, case.queries.rows(i, i + 1), direct[i : i + 1])
    reader.add_log_prob(case.counts, repeated(case.queries, 60), by_table)
    np.testing.assert_array_equal(np.tile(direct, (60, 1)), by_table)
    if alpha == 1.0 and not real and case.classes.weight.min() > 0:
        for row, p in zip(case.queries.codes.tolist(), normalised(direct), strict=True):
            votes = [case.world.aode(row, c) for c in range(k)]
            assert p == pytest.approx(naive.normalised(votes), rel=1e-12)
    looped, out, want = case.counts.copy(), np.zeros_like(direct), np.zeros_like(direct)
    reader.predict_then_update(case.counts, case.queries, out)
    for i in range(case.queries.n):
        reader.add_log_prob(looped, case.queries.rows(i, i + 1), want[i : i + 1])
        looped.update(case.queries.rows(i, i + 1))
    np.testing.assert_array_equal(out, want)


def repeated(block, times):
    return Block(
        np.zeros((block.n * times, 0)),
        np.tile(block.codes, (times, 1)),
        (),
        np.tile(block.y, times),
        np.tile(block.w, times),
    )


def test_numbers_of_networks():
    def networks(rule, m):
        return ParentSetTable.of(rule.terms(np.arange(m)), m).networks

    assert networks(Forests(), 4) == 24
    assert networks(TwoParents(), 4) == 56
    assert networks(SuperParents(0), 4) == 48
    assert networks(NoParents(), 4) == 1
    assert networks(Forests(parents=2), 5) == 1 * 2 * 3 * 3 * 3
    assert networks(Forests(), 19) == 121645100408832000


def log_product(factors, split=0):
    product, at = np.empty((2, 2, 1)), np.arange(len(factors)).astype(np.uint64)
    multiply(product, np.column_stack([factors, np.ones(len(factors))]), at, np.zeros(1, np.uint64), split)
    assert product[:, 1, 0].tolist() == [1.0, 0.0]
    return product[1, 0, 0] + np.log(product[0, 0, 0])


def test_products_that_would_underflow_are_taken_apart():
    tiny = np.array([1e-200, 1e-200, 0.5, 1.0, 3.0])
    want = 2 * np.log(1e-200) + np.log(0.5) + np.log(3.0)
    assert log_product(tiny) == pytest.approx(want, rel=1e-14)
    assert log_product(np.ones(0)) == 0.0
    assert log_product(np.full(70, 1e-9)) == pytest.approx(70 * np.log(1e-9), rel=1e-13)
    assert log_product(np.array([1e300] * 9)) == pytest.approx(9 * np.log(1e300), rel=1e-14)
    assert log_product(np.array([0.5, 0.0])) < -1e289
    long = np.random.default_rng(0).uniform(0.1, 2, 1000)
    assert log_product(long) == pytest.approx(np.log(long).sum(), rel=1e-12)
    for split in (0, 7, 1000):
        assert log_product(np.append(long, np.ones(50)), split) == log_product(long, split)


def test_rows_wait_and_runs_end_at_new_columns():
    case = Case(1)
    fresh = case.counts.fresh()
    parts = []
    for where, counted in joint_rows.countable_runs(fresh, case.block):
        parts.append(where)
        assert counted
        fresh.update(case.block.rows(where.start, where.stop))
    assert parts[0].start == 0
    assert parts[-1].stop == case.block.n
    assert fresh.classes.tolist() == case.counts.classes.tolist()


def test_declared_values_count():
    schema = Schema(Declared(columns={"c": ["a", "b", "c"]}, classes=[0]))
    counts = JointCounts()
    counts.realign(from_empty(schema))
    block = Block(
        np.zeros((2, 0)), np.zeros((2, 1), dtype=np.int32), (), np.zeros(2, dtype=np.int32), np.ones(2)
    )
    counts.update(block)
    out = np.zeros((2, 1))
    CollectionReader(NoParents()).add_log_prob(counts, block, out)
    np.testing.assert_allclose(np.exp(out), 3 / 5)


@pytest.mark.parametrize("rows", [2, 12], ids=["straight from the counts", "by look-up"])
def test_a_copy_keeps_nothing_that_was_read_off_the_original(rows):
    """A copy outlives the tables of the original, and another table may come to lie at the address of one."""
    chain, alone = (ParentSetTable.tree(np.array(parents)) for parents in ([-1, 0, 1, 2], [-1, -1, -1, -1]))

    def read(counts, table):
        out = np.zeros((rows, 2))
        add_terms(counts, table, 1.0, Case(5).queries.codes[:rows], out)
        return out

    counts = Case(5).counts
    read(counts, chain)
    twin = copy.deepcopy(counts)
    assert kept(counts.mark) or kept(counts.columns_mark)
    assert not kept(twin.mark)
    assert not kept(twin.columns_mark)
    assert np.array_equal(read(twin, alone), read(Case(5).counts, alone))
