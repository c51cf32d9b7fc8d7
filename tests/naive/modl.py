"""Slow, obvious twins of the discretisation and grouping kernels: plain Python, straight from the formulas."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence

Counts = Sequence[float]
Cells = Sequence[Counts]


def log_choose(n: float, k: float) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def part_cost(counts: Counts, k: int) -> float:
    n = sum(counts)
    arrangements = math.lgamma(n + 1) - sum(math.lgamma(c + 1) for c in counts)
    return log_choose(n + k - 1, k - 1) + arrangements


def total_of(cells: Cells) -> list[float]:
    return [math.fsum(column) for column in zip(*cells, strict=True)]


def boulle_prior(total: float, intervals: int) -> float:
    return math.log(max(total, 1)) + log_choose(total + intervals - 1, intervals - 1)


def parts_of(cells: Cells, cuts: Sequence[int]) -> list[list[float]]:
    edges = [0, *cuts, len(cells)]
    return [total_of(cells[a:b]) for a, b in itertools.pairwise(edges)]


def cost(cells: Cells, cuts: Sequence[int], k: int) -> float:
    parts = parts_of(cells, cuts)
    return boulle_prior(sum(map(sum, cells)), len(parts)) + sum(part_cost(part, k) for part in parts)


def best_cost(cells: Cells, k: int) -> float:
    """The least cost over all 2^(m-1) partitions."""
    places = range(1, len(cells))
    return min(
        cost(cells, cuts, k) for size in range(len(cells)) for cuts in itertools.combinations(places, size)
    )


def best_ends(
    cells: Cells, k: int, prior: Sequence[float], ends: list[int], table: Sequence[float]
) -> list[int]:
    """Where the intervals of the best partition end: all partitions, one number of intervals after the other.

    The given ends are kept unless others cost less by more than 1e-9; the costs are sums of the table's logarithms of
    factorials in the order of the kernels, so that ties are the same.
    """
    m, before = len(cells), [[0.0] * len(cells[0])]
    for cell in cells:
        before.append([a + b for a, b in zip(before[-1], cell, strict=True)])

    def cost_between(a: int, e: int) -> float:
        counts = [y - x for x, y in zip(before[a], before[e], strict=True)]
        cost = -table[k - 1]
        for count in counts:
            cost -= table[int(count)]
        return cost + table[int(sum(counts)) + k - 1]

    costs = {(a, e): cost_between(a, e) for e in range(m + 1) for a in range(e)}
    least = [[math.inf] * (m + 1) for _ in range(m + 1)]
    least[0][0] = 0.0
    for i in range(1, m + 1):
        for e in range(i, m + 1):
            least[i][e] = min(least[i - 1][a] + costs[a, e] for a in range(i - 1, e))
    best = prior[len(ends)] + sum(costs[a, e] for a, e in itertools.pairwise([0, *ends]))
    found = 0
    for i in range(1, m + 1):
        if prior[i] + least[i][m] < best - 1e-9:
            best, found = prior[i] + least[i][m], i
    if not found:
        return ends
    ends = [m]
    for i in range(found, 1, -1):
        e = ends[0]
        ends.insert(0, min(range(i - 1, e), key=lambda a: least[i - 1][a] + costs[a, e]))
    return ends


def greedy_cost(cells: Cells, k: int) -> float:
    """Merge the cheapest neighbours down to one interval; the least cost seen."""
    cuts = list(range(1, len(cells)))
    best = cost(cells, cuts, k)
    while cuts:
        cuts = min(
            (cuts[:i] + cuts[i + 1 :] for i in range(len(cuts))), key=lambda cuts: cost(cells, cuts, k)
        )
        best = min(best, cost(cells, cuts, k))
    return best


def level(cells: Cells, cuts: Sequence[int], k: int) -> float:
    return max(0.0, 1.0 - cost(cells, cuts, k) / cost(cells, [], k))


def quantile_ends(weights: Sequence[float], parts: int) -> list[int]:
    """Every target N j / parts takes the nearer cell bound, the lower on ties."""
    reached = list(itertools.accumulate(weights))
    ends = []
    for j in range(1, parts + 1):
        target = reached[-1] * j / parts + (1e-10 if j - 1 >= parts // 2 else -1e-10)
        v = next((v for v, r in enumerate(reached) if r >= target), len(reached) - 1)
        if v > 0 and abs(target - reached[v - 1]) <= abs(target - reached[v]):
            v -= 1
        if not ends or v + 1 > ends[-1]:
            ends.append(v + 1)
    return ends


def log_star(n: float) -> float:
    terms = []
    term = math.log2(n)
    while term > 0:
        terms.append(term)
        term = math.log2(term)
    return sum(terms)


def universal(n: int, most: int) -> float:
    return math.log(sum(2 ** -log_star(t) for t in range(1, most + 1))) + math.log(2) * log_star(n)


@functools.cache
def stirling(n: int, k: int) -> int:
    if n == k:
        return 1
    return 0 if k < 1 or k > n else stirling(n - 1, k - 1) + k * stirling(n - 1, k)


def groupings(values: int, groups: int) -> int:
    return sum(stirling(values, k) for k in range(1, groups + 1))


def set_partitions(items: list[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    first, *rest = items
    for smaller in set_partitions(rest):
        for i, group in enumerate(smaller):
            yield [*smaller[:i], [first, *group], *smaller[i + 1 :]]
        yield [[first], *smaller]


def group_cost(rows: Cells, groups: Sequence[Sequence[int]], k: int) -> float:
    prior = math.log(len(rows)) + math.log(groupings(len(rows), len(groups)))
    return prior + sum(part_cost(total_of([rows[v] for v in group]), k) for group in groups)


def khiops_group_level(rows: Cells, groups: Sequence[Sequence[int]], k: int) -> float:
    """The level of groups under the criterion of Khiops, at the granularity that makes them cheapest."""
    null = math.log(2) + part_cost(total_of(rows), k)
    if len(groups) == 1:
        return 0.0
    weights, total = [sum(row) for row in rows], sum(map(sum, rows))
    finest = math.ceil(math.log2(total))
    cells = sum(part_cost(total_of([rows[v] for v in group]), k) for group in groups)
    found = []
    for granularity in range(1, finest + 1):
        rare = {v for v, w in enumerate(weights) if w < math.ceil(total / 2**granularity)}
        values = len(rows) - len(rare) + bool(rare)
        if values < len(groups) or sum(bool(rare.intersection(group)) for group in groups) > 1:
            continue  # rare values are one, so they stand together
        prior = math.log(2) * (2 if values > 7 else 1) + universal(granularity, finest)
        prior += universal(len(groups) - 1, values - 1) + math.log(groupings(values, len(groups)))
        found.append(prior + cells)
    return 1 - min(found) / null


def best_group_cost(rows: Cells, k: int) -> float:
    return min(group_cost(rows, groups, k) for groups in set_partitions(list(range(len(rows)))))


def spread(values: Sequence[float], weights: Sequence[float]) -> float:
    total = math.fsum(weights)
    mean = math.fsum(w * x for w, x in zip(weights, values, strict=True)) / total
    return math.fsum(w * (x - mean) ** 2 for w, x in zip(weights, values, strict=True))


def best_spread(values: Sequence[float], weights: Sequence[float], bins: int) -> float:
    best = math.inf
    for cuts in itertools.combinations(range(1, len(values)), bins - 1):
        edges = [0, *cuts, len(values)]
        best = min(best, sum(spread(values[a:b], weights[a:b]) for a, b in itertools.pairwise(edges)))
    return best


def entropy(counts: Counts) -> float:
    n = sum(counts)
    return -sum(c / n * math.log2(c / n) for c in counts if c > 0)


def fayyad_irani_cuts(cells: Cells, start: int = 0) -> list[int]:
    """Cell numbers of the accepted cuts, recursively."""
    whole = total_of(cells)
    n = sum(whole)
    best = (math.inf, 0)
    for cut in range(1, len(cells)):
        left, right = total_of(cells[:cut]), total_of(cells[cut:])
        best = min(best, ((sum(left) * entropy(left) + sum(right) * entropy(right)) / n, cut))
    if best[1] == 0:
        return []
    cut = best[1]
    left, right = total_of(cells[:cut]), total_of(cells[cut:])
    c, c1, c2 = (sum(x > 0 for x in side) for side in (whole, left, right))
    delta = math.log2(3**c - 2) - (c * entropy(whole) - c1 * entropy(left) - c2 * entropy(right))
    if entropy(whole) - best[0] <= (math.log2(n - 1) + delta) / n:
        return []
    return [
        *fayyad_irani_cuts(cells[:cut], start),
        start + cut,
        *fayyad_irani_cuts(cells[cut:], start + cut),
    ]
