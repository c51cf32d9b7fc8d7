"""Document 003: does coding help naive Bayes on text? Its table 1 and figure 2, on the sets that are at hand.

python reproduce/document_003.py                    10-fold cross-validation, repeated 3 times
python reproduce/document_003.py --repeats 1        quicker
python reproduce/document_003.py --densities        Weka's normal and kernel densities, as in the document; slow
python reproduce/document_003.py --densities kernel --bits 63 127 --repeats 1        only these
python reproduce/document_003.py --densities --bits --folds weka                     no codes, on the folds of Weka

Every word-count file (`*.wc.arff`, also packed) beside oh0 and re0 is taken up.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou import ComplementNB, MultinomialNB, NaiveBayes
from bayou.classifiers.ecoc import EcocNB
from bayou.classifiers.estimator import Estimator
from bayou.codes import BCH, Code, OneVsAll, OneVsOne, RandomCode
from bayou.densities.kernel import Kernel, RoundedNormal
from bayou.evaluate.crossval import splits
from bayou.readings.modl import MODL
from bayou.readings.prior import CountedPrior
from bayou.streams import open_stream
from bayou.summaries.class_counts import ClassCounts
from bayou.views.view import AnyView, Live
from reproduce.sets import DATA
from reproduce.weka_folds import weka_folds

Floats = NDArray[np.float64]
BITS = (15, 31, 63, 127)
FLOOR = 1e-75  # Weka's: no value of a column is less probable in any class
DOCUMENT = {  # table 1: accuracy with normal and with kernel densities; training time without and with codes
    "fbis": (62.61, 56.27, 167.95, 136.11),
    "la1": (75.06, 78.59, 195.31, 53.99),
    "la2": (74.89, 75.02, 47.8, 47.4),
    "oh0": (79.66, 79.95, 16.68, 6.57),
    "oh5": (77.88, 74.29, 14.42, 14.51),
    "oh10": (72.67, 69.43, 18.72, 18.6),
    "oh15": (75.24, 70.32, 15.48, 15.58),
    "re0": (57.51, 66.42, 32.1, 31.18),
}


def load(path: Path) -> tuple[Floats, NDArray[Any]]:
    """Counts of words, [documents, words], and labels."""
    rows, labels = [], []
    with open_stream(path) as stream:
        width = len(stream.vocabulary or ())
        while (part := stream.read(1000)) is not None:
            counts = np.zeros((len(part), width))
            words = part.words
            if words is None or part.labels is None:
                raise SystemExit(f"{path.name} holds no word counts")
            counts[np.repeat(np.arange(len(part)), np.diff(words.indptr)), words.ids] = words.counts
            rows.append(counts)
            labels += part.labels.to_pylist()
    return np.concatenate(rows), np.array(labels)


def models() -> dict[str, Callable[[], Any]]:
    """What is compared, by name."""
    found: dict[str, Callable[[], Any]] = {
        "multinomial NB": MultinomialNB,
        "complement NB": ComplementNB,
    }

    def add(name: str, code: Code, decode: str = "soft", normal: bool = False) -> None:
        base = partial(NaiveBayes, "gaussian") if normal else MultinomialNB
        found[name] = lambda: EcocNB(base(), code, decode)

    for bits in BITS:
        add(f"multinomial, BCH({bits}), soft", BCH(bits))
    for decode in ("l1", "hamming", "slepian"):
        for bits in BITS:
            add(f"multinomial, BCH({bits}), {decode}", BCH(bits), decode)
    for bits in BITS:
        for decode in ("soft", "hamming"):
            add(f"multinomial, random({bits}), {decode}", RandomCode(bits), decode)
    add("multinomial, one-vs-all, soft", OneVsAll())
    add("multinomial, one-vs-one, soft", OneVsOne())
    add("multinomial, one-vs-one, hamming", OneVsOne(), "hamming")
    found["normal NB"] = partial(NaiveBayes, "gaussian")
    for bits in BITS:
        add(f"normal, BCH({bits}), soft", BCH(bits), "soft", normal=True)
    for bits in BITS:
        add(f"normal, BCH({bits}), hamming", BCH(bits), "hamming", normal=True)
    add("normal, one-vs-all, soft", OneVsAll(), "soft", normal=True)
    return found


class DensityNB(Estimator):
    """Naive Bayes with the densities of Weka, which the document used: values rounded, deviations kept off zero."""

    def __init__(self, density: RoundedNormal | Kernel) -> None:
        self.density = density

    def views(self) -> Mapping[str, AnyView]:
        return {
            "classes": Live(ClassCounts(), CountedPrior(1.0)),
            "numeric": self.density.view(MODL()),
        }


def density_models(lengths: Sequence[int], kinds: Sequence[str]) -> dict[str, Callable[[], Any]]:
    """Plain and coded, as far as patience goes: every column of a code is a reading of its own here."""
    found: dict[str, Callable[[], Any]] = {}
    for name, density in (("normal", RoundedNormal(floor=FLOOR)), ("kernel", Kernel(floor=FLOOR))):
        if name in kinds:
            found[f"Weka's {name} NB"] = partial(DensityNB, density)
            for bits in lengths:
                found[f"Weka's {name}, BCH({bits}), soft"] = partial(EcocNB, DensityNB(density), BCH(bits))
    return found


def scores(proba: Floats, right: NDArray[np.int64]) -> tuple[float, float, float]:
    """Accuracy in points, log-loss in nats per row (floored at 1e-15), expected calibration error in points."""
    sure, hit = proba.max(axis=1), proba.argmax(axis=1) == right
    bins = np.minimum((sure * 10).astype(int), 9)
    gap = sum(abs(float((hit[bins == b] - sure[bins == b]).sum())) for b in range(10)) / len(right)
    loss = -np.log(np.maximum(proba[np.arange(len(right)), right], 1e-15)).mean()
    return 100.0 * float(hit.mean()), float(loss), 100.0 * gap


def cross_validated(
    X: Floats, y: NDArray[Any], make: Mapping[str, Callable[[], Any]], folds: Iterable[tuple[Any, Any]]
) -> dict[str, list[float]]:
    """Per model: accuracy, log-loss, calibration error over all predictions, and the mean time to train in seconds."""
    classes, codes = np.unique(y, return_inverse=True)
    given: dict[str, list[Floats]] = {name: [] for name in make}
    spent = dict.fromkeys(make, 0.0)
    right = []
    for train, test in folds:
        right.append(codes[test])
        for name, new in make.items():
            model = new()
            start = time.perf_counter()
            model.fit(X[train], y[train])
            spent[name] += time.perf_counter() - start
            proba = np.zeros((len(test), len(classes)))
            proba[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X[test])
            given[name].append(proba)
    truth = np.concatenate(right)
    return {
        name: [*scores(np.concatenate(proba), truth), spent[name] / len(right)]
        for name, proba in given.items()
    }


def show(name: str, y: NDArray[Any], words: int, found: Mapping[str, list[float]]) -> None:
    classes = len(set(y.tolist()))
    print(f"\n{name}: {len(y)} documents, {words} words, {classes} classes")
    if name in DOCUMENT:
        normal, kernel, without, with_codes = DOCUMENT[name]
        print(
            f"the document: {normal} (normal), {kernel} (kernel); trained in {without} s, with BCH {with_codes} s"
        )
    print(f"{'':34s} accuracy  log-loss  calibration error  training, ms")
    for model, (accuracy, loss, gap, took) in found.items():
        print(f"{model:34s} {accuracy:8.2f} {loss:9.3f} {gap:18.1f} {1000 * took:13.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--densities", nargs="*", choices=("normal", "kernel"), metavar="normal, kernel")
    parser.add_argument(
        "--bits", nargs="*", type=int, default=BITS[:2], help="lengths of codes over densities"
    )
    parser.add_argument("--folds", choices=("ours", "weka"), default="ours")
    options = parser.parse_args()
    asked = options.densities
    make = models() if asked is None else density_models(options.bits, asked or ("normal", "kernel"))
    paths = sorted((DATA / "text").glob("*.wc.arff*"))
    if not paths:
        raise SystemExit("no word-count files beside the project: ../shared/data/text/*.wc.arff")
    for path in paths:
        X, y = load(path)
        if options.folds == "weka":
            folds = weka_folds(np.unique(y, return_inverse=True)[1].tolist())
        else:
            folds = splits(y, 10, options.repeats, True, 0)
        show(path.name.split(".")[0], y, X.shape[1], cross_validated(X, y, make, folds))


if __name__ == "__main__":
    main()
