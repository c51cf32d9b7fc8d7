"""A column of documents in the form that kernels read: concatenated UTF-8 bytes and offsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.block import Bytes, Index
from bayou.errors import DataError
from bayou.missing import is_missing

_NONE: Bytes = np.empty(0, dtype=np.uint8)
_NONE.flags.writeable = False


@dataclass(slots=True)
class Documents:
    """Document i is data[ends[i]:ends[i + 1]]; missing where a bitmap `valid` says so from bit `offset` on.

    ends : int64[n + 1], read-only; data : uint8[b], read-only; valid : uint8[v], read-only, empty if none is missing
    """

    ends: Index
    data: Bytes
    valid: Bytes
    offset: int

    def __len__(self) -> int:
        return len(self.ends) - 1


def documents_of(values: Any, name: str | None = None, start: int = 0) -> Documents:
    """The documents of a column; strings of Arrow are not copied, Python objects are encoded.

    >>> documents_of(["no", None, "yes"]).ends.tolist()
    [0, 2, 2, 5]
    """
    if type(values).__module__.startswith("pyarrow"):
        documents = _of_arrow(values)
        if documents is not None:
            return documents
    to_list = getattr(values, "to_pylist", None) or getattr(values, "tolist", None)
    return _of_objects(to_list() if to_list else list(values), name, start)


def _of_arrow(values: Any) -> Documents | None:
    import pyarrow as pa

    if pa.types.is_dictionary(values.type) or pa.types.is_string_view(values.type):
        text_type = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        if not (
            pa.types.is_string(text_type)
            or pa.types.is_large_string(text_type)
            or pa.types.is_string_view(text_type)
        ):
            return None
        values = values.cast(pa.large_string())
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return None
    if hasattr(values, "num_chunks"):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
        if hasattr(values, "num_chunks"):  # of no rows
            values = pa.array([], values.type) if values.num_chunks == 0 else values.chunk(0)
    present, ends, data = values.buffers()
    width = np.dtype(np.int32 if pa.types.is_string(values.type) else np.int64)
    n = len(values)
    offsets = np.zeros(1, np.int64)
    if n:
        offsets = np.frombuffer(ends, width, n + 1, values.offset * width.itemsize).astype(np.int64)
    documents = Documents(
        _read_only(offsets),
        _NONE if data is None or not data.size else _read_only(np.frombuffer(data, np.uint8)),
        _NONE if present is None or not values.null_count else _read_only(np.frombuffer(present, np.uint8)),
        values.offset,
    )
    _check(documents)
    return documents


def _check(documents: Documents) -> None:
    """Refuse offsets outside the bytes: kernels trust them, and Arrow does not check them."""
    ends = documents.ends
    if ends[0] < 0 or ends[-1] > len(documents.data) or (len(ends) > 1 and np.diff(ends).min() < 0):
        raise DataError(
            "a column of text whose offsets lie outside of its bytes", remedy="it is damaged: read it again"
        )


def _of_objects(values: Sequence[Any], name: str | None, start: int) -> Documents:
    parts: list[bytes] = []
    for i, value in enumerate(values):
        if isinstance(value, str):
            parts.append(value.encode("utf-8", "surrogatepass"))
        elif is_missing(value):
            parts.append(b"")
        else:
            raise DataError(
                "a text column holds something that is not text", row=start + i, column=name, value=value
            )
    ends = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=ends[1:])
    return Documents(
        _read_only(ends), _read_only(np.frombuffer(b"".join(parts), np.uint8)), _NONE, 0
    )  # a missing document has no words


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
