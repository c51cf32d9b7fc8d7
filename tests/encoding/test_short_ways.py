"""Short ways through the encoder give what the long ways give."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou import BernoulliNB, ComplementNB, MultinomialNB, NaiveBayes, prequential
from bayou.encoding import Encoder
from bayou.encoding.columns import SPAN, distinct, numbers
from bayou.encoding.forms import Indices, form_of
from bayou.schema import Declared, Schema, Vocabulary

CELLS = st.sampled_from([0.0, -2.5, 7, True, np.float64(3), np.nan, None, np.inf, 1e200, -1e200, 1e139])


@settings(max_examples=100, deadline=None)
@given(
    values=st.lists(st.integers(-4, 9), min_size=1, max_size=30),
    far=st.booleans(),
    kind=st.sampled_from("bhq"),
)
def test_distinct_integers_by_table_are_those_of_a_list(values, far, kind):
    column = np.array([*values, *([100] if far else [])], dtype=kind)
    wide = column.astype(np.int64) * (SPAN if far else 1)
    for array in (column, wide, column > 3):
        found, inverse, rows = distinct(array, "x", 0)
        assert (found, inverse.tolist(), rows) == tuple(
            part if isinstance(part, list) else part.tolist() for part in distinct(array.tolist(), "x", 0)
        )


@settings(max_examples=100, deadline=None)
@given(
    labels=st.lists(st.integers(-3, 5), min_size=1, max_size=8),
    more=st.lists(st.integers(-5, 7), min_size=1, max_size=8),
    dtype=st.sampled_from(["i1", "i8", "u1", "u8"]),
)
def test_integer_classes_by_table_are_those_of_a_list(labels, more, dtype):
    encoder = Encoder(Schema(Declared(classes=list(dict.fromkeys(labels)))))
    y = np.abs(more).astype(dtype) if dtype[0] == "u" else np.array(more, dtype)
    X = [{}] * len(y)
    assert encoder.encode(X, y)[0].y.tolist() == encoder.encode(X, y.tolist())[0].y.tolist()


@settings(max_examples=100, deadline=None)
@given(cells=st.lists(CELLS, min_size=3, max_size=3), order=st.permutations("abc"))
def test_a_plain_record_is_encoded_as_a_batch_of_one(cells, order):
    encoder = Encoder(Schema(Declared(columns=dict.fromkeys("abc", "numeric"), classes=["u", "v"])))
    record = dict(zip(order, cells, strict=True))
    predicted = encoder.record(record, 0)
    kept = encoder.records.keep(record, "v", 2.0)
    assert (predicted is None) == (kept == 0)
    if not kept:  # handed over to the batch
        return
    unusable = encoder.unusable
    slow = encoder.encode([record], ["v"], [2.0])[0]
    assert encoder.unusable == 2 * unusable
    learned = encoder.waiting(0)
    for block in (predicted, learned):
        assert block.numeric.dtype == np.float64
        np.testing.assert_array_equal(block.numeric, slow.numeric)
        assert block.codes.shape == slow.codes.shape
        assert block.no_missing == slow.no_missing
    assert (learned.y[0], learned.w[0]) == (slow.y[0], slow.w[0])


def test_plain_numbers_take_the_short_way():
    encoder = Encoder(Schema(Declared(columns=dict.fromkeys("abc", "numeric"))))
    assert encoder.records.cells({"a": 1, "b": 2.0, "c": 3}) == (1, 2.0, 3)
    assert encoder.records.cells({"c": 1, "a": 2.0}) == [2.0, pytest.approx(np.nan, nan_ok=True), 1]


def test_records_of_whole_numbers_are_numbers():
    model = NaiveBayes()
    for i in range(200):
        model.learn_one({"a": i % 7, "b": i % 3}, i % 2)
    assert model.predict_proba_one({"a": 3, "b": 1}) == pytest.approx(
        model.predict_proba_one({"a": 3.0, "b": 1.0})
    )


def test_numbers_of_numpy_in_records_are_those_of_python():
    values = [
        np.float64(0.1),
        np.int64(2**53 + 1),
        None,
        -(2**62) - 1,
        np.float64("nan"),
        np.int64(-3),
        1e300,
    ]
    short = numbers(values, "a", 0)
    slow = numbers([*values, Fraction(1, 2)], "a", 0)[:-1]  # of a fraction each is looked at
    assert np.isnan(short[[2, 4]]).all()
    assert short.tobytes() == slow.tobytes()


def test_a_matrix_that_begins_the_vocabulary_and_one_that_does_not():
    vocabulary = Vocabulary(["x0", "x1"])
    assert vocabulary.begins_with(("x0",))
    assert not vocabulary.begins_with(("x1",))
    assert not vocabulary.begins_with(("x0", "x1", "x2"))
    vocabulary.extend(["x2"])
    assert vocabulary.begins_with(("x0", "x1", "x2"))


@pytest.mark.parametrize("values", [["a", "b", "a"], ["a", 1, True, 1.0], list("abcdef")])
def test_vocabularies_filled_at_once_and_one_by_one(values):
    at_once, one_by_one = Vocabulary(values, limit=4), Vocabulary(limit=4)
    for value in values:
        one_by_one.extend([value])
    assert (at_once.values, at_once.codes, at_once.size) == (
        one_by_one.values,
        one_by_one.codes,
        one_by_one.size,
    )


def test_repeated_entries_of_a_sparse_matrix_are_one_word():
    """A word given twice in a row counts once for a Bernoulli model, in the first batch and in later ones."""
    twice = sp.csr_matrix((np.ones(3), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    once = sp.csr_matrix(np.array([[1.0, 2.0]]))
    models = [BernoulliNB().partial_fit(X, [0]).partial_fit(X, [0]) for X in (twice, once)]
    assert models[0].digest() == models[1].digest()
    assert twice.nnz == 3


@pytest.mark.parametrize("model", [BernoulliNB, ComplementNB, MultinomialNB])
def test_a_word_that_comes_late_is_not_known_before_it_comes(model):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 120).tolist()
    columns = {
        "early": rng.integers(1, 5, 120).tolist(),
        "late": [None] * 90 + rng.integers(1, 5, 30).tolist(),
    }
    results = [prequential(model(), (columns, y), block=size) for size in (1, 50, 120)]
    assert len({result.log_loss for result in results}) == 1


@pytest.mark.parametrize(
    "values",
    [
        ["a", None, "b"] * 10,
        [True, None, False] * 10,
        [1, None, 2] * 10,
        pa.array(["a", None, "b"] * 10).dictionary_encode(),
        pa.array(["a", None, "b"] * 10).cast("string_view"),
        np.array(["a", "b"] * 10),
        np.arange(20),
    ],
    ids=["strings", "flags", "integers", "dictionary", "views", "numpy strings", "numpy integers"],
)
def test_memory_is_read_only_whoever_made_it(values: object) -> None:
    """Memory that can be written to is another type: the kernel that is shipped would not fit, and be compiled."""
    form = form_of(values)
    names = ("indices", "valid") if isinstance(form, Indices) else form.__slots__
    arrays = [array for name in names if isinstance(array := getattr(form, name), np.ndarray)]
    assert arrays
    assert not any(array.flags.writeable for array in arrays)


@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB, BernoulliNB])
def test_matrices_that_widen_are_learned_as_records_of_the_same_words(make):
    rng = np.random.default_rng(0)
    wide = [3, 3, 7, 12, 5, 40, 41]
    parts = [
        (sp.csr_matrix(rng.poisson(0.4, (9, d)).astype(float)), rng.integers(0, 3, 9).tolist()) for d in wide
    ]
    by_matrix, loaded, by_rows = make(), make(), make()
    for X, y in parts:
        by_matrix.learn_batch(X, y)
        loaded = pickle.loads(pickle.dumps(loaded))
        loaded.learn_batch(X, y)
        for i in range(X.shape[0]):
            by_rows.learn_batch(X[i], y[i : i + 1])
    assert by_matrix.digest() == loaded.digest() == by_rows.digest()
    record = {"x2": 1.0, "x39": 2.0, "x40": 1.0}
    row = sp.csr_matrix(([1.0, 2.0, 1.0], ([0, 0, 0], [2, 39, 40])), shape=(1, 41))
    before = by_matrix.predict_proba_many(row)
    assert by_matrix.predict_proba_one(record) == before[0]
    assert by_matrix.schema_.vocabularies["words"].code("x39") == 39
    # a word that comes by name, then a matrix that has it in another place
    for model in (by_matrix, loaded, by_rows):
        model.learn_one({"x50": 2.0, "spam": 1.0}, 1)
        model.learn_batch(sp.csr_matrix(np.ones((2, 52))), [0, 2])
    assert by_matrix.digest() == loaded.digest() == by_rows.digest()
    names = by_matrix.schema_.vocabularies["words"].values
    assert sorted(names) == sorted({*(f"x{j}" for j in range(52)), "spam"})


def test_words_seen_are_counted_again_once_not_all_are_declared():
    X = sp.csr_matrix(np.array([[1.0, 0, 2, 0], [0, 0, 1, 0]]))
    by_matrix, by_name = MultinomialNB(), MultinomialNB()
    by_matrix.learn_batch(X, ["a", "b"])
    (text,) = by_matrix.engine.views["words"].summary.texts
    assert text.width == 4
    for i in range(9):
        by_matrix.learn_one({f"new{i}": 1.0}, "a")
    (text,) = by_matrix.engine.views["words"].summary.texts
    assert int(text.seen[0]) == np.count_nonzero(text.counts.any(axis=1)) == 11 == text.width
    by_name.learn_many([{"x0": 1.0, "x2": 2.0}, {"x2": 1.0}], ["a", "b"])
    (text,) = by_name.engine.views["words"].summary.texts
    assert text.width == 2
