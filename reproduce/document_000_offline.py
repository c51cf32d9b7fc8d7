"""The offline columns of document 000's table 2, on the same rows as its online ones.

python -m reproduce.document_000_offline [sizes] [structures] [most rows for Khiops] [attributes] [test rows]

"NB": naive Bayes with MODL intervals searched on all rows in memory. "ANB": the averaged naive Bayes of the document
(Boullé 2006b, compression-based averaging) by our own code over these intervals, its weights searched on a sample of
the rows; "fractional": its successor in Khiops, by our code too. "Khiops": that program, where it is installed (package
khiops-core) and the rows are not too many for it. What was measured is kept in `reproduce/results/document_000.json`;
delete a line to measure it again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou import discretize
from bayou.readings.averaging import Evidence, search_named
from bayou.streams.generators import ManyGaussians
from reproduce.document_000 import STRUCTURES, TABLE_SIZES
from reproduce.document_000_khiops import PROGRAM, khiops_accuracy
from reproduce.sets import Rows

RESULTS = Path(__file__).parent / "results" / "document_000.json"
SAMPLE = 10_000  # rows on which weights are searched
Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def read(stream: ManyGaussians, rows: int) -> tuple[Floats, Labels]:
    """[d, n] values and labels, read in pieces."""
    parts = []
    while rows > 0:
        part = stream.read(min(rows, 20_000))
        values = np.stack([np.asarray(column) for column in part.columns.values()])
        parts.append((values, np.unique(np.asarray(part.labels), return_inverse=True)[1]))
        rows -= len(part)
    return np.concatenate([x for x, _ in parts], axis=1), np.concatenate([y for _, y in parts])


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


def khiops(values: Floats, y: Labels, test: Floats, truth: Labels) -> float:
    """The same of Khiops' selective naive Bayes."""
    both = np.concatenate([values, test], axis=1)
    rows = Rows(
        {f"x{j}": pa.array(column) for j, column in enumerate(both)}, np.concatenate([y, truth]).tolist()
    )
    return khiops_accuracy(rows, np.arange(len(y)))


def main(arguments: Sequence[str]) -> None:
    sizes = [int(size) for size in arguments[0].split(",")] if arguments else TABLE_SIZES
    structures = arguments[1].split(",") if len(arguments) > 1 else STRUCTURES
    most = int(arguments[2]) if len(arguments) > 2 else 40_000
    attributes = int(arguments[3]) if len(arguments) > 3 else 500
    test_rows = int(arguments[4]) if len(arguments) > 4 else 20_000
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for structure in structures:
        stream = ManyGaussians(attributes, structure=structure, seed=1)
        test, truth = read(stream, test_rows)
        values, y = read(stream, max(sizes))
        for size in sizes:
            learned = values[:, :size], y[:size]
            key = f"{structure}: {attributes} columns: {size} rows: {test_rows} test rows"
            found = kept.setdefault(key, {})
            if "NB" not in found:
                found |= offline(*learned, test, truth)
                keep(kept)
            if "Khiops" not in found and PROGRAM is not None and size <= most:
                found["Khiops"] = khiops(*learned, test, truth)
                keep(kept)
            print(f"{key}  " + "  ".join(f"{name} {x:.2f}" for name, x in found.items()), flush=True)


def keep(found: dict[str, dict[str, float]]) -> None:
    lines = [
        f"{json.dumps(key)}: {json.dumps({n: round(x, 3) for n, x in cell.items()})}"
        for key, cell in found.items()
    ]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
