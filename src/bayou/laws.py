"""Merge laws: every summary declares what `merge` promises, and tests, back ends and docs follow from it.

Laws are about counts. A reading that is searched for (intervals, groups, a structure) depends on when it was searched,
so that for a model of such readings the law holds after `refresh()`: merged shards, refreshed, equal one pass,
refreshed; the same is true for rows that were unlearned. Merging a model that has learned nothing changes nothing,
readings included. A grid or range that was frozen after a warm-up is never unlearned: other rows stay counted on it.
"""

from __future__ import annotations

from enum import Enum


class MergeLaw(Enum):
    """The promise a summary makes about `merge`, strongest first.

    Examples
    --------
    >>> MergeLaw.weakest([MergeLaw.EXACT, MergeLaw.ROUNDING])
    <MergeLaw.ROUNDING: 'rounding'>
    >>> MergeLaw.EXACT.commutes, MergeLaw.ORDERED.commutes
    (True, False)
    """

    EXACT = "exact"
    ROUNDING = "rounding"
    BOUNDED = "bounded"
    ORDERED = "ordered"
    AVERAGED = "averaged"
    NONE = "none"

    @property
    def promise(self) -> str:
        """The promise in one sentence."""
        return _PROMISES[self]

    @property
    def commutes(self) -> bool:
        """Whether the order of the shards is irrelevant (up to what the law allows)."""
        return self not in (MergeLaw.ORDERED, MergeLaw.NONE)

    @property
    def merges(self) -> bool:
        """Whether models of this law merge at all."""
        return self is not MergeLaw.NONE

    @staticmethod
    def weakest(laws: list[MergeLaw]) -> MergeLaw:
        """The law of a model that is made of summaries with these laws."""
        order = list(MergeLaw)
        return max(laws, key=order.index, default=MergeLaw.EXACT)


_PROMISES = {
    MergeLaw.EXACT: "the same bits as one pass, both refreshed (integer weights, totals below 2^53)",
    MergeLaw.ROUNDING: "the same as one pass up to 1e-12 of the largest magnitude absorbed",
    MergeLaw.BOUNDED: "the same as one pass within what the summary's own error() reports",
    MergeLaw.ORDERED: "associative but not commutative: shards merge in stream order",
    MergeLaw.AVERAGED: "a heuristic: a weighted mean of what was learned",
    MergeLaw.NONE: "does not merge",
}
