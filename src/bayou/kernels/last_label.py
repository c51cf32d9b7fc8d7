"""Labels: translating their codes, and predicting that every row has the label of the row before."""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import kernel


@kernel
def recode(where: Codes, codes: Codes, out: Codes) -> None:
    """out[i] = where[codes[i]]; -1 for a code that has no place there.

    where : int32[K], in; codes : int32[n], in; out : int32[n], out
    """
    k = np.uint64(len(where))
    for i in range(len(codes)):
        code = np.uint64(codes[i])
        out[i] = where[code] if code < k else np.int32(-1)


@kernel
def last_label_predict_then_update(last: Index, out: Floats, y: Codes, w: Floats) -> None:
    """Row by row: set every class but the last label to -inf, then remember the row's label as the last one.

    last : int64[1], in/out; out : float64[n, K], in/out; y : int32[n], in; w : float64[n], in
    """
    for i in range(len(y)):
        for c in range(out.shape[1]):
            if c != last[0]:
                out[i, c] += -np.inf
        if y[i] >= 0 and w[i] > 0.0:
            last[0] = y[i]
