"""Class counts of the frequent words, as one would first write them down."""

from __future__ import annotations

import math
from collections import Counter


class FrequentWords:
    """Counts by word and class of at most so many words; T(c) of all words, or of documents.

    kept: word -> [error, hits]; waiting: the filter of the words that are not kept.
    """

    def __init__(self, most, cells, binary=False):
        self.most, self.cells, self.binary = most, cells, binary
        self.kept, self.waiting, self.weight = {}, [0.0] * cells, 0.0
        self.counts, self.total = {}, Counter()

    def learn(self, document, c, w=1.0):
        """Count a document, a mapping from words to how often they occur."""
        if w == 0:
            return
        weights = {x: w * (1 if self.binary else n) for x, n in sorted(document.items())}
        for x in sorted(weights, key=lambda x: (x not in self.kept, x)):
            self.weight += weights[x]
            self.count(x, weights[x])
        self.counts = {x: n for x, n in self.counts.items() if x in self.kept}
        for x, weight in weights.items():
            if x in self.kept:
                self.counts.setdefault(x, Counter())[c] += weight
        self.total[c] += w if self.binary else sum(weights.values())

    def count(self, x, weight):
        if x in self.kept:
            self.kept[x][1] += weight
            return
        error = self.waiting[x % self.cells]
        if len(self.kept) == self.most:
            least, lightest = min((sum(entry), word) for word, entry in self.kept.items())
            if error + weight <= least:
                self.waiting[x % self.cells] += weight
                return
            del self.kept[lightest]
            self.waiting[lightest % self.cells] = max(self.waiting[lightest % self.cells], least)
        self.kept[x] = [error, weight]

    def multinomial(self, x, c):
        """log P(word | class), nothing if the word is not kept."""
        if x not in self.counts:
            return 0.0
        return math.log((self.counts[x][c] + 1) / (self.total[c] + len(self.counts)))

    def bernoulli(self, document, c):
        """log P(document | class) over all words that are kept."""
        chance = {x: (n[c] + 1) / (self.total[c] + 2) for x, n in self.counts.items()}
        return sum(math.log(p if x in document else 1 - p) for x, p in chance.items())
