"""Sections of a stream: columns that keep a value for long, and rows that lie outside the latest section or far away.

A file sorted by a column, or concatenated from files, comes in sections. The state of a column is its first and its
latest value, how often a value differed from the one before (changes), and how often from the first (departures). In
random order, changes are about as frequent as departures; a column is in sections while changes^2 < departures.

Numbers that never repeat may still change by small steps: rows ordered by place, or by season. In random order, the
mean square of a step is twice the variance (von Neumann); a column goes by steps while it is less than a fifth of the
variance. In such a column, a value is far away if it lies more than two standard deviations from the exponentially
weighted mean of the latest values (with a half-life of about seven hundred). A column that hardly ever falls, or rises,
is a clock: all its past is far away, and it is ignored.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Flags, Floats
from bayou.kernels.jit import inner_kernel, kernel

FIRST, LATEST = 0, 1
CHANGES, DEPARTURES = 0, 1
COUNT, SQUARES, STEPS, RISES, FALLS = range(5)
MEAN, HERE, SPAN = range(3)
FEWEST = 30.0  # values that a column needs before its steps are tested
SMALL = 0.2  # steps are small if their mean square is below this share of the variance
RECENT = 1e-3  # weight of the newest value in the mean of the latest ones
REACH = 2.0  # standard deviations beyond which a value is far away
ROWS = 64  # rows that are handled at a time, column after column
FARTHEST = 1e70  # larger values are not learned, so that sums of squares stay finite


@inner_kernel
def pass_numbers(
    ends: Floats,
    steps: Floats,
    spread: Floats,
    middle: Floats,
    x: Floats,
    teaches: Flags,
    start: int,
    stop: int,
    j: int,
    out: Flags,
    far: Flags,
) -> None:
    """Flag rows by one numeric column, and update its state, which stays in registers meanwhile.

    ends, steps : float64[2, p], in/out; spread : float64[5, p], in/out; middle : float64[3, p], in/out
    x : float64[n, p], in; teaches : bool[n], in; out, far : bool[n], in/out
    """
    first, latest = ends[FIRST, j], ends[LATEST, j]
    changes, departures = steps[CHANGES, j], steps[DEPARTURES, j]
    count, squares, distance = spread[COUNT, j], spread[SQUARES, j], spread[STEPS, j]
    rises, falls = spread[RISES, j], spread[FALLS, j]
    mean, here, span = middle[MEAN, j], middle[HERE, j], middle[SPAN, j]
    for i in range(start, stop):
        value = x[i, j]
        if value != value:
            continue
        # No value is far away in a column that does not change by small steps, or is a clock.
        least = min(rises, falls)
        if count >= FEWEST and distance < SMALL * squares and least * least >= count:
            deviations = REACH * math.sqrt(span)
            far[i] |= value < here - deviations or value > here + deviations
        differs = value != latest
        if differs:
            out[i] |= changes * changes < departures
        if not teaches[i]:
            continue
        if abs(value) <= FARTHEST:
            count += 1.0
            apart = value - mean
            mean += apart / count
            squares += max(apart * (value - mean), 0.0)
            step = value - latest  # NaN after no value
            if abs(step) <= FARTHEST:
                distance += step * step
                rises += 1.0 if step > 0.0 else 0.0
                falls += 1.0 if step < 0.0 else 0.0
            share = max(1.0 / count, RECENT)
            apart = value - here
            here += share * apart
            span = (1.0 - share) * (span + share * apart * apart)
        if first != first:
            first = value
        elif differs:
            changes += 1.0
        if value != first:
            departures += 1.0
        latest = value
    ends[FIRST, j], ends[LATEST, j] = first, latest
    steps[CHANGES, j], steps[DEPARTURES, j] = changes, departures
    spread[COUNT, j], spread[SQUARES, j], spread[STEPS, j] = count, squares, distance
    spread[RISES, j], spread[FALLS, j] = rises, falls
    middle[MEAN, j], middle[HERE, j], middle[SPAN, j] = mean, here, span


@inner_kernel
def pass_codes(
    ends: Codes, steps: Floats, codes: Codes, teaches: Flags, start: int, stop: int, j: int, out: Flags
) -> None:
    """Flag rows by one nominal column, and update its state.

    ends : int32[2, q], in/out; steps : float64[2, q], in/out; codes : int32[n, q], in
    teaches : bool[n], in; out : bool[n], in/out
    """
    first, latest = ends[FIRST, j], ends[LATEST, j]
    changes, departures = steps[CHANGES, j], steps[DEPARTURES, j]
    for i in range(start, stop):
        code = codes[i, j]
        if code < 0:
            continue
        differs = code != latest
        if differs:
            out[i] |= changes * changes < departures
        if not teaches[i]:
            continue
        if first < 0:
            first = code
        elif differs:
            changes += 1.0
        if code != first:
            departures += 1.0
        latest = code
    ends[FIRST, j], ends[LATEST, j] = first, latest
    steps[CHANGES, j], steps[DEPARTURES, j] = changes, departures


@kernel
def outside_section(
    ends: Floats,
    steps: Floats,
    code_ends: Codes,
    code_steps: Floats,
    spread: Floats,
    middle: Floats,
    x: Floats,
    codes: Codes,
    y: Codes,
    w: Floats,
    learn: bool,
    out: Flags,
    far: Flags,
) -> None:
    """out[i], far[i] = whether row i is outside the latest section, or far away, by any column; then learn the row.

    ends : float64[2, p], in/out, NaN before the first value; steps : float64[2, p], in/out
    code_ends : int32[2, q], in/out, -1 before the first value; code_steps : float64[2, q], in/out
    spread : float64[5, p], in/out; middle : float64[3, p], in/out
    x : float64[n, p], in; codes : int32[n, q], in; y : int32[n], in; w : float64[n], in; out, far : bool[n], out
    """
    n = len(out)
    teaches = np.empty(n, np.bool_)
    for i in range(n):
        teaches[i] = learn and y[i] >= 0 and w[i] > 0.0
        out[i] = False
        far[i] = False
    for start in range(0, n, ROWS):  # few rows at a time: they stay in the cache for all columns
        stop = min(start + ROWS, n)
        for j in range(x.shape[1]):
            pass_numbers(ends, steps, spread, middle, x, teaches, start, stop, j, out, far)
        for j in range(codes.shape[1]):
            pass_codes(code_ends, code_steps, codes, teaches, start, stop, j, out)
