"""The SEA concepts (Street and Kim, 2001): two of three attributes decide, and the threshold moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayou.errors import DataError
from bayou.streams.generators.drawn import CHUNK, Draw, DrawnSource
from bayou.streams.source import ColumnType


class SEA(DrawnSource):
    r"""Three attributes uniform on [0, 10]; class A where $x_0 + x_1 \le \theta$; noise flips labels.

    Parameters
    ----------
    drift_at
        Row numbers at which the next threshold takes over, in turn and round again.
    noise
        Share of labels that are flipped.
    thresholds
        The concepts.
    seed, rows
        Seed, and length (None: endless).

    The Bayes accuracy is 1 - noise.

    Examples
    --------
    >>> stream = SEA(drift_at=[5000], noise=0.1, seed=1)
    >>> rows = stream.read(3)
    >>> rows.labels.to_pylist(), stream.bayes_accuracy
    (['B', 'B', 'B'], 0.9)
    """

    def __init__(
        self,
        drift_at: Sequence[int] = (),
        noise: float = 0.1,
        thresholds: Sequence[float] = (8.0, 9.0, 7.0, 9.5),
        seed: int = 0,
        rows: int | None = None,
    ) -> None:
        if not 0.0 <= noise <= 0.5:
            raise DataError("noise is a share from 0 to 0.5", value=noise)
        if not len(thresholds):
            raise DataError("SEA needs at least one threshold")
        columns = {f"x{i}": ColumnType("numeric") for i in range(3)}
        super().__init__(columns, ("A", "B"), seed, rows)
        self.drift_at, self.noise, self.thresholds = sorted(drift_at), noise, tuple(thresholds)
        self.bayes_accuracy = 1.0 - noise

    def _chunk(self, random: np.random.Generator, start: int) -> Draw:
        x = 10.0 * random.random((CHUNK, 3))
        flips = random.random(CHUNK) < self.noise
        concept = np.searchsorted(self.drift_at, np.arange(start, start + CHUNK), side="right")
        theta = np.array(self.thresholds)[concept % len(self.thresholds)]
        y = (x[:, 0] + x[:, 1] > theta) ^ flips
        return Draw({f"x{i}": x[:, i].copy() for i in range(3)}, y.astype(np.int64))
