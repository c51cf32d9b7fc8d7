"""The base of engines, which learn from encoded blocks and predict them inside every classifier."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayou.align import Alignment, canonical_order, from_empty
from bayou.block import Block, Floats, Index
from bayou.checks import require
from bayou.engines.packed_rows import PackedRows
from bayou.errors import UnsupportedError
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.schema import Growth, Schema
from bayou.views.view import AnyView

if TYPE_CHECKING:
    from bayou.scorer import Node


class Engine:
    """Learns from and predicts blocks of rows over one schema.

    An estimator holds one engine and gives it blocks it has encoded; an ensemble's engine holds engines. An engine
    knows the schema its rows are encoded by (`schema`), which `begin` and `realign` give it, and nothing of encoders,
    labels or records. Its methods change it in place: the estimator makes copies where an error must change nothing.
    """

    schema: Schema
    n_classes = 0  # K, the width of every prediction
    packed: PackedRows | None = None  # learns and predicts single records without blocks, where it can
    _class_order: Index | None = None

    @property
    def law(self) -> MergeLaw:
        """What `merge` promises in the present state."""
        raise NotImplementedError

    def refresh_at_row_counts(self) -> None:
        """Refresh searched readings at row counts only, not when the schema grows.

        Called where something is learned from the predictions, which must not depend on rows without weight.
        """

    @property
    def depends_on_order(self) -> bool:
        """Whether rows in another order give another model, by more than rounding and bounded errors.

        They do where learning depends on the engine's own predictions, forgets, or grows a structure row by row: where
        a merge averages at best.
        """
        return self.law in (MergeLaw.AVERAGED, MergeLaw.NONE)

    @property
    def prediction_is_pure(self) -> bool:
        """Whether predicting is known to change nothing at all in the present state, not even a cache."""
        return False

    def begin(self, schema: Schema) -> None:
        """Set up an empty state over a schema; called once."""
        self.realign(from_empty(schema))

    def realign(self, plan: Alignment) -> None:
        """Move the learned state to the places of its classes, columns and values in a schema that has grown."""
        self.schema, self.n_classes = plan.schema, plan.classes.size
        self._class_order = None

    def check_growth(self, growth: Growth) -> None:
        """Raise if the schema may not grow like this; called before anything changes."""

    def learn(self, block: Block) -> None:
        """Learn the rows, in order."""
        raise NotImplementedError

    def joint_log_proba(self, block: Block) -> Floats:
        """[n, K] log P(c, x) up to a constant per row, classes in storage order. Changes nothing but caches."""
        raise NotImplementedError

    def test_then_train(self, block: Block) -> Floats:
        """Row by row: predict as `joint_log_proba` would, then learn; exact, at block speed."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Compute every searched reading now."""

    def merge(self, other: Self) -> None:
        """Add what another engine of the same configuration and schema has learned."""
        raise NotImplementedError

    def subtract(self, block: Block) -> None:
        """Take rows out again, as if they had never been learned; frames that are frozen stay as they are."""
        raise UnsupportedError(f"cannot unlearn: {type(self).__name__} keeps no record of single rows")

    def scale(self, factor: float) -> None:
        """Multiply everything counted by a factor."""
        raise UnsupportedError(f"cannot decay: {type(self).__name__} holds nothing that could fade")

    def fresh(self) -> Self:
        """An engine of the same configuration, schema and frames that has learned nothing."""
        raise NotImplementedError

    def draw(self, block: Block, rng: np.random.Generator) -> None:
        """Fill the columns of a block with values drawn from the densities of the rows' classes."""
        raise UnsupportedError(f"cannot sample: {type(self).__name__} is no generative model; NaiveBayes is")

    def arrays(self) -> Arrays:
        """The whole learned state under stable names; stale readings are refreshed first."""
        raise NotImplementedError

    def restore(self, arrays: Arrays) -> None:
        """Take a state given by `arrays`."""
        raise NotImplementedError

    def scorer(self) -> Node:
        """The present `joint_log_proba` as a graph of look-ups and sums, for export."""
        raise UnsupportedError(
            f"cannot be exported: {type(self).__name__} predicts by more than look-ups and sums; export one of its "
            "members, or NaiveBayes or HoeffdingTree learned on the same rows"
        )

    def parts(self) -> Mapping[str, Engine | AnyView]:
        """Inner engines and views; the arrays of part `name` are called `name.…` in `arrays`."""
        return {}

    def class_order(self) -> Index:
        """Codes of the classes in canonical order, by which ties are broken."""
        if self._class_order is None:
            self._class_order = canonical_order(self.schema.classes.values)
        return self._class_order

    def copy(self) -> Self:
        """A deep copy over the same schema object."""
        return copy.deepcopy(self, {id(self.schema): self.schema})


def views_of(engine: Engine, prefix: str = "") -> Iterator[tuple[str, AnyView]]:
    """Every view of an engine and of the engines inside it, with the prefix of its arrays' names."""
    for name, part in engine.parts().items():
        if isinstance(part, Engine):
            yield from views_of(part, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}.", part


def under(prefix: str, arrays: Arrays) -> dict[str, Any]:
    """The arrays whose names begin with a prefix, without it."""
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}


def row_count(array: Any) -> int:
    """A number of rows from a file; raises unless it can be one."""
    require(array.shape == (1,) and 0 <= array[0] < 1 << 62, "a number of rows lies between 0 and 2^62")
    return int(array[0])
