"""What classifiers made of classifiers share: members over one schema, fed with the parent's encoded blocks."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, Self

import numpy as np

from bayou.align import Alignment, canonical_order
from bayou.block import Block, Floats, Index
from bayou.classifiers.shell import Shell
from bayou.errors import SchemaError, UnsupportedError
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.schema import Declared, Schema
from bayou.threads import ranges

GRAIN = 256  # rows from which on members are worth threads

_inside = threading.local()


class MetaClassifier(Shell):
    """Members share the parent's schema and blocks; they never encode anything themselves."""

    _members: Sequence[Any] = ()
    _known: Schema | None = None
    _k = 0
    _learned = 0

    # -- given by subclasses --

    def templates(self) -> Sequence[Shell]:
        """Untaught classifiers, one per member."""
        raise NotImplementedError

    # -- shared --

    @property
    def numbers_are_words(self) -> bool:  # type: ignore[override] # of the class elsewhere, of the members here
        return bool(self.templates()[0].numbers_are_words)

    def declared(self) -> Declared:
        return self.templates()[0].declared()

    @property
    def law(self) -> MergeLaw:
        """Members add up one by one, but not to what one pass would have given: AVERAGED, or NONE as theirs is."""
        mergeable = all(member.law.merges for member in self._members or self.templates())
        return MergeLaw.AVERAGED if mergeable else MergeLaw.NONE

    def new_member(self, template: Shell) -> Any:
        """An untaught member over the schema."""
        assert self._known is not None
        member = untaught(template)
        member.begin(self._known)
        return member

    def begin(self, schema: Schema) -> None:
        self._known = schema
        self._k, self._learned = schema.classes.size, 0
        self._members = [self.new_member(template) for template in self.templates()]

    def grow(self, plan: Alignment) -> None:
        self._k = plan.classes.size
        for member in self._members:
            member.grow(plan)

    def class_order(self) -> Index:
        """Canonical order of the classes, by which ties are broken."""
        assert self._known is not None
        return canonical_order(self._known.classes.values)

    def refresh(self) -> Self:
        for member in self._members:
            member.refresh()
        return self

    def merge_state(self, other: Self) -> None:
        for mine, theirs in zip(self._members, other._members, strict=True):
            mine.merge_state(theirs)
        self._learned += other._learned

    def unlearn_block(self, block: Block) -> None:
        raise UnsupportedError(
            f"{type(self).__name__} cannot unlearn: what a row did depended on when it came; unlearn from its members' "
            "own kind of classifier instead"
        )

    def scale_state(self, factor: float) -> None:
        members = copy.deepcopy(list(self._members))
        for member in members:
            member.scale_state(factor)
        self._members = members

    def empty_like(self, other: Self) -> None:
        for mine, theirs in zip(self._members, other._members, strict=True):
            mine.empty_like(theirs)
        self._k, self._learned = other._k, 0

    def arrays(self) -> Arrays:
        out: dict[str, Any] = {"learned": np.array([self._learned])}
        for i, member in enumerate(self._members):
            out.update({f"member.{i}.{name}": array for name, array in member.arrays().items()})
        return out

    def restore(self, arrays: Arrays) -> None:
        self._learned = int(arrays["learned"][0])
        for i, member in enumerate(self._members):
            prefix = f"member.{i}."
            member.restore({k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)})

    @property
    def memory_bytes(self) -> int:
        """Bytes of learned state, of all members."""
        return sum(a.nbytes for a in self.arrays().values()) if self.started else 0


def untaught(template: Shell) -> Any:
    """A classifier of the same parameters that shares nothing with the template."""
    return type(template)(**copy.deepcopy(template.get_params(deep=False)))


def classifier_or(estimator: Shell | None, default: Callable[[], Shell]) -> Shell:
    """The estimator given, or the default; anything that is no classifier of this library is refused."""
    if estimator is None:
        return default()
    if not isinstance(estimator, Shell):
        raise SchemaError(f"estimator={estimator!r}; it must be a classifier of this library")
    return estimator


def stacked(members: Sequence[Any], rows: int, classes: int, ask: Callable[[int], Floats]) -> Floats:
    """[M, n, K] what each member answers."""
    out = np.empty((len(members), rows, classes))

    def one(m: int) -> None:
        out[m] = ask(m)

    each_member(one, len(members), rows)
    return out


def each_member(work: Callable[[int], None], members: int, rows: int) -> None:
    """Call `work(m)` for every member, in as many threads as are worth it; never threads inside threads."""
    cut = ranges(members, 1)
    if rows < GRAIN or len(cut) == 1 or getattr(_inside, "busy", False):
        for m in range(members):
            work(m)
        return

    def several(first: int) -> None:
        _inside.busy = True
        try:
            for m in range(first, members, len(cut)):
                work(m)
        finally:
            _inside.busy = False

    others = [_pool(len(cut)).submit(several, first) for first in range(1, len(cut))]
    several(0)
    for other in others:
        other.result()


@cache
def _pool(size: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(size, thread_name_prefix="bayou-members")


def points_at(block: Block, learned: int, period: int) -> list[int]:
    """Places in the block right after rows whose number, among rows that teach, is a multiple of the period."""
    teaches = np.cumsum((block.y >= 0) & (block.w > 0))
    last = int(teaches[-1]) if block.n else 0
    numbers = range(period - learned % period, last + 1, period)
    return [int(np.searchsorted(teaches, number)) + 1 for number in numbers]
