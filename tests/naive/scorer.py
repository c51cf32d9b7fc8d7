"""The JSON description of a model, interpreted row by row: what docs/reference/export.md says, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

INF = float("inf")


def number(value: Any) -> float:
    return float(value)


def probabilities(description: Mapping[str, Any], row: Mapping[str, Any]) -> list[float]:
    """Class probabilities in the order of `classes`; a text column of the row is a mapping from word to count."""
    scores = Scoring(description, row).vector(description["root"])
    scores = [scores[place] for place in description["order"]]
    top = max(scores)
    if top == -INF:
        return [1.0 / len(scores)] * len(scores)
    raised = [math.exp(score - top) for score in scores]
    return [one / sum(raised) for one in raised]


class Scoring:
    """One row on its way through the graph."""

    def __init__(self, description: Mapping[str, Any], row: Mapping[str, Any]) -> None:
        self.d, self.row, self.done = description, row, {}

    def numeric(self, column: int) -> float | None:
        x = self.row.get(self.d["columns"]["numeric"][column]["name"])
        if x is None or x != x or abs(x) > self.d["missing_beyond"]:
            return None
        return float(x)

    def code(self, column: int) -> int:
        known = self.d["columns"]["nominal"][column]
        value = self.row.get(known["name"])
        if value is None or value != value:
            return -1
        for code, other in enumerate(known["values"]):
            if other == value and isinstance(other, bool) == isinstance(value, bool):
                return code
        return known["other"]

    def cell(self, which: int) -> int:
        cell = self.d["cells"][which]
        if cell["op"] == "interval":
            x = self.numeric(cell["column"])
            return -1 if x is None else sum(x > cut for cut in cell["cuts"])
        code = self.code(cell["column"])
        return -1 if code < 0 else cell["cells"][code]

    def vector(self, which: int) -> list[float]:
        if which not in self.done:
            node = self.d["nodes"][which]
            self.done[which] = getattr(self, node["op"])(node)
        return self.done[which]

    def constant(self, node: Any) -> list[float]:
        return [number(v) for v in node["values"]]

    def table(self, node: Any) -> list[float]:
        found = node["values"]
        for which in node["cells"]:
            cell = self.cell(which)
            if cell < 0:
                return [number(v) for v in node["missing"]]
            found = found[cell]
        return [number(v) for v in found]

    def normal(self, node: Any) -> list[float]:
        x = self.numeric(node["column"])
        if x is None:
            return [0.0] * len(node["peak"])
        away = [(x - m) * (x - m) * h for m, h in zip(node["centre"], node["half"], strict=True)]
        return [p - min(a, 1e290) for p, a in zip(node["peak"], away, strict=True)]

    def kernels(self, node: Any) -> list[float]:
        x, p = self.numeric(node["column"]), node["precision"]
        if x is None:
            return [0.0] * len(node["widths"])
        if node["rounds"] and abs(x / p) < 2.0**52:
            x = round(x / p) * p
        least = math.log(node["floor"]) if node["floor"] > 0 else -INF
        return [max(self.density(node, x, c), least) for c in range(len(node["widths"]))]

    def density(self, node: Any, x: float, c: int) -> float:
        width, half = node["widths"][c], 0.5 * node["precision"]
        logs, plain, total = [], 0.0, 0.0
        for centre, w, extra in zip(node["centres"], node["weights"][c], node["extra"], strict=True):
            if w > 0.0:
                s = math.sqrt(width * width + extra) if extra > 0.0 else width
                a, b = (abs(x - centre) - half) / s, (abs(x - centre) + half) / s
                total += w
                plain += w * mass(a, b) if a < 38.0 else 0.0
                logs.append((w, a, b))
        if plain > 1e-290 * total:
            return math.log(plain) - math.log(total)
        far = [math.log(w) + log_far_mass(a, b) for w, a, b in logs]
        top = max(far)
        return top + math.log(sum(math.exp(one - top) for one in far)) - math.log(total)

    def words(self, node: Any) -> list[float]:
        known = self.d["columns"]["text"][node["column"]]
        out = list(node["base"])
        places = {word: i for i, word in enumerate(known["values"])}
        counts: dict[int, float] = {}
        for word, count in (self.row.get(known["name"]) or {}).items():
            place = places.get(word, known["other"])
            if place >= 0:
                counts[place] = counts.get(place, 0.0) + count
        for place, count in sorted(counts.items()):
            times = float(count > 0) if node["binary"] else count
            out = [o + times * v for o, v in zip(out, node["values"][place], strict=True)]
        return out

    def sum(self, node: Any) -> list[float]:
        out = self.vector(node["parts"][0])
        for part in node["parts"][1:]:
            out = [a + b for a, b in zip(out, self.vector(part), strict=True)]
        return out

    def scaled(self, node: Any) -> list[float]:
        return [v * w for v, w in zip(self.vector(node["part"]), node["by"], strict=True)]

    def clipped(self, node: Any) -> list[float]:
        part = self.vector(node["part"])
        if not any(part):
            return part
        return [min(max(v + node["shift"], number(node["least"])), number(node["most"])) for v in part]

    def pmi(self, node: Any) -> list[float]:
        part, prior = self.vector(node["part"]), [number(v) for v in node["prior"]]
        if not any(v for v, p in zip(part, prior, strict=True) if p > -INF):
            return [0.0] * len(part)
        total = log_sum([v + p for v, p in zip(part, prior, strict=True)])
        return [max(v - total, node["least"]) for v in part]

    def log(self, node: Any) -> list[float]:
        part = self.vector(node["part"])
        if not any(part):
            return [-INF] * len(part)
        return [math.log(v) if v > 0.0 else -1e290 for v in part]

    def exp(self, node: Any) -> list[float]:
        return [math.exp(v) for v in self.vector(node["part"])]

    def log_sigmoid(self, node: Any) -> list[float]:
        return [min(z, 0.0) - math.log1p(math.exp(-abs(z))) for z in self.vector(node["part"])]

    def log_softmax(self, node: Any) -> list[float]:
        part = self.vector(node["part"])
        top = max(part)
        return part if top == -INF else [(v - top) - log_sum([u - top for u in part]) for v in part]

    def folded(self, node: Any) -> list[float]:
        part = self.vector(node["part"])
        return [
            bias + sum(v * row[c] for v, row in zip(part, node["matrix"], strict=True))
            for c, bias in enumerate(node["bias"])
        ]

    def chosen(self, node: Any) -> list[float]:
        part = self.vector(node["part"])
        best = max(node["order"], key=lambda c: part[c])
        return [0.0 if c == best and part[c] > -INF else -INF for c in range(len(part))]

    def mixture(self, node: Any) -> list[float]:
        parts, weights = (
            [self.vector(part) for part in node["parts"]],
            [number(w) for w in node["log_weights"]],
        )
        return [
            log_sum([w + part[c] for w, part in zip(weights, parts, strict=True)])
            for c in range(len(parts[0]))
        ]

    def first_possible(self, node: Any) -> list[float]:
        for part in node["parts"][:-1]:
            if max(self.vector(part)) > -INF:
                return self.vector(part)
        return self.vector(node["parts"][-1])

    def branch(self, node: Any) -> list[float]:
        cell = self.cell(node["cell"])
        return self.vector(node["parts"][cell if cell >= 0 else node["usual"]])

    def trees(self, node: Any) -> list[float]:
        cells = [self.cell(which) for which in node["cells"]]
        out = [0.0] * len(node["values"][0])
        for v in node["roots"]:
            while node["test"][v] >= 0:
                which, split = node["test"][v], node["split"][v]
                if self.d["cells"][node["cells"][which]]["op"] == "interval":
                    left = cells[which] <= split
                else:
                    left = node["sets"][split][cells[which]] == 1
                v = node["child"][v] + (not left)
            out = [a + b for a, b in zip(out, node["values"][node["child"][v]], strict=True)]
        return out


def log_sum(values: list[float]) -> float:
    top = max(values)
    return top if top == -INF else top + math.log(sum(math.exp(v - top) for v in values))


def mass(a: float, b: float) -> float:
    """The standard normal's mass of [a, b], |a| <= b."""
    root = math.sqrt(0.5)
    if b - a < 1e-5:
        return (b - a) * math.exp(-0.5 * (0.5 * (a + b)) ** 2) / math.sqrt(2 * math.pi)
    if a < 0.0:
        return 0.5 * (math.erf(b * root) + math.erf(-a * root))
    return 0.5 * (math.erfc(a * root) - math.erfc(b * root))


def log_far_mass(a: float, b: float) -> float:
    """Its logarithm for a far out, to first order of 1 / a^2."""
    a = min(a, 1e144)
    width = min(b - a, 6.0) if b > a else 0.0
    root = 0.5 * math.log(2 * math.pi)
    if width < 1e-5:
        return -0.5 * (a + 0.5 * width) ** 2 - root + math.log(max(width, 2.2250738585072014e-308))
    lost = a / (a + width) * math.exp(-width * (a + 0.5 * width))
    return -0.5 * a * a - root - math.log(a) + math.log1p(-lost)
