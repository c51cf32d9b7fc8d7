"""Learning from a Spark stream, exactly once: the batch number is stored with the model in one atomic checkpoint.

Spark repeats a batch if it was stopped before it recorded that the batch was done; a batch whose number is not above
that of the last one in the model is skipped.
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
        for Spark's own checkpoint. The same call with the same folder continues, however the last one ended.
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
    """The model after the last batch; may be read at any time."""
    snapshot = Checkpoint(checkpoint, files.kinds()).latest()
    if snapshot is None:
        raise CheckpointError(f"{os.fspath(checkpoint)} holds no model yet")
    return snapshot.model


class BatchLearner:
    """Learns a batch and writes a checkpoint; a repeated batch is skipped."""

    def __init__(self, estimator: Any, folder: Path, options: Mapping[str, Any], fan_in: int) -> None:
        self.estimator, self.folder, self.options, self.fan_in = estimator, folder, options, fan_in

    def __call__(self, df: Any, batch: int) -> None:
        with Checkpoint(self.folder, files.kinds()) as checkpoint:
            snapshot = checkpoint.latest()
            if snapshot is not None and batch <= snapshot.position[BATCH]:
                return
            model = self.estimator if snapshot is None else snapshot.model
            batch_result = learned(df, model, self.options, self.fan_in)
            total = batch_result.model if snapshot is None else model.merge(batch_result.model)
            rows = batch_result.rows + (0 if snapshot is None else snapshot.rows)
            checkpoint.write(Snapshot({"model": total}, rows, {"path": "a Spark stream"}, {BATCH: batch}))


def _last(folder: Path) -> int:
    snapshot = Checkpoint(folder, files.kinds()).latest()
    return -1 if snapshot is None else snapshot.position[BATCH]
