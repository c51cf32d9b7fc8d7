"""Steps of weights that are shared by all columns, by the classes of a column, or by nothing."""

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
    """One step of a single factor on given inputs; its squared gradients stand one place further on.

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
    """Steps of cells and columns into the deltas, of the shift as result; what all of them do to H.

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
    """Steps of one weight per column, and what they do to H.

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
    """What remains of the squared gradients before a row.

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
    """Take a share of the steps; tied weights stay in [0, 1].

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
    """The means follow all weights by a part `fresh`.

    mean : float64[d, K or 1] or [0, 0], in/out; columns : float64[d, 3] or [0, 3], in/out
    weights : float64[d, K or 1], in
    """
    into, of = mean.reshape(-1), weights.reshape(-1)
    for i in range(len(into)):
        into[i] += (of[i] - into[i]) * fresh
    for j in range(columns.shape[0]):
        columns[j, 1] += (columns[j, 0] - columns[j, 1]) * fresh
