"""The super parent classifier (Keogh and Pazzani, 1999)."""

from __future__ import annotations

from bayou.classifiers.chosen_parent import ChosenParentClassifier
from bayou.readings.parent_sets import OneParent
from bayou.readings.prior import prior_reader
from bayou.views.chosen_parent import Choice


class SuperParent(ChosenParentClassifier):
    r"""Naive Bayes in which one column is a parent of all others, if that has predicted better.

    $P(c) P(x_s | c) \prod_{i \ne s} P(x_i | c, x_s)$, s the super parent.

    In place of leaving one out, every row is predicted under each candidate, and under none, before it is
    learned; the candidate with most hits (then: the largest sum of probabilities) is taken at refresh points. It
    must have more of them than none, and a log-loss that is less by the logarithm of the number of candidates: the
    best of many is ahead by chance where rows are few.

    Parameters
    ----------
    one_in
        After the first 1,000 rows, candidates are compared on one row in `one_in`, chosen by a hash of the row's
        number.
    order
        Order of the columns, which decides ties (no super parent wins, then the first column): `"name"`, `"given"` (as
        they arrived), or a list of names.
    smoothing, prior, numeric, max_bytes, schema
        As in `TAN`.

    Merge: counts exact, the record averaged; cannot unlearn. Memory: 8 bytes per pair of values and class. Time:
    O(d²) per row to learn, O(d² K) where it is recorded; O(d K) to predict.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown, or the tables would be larger than `max_bytes`.
    UnsupportedError
        If rows are unlearned.

    Examples
    --------
    >>> model = SuperParent().fit([["a", "b"], ["a", "c"], ["d", "b"], ["d", "c"]] * 9, [0, 1, 1, 0] * 9)
    >>> model.predict([["a", "b"], ["d", "b"]]).tolist(), model.super_parent_
    ([0, 1], 'x0')
    """

    def choice(self) -> Choice:
        return Choice(OneParent, True, self.alpha, prior_reader(self.prior), self.one_in, evidence=True)

    def interaction_order(self) -> int:
        return 2
