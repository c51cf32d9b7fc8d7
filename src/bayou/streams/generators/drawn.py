"""Random rows, drawn in chunks of fixed size, each from its own random stream, so that any row can be drawn again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayou.errors import DataError
from bayou.streams.rejects import Rejects
from bayou.streams.source import ColumnType, DocumentTermMatrix, Rows

CHUNK = 4_096
_SETUP = 2**64 - 1  # the chunk number from which a generator draws its own parameters


@dataclass(frozen=True)
class Draw:
    """A chunk: float64 values or int32 codes by column (NaN or -1: missing), class numbers, and word counts."""

    columns: Mapping[str, NDArray[np.float64] | NDArray[np.int32]]
    y: NDArray[np.int64]
    words: DocumentTermMatrix | None = None


class DrawnSource:
    """A source whose chunk i depends only on (seed, i). It is endless unless `rows` is given."""

    target = "class"
    vocabulary: tuple[str, ...] | None = None
    bayes_accuracy: float | None = None

    def __init__(
        self, columns: Mapping[str, ColumnType], classes: tuple[str, ...], seed: int, rows: int | None
    ) -> None:
        if not 0 <= seed < _SETUP:
            raise DataError("a seed is a whole number from 0 to 2^64 - 2", value=seed)
        if rows is not None and rows < 0:
            raise DataError("rows cannot be negative", value=rows)
        self.columns, self.classes = columns, classes
        self.seed, self.rows = seed, rows
        self.rejects = Rejects()
        self._row = 0
        self._number = -1
        self._draw: Draw | None = None

    def _chunk(self, random: np.random.Generator, start: int) -> Draw:
        """`CHUNK` rows, the first of them number `start`."""
        raise NotImplementedError

    def _setup(self) -> np.random.Generator:
        """The random stream for the parameters of the generator."""
        return _random(self.seed, _SETUP)

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Name, seed and length."""
        length = -1 if self.rows is None else self.rows
        return {"path": f"generator:{type(self).__name__}", "size": length, "seed": self.seed}

    @property
    def bayes_rate(self) -> float | None:
        """Error rate of the best possible classifier, if it is known."""
        return None if self.bayes_accuracy is None else 1.0 - self.bayes_accuracy

    def read(self, n: int) -> Rows | None:
        """Exactly n rows; fewer at the end, and None after it."""
        import pyarrow as pa

        if n < 1:
            raise DataError("read needs a positive number of rows", value=n, remedy="read(1000)")
        size = n if self.rows is None else min(n, self.rows - self._row)
        if size <= 0:
            return None
        start, parts = self._row, []
        while self._row < start + size:
            first = self._row % CHUNK
            last = min(CHUNK, first + start + size - self._row)
            parts.append((self._at(self._row // CHUNK), first, last))
            self._row += last - first
        columns = {}
        for name, column in self.columns.items():
            values = np.concatenate([draw.columns[name][a:b] for draw, a, b in parts])
            columns[name] = pa.array(values)
            if column.values is not None:
                columns[name] = pa.DictionaryArray.from_arrays(
                    pa.array(values, mask=values < 0), list(column.values)
                )
        y = np.concatenate([draw.y[a:b] for draw, a, b in parts])
        words = [draw.words.slice(a, b - a) for draw, a, b in parts if draw.words is not None]
        labels = pa.array(self.classes).take(pa.array(y))
        return Rows(start, columns, labels, DocumentTermMatrix.join(words) if words else None, size)

    def _at(self, number: int) -> Draw:
        """Chunk `number`; the last one is cached."""
        if number != self._number or self._draw is None:
            self._draw = self._chunk(_random(self.seed, number), number * CHUNK)
            self._number = number
        return self._draw

    def position(self) -> Mapping[str, int]:
        """The number of the next row."""
        return {"row": self._row}

    def seek(self, position: Mapping[str, int]) -> None:
        """Go to any row."""
        row = position.get("row", -1)
        if row < 0:
            raise DataError("not a position of a generator", value=dict(position))
        self._row = row

    def line_of(self, row: int) -> int | None:
        """None: there are no lines."""
        return None

    def progress(self) -> float | None:
        """Share of `rows` that have been read."""
        return None if self.rows is None else (self._row / self.rows if self.rows else 1.0)

    def close(self) -> None:
        """Do nothing: there is no file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _random(seed: int, number: int) -> np.random.Generator:
    key = np.array([seed, number], np.uint64)
    return np.random.Generator(np.random.Philox(key=key))
