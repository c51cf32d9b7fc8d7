"""Slow, obvious track records: probabilities of readings, row by row, in Python's own numbers."""

from __future__ import annotations

import math


def joined(record, scores, y, w, by_hits, by_loss, learn):
    """What the rows get, and the record after them; scores[r][i][c] are logarithms, record[k][r] sums."""
    record, out = [list(sums) for sums in record], []
    for i in range(len(y)):
        proba = [_posterior(reading[i]) for reading in scores]
        if by_hits or by_loss:
            merits = [by_hits * hits - by_loss * loss for hits, loss in zip(*record[1:], strict=True)]
            shares = [math.exp(merit - max(merits)) for merit in merits]
            mixed = [sum(v * p[c] for v, p in zip(shares, proba, strict=True)) for c in range(len(proba[0]))]
            out.append([math.log(p) if p > 0 else -math.inf for p in mixed])
        else:
            best = max(range(len(scores)), key=lambda r: (record[1][r], -record[2][r], -r))
            out.append(list(scores[best][i]))
        if not learn or y[i] < 0 or w[i] == 0:
            continue
        for r, p in enumerate(proba):
            if p[y[i]] > 0:
                record[0][r] += w[i] * p[y[i]]
                equals = [c for c, score in enumerate(scores[r][i]) if score == max(scores[r][i])]
                record[1][r] += w[i] * (y[i] in equals) / len(equals)
                record[2][r] -= w[i] * math.log(max(p[y[i]], 2.0**-52))
    return out, record


def _posterior(scores):
    top = max(scores)
    weights = [math.exp(s - top) if s > -math.inf else 0.0 for s in scores]
    return [v / sum(weights) if top > -math.inf else 0.0 for v in weights]
