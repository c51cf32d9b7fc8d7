"""The estimator: a classifier as users meet it."""

from bayou.classifiers.algebra import Algebra
from bayou.classifiers.inspectable import Inspectable
from bayou.classifiers.params import Parameterised
from bayou.classifiers.river_dialect import RiverDialect
from bayou.classifiers.sklearn_dialect import SklearnDialect


class Estimator(SklearnDialect, RiverDialect, Algebra, Inspectable):
    """A classifier in scikit-learn's and in River's dialect, with the algebra of learned models and an engine inside.

    Every exported classifier derives from this class and gives its parameters, and either `views()`, the sufficient
    statistics it keeps and how they are read, or `build_engine()`.
    """

    def __dir__(self) -> list[str]:
        """What users need: verbs, parameters and fitted attributes, without what other parts of the library call.

        A class that says what it offers (`_offers`) shows that much of its own names; of any other, all its public
        methods and properties are shown, unless they only fill in what a class before it does not offer.
        """
        shown, met = set(self.parameter_names()), set(Parameterised.__dict__)
        for cls in reversed(type(self).__mro__):
            new = {name for name, value in vars(cls).items() if name not in met and not _is_plain(value)}
            shown |= set(vars(cls).get("_offers", new))
            met |= set(vars(cls))
        shown |= {name for name in vars(self) if name.endswith("_")}
        return sorted({"get_params", "set_params"} | {name for name in shown if not name.startswith("_")})


def _is_plain(value: object) -> bool:
    """Whether a class attribute is a mere value, neither a method nor a property."""
    return not (callable(value) or isinstance(value, property | classmethod | staticmethod))
