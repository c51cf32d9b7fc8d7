"""The learning rules of weighted naive Bayes as they are written down, one number at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

Vector = list[float]
Matrix = list[list[float]]


def softmax(scores: Sequence[float]) -> Vector:
    top = max(scores)
    parts = [math.exp(s - top) for s in scores]
    return [part / sum(parts) for part in parts]


def pmi(terms: Sequence[Sequence[float]], prior: Sequence[float]) -> Matrix:
    """Z_ik = ln p(x_i | k) - ln sum_j pi_j p(x_i | j); a missing column stays 0."""
    out = []
    for row in terms:
        if not any(row):
            out.append([0.0] * len(row))
            continue
        whole = math.log(sum(math.exp(p) * math.exp(t) for p, t in zip(prior, row, strict=True)))
        out.append([t - whole for t in row])
    return out


def cost(weights: Matrix, bias: Vector, inputs: Matrix, label: int) -> float:
    """-ln P(label) of equation 2."""
    scores = [
        bias[k] + sum(w[k] * z[k] for w, z in zip(weights, inputs, strict=True)) for k in range(len(bias))
    ]
    return -math.log(softmax(scores)[label])


def safe_share(residual: Vector, change: Vector) -> float:
    gain = -sum(e * h for e, h in zip(residual, change, strict=True))
    if gain == 0:
        return 1.0
    return 1.0 / (1.0 + (max(change) - min(change)) ** 2 / (4 * gain))


class Experts:
    """Rule D for d columns and K classes that are all known from the start, or the default that came of it."""

    def __init__(self, d: int, k: int, eta: float = 0.2, forget: float = 1.0, published: bool = True) -> None:
        self.eta, self.forget, self.published = eta, forget, published
        self.W = [[1.0] * k for _ in range(d)]
        self.WA = [[1.0] * k for _ in range(d)]
        self.B, self.BA = [0.0] * k, [0.0] * k
        self.Gv = [[0.0] * k for _ in range(d)]
        self.Gu, self.Gs, self.Gb, self.Gt = [0.0] * d, 0.0, [0.0] * k, 0.0
        self.tau, self.t = 0.0, 0.0
        self.returns, self.last = 0, None
        self.q = [0.25] * 4 if published else [0.95] + [0.01] * 5

    def step(
        self, terms: Matrix, prior: Vector, pmi_prior: Vector, label: int | None, w: float = 1.0
    ) -> Vector:
        """The mixed probabilities before the row, which is then learned."""
        d, k = len(self.W), len(prior)
        Z = pmi(terms, pmi_prior)
        HN = [sum(Z[i][c] for i in range(d)) for c in range(k)]
        heat = [h + (0.0 if self.published else p) for h, p in zip(HN, prior, strict=True)]
        if not self.published:
            Z = [[max(z, -5.0) for z in row] for row in Z]
        H = [prior[c] + self.B[c] + sum(self.W[i][c] * Z[i][c] for i in range(d)) for c in range(k)]
        HA = [prior[c] + self.BA[c] + sum(self.WA[i][c] * Z[i][c] for i in range(d)) for c in range(k)]
        P = [
            softmax([prior[c] + HN[c] for c in range(k)]),
            softmax([prior[c] + HN[c] + self.tau * heat[c] for c in range(k)]),
            softmax(H),
            softmax(HA),
        ]
        if not self.published:
            P += [softmax([part * h for h in heat]) for part in (0.5, 0.25)]
        trusted = self.published or self.returns**2 >= self.t
        # What is learned: factor, weights, mean
        heard = [trusted if a in (1, 2, 3) else True for a in range(len(P))]
        q = [part if h else 0.0 for part, h in zip(self.q, heard, strict=True)]
        mixed = [sum(a * p[c] for a, p in zip(q, P, strict=True)) / sum(q) for c in range(k)]
        if label is None:
            return mixed
        self.returns += self.last is not None and self.last != label
        self.last = label
        T = [float(c == label) for c in range(k)]
        mixture_weights = [q * max(p[label], 1e-9) ** w for q, p in zip(self.q, P, strict=True)]
        self.q = [0.999 * q / sum(mixture_weights) + 0.001 / len(mixture_weights) for q in mixture_weights]
        e = [P[1][c] - T[c] for c in range(k)]
        g = w * sum(e[c] * heat[c] for c in range(k))
        self.Gt = self.forget * self.Gt + g * g
        step = -self.eta * g / math.sqrt(1 + self.Gt)
        self.tau += step * safe_share(e, [step * h for h in heat])
        self._move(Z, [P[2][c] - T[c] for c in range(k)], w)
        return mixed

    def _move(self, Z: Matrix, e: Vector, w: float) -> None:
        d, k, f = len(self.W), len(e), self.forget
        g = [[w * e[c] * Z[i][c] for c in range(k)] for i in range(d)]
        column = [sum(row) for row in g]
        self.Gv = [[f * self.Gv[i][c] + g[i][c] ** 2 for c in range(k)] for i in range(d)]
        self.Gu = [f * G + c**2 for G, c in zip(self.Gu, column, strict=True)]
        self.Gs = f * self.Gs + sum(column) ** 2
        self.Gb = [f * G + (w * r) ** 2 for G, r in zip(self.Gb, e, strict=True)]
        dW = [
            [
                -self.eta
                * (
                    g[i][c] / math.sqrt(1 + self.Gv[i][c])
                    + column[i] / math.sqrt(1 + self.Gu[i])
                    + sum(column) / math.sqrt(1 + self.Gs)
                )
                for c in range(k)
            ]
            for i in range(d)
        ]
        dB = [-self.eta * w * e[c] / math.sqrt(1 + self.Gb[c]) for c in range(k)]
        dH = [dB[c] + sum(Z[i][c] * dW[i][c] for i in range(d)) for c in range(k)]
        share = safe_share(e, dH)
        fresh = 2 * w / (self.t + 2 * w)
        for c in range(k):
            self.B[c] += share * dB[c]
            self.BA[c] += (self.B[c] - self.BA[c]) * fresh
            for i in range(d):
                self.W[i][c] += share * dW[i][c]
                self.WA[i][c] += (self.W[i][c] - self.WA[i][c]) * fresh
        self.t += w


def batch_step(
    weights: Matrix, bias: Vector, squares: Matrix, bias_squares: Vector, rows: Sequence[tuple[Matrix, Vector, int]],
    eta: float,
) -> None:  # fmt: skip
    """One averaged AdaGrad step over rows of (inputs, joint, label), cut back by the mean squared range."""
    d, k, n = len(weights), len(bias), len(rows)
    slopes = [[0.0] * k for _ in range(d)]
    tilt = [0.0] * k
    for inputs, joint, label in rows:
        P = softmax(
            [joint[c] + bias[c] + sum((weights[i][c] - 1) * inputs[i][c] for i in range(d)) for c in range(k)]
        )
        for c in range(k):
            e = P[c] - (c == label)
            tilt[c] += e / n
            for i in range(d):
                slopes[i][c] += e * inputs[i][c] / n
    for c in range(k):
        bias_squares[c] += tilt[c] ** 2
        for i in range(d):
            squares[i][c] += slopes[i][c] ** 2
    dB = [-eta * tilt[c] / math.sqrt(bias_squares[c] + 1e-4) for c in range(k)]
    dW = [[-eta * slopes[i][c] / math.sqrt(squares[i][c] + 1e-4) for c in range(k)] for i in range(d)]
    gain = -sum(s * b for s, b in zip(tilt, dB, strict=True))
    gain -= sum(slopes[i][c] * dW[i][c] for i in range(d) for c in range(k))
    spread = 0.0
    for inputs, _, _ in rows:
        dH = [dB[c] + sum(inputs[i][c] * dW[i][c] for i in range(d)) for c in range(k)]
        spread += (max(dH) - min(dH)) ** 2 / n
    share = 1 / (1 + spread / (4 * gain)) if gain else 1.0
    for c in range(k):
        bias[c] += share * dB[c]
        for i in range(d):
            weights[i][c] += share * dW[i][c]


def fractional_weights_cost(
    columns: Sequence[Matrix], prior: Vector, y: Sequence[int], weights: Vector
) -> float:
    """-sum ln P(y) over rows, columns[j][i][c] = ln P(x_ij | c)."""
    total = 0.0
    for i, label in enumerate(y):
        scores = [
            prior[c] + sum(w * column[i][c] for w, column in zip(weights, columns, strict=True))
            for c in range(len(prior))
        ]
        total -= math.log(softmax(scores)[label])
    return total


def universal_integer(n: int) -> float:
    """Nats of Rissanen's universal prior for an integer n >= 1."""
    term, total = math.log2(n), math.log(2.86511)
    while term > 0:
        total += term * math.log(2)
        term = math.log2(term)
    return total


def fractional_cost(
    columns: Sequence[Matrix], prior: Vector, y: Sequence[int], costs: Vector, weights: Vector
) -> float:
    """A tenth of the cost of the weights, and the loss with Khiops' smoothing of probabilities."""
    n, k = len(y), len(prior)
    loss = 0.0
    for i, label in enumerate(y):
        scores = [
            prior[c] + sum(w * m[i][c] for w, m in zip(weights, columns, strict=True)) for c in range(k)
        ]
        loss -= math.log((n * softmax(scores)[label] + 1 / (2 * k)) / (n + 1 / 2))
    number = math.ceil(sum(weights))
    if number:
        model = universal_integer(number) - math.lgamma(number + 1)
    else:
        model = math.log(math.comb(n + k - 1, k - 1))
    model += math.log(2) + sum(cost * w**0.95 for cost, w in zip(costs, weights, strict=True))
    return 0.1 * model + loss


def fractional_weights(
    columns: Sequence[Matrix], prior: Vector, y: Sequence[int], costs: Vector
) -> list[float]:
    """Up where it pays, then down where it does not cost, by 1, then 1/2, then 1/4, at most twice each."""
    n, d = len(y), len(columns)
    weights, step = [0.0] * d, 1.0

    def cost(told: Vector) -> float:
        return fractional_cost(columns, prior, y, costs, told)

    def alone(j: int) -> float:
        return fractional_weights_cost(columns, prior, y, [float(i == j) for i in range(d)])

    best = cost(weights)
    tolerance = 0.01 * (1 + abs(best)) / (1 + n)
    order = sorted(range(d), key=alone)
    for _ in range(math.ceil(math.log2(n + 1))):
        for _ in range(2):
            before = best
            for sign, slack in ((1, -tolerance), (-1, tolerance)):
                for j in order:
                    trial = [*weights[:j], min(1.0, max(0.0, weights[j] + sign * step)), *weights[j + 1 :]]
                    if trial != weights and cost(trial) < best + slack:
                        weights, best = trial, cost(trial)
            if best > before - tolerance:
                break
        step /= 2
    return weights
