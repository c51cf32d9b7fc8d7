"""Every classifier as it is by default beside its other settings: accuracy in file order and in three shuffles.

    python -m reproduce.defaults                     measure what is not recorded yet, then print the tables
    python -m reproduce.defaults --models TAN,AODE   only these classifiers
    python -m reproduce.defaults --tables            print the tables of what is recorded

All sets with columns of `shared/data`, by `fit` on the training part. Small sets: three stratified folds; the others:
30 % held out, drawn by a seed (adult: its own test file). Of every set at most the first 6,000 rows. In file order the
training rows stand as in the file, else they are shuffled by a seed. A classifier that `depends_on_order` gets its rows
in the order of a hash of what they hold, so that shuffling changes nothing (tests/classifiers/test_order.py): of these
the file order is measured alone. Other settings than the default and the one before it are measured in one shuffle.
What was measured is kept in `reproduce/results/defaults.json`; delete a line to measure it again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import bayou
from bayou.evaluate.crossval import splits
from bayou.streams import open_stream
from bayou.threads import set_threads
from reproduce.accuracy import COVTYPE
from reproduce.order import split
from reproduce.sets import ALL, DATA, Rows, load

RESULTS = Path(__file__).parent / "results" / "defaults.json"
MOST = 6_000
SMALL = 3_500  # up to so many rows, three folds
ORDERS = ("file", "0", "1", "2")
HEAVY = ("TC", "SPCr", "SPC", "ReadMany")  # count triples: not on Covertype and spambase
TOO_HEAVY = ("covtype", "spambase")

# Of every classifier the default, the default it had before, and its other main settings, as expressions.
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "MajorityClass": ("MajorityClass()",),
    "NaiveBayes": (
        "NaiveBayes()", "NaiveBayes('gaussian')", "NaiveBayes('gk')", "NaiveBayes('kernel')",
        "NaiveBayes('gk', 'fayyad-irani')", "NaiveBayes('gk', 'equal-frequency')",
    ),
    "WeightedNB": (
        "WeightedNB()", "WeightedNB('gaussian')", "WeightedNB('gk')", "WeightedNB(rate='adagrad')",
        "WeightedNB(tied=True)",
    ),
    "AveragedNB": (
        "AveragedNB()", "AveragedNB(numeric='gaussian')", "AveragedNB(numeric='gk')", "AveragedNB('compression')",
    ),
    "EcocNB": (
        "EcocNB()", "EcocNB(NaiveBayes('gaussian'), 'bch')", "EcocNB(code='bch')", "EcocNB(code='one-vs-one')",
        "EcocNB(code='random')",
    ),
    "AODE": ("AODE()", "AODE(numeric='width')", "AODE(numeric=Grid(5))", "AODE(numeric=Grid(10, 'width', 500))"),
    "TAN": (
        "TAN()", "TAN(interpolate=0, numeric='width')", "TAN(interpolate=0)", "TAN(numeric=Grid(5))",
        "TAN(numeric=Grid(10, 'width', 500))",
    ),
    "FAN": ("FAN()", "FAN('mdl', numeric='width')", "FAN('mdl')", "FAN('aic')"),
    "SuperParent": ("SuperParent()", "SuperParent(numeric='width')"),
    "FANC": ("FANC()", "FANC(numeric='width')", "FANC(numeric=Grid(5))", "FANC(order='information')"),
    "Collection": ("Collection()", "Collection(numeric='width')"),
    "SPC": ("SPC()", "SPC(numeric='width')", "SPC(numeric=Grid(5))"),
    "SPCr": ("SPCr()", "SPCr(numeric='width')", "SPCr(numeric=Grid(5))"),
    "TC": ("TC()", "TC(numeric='width')", "TC(numeric=Grid(5))"),
    "ReadMany": ("ReadMany()", "ReadMany(numeric='width')", "ReadMany(combine='loss')"),
    "HoeffdingTree": (
        "HoeffdingTree()", "HoeffdingTree(split='gain')", "HoeffdingTree(leaf='bayes')",
        "HoeffdingTree(leaf='majority')", "HoeffdingTree(numeric='gk')", "HoeffdingTree(delta=0.01)",
        "HoeffdingTree(split='gini')",
    ),
    "CountForest": ("CountForest()",),
    "Bagging": (
        "Bagging()", "Bagging(HoeffdingTree(split='gain'), rate=1.0)", "Bagging(HoeffdingTree())",
        "Bagging(rate=1.0)", "Bagging(vote='hard')", "Bagging(NaiveBayes())",
    ),
    "WeightedVoting": (
        "WeightedVoting()", "WeightedVoting([NaiveBayes('gaussian'), HoeffdingTree()])",
    ),
    "Pool": ("Pool()",),
    "AWE": ("AWE()", "AWE(NaiveBayes('gaussian'))", "AWE(HoeffdingTree())"),
    "ResetOnDrift": ("ResetOnDrift()", "ResetOnDrift(NaiveBayes('gaussian'))", "ResetOnDrift(HoeffdingTree())"),
    "Fading": ("Fading()", "Fading(NaiveBayes('gaussian'))"),
    "Window": ("Window()", "Window(NaiveBayes('gaussian'))"),
}  # fmt: skip


def rows_of(name: str) -> Rows:
    """The rows of a set, Covertype's flags as names."""
    rows = load(name, MOST)
    if len(rows) > MOST:
        rows = rows.take(np.arange(MOST))
    flags = tuple(COVTYPE)
    columns = {c: v.cast(pa.string()) if c.startswith(flags) else v for c, v in rows.columns.items()}
    return Rows(columns, rows.labels)


def parts_of(name: str, rows: Rows) -> list[tuple[Rows, Rows]]:
    """Training rows in file order, and test rows."""
    if name == "adult":
        with open_stream(DATA / "tabular" / "adult-test.csv.gz", target="class") as stream:
            part = stream.read(MOST)
        assert part is not None
        return [(rows, Rows(part.columns, part.labels.to_pylist()))]
    if len(rows) > SMALL:
        places = [split(rows)]
    else:
        places = [(np.sort(a), np.sort(b)) for a, b in splits(pa.array(rows.labels), 3, 1, True, 0)]
    return [(rows.take(a), rows.take(b)) for a, b in places]


def accuracy(setting: str, parts: list[tuple[Rows, Rows]], order: str) -> float:
    """Percent of all test rows."""
    right = total = 0
    for train, test in parts:
        places: NDArray[np.int64] = np.arange(len(train))
        if order != "file":
            places = np.random.default_rng(int(order)).permutation(len(train))
        learned = train.take(places)
        model = made(setting).fit(dict(learned.columns), learned.labels)
        said = model.predict_many(dict(test.columns))
        right += sum(a == b for a, b in zip(said, test.labels, strict=True))
        total += len(test)
    return 100 * right / total


def made(setting: str) -> Any:
    """The model that an expression in exported names makes."""
    names = {name: getattr(bayou, name) for name in bayou.__all__ if name[0].isupper()}
    return eval(setting, {"__builtins__": {}}, names)


def orders_of(setting: str, place: int) -> tuple[str, ...]:
    """The orders in which the setting at this place of a classifier's is measured."""
    if made(setting).depends_on_order:
        return ORDERS[:1]
    return ORDERS if place < 2 else ORDERS[1:2]


def wanted(models: list[str], sets: list[str]) -> Iterator[tuple[str, str, str]]:
    """What is to be measured: the defaults of all sets first, the smallest sets first."""
    for places in (range(1), range(1, 2), range(2, 99)):
        for name in sets:
            for model in models:
                if not (model in HEAVY and name in TOO_HEAVY):
                    for place, setting in list(enumerate(SETTINGS[model]))[places.start : places.stop]:
                        yield from ((name, setting, order) for order in orders_of(setting, place))


def measure(models: list[str], sets: list[str], path: Path) -> None:
    """Measure and keep what is not recorded yet."""
    kept, loaded = recorded(path), ""
    for name, setting, order in wanted(models, sets):
        key = f"{name}: {setting}: {order}"
        if key in kept:
            continue
        if loaded != name:
            parts, loaded = parts_of(name, rows_of(name)), name
        kept[key] = round(accuracy(setting, parts, order), 3)
        path.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {v}" for k, v in kept.items()) + "\n}\n")
        print(key, kept[key], file=sys.stderr, flush=True)


def recorded(path: Path) -> dict[str, float]:
    found: dict[str, float] = json.loads(path.read_text()) if path.exists() else {}
    return found


def of(kept: Mapping[str, float], name: str, setting: str) -> tuple[float, float] | None:
    """Accuracy in file order and mean over the recorded shuffles; one order stands for both if alone."""
    found = {order: kept[key] for order in ORDERS if (key := f"{name}: {setting}: {order}") in kept}
    if not found:
        return None
    shuffles = [value for order, value in found.items() if order != "file"]
    shuffled = float(np.mean(shuffles)) if shuffles else found["file"]
    return found.get("file", shuffled), shuffled


def by_classifier(kept: Mapping[str, float]) -> list[str]:
    """Means over the sets on which the default is recorded; other settings where both are, (so many sets)."""
    lines = [
        "| classifier | sets | **default: file / shuffled** | file order costs: mean, most | least above majority "
        "| the default before, against it | best other setting, against the default |",
        "|---|---|---|---|---|---|---|",
    ]
    for model, settings in SETTINGS.items():
        sets = [s for s in ALL if of(kept, s, settings[0])]
        if not sets or model == "MajorityClass":
            continue
        now = np.array([of(kept, s, settings[0]) for s in sets])
        cost = now[:, 1] - now[:, 0]
        majority = np.array([of(kept, s, "MajorityClass()") for s in sets])
        above = now.min(axis=1) - majority[:, 1]
        least = int(above.argmin())
        against = {x: difference(kept, x, settings[0]) for x in settings[1:]}
        against = {x: found for x, found in against.items() if found[1]}
        best = max(against, key=lambda x: against[x][0]) if against else ""
        before = settings[1] if len(settings) > 1 and settings[1] in against else ""
        lines.append(
            f"| {model} | {len(sets)} | **{now[:, 0].mean():.2f} / {now[:, 1].mean():.2f}** "
            f"| {cost.mean():+.2f}, {f'{cost.max():+.2f} ({sets[int(cost.argmax())]})' if cost.any() else 'none'} "
            f"| {above[least]:+.1f} ({sets[least]}) "
            f"| {'{:+.2f} ({})'.format(*against[before]) if before else ''} "
            f"| {'`{}` {:+.2f} ({})'.format(best, *against[best]) if best else ''} |"
        )
    return lines


def difference(kept: Mapping[str, float], setting: str, default: str) -> tuple[float, int]:
    """How far a setting is ahead of the default on average, shuffled, and over how many sets both are recorded."""
    pairs = [(a[1], b[1]) for s in ALL if (a := of(kept, s, setting)) and (b := of(kept, s, default))]
    return (float(np.mean([a - b for a, b in pairs])) if pairs else 0.0), len(pairs)


def by_set(kept: Mapping[str, float], models: tuple[str, ...]) -> list[str]:
    """Defaults, set by set."""
    lines = [f"| set | {' | '.join(models)} |", "|---" * (1 + len(models)) + "|"]
    for name in ALL:
        cells = [of(kept, name, f"{model}()") for model in models]
        if any(cells):
            lines.append(
                f"| {name} | " + " | ".join(f"{c[0]:.2f} / {c[1]:.2f}" if c else "" for c in cells) + " |"
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", default=",".join(SETTINGS))
    parser.add_argument("--sets", default=",".join(ALL))
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--results", type=Path, default=RESULTS)
    told = parser.parse_args()
    set_threads(1)
    if not told.tables:
        measure(told.models.split(","), told.sets.split(","), told.results)
    kept = recorded(told.results)
    print(
        "### Means over the sets\n",
        *by_classifier(kept),
        "",
        "### Defaults, file order / shuffled\n",
        sep="\n",
    )
    shown = (
        "MajorityClass",
        "NaiveBayes",
        "WeightedNB",
        "AveragedNB",
        "AODE",
        "TAN",
        "ReadMany",
        "HoeffdingTree",
    )
    print(*by_set(kept, shown), sep="\n")


if __name__ == "__main__":
    main()
