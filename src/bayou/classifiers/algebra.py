"""The algebra of learned models: start afresh, merge, unlearn, decay, and compare by a digest."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bayou.align import align, canonical, grown, union
from bayou.classifiers.estimator_core import EstimatorCore
from bayou.classifiers.merge_warning import warn_if_disjoint
from bayou.engines.engine import Engine
from bayou.errors import DataError, MergeError, UnsupportedError
from bayou.hashing import digest
from bayou.schema import Schema


class Algebra(EstimatorCore):
    """`fresh`, `merge`, `unlearn`, `decay` and `digest`; an operation that fails leaves the model unchanged."""

    def fresh(self) -> Self:
        """An empty model of the same parameters, schema and frames: make shards with it."""
        twin = self.blank()
        if self.started:
            with self._changing():
                schema, engine = self.schema_.copy(), self.engine.fresh()
            engine.realign(grown(schema.shape(), schema))
            twin._take(schema, engine, 0)
        return twin

    def merge(self, other: Self) -> Self:
        """Add what another model of the same parameters has learned; the law says how exactly."""
        if type(other) is not type(self) or repr(other) != repr(self):
            raise MergeError(f"cannot merge {self!r} with {other!r}; make shards with model.fresh()")
        if not self.law.merges:
            raise MergeError(
                f"{type(self).__name__} does not merge: what it learned depends on the order of the rows; "
                "learn all of them in one pass"
            )
        if not other.started:
            return self
        with other._changing():  # other threads may use it meanwhile
            schema, engine = other.schema_.copy(), other.engine.copy()
            position, unusable = other.position, other.unusable
        with self._changing():
            return self._merge_engine(schema, engine, position, unusable)

    def _merge_engine(self, other_schema: Schema, engine: Engine, position: int, unusable: int) -> Self:
        started = self if self.started else self.blank()
        if not started.started:
            started.reset()
        schema = union(started.schema_, other_schema)
        merged = started.engine.copy()  # on a copy, so that an error changes nothing
        merged.realign(align(started.schema_, schema))
        engine.realign(align(other_schema, schema))
        merged.merge(engine)
        warn_if_disjoint(started.schema_, other_schema)
        unusable += started.unusable
        self._take(schema, merged, started.position + position)
        self._require().unusable = unusable
        return self

    def unlearn(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out again, as if they had never been seen. They must have been learned before.

        Readings that are searched for are those of the rows left once both are refreshed (`refresh()`). A grid or range
        that was frozen from a warm-up stays as it is, since the values behind it are gone.
        """
        with self._changing():
            return self._unlearn_rows(X, y, sample_weight)

    def _unlearn_rows(self, X: Any, y: Any, sample_weight: Any) -> Self:
        encoder, engine = self._require(), self.engine
        # Encoded as for learning, which reports new columns and values, but without adding them to the schema.
        block, growth = encoder.encode(X, y, sample_weight, learn=True)
        unknown = np.flatnonzero((block.y < 0) | (block.y >= self.schema_.classes.size))
        if len(unknown):
            row = int(unknown[0])
            raise DataError("a class that was never learned cannot be unlearned", row=row, value=list(y)[row])
        overflowed = {name for name, values in self.schema_.vocabularies.items() if values.overflowed}
        new = [name for name, _ in growth.columns] + [
            name for name in growth.values if name not in overflowed
        ]
        if new:
            raise DataError("rows with what was never learned cannot be unlearned", column=new[0])
        changed = engine.copy()  # on a copy, so that an error changes nothing
        changed.subtract(block)
        self._engine = changed
        return self

    def decay(self, factor: float) -> Self:
        """Multiply all that was counted by a factor in (0, 1]."""
        number: object = factor
        if not isinstance(number, int | float | np.number) or not 0 < factor <= 1:
            raise UnsupportedError(f"decay({factor!r}): the factor must lie in (0, 1]")
        with self._changing():
            changed = self.engine.copy()
            changed.scale(factor)
            self._engine = changed
        return self

    def digest(self) -> str:
        """Hash of the state in canonical order: equal for models with the same learned state, however they got it."""
        with self._changing():
            twin, storage_schema = self.engine.copy(), self.schema_.copy()
        twin.arrays()  # refreshes stale readings in the model's own order of classes, as predicting does
        schema = canonical(storage_schema)
        twin.realign(align(storage_schema, schema))
        names = [f"{name} {kind} {schema.vocabularies[name].values if name in schema.vocabularies else ''}"
                 for name, (kind, _) in schema.place.items()]  # fmt: skip
        return digest(twin.arrays(), [repr(schema.classes.values), *names])
