"""A classifier as users meet it: the model, in both dialects."""

from bayou.classifiers.river_dialect import RiverDialect
from bayou.classifiers.sklearn_dialect import SklearnDialect


class Shell(SklearnDialect, RiverDialect):
    """What every exported classifier derives from, directly or through `BayesClassifier`."""
