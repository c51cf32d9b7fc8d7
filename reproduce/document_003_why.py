"""Document 003, further: where the claims of docs/ecoc.md about codes come from.

python reproduce/document_003_why.py peers          scikit-learn's random codes on the same folds as ours
python reproduce/document_003_why.py draws          BCH rows drawn freely, without complements, and random rows, by seed
python reproduce/document_003_why.py scale       log-loss by the constant that turns bits into log-odds
python reproduce/document_003_why.py synthetic      text drawn from one multinomial per class, by size of the sample
python reproduce/document_003_why.py normal         normal densities on word counts: floors, density or mass
python reproduce/document_003_why.py weka           the last two of these on the folds of Weka, seeds 1 to 3
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.multiclass import OutputCodeClassifier
from sklearn.naive_bayes import MultinomialNB as PeerNB

from bayou import ComplementNB, MultinomialNB
from bayou.classifiers import ecoc
from bayou.classifiers.ecoc import EcocNB
from bayou.codes import BCH, GivenCode, OneVsAll, OneVsOne, RandomCode
from bayou.codes.bch import words
from bayou.evaluate.crossval import splits
from bayou.streams.generators import BagOfWords
from reproduce.document_003 import Floats, load, scores
from reproduce.sets import DATA
from reproduce.weka_folds import weka_folds

SEEDS = range(5)


def texts() -> Iterator[tuple[str, Floats, NDArray[Any]]]:
    for path in sorted((DATA / "text").glob("*.wc.arff*")):
        X, y = load(path)
        yield path.name.split(".")[0], X, np.unique(y, return_inverse=True)[1]


def folded(
    X: Floats, y: NDArray[Any], models: Mapping[str, Any], folds: Iterable[tuple[Any, Any]] | None = None
) -> dict[str, Floats]:
    """Accuracy, log-loss and calibration error over all predictions of a 10-fold cross-validation."""
    given: dict[str, list[Floats]] = {name: [] for name in models}
    right = []
    for train, test in folds or splits(y, 10, 1, True, 0):
        right.append(y[test])
        for name, model in models.items():
            model.fit(X[train], y[train])
            if hasattr(model, "predict_proba"):
                given[name].append(model.predict_proba(X[test]))
            else:
                given[name].append(np.eye(y.max() + 1)[model.predict(X[test])])
    return {name: np.array(scores(np.concatenate(p), np.concatenate(right))) for name, p in given.items()}


def spread(found: Mapping[str, Floats]) -> str:
    accuracies = [accuracy for accuracy, _, _ in found.values()]
    return f"mean {np.mean(accuracies):.2f}, {min(accuracies):.2f} to {max(accuracies):.2f}"


def peers() -> None:
    for name, X, y in texts():
        k = y.max() + 1
        for bits in (15, 31, 63):
            size = (bits + 0.5) / k
            theirs = {f"{s}": OutputCodeClassifier(PeerNB(), code_size=size, random_state=s) for s in SEEDS}
            ours = {f"{s}": EcocNB(MultinomialNB(), BCH(bits, seed=s)) for s in SEEDS}
            print(
                f"{name}, {bits} bits: scikit-learn {spread(folded(X, y, theirs))}; BCH {spread(folded(X, y, ours))}"
            )


def freely(k: int, bits: int, seed: int) -> GivenCode:
    book = words((bits + 1).bit_length() - 1)
    return GivenCode((2 * book[np.random.default_rng(seed).permutation(len(book))[:k]] - 1).tolist())


def draws() -> None:
    for name, X, y in texts():
        k = int(y.max()) + 1
        for bits in (15, 31, 63):
            kinds = {
                "freely": [freely(k, bits, s) for s in SEEDS],
                "without complements": [BCH(bits, seed=s) for s in SEEDS],
                "random": [RandomCode(bits, seed=s) for s in SEEDS],
            }
            for kind, codes in kinds.items():
                found = folded(X, y, {f"{i}": EcocNB(MultinomialNB(), code) for i, code in enumerate(codes)})
                print(f"{name}, {bits} bits, {kind}: {spread(found)}")


def scale() -> None:
    for name, X, y in texts():
        for ecoc.LOG_ODDS_PER_BIT in (2.0, 4.0, 8.0, 16.0):
            models = {f"{d}": EcocNB(MultinomialNB(), BCH(63), d) for d in ("l1", "hamming")}
            found = folded(X, y, models)
            print(
                name,
                ecoc.LOG_ODDS_PER_BIT,
                {d: [round(v, 3) for v in row.tolist()] for d, row in found.items()},
            )


def drawn_texts(seed: int, rows: int) -> tuple[Floats, NDArray[Any]]:
    part = BagOfWords(words=5_000, classes=20, length=100.0, contrast=0.3, seed=seed, rows=rows + 2_000).read(
        rows + 2_000
    )
    assert part is not None
    assert part.words is not None
    X = np.zeros((len(part), 5_000))
    X[np.repeat(np.arange(len(part)), np.diff(part.words.indptr)), part.words.ids] = part.words.counts
    return X, np.array([int(label[1:]) for label in part.labels.to_pylist()])


def synthetic() -> None:
    models: dict[str, Any] = {"multinomial": MultinomialNB(), "complement": ComplementNB()}
    for code in (BCH(63), RandomCode(63), OneVsAll(), OneVsOne()):
        for decode in ("soft", "l1", "hamming"):
            models[f"{code}, {decode}"] = EcocNB(MultinomialNB(), code, decode)
    models[f"{RandomCode(2000)}, soft"] = EcocNB(MultinomialNB(), RandomCode(2000))
    for rows in (200, 1_000, 8_000):
        print(f"\n{rows} documents of 20 classes: accuracy, log-loss, calibration error; mean of 3 seeds")
        sums = dict.fromkeys(models, np.zeros(3))
        for seed in range(3):
            X, y = drawn_texts(seed, rows)
            for name, model in models.items():
                model.fit(X[:rows], y[:rows])
                sums[name] = sums[name] + np.array(scores(model.predict_proba(X[rows:]), y[rows:])) / 3
        for name, (accuracy, loss, gap) in sums.items():
            print(f"{name:40s} {accuracy:8.2f} {loss:8.3f} {gap:8.1f}")


class NormalNB:
    """Naive Bayes on normal densities, with either way to keep deviations off zero and to read a value.

    spread : "share" as `Gaussian` has it, a hundredth of the column's variance for a class that does not vary;
    "precision", as Weka has it, a sixth of the mean distance between values
    mass : of an interval as long as that distance, rather than density
    rounds : values to multiples of that distance, as Weka does; floor : the least probability of a value
    weka : in Weka's own arithmetic, see `wekas_products`
    """

    def __init__(
        self, spread: str, mass: bool, rounds: bool = False, floor: float = 1e-300, weka: bool = False
    ) -> None:
        self.spread, self.mass, self.rounds, self.floor, self.weka = spread, mass, rounds, floor, weka

    def fit(self, X: Floats, y: NDArray[Any]) -> None:
        used = X.var(axis=0) > 0
        X = X[:, used]
        distinct = 1 + np.count_nonzero(np.diff(np.sort(X, axis=0), axis=0), axis=0)
        step, whole = np.ptp(X, axis=0) / (distinct - 1), X.var(axis=0)
        X = np.rint(X / step) * step if self.rounds else X
        mean = np.array([X[y == c].mean(axis=0) for c in range(y.max() + 1)])
        variance = np.array([X[y == c].var(axis=0) for c in range(y.max() + 1)])
        if self.spread == "share":
            variance = np.where(variance <= 1e-9 * whole, 0.01 * whole, variance)
        else:
            variance = np.maximum(variance, (step / 6) ** 2)
        self.state = used, step, mean, np.sqrt(variance), np.bincount(y) + 1.0

    def predict(self, X: Floats) -> NDArray[Any]:
        used, step, mean, deviation, prior = self.state
        if self.weka:
            return wekas_products(X[:, used].astype(int), step, mean, deviation, prior, self.floor)
        X = np.rint(X[:, used] / step) * step if self.rounds else X[:, used]
        scores = []
        for centre, width, first in zip(mean, deviation, prior, strict=True):
            z = (X - centre) / width
            if self.mass:
                near, far = np.abs(z) - step / 2 / width, np.abs(z) + step / 2 / width
                terms = np.log(np.maximum(ndtr(-near) - ndtr(-far), self.floor))
            else:
                terms = -0.5 * z * z - np.log(width)
            scores.append(np.log(first) + terms.sum(axis=1))
        return np.argmax(scores, axis=0)


def wekas_products(
    counts: NDArray[Any], step: Floats, mean: Floats, deviation: Floats, prior: Floats, floor: float
) -> NDArray[Any]:
    """The class of each row as Weka computes it: probabilities multiplied column by column, no logarithms.

    A mass is the difference of two distribution functions, so 0 from 8 deviations above the mean on, and then the
    floor. All products are raised by 1e75 whenever the largest falls below 1e-75; one that has become 0 stays 0.
    """
    products = np.tile(prior, (len(counts), 1))
    for j, column in enumerate(counts.T):
        z = (np.rint(np.arange(column.max() + 1) / step[j]) * step[j])[:, None] - mean[:, j]
        masses = ndtr((z + step[j] / 2) / deviation[:, j]) - ndtr((z - step[j] / 2) / deviation[:, j])
        products *= np.maximum(masses, floor)[column]
        largest = products.max(axis=1)
        products[(largest > 0) & (largest < 1e-75)] *= 1e75
    return products.argmax(axis=1)


def normal() -> None:
    ways = {
        "share, density": NormalNB("share", False),
        "share, mass": NormalNB("share", True),
        "precision, density": NormalNB("precision", False),
        "precision, mass": NormalNB("precision", True),
        "precision, mass, rounded": NormalNB("precision", True, True),
        "precision, mass, rounded, floor 1e-75": NormalNB("precision", True, True, 1e-75),
        "the same in Weka's arithmetic": NormalNB("precision", True, True, 1e-75, weka=True),
    }
    for name, X, y in texts():
        print(name, {way: round(float(found[0]), 2) for way, found in folded(X, y, ways).items()}, flush=True)


def weka() -> None:
    """Weka's own folds: there its arithmetic gives its own figures, to the row."""
    ways = {
        "floor 1e-75": NormalNB("precision", True, True, 1e-75),
        "the same in Weka's arithmetic": NormalNB("precision", True, True, 1e-75, weka=True),
    }
    for name, X, y in texts():
        for seed in (1, 2, 3):
            found = folded(X, y, ways, weka_folds(y.tolist(), 10, seed))
            print(
                name,
                f"-s {seed}",
                {way: round(float(accuracy), 2) for way, (accuracy, _, _) in found.items()},
                flush=True,
            )


if __name__ == "__main__":
    parts = {
        "peers": peers, "draws": draws, "scale": scale, "synthetic": synthetic, "normal": normal, "weka": weka,
    }  # fmt: skip
    for part in sys.argv[1:] or parts:
        parts[part]()
