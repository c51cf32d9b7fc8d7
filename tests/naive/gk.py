"""Slow, obvious quantile tuples: the textbook's, whose traces are known, and a twin of the production kernels."""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass, field


def band(delta: int, p: int) -> float:
    """Greenwald and Khanna's band of a delta at p = floor(2 eps n); 0 is above all others."""
    if delta == 0:
        return math.inf
    if delta == p:
        return 0
    a = 1
    while not p - 2**a - p % 2**a < delta <= p - 2 ** (a - 1) - p % 2 ** (a - 1):
        a += 1
    return a


class Textbook:
    """Tuples [v, g, delta, classes], one value at a time. No e. `eps` mode, or `capacity` by method 1 or 2."""

    def __init__(self, eps=0.0, capacity=0, tight=True, method=2, classes=1):
        self.eps, self.capacity, self.tight, self.method = eps, capacity, tight, method
        self.tuples, self.n, self.classes = [], 0, classes

    def add(self, v, c=0):
        if self.eps and self.n and self.n % int(1 / (2 * self.eps)) == 0:
            self.compress()
        at = bisect.bisect_right([t[0] for t in self.tuples], v)
        delta = 0
        if 0 < at < len(self.tuples):
            after = self.tuples[at]
            delta = after[1] + after[2] - 1 if self.tight else math.floor(2 * self.eps * self.n)
        self.tuples.insert(at, [v, 1, delta, [int(c == k) for k in range(self.classes)]])
        self.n += 1
        while self.capacity and len(self.tuples) > self.capacity:
            t = self.tuples
            inner = [i for i in range(1, len(t) - 1) if self.method == 2 or t[i][2] >= t[i + 1][2]]
            self.drop(min(inner, key=lambda i: t[i][1] + t[i + 1][1] + t[i + 1][2]))

    def drop(self, i):
        gone, kept = self.tuples[i], self.tuples[i + 1]
        kept[1] += gone[1]
        kept[3] = [a + b for a, b in zip(kept[3], gone[3], strict=True)]
        del self.tuples[i]

    def compress(self):
        p = math.floor(2 * self.eps * self.n)
        i = len(self.tuples) - 2
        while i >= 1:
            t, here = self.tuples, band(self.tuples[i][2], p)
            start = i
            while start > 1 and band(t[start - 1][2], p) < here:
                start -= 1
            weight = sum(t[q][1] for q in range(start, i + 1))
            if here <= band(t[i + 1][2], p) and weight + t[i + 1][1] + t[i + 1][2] < 2 * self.eps * self.n:
                for _ in range(start, i + 1):
                    self.drop(start)
                i = start
            i -= 1

    def quantile(self, phi):
        rank, slack, low = max(1, math.ceil(phi * self.n)), self.worst() / 2, 0
        for v, g, delta, _ in self.tuples:
            low += g
            if rank - low <= slack and low + delta - rank <= slack:
                return v
        return None

    def worst(self):
        return max(g + delta for _, g, delta, _ in self.tuples)


@dataclass
class Tuple:
    v: float
    g: float
    delta: float
    e: float
    classes: list[float]

    @property
    def u(self):
        return self.g + self.delta - self.e

    def row(self):
        return [self.v, self.g, self.delta, self.e, *self.classes]


@dataclass
class Tuples:
    """The production summary of one column, rule by rule, without any kernel."""

    classes: int
    budget: int = 100
    eps: float = 0.0
    exact: int = 0
    tuples: list[Tuple] = field(default_factory=list)

    def stays(self, distinct, total):
        """Whether an exact list of so many values may be longer than the budget."""
        return distinct <= self.exact and 8 * distinct <= 7 * total

    def limit(self, total):
        return self.eps * total if self.eps else 1.5 * total / self.budget

    def flush(self, items):
        """items: (value, class, weight), NaN = missing."""
        items = [item for item in items if item[0] == item[0]]
        total = sum(t.g for t in self.tuples) + sum(w for _, _, w in items)
        limit = self.limit(total)
        exact, size = all(t.u <= 0 for t in self.tuples), len(self.tuples)
        values = [t.v for t in self.tuples]
        gaps = {}
        for item in items:
            q = bisect.bisect_left(values, item[0])
            if q < size and values[q] == item[0]:
                t = self.tuples[q]
                t.g, t.e = t.g + item[2], t.e + item[2]
                t.classes[item[1]] += item[2]
            else:
                gaps.setdefault(q, []).append(item)
        room = max(self.budget, self.exact)
        open_all = size + sum(map(len, gaps.values())) <= self.budget or (exact and size < room)
        opened = {}
        for q, inside in gaps.items():
            weight = sum(w for _, _, w in inside)
            if open_all or q in (0, size) or self.tuples[q].u + weight > limit:
                opened[q] = sorted(inside, key=lambda item: item[0])
            else:
                self.tuples[q].g += weight
                for _, c, w in inside:
                    self.tuples[q].classes[c] += w
        if opened:
            distinct = len({item[0] for inside in opened.values() for item in inside})
            stays = exact and self.stays(size + distinct, total)
            crowded = not self.eps and not stays and 2 * (size + distinct) > 3 * self.budget
            self.insert(opened, limit / 3 if crowded else 0.0)
            if not stays:
                self.shrink(limit)

    def insert(self, opened, first):
        result = []
        for q in range(len(self.tuples) + 1):
            if q in opened:
                u = self.tuples[q].u if q < len(self.tuples) else 0.0
                limit, weight = 0.0, sum(w for _, _, w in opened[q])
                if 4 * len(opened[q]) > self.budget and first:
                    limit = first
                    while limit < u + min(2 * first, 4 * weight / self.budget):
                        limit *= 1.25
                result += self.run(opened[q], u, limit, q == 0)
            result += self.tuples[q : q + 1]
        self.tuples = result

    def run(self, items, u, limit, lowest):
        values = [v for v, _, _ in items]
        steps = [b - a for a, b in itertools.pairwise(values)]
        alone = steps.index(max(steps)) + 1 if limit and steps and max(steps) > 0 else 0
        result = []
        closed = True
        for i, (v, c, w) in enumerate(items):
            if i == 0 or v != values[i - 1]:
                if closed or (i == alone and i) or (lowest and len(result) == 1) or u + result[-1].g > limit:
                    result.append(Tuple(v, 0.0, u, 0.0, [0.0] * self.classes))
                    closed = i == alone and i > 0
                result[-1].v, result[-1].e = v, 0.0
            result[-1].g += w
            result[-1].e += w
            result[-1].classes[c] += w
        return result

    def drop(self, i):
        gone, kept = self.tuples[i], self.tuples[i + 1]
        kept.g += gone.g
        kept.classes = [a + b for a, b in zip(kept.classes, gone.classes, strict=True)]
        del self.tuples[i]

    def costs(self):
        return [self.tuples[i].g + self.tuples[i + 1].u for i in range(1, len(self.tuples) - 1)]

    def sweep(self, limit, least):
        for i in range(len(self.tuples) - 2, 0, -1):
            if len(self.tuples) > least and self.tuples[i].g + self.tuples[i + 1].u <= limit:
                self.drop(i)

    def shrink(self, limit):
        if len(self.tuples) <= self.budget:
            return
        if self.eps:
            self.sweep(limit, 0)
            return
        rising, enough = limit / 3, self.budget + self.budget // 5
        while len(self.tuples) > enough:
            while rising < min(self.costs()):
                rising *= 1.25
            self.sweep(rising, enough)
            rising *= 1.25
        while len(self.tuples) > self.budget:
            costs = self.costs()
            self.drop(costs.index(min(costs)) + 1)

    def merge(self, other):
        def u_after(tuples, v):
            return next((t.u for t in tuples if t.v > v), 0.0)

        mine, theirs = {t.v: t for t in self.tuples}, {t.v: t for t in other.tuples}
        both = bool(mine and theirs)
        result = []
        for v in sorted(mine | theirs):
            a, b = mine.get(v), theirs.get(v)
            if a and b:
                classes = [x + y for x, y in zip(a.classes, b.classes, strict=True)]
                result.append(Tuple(v, a.g + b.g, a.delta + b.delta, a.e + b.e, classes))
            else:
                t, others = (a, other.tuples) if a else (b, self.tuples)
                result.append(Tuple(v, t.g, t.delta + u_after(others, v), t.e, list(t.classes)))
        self.tuples = result
        total = sum(t.g for t in result)
        if both and not (all(t.u <= 0 for t in result) and self.stays(len(result), total)):
            self.shrink(self.limit(total))


def separable(tuples, times):
    """Cells [upper, classes] of whole tuples, none lighter than its ends are uncertain, pure ones `times` that."""
    cells, run, left = [], [], 0.0
    for t in tuples:
        run.append(t)
        classes = sum(any(column) for column in zip(*(r[4:] for r in run), strict=True))
        if sum(r[1] for r in run) >= (times if classes < 2 else 1.0) * max(left, t[2]):
            cells.append(run)
            run, left = [], t[2]
    if run and cells:
        cells[-1] = cells[-1] + run
    elif run:
        cells.append(run)
    return [
        [run[-1][0], [sum(column) for column in zip(*(r[4:] for r in run), strict=True)]] for run in cells
    ]
