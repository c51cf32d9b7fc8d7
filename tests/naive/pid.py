"""Slow, obvious PiD and cPiD: lists of breaks and cells, straight from the rules."""

from __future__ import annotations

import bisect


class Grid:
    def __init__(self, low, high, intervals, alpha, classes, joins, max_cells=10**9, wait=0.0):
        self.step = (high - low) / intervals
        self.breaks = [low + (high - low) * i / intervals for i in range(intervals + 1)]
        self.counts = [[0.0] * classes for _ in range(intervals + 2)]
        self.alpha, self.joins, self.max_cells, self.wait, self.total = alpha, joins, max_cells, wait, 0.0

    def add(self, x, c, w=1.0):
        k = bisect.bisect_left(self.breaks, x)
        self.counts[k][c] += w
        self.total += w
        crowded = (1 + sum(self.counts[k])) / (self.total + 2) > self.alpha and self.total >= self.wait
        if not crowded or (not self.joins and len(self.counts) >= self.max_cells):
            return
        if k == 0:
            cut = self.breaks[0] - self.step
        elif k == len(self.breaks):
            cut = self.breaks[-1] + self.step
        else:
            cut = (self.breaks[k - 1] + self.breaks[k]) / 2
        half = [n / 2 for n in self.counts[k]]
        self.counts[k : k + 1] = [list(half), list(half)]
        self.breaks.insert(k, cut)
        if self.joins:
            pairs = [
                (sum(a) + sum(b), i)
                for i, (a, b) in enumerate(zip(self.counts, self.counts[1:], strict=False))
            ]
            _, i = min(pair for pair in pairs if pair[1] != k)
            self.counts[i : i + 2] = [
                [a + b for a, b in zip(self.counts[i], self.counts[i + 1], strict=True)]
            ]
            del self.breaks[i]
