"""Test-then-train: the same as one row at a time, whatever the blocks, the company and the source."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.naive import metrics as naive

from bayou import Costs, Threshold, files, holdout
from bayou.classifiers import MajorityClass, NaiveBayes, NoChange
from bayou.errors import BayouError, DataError, SchemaError
from bayou.evaluate import Prequential, Progress, curve, prequential
from bayou.evaluate.prequential import THREADED_ROWS
from bayou.streams import open_stream
from bayou.streams.generators import SEA, BagOfWords, MixedGaussian
from bayou.threads import limited
from bayou.training.batches import LabelledBatch, RowsInMemory, batches

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def records(n: int = 120, seed: int = 0) -> tuple[list[dict[str, Any]], list[str]]:
    random = np.random.default_rng(seed)
    y = [f"c{c}" for c in np.sort(random.integers(0, 4, n))]  # classes come late, one after the other
    y = y[:20] + random.permutation(y[20:]).tolist()
    X = [{"a": f"v{random.integers(3) + (c == 'c1')}", "b": float(random.normal(int(c[1])))} for c in y]
    return X, y


def numbers(result: Any) -> dict[str, Any]:
    data = result.to_dict()
    for key in ("seconds", "rows_per_second"):
        del data[key]
    return data


def test_equals_one_row_at_a_time() -> None:
    X, y = records()
    found = prequential(NaiveBayes(), (X, y), window=30, every=40)
    model, labels = NaiveBayes(), sorted(set(y))
    proba = []
    for x, label in zip(X, y, strict=True):
        said = model.predict_proba_one(x)
        proba.append([said.get(c, 0.0) for c in labels])
        model.learn_one(x, label)
    codes, ones = [labels.index(c) for c in y], [1.0] * len(y)
    told = naive.metrics(codes, proba, ones, 4, lambda age: 1.0)
    last = naive.metrics(codes, proba, ones, 4, lambda age: 1.0 if age < 30 else 0.0)
    for name in ("accuracy", "kappa", "kappa_temporal", "kappa_m", "macro_f1", "log_loss", "brier"):
        assert getattr(found["NaiveBayes"], name) == pytest.approx(told[name], abs=1e-12), name
        assert getattr(found["NaiveBayes"].windowed, name) == pytest.approx(last[name], abs=1e-12), name
    assert found.curve.rows == (40, 80, 120)
    early = naive.metrics(codes[:80], proba[:80], ones[:80], 4, lambda age: 1.0)
    assert found.curve.running["kappa"][1] == pytest.approx(early["kappa"], abs=1e-12)


@pytest.mark.parametrize("block", [1, 7, 50, 1000])
def test_the_block_size_does_not_show(block: int) -> None:
    X, y = records(200)
    whole = prequential([NaiveBayes()], (X, y), window=25)
    parts = prequential([NaiveBayes()], (X, y), window=25, block=block)
    for name in whole:
        assert numbers(parts[name]) == numbers(whole[name])


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_a_class_that_comes_late_had_no_chance_before_whatever_the_blocks(block: int) -> None:
    X, y = records(200)
    late = [*y[:150], *(["late" if i % 3 else c for i, c in enumerate(y[150:])])]
    whole = prequential([NaiveBayes()], (X, late), block=200)["NaiveBayes"]
    parts = prequential([NaiveBayes()], (X, late), block=block)["NaiveBayes"]
    found, wanted = parts.record.arrays(), whole.record.arrays()
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
    assert parts.record.first.complete
    assert parts.thresholds("late").auc == whole.thresholds("late").auc
    assert parts.record.losses.scores.sum(axis=(1, 2)) == pytest.approx(parts.record.losses.sums[2])


@pytest.mark.parametrize("decision", [Threshold("c1", 0.2), Costs(miss={"c2": 4.0})])
def test_a_model_is_judged_by_what_it_decides_for(decision: Any) -> None:
    X, y = records()
    model = NaiveBayes(decision=decision)
    found = prequential(NaiveBayes(decision=decision), (X, y), window=30, every=40)
    right = []
    for x, label in zip(X, y, strict=True):
        right.append(model.predict_one(x) == label)
        model.learn_one(x, label)
    assert found.accuracy == pytest.approx(np.mean(right))
    assert found.accuracy != prequential(NaiveBayes(), (X, y)).accuracy
    tested = holdout(NaiveBayes(decision=decision), (X, y), (X, y))
    assert tested.accuracy == pytest.approx(np.mean(model.refresh().predict(X) == np.array(y)))


def test_company_does_not_matter() -> None:
    X, y = records()
    alone = prequential({"nb": NaiveBayes()}, (X, y))
    both = prequential({"other": NaiveBayes(smoothing=5.0), "nb": NaiveBayes()}, (X, y))
    assert numbers(both["nb"]) == numbers(alone["nb"])
    assert list(both) == ["other", "nb", "no-change", "majority"]


def test_baselines_run_along_once() -> None:
    X, y = records()
    found = prequential({"mine": MajorityClass(), "nc": NoChange()}, (X, y))
    assert list(found) == ["mine", "nc"]
    assert found["mine"].kappa_m == pytest.approx(0.0, abs=1e-12)
    assert found["nc"].kappa_temporal == pytest.approx(0.0, abs=1e-12)
    ran = prequential(NaiveBayes(), (X, y))
    for mine, baseline in (("mine", "majority"), ("nc", "no-change")):
        bits, wanted = found[mine].record.arrays(), ran[baseline].record.arrays()
        for name in wanted:
            np.testing.assert_array_equal(bits[name], wanted[name], err_msg=name)
    assert ran["NaiveBayes"].scores.no_change_accuracy == ran["no-change"].accuracy
    assert ran["NaiveBayes"].scores.majority_accuracy == ran["majority"].accuracy


def test_a_stream_and_the_same_rows_in_memory() -> None:
    stream = MixedGaussian(seed=3, rows=500)
    rows = stream.read(500)
    assert rows is not None
    table = pa.table(dict(rows.columns))
    from_stream = prequential({"nb": NaiveBayes()}, MixedGaussian(seed=3, rows=500))
    from_table = prequential({"nb": NaiveBayes()}, (table, rows.labels))
    assert from_stream["nb"].confusion.tolist() == from_table["nb"].confusion.tolist()


def test_pandas_rows_and_labels() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = records()
    frame, labels = pandas.DataFrame(X), pandas.Series(y, index=range(50, 170))
    assert prequential(NaiveBayes(), (frame, labels)).accuracy == prequential(NaiveBayes(), (X, y)).accuracy


def test_numeric_labels_and_arrays() -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    X = random.normal(y[:, None], 1.0, (300, 4))
    found = prequential(NaiveBayes(), (X, y))
    assert found.accuracy > 0.8
    assert found.only.labels == (0, 1)


def test_rows_stops_early_and_progress_tells() -> None:
    seen: list[Progress] = []
    found = prequential(NaiveBayes(), SEA(seed=1), rows=1500, progress=seen.append, block=500)
    assert found.rows == 1500
    assert [p.rows for p in seen] == [500, 1000, 1500]
    assert seen[-1].share is None
    assert seen[-1].accuracy["NaiveBayes"] == found.accuracy
    halves: list[Progress] = []
    prequential(NaiveBayes(), records(100), progress=halves.append, block=50)
    assert [p.share for p in halves] == [0.5, 1.0]


def test_rows_without_label_are_predicted_but_do_not_count() -> None:
    X = [{"a": "x"}, {"a": "y"}, {"a": "x"}, {"a": "x"}]
    found = prequential(NaiveBayes(), (X, ["p", None, "q", "p"]))
    assert found.rows == 4
    assert found.only.scores.weight == 3


def test_text_columns_are_told_to_the_models(tmp_path: Path) -> None:
    path = tmp_path / "mail.txt"
    path.write_text("spam\tcheap pills now\nham\tsee you at lunch\n" * 60)
    with open_stream(path) as stream:
        model = NaiveBayes()
        found = prequential(model, stream)
    assert found.accuracy > 0.95
    assert [str(kind) for kind, _ in model.schema_.place.values()] == ["text"]


def test_streams_of_words() -> None:
    found = prequential(NaiveBayes(), BagOfWords(words=50, classes=2, contrast=1.0, seed=2), rows=400)
    assert found.accuracy > found["majority"].accuracy + 0.2


def test_a_long_curve_stays_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve, "MOST_POINTS", 4)
    X, y = records(130)
    for block in (1, 130):
        found = prequential(NaiveBayes(), (X, y), window=10, block=block)
        assert found.curve.rows == (40, 80, 120, 130)
    given = prequential(NaiveBayes(), (X, y), window=10, every=10).curve
    assert given.rows == tuple(range(10, 131, 10))
    assert len(given.records()) == 13
    assert given.records()[3]["windowed_accuracy"] == given.windowed["accuracy"][3]


def test_the_result_as_text_data_and_html() -> None:
    X, y = records()
    y[5] = "<b>\x1b[31m"
    found = prequential({"my\x1b[2J<model>": NaiveBayes()}, (X, y), window=50, every=30)
    text = found.table()
    assert "my<model>" in text
    assert "\x1b" not in str(found)
    assert {"no-change", "majority"} <= {line.split()[0] for line in text.splitlines()}
    assert "last 50" in text
    assert max(map(len, found.table(width=60).splitlines())) <= 60
    assert "\x1b" not in found["no-change"].confusion_text()
    page = found._repr_html_()
    assert "<b>" not in page
    assert "my&lt;model&gt;" in page
    assert "<polyline" in page
    data = json.loads(json.dumps(found.to_dict()))
    assert data["models"][0]["accuracy"] == found.accuracy
    assert data["models"][0]["curve"]["rows"] == list(found.curve.rows)


def test_one_model_speaks_for_the_whole() -> None:
    X, y = records()
    both = prequential([NaiveBayes(), NaiveBayes()], (X, y))
    assert list(both)[:2] == ["NaiveBayes", "NaiveBayes 2"]
    with pytest.raises(AttributeError, match="2 models were evaluated"):
        _ = both.accuracy
    with pytest.raises(KeyError, match="no model is called 'x'"):
        both["x"]
    one = prequential(NaiveBayes(), (X, y))
    assert (one.kappa, one.brier, one.macro_f1) == (one.only.kappa, one.only.brier, one.only.macro_f1)
    with pytest.raises(KeyError, match="no class 'zz'"):
        one.only.thresholds("zz")


@pytest.mark.parametrize(
    ("models", "data", "message"),
    [
        ([], ([[1]], ["a"]), "no model"),
        ({"x": "nb"}, ([[1]], ["a"]), "no classifier"),
        (NaiveBayes(), [1, 2], "a pair"),
        (NaiveBayes(), ([[1], [2]], ["a"]), "2 rows but 1 labels"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(models: Any, data: Any, message: str) -> None:
    with pytest.raises((BayouError, SchemaError), match=message):
        prequential(models, data)


def test_a_model_twice_and_a_stream_without_labels(tmp_path: Path) -> None:
    model = NaiveBayes()
    with pytest.raises(SchemaError, match="twice"):
        prequential([model, model], ([[1]], ["a"]))
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    with open_stream(path, target="") as stream, pytest.raises(DataError, match="no labels"):
        prequential(model, stream)


def test_nothing_to_evaluate_gives_zeros() -> None:
    found = Prequential(NaiveBayes()).evaluation()
    assert found.rows == 0
    assert found.accuracy == 0.0
    assert "NaiveBayes" in found.table()


def test_a_model_goes_on_learning_where_it_stood() -> None:
    X, y = records()
    model = NaiveBayes()
    first = prequential(model, (X[:60], y[:60]))
    second = prequential(model, (X[60:], y[60:]))
    whole = prequential(NaiveBayes(), (X, y))
    together = first.only.record.confusion.unanswered.sum() + second.only.record.confusion.unanswered.sum()
    assert together == 1
    right = np.trace(first.only.confusion) + np.trace(second.only.confusion)
    assert right == np.trace(whole.only.confusion)


def test_batches_of_sparse_rows() -> None:
    scipy = pytest.importorskip("scipy.sparse")
    matrix = scipy.csr_matrix(np.array([[0, 1.0, 2], [3, 0, 0], [0, 0, 0], [4, 5, 6]]))
    sample = RowsInMemory.of((matrix, np.array([0, 1, 0, 1])))
    some = sample.take(np.array([3, 0])).table.sparse
    assert some is not None
    assert (some.indptr.tolist(), some.ids.tolist(), some.counts.tolist()) == (
        [0, 3, 5],
        [0, 1, 2, 1, 2],
        [4, 5, 6, 1, 2],
    )
    got: list[LabelledBatch] = list(batches((matrix, [0, 1, 0, 1]), 3))
    assert [(b.number, b.size) for b in got] == [(0, 3), (3, 1)]
    assert got[1].rows.sparse.ids.tolist() == [0, 1, 2]


@pytest.mark.skipif(not DATA.exists(), reason="the shared data sets are not here")
def test_electricity_as_moa_has_it() -> None:
    with open_stream(DATA / "streams" / "elecNormNew.arff.gz") as stream:
        found = prequential(NaiveBayes("gaussian"), stream)
    assert found.rows == 45_312
    assert 100 * found["no-change"].accuracy == pytest.approx(85.33, abs=0.005)
    assert 100 * found["majority"].accuracy == pytest.approx(57.53, abs=0.01)
    assert 100 * found.accuracy == pytest.approx(73.36, abs=0.05)


def test_threads_do_not_show() -> None:
    """Baselines and track records have a thread of their own; whatever they find is the same."""
    X, y = records(2500, 3)
    found = []
    for threads in (1, 2):
        with limited(threads):
            results = prequential(NaiveBayes(), (X, y), block=THREADED_ROWS).results
        found.append({name: numbers(result) for name, result in results.items()})
    assert found[0] == found[1]


@pytest.mark.parametrize("block", [1, 37, 2000])
def test_baselines_that_run_along_have_the_bits_of_their_models(block: int) -> None:
    """Their records follow from the labels alone, unless somebody wants to see what they predict."""
    X, y = records(6000 if block > 1 else 300, 4)
    labels = [None if i % 50 == 7 else label for i, label in enumerate(y)]
    by_labels, by_models = (Prequential({"nb": NaiveBayes()}, window=100) for _ in range(2))
    by_models.on_predicted = lambda batch, proba: None
    for run in (by_labels, by_models):
        for batch in batches((X, labels), block):
            run.step(batch)
    found, wanted = by_labels.arrays(), by_models.arrays()
    for name in wanted.keys() - {"seconds"}:
        np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)
    for name, model in by_models.models.items():
        assert files.dumps(by_labels.models[name]) == files.dumps(model)


@pytest.mark.parametrize("kind", [MajorityClass, NoChange])
def test_a_baseline_that_has_learned_before_is_judged_by_what_it_says(kind: Any) -> None:
    X, y = records(200, 5)
    model = kind()
    model.learn_many(X[:100], y[:100])
    twin, said = files.loads(files.dumps(model)), []
    for x, label in zip(X[100:], y[100:], strict=True):
        said.append(twin.predict_one(x) == label)
        twin.learn_one(x, label)
    assert prequential({"mine": model}, (X[100:], y[100:]))["mine"].accuracy == np.mean(said)
    assert files.dumps(model) == files.dumps(twin)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (NaiveBayes, "NaiveBayes is a class, not a model; give NaiveBayes()"),
        ("nb", "is no classifier of bayou but str"),
        (3, "'3' is no classifier of bayou but int"),
        ([], "there is no model to evaluate"),
    ],
)
def test_what_is_no_model_is_named(models: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(message)):
        prequential(models, (np.zeros((3, 1)), [0, 1, 0]))
