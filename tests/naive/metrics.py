"""Evaluation the slow way: every metric from the list of all rows, one row at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

SMALLEST = 2.0**-52


def best(proba: Sequence[float]) -> int:
    top = max(proba, default=0.0)
    return list(proba).index(top) if top > 0 else -1


def majority(weights: Sequence[float]) -> int:
    return best(weights)


def metrics(
    y: Sequence[int], proba: Sequence[Sequence[float]], w: Sequence[float], k: int, memory: Any
) -> dict[str, float]:
    """`memory(age)` is what a row counts that lies `age` rows back: 1, 1 if age < W else 0, or alpha^age."""
    rows = [(c, p, weight) for c, p, weight in zip(y, proba, w, strict=True) if c >= 0 and weight > 0]
    n = len(rows)
    total = right = no_change = before_hits = after_hits = loss = square = scored = 0.0
    true, called, hits = [0.0] * k, [0.0] * k, [0.0] * k
    for i, (c, p, weight) in enumerate(rows):
        value = weight * memory(n - 1 - i)
        seen = [
            sum(v * memory(i - 1 - j) for j, (d, _, v) in enumerate(rows[:i]) if d == e) for e in range(k)
        ]
        then = [
            sum(v * memory(i - j) for j, (d, _, v) in enumerate(rows[: i + 1]) if d == e) for e in range(k)
        ]
        guess = best(p)
        total += value
        true[c] += value
        no_change += value if i > 0 and rows[i - 1][0] == c else 0.0
        before_hits += value if majority(seen) == c else 0.0
        after_hits += value if majority(then) == c else 0.0
        if guess < 0:
            continue
        called[guess] += value
        hits[c] += value if guess == c else 0.0
        right += value if guess == c else 0.0
        loss += value * -math.log(max(p[c], SMALLEST))
        square += value * sum((q - (1.0 if e == c else 0.0)) ** 2 for e, q in enumerate(p))
        scored += value
    if total == 0:
        return {}
    accuracy = right / total
    chance = sum(true[e] * called[e] for e in range(k)) / total**2

    def against(rival: float) -> float:
        return (accuracy - rival) / (1 - rival) if rival < 1 else 0.0

    f1 = [2 * hits[e] / (true[e] + called[e]) for e in range(k) if true[e] + called[e] > 0]
    return {
        "accuracy": accuracy,
        "kappa": against(chance),
        "kappa_temporal": against(no_change / total),
        "kappa_m": against(before_hits / total),
        "kappa_m_moa": against(after_hits / total),
        "macro_f1": sum(f1) / len(f1),
        "log_loss": loss / scored if scored else 0.0,
        "brier": square / scored if scored else 0.0,
    }


def calibration_error(y: Sequence[int], proba: Sequence[Sequence[float]], bins: int = 15) -> float:
    """Expected calibration error over equal bins of confidence."""
    cells: dict[int, list[tuple[float, bool]]] = {}
    for c, p in zip(y, proba, strict=True):
        cells.setdefault(min(int(max(p) * bins), bins - 1), []).append((max(p), best(p) == c))
    gaps = [
        len(cell) * abs(sum(s for s, _ in cell) / len(cell) - sum(h for _, h in cell) / len(cell))
        for cell in cells.values()
    ]
    return sum(gaps) / len(y)


def area(scores: Sequence[float], positive: Sequence[bool]) -> float:
    """Area under the ROC curve: how often a positive scores above a negative, ties counting half."""
    ups = [s for s, p in zip(scores, positive, strict=True) if p]
    downs = [s for s, p in zip(scores, positive, strict=True) if not p]
    wins = sum((u > d) + 0.5 * (u == d) for u in ups for d in downs)
    return wins / (len(ups) * len(downs))
