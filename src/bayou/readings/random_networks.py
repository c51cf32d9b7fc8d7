"""Random networks of at most two parents per column, drawn by what columns tell of the class and of each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayou.block import Floats
from bayou.hashing import mixed_bits
from bayou.kernels.class_counts import class_total
from bayou.readings.parent_sets import ParentSetTable, Term
from bayou.readings.structure import information, met_columns
from bayou.summaries.joint_counts import JointCounts

LEAST = 1e-6  # nats: what a column is taken to tell of the class at least
MOST_CELLS = 1 << 18  # of a column, its parents and the class together


@dataclass(frozen=True)
class RandomParents:
    r"""Networks whose orders and parents are drawn by hashes; every column is read as the mean over the networks.

    In each network the columns are put in order without replacement in proportion to $I(X_i; C)$, and each draws up to
    `parents` of the columns before it in proportion to $I(X_i; X_j | C)$, both less what independent columns would show
    on as many rows. A parent beyond 2^18 cells with the column, the other parent and the class is left out.
    """

    networks: int
    parents: int
    seed: int

    def search(self, summary: JointCounts) -> ParentSetTable:
        """The parent sets of all networks, as often as they were drawn."""
        columns, m = met_columns(summary), len(summary.sizes)
        alone: list[Term] = [(int(i), -1, -1, 1.0) for i in np.flatnonzero(summary.seen == 0)]
        tell, together = (
            class_information(summary)[columns],
            pair_information(summary)[np.ix_(columns, columns)],
        )
        width = np.maximum(summary.width[columns], 1)
        k = max(1, int(np.count_nonzero(summary.classes)))
        terms: list[Term] = []
        for t in range(self.networks):
            noise = gumbel(self.seed, t, len(columns))
            order = np.argsort(-(np.log(np.maximum(tell, LEAST)) + noise[0]), kind="stable")
            for r, i in enumerate(order.tolist()):
                able = order[:r][together[i, order[:r]] > 0]
                drawn = able[np.argsort(-(np.log(together[i, able]) + noise[1 + i, able]), kind="stable")]
                kept: list[int] = []
                cells = k * int(width[i])
                for p in drawn.tolist():
                    if len(kept) < self.parents and cells * int(width[p]) <= MOST_CELLS:
                        kept.append(int(columns[p]))
                        cells *= int(width[p])
                p, q = (*kept, -1, -1)[:2]
                terms.append((int(columns[i]), p, q, 1.0 / self.networks))
        return ParentSetTable.of([*terms, *alone], m)


def gumbel(seed: int, network: int, n: int) -> Floats:
    """float64[1 + n, n]: draws of Gumbel's distribution, by a hash of seed, network and place."""
    base = mixed_bits(mixed_bits(np.array([seed], dtype=np.uint64)) ^ np.uint64(network))
    bits = mixed_bits(base ^ np.arange((1 + n) * n, dtype=np.uint64)) >> np.uint64(11)
    uniform = (bits.astype(np.float64) + 0.5) / (1 << 53)
    drawn: Floats = -np.log(-np.log(uniform)).reshape(1 + n, n)
    return drawn


def class_information(summary: JointCounts) -> Floats:
    """I(X_i; C) in nats over the rows that have the column, less what chance would show."""
    found = np.zeros(len(summary.sizes))
    for i in range(len(found)):
        table = np.maximum(summary.singles[summary.layout[0, i] : summary.layout[0, i + 1]], 0.0)
        total = table.sum()
        if total <= 0:
            continue
        rows, classes = table.sum(axis=1), table.sum(axis=0)
        at = np.nonzero(table / total)  # not what vanishes beside the rest
        shares = table[at] / total
        apart = np.log(rows[at[0]] / total) + np.log(classes[at[1]] / total)
        found[i] = (shares * (np.log(shares) - apart)).sum()
        found[i] -= (np.count_nonzero(rows) - 1) * (np.count_nonzero(classes) - 1) / (2 * total)
    return np.maximum(found, 0.0)


def pair_information(summary: JointCounts) -> Floats:
    """I(X_i; X_j | C) in nats, less what chance would show."""
    met = np.array(
        [
            np.count_nonzero(summary.singles[summary.layout[0, i] : summary.layout[0, i + 1]] > 0, axis=0)
            for i in range(len(summary.sizes))
        ],
        dtype=np.float64,
    ).reshape(len(summary.sizes), len(summary.classes))
    free = np.maximum(met - 1.0, 0.0)
    rows = class_total(summary.classes)
    return information(summary) - (free @ free.T) / (2 * rows) if rows > 0 else information(summary)
