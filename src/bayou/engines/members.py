"""The engine of ensembles: engines over one schema, fed with the same blocks."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Self

import numpy as np

from bayou.align import Alignment, from_empty
from bayou.block import Block, Floats
from bayou.engines.engine import Engine, row_count, under
from bayou.errors import UnsupportedError
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.schema import Growth, Schema
from bayou.threads import ranges

GRAIN = 256  # rows from which on members are worth threads

_inside = threading.local()


class Members(Engine):
    """Engines that share the schema and the blocks of the ensemble.

    Parameters
    ----------
    builders
        One function per member, which returns an engine that has learned nothing.
    """

    def __init__(self, builders: Sequence[Callable[[], Engine]]) -> None:
        self.builders = builders
        self.members: list[Any] = [build() for build in builders]
        self.learned = 0

    @property
    def law(self) -> MergeLaw:
        """AVERAGED: members are merged one by one, not to what one pass would have given; NONE if a member has none.

        A mean must not depend on the order of the shards, so a member whose merge does allows none.
        """
        mergeable = all(member.law.merges and member.law.commutes for member in self.members)
        return MergeLaw.AVERAGED if mergeable else MergeLaw.NONE

    @property
    def depends_on_order(self) -> bool:
        """True if a member does; always true of an ensemble that forgets, or learns from its own predictions."""
        return self.law is MergeLaw.NONE or any(member.depends_on_order for member in self.members)

    @property
    def prediction_is_pure(self) -> bool:
        return all(member.prediction_is_pure for member in self.members)

    def refresh_at_row_counts(self) -> None:
        for member in self.members:
            member.refresh_at_row_counts()

    def new_member(self, i: int = 0) -> Any:
        """A member that has learned nothing, over the schema as it is now."""
        member = self.builders[i]()
        member.begin(self.schema)
        return member

    def begin(self, schema: Schema) -> None:
        super().realign(from_empty(schema))
        for member in self.members:
            member.begin(schema)

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        for member in self.members:
            member.realign(plan)

    def check_growth(self, growth: Growth) -> None:
        for member in self.members:
            member.check_growth(growth)

    def refresh(self) -> None:
        for member in self.members:
            member.refresh()

    def merge(self, other: Self) -> None:
        for mine, theirs in zip(self.members, other.members, strict=True):
            mine.merge(theirs)
        self.learned += other.learned

    def subtract(self, block: Block) -> None:
        raise UnsupportedError(
            f"{type(self).__name__} cannot unlearn: what a row did depended on when it came; unlearn from its members' "
            "own kind of classifier instead"
        )

    def draw(self, block: Block, rng: np.random.Generator) -> None:
        raise UnsupportedError(
            "cannot sample: an ensemble predicts classes from rows, and has no distribution of rows of its own; sample "
            "from its members' own kind of classifier, taught the same rows"
        )

    def scale(self, factor: float) -> None:
        for member in self.members:
            member.scale(factor)

    def fresh(self) -> Self:
        twin = copy.copy(self)
        twin.members = [member.fresh() for member in self.members]
        twin.learned = 0
        return twin

    def arrays(self) -> Arrays:
        out: dict[str, Any] = {"learned": np.array([self.learned])}
        for name, member in self.parts().items():
            out.update({f"{name}.{k}": a for k, a in member.arrays().items()})
        return out

    def restore(self, arrays: Arrays) -> None:
        self.learned = row_count(arrays["learned"])
        for name, member in self.parts().items():
            member.restore(under(f"{name}.", arrays))

    def parts(self) -> Mapping[str, Engine]:
        return {f"member.{i}": member for i, member in enumerate(self.members)}

    def predicting(self) -> Sequence[int]:
        """Numbers of the members whose predictions count in the present state; at least one."""
        return range(len(self.members))

    # -- calling all members --

    def each(self, work: Callable[[int], None], rows: int) -> None:
        """Call `work(m)` for every member, in as many threads as are worth it."""
        each_member(work, len(self.members), rows)

    def ask(self, answer: Callable[[Any], Floats], rows: int, members: Sequence[int] | None = None) -> Floats:
        """[M, n, K] the result of `answer` for every member, or for those with the numbers in `members`."""
        numbers = range(len(self.members)) if members is None else members
        out = np.empty((len(numbers), rows, self.n_classes))

        def one(i: int) -> None:
            out[i] = answer(self.members[numbers[i]])

        each_member(one, len(numbers), rows)
        return out


def each_member(work: Callable[[int], None], members: int, rows: int) -> None:
    """Call `work(m)` for every member, in as many threads as are worth it; never threads inside threads."""
    pieces = ranges(members, 1)
    if rows < GRAIN or len(pieces) == 1 or getattr(_inside, "busy", False):
        for m in range(members):
            work(m)
        return

    def run_piece(first: int) -> None:
        _inside.busy = True
        try:
            for m in range(first, members, len(pieces)):
                work(m)
        finally:
            _inside.busy = False

    futures = [_pool(len(pieces)).submit(run_piece, first) for first in range(1, len(pieces))]
    run_piece(0)
    for future in futures:
        future.result()


@cache
def _pool(size: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(size, thread_name_prefix="bayou-members")


def points_at(block: Block, learned: int, period: int) -> list[int]:
    """Places in the block right behind every `period`-th labelled row with weight; `learned` came before the block."""
    labelled = np.cumsum((block.y >= 0) & (block.w > 0))
    last = int(labelled[-1]) if block.n else 0
    numbers = range(period - learned % period, last + 1, period)
    return [int(np.searchsorted(labelled, number)) + 1 for number in numbers]


def parts_at(block: Block, learned: int, period: int) -> list[tuple[slice, Block, bool]]:
    """The block cut at `points_at`: where each part stands, the part, and whether a period ends with it."""
    points = points_at(block, learned, period)
    return [(where, part, where.stop in points) for where, part in block.cut(points)]
