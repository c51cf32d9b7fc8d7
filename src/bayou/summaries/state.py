"""Declared state: a summary declares its arrays once, from which moving, saving, merging and checking them follow.

Each array is declared in the class body by `declare(axes, ...)`. The axes say how an array grows with the schema,
`valid` what a file must satisfy before a kernel sees it. `valid` has no default: an array without an invariant
cannot be declared, and `ArraySummary.check` refuses every array that is not declared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from bayou.align import Alignment, Axis
from bayou.checks import require
from bayou.schema import Shape
from bayou.summaries import valid

A = TypeVar("A", bound=np.generic)
Array = NDArray[Any]
Rule = Callable[[Array, Array], Array]
Valid = Callable[[str, Array, Any], None]  # name, array of the file, summary that is realigned to the schema

SCHEMA_AXES = ("classes", "numeric", "nominal", "text")
FREE = "*?"
ADD: Rule = np.add
MAX: Rule = np.maximum


def KEEP(mine: Array, theirs: Array) -> Array:  # noqa: N802 - a rule like ADD and MAX
    """Merging leaves the array as it is."""
    return mine


@dataclass(frozen=True)
class Cells:
    """One declared array; see `declare` for what the fields mean."""

    axes: tuple[str | int, ...]
    valid: Valid
    dtype: np.dtype[Any]
    merge: Rule | None
    scales: bool
    fill: float
    frame: bool
    follows: Callable[[Alignment], Any] | None
    codes: bool

    def empty(self, owner: Any) -> Array:
        """The array of a summary that has no schema yet."""
        shape = [0 if a in SCHEMA_AXES or str(a)[0] in FREE else a for a in self.axes]
        sizes = [getattr(owner, a) if isinstance(a, str) else a for a in shape]
        return np.full(sizes, self.fill, self.dtype) if self.fill else np.zeros(sizes, self.dtype)

    def emptied(self, array: Array) -> Array:
        """The array of a summary with the same frame that has learned nothing."""
        if self.frame:
            return array
        shape = [0 if str(a)[0] == "*" else n for a, n in zip(self.axes, array.shape, strict=True)]
        return np.full(shape, self.fill, self.dtype)

    def moved(self, array: Array, plan: Alignment) -> Array:
        """The array with its entries at the places of a larger schema."""
        if self.follows is not None:
            return np.array(self.follows(plan), dtype=self.dtype)
        if self.codes:
            array = moved_codes(array, plan)
        for i, axis in enumerate(self.axes):
            if axis in SCHEMA_AXES:
                array = move(array, i, getattr(plan, str(axis)), self.fill)
        return array

    def least_bytes(self, owner: Any, shape: Shape) -> int:
        """Bytes over a schema of this shape before anything is learned, free axes as if they were 1 long."""
        lengths = {**{axis: getattr(shape, axis) for axis in SCHEMA_AXES}, "values": sum(shape.values)}
        lengths["columns"] = shape.numeric + shape.nominal + shape.text
        total = self.dtype.itemsize
        for axis in self.axes:
            length = axis if isinstance(axis, int) else lengths.get(axis, getattr(owner, axis, 1))
            total *= length if isinstance(length, int) else 1
        return total

    def fit(self, name: str, array: Array, current: Array, free: dict[str, int]) -> None:
        """Refuse another type or shape than the schema implies; axes of the same name agree in length."""
        fits = array.dtype == self.dtype and array.ndim == len(self.axes)
        for axis, expected, length in zip(self.axes, current.shape, array.shape, strict=False):
            fits = fits and length == (
                free.setdefault(str(axis), length) if str(axis)[0] in FREE else expected
            )
        if not fits:
            shown = ", ".join(map(str, self.axes))
            require(False, f"{name} must be {self.dtype}[{shown}], not {array.dtype}{list(array.shape)}")


def declare(
    *axes: str | int,
    valid: Valid,
    dtype: DTypeLike = np.float64,
    merge: Rule | None = None,
    scales: bool = False,
    fill: float = 0.0,
    frame: bool = False,
    codes: bool = False,
) -> Any:
    """Declare an array of a summary in its class body; the instance attribute of that name holds the array.

    Parameters
    ----------
    axes
        A number is a fixed length. "classes", "numeric", "nominal" and "text" follow the schema. "*rows" has any
        length, which arrays that name it share and which is 0 in `fresh()`; so has "?cells", but `fresh()` keeps it,
        for it follows from the frame. Another name is an attribute of the summary that gives the length.
    valid
        The invariant a file must satisfy, called with the array's name, the array and the summary.
    merge
        How two arrays become one (ADD, MAX, KEEP); None if the summary overrides `merge`.
    scales
        Whether decay multiplies it.
    fill
        What entries hold before anything is learned.
    frame
        Whether `fresh()` keeps it: configuration and ranges rather than what was counted.
    codes
        Whether the entries are class codes (-1 for none), which move with the classes.
    """
    return Cells(axes, valid, np.dtype(dtype), merge, scales, fill, frame, None, codes)


def from_schema(*axes: str | int, follows: Callable[[Alignment], Any]) -> Any:
    """Declare an array of integers that follows from the schema alone; merging takes the larger."""
    return Cells(axes, valid.as_schema, np.dtype(np.int64), MAX, False, 0, True, follows, False)


def declared_classes(plan: Alignment) -> list[int]:
    """The declared number of classes, 0 if the set is open."""
    return [plan.classes.declared]


def declared_values(plan: Alignment) -> list[int]:
    """The declared number of values of every nominal column, 0 where the set is open."""
    return [axis.declared for axis in plan.values]


def move(array: NDArray[A], axis: int, plan: Axis, fill: float = 0.0) -> NDArray[A]:
    """The array with its entries along `axis` moved as the plan says; entries that meet are added."""
    if array.shape[axis] == plan.size == len(plan.to) and plan.stays:
        return array
    shape = list(array.shape)
    shape[axis] = plan.size
    out = np.full(shape, fill, dtype=array.dtype)
    if array.size:
        there, here = np.moveaxis(out, axis, 0), np.moveaxis(array, axis, 0)
        if len(np.unique(plan.to)) == len(plan.to):
            there[plan.to] = here  # 0.0 + -0.0 is 0.0: a sum would change the bits of what only moves
        else:
            np.add.at(there, plan.to, here)
    return out


def moved_codes(codes: NDArray[A], plan: Alignment) -> NDArray[A]:
    """Class codes in the new schema; -1 stays."""
    moved: NDArray[A] = np.append(plan.classes.to, -1)[codes].astype(codes.dtype)
    return moved
