"""Random Bayesian networks over pair and triple counts, after the idea of random forests."""

from __future__ import annotations

from bayou.classifiers.joint import JointClassifier, Prior
from bayou.engines.joint import JointViews
from bayou.errors import SchemaError
from bayou.readings.random_networks import RandomParents
from bayou.schema import Declared
from bayou.summaries.grid import Grid
from bayou.summaries.joint_counts import MAX_BYTES
from bayou.views.backed_off import BackedOff
from bayou.views.searched_collection import SearchedCollection
from bayou.views.view import AnyView
from bayou.views.weighted_networks import WeightedNetworks

MOST = 1000


class RandomNetworks(JointClassifier):
    r"""Random Bayesian networks, each column with two parents p and q besides the class.

    $P(c) \prod_i \frac{1}{M} \sum_m P(x_i | c, x_{p_m(i)}, x_{q_m(i)})$.

    What a random forest is to a tree, this is to tree augmented naive Bayes. In each of M networks the columns are
    put in a random order, columns informative about the class tending to come early, and each draws its parents among
    those before it, in proportion to their mutual information given the class. A column is read as the mean over the
    networks. Networks are drawn at refresh points, by hashes, from the counts of pairs; their probabilities are
    always current. It combines well with a forest: `Pool([CountForest(), RandomNetworks()])`, which also learns how
    much to trust each.

    Parameters
    ----------
    networks
        Number of networks, M.
    parents
        Parents of each column in a network, besides the class: 1 or 2.
    smoothing
        Pseudo-count per value (1 is Laplace's rule, 0.5 Jeffreys'), or `"back-off"`: each estimate is smoothed towards
        the one with one parent fewer, by a pseudo-count that is fitted to the counts (leave-one-out likelihood) at
        refresh points.
    prior
        Class prior: `"empirical"` (N_c / N), `"laplace"`, or a mapping from every class to its probability.
    numeric
        How numeric columns are cut into intervals: `"frequency"` (eight intervals of equal weight over the first 200
        rows), `"width"` (three intervals of equal width over the range of the first 500 rows, as in the literature), or
        a `Grid`.
    max_bytes
        Limit for the tables of counts, in bytes; a model that would exceed it is refused.
    seed
        Seed of the random orders and parents.
    weighted
        Whether columns and parents have weights that are learned on the stream: the log-odds of a column given the
        class alone, what one parent adds and what the other adds each have a weight per class, 1 at first, which takes
        a gradient step after each row was predicted. More accurate and more confident where columns are redundant;
        slower.
    schema
        `Declared(...)`: kinds of columns, nominal values, classes and limits that are known beforehand.

    Merge and unlearn: exact after `refresh()`, which draws the networks again from the counts; with `weighted` the
    weights are averaged, and rows cannot be unlearned. A missing value drops its terms. Memory: 8 bytes per triple of
    values and class (with one parent per pair). Time: O(d³) per row to learn, O(d M K) to predict, with `weighted`
    O(d² K) more; to draw the networks, all pairs of values once, O(d² v² K) for v values a column.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown, or the tables would be larger than `max_bytes`.

    Examples
    --------
    >>> rows = [[a, b] for a in "01" for b in "01"] * 5
    >>> differ = [a != b for a, b in rows]
    >>> RandomNetworks().fit(rows, differ).predict([["0", "1"], ["1", "1"]]).tolist()
    [True, False]
    """

    def __init__(
        self,
        networks: int = 20,
        parents: int = 2,
        smoothing: float | str = 0.5,
        prior: Prior = "empirical",
        numeric: str | Grid = "frequency",
        max_bytes: int = MAX_BYTES,
        seed: int = 0,
        weighted: bool = False,
        schema: Declared | None = None,
    ) -> None:
        super().__init__(smoothing, prior, "name", numeric, max_bytes, schema)
        self.networks = networks
        self.parents = parents
        self.seed = seed
        self.weighted = weighted

    def build_engine(self) -> JointViews:
        # Weights depend on when the networks are drawn: at row counts only.
        return JointViews(self.views(), self.order, refreshes_on_schema_change=not self.weighted)

    def joint_view(self) -> AnyView:
        if not (1 <= self.networks <= MOST and self.parents in (1, 2)):
            raise SchemaError(f"{self!r}: networks lie between 1 and {MOST:,}, parents are 1 or 2")
        counts, parents = (
            self.counts(1 + self.parents),
            RandomParents(self.networks, self.parents, self.seed),
        )
        if self.backs_off and not self.weighted:
            return BackedOff(counts, parents)
        return (WeightedNetworks if self.weighted else SearchedCollection)(counts, parents, self.alpha)
