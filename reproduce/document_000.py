"""Document 000: accuracy of weighted naive Bayes against naive Bayes, after one pass and prequentially.

python -m reproduce.document_000 holdout            real sets, hold-out after one pass
python -m reproduce.document_000 prequential        real sets, predict then learn, in their own order
python -m reproduce.document_000 merge              four shards, weights averaged, beside one pass
python -m reproduce.document_000 synthetic [sizes] [structures] [picture] [attributes] [test rows]
                                                    the shape of the document's tables 1 and 2: 500 attributes and
                                                    20,000 test rows unless said otherwise; theirs are 500 or 2,000
                                                    (epsilon, zeta) and 100,000: synthetic 40000 factor "" 2000 100000
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.classifiers.averaged import AveragedNB
from bayou.classifiers.baselines import NoChange
from bayou.classifiers.weighted import WeightedNB
from bayou.rates import Constant, Experts
from bayou.streams.generators import ManyGaussians
from reproduce.sets import DATA, SETS, Rows, load

Make = Callable[[], Any]
Floats = NDArray[np.float64]
LARGE = 900  # test rows from which on few splits are enough
LARGE_SPLITS, SMALL_SPLITS = 5, 25
TEST_SHARE = 0.3
TABLE_SIZES = (40_000, 100_000, 380_000)
STRUCTURES = ("independent", "blocks", "chain", "factor")


def scores(proba: Floats, labels: Sequence[Any], known: Sequence[Any]) -> dict[str, Any]:
    """Accuracy in points, log-loss in nats per row (floored at 1e-9), and for the calibration error of each row how
    sure the prediction was and whether it was right."""
    place = {label: i for i, label in enumerate(known)}
    y = np.array([place.get(label, -1) for label in labels])
    right, sure = proba.argmax(axis=1) == y, proba.max(axis=1)
    given = np.where(y >= 0, proba[np.arange(len(y)), np.maximum(y, 0)], 0.0)
    return {
        "accuracy": 100.0 * float(right.mean()),
        "log_loss": float(-np.log(np.maximum(given, 1e-9)).mean()),
        "ece": calibration_error(sure, right),
        "sure": sure,
        "right": right,
    }


def calibration_error(sure: Floats, right: NDArray[np.bool_], bins: int = 15) -> float:
    """Mean over rows of |share right - mean sureness| of the row's bin."""
    bin_of = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = np.bincount(bin_of, right, bins) - np.bincount(bin_of, sure, bins)
    return float(np.abs(gaps).sum() / len(sure))


def calibration_floor(sure: Floats, draws: int = 20) -> float:
    """The calibration error a perfectly calibrated model would show on so few rows: labels drawn as it says."""
    rng = np.random.default_rng(0)
    return float(np.mean([calibration_error(sure, rng.random(len(sure)) < sure) for _ in range(draws)]))


def split(data: Rows, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of 70 % of the rows, shuffled, and of the others."""
    order = np.random.default_rng(seed).permutation(len(data))
    cut = len(data) - int(len(data) * TEST_SHARE)
    return order[:cut], order[cut:]


def holdout(data: Rows, make: Mapping[str, Make], seed: int, block: int = 1000) -> dict[str, dict[str, Any]]:
    """Learn a shuffled 70 % in one pass, predict the rest."""
    train, test = (data.take(part) for part in split(data, seed))
    found = {}
    for name, new in make.items():
        model = new()
        for start in range(0, len(train), block):
            part = np.arange(start, min(start + block, len(train)))
            rows = train.take(part)
            model.learn_many(rows.columns, rows.labels)
        model.refresh()
        found[name] = scores(model.proba(model.encode(test.columns)), test.labels, model.labels())
    return found


def is_large(data: Rows) -> bool:
    return len(data) * TEST_SHARE >= LARGE


def splits(data: Rows) -> int:
    """Few for large sets, many for small ones."""
    return LARGE_SPLITS if is_large(data) else SMALL_SPLITS


def mean_holdout(data: Rows, make: Mapping[str, Make], n: int) -> dict[str, dict[str, float]]:
    """Means over splits. The calibration error is that of the rows of all splits together ("ece"), beside the mean
    over splits ("ece_split"), what a perfectly calibrated model with the same probabilities would show in its place
    ("floor"), and the difference ("debiased")."""
    runs = [holdout(data, make, seed) for seed in range(n)]
    return {name: _means([run[name] for run in runs]) for name in make}


def _means(runs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    sure, right = (np.concatenate([run[key] for run in runs]) for key in ("sure", "right"))
    per_split = float(np.mean([run["ece"] for run in runs]))
    floor = float(np.mean([calibration_floor(run["sure"]) for run in runs]))
    return {
        "accuracy": float(np.mean([run["accuracy"] for run in runs])),
        "log_loss": float(np.mean([run["log_loss"] for run in runs])),
        "ece": calibration_error(sure, right),
        "ece_split": per_split,
        "floor": floor,
        "debiased": per_split - floor,
    }


def prequential(data: Rows, make: Mapping[str, Make], block: int = 1000) -> dict[str, dict[str, float]]:
    """Predict each row, then learn it, in the set's own order."""
    found = {}
    for name, new in make.items():
        model, right, loss = new(), 0, 0.0
        for start in range(0, len(data), block):
            rows = data.take(np.arange(start, min(start + block, len(data))))
            proba = model.test_then_train_batch(rows.columns, rows.labels)
            part = scores(proba, rows.labels, model.labels())
            right += part["accuracy"] * len(rows)
            loss += part["log_loss"] * len(rows)
        found[name] = {"accuracy": right / len(data), "log_loss": loss / len(data)}
    return found


def models(numeric: str) -> dict[str, Make]:
    """Naive Bayes and weighted naive Bayes over the same tables."""
    return {
        "NB": lambda: WeightedNB(numeric, rate=Constant(0.0)),
        "WNB": lambda: WeightedNB(numeric),
        "published": lambda: WeightedNB(numeric, rate=Experts(published=True)),
        "tied": lambda: WeightedNB(numeric, tied=True),
        "paper": lambda: WeightedNB(numeric, rate="paper"),
        "AdaGrad": lambda: WeightedNB(numeric, rate="adagrad"),
    }


def drifting(numeric: str) -> dict[str, Make]:
    return {
        "NB": lambda: WeightedNB(numeric, rate=Constant(0.0)),
        "WNB": lambda: WeightedNB(numeric),
        "forget": lambda: WeightedNB(numeric, rate=Experts(forget=0.999)),
        "persistence": lambda: WeightedNB(numeric, rate=Experts(persistence=True)),
        "both": lambda: WeightedNB(numeric, rate=Experts(forget=0.999, persistence=True)),
        "no-change": NoChange,
    }


def run_holdout(numeric: str, names: Sequence[str]) -> None:
    make = models(numeric)
    found = {}
    print(f"{'hold-out, ' + numeric:22}" + "".join(f"{name:>10}" for name in make) + "   NLL of NB, WNB")
    for name in names:
        data = load(name, 100_000)
        found[name] = run = mean_holdout(data, make, splits(data))
        line = "".join(f"{run[rule]['accuracy']:10.2f}" for rule in make)
        print(f"{name:22}{line}   {run['NB']['log_loss']:.4f} {run['WNB']['log_loss']:.4f}", flush=True)
    gains = {rule: [run[rule]["accuracy"] - run["NB"]["accuracy"] for run in found.values()] for rule in make}
    losses = {
        rule: [run[rule]["log_loss"] - run["NB"]["log_loss"] for run in found.values()] for rule in make
    }
    print(f"{'mean gain':22}" + "".join(f"{np.mean(gains[rule]):10.2f}" for rule in make))
    print(f"{'worst gain':22}" + "".join(f"{np.min(gains[rule]):10.2f}" for rule in make))
    print(f"{'worst log-loss':22}" + "".join(f"{np.max(losses[rule]):10.4f}" for rule in make))
    measures = {
        "ece": "calibration error", "ece_split": "the same per split", "floor": "were it calibrated",
        "debiased": "above that, per split",
    }  # fmt: skip
    for key, words in measures.items():
        print(f"{words:22}" + "".join(f"{mean_of(found, rule, key):10.3f}" for rule in make))


def mean_of(found: Mapping[str, Mapping[str, Mapping[str, float]]], rule: str, key: str) -> float:
    """Mean over sets."""
    return float(np.mean([run[rule][key] for run in found.values()]))


def run_prequential(numeric: str, names: Sequence[str]) -> None:
    make = drifting(numeric)
    found = {}
    print(f"{'prequential, ' + numeric:22}" + "".join(f"{name:>12}" for name in make) + "   NLL of NB, WNB")
    for name in names:
        found[name] = run = prequential(load(name), make)
        line = "".join(f"{run[rule]['accuracy']:12.2f}" for rule in make)
        print(f"{name:22}{line}   {run['NB']['log_loss']:.4f} {run['WNB']['log_loss']:.4f}", flush=True)
    gains = [mean_of(found, rule, "accuracy") - mean_of(found, "NB", "accuracy") for rule in make]
    print(f"{'mean gain':22}" + "".join(f"{gain:12.2f}" for gain in gains))
    above = {name: run["WNB"]["log_loss"] - run["NB"]["log_loss"] for name, run in found.items()}
    worst = max(above, key=lambda name: above[name])
    print(f"log-loss of WNB above that of NB at most {above[worst]:.4f} ({worst})")


def run_merge(numeric: str, names: Sequence[str], shards: int = 4) -> None:
    """Weights averaged over models that each learned a part of the rows, beside one pass over all of them."""
    print(f"{'merging, ' + numeric:22}{'NB':>10}{'one pass':>10}{'merged':>10}   log-loss of each")
    for name in names:
        data = load(name, 100_000)
        train, test = (data.take(part) for part in split(data, 0))
        found = []
        for make, parts in (
            (models(numeric)["NB"], 1),
            (models(numeric)["WNB"], 1),
            (models(numeric)["WNB"], shards),
        ):
            learned = []
            for part in range(parts):
                rows = train.take(np.arange(part, len(train), parts))
                learned.append(make())
                learned[-1].learn_many(rows.columns, rows.labels)
            model = reduce(lambda a, b: a.merge(b), learned).refresh()
            found.append(scores(model.proba(model.encode(test.columns)), test.labels, model.labels()))
        accuracy = "".join(f"{run['accuracy']:10.2f}" for run in found)
        print(f"{name:22}{accuracy}   " + " ".join(f"{run['log_loss']:.4f}" for run in found), flush=True)


def densities() -> dict[str, Make]:
    """The columns of the document's tables: naive Bayes on three densities, offline references, weights online."""
    return {
        "NB Gaussian": lambda: WeightedNB("gaussian", rate=Constant(0.0)),
        "NB GKClass": lambda: WeightedNB("gk", rate=Constant(0.0)),
        "NB cPiD": lambda: WeightedNB("cpid", rate=Constant(0.0)),
        "AveragedNB": lambda: AveragedNB("fractional", numeric="gk"),
        "paper": lambda: WeightedNB("gk", rate="paper"),
        "WNB": lambda: WeightedNB("gk"),
    }


def pieces(stream: ManyGaussians, rows: int, most: int = 5000) -> Iterator[Any]:
    """So many rows of a stream, few at a time."""
    for at in range(0, rows, most):
        yield stream.read(min(most, rows - at))


def learning_curves(
    structure: str, sizes: Sequence[int], attributes: int = 500, test_rows: int = 20_000
) -> tuple[float, dict[str, list[float]]]:
    """The best possible accuracy, and what each model reaches after so many rows, tested on rows it never saw."""
    stream = ManyGaussians(attributes, structure=structure, seed=1)
    # The first rows are the test; they are drawn again when they are wanted
    for _ in pieces(stream, test_rows):
        pass
    fitted = {name: new() for name, new in densities().items()}
    curves: dict[str, list[float]] = {name: [] for name in fitted}
    learned = 0
    for size in sizes:
        while learned < size:
            rows = stream.read(min(2000, size - learned))
            for model in fitted.values():
                model.learn_many(rows, rows.labels)
            learned += len(rows)
        for name, model in fitted.items():
            right = 0.0
            for part in pieces(ManyGaussians(attributes, structure=structure, seed=1), test_rows):
                found = scores(model.proba(model.encode(part)), part.labels.to_pylist(), model.labels())
                right += found["accuracy"] * len(part)
            curves[name].append(right / test_rows)
    return 100 * stream.bayes_accuracy, curves


def run_synthetic(
    sizes: Sequence[int],
    structures: Sequence[str],
    path: str | None,
    attributes: int = 500,
    test_rows: int = 20_000,
) -> None:
    found = {}
    for structure in structures:
        found[structure] = best, curves = learning_curves(structure, sizes, attributes, test_rows)
        print(f"{structure}, best possible {best:.2f}")
        print(f"{'':12}" + "".join(f"{size:>10,}" for size in sizes))
        for name, curve in curves.items():
            print(f"{name:12}" + "".join(f"{accuracy:10.2f}" for accuracy in curve), flush=True)
    if path:
        plot_curves(found, sizes, path)


def plot_curves(
    found: Mapping[str, tuple[float, dict[str, list[float]]]], sizes: Sequence[int], path: str
) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(found), 3.6), layout="constrained")
    for at, (structure, (best, curves)) in enumerate(found.items()):
        axes = figure.add_subplot(1, len(found), at + 1)
        axes.axhline(best, color="0.6", linestyle=":", label="best possible")
        for name, curve in curves.items():
            axes.plot(sizes, curve, marker=".", label=name)
        axes.set(xscale="log", title=structure, xlabel="rows", ylabel="accuracy, %" if at == 0 else "")
    axes.legend(fontsize=7)
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str]) -> None:
    what = arguments[0] if arguments else "holdout"
    if what == "synthetic":
        sizes = [int(size) for size in arguments[1].split(",")] if len(arguments) > 1 else TABLE_SIZES
        structures = arguments[2].split(",") if len(arguments) > 2 else STRUCTURES
        path = arguments[3] if len(arguments) > 3 else None
        attributes = int(arguments[4]) if len(arguments) > 4 else 500
        test_rows = int(arguments[5]) if len(arguments) > 5 else 20_000
        run_synthetic(sizes, structures, path, attributes, test_rows)
        return
    if not DATA.exists():
        raise SystemExit(f"the data sets are not at {DATA.name}; see the project's README")
    numeric = arguments[1] if len(arguments) > 1 else "gk"
    names = arguments[2].split(",") if len(arguments) > 2 else list(SETS)
    {"holdout": run_holdout, "prequential": run_prequential, "merge": run_merge}[what](numeric, names)


if __name__ == "__main__":
    main(sys.argv[1:])
