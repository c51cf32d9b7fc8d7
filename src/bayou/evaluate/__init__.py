"""Evaluation: test-then-train, hold-out, cross-validation, and their results as data, text and HTML."""

from __future__ import annotations

from bayou.evaluate.evaluation import Evaluation
from bayou.evaluate.holdout import holdout
from bayou.evaluate.prequential import Prequential, Progress, prequential
from bayou.evaluate.result import Result
from bayou.lazy import offered_names

# Late labels are read from brokers, whose modules take .1 s to import.
_LATER, __getattr__ = offered_names(
    "bayou.evaluate",
    {
        "bayou.evaluate.crossval": "CrossValidation compare cross_validate",
        "bayou.evaluate.delayed": "Delayed",
    },
)

__all__ = [  # some of the names are imported at their first use
    "Evaluation",
    "Prequential",
    "Progress",
    "Result",
    "holdout",
    "prequential",
    *_LATER,
]
