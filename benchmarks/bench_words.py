"""Words from the user's hands: exact test-then-train, and learning from CSR while the vocabulary still grows.

20,000 words with Zipf's frequencies, 20 classes. Test-then-train has no peer, since scikit-learn has none: its line
says how many documents a second are asked for. Processor time, one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import naive_bayes as sklearn

from bayou import BernoulliNB, ComplementNB, EcocNB, MultinomialNB
from bayou.codes import BCH
from benchmarks.measure import alone, beside, best, row

WORDS, CLASSES, LENGTH, CHUNK = 20_000, 20, 80, 1_000
# documents a second that test-then-train must reach
TARGETS: dict[str, tuple[Callable[[], Any], float]] = {
    "MultinomialNB": (MultinomialNB, 50e3),
    "ComplementNB": (ComplementNB, 50e3),
    "BernoulliNB": (BernoulliNB, 10e3),
    "EcocNB, 63 bits": (lambda: EcocNB(MultinomialNB(), BCH(63)), 15e3),
}


def run() -> list[dict[str, object]]:
    return [*alone(test_then_train), *alone(growing)]


def corpus(documents: int) -> tuple[sp.csr_matrix, np.ndarray]:
    """Documents of 80 words."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, CLASSES, documents)
    ids = (rng.zipf(1.3, documents * LENGTH) % WORDS).reshape(documents, LENGTH)
    starts = np.arange(0, documents * LENGTH + 1, LENGTH)
    X = sp.csr_matrix((np.ones(ids.size), ids.ravel(), starts), shape=(documents, WORDS))
    X.sum_duplicates()
    return X, y


def chunks(X: sp.csr_matrix, y: np.ndarray) -> Iterator[tuple[sp.csr_matrix, np.ndarray]]:
    """The documents in chunks of a thousand."""
    for lo in range(0, len(y), CHUNK):
        yield X[lo : lo + CHUNK], y[lo : lo + CHUNK]


def test_then_train() -> list[dict[str, object]]:
    """Every document is predicted before it is learned, by a model that has met a thousand."""
    X, y = corpus(4 * CHUNK)
    lines = []
    for name, (make, target) in TARGETS.items():
        model = make()
        parts = list(chunks(X, y))
        model.learn_batch(*parts[0])
        model.test_then_train_batch(*parts[1])
        rate = CHUNK / best(lambda model=model, parts=parts: model.test_then_train_batch(*parts[2]), 3)
        work = f"{name}, test-then-train, {WORDS:,} words, {CLASSES} classes"
        lines.append(row(work, f"{rate:,.0f} docs/s", f"asked {target:,.0f}", rate / target, 1))
    return lines


def growing() -> list[dict[str, object]]:
    """The vocabulary is met word by word: nobody knows it beforehand but scikit-learn, which must."""
    X, y = corpus(20 * CHUNK)
    lines = []
    for name, parts in (
        ("all columns from the start", list(chunks(X, y))),
        ("columns that come chunk by chunk", list(_widening(X, y))),
    ):

        def ours(parts=parts) -> None:
            model = MultinomialNB()
            for documents, labels in parts:
                model.learn_batch(documents, labels)

        def peer(parts=parts) -> None:
            model = sklearn.MultinomialNB()
            for documents, labels in chunks(X, y):
                model.partial_fit(documents, labels, classes=range(CLASSES))

        ours(), peer()
        a, b = beside(ours, peer, 5)
        work = f"multinomial, learn CSR in chunks of 1,000, vocabulary grows: {name}"
        n = len(y)
        peer = f"MultinomialNB {n / b / 1e6:.3f}M"
        lines.append(row(work, f"{n / a / 1e6:.3f}M docs/s", peer, b / a, 8))
    return lines


def _widening(X: sp.csr_matrix, y: np.ndarray) -> Iterator[tuple[sp.csr_matrix, np.ndarray]]:
    """Chunks whose matrix is as wide as the words met so far, numbered as they were met."""
    order: dict[int, int] = {}
    for documents, labels in chunks(X, y):
        for word in documents.indices.tolist():
            order.setdefault(word, len(order))
        ids = np.array([order[word] for word in documents.indices.tolist()])
        found = sp.csr_matrix((documents.data, ids, documents.indptr), shape=(len(labels), len(order)))
        found.sort_indices()
        yield found, labels
