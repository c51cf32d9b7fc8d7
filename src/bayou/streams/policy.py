"""The policies for a cell that does not fit its column: stop, leave the row out, or make the cell missing."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou.errors import DataError
from bayou.streams.cells import Marks
from bayou.streams.rejects import Reject
from bayou.streams.source import DocumentTermMatrix, Policy

REMEDY = 'correct it, or read with policy="skip" or policy="missing"'


@dataclass
class Misfit:
    """A cell, or a whole row (`column` None), that does not fit."""

    record: int
    column: str | None
    reason: str
    value: str | None
    remedy: str = REMEDY


@dataclass
class Draft:
    """A parsed chunk before the policy is applied: converted cells, null for every misfit.

    `records` holds the record number, within the chunk, of every row that could be split into cells; rows
    that could not are among the misfits. `raw` gives a record's bytes.
    """

    columns: MutableMapping[str, pa.Array]
    records: NDArray[np.int64]
    total: int
    raw: Callable[[int], bytes]
    misfits: list[Misfit] = field(default_factory=list)
    words: DocumentTermMatrix | None = None

    def mark(self, column: str, bad: Marks, reason: str, cells: pa.Array, remedy: str = REMEDY) -> None:
        """Add the marked cells of a column to the misfits; `cells` are the unconverted cells."""
        for i in np.flatnonzero(bad):
            value = cells[int(i)].as_py()
            shown = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
            self.misfits.append(Misfit(int(self.records[i]), column, reason, shown, remedy))


@dataclass
class Chunk:
    """The accepted rows of a chunk, the rejects between them, and the error that follows them, if any.

    `lines` maps a row to the line of the file at which it begins; `coded` are the labels with a dictionary, if they
    were read so.
    """

    columns: MutableMapping[str, pa.Array]
    rows: int
    records: int
    rejects: Sequence[Reject] = ()
    fault: DataError | None = None
    words: DocumentTermMatrix | None = None
    lines: Callable[[int], int | None] | None = None
    coded: pa.Array | None = None


def flush(
    draft: Draft, policy: Policy, first: int, line_of: Callable[[int], int | None] | None = None
) -> Chunk:
    """Apply the policy to a chunk whose first record is number `first` of the stream.

    `line_of` maps a record of the chunk to the line of the file at which it begins.
    """
    rows = len(draft.records)
    if not draft.misfits:
        return Chunk(
            draft.columns, rows, draft.total, words=draft.words, lines=_lines(draft.records, line_of)
        )
    misfits = sorted(draft.misfits, key=lambda misfit: misfit.record)
    if policy == "strict":
        first_misfit = misfits[0]
        keep = int(np.searchsorted(draft.records, first_misfit.record))
        fault = DataError(
            first_misfit.reason,
            row=first + first_misfit.record,
            column=first_misfit.column,
            value=first_misfit.value,
            remedy=first_misfit.remedy,
            line=None if line_of is None else line_of(first_misfit.record),
        )
        return _take_rows(draft, np.arange(keep), Chunk({}, keep, draft.total, fault=fault), line_of)
    rejected = {m.record for m in misfits if m.column is None or policy == "skip"}
    accepted = ~np.isin(draft.records, np.fromiter(rejected, np.int64, len(rejected)))
    before = np.concatenate([[0], np.cumsum(accepted)])
    rejects, last = [], -1
    for misfit in misfits:
        if misfit.record in rejected and misfit.record == last:
            continue  # a row is rejected once, for its first misfit
        after = int(before[np.searchsorted(draft.records, misfit.record)])
        raw = draft.raw(misfit.record) if misfit.record in rejected else None
        record = first + misfit.record
        rejects.append(Reject(after, record, misfit.column, misfit.reason, misfit.value, raw))
        last = misfit.record
    kept = np.flatnonzero(accepted)
    return _take_rows(draft, kept, Chunk({}, len(kept), draft.total, rejects), line_of)


def _lines(
    records: NDArray[np.int64], line_of: Callable[[int], int | None] | None
) -> Callable[[int], int | None] | None:
    return None if line_of is None else lambda row: line_of(int(records[row]))


def _take_rows(
    draft: Draft, rows: NDArray[np.intp], chunk: Chunk, line_of: Callable[[int], int | None] | None
) -> Chunk:
    """Fill the chunk with these rows of the draft."""
    chunk.lines = _lines(draft.records[rows], line_of)
    index = pa.array(rows, pa.int64())
    chunk.columns = {name: column.take(index) for name, column in draft.columns.items()}
    if draft.words is not None:
        parts = [draft.words.slice(int(row), 1) for row in rows]
        chunk.words = DocumentTermMatrix.join(parts) if parts else draft.words.slice(0, 0)
    return chunk
