"""Kernel densities: Weka's digits, the slow twin, tails, merges and columns with traps."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.kernel import kernel_probability, normal_probability, precision_of, shaped_probability
from tests.seeds import seeds

from bayou.align import align, canonical, from_empty
from bayou.block import Block
from bayou.classifiers import NaiveBayes
from bayou.classifiers.estimator import Estimator
from bayou.densities.kernel import Kernel, RoundedNormal
from bayou.errors import DataError, ModelFileError
from bayou.files import dumps, loads
from bayou.hashing import digest
from bayou.kernels.kernel_density import log_far_mass, mass
from bayou.readings.modl import MODL
from bayou.readings.prior import CountedPrior
from bayou.schema import Growth, Kind, Schema
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.quantile_tuples import QuantileTuples
from bayou.testing import check_classifier
from bayou.views.view import Live

VECTORS = Path(__file__).parents[1] / "vectors"
ECOC = json.loads((VECTORS / "ecoc.json").read_text())
TEMPERATURE = json.loads((VECTORS / "seed_examples.json").read_text())["gaussian_temperature"]


def block_of(x, y, w=None):
    x = np.array(x, dtype=np.float64).reshape(len(y), -1)
    w = np.ones(len(y)) if w is None else np.array(w, dtype=np.float64)
    return Block(x, np.empty((len(y), 0), np.int32), (), np.array(y, dtype=np.int32), w)


def read(recipe, x, y, w=None, classes=2):
    block = block_of(x, y, w)
    schema = Schema()
    columns = [(f"x{j}", Kind.NUMERIC) for j in range(block.numeric.shape[1])]
    schema.grow(Growth(classes=[f"c{i}" for i in range(classes)], columns=columns))
    summary = recipe.view(MODL()).summary
    summary.realign(from_empty(schema))
    summary.update(block)
    return recipe.read(summary), schema


def probabilities(reading, queries):
    return np.exp(reading.terms(block_of(queries, [-1] * len(queries)))[:, 0, :])


def temperature(recipe):
    yes, no = TEMPERATURE["yes"], TEMPERATURE["no"]
    return read(recipe, yes + no, [0] * len(yes) + [1] * len(no))[0]


def test_weka_kernels():
    v = ECOC["weka_kde_temperature"]
    reading = temperature(Kernel())
    assert reading.precision[0] == pytest.approx(v["precision"], rel=1e-12)
    for c, name in enumerate(("yes", "no")):
        here = np.flatnonzero(reading.weights[c])
        found = np.column_stack([reading.centres[here], reading.weights[c, here]])
        np.testing.assert_allclose(found, v[name]["kernels"], rtol=1e-12)
        assert reading.widths[0, c] == pytest.approx(v[name]["sd"], rel=1e-12)
    together = np.column_stack([reading.centres, reading.weights[2]])
    np.testing.assert_allclose(together, ECOC["kde_merge"]["kernels"], rtol=1e-12)
    assert reading.widths[0, 2] == pytest.approx(ECOC["kde_merge"]["sd"], rel=1e-12)


def test_weka_kernel_digits():
    v = ECOC["weka_kde_temperature"]
    found = probabilities(temperature(Kernel()), [q["x"] for q in v["queries"]])
    for (yes, no), q in zip(found, v["queries"], strict=True):
        assert yes == pytest.approx(q["p_yes"], rel=1e-10)
        assert no == pytest.approx(q["p_no"], rel=1e-10)
        posterior = 10 * yes / (10 * yes + 6 * no)  # Weka's prior is Laplace's
        assert posterior == pytest.approx(q["post_yes"], rel=1e-10)
        assert round(posterior, 3) == v["weka_output_post_yes"][str(q["x"])]


def test_weka_normal_digits():
    v = ECOC["weka_normal_temperature"]
    reading = temperature(RoundedNormal())
    for c, name in enumerate(("yes", "no")):
        assert [reading.centres[c], reading.widths[0, c]] == pytest.approx(v[name], rel=1e-12)
    found = probabilities(reading, [q["x"] for q in v["queries"]])
    for (yes, no), q in zip(found, v["queries"], strict=True):
        posterior = 10 * yes / (10 * yes + 6 * no)
        assert posterior == pytest.approx(q["post_yes"], rel=1e-10)
        assert round(posterior, 3) == v["weka_output_post_yes"][str(q["x"])]


values = st.lists(st.integers(-50, 50).map(lambda i: i / 8), min_size=2, max_size=40)


@settings(max_examples=100, deadline=None)
@given(
    a=values,
    b=values,
    queries=st.lists(st.floats(-8, 8), min_size=1, max_size=5),
    given_p=st.sampled_from([None, 0.3]),
)
def test_slow_twin(a, b, queries, given_p):
    if len(set(a + b)) < 2:
        return
    p = given_p or precision_of(a + b)
    kernel, _ = read(Kernel(precision=given_p), a + b, [0] * len(a) + [1] * len(b))
    normal, _ = read(RoundedNormal(precision=given_p), a + b, [0] * len(a) + [1] * len(b))
    if len(kernel.centres) < 2:  # coarse rounding left one value: the column says nothing
        assert not kernel.terms(block_of(queries, [-1] * len(queries))).any()
        return
    for x, by_kernel, by_normal in zip(queries, kernel.terms(block_of(queries, [-1] * len(queries))),
                                       normal.terms(block_of(queries, [-1] * len(queries))), strict=True):  # fmt: skip
        for c, sample in enumerate((a, b)):
            for found, want in (
                (by_kernel[0, c], kernel_probability(x, sample, p)),
                (by_normal[0, c], normal_probability(x, sample, p)),
            ):
                if want > 1e-280:
                    assert found == pytest.approx(math.log(want), rel=1e-8, abs=1e-8)
                else:
                    assert -np.inf < found < -600


@pytest.mark.parametrize("bandwidth", ["weka", "scott", "silverman", 0.7])
@pytest.mark.parametrize("shape", ["gaussian", "epanechnikov", "triangular", "uniform"])
def test_slow_twin_of_bandwidths_and_shapes(bandwidth, shape):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=40).round(1), rng.integers(2, size=40)
    reading, _ = read(Kernel(bandwidth=bandwidth, shape=shape), x, y)
    p = precision_of(x.tolist())
    queries = [-9.0, -1.3, -0.05, 0.0, 0.4, 2.2, 30.0]
    found = probabilities(reading, queries)
    for i, query in enumerate(queries):
        for c in range(2):
            want = shaped_probability(query, x[y == c].tolist(), p, bandwidth, shape)
            if want > 1e-280:
                assert found[i, c] == pytest.approx(want, rel=1e-5 if shape != "gaussian" else 1e-9)
    assert np.isfinite(reading.terms(block_of(queries, [-1] * len(queries)))).all()


@pytest.mark.parametrize("shape", ["gaussian", "epanechnikov", "triangular", "uniform"])
def test_kernels_of_every_shape_add_up_to_one_and_have_their_deviation(shape):
    """One value many times has one kernel: its masses sum to 1 and spread as the bandwidth says."""
    reading, _ = read(Kernel(precision=0.01, bandwidth=1.5, shape=shape), [0.0] * 5 + [50.0], [0] * 5 + [1])
    grid = np.arange(-12.0, 12.0, 0.01)
    masses = probabilities(reading, grid)[:, 0]
    assert masses.sum() == pytest.approx(1.0, abs=1e-9)
    assert math.sqrt((masses * grid**2).sum()) == pytest.approx(1.5, rel=1e-3)


def test_half_of_the_values_alike_leave_silverman_the_deviation():
    x = [0.0] * 9 + [4.0]
    reading, _ = read(Kernel(bandwidth="silverman"), x, [0] * 10)
    assert reading.widths[0, 0] == pytest.approx(0.9 * np.std(x) * 10**-0.2, rel=1e-12)


def test_weights_are_repetitions():
    a, _ = read(Kernel(), [1.0, 2.0, 4.0, 3.0], [0, 0, 1, 1], [2, 1, 3, 0])
    b, _ = read(Kernel(), [1.0, 1.0, 2.0, 4.0, 4.0, 4.0], [0, 0, 0, 1, 1, 1])
    assert digest(a.arrays()) == digest(b.arrays())


def test_far_tails_go_on_where_digits_end():
    for h in (1e-7, 0.01, 0.5, 3.0):
        a = np.linspace(30.0, 36.0, 7)
        direct = np.array([math.log(mass(x, x + 2 * h)) for x in a])
        far = np.array([log_far_mass(x, x + 2 * h) for x in a])
        np.testing.assert_allclose(far, direct, atol=1.3e-3)  # 1 / a^2
    reading, _ = read(Kernel(), [0.0, 1.0, 2.0, 10.0, 11.0, 12.0], [0, 0, 0, 1, 1, 1])
    found = reading.terms(block_of([-1e3, 1e3, -1e140, 1e140], [-1] * 4))[:, 0]
    assert np.isfinite(found).all()
    assert found[0, 0] > found[0, 1]
    assert found[1, 1] > found[1, 0]


@pytest.mark.parametrize("recipe", [Kernel(), RoundedNormal()], ids=["kernel", "normal"])
@pytest.mark.parametrize(
    "x",
    [[5e-324, 0.0, 1e-323], [1e140, -1e140, 1e139], [1e9, 1e9 + 1e-6, 1e9 + 2e-6], [3.0, 3.0, 3.0]],
    ids=["denormal", "huge", "fine", "constant"],
)
def test_odd_columns_stay_finite(recipe, x):
    reading, _ = read(recipe, x, [0, 1, 1])
    found = reading.terms(block_of([*x, 0.0, 1e140, np.nan], [-1] * 6))
    assert np.isfinite(found).all()
    assert not found[-1].any()
    if len(set(x)) == 1:
        assert not found.any()


def test_a_class_without_values_is_read_as_all_together():
    reading, _ = read(Kernel(), [1.0, 2.0, 5.0, np.nan], [0, 1, 0, 2], classes=3)
    alone, _ = read(Kernel(), [1.0, 2.0, 5.0], [0, 0, 0], classes=1)
    query = block_of([3.0], [-1])
    assert reading.terms(query)[0, 0, 2] == alone.terms(query)[0, 0, 0]


def test_realigned_reading_is_the_reading_of_the_realigned_summary():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)).round(1), rng.integers(0, 3, 60)
    for recipe in (Kernel(), RoundedNormal()):
        block = block_of(x, y)
        schema = Schema()
        schema.grow(Growth(classes=["q", "b", "a"], columns=[(n, Kind.NUMERIC) for n in ("z", "k", "c")]))
        summary = recipe.view(MODL()).summary
        summary.realign(from_empty(schema))
        summary.update(block)
        reading = recipe.read(summary)
        plan = align(schema, canonical(schema))
        moved = reading.realign(plan)
        summary.realign(plan)
        order = plan.numeric.to
        there = Block(np.empty_like(block.numeric), block.codes, (), block.y, block.w)
        there.numeric[:, order] = block.numeric
        want = recipe.read(summary).terms(there)
        np.testing.assert_allclose(moved.terms(there), want, rtol=1e-12)
        back = recipe.restore(dict(moved.arrays()), summary)
        assert digest(back.arrays()) == digest(moved.arrays())
        assert np.array_equal(back.terms(there), moved.terms(there))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("offsets", lambda a: a + 1),
        ("centres", lambda a: a * np.inf),
        ("centres", lambda a: a[1:]),
        ("weights", lambda a: a[:, 1:]),
        ("weights", lambda a: -a),
        ("widths", lambda a: a[:, 1:]),
        ("precision", lambda a: np.append(a, 1.0)),
        ("extra", lambda a: a * np.nan),
    ],
)
def test_damaged_readings_are_refused(name, damage):
    reading, _ = read(Kernel(), [1.0, 2.0, 5.0, 7.0], [0, 1, 0, 1])
    arrays = dict(reading.arrays())
    with pytest.raises(ModelFileError), np.errstate(invalid="ignore"):
        Kernel().restore({**arrays, name: damage(arrays[name])}, QuantileTuples())


def test_tuples_in_place_of_values_tell_almost_as_much():
    """With 40 values per tuple, log-odds are on average a twentieth further from the truth than from all values."""
    at = np.linspace(-2, 4, 61)
    query, truth = block_of(at, [-1] * 61), 2.0 * at - 2.0
    off = {100: [], 4096: []}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 4000)
        x = rng.normal(2.0 * y, 1.0)
        for tuples, found in off.items():
            reading, _ = read(Kernel(tuples=tuples), x, y)
            assert reading.extra.any() == (tuples == 100)
            terms = reading.terms(query)[:, 0]
            found.append(np.abs(terms[:, 1] - terms[:, 0] - truth))
    thin, full = np.mean(off[100], axis=0), np.mean(off[4096], axis=0)
    middle = np.abs(truth) < 3.0
    assert thin.mean() < 1.1 * full.mean()
    assert thin[middle].mean() < 1.1 * full[middle].mean()
    assert thin[middle].mean() < 0.12


class KernelNB(Estimator):
    def __init__(self, numeric=None):
        self.numeric = numeric

    def views(self):
        recipe = self.numeric or Kernel()
        return {
            "classes": Live(ClassCounts(), CountedPrior()),
            "numeric": recipe.view(MODL()),
        }


@pytest.mark.parametrize("kind", [Kernel, RoundedNormal])
def test_no_value_is_less_probable_than_the_floor(kind):
    """Weka takes max(1e-75, P) of each factor: a word that a class never uses costs it 172.7 nats, and no more."""
    x, y = [0.0, 0.0, 1.0, 2.0, 0.0, 90.0, 91.0, 92.0], [0, 0, 0, 0, 0, 1, 1, 1]
    floored, schema = read(kind(floor=1e-75), x, y)
    free, _ = read(kind(), x, y)
    queries = block_of([*np.linspace(-10.0, 120.0, 40), np.nan], [-1] * 41)
    want = np.maximum(free.terms(queries), math.log(1e-75))
    assert free.terms(queries).min() < -500
    np.testing.assert_array_equal(floored.terms(queries), want)
    out = np.zeros((41, 2))
    floored.add_log_prob(queries, out)
    np.testing.assert_array_equal(out, want[:, 0])
    moved = floored.realign(align(schema, canonical(schema)))
    np.testing.assert_array_equal(moved.terms(queries), want)
    back = kind(floor=1e-75).restore(dict(floored.arrays()), QuantileTuples())
    np.testing.assert_array_equal(back.terms(queries), want)


@pytest.mark.parametrize(
    "recipe",
    [Kernel(), RoundedNormal(tuples=20, floor=1e-3), Kernel(bandwidth="silverman", shape="epanechnikov")],
    ids=["kernel", "normal", "shaped"],
)
def test_contract(recipe):
    check_classifier(lambda: KernelNB(recipe), seeds=seeds(repr(recipe)))


def test_refusals():
    with pytest.raises(DataError, match="precision"):
        Kernel(precision=0.0)
    with pytest.raises(DataError, match="tuples"):
        RoundedNormal(tuples=1)
    for floor in (-1e-75, 1.0, float("nan")):
        with pytest.raises(DataError, match="floor"):
            RoundedNormal(floor=floor)
    for wrong in ({"bandwidth": "wide"}, {"bandwidth": 0.0}, {"shape": "round"}):
        with pytest.raises(DataError, match=next(iter(wrong))):
            Kernel(**wrong)


def test_a_model_of_kernels_that_stand_for_huge_intervals_can_be_loaded_again() -> None:
    values = [float(x) for x in (*range(40), 1e100, -1e139, 1e139)]
    model = NaiveBayes(numeric=Kernel(tuples=10)).fit([[x] for x in values], ["a", "b"] * 21 + ["a"])
    again = loads(dumps(model))
    assert again.digest() == model.digest()
    assert np.array_equal(again.predict_proba([[3.0], [1e120]]), model.predict_proba([[3.0], [1e120]]))
