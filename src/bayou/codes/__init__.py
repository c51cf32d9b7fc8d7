"""Code books for error-correcting output codes: which classes each binary classifier separates.

>>> from bayou.codes import BCH
>>> BCH(bits=15).rows(4).shape, BCH(bits=15).min_distance(4)
((4, 15), 7.0)
"""

from bayou.codes.bch import BCH
from bayou.codes.code import Code, distances
from bayou.codes.columns import Columns, useful_columns
from bayou.codes.decompositions import GivenCode, OneVsAll, OneVsOne
from bayou.codes.fitted import confused_pairs, fitted_columns
from bayou.codes.names import code_recipe
from bayou.codes.random_code import RandomCode
from bayou.codes.slepian import coset_leaders, is_linear, nearest, standard_array

__all__ = [
    "BCH",
    "Code",
    "Columns",
    "GivenCode",
    "OneVsAll",
    "OneVsOne",
    "RandomCode",
    "code_recipe",
    "confused_pairs",
    "coset_leaders",
    "distances",
    "fitted_columns",
    "is_linear",
    "nearest",
    "standard_array",
    "useful_columns",
]
