"""The worked examples of documents 001 and 004, with the documents' own slips where they have some."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bayou import BernoulliNB, Gaussian, MEstimate, MultinomialNB, NaiveBayes
from bayou.errors import SchemaError
from bayou.readings.intervals import Intervals
from bayou.schema import Kind

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "seed_examples.json").read_text())
TENNIS = VECTORS["play_tennis"]
COLUMNS = ["Outlook", "Temperature", "Humidity", "Wind"]
RECORDS = [dict(zip(COLUMNS, row, strict=False)) for row in TENNIS["rows"]]
LABELS = [row[4] for row in TENNIS["rows"]]
QUERY = dict(zip(COLUMNS, TENNIS["query"], strict=True))


def play_tennis(**options):
    model = NaiveBayes(**options)
    model.learn_many(RECORDS, LABELS)
    return model


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"smoothing": 0.0}, "ml_posterior"),
        ({"smoothing": 1.0, "prior": "laplace"}, "laplace1_posterior"),
        ({"smoothing": 1.0}, "laplace1_raw_prior_posterior"),
        ({"smoothing": MEstimate(1.0)}, "mest_m1_posterior"),
    ],
)
def test_play_tennis(options, key):
    assert play_tennis(**options).predict_proba_one(QUERY) == pytest.approx(TENNIS[key], abs=1e-12)


def test_play_tennis_scores():
    model = play_tennis(smoothing=0.0)
    joint = dict(
        zip(model.schema_.classes.values, model.joint_log_proba(model.encode([QUERY]))[0], strict=True)
    )
    for label, (fraction, _) in TENNIS["ml_scores"].items():
        assert math.exp(joint[label]) == pytest.approx(float(Fraction(fraction)), rel=1e-12)


def test_m_estimate_of_outlook():
    model = play_tennis(smoothing=MEstimate(1.0))
    terms = model.engine.views["nominal"].column_terms(
        model.encode([{"Outlook": v} for v in ("Overcast", "Sunny", "Rain")])
    )
    no = model.schema_.classes.code("No")
    expected = [float(Fraction(TENNIS["m_estimate_outlook_no"][v])) for v in ("overcast", "sunny", "rain")]
    assert np.exp(terms[:, 0, no]) == pytest.approx(expected, rel=1e-12)


def counted(column, value):
    """Rows with the value and all rows, by class."""
    rows = [row for row in zip(RECORDS, LABELS, strict=True) if row[0][column] == value]
    return {c: (sum(label == c for _, label in rows), LABELS.count(c)) for c in ("Yes", "No")}


@pytest.mark.parametrize("p", [None, 0.25, "pooled"])
@pytest.mark.parametrize(("m", "share"), [(1.0, 0.0), (1.0, 0.01), (0.5, 0.4), (0.0, 1.0)])
def test_m_estimate_of_given_p_and_share(p, m, share):
    """(n + m p) / (N + m) of document 001, with p given or estimated, and m as a share of the class's rows."""
    model = play_tennis(smoothing=MEstimate(m, p, share))
    for column in COLUMNS:
        values = sorted({row[column] for row in RECORDS})
        terms = model.engine.views["nominal"].column_terms(model.encode([{column: v} for v in values]))
        for i, value in enumerate(values):
            found = counted(column, value)
            prior = {None: 1 / len(values), "pooled": sum(n for n, _ in found.values()) / 14}.get(p, p)
            for label, (n, total) in found.items():
                rows = max(m, share * total)
                j, c = model.schema_.names(Kind.NOMINAL).index(column), model.schema_.classes.code(label)
                assert math.exp(terms[i, j, c]) == pytest.approx(
                    (n + rows * prior) / (total + rows), rel=1e-12
                )


def test_m_is_one_where_a_hundredth_of_the_rows_is_less():
    """Document 001: 'm: up to 1 % of the examples; we can only add m = 1', 1/18 for overcast."""
    by_share, plain = (
        play_tennis(smoothing=s).predict_proba_one(QUERY)
        for s in (MEstimate(1.0, share=0.01), MEstimate(1.0))
    )
    assert by_share == pytest.approx(plain, rel=1e-12)
    even, given = (
        play_tennis(smoothing=MEstimate(2.0, p)).predict_proba_one({"Wind": "Weak"}) for p in (None, 0.5)
    )
    assert given == pytest.approx(even, rel=1e-12)


@pytest.mark.parametrize("wrong", [{"p": 0.0}, {"p": "even"}, {"p": 1.5}, {"share": -1.0}])
def test_m_estimate_refuses(wrong):
    with pytest.raises(SchemaError, match=next(iter(wrong))):
        MEstimate(1.0, **wrong)


def test_m_estimate_of_sketches_and_intervals_is_plain():
    with pytest.raises(SchemaError, match="MEstimate"):
        NaiveBayes(nominal="sketch", smoothing=MEstimate(1.0, "pooled")).learn_one({"a": "x"}, "y")
    with pytest.raises(SchemaError, match="MEstimate"):
        Intervals(smoothing=MEstimate(1.0, share=0.1))


@pytest.mark.parametrize(("ddof", "suffix"), [(0, "pop"), (1, "sample")])
def test_temperature(ddof, suffix):
    """Document 001 prints the 1/N formula beside numbers made with N - 1, and a denominator that is half of its own."""
    vector = VECTORS["gaussian_temperature"]
    model = NaiveBayes(numeric=Gaussian(ddof=ddof))
    values = vector["yes"] + vector["no"]
    model.learn_many([{"t": t} for t in values], ["Yes"] * len(vector["yes"]) + ["No"] * len(vector["no"]))
    for point in vector["densities"]:
        terms = model.engine.views["numeric"].column_terms(model.encode([{"t": point["x"]}]))[0, 0]
        for label in ("Yes", "No"):
            density = math.exp(terms[model.schema_.classes.code(label)])
            assert density == pytest.approx(point[f"{label}_{suffix}"], rel=1e-9)
        even = NaiveBayes(numeric=Gaussian(ddof=ddof), prior={"Yes": 0.6, "No": 0.4})
        assert even.declared().classes == ["Yes", "No"]
        assert model.predict_proba_one({"t": point["x"]})["Yes"] == pytest.approx(
            point[f"post_yes_{suffix}"], abs=1e-9
        )


def documents():
    docs = VECTORS["sentiment_bernoulli"]["docs"]
    return [{"text": text} for text, _ in docs], [label for _, label in docs]


def test_bernoulli_sentiment():
    """Document 004 leaves out absent words and the prior in its arithmetic; the decision is the same."""
    vector = VECTORS["sentiment_bernoulli"]
    model = BernoulliNB()
    model.learn_many(*documents())
    query = {"text": " ".join(vector["query"])}
    assert model.predict_proba_one(query) == pytest.approx(vector["posterior"], abs=1e-12)
    joint = dict(
        zip(model.schema_.classes.values, model.joint_log_proba(model.encode([query]))[0], strict=True)
    )
    for label, (fraction, _) in vector["scores"].items():
        assert math.exp(joint[label]) == pytest.approx(float(Fraction(fraction)), rel=1e-12)


def test_multinomial_sentiment():
    vector = VECTORS["sentiment_multinomial"]
    model = MultinomialNB()
    model.learn_many(*documents())
    query = {"text": " ".join(VECTORS["sentiment_bernoulli"]["query"])}
    assert model.predict_proba_one(query) == pytest.approx(vector["posterior"], abs=1e-12)
    laplace = MultinomialNB(prior="laplace")
    laplace.learn_many(*documents())
    assert laplace.predict_one(query) == "-", "with Laplace's prior the decision flips"
