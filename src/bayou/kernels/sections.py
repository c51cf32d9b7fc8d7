"""Sections of a stream: columns that keep a value for long, and rows that lie outside the latest section.

A file sorted by a column, or put together from files, comes in sections. Of every column are known its first and its
latest value, how often a value differed from the one before (changes), and how often from the first (departures). Rows
in any order change about as often as they depart; a column is in sections while changes^2 < departures.
"""

from __future__ import annotations

import numpy as np

from bayou.block import Codes, Flags, Floats
from bayou.kernels.jit import kernel, tight_kernel

FIRST, LATEST = 0, 1
CHANGES, DEPARTURES = 0, 1


@tight_kernel
def leaves_section(steps: Floats, j: int, differs: bool) -> bool:
    """Whether a value that differs, or not, from the latest one lies outside the section of column j.

    steps : float64[2, d], in
    """
    return differs and steps[CHANGES, j] * steps[CHANGES, j] < steps[DEPARTURES, j]


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
        for j in range(x.shape[1]):
            if not np.isnan(x[i, j]):
                outside |= leaves_section(steps, j, x[i, j] != ends[LATEST, j])
        for j in range(codes.shape[1]):
            if codes[i, j] >= 0:
                outside |= leaves_section(code_steps, j, codes[i, j] != code_ends[LATEST, j])
        out[i] = outside
        if not learn or y[i] < 0 or w[i] == 0.0:
            continue
        for j in range(x.shape[1]):
            value = x[i, j]
            if np.isnan(value):
                continue
            if np.isnan(ends[FIRST, j]):
                ends[FIRST, j] = value
                ends[LATEST, j] = value
            steps[CHANGES, j] += value != ends[LATEST, j]
            steps[DEPARTURES, j] += value != ends[FIRST, j]
            ends[LATEST, j] = value
        for j in range(codes.shape[1]):
            code = codes[i, j]
            if code < 0:
                continue
            if code_ends[FIRST, j] < 0:
                code_ends[FIRST, j] = code
                code_ends[LATEST, j] = code
            code_steps[CHANGES, j] += code != code_ends[LATEST, j]
            code_steps[DEPARTURES, j] += code != code_ends[FIRST, j]
            code_ends[LATEST, j] = code
