"""This code gives the bits of the record: states, probabilities and evaluations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.recorded.cases import cases, quick
from tests.recorded.hashes import state_hashes
from tests.recorded.record import Record, differences, made, shortened, stream_hashes, where_made
from tests.seeds import LONG

PATH = Path(__file__).with_name("record.json")


@pytest.fixture(scope="module")
def record():
    return Record.read(PATH)


def test_same_bits(record):
    """A slice of the record, or all of it, as `python -m tests.recorded compare tests/recorded/record.json` does."""
    if record.made != where_made():
        pytest.skip(
            f"the last bits of logarithms may differ: recorded with {record.made}, here {where_made()}"
        )
    other, _ = differences(record.cases, shortened(made(cases() if LONG else quick())))
    assert other == []


def test_same_streams(record):
    assert stream_hashes() == record.streams


def test_every_case_is_recorded(record):
    """If not: `python -m tests.recorded add tests/recorded/record.json`."""
    assert {case.name: set(case.ways) for case in cases()} == {
        name: set(ways) for name, ways in record.cases.items()
    }


def test_cases_have_names_of_their_own():
    names = [case.name for case in cases()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("form", [lambda x: x, shortened], ids=["arrays", "short"])
def test_differences_tell_bits_from_names(form):
    one = {"a": np.array([1.0, 2.0]), "b": np.array([3])}
    bit = {"a": np.array([1.0, np.nextafter(2.0, 3.0)]), "b": np.array([3])}
    name = {"first": one["a"], "b": one["b"]}
    shape = {"a": np.array([[1.0, 2.0]]), "b": one["b"]}
    before = _case(one, "d1", "p")
    assert differences(form(before), form(before)) == ([], [])
    assert _counts(form, before, _case(bit, "d2", "p")) == (2, 0)
    assert _counts(form, before, _case(shape, "d2", "p")) == (2, 0)
    assert _counts(form, before, _case(name, "d2", "p")) == (0, 2)
    assert _counts(form, before, _case(one, "d2", "p")) == (1, 0)
    assert _counts(form, before, _case(name, "d2", "q")) == (1, 2)
    assert _counts(form, before, {"case": {"block": {"error": "MergeError"}}}) == (4, 0)
    assert _counts(form, {}, before) == (1, 0)


def _case(arrays, digest, proba):
    return {"case": {"block": {"state": state_hashes(arrays), "digest": digest, "proba": proba}}}


def _counts(form, before, now):
    other, renamed = differences(form(before), form(now))
    return len(other), len(renamed)
