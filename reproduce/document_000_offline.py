"""The offline columns of document 000's table 2, on the same rows as its online ones.

python -m reproduce.document_000_offline [sizes] [structures] [most rows for Khiops] [attributes] [test rows]

"NB": naive Bayes with MODL intervals searched on all rows in memory. "ANB": the averaged naive Bayes of the document
(Boullé 2006b, compression-based averaging) by our own code over these intervals, its weights searched on a sample of
the rows; "fractional": its successor in Khiops, by our code too. "Khiops": that program, where it is installed (package
khiops-core) and the rows are not too many for it; it reads six decimals. What was measured is kept as it is found in
`reproduce/results/document_000.json`, with seconds of processor time; a line that is there is not measured again.
Memory: 8 bytes a value of the training and test rows, 1.9 GB for 480,000 rows of 500 columns, and on disk 10 a value.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou import discretize
from bayou.readings.averaging import Evidence, search_named
from bayou.streams.generators import ManyGaussians
from reproduce.document_000 import STRUCTURES, TABLE_SIZES, pieces
from reproduce.document_000_khiops import PROGRAM, accuracy_in, report_on

RESULTS = Path(__file__).parent / "results" / "document_000.json"
SAMPLE = 10_000  # rows on which weights are searched
Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def read(stream: ManyGaussians, rows: int) -> tuple[Floats, Labels]:
    """[d, n] values and labels, read in pieces."""
    values, labels, at = np.empty((0, rows)), np.empty(rows, dtype=np.int64), 0
    for part in pieces(stream, rows, 20_000):
        if at == 0:
            values = np.empty((len(part.columns), rows))
        for j, column in enumerate(part.columns.values()):
            values[j, at : at + len(part)] = column
        labels[at : at + len(part)] = np.asarray(part.labels) == "b"
        at += len(part)
    return values, labels


def offline(values: Floats, y: Labels, test: Floats, truth: Labels) -> dict[str, float]:
    """Percent of right answers on MODL intervals, one imaginary row spread over each column's: NB, ANB, fractional."""
    sizes = np.bincount(y, minlength=2)
    prior = np.log(sizes / len(y))
    tables, cells = [], []
    for column in values:
        found = discretize(column, y)
        tables.append(np.log((found.counts + 1.0 / found.n_parts) / (sizes + 1.0)))
        cells.append(found)
    kept = np.random.default_rng(0).permutation(len(y))[:SAMPLE]
    informative = [j for j, table in enumerate(tables) if len(table) > 1]
    columns = np.array([tables[j][cells[j].cell_of(values[j, kept])] for j in informative])
    costs = 0.5 * np.log(len(y)) * np.array([2.0 * (len(tables[j]) - 1) for j in informative])
    costs += np.log(len(informative) + 1.0)
    w = np.full(len(kept), len(y) / len(kept))
    weights = {"NB": np.ones(len(informative))}
    if len(informative):
        evidence = Evidence(np.ascontiguousarray(columns), prior, y[kept].astype(np.int32), w, costs)
        weights |= {
            "ANB": search_named("compression")(evidence),
            "fractional": search_named("fractional")(evidence),
        }
    scores = {name: np.tile(prior, (test.shape[1], 1)) for name in weights}
    for place, j in enumerate(informative):
        said = tables[j][cells[j].cell_of(test[j])]
        for name, given in weights.items():
            scores[name] += given[place] * said
    return {name: float(100 * np.mean(s.argmax(axis=1) == truth)) for name, s in scores.items()}


def khiops(values: Floats, y: Labels, test: Floats, truth: Labels) -> dict[str, float]:
    """The same of Khiops' selective naive Bayes."""
    parts = ((values, y, 1), (test, truth, 0))
    return {"Khiops": accuracy_in(report_on(table for part in parts for table in tables(*part)))}


def tables(values: Floats, y: Labels, part: int, most: int = 20_000) -> Iterator[pa.Table]:
    """Rows as Khiops reads them, few at a time."""
    for at in range(0, len(y), most):
        columns = {f"x{j}": np.round(column[at : at + most], 6) for j, column in enumerate(values)}
        label = y[at : at + most]
        yield pa.table({**columns, "y": label.astype(str), "part": np.full(len(label), part)})


def processor_time() -> float:
    """Seconds of this process and of the programs it has called."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def recorded() -> dict[str, dict[str, float]]:
    """What was measured so far."""
    found: dict[str, dict[str, float]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    return found


def keep(key: str, cell: dict[str, float]) -> dict[str, float]:
    """Add to what was measured of a line; all of that line."""
    found = recorded()
    found[key] = found.get(key, {}) | {name: round(x, 3) for name, x in cell.items()}
    lines = [f"{json.dumps(k)}: {json.dumps(found[k])}" for k in sorted(found)]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return found[key]


def main(arguments: Sequence[str]) -> None:
    sizes = [int(size) for size in arguments[0].split(",")] if arguments else TABLE_SIZES
    structures = arguments[1].split(",") if len(arguments) > 1 else STRUCTURES
    most = int(arguments[2]) if len(arguments) > 2 else 40_000
    attributes = int(arguments[3]) if len(arguments) > 3 else 500
    test_rows = int(arguments[4]) if len(arguments) > 4 else 20_000
    for structure in structures:
        stream = ManyGaussians(attributes, structure=structure, seed=1)
        drawn: list[tuple[Floats, Labels]] = []
        for size in sizes:
            key = f"{structure}: {attributes} columns: {size} rows: {test_rows} test rows"
            cell = recorded().get(key, {})
            for name, way in {"NB": offline, "Khiops": khiops}.items():
                if name in cell or (name == "Khiops" and (PROGRAM is None or size > most)):
                    continue
                drawn = drawn or [read(stream, test_rows), read(stream, max(sizes))]
                (test, truth), (values, y) = drawn
                began = processor_time()
                found = way(values[:, :size], y[:size], test, truth)
                cell = keep(key, found | {f"seconds, {name}": processor_time() - began})
            print(f"{key}  " + "  ".join(f"{name} {x:.2f}" for name, x in cell.items()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
