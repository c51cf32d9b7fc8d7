"""Bases of summaries: how declared arrays are moved, merged, saved and checked; counts after rows are unlearned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from bayou.align import Alignment, Lengths
from bayou.checks import require
from bayou.errors import DataError, MergeError
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.schema import Shape
from bayou.summaries.state import FREE, Cells, move

__all__ = ["ArraySummary", "DecayingSummary", "State", "move", "sweep"]

DUST = 1e-9  # share of the weight taken out of a cell that rounding may leave in it


class State:
    """Arrays declared in the class body (`bayou.summaries.state`), and how they are moved, saved and checked.

    `state` holds the declarations by name. A subclass overrides what differs and calls `super()`: `derive` for what
    it computes from the arrays, `parts` for states inside it, `check` for what must hold between arrays.
    `lengths` are those of the schema it was last realigned to.
    """

    state: ClassVar[Mapping[str, Cells]] = {}
    lengths = Lengths()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        declared = {name: cells for name, cells in vars(cls).items() if isinstance(cells, Cells)}
        # An attribute of the class would make that of the instance three times as slow to reach
        for name in declared:
            delattr(cls, name)
        cls.state = {**cls.state, **declared}

    def __init__(self) -> None:
        for name, cells in self.state.items():
            setattr(self, name, cells.empty(self))

    def derive(self) -> None:
        """Compute what follows from the arrays; called after they have changed as a whole."""

    def parts(self) -> Sequence[tuple[str, State]]:
        """States inside this one, each with the prefix of its arrays' names."""
        return ()

    def has_free_axes(self) -> bool:
        """Whether the lengths of some arrays do not follow from schema and configuration alone."""
        has_free = any(str(a)[0] in FREE for cells in self.state.values() for a in cells.axes)
        return has_free or any(part.has_free_axes() for _, part in self.parts())

    def least_bytes(self, shape: Shape) -> int:
        """About how many bytes the state takes over a schema of this shape before anything is learned.

        A file must be at least as long before anything is allocated for it. A class that allocates by a parameter, or
        more than the declared arrays, overrides this.
        """
        declared = sum(cells.least_bytes(self, shape) for cells in self.state.values())
        return declared + sum(part.least_bytes(shape) for _, part in self.parts())

    def arrays(self) -> Arrays:
        """The declared arrays and those of inner states, under stable names."""
        declared = {name: getattr(self, name) for name in self.state}
        return declared | {
            f"{prefix}{k}": a for prefix, part in self.parts() for k, a in part.arrays().items()
        }

    def restore(self, arrays: Arrays) -> None:
        """Take the arrays given by `arrays`, and derive what follows from them."""
        for name in self.state:
            setattr(self, name, np.array(arrays[name], order="C"))
        for prefix, part in self.parts():
            part.restore({k: arrays[prefix + k] for k in part.arrays()})
        self.derive()

    def realign(self, plan: Alignment) -> None:
        """Move the cells of every array to where the larger schema has them; new cells are empty."""
        self.lengths = plan.lengths
        for name, cells in self.state.items():
            setattr(self, name, cells.moved(getattr(self, name), plan))
        for _, part in self.parts():
            part.realign(plan)
        self.derive()

    def check(self, arrays: Arrays) -> None:
        """Raise unless `restore(arrays)` gives a legal state over the schema this is realigned to.

        Names, types and lengths come first, then the invariant of each array; an override adds what must hold
        between arrays. What a kernel uses as an index is proven to be in range here and nowhere else.
        """
        current = self.arrays()
        inner = [(part, {k: prefix + k for k in part.arrays()}) for prefix, part in self.parts()]
        require(
            current.keys() == arrays.keys(), f"{type(self).__name__} has other arrays: {', '.join(current)}"
        )
        declared = [name for name in arrays if not any(name in names.values() for _, names in inner)]
        free: dict[str, dict[str, int]] = {}
        for name in declared:
            family = free.setdefault(name.rpartition(".")[0], {})
            self.state[_last(name)].fit(name, arrays[name], current[name], family)
        for name in declared:
            self.state[_last(name)].valid(name, arrays[name], self)
        for part, names in inner:
            part.check({k: arrays[name] for k, name in names.items()})


class ArraySummary(State):
    """A summary whose state is declared arrays; the merge law is the class attribute `law`."""

    law: ClassVar[MergeLaw]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        unmerged = [name for name, cells in cls.state.items() if cells.merge is None]
        if unmerged and cls.merge is ArraySummary.merge:
            raise TypeError(f"{cls.__name__} does not say how {', '.join(unmerged)} merge: override merge")
        if any(cells.scales for cells in cls.state.values()) and not hasattr(cls, "scale"):
            raise TypeError(f"{cls.__name__} declares arrays that decay: derive it from DecayingSummary")

    def config(self) -> Mapping[str, Scalar]:
        """What must agree for a merge: the constructor's arguments."""
        return {}

    def merge(self, other: Self) -> None:
        """Add another summary, each array as its declaration says."""
        self.check_mergeable(other)
        for name, cells in self.state.items():
            if cells.merge is not None:
                setattr(self, name, cells.merge(getattr(self, name), getattr(other, name)))
        self.derive()

    def blank(self) -> Self:
        """A summary of the same configuration whose arrays are still to be restored."""
        twin = type(self)(**self.config())
        twin.lengths = self.lengths
        return twin

    def fresh(self) -> Self:
        """An empty summary of the same configuration and shape: the identity of merge."""
        twin = self.blank()
        twin.restore({name: self.state[_last(name)].emptied(a) for name, a in self.arrays().items()})
        return twin

    def copy(self) -> Self:
        """An independent copy."""
        twin = self.blank()
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


class DecayingSummary(ArraySummary):
    """A summary that can fade: `scale` multiplies the arrays declared with `scales=True`."""

    def scale(self, factor: float) -> None:
        """Multiply every array declared with `scales=True` by a factor."""
        for name, cells in self.state.items():
            if cells.scales:
                setattr(self, name, getattr(self, name) * factor)
        self.derive()


def _last(name: str) -> str:
    """The declared name of an array: numbered families have one array per column, "3.counts"."""
    return name.rpartition(".")[2]


def sweep(before: np.ndarray, after: np.ndarray) -> None:
    """Set counts to 0 where rows were taken out and only rounding errors are left; raise where a count is negative.

    Counts of whole numbers have no rounding errors, and stay exact.

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
