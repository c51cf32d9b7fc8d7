"""Hidden naive Bayes (Zhang, Jiang and Su, 2005): an example of a classifier in one file.

It needs no counts of its own: it is another way to read the pair counts that AODE, TAN and FANC keep.
"""

from __future__ import annotations

from dataclasses import dataclass

from bayou.classifiers.joint import JointClassifier
from bayou.readings.parent_sets import ParentSetTable
from bayou.readings.structure import information, met_columns, rounded
from bayou.summaries.joint_counts import JointCounts
from bayou.views.searched_collection import SearchedCollection
from bayou.views.view import AnyView


@dataclass(frozen=True)
class HiddenParents:
    r"""Every other column as a parent, with the weight $I(X_i; X_j | C) / \sum_k I(X_i; X_k | C)$."""

    def search(self, summary: JointCounts) -> ParentSetTable:
        columns = met_columns(summary).tolist()
        weight = rounded(information(summary))
        sets = []
        for i in range(len(summary.sizes)):
            others = [j for j in columns if j != i and weight[i, j] > 0.0]
            total = sum(float(weight[i, j]) for j in others)
            sets += [(i, j, -1, float(weight[i, j]) / total) for j in others] or [(i, -1, -1, 1.0)]
        return ParentSetTable.of(sets, len(summary.sizes))


class HNB(JointClassifier):
    r"""Naive Bayes in which every column has a hidden parent that mixes all others.

    $P(c, x) = P(c) \prod_i \sum_{j \ne i} W_{ij} P(x_i | x_j, c)$. The weights are searched at refresh points, the
    probabilities are always current. A column that depends on no other is read with the class alone.

    Merge: exact (the weights are searched again). Memory: 8 bytes per pair of values and class.

    Examples
    --------
    >>> model = HNB().fit([["a", "b"], ["a", "c"], ["d", "b"], ["d", "c"]] * 5, [0, 1, 1, 0] * 5)
    >>> model.predict([["a", "b"], ["d", "b"]]).tolist()
    [0, 1]
    """

    def joint_view(self) -> AnyView:
        return SearchedCollection(self.counts(2), HiddenParents(), self.smoothing)
