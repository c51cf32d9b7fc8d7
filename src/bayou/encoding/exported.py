"""Arrow's C data interface, read without pyarrow, whose objects for each column take longer than to read its cells."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from bayou.encoding.forms import address_of
from bayou.kernels.exported import child_columns

N_CHILDREN, RELEASE = 4, 8  # places among the ten numbers of an ArrowArray
_address_in = ctypes.pythonapi.PyCapsule_GetPointer
_address_in.restype, _address_in.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Stream(ctypes.Structure):
    """An ArrowArrayStream."""

    _fields_ = [
        (name, ctypes.c_void_p)
        for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")
    ]


class ExportedStruct:
    """A column of structs as one ArrowArray, which keeps the memory of its fields alive.

    Parameters
    ----------
    column
        An object with Arrow's method `__arrow_c_stream__`, whose rows lie in one chunk.
    rows
        How many they are.
    """

    def __init__(self, column: Any, rows: int) -> None:
        self._array = np.zeros(10, dtype=np.int64)
        self._address = address_of(self._array)
        capsule = column.__arrow_c_stream__()
        stream = _address_in(capsule, b"arrow_array_stream")
        problem = _GetNext(_Stream.from_address(stream).get_next)(stream, self._address)
        if problem or self._array[0] != rows:
            raise OSError(problem, f"no {rows:,} rows came through Arrow's C data interface")

    def columns(self) -> list[list[int]]:
        """Of each field the address of its values, that of its bitmap of present cells or 0, and its offset.

        Raises OSError if the fields are not all numbers.
        """
        columns = np.empty((int(self._array[N_CHILDREN]), 3), dtype=np.int64)
        if not child_columns(columns, self._address):
            raise OSError("other than plain numbers came through Arrow's C data interface")
        return columns.tolist()

    def __reduce__(self) -> Any:
        """Refuse copies and pickles: each of them would release the memory once more."""
        raise TypeError("memory of another library can be neither copied nor pickled")

    def __del__(self) -> None:
        release = int(self._array[RELEASE])
        if release:
            _Release(release)(self._address)
