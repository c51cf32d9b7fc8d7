"""Chunks of numbers and names without quotes, read by a kernel: the same columns as Arrow's reader gives, sooner."""

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

MOST_NAMES, MOST_BYTES = 1 << 18, 1 << 24  # beyond, the names met so far are forgotten
TRIES = 8  # chunks one after the other that are not plain, after which nobody tries again


class PlainCells:
    """Reads chunks whose columns are numbers and names; names keep their codes from one chunk to the next.

    So a dictionary stays the same while no new name comes, and whoever translates it does so once.

    Parameters
    ----------
    names
        All columns, in the order of the file.
    wanted
        Those that are read: None for one of numbers, and for one of names what says whether a name fits.
    delimiter
        What stands between two cells.
    missing
        What stands for a missing cell.

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
        wanted: Mapping[str, Callable[[str], bool] | None],
        delimiter: str,
        missing: Sequence[str],
    ) -> None:
        numeric = [name for name, fits in wanted.items() if fits is None]
        self._fits = [fits for fits in wanted.values() if fits is not None]
        self._p, self._q = len(numeric), len(self._fits)
        found = {name: i for i, name in enumerate([*numeric, *(n for n in wanted if wanted[n] is not None)])}
        self._place, self._numeric = {name: found[name] for name in wanted}, tuple(numeric)
        self._kinds = np.array([found.get(name, -1) for name in names], dtype=np.int32)
        self._delimiter = ord(delimiter)
        texts = [word.encode() for word in missing]
        self._words = np.frombuffer(bytearray(b"".join(texts)) or bytearray(1), dtype=np.uint8)
        self._ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
        self._tries = TRIES
        self._forget()

    def read(self, chunk: bytes) -> Columns | None:
        """The columns, nominal ones with dictionaries; None if the chunk is not as plain as that."""
        if not self._tries or b'"' in chunk:
            return None
        if self._progress[2] > MOST_NAMES or self._progress[3] > MOST_BYTES:
            self._forget()
        found = self._read(chunk)
        self._tries = TRIES if found is not None else self._tries - 1
        return found

    def _forget(self) -> None:
        """Begin with no names."""
        self._progress = np.zeros(4, dtype=np.int64)
        self._slots = np.full(256, -1, dtype=np.int32)
        self._entries = np.empty((128, 5), dtype=np.int64)
        self._names = np.empty(4096, dtype=np.uint8)
        self._short = np.full((self._q, 256), UNKNOWN, dtype=np.int32)
        self._sizes = np.zeros(self._q, dtype=np.int64)
        self._known: list[list[str]] = [[] for _ in range(self._q)]
        self._dictionaries = [pa.array([], pa.string())] * self._q

    def _read(self, chunk: bytes) -> Columns | None:
        whole = chunk if chunk.endswith(b"\n") else chunk + b"\n"
        data = np.frombuffer(whole + bytes(SPARE), dtype=np.uint8)
        room = occurrences(whole, b"\n")
        numbers, codes = np.empty((room, self._p)), np.empty((self._q, room), dtype=np.int32)
        missing = np.zeros(self._p + self._q, dtype=np.int64)
        before = int(self._progress[2])
        self._progress[:2] = 0
        while True:
            ended = read_plain_cells(
                numbers, codes, missing, self._progress, self._slots, self._entries, self._names, self._short,
                self._sizes, data, len(whole), self._kinds, self._delimiter, self._words, self._ends,
            )  # fmt: skip
            if ended != NO_ROOM:
                break
            self._make_room(len(whole))
        if ended == NOT_PLAIN or not self._progress[1] or not self._learn_names(before):
            self._forget()  # what the chunk has taught is not known to be good
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

        beside = NumberRows(self._numeric, matrix, not missing[:p].any()) if p else None
        return Columns(list(self._place), column, beside)

    def _make_room(self, size: int) -> None:
        """Twice the room for names; there is always enough for one that stands in a chunk of this size."""
        count = int(self._progress[2])
        self._entries = np.concatenate((self._entries, np.empty_like(self._entries)))
        self._slots = np.full(2 * len(self._slots), -1, dtype=np.int32)
        place_entries(self._slots, self._entries, count)
        if 2 * (self._progress[3] + size) > len(self._names):
            self._names = np.concatenate((self._names, np.empty(len(self._names) + size, dtype=np.uint8)))

    def _learn_names(self, first: int) -> bool:
        """Take the entries from `first` on into the dictionaries; False if one is no text, or does not fit."""
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
