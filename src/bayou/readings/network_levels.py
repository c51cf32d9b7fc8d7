"""The parent sets of a collection by level: each column with no parent, with one, and with two."""

from __future__ import annotations

from bayou.kernels.network_levels import LEVELS
from bayou.readings.parent_sets import ParentSetTable, Term


def level_tables(terms: ParentSetTable, m: int) -> list[ParentSetTable]:
    """A table for each level and column: 3 m of them, level by level.

    At level 1 a set of two parents is read with each of them alone, half as often; a set of one parent is read in full
    at levels 1 and 2, one without parents at all of them.

    >>> both = ParentSetTable.of([(0, -1, -1, 1.0), (1, 0, -1, 1.0), (2, 0, 1, 1.0)], 3)
    >>> [[(*s, u) for s, u in zip(t.sets.tolist(), t.u.tolist())] for t in level_tables(both, 3)[5::3]]
    [[(2, 0, -1, 0.5), (2, 1, -1, 0.5)], [(2, 0, 1, 1.0)]]
    """
    terms_by_level: list[list[list[Term]]] = [[[] for _ in range(m)] for _ in range(LEVELS)]
    for (i, p, q), u in zip(terms.sets.tolist(), terms.u.tolist(), strict=True):
        terms_by_level[2][i].append((i, p, q, u))
        terms_by_level[1][i] += [(i, p, -1, u)] if q < 0 else [(i, p, -1, u / 2), (i, q, -1, u / 2)]
    terms_by_level[0] = [[(i, -1, -1, 1.0)] for i in range(m)]
    return [ParentSetTable.of(column_terms, m) for level in terms_by_level for column_terms in level]
