"""The memory layout of a column, as kernels read it: indices into a dictionary, strings, or integers.

The bytes of strings are never copied (Arrow's three kinds, pandas `str`, polars), nor are dictionary indices of up to
32 bits (Arrow, the codes of pandas and polars) while the dictionary stays the same, and integers of 64 (Arrow, NumPy).
Narrower integers and the offsets of Arrow's plain strings are widened, packed flags unpacked. NumPy's strings and
Python objects are converted, once per batch. docs/data.md has the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.utf8 import encode_utf8

Bytes = NDArray[np.uint8]
FLAGS = (False, True)
FEW = 16  # fewer Python objects are looked up faster one by one than converted
_BYTE = np.dtype(np.uint8)
_NONE: Bytes = np.empty(0, dtype=np.uint8)
_NONE.flags.writeable = False


@dataclass(slots=True)
class Indices:
    """Indices into a dictionary, < 0 or not valid where missing, given by where they lie in memory."""

    length: int
    dtype: np.dtype[Any]  # of at most 32 bits
    address: int  # of the first one
    valid_address: int  # of the bitmap of present cells; 0 if all are present
    offset: int  # the bit of the bitmap that belongs to the first cell
    dictionary: Any
    known_size: int | None  # polars does not say how many categories there are
    memory: Any  # what keeps the memory alive

    def __len__(self) -> int:
        return self.length

    @property
    def indices(self) -> NDArray[np.int32]:
        """The indices as 32-bit integers, copied if they are narrower."""
        array = array_at(self.address, self.dtype, self.length, self.memory)
        return array.view(np.int32) if array.dtype == np.uint32 else _read_only(array, np.int32)

    @property
    def valid(self) -> Bytes:
        """The bitmap of present cells; empty if all are present."""
        if not self.valid_address:
            return _NONE
        return array_at(self.valid_address, _BYTE, (self.offset + self.length + 7) // 8, self.memory)

    @property
    def size(self) -> int:
        """How many entries the dictionary has, or at least those that are used: indices are less."""
        return int(self.indices.max(initial=-1)) + 1 if self.known_size is None else self.known_size

    def rows(self, lo: int, hi: int) -> Indices:
        """The indices of the rows lo..hi, where they lie."""
        address, offset = self.address + lo * self.dtype.itemsize, self.offset + lo
        return replace(self, length=hi - lo, address=address, offset=offset)

    def take(self, rows: NDArray[np.int64]) -> Indices:
        """The indices of these rows, copied."""
        taken = self.indices[rows]
        if self.valid_address:
            present = np.unpackbits(self.valid, bitorder="little")[self.offset + rows]
            taken = np.where(present, taken, np.int32(-1))
        return indices_of(taken, self.dictionary, self.known_size)

    def __reduce__(self) -> Any:
        """Refuse copies and pickles: they would have the address of memory that they do not keep alive."""
        raise TypeError(
            "indices where they lie in memory can be neither copied nor pickled; take() copies rows"
        )


def indices_of(codes: NDArray[Any], dictionary: Any, size: int | None) -> Indices:
    """The form of codes in an array of NumPy's, of which those < 0 are missing."""
    codes = np.ascontiguousarray(codes)
    if codes.itemsize > 4:
        codes = codes.astype(np.int32)
    return Indices(len(codes), codes.dtype, address_of(codes), 0, 0, dictionary, size, codes)


@dataclass(slots=True)
class Coded:
    """A column of codes with a dictionary that is not Arrow's: a Categorical of pandas or of polars."""

    form: Indices  # its dictionary is the Index of categories of pandas, or the data type of polars
    native: Callable[[], Any]  # returns the column itself

    def __len__(self) -> int:
        return self.form.length

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_pylist())

    def __getitem__(self, where: slice) -> Coded:
        lo, hi, step = where.indices(len(self))
        if step != 1:
            return self.take(np.arange(lo, hi, step))
        return Coded(self.form.rows(lo, max(lo, hi)), lambda: self.native()[where])

    def take(self, rows: NDArray[np.int64]) -> Coded:
        def native() -> Any:
            column = self.native()
            return column[rows] if hasattr(column, "gather") else column.take(rows)

        return Coded(self.form.take(rows), native)

    def to_pylist(self) -> list[Any]:
        return list(self.native())

    def arrow_dictionary(self) -> Any:
        """The categories as an Arrow array with a dictionary, which has their type; None if they have no common one."""
        import pyarrow as pa

        categories = self.form.dictionary
        names = not hasattr(categories, "equals")  # polars knows no other categories
        try:
            return pa.array(["a name"] if names else categories, from_pandas=True).dictionary_encode()
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return None


def held_categories(values: Any) -> Any:
    """What keeps the categories of a column as they are while other batches come.

    polars forgets categories that no column has any more, and would give their codes to others of the same name.
    """
    if not isinstance(values, Coded):
        return None
    column = values.native()
    return column.clear() if hasattr(column, "clear") else None


@cache
def index_layout(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The size of indices in bytes, and from which one on, read as unsigned, they are missing.

    Indices of 32 bits are so from 2^31 on: no dictionary has as many entries.
    """
    bits = 8 * dtype.itemsize
    return dtype.itemsize, 1 << (bits if dtype.kind == "u" and bits < 32 else bits - 1)


@dataclass(slots=True)
class Strings:
    """Contiguous strings: string i is data[ends[i]:ends[i + 1]]."""

    ends: NDArray[np.int64]
    data: Bytes
    valid: Bytes
    offset: int


@dataclass(slots=True)
class StringViews:
    """Strings as Arrow's views; those of more than 12 bytes are in `data`."""

    views: Bytes
    data: Bytes
    valid: Bytes
    offset: int


@dataclass(slots=True)
class Integers:
    """Integers, or flags as 0 and 1."""

    values: NDArray[np.int64]
    valid: Bytes
    offset: int
    flags: bool


Form = Indices | Strings | StringViews | Integers


def is_arrow(values: Any) -> bool:
    return _is_arrow_type(type(values))  # type: ignore[arg-type] # a type is hashable


@cache
def _is_arrow_type(kind: type) -> bool:
    return kind.__module__.startswith("pyarrow")


def is_double(values: Any) -> bool:
    """Whether an Arrow column holds doubles, which need no further checks of their type."""
    return bool(values.type.id == _types().Type_DOUBLE)


@cache
def _types() -> Any:
    """Arrow's numbers for its types: to import them for every column takes as long as to read a hundred cells."""
    from pyarrow import lib

    return lib


@cache
def timeless(kind: int) -> bool:
    """Whether an Arrow type, given by its number, is a number, a flag or a string, and so no date."""
    lib = _types()
    others = (lib.Type_FLOAT, lib.Type_DOUBLE, lib.Type_BOOL)
    strings = (lib.Type_STRING, lib.Type_LARGE_STRING, lib.Type_STRING_VIEW)
    return kind in _integer_types() or kind in others or kind in strings


def value_type(kind: Any) -> Any:
    """The type of an Arrow column's values, whether or not they are in a dictionary."""
    return kind.value_type if kind.id == _types().Type_DICTIONARY else kind


def one_array(values: Any) -> Any:
    """An Arrow column as one array: its only chunk, or all of them copied into one."""
    chunks = getattr(values, "num_chunks", None)
    if chunks is None:
        return values
    return values.chunk(0) if chunks == 1 else values.combine_chunks()


def form_of(values: Any) -> Form | None:
    """The column as kernels read it; None if they cannot."""
    if isinstance(values, Coded):
        return values.form
    if is_arrow(values):
        return _arrow_form(one_array(values))
    if isinstance(values, np.ndarray):
        kind = values.dtype.kind
        if kind in "iu" and values.dtype != np.uint64:
            return Integers(_read_only(values, np.int64), _NONE, 0, False)
        if kind == "b":  # bytes of 0 and 1 are places among both flags
            return indices_of(np.ascontiguousarray(values).view(np.uint8), FLAGS, len(FLAGS))
    return _arrow_form(as_arrow(values)) if _of_objects(values) else None


def dictionary_form(values: Any) -> Indices | None:
    """The column as indices into a dictionary, built if it has none; None if no compiled code can build it."""
    if isinstance(values, Coded):
        return values.form
    array = one_array(values) if is_arrow(values) else as_arrow(values) if _of_objects(values) else None
    if array is None:
        return None
    array = one_array(array)
    form = _arrow_form(array if hasattr(array, "dictionary") else array.dictionary_encode())
    return form if isinstance(form, Indices) else None


def _of_objects(values: Any) -> bool:
    """Whether a column holds Python objects, or strings of NumPy's."""
    if isinstance(values, np.ndarray):
        return values.dtype.kind in "OUT"
    return isinstance(values, list | tuple)


def picked(values: Any, where: slice | NDArray[np.int64]) -> Any:
    """The cells of a column at a range or at any places."""
    if isinstance(where, slice) or isinstance(values, np.ndarray):
        return values[where]
    if not hasattr(values, "take"):
        return [values[i] for i in where]
    if is_arrow(values) and str(values.type) == "string_view":  # of which pyarrow cannot take any places
        values = values.cast("large_string")
    return values.take(where)


def python_values(values: Any) -> Sequence[Any]:
    """The cells as Python objects."""
    to_list = getattr(values, "to_pylist", None)
    cells: Sequence[Any] = to_list() if to_list else values
    return cells


def cells_at(values: Any, rows: NDArray[np.int64]) -> Sequence[Any]:
    """The cells of these rows as Python objects; of Arrow, few of them one by one: `take` imports all of `compute`."""
    if is_arrow(values) and len(rows) <= 4 * FEW:
        return [values[i].as_py() for i in rows.tolist()]
    return python_values(picked(values, rows))


def as_arrow(values: Sequence[Any] | NDArray[Any]) -> Any:
    """Python objects or NumPy's strings as an Arrow array if all are strings, all integers or all flags; else None."""
    import pyarrow as pa

    if len(values) < FEW:
        return None
    if isinstance(values, np.ndarray) and values.dtype.kind == "U":
        return _utf8(values)
    try:
        array = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    if array.type == pa.int64():  # pyarrow reads flags of NumPy as 0 and 1
        return None if np.bool_ in set(map(type, values)) else array
    return array if array.type in (pa.string(), pa.large_string(), pa.bool_()) else None


def _utf8(values: NDArray[np.str_]) -> Any:
    """NumPy's strings of fixed width as an Arrow array."""
    import pyarrow as pa

    n, width = len(values), values.dtype.itemsize // 4
    points = np.ascontiguousarray(values, dtype=f"U{max(width, 1)}").view(np.uint32).reshape(n, -1)
    data, ends = np.empty(4 * points.size, dtype=np.uint8), np.empty(n + 1, dtype=np.int64)
    encode_utf8(data, ends, points)
    return pa.LargeStringArray.from_buffers(n, pa.py_buffer(ends), pa.py_buffer(data))


def _arrow_indices(values: Any, dtype: np.dtype[Any], dictionary: Any, size: int | None) -> Indices:
    """The integers of an Arrow array, or its indices, of this type."""
    n, offset, buffers, memory = len(values), values.offset, values.buffers(), values
    valid_address = buffers[0].address if values.null_count else 0
    if dtype.itemsize > 4 or buffers[1] is None:
        codes = _integers(values, dtype).astype(np.int32)
        dtype, address, memory = codes.dtype, address_of(codes), (values, codes)
    else:
        address = buffers[1].address + dtype.itemsize * offset
    return Indices(n, dtype, address, valid_address, offset, dictionary, size, memory)


def _arrow_form(values: Any) -> Form | None:
    if values is None:
        return None
    lib, type_ = _types(), values.type
    kind = type_.id
    if kind == lib.Type_DICTIONARY:
        dictionary = values.dictionary
        return _arrow_indices(values, _integer_types()[type_.index_type.id], dictionary, len(dictionary))
    n, offset = len(values), values.offset
    if kind == lib.Type_BOOL:
        return Integers(_read_only(_flags(values), np.int64), _valid(values), offset, True)
    if kind in _integer_types() and kind != lib.Type_UINT64:
        return Integers(
            _read_only(_integers(values, _integer_types()[kind]), np.int64), _valid(values), offset, False
        )
    if kind in (lib.Type_STRING, lib.Type_LARGE_STRING):
        _, ends, data = values.buffers()
        width = np.dtype(np.int32 if kind == lib.Type_STRING else np.int64)
        places = _memory(ends, width, offset, n + 1) if n else np.zeros(1, dtype=width)
        return Strings(_read_only(places, np.int64), _memory(data), _valid(values), offset)
    if kind == lib.Type_STRING_VIEW:
        buffers = values.buffers()
        if len(buffers) > 3:
            return _arrow_form(values.cast("large_string"))
        views = _memory(buffers[1], _BYTE, 16 * offset, 16 * n)
        return StringViews(views, _memory(buffers[2]) if len(buffers) == 3 else _NONE, _valid(values), offset)
    return None


@cache
def _integer_types() -> dict[int, np.dtype[Any]]:
    lib = _types()
    names = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
    return {getattr(lib, f"Type_{name.upper()}"): np.dtype(name) for name in names}


def _integers(values: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Arrow's integers, or indices into a dictionary, of this type; arbitrary where one is missing."""
    return _memory(values.buffers()[1], dtype, values.offset, len(values))


def _valid(values: Any) -> Bytes:
    return _memory(values.buffers()[0]) if values.null_count else _NONE


def _flags(values: Any) -> Bytes:
    """Packed bits as bytes of 0 and 1."""
    packed = _memory(values.buffers()[1])
    return np.unpackbits(packed, bitorder="little")[values.offset : values.offset + len(values)]


def _memory(
    buffer: Any, dtype: np.dtype[Any] | None = None, offset: int = 0, count: int = -1
) -> NDArray[Any]:
    """A buffer of Arrow's as a read-only array, from the element at `offset` on."""
    if buffer is None or not buffer.size:
        return _NONE
    dtype = dtype or _BYTE
    array = np.frombuffer(buffer, dtype, count, offset * dtype.itemsize)
    if (
        buffer.is_mutable
    ):  # a buffer that pyarrow has just made: a writeable array has another type and needs another kernel
        array.flags.writeable = False
    return array


class _Memory:
    """Memory at an address, as NumPy reads it."""

    def __init__(self, address: int, dtype: np.dtype[Any], count: int, owner: Any) -> None:
        self.__array_interface__ = {
            "version": 3, "data": (address, True), "typestr": dtype.str, "shape": (count,)
        }  # fmt: skip
        self.owner = owner


def array_at(address: int, dtype: np.dtype[Any], count: int, owner: Any) -> NDArray[Any]:
    """A read-only array over memory that its owner keeps alive."""
    return np.asarray(_Memory(address, dtype, count, owner)) if count else np.empty(0, dtype=dtype)


def address_of(array: NDArray[Any]) -> int:
    """The address of the first element."""
    address: int = array.__array_interface__["data"][0]  # `ctypes.data` takes twice as long
    return address


def _read_only(values: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    out = np.ascontiguousarray(values, dtype=dtype)
    if out.flags.writeable:
        out = out.view()
        out.flags.writeable = False
    return out
