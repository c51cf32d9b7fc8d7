"""Lists of labels as four arrays: one UTF-8 blob, where each label ends, its type, and where each list ends.

Column names, classes, vocabularies and long parameters all live here, so a vocabulary of a million words
takes no room in the header.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.errors import ModelFileError
from bayou.persist.container import Arrays
from bayou.schema import Label

NAMES = ("labels.bytes", "labels.ends", "labels.types", "labels.lists")
STR, BYTES, INT, FLOAT, BOOL = range(5)
_INT = re.compile(rb"-?(0|[1-9][0-9]{0,399})\Z")
CHUNK, SHORT = 4_096, 1 << 20  # labels, and bytes, that are decoded at once


class LabelWriter:
    """Collects lists of labels, and numbers them.

    Examples
    --------
    >>> writer = LabelWriter()
    >>> writer.add(["mon", True, 3, 0.5, b"x"])
    0
    >>> LabelReader(writer.arrays()).read(0)
    ['mon', True, 3, 0.5, b'x']
    """

    def __init__(self) -> None:
        self._blobs: list[bytes] = []
        self._lengths: list[NDArray[np.int64]] = []
        self._types = bytearray()
        self._lists: list[int] = []

    def add(self, labels: Iterable[Label]) -> int:
        """Add a list of labels; returns its number."""
        values = list(labels)
        if set(map(type, values)) == {str} and (text := "".join(values)).isascii():  # type: ignore[arg-type]
            self._blobs.append(text.encode())
            self._lengths.append(np.fromiter(map(len, values), np.int64, len(values)))  # type: ignore[arg-type]
            self._types += bytes([STR]) * len(values)
        else:
            encoded = [_encoded(label) for label in values]
            self._blobs += [data for _, data in encoded]
            self._lengths.append(np.array([len(data) for _, data in encoded], np.int64))
            self._types += bytes(kind for kind, _ in encoded)
        self._lists.append(len(self._types))
        return len(self._lists) - 1

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All lists as four arrays."""
        return {
            "labels.bytes": np.frombuffer(b"".join(self._blobs), dtype=np.uint8),
            "labels.ends": np.cumsum(np.concatenate([np.zeros(0, np.int64), *self._lengths])),
            "labels.types": np.frombuffer(bytes(self._types), dtype=np.uint8),
            "labels.lists": np.array(self._lists, dtype=np.int64),
        }


class LabelReader:
    """Reads the lists of a file, whose arrays are checked first."""

    def __init__(self, arrays: Arrays) -> None:
        for name, dtype in zip(NAMES, (np.uint8, np.int64, np.uint8, np.int64), strict=True):
            if name not in arrays or arrays[name].dtype != dtype or arrays[name].ndim != 1:
                raise ModelFileError(f"array {name!r} is missing or of the wrong type or shape")
        blob, self._ends, self._types, self._lists = (arrays[name] for name in NAMES)
        _check_ends("labels.ends", self._ends, len(blob))
        _check_ends("labels.lists", self._lists, len(self._ends))
        if len(self._types) != len(self._ends) or (len(self._types) and self._types.max() > BOOL):
            raise ModelFileError("labels.types does not give one known type per label")
        self._blob = blob.data

    def __len__(self) -> int:
        return len(self._lists)

    def read(self, number: object) -> list[Label]:
        """The list of labels with this number."""
        if type(number) is not int or not 0 <= number < len(self._lists):
            raise ModelFileError(f"there is no list of labels with number {number!r}"[:100])
        low = int(self._lists[number - 1]) if number else 0
        high = int(self._lists[number])
        begin = int(self._ends[low - 1]) if low else 0
        out: list[Label] = []
        for first in range(low, high, CHUNK):  # the ends of a long list would take more room than its labels
            here = slice(first, min(first + CHUNK, high))
            ends = self._ends[here].tolist()
            short = ends[-1] - begin <= SHORT and not self._types[here].any()
            if short and (data := bytes(self._blob[begin : ends[-1]])).isascii():  # strings, all at once
                text = data.decode()
                out += [text[a - begin : b - begin] for a, b in pairwise((begin, *ends))]
            else:
                edges = zip((begin, *ends), ends, self._types[here].tolist(), strict=False)
                out += [_decoded(bytes(self._blob[a:b]), kind) for a, b, kind in edges]
            begin = ends[-1]
        return out

    def names(self, number: object) -> list[str]:
        """The list with this number, which must hold strings only, each once."""
        labels = self.read(number)
        if not all(type(name) is str for name in labels) or len(set(labels)) != len(labels):
            raise ModelFileError("names must be strings, each only once")
        return [str(name) for name in labels]


def _encoded(label: Label) -> tuple[int, bytes]:
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, bool):
        return BOOL, b"\1" if value else b"\0"
    if isinstance(value, int):
        data = str(value).encode()
        if not _INT.match(data):
            raise ModelFileError("an integer label has more than 400 digits and cannot be stored")
        return INT, data
    if isinstance(value, float):
        return FLOAT, struct.pack("<d", value)
    if isinstance(value, str):
        return STR, value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return BYTES, value
    raise ModelFileError(f"a label of type {type(value).__name__} cannot be stored")


def _decoded(data: bytes, kind: int) -> Label:
    if kind == STR:
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as problem:
            raise ModelFileError(f"a label is not UTF-8: {data[:40]!r}") from problem
    if kind == BYTES:
        return data
    if kind == INT and _INT.match(data) and data != b"-0":
        return int(data)
    if kind == FLOAT and len(data) == 8:
        (value,) = struct.unpack("<d", data)
        if value == value:
            return float(value)
    if kind == BOOL and data in (b"\0", b"\1"):
        return data == b"\1"
    raise ModelFileError(f"a label of type {kind} cannot be {data[:40]!r}")


def _check_ends(name: str, ends: NDArray[Any], total: int) -> None:
    if len(ends) == 0 and total == 0:
        return
    if len(ends) == 0 or ends[0] < 0 or ends[-1] != total or np.any(ends[1:] < ends[:-1]):
        raise ModelFileError(f"{name} must rise to {total:,}")


def all_labels(values: Sequence[object]) -> bool:
    """Whether a sequence can be stored as a list of labels without loss."""
    return all(type(v) in (str, bytes, int, float, bool) and v == v for v in values)
