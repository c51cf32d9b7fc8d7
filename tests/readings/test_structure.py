"""Structures against exhaustive search, scores against their formulas, candidates against brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import collections as naive
from tests.naive import joint
from tests.readings.test_collection import Case

from bayou.errors import SchemaError
from bayou.kernels.track_record import ALWAYS, drawn
from bayou.readings.parent_sets import Forests, OneParent, ParentSetTable, SuperParents
from bayou.readings.prior import CountedPrior
from bayou.readings.structure import ByInformation, GreedyForest, SpanningTree, information
from bayou.views.chosen_parent import Choice, ChosenParent

patient = settings(deadline=None, max_examples=20)
seeds = st.integers(0, 10_000)


def parents_of(terms: ParentSetTable) -> list[int]:
    return terms.sets[:, 1].tolist()


@patient
@given(seed=seeds)
def test_information_is_its_formula(seed):
    case = Case(seed, m=4, n=60)
    got, total = information(case.counts), case.classes.weight.sum()
    for i in range(4):
        for j in range(4):
            want = (
                joint.conditional_information(case.world.counts, i, j, case.sizes, case.k) if i != j else 0.0
            )
            assert got[i, j] == pytest.approx(want / total, abs=1e-12)


@patient
@given(seed=seeds)
def test_the_tree_has_the_largest_weight(seed):
    case = Case(seed, m=5, n=60)
    if not (case.counts.seen > 0).all():
        return
    weights = information(case.counts)
    parents = parents_of(SpanningTree().search(case.counts))
    assert parents[case.order[0]] == -1
    assert sum(p < 0 for p in parents) == 1
    total = sum(weights[i, p] for i, p in enumerate(parents) if p >= 0)
    assert total == pytest.approx(naive.best_tree(weights.tolist()), abs=1e-9)


@pytest.mark.parametrize("name", ["loglik", "aic", "mdl", "bayes"])
@patient
@given(seed=seeds)
def test_gains_are_differences_of_scores(name, seed):
    case = Case(seed, m=4, n=60)
    gains = GreedyForest(name).gains(case.counts)
    widths, n = case.counts.width.tolist(), case.classes.weight.sum()
    price = {"loglik": 0.0, "aic": 1.0, "mdl": 0.5 * math.log(n), "bayes": 0.0}[name]
    seen = int((case.classes.weight > 0).sum())
    for i in range(4):
        for p in range(4):
            if i == p or not min(widths):
                continue
            if name == "bayes":
                want = joint.dirichlet_gain(case.world.counts, i, p, case.sizes, widths, case.k)
            else:
                want = joint.conditional_information(case.world.counts, i, p, case.sizes, case.k)
            want -= price * seen * (widths[i] - 1) * (widths[p] - 1)
            assert gains[i, p] == pytest.approx(want, abs=1e-9)


@pytest.mark.parametrize("name", ["loglik", "aic", "bayes"])
@patient
@given(seed=seeds)
def test_the_forest_is_greedy(name, seed):
    case = Case(seed, m=5, n=60)
    search, order = GreedyForest(name), case.order
    if not (case.counts.seen > 0).all():
        return
    gains = search.gains(case.counts)[np.ix_(order, order)]
    scale = np.abs(gains).max() or 1.0
    want = naive.greedy_forest((np.round(gains / scale, 10)).tolist())
    got = parents_of(search.search(case.counts))
    assert [got[i] for i in order] == [order[p] if p >= 0 else -1 for p in want]


@patient
@given(seed=seeds, forged=st.data())
def test_counts_of_any_size_order_the_columns(seed, forged):
    """A file may hold any counts up to 1e150, also such as no rows leave: what is read off them stays finite."""
    case = Case(seed, m=4, n=30)
    sizes = st.sampled_from([0.0, 5e-324, 1e-300, 1e-7, 1.0, 3.0, 1e9, 1e149, 1e150])
    for array in (case.counts.classes, case.counts.pairs):
        for _ in range(forged.draw(st.integers(0, 6))):
            array.flat[forged.draw(st.integers(0, array.size - 1))] = forged.draw(sizes)
    assert np.isfinite(information(case.counts)).all()
    for name in ("loglik", "aic", "mdl", "bayes"):
        forest = GreedyForest(name)
        assert np.isfinite(forest.gains(case.counts)).all()
        assert np.isfinite(forest.gains_per_row(case.counts)).all()
        forest.search(case.counts)
    assert sum(p < 0 for p in parents_of(SpanningTree().search(case.counts))) >= 1
    assert sorted(ByInformation(OneParent()).order(case.counts)) == [0, 1, 2, 3]


def test_what_unlearning_leaves_below_zero_is_no_count():
    """Cells at plus and minus rounding change information and gains by rounding alone; one class has lost all rows."""
    case = Case(0, m=3, n=40)
    assert min(case.sizes) > 1
    case.counts.pairs[:, 1] = 0.0
    plain = information(case.counts).copy()
    forests = {name: GreedyForest(name).gains(case.counts) for name in ("loglik", "bayes")}
    empty = case.counts.pairs == 0.0
    assert empty.any()
    dust = np.where(np.arange(empty.size).reshape(empty.shape) // 2 % 2, 1e-17, -1e-16)
    case.counts.pairs[empty] = dust[empty]
    assert np.allclose(information(case.counts), plain, rtol=0.0, atol=1e-14)
    for name, gains in forests.items():
        assert np.allclose(GreedyForest(name).gains(case.counts), gains, rtol=0.0, atol=1e-12)


def test_independent_columns_tell_exactly_nothing():
    """Integer counts whose products are equal give 0 to the bit, or noise would decide which column is the root."""
    case = Case(4, m=3, n=30)
    assert min(case.sizes) == 3
    first, starts = case.counts.layout[:2]
    for j in range(3):
        for i in range(j):
            for a, b in itertools.product(range(3), repeat=2):
                case.counts.pairs[starts[j] + a * first[j] + first[i] + b] = (1, 3, 7)[a] * (2, 5, 11)[b]
    assert (information(case.counts) == 0.0).all()


def test_unknown_score():
    with pytest.raises(SchemaError, match="score='bic'"):
        GreedyForest("bic")


def test_columns_by_information():
    case = Case(3, m=4, n=80)
    sums = information(case.counts).sum(axis=1)
    order = ByInformation(Forests()).order(case.counts)
    assert np.all(np.diff(sums[order]) <= 1e-9)


def recorded(case, choice):
    """The record of the queries as a view keeps it that never learns them."""
    view = ChosenParent(case.counts.copy(), choice)
    for i in range(case.queries.n):
        row, before = case.queries.rows(i, i + 1), case.counts.copy()
        view.record.record = np.zeros((3, case.m + 1)) if i == 0 else view.record.record
        view.summary = before
        view.update(row)
    return view.record.record


@pytest.mark.parametrize("family", [SuperParents, OneParent])
@patient
@given(seed=seeds)
def test_the_record_is_what_the_candidates_would_have_said(family, seed):
    case, m = Case(seed), 4
    if not (case.counts.seen > 0).all():
        return
    got = recorded(case, Choice(family, False, 1.0, CountedPrior(1.0), 1))
    want, ties = np.zeros((3, m + 1)), np.zeros(m + 1)
    for row, y, w in zip(case.queries.codes.tolist(), case.queries.y, case.queries.w, strict=True):
        if y < 0 or not w or not case.classes.weight[y]:
            continue
        for s in range(m + 1):
            sets = candidate(case, family, s)
            p = naive.normalised([case.world.closed_form(row, sets, c) for c in range(case.k)])
            want[0, s] += w * p[y]
            want[2, s] -= w * np.log(p[y])
            tied = abs(p[0] - p[1]) < 1e-12  # rounding decides; the hit is one or the other's
            ties[s] += w * tied
            want[1, s] += w * (not tied and int(np.argmax(p)) == y)
    np.testing.assert_allclose(got[[0, 2]], want[[0, 2]], rtol=1e-12)
    assert np.all((want[1] <= got[1]) & (got[1] <= want[1] + ties))


def candidate(case, family, s):
    if family is OneParent:
        return naive.one_parent(case.m, s if s < case.m else -1)
    return naive.super_parents(case.order, s) if s < case.m else naive.forests(case.order)


@patient
@given(seed=seeds)
def test_learning_and_recording_is_predicting_then_counting(seed):
    case = Case(seed)
    at_once, by_rows = (
        ChosenParent(case.counts.copy(), Choice(SuperParents, False, 1.0, CountedPrior(), 1))
        for _ in range(2)
    )
    for view in (at_once, by_rows):
        view.record.record = np.zeros((3, case.m + 1))
    at_once.update(case.queries)
    out, want = np.zeros((case.queries.n, case.k)), np.zeros((case.queries.n, case.k))
    for i in range(case.queries.n):
        row = case.queries.rows(i, i + 1)
        by_rows.add_log_prob(row, want[i : i + 1])
        by_rows.predict_then_update(row, out[i : i + 1])
    np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(at_once.record.record, by_rows.record.record)
    np.testing.assert_array_equal(at_once.summary.triples, by_rows.summary.triples)


def test_one_row_in_eight_is_drawn_after_the_first_thousand():
    rows = [drawn(i, 0, 8) for i in range(41_000)]
    assert all(rows[:ALWAYS])
    assert 0.115 < np.mean(rows[ALWAYS:]) < 0.135
    assert rows[:2000] != [drawn(i, 1, 8) for i in range(2000)]
    assert all(drawn(i, 0, 1) for i in range(990, 1100))
