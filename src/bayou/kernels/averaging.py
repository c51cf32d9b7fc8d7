"""Costs of weighted naive Bayes on kept rows, for searching one weight per column.

Scores are H[i, c] = log P(c) + sum_j w_j L_j[i, c]; a candidate changes one weight, so that its cost can be computed
from the current scores and one column.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats, Index
from bayou.kernels.jit import kernel
from bayou.kernels.sums import TILE
from bayou.kernels.weights import add_terms, log_softmax, residuals, tied_gradient


@kernel
def data_cost(
    scores: Floats, column: Floats, step: float, y: Codes, w: Floats, rows: float, classes: float
) -> float:
    """Log-loss -sum_i w_i ln p_i of the true classes after the weight of one column is raised by `step`.

    With rows > 0, p is (rows p + 1/(2 classes)) / (rows + 1/2), as in Khiops.
    scores, column : float64[n, K], in; y : int32[n], in; w : float64[n], in
    """
    k = scores.shape[1]
    total = 0.0
    for i in range(len(y)):
        top = -np.inf
        for c in range(k):
            top = max(top, scores[i, c] + step * column[i, c])
        whole = 0.0
        for c in range(k):
            whole += math.exp(scores[i, c] + step * column[i, c] - top)
        log_p = scores[i, y[i]] + step * column[i, y[i]] - top - math.log(whole)
        if rows > 0.0:
            log_p = math.log((rows * math.exp(log_p) + 0.5 / classes) / (rows + 0.5))
        total -= w[i] * log_p
    return total


@kernel
def add_column(scores: Floats, column: Floats, step: float) -> None:
    """scores += step * column.

    scores : float64[n, K], in/out; column : float64[n, K], in
    """
    for i in range(scores.shape[0]):
        for c in range(scores.shape[1]):
            scores[i, c] += step * column[i, c]


@kernel
def add_weighted_rows(out: Floats, terms: Floats, weights: Floats, edges: Index) -> None:
    """out[i, c] += sum_j w_j L_ijc, in the order of summation of naive Bayes.

    out : float64[n, K], in/out; terms : float64[n, d, K], in/out, come out weighted; weights : float64[d], in
    edges : int64[views + 1], in
    """
    tile = np.empty(TILE)
    for i in range(out.shape[0]):
        for j in range(len(weights)):
            for c in range(out.shape[1]):
                terms[i, j, c] *= weights[j]
        add_terms(out[i], terms[i], edges, tile)


@kernel
def descend(
    weights: Floats,
    squares: Floats,
    columns: Floats,
    prior: Floats,
    y: Codes,
    w: Floats,
    penalty: Floats,
    power: float,
    eta: float,
    passes: int,
) -> None:
    """Minimise -sum ln P(y) + sum_j penalty_j w_j^power over w_j in [0, 1] by projected AdaGrad, row by row.

    weights, squares : float64[d], in/out; columns : float64[d, n, K], in; prior : float64[K], in, log
    y : int32[n], in; w : float64[n], in; penalty : float64[d], in
    """
    k = len(prior)
    scores, residual = np.empty(k), np.empty(k)
    rows = len(y)
    for _ in range(passes):
        for i in range(rows):
            for c in range(k):
                scores[c] = prior[c]
            for j in range(len(weights)):
                for c in range(k):
                    scores[c] += weights[j] * columns[j, i, c]
            log_softmax(scores)
            residuals(scores, y[i], residual)
            for j in range(len(weights)):
                pull = penalty[j] * power * max(weights[j], 1e-3) ** (power - 1.0) / rows
                g = w[i] * tied_gradient(residual, columns[j, i]) + pull
                squares[j] += g * g
                weights[j] = min(max(weights[j] - eta * g / math.sqrt(1.0 + squares[j]), 0.0), 1.0)
