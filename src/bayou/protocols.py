"""Protocols of summaries and readings. Small on purpose: each capability beyond the basic verbs stands on its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Block, Floats
from bayou.laws import MergeLaw

if TYPE_CHECKING:
    from bayou.scorer import Node

Arrays = Mapping[str, NDArray[Any]]
Scalar = str | int | float | bool | None


class Summary(Protocol):
    """Sufficient statistics (level 1): mutable arrays that take in blocks of rows, merge, and decide nothing."""

    law: ClassVar[MergeLaw]

    def update(self, block: Block) -> None:
        """Take in the labelled rows with weight, in order."""

    def merge(self, other: Self) -> None:
        """Add another summary of the same configuration and schema; refuses others."""

    def fresh(self) -> Self:
        """Same configuration, shape and frames, nothing seen: the identity of merge."""

    def realign(self, plan: Alignment) -> None:
        """Make room for new classes, columns and values, and move the cells there."""

    def config(self) -> Mapping[str, Scalar]:
        """What must agree for a merge, and what is needed to build an equal summary."""

    def arrays(self) -> Arrays:
        """The whole state, under stable names."""

    def restore(self, arrays: Arrays) -> None:
        """Take a state given by `arrays`."""


@runtime_checkable
class Subtracts(Protocol):
    """A summary from which rows can be taken out again, which unlearning needs."""

    def subtract(self, block: Block) -> None:
        """Take the rows out again: unlearned == never seen, as exactly as the law says."""


@runtime_checkable
class Decays(Protocol):
    """A summary whose counts can fade, which forgetting needs."""

    def scale(self, factor: float) -> None:
        """Multiply everything counted by a factor."""


@runtime_checkable
class Regroups(Protocol):
    """A summary that can be had for groups of classes, which output codes need."""

    def regroup(self, groups: Floats) -> Self:
        """The summary of the data relabelled by class groups; groups : float64[G, K] of 0 and 1."""


@runtime_checkable
class Bounds(Protocol):
    """A summary that knows how far it may be off (law BOUNDED)."""

    def error(self) -> float:
        """The relative error that really holds for this state."""


@runtime_checkable
class Framed(Protocol):
    """A summary that fixes a frame, such as a grid, before it counts."""

    @property
    def frames_are_frozen(self) -> bool:
        """Whether all that must be fixed before counting (grids, ranges) is fixed for every column."""


class Reading(Protocol):
    """A fitted view (level 2): a frozen value computed from a summary, which gives log-probabilities of rows."""

    @property
    def shape(self) -> tuple[int, ...]:
        """What must be as in a reading of the same summary, or a file does not fit: columns, classes."""

    def add_log_prob(self, block: Block, out: Floats) -> None:
        """out[n, K] += log p(x | c)."""

    def realign(self, plan: Alignment) -> Self:
        """This reading with room for new classes and columns."""

    def arrays(self) -> Arrays:
        """The reading under stable names."""


S = TypeVar("S", bound=Summary, contravariant=True)


class SearchedReader(Protocol[S]):
    """Searches for a reading; the result is kept and changes only at refresh points."""

    def read(self, summary: S) -> Reading:
        """A pure function of the summary."""

    def restore(self, arrays: Arrays, summary: S) -> Reading:
        """The reading of the summary whose arrays these are; refuses what this summary cannot have given."""


class ColumnReading(Protocol):
    """A reading that tells its columns apart."""

    def terms(self, block: Block) -> Floats:
        """[n, d, K] log p(x_j | c), 0 where missing."""

    def free_parameters(self) -> Floats:
        """Free parameters per class, by column or the same for all."""

    def scorer_columns(self) -> list[Node]:
        """What each column adds, as nodes of a scorer."""
