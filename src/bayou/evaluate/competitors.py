"""Models that are evaluated side by side: their names, and the baselines that are added."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from bayou.block import Floats
from bayou.classifiers.baselines import MajorityClass, NoChange
from bayou.classifiers.estimator import Estimator
from bayou.errors import SchemaError
from bayou.evaluate.record import Record
from bayou.schema import Label, identity_key

Models = Estimator | Sequence[Estimator] | Mapping[str, Estimator]


def named(models: Models) -> dict[str, Estimator]:
    """Models by name; a model given without a name gets its repr.

    >>> list(named([MajorityClass(), MajorityClass()]))
    ['MajorityClass', 'MajorityClass 2']
    """
    if isinstance(models, Mapping):
        chosen = dict(models)
    else:
        chosen = {}
        one = isinstance(models, Estimator | str) or not isinstance(models, Iterable)
        given: Any = [models] if one else models  # whatever it is, it is checked below
        for model in given:
            name = free = repr(model).removesuffix("()")
            number = 2
            while free in chosen:
                free, number = f"{name} {number}", number + 1
            chosen[free] = model
    if not chosen:
        raise SchemaError("there is no model to evaluate; give at least one")
    for name, model in chosen.items():
        if not isinstance(model, Estimator):
            if isinstance(model, type):
                raise SchemaError(f"{model.__name__} is a class, not a model; give {model.__name__}()")
            raise SchemaError(f"{name[:80]!r} is no classifier of bayou but {type(model).__name__}")
    if len({id(model) for model in chosen.values()}) < len(chosen):
        raise SchemaError("the same model is given twice; give copies, since each learns as it goes")
    return chosen


def with_baselines(models: Mapping[str, Estimator]) -> tuple[dict[str, Estimator], set[str]]:
    """The models with no-change and the majority class added, unless they are among them, and the names added."""
    competitors = dict(models)
    added = set()
    for name, kind in (("no-change", NoChange), ("majority", MajorityClass)):
        if name not in competitors and not any(type(model) is kind for model in competitors.values()):
            competitors[name] = kind()
            added.add(name)
    return competitors, added


def has_learned_labels(model: Estimator, record: Record, labels: Sequence[Label]) -> bool:
    """Whether a model is a baseline that has learned exactly the labels that its record has counted, coded by `labels`.

    >>> model = MajorityClass().fit([[1]], ["a"])
    >>> has_learned_labels(model, Record(), [])
    False
    """
    known = model.schema_.classes.values
    if type(model) is MajorityClass:
        return _weights(known, model.arrays()["classes.weight"]) == _weights(labels, record.majority.weight)
    if type(model) is NoChange:
        return _key(known, model.arrays()["last.last"][0]) == _key(labels, record.no_change.ends[1])
    return False


def _weights(labels: Sequence[Label], weights: Floats) -> dict[Hashable, float]:
    """The weights of labels that have one, by label."""
    pairs = zip(labels, weights.tolist(), strict=True)
    return {identity_key(label): weight for label, weight in pairs if weight > 0.0}


def _key(labels: Sequence[Label], code: int) -> Hashable:
    """The identity of the label with this code; None for -1."""
    return identity_key(labels[code]) if code >= 0 else None
