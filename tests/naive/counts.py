"""Slow, obvious twins of the kernels that count and read counts: dictionaries and exact fractions."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction


def prior(labels, weights, k, alpha=0, declared=0):
    """Class probabilities as fractions, by class code."""
    counted = Counter()
    for y, w in zip(labels, weights, strict=True):
        if y >= 0:
            counted[y] += Fraction(w)
    size = max(sum(v > 0 for v in counted.values()), declared)
    total = sum(counted.values()) + alpha * size
    return [
        (counted[c] + alpha) / total if counted[c] > 0 or (declared and alpha) else Fraction(0)
        for c in range(k)
    ]


def value_probability(column, labels, weights, value, c, alpha=1, m=0, declared=0):
    """P(value | c) of one nominal column, None where the value was never seen."""
    cells, present, seen = Counter(), Counter(), set()
    for v, y, w in zip(column, labels, weights, strict=True):
        if v >= 0 and y >= 0 and w > 0:
            cells[v, y] += Fraction(w)
            present[y] += Fraction(w)
            seen.add(v)
    if value < 0 or value not in seen:
        return None
    size = max(len(seen), declared)
    return (cells[value, c] + alpha + Fraction(m) / size) / (present[c] + alpha * size + m)


def table_log_prob(codes, labels, weights, row, c, **smoothing):
    """Sum of the logarithms of a row's value probabilities in one class."""
    terms = [
        value_probability([r[j] for r in codes], labels, weights, row[j], c, **smoothing)
        for j in range(len(row))
    ]
    return sum(math.log(p) for p in terms if p is not None)


def word_probability(documents, labels, weights, word, c, alpha=1, declared=0, min_count=1):
    """Multinomial P(word | c), None where the word was never seen, or in all classes less than `min_count` times."""
    cells, total, seen = Counter(), Counter(), set()
    for words, y, w in zip(documents, labels, weights, strict=True):
        if y != -1 and w > 0:
            for v, n in words.items():
                if n > 0:
                    cells[v, y] += Fraction(n) * Fraction(w)
                    total[y] += Fraction(n) * Fraction(w)
                    seen.add(v)
    if word not in seen or (min_count > 1 and sum(cells[word, y] for y in total) < min_count):
        return None
    return (cells[word, c] + alpha) / (total[c] + alpha * max(len(seen), declared))
