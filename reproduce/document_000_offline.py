"""The offline columns of document 000's table 2, on the same rows as its online ones.

python -m reproduce.document_000_offline [sizes] [structures] [most rows for Khiops]

"NB": naive Bayes with MODL intervals searched on all rows in memory. "ANB": the selective naive Bayes of Khiops, where
the program is installed (package khiops-core) and the rows are not too many for it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou import discretize
from bayou.streams.generators import ManyGaussians
from reproduce.document_000 import STRUCTURES, TABLE_SIZES
from reproduce.document_000_khiops import PROGRAM, khiops_accuracy
from reproduce.sets import Rows

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


def offline_accuracy(values: Floats, y: Labels, test: Floats, truth: Labels) -> float:
    """Percent of right answers of naive Bayes on MODL intervals, one imaginary row spread over each column's."""
    sizes = np.bincount(y, minlength=2)
    scores = np.tile(np.log(sizes / len(y)), (test.shape[1], 1))
    for column, asked in zip(values, test, strict=True):
        found = discretize(column, y)
        table = np.log((found.counts + 1.0 / found.n_parts) / (sizes + 1.0))
        scores += table[found.cell_of(asked)]
    return float(100 * np.mean(scores.argmax(axis=1) == truth))


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
    for structure in structures:
        stream = ManyGaussians(500, structure=structure, seed=1)
        test, truth = read(stream, 20_000)
        values, y = read(stream, max(sizes))
        for size in sizes:
            learned = values[:, :size], y[:size]
            line = f"{structure:12}{size:>10,}  NB {offline_accuracy(*learned, test, truth):.2f}"
            if PROGRAM is not None and size <= most:
                line += f"  ANB {khiops(*learned, test, truth):.2f}"
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
