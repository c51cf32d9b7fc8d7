"""Coverage and size of prediction sets: running, and over the latest rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.block import Flags, Floats
from bayou.checks import require
from bayou.protocols import Arrays

COVERED, SIZE = range(2)
Sets = tuple[Flags, NDArray[Any]]  # [n, K] which classes each set holds, and [n] the code of the true one


@dataclass(frozen=True)
class SetScores:
    """Coverage and mean size of prediction sets over all rows and over the latest, and as curves.

    `curve` has a line for each of the row numbers `rows`: running coverage and size, windowed coverage and size.
    """

    promised: float
    coverage: float
    set_size: float
    windowed_coverage: float
    windowed_set_size: float
    rows: tuple[int, ...]
    curve: tuple[tuple[float, float, float, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "promised_coverage": self.promised,
            "coverage": self.coverage,
            "set_size": self.set_size,
            "windowed_coverage": self.windowed_coverage,
            "windowed_set_size": self.windowed_set_size,
        }


class SetRecord:
    """Prediction sets of one model against the labels, row by row; nothing depends on how rows were cut into batches.

    Parameters
    ----------
    promised
        The coverage that the model is to reach.
    window
        Rows in the window of the windowed metrics.

    Examples
    --------
    >>> record = SetRecord(0.9, window=2)
    >>> sets = np.array([[True, True], [False, True], [False, False]])
    >>> record.update(sets, np.array([0, 1, -1]), 0, [1, 3])
    >>> found = record.scores()
    >>> found.coverage, found.set_size, found.rows, found.curve[0]
    (1.0, 1.5, (1, 3), (1.0, 2.0, 1.0, 2.0))
    """

    def __init__(self, promised: float, window: int) -> None:
        self.promised, self.window = promised, window
        self.sums: Floats = np.zeros(3)  # rows, covered, classes
        self.latest: Floats = np.empty((2, 0))  # whether the set contains the label, and its size
        self.rows: list[int] = []
        self.points: list[Floats] = []

    def update(self, sets: Flags, y: NDArray[np.integer[Any]], row: int, points: list[int]) -> None:
        """Count the sets of the rows after `row`, with their labels (-1: none); `points` are those of the curve."""
        known = np.flatnonzero(y >= 0)
        new = np.array([sets[known, y[known]], sets[known].sum(axis=1)], dtype=np.float64)
        both = np.concatenate([self.latest, new], axis=1)
        before = both.shape[1] - new.shape[1]
        for point in points:
            here = before + int(np.searchsorted(known, point))
            self._add(row + point, here - before, both[:, max(0, here - self.window) : here], new)
        self.sums += [new.shape[1], *new.sum(axis=1)]
        self.latest = both[:, -self.window :]

    def _add(self, row: int, fresh: int, window: Floats, new: Floats) -> None:
        if not self.rows or self.rows[-1] < row:
            running = self.sums[1:] + new[:, :fresh].sum(axis=1)
            self.rows.append(row)
            self.points.append(
                np.append(
                    running / max(self.sums[0] + fresh, 1.0), window.sum(axis=1) / max(window.shape[1], 1)
                )
            )

    def thin(self, every: int) -> None:
        """Keep the points at multiples of `every`."""
        kept = [i for i, row in enumerate(self.rows) if row % every == 0]
        self.rows, self.points = [self.rows[i] for i in kept], [self.points[i] for i in kept]

    def end(self, row: int) -> None:
        """Add a point for the end of the stream."""
        self._add(row, 0, self.latest, np.empty((2, 0)))

    def scores(self) -> SetScores:
        """The scores so far."""
        covered, size = (self.sums[1:] / max(self.sums[0], 1.0)).tolist()
        recent_coverage, recent_size = (self.latest.sum(axis=1) / max(self.latest.shape[1], 1)).tolist()
        curve = tuple((a, b, c, d) for a, b, c, d in (point.tolist() for point in self.points))
        return SetScores(self.promised, covered, size, recent_coverage, recent_size, tuple(self.rows), curve)

    def arrays(self) -> Arrays:
        """The whole state under stable names."""
        points = np.array(self.points).reshape(-1, 4)
        return {
            "sums": self.sums,
            "latest": self.latest,
            "rows": np.array(self.rows, np.int64),
            "points": points,
        }

    def restore(self, arrays: Arrays) -> None:
        """Take a state given by `arrays`; refuses an impossible one."""
        sums, latest, rows, points = (arrays[name] for name in ("sums", "latest", "rows", "points"))
        require(sums.dtype == np.float64 and sums.shape == (3,), "a record of sets has three sums")
        require(
            bool((sums >= 0).all()) and sums[COVERED + 1] <= sums[0], "more sets held the label than rows"
        )
        require(
            latest.ndim == 2 and len(latest) == 2 and latest.shape[1] <= self.window,
            "a record of sets has at most a window of rows",
        )
        require(
            rows.dtype == np.int64 and points.shape == (len(rows), 4),
            "every point of a curve has its metrics",
        )
        self.sums, self.latest = sums.copy(), latest.copy()
        self.rows, self.points = rows.tolist(), list(points)


class SetRecords:
    """The records of the models that give prediction sets."""

    def __init__(self, models: Any, window: int) -> None:
        self._models = {name: model for name, model in models.items() if hasattr(type(model), "predict_set")}
        self.records = {name: SetRecord(model.coverage, window) for name, model in self._models.items()}

    def latest(self) -> dict[str, Sets]:
        """The sets that the models gave the rows just learned, and the codes of their labels."""
        return {name: model.latest_sets() for name, model in self._models.items()}

    def update(self, row: int, points: list[int], sets: Mapping[str, Sets]) -> None:
        """Count the sets of the rows after `row`."""
        for name, record in self.records.items():
            record.update(*sets[name], row, points)

    def thin(self, every: int) -> None:
        for record in self.records.values():
            record.thin(every)

    def scores(self, name: str, row: int) -> SetScores | None:
        """The scores of a model after `row` rows; None if it has no prediction sets."""
        if name not in self.records:
            return None
        self.records[name].end(row)
        return self.records[name].scores()

    def arrays(self) -> dict[str, Any]:
        """All records under stable names."""
        records = enumerate(self.records.values())
        return {f"sets.{i}.{name}": a for i, record in records for name, a in record.arrays().items()}

    def restore(self, arrays: Arrays) -> None:
        """Take records given by `arrays`."""
        for i, record in enumerate(self.records.values()):
            start = f"sets.{i}."
            record.restore({k.removeprefix(start): a for k, a in arrays.items() if k.startswith(start)})
