"""Naive Bayes beside River and scikit-learn, on the same rows in one run, one thread each."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from river import naive_bayes as river
from sklearn import naive_bayes as sklearn

from bayou import MultinomialNB, NaiveBayes
from benchmarks.measure import alone, beside, best, row

RNG = np.random.default_rng(0)


def run() -> list[dict[str, object]]:
    works = (binary_test_then_train, mixed_test_then_train, one_by_one, wide_blocks, documents)
    return [line for work in works for line in alone(work)]


def _river_rate(model, records, labels) -> float:
    def loop():
        for x, y in zip(records, labels, strict=True):
            model.predict_proba_one(x)
            model.learn_one(x, y)

    return len(records) / best(loop, 2)


def _our_rate(X, y, repeats=60) -> float:
    def stream():
        model = NaiveBayes("gaussian")
        block = model.encode(X, y, learn=True)
        return best(lambda: model.test_then_train(block), 1)

    stream()
    return len(y) / min(stream() for _ in range(repeats))


def binary_test_then_train() -> list[dict[str, object]]:
    n = 1_000_000
    y = RNG.integers(0, 2, n)
    X = RNG.random((n, 19)) < np.where(y[:, None] == 1, 0.6, 0.4)
    names = [f"x{j}" for j in range(19)]
    records = [dict(zip(names, r, strict=True)) for r in X[:20_000].astype(int).tolist()]
    ours, peer = _our_rate(X, y, 8), _river_rate(river.BernoulliNB(), records, y[:20_000].tolist())
    work = "exact test-then-train, 19 binary attributes, 1M rows"
    return [row(work, f"{ours / 1e6:.2f}M rows/s", f"River BernoulliNB {peer:,.0f}", ours / peer, 500)]


def mixed_test_then_train() -> list[dict[str, object]]:
    n = 45_000
    y = RNG.integers(0, 2, n)
    numbers = RNG.normal(size=(n, 6)) + 0.5 * y[:, None]
    names = RNG.integers(0, 7, (n, 2)).astype(str)
    X = {f"n{j}": numbers[:, j] for j in range(6)} | {f"c{j}": names[:, j] for j in range(2)}
    records = [{k: float(v[i]) for k, v in X.items()} for i in range(8_000)]
    ours, peer = _our_rate(X, y), _river_rate(river.GaussianNB(), records, y[:8_000].tolist())
    work = "exact test-then-train, 6 numeric + 2 nominal, 45k rows"
    return [row(work, f"{ours / 1e6:.2f}M rows/s", f"River GaussianNB {peer:,.0f}", ours / peer, 700)]


def one_by_one() -> list[dict[str, object]]:
    n = 20_000
    y = RNG.integers(0, 2, n).tolist()
    records = [dict(zip("abcdefgh", r, strict=True)) for r in RNG.random((n, 8)).tolist()]
    ours, peer = NaiveBayes("gaussian"), river.GaussianNB()
    for model in (ours, peer):
        for x, label in zip(records[:300], y, strict=False):
            model.learn_one(x, label)
            model.predict_proba_one(x)

    def learn(model):
        for x, label in zip(records, y, strict=True):
            model.learn_one(x, label)

    few = records[:500]

    def predict(model):
        for x in few:
            model.predict_proba_one(x)

    a, b = beside(lambda: learn(ours), lambda: learn(peer), 12)
    c, d = beside(lambda: predict(ours), lambda: predict(peer), 40)
    return [
        row("learn_one, 8 attributes", f"{a / n * 1e6:.1f} us", f"River {b / n * 1e6:.1f} us", b / a, 1),
        row(
            "predict_proba_one, 8 attributes",
            f"{c / len(few) * 1e6:.1f} us",
            f"River {d / len(few) * 1e6:.1f} us",
            d / c,
            20,
        ),
    ]


def wide_blocks() -> list[dict[str, object]]:
    """Twice: as a fresh process finds it, and with a heap grown by larger work, which spares page faults."""
    y = RNG.integers(0, 2, 1000)
    X = RNG.normal(size=(1000, 500)) + 0.1 * y[:, None]
    ours, peer = (
        NaiveBayes("gaussian").partial_fit(X, y),
        sklearn.GaussianNB().partial_fit(X, y, classes=[0, 1]),
    )
    ours.predict_proba(X)

    def lines(heap: str, targets: tuple[object, object]) -> list[dict[str, object]]:
        a, b = beside(lambda: ours.partial_fit(X, y), lambda: peer.partial_fit(X, y), 1000)
        c, d = beside(lambda: ours.predict_proba(X), lambda: peer.predict_proba(X), 100)
        learn, predict = (
            "learn blocks of 1,000, 500 numeric attributes",
            "predict_proba, 500 numeric attributes",
        )
        return [
            row(
                learn + heap,
                f"{1e-3 / a:.2f}M rows/s",
                f"GaussianNB {1e-3 / b:.2f}M",
                b / a,
                targets[0],
            ),
            row(
                predict + heap,
                f"{1e-3 / c:.2f}M rows/s",
                f"GaussianNB {1e-3 / d:.2f}M",
                d / c,
                targets[1],
            ),
        ]

    fresh = lines("", (6, 6))
    for _ in range(3):
        np.ones(3 << 20)
    return fresh + lines(", heap grown before", ("-", "-"))


def documents() -> list[dict[str, object]]:
    n, words, classes = 20_000, 20_000, 20
    y = RNG.integers(0, classes, n)
    ids = (RNG.zipf(1.3, n * 80) % words).reshape(n, 80)
    X = sp.csr_matrix((np.ones(n * 80), ids.ravel(), np.arange(0, n * 80 + 1, 80)), shape=(n, words))
    X.sum_duplicates()
    chunks = [(X[i : i + 1000], y[i : i + 1000]) for i in range(0, n, 1000)]
    ours, peer = MultinomialNB(), sklearn.MultinomialNB()

    def learn(model, **options):
        for documents, labels in chunks:
            model.partial_fit(documents, labels, **options)

    learn(ours)
    learn(peer, classes=range(classes))
    a, b = beside(lambda: learn(ours), lambda: learn(peer), 30)
    ours.predict_proba(X)
    c, d = beside(lambda: ours.predict_proba(X), lambda: peer.predict_proba(X), 12)
    return [
        row(
            "multinomial, learn chunks of 1,000 documents",
            f"{n / a / 1e6:.2f}M docs/s",
            f"MultinomialNB {n / b / 1e6:.2f}M",
            b / a,
            20,
        ),
        row(
            "multinomial, predict",
            f"{n / c / 1e6:.2f}M docs/s",
            f"MultinomialNB {n / d / 1e6:.2f}M",
            d / c,
            1.4,
        ),
    ]
