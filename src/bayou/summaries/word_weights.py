"""What weighted naive Bayes learns about single words: a weight for each, and sums of squares that set its rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayou.align import Alignment
from bayou.block import Block, Codes, Flags, Floats, Index
from bayou.checks import require
from bayou.errors import UnsupportedError
from bayou.kernels.word_weights import WEIGHT, add_bounded, mix_words, weigh_words, weigh_words_then_update
from bayou.laws import MergeLaw
from bayou.protocols import Arrays, Scalar
from bayou.schema import Shape
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.state import declare, move
from bayou.summaries.word_counts import WordCounts, moved_words

FIRST = 0.05  # mixture weight at the start: taking part costs no more than -ln .95 nats
EAGER = 5.0  # times the rate of the other weights, since a word is seen seldom


@dataclass
class WordFactors:
    """One text column: weights[V, K] less 1 and their squared gradients, with room to double; bias[2, K]; its
    mixture weights."""

    weights: Floats
    squares: Floats
    bias: Floats
    size: int = 0
    scalars: Floats = field(default_factory=lambda: np.zeros(2))
    mixture_weights: Floats = field(default_factory=lambda: np.array([1.0 - FIRST, FIRST]))
    last: Index = field(default_factory=lambda: np.full(1, -1, dtype=np.int64))


def _bias(name: str, array: Floats, summary: WordWeights) -> None:
    valid.moderate(name, array, summary)
    valid.non_negative(name, array[1], summary)


def _probabilities(name: str, array: Floats, summary: WordWeights) -> None:
    valid.non_negative(name, array, summary)
    require(bool((array > 0).all()), f"{name} leaves an expert without a mixture weight")


class WordWeights(ArraySummary):
    """A weight for each word and class of text columns: online NB-SVM, and its weight in the mixture of experts.

    Weights are learned from the counts of words before the row is counted, so `update` is refused.

    Parameters
    ----------
    eta
        The rate of `Experts`; that of words is five times as large.
    share
        The part of the mixture weights that is divided evenly at each row.

    Merge: AVERAGED; weights are averaged by the rows each model learned from, squared gradients are added up.
    Memory: 16 K bytes per word for K classes, twice that while growing.
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    weights: Floats = declare("words", "classes", valid=valid.moderate)  # "0.weights" ..: one per text column
    squares: Floats = declare("words", "classes", valid=valid.non_negative)
    bias: Floats = declare(2, "classes", valid=_bias)
    scalars: Floats = declare(2, valid=valid.non_negative)
    mixture_weights: Floats = declare(2, valid=_probabilities)
    last: Index = declare(1, dtype=np.int64, valid=valid.class_codes)

    def __init__(self, eta: float, share: float) -> None:
        self.eta, self.share = float(eta), float(share)
        self.texts: list[WordFactors] = []

    def config(self) -> Mapping[str, Scalar]:
        return {"eta": self.eta, "share": self.share}

    def least_bytes(self, shape: Shape) -> int:
        """Bytes of the weights of all words."""
        return 16 * shape.classes * (sum(shape.words) + shape.text)

    @property
    def has_no_columns(self) -> bool:
        return not self.texts

    @property
    def factors(self) -> list[Floats]:
        """[V, K] weights of the words of every text column, as they are now."""
        return [1.0 + text.weights[: text.size] for text in self.texts]

    def update(self, block: Block) -> None:
        raise UnsupportedError(
            "WordWeights learn from counts of words, not from rows: use learn(counts, ...)"
        )

    def bounded_scores(self, terms: Floats, prior: Floats, as_pmi: int) -> Floats:
        """[t, n, K], the first of them the log prior plus bounded terms of other columns, the rest uninitialised.

        `terms` become pointwise mutual information, which the first `as_pmi` of them are already.
        """
        scores = np.empty((len(self.texts), *prior.shape))
        add_bounded(scores[0], terms, prior, as_pmi)
        return scores

    def predict(self, counts: WordCounts, block: Block, prior: Floats, scores: Floats) -> Flags:
        """Add the weighted words to the scores, column by column; returns bool[t, n], rows with words that count."""
        has_words = np.zeros((len(self.texts), block.n), dtype=np.bool_)
        for j, (mine, text, words) in enumerate(zip(self.texts, counts.texts, block.words, strict=True)):
            scores[j] = scores[max(j - 1, 0)]
            weigh_words(
                scores[j], has_words[j], prior, mine.weights, mine.bias, text.counts, text.total,
                words.indptr, words.ids, words.counts, float(text.width), text.least,
            )  # fmt: skip
        return has_words

    def learn(
        self, counts: WordCounts, block: Block, prior: Floats, scores: Floats, logs: Floats, alpha: float
    ) -> tuple[Floats, Flags]:
        """As `predict`, then learn and count each row; returns [n, t, K] terms of naive Bayes and `predict`'s flags."""
        has_words = np.zeros((len(self.texts), block.n), dtype=np.bool_)
        terms = np.zeros_like(scores)
        for j, (mine, text, words) in enumerate(zip(self.texts, counts.texts, block.words, strict=True)):
            scores[j] = scores[max(j - 1, 0)]
            weigh_words_then_update(
                mine.weights, mine.squares, mine.bias, text.counts, text.total, text.seen, terms[j], scores[j],
                has_words[j], prior, words.indptr, words.ids, words.counts, block.y, block.w, logs,
                float(text.declared), alpha, EAGER * self.eta, text.least,
            )  # fmt: skip
        return np.ascontiguousarray(terms.transpose(1, 0, 2)), has_words

    def mix(self, out: Floats, scores: Floats, has_words: Flags, prior: Floats, y: Codes, w: Floats) -> None:
        """Mix `out`, the scores of other columns, with those of text columns; labels move the mixture weights."""
        for j, text in enumerate(self.texts):
            mix_words(
                text.mixture_weights, text.scalars, text.last, out, scores[j], has_words[j], prior, y, w, self.share
            )  # fmt: skip

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        for a, b in zip(self.texts, other.texts, strict=True):
            mine, theirs = float(a.scalars[WEIGHT]), float(b.scalars[WEIGHT])
            if theirs == 0:
                continue
            share, n = theirs / (mine + theirs), a.size
            a.weights[:n] += (b.weights[:n] - a.weights[:n]) * share
            a.squares[:n] += b.squares[:n]
            a.bias[0] += (b.bias[0] - a.bias[0]) * share
            a.bias[1] += b.bias[1]
            a.mixture_weights += (b.mixture_weights - a.mixture_weights) * share
            a.scalars += b.scalars
            if theirs > mine:
                a.last = b.last.copy()

    def scale(self, factor: float) -> None:
        """Multiply rows and squared gradients by a factor, which makes later steps larger."""
        for text in self.texts:
            text.scalars *= factor
            text.squares *= factor
            text.bias[1] *= factor

    def realign(self, plan: Alignment) -> None:
        if any(plan.lengths.seats):
            raise UnsupportedError(
                "weights of single words need words that stay, and those of Text(vocabulary=...) come and go; "
                "Text(buckets=...) has fixed memory, and WeightedNB(rate=Experts(words=False)) weighs a text as a whole"
            )
        self.lengths = plan.lengths
        k = len(plan.classes.to)
        moved = [_zero_factors(0, k, 0) for _ in range(plan.text.size)]
        for old, new in enumerate(plan.text.to):
            moved[new] = self.texts[old]
        for text, words in zip(moved, plan.words, strict=True):
            empty = not text.bias.any()  # it moves with every step
            text.weights = moved_words(text.weights, text.size, words, plan.classes, empty)
            text.squares = moved_words(text.squares, text.size, words, plan.classes, empty)
            text.bias = move(text.bias, 1, plan.classes)
            text.size = words.size
            if text.last[0] >= 0:
                text.last = plan.classes.to[text.last].astype(np.int64)
        self.texts = moved

    def fresh(self) -> Self:
        twin = self.blank()
        twin.texts = [_zero_factors(len(t.weights), t.weights.shape[1], t.size) for t in self.texts]
        return twin

    def arrays(self) -> Arrays:
        """The arrays of every text column."""
        out: dict[str, NDArray[Any]] = {}
        for j, text in enumerate(self.texts):
            out[f"{j}.weights"], out[f"{j}.squares"] = text.weights[: text.size], text.squares[: text.size]
            out.update({f"{j}.{name}": getattr(text, name) for name in _OF_COLUMN})
        return out

    def restore(self, arrays: Arrays) -> None:
        self.texts = []
        for j in range(len(arrays) // len(self.state)):
            weights, squares = np.array(arrays[f"{j}.weights"]), np.array(arrays[f"{j}.squares"])
            others = {name: np.array(arrays[f"{j}.{name}"]) for name in _OF_COLUMN}
            self.texts.append(WordFactors(weights, squares, size=len(weights), **others))


_OF_COLUMN = ("bias", "scalars", "mixture_weights", "last")


def _zero_factors(room: int, classes: int, size: int) -> WordFactors:
    return WordFactors(np.zeros((room, classes)), np.zeros((room, classes)), np.zeros((2, classes)), size)
