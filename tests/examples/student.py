"""Student's t as the density of numeric columns: an example of a density in one file, for data with outliers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayou.block import Block, Floats
from bayou.densities.density import Density
from bayou.densities.gaussian import Gaussian
from bayou.errors import SchemaError
from bayou.readings.live import LiveReader
from bayou.readings.partition import Discretiser
from bayou.summaries.moments import Moments
from bayou.views.view import AnyView, Live


@dataclass(frozen=True)
class Student(Density, LiveReader[Moments]):
    r"""$p(x | c)$ = Student's t with `df` degrees of freedom, with the mean and the variance of the class.

    Parameters
    ----------
    df
        Degrees of freedom, above 2; few make heavy tails, so that one odd value does not outweigh all other columns.

    Examples
    --------
    >>> from bayou import NaiveBayes
    >>> model = NaiveBayes(numeric=Student(df=4)).fit([[1.0], [1.2], [3.0], [3.3]], ["a", "a", "b", "b"])
    >>> model.predict([[1.1], [2.9]]).tolist()
    ['a', 'b']
    """

    df: float = 4.0

    def __post_init__(self) -> None:
        if not 2.0 < self.df < math.inf:
            raise SchemaError(f"Student(df={self.df!r}); there is no variance below 2 degrees of freedom")

    def view(self, bins: Discretiser) -> AnyView:
        """Moments, read live."""
        return Live(Moments(), self)

    def terms(self, summary: Moments, block: Block) -> Floats:
        """[n, p, K] log p(x_j | c), 0 where missing; constant columns and single rows are as in `Gaussian`."""
        peak, centre, half = Gaussian().tables(summary)
        away = np.nan_to_num(block.numeric[:, :, np.newaxis] - centre.T)
        spread = 2.0 * half.T / (self.df - 2.0)  # 1 / (df scale^2)
        constant = math.lgamma((self.df + 1.0) / 2.0) - math.lgamma(self.df / 2.0)
        constant += 0.5 * math.log(2.0 / (self.df - 2.0))  # the normal's peak holds the rest
        tail = -0.5 * (self.df + 1.0) * np.log1p(away * away * spread)
        informative = ~np.isnan(block.numeric)[:, :, np.newaxis] & (half.T > 0.0)
        return np.where(informative, peak.T + constant + tail, 0.0)

    def draw(self, summary: Moments, block: Block, rng: np.random.Generator) -> None:
        _, centre, half = Gaussian().tables(summary)
        scale = np.sqrt(0.5 / np.where(half > 0.0, half, np.inf) * (self.df - 2.0) / self.df)
        drawn = rng.standard_t(self.df, size=block.numeric.shape)
        block.numeric[:] = centre[block.y] + scale[block.y] * drawn
