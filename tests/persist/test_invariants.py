"""Files with right checksums whose numbers would send a kernel out of its arrays are refused, and say which array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.persist.models import batch, feed, trained

from bayou import (
    AODE,
    TAN,
    AveragedNB,
    Declared,
    EcocNB,
    HoeffdingTree,
    NaiveBayes,
    ReadMany,
    SPCr,
    WeightedNB,
    files,
)
from bayou.errors import ModelFileError
from bayou.persist.container import pack, unpack
from bayou.persist.model_file import FORMAT
from bayou.rates import KunchevaPlumpton, MiniBatch

Edit = Callable[[NDArray[Any]], NDArray[Any] | None]


def forged(model: Any, name: str, edit: Edit) -> bytes:
    """The file of a model with one array changed in place or replaced."""
    content = unpack(files.dumps(model), FORMAT)
    arrays = {key: np.array(array) for key, array in content.arrays.items()}
    new = edit(arrays[f"state.{name}"])
    arrays[f"state.{name}"] = arrays[f"state.{name}"] if new is None else new
    return b"".join(pack(FORMAT, content.document, arrays))


def put(place: Any, value: float) -> Edit:
    def edit(array: NDArray[Any]) -> None:
        array[place] = value

    return edit


def taught(model: Any, rows: int = 60) -> Any:
    feed(model, rows, 3)
    return model


def texts() -> Any:
    model = AveragedNB(rows=40, schema=Declared(columns={"text": "text"}))
    words = ["cheap pills", "see you", "noon pills"]
    model.learn_many([{"text": words[i % 3] + f" w{i}", "a": str(i % 4)} for i in range(60)], ["p", "q"] * 30)
    return model


def equal_breaks(array: NDArray[Any]) -> None:
    array[0, 5] = array[0, 6]


def add_one(array: NDArray[Any]) -> None:
    array[0, 0] += 1.0


def second_parent(sets):
    """One term more has a parent: a third column."""
    out = sets.copy()
    row = int(np.flatnonzero(out[:, 1] >= 0)[0])
    out[row, 2] = next(j for j in range(int(out.max()) + 1) if j not in out[row])
    return out


def one_less(array: NDArray[Any]) -> NDArray[Any]:
    return array[..., :-1].copy()


def last_is_empty(array: NDArray[Any]) -> None:
    array[-2] = array[-1]


FORGED: dict[str, tuple[Callable[[], Any], str, Edit]] = {
    "AveragedNB: a sampled value beyond its vocabulary": (
        lambda: taught(AveragedNB(rows=40)), "weights.codes", put((0, 0), 1 << 20),
    ),
    "AveragedNB: a sampled value below -1": (lambda: taught(AveragedNB(rows=40)), "weights.codes", put((0, 0), -9)),
    "AveragedNB: a sampled label beyond the classes": (
        lambda: taught(AveragedNB(rows=40)), "weights.y", put(0, 1 << 20),
    ),
    "AveragedNB: a sampled word beyond the vocabulary": (texts, "weights.0.ids", put(0, 1 << 20)),
    "AveragedNB: a negative word": (texts, "weights.0.ids", put(0, -5)),
    "AveragedNB: words of rows that end early": (texts, "weights.0.indptr", put(1, 1 << 40)),
    "joint counts: a frozen column without cells": (lambda: taught(AODE(), 900), "joint.sizes", put(-1, 0)),
    "joint counts: a column that is not frozen with cells": (lambda: taught(AODE(), 900), "joint.frozen", put(-1, 0)),
    "joint counts: a column frozen without its cells": (lambda: taught(AODE(), 60), "joint.frozen", put(-1, 1)),
    "joint counts: a pair heavier than its class": (lambda: taught(AODE(), 900), "joint.pairs", put((0, 0), 1e9)),
    "joint counts: a value heavier than its class": (lambda: taught(AODE(), 900), "joint.singles", put((0, 0), 1e9)),
    "joint counts: a column heavier than its class": (lambda: taught(AODE(), 900), "joint.present", put((0, 0), 1e9)),
    "joint counts: a pending label below 0": (lambda: taught(AODE(), 60), "joint.pending_y", put(0, -1)),
    "joint counts: a cut at minus infinity": (lambda: taught(AODE(), 900), "joint.cuts", put((0, 0), -np.inf)),
    "intervals: the last column has none": (
        lambda: taught(NaiveBayes(numeric="gk", bins="modl")), "numeric.reading.offsets", last_is_empty,
    ),
    "PiD: equal breaks": (lambda: taught(NaiveBayes(numeric="pid"), 1500), "numeric.breaks", equal_breaks),
    "PiD: a break behind the last cell": (
        lambda: taught(NaiveBayes(numeric="pid"), 1500), "numeric.breaks", put((0, -1), 5.0),
    ),
    "PiD: more cells than allowed": (lambda: taught(NaiveBayes(numeric="pid"), 1500), "numeric.sizes", put(0, 2000)),
    "PiD: cells of a column without a range": (
        lambda: taught(NaiveBayes(numeric="pid"), 60), "numeric.sizes", put(0, 10),
    ),
    "PiD: more values kept than there is room": (
        lambda: taught(NaiveBayes(numeric="pid"), 60), "numeric.filled", put(0, 1001),
    ),
    "CPiD: fewer cells than it keeps": (lambda: taught(NaiveBayes(numeric="cpid"), 1500), "numeric.sizes", put(0, 3)),
    "CPiD: as many cells as there is room": (
        lambda: taught(NaiveBayes(numeric="cpid"), 1500), "numeric.sizes", put(0, 128),
    ),
    "WeightedNB: weight for an expert that takes no part": (
        lambda: taught(WeightedNB()), "weights.mixture_weights", lambda a: np.where(a > 0, a, 0.1),
    ),
    "WeightedNB: a negative mixture weight": (
        lambda: taught(WeightedNB()), "weights.mixture_weights", lambda a: -a,
    ),
    "WeightedNB: a weight so large that a product overflows": (
        lambda: taught(WeightedNB()), "weights.weights", put((0, 0), 1e151),
    ),
    "WeightedNB: a weight as far below 0": (lambda: taught(WeightedNB()), "weights.weights", put((0, 0), -1e151)),
    "WeightedNB: a row number that is no place in the ring": (
        lambda: taught(WeightedNB(rate=KunchevaPlumpton())), "weights.scalars", put(7, -3.0),
    ),
    "WeightedNB: a pending row without a label": (
        lambda: taught(WeightedNB(rate=MiniBatch(rows=50)), 70), "weights.labels", put(0, -1),
    ),
    "SPCr: fewer records than candidates": (lambda: taught(SPCr()), "joint.record", one_less),
    "SPCr: a record that is no number": (lambda: taught(SPCr()), "joint.record", put((0, 0), np.nan)),
    "ReadMany: fewer records than readings": (lambda: taught(ReadMany()), "joint.record", one_less),
    **{
        f"{name}: two parents where pairs are counted": (make, "joint.reading.sets", second_parent)
        for name, make in {
            "TAN": lambda: taught(TAN(interpolate=0.0)), "TAN that is kept": lambda: taught(TAN(delta=0.1)),
        }.items()
    },
    "TAN: a column without a term": (
        lambda: taught(TAN(interpolate=0.0)), "joint.reading.sets", lambda a: np.concatenate([a[:1], a[:1], a[2:]]),
    ),
    "sketch with groups: weight of other values that nobody met": (
        lambda: taught(NaiveBayes(nominal="sketch", groups="modl")), "nominal.rest", put((0, 0), 1e9),
    ),
    "sketch with groups: less than no weight": (
        lambda: taught(NaiveBayes(nominal="sketch", groups="modl")), "nominal.rest", put((0, 0), -1e-7),
    ),
    "sketch: the text of a value is no text": (
        lambda: taught(NaiveBayes(nominal="sketch")), "nominal.texts", put((0, 0), 0xFF),
    ),
    "GK: a pending row of negative weight": (
        lambda: taught(NaiveBayes(numeric="gk")), "numeric.weights", put(0, -1e-7),
    ),
    "GK: a tuple of negative weight": (
        lambda: taught(NaiveBayes(numeric="gk"), 900), "numeric.tuples", put((0, 1), -1e-7),
    ),
    "kernel: a column without precision": (
        lambda: taught(NaiveBayes(numeric="kernel")), "numeric.reading.precision", put(0, 0.0),
    ),
    "rounded normals: a column with more than one per class": (
        lambda: taught(NaiveBayes(numeric="rounded-normal")), "numeric.reading.offsets", put(1, 7),
    ),
    "moments: a variance beyond all values": (
        lambda: taught(EcocNB(NaiveBayes("gaussian"))), "numeric.n", put((0, 0), 5e-324),
    ),
    "values: counts of one class do not add up": (lambda: taught(NaiveBayes()), "nominal.present", add_one),
    "tree: a node to come that is a test already": (
        lambda: taught(HoeffdingTree()), "tree.nodes", put((-1, 0), 1),
    ),
    "tree: weight at a node to come": (lambda: taught(HoeffdingTree()), "tree.weight", put((-1, 0), 1.0)),
    "tree: a branch to come that leads to the root": (lambda: taught(HoeffdingTree()), "tree.branches", put(-1, 1)),
    "words: less than no weight": (lambda: trained("MultinomialNB", 40), "words.0.counts", put((0, 0), -1e-7)),
}  # fmt: skip


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_file_is_refused(case: str) -> None:
    make, name, edit = FORGED[case]
    model = make()
    assert files.loads(files.dumps(model)).started
    with pytest.raises(ModelFileError):
        files.loads(forged(model, name, edit))


@pytest.mark.parametrize("model", [NaiveBayes(numeric="pid"), NaiveBayes(numeric="cpid"), AODE()], ids=repr)
def test_a_file_merges_with_itself(model: Any) -> None:
    feed(model, 1500, 3)
    one, other = (files.loads(files.dumps(model)) for _ in range(2))
    one.merge(other)
    assert np.isfinite(one.proba(one.encode(batch(model, 4, 1)[0]))).all()


def test_an_array_that_nobody_declares_is_refused() -> None:
    content = unpack(files.dumps(trained("MultinomialNB", 40)), FORMAT)
    more = {**content.arrays, "state.words.more": np.zeros(1)}
    with pytest.raises(ModelFileError, match=r"words\.more"):
        files.loads(b"".join(pack(FORMAT, content.document, more)))
