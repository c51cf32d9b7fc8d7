"""EcocNB against the vectors, against training every column from scratch, and against plain naive Bayes."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive.ecoc import NaiveEcoc, relabelled

from bayou import (
    BernoulliNB,
    ComplementNB,
    Declared,
    Gaussian,
    MajorityClass,
    MultinomialNB,
    NaiveBayes,
    NoChange,
)
from bayou.classifiers.ecoc import EcocNB
from bayou.classifiers.engine import BayesClassifier
from bayou.codes import BCH, GivenCode, OneVsAll, OneVsOne, RandomCode, useful_columns
from bayou.ensembles.bagging import Bagging
from bayou.errors import BayouError, SchemaError, UnsupportedError
from bayou.readings.kernel import Kernel
from bayou.readings.odds import view_odds
from bayou.readings.prior import CountedPrior
from bayou.readings.sides import Sides
from bayou.readings.view import Live, Searched
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.grid_counts import CPiD, PiD
from bayou.summaries.quantile_tuples import GKClass
from bayou.testing import random_data

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "ecoc.json").read_text())
TERNARY = GivenCode([[1, 0, 1, 1], [-1, 1, 0, 1], [0, -1, -1, -1]])
CODES = [BCH(15), BCH(63, seed=2), OneVsAll(), OneVsOne(), RandomCode(9), TERNARY]


def rows_of_the_vectors():
    """Rows with the value counts of the vectors; how the two columns are paired does not matter."""
    told = VECTORS["base_probability_reduction"]
    rows, labels = [], []
    for c in range(4):
        first, second = (np.repeat(np.arange(len(v[c])), v[c]) for v in told["value_counts"])
        assert len(first) == len(second) == told["class_counts"][c]
        rows += [{"a": f"a{u}", "b": f"b{v}"} for u, v in zip(first, second, strict=True)]
        labels += [c] * len(first)
    return rows, labels


def taught(estimator, code, decode, rows, labels):
    model = EcocNB(estimator, code, decode)
    model.learn_many(rows, labels)
    return model


def unfolded(model, matrix):
    """The log-odds readings of all views of a model over the columns of a matrix in storage order."""
    signs = np.asarray(matrix, dtype=float)
    sides = Sides(np.stack([signs > 0, signs < 0]).astype(float), np.zeros((0, 0)), bool((signs == 0).any()))
    return {name: view_odds(view, sides) for name, view in model._views.items()}


class TestVectors:
    told = VECTORS["ecoc_nb_example"]

    def model(self, decode):
        rows, labels = rows_of_the_vectors()
        return taught(NaiveBayes(prior="laplace"), GivenCode(self.told["matrix"]), decode, rows, labels)

    def row(self, model):
        return model.encode([{"a": f"a{self.told['x'][0]}", "b": f"b{self.told['x'][1]}"}])

    def test_probabilities_of_the_columns(self):
        model = self.model("l1")
        odds = np.zeros((1, 5))
        for reading in unfolded(model._inner, self.told["matrix"]).values():
            reading.add(self.row(model), odds)
        assert (1 / (1 + np.exp(-odds[0]))).tolist() == pytest.approx(self.told["p_plus"], rel=1e-12)
        assert np.sign(odds[0]).tolist() == self.told["bits"]

    def test_l1(self):
        model = self.model("l1")
        scores = -model.joint_log_proba(self.row(model))[0] / model._read_off.plan.scale
        assert scores.tolist() == pytest.approx(self.told["l1_soft"], rel=1e-12)

    def test_hamming(self):
        model = self.model("hamming")
        votes = 2 * model.joint_log_proba(self.row(model))[0] / model._read_off.plan.scale
        assert votes.tolist() == pytest.approx(self.told["dot"], abs=1e-5)
        assert model.predict_one({"a": "a0", "b": "b1"}) == self.told["argmax_dot"]

    def test_reduction_is_smoothed_after_merging(self):
        told = VECTORS["base_probability_reduction"]
        model = self.model("soft")
        table = unfolded(model._inner, np.array(told["column"])[:, None])["nominal"].columns[0].whole()
        for v, (plus, minus) in told["attr0"]["scratch"].items():
            assert np.exp(table[int(v), 0]) == pytest.approx(
                float(Fraction(plus) / Fraction(minus)), rel=1e-12
            )

    def test_one_vs_one_votes(self):
        told = VECTORS["ovo_equals_nb"]
        rows, labels = rows_of_the_vectors()
        model = taught(NaiveBayes(prior="laplace"), OneVsOne(), "hamming", rows, labels)
        dots = 2 * model.joint_log_proba(self.row(model))[0] / model._read_off.plan.scale
        votes = (dots + 3) / 2  # won less lost, of three each
        assert votes.tolist() == pytest.approx(told["votes"], abs=1e-5)
        assert np.argmax(told["nb_scores"]) == np.argmax(votes)


@pytest.mark.parametrize("code", CODES, ids=repr)
@pytest.mark.parametrize("decode", ["soft", "l1", "hamming"])
@pytest.mark.parametrize(
    "estimator",
    [MultinomialNB(), BernoulliNB(), ComplementNB(), NaiveBayes(), NaiveBayes(numeric=Gaussian(ddof=1))],
    ids=repr,
)
def test_predictions_are_those_of_columns_trained_from_scratch(estimator, decode, code):
    data = random_data(3, 90, words=estimator.numbers_are_words, odd=False)
    model = taught(estimator, code, decode, data.records, data.labels)
    naive = NaiveEcoc(estimator, code.rows(3), decode).fit(data.records, data.labels)
    np.testing.assert_allclose(
        model.predict_proba(data.records), naive.proba(data.records), rtol=0, atol=2e-6
    )


@pytest.mark.parametrize("code", CODES, ids=repr)
@given(seed=st.integers(0, 1000))
@settings(max_examples=5, deadline=None)
def test_tables_of_counts_have_the_bits_of_columns_trained_from_scratch(code, seed):
    """Words: every entry is the difference of two entries of naive Bayes on relabelled data, bit for bit."""
    data = random_data(seed, 60, words=True)
    base = MultinomialNB()
    base.learn_many(data.records, data.labels)
    order = [base.labels().index(c) for c in base.schema_.classes.values]
    matrix = code.rows(3)[order]
    found = unfolded(base, matrix)["words"].columns[0].whole()
    for b, column in enumerate(matrix.T):
        if 1 not in column or -1 not in column:
            continue
        scratch = MultinomialNB(schema=Declared(columns={"x": "text"}))
        scratch.learn_many(*relabelled(data.records, data.labels, column, base.schema_.classes.values))
        view = scratch._views["words"]
        vocabulary = scratch.schema_.vocabularies
        (name,) = (n for n in scratch.schema_.names("text") if n != "x")
        table = view.reader.tables(view.summary)[scratch.schema_.place[name][1]][0]
        plus, minus = (scratch.schema_.classes.code(side) for side in "+-")
        for v, word in enumerate(base.schema_.vocabularies[name].values):
            place = vocabulary[name].code(word)
            expected = table[place, plus] - table[place, minus] if place >= 0 else 0.0
            assert found[v, b] == expected


def test_nominal_tables_have_the_bits_of_columns_trained_from_scratch():
    rows, labels = rows_of_the_vectors()
    base = NaiveBayes()
    base.learn_many(rows, labels)
    for column in OneVsOne().rows(4).T.tolist() + BCH(15).rows(4).T.tolist():
        if 1 not in column or -1 not in column:
            continue
        scratch = NaiveBayes()
        scratch.learn_many(*relabelled(rows, labels, column, range(4)))
        view, schema = scratch._views["nominal"], scratch.schema_
        table = view.reader.table(view.summary)
        plus, minus = (schema.classes.code(side) for side in "+-")
        found = unfolded(base, np.array(column)[:, None])["nominal"]
        for j, name in enumerate(("a", "b")):
            values = base.schema_.vocabularies[name].values
            cells = [
                view.summary.offsets[schema.place[name][1]] + schema.vocabularies[name].code(v)
                for v in values
            ]
            expected = [table[cell, plus] - table[cell, minus] for cell in cells]
            assert found.columns[j].whole()[:, 0].tolist() == expected


@pytest.mark.parametrize("code", [BCH(15), OneVsOne()], ids=repr)
@pytest.mark.parametrize("smoothing", [1.0, 0.5])
def test_binned_columns_share_the_cuts_of_the_classes(code, smoothing):
    """Naive Bayes on relabelled rows with the cuts found for all classes, counted from the rows."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 4, 400)
    x = np.round(rng.normal(y, 0.7), 1)  # few enough values for the quantile tuples to be exact
    base = NaiveBayes("gk", smoothing=smoothing).fit(x[:, None], y)
    (partition,) = base._views["numeric"].reading
    parts = np.searchsorted(partition.cuts, x)
    assert partition.n_parts > 2
    block = base.encode(x[:, None])
    matrix = code.rows(4)[base.schema_.classes.values]
    found = np.zeros((len(x), matrix.shape[1]))
    unfolded(base, matrix)["numeric"].add(block, found)
    for b, column in enumerate(matrix.T):
        logs = []
        for side in (1, -1):
            counts = np.bincount(parts[column[base_codes(base, y)] == side], minlength=partition.n_parts)
            logs.append(np.log(counts + 1.0 / partition.n_parts) - np.log(counts.sum() + 1.0))
        np.testing.assert_allclose(found[:, b], (logs[0] - logs[1])[parts], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("numeric", [GKClass(tuples=30), PiD(), CPiD(cells=30)], ids=repr)
def test_ternary_columns_over_summaries_are_off_by_their_error_at_most(numeric):
    """Below every cut, either side of every pair of classes has the rows it has, within what `error` tells."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 4, 6000)
    x = rng.normal(y, 1.0)
    base = NaiveBayes(numeric).fit(x[:, None], y)
    view = base._views["numeric"]
    (partition,) = view.reading
    cuts = partition.cuts
    slack = 2 * view.summary.error() * len(x)
    assert len(cuts) > 2
    assert 0 < slack < 600
    matrix = OneVsOne().rows(4)[base.schema_.classes.values]
    counts = unfolded(base, matrix)["numeric"].reading.partitions.counts
    off = []
    for b, column in enumerate(matrix.T):
        for place, side in ((2 * b, 1), (2 * b + 1, -1)):
            rows = np.sort(x[column[base_codes(base, y)] == side])
            assert counts[:, place].sum() == pytest.approx(len(rows))
            below = np.cumsum(counts[:, place])[:-1]
            off.append(np.abs(below - np.searchsorted(rows, cuts, side="right")).max())
    assert max(off) <= slack


def base_codes(base, y):
    return np.array([base.schema_.classes.code(int(label)) for label in y])


class KernelNB(BayesClassifier):
    """Kernel densities, which no registered naive Bayes offers yet: the general way through regrouped summaries."""

    def views(self):
        kernel = Kernel()
        return {"classes": Live(ClassCounts(), CountedPrior()), "numeric": Searched(kernel.summary(), kernel)}


@pytest.mark.parametrize("code", [BCH(7), OneVsOne()], ids=repr)
def test_kernels_are_those_of_columns_trained_from_scratch(code):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 80)
    rows = [
        {"x": float(v), "z": float(u)}
        for v, u in zip(np.round(rng.normal(y), 1), rng.integers(0, 5, 80), strict=True)
    ]
    model = taught(KernelNB(), code, "soft", rows, y.tolist()).refresh()
    naive = NaiveEcoc(KernelNB(), code.rows(3), "soft").fit(rows, y.tolist())
    for _, each in naive.models:
        each.refresh()
    np.testing.assert_allclose(model.predict_proba(rows), naive.proba(rows), atol=1e-12)


def full_tables(rng, n, k):
    """Rows in which every class has every value, so that sizes of columns are those of any pair of classes."""
    rows = [{"a": int(u), "b": f"{v}"} for u in range(1) for v in range(3) for _ in range(k)]
    labels = [c for _ in range(3) for c in range(k)]
    rows += [
        {"a": float(rng.normal(y % 3)), "b": str(rng.integers(0, 3))} for y in range(k) for _ in range(n)
    ]
    return rows, labels + [y for y in range(k) for _ in range(n)]


@pytest.mark.parametrize("decode", ["soft", "l1", "hamming", "slepian"])
@given(seed=st.integers(0, 10_000), k=st.integers(2, 7))
@settings(max_examples=10, deadline=None)
def test_one_vs_one_ranks_first_what_naive_bayes_does(decode, seed, k):
    rng = np.random.default_rng(seed)
    rows, labels = full_tables(rng, 6, k)
    plain = NaiveBayes()
    plain.learn_many(rows, labels)
    model = taught(None, OneVsOne(), decode, rows, labels)
    assert model.predict_many(rows) == plain.predict_many(rows)


@pytest.mark.parametrize("code", [BCH(15), BCH(127), OneVsAll(), OneVsOne(), RandomCode(20)], ids=repr)
def test_with_two_classes_every_code_is_naive_bayes(code):
    data = random_data(5, 15)
    assert set(data.labels) == {"a", "b"}
    plain = NaiveBayes()
    plain.learn_many(data.records, data.labels)
    model = taught(NaiveBayes(), code, "soft", data.records, data.labels)
    np.testing.assert_allclose(
        model.predict_proba(data.records), plain.predict_proba(data.records), atol=1e-9
    )


def test_one_pass_learns_exactly_what_the_estimator_learns():
    data = random_data(1, 80)
    plain = NaiveBayes()
    plain.learn_many(data.records, data.labels, data.weights)
    model = EcocNB(NaiveBayes(), BCH(127))
    model.learn_many(data.records, data.labels, data.weights)
    mine, theirs = model.arrays(), plain.arrays()
    assert mine.keys() == theirs.keys()
    assert all(np.array_equal(mine[name], theirs[name]) for name in mine)
    assert model.memory_bytes == plain.memory_bytes
    assert model.law is plain.law


@pytest.mark.parametrize("decode", ["soft", "l1", "hamming", "slepian"])
@pytest.mark.parametrize("code", [BCH(31), OneVsOne()], ids=repr)
def test_few_rows_and_many_rows_are_read_with_the_same_bits(code, decode):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.3, (300, 40)), rng.integers(0, 6, 300)
    model = EcocNB(MultinomialNB(), code, decode).fit(X, y)
    at_once = model.predict_proba(X)
    for i in range(0, 300, 37):
        again = EcocNB(MultinomialNB(), code, decode).fit(X, y)
        assert np.array_equal(again.predict_proba(X[i : i + 1])[0], at_once[i])


def test_the_code_rests_on_the_classes_met_not_on_their_order():
    data = random_data(2, 80, odd=False)
    backwards = data.take(range(len(data) - 1, -1, -1))
    a = taught(NaiveBayes(numeric="gaussian"), BCH(31), "hamming", data.records, data.labels)
    b = taught(NaiveBayes(numeric="gaussian"), BCH(31), "hamming", backwards.records, backwards.labels)
    np.testing.assert_allclose(a.predict_proba(data.records), b.predict_proba(data.records), atol=1e-9)


def test_a_new_class_extends_the_code_and_declared_classes_fix_it():
    rows, labels = rows_of_the_vectors()
    model, fixed = EcocNB(code=BCH(15)), EcocNB(NaiveBayes(schema=Declared(classes=[0, 1, 2, 3])), BCH(15))
    for known in (1, 2, 3, 4):
        some = [i for i, y in enumerate(labels) if y == known - 1]
        for each in (model, fixed):
            each.learn_many([rows[i] for i in some], [labels[i] for i in some])
            each.predict_proba_one(rows[0])
        everybody = np.ones(known, dtype=bool)
        expected = useful_columns(BCH(15).rows(known), everybody).signs
        assert np.array_equal(model._read_off.plan.signs, expected)
        assert fixed._read_off.plan.signs.shape[1] == 4
        assert not fixed._read_off.plan.signs[:, known:].any()
    assert np.array_equal(model.predict_proba(rows), fixed.predict_proba(rows))


def test_inside_an_ensemble_that_merged_every_class_has_a_row():
    shards = [Bagging(EcocNB(code=BCH(15)), n_estimators=2) for _ in range(2)]
    for shard, labels in zip(shards, ("uv", "wz"), strict=True):
        for i in range(20):
            shard.learn_one({"x": float(i % 2)}, labels[i % 2])
    merged = shards[0].merge(shards[1])
    merged.predict_one({"x": 0.0})
    for member in merged._members:
        signs = member._read_off.plan.signs
        assert signs.shape[1] == 4
        assert signs.all()


def test_a_given_code_refuses_more_classes_than_rows_only_when_predicting():
    model = EcocNB(code=GivenCode([[1, 1], [-1, 1], [1, -1]]))
    for i, label in enumerate("abc"):
        model.learn_one({"x": float(i)}, label)
        assert model.predict_one({"x": 0.0}) in "abc"
    model.learn_one({"x": 9.0}, "d")
    with pytest.raises(SchemaError, match="3 rows and 4 classes"):
        model.predict_one({"x": 0.0})


def test_a_given_prior_decides_which_classes_can_occur():
    prior = {"a": 0.5, "b": 0.5, "c": 0.0}
    data = random_data(4, 60)
    model = EcocNB(NaiveBayes(prior=prior), BCH(15))
    assert model.declared().classes == ["a", "b", "c"]
    model.learn_many(data.records, data.labels)
    plain = NaiveBayes(prior=prior)
    plain.learn_many(data.records, data.labels)
    found = model.predict_proba(data.records)
    assert not found[:, 2].any()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    unknown = [{"new": 1.0}]
    np.testing.assert_allclose(model.predict_proba(unknown), plain.predict_proba(unknown), atol=1e-12)


def test_a_class_only_and_a_row_only():
    model = EcocNB()
    assert model.predict_proba_one({"x": 1.0}) == {}
    model.learn_one({"x": 1.0}, "a")
    assert model.predict_proba_one({"x": 3.0}) == {"a": 1.0}


def test_tables_are_made_when_first_asked_for_and_kept_until_the_counts_change():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.5, (200, 30)), rng.integers(0, 5, 200)
    model = EcocNB(MultinomialNB(), BCH(31), "l1").fit(X, y)
    assert model._read_off.odds is None
    model.predict(X)
    kept = model._read_off.odds
    table = kept[1].columns[0].whole()
    assert table.shape == (30, len(model._read_off.plan.weight))
    model.predict(X[:3])
    assert model._read_off.odds is kept
    assert model._read_off.odds[1].columns[0].whole() is table
    model.partial_fit(X[:1], y[:1])
    assert model._read_off.odds is None


def test_what_cannot_be_coded_is_refused_with_the_reason():
    for wrong, reason in (
        (EcocNB(NoChange()), "LastLabel does not regroup"),
        (EcocNB(EcocNB()), "made of views"),
        (EcocNB(decode="viterbi"), "decode='viterbi'"),
        (EcocNB(code="hadamard"), "one-vs-all"),
    ):
        with pytest.raises((SchemaError, UnsupportedError), match=reason) as caught:
            wrong.fit([[1.0], [2.0]], ["a", "b"])
        assert isinstance(caught.value, BayouError)


def test_majority_class_stays_itself():
    model = EcocNB(MajorityClass(), OneVsAll()).fit([[1], [2], [3], [4]], list("abbc"))
    assert model.predict([[9]]).tolist() == ["b"]


def test_parameters_reach_the_estimator_and_the_code():
    model = EcocNB().set_params(estimator__smoothing=0.5, code__bits=31)
    assert repr(model) == "EcocNB(estimator=NaiveBayes(smoothing=0.5), code=BCH(bits=31, seed=0))"
    assert model.get_params()["code__bits"] == 31
    assert EcocNB(MultinomialNB()).numbers_are_words
    assert not EcocNB().numbers_are_words
