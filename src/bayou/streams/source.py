"""The interface of streams: rows in order, from a position that can be restored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

    from bayou.streams.rejects import Rejects

Kind = Literal["numeric", "nominal", "text", "date"]
Policy = Literal["strict", "skip", "missing"]


@dataclass(frozen=True)
class ColumnType:
    """Kind of a column, and its values in declared order if the file declares them.

    Examples
    --------
    >>> ColumnType("nominal", ("yes", "no"))
    ColumnType(kind='nominal', values=('yes', 'no'))
    """

    kind: Kind
    values: tuple[str, ...] | None = None


@dataclass(frozen=True)
class DocumentTermMatrix:
    """Sparse word counts of n rows: row i has `ids[indptr[i]:indptr[i + 1]]` and the counts at the same places."""

    indptr: NDArray[np.int64]
    ids: NDArray[np.int32]
    counts: NDArray[np.float64]
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def slice(self, start: int, n: int) -> DocumentTermMatrix:
        """Rows `start` to `start + n`."""
        low, high = int(self.indptr[start]), int(self.indptr[start + n])
        indptr = self.indptr[start : start + n + 1] - low
        return DocumentTermMatrix(indptr, self.ids[low:high], self.counts[low:high], self.names)

    @staticmethod
    def join(parts: Sequence[DocumentTermMatrix]) -> DocumentTermMatrix:
        """The rows of all parts, in order."""
        if len(parts) == 1:
            return parts[0]
        sizes = [part.indptr[1:] + base for part, base in zip(parts, _bases(parts), strict=True)]
        indptr = np.concatenate([np.zeros(1, np.int64), *sizes])
        ids = np.concatenate([part.ids for part in parts])
        return DocumentTermMatrix(
            indptr, ids, np.concatenate([part.counts for part in parts]), parts[0].names
        )


@dataclass(frozen=True)
class Rows:
    """Rows from a source: Arrow columns, not yet encoded.

    Parameters
    ----------
    start
        Number of the first row, from 0, among the accepted rows.
    columns
        Without the target. Numeric: float64. Nominal: string, or dictionary<int32, string> whose dictionary
        may hold values that no row of this part uses, in no meaningful order. Text: string. Date: a day or timestamp
        of Arrow's, or text of the type `bayou.streams.dates.DateText`. Null: missing. Where they are
        `bayou.streams.columns.Columns`, arrays are made on first access, and `numbers` holds the numeric columns as a
        matrix, which is all that a model reads of them.
    labels
        The target: string, int64, float64 or bool; null: unlabelled. None: the stream has no target.
    words
        Word counts, for streams that are sparse.
    coded
        The labels with a dictionary, if the file was read so: these are faster to encode.
    """

    start: int
    columns: Mapping[str, pa.Array]
    labels: pa.Array | None
    words: DocumentTermMatrix | None
    size: int
    coded: pa.Array | None = field(default=None, kw_only=True, compare=False)

    def __len__(self) -> int:
        return self.size


class Source(Protocol):
    """A stream of rows. The rows do not depend on the sizes of reads; kinds of columns are fixed on opening."""

    @property
    def columns(self) -> Mapping[str, ColumnType]:
        """Kind of every column but the target; empty for a stream of words."""

    @property
    def vocabulary(self) -> Sequence[str] | None:
        """Names of the words, for sparse streams."""

    @property
    def target(self) -> str | None:
        """Name of the label."""

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The classes that the file declares, whether they occur or not."""

    @property
    def rejects(self) -> Rejects:
        """The rejects up to the last row that was returned."""

    @property
    def identity(self) -> Mapping[str, str | int]:
        """The identity of the source, by which a checkpoint recognises it."""

    def read(self, n: int) -> Rows | None:
        """Exactly n rows; fewer at the end or before a refused row; None at the end.

        A stream that is followed returns at most n rows that have arrived, and no rows after waiting in vain. The
        arrays of a batch stay valid and unchanged until the next call of `read` but one: evaluation learns a batch
        while the next one is read.
        """

    def line_of(self, row: int) -> int | None:
        """The line of the file at which row `row` (from 0) of those returned last begins; None if unknown."""

    def position(self) -> Mapping[str, int]:
        """The position of the next row: `seek(position())` continues bit for bit, in any process."""

    def seek(self, position: Mapping[str, int]) -> None:
        """Go to a position that `position` returned."""

    def progress(self) -> float | None:
        """Share of the rows that have been read, 0 to 1; None if the length is not known."""

    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


@runtime_checkable
class Chunked(Protocol):
    """A stream that is parsed chunk by chunk."""

    def read_within(self, n: int) -> Rows | None:
        """At most n rows of one chunk, so that no copies are joined; None at the end."""


@runtime_checkable
class Followed(Protocol):
    """A stream of messages, whose first messages may be gone when it is opened again."""

    def recall(self, identity: Mapping[str, str | int]) -> None:
        """Take the columns from a checkpoint's identity, instead of from the first messages."""

    def commit(self) -> None:
        """Commit the offsets of the checkpoint just written to the broker, as information for its tools."""


@runtime_checkable
class Remembering(Protocol):
    """A stream whose state is more than a position: it holds records that wait for their labels."""

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The state besides the position, for a checkpoint."""

    def seek(self, position: Mapping[str, int], arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Go to a position that `position` returned, with the state that `arrays` returned."""


def _bases(parts: Sequence[DocumentTermMatrix]) -> list[int]:
    bases = [0]
    for part in parts[:-1]:
        bases.append(bases[-1] + int(part.indptr[-1]))
    return bases
