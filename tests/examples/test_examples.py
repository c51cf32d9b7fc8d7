"""A classifier and a density, each added in one file as CONTRIBUTING says, pass the whole contract."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from bayou import AveragedNB, EcocNB, NaiveBayes, WeightedNB
from bayou.testing import CHECKS
from tests.examples import hidden_naive_bayes, student
from tests.examples.hidden_naive_bayes import HNB
from tests.examples.student import Student
from tests.seeds import seeds

MODELS = {
    "HNB": HNB,
    "NaiveBayes, Student": lambda: NaiveBayes(numeric=Student()),
    "WeightedNB, Student": lambda: WeightedNB(numeric=Student(df=3.0)),
    "AveragedNB, Student": lambda: AveragedNB(numeric=Student()),
    "EcocNB, Student": lambda: EcocNB(NaiveBayes(numeric=Student())),
}


@pytest.mark.parametrize("example", [hidden_naive_bayes, student], ids=["HNB", "Student"])
def test_is_one_file_under_a_hundred_lines(example):
    assert len(Path(example.__file__).read_text().splitlines()) < 100


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_contract(name, check):
    for seed in seeds(name, check.__name__):
        check(MODELS[name], seed)


def test_hidden_naive_bayes_is_its_formula():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 3, size=(300, 4))
    y = (rows[:, 0] + rows[:, 1] + rng.integers(0, 2, 300)) % 2
    model = HNB().fit([[f"v{v}" for v in row] for row in rows], y)
    information = np.zeros((4, 4))
    for i in range(4):
        for j in set(range(4)) - {i}:
            for c in range(2):
                joint = np.zeros((3, 3))
                np.add.at(joint, (rows[y == c, i], rows[y == c, j]), 1.0)
                alone = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / joint.sum()
                information[i, j] += np.sum(joint[joint > 0] * np.log((joint / alone)[joint > 0])) / 300
    share = information / information.sum(axis=1, keepdims=True)
    expected = np.zeros((300, 2))
    for n, row in enumerate(rows):
        for c in range(2):
            own = rows[y == c]
            expected[n, c] = len(own)
            for i in range(4):
                mixed = 0.0
                for j in set(range(4)) - {i}:
                    beside = own[own[:, j] == row[j]]
                    mixed += share[i, j] * (np.sum(beside[:, i] == row[i]) + 1.0) / (len(beside) + 3.0)
                expected[n, c] *= mixed
    found = model.predict_proba([[f"v{v}" for v in row] for row in rows])
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-8)


def test_student_is_scipys():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(50, 3)) * [1.0, 10.0, 0.1], np.arange(50) % 2
    model = NaiveBayes(numeric=Student(df=5.0)).fit(X, y)
    terms = model.engine.views["numeric"].column_terms(model.encode(X[:4]))
    for c in range(2):
        own = X[y == c]
        scale = own.std(axis=0) * np.sqrt(3.0 / 5.0)
        np.testing.assert_allclose(terms[:, :, c], stats.t.logpdf(X[:4], 5.0, own.mean(axis=0), scale))
