"""Learning curves: running, windowed and faded metrics at row numbers that do not depend on blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bayou.block import Floats
from bayou.checks import require
from bayou.readings.metrics import HEADLINES

MOST_POINTS = 400  # of a curve whose spacing was not given: beyond, every other one is dropped


class Spacing:
    """The row numbers at which a curve has points.

    Without `every`, points lie `start` rows apart, and twice as far whenever there would be more than 400: a curve
    over any number of rows stays small.
    """

    def __init__(self, every: int | None, start: int) -> None:
        self.given = every is not None
        self.every = every or start

    def points(self, row: int, n: int) -> list[int]:
        """Positions inside the n rows that follow `row` after which there is a point."""
        first = (row // self.every + 1) * self.every
        return [point - row for point in range(first, row + n + 1, self.every)]

    def widen(self, points: int) -> bool:
        """Double the spacing if there are too many points; returns whether it did."""
        if self.given or points <= MOST_POINTS:
            return False
        self.every *= 2
        return True


@dataclass(frozen=True, eq=False)
class Curve:
    """A learning curve as data: metrics at the row numbers `rows`, of which the last is the end of the stream.

    `points` has running, windowed and faded values, float64[points, 3, metrics].
    """

    rows: tuple[int, ...]
    points: Floats = field(repr=False)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same values at the same row numbers."""
        if not isinstance(other, Curve) or self.rows != other.rows:
            return False
        return np.array_equal(self.points, other.points, equal_nan=True)

    def __hash__(self) -> int:
        return hash(self.rows)

    @cached_property
    def running(self) -> Mapping[str, tuple[float, ...]]:
        """The values over all rows so far, by metric."""
        return self._by_metric(0)

    @cached_property
    def windowed(self) -> Mapping[str, tuple[float, ...]]:
        """The values over the latest rows, by metric."""
        return self._by_metric(1)

    @cached_property
    def faded(self) -> Mapping[str, tuple[float, ...]]:
        """The values in which older rows count less, by metric."""
        return self._by_metric(2)

    def _by_metric(self, form: int) -> dict[str, tuple[float, ...]]:
        columns = self.points[:, form].T.tolist()
        return {name: tuple(values) for name, values in zip(HEADLINES, columns, strict=True)}

    def to_dict(self) -> dict[str, Any]:
        """The curve as JSON values."""
        out: dict[str, Any] = {"rows": list(self.rows)}
        for name in ("running", "windowed", "faded"):
            out[name] = {metric: list(values) for metric, values in getattr(self, name).items()}
        return out

    def records(self) -> list[dict[str, float]]:
        """One record per point, for a data frame: `rows`, `running_accuracy`, `windowed_accuracy`, ..."""
        columns: dict[str, tuple[float, ...]] = {"rows": self.rows}
        for name in ("running", "windowed", "faded"):
            columns |= {f"{name}_{metric}": values for metric, values in getattr(self, name).items()}
        return [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]


class CurveBuilder:
    """Collects the points of the learning curve of one model."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self._points: list[
            Floats
        ] = []  # [points, 3, headlines] running, windowed, faded, one array after the other

    def add(self, row: int, point: Floats) -> None:
        """Add a point, [3, headlines]; a row that has one already keeps it."""
        if not self.rows or self.rows[-1] < row:
            self.extend([row], point[None])

    def extend(self, rows: Sequence[int], points: Floats) -> None:
        """Add points that come after all others."""
        self.rows += rows
        self._points.append(points)

    def array(self) -> Floats:
        """[points, 3, metrics] the points without their row numbers."""
        return np.concatenate([np.empty((0, 3, len(HEADLINES))), *self._points])

    def restore(self, rows: list[int], values: Floats) -> None:
        """Take points given by `array`."""
        require(values.shape == (len(rows), 3, len(HEADLINES)), "every point of a curve has its metrics")
        self.rows, self._points = rows, [values]

    def thin(self, every: int) -> None:
        """Keep the points at multiples of `every`."""
        kept = [i for i, row in enumerate(self.rows) if row % every == 0]
        self.rows, self._points = [self.rows[i] for i in kept], [self.array()[kept]]

    def curve(self) -> Curve:
        """The curve so far."""
        return Curve(tuple(self.rows), self.array())
