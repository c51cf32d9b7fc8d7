"""Two processes beside one, and Spark beside both, on a Parquet file: wall seconds, least of several turns."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from bayou import AODE, NaiveBayes
from bayou.backends.pool import learn_files
from benchmarks.measure import row

ROWS = int(os.environ.get("BAYOU_BENCH_ROWS", 12_000_000))
COLUMNS = 20
REPEATS = 5
TARGET = {"target": "y"}


def write(path: Path) -> None:
    """Normal columns that shift with the class, in row groups of 100,000."""
    rng = np.random.default_rng(0)
    with pa.parquet.ParquetWriter(path, _table(rng, 1).schema) as file:
        for _ in range(ROWS // 100_000):
            file.write_table(_table(rng, 100_000))


def _table(rng: np.random.Generator, n: int) -> pa.Table:
    y = rng.integers(0, 4, n)
    columns = {f"x{j}": rng.normal(size=n) + y * (j % 3) / 4 for j in range(COLUMNS)}
    return pa.table({**columns, "y": y})


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def run() -> list[dict[str, object]]:
    """Whole calls of `learn_files`, one process and two turn by turn; the least seconds of each are compared."""
    out = []
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "rows.parquet"
        write(path)
        for model in (NaiveBayes("gaussian"), AODE(numeric="width")):
            learn_files(path, model, TARGET, 2)  # kernels compiled, pages read
            times: dict[int, list[float]] = {1: [], 2: []}
            for _ in range(REPEATS):
                for jobs in (1, 2):
                    times[jobs].append(seconds(lambda m=model, j=jobs: learn_files(path, m, TARGET, j)))
            one, two = min(times[1]), min(times[2])
            medians = median(times[1]) / median(times[2])
            name = (
                f"{type(model).__name__}, {ROWS / 1e6:g}M rows x {COLUMNS} from Parquet, two processes (wall)"
            )
            peer = f"one process {one:.2f} s; by medians {medians:.2f}"
            out.append(row(name, f"{two:.2f} s", peer, one / two, 1.7))
        if shutil.which("java"):
            start, warm = on_spark(path)
            name = f"the same on Spark local[2], {start:.1f} s to start left out"
            out.append(row(name, f"{warm:.1f} s", f"two processes {two:.1f} s", two / warm, 0))
    return out


def on_spark(path: Path) -> tuple[float, float]:
    """Seconds to start, and for one fit once everything runs."""
    from pyspark.sql import SparkSession

    from bayou.backends.spark import fit_files

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    begin = time.perf_counter()
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    try:
        fit_files(spark, path, AODE(numeric="width"), **TARGET)
        start = time.perf_counter() - begin
        return start, seconds(lambda: fit_files(spark, path, AODE(numeric="width"), **TARGET))
    finally:
        spark.stop()
