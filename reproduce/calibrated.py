"""How well probabilities are calibrated, before and after `Calibrated`, on the sets above 5,000 rows.

    python -m reproduce.calibrated [--sets elec,covtype] [--rows 30000]

Every row is predicted before it is learned: streams in their own order, tables shuffled (seed 1). The error is that of
`calibration_error_`: 15 bins of the greatest probability, each gap less what chance alone would show. What a classifier
said is kept and calibrated by every method, which gives what the classifier would inside `Calibrated`. Beside it stands
what the error would be if every probability of "beta" were true: hits drawn by them, 200 times, the mean and the 95 %
point. Results are kept in reproduce/results/calibrated.json, and the command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from bayou import AODE, Bagging, Calibrated, HoeffdingTree, NaiveBayes
from bayou.block import Floats
from bayou.ensembles.calibrated import METHODS, RATE, calibration_error
from bayou.kernels.outcomes import BINS
from bayou.summaries.calibrator import Calibrator
from bayou.summaries.outcomes import class_plan
from reproduce.auto import BLOCK, STREAMS, ordered
from reproduce.sets import Rows, load

RESULTS = Path(__file__).parent / "results" / "calibrated.json"
SETS = ("letter", "mushroom", "nursery", "adult", "banana", "elec", "covtype", "airlines")
MODELS = (NaiveBayes, AODE, HoeffdingTree, Bagging)
WAYS = {**{method: (method,) for method in METHODS}, "isotonic over beta": ("beta", "isotonic")}
CHANCE, DRAWS = "by chance alone", 200
FORGET = float(Calibrated().forget)


def said(model: Any, rows: Rows) -> tuple[Floats, np.ndarray, list[Any]]:
    """[n, K] what the model said of each row before it learned it, and the codes of the labels."""
    parts = []
    for lo in range(0, len(rows), BLOCK):
        part = rows.take(np.arange(lo, min(lo + BLOCK, len(rows))))
        parts.append((model.test_then_train_batch(part.columns, part.labels), model.labels()))
    labels = model.labels()
    at = {label: i for i, label in enumerate(labels)}
    proba = np.zeros((len(rows), len(labels)))
    lo = 0
    for some, known in parts:
        proba[lo : lo + len(some), [at[label] for label in known]] = some
        lo += len(some)
    return proba, np.array([at[label] for label in rows.labels], dtype=np.int32), labels


def calibrated(proba: Floats, y: np.ndarray, labels: list[Any], method: str, forget: float = FORGET) -> Any:
    """What comes out, and the calibrator that made it."""
    calibrator = Calibrator(METHODS[method], RATE, forget)
    calibrator.realign(class_plan([], labels))
    out = np.empty(proba.shape)
    calibrator.learn(proba.copy(), np.zeros(len(labels)), 0, y, np.ones(len(y)), out)
    return np.exp(out), calibrator


def measured(model: Any, rows: Rows) -> dict[str, list[float]]:
    """By way, calibration error, accuracy (%) and log-loss."""
    proba, y, labels = said(model, rows)
    found = {}
    for way, methods in WAYS.items():
        now = proba
        for method in methods:
            now, calibrator = calibrated(now, y, labels, method)
            if "before" not in found:
                found["before"] = [calibration_error(calibrator.bins[0]), *scores(proba, y)]
        found[way] = [calibration_error(calibrator.bins[1]), *scores(now, y)]
        if way == Calibrated().method:
            found[CHANCE] = by_chance(now.max(axis=1))
    return {way: [round(value, 5) for value in values] for way, values in found.items()}


def by_chance(confidence: Floats) -> list[float]:
    """Mean and 95 % point of the calibration error where each row is right with the probability it says."""
    rng, at = np.random.default_rng(1), np.minimum((confidence * BINS).astype(int), BINS - 1)
    errors = []
    for _ in range(DRAWS):
        hits = rng.random(len(at)) < confidence
        bins = [np.bincount(at, of, BINS) for of in (np.ones(len(at)), confidence, hits)]
        errors.append(calibration_error(np.stack(bins, axis=1)))
    return [float(np.mean(errors)), float(np.quantile(errors, 0.95))]


def scores(proba: Floats, y: np.ndarray) -> tuple[float, float]:
    given = proba[np.arange(len(y)), y]
    right = (proba.argmax(axis=1) == y) & proba.any(axis=1)
    return 100 * float(right.mean()), float(-np.log(np.maximum(given, 1e-9)).mean())


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sets", default=",".join(SETS))
    asked.add_argument("--rows", type=int, default=30_000)
    given = asked.parse_args()
    kept: dict[str, dict[str, list[float]]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in given.sets.split(","):
        for make in MODELS:
            key = f"{name}: {make()!r}"
            if key not in kept:
                rows = ordered(load(name, given.rows), "file" if name in STREAMS else "shuffled")
                kept[key] = measured(make(), rows)
                RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    ways = ("before", *WAYS)
    print("| set, classifier |", " | ".join(ways), f"| {CHANCE}, mean to 95 % |")
    print("|---|" + "---|" * (len(ways) + 1))
    for key, found in kept.items():
        chance = " to ".join(f"{value:.4f}" for value in found[CHANCE])
        print(f"| {key} |", " | ".join(f"{found[way][0]:.4f}" for way in ways), f"| {chance} |")
    above = [str(sum(found[way][0] > 0.01 for found in kept.values())) for way in ways]
    print(f"| above .01, of {len(kept)} |", " | ".join(above), "| |")
    losses = [f"{np.mean([found[way][2] for found in kept.values()]):.4f}" for way in ways]
    print("| mean log-loss |", " | ".join(losses), "| |")
    same = all(found["temperature"][1] == found["before"][1] for found in kept.values())
    print(f"\nAccuracy unchanged by temperature in all cases: {same}.")


if __name__ == "__main__":
    main()
