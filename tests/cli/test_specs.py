"""Models as people write them: read by grammar, never evaluated."""

from __future__ import annotations

import pytest

from bayou.classifiers import NaiveBayes
from bayou.cli import specs
from bayou.cli.console import UsageError
from bayou.recipes import MEstimate


def test_every_classifier_has_one_short_name() -> None:
    from bayou import classifiers

    known = specs.classifiers()
    assert {cls.__name__ for cls in known.values()} >= set(classifiers.__all__)
    assert known["nb"] is NaiveBayes
    assert specs.short_name("HoeffdingTree") == "tree"
    assert all(name == name.lower() and " " not in name for name in known)


@pytest.mark.parametrize(
    ("spec", "model"),
    [
        ("nb", NaiveBayes()),
        ("NaiveBayes()", NaiveBayes()),
        (" nb ( smoothing = 0.5 ) ", NaiveBayes(smoothing=0.5)),
        ("nb(prior=laplace)", NaiveBayes(prior="laplace")),
        ("nb(prior='laplace')", NaiveBayes(prior="laplace")),
        ("nb(prior={'a': 0.25, 'b': 0.75})", NaiveBayes(prior={"a": 0.25, "b": 0.75})),
        ("nb(smoothing=MEstimate(2))", NaiveBayes(smoothing=MEstimate(2))),
        ("nb(smoothing=MEstimate(m=2.5e-1))", NaiveBayes(smoothing=MEstimate(m=0.25))),
    ],
)
def test_what_can_be_written(spec: str, model: NaiveBayes) -> None:
    ((name, found),) = specs.models([spec]).items()
    assert name == spec.strip()
    assert repr(found) == repr(model)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nbb", "did you mean nb"),
        ("nb(smothing=1)", "did you mean smoothing"),
        ("nb(smoothing=__import__('os').getcwd())", "cannot read"),
        ("nb(smoothing=open('x'))", "cannot read"),
        ("nb(smoothing=[x for x in range(9)])", "cannot read"),
        ("nb(smoothing=(lambda: 1)())", "cannot read"),
        ("nb(smoothing=1", "cannot read"),
        ("nb(smoothing=1); import os", "cannot read"),
        ("nb).__class__(x", "cannot read"),
        ("nb(1, 2, 3, 4, 5, 6, 7, 8, 9)", "cannot make"),
        ("nb(**{'smoothing': 1})", "no option 'None'"),
        ("", "no model"),
        ("nb,nb", "given twice"),
        ("(" * 500, "cannot read"),
    ],
)
def test_what_cannot(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        specs.models([spec])


def test_commas_inside_brackets_and_quotes_do_not_split() -> None:
    assert specs.split_specs("a(x=[1, 2], y='p,q'), b , c(d=(1,2))") == [
        "a(x=[1, 2], y='p,q')",
        "b",
        "c(d=(1,2))",
    ]


def test_models_inside_models() -> None:
    class Wrapped:
        def __init__(self, estimator: object = None, members: int = 3) -> None:
            self.estimator, self.members = estimator, members

    known = {**specs.classifiers(), "wrapped": Wrapped}
    made = specs.build("wrapped(nb(smoothing=2.0), members=5)", known, "model", "")
    assert repr(made.estimator) == "NaiveBayes(smoothing=2.0)"
    assert made.members == 5
    assert repr(specs.build("wrapped(estimator=nb)", known, "model", "").estimator) == "NaiveBayes()"
    both = specs.models(["forest-and-networks"])["forest-and-networks"]
    assert repr(both) == "Pool(estimators=[CountForest(), RandomNetworks()])"
    assert (
        repr(specs.build("wrapped([nb, 3, word])", known, "model", "").estimator)
        == "[NaiveBayes(), 3, 'word']"
    )
