"""Engines learn from encoded blocks and predict them; tables, records and labels of users are left to the estimator.

`Views` is the engine of naive Bayes and its kin: a collection of fitted views whose log-probabilities add up.
`Members` is the base of ensembles: an engine that holds engines over one schema.
"""

from bayou.engines.engine import Engine, views_of
from bayou.engines.members import Members
from bayou.engines.views import Views

__all__ = ["Engine", "Members", "Views", "views_of"]
