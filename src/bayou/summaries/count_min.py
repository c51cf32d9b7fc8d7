"""Approximate class counts of any number of values: never too small, seldom much too large (count-min)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from bayou.block import Block, Floats, Index
from bayou.errors import DataError, UnsupportedError
from bayou.hashing import hash_label
from bayou.kernels.count_min import estimate_rows, sketch_rows
from bayou.laws import MergeLaw
from bayou.protocols import Scalar
from bayou.summaries import valid
from bayou.summaries.array_summary import DecayingSummary
from bayou.summaries.heavy_hitters import HeavyHitters
from bayou.summaries.state import ADD, declare, declared_values, from_schema

PRIME = (1 << 31) - 1


def row_hashes(depth: int, seed: int) -> Index:
    """Coefficients of the hash of every row, int64[depth, 4], the same on every machine."""
    coefficients = [[hash_label(f"{r} {i}", seed) % PRIME for i in range(4)] for r in range(depth)]
    return np.array(coefficients, dtype=np.int64).reshape(depth, 4)


class CountMin(DecayingSummary):
    r"""A table of W cells in each of D rows for every column; $\hat n(x, c) = \min_r cell_r[h_r(x), c]$.

    The estimate is never below the truth, and above it by more than $\epsilon N_c$ with probability at most
    $\delta$, for every class: $W = \lceil e / \epsilon \rceil$, $D = \lceil \ln 1/\delta \rceil$ (Cormode and
    Muthukrishnan 2005). Conservative updates raise no cell further than the estimate needs, so errors are smaller,
    but rows cannot be taken out and merged tables are looser than those of one pass.

    Parameters
    ----------
    eps, delta
        Error and the chance to exceed it.
    conservative
        Whether to update conservatively.
    seed
        Of the hashes.

    Merge: EXACT (addition); conservative: BOUNDED. Memory: 8 D W K bytes per column, however many values there are.

    Examples
    --------
    >>> sketch = CountMin(eps=0.01, delta=0.01); sketch.width, sketch.depth
    (272, 5)
    """

    law: ClassVar[MergeLaw] = MergeLaw.EXACT
    tables: Floats = declare(
        "nominal", "depth", "width", "classes", merge=ADD, scales=True, valid=valid.non_negative
    )
    present: Floats = declare("nominal", "classes", merge=ADD, scales=True, valid=valid.non_negative)
    declared: Index = from_schema("nominal", follows=declared_values)

    def __init__(
        self, eps: float = 0.001, delta: float = 0.01, conservative: bool = False, seed: int = 0
    ) -> None:
        if not 1e-6 <= eps < 1 or not 0 < delta < 1:
            raise DataError("eps must lie in [1e-6, 1) and delta in (0, 1)", value=(eps, delta))
        self.eps, self.delta, self.conservative, self.seed = eps, delta, conservative, seed
        self.width, self.depth = math.ceil(math.e / eps), math.ceil(math.log(1 / delta))
        self.prime, self.hashes = PRIME, row_hashes(self.depth, seed)
        super().__init__()
        if conservative:
            self.law = MergeLaw.BOUNDED  # type: ignore[misc] # the law depends on the rule of updating
        self.derive()

    def config(self) -> Mapping[str, Scalar]:
        return {
            "eps": self.eps, "delta": self.delta, "conservative": self.conservative, "seed": self.seed,
        }  # fmt: skip

    def derive(self) -> None:
        """Count the free cells in the first row of every column, from which the number of values is estimated."""
        used = (
            self.tables[:, 0].any(axis=2) if self.tables.shape[3] else np.zeros((len(self.tables), 1), bool)
        )
        self.free = self.width - used.sum(axis=1).astype(np.int64)

    @cached_property
    def values_by_free(self) -> Floats:
        """float64[W + 1] the estimated number of values for each number of free cells; computed at first use."""
        estimates = (self.width * math.log(self.width / max(1, free)) for free in range(self.width + 1))
        return np.fromiter(estimates, dtype=np.float64, count=self.width + 1)

    @property
    def has_no_columns(self) -> bool:
        return len(self.tables) == 0

    def distinct(self) -> Floats:
        """About how many values every column has: W ln(W / free cells of a row)."""
        estimates: Floats = self.values_by_free[self.free]
        return estimates

    def update(self, block: Block) -> None:
        self.sweep(block, None, (0.0, 0.0))

    def subtract(self, block: Block) -> None:
        if self.conservative:
            raise UnsupportedError(
                "cannot unlearn: conservative updates leave no trace of the row; use conservative=False"
            )
        self.sweep(block, None, (0.0, 0.0), -1.0)

    @property
    def shape(self) -> tuple[int, int]:
        """Columns and classes."""
        return len(self.tables), self.tables.shape[3]

    def read(self, block: Block, out: Floats, smoothing: tuple[float, float]) -> None:
        """out[q, n, K] = log P(v | c) as it stands; changes nothing."""
        self.sweep(block, out, smoothing, 0.0)

    def sweep(
        self, block: Block, out: Floats | None, smoothing: tuple[float, float], sign: float = 1.0
    ) -> None:
        """Add the rows `sign` times, in order; with `out`, first write log P(v | c) as it stood before each row.

        out : float64[q, n, K], terms of every column; smoothing : alpha and m of the table.
        """
        keys = np.ascontiguousarray(HeavyHitters.keys_of(block).T)
        terms = np.empty((len(self.tables), 0, self.tables.shape[3])) if out is None else out
        for j in range(len(self.tables)):
            smoothed = np.array([*smoothing, float(self.declared[j])])
            sketch_rows(
                self.tables[j], self.present[j], self.free[j : j + 1], keys[j], block.y, block.w, self.hashes,
                self.prime, sign, self.conservative, self.values_by_free, smoothed, terms[j],
            )  # fmt: skip

    def estimate(self, column: int, keys: Index) -> Floats:
        """[n, K] estimated class counts of values by key."""
        out = np.empty((len(keys), self.tables.shape[3]))
        estimate_rows(self.tables[column], keys, self.hashes, self.prime, out)
        return out

    def error(self) -> float:
        """eps: by how much of N_c an estimate is too large, but for a share delta of the values."""
        return self.eps if self.present.any() else 0.0

    def regroup(self, groups: Floats) -> Self:
        twin = self.fresh()
        twin.tables = np.ascontiguousarray(self.tables @ groups.T)
        twin.present = self.present @ groups.T
        twin.derive()
        return twin
