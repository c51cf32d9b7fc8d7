"""Learning from a Spark stream, exactly once: the batch number lies in our own atomic checkpoint.

Spark hands a batch over again if it was stopped before it noted that the batch was done; the number of the last
batch that is in the model tells that it need not be learned again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayou import files
from bayou.backends.fold import check_law
from bayou.backends.spark.fitting import FAN_IN, learned
from bayou.persist.checkpoint import Checkpoint, Snapshot
from bayou.persist.errors import CheckpointError

BATCH, SPARK = "batch", "spark"


def learn_stream(
    df: Any,
    estimator: Any,
    checkpoint: str | os.PathLike[str],
    *,
    target: str,
    trigger: Mapping[str, Any] | None = None,
    fan_in: int = FAN_IN,
    **options: Any,
) -> Any:
    """Learn a streaming DataFrame, batch by batch; returns Spark's running query.

    Parameters
    ----------
    df
        A streaming DataFrame.
    estimator
        A classifier, for a folder that holds no checkpoint yet.
    checkpoint
        A folder of the driver's file system for the model (`streamed_model` reads it at any time) and, in `spark`,
        for Spark's own notes. The same call with the same folder goes on where it was, however it ended.
    trigger
        Arguments of Spark's `trigger`, such as `{"availableNow": True}` or `{"processingTime": "10 seconds"}`.
    target, fan_in, options
        As in `fit`.
    """
    check_law(estimator, ordered=False)
    folder = Path(checkpoint)
    last = _last(folder)
    if last >= 0 and not (folder / SPARK / "offsets").is_dir():
        raise CheckpointError(
            f"{folder} holds a model up to batch {last}, but Spark's notes in {folder / SPARK} are gone: "
            "batches would be numbered from 0 again; give an empty folder"
        )
    step = BatchLearner(estimator, folder, {"target": target, **options}, fan_in)
    writer = df.writeStream.foreachBatch(step).option("checkpointLocation", str(folder / SPARK))
    return (writer.trigger(**trigger) if trigger else writer).start()


def streamed_model(checkpoint: str | os.PathLike[str]) -> Any:
    """The model as it stands after the last batch; anyone may ask at any time."""
    found = Checkpoint(checkpoint, files.kinds()).latest()
    if found is None:
        raise CheckpointError(f"{os.fspath(checkpoint)} holds no model yet")
    return found.model


class BatchLearner:
    """What is done with every batch; doing it twice is doing it once."""

    def __init__(self, estimator: Any, folder: Path, options: Mapping[str, Any], fan_in: int) -> None:
        self.estimator, self.folder, self.options, self.fan_in = estimator, folder, options, fan_in

    def __call__(self, df: Any, batch: int) -> None:
        with Checkpoint(self.folder, files.kinds()) as place:
            found = place.latest()
            if found is not None and batch <= found.position[BATCH]:
                return
            model = self.estimator if found is None else found.model
            got = learned(df, model, self.options, self.fan_in)
            total = got.model if found is None else model.merge(got.model)
            rows = got.rows + (0 if found is None else found.rows)
            place.write(Snapshot({"model": total}, rows, {"path": "a Spark stream"}, {BATCH: batch}))


def _last(folder: Path) -> int:
    found = Checkpoint(folder, files.kinds()).latest()
    return -1 if found is None else found.position[BATCH]
