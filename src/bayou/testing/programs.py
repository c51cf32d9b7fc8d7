"""Random programs: a model used in every way at once, beside a naive twin that only learns.

A program mixes learning in blocks and records with predictions, saving, copying, threads, bad rows, merges, unlearning,
decay and refreshes. The twin learns the same rows in the simplest way and does only the steps that are meant to change
a model. In the end both have the same bits; a step that one refuses the other refuses, with an error of this library,
and a refused step changes nothing.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayou.errors import BayouError
from bayou.persist import model_file
from bayou.persist.kinds import kinds_of
from bayou.testing.contract import Factory, fingerprint, probabilities, warnings_expected
from bayou.testing.data import Data, random_data

LEARN = ("learn_one", "learn_many", "test_then_train")
LOOK = ("predict_one", "predict_many", "threads", "explain", "digest")
MOVE = ("save and load", "pickle", "deepcopy")
REFUSED = ("bad row", "bad weight", "unlearn a stranger", "decay by 2")
CHANGE = ("merge", "merge a fresh shard", "merge nothing", "unlearn", "decay", "refresh")
VERBS = (*LEARN * 3, *LOOK, *MOVE, *REFUSED, *CHANGE)


@dataclass(frozen=True)
class Step:
    """One step: a verb, and the rows of the program's data that it is applied to."""

    verb: str
    first: int
    last: int


def random_program(seed: int, n: int, steps: int = 14) -> list[Step]:
    """Steps over `n` rows; every row is given to a learning step once, in order.

    >>> program = random_program(0, 40)
    >>> len(program), sum(step.last - step.first for step in program if step.verb in LEARN) <= 40
    (14, True)
    """
    rng = np.random.default_rng(seed)
    program, at = [], 0
    for _ in range(steps):
        verb = str(rng.choice(VERBS))
        if verb in LEARN:
            last = min(n, at + int(rng.integers(1, 12)))
            program.append(Step(verb, at, last))
            at = last
        else:
            first = int(rng.integers(0, max(1, at)))
            program.append(Step(verb, first, min(at, first + int(rng.integers(1, 8)))))
    return program


def check_programs(factory: Factory, seeds: Iterable[int] = range(20)) -> None:
    """Run programs on fresh models made by `factory`; raises AssertionError, with the program, where one goes wrong."""
    for seed in seeds:
        check_program(factory, seed)


@warnings_expected()
def check_program(factory: Factory, seed: int) -> None:
    """Run one program beside its twin, which learns in blocks or record by record, depending on the seed."""
    n = 60
    data = _partly_unlabelled(random_data(seed, n, words=factory().numbers_are_words), seed)
    program = random_program(seed, n)
    model, twin = factory(), Twin(factory(), by_records=seed % 2 == 1)
    done: list[Step] = []
    try:
        for step in program:
            done.append(step)
            model = _take(model, twin, step, data, factory)
        twin.catch_up()
        assert model.started == twin.model.started, "one of them has begun"
        if model.started:
            assert fingerprint(model) == fingerprint(twin.model), "other bits than the twin"
            assert probabilities(model, data) == probabilities(twin.model, data), (
                "other predictions than the twin"
            )
    except Exception as error:
        error.add_note(f"program {seed} of {factory()!r}: {', '.join(map(_step_in_words, done))}")
        raise


class Twin:
    """The naive model: it keeps rows until something else happens, then learns them all at once or one by one."""

    def __init__(self, model: Any, by_records: bool) -> None:
        self.model, self.by_records = model, by_records
        self.pending: list[Data] = []

    def catch_up(self) -> Any:
        """Learn the pending rows; return the model."""
        rows = [
            row
            for piece in self.pending
            for row in zip(piece.records, piece.labels, piece.weights, strict=True)
        ]
        self.pending = []
        if self.by_records:
            for x, y, w in rows:
                self.model.learn_one(x, y, w)
        elif rows:
            records, labels, weights = zip(*rows, strict=True)
            self.model.learn_many(list(records), list(labels), list(weights))
        return self.model


def _take(model: Any, twin: Twin, step: Step, data: Data, factory: Factory) -> Any:
    """Do one step; return the model to continue with."""
    rows, verb = data[step.first : step.last], step.verb
    if verb in LEARN:
        _learn(model, verb, rows)
        twin.pending.append(rows)
    elif verb in MOVE:
        return _moved(model, verb)
    elif verb in LOOK and model.started:
        _look(model, verb, rows)
    elif verb in REFUSED and model.started:
        _refuse(model, verb, rows)
    elif verb in CHANGE and model.started:
        mine = _outcome(model, lambda: _change(model, verb, rows, factory))
        theirs = _outcome(twin.catch_up(), lambda: _change(twin.model, verb, rows, factory))
        assert mine == theirs, (mine, theirs)
    return model


def _learn(model: Any, verb: str, rows: Data) -> None:
    if verb == "learn_one":
        for x, y, w in zip(rows.records, rows.labels, rows.weights, strict=True):
            model.learn_one(x, y, w)
    elif rows.records:
        act = model.learn_many if verb == "learn_many" else model.test_then_train_batch
        act(rows.records, rows.labels, rows.weights)


def _moved(model: Any, verb: str) -> Any:
    if verb == "deepcopy":
        return copy.deepcopy(model)
    if verb == "pickle":
        return pickle.loads(pickle.dumps(model))
    kinds = kinds_of(model)
    return model_file.loads(model_file.dumps(model, kinds), kinds) if model.started else model


def _look(model: Any, verb: str, rows: Data) -> None:
    """Predict or inspect the model twice: both give the same, and nothing changes."""
    if verb == "digest":
        assert model.digest() == model.digest()
    elif verb == "explain":
        _outcome(model, lambda: model.explain(rows.records[0] if rows.records else {}))
    elif verb == "predict_one":
        for record in rows.records:
            assert model.predict_proba_one(record) == model.predict_proba_many([record])[0]
            model.predict_one(record)
    elif verb == "threads":
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda _: probabilities(model, rows), range(4)))
        assert all(result == probabilities(model, rows) for result in results)
    else:
        assert probabilities(model, rows) == probabilities(copy.deepcopy(model), rows)


def _refuse(model: Any, verb: str, rows: Data) -> None:
    """Do what the model must refuse, with an error of this library and without a change."""
    record = dict(rows.records[0]) if rows.records else {}
    acts: dict[str, Callable[[], Any]] = {
        "bad row": lambda: model.learn_many([record, {**record, "wide": object()}], ["a", "new class"]),
        "bad weight": lambda: model.learn_many([record], ["a"], [-1.0]),
        "unlearn a stranger": lambda: model.unlearn([record], ["never met"]),
        "decay by 2": lambda: model.decay(2.0),
    }
    assert _outcome(model, acts[verb]) is not None, f"{verb} was not refused"


def _change(model: Any, verb: str, rows: Data, factory: Factory) -> None:
    if verb == "merge nothing":
        before = model.digest() if model.law.merges else None
        model.merge(model.fresh())
        assert model.digest() == before, "merging an empty model changed something"
    elif verb.startswith("merge"):
        shard = factory() if verb == "merge" else model.fresh()
        _learn(shard, "learn_many", rows)
        model.merge(shard)
    elif verb == "unlearn":
        model.unlearn(rows.records, rows.labels, rows.weights)
    elif verb == "decay":
        model.decay(0.5)
    else:
        model.refresh()


def _outcome(model: Any, act: Callable[[], Any]) -> str | None:
    """The type of the error with which an action was refused, None if it was done; a refusal must change no bit."""
    before = fingerprint(model)
    try:
        act()
    except BayouError as error:
        assert str(error)
        assert fingerprint(model) == before, f"changed by what was refused: {error}"
        return type(error).__name__
    return None


def _partly_unlabelled(data: Data, seed: int) -> Data:
    """One row in ten without its label, now and then the first one."""
    hidden = np.random.default_rng(seed).random(len(data)) < 0.1
    labels = [None if h else y for h, y in zip(hidden, data.labels, strict=True)]
    return Data(data.records, labels, data.weights)  # type: ignore[arg-type]


def _step_in_words(step: Step) -> str:
    return f"{step.verb} {step.first}:{step.last}"
