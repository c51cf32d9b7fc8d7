"""Classes that differ in the means of numeric columns and the tables of nominal ones."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from bayou.errors import DataError
from bayou.streams.generators.drawn import CHUNK, Draw, DrawnSource
from bayou.streams.source import ColumnType

_CELLS = 1 << 16


class MixedGaussian(DrawnSource):
    r"""Independent columns: numeric ones $N(\mu_{cj}, 1)$, nominal ones with a random table per class.

    Naive Bayes is the right model here. With two classes the Bayes accuracy is exact: summed over the
    combinations of nominal values, each a problem of two Gaussians with its own prior.

    Parameters
    ----------
    numeric, nominal, values
        Numeric columns, nominal columns, and values of each nominal column.
    classes
        Number of classes, equally likely.
    distance
        Distance of the two class means; with more classes, the scale of their distances.
    missing
        Share of the cells that are missing; with it the Bayes accuracy is not known.
    drift_at
        Row numbers at which every class takes the means and tables of the next one.
    seed, rows
        Seed, and length (None: endless).

    Examples
    --------
    >>> stream = MixedGaussian(numeric=1, nominal=0, distance=2.0)
    >>> round(stream.bayes_accuracy, 4)
    0.8413
    """

    def __init__(
        self,
        numeric: int = 5,
        nominal: int = 3,
        values: int = 4,
        classes: int = 2,
        distance: float = 1.5,
        missing: float = 0.0,
        drift_at: Sequence[int] = (),
        seed: int = 0,
        rows: int | None = None,
    ) -> None:
        if min(numeric, nominal) < 0 or numeric + nominal < 1 or values < 1 or classes < 1:
            raise DataError("a generator needs a column, a value and a class at least")
        if not 0.0 <= missing < 1.0:
            raise DataError("missing is a share from 0 to below 1", value=missing)
        declared = ColumnType("nominal", tuple(f"v{i}" for i in range(values)))
        columns = {f"x{i}": ColumnType("numeric") for i in range(numeric)}
        columns |= {f"n{i}": declared for i in range(nominal)}
        super().__init__(columns, tuple(f"c{i}" for i in range(classes)), seed, rows)
        self.distance, self.missing, self.drift_at = distance, missing, sorted(drift_at)
        random = self._setup()
        means = random.standard_normal((classes, numeric))
        if classes == 2 and numeric:
            half = means[1] - means[0]
            means = np.outer([-0.5, 0.5], half * (distance / math.sqrt(math.fsum(half * half))))
        elif numeric:
            means *= distance / math.sqrt(2 * numeric)
        self._means = means
        self._tables = random.dirichlet(np.ones(values), (nominal, classes))
        self.bayes_accuracy = self._accuracy(bool(numeric)) if classes == 2 and not missing else None

    def _chunk(self, random: np.random.Generator, start: int) -> Draw:
        y = random.integers(len(self.classes), size=CHUNK)
        concept = np.searchsorted(self.drift_at, np.arange(start, start + CHUNK), side="right")
        role = (y + concept) % len(self.classes)
        x = random.standard_normal((CHUNK, self._means.shape[1])) + self._means[role]
        columns: dict[str, np.ndarray] = {f"x{i}": x[:, i].copy() for i in range(x.shape[1])}
        for i, table in enumerate(self._tables):
            edges = np.cumsum(table, axis=1)[:, :-1]
            columns[f"n{i}"] = (random.random((CHUNK, 1)) > edges[role]).sum(axis=1).astype(np.int32)
        if self.missing:
            for values in columns.values():
                values[random.random(CHUNK) < self.missing] = np.nan if values.dtype == np.float64 else -1
        return Draw(columns, y)

    def _accuracy(self, separated: bool) -> float | None:
        nominal, _, values = self._tables.shape
        if values**nominal > _CELLS:
            return None
        delta = abs(self.distance) if separated else 0.0
        total = []
        for cell in itertools.product(range(values), repeat=nominal):
            a, b = (0.5 * math.prod(float(self._tables[j, c, v]) for j, v in enumerate(cell)) for c in (0, 1))
            if delta == 0.0 or min(a, b) == 0.0:
                total.append(max(a, b))
                continue
            shift = math.log(a / b) / delta
            total.append(a * _normal(delta / 2 + shift) + b * _normal(delta / 2 - shift))
        return math.fsum(total)


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))
