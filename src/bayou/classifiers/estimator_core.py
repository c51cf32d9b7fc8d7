"""Base of an estimator's dialects and algebra: encoding, growth and locks around an engine that sees blocks only."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from bayou.align import grown
from bayou.block import Block, Floats
from bayou.classifiers.params import Parameterised, refuse_huge_numbers
from bayou.classifiers.sync import Sync
from bayou.decisions import Decision, check_rule, tell_unknown
from bayou.encoding import Encoder
from bayou.encoding.batch import weights
from bayou.encoding.forms import picked
from bayou.encoding.hashed_order import hashed_order
from bayou.encoding.table import table_of
from bayou.engines import Engine, Views
from bayou.errors import BayouError, DataError, NotFittedError, SchemaError
from bayou.kernels.posterior import posterior
from bayou.laws import MergeLaw
from bayou.protocols import Arrays
from bayou.schema import Declared, Growth, Label, Schema
from bayou.views.view import AnyView

_FIRST_LOCK = Lock()
# attributes that `begin` sets: the state, and the columns seen by scikit-learn's methods
_SET_BY_BEGIN = ("_encoder", "_engine", "_position", "n_features_in_", "feature_names_in_")
Result = TypeVar("Result")


class EstimatorCore(Parameterised):
    """Encodes tables and records into blocks, lets the schema grow, and has an engine, which learns and predicts them.

    Records learned one at a time are pending in an array of the encoder, which has no visible effect: bits never depend
    on how rows are cut into blocks, and every access to the model learns them first (`flush`).
    """

    _offers: ClassVar[tuple[str, ...]] = (
        "law", "memory_bytes", "position", "unusable", "schema_", "labels", "test_then_train_batch", "refresh", "reset",
    )  # what `dir(model)` shows of this class; see `Estimator.__dir__`  # fmt: skip
    numbers_are_words: ClassVar[bool] = False
    _encoder: Encoder | None = None
    _engine: Engine
    _position = 0
    _sync: Sync = None  # type: ignore[assignment] # set by `_changing`, so there wherever something is learned

    # -- what a subclass defines --

    def views(self) -> Mapping[str, AnyView]:
        """The views of the classifier by name: summaries and how they are read. A new classifier defines this alone."""
        raise NotImplementedError

    def build_engine(self) -> Engine:
        """An engine with the parameters of the classifier that has learned nothing."""
        return Views(self.views())

    def declared(self) -> Declared:
        """What the user declared; the parameter `schema`, where the classifier has one."""
        return getattr(self, "schema", None) or Declared()

    # -- state --

    def __getstate__(self) -> dict[str, Any]:
        """A deep copy of the attributes, taken under the lock, so that it is consistent while threads learn."""
        if not self.started:
            return self.__dict__.copy()
        with self._changing():
            self.flush()
            return copy.deepcopy(self.__dict__)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        state = self.__getstate__()
        twin.__setstate__(state if self.started else copy.deepcopy(state, memo))
        return twin

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take a pickled state; read-only arrays (of a memory map) are copied."""
        self.__dict__.update(state)
        if self.started:
            arrays = self.arrays()
            if not all(a.flags.writeable for a in arrays.values()):
                self._engine.restore({name: np.array(a) for name, a in arrays.items()})

    @property
    def started(self) -> bool:
        """Whether there is a state: a schema, and an engine over it."""
        return self._encoder is not None

    @property
    def engine(self) -> Engine:
        """The engine, after it has learned all pending records of `learn_one`."""
        self._require()
        self.flush()
        return self._engine

    @property
    def law(self) -> MergeLaw:
        """What `merge` promises in the present state."""
        return self._engine.law if self.started else self._built().law

    @property
    def depends_on_order(self) -> bool:
        """Whether rows in another order give another model, by more than rounding and bounded errors.

        They do where a classifier learns from its own predictions, cuts its columns by the first rows, forgets, is a
        tree, or has such members. `fit`, `holdout` and `cross_validate` then present the rows of a table in a hashed
        order: the order of a table means nothing, and tables sorted by class are common.
        """
        return (self._engine if self.started else self._built()).depends_on_order

    def reset(self, declared: Declared | None = None) -> None:
        """Forget everything and begin anew, with these declarations or those of the parameters."""
        with self._types_refused():
            declared = declared or self.declared()
        if not isinstance(declared, Declared):
            raise SchemaError(f"schema={declared!r}; it is a Declared(...), or None")
        self.begin(Schema(declared))

    def begin(self, schema: Schema, engine: Engine | None = None) -> None:
        """Begin with nothing learned, over this schema and with this engine, if given, which the model then owns."""
        check_rule(getattr(self, "decision", None))
        engine = self._built(schema, engine)
        with self._changing():
            self._take(schema, engine, 0)

    def _built(self, schema: Schema | None = None, engine: Engine | None = None) -> Engine:
        """A new engine, or the given one, set up over the schema if there is one."""
        with self._types_refused():
            refuse_huge_numbers(self.get_params())
            engine = self.build_engine() if engine is None else engine
            if schema is not None:
                engine.begin(schema)
        return engine

    @contextmanager
    def _types_refused(self) -> Iterator[None]:
        try:
            yield
        except BayouError:
            raise
        except (TypeError, ValueError, AttributeError, OverflowError) as problem:
            raise SchemaError(f"{self!r} cannot be: a parameter has the wrong type ({problem})") from problem

    def _changing(self) -> Sync:
        """The lock of the model: inside `with self._changing()` no other thread changes it or predicts with it."""
        if self._sync is None:
            with _FIRST_LOCK:  # one lock, if two threads begin at once
                self._sync = self._sync or Sync()
        return self._sync

    def locked(self) -> Sync:
        """The lock of the model: inside `with model.locked()` no other thread changes it or predicts with it."""
        return self._changing()

    def _take(self, schema: Schema, engine: Engine, position: int) -> None:
        self._changing()  # a lock of its own, before the first record
        self._encoder, self._engine, self._position = (
            Encoder(schema, self.numbers_are_words),
            engine,
            position,
        )

    @property
    def position(self) -> int:
        """The number of rows seen so far, which is the stream number of the next one."""
        return self._position + (0 if self._encoder is None else self._encoder.records.waiting)

    @property
    def unusable(self) -> int:
        """The number of huge or infinite values that were taken as missing."""
        self.flush()
        return 0 if self._encoder is None else self._encoder.unusable

    def arrays(self) -> Arrays:
        """The whole learned state under stable names; stale readings are refreshed first."""
        with self._changing():
            return self.engine.arrays()

    def restore(self, arrays: Arrays, position: int = 0, unusable: int = 0) -> None:
        """Take a state given by `arrays`, over the schema the model has begun with."""
        with self._changing():
            self.engine.restore(arrays)
            self._position, self._require().unusable = position, unusable

    @property
    def memory_bytes(self) -> int:
        """Bytes of learned state."""
        return sum(a.nbytes for a in self.arrays().values()) if self.started else 0

    # -- schema and encoding --

    def _require(self) -> Encoder:
        if self._encoder is None:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet; call fit, partial_fit or learn_one first"
            )
        return self._encoder

    @property
    def schema_(self) -> Schema:
        """The schema: columns and classes seen so far."""
        return self._require().schema

    def labels(self) -> list[Label]:
        """Classes in canonical order, the order of all probabilities users see."""
        return list(self._require().canonical_classes()[1])

    def encode(self, X: Any, y: Any = None, w: Any = None, *, learn: bool = False) -> Block:
        """A batch as a block of this model's schema; with `learn`, new columns, classes and values are added first."""
        if learn and self._encoder is None:
            with self.unchanged_on_failure():
                self.reset()
                return self.encode(X, y, w, learn=True)
        encoder = self._require()
        if not learn:  # rows to predict are numbered as they are given, and do not change the schema
            return encoder.encode(X, y, w)[0]
        with self._changing():
            self.flush()
            block, growth = encoder.encode(X, y, w, start=self._position, learn=True)
            self.admit(growth)
        return block

    @contextmanager
    def unchanged_on_failure(self) -> Iterator[None]:
        """A context that restores the state before it if the code inside, which begins anew, raises."""
        with self._changing():
            # Not from `__dict__`: once it was read, access to every attribute takes four times as long.
            before = {name: getattr(self, name) for name in _SET_BY_BEGIN if hasattr(self, name)}
            try:
                yield
            except BaseException:
                for name in _SET_BY_BEGIN:
                    was_set = name in before and before[name] is not getattr(type(self), name, None)
                    if was_set:
                        setattr(self, name, before[name])
                    elif hasattr(self, name):
                        with suppress(AttributeError):  # the class has it, the model does not
                            delattr(self, name)
                raise

    def encode_shared(
        self, X: Any, y: Any, start: int, *, learn: bool, others: tuple[EstimatorCore, ...]
    ) -> tuple[Block, Growth]:
        """Like `encode`, for this model and others with an equal schema, each of which is to `admit` the growth.

        Until then the models may still be learning, in another thread, the rows before `start`.
        """
        block, growth = self._require().encode(X, y, None, start=start, learn=learn)
        if not learn:  # rows to learn are counted by each model when it has learned them
            for model in others:
                model._require().unusable += block.unusable
        return block, growth

    def admit(self, growth: Growth) -> None:
        """Add new columns, classes and values of a batch to the schema, and make room for them in the engine."""
        if not growth and not growth.declared:
            if growth.notes:
                with self._changing():
                    self._require().schema.note(growth)
            return
        encoder = self._require()
        with self._changing():
            self.flush()
            self._engine.check_growth(growth)
            before = encoder.schema.shape()
            encoder.grow(growth)
            self._engine.realign(grown(before, encoder.schema))

    # -- learning --

    def flush(self) -> None:
        """Learn the pending records."""
        if self._encoder is None or not self._encoder.records.waiting:
            return
        with self._changing():
            encoder, engine = self._require(), self._engine
            records, count = encoder.records, encoder.records.waiting
            learned = -1 if engine.packed is None else engine.packed.learn(records.rows, count)
            if learned >= 0:
                self._learned(learned)
            elif count:
                block = encoder.waiting(self._position)
                engine.learn(block)
                self._count(block)

    def _learned(self, rows: int) -> None:
        """Note that the pending records were learned as packed rows, `rows` of which have a label and weight."""
        records = self._require().records
        cast(Views, self._engine).rows += rows
        self._position += records.waiting
        records.waiting = 0

    def learn_batch(self, X: Any, y: Any, w: Any = None) -> None:
        """Encode and learn; a batch with one bad row changes nothing."""
        with self._changing():
            self.learn(self.encode(X, y, w, learn=True))

    def learn_in_hashed_order(self, X: Any, y: Any, w: Any = None) -> None:
        """As `learn_batch`, with rows in the order of `hashed_order`; errors give the row numbers of the caller."""
        table = table_of(X)
        amounts = None if w is None else weights(w, table.n, 0)
        order = hashed_order(table, y, amounts)
        try:
            self.learn_batch(table.take(order), picked(y, order), None if amounts is None else amounts[order])
        except DataError as problem:
            if problem.row is None:
                raise
            raise problem.in_row(int(order[problem.row - self.position])) from None

    def learn(self, block: Block) -> None:
        """Learn a block from `encode(..., learn=True)`."""
        with self._changing():
            self.flush()
            self._engine.learn(block)
            self._count(block)

    def _count(self, block: Block) -> None:
        """Count the rows of a block that was learned, and its unusable values."""
        self._position += block.n
        self._require().unusable += block.unusable

    def test_then_train_batch(self, X: Any, y: Any, w: Any = None) -> Floats:
        """Probabilities of each row as they stood before it, [n, K] in the order of `labels()`; then learned.

        A row that comes before anything is learned gets zeros, unless the prior of declared classes is known.
        """
        with self._changing():
            return self.test_then_train_encoded(self.encode(X, y, w, learn=True))

    def test_then_train_encoded(self, block: Block) -> Floats:
        """As `test_then_train_batch`, for a block from `encode(..., learn=True)`."""
        joint = self.test_then_train(block)
        posterior(joint, self._require().canonical_classes()[0], 0.0)
        return joint

    def test_then_train(self, block: Block) -> Floats:
        """[n, K] log P(c, x) as it stood before each row, classes in storage order; then the row is learned."""
        with self._changing():
            self.flush()
            joint = self._engine.test_then_train(block)
            self._count(block)
        return joint

    def refresh(self) -> Self:
        """Search every reading now, rather than at the next refresh point."""
        with self._changing():
            self.flush()
            if self.started:
                self._engine.refresh()
        return self

    # -- predicting --

    def joint_log_proba(self, block: Block) -> Floats:
        """[n, K] log P(c, x) up to a constant per row, classes in storage order. Changes nothing."""
        return self.reading(self._joint_log_proba, block)

    def _joint_log_proba(self, block: Block) -> Floats:
        # The engine is looked up here, when no thread changes the model any more
        return self._engine.joint_log_proba(block)

    def reading(self, work: Callable[..., Result], *args: Any) -> Result:
        """The result of `work(*args)`, which encodes and predicts, while no thread changes the model.

        The first prediction after something was learned flushes pending records and refreshes stale readings, under a
        lock; from then on any number of threads predict at once. Inside `work` only functions without this lock may
        be called: `encode`, those of the engine, `_proba`.
        """
        sync = self._sync
        readers = sync.readers
        readers.append(None)  # registered before `synced` is read: see `Sync`
        try:
            if sync.synced:
                return work(*args)
        finally:
            readers.pop()
        with sync.lock:
            self.flush()
            result = work(*args)
            sync.synced = True
        return result

    def proba(self, block: Block) -> Floats:
        """[n, K] class probabilities in the order of `labels()`; uniform before anything is learned."""
        return self.reading(self._proba, block)

    def _proba(self, block: Block) -> Floats:
        joint = self._engine.joint_log_proba(block)
        posterior(
            joint, self._require().canonical_classes()[0], 1.0 / max(1, len(self.schema_.classes.values))
        )
        return joint

    def decide(self, proba: Floats) -> NDArray[np.intp]:
        """Positions in `labels()` of the decided classes, -1 for no answer; the most probable without a `decision`."""
        if not proba.shape[1]:
            raise NotFittedError(
                f"this {type(self).__name__} has met no class yet; learn labelled rows first"
            )
        rule: Decision | None = getattr(self, "decision", None)
        return proba.argmax(axis=1) if rule is None else rule.decide(self.labels(), proba)

    def tell_unknown_classes(self) -> None:
        """Warn if the parameter `decision` names a class that was not seen; call this at the end of the data."""
        rule: Decision | None = getattr(self, "decision", None)
        if rule is not None:
            tell_unknown(rule, self.labels() if self.started else [])

    # -- whole models --

    def blank(self) -> Self:
        """A model of the same parameters that has learned nothing."""
        return type(self)(**copy.deepcopy(self.get_params(deep=False)))
