"""Space-Saving and count-min as one would first write them down."""

from __future__ import annotations


class SpaceSaving:
    """Value -> [count, error, hits by class], by scanning for the lightest."""

    def __init__(self, k):
        self.k, self.kept, self.floor, self.rest, self.present = k, {}, 0.0, {}, {}

    def add(self, x, c, w=1.0):
        self.present[c] = self.present.get(c, 0.0) + w
        if x not in self.kept:
            least = 0.0
            if len(self.kept) == self.k:
                victim = min(self.kept, key=lambda v: (self.kept[v][0], v))
                least, _, hits = self.kept.pop(victim)
                self.floor = max(self.floor, least)
                for other, n in hits.items():
                    self.rest[other] = self.rest.get(other, 0.0) + n
            self.kept[x] = [least, least, {}]
        entry = self.kept[x]
        entry[0] += w
        entry[2][c] = entry[2].get(c, 0.0) + w


def cell(x, hashes, prime, width):
    """The cell of a key in a row of a count-min table."""
    limbs = (x % 2**22, (x >> 22) % 2**21, (x >> 43) % 2**21)
    *a, b = hashes
    return (sum(f * limb for f, limb in zip(a, limbs, strict=True)) + b) % prime % width


class CountMin:
    """A table of cells per row, each a list of class counts."""

    def __init__(self, width, hashes, prime, classes, conservative=False):
        self.width, self.hashes, self.prime, self.conservative = width, hashes, prime, conservative
        self.table = [[[0.0] * classes for _ in range(width)] for _ in hashes]

    def cells(self, x):
        for row, one in zip(self.table, self.hashes, strict=True):
            yield row[cell(x, one, self.prime, self.width)]

    def add(self, x, c, w=1.0):
        cells = list(self.cells(x))
        least = min(cell[c] for cell in cells)
        for cell in cells:
            cell[c] = max(cell[c], least + w) if self.conservative else cell[c] + w

    def estimate(self, x):
        return [min(counts) for counts in zip(*self.cells(x), strict=True)]
