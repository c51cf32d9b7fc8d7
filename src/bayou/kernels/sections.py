"""Sections of a stream: columns that keep a value for long, and rows that lie outside the latest section or far away.

A file sorted by a column, or put together from files, comes in sections. Of every column are known its first and its
latest value, how often a value differed from the one before (changes), and how often from the first (departures). Rows
in any order change about as often as they depart; a column is in sections while changes^2 < departures.

Numbers that never repeat may still go by small steps: rows in the order of a map, or of a season. For rows in any order
the mean square of a step is twice the variance (von Neumann); a column goes by steps while it is less than a fifth of
it. Of such a column a value is far away that lies more than two deviations from the mean of the latest values, which
count by half after some seven hundred. A column that hardly ever falls, or rises, is a clock: all its past is far away,
and it is left out.
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
FEWEST = 30.0  # values from which on the steps of a column are judged
SMALL = 0.2  # of the variance is the mean square of a small step
RECENT = 1e-3  # share of the latest value in the mean of the latest ones
REACH = 2.0  # deviations
FARTHEST = 1e70  # values beyond are not learned: squares of them and sums of these stay finite


@inner_kernel
def find_reach(spread: Floats, middle: Floats, j: int, reach: Floats) -> None:
    """Between which values nothing of a column is far away: all, unless it goes by small steps and is no clock.

    spread : float64[5, p], in; middle : float64[3, p], in; reach : float64[2, p], out
    """
    count, least = spread[COUNT, j], min(spread[RISES, j], spread[FALLS, j])
    if count >= FEWEST and spread[STEPS, j] < SMALL * spread[SQUARES, j] and least * least >= count:
        deviations = REACH * math.sqrt(middle[SPAN, j])
        reach[0, j], reach[1, j] = middle[HERE, j] - deviations, middle[HERE, j] + deviations
    else:
        reach[0, j], reach[1, j] = -np.inf, np.inf


@inner_kernel
def learn_place(spread: Floats, middle: Floats, j: int, before: float, value: float) -> None:
    """One more value of a column, after the value `before` (NaN: it is the first).

    spread : float64[5, p], in/out; middle : float64[3, p], in/out
    """
    if not abs(value) <= FARTHEST:
        return
    spread[COUNT, j] += 1.0
    apart = value - middle[MEAN, j]
    middle[MEAN, j] += apart / spread[COUNT, j]
    spread[SQUARES, j] += max(apart * (value - middle[MEAN, j]), 0.0)
    step = value - before
    if abs(step) <= FARTHEST:
        spread[STEPS, j] += step * step
        spread[RISES, j] += 1.0 if step > 0.0 else 0.0
        spread[FALLS, j] += 1.0 if step < 0.0 else 0.0
    share = max(1.0 / spread[COUNT, j], RECENT)
    apart = value - middle[HERE, j]
    middle[HERE, j] += share * apart
    middle[SPAN, j] = (1.0 - share) * (middle[SPAN, j] + share * apart * apart)


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
    """Row by row: out[i], far[i] = whether a column says that the row is outside the latest section, or far away.

    Then the row is learned.

    ends : float64[2, p], in/out, NaN before the first value; steps : float64[2, p], in/out
    code_ends : int32[2, q], in/out, -1 before the first value; code_steps : float64[2, q], in/out
    spread : float64[5, p], in/out; middle : float64[3, p], in/out
    x : float64[n, p], in; codes : int32[n, q], in; y : int32[n], in; w : float64[n], in; out, far : bool[n], out
    """
    reach = np.empty((2, x.shape[1]))
    for j in range(x.shape[1]):
        find_reach(spread, middle, j, reach)
    for i in range(len(out)):
        outside, away = False, False
        teaches = learn and y[i] >= 0 and w[i] > 0.0
        for j in range(x.shape[1]):
            value = x[i, j]
            if np.isnan(value):
                continue
            away |= value < reach[0, j] or value > reach[1, j]
            differs = value != ends[LATEST, j]
            if differs:
                outside |= steps[CHANGES, j] * steps[CHANGES, j] < steps[DEPARTURES, j]
            if teaches:
                learn_place(spread, middle, j, ends[LATEST, j], value)
                find_reach(spread, middle, j, reach)
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
        far[i] = away
