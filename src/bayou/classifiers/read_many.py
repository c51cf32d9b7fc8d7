"""Several classifiers read from one set of joint counts, weighted by how well they predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from bayou.block import Floats
from bayou.classifiers.joint import JointClassifier, Prior, check_order
from bayou.engines.joint import Order
from bayou.errors import SchemaError
from bayou.kernels.track_record import leader
from bayou.readings.parent_sets import Forests, NoParents, SuperParents, TwoParents
from bayou.readings.prior import prior_reader
from bayou.readings.structure import INTERPOLATE, GreedyForest, SpanningTree
from bayou.schema import Declared
from bayou.summaries.grid import Grid
from bayou.summaries.joint_counts import MAX_BYTES
from bayou.views.many_readings import RATES, ManyReadings, Rule
from bayou.views.view import AnyView

READINGS: Mapping[str, Callable[[], Rule]] = {
    "nb": NoParents,
    "tan": lambda: SpanningTree(INTERPOLATE),
    "fan": lambda: GreedyForest("bayes"),
    "aode": lambda: None,
    "fanc": Forests,
    "spc": SuperParents,
    "tc": TwoParents,
}
_TRIPLES = ("spc", "tc")


class ReadMany(JointClassifier):
    r"""Naive Bayes, TAN, AODE, FANC and TC computed from the same counts in one pass, and mixed by their track records.

    Every row is predicted by every reading before it is learned. A prediction is $\sum_r v_r P_r(c | x)$ with
    $v_r \propto \exp(\text{hits of } r / 2)$: an average while the record is short, soon the best reading alone.

    Parameters
    ----------
    readings
        The classifiers that are computed from the counts: some of `"nb"`, `"tan"`, `"fan"`, `"aode"`, `"fanc"`, `"spc"`
        (with the first column as super parent), `"tc"`. Triples of columns are counted if `"spc"` or `"tc"` is among
        them.
    combine
        How the R classifiers are combined: `"hits"` (a mean weighted by $\exp(\text{hits of } r / 2)$), `"best"` (the
        one with most hits, then least log-loss, alone), or `"loss"` (a mean weighted by $\exp(-\text{log-loss of } r)$,
        whose total log-loss never exceeds that of the best one by more than log R).
    prior
        As in `FANC`; AODE has a prior of its own.
    smoothing, order, numeric, max_bytes, schema
        As in `FANC`.

    Merge: counts exact, the record averaged; cannot unlearn. Memory: 8 bytes per pair (with `"spc"` or `"tc"`:
    triple) of values and class, and 24 per reading. Time: the sum of the readings' times to predict, for learning
    as well.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown, or the tables would be larger than `max_bytes`.
    UnsupportedError
        If rows are unlearned.

    Examples
    --------
    >>> model = ReadMany(["nb", "tan"])
    >>> model = model.fit([["a", "b"], ["a", "c"], ["d", "b"], ["d", "c"]] * 9, [0, 1, 1, 0] * 9)
    >>> model.predict([["a", "b"], ["d", "b"]]).tolist(), model.best_
    ([0, 1], 'tan')
    """

    refreshes_on_schema_change = False

    def __init__(
        self,
        readings: Sequence[str] = ("nb", "tan", "aode", "fanc", "tc"),
        combine: str = "hits",
        smoothing: float = 1.0,
        prior: Prior = "empirical",
        order: Order = "name",
        numeric: str | Grid = "frequency",
        max_bytes: int = MAX_BYTES,
        schema: Declared | None = None,
    ) -> None:
        self.readings = readings
        self.combine = combine
        super().__init__(smoothing, prior, order, numeric, max_bytes, schema)

    def views(self) -> Mapping[str, AnyView]:
        check_order(self.order)
        return {"joint": self.joint_view()}

    def joint_view(self) -> AnyView:
        unknown = [name for name in self.readings if name not in READINGS]
        if unknown or not self.readings or len(set(self.readings)) < len(self.readings):
            raise SchemaError(f"readings={self.readings!r}; name some of {', '.join(READINGS)}, each once")
        if self.combine not in RATES:
            raise SchemaError(f"combine={self.combine!r}; it is one of {', '.join(map(repr, RATES))}")
        counts = self.counts(3 if any(name in _TRIPLES for name in self.readings) else 2)
        rules = {name: READINGS[name]() for name in self.readings}
        return ManyReadings(counts, rules, prior_reader(self.prior), self.alpha, self.combine)

    @property
    def record_(self) -> dict[str, dict[str, float]]:
        """The track record of every reading: rows it got right, and its log-loss in nats, over all rows learned."""
        hits, losses = self._record()[1:]
        return {
            name: {"right": float(h), "log_loss": float(x)}
            for name, h, x in zip(self.readings, hits, losses, strict=True)
        }

    @property
    def best_(self) -> str:
        """The reading with the best record."""
        return self.readings[leader(self._record())]

    def _record(self) -> Floats:
        return np.asarray(self.engine.arrays()["joint.record"])
