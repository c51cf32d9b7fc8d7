"""Loads small files that ask for a lot, and prints the time and memory each takes. Run as a script by `test_large`."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from typing import Any

from tests.persist.hostile import forget_high_water, high_water
from tests.persist.models import feed

from bayou import (
    AODE,
    AWE,
    AveragedNB,
    Bagging,
    EcocNB,
    Fading,
    HoeffdingTree,
    NaiveBayes,
    WeightedNB,
    Window,
    files,
    set_threads,
)
from bayou.errors import ModelFileError
from bayou.persist.container import Content, pack, unpack
from bayou.persist.model_file import FORMAT
from bayou.recipes import (
    CountMinSketch,
    CPiD,
    EqualWidth,
    GKClass,
    Grid,
    Kernel,
    KMeansBins,
    KunchevaPlumpton,
    MiniBatch,
    PiD,
    RandomCode,
    Sketch,
)

MUCH = (10**6, 10**9, 10**18)
SUBJECTS = [
    Bagging(NaiveBayes(), n_estimators=2), Window(rows=40, panes=2), AWE(chunk=40, members=2, folds=2),
    NaiveBayes(numeric=PiD()), NaiveBayes(numeric=CPiD()), NaiveBayes(numeric=GKClass(), bins=EqualWidth()),
    NaiveBayes(numeric=Kernel()), NaiveBayes(numeric=GKClass(), bins=KMeansBins()), NaiveBayes(nominal=Sketch()),
    NaiveBayes(nominal=CountMinSketch()), EcocNB(code=RandomCode(15)), AODE(numeric=Grid()), AveragedNB(rows=40),
    HoeffdingTree(numeric=GKClass(tuples=50)), WeightedNB(rate=MiniBatch()), WeightedNB(rate=KunchevaPlumpton()),
    Fading(),
]  # fmt: skip
NAMED: list[
    tuple[int, tuple[str, ...], dict[str, Any]]
] = [  # number of the subject, way to the recipe, parameters
    (0, (), {"n_estimators": 10**6}),
    (1, (), {"rows": 10**6, "panes": 10**6}),
    (2, (), {"members": 10**6}),
    (3, ("numeric",), {"max_cells": 5 * 10**6}),
    (5, ("numeric",), {"tuples": 10**9, "exact": 10**6}),
    (5, ("numeric",), {"eps": 1e-6}),
    (9, ("nominal",), {"eps": 1e-12}),
    (9, ("nominal",), {"eps": 1e-6, "delta": 1e-300}),
    (10, ("code",), {"bits": 10**9}),
    (11, ("numeric",), {"bins": 10**9}),
    (12, (), {"rows": 10**7}),
    (13, (), {"memory": 10**18}),
]


def numbers(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all whole numbers in JSON."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inner, (*way, key))
    elif type(value) is int:
        yield way


def put(content: Content, way: tuple[Any, ...], value: Any) -> bytes:
    document = copy.deepcopy(content.document)
    place = document["params"]
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] = value
    return b"".join(pack(FORMAT, document, content.arrays))


def nested(content: Content, depth: int, begun: bool) -> bytes:
    """Baggings of ten in baggings of ten."""
    params: dict[str, Any] = {"n_estimators": 10}
    for _ in range(depth - 1):
        params = {"n_estimators": 10, "estimator": {"model": "Bagging", "params": params}}
    document = {**content.document, "params": params}
    if begun:
        return b"".join(pack(FORMAT, document, content.arrays))
    empty = unpack(files.dumps(Bagging()), FORMAT)
    return b"".join(pack(FORMAT, {**empty.document, "params": params}, empty.arrays))


def cases() -> Iterator[tuple[str, bytes]]:
    made = []
    for model in SUBJECTS:
        feed(model, 100, 3)
        made.append(unpack(files.dumps(model), FORMAT))
    for which, way, params in NAMED:
        content = copy.deepcopy(made[which])
        place = content.document["params"]
        for key in way:
            place = place[key]["params"]
        place.update(params)
        yield f"{SUBJECTS[which]} with {params}", b"".join(pack(FORMAT, content.document, content.arrays))
    for depth in (2, 6, 12):
        for begun in (True, False):
            yield f"{depth} nested, begun: {begun}", nested(made[0], depth, begun)
    for model, content in zip(SUBJECTS, made, strict=True):
        yield f"{model}, as it is", b"".join(pack(FORMAT, content.document, content.arrays))
        for way in numbers(content.document["params"]):
            for value in MUCH:
                yield f"{model} with {way} = {value:,}", put(content, way, value)


def main() -> None:
    set_threads(1)
    done = []
    for name, data in cases():
        forget_high_water()
        before, start = high_water(), time.process_time()
        try:
            files.loads(data)
            answer = "accepted"
        except ModelFileError as problem:
            answer = str(problem)[:100]
        seconds = time.process_time() - start
        done.append([name, len(data) / 2**20, seconds, (high_water() - before) / 1024, answer])
    print(json.dumps(done))


if __name__ == "__main__":
    main()
