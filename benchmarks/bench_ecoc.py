"""EcocNB against scikit-learn's OutputCodeClassifier, against plain naive Bayes, and against training per column.

Run `python benchmarks/bench_ecoc.py`; `run()` gives the same as data. Times are the best of several runs, in seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.multiclass import OutputCodeClassifier
from sklearn.naive_bayes import MultinomialNB as PeerNB

from bayou import MultinomialNB, set_threads
from bayou.classifiers.ecoc import EcocNB
from bayou.codes import BCH, Code, OneVsOne, RandomCode

CLASSES, WORDS, DOCUMENTS, LENGTH = 20, 20_000, 8_000, 150
Row = dict[str, Any]


def corpus(seed: int, documents: int = DOCUMENTS) -> tuple[csr_matrix, np.ndarray]:
    """Documents over words with Zipf's frequencies, a tenth of which each class favours."""
    words = np.random.default_rng(1)
    common = 1.0 / np.arange(10, WORDS + 10)
    favours = np.where(words.random((CLASSES, WORDS)) < 0.1, 3.0, 1.0) * common
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, documents)
    ids = np.empty((documents, LENGTH), dtype=np.int64)
    for c in range(CLASSES):
        mine = np.flatnonzero(y == c)
        ids[mine] = rng.choice(WORDS, (len(mine), LENGTH), p=favours[c] / favours[c].sum())
    indptr = np.arange(0, documents * LENGTH + 1, LENGTH)
    X = csr_matrix((np.ones(ids.size), ids.ravel(), indptr), shape=(documents, WORDS))
    X.sum_duplicates()
    return X, y


def best(work: Callable[[], Any], runs: int = 5) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def row(work: str, ours: float, peer: float, target: object) -> Row:
    """The ratio is how many times faster we are."""
    return {"work": work, "ours": ours, "peer": peer, "ratio": peer / ours, "target": target}


def against_scikit_learn(X: csr_matrix, y: np.ndarray, test: csr_matrix, bits: int) -> Iterator[Row]:
    peer = OutputCodeClassifier(PeerNB(), code_size=bits / CLASSES, random_state=0).fit(X, y)
    assert len(peer.estimators_) == bits
    slow_fit, slow = best(lambda: peer.fit(X, y), 2), best(lambda: peer.predict(test), 2)
    for code, decode in ((BCH(bits), "soft"), (RandomCode(bits), "hamming")):
        yield from coded(EcocNB(MultinomialNB(), code, decode), X, y, test, slow_fit, slow, bits)


def coded(
    model: EcocNB, X: csr_matrix, y: np.ndarray, test: csr_matrix, slow_fit: float, slow: float, bits: int
) -> Iterator[Row]:
    """One code and decoding beside the peer's times; the claims are about 63 bits."""
    name, claimed = f"{bits} bits, {model.decode}", bits == 63
    set_threads(1)
    model.fit(X, y)
    yield row(f"train, {name}", best(lambda: model.fit(X, y)), slow_fit, 25 if claimed else "")
    further = best(lambda: model.partial_fit(X, y))
    yield row(f"train on one more batch, {name}", further, slow_fit, 25 if claimed else "")
    model.predict(test)
    yield row(f"predict, {name}, one core", best(lambda: model.predict(test)), slow, 12 if claimed else "")
    yield row(f"first predict, {name}, one core", best(lambda: first(model, test)), slow, "")
    set_threads(2)
    model.predict(test)
    yield row(f"predict, {name}, two cores", best(lambda: model.predict(test)), slow, 20 if claimed else "")
    set_threads(1)


def first(model: EcocNB, test: csr_matrix) -> None:
    """Predict after the tables are void: they are made again."""
    model.refresh()
    model.predict(test)


def against_plain(X: csr_matrix, y: np.ndarray, test: csr_matrix) -> Iterator[Row]:
    """Here the peer is our own multinomial naive Bayes; a ratio of 1 / 1.15 = 0.87 is the target."""
    set_threads(1)
    plain = MultinomialNB().fit(X, y)
    plain.predict(test)
    train, predict = best(lambda: plain.fit(X, y), 9), best(lambda: plain.predict(test))
    for code in (BCH(63), BCH(127), OneVsOne()):
        yield from beside_plain(EcocNB(MultinomialNB(), code), X, y, test, train, predict)


def beside_plain(
    model: EcocNB, X: csr_matrix, y: np.ndarray, test: csr_matrix, train: float, predict: float
) -> Iterator[Row]:
    name, target = f"{model.code}, against plain NB", 0.87 if model.code == BCH(63) else ""
    model.fit(X, y)
    yield row(f"train, {name}", best(lambda: model.fit(X, y), 9), train, target)
    model.predict(test)
    yield row(f"predict, {name}", best(lambda: model.predict(test)), predict, "")


class PerColumn:
    """The straightforward way: a plain naive Bayes per column, each with a pass of its own."""

    def __init__(self, code: Code) -> None:
        self.code = code

    def fit(self, X: csr_matrix, y: np.ndarray) -> None:
        self.models = []
        for column in self.code.rows(CLASSES).T:
            side = column[y]
            self.models.append(MultinomialNB().fit(X[side != 0], side[side != 0]))


def per_column(X: csr_matrix, y: np.ndarray) -> Iterator[Row]:
    """O((n + t) g) against O(n t g): more rows and more columns, tables included."""
    set_threads(1)
    for documents in (1_000, 4_000):
        for bits in (15, 31, 63):
            ours, peer = train_and_tabulate(X[:documents], y[:documents], bits)
            yield row(f"train and make tables, {documents} rows, {bits} bits, per column", ours, peer, "")


def train_and_tabulate(X: csr_matrix, y: np.ndarray, bits: int) -> tuple[float, float]:
    """Seconds of learning once and reading all tables off, and of a naive Bayes per column."""
    model, slow = EcocNB(MultinomialNB(), BCH(bits), "hamming"), PerColumn(BCH(bits))
    model.fit(X, y).predict(X)

    def once() -> None:
        model.fit(X, y)
        model.engine._read()
        model.engine.cache.odds[1].columns[0].full_table()

    return best(once, 3), best(lambda: slow.fit(X, y), 1)


def run() -> list[Row]:
    (X, y), (test, _) = corpus(2), corpus(3)
    lines = [line for bits in (15, 63) for line in against_scikit_learn(X, y, test, bits)]
    return [*lines, *against_plain(X, y, test), *per_column(X, y)]


if __name__ == "__main__":
    for found in run():
        print(
            f"{found['work']:60s} {found['ours']:9.4f} {found['peer']:9.4f} {found['ratio']:8.2f}  {found['target']}"
        )
