"""Online NB-SVM as it is written down: dictionaries of words, one number at a time."""

from __future__ import annotations

import math

from tests.naive.weights import softmax

Document = dict[int, float]
A = 0.3


class WordWeights:
    """One text column and k classes; `offset` is the log prior, -inf for a class not met yet."""

    def __init__(self, k: int, eta: float, min_count: int = 1) -> None:
        self.k, self.eta, self.min_count = k, eta, min_count
        self.n: dict[tuple[int, int], float] = {}
        self.T = [0.0] * k
        self.V: dict[tuple[int, int], float] = {}
        self.G: dict[tuple[int, int], float] = {}
        self.b, self.Gb = [0.0] * k, [0.0] * k

    def words(self) -> int:
        return len({word for word, _ in self.n})

    def count(self, word: int, c: int) -> float:
        return self.n.get((word, c), 0.0)

    def speaks(self, word: int) -> bool:
        met = sum(self.count(word, c) for c in range(self.k))
        return met > 0 if self.min_count == 1 else met >= self.min_count

    def ratio(self, word: int, c: int) -> float:
        others = [b for b in range(self.k) if b != c]
        own = (self.count(word, c) + A) / (self.T[c] + A * self.words())
        rest = sum(self.count(word, b) for b in others) + A
        return math.log(own * (sum(self.T[b] for b in others) + A * self.words()) / rest)

    def inputs(self, document: Document, prior: list[float]) -> dict[tuple[int, int], float]:
        """f_wc, scaled to one length; none if no word was ever seen."""
        possible = [c for c in range(self.k) if prior[c] > -math.inf]
        known = [w for w in document if self.speaks(w)]
        raw = {(w, c): math.log(1.0 + document[w]) * self.ratio(w, c) for w in known for c in possible}
        length = math.sqrt(sum(f * f for f in raw.values()) / len(possible)) if raw else 0.0
        return {key: f / length for key, f in raw.items()} if length > 0 else {}

    def step(
        self, document: Document, prior: list[float], label: int | None, weight: float
    ) -> list[float] | None:
        """Scores as they stood before the row, None where the words say nothing; then it is learned."""
        scores = None
        inputs = self.inputs(document, prior)
        if inputs:
            scores = [
                p
                + self.b[c]
                + sum((1.0 + self.V.get((w, d), 0.0)) * f for (w, d), f in inputs.items() if d == c)
                for c, p in enumerate(prior)
            ]
        if label is None or weight == 0.0:
            return scores
        if scores is not None and prior[label] > -math.inf:
            chances = softmax(scores)
            error = [weight * (chances[c] - (c == label)) for c in range(self.k)]
            for c in range(self.k):
                self.Gb[c] += error[c] ** 2
                self.b[c] -= 0.2 * self.eta * error[c] / math.sqrt(0.1 + self.Gb[c])
            for (w, c), f in inputs.items():
                g = error[c] * f
                self.G[w, c] = self.G.get((w, c), 0.0) + g * g
                self.V[w, c] = self.V.get((w, c), 0.0) - self.eta * g / math.sqrt(0.1 + self.G[w, c])
        for w, amount in document.items():
            self.n[w, label] = self.count(w, label) + weight * amount
            self.T[label] += weight * amount
        return scores


class Mixture:
    """Two experts, mixed by how well each predicted; words are heard once labels come back."""

    def __init__(self, share: float) -> None:
        self.q, self.share = [0.95, 0.05], share
        self.t, self.returns = 0.0, 0
        self.last: int | None = None

    def step(
        self,
        others: list[float],
        words: list[float] | None,
        prior: list[float],
        label: int | None,
        weight: float,
    ) -> list[float]:
        """Probabilities of both together, from those of the others and the scores of the words."""
        both = [others, others if words is None else softmax(words)]
        mixed = others
        if words is not None and self.returns**2 >= self.t:
            mixed = [self.q[0] * a + self.q[1] * b for a, b in zip(*both, strict=True)]
        if label is None or weight == 0.0:
            return mixed
        before, self.last = self.last, label
        if prior[label] == -math.inf:
            return mixed
        self.returns += before is not None and before != label
        if words is not None:
            told = [q * max(p[label], 1e-9) ** weight for q, p in zip(self.q, both, strict=True)]
            self.q = [(1 - self.share) * q / sum(told) + self.share / 2 for q in told]
        self.t += weight
        return mixed
