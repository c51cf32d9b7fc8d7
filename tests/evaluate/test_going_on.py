"""An evaluation taken apart and put together again goes on as if nothing had happened."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.persist.data import records

from bayou import HoeffdingTree, NaiveBayes, NoChange, ResetOnDrift, files
from bayou.errors import BayouError
from bayou.evaluate import Prequential
from bayou.persist.checkpoint import Snapshot
from bayou.training import restored
from bayou.training.batches import batches


def competitors() -> dict[str, Any]:
    return {"nb": NaiveBayes(), "tree": HoeffdingTree(), "reset": ResetOnDrift(), "mine": NoChange()}


def taken_apart(work: Prequential) -> Prequential:
    """The same evaluation in what might be another process."""
    models = {name: files.loads(files.dumps(model)) for name, model in work.models.items()}
    arrays = {name: np.array(array) for name, array in work.arrays().items()}
    again = restored(Prequential(models, window=50), Snapshot(models, work.rows, {}, {}, arrays))
    assert isinstance(again, Prequential)
    return again


def numbers(work: Prequential) -> dict[str, Any]:
    data = work.evaluation().to_dict()
    for each in (data, *data["models"]):
        each["seconds"] = each["rows_per_second"] = None
    return data


@pytest.mark.parametrize("block", [30, 64])
def test_taken_apart_after_every_batch(block: int) -> None:
    """Classes come late, windows are half full, points of curves are thinned out."""
    X, y = records(600, 5)
    alone, stopped = Prequential(competitors(), window=50), Prequential(competitors(), window=50)
    stopped = taken_apart(stopped)
    for batch in batches((X, y), block):
        alone.step(batch)
        stopped.step(batch)
        stopped = taken_apart(stopped)
    assert numbers(stopped) == numbers(alone)
    assert stopped.drifts.rows == alone.drifts.rows
    for name, model in alone.models.items():
        assert files.dumps(model) == files.dumps(stopped.models[name])


def test_a_checkpoint_without_rows_one_by_one_goes_on_with_cells() -> None:
    """A version that did not keep them wrote it: areas are read off the cells from the start."""
    X, y = records(200, 5)
    work = Prequential({"nb": NaiveBayes()}, window=20)
    for batch in batches((X, y), 50):
        work.step(batch)
    whole = work.evaluation()["nb"]
    older = {name: array for name, array in work.arrays().items() if ".first." not in name}
    assert len(older) == len(work.arrays()) - 12  # of the model and of two baselines
    again = restored(Prequential(dict(work.models), window=20), Snapshot(work.models, 200, {}, {}, older))
    found = again.evaluation()["nb"]
    assert found.accuracy == whole.accuracy
    for label in found.labels:
        assert whole.thresholds(label).ranking is not None
        assert found.thresholds(label).ranking is None
        assert abs(found.thresholds(label).auc - whole.thresholds(label).auc) < 0.01


def test_states_that_no_rows_can_leave_are_refused_or_harmless() -> None:
    """Every array of a checkpoint may have been written by anybody."""
    X, y = records(200, 5)
    work = Prequential({"nb": NaiveBayes(), "reset": ResetOnDrift()}, window=20)
    for batch in batches((X, y), 50):
        work.step(batch)
    good = dict(work.arrays())
    refused = 0
    for name, array in good.items():
        changes: list[Any] = [None, array[:-1], array.astype(np.float32), array[..., np.newaxis]]
        for value in (-1, 1 << 30, np.nan):
            if array.size and not (array.dtype.kind != "f" and value != value):
                changed = array.copy()
                changed.flat[array.size // 2] = value
                changes.append(changed)
        for change in changes:
            arrays = {**good, name: change} if change is not None else {k: good[k] for k in good if k != name}
            again = Prequential(dict(work.models), window=20)
            try:
                restored(again, Snapshot(work.models, 200, {}, {}, arrays))
            except BayouError:
                refused += 1
            else:
                again.evaluation().to_dict()
    assert refused > 4 * len(good), "most of these are impossible"
    with pytest.raises(BayouError, match="another window"):
        restored(Prequential(dict(work.models), window=21), Snapshot(work.models, 200, {}, {}, good))
