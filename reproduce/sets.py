"""The real data sets of this folder's scripts, as columns and labels that can be shuffled and split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou.streams import open_stream

DATA = Path(__file__).parents[1].parent / "shared" / "data"
SETS: Mapping[str, tuple[str, dict[str, Any]]] = {
    **{
        name: (f"uci/{name}.arff", {})
        for name in (
            "anneal", "breast-cancer", "credit-a", "credit-g", "diabetes", "glass", "heart-c", "hepatitis",
            "iris", "kr-vs-kp", "labor", "segment", "soybean", "vote",
        )
    },
    **{name: (f"tabular/{name}.arff.gz", {}) for name in ("letter", "mushroom", "nursery", "spambase")},
    "banana": ("streams/banana.all.txt.gz", {"format": "libsvm"}),
    "elec": ("streams/elecNormNew.arff.gz", {}),
    "covtype": ("streams/covtype.csv.gz", {"target": "Cover_Type"}),
    "phishing": ("streams/phishing.csv.gz", {"target": "is_phishing"}),
    "adult": ("tabular/adult-train.csv.gz", {"target": "class"}),
}  # fmt: skip
ALL = {
    **SETS,
    "keystroke": ("streams/keystroke.csv.gz", {"target": "user"}),
    "airlines": ("streams/airlines.csv.gz", {"target": "delay"}),
}


@dataclass(frozen=True)
class Rows:
    """Columns of equal length, and labels."""

    columns: Mapping[str, pa.Array]
    labels: list[Any]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, order: NDArray[np.int64]) -> Rows:
        return Rows(
            {name: column.take(pa.array(order)) for name, column in self.columns.items()},
            [self.labels[i] for i in order],
        )


def load(name: str, rows: int | None = None) -> Rows:
    """A set in its own order, or its first rows."""
    path, options = ALL[name]
    with open_stream(DATA / path, **options) as stream:
        parts = []
        while rows is None or sum(len(part) for part in parts) < rows:
            part = stream.read(100_000 if rows is None else min(100_000, rows))
            if part is None:
                break
            parts.append(part)
    columns = {
        column: pa.concat_arrays([_plain(part.columns[column]) for part in parts])
        for column in parts[0].columns
    }
    labels = [label for part in parts for label in part.labels.to_pylist()]
    known = np.array([i for i, label in enumerate(labels) if label is not None])
    whole = Rows(columns, labels)
    return whole if len(known) == len(labels) else whole.take(known)


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
