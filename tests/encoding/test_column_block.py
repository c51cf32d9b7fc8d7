"""Many numeric columns, which stay in their table until somebody reads them: the bits of rows side by side."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pyarrow as pa
import pytest

from bayou import NaiveBayes
from bayou.block import Block
from bayou.encoding.column_block import CELLS, ColumnBlock, numbers_of
from bayou.summaries.moments import GRAIN
from bayou.threads import limited

COLUMNS = 70
ROWS = 3 * CELLS // COLUMNS + 17


def wide(rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    y = random.integers(0, 3, rows)
    return random.normal(size=(rows, COLUMNS)) + 0.1 * y[:, None], y


def table(x: np.ndarray) -> pa.Table:
    return pa.table({f"x{j}": np.ascontiguousarray(x[:, j]) for j in range(x.shape[1])})


def encoded(x: np.ndarray, y: np.ndarray) -> Block:
    return NaiveBayes("gaussian").encode(table(x), y, learn=True)


def test_only_many_usable_numbers_stay_in_their_columns():
    x, y = wide()
    assert isinstance(encoded(x, y), ColumnBlock)
    assert not isinstance(encoded(x[:900], y[:900]), ColumnBlock)
    for value in (np.nan, np.inf, -1e141):
        broken = x.copy()
        broken[-1, -1] = value
        block = encoded(broken, y)
        assert type(block) is Block
        assert np.isnan(block.numeric[-1, -1])


def test_whoever_looks_sees_the_rows():
    x, y = wide()
    block = encoded(x, y)
    assert block.no_missing
    np.testing.assert_array_equal(block.rows(5, 9).numeric, x[5:9])
    np.testing.assert_array_equal(block.numeric, x)
    for twin in (
        copy.deepcopy(encoded(x, y)), pickle.loads(pickle.dumps(encoded(x, y))),
        encoded(x, y).relabelled(block.y), encoded(x, y).weighted(np.ones(len(y))),
    ):  # fmt: skip
        np.testing.assert_array_equal(twin.numeric, x)
        np.testing.assert_array_equal(twin.y, block.y)
        assert numbers_of(twin)[0] is twin.numeric


def test_kernels_take_the_first_rows_and_the_columns():
    x, y = wide()
    rows, columns = numbers_of(encoded(x, y))
    assert columns.shape == (COLUMNS, 2)
    np.testing.assert_array_equal(rows, x[: CELLS // COLUMNS])
    rows, columns = numbers_of(Block(x, np.empty((ROWS, 0), np.int32), (), y, np.ones(ROWS)))
    assert columns.shape == (0, 2)
    assert rows is x


@pytest.mark.parametrize("numeric", ["gaussian", "auto"])
def test_bits_are_those_of_a_matrix(numeric):
    x, y = wide()
    ours, matrix, learned = NaiveBayes(numeric), NaiveBayes(numeric), NaiveBayes(numeric)
    for rows in (slice(0, 2_000), slice(2_000, None)):  # too few, then many
        given = table(x[rows])
        probabilities = ours.test_then_train_batch(given, y[rows])
        np.testing.assert_array_equal(probabilities, matrix.test_then_train_batch(x[rows], y[rows]))
        learned.learn_batch(given, y[rows])
    assert ours.digest() == matrix.digest() == learned.digest()
    np.testing.assert_array_equal(ours.predict_proba(table(x)), matrix.predict_proba(x))


@pytest.mark.parametrize("threads", [1, 2])
def test_columns_come_in_any_order(threads):
    x, y = wide(GRAIN // COLUMNS * 4)  # enough that threads divide the columns
    there = np.random.default_rng(0).permutation(COLUMNS)
    models = [NaiveBayes("gaussian") for _ in range(2)]
    with limited(threads):
        for model, order in zip(models, (np.arange(COLUMNS), there), strict=True):
            model.learn_batch(table(x[:10]), y[:10])
            model.learn_batch(table(x).select([f"x{j}" for j in order]), y)
    assert models[0].digest() == models[1].digest()


def test_rows_that_do_not_learn_are_only_predicted():
    x, y = wide()
    w = np.where(np.arange(ROWS) % 3 == 0, 0.0, 2.0)
    ours, matrix = NaiveBayes("gaussian"), NaiveBayes("gaussian")
    for model, given in ((ours, table(x)), (matrix, x)):
        model.learn_batch(given, y)
        model.test_then_train_batch(given, [None if i % 5 == 0 else label for i, label in enumerate(y)], w)
    assert ours.digest() == matrix.digest()


@pytest.mark.parametrize("seed", range(6))
def test_large_tables_of_any_kind_are_learned_as_arrays_are(seed):
    """Arrow's doubles, integers, chunks and slices, columns in any order or left out, weights, one thread or two."""
    rng = np.random.default_rng(seed)
    ours, arrays = (
        NaiveBayes("gaussian" if seed % 3 else "auto"),
        NaiveBayes("gaussian" if seed % 3 else "auto"),
    )
    for step in range(3):
        x, y = wide(3_000)
        x[:, ::3] = rng.integers(0, 5, x[:, ::3].shape)
        if seed == step:
            x[7, 1] = np.inf
        order = rng.permutation(COLUMNS)[: COLUMNS - 3 * (seed == 4)]
        columns = [pa.array(x[:, j], pa.int64() if j % 3 == 0 and seed % 2 else pa.float64()) for j in order]
        given = pa.table(columns, names=[f"x{j}" for j in order]).slice(20 * (seed > 2))
        if seed == 5:
            given = pa.concat_tables([given.slice(0, 11), given.slice(11)])
        held = {name: given[name].to_numpy().copy() for name in given.column_names}
        w = rng.choice([0.0, 0.5, 1.0, 2.0], len(y)) if seed % 2 else np.ones(len(y))
        labels, weights = y[-given.num_rows :], w[-given.num_rows :]
        with limited(1 + seed % 2):
            found = ours.test_then_train_batch(given, labels, weights)
        np.testing.assert_array_equal(found, arrays.test_then_train_batch(held, labels, weights))
        ours.learn_batch(given, labels, weights)
        arrays.learn_batch(held, labels, weights)
    assert ours.digest() == arrays.digest()


def test_integers_beyond_two_to_the_53rd_are_rounded_at_every_door():
    large = np.array([2**53 + 1, -(2**63), 5, 7])
    models = [NaiveBayes("gaussian") for _ in range(2)]
    for model, held in zip(models, (large, pa.array(large)), strict=True):
        model.learn_batch({"x": held} if held is large else pa.table({"x": held}), [0, 1, 0, 1])
    assert models[0].digest() == models[1].digest()
