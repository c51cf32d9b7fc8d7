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

_FIRST = Lock()
# what beginning anew sets: the state, and the columns that scikit-learn's dialect has met
_BEGUN = ("_encoder", "_engine", "_position", "n_features_in_", "feature_names_in_")
Answer = TypeVar("Answer")


class EstimatorCore(Parameterised):
    """Encodes what users hold into blocks, lets the schema grow, and has one engine, which learns and predicts blocks.

    Records learned one at a time wait in an array of the encoder's that nobody can notice: bits never depend on how
    rows are cut into blocks, and whoever looks at the model has them learned first (`flush`).
    """

    _offers: ClassVar[tuple[str, ...]] = (
        "law", "memory_bytes", "position", "unusable", "schema_", "labels", "test_then_train_batch", "refresh", "reset",
    )  # what `dir(model)` shows of this class; see `Estimator.__dir__`  # fmt: skip
    numbers_are_words: ClassVar[bool] = False
    _encoder: Encoder | None = None
    _engine: Engine
    _position = 0
    _sync: Sync = None  # type: ignore[assignment] # made by `_changing`, so there wherever something is learned

    # -- what a subclass gives --

    def views(self) -> Mapping[str, AnyView]:
        """The summaries and how they are read: all a new classifier has to give."""
        raise NotImplementedError

    def build_engine(self) -> Engine:
        """An engine as the parameters want it, which has learned nothing."""
        return Views(self.views())

    def declared(self) -> Declared:
        """What the user declared; the parameter `schema`, where the classifier has one."""
        return getattr(self, "schema", None) or Declared()

    # -- state --

    def __getstate__(self) -> dict[str, Any]:
        """A copy of everything: whoever pickles or copies it sees one state, while other threads learn on."""
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
        """Take a pickled state; arrays that came back read-only (from a memory map) are made our own."""
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
        """What learns and predicts, with every record learned that was given to `learn_one`."""
        self._require()
        self.flush()
        return self._engine

    @property
    def law(self) -> MergeLaw:
        """What `merge` promises in the present state."""
        return self._engine.law if self.started else self._built().law

    @property
    def depends_on_order(self) -> bool:
        """Whether another order of the rows teaches something else, by more than rounding and bounded errors.

        It does where a classifier learns from its own predictions, cuts its columns by the first rows, forgets, or is
        a tree, or is made of such. `fit`, `holdout` and
        `cross_validate` then present the rows of a table in a hashed order: that of a table means
        nothing, and one sorted by class is ordinary.
        """
        return (self._engine if self.started else self._built()).depends_on_order

    def reset(self, declared: Declared | None = None) -> None:
        """Forget everything and begin anew, with what is declared."""
        with self._types_refused():
            declared = declared or self.declared()
        if not isinstance(declared, Declared):
            raise SchemaError(f"schema={declared!r}; it is a Declared(...), or None")
        self.begin(Schema(declared))

    def begin(self, schema: Schema, engine: Engine | None = None) -> None:
        """Begin, with nothing learned, over a schema that becomes the model's own, as does an engine that is given."""
        check_rule(getattr(self, "decision", None))
        engine = self._built(schema, engine)
        with self._changing():
            self._take(schema, engine, 0)

    def _built(self, schema: Schema | None = None, engine: Engine | None = None) -> Engine:
        """A new engine, or the one that is given, over a schema if one is given."""
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
        """Inside `with self._changing()` no other thread changes the model or predicts with it."""
        if self._sync is None:
            with _FIRST:  # of two threads that begin, one makes it
                self._sync = self._sync or Sync()
        return self._sync

    def locked(self) -> Sync:
        """Inside `with model.locked()` other threads that want to change the model or to predict with it wait."""
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
        """Rows met so far: the stream number of the next one."""
        return self._position + (0 if self._encoder is None else self._encoder.records.waiting)

    @property
    def unusable(self) -> int:
        """How many huge or infinite values were taken as missing."""
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
        """Columns and classes met so far."""
        return self._require().schema

    def labels(self) -> list[Label]:
        """Classes in canonical order, the order of all probabilities users see."""
        return list(self._require().canonical_classes()[1])

    def encode(self, X: Any, y: Any = None, w: Any = None, *, learn: bool = False) -> Block:
        """A batch as a block of this model's schema; with `learn`, what is new is added to the schema first."""
        if learn and self._encoder is None:
            with self.unchanged_on_failure():
                self.reset()
                return self.encode(X, y, w, learn=True)
        encoder = self._require()
        if not learn:  # rows to predict are numbered as they are given, and bring nothing
            return encoder.encode(X, y, w)[0]
        with self._changing():
            self.flush()
            block, growth = encoder.encode(X, y, w, start=self._position, learn=True)
            self.admit(growth)
        return block

    @contextmanager
    def unchanged_on_failure(self) -> Iterator[None]:
        """Be as before if what begins anew inside fails: its state is made of new objects."""
        with self._changing():
            # Not of `__dict__`: once it is asked for, every attribute takes four times as long to reach.
            before = {name: getattr(self, name) for name in _BEGUN if hasattr(self, name)}
            try:
                yield
            except BaseException:
                for name in _BEGUN:
                    own = name in before and before[name] is not getattr(type(self), name, None)
                    if own:
                        setattr(self, name, before[name])
                    elif hasattr(self, name):
                        with suppress(AttributeError):  # the class has it, the model does not
                            delattr(self, name)
                raise

    def encode_shared(
        self, X: Any, y: Any = None, *, learn: bool = False, others: tuple[EstimatorCore, ...] = ()
    ) -> Block:
        """Like `encode`, for this model and others that have an equal schema: each of them grows alike."""
        encoder = self._require()
        before = encoder.unusable
        block, growth = encoder.encode(X, y, None, start=self.position, learn=learn)
        for model in others:
            model._require().unusable += encoder.unusable - before
        if learn:
            for model in (self, *others):
                model.admit(growth)
        return block

    def admit(self, growth: Growth) -> None:
        """Add to the schema what a batch brings, and make room for it."""
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
        """Learn the records that wait."""
        if self._encoder is None or not self._encoder.records.waiting:
            return
        with self._changing():
            encoder, engine = self._require(), self._engine
            records, count = encoder.records, encoder.records.waiting
            learned = -1 if engine.packed is None else engine.packed.learn(records.rows, count)
            if learned >= 0:
                self._learned(learned)
            elif count:
                engine.learn(encoder.waiting(self._position))
                self._position += count

    def _learned(self, rows: int) -> None:
        """The records that waited were learned as packed rows, of which so many taught something."""
        records = self._require().records
        cast(Views, self._engine).rows += rows
        self._position += records.waiting
        records.waiting = 0

    def learn_batch(self, X: Any, y: Any, w: Any = None) -> None:
        """Encode and learn; a batch with one bad row changes nothing."""
        with self._changing():
            self.learn(self.encode(X, y, w, learn=True))

    def learn_in_hashed_order(self, X: Any, y: Any, w: Any = None) -> None:
        """As `learn_batch`, the rows in the order of `hashed_order`; errors name rows as they were given."""
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
        """Learn rows that `encode` gave with `learn`."""
        with self._changing():
            self.flush()
            self._engine.learn(block)
            self._position += block.n

    def test_then_train_batch(self, X: Any, y: Any, w: Any = None) -> Floats:
        """Probabilities of each row as they stood before it, [n, K] in the order of `labels()`; then learned.

        A row that comes before anything is learned gets zeros, unless the prior of declared classes is known.
        """
        with self._changing():
            return self.test_then_train_encoded(self.encode(X, y, w, learn=True))

    def test_then_train_encoded(self, block: Block) -> Floats:
        """As `test_then_train_batch`, for rows that `encode` gave with `learn`."""
        joint = self.test_then_train(block)
        posterior(joint, self._require().canonical_classes()[0], 0.0)
        return joint

    def test_then_train(self, block: Block) -> Floats:
        """[n, K] log P(c, x) as it stood before each row, classes in storage order; then the row is learned."""
        with self._changing():
            self.flush()
            joint = self._engine.test_then_train(block)
            self._position += block.n
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
        # Of the engine there is when nobody changes the model any more
        return self._engine.joint_log_proba(block)

    def reading(self, work: Callable[..., Answer], *given: Any) -> Answer:
        """What `work`, which encodes and predicts, answers to what is given, while no thread changes the model.

        The first prediction after something was learned flushes pending records and refreshes stale readings, under a
        lock; from then on any number of threads predict at once. Inside `work` only what takes no part in this is
        asked: `encode`, the engine, `_proba`.
        """
        sync = self._sync
        readers = sync.readers
        readers.append(None)  # announced before looking: see `Sync`
        try:
            if sync.synced:
                return work(*given)
        finally:
            readers.pop()
        with sync.lock:
            self.flush()
            answer = work(*given)
            sync.synced = True
        return answer

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
        """Positions in `labels()` of the decided classes, -1 for no answer; `decision`, where there is one, rules."""
        if not proba.shape[1]:
            raise NotFittedError(
                f"this {type(self).__name__} has met no class yet; learn labelled rows first"
            )
        rule: Decision | None = getattr(self, "decision", None)
        return proba.argmax(axis=1) if rule is None else rule.decide(self.labels(), proba)

    def tell_unknown_classes(self) -> None:
        """Warn if the parameter `decision` names a class that was not met; not while a stream may still bring it."""
        rule: Decision | None = getattr(self, "decision", None)
        if rule is not None:
            tell_unknown(rule, self.labels() if self.started else [])

    # -- whole models --

    def blank(self) -> Self:
        """A model of the same parameters that has met nothing."""
        return type(self)(**copy.deepcopy(self.get_params(deep=False)))
