"""Learning from a file beside pyarrow reading it, and what checkpoints cost. Processor time; wall time where said."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from bayou import NaiveBayes, files
from bayou.persist.checkpoint import Checkpoint
from bayou.streams import open_stream
from bayou.training import Learning, Run
from benchmarks.measure import alone, beside, row

ROWS, COLUMNS = 300_000, 20


def write_numbers(path: Path, rows: int = ROWS, columns: int = COLUMNS) -> Path:
    """A CSV of normal numbers and a class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    names = [f"x{j}" for j in range(columns)]
    table = pa.table(
        {
            **{name: np.round(rng.normal(y * 0.3, 1.0), 4) for name in names},
            "class": pa.array(["no", "yes"]).take(pa.array(y)),
        }
    )
    pa.csv.write_csv(table, path)
    return path


def stream(path: Path) -> int:
    """All rows, as pyarrow alone streams them."""
    with pa.csv.open_csv(path) as reader:
        return sum(batch.num_rows for batch in reader)


def learn(path: Path) -> int:
    """All rows, as `bayou learn` takes them in."""
    with open_stream(path, target="class") as source:
        return Run(Learning(NaiveBayes("gaussian")), source, None).to_the_end().rows


def learning() -> list[dict[str, object]]:
    with tempfile.TemporaryDirectory() as home:
        path = write_numbers(Path(home) / "numbers.csv")
        assert learn(path) == stream(path) == ROWS
        found = []
        for clock, (ours, peer) in (
            ("processor", beside(lambda: learn(path), lambda: stream(path), 7)),
            ("wall", _by_wall(lambda: learn(path), lambda: stream(path))),
        ):
            work = f"learn a CSV of {COLUMNS} numeric columns beside pyarrow reading it, {clock}"
            found.append(
                row(work, f"{ROWS / ours:,.0f} rows/s", f"{ROWS / peer:,.0f} rows/s", peer / ours, 0.6)
            )
    return found


def _by_wall(ours: Callable[[], object], peer: Callable[[], object], repeats: int = 7) -> tuple[float, float]:
    """Least seconds of each by the clock on the wall, turn by turn; pyarrow reads with all cores."""
    times: tuple[list[float], list[float]] = [], []
    for _ in range(repeats):
        for work, found in zip((ours, peer), times, strict=True):
            begin = time.perf_counter()
            work()
            found.append(time.perf_counter() - begin)
    return min(times[0]), min(times[1])


def checkpoints() -> list[dict[str, object]]:
    """What one checkpoint takes; by the clock, the next comes after 50 times as long at the earliest."""
    found = []
    for name, words in (("10 numeric columns", 0), ("250,000 words", 250_000)):
        model: Any = NaiveBayes("gaussian", schema=None)
        model.learn_batch([{f"x{j}": float(i + j) for j in range(10)} for i in range(50)], [0, 1] * 25)
        if words:
            model = _words(words)
        with tempfile.TemporaryDirectory() as home:
            path = write_numbers(Path(home) / "some.csv", 1_000)
            with (
                open_stream(path, target="class") as source,
                Checkpoint(Path(home) / "ck", files.kinds()) as place,
            ):
                run = Run(Learning(model), source, place)
                run._write()
                wall, processor = [], []
                for _ in range(25):
                    begin = time.perf_counter(), time.process_time()
                    run._write()
                    wall.append(time.perf_counter() - begin[0])
                    processor.append(time.process_time() - begin[1])
            size = max(p.stat().st_size for p in (Path(home) / "ck").glob("checkpoint-*")) / 2**20
        for clock, times in (("processor", processor), ("wall", wall)):
            cost = float(np.median(times))
            work = f"one checkpoint, {name} ({size:.2f} MB), {clock}"
            target = 1 if clock == "processor" and not words else "-"
            found.append(row(work, f"{1000 * cost:.1f} ms", "20 ms: 2 % of a second", 0.02 / cost, target))
    return found


def _words(count: int) -> Any:
    from bayou import MultinomialNB

    model = MultinomialNB()
    texts = [" ".join(f"w{i}" for i in range(k, k + 100)) for k in range(0, count, 100)]
    model.learn_batch([{"text": text} for text in texts], [i % 2 for i in range(len(texts))])
    return model


def run() -> list[dict[str, object]]:
    return [*alone(learning), *alone(checkpoints)]
