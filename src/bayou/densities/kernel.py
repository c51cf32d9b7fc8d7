"""Densities read off quantile tuples, as Weka reads them off all values: a kernel per value, or one normal."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Floats, Index
from bayou.checks import MOST_VARIANCE, counts, finite, parts, require
from bayou.densities.binned import GKClass
from bayou.densities.density import Density
from bayou.errors import DataError, UnsupportedError
from bayou.kernels.kernel_density import (
    add_tiles,
    density_terms,
    place_kernels,
    place_normals,
    spread_by_rule,
    spread_kernels,
)
from bayou.kernels.scrub import HUGE
from bayou.protocols import Arrays
from bayou.readings.partition import Discretiser
from bayou.summaries.quantile_tuples import QuantileTuples
from bayou.threads import over_ranges
from bayou.views.view import AnyView, Searched

if TYPE_CHECKING:
    from bayou.scorer import Node

BANDWIDTHS = {"weka": 0, "scott": 1, "silverman": 2}
SHAPES = {"gaussian": 0, "epanechnikov": 1, "triangular": 2, "uniform": 3}
CHUNK = 1 << 16  # terms held at once
GRAIN = 200  # cells worth a thread of their own


@dataclass(frozen=True)
class Kernel(Density):
    r"""Kernel density, a Gaussian per value: $P(x \mid c) = \sum_i \frac{n_{ic}}{N_c} \int_{x-p/2}^{x+p/2} \varphi_i$.

    Values are rounded to multiples of the precision p = (max - min) / (distinct values - 1); the kernels of a class
    have the deviation max(range / sqrt(N_c), p / 6) (John and Langley 1995, as Weka has it). While the distinct
    values of a column fit into its tuples, this is what Weka computes from all the data. Afterwards a tuple stands
    for the interval since the tuple before: its kernel takes on the mean and variance of the interval, and p is that
    of as many values as there are tuples. p is computed anew at each refresh, so models always merge.

    Parameters
    ----------
    tuples
        Most kernels per column.
    precision
        The precision p, if it is known.
    floor
        Least probability of a value; Weka takes 1e-75 for every column and class. With 0 there is no such limit.
    bandwidth
        The deviation h of the kernels of a class: `"weka"`, the rule above; `"scott"`, 1.06 s N_c^(-1/5);
        `"silverman"`, 0.9 min(s, IQR / 1.34) N_c^(-1/5), with the deviation s and the interquartile range of the
        rounded values; or a number. It is never below p / 6.
    shape
        `"gaussian"`; or a kernel of bounded reach with the same deviation: `"epanechnikov"`, `"triangular"` or
        `"uniform"`. A thousandth of the weight of these is Gaussian, so that no value is impossible.

    Merge: BOUNDED, as the quantile tuples. Memory: theirs; predicting costs O(tuples K) per value.

    Examples
    --------
    >>> Kernel(tuples=50)
    Kernel(tuples=50, precision=None, floor=0.0, bandwidth='weka', shape='gaussian')
    """

    tuples: int = 100
    precision: float | None = None
    floor: float = 0.0
    bandwidth: str | float = "weka"
    shape: str = "gaussian"

    def __post_init__(self) -> None:
        check_precision(self.precision)
        check_floor(self.floor)
        GKClass(self.tuples)
        is_number = isinstance(self.bandwidth, int | float) and 1e-300 <= self.bandwidth <= 1e140
        if not is_number and self.bandwidth not in BANDWIDTHS:
            raise DataError(
                "unknown bandwidth",
                value=self.bandwidth,
                remedy=f"use one of {sorted(BANDWIDTHS)}, or a number",
            )
        if self.shape not in SHAPES:
            raise DataError("unknown shape", value=self.shape, remedy=f"use one of {sorted(SHAPES)}")

    def view(self, bins: Discretiser) -> AnyView:
        """Quantile tuples, read at refresh points."""
        return Searched(QuantileTuples(self.tuples), self)

    def read(self, summary: QuantileTuples) -> DensityReading:
        centres, weights, extra, offsets, precision = rounded_values(summary, self.precision)
        widths = np.zeros((len(precision), weights.shape[1]))
        if self.bandwidth == "weka":
            spread_kernels(widths, centres, weights, offsets, precision)
        else:
            rule, deviation = (
                (BANDWIDTHS[self.bandwidth], 0.0) if isinstance(self.bandwidth, str) else (0, self.bandwidth)
            )
            spread_by_rule(widths, centres, weights, offsets, precision, rule, float(deviation))
        by_class = np.ascontiguousarray(weights.T)
        return DensityReading(
            centres, by_class, extra, offsets, widths, precision, False, self.floor, SHAPES[self.shape]
        )

    def restore(self, arrays: Arrays, summary: QuantileTuples) -> DensityReading:
        return replace(restored(arrays, False, self.floor), kernel=SHAPES[self.shape])


@dataclass(frozen=True)
class RoundedNormal(Density):
    r"""One normal per class over rounded values, as Weka has it: $P(x \mid c) = \int_{x-p/2}^{x+p/2} \varphi_c$.

    The precision p is that of `Kernel`; the mean and the (population) deviation are those of the rounded values, the
    deviation is not below p / 6, and x is rounded too.

    Parameters
    ----------
    tuples, precision, floor
        As in `Kernel`.

    Merge: BOUNDED, as the quantile tuples.

    Examples
    --------
    >>> RoundedNormal(tuples=50).get_params()
    {'tuples': 50, 'precision': None, 'floor': 0.0}
    """

    tuples: int = 100
    precision: float | None = None
    floor: float = 0.0

    def __post_init__(self) -> None:
        check_precision(self.precision)
        check_floor(self.floor)
        GKClass(self.tuples)

    def view(self, bins: Discretiser) -> AnyView:
        """Quantile tuples, read at refresh points."""
        return Searched(QuantileTuples(self.tuples), self)

    def read(self, summary: QuantileTuples) -> DensityReading:
        centres, weights, _, offsets, precision = rounded_values(summary, self.precision)
        p, k = len(precision), weights.shape[1]
        normals, widths = np.zeros((p, k)), np.zeros((p, k))
        place_normals(normals, widths, weights, centres, offsets, precision)
        several = np.diff(offsets) > 1
        sizes = np.where(several, k, 0)
        alone = np.tile(np.eye(k), (1, int(several.sum())))
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        return DensityReading(
            normals[several].ravel(),
            alone,
            np.zeros(alone.shape[1]),
            offsets,
            widths,
            precision,
            True,
            self.floor,
        )

    def restore(self, arrays: Arrays, summary: QuantileTuples) -> DensityReading:
        return restored(arrays, True, self.floor)


def check_precision(precision: float | None) -> None:
    """Raise `DataError` unless the precision is None or a positive number between 1e-300 and 1e140."""
    if precision is not None and not 1e-300 <= precision <= 1e140:
        raise DataError("precision must be a positive number", value=precision)


def check_floor(floor: float) -> None:
    """Raise `DataError` unless the least probability is in [0, 1)."""
    if not 0.0 <= floor < 1.0:
        raise DataError("floor must be a probability below 1", value=floor)


def rounded_values(
    summary: QuantileTuples, precision: float | None
) -> tuple[Floats, Floats, Floats, Index, Floats]:
    """Rounded values, their weights by class and in all, variances of their intervals, offsets and precisions."""
    offsets, upper, counts = summary.all_cells()
    p = len(offsets) - 1
    centres, weights = np.zeros(len(upper)), np.zeros((len(upper), counts.shape[1] + 1))
    extra, sizes, precisions = np.zeros(len(upper)), np.zeros(p, dtype=np.int64), np.zeros(p)
    exact = summary.errors() == 0.0
    place_kernels(
        centres, weights, extra, sizes, precisions, offsets, upper, counts, exact, float(precision or 0.0)
    )
    column = np.repeat(np.arange(p), np.diff(offsets))
    used = np.arange(len(upper)) - offsets[column] < sizes[column]
    starts = np.concatenate(([0], np.cumsum(sizes)))
    return centres[used], weights[used], extra[used], starts, precisions


def restored(arrays: Arrays, rounds: bool, floor: float) -> DensityReading:
    """The reading with these arrays of a file; raises `ModelFileError` unless they are valid."""
    p, m = len(arrays["precision"]), len(arrays["centres"])
    require(arrays["offsets"].shape == (p + 1,), "every column of a reading has its kernels")
    require(arrays["offsets"][0] == 0, "the first kernel belongs to nobody")
    parts("the numbers of kernels", np.diff(arrays["offsets"]), m)
    k = len(arrays["weights"])
    shapes = {"weights": (k, m), "extra": (m,), "widths": (p, k), "precision": (p,), "centres": (m,)}
    for name, shape in shapes.items():
        require(
            k > 0 and arrays[name].shape == shape, f"{name} of a reading of kernels must have shape {shape}"
        )
        finite(f"{name} of a reading of kernels", arrays[name])
    for name in ("weights", "extra", "widths", "precision"):
        most = MOST_VARIANCE if name == "extra" else 1e150
        counts(f"{name} of a reading of kernels", arrays[name], most)
        require(arrays[name].min(initial=0.0) >= 0, f"{name} of a reading of kernels holds a negative number")
    require(np.abs(arrays["centres"]).max(initial=0.0) <= HUGE, f"a kernel lies beyond {HUGE}")
    sizes = np.diff(arrays["offsets"])
    require(
        not rounds or bool(np.isin(sizes, (0, k)).all()), "a column has one normal per class and one in all"
    )
    several = np.flatnonzero(sizes > 1)
    require((arrays["precision"][several] > 0).all(), "a column with kernels has no precision")
    require((arrays["widths"][several, -1] > 0).all(), "the kernels of a column have no width")
    for j in several:
        has_weight = np.any(arrays["weights"][:, arrays["offsets"][j] : arrays["offsets"][j + 1]] > 0, axis=1)
        require(has_weight[arrays["widths"][j] > 0].all(), "a class has kernels without weight")
    return DensityReading(
        np.array(arrays["centres"], dtype=np.float64),
        np.array(arrays["weights"], dtype=np.float64, order="C", ndmin=2),
        np.array(arrays["extra"], dtype=np.float64),
        np.array(arrays["offsets"], dtype=np.int64),
        np.array(arrays["widths"], dtype=np.float64, order="C", ndmin=2),
        np.array(arrays["precision"], dtype=np.float64),
        rounds,
        floor,
    )


@dataclass(frozen=True, eq=False)
class DensityReading:
    """Kernels of all numeric columns.

    centres : float64[m]; weights : float64[K + 1, m], by class, then in all; extra : float64[m], variance of the
    interval a kernel stands for; offsets : int64[p + 1]
    widths : float64[p, K + 1], 0 for a class without weight; precision : float64[p]; rounds : whether x is rounded
    floor : the least probability of a value
    kernel : the shape of the kernels, by its number in SHAPES
    """

    centres: Floats
    weights: Floats
    extra: Floats
    offsets: Index
    widths: Floats
    precision: Floats
    rounds: bool
    floor: float = 0.0
    kernel: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Columns and classes."""
        return len(self.precision), self.widths.shape[1] - 1

    def terms(self, block: Block) -> Floats:
        """[n, p, K] log P(x_j | c), 0 where the value is missing or the column is constant."""
        out = np.empty((*block.numeric.shape, self.widths.shape[1] - 1))
        self._fill(out, block.numeric)
        return out

    def scorer_columns(self) -> list[Node]:
        if self.kernel:
            raise UnsupportedError(
                "cannot be exported: kernels of bounded reach; Kernel(shape='gaussian') and numeric='auto' can"
            )
        return [self._scorer_column(j) for j in range(len(self.precision))]

    def _scorer_column(self, j: int) -> Node:
        from bayou.scorer import Kernels, silent

        k, here = self.widths.shape[1] - 1, slice(self.offsets[j], self.offsets[j + 1])
        if here.stop - here.start < 2:
            return silent(k)
        # A class without weight has the kernels of all classes together
        rows = np.where(self.widths[j, :k] > 0.0, np.arange(k), k)
        return Kernels(
            j, self.centres[here], self.weights[rows, here], self.extra[here], self.widths[j, rows],
            float(self.precision[j]), self.rounds, self.floor, self.kernel,
        )  # fmt: skip

    def free_parameters(self) -> Floats:
        """[d] one parameter per kernel; a normal has its location and its scale."""
        return np.full(len(self.precision), 2.0) if self.rounds else np.diff(self.offsets).astype(np.float64)

    def _fill(self, out: Floats, numeric: Floats) -> None:
        density_terms(
            out, self.centres, self.weights, self.extra, self.offsets, self.widths, self.precision, numeric,
            self.rounds, self.kernel,
        )  # fmt: skip
        if self.floor > 0.0:
            np.maximum(out, math.log(self.floor), out=out)

    def add_log_prob(self, block: Block, out: Floats) -> None:
        p = len(self.precision)
        if p == 0 or out.shape[1] == 0:
            return
        require(block.numeric.shape[1] == p, "the kernels read belong to other columns")
        require(out.shape[1] == self.widths.shape[1] - 1, "the kernels read belong to other classes")
        step = max(1, CHUNK // (p * out.shape[1]))

        def rows(lo: int, hi: int) -> None:
            for r in range(lo, hi, step):
                here = slice(r, min(hi, r + step))
                terms = np.empty((here.stop - r, p, out.shape[1]))
                self._fill(terms, block.numeric[here])
                add_tiles(out[here], terms)

        over_ranges(rows, block.n, 1 + GRAIN // p)

    def realign(self, plan: Alignment) -> Self:
        """Move the kernels; a new column has none, a new class is read as all classes together."""
        k = plan.classes.size
        home = np.full(plan.numeric.size, -1, dtype=np.int64)
        home[plan.numeric.to] = np.arange(len(plan.numeric.to))
        rows = np.append(plan.classes.to, k)
        parts = [
            np.arange(self.offsets[old], self.offsets[old + 1]) if old >= 0 else np.arange(0) for old in home
        ]
        if self.rounds:
            parts = [self._one_per_class(part, rows) for part in parts]
        chosen = np.concatenate([np.arange(0), *parts])
        weights = np.zeros((k + 1, len(chosen)))
        if self.rounds:
            weights[:] = np.tile(np.eye(k + 1), (1, len(chosen) // (k + 1)))
        else:
            weights[rows] = self.weights[:, chosen]
        widths, precision = np.zeros((plan.numeric.size, k + 1)), np.zeros(plan.numeric.size)
        widths[np.ix_(plan.numeric.to, rows)] = self.widths
        precision[plan.numeric.to] = self.precision
        offsets = np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.int64)
        centres, extra = np.append(self.centres, 0.0)[chosen], np.append(self.extra, 0.0)[chosen]
        shape = (self.rounds, self.floor, self.kernel)
        return type(self)(centres, weights, extra, offsets, widths, precision, *shape)

    def _one_per_class(self, normals: Index, rows: Index) -> Index:
        """A column's normals at the places of their classes, -1 for a new class."""
        if len(normals) == 0:
            return normals
        placed = np.full(int(rows.max()) + 1, -1, dtype=np.int64)
        placed[rows] = normals
        return placed

    def arrays(self) -> Arrays:
        return {
            "centres": self.centres, "weights": self.weights, "extra": self.extra, "offsets": self.offsets,
            "widths": self.widths, "precision": self.precision,
        }  # fmt: skip
