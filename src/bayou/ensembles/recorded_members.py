"""Base of the engines of ensembles that learn from their members' predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

from bayou.align import Alignment, from_empty
from bayou.block import Block
from bayou.engines import Engine, Members
from bayou.schema import Schema
from bayou.summaries.class_counts import ClassCounts
from bayou.views.learned_view import LearnedView
from bayou.views.view import AnyView


class RecordedMembers(Members):
    """Members, class counts, and summaries of what the members predicted before they learned each row.

    A subclass sets the summaries as attributes and lists their names in `summary_names`. They follow the schema, merge,
    and are saved with the members. Decay scales the members and the class counts; the other summaries forget by rules
    of their own.
    """

    summary_names: ClassVar[tuple[str, ...]] = ("classes",)

    def __init__(self, builders: Sequence[Callable[[], Engine]]) -> None:
        super().__init__(builders)
        self.refresh_at_row_counts()
        self.classes = ClassCounts()

    def _summaries(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.summary_names}

    @property
    def depends_on_order(self) -> bool:
        return True

    def begin(self, schema: Schema) -> None:
        super().begin(schema)
        for summary in self._summaries().values():
            summary.realign(from_empty(schema))

    def realign(self, plan: Alignment) -> None:
        super().realign(plan)
        for summary in self._summaries().values():
            summary.realign(plan)

    def learn(self, block: Block) -> None:
        self.test_then_train(block)

    def merge(self, other: Self) -> None:
        super().merge(other)
        theirs = other._summaries()
        for name, summary in self._summaries().items():
            summary.merge(theirs[name])

    def scale(self, factor: float) -> None:
        super().scale(factor)
        self.classes.scale(factor)

    def fresh(self) -> Self:
        twin = super().fresh()
        for name, summary in self._summaries().items():
            setattr(twin, name, summary.fresh())
        return twin

    def parts(self) -> Mapping[str, Engine | AnyView]:  # type: ignore[override] # views of its own besides the members
        views = {name: LearnedView(summary) for name, summary in self._summaries().items()}
        return {**super().parts(), **views}
