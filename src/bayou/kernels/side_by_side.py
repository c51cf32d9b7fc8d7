"""Columns put side by side: rows of numbers, as learning and predicting read them.

Eight columns are written at a time, which fill a line of the cache in every row. Fewer are filled up by repeating one:
it is written to its place again.
"""

from __future__ import annotations

from bayou.block import Floats, Index
from bayou.kernels.jit import kernel
from bayou.kernels.scrub import HUGE

COLUMNS = 8


@kernel
def put_integers(
    rows: Floats,
    places: Index,
    first: int,
    a: Index,
    b: Index,
    c: Index,
    d: Index,
    e: Index,
    f: Index,
    g: Index,
    h: Index,
) -> None:
    """rows[i, places[k]] = the double nearest to column k at first + i.

    rows : float64[n, p], out; places : int64[8], in; a .. h : int64[m], in, read-only
    """
    p0, p1, p2, p3 = places[0], places[1], places[2], places[3]
    p4, p5, p6, p7 = places[4], places[5], places[6], places[7]
    for i in range(len(rows)):
        row, at = rows[i], first + i
        row[p0] = a[at]
        row[p1] = b[at]
        row[p2] = c[at]
        row[p3] = d[at]
        row[p4] = e[at]
        row[p5] = f[at]
        row[p6] = g[at]
        row[p7] = h[at]


@kernel
def put_doubles(
    rows: Floats,
    places: Index,
    first: int,
    a: Floats,
    b: Floats,
    c: Floats,
    d: Floats,
    e: Floats,
    f: Floats,
    g: Floats,
    h: Floats,
) -> bool:
    """rows[i, places[k]] = column k at first + i; returns whether none is missing, infinite, or beyond 1e140 in size.

    rows : float64[n, p], out; places : int64[8], in; a .. h : float64[m], in, read-only
    """
    p0, p1, p2, p3 = places[0], places[1], places[2], places[3]
    p4, p5, p6, p7 = places[4], places[5], places[6], places[7]
    usable = 0
    for i in range(len(rows)):
        row, at = rows[i], first + i
        row[p0] = a[at]
        row[p1] = b[at]
        row[p2] = c[at]
        row[p3] = d[at]
        row[p4] = e[at]
        row[p5] = f[at]
        row[p6] = g[at]
        row[p7] = h[at]
        usable += (
            (abs(a[at]) <= HUGE)
            & (abs(b[at]) <= HUGE)
            & (abs(c[at]) <= HUGE)
            & (abs(d[at]) <= HUGE)
            & (abs(e[at]) <= HUGE)
            & (abs(f[at]) <= HUGE)
            & (abs(g[at]) <= HUGE)
            & (abs(h[at]) <= HUGE)
        )
    return usable == len(rows)
