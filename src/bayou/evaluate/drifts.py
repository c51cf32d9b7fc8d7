"""The rows at which models noticed a drift."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayou.checks import require, rising
from bayou.protocols import Arrays


class Drifts:
    """Numbers of the rows, from 0 on, at which models that watch for drift noticed one.

    Models are looked at batch by batch; what they say does not depend on the batches.
    """

    def __init__(self, models: Mapping[str, Any]) -> None:
        self._watching = {name: model for name, model in models.items() if hasattr(type(model), "drifts")}
        self._seen = {name: model.drifts if model.started else 0 for name, model in self._watching.items()}
        self.rows: dict[str, list[int]] = {name: [] for name in self._watching}

    def look(self, rows: int, number: Callable[[int], int] | None = None) -> None:
        """Remember what the models have noticed since the last look; `rows` of the evaluation have gone by.

        `number` turns the number of such a row into the one to remember.
        """
        for name, model in self._watching.items():
            new = model.drifts - self._seen[name]
            if new:
                before = model.position - rows  # rows the model had met before the evaluation
                self._seen[name] = model.drifts
                found = [row - before for row in model.drift_rows[-new:]]
                self.rows[name] += found if number is None else [number(row) for row in found]

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
