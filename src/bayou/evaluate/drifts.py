"""The rows at which models noticed a drift."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayou.checks import require, rising
from bayou.protocols import Arrays


class Drifts:
    """Numbers of the rows, from 0 on, at which models that watch for drift noticed one.

    They are collected batch by batch, and do not depend on how the rows were cut into batches.
    """

    def __init__(self, models: Mapping[str, Any]) -> None:
        self._detectors = {name: model for name, model in models.items() if hasattr(type(model), "drifts")}
        self._counted = {
            name: model.drifts if model.started else 0 for name, model in self._detectors.items()
        }
        self.rows: dict[str, list[int]] = {name: [] for name in self._detectors}

    def collect(self, rows: int, number: Callable[[int], int] | None = None) -> None:
        """Collect the drifts noticed since the last call, after `rows` rows of the evaluation.

        `number` maps the number of a row to the one to record.
        """
        for name, model in self._detectors.items():
            new = model.drifts - self._counted[name]
            if new:
                before = model.position - rows  # rows the model had learned before the evaluation
                self._counted[name] = model.drifts
                drift_rows = [row - before for row in model.drift_rows[-new:]]
                self.rows[name] += drift_rows if number is None else [number(row) for row in drift_rows]

    def arrays(self) -> Arrays:
        """Row numbers of the drifts under stable names."""
        return {f"drifts.{i}": np.array(rows, np.int64) for i, rows in enumerate(self.rows.values())}

    def restore(self, arrays: Arrays) -> None:
        """Take drifts given by `arrays`."""
        for i, name in enumerate(self.rows):
            rows = arrays[f"drifts.{i}"]
            require(rows.dtype == np.int64 and rows.ndim == 1, "drifts are row numbers")
            rising("the rows of drifts", rows)
            self.rows[name] = rows.tolist()
