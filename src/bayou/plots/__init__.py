"""Each picture of the report on its own, drawn by matplotlib (`pip install "bayou[plot]"`).

Every function takes what it draws and, optionally, the axes to draw on, and returns the axes.

>>> from bayou import plots
>>> sorted(plots.__all__)[:3]
['attribute', 'calibration', 'confusion']
"""

from bayou.plots.evaluations import calibration, confusion, learning_curves, per_class, precision_recall, roc
from bayou.plots.explanations import explanation
from bayou.plots.models import attribute, information, structure, weights, words

__all__ = [
    "attribute",
    "calibration",
    "confusion",
    "explanation",
    "information",
    "learning_curves",
    "per_class",
    "precision_recall",
    "roc",
    "structure",
    "weights",
    "words",
]
