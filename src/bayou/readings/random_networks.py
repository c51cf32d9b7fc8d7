"""Random networks of at most two parents per column, drawn by mutual information with the class and other columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayou.block import Floats
from bayou.hashing import mixed_bits
from bayou.kernels.class_counts import class_total
from bayou.readings.parent_sets import ParentSetTable, Term
from bayou.readings.structure import information, met_columns
from bayou.summaries.joint_counts import JointCounts

LEAST = 1e-6  # nats: the least information of a column about the class when drawing
MOST_CELLS = 1 << 18  # of a column, its parents and the class together


@dataclass(frozen=True)
class RandomParents:
    r"""Networks whose orders and parents are drawn by hashes; every column is read as the mean over the networks.

    In each network the columns are put in order without replacement in proportion to $I(X_i; C)$, and each draws up to
    `parents` of the columns before it in proportion to $I(X_i; X_j | C)$, both less the bias of as many rows of
    independent columns. A parent beyond 2^18 cells with the column, the other parent and the class is left out.
    """

    networks: int
    parents: int
    seed: int

    def search(self, summary: JointCounts) -> ParentSetTable:
        """The parent sets of all networks, weighted by how often they were drawn."""
        columns, m = met_columns(summary), len(summary.sizes)
        alone: list[Term] = [(int(i), -1, -1, 1.0) for i in np.flatnonzero(summary.seen == 0)]
        with_class, with_each_other = (
            class_information(summary)[columns],
            pair_information(summary)[np.ix_(columns, columns)],
        )
        width = np.maximum(summary.width[columns], 1)
        k = max(1, int(np.count_nonzero(summary.classes)))
        terms: list[Term] = []
        for t in range(self.networks):
            noise = gumbel(self.seed, t, len(columns))
            order = np.argsort(-(np.log(np.maximum(with_class, LEAST)) + noise[0]), kind="stable")
            for r, i in enumerate(order.tolist()):
                candidates = order[:r][with_each_other[i, order[:r]] > 0]
                drawn = candidates[
                    np.argsort(
                        -(np.log(with_each_other[i, candidates]) + noise[1 + i, candidates]), kind="stable"
                    )
                ]
                parents: list[int] = []
                cells = k * int(width[i])
                for p in drawn.tolist():
                    if len(parents) < self.parents and cells * int(width[p]) <= MOST_CELLS:
                        parents.append(int(columns[p]))
                        cells *= int(width[p])
                p, q = (*parents, -1, -1)[:2]
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
    """I(X_i; C) in nats over the rows that have the column, less the bias of independent columns."""
    nats = np.zeros(len(summary.sizes))
    for i in range(len(nats)):
        table = np.maximum(summary.singles[summary.layout[0, i] : summary.layout[0, i + 1]], 0.0)
        total = table.sum()
        if total <= 0:
            continue
        rows, classes = table.sum(axis=1), table.sum(axis=0)
        cells = np.nonzero(table / total)  # without cells whose share underflows to 0
        shares = table[cells] / total
        independent = np.log(rows[cells[0]] / total) + np.log(classes[cells[1]] / total)
        nats[i] = (shares * (np.log(shares) - independent)).sum()
        nats[i] -= (np.count_nonzero(rows) - 1) * (np.count_nonzero(classes) - 1) / (2 * total)
    return np.maximum(nats, 0.0)


def pair_information(summary: JointCounts) -> Floats:
    """I(X_i; X_j | C) in nats, less the bias of independent columns."""
    values_seen = np.array(
        [
            np.count_nonzero(summary.singles[summary.layout[0, i] : summary.layout[0, i + 1]] > 0, axis=0)
            for i in range(len(summary.sizes))
        ],
        dtype=np.float64,
    ).reshape(len(summary.sizes), len(summary.classes))
    free = np.maximum(values_seen - 1.0, 0.0)
    rows = class_total(summary.classes)
    return information(summary) - (free @ free.T) / (2 * rows) if rows > 0 else information(summary)
