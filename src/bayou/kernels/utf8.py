"""Encoding of code points as UTF-8."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Index
from bayou.kernels.jit import kernel


@kernel
def encode_utf8(data: NDArray[np.uint8], ends: Index, points: NDArray[np.uint32]) -> None:
    """Encode strings one after the other, string i from ends[i] to ends[i + 1], without the zeros that pad them.

    data : uint8[4 n w], out; ends : int64[n + 1], out; points : uint32[n, w], in
    """
    at = 0
    ends[0] = 0
    for i in range(points.shape[0]):
        row = points[i]
        length = len(row)
        while length > 0 and row[length - 1] == 0:
            length -= 1
        for j in range(length):
            point = row[j]
            if point < 0x80:
                data[at] = point
                at += 1
                continue
            more = 1 if point < 0x800 else 2 if point < 0x10000 else 3
            data[at] = ((0xF80 >> more) & 0xFF) | (point >> (6 * more))
            for k in range(1, more + 1):
                data[at + k] = 0x80 | ((point >> (6 * (more - k))) & 0x3F)
            at += more + 1
        ends[i + 1] = at
