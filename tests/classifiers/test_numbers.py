"""Numbers as parameters: whole ones where floats are meant, and ones beyond all that a kernel takes."""

from __future__ import annotations

import inspect
from contextlib import suppress

import pytest

import bayou
from bayou import AODE, AdaGrad, Bagging, BernoulliNB, GKClass, Grid, NaiveBayes, WeightedNB, WeightedVoting
from bayou.classifiers import __all__ as classifiers
from bayou.ensembles import __all__ as ensembles
from bayou.errors import BayouError, SchemaError
from bayou.kernels.warming import all_kernels

ROWS = [{"x": 1.0, "sky": "u"}, {"x": 2.0, "sky": "v"}, {"x": 1.5, "sky": "u"}] * 4
LABELS = ["p", "q", "p"] * 4


def used(model):
    model.learn_many(ROWS, LABELS)
    model.test_then_train_batch(ROWS, LABELS)
    return model.predict_proba_many(ROWS)


def defaults(cls):
    return {name: parameter.default for name, parameter in inspect.signature(cls).parameters.items()}


@pytest.mark.parametrize("name", sorted({*classifiers, *ensembles}))
def test_a_number_beyond_all_is_taken_or_refused_in_a_sentence(name):
    """No error comes from inside Numba or NumPy, whichever parameter it is."""
    cls = getattr(bayou, name)
    for parameter, default in defaults(cls).items():
        for value in (10**30, -(10**30), 10**400):
            if default is None or isinstance(default, int | float):
                with suppress(BayouError):
                    used(cls(**{parameter: value}))


@pytest.mark.parametrize(
    "model",
    [
        BernoulliNB(alpha=10**30),
        WeightedNB(rate=AdaGrad(eta=10**30)),
        AODE(numeric=Grid(warm_up=10**30)),
        Bagging(NaiveBayes(GKClass(tuples=10**30))),
        WeightedVoting([NaiveBayes(), AODE()], weights=[10**30, 1]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_whole_numbers_of_more_than_64_bits_are_refused_wherever_they_stand(model):
    with pytest.raises(SchemaError, match="is a whole number of 100 bits"):
        used(model)


@pytest.mark.parametrize("name", sorted({*classifiers, *ensembles}))
def test_a_whole_number_in_place_of_a_float_gives_the_same_bits_by_the_same_kernels(name):
    """Kernels are compiled, and shipped, for floats: whoever writes 1 for 1.0 must not wait for a compiler."""
    cls = getattr(bayou, name)
    for parameter, default in defaults(cls).items():
        if isinstance(default, float):
            for whole in (1, 2):
                with suppress(BayouError):
                    expected, before = used(cls(**{parameter: float(whole)})), compiled()
                    assert used(cls(**{parameter: whole})) == expected
                    assert compiled() == before


def compiled():
    """Every kernel there is in this process, with the types it is compiled for."""
    return {(name, types) for name, kernel in all_kernels() for types in kernel.overloads}
