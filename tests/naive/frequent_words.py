"""Class counts of the frequent words, as one would first write them down."""

from __future__ import annotations

import math
from collections import Counter

from tests.naive.sketches import SpaceSaving


class FrequentWords:
    """Counts by word and class of those words that a Space-Saving keeps; T(c) of all words, or of documents."""

    def __init__(self, most, binary=False):
        self.seats, self.binary = SpaceSaving(most), binary
        self.counts, self.total = {}, Counter()

    def learn(self, document, c, w=1.0):
        """Count a document, a mapping from words to how often they occur."""
        if w == 0:
            return
        weights = {x: w * (1 if self.binary else n) for x, n in sorted(document.items())}
        for x in sorted(weights, key=lambda x: (x not in self.seats.kept, x)):
            self.seats.add(x, None, weights[x])
            entry = self.seats.kept[x]
            entry[0] = entry[1] + entry[2][None]  # to the last bit
        self.counts = {x: n for x, n in self.counts.items() if x in self.seats.kept}
        for x, weight in weights.items():
            if x in self.seats.kept:
                self.counts.setdefault(x, Counter())[c] += weight
        self.total[c] += w if self.binary else sum(weights.values())

    def multinomial(self, x, c):
        """log P(word | class), nothing if the word is not kept."""
        if x not in self.counts:
            return 0.0
        return math.log((self.counts[x][c] + 1) / (self.total[c] + len(self.counts)))

    def bernoulli(self, document, c):
        """log P(document | class) over all words that are kept."""
        chance = {x: (n[c] + 1) / (self.total[c] + 2) for x, n in self.counts.items()}
        return sum(math.log(p if x in document else 1 - p) for x, p in chance.items())
