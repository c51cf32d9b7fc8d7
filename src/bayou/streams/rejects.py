"""Rejected rows and cells: counted by reason, and rows written to a dead-letter file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from bayou.errors import DataError

if TYPE_CHECKING:
    from bayou.streams.brokers.outlets import Outlet

_COUNT = "rejected: "


@dataclass(frozen=True)
class Reject:
    """One row that was left out, or one cell that was made missing.

    `after` accepted rows of its chunk come before it; `raw` is None for a cell; `at` is the place of a message.
    """

    after: int
    record: int
    column: str | None
    reason: str
    value: str | None
    raw: bytes | None
    at: str | None = None


@dataclass
class Rejects:
    """Counts of the rows and cells that a stream has rejected so far.

    Examples
    --------
    >>> rejects = Rejects()
    >>> rejects.add(Reject(0, 7, "price", "not a number", "abc", b"abc,1"))
    >>> rejects.rows, rejects.cells, rejects.counts
    (1, 0, {'not a number': 1})
    """

    path: Path | None = None
    outlet: Outlet | None = None
    rows: int = 0
    cells: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    _file: BinaryIO | None = field(default=None, repr=False)
    _bytes: int = field(default=0, repr=False)

    def add(self, reject: Reject) -> None:
        """Count a reject; a row is also written to the dead-letter file, as one JSON line."""
        self.counts[reject.reason] = self.counts.get(reject.reason, 0) + 1
        if reject.raw is None:
            self.cells += 1
            return
        self.rows += 1
        if self.path is not None or self.outlet is not None:
            letter: dict[str, object] = {} if reject.at is None else {"at": reject.at}
            letter |= {
                "row": reject.record,
                "column": reject.column,
                "reason": reject.reason,
                "value": reject.value,
                "raw": reject.raw.decode("utf-8", "backslashreplace"),
            }
            line = json.dumps(letter).encode() + b"\n"
            if self.outlet is not None:
                self.outlet.send([line[:-1]])
                return
            try:
                self._opened().write(line)
            except OSError as error:
                raise self._trouble(error) from error
            self._bytes += len(line)

    def count(self, reason: str, rows: int) -> None:
        """Count rows whose content is not known."""
        self.counts[reason] = self.counts.get(reason, 0) + rows
        self.rows += rows

    def position(self) -> dict[str, int]:
        """The counts as part of a source's position; the dead-letter file is flushed to disk first.

        Messages to a topic have been delivered then; after a crash, those sent after the position are sent again.
        """
        if self.outlet is not None:
            self.outlet.flush()
        if self._file is not None:
            try:
                self._file.flush()
                os.fsync(self._file.fileno())
            except OSError as error:
                raise self._trouble(error) from error
        counts = {_COUNT + reason: n for reason, n in self.counts.items()}
        return {
            "rejected rows": self.rows,
            "rejected cells": self.cells,
            "dead letters": self._bytes,
        } | counts

    def seek(self, position: Mapping[str, int]) -> None:
        """Restore the counts of a position, and truncate the dead-letter file to its size there."""
        self.rows, self.cells = position["rejected rows"], position["rejected cells"]
        self.counts = {key[len(_COUNT) :]: n for key, n in position.items() if key.startswith(_COUNT)}
        if self.path is None:
            return
        size, self._bytes = position["dead letters"], position["dead letters"]
        try:
            self.close()
            if not size and not self.path.exists():
                return
            self._file = self.path.open("r+b")
            if self._file.seek(0, os.SEEK_END) < size:
                raise DataError(
                    f"{self.path} holds fewer dead letters than this position counts",
                    remedy="start again, or give the file this position belongs to",
                )
            self._file.truncate(size)
            self._file.seek(size)
        except OSError as error:
            raise self._trouble(error) from error

    def close(self) -> None:
        """Close the dead-letter file, or the connection to the topic."""
        if self.outlet is not None:
            self.outlet.close()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> BinaryIO:
        if self._file is None:
            assert self.path is not None
            self._file = self.path.open("r+b" if self._bytes else "wb")
            self._file.seek(self._bytes)
        return self._file

    def _trouble(self, error: OSError) -> DataError:
        return DataError(
            f"dead-letter file {self.path}: {error.strerror or error}", remedy="give another path"
        )
