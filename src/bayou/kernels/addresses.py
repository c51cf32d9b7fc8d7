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


@intrinsic
def _eight_by_eight(typing_context: Any, cells: int, stride: int, columns: int, skipped: int) -> Any:
    """Write eight rows of eight columns of int64 as doubles, by instructions that handle eight numbers at a time.

    `cells` is the address of the first number written, `stride` the bytes from row to row, and `columns` that of
    int64[8, 2], with the addresses of the columns behind; `skipped` bytes of each column are not read.
    """

    def put(_: Any, builder: Any, __: Any, args: tuple[Any, Any, Any, Any]) -> Any:
        cell, stride, columns, skipped = args
        word, eight_words = ir.IntType(64), ir.VectorType(ir.IntType(64), 8)
        eight_doubles = ir.VectorType(ir.DoubleType(), 8)
        table = builder.inttoptr(columns, word.as_pointer())
        lines = []
        for k in range(8):
            address = builder.add(builder.load(builder.gep(table, [word(2 * k + 1)])), skipped)
            words = builder.load(builder.inttoptr(address, eight_words.as_pointer()), align=8)
            lines.append(builder.sitofp(words, eight_doubles))
        for size in (1, 2, 4):  # squares of this size change places across the diagonal
            for k in (k for k in range(8) if not k & size):
                upper, lower = lines[k], lines[k + size]
                for line, shift in ((k, 0), (k + size, size)):
                    picked = [(i & ~size) + shift + (8 if i & size else 0) for i in range(8)]
                    mask = ir.Constant(ir.VectorType(ir.IntType(32), 8), picked)
                    lines[line] = builder.shuffle_vector(upper, lower, mask)
        for line in lines:
            builder.store(line, builder.inttoptr(cell, eight_doubles.as_pointer()), align=8)
            cell = builder.add(cell, stride)
        return ir.Constant(word, 8)

    return types.int64(types.int64, types.int64, types.int64, types.int64), put


put_eight_by_eight = cast(Callable[[int, int, int, int], int], _eight_by_eight)
