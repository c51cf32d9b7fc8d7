"""Schemas grow at their ends, align, and unite."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayou.align import align, canonical, from_empty, grown, union
from bayou.errors import DataError, MergeError, SchemaError
from bayou.hashing import digest, hash_label
from bayou.schema import Declared, Growth, Kind, Schema, Vocabulary, label_key
from bayou.threads import over_ranges, ranges, set_threads
from bayou.vocabulary import NumberedNames

LABELS = st.one_of(
    st.text(max_size=3), st.integers(-5, 5), st.booleans(), st.floats(-2, 2), st.binary(max_size=2)
)


def schema_of(classes, columns):
    schema = Schema()
    kinds = [(name, Kind.NOMINAL if values else Kind.NUMERIC) for name, values in columns.items()]
    schema.grow(Growth(classes, kinds, {name: values for name, values in columns.items() if values}))
    return schema


@given(st.lists(LABELS))
def test_vocabulary_gives_each_value_one_code_for_ever(values):
    v = Vocabulary()
    for value in values:
        before = [v.code(x) for x in v.values]
        v.extend([value])
        assert [v.code(x) for x in v.values][: len(before)] == before
        assert v.name(v.code(value)) == value
    assert len({v.code(x) for x in v.values}) == len(v.values) == v.size


def test_numbers_are_equal_by_value_and_flags_are_not_numbers():
    v = Vocabulary([1, True, "1"])
    assert (v.code(1.0), v.code(True), v.code("1"), v.code(np.True_)) == (0, 1, 2, 1)


def test_values_beyond_the_limit_share_the_other_cell():
    v = Vocabulary(limit=2)
    v.extend(["a", "b", "c", "d"])
    assert (v.size, v.code("c"), v.code("never"), v.name(2)) == (3, 2, 2, "(other)")


@given(st.lists(st.sampled_from([3, 5, 9, "x4", "x12", "named"]), max_size=6), st.integers(0, 9))
def test_numbered_names_are_the_same_words_as_those_spelt_out(steps, limit):
    """Numbers stand for matrices of so many columns, strings for words that come by name."""
    short, long = (Vocabulary(limit=limit) if limit else Vocabulary() for _ in range(2))
    for step in steps:
        if isinstance(step, str):
            short.extend([step]), long.extend([step])
        else:
            names = NumberedNames(range(step))
            spelt = [f"x{j}" for j in range(step)]
            assert (list(names), names[step - 1], len(names[1:])) == (spelt, spelt[-1], step - 1)
            assert short.begins_with(names) == long.begins_with(spelt)
            assert short.begins(names) == (spelt[: len(long.values)] == long.values and step <= long.limit)
            if short.begins(names):
                names, spelt = names[len(short.values) :], spelt[len(long.values) :]
            short.extend(names), long.extend(spelt)
        if step == 5:  # the dictionary of what a copy has is its own
            short = short.copy()
        assert short.values == long.values
        assert (short.size, short.overflowed) == (long.size, long.overflowed)
    assert short.codes == long.codes == {value: code for code, value in enumerate(long.values)}


@given(st.lists(LABELS, unique_by=lambda x: (type(x), x)))
def test_canonical_order_is_total(labels):
    once = sorted(labels, key=label_key)
    assert sorted(reversed(labels), key=label_key) == once


def test_growth_keeps_old_codes_and_says_where_things_went():
    schema = schema_of(["a"], {"n": [], "v": ["x"]})
    before = schema.shape()
    schema.grow(Growth(["b"], [("m", Kind.NUMERIC)], {"v": ["y"]}))
    plan = grown(before, schema)
    assert (plan.classes.to.tolist(), plan.classes.size) == ([0], 2)
    assert (plan.numeric.to.tolist(), plan.numeric.size) == ([0], 2)
    assert (plan.values[0].to.tolist(), plan.values[0].size) == ([0], 2)


def test_union_of_workers_that_saw_other_things():
    a = schema_of(["u", "v"], {"n": [], "c": ["x", "y"]})
    b = schema_of(["w", "v"], {"c": ["z", "y"], "d": ["q"]})
    joint = union(a, b)
    assert joint.classes.values == ["u", "v", "w"]
    assert joint.vocabularies["c"].values == ["x", "y", "z"]
    plan = align(b, joint)
    assert plan.classes.to.tolist() == [2, 1]
    assert plan.nominal.to.tolist() == [0, 1]
    assert [axis.to.tolist() for axis in plan.values] == [[2, 1], [0]]
    assert from_empty(joint).classes.size == 3


def test_union_refuses_kinds_that_differ_and_too_many_classes():
    with pytest.raises(MergeError, match="'n' is numeric here and nominal there"):
        union(schema_of([], {"n": []}), schema_of([], {"n": ["x"]}))
    small = Schema(Declared(max_classes=1))
    small.grow(Growth(["a"]))
    with pytest.raises(MergeError, match="max_classes=1"):
        union(small, schema_of(["b"], {}))


def test_canonical_schemas_agree_whatever_the_order_of_arrival():
    a = canonical(schema_of(["b", "a"], {"n": [], "c": ["y", "x"]}))
    b = canonical(schema_of(["a", "b"], {"c": ["x", "y"], "n": []}))
    assert list(a.place.items()) == list(b.place.items())
    assert a.classes.values == b.classes.values == ["a", "b"]


def test_a_kind_that_does_not_exist_is_refused_with_the_way_out():
    with pytest.raises(SchemaError, match="'numeric', 'nominal', 'text'"):
        Schema(Declared(columns={"a": "integer"}))


def test_hashes_are_the_same_in_every_process():
    code = "from bayou.hashing import hash_label; print([hash_label(x) for x in ('a', 1, 1.0, True, b'a')])"
    outputs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in "ab"
    }
    assert outputs == {f"{[hash_label(x) for x in ('a', 1, 1.0, True, b'a')]}\n"}
    assert len({hash_label(x) for x in ("a", 1, True, b"a")}) == 4
    assert hash_label("a", seed=1) != hash_label("a", seed=2)


def test_digest_sees_names_types_shapes_and_bytes():
    base = digest({"a": np.zeros(2)})
    others = [
        {"b": np.zeros(2)},
        {"a": np.zeros(2, np.int64)},
        {"a": np.zeros((2, 1))},
        {"a": np.array([0.0, -0.0])},
        {"a": np.zeros(2), "b": np.zeros(0)},
    ]
    assert len({base, *map(digest, others)}) == 6
    assert digest({"a": np.zeros(2), "b": np.ones(1)}) == digest({"b": np.ones(1), "a": np.zeros(2)})


def test_errors_name_row_column_value_and_way_out():
    error = DataError("no number", row=3, column="price", value="x" * 99, remedy="drop it")
    assert str(error).startswith("row 3, column 'price': no number: 'xxx")
    assert str(error).endswith("... (drop it)")
    assert isinstance(error, ValueError)


def test_ranges_cover_everything_once(monkeypatch):
    monkeypatch.setattr("bayou.threads._limit", 3)
    done = np.zeros(100, dtype=int)

    def work(lo, hi):
        done[lo:hi] += 1

    over_ranges(work, 100, 10)
    assert done.tolist() == [1] * 100
    assert len(ranges(100, 10)) == 3
    assert ranges(100, 60) == [(0, 100)]
    assert ranges(0, 10) == [(0, 0)]


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    monkeypatch.setattr("bayou.threads._limit", 2)

    def work(lo, hi):
        if lo:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        over_ranges(work, 100, 10)
    set_threads(2)
