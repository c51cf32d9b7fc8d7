"""Sections of a stream: columns that keep a value for long, and rows that lie outside the latest section.

A file sorted by a column, or put together from files, comes in sections. Of every column are known its first and its
latest value, how often a value differed from the one before (changes), and how often from the first (departures). Rows
in any order change about as often as they depart; a column is in sections while changes^2 < departures.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Flags, Floats
from bayou.kernels.jit import kernel

FIRST, LATEST = 0, 1
CHANGES, DEPARTURES = 0, 1


@kernel
def outside_section(
    ends: Floats,
    steps: Floats,
    code_ends: Codes,
    code_steps: Floats,
    x: Floats,
    codes: Codes,
    y: Codes,
    w: Floats,
    learn: bool,
    out: Flags,
) -> None:
    """Row by row: out[i] = whether a column says that the row lies outside the latest section; then it is learned.

    ends : float64[2, p], in/out, NaN before the first value; steps : float64[2, p], in/out
    code_ends : int32[2, q], in/out, -1 before the first value; code_steps : float64[2, q], in/out
    x : float64[n, p], in; codes : int32[n, q], in; y : int32[n], in; w : float64[n], in; out : bool[n], out
    """
    for i in range(len(out)):
        outside = False
        teaches = learn and y[i] >= 0 and w[i] > 0.0
        for j in range(x.shape[1]):
            value = x[i, j]
            if np.isnan(value):
                continue
            differs = value != ends[LATEST, j]
            if differs:
                outside |= steps[CHANGES, j] * steps[CHANGES, j] < steps[DEPARTURES, j]
            if teaches:
                if np.isnan(ends[FIRST, j]):
                    ends[FIRST, j] = value
                elif differs:
                    steps[CHANGES, j] += 1.0
                if value != ends[FIRST, j]:
                    steps[DEPARTURES, j] += 1.0
                ends[LATEST, j] = value
        for j in range(codes.shape[1]):
            code = codes[i, j]
            if code < 0:
                continue
            changed = code != code_ends[LATEST, j]
            if changed:
                outside |= code_steps[CHANGES, j] * code_steps[CHANGES, j] < code_steps[DEPARTURES, j]
            if teaches:
                if code_ends[FIRST, j] < 0:
                    code_ends[FIRST, j] = code
                elif changed:
                    code_steps[CHANGES, j] += 1.0
                if code != code_ends[FIRST, j]:
                    code_steps[DEPARTURES, j] += 1.0
                code_ends[LATEST, j] = code
        out[i] = outside
