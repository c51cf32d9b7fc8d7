"""The base class of all classifiers: scikit-learn's and River's methods, merging and inspection."""

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
        """Public methods, parameters and fitted attributes, without names that only other parts of the library use.

        A class with `_offers` shows those of its names; any other class shows all its public methods and properties,
        except those it overrides, which are shown only if the overridden class offers them.
        """
        shown, inherited = set(self.parameter_names()), set(Parameterised.__dict__)
        for cls in reversed(type(self).__mro__):
            new = {
                name for name, value in vars(cls).items() if name not in inherited and not _is_plain(value)
            }
            shown |= set(vars(cls).get("_offers", new))
            inherited |= set(vars(cls))
        shown |= {name for name in vars(self) if name.endswith("_")}
        return sorted({"get_params", "set_params"} | {name for name in shown if not name.startswith("_")})


def _is_plain(value: object) -> bool:
    """Whether a class attribute is a mere value, neither a method nor a property."""
    return not (callable(value) or isinstance(value, property | classmethod | staticmethod))
