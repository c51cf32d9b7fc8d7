"""Many numeric columns of which few matter: informative, redundant and irrelevant ones."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayou.errors import DataError
from bayou.streams.generators.drawn import CHUNK, Draw, DrawnSource
from bayou.streams.source import ColumnType

Structure = Literal["independent", "blocks", "chain", "factor"]
_BLOCK = 5
_RHO = 0.5
_MIXED = 3  # informative columns in each redundant one


class ManyGaussians(DrawnSource):
    r"""Two equally likely Gaussian classes with one covariance and many columns.

    Informative columns carry the class difference $\mu$; redundant ones mix three informative ones and add
    noise, so they tell nothing new; irrelevant ones know nothing of the class. The Bayes accuracy is
    $\Phi(\Delta/2)$ with $\Delta^2 = \mu^T \Sigma^{-1} \mu$ over the informative columns, set to `distance`.

    Parameters
    ----------
    attributes, informative, redundant
        Number of columns, and how many of them are of each sort; the order is shuffled.
    structure
        How the columns of a sort hang together: "independent"; "blocks" of five; a "chain", each column
        with the one before; one "factor" behind all. Correlations are 0.5.
    distance
        Mahalanobis distance of the classes.
    seed, rows
        Seed, and length (None: endless).

    Examples
    --------
    >>> stream = ManyGaussians(attributes=100, informative=10, redundant=20, structure="chain", distance=2.0)
    >>> round(stream.bayes_accuracy, 4), len(stream.read(5).columns)
    (0.8413, 100)
    """

    def __init__(
        self,
        attributes: int = 500,
        informative: int = 20,
        redundant: int = 50,
        structure: Structure = "independent",
        distance: float = 2.0,
        seed: int = 0,
        rows: int | None = None,
    ) -> None:
        if structure not in get_args(Structure):
            raise DataError("unknown structure", value=structure, remedy=", ".join(get_args(Structure)))
        if informative < 1 or redundant < 0 or informative + redundant > attributes:
            raise DataError("informative (at least one) and redundant columns are some of the attributes")
        columns = {f"x{i}": ColumnType("numeric") for i in range(attributes)}
        super().__init__(columns, ("a", "b"), seed, rows)
        self.structure, self.distance = structure, distance
        random = self._setup()
        mu = random.standard_normal(informative)
        self._mu = mu * (distance / math.sqrt(_squared(mu, structure)))
        self._mix = random.integers(informative, size=(redundant, _MIXED))
        self._weights = random.standard_normal((redundant, _MIXED))
        order = random.permutation(attributes)
        self._order = [f"x{i}" for i in order]
        self.informative_columns = tuple(self._order[:informative])
        self.redundant_columns = tuple(self._order[informative : informative + redundant])
        self.bayes_accuracy = 0.5 * math.erfc(-abs(distance) / math.sqrt(8.0))

    def _chunk(self, random: np.random.Generator, start: int) -> Draw:
        y = random.integers(2, size=CHUNK)
        m, r = len(self._mu), len(self._mix)
        x = np.empty((len(self._order), CHUNK))
        x[:m] = _correlated(random, m, self.structure) + self._mu[:, None] * (y - 0.5)
        for j in range(r):
            x[m + j] = random.standard_normal(CHUNK)
            for weight, i in zip(self._weights[j], self._mix[j], strict=True):
                x[m + j] += weight * x[i]
        x[m + r :] = _correlated(random, len(x) - m - r, self.structure)
        return Draw({name: x[j] for j, name in enumerate(self._order)}, y)


def _correlated(random: np.random.Generator, d: int, structure: Structure) -> NDArray[np.float64]:
    """Noise float64[d, CHUNK] with unit variances and the structure's correlations."""
    x = random.standard_normal((d, CHUNK))
    if structure == "chain":
        for j in range(1, d):
            x[j] = _RHO * x[j - 1] + math.sqrt(1.0 - _RHO * _RHO) * x[j]
    elif structure != "independent":
        for first, last in _groups(d, structure):
            shared = random.standard_normal(CHUNK)
            x[first:last] = math.sqrt(1.0 - _RHO) * x[first:last] + math.sqrt(_RHO) * shared
    return x


def _squared(mu: NDArray[np.float64], structure: Structure) -> float:
    """The squared Mahalanobis length of mu: inverses of these covariances are known in closed form."""
    if structure == "independent":
        return math.fsum(mu * mu)
    if structure == "chain":
        steps = mu[1:] - _RHO * mu[:-1]
        return float(mu[0] ** 2) + math.fsum(steps * steps) / (1.0 - _RHO * _RHO)
    total = 0.0
    for first, last in _groups(len(mu), structure):
        part = mu[first:last]
        pull = _RHO * math.fsum(part) ** 2 / (1.0 + (len(part) - 1) * _RHO)
        total += (math.fsum(part * part) - pull) / (1.0 - _RHO)
    return total


def _groups(d: int, structure: Structure) -> list[tuple[int, int]]:
    size = d if structure == "factor" else _BLOCK
    return [(i, min(i + size, d)) for i in range(0, d, max(size, 1))]
