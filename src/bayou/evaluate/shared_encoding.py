"""Models with equal schemas: a batch is encoded once for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bayou.block import Block, Floats
from bayou.classifiers.estimator import Estimator
from bayou.schema import Growth, Kind, Schema, Vocabulary


class SharedEncoding:
    """Models with equal schemas that are given the same rows, so that their schemas stay equal.

    Each keeps a schema of its own and learns on its own afterwards; what they share is a block and nothing else,
    as the members of an ensemble do. The bits are those of a model that encodes for itself.

    Examples
    --------
    >>> from bayou.classifiers import NaiveBayes
    >>> (shared,) = shared_encodings({"nb": NaiveBayes(), "plain": NaiveBayes(smoothing=2.0)})
    >>> block = shared.encode([{"sky": "blue"}, {"sky": "grey"}], ["dry", "wet"], learn=True)
    >>> for name in shared.models: shared.learn(name, block)
    >>> [model.predict_one({"sky": "grey"}) for model in shared.models.values()]
    ['wet', 'wet']
    """

    def __init__(self, models: Mapping[str, Estimator]) -> None:
        self.models = models

    def encode(self, X: Any, y: Any = None, *, learn: bool = False) -> Block:
        """The batch, encoded by the common schema; with `learn`, what is new is added to each model's schema first."""
        block, growth = self._encoded(X, y, self.position, learn)
        if learn:
            self.admit(growth)
        return block

    @property
    def position(self) -> int:
        """The number of rows that the models have seen."""
        return next(iter(self.models.values())).position

    def encode_ahead(self, X: Any, y: Any, start: int) -> tuple[Block, Growth]:
        """The rows from number `start` on, encoded to be learned, and what is new in them, for `admit`.

        Meanwhile the models may learn the rows before `start` in another thread.
        """
        return self._encoded(X, y, start, True)

    def admit(self, growth: Growth) -> None:
        """Add what is new in a batch to each model's schema."""
        for model in self.models.values():
            model.admit(growth)

    def _encoded(self, X: Any, y: Any, start: int, learn: bool) -> tuple[Block, Growth]:
        first, *others = self.models.values()
        return first.encode_shared(X, y, start, learn=learn, others=tuple(others))

    def same_classes(self, other: SharedEncoding) -> bool:
        """Whether the models of both know the same classes by the same codes."""
        one, two = (next(iter(group.models.values())).schema_.classes for group in (self, other))
        return _same(one, two)

    def learn(self, name: str, block: Block) -> None:
        """Let one model learn rows that `encode` returned with `learn=True`."""
        self.models[name].learn(block)

    def test_then_train(self, name: str, block: Block) -> Floats:
        """The result of one model's `test_then_train_batch`, for rows that `encode` returned with `learn=True`."""
        return self.models[name].test_then_train_encoded(block)


def shared_encodings(models: Mapping[str, Estimator]) -> list[SharedEncoding]:
    """The models in groups of equal schemas; models that have not been started are started."""
    groups: list[dict[str, Estimator]] = []
    for name, model in models.items():
        if not model.started:
            model.reset()
        model.flush()
        for members in groups:
            if _encode_alike(model, next(iter(members.values()))):
                members[name] = model
                break
        else:
            groups.append({name: model})
    return [SharedEncoding(members) for members in groups]


def _encode_alike(one: Estimator, other: Estimator) -> bool:
    return (
        one.position == other.position
        and one.numbers_are_words == other.numbers_are_words
        and _equal(one.schema_, other.schema_)
    )


def _equal(one: Schema, other: Schema) -> bool:
    """Whether two schemas are equal, and will grow equally."""
    return (
        all(
            getattr(one.declared, name) == getattr(other.declared, name)
            for name in ("max_classes", "max_values", "max_words", "max_columns", "hash_values")
        )
        and one.closed == other.closed
        and list(one.place.items()) == list(other.place.items())
        and _same(one.classes, other.classes)
        and all(one.text_recipe(name) == other.text_recipe(name) for name in one.names(Kind.TEXT))
        and all(_same(words, other.vocabularies[name]) for name, words in one.vocabularies.items())
    )


def _same(one: Vocabulary, other: Vocabulary) -> bool:
    return (one.codes, one.limit, one.overflowed, one.declared) == (
        other.codes,
        other.limit,
        other.overflowed,
        other.declared,
    )
