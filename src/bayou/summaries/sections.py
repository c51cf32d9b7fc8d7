"""Which columns of a stream come in sections or change by small steps, and their latest values."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Codes, Flags, Floats
from bayou.kernels.sections import (
    CHANGES,
    COUNT,
    DEPARTURES,
    FALLS,
    FEWEST,
    HERE,
    LATEST,
    REACH,
    RISES,
    SMALL,
    SPAN,
    SQUARES,
    STEPS,
    outside_section,
)
from bayou.laws import MergeLaw
from bayou.summaries import valid
from bayou.summaries.array_summary import DecayingSummary
from bayou.summaries.state import declare

if TYPE_CHECKING:
    from bayou.scorer import Node


def _middle(name: str, array: Floats, summary: Sections) -> None:
    valid.moderate(name, array, summary)
    valid.non_negative(name, array[SPAN], summary)


class Sections(DecayingSummary):
    """First and latest value of every numeric and nominal column, how often it changed, how often it left the first.

    A column is in sections while the square of its changes is less than its departures from the first value: a file
    sorted by it, or put together from files. Rows in any order change as often as they depart. Numbers that are never
    the same twice, and values known by their hash, are never in sections.

    Of numeric columns also the variance, the mean square of a step from row to row, and mean and variance of the latest
    values: a column changes by small steps while these are small beside its variance, as in the order of a map or a
    season.

    Merge: AVERAGED: where both have learned rows, it is unknown which section is the latest, and the record begins
    again. Memory: 96 bytes per numeric column, 24 per nominal one.
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    rows: Floats = declare(1, scales=True, valid=valid.non_negative)
    ends: Floats = declare(2, "numeric", fill=np.nan, valid=valid.not_infinite)
    steps: Floats = declare(2, "numeric", scales=True, valid=valid.non_negative)
    code_ends: Codes = declare(2, "nominal", dtype=np.int32, fill=-1, valid=valid.value_codes)
    code_steps: Floats = declare(2, "nominal", scales=True, valid=valid.non_negative)
    spread: Floats = declare(5, "numeric", scales=True, valid=valid.non_negative)
    middle: Floats = declare(3, "numeric", valid=_middle)

    def update(self, block: Block) -> None:
        self.outside(block, learn=True)

    def outside(self, block: Block, learn: bool = False) -> tuple[Flags, Flags]:
        """bool[n] whether each row is outside the latest section, and bool[n] whether it is far from the latest values.

        Both are judged before the row, which is then learned if `learn` is set.
        """
        out, far = np.empty((2, block.n), dtype=np.bool_)
        outside_section(
            self.ends, self.steps, self.code_ends, self.code_steps, self.spread, self.middle, block.numeric,
            block.codes, block.y, block.w, learn, out, far,
        )  # fmt: skip
        if learn:
            self.rows += block.learned()
        return out, far

    def scorer_columns(self, score: float, width: int) -> list[Node]:
        """A node per column in sections: `score` for every class where the value is not the latest, else 0."""
        from bayou.scorer import interval_table, value_table

        nodes = []
        for j in _in_sections(self.steps):
            latest = float(self.ends[LATEST, j])
            cuts = np.array([np.nextafter(latest, -np.inf), latest])
            nodes.append(interval_table(j, cuts, np.outer([score, 0.0, score], np.ones(width))))
        for j in _in_sections(self.code_steps):
            values = np.full((self.lengths.values[j], width), score)
            values[self.code_ends[LATEST, j]] = 0.0
            nodes.append(value_table(j, values))
        return nodes

    def far_columns(self, score: float, width: int) -> list[Node]:
        """A node per column that changes by small steps: `score` for every class where a value is far away, else 0."""
        from bayou.scorer import interval_table

        count, least = self.spread[COUNT], np.minimum(self.spread[RISES], self.spread[FALLS])
        steps = (count >= FEWEST) & (self.spread[STEPS] < SMALL * self.spread[SQUARES]) & (least**2 >= count)
        nodes = []
        for j in np.flatnonzero(steps).tolist():
            here, deviations = self.middle[HERE, j], REACH * np.sqrt(self.middle[SPAN, j])
            cuts = np.array([np.nextafter(here - deviations, -np.inf), here + deviations])
            nodes.append(interval_table(j, cuts, np.outer([score, 0.0, score], np.ones(width))))
        return nodes

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        if other.rows[0] == 0.0:
            return
        rows = self.rows + other.rows
        self.restore((other if self.rows[0] == 0.0 else self.fresh()).arrays())
        self.rows = rows

    def realign(self, plan: Alignment) -> None:
        for j, new in enumerate(plan.nominal.to):
            to = np.append(plan.values[new].to, -1).astype(np.int32)  # the last place is that of no value
            self.code_ends[:, j] = to[self.code_ends[:, j]]
        super().realign(plan)


def _in_sections(steps: Floats) -> list[int]:
    """The columns that are in sections."""
    columns: list[int] = np.flatnonzero(steps[CHANGES] ** 2 < steps[DEPARTURES]).tolist()
    return columns
