"""AdaGrad steps of weights: one for all columns, one per column, or one per column and class (a cell)."""

from __future__ import annotations

import math

from bayou.block import Floats, Index
from bayou.kernels.jit import inner_kernel, kernel_piece
from bayou.kernels.weights import SHIFT_SQUARES, residuals, safe_share, tied_gradient


@inner_kernel
def learn_factor(
    scalars: Floats,
    place: int,
    log_proba: Floats,
    inputs: Floats,
    prior: Floats,
    label: int,
    weight: float,
    eta: float,
    forget: float,
    residual: Floats,
    change: Floats,
) -> None:
    """Take one AdaGrad step of a single factor, scalars[place]; scalars[place + 1] has its squared gradients.

    scalars : float64[12], in/out; log_proba, inputs, prior : float64[K], in; residual, change : float64[K], scratch
    """
    residuals(log_proba, label, residual)
    g = weight * tied_gradient(residual, inputs)
    scalars[place + 1] = forget * scalars[place + 1] + g * g
    step = -eta * g / math.sqrt(1.0 + scalars[place + 1])
    for c in range(len(change)):
        change[c] = step * inputs[c]
    scalars[place] += safe_share(residual, change, prior) * step


@kernel_piece
def find_free_direction(
    delta: Floats,
    column_delta: Floats,
    squares: Floats,
    columns: Floats,
    scalars: Floats,
    change: Floats,
    residual: Floats,
    inputs: Floats,
    index: Index,
    evidence: Floats,
    weight: float,
    eta: float,
    forget: float,
) -> float:
    """Write the steps of cells and columns into the deltas, return that of the shift; add the change of H to `change`.

    delta : float64[active, K], out; column_delta : float64[active], out; squares : float64[d, K], in/out
    columns : float64[d, 3], in/out; scalars : float64[12], in/out; change : float64[K], in/out
    residual, evidence : float64[K], in; inputs : float64[active, K], in; index : int64[active], in
    """
    k = len(change)
    whole = 0.0
    for a in range(len(index)):
        j = index[a]
        z, g_row, d_row = inputs[a], squares[j], delta[a]
        g_column = 0.0
        for c in range(k):
            g_column += residual[c] * z[c]
        g_column *= weight
        whole += g_column
        columns[j, 2] += g_column * g_column
        shared = -eta * g_column / math.sqrt(1.0 + columns[j, 2])
        column_delta[a] = shared
        for c in range(k):
            g = weight * residual[c] * z[c]
            g_row[c] += g * g
            d_row[c] = -eta * g / math.sqrt(1.0 + g_row[c])
            change[c] += z[c] * (d_row[c] + shared)
    scalars[SHIFT_SQUARES] = forget * scalars[SHIFT_SQUARES] + whole * whole
    step = -eta * whole / math.sqrt(1.0 + scalars[SHIFT_SQUARES])
    for c in range(k):
        change[c] += step * evidence[c]
    return step


@kernel_piece
def find_tied_direction(
    delta: Floats,
    squares: Floats,
    change: Floats,
    residual: Floats,
    inputs: Floats,
    index: Index,
    weight: float,
    eta: float,
) -> None:
    """Write the steps of one weight per column, and add their change of H to `change`.

    delta : float64[active, 1], out; squares : float64[d, 1], in/out; change : float64[K], in/out
    residual : float64[K], in; inputs : float64[active, K], in; index : int64[active], in
    """
    for a in range(len(index)):
        g = weight * tied_gradient(residual, inputs[a])
        squares[index[a], 0] += g * g
        delta[a, 0] = -eta * g / math.sqrt(1.0 + squares[index[a], 0])
        for c in range(len(change)):
            change[c] += inputs[a, c] * delta[a, 0]


@kernel_piece
def fade_squares(squares: Floats, columns: Floats, forget: float) -> None:
    """Multiply all squared gradients by `forget`, before a row is learned.

    squares : float64[d, K or 1], in/out; columns : float64[d, 3] or [0, 3], in/out
    """
    for j in range(squares.shape[0]):
        for c in range(squares.shape[1]):
            squares[j, c] *= forget
    for j in range(columns.shape[0]):
        columns[j, 2] *= forget


@kernel_piece
def move_weights(
    weights: Floats, columns: Floats, delta: Floats, column_delta: Floats, index: Index, share: float
) -> None:
    """Add a share of the steps to the weights; tied weights are clipped to [0, 1].

    weights : float64[d, K or 1], in/out; columns : float64[d, 3] or [0, 3], in/out
    delta : float64[active, K or 1], in; column_delta : float64[active], in; index : int64[active], in
    """
    for a in range(len(index)):
        row, step = weights[index[a]], delta[a]
        for c in range(len(row)):
            row[c] += share * step[c]
        if columns.shape[0] > 0:
            columns[index[a], 0] += share * column_delta[a]
        else:
            row[0] = min(max(row[0], -1.0), 0.0)


@kernel_piece
def move_means(mean: Floats, columns: Floats, weights: Floats, fresh: float) -> None:
    """Move the running means of the weights towards the weights by a share `fresh` of the difference.

    mean : float64[d, K or 1] or [0, 0], in/out; columns : float64[d, 3] or [0, 3], in/out
    weights : float64[d, K or 1], in
    """
    into, of = mean.reshape(-1), weights.reshape(-1)
    for i in range(len(into)):
        into[i] += (of[i] - into[i]) * fresh
    for j in range(columns.shape[0]):
        columns[j, 1] += (columns[j, 0] - columns[j, 1]) * fresh
