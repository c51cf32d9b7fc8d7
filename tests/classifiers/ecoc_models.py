"""Coded models and their columns, for the tests of EcocNB."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from bayou.classifiers.ecoc import EcocNB
from bayou.readings.dichotomies import Dichotomies

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "ecoc.json").read_text())


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


def unfolded(engine, matrix):
    """The log-odds readings of all views of an engine over the columns of a matrix in storage order."""
    signs = np.asarray(matrix, dtype=float)
    sides = Dichotomies(
        np.stack([signs > 0, signs < 0]).astype(float), np.zeros((0, 0)), bool((signs == 0).any())
    )
    return {name: view.odds(sides) for name, view in engine.views.items()}
