"""Whatever users hold becomes the same block; a rejected row leaves nothing behind."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from bayou import NaiveBayes
from bayou.encoding import Encoder
from bayou.errors import DataError, SchemaError
from bayou.schema import Declared, Kind, Schema

RECORDS = [
    {"price": 1.5, "day": "mon", "open": True},
    {"price": None, "day": "tue", "open": False},
    {"price": 3.0, "day": None, "open": None},
]
COLUMNS = {"price": [1.5, None, 3.0], "day": ["mon", "tue", None], "open": [True, False, None]}
Y = ["UP", "DOWN", "UP"]


def encode(X, y=None, w=None, schema=None, learn=True, **options):
    schema = schema or Schema()
    block, growth = Encoder(schema, **options).encode(X, y, w, learn=learn)
    if learn:
        schema.grow(growth)
    return block, schema


FRAMES = {
    "records": RECORDS,
    "rows of pandas": [pd.Series(record) for record in RECORDS],
    "columns": COLUMNS,
    "pandas": pd.DataFrame(COLUMNS),
    "pandas, Arrow types": pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, nullable types": pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas, categories": pd.DataFrame(COLUMNS).astype({"day": "category"}),
    "polars": pl.DataFrame(COLUMNS),
    "polars, categories": pl.DataFrame(COLUMNS).with_columns(pl.col("day").cast(pl.Categorical)),
    "arrow table": pa.table(COLUMNS),
    "arrow batch": pa.RecordBatch.from_pydict(COLUMNS),
    "objects": {k: np.array(v, dtype=object) for k, v in COLUMNS.items()},
}


@pytest.mark.parametrize("name", FRAMES)
def test_every_kind_of_frame_gives_the_same_block(name):
    block, schema = encode(FRAMES[name], Y)
    assert schema.names(Kind.NUMERIC) == ["price"]
    assert schema.names(Kind.NOMINAL) == ["day", "open"]
    assert np.array_equal(block.numeric, [[1.5], [np.nan], [3.0]], equal_nan=True)
    assert schema.vocabularies["day"].values == ["mon", "tue"]
    assert schema.vocabularies["open"].values == [True, False]
    assert block.codes.tolist() == [[0, 0], [1, 1], [-1, -1]]
    assert block.y.tolist() == [0, 1, 0]
    assert block.numeric.flags.c_contiguous
    assert block.numeric.flags.writeable


def test_categories_are_names_even_if_they_are_numbers():
    """Whoever makes a column of numbers categorical means names."""
    frame = pd.DataFrame({"zip": pd.Categorical([75, 13, None, 75])})
    block, schema = encode(frame)
    assert schema.names(Kind.NOMINAL) == ["zip"]
    plain, _ = encode({"zip": np.array([75, 13, 7, 75])}, schema=schema, learn=False)
    assert block.codes.tolist() == plain.codes.tolist() == [[0], [1], [-1], [0]]
    told = Schema(Declared(columns={"zip": "numeric"}))
    block, _ = encode(frame, schema=told)
    assert np.array_equal(block.numeric[:, 0], [75.0, 13.0, np.nan, 75.0], equal_nan=True)


def test_anything_with_an_arrow_stream_is_read():
    class Relation:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)

    assert encode(Relation(), Y)[0].codes.tolist() == [[0, 0], [1, 1], [-1, -1]]


def test_matrices_are_taken_as_they_are_and_read_only_ones_copied():
    X = np.random.default_rng(0).normal(size=(4, 3))
    assert encode(X)[0].numeric is X
    X.flags.writeable = False
    assert encode(X)[0].numeric.flags.writeable
    assert encode(X.astype(np.float32))[0].numeric.dtype == np.float64
    assert encode([[1, 2], [3, 4]])[0].numeric.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_sparse_rows_are_words():
    X = sp.csr_array(np.array([[0, 2, 0], [1, 0, 3]]))
    for matrix in (X, X.tocoo(), X.tocsc(), sp.dok_array(X), sp.csr_matrix(X)):
        block, schema = encode(matrix)
        assert schema.vocabularies["words"].declared == 3
        assert block.words[0].ids.tolist() == [1, 0, 2]
        assert block.words[0].counts.tolist() == [2.0, 1.0, 3.0]


def test_text_is_cut_into_words_of_two_letters_and_more():
    schema = Schema(Declared(columns={"note": "text"}))
    block, schema = encode([{"note": "Buy now, buy NOW: a é ñandú"}, {"note": None}], schema=schema)
    assert schema.vocabularies["note"].values == ["buy", "now", "ñandú"]
    assert block.words[0].counts.tolist() == [2.0, 2.0, 1.0]
    assert block.words[0].indptr.tolist() == [0, 3, 3]


def test_kind_is_told_by_the_first_present_value_not_the_first_block():
    rows = [{"a": None, "b": 1}, {"a": float("nan"), "b": 2}, {"a": "x", "b": 3}]
    _, at_once = encode(rows)
    schema = Schema()
    for row in rows:
        encode([row], schema=schema)
    assert list(at_once.place) == list(schema.place) == ["b", "a"]
    assert schema.kind("a") is Kind.NOMINAL


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e300, -2e140])
def test_infinite_and_huge_numbers_are_missing_and_tallied(value):
    schema = Schema()
    encoder = Encoder(schema)
    X = np.array([[1.0], [value]])
    block, growth = encoder.encode(X, learn=True)
    assert np.isnan(block.numeric[1, 0])
    assert block.unusable == 1
    assert encoder.unusable == 0  # until they are learned
    assert X[1, 0] == value
    encoder.grow(growth)
    encoder.encode(X)  # to predict
    assert encoder.unusable == 1


def test_integers_beyond_all_floats_are_infinite_and_so_missing():
    block, _ = encode([{"a": 1.0}, {"a": 10**400}])
    assert np.array_equal(block.numeric, [[1.0], [np.nan]], equal_nan=True)


def test_decimals_and_fractions_are_numbers():
    block, _ = encode([{"a": Decimal("1.5"), "b": Fraction(1, 4)}])
    assert block.numeric.tolist() == [[1.5, 0.25]]


@pytest.mark.parametrize("first", [0, 1 << 63])
def test_the_largest_integers_are_classes(first):
    y = np.array([first + 2, first + 1, first + 2], dtype=np.uint64)
    block, schema = encode([{"a": 1.0}] * 3, y)
    assert schema.classes.values == [first + 2, first + 1]
    again, _ = encode([{"a": 1.0}] * 3, y, schema=schema)
    assert block.y.tolist() == again.y.tolist() == [0, 1, 0]


@pytest.mark.parametrize("column", [list, np.array, pd.Series, pl.Series, pa.array])
def test_one_column_of_strings_is_text(column):
    block, schema = encode(column(["go up", "go on"]), ["a", "b"], numbers_are_words=True)
    assert schema.vocabularies["text"].values == ["go", "up", "on"]
    assert block.words[0].ids.tolist() == [0, 1, 0, 2]


def test_a_row_of_a_frame_is_a_record():
    frame = pd.DataFrame({"price": [1.0, 9.0, 1.5], "day": ["mon", "tue", "mon"]})
    model = NaiveBayes().fit(frame, Y)
    for i in range(3):
        record = frame.iloc[i].to_dict()
        assert model.predict_proba_one(frame.iloc[i]) == model.predict_proba_one(record)
        assert str(model.explain(frame.iloc[i])) == str(model.explain(record))


def test_caps():
    schema = Schema(Declared(max_values=2, max_classes=2))
    block, schema = encode([{"c": v} for v in "abcda"], ["k", "l", "k", "l", "k"], schema=schema)
    assert block.codes[:, 0].tolist() == [0, 1, 2, 2, 0]
    with pytest.raises(DataError, match=r"row 0.*max_classes=2.*'m'.*Declared\(max_classes"):
        encode([{"c": "a"}], ["m"], schema=schema)


def test_unknown_things_are_missing_when_predicting():
    _, schema = encode(RECORDS, Y)
    block, _ = encode([{"day": "sun", "new": 3.0, "price": 2.0}], ["SIDEWAYS"], schema=schema, learn=False)
    assert block.numeric.tolist() == [[2.0]]
    assert block.codes.tolist() == [[-1, -1]]
    assert block.y.tolist() == [-1]


BAD = {
    "string in a numeric column": (
        [{"price": 1.0}, {"price": "abc"}],
        None,
        None,
        r"row 1, column 'price'.*'abc'.*nominal",
    ),
    "an object": ([{"day": object()}], None, None, "row 0, column 'day'"),
    "labels of another length": ([{"a": 1.0}], ["x", "y"], None, "1 rows but 2 labels"),
    "a negative weight": ([{"a": 1.0}, {"a": 2.0}], None, [1.0, -1.0], "row 1.*weight.*-1.0"),
    "a weight that is no number": ([{"a": 1.0}], None, [np.nan], "weight"),
    "ragged rows": ([[1.0, 2.0], [3.0]], None, None, "different lengths"),
    "one dimension": (np.zeros(3), None, None, "Reshape your data"),
    "complex numbers": (np.zeros((2, 2), complex), None, None, "Complex data not supported"),
    "two columns of one name": (
        pa.table([[1], [2]], names=["a", "a"]),
        None,
        None,
        "column 'a': two columns",
    ),
    "a weight beyond measure": ([{"a": 1.0}], None, [1e300], r"row 0.*2\^53.*1e\+300"),
    "a weight in letters": ([{"a": 1.0}], None, ["much"], "weight.*much"),
    "a lazy frame": (pl.LazyFrame({"a": [1]}), None, None, "LazyFrame.*collect"),
    "no rows at all": (object(), None, None, "cannot read rows from object"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_names_what_is_wrong_and_leaves_the_schema_alone(name):
    X, y, w, message = BAD[name]
    schema = Schema(Declared(columns={"price": "numeric"}))
    before = schema.shape()
    with pytest.raises(DataError, match=message):
        Encoder(schema).encode(X, y, w, learn=True)
    assert schema.shape() == before


def test_dates_are_no_counts_of_words():
    with pytest.raises(SchemaError, match=r"'when'.*timestamp.*convert"):
        encode(
            pl.DataFrame({"when": [0]}).with_columns(pl.col("when").cast(pl.Datetime)), numbers_are_words=True
        )


def test_a_closed_class_set_refuses_others():
    model = NaiveBayes(schema=Declared(classes=["a", "b"]))
    model.learn_one({"x": 1.0}, "a")
    with pytest.raises(DataError, match="declared classes"):
        model.learn_one({"x": 1.0}, "c")
    assert model.labels() == ["a", "b"]


def test_columns_beyond_their_cap_are_an_error_that_changes_nothing():
    model = NaiveBayes(schema=Declared(max_columns=3))
    model.learn_many([{"a": 1.0, "b": "u"}], ["yes"])
    before = model.digest()
    with pytest.raises(DataError, match=r"one column more than max_columns=3.*'d'|column 'd'.*max_columns=3"):
        model.learn_many([{"a": 1.0, "c": 2.0}, {"d": 3.0}], ["yes", "no"])
    assert model.digest() == before
    model.learn_many([{"a": 1.0, "c": 2.0}], ["no"])
    assert list(model.schema_.place) == ["a", "b", "c"]
