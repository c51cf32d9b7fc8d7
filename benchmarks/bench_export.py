"""Exported models beside our own predict: C row by row, DuckDB and SQLite over tables, ONNX and our own in batches.

    python benchmarks/bench_export.py                 # or name some: AODE HoeffdingTree CountForest

Everything runs on one thread. Rows are those of an eight-column stream (five numeric columns, three nominal ones); the
model learns 20,000 of them. "One row" of C is a call of `predict` with a filled struct; ours is `predict_proba_one`.
DuckDB scores a million rows inside the database and returns the mean of a probability, so that nothing is handed over.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import bayou
from bayou.export.c import to_c
from bayou.export.onnx import to_onnx
from bayou.export.scoring import model_scorer
from bayou.export.sql import to_sql
from bayou.threads import set_threads

MILLION = 1_000_000
MODELS: dict[str, Callable[[], Any]] = {
    "NaiveBayes('gaussian')": lambda: bayou.NaiveBayes("gaussian"),
    "NaiveBayes()": bayou.NaiveBayes,
    "WeightedNB()": bayou.WeightedNB,
    "TAN()": bayou.TAN,
    "AODE()": bayou.AODE,
    "HoeffdingTree()": bayou.HoeffdingTree,
    "CountForest(trees=20, warm_up=1000)": lambda: bayou.CountForest(trees=20, warm_up=1000),
}
TIMER = """#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "model.h"
int main(void)
{
    struct model_row row = {FIELDS};
    double proba[MODEL_CLASSES], sum = 0;
    struct timespec a, b;
    long i, n = 200000;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    for (i = 0; i < n; i++) {
        row.x0 = (double)(i % 1000) / 1000;
        model_predict(&row, proba);
        sum += proba[0];
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    printf("%g %g\\n", ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / (double)n, sum);
    return 0;
}
"""


def table(rows: int, seed: int = 1) -> tuple[pa.Table, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, codes = rng.random((rows, 5)), rng.integers(0, 4, (rows, 3))
    y = np.where(codes[:, 0] < 2, x[:, 0] > 0.5, x[:, 1] + 0.3 * (codes[:, 1] == 1) > 0.6) ^ (
        rng.random(rows) < 0.05
    )
    names = np.array(["a", "b", "c", "d"])
    columns = {f"x{j}": x[:, j] for j in range(5)} | {f"n{j}": names[codes[:, j]] for j in range(3)}
    return pa.table(columns), np.array(["no", "yes"])[y.astype(int)]


def seconds(work: Callable[[], object], repeats: int = 2) -> float:
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def c_nanoseconds(model: Any) -> float:
    """One row in C, compiled with -O2."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in to_c(model_scorer(model)).items():
            (folder / file).write_text(text)
        fields = "0.5, 0.5, 0.5, 0.5, 0.5, 1, 1, 1"
        (folder / "main.c").write_text(TIMER.replace("FIELDS", fields))
        compiler = shutil.which("gcc") or "cc"
        subprocess.run(
            [compiler, "-std=c99", "-O2", "-o", "timer", "model.c", "main.c", "-lm"], cwd=folder, check=True
        )
        ran = [
            subprocess.run(["./timer"], cwd=folder, check=True, capture_output=True, text=True)
            for _ in range(3)
        ]
        return min(float(one.stdout.split()[0]) for one in ran)


def duckdb_seconds(model: Any, rows: pa.Table) -> float:
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.register("given", rows)
    connection.execute("CREATE TABLE rows AS SELECT * FROM given")
    select = to_sql(model_scorer(model))["model.sql"]
    return seconds(lambda: connection.execute(f"SELECT avg(p_yes) FROM ({select})").fetchall())


def sqlite_seconds(model: Any, rows: pa.Table) -> float:
    connection = sqlite3.connect(":memory:")
    kinds = ", ".join(f"{n} {'REAL' if n[0] == 'x' else 'TEXT'}" for n in rows.column_names)
    connection.execute(f"CREATE TABLE rows ({kinds})")
    marks = ", ".join("?" * rows.num_columns)
    cells = zip(*(column.to_pylist() for column in rows.columns), strict=True)
    connection.executemany(f"INSERT INTO rows VALUES ({marks})", cells)
    select = to_sql(model_scorer(model), "sqlite")["model.sql"]
    return seconds(lambda: connection.execute(f"SELECT avg(p_yes) FROM ({select})").fetchall(), 1)


def onnx_seconds(model: Any, rows: pa.Table) -> float:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        to_onnx(model_scorer(model)), options, providers=["CPUExecutionProvider"]
    )
    feeds = {
        n: rows[n].to_numpy().reshape(-1, 1).astype(object if n[0] == "n" else np.float64)
        for n in rows.column_names
    }
    return seconds(lambda: session.run(["probabilities"], feeds))


def main() -> None:
    set_threads(1)
    learned, y = table(20_000)
    many, _ = table(MILLION, 2)
    some = many.slice(0, 50_000)
    one = {name: some[name][0].as_py() for name in some.column_names}
    head = ["model", "ours, one row", "C, one row", "ours", "DuckDB", "SQLite", "ONNX"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head), flush=True)
    asked = sys.argv[1:]
    for name, make in MODELS.items():
        if asked and name.partition("(")[0] not in asked:
            continue
        model = make()
        model.learn_many(learned, y)
        model.predict_proba_one(one)

        def ours_one(model: Any = model) -> None:
            for _ in range(2000):
                model.predict_proba_one(one)

        def ours(model: Any = model) -> None:
            model.predict_proba_many(many) if hasattr(model, "predict_proba_many") else model.predict_proba(
                many
            )

        cells = [
            name,
            f"{seconds(ours_one) / 2000 * 1e9:,.0f} ns",
            f"{c_nanoseconds(model):,.0f} ns",
            f"{MILLION / seconds(ours) / 1e6:.2f}M rows/s",
            f"{MILLION / duckdb_seconds(model, many) / 1e6:.2f}M rows/s",
            f"{some.num_rows / sqlite_seconds(model, some) / 1e6:.2f}M rows/s",
            f"{some.num_rows / onnx_seconds(model, some) / 1e6:.2f}M rows/s",
        ]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
