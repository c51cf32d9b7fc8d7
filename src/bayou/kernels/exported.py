"""Columns of a struct array in Arrow's C data interface: where each lies in memory.

An ArrowArray is ten numbers of eight bytes: length, null_count, offset, n_buffers, n_children, and the addresses of
its buffers, of its children (ArrowArrays in turn), of its dictionary, of the function that releases it, and of what
that function needs.
"""

from __future__ import annotations

from bayou.block import Index
from bayou.kernels.addresses import int64_at
from bayou.kernels.jit import kernel

OFFSET, N_BUFFERS, BUFFERS, CHILDREN, DICTIONARY = 2, 3, 5, 6, 7  # places among the ten numbers


@kernel
def child_columns(columns: Index, array: int) -> bool:
    """Write the layout of each column: address of its values, address of its bitmap or 0, offset of its first row.

    Rows of the struct are those from its own offset on; its bitmap is not read, as rows of a table are all there.
    Returns whether all columns are plain: a bitmap and values, which stand for nothing else.

    columns : int64[q, 3], out; q is the number of children of the array at the address `array`
    """
    first, children = int64_at(array, OFFSET), int64_at(array, CHILDREN)
    for j in range(len(columns)):
        child = int64_at(children, j)
        if int64_at(child, N_BUFFERS) != 2 or int64_at(child, DICTIONARY) != 0:
            return False
        buffers = int64_at(child, BUFFERS)
        columns[j, 0] = int64_at(buffers, 1)
        columns[j, 1] = int64_at(buffers, 0)
        columns[j, 2] = first + int64_at(child, OFFSET)
    return True
