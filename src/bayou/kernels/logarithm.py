"""A natural logarithm that is computed for several rows at once, with the same bits on every machine."""

from __future__ import annotations

import math

import numpy as np

from bayou.kernels.jit import tight_kernel

_ROOT_OF_HALF = int(np.float64(math.sqrt(0.5)).view(np.int64))
# log 2 in two parts: the first has zeros at the end, so that its product with an exponent is exact.
_LOG_2, _LOG_2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Coefficients of a polynomial for log((1 + s) / (1 - s)) - 2 s, from FreeBSD's msun and fdlibm.
_1, _2, _3, _4, _5, _6, _7 = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)  # fmt: skip


@tight_kernel
def natural_log(x: float) -> float:
    """Log x of a normal number x > 0, off by less than one unit in the last place.

    x = 2^k (1 + f) with 1 + f between the root of 1/2 and that of 2; log(1 + f) is a polynomial of s = f / (2 + f).
    LLVM vectorises it over rows, while the C library's function computes one at a time.
    """
    bits = np.float64(x).view(np.int64)
    k = (bits - _ROOT_OF_HALF) >> 52
    f = np.int64(bits - (k << 52)).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    odd, even = z * (_1 + w * (_3 + w * (_5 + w * _7))), w * (_2 + w * (_4 + w * _6))
    half_square = 0.5 * f * f
    exponent = np.float64(
        np.int32(k)
    )  # most processors convert several 32-bit integers at once, but no 64-bit ones
    return exponent * _LOG_2 - (
        (half_square - (s * (half_square + (odd + even)) + exponent * _LOG_2_REST)) - f
    )
