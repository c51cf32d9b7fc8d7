"""What every stream looks like: rows handed out in order, from a place that can be found again."""

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
    """Sparse word counts of n rows: row i owns `ids[indptr[i]:indptr[i + 1]]` and the counts beside them."""

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
        """Rows of all parts, in order."""
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
    """At most n rows as a source hands them out: Arrow columns, not yet encoded.

    Parameters
    ----------
    start
        Number of the first row, from 0; only accepted rows count.
    columns
        Without the target. Numeric: float64. Nominal: string, or dictionary<int32, string> whose dictionary
        may hold values that no row of this part uses, in no meaningful order. Text: string. Date: a day or timestamp
        of Arrow's, or text of the type `bayou.streams.dates.DateText`. Null: missing. Where they are
        `bayou.streams.columns.Columns`, arrays are made when somebody asks for them, and `numbers` holds the numeric
        ones side by side, which is all that a model wants of them.
    labels
        The target: string, int64, float64 or bool; null: unlabelled. None: the stream has no target.
    words
        Word counts, for streams that are sparse.
    coded
        The labels once more, with a dictionary, where the file was read so: quicker to encode.
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
    """A stream of rows. The rows do not depend on how `read` cuts them; kinds are fixed on opening."""

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
        """Classes the file declares, whether they occur or not."""

    @property
    def rejects(self) -> Rejects:
        """What did not fit, up to the last row handed out."""

    @property
    def identity(self) -> Mapping[str, str | int]:
        """What a checkpoint stores to recognise the source."""

    def read(self, n: int) -> Rows | None:
        """Exactly n rows; fewer at the end or before a refused row; None at the end.

        Of a stream that is followed, those that are there; none at all where none has come for a while.
        """

    def line_of(self, row: int) -> int | None:
        """The line of the file at which a row begins, counted from 0 among those handed out last; None: unknown."""

    def position(self) -> Mapping[str, int]:
        """Where the next row comes from: `seek(position())` continues bit for bit, in any process."""

    def seek(self, position: Mapping[str, int]) -> None:
        """Go to a place that `position` gave."""

    def progress(self) -> float | None:
        """Share done, 0 to 1; None where the length is not known."""

    def close(self) -> None:
        """Let go of the file."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


@runtime_checkable
class Chunked(Protocol):
    """What else a stream does that is parsed chunk by chunk."""

    def read_within(self, n: int) -> Rows | None:
        """At most n rows, of one chunk, so that nothing has to be put together; None at the end."""


@runtime_checkable
class Followed(Protocol):
    """What else a stream of messages does, whose first messages may be gone when it is opened again."""

    def recall(self, identity: Mapping[str, str | int]) -> None:
        """Take from a checkpoint's identity what would else be found out from the first messages."""

    def commit(self) -> None:
        """A checkpoint was written: tell the broker how far it has come, as a hint."""


@runtime_checkable
class Remembering(Protocol):
    """What else a stream does that remembers more than a place: records that wait for their labels."""

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """What a checkpoint keeps beside the position."""

    def seek(self, position: Mapping[str, int], arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Go to a place that `position` gave, when `arrays` was remembered."""


def _bases(parts: Sequence[DocumentTermMatrix]) -> list[int]:
    bases = [0]
    for part in parts[:-1]:
        bases.append(bases[-1] + int(part.indptr[-1]))
    return bases
