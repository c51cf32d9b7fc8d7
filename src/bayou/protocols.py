"""Protocols of summaries and readings. They are small: each optional capability is a protocol of its own."""

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
    """Sufficient statistics (level 1): mutable arrays that are updated by blocks of rows and can be merged."""

    law: ClassVar[MergeLaw]

    def update(self, block: Block) -> None:
        """Count the rows that have a label and a weight, in order."""

    def merge(self, other: Self) -> None:
        """Add another summary of the same configuration and schema; raises MergeError for others."""

    def fresh(self) -> Self:
        """A summary of the same configuration, shape and frames without data: the identity of merge."""

    def realign(self, plan: Alignment) -> None:
        """Add cells for new classes, columns and values, and move the old cells to their new places."""

    def config(self) -> Mapping[str, Scalar]:
        """The parameters that must agree for a merge, and that build an equal summary."""

    def arrays(self) -> Arrays:
        """The whole state as arrays, under stable names."""

    def restore(self, arrays: Arrays) -> None:
        """Restore a state that `arrays` returned."""


@runtime_checkable
class Subtracts(Protocol):
    """A summary from which rows can be subtracted, which unlearning needs."""

    def subtract(self, block: Block) -> None:
        """Subtract the rows: the state is that without them, as exactly as the law promises."""


@runtime_checkable
class Decays(Protocol):
    """A summary whose counts can decay, which forgetting needs."""

    def scale(self, factor: float) -> None:
        """Multiply all counts by a factor."""


@runtime_checkable
class Regroups(Protocol):
    """A summary that can be computed for groups of classes, which output codes need."""

    def regroup(self, groups: Floats) -> Self:
        """The summary of the data relabelled by class groups; groups : float64[G, K] of 0 and 1."""


@runtime_checkable
class Bounds(Protocol):
    """A summary that knows a bound of its error (law BOUNDED)."""

    def error(self) -> float:
        """A bound of the relative error of this state."""


@runtime_checkable
class Framed(Protocol):
    """A summary that fixes a frame, such as a grid or a range, before it counts."""

    @property
    def frames_are_frozen(self) -> bool:
        """Whether the frames of all columns are fixed."""


class Reading(Protocol):
    """A fitted view (level 2): an immutable value computed from a summary, which gives log-probabilities of rows."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of columns and classes, which a reading from a file must share with its summary."""

    def add_log_prob(self, block: Block, out: Floats) -> None:
        """out[n, K] += log p(x | c)."""

    def realign(self, plan: Alignment) -> Self:
        """This reading with entries for new classes and columns."""

    def arrays(self) -> Arrays:
        """The reading as arrays, under stable names."""


S = TypeVar("S", bound=Summary, contravariant=True)


class SearchedReader(Protocol[S]):
    """Searches for a reading, which is stored and changes only at refresh points."""

    def read(self, summary: S) -> Reading:
        """The reading of a summary, on which alone it depends."""

    def restore(self, arrays: Arrays, summary: S) -> Reading:
        """The reading with these arrays; raises ModelFileError if this summary cannot have given it."""


class ColumnReading(Protocol):
    """A reading with a term for each column."""

    def terms(self, block: Block) -> Floats:
        """[n, d, K] log p(x_j | c), 0 where missing."""

    def free_parameters(self) -> Floats:
        """Free parameters per class, by column or the same for all."""

    def scorer_columns(self) -> list[Node]:
        """The term of each column, as nodes of a scorer."""
