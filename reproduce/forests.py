"""Forests of counts beside scikit-learn's forests and boosting, and beside naive Bayes: accuracy and log-loss.

    python -m reproduce.forests                       measure what is not recorded yet, then print the tables
    python -m reproduce.forests --sets elec,adult     only these sets
    python -m reproduce.forests --whole covtype       all rows of a large set, forests only, the rows shuffled
    python -m reproduce.forests --networks            networks, weighted and backing off, on the small sets, shuffled
    python -m reproduce.forests --tables              print the tables of what is recorded

30 % of the rows are held out, drawn by a seed: five draws of sets below 5,000 rows, one of the others. Our classifiers
learn the rest by `fit`, one pass, in file order and shuffled; scikit-learn's have it whole, with names as indicator
columns (HistGradientBoosting: as codes). Of Covertype and Airlines the first 60,000 rows. The log-loss of forests that
give a class probability 0 is softened, (T P + 1 / K) / (T + 1), which is kinder than leaving it. Results are kept in
`reproduce/results/forests.json`; delete a line to measure it again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import bayou
from bayou.threads import set_threads
from reproduce.order import split, table
from reproduce.sets import ALL, Rows, load

RESULTS = Path(__file__).parent / "results" / "forests.json"
MOST = {"covtype": 60_000, "airlines": 60_000}
SMALL = 5_000
OURS = (
    "CountForest()",
    "CountForest(combine='mean')",
    "RandomNetworks()",
    "Pool([CountForest(), RandomNetworks()])",
    "NaiveBayes()",
    "WeightedNB()",
    "AODE()",
    "HoeffdingTree()",
)
WHOLE = (  # of all rows of a large set
    "CountForest()",
    "CountForest(reservoir=100_000)",
    "CountForest(reservoir=500_000, max_bytes=1 << 30)",
    "RandomForest(100)",
)
NETWORKS = (  # on sets below 5,000 rows with at most forty columns
    "RandomNetworks()",
    "RandomNetworks(weighted=True)",
    "RandomNetworks(smoothing='back-off')",
    "AODE()",
    "AODE(smoothing='back-off')",
    "TAN()",
    "TAN(smoothing='back-off')",
)
FEW = tuple(
    "anneal banana breast-cancer credit-a credit-g diabetes glass heart-c hepatitis iris kr-vs-kp labor segment "
    "soybean vote".split()
)
THEIRS = ("RandomForest(100)", "ExtraTrees(100)", "HistGradientBoosting")
Scores = tuple[float, float, float]  # accuracy in %, log-loss, seconds of processor time to learn


def score(proba: NDArray[np.float64], classes: list[Any], labels: list[Any]) -> tuple[float, float]:
    """Accuracy in % and mean log-loss; a class that was never learned counts as 1e-15."""
    place = {label: i for i, label in enumerate(classes)}
    given = np.array([proba[i, place[y]] if y in place else 0.0 for i, y in enumerate(labels)])
    best = [classes[i] for i in proba.argmax(axis=1)]
    right = np.mean([a == b for a, b in zip(best, labels, strict=True)])
    return float(100 * right), float(-np.log(np.maximum(given, 1e-15)).mean())


def ours(setting: str, train: Rows, test: Rows, order: str) -> Scores:
    places = np.arange(len(train))
    if order != "file":
        places = np.random.default_rng(0).permutation(len(train))
    learned = train.take(places)
    model = eval(setting, {"__builtins__": {}}, {name: getattr(bayou, name) for name in bayou.__all__})
    begin = time.process_time()
    X, y = table(learned)
    model.fit(X, y)
    seconds = time.process_time() - begin
    proba = np.array([[row[c] for c in model.labels()] for row in model.predict_proba_many(table(test)[0])])
    return *score(proba, model.labels(), test.labels), seconds


def matrices(train: Rows, test: Rows, indicators: bool) -> tuple[Any, Any, list[bool]]:
    """Both parts as numbers: names as indicator columns, or as codes."""
    parts: list[tuple[Any, Any]] = []
    nominal: list[bool] = []
    for name, column in train.columns.items():
        other = test.columns[name]
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            pair = (np.array(column.to_pylist(), dtype=float), np.array(other.to_pylist(), dtype=float))
            parts.append((pair[0][:, None], pair[1][:, None]))
            nominal.append(False)
            continue
        known = sorted({str(v) for v in column.to_pylist()})
        place = {v: i for i, v in enumerate(known)}
        codes = [np.array([place.get(str(v), -1) for v in c.to_pylist()]) for c in (column, other)]
        if indicators:
            parts.append(tuple((c[:, None] == np.arange(len(known))).astype(np.float32) for c in codes))  # type: ignore[arg-type]
            nominal += [False] * len(known)
        else:
            few = len(known) <= 250
            parts.append(tuple(np.where(c < 0, np.nan, c)[:, None] for c in codes))  # type: ignore[arg-type]
            nominal.append(few)
    return np.hstack([a for a, _ in parts]), np.hstack([b for _, b in parts]), nominal


def theirs(setting: str, train: Rows, test: Rows) -> Scores:
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier

    boosting = setting == "HistGradientBoosting"
    a, b, nominal = matrices(train, test, not boosting)
    makers: Mapping[str, Callable[[], Any]] = {
        "RandomForest(100)": lambda: RandomForestClassifier(100, random_state=0),
        "ExtraTrees(100)": lambda: ExtraTreesClassifier(100, random_state=0),
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(
            random_state=0, categorical_features=nominal if any(nominal) else None
        ),
    }
    model = makers[setting]()
    begin = time.process_time()
    model.fit(a, train.labels)
    seconds = time.process_time() - begin
    proba = model.predict_proba(b)
    if not boosting:
        proba = (100 * proba + 1 / proba.shape[1]) / 101
    return *score(proba, list(model.classes_), test.labels), seconds


def measure(sets: Sequence[str], path: Path, settings: Sequence[tuple[str, str]]) -> None:
    """Measure settings in an order of rows (theirs: in none), as far as they are not recorded."""
    kept = recorded(path)
    for name in sets:
        wanted = [(s, o) for s, o in settings if f"{name}: {s}: {o}" not in kept]
        if not wanted:
            continue
        rows = load(name, MOST.get(name))
        seeds = range(5 if len(rows) < SMALL else 1)
        parts = [(rows.take(a), rows.take(b)) for a, b in (split(rows, seed) for seed in seeds)]
        for setting, order in wanted:
            found = [ours(setting, a, b, order) if order else theirs(setting, a, b) for a, b in parts]
            kept[f"{name}: {setting}: {order}"] = [round(float(v), 4) for v in np.mean(found, axis=0)]
            write(kept, path)
            print(name, setting, order, kept[f"{name}: {setting}: {order}"], file=sys.stderr, flush=True)


def measure_whole(name: str, path: Path) -> None:
    """Forests that see all rows of a large set."""
    kept = recorded(path)
    wanted = [setting for setting in WHOLE if f"{name}, all rows: {setting}" not in kept]
    if not wanted:
        return
    rows = load(name)
    a, b = split(rows)
    train, test = rows.take(a), rows.take(b)
    for setting in wanted:
        found = theirs(setting, train, test) if setting in THEIRS else ours(setting, train, test, "shuffled")
        write(kept | {f"{name}, all rows: {setting}": [round(v, 4) for v in found]}, path)
        kept = recorded(path)
        print(name, setting, found, file=sys.stderr, flush=True)


def write(kept: Mapping[str, list[float]], path: Path) -> None:
    path.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {v}" for k, v in kept.items()) + "\n}\n")


def recorded(path: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = json.loads(path.read_text()) if path.exists() else {}
    return found


def tables(kept: Mapping[str, list[float]]) -> list[str]:
    columns = [*((s, "shuffled") for s in OURS), *((s, "") for s in THEIRS)]
    sets = [n for n in ALL if all(f"{n}: {s}: {o}" in kept for s, o in columns)]
    lines = [f"| set | {' | '.join(f'`{s}`' for s, _ in columns)} | `CountForest()` in file order |"]
    lines.append("|---" * (2 + len(columns)) + "|")
    for name in sets:
        cells = [kept[f"{name}: {s}: {o}"] for s, o in (*columns, ("CountForest()", "file"))]
        lines.append(f"| {name} | " + " | ".join(f"{a:.1f} / {b:.3f}" for a, b, _ in cells) + " |")
    means = [
        np.mean([kept[f"{n}: {s}: {o}"] for n in sets], axis=0)
        for s, o in (*columns, ("CountForest()", "file"))
    ]
    lines.append(
        f"| mean of {len(sets)} | " + " | ".join(f"**{m[0]:.2f} / {m[1]:.3f}**" for m in means) + " |"
    )
    lines.append("| seconds to learn | " + " | ".join(f"{m[2]:.1f}" for m in means) + " |")
    whole = [name for name in ALL if f"{name}, all rows: {WHOLE[0]}" in kept]
    if whole:
        lines += ["", "| all rows | accuracy / log-loss | seconds to learn |", "|---|---|---|"]
    for name in whole:
        for setting in WHOLE:
            a, b, seconds = kept.get(f"{name}, all rows: {setting}", [np.nan] * 3)
            lines.append(f"| {name}: `{setting}` | {a:.2f} / {b:.3f} | {seconds:.0f} |")
    return lines


def network_table(kept: Mapping[str, list[float]]) -> list[str]:
    """Means over the small sets."""
    lines = ["| classifier | mean accuracy / log-loss | seconds to learn |", "|---|---|---|"]
    for setting in NETWORKS:
        found = [kept[key] for name in FEW if (key := f"{name}: {setting}: shuffled") in kept]
        if len(found) == len(FEW):
            a, b, seconds = np.mean(found, axis=0)
            lines.append(f"| `{setting}` | {a:.2f} / {b:.3f} | {seconds:.2f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default=",".join(ALL))
    parser.add_argument("--whole")
    parser.add_argument("--networks", action="store_true")
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    set_threads(1)
    if options.whole:
        measure_whole(options.whole, options.results)
    elif options.networks:
        measure(FEW, options.results, [(s, "shuffled") for s in NETWORKS])
    elif not options.tables:
        wanted = [(s, o) for s in OURS for o in ("file", "shuffled")] + [(s, "") for s in THEIRS]
        measure(options.sets.split(","), options.results, wanted)
    print(*tables(recorded(options.results)), "", *network_table(recorded(options.results)), sep="\n")


if __name__ == "__main__":
    main()
