"""Coverage and size of prediction sets in evaluations: by plain counting, however the stream is cut, and resumed."""

from __future__ import annotations

import numpy as np
import pytest

from bayou import ConformalSet, NaiveBayes, prequential
from bayou.errors import ModelFileError
from bayou.evaluate.prequential import Prequential
from bayou.evaluate.sets import SetRecord
from bayou.report import report_html
from bayou.training.batches import LabelledBatch


def stream(n=2300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(y, 0.8)[:, np.newaxis], y


def models():
    return {"sets": ConformalSet(NaiveBayes("gaussian")), "nb": NaiveBayes("gaussian")}


def test_coverage_and_size_are_counted_row_by_row_whatever_the_blocks():
    X, y = stream()
    sets = ConformalSet(NaiveBayes("gaussian")).sets_then_train(X, y)
    held = np.array([label in chosen for label, chosen in zip(y, sets, strict=True)], dtype=float)
    size = np.array([len(chosen) for chosen in sets], dtype=float)
    for block in (77, 700, 5000):
        found = prequential(models(), (X, y), window=500, block=block)["sets"].sets
        assert found.rows == (500, 1000, 1500, 2000, 2300)
        for row, point in zip(found.rows, found.curve, strict=True):
            latest = slice(max(0, row - 500), row)
            expected = held[:row].mean(), size[:row].mean(), held[latest].mean(), size[latest].mean()
            assert point == pytest.approx(expected, rel=1e-12)
        assert found.coverage == pytest.approx(held.mean())
        assert found.windowed_set_size == pytest.approx(size[-500:].mean())


def test_an_evaluation_that_goes_on_elsewhere_finds_the_same():
    X, y = stream(900)
    whole, first = Prequential(models(), window=200), Prequential(models(), window=200)
    for run, end in ((whole, 900), (first, 333)):
        run.step(LabelledBatch(X[:end], y[:end], 0, end))
    second = Prequential(
        {name: model for name, model in first.models.items() if name in models()}, window=200
    )
    second.restore(first.arrays())
    second.step(LabelledBatch(X[333:], y[333:], 333, 567))
    assert second.evaluation()["sets"].sets == whole.evaluation()["sets"].sets


def test_a_damaged_record_is_refused():
    record = SetRecord(0.9, 3)
    record.update(np.ones((2, 2), np.bool_), np.array([0, 1]), 0, [])
    for name, wrong in (
        ("sums", np.array([1.0, 2.0, 2.0])),
        ("latest", np.ones((2, 9))),
        ("points", np.ones((3, 4))),
    ):
        with pytest.raises(ModelFileError):
            SetRecord(0.9, 3).restore({**record.arrays(), name: wrong})


def test_the_table_has_columns_of_sets_only_where_a_model_has_them_and_the_page_a_picture():
    X, y = stream(400)
    both = prequential(models(), (X, y))
    assert "set size" in both.table()
    assert "set size" not in prequential(NaiveBayes("gaussian"), (X, y)).table()
    page = report_html(both, both.models)
    assert "Prediction sets" in page
    assert "90.0 % were promised" in page
