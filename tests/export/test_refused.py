"""What cannot be exported is refused with the reason and the way out; looking changes nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bayou
from bayou import AWE, EcocNB, Kernel, NaiveBayes, NoChange, ReadMany
from bayou.errors import BayouError, NotFittedError, OptionError, UnsupportedError
from bayou.export.scoring import model_scorer
from tests.export.models import learned_rows, mixed
from tests.export.test_js import scored as scored_in_node


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


def test_a_forest_too_large_for_a_select_is_refused_by_sql_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayou.export.sql.MANY_NODES", 10)
    model = mixed(lambda: bayou.CountForest(trees=3, warm_up=100))
    with pytest.raises(UnsupportedError, match=r"nodes.*C, ONNX and JSON take it"):
        model.export("sql")
    assert set(model.export("c")) == {"model.h", "model.c"}


def test_words_by_their_hash_are_refused_and_rules_of_ones_own_ask_for_counts(tmp_path: Path) -> None:
    said = {"note": ["cheap pills now", "see you now"]}

    def learned(recipe: bayou.Text) -> bayou.MultinomialNB:
        return bayou.MultinomialNB(schema=bayou.Declared(columns={"note": recipe})).fit(said, ["spam", "ham"])

    with pytest.raises(UnsupportedError, match="by their hash; Text"):
        learned(bayou.Text(buckets=16)).export("json")
    scorer = model_scorer(learned(bayou.Text(ngrams=(1, 2))))
    counts = [{"note": {"cheap pills": 1, "now": 1}}]
    found = scored_in_node(tmp_path, {"m": (scorer, counts)})["m"]
    assert found[0, list(scorer.classes).index("spam")] > 0.5
    with pytest.raises(AssertionError, match="read by a rule of its own"):
        scored_in_node(tmp_path, {"m": (scorer, [{"note": "cheap pills"}])})


def test_a_pool_names_the_member_that_cannot_go() -> None:
    with pytest.raises(UnsupportedError, match=r"Pool cannot be exported.*last label"):
        mixed(lambda: bayou.Pool([NaiveBayes(), NoChange()])).export("json")


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
