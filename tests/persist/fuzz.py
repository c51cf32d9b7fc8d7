"""Loads files with a right checksum and wrong numbers, and lives on with every one that is accepted.

Run it with NUMBA_BOUNDSCHECK=1 and a NUMBA_CACHE_DIR of its own, as `test_fuzz` does: kernels then raise IndexError
where they would otherwise read or write beyond an array. Prints what was found as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.persist.models import batch, feed, trained

from bayou import (
    AODE,
    FANC,
    TAN,
    TC,
    AveragedNB,
    Declared,
    HoeffdingTree,
    MultinomialNB,
    NaiveBayes,
    ReadMany,
    SPCr,
    WeightedNB,
    files,
    set_threads,
)
from bayou.errors import BayouError, ModelFileError
from bayou.persist.container import Arrays, pack, unpack
from bayou.persist.model_file import FORMAT
from bayou.rates import AdaGrad, KunchevaPlumpton, MiniBatch

NUMBERS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    -1e-7,
    5e-324,
    1e-300,
    3.0,
    255.0,
    1e9,
    1e149,
    1e300,
    np.inf,
    -np.inf,
    np.nan,
]
INTEGERS = [
    0,
    1,
    -1,
    -2,
    2,
    3,
    7,
    100,
    127,
    128,
    255,
    256,
    512,
    1000,
    2**31 - 1,
    2**31,
    2**62,
    -(2**31),
    -(2**62),
]


def subjects() -> list[Any]:
    """Models of all shapes of state, young and grown."""
    text = Declared(columns={"text": "text"})
    made: list[tuple[Any, int]] = [
        (NaiveBayes(), 60), (NaiveBayes(numeric="gk", groups="modl"), 60), (NaiveBayes(numeric="gk"), 1300),
        (NaiveBayes(numeric="pid"), 60), (NaiveBayes(numeric="pid"), 1300), (NaiveBayes(numeric="cpid"), 1300),
        (NaiveBayes(numeric="kernel"), 80), (NaiveBayes(numeric="rounded-normal"), 80),
        (NaiveBayes(nominal="sketch", groups="modl"), 80), (NaiveBayes(nominal="count-min"), 40), (AODE(), 60),
        (AODE(), 900), (TC(), 60), (TC(), 900), (FANC(), 100), (TAN(), 900), (SPCr(), 100), (ReadMany(), 100),
        (AveragedNB(rows=40), 80), (WeightedNB(), 80), (WeightedNB(rate=AdaGrad()), 80),
        (WeightedNB(rate=KunchevaPlumpton()), 80), (WeightedNB(rate=MiniBatch(rows=50)), 70), (HoeffdingTree(), 1300),
        (HoeffdingTree(numeric="gk"), 1300), (MultinomialNB(), 60),
    ]  # fmt: skip
    for model, rows in made:
        feed(model, rows, 3)
    sample = AveragedNB(rows=30, schema=text)
    sample.learn_many([{"text": f"cheap w{i % 7}", "a": str(i % 4)} for i in range(60)], ["p", "q"] * 30)
    return [
        *(model for model, _ in made),
        sample,
        *(trained(kind, 40) for kind in ("NoChange", "MajorityClass")),
    ]


def mutated(arrays: Arrays, draw: random.Random) -> dict[str, Any]:
    """One to three numbers of the state changed: to something special, to a neighbour's, or by one."""
    out = {name: np.array(array) for name, array in arrays.items()}
    names = [name for name, array in out.items() if name.startswith("state.") and array.size]
    for _ in range(draw.choice([1, 1, 2, 3])):
        array = out[draw.choice(names)]
        place = draw.randrange(array.size)
        choice = draw.random()
        with np.errstate(all="ignore"):
            if choice < 0.2:
                array.flat[place] = array.flat[draw.randrange(array.size)]
            elif choice < 0.4:
                array.flat[place] += np.array(draw.choice([1, -1])).astype(array.dtype)
            else:
                value = draw.choice(NUMBERS if array.dtype.kind == "f" else INTEGERS)
                array.flat[place] = np.array(value).astype(array.dtype)
    return out


def lives(data: bytes, model: Any) -> list[tuple[str, Callable[[], Any]]]:
    """What a user does with a loaded model, each on a copy of its own."""
    X, y = batch(model, 30, 11)
    late = [{**row, "late": "v", "more": 1.5} for row in X] if not model.numbers_are_words else X

    def loaded() -> Any:
        return files.loads(data)

    def finite(one: Any) -> Any:
        assert np.isfinite(one.proba(one.encode(X[:6]))).all(), "non-finite probabilities"
        return one

    def learn() -> None:
        one = loaded()
        one.learn_many(X, y)
        one.learn_many(late[:5], [*y[:4], "new"])
        finite(one)

    def in_order() -> None:
        one = loaded()
        one.test_then_train_batch(X, y)
        finite(one)

    def merge() -> None:
        one = loaded()
        one.merge(loaded())
        finite(one)

    def unlearn() -> None:
        one = loaded()
        one.unlearn(X[:3], y[:3])
        finite(one)

    def decay() -> None:
        one = loaded()
        one.decay(0.5)
        one.refresh()
        finite(one)

    def explain() -> None:
        loaded().explain(X[0])

    def save() -> None:
        one = loaded()
        one.digest()
        files.loads(files.dumps(one))

    return [
        ("predict", lambda: finite(loaded())), ("learn", learn), ("test then train", in_order), ("merge", merge),
        ("unlearn", unlearn), ("decay", decay), ("explain", explain), ("save", save),
    ]  # fmt: skip


def main(count: int, seed: int) -> None:
    set_threads(1)
    draw = random.Random(seed)
    models = subjects()
    good = [unpack(files.dumps(model), FORMAT) for model in models]
    accepted, found = 0, []
    for number in range(count):
        which = draw.randrange(len(models))
        changed = mutated(good[which].arrays, draw)
        data = b"".join(pack(FORMAT, good[which].document, changed))
        try:
            files.loads(data)
        except ModelFileError:
            continue
        accepted += 1
        for name, live in lives(data, models[which]):
            try:
                live()
            except BayouError:
                continue
            except Exception as problem:
                differ = [
                    k
                    for k, a in changed.items()
                    if not np.array_equal(a, good[which].arrays[k], equal_nan=True)
                ]
                where = traceback.extract_tb(problem.__traceback__)[-1]
                found.append([number, repr(models[which]), differ, name, repr(problem)[:200], str(where)])
    print(json.dumps({"files": count, "accepted": accepted, "found": found}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
