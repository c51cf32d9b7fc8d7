"""What cannot be exported is refused with the reason and the way out; looking changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

import bayou
from bayou import AWE, EcocNB, Kernel, NaiveBayes, NoChange, ReadMany
from bayou.errors import BayouError, NotFittedError, OptionError, UnsupportedError
from tests.export.models import learned_rows, mixed


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (NoChange, "cannot be exported"),
        (lambda: ReadMany(["nb", "tan"]), "cannot be exported"),
        (AWE, "AWE cannot be exported.*members"),
        (lambda: NaiveBayes(nominal="sketch"), "hash.*nominal='counts'"),
        (lambda: NaiveBayes(Kernel(shape="uniform")), "bounded reach.*gaussian"),
        (lambda: EcocNB(decode="hamming"), "decode='soft'"),
        (lambda: EcocNB(NaiveBayes("kernel")), "cannot be exported"),
    ],
)
def test_the_reason_is_told(make: object, why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        mixed(make).export("json")


@pytest.mark.parametrize("to", ["sql", "js", "onnx"])
def test_kernels_go_to_c_and_json_only(to: str) -> None:
    model = mixed(lambda: NaiveBayes("kernel"))
    with pytest.raises(UnsupportedError, match="C and JSON take kernels"):
        model.export(to)
    assert set(model.export("c")) == {"model.h", "model.c"}


def test_what_is_too_large_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="max_entries=10"):
        mixed(NaiveBayes).export("json", max_entries=10)


def test_unknown_languages_and_models_that_learned_nothing() -> None:
    with pytest.raises(OptionError, match="one of json, sql"):
        mixed(NaiveBayes).export("fortran")
    with pytest.raises(OptionError, match="one of duckdb"):
        mixed(NaiveBayes).export("sql", dialect="oracle")
    with pytest.raises(NotFittedError):
        NaiveBayes().export("json")


def test_values_of_several_types_are_told_apart_or_refused() -> None:
    model = NaiveBayes(schema=bayou.Declared(columns={"a": ["1", 1, True]}))
    model.learn_many([{"a": "1"}, {"a": 1}, {"a": True}], ["x", "y", "z"])
    model.export("json")
    for to in ("sql", "c", "onnx"):
        with pytest.raises(UnsupportedError, match="type"):
            model.export(to)


def test_exporting_changes_nothing_and_one_can_go_on_learning() -> None:
    model = mixed(NaiveBayes)
    before = model.digest()
    files = model.export("json")
    assert model.digest() == before
    model.learn_many(*learned_rows(50, 5))
    assert model.export("json") != files


def test_bytes_are_refused() -> None:
    model = NaiveBayes().fit({"a": np.array([b"x", b"y"], dtype=object)}, ["p", "q"])
    with pytest.raises(BayouError, match="bytes"):
        model.export("json")
