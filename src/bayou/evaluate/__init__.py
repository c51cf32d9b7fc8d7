"""Evaluation: test-then-train, hold-out, cross-validation, and what they found as data, text and HTML."""

from bayou.evaluate.crossval import CrossValidation, compare, cross_validate
from bayou.evaluate.delayed import Delayed
from bayou.evaluate.evaluation import Evaluation
from bayou.evaluate.holdout import holdout
from bayou.evaluate.prequential import Prequential, Progress, prequential
from bayou.evaluate.result import Result

__all__ = [
    "CrossValidation",
    "Delayed",
    "Evaluation",
    "Prequential",
    "Progress",
    "Result",
    "compare",
    "cross_validate",
    "holdout",
    "prequential",
]
