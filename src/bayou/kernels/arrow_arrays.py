"""Reading the structures by which Arrow hands its memory to others, the C data interface."""

from __future__ import annotations

from bayou.block import Index
from bayou.kernels.addresses import int64_at
from bayou.kernels.jit import kernel

# Fields of `struct ArrowArray`, each of 64 bits
MISSING, OFFSET, BUFFER_COUNT, BUFFERS, CHILDREN = 1, 2, 3, 5, 6


@kernel
def columns_of_batch(columns: Index, batch: int) -> None:
    """Write of each column how many values are missing (-1: unknown), its offset, and addresses of flags and values.

    A column without flags of missing values, or without values, has 0 for an address.

    columns : int64[p, 4], out; `batch` is the address of the structure of a record batch of p columns
    """
    children = int64_at(batch, CHILDREN)
    for j in range(len(columns)):
        column = int64_at(children, j)
        buffers = int64_at(column, BUFFERS)
        columns[j, 0] = int64_at(column, MISSING)
        columns[j, 1] = int64_at(column, OFFSET)
        for k in range(2):
            columns[j, 2 + k] = int64_at(buffers, k) if int64_at(column, BUFFER_COUNT) > k else 0
