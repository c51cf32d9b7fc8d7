"""Trained models of every kind that files know, and random ones."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from tests.persist.data import records

from bayou import Declared, MEstimate, NaiveBayes, files

TEXTS = ["cheap pills now", "see you at noon", "noon pills", "you cheap cheap"]


def trained(kind: str, rows: int = 300, seed: int = 3) -> Any:
    """A model of a kind with its default parameters, trained on rows it can take."""
    model = files.kinds().models[kind]()
    feed(model, rows, seed)
    return model


def feed(model: Any, rows: int, seed: int) -> None:
    X, y = batch(model, rows, seed)
    model.learn_many(X, y)


def batch(model: Any, rows: int, seed: int) -> tuple[list[dict[str, Any]], list[str]]:
    X, y = records(rows, seed)
    if model.numbers_are_words:
        draw = random.Random(seed)
        X = [{"text": f"{draw.choice(TEXTS)} w{draw.randrange(30)}"} for _ in X]
    return X, y


def random_model(seed: int) -> NaiveBayes:
    """Naive Bayes with random parameters over random labels, columns and values of every type."""
    draw = random.Random(seed)
    labels = draw.sample(
        ["a", "ü", 7, -3, True, False, 2.5, b"\xff", "", "\ud800", 10**30], draw.randint(1, 6)
    )
    columns: dict[str, Any] = {}
    if draw.random() < 0.5:
        columns["text"] = "text"
    if draw.random() < 0.5:
        columns["day"] = draw.sample(["mon", "tue", "wed", 1, b"x"], draw.randint(0, 5))
    model = NaiveBayes(
        smoothing=draw.choice([0.0, 1.0, 0.1, MEstimate(draw.random()), np.float64(2)]),
        prior=draw.choice(["empirical", "laplace"]),
        schema=draw.choice([None, Declared(columns=columns, max_values=draw.choice([3, 100]))]),
    )
    for _ in range(draw.randrange(40)):
        row: dict[str, Any] = {"price": draw.choice([None, draw.gauss(0, 1e3), float("inf"), 1e300])}
        if model.schema is not None and "text" in columns:
            row["text"] = draw.choice(TEXTS)
        row["day"] = draw.choice(["mon", "tue", "x", "y", "z", None])
        row[f"late {draw.randrange(3)}"] = draw.choice(["p", "q", True])
        model.learn_one(row, draw.choice(labels), draw.choice([1.0, 0.5, 0.0]))
    return model
