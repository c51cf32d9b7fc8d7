"""Weighted naive Bayes beside Vowpal Wabbit and Khiops: 500 numeric attributes, two classes.

Vowpal Wabbit learns a logistic regression from its cache; it learns no densities. Khiops trains its selective naive
Bayes. A peer that is not installed (packages `vowpalwabbit` and `khiops-core`) is left out, and its line says so.
Rows are drawn and encoded in blocks, and only learning is timed. BAYOU_BENCH_ROWS=380000 takes the size of the paper.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from reproduce.document_000_khiops import PROGRAM

from bayou.classifiers.weighted import WeightedNB
from bayou.streams.generators import ManyGaussians
from bayou.threads import set_threads
from benchmarks.measure import best, row

ROWS, ATTRIBUTES, BLOCK = 40_000, 500, 2000
VOWPAL_ROWS, KHIOPS_ROWS = 10_000, 5_000  # the more rows, the slower Khiops is per row


def run(rows: int = int(os.environ.get("BAYOU_BENCH_ROWS", ROWS))) -> list[dict[str, object]]:
    peer = _vowpal()
    processor, alone = (rows / seconds for seconds in _learn(rows, threads=1))
    together = rows / _learn(rows, threads=2)[1]
    set_threads(1)
    work = f"WeightedNB('gk'), 500 attributes, {rows:,} rows, exact order"
    beside = f"Vowpal Wabbit {peer:,.0f}" if peer else "Vowpal Wabbit: not installed"
    return [
        row(f"{work}, one core (processor time)", _rate(processor), beside, _ratio(processor, peer), 0.15),
        row(f"{work}, two threads (wall time)", _rate(together), beside, _ratio(together, peer), 0.3),
        row("two threads beside one, wall time", _rate(together), _rate(alone), together / alone, ""),
        _khiops(processor),
        _memory(),
    ]


def _rate(value: float) -> str:
    return f"{value:,.0f} rows/s"


def _ratio(ours: float, peer: float | None) -> float | None:
    return ours / peer if peer else None


def _learn(rows: int, threads: int) -> tuple[float, float]:
    """Processor and wall seconds of learning, without drawing and encoding the rows."""
    set_threads(threads)
    stream = ManyGaussians(ATTRIBUTES, structure="blocks", seed=1)
    model, seconds, wall = WeightedNB("gk"), 0.0, 0.0
    compiled = WeightedNB("gk")
    part = ManyGaussians(ATTRIBUTES, structure="blocks", seed=2).read(BLOCK)
    compiled.learn(compiled.encode(part, part.labels, learn=True))
    for _ in range(0, rows, BLOCK):
        part = stream.read(BLOCK)
        block = model.encode(part, part.labels, learn=True)
        begin, start = time.process_time(), time.perf_counter()
        model.learn(block)
        seconds += time.process_time() - begin
        wall += time.perf_counter() - start
    return seconds, wall


def _sample(rows: int) -> tuple[np.ndarray, list[str]]:
    part = ManyGaussians(ATTRIBUTES, structure="blocks", seed=1).read(rows)
    return np.column_stack([c.to_numpy() for c in part.columns.values()]), part.labels.to_pylist()


def _vowpal() -> float | None:
    """Rows per processor second of a logistic regression from the cache."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        return None
    from vowpalwabbit import Workspace

    X, labels = _sample(VOWPAL_ROWS)
    with tempfile.TemporaryDirectory() as folder:
        data, cache = Path(folder) / "rows.txt", Path(folder) / "rows.cache"
        with data.open("w") as file:
            for x, y in zip(X, labels, strict=True):
                cells = " ".join(f"{j}:{v:.5g}" for j, v in enumerate(x))
                file.write(f"{1 if y == 'a' else -1} | {cells}\n")
        options = f"-d {data} --cache_file {cache} --loss_function logistic --quiet"
        Workspace(f"{options} -k").finish()
        return VOWPAL_ROWS / best(lambda: Workspace(options).finish(), 3)


def _khiops(ours: float) -> dict[str, object]:
    """Training a selective naive Bayes on the first of these rows; processor time of all its processes."""
    work = f"rows/s beside Khiops' selective naive Bayes, {KHIOPS_ROWS:,} rows"
    if PROGRAM is None:
        return row(work, f"{ours:,.0f} rows/s", "Khiops: not installed", None, 20)
    X, labels = _sample(KHIOPS_ROWS)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        names = [f"x{j}" for j in range(ATTRIBUTES)]
        with (base / "rows.txt").open("w") as file:
            file.write("\t".join([*names, "y"]) + "\n")
            for x, y in zip(X, labels, strict=True):
                file.write("\t".join([*(f"{v:.6g}" for v in x), y]) + "\n")
        kinds = "".join(f"\tNumerical\t{name};\n" for name in names)
        (base / "rows.kdic").write_text(f"Dictionary\trows\n{{\n{kinds}\tCategorical\ty;\n}};\n")
        (base / "train._kh").write_text(_SCENARIO.format(folder=folder))
        used = os.times()
        subprocess.run([PROGRAM, "-b", "-i", str(base / "train._kh")], check=True, capture_output=True)
        done = os.times()
        seconds = done.children_user + done.children_system - used.children_user - used.children_system
        peer = KHIOPS_ROWS / seconds
    return row(work, f"{ours:,.0f} rows/s", f"Khiops {peer:,.0f}", ours / peer, 20)


def _memory() -> dict[str, object]:
    rng, model = np.random.default_rng(0), WeightedNB("gk")
    for _ in range(3):
        model.learn_many(rng.normal(size=(500, 2000)), rng.integers(2, size=500))
    size = model.memory_bytes / 1e6
    return row("state of 2,000 attributes, two classes", f"{size:.1f} MB", "24 MB at most", 24 / size, 1)


_SCENARIO = """ClassManagement.OpenFile
ClassFileName {folder}/rows.kdic
OK
TrainDatabase.ClassName rows
TrainDatabase.DatabaseSpec.Data.DatabaseFiles.List.Key
TrainDatabase.DatabaseSpec.Data.DatabaseFiles.DataTableName {folder}/rows.txt
TrainDatabase.DatabaseSpec.Data.HeaderLineUsed true
TrainDatabase.DatabaseSpec.Data.FieldSeparator
TrainDatabase.DatabaseSpec.Sampling.SampleNumberPercentage 100
AnalysisSpec.TargetAttributeName y
AnalysisSpec.PredictorsSpec.ConstructionSpec.MaxTreeNumber 0
AnalysisSpec.PredictorsSpec.ConstructionSpec.MaxConstructedAttributeNumber 0
AnalysisResults.ReportFileName {folder}/report.khj
ComputeStats
ClassManagement.Quit
OK
"""
