"""Naive Bayes for documents: numeric columns are counts of words, columns of strings are text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bayou.classifiers.estimator import Estimator
from bayou.classifiers.naive_bayes import given_classes
from bayou.decisions import Decision
from bayou.readings.prior import Possible, prior_reader
from bayou.readings.words import Bernoulli, Complement, Multinomial
from bayou.schema import Declared, Label
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.word_counts import WordCounts
from bayou.views.view import AnyView, Live


class MultinomialNB(Estimator):
    r"""Multinomial naive Bayes for text: log P(c, d) = log P(c) + \sum_w n_w(d) (\log(n_{wc} + a) - \log(T_c + a V)).

    V is the number of words seen so far in any class, or the number of columns of the matrix the model is fed
    with; a word never seen adds nothing.

    Parameters
    ----------
    alpha
        Pseudo-count per word.
    prior
        Class prior: `"empirical"` (N_c / N), `"laplace"`, or a mapping from every class to its probability.
    decision
        How `predict` chooses a class: the most probable one (None), or by `Threshold(label, probability)`, `Costs(...)`
        or `Abstain(...)`.
    schema
        `Declared(...)`: kinds of columns, nominal values, classes and limits that are known beforehand.

    Merge: exact. Memory: 8 bytes per class and word. Time: O(w) per document of w words to learn, O(w K) to
    predict.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown.

    Examples
    --------
    >>> model = MultinomialNB()
    >>> model.learn_many([{"text": "cheap pills now"}, {"text": "see you now"}], ["spam", "ham"])
    >>> model.predict_one({"text": "cheap cheap pills"})
    'spam'
    """

    numbers_are_words: ClassVar[bool] = True
    poor_score: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float = 1.0,
        prior: str | Mapping[Label, float] = "empirical",
        decision: Decision | None = None,
        schema: Declared | None = None,
    ) -> None:
        self.alpha = alpha
        self.prior = prior
        self.decision = decision
        self.schema = schema

    def declared(self) -> Declared:
        return given_classes(super().declared(), self.prior)

    def views(self) -> Mapping[str, AnyView]:
        return {
            "classes": Live(ClassCounts(), prior_reader(self.prior)),
            "words": Live(WordCounts(), Multinomial(self.alpha)),
        }


class ComplementNB(Estimator):
    r"""Complement naive Bayes for text: minus the log-likelihood under all classes but c; for unbalanced classes.

    score(c) = -\sum_w n_w(d) (\log(\sum_{b \ne c} n_{wb} + a) - \log(\sum_{b \ne c} T_b + a V)); no prior.

    Parameters
    ----------
    alpha
        Pseudo-count per word.
    decision
        How `predict` chooses a class: the most probable one (None), or by `Threshold(label, probability)`, `Costs(...)`
        or `Abstain(...)`.
    schema
        `Declared(...)`: kinds of columns, nominal values, classes and limits that are known beforehand.

    Merge: exact (the same counts as MultinomialNB). Memory: 8 bytes per class and word. Time: O(w) per document of
    w words to learn, O(w K) to predict.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown.

    Examples
    --------
    >>> model = ComplementNB().fit([[2, 1, 0], [0, 1, 3]], ["a", "b"])
    >>> model.predict([[1, 0, 0]]).tolist()
    ['a']
    """

    numbers_are_words: ClassVar[bool] = True
    poor_score: ClassVar[bool] = True

    def __init__(
        self, alpha: float = 1.0, decision: Decision | None = None, schema: Declared | None = None
    ) -> None:
        self.alpha = alpha
        self.decision = decision
        self.schema = schema

    def views(self) -> Mapping[str, AnyView]:
        return {
            "classes": Live(ClassCounts(), Possible()),
            "words": Live(WordCounts(), Complement(self.alpha)),
        }


class BernoulliNB(Estimator):
    r"""Bernoulli naive Bayes: log P(c, d) = log P(c) + \sum_w [w \in d] \log p_{wc} + [w \notin d] \log(1 - p_{wc}).

    p_{wc} = (documents of c with w + a) / (documents of c + 2 a). The sum over absent words is kept, so a
    prediction costs only the words present.

    Parameters
    ----------
    alpha
        Pseudo-count of documents with and of documents without a word.
    prior
        Class prior: `"empirical"` (N_c / N), `"laplace"`, or a mapping from every class to its probability.
    decision
        How `predict` chooses a class: the most probable one (None), or by `Threshold(label, probability)`, `Costs(...)`
        or `Abstain(...)`.
    schema
        `Declared(...)`: kinds of columns, nominal values, classes and limits that are known beforehand.

    Merge: exact. Memory: 8 bytes per class and word. Time: O(w) per document of w words to learn, O(w K) to
    predict.

    Raises
    ------
    SchemaError
        If a parameter is out of range or unknown.

    Examples
    --------
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["a", "a", "b"])
    >>> model.predict([[1, 0]]).tolist()
    ['a']
    """

    numbers_are_words: ClassVar[bool] = True
    poor_score: ClassVar[bool] = True

    def __init__(
        self,
        alpha: float = 1.0,
        prior: str | Mapping[Label, float] = "empirical",
        decision: Decision | None = None,
        schema: Declared | None = None,
    ) -> None:
        self.alpha = alpha
        self.prior = prior
        self.decision = decision
        self.schema = schema

    def declared(self) -> Declared:
        return given_classes(super().declared(), self.prior)

    def views(self) -> Mapping[str, AnyView]:
        return {
            "classes": Live(ClassCounts(), prior_reader(self.prior)),
            "words": Live(WordCounts(binary=True), Bernoulli(self.alpha)),
        }
