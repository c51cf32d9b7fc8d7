"""Models that are evaluated side by side: their names, and the baselines that run along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bayou.classifiers.baselines import MajorityClass, NoChange
from bayou.classifiers.estimator import Estimator
from bayou.errors import SchemaError

Models = Estimator | Sequence[Estimator] | Mapping[str, Estimator]


def named(models: Models) -> dict[str, Estimator]:
    """Models by name; those given without one are called as they print.

    >>> list(named([MajorityClass(), MajorityClass()]))
    ['MajorityClass', 'MajorityClass 2']
    """
    if isinstance(models, Mapping):
        chosen = dict(models)
    else:
        chosen = {}
        for model in [models] if isinstance(models, Estimator) else models:
            name = spare = repr(model).removesuffix("()")
            number = 2
            while spare in chosen:
                spare, number = f"{name} {number}", number + 1
            chosen[spare] = model
    if not chosen:
        raise SchemaError("there is no model to evaluate; give at least one")
    for name, model in chosen.items():
        if not isinstance(model, Estimator):
            raise SchemaError(f"{name[:80]!r} is no classifier of bayou but {type(model).__name__}")
    if len({id(model) for model in chosen.values()}) < len(chosen):
        raise SchemaError("the same model is given twice; give copies, since each learns as it goes")
    return chosen


def with_baselines(models: Mapping[str, Estimator]) -> tuple[dict[str, Estimator], set[str]]:
    """The models, then no-change and the majority class unless they are among them; the names added."""
    everyone = dict(models)
    added = set()
    for name, kind in (("no-change", NoChange), ("majority", MajorityClass)):
        if name not in everyone and not any(type(model) is kind for model in everyone.values()):
            everyone[name] = kind()
            added.add(name)
    return everyone, added
