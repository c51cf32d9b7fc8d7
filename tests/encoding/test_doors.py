"""One table handed over in all its forms, and however it is cut, gives the same codes, growth and digest."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.seeds import LONG

from bayou import NaiveBayes
from bayou.encoding import Encoder
from bayou.errors import DataError
from bayou.schema import Declared, Schema

NAMES = [
    "",
    "a",
    "b",
    "ab",
    "é",
    "日本",
    "exactly 8",
    "a name of more",
    "a name of more than twelve bytes",
    "1",
]
STRINGS = pa.string(), pa.large_string(), pa.string_view()
T = np.dtypes.StringDType(na_object=None)


@st.composite
def tables(draw):
    """Columns of strings, flags and numbers, labels; the first row is whole, so that types tell nothing earlier."""
    n = draw(st.integers(1, 50))
    cells = {
        "name": st.sampled_from(NAMES),
        "other": st.sampled_from(NAMES[:3]),
        "flag": st.booleans(),
        "size": st.sampled_from([0.0, -1.5, 7.0]),
    }
    columns = {
        name: [draw(cell), *draw(st.lists(st.none() | cell, min_size=n - 1, max_size=n - 1))]
        for name, cell in cells.items()
    }
    y = draw(st.lists(st.sampled_from(["up", "down", "sideways"]), min_size=n, max_size=n))
    return columns, y


def records(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def each(change):
    """A door that holds every column of strings in some form, and the others as they are."""

    def door(columns):
        return {k: change(v) if k in ("name", "other") else v for k, v in columns.items()}

    return door


def dictionary(index, shuffled):
    """A dictionary in another order, with entries nobody uses, one twice, and one that is missing."""

    def change(values):
        entries = [*sorted(set(values) - {None}, reverse=True), "unused"]
        twice = [*entries, None, *entries[:1]] if shuffled else entries
        place = {v: i for i, v in enumerate(twice)}  # the last one of equal entries
        rows = [place.get(v, place.get(None)) if i % 2 else place.get(v) for i, v in enumerate(values)]
        return pa.DictionaryArray.from_arrays(pa.array(rows, index), pa.array(twice, pa.string()))

    return change


def chunked(values):
    middle = len(values) // 2
    return pa.chunked_array([pa.array(values[:middle], pa.string()), pa.array(values[middle:], pa.string())])


def chunked_dictionaries(values):
    return pa.chunked_array([chunk.dictionary_encode() for chunk in chunked(values).chunks])


DOORS = {
    "records": records,
    "lists": dict,
    "objects": lambda columns: {k: np.array(v, dtype=object) for k, v in columns.items()},
    "NaN": each(lambda v: np.array([np.nan if x is None else x for x in v], dtype=object)),
    "StringDType": each(lambda v: np.array(v, dtype=T)),
    "pandas": pd.DataFrame,
    "pandas, objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas, categories": lambda columns: pd.DataFrame(columns).astype({"name": "category", "other": "category"}),
    "pandas, ordered": lambda columns: pd.DataFrame(columns).astype(
        {"name": pd.CategoricalDtype([*reversed(NAMES), "unused"], ordered=True)}
    ),
    "pandas, Arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "polars, categories": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col("name").cast(pl.Categorical), pl.col("other").cast(pl.Categorical(pl.Categories("mine")))
    ),
    "polars, enums": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col("name", "other").cast(pl.Enum([*reversed(NAMES), "unused"]))
    ),
    "polars, an enum beside categories": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col("name").cast(pl.Enum(NAMES)), pl.col("other").cast(pl.Categorical)
    ),
    "polars, an enum beside objects": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col("name").cast(pl.Enum(NAMES)), pl.Series("other", columns["other"], dtype=pl.Object)
    ),
    "chunks": lambda columns: pa.table(each(chunked)(columns)),
    "chunks of dictionaries": lambda columns: pa.table(each(chunked_dictionaries)(columns)),
    **{
        f"Arrow, {kind}": lambda columns, kind=kind: pa.table(each(lambda v: pa.array(v, kind))(columns))
        for kind in STRINGS
    },
    **{
        f"Arrow, dictionary of {kind}, {shuffled}": lambda columns, kind=kind, shuffled=shuffled: pa.table(
            each(dictionary(kind, shuffled))(columns)
        )
        for kind in (pa.int8(), pa.uint8(), pa.int32(), pa.uint64())
        for shuffled in (False, True)
    },
}  # fmt: skip
LABELS = [
    list,
    np.array,
    lambda y: np.array(y, dtype=object),
    pa.array,
    lambda y: pa.array(y).dictionary_encode(),
    pd.Series,
    lambda y: pd.Series(y, dtype="category"),
    pl.Series,
    lambda y: pl.Series(y, dtype=pl.Categorical),
]


def part(X, lo, hi):
    if isinstance(X, dict):
        return {name: column[lo:hi] for name, column in X.items()}
    if isinstance(X, pa.Table):
        return X.slice(lo, hi - lo)
    return X.iloc[lo:hi] if isinstance(X, pd.DataFrame) else X[lo:hi]


def stream(schema, pieces):
    """All codes, labels and numbers by column, the rows that changed the schema, and the schema in the end."""
    encoder, rows, at = Encoder(schema), [], 0
    changes = []
    for X, y in pieces:
        block, growth = encoder.encode(X, y, start=at, learn=True)
        schema.grow(growth)
        encoder.forget()
        changes += [at + row for row in block.schema_change_rows]
        rows += [
            ([dict(zip(schema.names(kind), row, strict=False)) for kind, row in cells], label)
            for *cells, label in zip(
                [("numeric", row) for row in block.numeric.tolist()],
                [("nominal", row) for row in block.codes.tolist()],
                block.y.tolist(),
                strict=True,
            )
        ]
        at += block.n
    found = {name: words.values for name, words in schema.vocabularies.items()}
    sizes = {name: words.size for name, words in schema.vocabularies.items()}
    return repr((rows, changes, found, sizes, list(schema.place), schema.classes.values))


@settings(max_examples=60, deadline=None)
@given(
    flags=st.lists(st.booleans(), min_size=1, max_size=60),
    before=st.sampled_from([[], ["a name"], [True], ["a name", False]]),
    step=st.integers(1, 3),
    cut=st.integers(0, 60),
)
def test_flags_of_numpy_are_those_of_a_list(flags, before, step, cut):
    """In one piece or as every second or third cell of an array, also where a column knows names or one flag only."""
    spread = np.repeat(np.array(flags), step)[::step]
    found = []
    for column in (flags, spread):
        pieces = [({"flag": part}, list(map(str, part))) for part in (before, column[:cut], column[cut:])]
        found.append(stream(Schema(), [piece for piece in pieces if len(piece[1])]))
    assert found[0] == found[1]


@pytest.mark.filterwarnings("ignore::bayou.errors.TextWarning")  # names may look like sentences here
@pytest.mark.parametrize("name", DOORS)
@settings(max_examples=60 if LONG else 5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    table=tables(), cuts=st.sets(st.integers(0, 50)), limit=st.sampled_from([2, 3, 10_000]), data=st.data()
)
def test_every_door_leads_to_the_same_rows(name, table, cuts, limit, data):
    columns, y = table
    declared = Declared(max_values=limit)
    plain = [([record], [label]) for record, label in zip(records(columns), y, strict=True)]
    expected = stream(Schema(declared), plain)
    edges = sorted({0, len(y), *(cut for cut in cuts if cut < len(y))})
    whole, labels = DOORS[name](columns), data.draw(st.sampled_from(LABELS))
    together = [(part(whole, lo, hi), labels(y[lo:hi])) for lo, hi in pairwise(edges)]
    apart = [(DOORS[name](part(columns, lo, hi)), labels(y[lo:hi])) for lo, hi in pairwise(edges)]
    for pieces in (together, apart):
        assert stream(Schema(declared), pieces) == expected

    model, one_by_one = NaiveBayes(schema=declared), NaiveBayes(schema=declared)
    for X, some in together:
        model.learn_batch(X, some)
    for (record,), (label,) in plain:
        one_by_one.learn_one(record, label)
    assert model.digest() == one_by_one.digest()


@pytest.mark.filterwarnings("ignore::bayou.errors.TextWarning")  # names may look like sentences here
@pytest.mark.parametrize("name", DOORS)
@settings(max_examples=40 if LONG else 4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(table=tables(), known=st.sets(st.sampled_from(NAMES)), limit=st.sampled_from([2, 10_000]))
def test_what_is_not_known_is_missing_at_every_door_while_predicting(name, table, known, limit):
    columns, _ = table
    kinds = {"name": sorted(known), "other": ["b", 1, True, b"a"], "flag": [True], "size": "numeric"}
    encoder = Encoder(Schema(Declared(columns=kinds, max_values=limit)))
    expected = np.concatenate([encoder.encode([record])[0].codes for record in records(columns)])
    for _ in range(2):
        assert encoder.encode(DOORS[name](columns))[0].codes.tolist() == expected.tolist()


def test_a_translation_is_not_taken_for_that_of_another_dictionary():
    encoder = Encoder(Schema(Declared(columns={"c": ["a", "b", 1, True]})))

    def codes(column):
        return encoder.encode({"c": column} if not isinstance(column, pd.Series) else column.to_frame("c"))[
            0
        ].codes[:, 0]

    indices = pa.array([0, 1], pa.int32())
    for entries, expected in (
        (["a", "b"], [0, 1]),
        (["b", "a"], [1, 0]),
        ([1, 0], [2, -1]),
        ([True, False], [3, -1]),
    ):
        assert codes(pa.DictionaryArray.from_arrays(indices, pa.array(entries))).tolist() == expected
        assert codes(pd.Series(pd.Categorical(entries, entries))).tolist() == expected
        assert codes(pd.Series(pd.Categorical(entries, pd.Index(entries, dtype=object)))).tolist() == expected


def test_codes_of_a_batch_that_was_refused_are_not_remembered():
    """A dictionary's new entries get codes only when the growth is applied."""
    schema = Schema(Declared(columns={"c": "nominal"}))
    encoder = Encoder(schema)
    first = pa.table({"c": pa.array(["x", "y"] * 10).dictionary_encode()})
    for _ in range(2):
        block, growth = encoder.encode(first, learn=True)
        assert block.codes[:2, 0].tolist() == [0, 1]
        assert growth.values == {"c": ["x", "y"]}
    block, growth = encoder.encode(first.take([1, 0]), learn=True)
    assert (block.codes[:, 0].tolist(), growth.values) == ([0, 1], {"c": ["y", "x"]})
    schema.grow(growth)
    assert encoder.encode(first)[0].codes[:2, 0].tolist() == [1, 0]


def test_what_is_no_value_is_named_by_its_row_among_known_ones():
    encoder = Encoder(Schema(Declared(columns={"c": ["a"]})))
    for column in (["a"] * 30 + [("x",)], pd.Categorical(["a"] * 30 + [("x",)], ["a", ("x",)])):
        with pytest.raises(DataError, match=r"row 37, column 'c'.*\('x',\)"):
            encoder.encode(pd.DataFrame({"c": column}), start=7, learn=True)


def test_objects_of_polars_are_the_objects_themselves():
    frame = pl.DataFrame(
        {"c": pl.Series(["a", None, 1, b"a"], dtype=pl.Object), "b": [b"x", None, b"y", b"x"]}
    )
    block, growth = Encoder(Schema()).encode(frame, learn=True)
    assert growth.values == {"c": ["a", 1, b"a"], "b": [b"x", b"y"]}
    assert block.codes.tolist() == [[0, 0], [-1, -1], [1, 1], [2, 0]]


def test_a_copy_of_an_encoder_carries_no_batch_along():
    encoder = Encoder(Schema(Declared(columns={"c": ["a"]})))
    encoder.encode({"c": pa.array(["a"] * 5000).dictionary_encode()})
    assert len(pickle.dumps(encoder)) < 2000
    twin = copy.deepcopy(encoder)
    assert twin.encode({"c": pa.array(["a", "b"]).dictionary_encode()})[0].codes.tolist() == [[0], [-1]]


@pytest.mark.parametrize("values", [[1.0, 2.0, 999.0], [1, 2, 999], ["u", "v", "999"]])
def test_masked_cells_of_numpy_are_missing(values):
    cells = np.array(values * 30).reshape(-1, 1)
    masked = np.ma.masked_array(cells, mask=cells == cells[2])
    plain = [["u" if x == "u" else "v"] if isinstance(x, str) else [x] for x in values[:2]]
    missing = np.array([*plain, [None if isinstance(values[0], str) else np.nan]] * 30)
    y = ["p", "n", "p"] * 30
    expected = NaiveBayes().fit(missing, y)
    assert NaiveBayes().fit(masked, y).digest() == expected.digest()
    by_name, named = NaiveBayes(), NaiveBayes()
    by_name.learn_many({"a": masked[:, 0]}, y)
    named.learn_many({"a": missing[:, 0]}, y)
    assert by_name.digest() == named.digest()


def test_masked_labels_are_missing_and_masked_weights_refused():
    X, y = [[1.0], [2.0], [3.0]], np.ma.masked_array([1, 2, 7], mask=[False, False, True])
    with pytest.raises(DataError, match="NaN"):
        NaiveBayes().fit(X, y)
    model = NaiveBayes()
    model.learn_many(X, y)
    assert model.labels() == [1, 2]
    with pytest.raises(DataError, match="weight"):
        NaiveBayes().fit(X, ["a", "b", "c"], np.ma.masked_array([1.0, 1.0, 1.0], mask=[False, True, False]))


def test_structured_arrays_of_numpy_are_tables():
    cells = [(1.5, "a"), (2.5, "b"), (2.0, "a")]
    X, y = np.array(cells, dtype=[("x", "f8"), ("s", "U2")]), [0, 1, 0]
    columns = {"x": [x for x, _ in cells], "s": [s for _, s in cells]}
    assert NaiveBayes().fit(X, y).digest() == NaiveBayes().fit(columns, y).digest()
