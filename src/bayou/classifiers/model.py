"""What every classifier shares around its engine: encoding, growth, merging, unlearning, explaining.

The engine (`begin`, `grow`, `learn`, `joint_log_proba`, `test_then_train`, ...) works on blocks and never sees
what users hold; this file turns that into blocks and applies growth before the engine sees the rows.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment, align, canonical, grown, union
from bayou.block import Block, Floats
from bayou.classifiers.explanation import Explanation, explain
from bayou.classifiers.html import model_html
from bayou.classifiers.params import Parameterised
from bayou.classifiers.sync import Sync
from bayou.decisions import Decision
from bayou.encoding import Encoder, Row, block_of
from bayou.errors import DataError, MergeError, NotFittedError, UnsupportedError
from bayou.hashing import digest
from bayou.kernels.posterior import posterior
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.schema import Declared, Growth, Label, Schema

MAX_PENDING = 64
F = TypeVar("F", bound=Callable[..., Any])


def flushed(method: F) -> F:
    """Make an engine's method take in the records that wait before it changes the state or hands it out.

    Bits never depend on how rows are cut into blocks, so pending records cannot be told from learned ones.
    """

    @wraps(method)
    def after_settling(self: Model, *args: Any) -> Any:
        if self._pending:
            self.flush()
        self._sync.synced = False
        return method(self, *args)

    return cast(F, after_settling)


def synced_first(method: F) -> F:
    """Make an engine's prediction bring the model to rest first; from then on threads may ask side by side."""

    @wraps(method)
    def after_resting(self: Model, block: Block) -> Any:
        rest = self._sync
        if rest.synced:
            return method(self, block)
        with rest.lock:
            self.flush()
            joint = method(self, block)
            rest.synced = True
        return joint

    return cast(F, after_resting)


ENGINE: Mapping[str, Callable[[Any], Any]] = {
    "joint_log_proba": synced_first,
    "learn": flushed,
    "test_then_train": flushed,
    "refresh": flushed,
    "merge_state": flushed,
    "unlearn_block": flushed,
    "scale_state": flushed,
    "arrays": flushed,
}


class Model(Parameterised):
    """An engine over blocks, given by subclasses, and what surrounds every engine alike."""

    numbers_are_words: ClassVar[bool] = False
    _encoder: Encoder | None = None
    _position = 0
    _sync = Sync()
    _pending: list[Row] = []  # noqa: RUF012 - never filled: replaced per instance when the first record waits

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ENGINE.keys() & cls.__dict__.keys():
            setattr(cls, name, ENGINE[name](cls.__dict__[name]))

    def __getstate__(self) -> dict[str, Any]:
        if self._pending:
            self.flush()
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take a pickled state; arrays that came back read-only (from a memory map) are made our own."""
        self.__dict__.update(state)
        if self.started:
            arrays = self.arrays()
            if not all(a.flags.writeable for a in arrays.values()):
                self.restore({name: np.array(a) for name, a in arrays.items()})

    # -- the engine, given by subclasses --

    @property
    def law(self) -> MergeLaw:
        raise NotImplementedError

    def begin(self, schema: Schema) -> None:
        """Set up an empty state over a schema."""
        raise NotImplementedError

    def grow(self, plan: Alignment) -> None:
        """Make room in every part of the state."""
        raise NotImplementedError

    def learn(self, block: Block) -> None:
        """Take in the rows, in order."""
        raise NotImplementedError

    def joint_log_proba(self, block: Block) -> Floats:
        """[n, K] log P(c, x) up to a constant per row, classes in storage order. Changes nothing."""
        raise NotImplementedError

    def test_then_train(self, block: Block) -> Floats:
        """Row by row: predict as `joint_log_proba` would, then learn; exact, at block speed."""
        raise NotImplementedError

    def refresh(self) -> Self:
        """Read everything that is due now."""
        raise NotImplementedError

    def merge_state(self, other: Self) -> None:
        raise NotImplementedError

    def unlearn_block(self, block: Block) -> None:
        raise NotImplementedError

    def scale_state(self, factor: float) -> None:
        raise NotImplementedError

    def empty_like(self, other: Self) -> None:
        raise NotImplementedError

    def arrays(self) -> Arrays:
        """The whole learned state under stable names, due readings read."""
        raise NotImplementedError

    def restore(self, arrays: Arrays) -> None:
        raise NotImplementedError

    # -- schema and encoding --

    def declared(self) -> Declared:
        """What the user declared; the parameter `schema`, where the classifier has one."""
        return getattr(self, "schema", None) or Declared()

    @property
    def started(self) -> bool:
        return self._encoder is not None

    def reset(self, declared: Declared | None = None) -> None:
        """Forget everything and begin anew, with what is declared."""
        self.begin_over(Schema(declared or self.declared()))

    def begin_over(self, schema: Schema) -> None:
        """Begin, with nothing learned, over a schema that becomes the model's own."""
        self._pending, self._sync = [], Sync()
        self._encoder = Encoder(schema, self.numbers_are_words)
        self._position = 0
        self.begin(schema)

    @property
    def position(self) -> int:
        """Rows met so far: the stream number of the next one."""
        return self._position + len(self._pending)

    def _require(self) -> Encoder:
        if self._encoder is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet; call fit, partial_fit or learn_one first"
            )
        return self._encoder

    @property
    def schema_(self) -> Schema:
        """Columns and classes met so far."""
        return self._require().schema

    def labels(self) -> list[Label]:
        """Classes in canonical order, the order of all probabilities users see."""
        return list(self._require().labels())

    def _class_order(self) -> NDArray[np.int64]:
        return self._require().class_order()

    def encode(self, X: Any, y: Any = None, w: Any = None, *, learn: bool = False) -> Block:
        """A batch as a block of this model's schema; with `learn`, what is new is added to the schema first."""
        if learn and self._encoder is None:
            self.reset()
        encoder = self._require()
        self.flush()
        start = self._position if learn else 0  # rows to predict are numbered as they are given
        block, growth = encoder.encode(X, y, w, start=start, learn=learn)
        if learn:
            self.admit(growth)
        return block

    def learn_record(self, x: Mapping[str, Any], y: Any, w: float) -> None:
        """One record; a plain one waits with others, unseen, until somebody looks (`flushed`)."""
        if self._encoder is None:
            self.reset()
        row = self._require().records.row(x, y, w)
        if row is None:
            self.learn_batch([x], None if y is None else [y], [w])
            return
        if not self._pending:
            self._pending = []
        self._pending.append(row)
        self._sync.synced = False
        if len(self._pending) == MAX_PENDING:
            self.flush()

    def flush(self) -> None:
        """Take in the records that wait."""
        if self._pending:
            with self._sync.lock:
                rows, self._pending = self._pending, []
                if rows:
                    self.learn_encoded(block_of(rows, self._position))

    def admit(self, growth: Growth) -> None:
        """Add to the schema what a batch brings, and make room for it."""
        if not growth and not growth.declared:
            return
        encoder = self._require()
        before = encoder.schema.shape()
        encoder.schema.grow(growth)
        encoder.forget()
        self._sync.synced = False
        self.grow(grown(before, encoder.schema))

    def learn_batch(self, X: Any, y: Any, w: Any = None) -> None:
        """Encode and learn; a batch with one bad row changes nothing."""
        self.learn_encoded(self.encode(X, y, w, learn=True))

    def learn_encoded(self, block: Block) -> None:
        """Learn rows that `encode` gave with `learn`."""
        self.learn(block)
        self._position += block.n

    def test_then_train_batch(self, X: Any, y: Any, w: Any = None) -> Floats:
        """Probabilities of each row as they stood before it, [n, K] in the order of `labels()`; then learned.

        A row that comes before anything is learned gets zeros, unless the prior of declared classes is known.
        """
        return self.test_then_train_encoded(self.encode(X, y, w, learn=True))

    def test_then_train_encoded(self, block: Block) -> Floats:
        """The same for rows that `encode` gave with `learn`."""
        joint = self.test_then_train(block)
        self._position += block.n
        posterior(joint, self._class_order(), 0.0)
        return joint

    def proba(self, block: Block) -> Floats:
        """[n, K] class probabilities in the order of `labels()`; uniform before anything is learned."""
        joint = self.joint_log_proba(block)
        posterior(joint, self._class_order(), 1.0 / max(1, len(self.schema_.classes.values)))
        return joint

    # -- algebra --

    def fresh(self) -> Self:
        """An empty model of the same parameters, schema and frames: make shards with it."""
        twin = self.blank()
        if self._encoder is not None:
            twin.begin_over(self.schema_.copy())
            twin.empty_like(self)
        return twin

    def blank(self) -> Self:
        """A model of the same parameters that has met nothing."""
        return type(self)(**copy.deepcopy(self.get_params(deep=False)))

    def merge(self, other: Self) -> Self:
        """Add what another model of the same parameters has learned; the law says how exactly."""
        if type(other) is not type(self) or repr(other) != repr(self):
            raise MergeError(f"cannot merge {self!r} with {other!r}; make shards with model.fresh()")
        if not self.law.merges:
            raise MergeError(
                f"{type(self).__name__} does not merge: what it learned depends on the order of the rows; "
                "learn all of them in one pass"
            )
        if other._encoder is None:
            return self
        joined, theirs = copy.deepcopy(self), copy.deepcopy(other)  # a merge that is refused changes nothing
        if joined._encoder is None:
            joined.reset()
        schema = union(joined.schema_, theirs.schema_)
        for model in (joined, theirs):
            model.flush()
            plan = align(model.schema_, schema)
            model.schema_.become(schema)  # in place: members and readers hold on to it
            model.grow(plan)
        joined._encoder = Encoder(joined.schema_, self.numbers_are_words)
        joined.merge_state(theirs)
        joined._position += theirs._position
        kept = self.get_params(deep=False)
        self.__dict__.update({**joined.__dict__, **kept})
        return self

    def unlearn(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out again, as if they had never been seen. They must have been learned before."""
        encoder = self._require()
        self.flush()
        # As if to learn, which tells what is new; nothing is admitted.
        block, news = encoder.encode(X, y, sample_weight, learn=True)
        unknown = np.flatnonzero((block.y < 0) | (block.y >= self.schema_.classes.size))
        if len(unknown):
            row = int(unknown[0])
            raise DataError("a class that was never learned cannot be unlearned", row=row, value=list(y)[row])
        full = {name for name, values in self.schema_.vocabularies.items() if values.overflowed}
        new = [name for name, _ in news.columns] + [name for name in news.values if name not in full]
        if new:
            raise DataError("rows with what was never learned cannot be unlearned", column=new[0])
        self.unlearn_block(block)
        return self

    def decay(self, factor: float) -> Self:
        """Multiply all that was counted by a factor in (0, 1]."""
        if not 0 < factor <= 1:
            raise UnsupportedError(f"decay({factor!r}): the factor must lie in (0, 1]")
        self._require()
        self.scale_state(factor)
        return self

    def digest(self) -> str:
        """Hash of the state in canonical order: equal for models that know the same, however they came by it."""
        twin = copy.deepcopy(self)
        twin.flush()
        schema = canonical(self.schema_)
        twin.grow(align(self.schema_, schema))
        names = [f"{name} {kind} {schema.vocabularies[name].values if name in schema.vocabularies else ''}"
                 for name, (kind, _) in schema.place.items()]  # fmt: skip
        return digest(twin.arrays(), [repr(schema.classes.values), *names])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file, atomically; `bayou.load` reads it, and may be given one from anybody."""
        from bayou.persist import model_file
        from bayou.persist.kinds import kinds_of

        model_file.save(self, path, kinds_of(self))

    def explain(self, row: Any, label: Label | None = None, against: Label | None = None) -> Explanation:
        """What each attribute of a row adds to the log-odds of a class against another."""
        self._require()
        return explain(self, row, label, against)

    def decide(self, proba: Floats) -> NDArray[np.intp]:
        """Positions in `labels()` of the decided classes; the parameter `decision`, where there is one, rules."""
        if not proba.shape[1]:
            raise NotFittedError(
                f"this {type(self).__name__} has met no class yet; learn labelled rows first"
            )
        rule: Decision | None = getattr(self, "decision", None)
        return proba.argmax(axis=1) if rule is None else rule.decide(self.labels(), proba)

    def _repr_html_(self) -> str:
        return model_html(self)

    @property
    def memory_bytes(self) -> int:
        """Bytes of learned state."""
        return sum(a.nbytes for a in self.arrays().values()) if self.started else 0
