"""EcocNB against the vectors and against plain naive Bayes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.classifiers.ecoc_models import VECTORS, rows_of_the_vectors, taught, unfolded

from bayou import (
    Declared,
    MajorityClass,
    MultinomialNB,
    NaiveBayes,
    NoChange,
)
from bayou.classifiers.ecoc import EcocNB
from bayou.codes import BCH, GivenCode, OneVsAll, OneVsOne, RandomCode, useful_columns
from bayou.ensembles.bagging import Bagging
from bayou.errors import BayouError, SchemaError, UnsupportedError
from bayou.testing import random_data


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
        for reading in unfolded(model.engine.inner, self.told["matrix"]).values():
            reading.add(self.row(model), odds)
        assert (1 / (1 + np.exp(-odds[0]))).tolist() == pytest.approx(self.told["p_plus"], rel=1e-12)
        assert np.sign(odds[0]).tolist() == self.told["bits"]

    def test_l1(self):
        model = self.model("l1")
        scores = -model.joint_log_proba(self.row(model))[0] / model.engine.cache.plan.scale
        assert scores.tolist() == pytest.approx(self.told["l1_soft"], rel=1e-12)

    def test_hamming(self):
        model = self.model("hamming")
        votes = 2 * model.joint_log_proba(self.row(model))[0] / model.engine.cache.plan.scale
        assert votes.tolist() == pytest.approx(self.told["dot"], abs=1e-5)
        assert model.predict_one({"a": "a0", "b": "b1"}) == self.told["argmax_dot"]

    def test_reduction_is_smoothed_after_merging(self):
        told = VECTORS["base_probability_reduction"]
        model = self.model("soft")
        table = (
            unfolded(model.engine.inner, np.array(told["column"])[:, None])["nominal"].columns[0].full_table()
        )
        for v, (plus, minus) in told["attr0"]["scratch"].items():
            assert np.exp(table[int(v), 0]) == pytest.approx(
                float(Fraction(plus) / Fraction(minus)), rel=1e-12
            )

    def test_one_vs_one_votes(self):
        told = VECTORS["ovo_equals_nb"]
        rows, labels = rows_of_the_vectors()
        model = taught(NaiveBayes(prior="laplace"), OneVsOne(), "hamming", rows, labels)
        dots = 2 * model.joint_log_proba(self.row(model))[0] / model.engine.cache.plan.scale
        votes = (dots + 3) / 2  # won less lost, of three each
        assert votes.tolist() == pytest.approx(told["votes"], abs=1e-5)
        assert np.argmax(told["nb_scores"]) == np.argmax(votes)


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
    plain = NaiveBayes("gaussian")
    plain.learn_many(rows, labels)
    model = taught(NaiveBayes("gaussian"), OneVsOne(), decode, rows, labels)
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
    plain = NaiveBayes("gaussian")
    plain.learn_many(data.records, data.labels, data.weights)
    model = EcocNB(NaiveBayes("gaussian"), BCH(127))
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
        assert np.array_equal(model.engine.cache.plan.signs, expected)
        assert fixed.engine.cache.plan.signs.shape[1] == 4
        assert not fixed.engine.cache.plan.signs[:, known:].any()
    assert np.array_equal(model.predict_proba(rows), fixed.predict_proba(rows))


def test_inside_an_ensemble_that_merged_every_class_has_a_row():
    shards = [Bagging(EcocNB(code=BCH(15)), n_estimators=2) for _ in range(2)]
    for shard, labels in zip(shards, ("uv", "wz"), strict=True):
        for i in range(20):
            shard.learn_one({"x": float(i % 2)}, labels[i % 2])
    merged = shards[0].merge(shards[1])
    merged.predict_one({"x": 0.0})
    for member in merged.engine.members:
        signs = member.cache.plan.signs
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
    assert model.engine.cache.odds is None
    model.predict(X)
    kept = model.engine.cache.odds
    table = kept[1].columns[0].full_table()
    assert table.shape == (30, len(model.engine.cache.plan.weight))
    model.predict(X[:3])
    assert model.engine.cache.odds is kept
    assert model.engine.cache.odds[1].columns[0].full_table() is table
    model.partial_fit(X[:1], y[:1])
    assert model.engine.cache.odds is None


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
    model = EcocNB(code="bch").set_params(estimator__smoothing=0.5, code__bits=31)
    assert repr(model) == "EcocNB(estimator=NaiveBayes(smoothing=0.5), code=BCH(bits=31, seed=0))"
    assert model.get_params()["code__bits"] == 31
    assert EcocNB(MultinomialNB()).numbers_are_words
    assert not EcocNB().numbers_are_words


def test_a_code_is_no_distribution_of_rows():
    model = EcocNB(NaiveBayes("gaussian"), OneVsAll()).fit([[1.0], [2.0], [3.0]], [0, 1, 2])
    with pytest.raises(
        UnsupportedError, match=r"cannot sample.*no distribution of rows; sample from the base"
    ):
        model.sample(3)


def test_the_default_does_not_mix_classes_that_naive_bayes_tells_apart():
    """A side of a code that mixes many classes is no normal: BCH lost 10 points on letters, 9 on soybeans."""
    rng = np.random.default_rng(0)
    y = rng.integers(8, size=4000)
    X = rng.normal(size=(4000, 3)) + 1.5 * np.stack([y & 1, (y >> 1) & 1, y % 3], axis=1)
    plain, coded, mixed = (
        model.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])
        for model in (NaiveBayes(), EcocNB(), EcocNB(code="random"))
    )
    assert coded > plain - 0.01
    assert coded >= mixed
