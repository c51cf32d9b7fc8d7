"""A reader of numbers and names without quotes by a kernel: the same columns as Arrow's reader, faster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou.kernels.look_up import SPARE
from bayou.kernels.plain_cells import (
    CODE,
    COLUMN,
    LENGTH,
    NO_ROOM,
    NOT_PLAIN,
    START,
    UNKNOWN,
    place_entries,
    read_plain_cells,
)
from bayou.streams.columns import Columns, NumberRows
from bayou.streams.records import occurrences

MOST_NAMES, MOST_BYTES = 1 << 18, 1 << 24  # names that are stored; beyond, all are dropped
TRIES = 8  # after this many consecutive chunks that are not plain, no more are tried


class PlainCells:
    """Reads chunks whose columns are numbers and names; names keep their codes from one chunk to the next.

    So a dictionary stays the same until there is a new name, and its translation to codes of a model can be cached.

    Parameters
    ----------
    names
        All columns, in the order of the file.
    columns
        The columns to read: None for a numeric one, and for one of names a function that checks a name.
    delimiter
        The character between two cells.
    missing
        The texts of missing cells.

    Examples
    --------
    >>> reader = PlainCells(["a", "b", "c"], {"a": None, "c": str.islower}, ",", ["?"])
    >>> {name: column.to_pylist() for name, column in reader.read(b"1.5,x,yes\\n?,y,no\\n").items()}
    {'a': [1.5, None], 'c': ['yes', 'no']}
    >>> reader.read(b'1.5,x,"yes"\\n') is reader.read(b"1.5,x\\n") is None
    True
    """

    def __init__(
        self,
        names: Sequence[str],
        columns: Mapping[str, Callable[[str], bool] | None],
        delimiter: str,
        missing: Sequence[str],
    ) -> None:
        numeric = [name for name, fits in columns.items() if fits is None]
        self._fits = [fits for fits in columns.values() if fits is not None]
        self._p, self._q = len(numeric), len(self._fits)
        places = {
            name: i for i, name in enumerate([*numeric, *(n for n in columns if columns[n] is not None)])
        }
        self._place, self._numeric = {name: places[name] for name in columns}, tuple(numeric)
        self._kinds = np.array([places.get(name, -1) for name in names], dtype=np.int32)
        self._delimiter = ord(delimiter)
        texts = [word.encode() for word in missing]
        self._words = np.frombuffer(bytearray(b"".join(texts)) or bytearray(1), dtype=np.uint8)
        self._ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        self._tries = TRIES
        self._clear_names()

    def read(self, chunk: bytes) -> Columns | None:
        """The columns, nominal ones with dictionaries; None if the chunk is not plain."""
        if not self._tries or b'"' in chunk:
            return None
        if self._progress[2] > MOST_NAMES or self._progress[3] > MOST_BYTES:
            self._clear_names()
        columns = self._read(chunk)
        self._tries = TRIES if columns is not None else self._tries - 1
        return columns

    def _clear_names(self) -> None:
        """Drop all names."""
        self._progress = np.zeros(4, dtype=np.int64)
        self._slots = np.full(256, -1, dtype=np.int32)
        self._entries = np.empty((128, 5), dtype=np.int64)
        self._names = np.empty(4096, dtype=np.uint8)
        self._short = np.full((self._q, 256), UNKNOWN, dtype=np.int32)
        self._sizes = np.zeros(self._q, dtype=np.int64)
        self._known: list[list[str]] = [[] for _ in range(self._q)]
        self._dictionaries = [pa.array([], pa.string())] * self._q

    def _read(self, chunk: bytes) -> Columns | None:
        text = chunk if chunk.endswith(b"\n") else chunk + b"\n"
        data = np.frombuffer(text + bytes(SPARE), dtype=np.uint8)
        lines = occurrences(text, b"\n")
        numbers, codes = np.empty((lines, self._p)), np.empty((self._q, lines), dtype=np.int32)
        missing = np.zeros(self._p + self._q, dtype=np.int64)
        before = int(self._progress[2])
        self._progress[:2] = 0
        while True:
            status = read_plain_cells(
                numbers, codes, missing, self._progress, self._slots, self._entries, self._names, self._short,
                self._sizes, data, len(text), self._kinds, self._delimiter, self._words, self._ends,
            )  # fmt: skip
            if status != NO_ROOM:
                break
            self._make_room(len(text))
        if status == NOT_PLAIN or not self._progress[1] or not self._learn_names(before):
            self._clear_names()  # names of a chunk that is not plain may be wrong
            return None
        n, p = int(self._progress[1]), self._p
        matrix, dictionaries = numbers[:n], tuple(self._dictionaries)

        def column(name: str) -> pa.Array:
            i = self._place[name]
            if i < p:
                cells = np.ascontiguousarray(matrix[:, i])
                valid = _bits(cells == cells) if missing[i] else None
                return pa.Array.from_buffers(pa.float64(), n, [valid, pa.py_buffer(cells)])
            names = codes[i - p, :n]
            valid = _bits(names >= 0) if missing[i] else None
            indices = pa.Array.from_buffers(pa.int32(), n, [valid, pa.py_buffer(names)])
            return pa.DictionaryArray.from_arrays(indices, dictionaries[i - p], safe=False)

        number_rows = NumberRows(self._numeric, matrix, not missing[:p].any()) if p else None
        return Columns(list(self._place), column, number_rows)

    def _make_room(self, size: int) -> None:
        """Double the room for names, so that at least one from a chunk of this size fits."""
        count = int(self._progress[2])
        self._entries = np.concatenate((self._entries, np.empty_like(self._entries)))
        self._slots = np.full(2 * len(self._slots), -1, dtype=np.int32)
        place_entries(self._slots, self._entries, count)
        if 2 * (self._progress[3] + size) > len(self._names):
            self._names = np.concatenate((self._names, np.empty(len(self._names) + size, dtype=np.uint8)))

    def _learn_names(self, first: int) -> bool:
        """Add the entries from `first` on to the dictionaries; False if one is not UTF-8, or does not fit."""
        changed = set()
        for entry in self._entries[first : self._progress[2]].tolist():
            j, begin = entry[COLUMN], entry[START]
            if entry[CODE] < 0:
                continue
            try:
                name = self._names[begin : begin + entry[LENGTH]].tobytes().decode()
            except UnicodeDecodeError:
                return False
            if not self._fits[j](name):
                return False
            self._known[j].append(name)
            changed.add(j)
        for j in changed:
            self._dictionaries[j] = pa.array(self._known[j], pa.string())
        return True


def _bits(present: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(present, bitorder="little"))
