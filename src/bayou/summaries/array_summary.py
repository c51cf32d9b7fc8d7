"""What summaries made of arrays share: state by name, restoring, moving along an axis, checking a merge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayou.align import Axis
from bayou.errors import DataError, MergeError
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar

A = TypeVar("A", bound=np.generic)
DUST = 1e-9  # of the weight taken out of a cell: what rounding may leave in it


class ArraySummary:
    """A summary whose state is the arrays named in `state`."""

    law: ClassVar[MergeLaw]
    state: ClassVar[tuple[str, ...]]

    def config(self) -> Mapping[str, Scalar]:
        return {}

    def arrays(self) -> Arrays:
        return {name: getattr(self, name) for name in self.state}

    def restore(self, arrays: Arrays) -> None:
        for name in self.state:
            setattr(self, name, np.array(arrays[name], order="C"))

    def fresh(self) -> Self:
        twin = self.__class__(**self.config())
        twin.restore({name: np.zeros_like(a) for name, a in self.arrays().items()})
        return twin

    def copy(self) -> Self:
        twin = self.fresh()
        twin.restore(self.arrays())
        return twin

    def check_mergeable(self, other: ArraySummary) -> None:
        """Refuse another type, configuration or shape, naming what differs."""
        if type(other) is not type(self):
            raise MergeError(f"cannot merge {type(self).__name__} with {type(other).__name__}")
        mine, theirs = self.config(), other.config()
        if mine != theirs:
            differ = ", ".join(
                f"{k}={mine.get(k)!r} here and {theirs.get(k)!r} there"
                for k in mine
                if mine[k] != theirs.get(k)
            )
            raise MergeError(
                f"cannot merge {type(self).__name__}: {differ}; make shards with model.fresh() so that they agree"
            )


def move(array: NDArray[A], axis: int, plan: Axis) -> NDArray[A]:
    """The array with its entries along `axis` moved as the plan says; entries that meet are added."""
    if array.shape[axis] == plan.size and np.array_equal(plan.to, np.arange(plan.size)):
        return array
    shape = list(array.shape)
    shape[axis] = plan.size
    out = np.zeros(shape, dtype=array.dtype)
    if array.size:
        there, here = np.moveaxis(out, axis, 0), np.moveaxis(array, axis, 0)
        if len(np.unique(plan.to)) == len(plan.to):
            there[plan.to] = here  # 0.0 + -0.0 is 0.0: a sum would change the bits of what only moves
        else:
            np.add.at(there, plan.to, here)
    return out


def sweep(before: NDArray[np.float64], after: NDArray[np.float64]) -> None:
    """Tidy counts from which rows were taken out: dust left by rounding is nothing, less than nothing is an error.

    Whole numbers leave no dust, so theirs stay as exact as they are.

    >>> counts = np.array([2.0, 1e-16])
    >>> sweep(np.array([3.0, 0.3]), counts)
    >>> counts
    array([2., 0.])
    """
    dust = DUST * (before - after)
    if (after < -dust).any():
        raise DataError(
            "rows that were never learned cannot be unlearned",
            remedy="unlearn rows as they were learned, with the weights they had",
        )
    after[after < np.minimum(dust, 0.5)] = 0.0
