"""Reading numbers from memory addresses, for kernels that take any number of columns.

Numba compiles a kernel again for every number of arrays that it is called with. Columns that lie apart in memory are
therefore passed to a kernel as a table of addresses; the caller must ensure that these are valid and keep the memory
alive during the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _reader(found: Any) -> Callable[[int, int], Any]:
    """Return an intrinsic `reader(address, i)` that loads the i-th number of a Numba type from an address on."""

    @intrinsic
    def read(typing_context: Any, address: int, i: int) -> Any:
        def load(_: Any, builder: Any, __: Any, args: tuple[Any, Any]) -> Any:
            number = ir.DoubleType() if found is types.float64 else ir.IntType(found.bitwidth)
            start = builder.inttoptr(args[0], number.as_pointer())
            return builder.load(builder.gep(start, [args[1]]))

        return found(types.int64, types.int64), load

    return cast(Callable[[int, int], Any], read)


int32_at: Callable[[int, int], int] = _reader(types.int32)
int64_at: Callable[[int, int], int] = _reader(types.int64)
uint32_at: Callable[[int, int], int] = _reader(types.uint32)
uint16_at: Callable[[int, int], int] = _reader(types.uint16)
uint8_at: Callable[[int, int], int] = _reader(types.uint8)
float64_at: Callable[[int, int], float] = _reader(types.float64)
