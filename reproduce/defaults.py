"""Every classifier as it is by default beside its other settings: accuracy in file order and in three shuffles.

    python -m reproduce.defaults                     measure what is not recorded yet, then print the tables
    python -m reproduce.defaults --models TAN,AODE   only these classifiers
    python -m reproduce.defaults --tables            print the tables of what is recorded
    python -m reproduce.defaults --tables --page     write them into docs/accuracy.md

All sets with columns of `shared/data`, by `fit` on the training part. Small sets: three stratified folds; the others:
30 % held out, drawn by a seed (adult: its own test file). Of every set at most the first 6,000 rows. In file order the
training rows stand as in the file, else they are shuffled by a seed. A classifier that `depends_on_order` gets its rows
in the order of a hash of what they hold, so that shuffling changes nothing (tests/classifiers/test_order.py): of these
the file order is measured alone. Settings that never were the default are measured in one shuffle. Of classifiers that
count triples the default alone is measured on Covertype and spambase. Classifiers of text: the sets of text, by three
folds. Classifiers that forget, and some beside them, also on the streams in file order, each row predicted before it is
learned, at most 20,000 rows.
What was measured is kept in `reproduce/results/defaults.json`; delete a line to measure it again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from bayou import cross_validate, prequential
from bayou.evaluate.crossval import splits
from bayou.streams import open_stream
from bayou.threads import set_threads
from reproduce.accuracy import COVTYPE
from reproduce.defaults_tables import ORDERS, STREAMS, TEXTS, tables
from reproduce.order import split, table
from reproduce.sets import ALL, DATA, Rows, load
from reproduce.settings import FORGETTING, SETTINGS, TEXT, defaults, made

RESULTS = Path(__file__).parent / "results" / "defaults.json"
PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"
BEGIN, END = "<!-- measured -->\n", "<!-- end of measured -->"
MOST = 6_000
SMALL = 3_500  # up to so many rows, three folds
HEAVY = ("TC", "SPCr", "SPC", "ReadMany")  # count triples
MANY_COLUMNS = ("covtype", "spambase")
STREAMED = 20_000
Part = tuple[Rows, Rows]  # to learn and to test


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


@cache
def ordered(name: str, order: str) -> list[Part]:
    """Training rows in an order, and test rows."""
    if order == "file":
        return parts_of(name, rows_of(name))
    places = [np.random.default_rng(int(order)).permutation(len(train)) for train, _ in ordered(name, "file")]
    return [(a.take(shuffled), b) for (a, b), shuffled in zip(ordered(name, "file"), places, strict=True)]


def by_fit(name: str, setting: str, order: str) -> float:
    """Percent of all test rows."""
    right = total = 0
    for train, test in ordered(name, order):
        said = made(setting).fit(dict(train.columns), train.labels).predict_many(dict(test.columns))
        right += sum(a == b for a, b in zip(said, test.labels, strict=True))
        total += len(test)
    return 100 * right / total


def by_folds(name: str, setting: str) -> float:
    """Percent of the documents of a set of text."""
    options = {"format": "text"} if name == "SMS spam" else {}
    with open_stream(DATA / "text" / TEXTS[name], **options) as source:
        return 100 * cross_validate({"": made(setting)}, source, folds=3).mean("")


@cache
def streamed(name: str) -> Rows:
    """The first rows of a stream."""
    rows = load(name, STREAMED)
    return rows.take(np.arange(min(len(rows), STREAMED)))


def by_stream(name: str, setting: str) -> float:
    """Percent of the rows of a stream, each predicted before it is learned."""
    return 100 * prequential(made(setting), table(streamed(name))).accuracy


def orders_of(model: str, setting: str) -> tuple[str, ...]:
    """The orders in which a setting is measured."""
    if made(setting).depends_on_order:
        return ORDERS[:1]
    return ORDERS if setting in defaults(model) else ORDERS[1:2]


def wanted(models: list[str], sets: list[str]) -> Iterator[tuple[str, str, str]]:
    """What is to be measured, set, setting and order: the defaults of all sets first."""
    for places in (slice(1), slice(1, None)):
        for name in sets:
            for model in models:
                if places.start is None or not (model in HEAVY and name in MANY_COLUMNS):
                    for setting in SETTINGS.get(model, ())[places]:
                        yield from ((name, setting, order) for order in orders_of(model, setting))
    for model in models:
        yield from ((name, setting, "folds") for setting in TEXT.get(model, ()) for name in TEXTS)
        if model in FORGETTING:
            yield from ((name, setting, "stream") for setting in SETTINGS[model] for name in STREAMS)


def measure(models: list[str], sets: list[str], path: Path) -> None:
    """Measure and keep what is not recorded yet."""
    kept = recorded(path)
    for name, setting, order in wanted(models, sets):
        key = f"{name}: {setting}: {order}"
        if key in kept:
            continue
        if order in ORDERS:
            found = by_fit(name, setting, order)
        else:
            found = by_folds(name, setting) if order == "folds" else by_stream(name, setting)
        kept[key] = round(found, 3)
        path.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {v}" for k, v in kept.items()) + "\n}\n")
        print(key, kept[key], file=sys.stderr, flush=True)


def recorded(path: Path) -> dict[str, float]:
    found: dict[str, float] = json.loads(path.read_text()) if path.exists() else {}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", default=",".join([*SETTINGS, *TEXT]))
    parser.add_argument("--sets", default=",".join(ALL))
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    set_threads(1)
    if not arguments.tables:
        measure(arguments.models.split(","), arguments.sets.split(","), arguments.results)
    found = "\n".join(tables(recorded(arguments.results)))
    if arguments.page:
        text = PAGE.read_text()
        PAGE.write_text(text[: text.index(BEGIN) + len(BEGIN)] + found + text[text.index(END) :])
    else:
        print(found)


if __name__ == "__main__":
    main()
