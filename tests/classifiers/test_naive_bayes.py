"""Naive Bayes beside scikit-learn, under hostile numbers, and as a generative model."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import naive_bayes as peers

from bayou import (
    BernoulliNB,
    ComplementNB,
    Costs,
    Declared,
    Gaussian,
    MultinomialNB,
    NaiveBayes,
    Threshold,
    load,
)
from bayou.errors import (
    DataError,
    MergeError,
    NotFittedError,
    RoundingWarning,
    SchemaError,
    UnsupportedError,
)
from bayou.laws import MergeLaw

RNG = np.random.default_rng(7)
Y = RNG.integers(0, 3, 400)
X = RNG.normal(size=(400, 6)) + Y[:, None] * [1.0, 0.5, 0.0, 2.0, 0.1, 0.0]
COUNTS = RNG.poisson(0.7 + 0.4 * ((np.arange(12) % 3) == Y[:, None]))
W = RNG.integers(1, 4, 400).astype(float)


@pytest.mark.parametrize("weights", [None, W, W / W.sum()], ids=["none", "whole", "sum 1"])
def test_gaussian_equals_scikit_learn(weights):
    ours = NaiveBayes("gaussian").fit(X, Y, weights)
    theirs = peers.GaussianNB(var_smoothing=0.0).fit(X, Y, weights)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert ours.score(X, Y) == theirs.score(X, Y)


def test_fading_moments_leave_the_densities_alone():
    """Also below one row's weight in a class."""
    model = NaiveBayes("gaussian").fit(X, Y)
    before = model.predict_proba(X)
    for _ in range(4):
        np.testing.assert_allclose(model.decay(0.1).predict_proba(X), before, atol=1e-9)


@pytest.mark.parametrize("weights", [None, W])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (MultinomialNB(), peers.MultinomialNB()),
        (MultinomialNB(alpha=0.3), peers.MultinomialNB(alpha=0.3)),
        (ComplementNB(), peers.ComplementNB()),
        (BernoulliNB(), peers.BernoulliNB()),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_words_equal_scikit_learn(ours, theirs, form, weights):
    data = form(COUNTS)
    ours.fit(data, Y, weights)
    theirs.fit(data, Y, weights)
    np.testing.assert_allclose(ours.predict_proba(data), theirs.predict_proba(data), atol=1e-9)


@pytest.mark.parametrize("model", [MultinomialNB, ComplementNB, BernoulliNB])
def test_without_smoothing_what_never_happened_is_a_veto_and_not_the_end_of_all_digits(model):
    """One word is in every document of class 0, one in none of class 1; the others speak as ever."""
    words, labels = COUNTS[:80] > 0, Y[:80] % 2
    words[labels == 0, 0], words[labels == 1, 1] = True, False
    ours, hardly = (model(alpha=a).fit(words, labels).predict_proba(words) for a in (0.0, 1e-12))
    np.testing.assert_allclose(ours, hardly, atol=1e-9)
    huge = model(alpha=0.0).fit([[1e140, 0], [0, 1e140]], [0, 1]).predict_proba([[1e140, 1e140], [1e140, 0]])
    np.testing.assert_allclose(huge, [[0.5, 0.5], [1.0, 0.0]])


def test_nominal_equals_scikit_learn():
    codes = RNG.integers(0, 4, (400, 5))
    ours = NaiveBayes().fit(codes.astype(str), Y)
    theirs = peers.CategoricalNB().fit(codes, Y)
    np.testing.assert_allclose(ours.predict_proba(codes.astype(str)), theirs.predict_proba(codes), atol=1e-9)


def test_given_prior_and_its_errors():
    even = NaiveBayes("gaussian", prior={0: 0.2, 1: 0.3, 2: 0.5}).fit(X, Y)
    theirs = peers.GaussianNB(priors=[0.2, 0.3, 0.5], var_smoothing=0.0).fit(X, Y)
    np.testing.assert_allclose(even.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    for wrong in ({"a": 0.5}, {"a": float("nan"), "b": 0.5}):
        with pytest.raises(SchemaError, match="sum to 1"):
            NaiveBayes(prior=wrong).fit([[1.0]], ["a"])
    with pytest.raises(SchemaError, match="empirical"):
        NaiveBayes(prior="flat").fit([[1.0]], ["a"])
    with pytest.raises(DataError, match="declared classes"):
        NaiveBayes(prior={"a": 1.0}).fit([[1.0]], ["b"])


HOSTILE = [np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, 1e308, 0.0, -0.0]


@pytest.mark.parametrize("value", HOSTILE)
def test_odd_numbers_never_break_probabilities(value):
    data = X.copy()
    data[::7, 2] = value
    data[5] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proba = NaiveBayes().fit(data, Y).predict_proba(np.vstack([data, np.full((1, 6), value)]))
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize(
    ("data", "labels"),
    [
        (np.ones((5, 2)), [0, 1, 0, 1, 0]),
        (np.ones((4, 1)), ["a"] * 4),
        (np.array([[3.0]]), ["a"]),
        (RNG.normal(size=(3, 10_000)), [0, 1, 0]),
        (RNG.normal(size=(1500, 2)), [f"c{i % 1000}" for i in range(1500)]),
        (np.array([[1e140], [-1e140], [1e-300]]), [0, 1, 0]),
    ],
    ids=["constant columns", "one class", "one row", "10,000 attributes", "1,000 classes", "the whole range"],
)
def test_edges(data, labels):
    model = NaiveBayes().fit(data, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proba = model.predict_proba(np.vstack([data[:50], data[:1] + 1e9, data[:1] * -3]))
    assert np.isfinite(proba).all()
    assert ((proba >= 0) & (proba <= 1)).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-12)


def test_an_empty_batch_changes_nothing():
    model = NaiveBayes().fit(X, Y)
    before = model.digest()
    model.learn_many([], [])
    model.learn_many(np.empty((0, 6)), [])
    assert model.digest() == before
    assert model.predict_proba_many([]) == []


def test_poison_is_contained():
    """One hostile value in a thousand rows costs at most half a point of accuracy."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 8000)
    clean = rng.normal(size=(8000, 5)) + labels[:, None] * 0.8
    poisoned = clean.copy()
    poisoned[::1000, 0], poisoned[1::1000, 1], poisoned[2::1000, 2] = np.nan, np.inf, 1e300
    scores = [
        NaiveBayes().fit(train[:6000], labels[:6000]).score(clean[6000:], labels[6000:])
        for train in (clean, poisoned)
    ]
    assert scores[0] - scores[1] <= 0.005


def test_threshold_and_costs_decide():
    labels = np.where(Y == 0, "fraud", "ok")
    plain = NaiveBayes().fit(X, labels)
    proba = plain.predict_proba(X)[:, 0]
    bold = NaiveBayes(decision=Threshold("fraud", 0.1)).fit(X, labels)
    assert np.array_equal(bold.predict(X) == "fraud", proba >= 0.1)
    costly = NaiveBayes(decision=Costs(miss={"fraud": 9.0})).fit(X, labels)
    assert np.array_equal(costly.predict(X) == "fraud", 9 * proba >= 1 - proba)
    record = dict(
        zip(
            [f"x{j}" for j in range(6)],
            X[int(np.argmax((proba > 0.1) & (proba < 0.4)))].tolist(),
            strict=True,
        )
    )
    assert (plain.predict_one(record), bold.predict_one(record)) == ("ok", "fraud")
    assert bold.predict_many([record]) == ["fraud"]
    with pytest.raises(SchemaError, match="probability"):
        Threshold("fraud", 2.0)
    with pytest.raises(SchemaError, match="true class"):
        Costs(pairs={"fraud": 9.0})
    with pytest.raises(SchemaError, match="finite"):
        Costs(miss={"fraud": float("nan")})


def test_a_matrix_of_costs_is_part_of_the_file(tmp_path):
    costs = Costs(pairs={(0, 1): 9.0, (1, 0): 0.5})
    model = NaiveBayes(decision=costs).fit(X, Y)
    model.save(tmp_path / "m.bayou")
    loaded = load(tmp_path / "m.bayou")
    assert loaded.decision == costs
    assert np.array_equal(loaded.predict(X), model.predict(X))


def test_explanations_add_up_and_are_the_terms():
    model = NaiveBayes().fit(X, Y)
    told = model.explain(X[3])
    assert told.base + sum(told.terms.values()) + told.together == pytest.approx(told.log_odds, abs=1e-9)
    assert told.together == pytest.approx(0.0, abs=1e-9)
    terms = model.engine.views["numeric"].column_terms(model.encode(X[3:4]))[0]
    codes = [model.schema_.classes.code(label) for label in (told.label, told.against)]
    assert list(told.terms.values()) == pytest.approx(
        (terms[:, codes[0]] - terms[:, codes[1]]).tolist(), abs=1e-9
    )
    assert "together" in str(told)
    words = MultinomialNB().fit(COUNTS, Y)
    assert words.explain(sp.csr_array(COUNTS[:1])).log_odds == words.explain(COUNTS[0]).log_odds
    with pytest.raises(DataError, match="one document"):
        NaiveBayes().fit(sp.csr_array(COUNTS), Y).explain(sp.csr_array(COUNTS[:1]))
    with pytest.raises(DataError, match="not a class"):
        model.explain(X[3], label="nobody")


def test_html_escapes_names():
    model = NaiveBayes()
    model.learn_many([{"<script>": "<b>"}, {"<script>": "<i>"}], ["<u>", "ok"])
    for page in (model._repr_html_(), model.explain({"<script>": "<b>"})._repr_html_()):
        assert "<script>" not in page
        assert "<u>" not in page
    assert "nothing learned" in NaiveBayes()._repr_html_()


def test_samples_come_from_the_model():
    rows = [{"x": float(x[0]), "c": "abc"[y]} for x, y in zip(X, Y, strict=True)]
    model = NaiveBayes("gaussian")
    model.learn_many(rows, Y.tolist())
    drawn, labels = model.sample(3000, seed=1)
    again = NaiveBayes("gaussian")
    again.learn_many(drawn, labels)
    for label in range(3):
        share = labels.count(label) / 3000
        assert share == pytest.approx(np.mean(label == Y), abs=0.04)
    assert again.engine.views["numeric"].summary.mean[:, 0] == pytest.approx(
        [
            model.engine.views["numeric"].summary.mean[model.schema_.classes.code(c), 0]
            for c in again.schema_.classes.values
        ],
        abs=0.15,
    )
    found, learned = (m.engine.views["numeric"].summary for m in (again, model))
    order = [model.schema_.classes.code(c) for c in again.schema_.classes.values]
    spread = np.sqrt(learned.m2[order, 0] / learned.n[order, 0])
    assert np.sqrt(found.m2[:, 0] / found.n[:, 0]) == pytest.approx(spread, rel=0.1)
    assert model.sample(5, seed=2) == model.sample(5, seed=2)


@pytest.mark.parametrize("model", [MultinomialNB, ComplementNB, BernoulliNB])
def test_documents_are_drawn_as_often_as_their_words_were_met(model):
    taught, again = model().fit(COUNTS, Y), model()
    drawn, labels = taught.sample(4000, seed=3)
    again.learn_many(drawn, labels)
    shares = []
    for each in (taught, again):
        text, schema = each.engine.views["words"].summary.texts[0], each.schema_
        words = [schema.vocabularies["words"].code(f"x{j}") for j in range(12)]
        shares.append((text.counts / text.total)[np.ix_(words, [schema.classes.code(c) for c in range(3)])])
    np.testing.assert_allclose(shares[0], shares[1], atol=0.04)


def test_drawn_rows_can_be_learned_and_leave_out_what_was_never_met():
    kinds = {"note": "text", "quiet": "text", "never": "nominal", "told": ["u", "v"], "depth": "numeric"}
    model = NaiveBayes("gaussian", schema=Declared(columns=kinds))
    rows = [
        {"n": 1.0, "c": "x", "k": 5.0, "note": "buy cheap pills"},
        {"n": 5.0, "c": "y", "note": "see you"},
    ] * 3
    model.learn_many(rows, ["spam", "ham"] * 3)
    drawn, labels = model.sample(20)
    assert all(row.keys() == {"n", "c", "k", "note"} for row in drawn)
    assert {row["k"] for row in drawn} == {5.0}, "constant where it was met, so also where it was not"
    again = model.fresh()
    again.learn_many(drawn, labels)
    assert again.schema_.place == model.schema_.place
    unlabelled = NaiveBayes("gaussian")
    unlabelled.learn_one({"x": 1.0}, None)
    with pytest.raises(NotFittedError, match="no class"):
        unlabelled.sample(1)


def test_mixed_columns_with_text_in_one_model():
    schema = Declared(columns={"note": "text"})
    model = NaiveBayes(schema=schema)
    rows = [{"n": 1.0, "c": "x", "note": "buy cheap pills"}, {"n": 5.0, "c": "y", "note": "see you soon"}] * 3
    model.learn_many(rows, ["spam", "ham"] * 3)
    for part in ({"note": "cheap"}, {"c": "x"}, {"n": 1.0}):
        assert model.predict_one(part) == "spam"


@pytest.mark.parametrize("numeric", ["gaussian", "gk", "pid", "kernel"])
def test_the_law_is_that_of_the_columns_there_are(numeric):
    model = NaiveBayes(numeric=numeric)
    model.learn_one({"sky": "blue"}, "dry")
    assert model.law is MergeLaw.EXACT
    model.learn_one({"sky": "grey", "wind": 3.0}, "wet")
    assert model.law is (MergeLaw.ROUNDING if numeric == "gaussian" else MergeLaw.BOUNDED)


def test_merging_is_a_heuristic_once_a_vocabulary_is_full():
    model = NaiveBayes(schema=Declared(max_values=2))
    model.learn_many([{"a": "x"}, {"a": "y"}], [0, 1])
    assert model.law is MergeLaw.EXACT
    model.learn_one({"a": "z"}, 1)
    assert model.law is MergeLaw.AVERAGED
    assert model.merge(model.fresh()).law is MergeLaw.AVERAGED


def test_merge_refuses_other_parameters():
    a, b = NaiveBayes().fit(X, Y), NaiveBayes(numeric=Gaussian(ddof=1)).fit(X, Y)
    with pytest.raises(MergeError, match=r"model\.fresh\(\)"):
        a.merge(b)


def test_unlearning_what_was_never_learned_is_refused():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(DataError, match="never learned"):
        model.unlearn(X[:1], ["nobody"])


def test_an_explanation_prints_names_and_classes_without_terminal_escapes():
    model = NaiveBayes()
    model.learn_one({"\x1b[31ma\nb": "\x1b[2Ju"}, "\x1b[0mx")
    model.learn_one({"\x1b[31ma\nb": "v"}, "y\n")
    found = model.explain({"\x1b[31ma\nb": "\x1b[2Ju"})
    assert str(found).splitlines()[2].split("  ")[1] == "a b = u"
    assert "\x1b" not in str(found)
    assert len(str(found).splitlines()) == 4


@pytest.mark.parametrize(("left", "gone"), [([0.1] * 12, 5.1), (list(np.linspace(-2, 2, 12)), 1e10)])
def test_unlearning_what_takes_the_digits_of_the_rest_along_is_told(left, gone):
    model = NaiveBayes(numeric="gaussian").partial_fit([[x] for x in [*left, gone]], ["c", "d"] * 6 + ["c"])
    with pytest.warns(RoundingWarning, match="lost its digits"):
        model.unlearn([[gone]], ["c"])


@pytest.mark.parametrize("gone", [5.1, 1e4, -1e5])
def test_unlearning_ordinary_values_is_not_told_and_is_as_never_learned(gone):
    X, y = [[x] for x in np.linspace(-2, 2, 30)], ["c", "d", "d"] * 10
    model = NaiveBayes(numeric="gaussian").partial_fit([*X, [gone]], [*y, "c"]).unlearn([[gone]], ["c"])
    never = NaiveBayes(numeric="gaussian").partial_fit(X, y)
    assert np.allclose(model.predict_proba(X), never.predict_proba(X), rtol=0, atol=1e-6)


def test_quantiles_say_who_can_unlearn_instead():
    model = NaiveBayes().fit(X, Y)
    with pytest.raises(UnsupportedError, match="numeric='gaussian'"):
        model.unlearn(X[:1], Y[:1])


def test_without_numeric_columns_the_default_unlearns_and_merges_exactly():
    rows, labels = [{"c": "abc"[y], "d": "xy"[i % 2]} for i, y in enumerate(Y)], Y.tolist()
    model, kept = NaiveBayes(), NaiveBayes()
    model.learn_many(rows, labels)
    kept.learn_many(rows[10:], labels[10:])
    assert model.law is MergeLaw.EXACT
    model.unlearn(rows[:10], labels[:10])
    assert model.digest() == kept.digest()


@pytest.mark.parametrize(
    "choice", [{"numeric": 5}, {"numeric": ["gaussian"]}, {"bins": 3}, {"bins": "equal"}]
)
def test_what_is_no_recipe_is_answered_with_the_names_there_are(choice):
    with pytest.raises(SchemaError, match=r"it is one of .*, or a recipe"):
        NaiveBayes(**choice).fit([[1.0], [2.0]], ["a", "b"])
