"""Dictionaries that change from batch to batch, however they are held: the codes are those of the cells as lists."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.seeds import LONG

from bayou import NaiveBayes
from bayou.encoding import Encoder, frames, lookup
from bayou.encoding.exported import ExportedStruct
from bayou.encoding.frames import column_of, polars_columns
from bayou.kernels.look_up import SOME
from bayou.schema import Declared, Schema

NAMES = ["a", "b", "c", "a name of more than twelve bytes"]
KINDS = pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64()


def arrow(kind):
    def column(cells, entries):
        indices = [None if cell is None else entries.index(cell) for cell in cells]
        return pa.DictionaryArray.from_arrays(pa.array(indices, kind), pa.array(entries, pa.string()))

    return column


def arrow_slice(cells, entries):
    """With other cells before and behind it, in the same memory."""
    others = [entries[0], None, entries[-1]]
    return arrow(pa.int32())([*others, *cells, *others], entries)[3 : 3 + len(cells)]


def arrow_chunks(cells, entries):
    """Each chunk with a dictionary of its own."""
    middle = len(cells) // 2
    chunks = [arrow(pa.int8())(cells[:middle], entries), arrow(pa.int8())(cells[middle:], entries[::-1])]
    return pa.chunked_array(chunks)


def pandas_categories(cells, entries):
    return pd.Categorical(cells, categories=entries)


def polars_categories(physical):
    def column(cells, entries):
        """Categories that begin in the order of the entries, wherever polars knows none of them yet."""
        kind = pl.Categorical(pl.Categories(f"of {physical}", physical=physical))
        return pl.Series([*entries, *cells], dtype=kind)[len(entries) :]

    return column


def polars_chunks(cells, entries):
    middle = len(cells) // 2
    column = polars_categories(pl.UInt32)
    return column(cells[:middle], entries).append(column(cells[middle:], entries[::-1]))


def polars_enum(cells, entries):
    return pl.Series(cells, dtype=pl.Enum(entries))


FORMS = {
    **{f"Arrow, {kind}": (pa.table, arrow(kind)) for kind in KINDS},
    "Arrow, a slice": (pa.table, arrow_slice),
    "Arrow, chunks": (pa.table, arrow_chunks),
    "pandas": (pd.DataFrame, pandas_categories),
    **{f"polars, {p}": (pl.DataFrame, polars_categories(p)) for p in (pl.UInt8, pl.UInt16, pl.UInt32)},
    "polars, chunks": (pl.DataFrame, polars_chunks),
    "polars, an Enum": (pl.DataFrame, polars_enum),
}


@st.composite
def batches(draw):
    """The cells and the dictionary of two columns in each batch; entries may be new, in another order, or unused."""
    found = []
    for _ in range(draw(st.integers(1, 5))):
        n = draw(st.sampled_from([0, 1, 5, 20]))
        batch = {}
        for name in draw(st.permutations(["one", "two"])):
            entries = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
            cells = st.none() | st.sampled_from(entries)
            batch[name] = draw(st.lists(cells, min_size=n, max_size=n)), entries
        found.append(batch)
    return found


@pytest.mark.filterwarnings("ignore::bayou.errors.TextWarning")  # names may look like sentences here
@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=200 if LONG else 25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(found=batches())
def test_a_dictionary_may_be_another_one_in_every_batch(name, found):
    table, column = FORMS[name]
    declared = Declared(columns={"one": "nominal", "two": "nominal"}, classes=[0, 1])
    model, plain = NaiveBayes(schema=declared), NaiveBayes(schema=declared)
    for batch in found:
        lists = {key: cells for key, (cells, _) in batch.items()}
        X = table({key: column(cells, entries) for key, (cells, entries) in batch.items()})
        y = np.arange(len(lists["one"])) % 2
        for work in (NaiveBayes.test_then_train_batch, NaiveBayes.learn_batch):
            assert np.array_equal(work(model, X, y), work(plain, lists, y)) or work is NaiveBayes.learn_batch
        assert model.encode(X).codes.tolist() == plain.encode(lists).codes.tolist()
        del X
    assert model.digest() == plain.digest()


@pytest.mark.parametrize("physical", [pl.UInt8, pl.UInt16, pl.UInt32])
@pytest.mark.parametrize("most", [0, lookup.MOST_HELD])
def test_polars_forgets_categories_that_no_column_has_and_gives_their_codes_to_others(
    physical, most, monkeypatch
):
    monkeypatch.setattr(lookup, "MOST_HELD", most)
    encoder = Encoder(Schema(Declared(columns={"c": ["a", "b"]}, classes=["a", "b"])))
    kind = pl.Categorical(pl.Categories("forgotten", physical=physical))
    for cells in (["a", "b"], ["b", "a"], ["a", "b"]):
        for _ in range(2):
            column = pl.Series("c", cells, dtype=kind)
            block = encoder.encode(column.to_frame(), column)[0]
            del column
            gc.collect()
            expected = [["a", "b"].index(cell) for cell in cells]
            assert block.codes[:, 0].tolist() == block.y.tolist() == expected


@pytest.mark.parametrize("q", [1, 3, 300])
@pytest.mark.parametrize("absent", [0.0, 0.5, 1.0])
def test_more_rows_than_are_written_at_once(q, absent):
    """With cells missing in some of the portions only, in the bitmap of Arrow or as the code -1 of pandas."""
    rng = np.random.default_rng(q)
    n = 2 * SOME + 7
    cells = np.where(rng.random((n, q)) < absent, -1, rng.integers(0, 3, (n, q)))
    cells[:SOME] = np.abs(cells[:SOME])
    names = [f"c{j}" for j in range(q)]
    encoder = Encoder(Schema(Declared(columns={name: ["a", "b", "c"] for name in names})))
    entries = pa.array(["a", "b", "c"])
    columns = [pa.array(np.abs(c), pa.int8(), mask=c < 0) for c in cells.T]
    arrow = [pa.DictionaryArray.from_arrays(column, entries) for column in columns]
    pandas = {
        name: pd.Categorical.from_codes(c, ["a", "b", "c"]) for name, c in zip(names, cells.T, strict=True)
    }
    for X in (pa.table(arrow, names), pd.DataFrame(pandas)):
        for _ in range(2):
            assert encoder.encode(X)[0].codes.tolist() == cells.tolist()


POLARS = {
    "strings": pl.String,
    "categories": pl.Categorical,
    "own categories": pl.Categorical(pl.Categories("their own")),
    "an Enum": pl.Enum(NAMES),
    "another Enum": pl.Enum(NAMES[::-1]),
    "objects": pl.Object,
    "nothing": pl.Null,
}


@pytest.mark.parametrize("most", [0, 1, frames.MOST_FRAMES])
@pytest.mark.parametrize("known", [1, frames.MOST_KNOWN])
@pytest.mark.parametrize("names", [["one"], ["one", "two"], ["two", "one"]])
def test_columns_of_the_same_names_may_be_of_other_types_in_every_frame(most, known, names, monkeypatch):
    """Types are asked for only where a frame does not fit the last one: all pairs, the first of each twice."""
    monkeypatch.setattr(frames, "MOST_FRAMES", most)
    monkeypatch.setattr(frames, "MOST_KNOWN", known)
    encoder = Encoder(Schema(Declared(columns=dict.fromkeys(names, NAMES))))
    for first, second in itertools.permutations(POLARS, 2):
        for kind, order in ((first, NAMES), (first, NAMES[::-1]), (second, NAMES)):
            cells = [None] * 5 if kind == "nothing" else [None, *order]
            column = pl.Series("one", cells, POLARS[kind])
            X = pl.DataFrame([column if name == "one" else column.rename("two")[::-1] for name in names])
            expected = {"one": cells, "two": cells[::-1]}
            found = encoder.encode(X)[0].codes.tolist()
            assert found == encoder.encode({name: expected[name] for name in names})[0].codes.tolist()
            assert encoder.encode(X[:0])[0].codes.tolist() == []
            assert [*X.dtypes] == frames._TYPES.of(X).kinds


def test_bytes_and_decimals_of_polars_have_their_own_types_in_every_frame():
    encoder = Encoder(Schema(Declared(columns={"c": [b"a", b"b"], "d": "numeric"})))
    for places in (1, 2, 1):
        d = pl.Series("d", ["1.5", None], pl.String).cast(pl.Decimal(10, places))
        for c in ([b"b", b"a"], [None, None]):
            X = pl.DataFrame([pl.Series("c", c, pl.Binary), d])
            block = encoder.encode(X)[0]
            assert block.codes[:, 0].tolist() == [
                -1 if cell is None else [b"a", b"b"].index(cell) for cell in c
            ]
            assert block.numeric[:, 0].tolist() == pytest.approx([1.5, np.nan], nan_ok=True)


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["b", "a", "c"])], ids=str)
def test_codes_of_polars_are_read_where_they_lie(dtype):
    """Slices, chunks, missing cells and other columns between them, with the codes that polars itself shows."""
    cells = pl.Series("name", ["a", None, "b", "a", "c", None, "b", "b", "a"] * 3, dtype=dtype)
    frame = pl.DataFrame({"number": range(27), "name": cells, "other": cells.reverse()})
    for rows in (
        frame,
        frame[5:],
        frame[3:20],
        pl.concat([frame[7:], frame[:4]]),
        frame[:0],
        frame[[8, 1, 4]],
    ):
        for place, name in ((1, "name"), (2, "other")):
            column, shown = polars_columns(rows)[place], rows[name].to_physical().to_list()
            assert _codes(column) == shown
            assert _codes(column[2:7]) == shown[2:7]
            assert _codes(column[::2]) == shown[::2]
            back = np.arange(len(rows))[::-1]
            assert _codes(column.take(back)) == shown[::-1]
            assert column.take(back).to_pylist() == rows[name].to_list()[::-1]


def test_an_export_of_fewer_rows_is_refused():
    struct = pl.DataFrame({"a": [1, 2, 3]}).to_struct("s")
    assert len(ExportedStruct(struct, 3).columns()) == 1
    with pytest.raises(OSError, match="no 4 rows"):
        ExportedStruct(struct, 4)


@pytest.mark.parametrize("kind", [pl.Categorical, pl.String, pl.Null], ids=str)
def test_an_export_of_other_than_plain_numbers_is_refused(kind):
    struct = pl.DataFrame([pl.Series("number", [1, 2]), pl.Series("c", [None, None], kind)]).to_struct("s")
    with pytest.raises(OSError, match="other than plain numbers"):
        ExportedStruct(struct, 2).columns()


def without_common_codes(monkeypatch):
    """As polars was before 1.32."""
    monkeypatch.setattr(frames, "_codes_are_common", lambda: False)


def without_physical_structs(monkeypatch):
    """As if polars left the fields of a struct as they are."""
    monkeypatch.setattr(frames, "_physical", lambda: pl.col("codes"))


@pytest.mark.parametrize("older", [without_common_codes, without_physical_structs])
@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["b", "a", "c"])], ids=str)
def test_codes_that_polars_does_not_export_are_those_of_an_arrow_dictionary(older, dtype, monkeypatch):
    cells = [pl.Series("c", some, dtype=dtype) for some in (["a", None, "b"], ["b", "a", "c"], [None, "c"])]
    older(monkeypatch)
    encoder = Encoder(Schema(Declared(columns={"c": ["a", "b", "c"]}, classes=["a", "b", "c"])))
    for column in cells:
        X = pl.DataFrame({"number": range(len(column)), "c": column, "text": ["t"] * len(column)})
        assert pa.types.is_dictionary(polars_columns(X)[1].type)
        block = encoder.encode(X, column)[0]
        expected = [-1 if cell is None else "abc".index(cell) for cell in column.to_list()]
        assert block.codes[:, 0].tolist() == block.y.tolist() == expected


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_memory_is_not_released_twice_nor_its_address_copied(duplicate):
    cells = ["a", "b", "a"]
    polars = polars_columns(pl.DataFrame({"c": pl.Series(cells, dtype=pl.Categorical)}))[0]
    pandas = column_of(pd.Series(cells, dtype="category"))
    for thing in (polars.form, polars.form.memory, pandas.form):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            duplicate(thing)


def _codes(column):
    form = column.form
    present = [True] * len(form)
    if form.valid_address:
        bits = np.unpackbits(form.valid, bitorder="little")
        present = bits[form.offset : form.offset + len(form)].astype(bool).tolist()
    missing = [not here or code < 0 for here, code in zip(present, form.indices.tolist(), strict=True)]
    return [None if gone else code for gone, code in zip(missing, form.indices.tolist(), strict=True)]
