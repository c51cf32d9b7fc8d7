"""The strings of a vocabulary as a hash table for kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.kernels.look_up import SPARE, place_names
from bayou.schema import Label


class StringTable:
    """The strings among some values as UTF-8 bytes, with a hash table of their positions.

    A table never changes, so that several threads may read it at once; `with_values` returns a longer one.

    Examples
    --------
    >>> table = StringTable().with_values(["no", 7, "yes"])
    >>> table.size, bytes(table.names[:-SPARE]), table.starts.tolist()
    (3, b'noyes', [0, 2, 2, 5])
    """

    def __init__(self) -> None:
        self.size = 0
        self.names = _fixed(np.zeros(SPARE, dtype=np.uint8))
        self.starts = _fixed(np.zeros(1, dtype=np.int64))
        self.slots = _fixed(np.full(2, -1, dtype=np.int32))

    def with_values(self, values: Sequence[Label]) -> StringTable:
        """The table of a vocabulary that has grown by these values."""
        if set(map(type, values)) == {str}:
            texts = [value.encode("utf-8", "surrogatepass") for value in values]  # type: ignore[union-attr]
            is_name = np.ones(len(values), dtype=np.bool_)
        else:
            texts = [v.encode("utf-8", "surrogatepass") if isinstance(v, str) else b"" for v in values]
            is_name = np.array([isinstance(value, str) for value in values], dtype=np.bool_)
        ends = self.starts[-1] + np.cumsum(list(map(len, texts)), dtype=np.int64)
        longer = StringTable()
        longer.size = self.size + len(values)
        added = np.frombuffer(b"".join(texts) + bytes(SPARE), dtype=np.uint8)
        longer.names = _fixed(np.concatenate((self.names[:-SPARE], added)))
        longer.starts = _fixed(np.concatenate((self.starts, ends)))
        slots, first = self.slots.copy(), self.size
        if 2 * longer.size > len(slots):
            slots, first = np.full(max(64, 4 << longer.size.bit_length()), -1, dtype=np.int32), 0
            is_name = np.concatenate((self._is_name(), is_name))
        place_names(slots, longer.starts, longer.names, first, is_name)
        longer.slots = _fixed(slots)
        return longer

    def _is_name(self) -> NDArray[np.bool_]:
        """Which of the values are strings: those that have a slot."""
        is_name = np.zeros(self.size, dtype=np.bool_)
        is_name[self.slots[self.slots >= 0]] = True
        return is_name


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
