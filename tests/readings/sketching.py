"""Small classifiers made of the views under test."""

from __future__ import annotations

from dataclasses import replace

from bayou.classifiers.estimator import Estimator
from bayou.densities.gaussian import Gaussian
from bayou.readings.categorical import CategoricalEstimator
from bayou.readings.cell_groups import CellGroups
from bayou.readings.groups import Groups
from bayou.readings.modl import MODL
from bayou.readings.prior import CountedPrior
from bayou.readings.sketched import CountMinSketch, Sketch, SketchedTable
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.heavy_hitters import HeavyHitters
from bayou.summaries.value_counts import ValueCounts
from bayou.views.live_cells import LiveCells
from bayou.views.view import Live


class Tight(HeavyHitters):
    """Room for two values only."""

    capacity = property(lambda self: 2)


class SketchedNB(Estimator):
    """Naive Bayes over plain counts, sketches or tight sketches, read as tables or as groups."""

    def __init__(self, nominal="sketch", groups=None, schema=None):
        self.nominal, self.groups, self.schema = nominal, groups, schema

    def declared(self):
        return replace(super().declared(), hash_values=self.nominal != "counts")

    def views(self):
        summaries = {
            "counts": ValueCounts,
            "sketch": Sketch().summary,
            "tight": Tight,
            "count-min": CountMinSketch(0.01).summary,
        }
        summary = summaries[self.nominal]()
        table = (
            CategoricalEstimator() if self.nominal == "counts" else SketchedTable.like(CategoricalEstimator())
        )
        groups = CellGroups if self.nominal == "count-min" else Groups
        reader = groups(self.groups) if self.groups else None
        view = LiveCells(summary, reader, reader.smoothing) if reader else Live(summary, table)
        return {
            "classes": Live(ClassCounts(), CountedPrior()),
            "numeric": Gaussian().view(MODL()),
            "nominal": view,
        }
