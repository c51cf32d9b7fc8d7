"""A Hoeffding tree in plain Python: one dictionary per node, one row at a time."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import NormalDist
from typing import Any

NUMBER = (int, float)


def entropy(weights: dict[Any, float]) -> float:
    total = sum(weights.values())
    return -sum(w / total * math.log2(w / total) for w in weights.values() if w > 0)


def gini(weights: dict[Any, float]) -> float:
    total = sum(weights.values())
    return 1.0 - sum((w / total) ** 2 for w in weights.values())


class NaiveTree:
    """Records of numbers and strings; attributes in a fixed order, numeric ones first."""

    def __init__(
        self, grace=200, delta=1e-7, tie=0.05, impurity=entropy, leaf="adaptive", binary=False, counted=False,
        tested=False,
    ):  # fmt: skip
        self.grace, self.delta, self.tie, self.leaf, self.tested = grace, delta, tie, leaf, tested
        self.impurity, self.binary, self.counted = impurity, binary, counted
        self.root = self.new_leaf({}, None)
        self.splits: list[tuple[float, str]] = []
        self.seen = 0

    def new_leaf(self, weights, parent):
        return {
            "weights": defaultdict(float, weights), "parent": parent, "since": 0.0, "own": 0.0,
            "numbers": defaultdict(list), "values": defaultdict(lambda: defaultdict(float)),
            "majority": 0.0, "bayes": 0.0, "test": None,
        }  # fmt: skip

    def route(self, x):
        node = self.root
        while node["test"] is not None:
            node = node["children"].get(node["test"](x), node["usual"])
        return node

    def prior(self, node):
        while sum(node["weights"].values()) <= 0 and node["parent"] is not None:
            node = node["parent"]
        total = sum(node["weights"].values())
        return {c: math.log(w / total) for c, w in node["weights"].items() if w > 0}

    def bayes(self, node, x):
        score = self.prior(node)
        for name, value in x.items():
            if value is None:
                continue
            for c in score:
                score[c] += self.term(node, name, value, c)
        return score

    def term(self, node, name, value, c):
        if isinstance(value, NUMBER):
            cells = {k: v for (n, k), v in node["numbers"].items() if n == name}
            everything = [pair for v in cells.values() for pair in v]
            mean, var = moments(everything)
            if var <= 0:
                return 0.0
            own_mean, own = moments(cells.get(c, []))
            size = sum(w for _, w in cells.get(c, []))
            mean = own_mean if size > 0 else mean
            var = own if own > (1e-9 if size > 1 else 1e-6) * var else var
            return -0.5 * math.log(2 * math.pi * var) - (value - mean) ** 2 / (2 * var)
        table = node["values"][name]
        values = {v for v, _ in table}
        if value not in values:
            return 0.0
        present = sum(w for (_, k), w in table.items() if k == c)
        return math.log((table.get((value, c), 0.0) + 1.0) / (present + len(values)))

    def predict(self, x):
        node = self.route(x)
        if self.leaf == "majority" or (self.leaf == "adaptive" and node["majority"] > node["bayes"]):
            score = self.prior(node)
        else:
            score = self.bayes(node, x)
        top = max(score.values(), default=0.0)
        total = sum(math.exp(s - top) for s in score.values())
        return {c: math.exp(s - top) / total for c, s in score.items()}

    def learn(self, x, y, w=1.0):
        self.seen += 1
        if w == 0:
            return
        node = self.route(x)
        if self.prior(node):
            if first_best(self.prior(node)) == y:
                node["majority"] += w
            if first_best(self.bayes(node, x)) == y:
                node["bayes"] += w
        node["weights"][y] += w
        for name, value in x.items():
            if isinstance(value, NUMBER):
                node["numbers"][name, y].append((value, w))
            elif value is not None:
                node["values"][name][value, y] += w
        node["own"] += w
        node["since"] += w
        if node["since"] >= self.grace:
            node["since"] = 0.0
            if sum(v > 0 for v in node["weights"].values()) > 1:
                self.attempt(node, list(x))

    def attempt(self, node, names):
        total = sum(node["weights"].values())
        found = [(0.0, "", None)]
        for name in sorted(names):
            best = max(self.candidates(node, name, node["own"]), key=lambda c: c[0], default=None)
            if best is not None:
                found.append((best[0], name, best))
        if self.tested:
            self.attempt_test(node, found[1:])
            return
        found.sort(key=lambda item: -item[0])
        if len(found) < 2:
            found.append((-math.inf, "", None))
        reach = (
            math.log2(max(2, sum(v > 0 for v in node["weights"].values()))) if self.impurity is entropy else 1
        )
        bound = math.sqrt(reach**2 * math.log(1 / self.delta) / (2 * total))
        merit, name, split = found[0]
        if split is not None and (merit - found[1][0] > bound or bound < self.tie):
            self.split(node, name, split)

    def split(self, node, name, split):
        self.splits.append((self.seen, name))
        _, test, branches = split
        node["test"] = test
        node["children"] = {key: self.new_leaf(w, node) for key, w in branches.items()}
        node["usual"] = max(node["children"].values(), key=lambda child: sum(child["weights"].values()))

    def attempt_test(self, node, found):
        """The G-test: most gain beyond what chance gives on average, if chance hardly ever gives as much."""
        freedom = {name: self.freedom(node, name) for _, name, _ in found}
        tried = sum(f > 0 for f in freedom.values())
        best, name, split = 0.0, "", None
        for merit, column, candidate in found:
            beyond = 2 * math.log(2) * node["own"] * merit - freedom[column]
            if beyond > best:
                best, name, split = beyond, column, candidate
        if split is None:
            return
        far = math.log(tried / self.delta)
        if best > 2 * math.sqrt(freedom[name] * far) + 2 * far:
            self.split(node, name, split)
            for key, child in node["children"].items():
                self.inherit(node, child, key, name, split)

    def freedom(self, node, name):
        numbers = {c: v for (n, c), v in node["numbers"].items() if n == name and v}
        if numbers:
            several = len({v for pairs in numbers.values() for v, _ in pairs}) > 1
            return len(numbers) - 1 if several else 0
        table = {k: w for k, w in node["values"].get(name, {}).items() if w > 0}
        return (len({v for v, _ in table}) - 1) * (len({c for _, c in table}) - 1)

    def inherit(self, node, child, key, name, split):
        """Rows of the parent, each class at the share that the split sends here; the split's own values as they are."""
        _, test, branches = split
        sums = defaultdict(float)
        for branch in branches.values():
            for c, w in branch.items():
                sums[c] += w
        share = {c: branches[key].get(c, 0.0) / sums[c] for c in sums if sums[c] > 0}
        for (n, c), pairs in node["numbers"].items():
            if share.get(c, 0.0) > 0:
                shared = [(v, w * share[c]) for v, w in pairs]
                child["numbers"][n, c] = shared if n != name else truncated(shared, test.cut, not key)
        for n, table in node["values"].items():
            for (v, c), w in table.items():
                part = w * share.get(c, 0.0) if n != name else w * (test({n: v}) == key)
                if part > 0:
                    child["values"][n][v, c] = part
        child["own"] = node["own"] * sum(branches[key].values()) / sum(sums.values())

    def merit(self, branches, rows):
        sizes = [sum(b.values()) for b in branches]
        total = sum(sizes)
        if sum(size > 0.01 * total for size in sizes) < 2:
            return -math.inf
        joint = defaultdict(float)
        for branch in branches:
            for c, w in branch.items():
                joint[c] += w
        after = sum(s * self.impurity(b) for s, b in zip(sizes, branches, strict=True) if s > 0)
        gain = total * self.impurity(joint) - after
        return gain / max(total, rows) if gain > 1e-12 * total else 0.0

    def candidates(self, node, name, rows):
        cells = {c: v for (n, c), v in node["numbers"].items() if n == name}
        if cells and self.counted:
            for cut in sorted({v for pairs in cells.values() for v, _ in pairs})[:-1]:
                left = {c: sum(w for v, w in pairs if v <= cut) for c, pairs in cells.items()}
                right = {c: sum(w for v, w in pairs if v > cut) for c, pairs in cells.items()}
                yield self.merit([left, right], rows), at_most(name, cut), {True: left, False: right}
        elif cells:
            low = min(v for pairs in cells.values() for v, _ in pairs)
            high = max(v for pairs in cells.values() for v, _ in pairs)
            for i in range(10):
                cut = low + (high - low) / 11 * (i + 1)
                if low < cut < high:
                    left = {c: below(pairs, cut) for c, pairs in cells.items()}
                    right = {c: max(0.0, sum(w for _, w in cells[c]) - left[c]) for c in cells}
                    yield self.merit([left, right], rows), at_most(name, cut), {True: left, False: right}
        table = node["values"].get(name, {})
        values = sorted({v for v, _ in table})
        branches = {v: {c: w for (u, c), w in table.items() if u == v} for v in values}
        if self.tested:
            yield from self.groups(name, table, branches, rows)
            return
        if values and not self.binary:
            merit = self.merit(list(branches.values()), rows)
            yield merit, lambda x: x.get(name), branches
            if merit > -math.inf:
                return
        for v in values:
            rest: dict[Any, float] = defaultdict(float)
            for (u, c), w in table.items():
                if u != v:
                    rest[c] += w
            yield self.merit([branches[v], rest], rows), is_value(name, v), {True: branches[v], False: rest}

    def groups(self, name, table, branches, rows):
        """Two groups of values along the share of each class."""
        values = sorted(branches)
        for c in sorted({c for _, c in table}):
            share = {v: branches[v].get(c, 0.0) / sum(branches[v].values()) for v in values}
            ranked = sorted(values, key=lambda v: share[v])
            for i in range(1, len(ranked)):
                if share[ranked[i - 1]] < share[ranked[i]]:
                    left, right = together(branches, ranked[:i]), together(branches, ranked[i:])
                    test = in_group(name, ranked[:i], ranked[i:])
                    yield self.merit([left, right], rows), test, {True: left, False: right}


def together(branches, values):
    out: dict[Any, float] = defaultdict(float)
    for v in values:
        for c, w in branches[v].items():
            out[c] += w
    return out


def in_group(name, left, right):
    return lambda x: True if x.get(name) in left else False if x.get(name) in right else None


def first_best(score):
    return min(score, key=lambda c: (-score[c], c))


def at_most(name, cut):
    def test(x):
        return None if x.get(name) is None else x[name] <= cut

    test.cut = cut
    return test


def is_value(name, v):
    return lambda x: None if x.get(name) is None else x[name] == v


def moments(pairs):
    total = sum(w for _, w in pairs)
    if total == 0:
        return 0.0, 0.0
    mean = sum(v * w for v, w in pairs) / total
    return mean, sum(w * (v - mean) ** 2 for v, w in pairs) / total


def truncated(pairs, cut, above):
    """Two values a deviation off the mean of the normal of these pairs beyond a cut, or up to it; and its range."""
    low, high = min(v for v, _ in pairs), max(v for v, _ in pairs)
    if (low > cut) if above else (high <= cut):
        return pairs
    total, (mean, var) = sum(w for _, w in pairs), moments(pairs)
    low, high = (min(cut, high), high) if above else (low, max(cut, low))
    spread = 0.0
    if var > 0:
        normal, deviation = NormalDist(mean, math.sqrt(var)), math.sqrt(var)
        mass = 0.5 * math.erfc((cut - mean if above else mean - cut) / deviation / math.sqrt(2))
        at = (cut - mean) / deviation
        if mass > 1e-12:
            ratio = (1 if above else -1) * normal.pdf(cut) * deviation / mass
            mean, spread = (
                mean + deviation * ratio,
                deviation * math.sqrt(max(0.0, 1 + at * ratio - ratio**2)),
            )
    mean = min(max(mean, low), high)
    spread = min(spread, mean - low, high - mean)
    return [(low, 0.0), (high, 0.0), (mean - spread, total / 2), (mean + spread, total / 2)]


def below(pairs, cut):
    total = sum(w for _, w in pairs)
    values = [v for v, _ in pairs]
    if cut < min(values):
        return 0.0
    if cut >= max(values):
        return total
    mean, var = moments(pairs)
    var = var * total / (total - 1) if total > 1 else 0.0
    if var <= 0:
        return total if cut >= mean else 0.0
    return total * 0.5 * (1.0 + math.erf((cut - mean) / math.sqrt(2 * var)))
