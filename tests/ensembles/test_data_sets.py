"""Real streams and a drifting one: what forgetting and voting are for. MOA's figures stand in docs/trees.md."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from reproduce.awe import beside_its_members
from tests.seeds import LONG

from bayou import NaiveBayes, NoChange
from bayou.classifiers.hoeffding_tree import HoeffdingTree
from bayou.ensembles import AWE, Bagging, Fading, ResetOnDrift, Window
from bayou.streams import open_stream
from bayou.streams.generators import SEA

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "streams"


def prequential(model, parts):
    right = rows = 0
    for part, labels in parts:
        proba = model.test_then_train_batch(part, labels)
        known = np.array(model.labels(), dtype=object)[proba.argmax(axis=1)]
        right += np.sum((known == np.array(labels.to_pylist(), dtype=object)) & (proba.max(axis=1) > 0))
        rows += len(labels)
    return 100 * right / rows


@cache
def electricity():
    path = DATA / "elecNormNew.arff.gz"
    if not path.exists():
        pytest.skip("the Electricity stream is not here")
    parts = []
    with open_stream(path) as stream:
        while (rows := stream.read(5000)) is not None:
            parts.append((rows, rows.labels))
    return parts


@cache
def on_electricity(name, parts=None):
    models = {
        "bayes": NaiveBayes(),
        "tree": HoeffdingTree(split="gain"),
        "tested tree": HoeffdingTree(),
        "majority tree": HoeffdingTree(split="gain", leaf="majority"),
        "bagged trees": Bagging(HoeffdingTree(split="gain"), rate=1),
        "bagged tested trees": Bagging(),
        "normal": NaiveBayes("gaussian"),
        "reset": ResetOnDrift(NaiveBayes("gaussian")),
        "fading": Fading(NaiveBayes("gaussian"), half_life=1000),
        "window": Window(NaiveBayes("gaussian"), rows=1000),
    }
    return prequential(models[name], electricity()[:parts])


@pytest.mark.parametrize(
    ("name", "moa"), [("tree", 79.20), ("majority tree", 75.72), ("bagged trees", 82.42), ("bayes", 73.36)]
)
def test_within_half_a_point_of_moa_or_better(name, moa):
    assert on_electricity(name) > moa - 0.5


def test_defaults_are_better_than_the_documents_protocol():
    parts = None if LONG else 3  # of ten
    assert on_electricity("tested tree") > on_electricity("tree")
    assert on_electricity("bagged tested trees", parts) > on_electricity("bagged trees", parts) + 3


@pytest.mark.parametrize("name", ["reset", "fading", "window"])
def test_forgetting_helps_naive_bayes(name):
    assert on_electricity(name) > on_electricity("normal") + 3


def test_a_short_memory_beats_no_change():
    first = electricity()[:2]
    assert (
        prequential(Fading(NaiveBayes("gaussian"), half_life=20), first) > prequential(NoChange(), first) + 1
    )


@pytest.mark.parametrize(
    ("model", "lead", "rows"),
    [
        (AWE, 0.002, 40_000),
        (lambda: AWE(chunk=200), 0.005, 20_000),
        (lambda: AWE(HoeffdingTree(grace=20, delta=0.1, tie=0.2, split="gain")), 0.03, 20_000),
    ],
    ids=["naive Bayes", "small chunks", "trees"],
)
@pytest.mark.parametrize("seed", [1, 2] if LONG else [1])
def test_the_ensemble_is_better_than_its_members_on_sea_with_drift(model, lead, rows, seed):
    found = beside_its_members(model(), seed, rows, rows // 4)
    assert found["ensemble"] > max(found["newest"], found["oldest"], found["mean"]) + lead
    assert found["ensemble"] < SEA().bayes_accuracy
