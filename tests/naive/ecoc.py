"""The slow obvious twin of EcocNB: a copy of the estimator per column of the code, each with its own pass.

Training costs O(n t g) for n columns, t rows and g attributes; EcocNB gets there with O((n + t) g).
"""

from __future__ import annotations

import copy
import math

import numpy as np


def relabelled(rows, labels, column, classes):
    """The rows of the classes on a side, with "+" and "-" for labels."""
    side = {c: {1: "+", -1: "-"}.get(int(s)) for c, s in zip(classes, column, strict=True)}
    kept = [i for i, label in enumerate(labels) if side[label] is not None]
    return [rows[i] for i in kept], [side[labels[i]] for i in kept]


class NaiveEcoc:
    """Every column trained from scratch, duplicates and complements included."""

    def __init__(self, estimator, matrix, decode):
        self.estimator, self.matrix, self.decode = estimator, np.asarray(matrix), decode

    def fit(self, rows, labels):
        self.classes = sorted(set(labels))
        self.models = []
        for column in self.matrix.T:
            if 1 in column and -1 in column:
                some, dichotomies = relabelled(rows, labels, column, self.classes)
                model = copy.deepcopy(self.estimator)
                model.learn_many(some, dichotomies)
                self.models.append((column, model))
        return self

    def odds(self, rows):
        """float64[n, useful columns] log P(+, x) - log P(-, x)."""
        out = []
        for _, model in self.models:
            joint = model.joint_log_proba(model.encode(rows))
            plus, minus = (model.schema_.classes.code(side) for side in "+-")
            out.append(joint[:, plus] - joint[:, minus])
        return np.array(out).T.reshape(len(rows), len(self.models))

    def scores(self, rows):
        odds = self.odds(rows)
        signs = np.array([column for column, _ in self.models])
        return np.array(
            [[score(z, signs[:, c], self.decode) for c in range(len(self.classes))] for z in odds]
        )

    def proba(self, rows):
        spread = mean_distance(np.array([column for column, _ in self.models]).T)
        scale = {"soft": 1.0, "l1": 8.0, "hamming": 8.0}[self.decode] / spread
        scores = self.scores(rows) * scale
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)


def mean_distance(rows):
    k = len(rows)
    pairs = [np.abs(rows[a].astype(int) - rows[b]).sum() / 2 for a in range(k) for b in range(a)]
    return sum(pairs) / len(pairs)


def score(z, signs, decode):
    """The score of one class, bit by bit; ties are not broken."""
    total = 0.0
    for odds, sign in zip(z.tolist(), signs.tolist(), strict=True):
        p = 1.0 / (1.0 + math.exp(-odds)) if odds > -700 else 0.0
        own = p if sign > 0 else 1.0 - p
        if decode == "soft":
            total += math.log(0.5) if sign == 0 else -np.logaddexp(0.0, -sign * odds)
        elif decode == "l1":
            total -= 0.5 if sign == 0 else 1.0 - own
        else:
            total += 0.5 * sign * ((odds > 0) - (odds < 0))
    return total


def votes(z, signs, weight, prior, lexical):
    """Classes of one row, best first: by votes, then margins and prior, or by the standard array's rule."""
    bits = np.sign(z)

    def key(c):
        dot = float(sum(w * s * b for w, s, b in zip(weight, signs[:, c], bits, strict=True)))
        wrong = tuple(int(s * b < 0) for s, b in zip(signs[:, c], bits, strict=True))
        margin = float(sum(s * (w * x) for w, s, x in zip(weight, signs[:, c], z, strict=True)))
        return (dot, *wrong) if lexical else (dot, margin, prior[c])

    return sorted(range(signs.shape[1]), key=key, reverse=True)


def odds_table(counts, total, width, dichotomies, alpha, m):
    """float64[cells, columns] log P(v | +) - log P(v | -), cell by cell."""

    def log(x):
        return math.log(x) if x > 0 else -1e290

    out = np.zeros((len(counts), dichotomies.shape[2]))
    for v, row in enumerate(counts):
        for b in range(dichotomies.shape[2]):
            parts = []
            for side in dichotomies:
                members = [c for c in range(len(row)) if side[c, b] > 0]
                n, size = sum(row[c] for c in members), sum(total[c] for c in members)
                a, below = alpha + m / max(width[b], 1.0), size + (alpha * width[b] + m)
                parts.append((n, log(n + a) - log(below)))
            if parts[0][0] > 0 or parts[1][0] > 0:
                out[v, b] = parts[0][1] - parts[1][1]
    return out
