"""Random rows with numbers, words, missing values, late columns and late classes, and files of them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def records(n: int, seed: int) -> tuple[list[Record], list[str]]:
    """Rows in which two nominal columns and a class appear late and some cells are missing."""
    draw = random.Random(seed)
    rows, labels = [], []
    for i in range(n):
        label = draw.choice(["UP", "DOWN"] if i < n // 2 else ["UP", "DOWN", "flat"])
        shift = len(label)
        row: Record = {
            "price": round(draw.gauss(shift, 2.0), 4),
            "size": float(draw.randrange(5)),
            "day": draw.choice(["mon", "tue", "wed", "thu"][: 1 + shift % 4]),
            "seller": f"s{min(draw.randrange(40), i // 5)}",
        }
        if draw.random() < 0.1:
            del row[draw.choice(list(row))]
        rows.append(row)
        labels.append(label)
    return rows, labels


COLUMNS = ("price", "size", "day", "seller")


def write_csv(path: Path, n: int, seed: int) -> Path:
    rows, labels = records(n, seed)
    lines = [",".join([*COLUMNS, "move"])]
    lines += [
        ",".join([*(str(row.get(name, "")) for name in COLUMNS), label])
        for row, label in zip(rows, labels, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_arff(path: Path, n: int, seed: int) -> Path:
    rows, labels = records(n, seed)
    sellers = ",".join(f"s{i}" for i in range(40))
    head = ["@relation moves", "@attribute price numeric", "@attribute size numeric",
            "@attribute day {mon,tue,wed,thu}", f"@attribute seller {{{sellers}}}",
            "@attribute move {UP,DOWN,flat}", "@data"]  # fmt: skip
    body = [
        ",".join([*(str(row.get(name, "?")) for name in COLUMNS), label])
        for row, label in zip(rows, labels, strict=True)
    ]
    path.write_text("\n".join(head + body) + "\n")
    return path


def write_parquet(path: Path, n: int, seed: int) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows, labels = records(n, seed)
    table = {name: [row.get(name) for row in rows] for name in COLUMNS}
    pq.write_table(pa.table({**table, "move": labels}), path, row_group_size=max(1, n // 5))
    return path


WRITERS = {"csv": write_csv, "arff": write_arff, "parquet": write_parquet}
