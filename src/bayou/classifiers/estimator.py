"""The estimator: a classifier as users meet it."""

from bayou.classifiers.algebra import Algebra
from bayou.classifiers.river_dialect import RiverDialect
from bayou.classifiers.sklearn_dialect import SklearnDialect


class Estimator(SklearnDialect, RiverDialect, Algebra):
    """A classifier in scikit-learn's and in River's dialect, with the algebra of learned models and an engine inside.

    Every exported classifier derives from this class and gives its parameters, and either `views()`, the sufficient
    statistics it keeps and how they are read, or `build_engine()`.
    """
