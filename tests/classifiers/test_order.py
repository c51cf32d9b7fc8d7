"""`fit`, `cross_validate` and `holdout` have all rows in hand: their order may not matter to what is learned."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from tests.data import DATA, needs_data

from bayou import (
    AODE,
    AWE,
    AutoDensity,
    AveragedNB,
    Bagging,
    EcocNB,
    Fading,
    HoeffdingTree,
    MajorityClass,
    MultinomialNB,
    NaiveBayes,
    NoChange,
    ReadMany,
    ResetOnDrift,
    SPCr,
    WeightedNB,
    WeightedVoting,
    Window,
    cross_validate,
    holdout,
    open_stream,
)
from bayou.encoding.hashed_order import hashed_order, row_hashes
from bayou.encoding.table import table_of
from bayou.errors import DataError
from bayou.kernels.expert_scores import LAST

DEPENDENT = [
    WeightedNB(), WeightedNB(rate="paper"), HoeffdingTree(), ReadMany(), SPCr(), Bagging(n_estimators=3),
    Bagging(WeightedNB(), n_estimators=3),
    WeightedVoting(), Window(), Fading(), AWE(), ResetOnDrift(),
    AODE(), AODE(numeric="width"), NaiveBayes("cpid"),
]  # fmt: skip
INDEPENDENT = [
    NaiveBayes(), NaiveBayes("gk"), AveragedNB(), MajorityClass(), NoChange(), Bagging(NaiveBayes(), n_estimators=3),
    MultinomialNB(), EcocNB(), WeightedVoting([NaiveBayes(), MajorityClass()], weights=[1, 2]),
]  # fmt: skip


def three_classes(n: int, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows of three overlapping classes, sorted by class."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(3, size=n))
    return rng.normal(size=(n, 4)) + y[:, None] * np.array([1.0, 0.7, 0.0, -0.6]), y


@pytest.mark.parametrize("model", DEPENDENT, ids=repr)
def test_who_depends_on_order_learns_the_hashed_order(model: Any) -> None:
    X, y = three_classes(700)
    order = hashed_order(table_of(X), y)
    by_hand = model.blank()
    by_hand.learn_many(X[order], y[order])
    assert model.depends_on_order
    assert model.blank().fit(X, y).digest() == by_hand.refresh().digest()


@pytest.mark.parametrize("model", INDEPENDENT, ids=repr)
def test_who_does_not_learns_rows_as_they_stand(model: Any) -> None:
    X, y = three_classes(300)
    X = np.abs(X).round()
    as_it_stands = model.blank()
    as_it_stands.learn_many(X, y)
    assert not model.depends_on_order
    assert model.blank().fit(X, y).digest() == as_it_stands.refresh().digest()


def test_a_grid_is_drawn_from_all_classes_of_a_sorted_table() -> None:
    """As it stands, the first 200 rows are of one class, and a grid of them is blind beyond its range."""
    X, y = three_classes(3000)
    X *= [1.0, 30.0, 1.0, 100.0]
    order = np.random.default_rng(1).permutation(3000)
    as_it_stands = AODE()
    as_it_stands.learn_many(X, y)
    told, shuffled = AODE().fit(X, y).score(X, y), AODE().fit(X[order], y[order]).score(X, y)
    assert told == pytest.approx(shuffled, abs=0.02)
    assert told > np.mean(np.array(as_it_stands.predict_many(X)) == y) + 0.01


def doors(X: np.ndarray[Any, Any]) -> dict[str, Any]:
    """The same rows as everything `fit` takes."""
    names = [f"x{j}" for j in range(X.shape[1])]
    columns = {name: X[:, j] for j, name in enumerate(names)}
    return {
        "numpy": X,
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "arrow": pa.table(columns),
        "chunked": pa.concat_tables([pa.table(columns).slice(0, 100), pa.table(columns).slice(100)]),
        "columns": columns,
        "records": [dict(zip(names, row, strict=True)) for row in X.tolist()],
        "rows": X.tolist(),
    }


@pytest.mark.parametrize("door", list(doors(np.zeros((1, 1)))))
def test_every_table_can_be_permuted(door: str) -> None:
    X, y = three_classes(400)
    expected = WeightedNB().fit(X, y).predict_proba(X)
    table = doors(X)[door]
    assert np.array_equal(WeightedNB().fit(table, y).predict_proba(table), expected)
    assert np.array_equal(WeightedNB().fit(table, y.tolist()).predict_proba(table), expected)


def test_sparse_rows_can_be_permuted() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.poisson(0.3, size=(300, 20)).astype(float), np.sort(rng.integers(2, size=300))
    model = WeightedVoting([MultinomialNB(), MultinomialNB(2.0)])
    order = hashed_order(table_of(sp.csr_matrix(X)), y)
    by_hand = model.blank()
    by_hand.learn_many(sp.csr_matrix(X[order]), y[order])
    assert model.blank().fit(sp.csr_matrix(X), y).digest() == by_hand.digest()


@pytest.mark.parametrize("make", [WeightedNB, HoeffdingTree, Fading], ids=lambda make: make.__name__)
def test_a_table_sorted_by_class_costs_little(make: Any) -> None:
    X, y = three_classes(6000)
    tested, answers = three_classes(3000, seed=1)
    shuffle = np.random.default_rng(2).permutation(len(y))
    as_sorted = make().fit(X, y).score(tested, answers)
    shuffled = make().fit(X[shuffle], y[shuffle]).score(tested, answers)
    assert abs(as_sorted - shuffled) < 0.02
    held_out = holdout(make(), (X, y), (tested, answers))
    assert held_out[make.__name__].scores.accuracy == pytest.approx(as_sorted, abs=1e-12)
    validated = [cross_validate(make(), X[i], y[i], folds=3).accuracy for i in (np.arange(len(y)), shuffle)]
    assert abs(validated[0] - validated[1]) < 0.02


def test_cross_validation_learns_each_part_as_fit_does() -> None:
    from bayou.evaluate.crossval import splits

    X, y = three_classes(600)
    found = cross_validate(WeightedNB(), X, y, folds=3).values["WeightedNB"]["accuracy"]
    fitted = [WeightedNB().fit(X[a], y[a]).score(X[b], y[b]) for a, b in splits(y, 3, 1, True, 0)]
    assert found.tolist() == fitted


def test_streams_stay_in_the_order_given() -> None:
    X, y = three_classes(500)
    order = np.random.default_rng(3).permutation(len(y))
    one, two = WeightedNB(), WeightedNB()
    one.partial_fit(X[order], y[order])
    for i in order:
        two.learn_one({f"x{j}": v for j, v in enumerate(X[i].tolist())}, int(y[i]))
    assert one.digest() == two.digest()


def test_a_row_of_weight_zero_is_absent() -> None:
    X, y = three_classes(400)
    w = np.random.default_rng(4).integers(3, size=400).astype(float)
    kept = w > 0
    with_them = WeightedNB().fit(X, y, w)
    without = WeightedNB().fit(X[kept], y[kept], w[kept])
    assert np.array_equal(with_them.predict_proba(X), without.predict_proba(X))


def test_errors_name_rows_as_they_were_given() -> None:
    rows: list[dict[str, Any]] = [{"x": float(i)} for i in range(50)]
    rows[17]["x"] = "many"
    with pytest.raises(DataError, match="row 17, column 'x'"):
        WeightedNB().fit(rows, [i % 2 for i in range(50)])
    with pytest.raises(DataError, match="row 7: a weight"):
        WeightedNB().fit(rows, [i % 2 for i in range(50)], [1.0] * 7 + [-1.0] + [1.0] * 42)
    with pytest.raises(DataError, match="50 rows but 49 labels"):
        WeightedNB().fit(rows, [i % 2 for i in range(49)])


def test_the_order_is_a_permutation_that_never_changes() -> None:
    X, y = three_classes(1000)
    assert sorted(hashed_order(table_of(X), y)) == list(range(1000))
    assert hashed_order(table_of(np.arange(6.0)[:, None]), list("aabbcc")).tolist() == [0, 1, 4, 5, 3, 2]


@pytest.mark.parametrize("model", DEPENDENT, ids=repr)
def test_a_permuted_table_gives_the_same_model(model: Any) -> None:
    """By the order of row numbers, WeightedNB lost 3 points to shuffles on a file of 214 rows."""
    X, y = three_classes(500)
    order = np.random.default_rng(1).permutation(len(y))
    one, two = model.blank().fit(X, y), model.blank().fit(X[order], y[order])
    assert one.digest() == two.digest()
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))


def mixed_rows(n: int) -> tuple[dict[str, list[Any]], list[str], np.ndarray[Any, Any]]:
    """Names and whole numbers with gaps, many rows twice and more; labels; weights, 0 among them."""
    rng = np.random.default_rng(5)
    size, colour = rng.integers(4, size=n).tolist(), rng.choice(["red", "blue"], size=n).tolist()
    y = [f"{c[0]}{s // 2}" if u < 0.8 else "r0" for c, s, u in zip(colour, size, rng.random(n), strict=True)]
    columns = {
        "size": [None if i % 7 == 0 else s for i, s in enumerate(size)],
        "colour": [None if i % 11 == 0 else c for i, c in enumerate(colour)],
    }
    return columns, y, rng.integers(3, size=n).astype(float)


def test_a_permuted_frame_with_gaps_repetitions_and_weights_gives_the_same_model() -> None:
    columns, y, w = mixed_rows(400)
    whole, order = pd.DataFrame(columns), np.random.default_rng(2).permutation(400)
    labels = np.array(y)
    one = HoeffdingTree().fit(whole, labels, w)
    two = HoeffdingTree().fit(whole.iloc[order], labels[order], w[order])
    assert one.digest() == two.digest()


def test_rows_that_hold_the_same_do_not_stand_together() -> None:
    """Else a table of few distinct rows would be presented sorted by class."""
    X, y = np.repeat([[0.0], [1.0]], 500, axis=0), np.repeat([0, 1], 500)
    presented = y[hashed_order(table_of(X), y)]
    assert 400 < np.count_nonzero(np.diff(presented)) < 600


def test_rows_have_one_hash_from_every_door() -> None:
    columns, y, _ = mixed_rows(100)
    expected = row_hashes(table_of(columns), y).tolist()
    frame = pd.DataFrame({"size": pd.array(columns["size"], "Int64"), "colour": columns["colour"]})
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    doors_of_names = {
        "pandas": frame,
        "categories": frame.astype({"colour": "category"}),
        "polars": pl.DataFrame(columns),
        "arrow": pa.table(columns),
        "records": records,
        "columns the other way round": dict(reversed(columns.items())),
    }
    for door, rows in doors_of_names.items():
        for labels in (y, np.array(y), pd.Series(y), pl.Series(y), pa.array(y)):
            assert row_hashes(table_of(rows), labels).tolist() == expected, (door, type(labels))


@pytest.mark.filterwarnings("ignore::bayou.errors.DateNote")
def test_dates_can_be_presented_in_a_hashed_order() -> None:
    days = pd.date_range("2024-01-01", periods=60, freq="h")
    y = np.repeat([0, 1], 30)
    order = np.random.default_rng(6).permutation(60)
    frame = pd.DataFrame({"day": days, "x": np.arange(60.0)})
    forms = {"pandas": frame, "polars": pl.from_pandas(frame), "arrow": pa.Table.from_pandas(frame)}
    for name, table in forms.items():
        permuted = table[order.tolist()] if name == "polars" else table.take(order)
        assert WeightedNB().fit(table, y).digest() == WeightedNB().fit(permuted, y[order]).digest(), name


def test_quantiles_of_sorted_classes_cost_little() -> None:
    """Skewed columns of two classes, a stream sorted by class costs less than half a point."""

    def rows(n: int, seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        rng = np.random.default_rng(seed)
        y = (rng.random(n) < 0.35).astype(int)
        columns = [
            rng.gamma(2 + 0.6 * y, 10 + 6 * y), rng.normal(3 * y, 10 + 5 * y), rng.exponential(1 + 0.5 * y),
            rng.lognormal(0.2 * y, 0.5), rng.normal(size=n) * (1 + 0.5 * y), rng.uniform(size=n) ** (1 + 0.7 * y),
        ]  # fmt: skip
        return np.column_stack(columns), y

    X, y = rows(13_000, 0)
    tested, answers = rows(20_000, 1)

    def score(order: np.ndarray[Any, Any]) -> float:
        model = NaiveBayes("gk")
        model.learn_many(X[order], y[order])
        return model.refresh().score(tested, answers)

    shuffled = np.mean([score(np.random.default_rng(seed).permutation(len(y))) for seed in range(3)])
    assert score(np.argsort(y, kind="stable")) > shuffled - 0.005
    assert score(np.argsort(-y, kind="stable")) > shuffled - 0.005


@pytest.mark.parametrize("seed", range(3))
def test_a_sorted_stream_costs_no_more_than_naive_bayes(seed: int) -> None:
    X, y = three_classes(4000, seed)
    tested, answers = three_classes(3000, seed + 10)
    for order in (np.arange(len(y)), np.arange(len(y))[::-1]):
        weighted, plain = WeightedNB(), NaiveBayes()
        for model in (weighted, plain):
            model.learn_many(X[order], y[order])
        assert weighted.score(tested, answers) > plain.score(tested, answers) - 0.01


def graded(n: int, seed: int) -> tuple[dict[str, np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """Three grades that add up to a class of three, with noise."""
    rng = np.random.default_rng(seed)
    p, u, v = (rng.integers(3, size=n) for _ in range(3))
    y = np.digitize(2 * p + u + v + rng.normal(0, 0.7, n), [2.5, 4.5])
    names = np.array(["fair", "good", "poor"])
    return {"part": names[p], "u": names[u], "v": names[v]}, y


def in_order(columns: dict[str, Any], order: np.ndarray[Any, Any]) -> dict[str, Any]:
    return {name: column[order] for name, column in columns.items()}


@pytest.mark.parametrize("as_numbers", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_a_stream_sorted_by_its_columns_costs_no_more_than_naive_bayes(seed: int, as_numbers: bool) -> None:
    """The weights follow the last section: heard of rows of another, they cost more than ten points."""
    X, y = graded(4000, seed)
    tested, answers = graded(3000, seed + 10)
    if as_numbers:
        X, tested = (
            {name: np.unique(column, return_inverse=True)[1] * 1.5 for name, column in columns.items()}
            for columns in (X, tested)
        )
    order = np.lexsort((X["v"], X["u"], X["part"]))
    weighted, plain = WeightedNB(), NaiveBayes()
    for model in (weighted, plain):
        model.learn_many(in_order(X, order), y[order])
        model.refresh()
    assert weighted.score(tested, answers) > plain.score(tested, answers) - 0.01
    mixed = np.random.default_rng(seed).permutation(len(y))
    # Once sections have come back often enough, weights are heard
    weighted.learn_many(in_order(X, mixed), y[mixed])
    assert weighted.score(tested, answers) > plain.score(tested, answers) + 0.01


def travelled(
    n: int, seed: int, shuffled: bool
) -> tuple[dict[str, np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """Rows along a way back and forth between two lands: one column tells the class in one, two in the other."""
    rng = np.random.default_rng(seed)
    way = rng.uniform(0, 5 * np.pi, n) if shuffled else np.arange(n) * 5 * np.pi / n
    place, y = np.sin(way), rng.integers(2, size=n)
    tells = np.where((place[:, None] < 0) == [True, False, False], 2.0 * y[:, None] - 1.0, 0.0)
    told = tells + rng.normal(size=(n, 3))
    return {"place": place + 0.05 * rng.normal(size=n), **{f"x{j}": told[:, j] for j in range(3)}}, y


@pytest.mark.parametrize("seed", range(2))
def test_a_stream_that_goes_by_small_steps_costs_no_more_than_naive_bayes(seed: int) -> None:
    """The weights follow the land where the way ends: heard of the other, they cost two points and more."""
    X, y = travelled(10_000, seed, shuffled=False)
    tested, answers = travelled(4000, seed + 10, shuffled=True)
    weighted, plain, parts = WeightedNB(), NaiveBayes(), WeightedNB()
    for model in (weighted, plain):
        model.learn_many(X, y)
        model.refresh()
    assert weighted.score(tested, answers) > plain.score(tested, answers) - 0.01
    parts.learn_many(in_order(X, np.arange(3333)), y[:3333])
    parts = pickle.loads(pickle.dumps(parts))
    parts.learn_many(in_order(X, np.arange(3333, len(y))), y[3333:])
    assert parts.refresh().digest() == weighted.digest()
    _, far = weighted.engine.views["sections"].summary.outside(weighted.encode(tested))
    assert 0.2 < far.mean() < 0.8
    last = weighted.engine.views["weights"].summary.mixture_weights  # heard everywhere, it would be believed
    weighted.engine.views["sections"].summary.spread[:] = 0.0
    assert last.argmax() == LAST
    assert weighted.score(tested, answers) < plain.score(tested, answers) - 0.01


def test_sections_are_the_same_bits_at_any_cut() -> None:
    X, y = graded(600, 3)
    order = np.lexsort((X["u"], X["part"]))
    X, y = in_order(X, order), y[order]
    whole, by_rows, saved = WeightedNB(), WeightedNB(), WeightedNB()
    whole.learn_many(X, y)
    rows = [{name: str(column[i]) for name, column in X.items()} for i in range(len(y))]
    for row, label in zip(rows, y.tolist(), strict=True):
        by_rows.learn_one(row, label)
    saved.learn_many(in_order(X, np.arange(350)), y[:350])
    saved = pickle.loads(pickle.dumps(saved))
    saved.learn_many(in_order(X, np.arange(350, 600)), y[350:])
    assert whole.digest() == by_rows.digest() == saved.digest()
    sections = whole.engine.views["sections"].summary
    outside, _ = sections.outside(whole.encode(X))
    assert 0.5 < outside.mean() < 1


def test_a_run_does_not_turn_naive_bayes_round() -> None:
    """Naive Bayes is wrong throughout the last run; a factor below 0 would be right about it alone."""
    X = [{"x": "a"}] * 2000 + [{"x": "b"}] * 2000 + [{"x": "a"}] * 1000
    y = [0] * 2000 + [1] * 2000 + [1] * 1000
    model = WeightedNB()
    model.learn_many(X, y)
    assert model.predict_one({"x": "a"}) == 0
    assert model.predict_one({"x": "b"}) == 1


def test_weights_are_heard_once_labels_come_back() -> None:
    X = three_classes(900)[0]
    once = np.repeat([0, 1], 450)
    often = np.random.default_rng(0).permutation(once)
    for labels, heard in ((once, False), (often, True)):
        model = WeightedNB()
        model.learn_many(X, labels)
        returns, rows = model.engine.arrays()["weights.scalars"][[11, 0]]
        # The first of the second class came from nowhere
        assert returns == np.count_nonzero(np.diff(labels)) - 1
        assert (returns**2 >= rows) == heard


@needs_data
def test_a_stream_of_prices_sorted_by_class_costs_little() -> None:
    """Electricity, by class and in time within a class, three splits: 100 tuples cost a point, the default .5."""
    with open_stream(DATA / "streams" / "elecNormNew.arff.gz") as stream:
        rows = stream.read(100_000)
    table, labels = pa.table(dict(rows.columns)), np.array(rows.labels.to_pylist())

    def cost(model: Any, seed: int) -> float:
        places = np.random.default_rng(seed).permutation(len(labels))
        tested, learned = places[: len(places) * 3 // 10], places[len(places) * 3 // 10 :]
        in_time = np.sort(learned)
        scores = []
        for order in (learned, in_time[np.argsort(labels[in_time], kind="stable")]):
            one = model.blank()
            one.learn_many(table.take(order), labels[order])
            scores.append(100 * one.refresh().score(table.take(tested), labels[tested]))
        return float(scores[0] - scores[1])

    few, default = (
        np.mean([cost(NaiveBayes(numeric), seed) for seed in range(3)])
        for numeric in (AutoDensity(tuples=100), "auto")
    )
    assert default < 0.5 < few
