"""One weight per word and class on the log-count ratios of a document: online NB-SVM (Wang and Manning).

A word that occurs n_c times among the T_c words of class c, and n_o among the T_o of all others, has the
log-count ratio

    r_c = log (n_c + a) / (T_c + a V) - log (n_o + a) / (T_o + a V),    V words seen, a = 0.3

A document of words with counts m is the row f_wc = log(1 + m_w) r_wc, divided by the root of sum f^2 / K over its
words and the K possible classes, so that long documents do not get larger scores. The score of class c grows by
b_c + sum_w (1 + v_wc) f_wc; v and b learn by AdaGrad on -log P(label). Ratios are those before a row is counted; a
word that was never seen, or not often enough, takes no part. Of several text columns, each adds to the scores of those
before it.

The scores are one more expert beside those of `bayou.kernels.experts`: both are mixed by how well they predicted.
"""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.experts import LEAST_LIFT
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.mixture_weights import mix, share_mixture_weights
from bayou.kernels.weights import HEAVIEST, log_softmax, pmi_terms, residuals
from bayou.kernels.word_counts import add_multinomial, count_words

PSEUDO = 0.3  # a, the pseudo-count of a word in a class
STEADY = 0.1  # added to the squared gradients, so that the first step is not too large
BIAS_SHARE = 0.2  # of a step: the bias sees every document, a word only its own
WEIGHT, RETURNS = 0, 1  # places in `scalars`


@kernel
def add_bounded(scores: Floats, terms: Floats, prior: Floats, as_pmi: int) -> None:
    """Replace terms by pointwise mutual information; scores = log prior + sum of max(term, LEAST_LIFT).

    scores : float64[n, K], out; terms : float64[n, d, K], in/out, the first `as_pmi` columns as information already
    prior : float64[n, K], in, log
    """
    for i in range(len(terms)):
        pmi_terms(terms[i, as_pmi:], prior[i])
        for c in range(prior.shape[1]):
            scores[i, c] = prior[i, c]
        for j in range(terms.shape[1]):
            for c in range(prior.shape[1]):
                scores[i, c] += max(terms[i, j, c], LEAST_LIFT)


@inner_kernel
def longest_row(indptr: Index) -> int:
    """Return the number of words of the longest document.

    indptr : int64[n + 1], in
    """
    longest = 0
    for i in range(len(indptr) - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    return longest


@inner_kernel
def others_over_own(out: Floats, total: Floats, size: float) -> None:
    """out[c] = (T_o + a V) / (T_c + a V).

    out : float64[K], out; total : float64[K], in
    """
    whole = 0.0
    for c in range(len(total)):
        whole += total[c]
    for c in range(len(total)):
        out[c] = (max(whole - total[c], 0.0) + PSEUDO * size) / (total[c] + PSEUDO * size)


@inner_kernel
def weigh_document(
    scores: Floats,
    inputs: Floats,
    prior: Floats,
    weights: Floats,
    bias: Floats,
    counts: Floats,
    lengths: Floats,
    ids: Codes,
    amounts: Floats,
    least: float,
) -> bool:
    """Add the weighted log-count ratios of one document's words to its scores; return False if no word takes part.

    scores : float64[K], in/out; inputs : float64[m, K], out, f; prior : float64[K], in, log
    weights, counts : float64[V, K], in; bias : float64[2, K], in; lengths : float64[K], in, of `others_over_own`
    ids : int32[m], in; amounts : float64[m], in
    """
    k = len(scores)
    squares, possible = 0.0, 0.0
    for c in range(k):
        if prior[c] > -np.inf:
            possible += 1.0
    for e in range(len(ids)):
        row = counts[np.uint32(ids[e])]
        whole = 0.0
        for c in range(k):
            whole += row[c]
        amount = math.log1p(amounts[e]) if whole > 0.0 and whole >= least else 0.0
        for c in range(k):
            f = 0.0
            if amount > 0.0 and prior[c] > -np.inf:
                f = amount * math.log((row[c] + PSEUDO) / (max(whole - row[c], 0.0) + PSEUDO) * lengths[c])
            inputs[e, c] = f
            squares += f * f
    if not squares > 0.0:
        return False
    scale = 1.0 / math.sqrt(squares / possible)
    for c in range(k):
        scores[c] += bias[0, c]
    for e in range(len(ids)):
        row = weights[np.uint32(ids[e])]
        for c in range(k):
            inputs[e, c] *= scale
            scores[c] += (1.0 + row[c]) * inputs[e, c]
    return True


@inner_kernel
def learn_document(
    weights: Floats,
    squares: Floats,
    bias: Floats,
    scores: Floats,
    residual: Floats,
    inputs: Floats,
    ids: Codes,
    label: int,
    weight: float,
    eta: float,
) -> None:
    """Take one AdaGrad step of the weights of a document's words, from the scores before it.

    weights, squares : float64[V, K], in/out; bias : float64[2, K], in/out, b and its squared gradients
    scores : float64[K], in; residual : float64[K], scratch; inputs : float64[m, K], in; ids : int32[m], in
    """
    k = len(scores)
    log_proba = scores.copy()
    log_softmax(log_proba)
    residuals(log_proba, label, residual)
    for c in range(k):
        residual[c] *= weight
        bias[1, c] += residual[c] * residual[c]
        bias[0, c] -= BIAS_SHARE * eta * residual[c] / math.sqrt(STEADY + bias[1, c])
    for e in range(len(ids)):
        word = np.uint32(ids[e])
        for c in range(k):
            g = residual[c] * inputs[e, c]
            squares[word, c] += g * g
            weights[word, c] -= eta * g / math.sqrt(STEADY + squares[word, c])


@kernel
def weigh_words(
    scores: Floats,
    has_words: Flags,
    prior: Floats,
    weights: Floats,
    bias: Floats,
    counts: Floats,
    total: Floats,
    indptr: Index,
    ids: Codes,
    amounts: Floats,
    size: float,
    least: float,
) -> None:
    """Add the weighted log-count ratios of words to the scores of documents; set `has_words` where a word takes part.

    scores : float64[n, K], in/out; has_words : bool[n], in/out; prior : float64[n, K], in, log
    weights, counts : float64[V, K], in; bias : float64[2, K], in; total : float64[K], in
    indptr : int64[n + 1], in; ids : int32[nnz], in; amounts : float64[nnz], in
    """
    inputs = np.empty((longest_row(indptr), len(total)))
    lengths = np.empty(len(total))
    if size > 0.0:
        others_over_own(lengths, total, size)
    for i in range(len(scores)):
        lo, hi = indptr[i], indptr[i + 1]
        if size > 0.0 and weigh_document(
            scores[i], inputs, prior[i], weights, bias, counts, lengths, ids[lo:hi], amounts[lo:hi], least
        ):
            has_words[i] = True


@kernel
def weigh_words_then_update(
    weights: Floats,
    squares: Floats,
    bias: Floats,
    counts: Floats,
    total: Floats,
    seen: Index,
    terms: Floats,
    scores: Floats,
    has_words: Flags,
    prior: Floats,
    indptr: Index,
    ids: Codes,
    amounts: Floats,
    y: Codes,
    w: Floats,
    logs: Floats,
    declared: float,
    alpha: float,
    eta: float,
    least: float,
) -> None:
    """Predict, then learn, row by row: write multinomial term and scores; then take a step, then count the words.

    weights, squares, counts : float64[V, K], in/out; bias : float64[2, K], in/out; total : float64[K], in/out
    seen : int64[1], in/out; terms, scores : float64[n, K], in/out; has_words : bool[n], in/out
    prior : float64[n, K], in, log; indptr : int64[n + 1], in; ids : int32[nnz], in; amounts : float64[nnz], in
    y : int32[n], in; w : float64[n], in; logs : float64[m], in, log of integers
    """
    k = len(total)
    inputs = np.empty((longest_row(indptr), k))
    lengths, residual = np.empty(k), np.empty(k)
    for i in range(len(y)):
        lo, hi = indptr[i], indptr[i + 1]
        row = indptr[i : i + 2]
        size = max(float(seen[0]), declared)
        add_multinomial(terms[i : i + 1], counts, total, row, ids, amounts, logs, size, alpha, least)
        if size > 0.0:
            others_over_own(lengths, total, size)
            if weigh_document(
                scores[i], inputs, prior[i], weights, bias, counts, lengths, ids[lo:hi], amounts[lo:hi], least
            ):
                has_words[i] = True
                if y[i] >= 0 and w[i] > 0.0 and prior[i, y[i]] > -np.inf:
                    learn_document(
                        weights, squares, bias, scores[i], residual, inputs, ids[lo:hi], y[i],
                        min(w[i], HEAVIEST), eta,
                    )  # fmt: skip
        count_words(counts, total, seen, row, ids, amounts, y[i : i + 1], w[i : i + 1], 1.0, False)


@kernel
def mix_words(
    mixture_weights: Floats,
    scalars: Floats,
    last: Index,
    out: Floats,
    scores: Floats,
    has_words: Flags,
    prior: Floats,
    y: Codes,
    w: Floats,
    share: float,
) -> None:
    """Predict, then learn, row by row: mix the other experts with the scores of words; then update the mixture weights.

    As for other learned weights, those of words are used only once labels recur: see `bayou.kernels.experts`.

    mixture_weights : float64[2], in/out; scalars : float64[2], in/out; last : int64[1], in/out, the label before
    out : float64[n, K], in/out, log P of the others, then of both; scores : float64[n, K], in/out, become log P
    has_words : bool[n], in; prior : float64[n, K], in, log; y : int32[n], in; w : float64[n], in
    """
    k = out.shape[1]
    both = np.empty((2, k))
    taken = np.ones(2, np.bool_)
    for i in range(len(y)):
        label = y[i]
        teaches = label >= 0 and w[i] > 0.0
        if has_words[i]:
            log_softmax(scores[i])
            for c in range(k):
                both[0, c] = out[i, c]
                both[1, c] = scores[i, c]
            taken[1] = scalars[RETURNS] * scalars[RETURNS] >= scalars[WEIGHT]
            mix(mixture_weights, both, taken, out[i])
        if not teaches:
            continue
        before = last[0]
        last[0] = label
        if prior[i, label] == -np.inf:  # the first row of a class: nothing could have predicted it
            continue
        weight = min(w[i], HEAVIEST)
        if before >= 0 and before != label:
            scalars[RETURNS] += 1.0
        if has_words[i]:
            share_mixture_weights(mixture_weights, both, label, weight, share)
        scalars[WEIGHT] += weight
