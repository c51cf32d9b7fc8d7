"""What the library did at an earlier commit and does now, turn by turn in one run.

python -m benchmarks.before COMMIT [ROUNDS]

Two processes, one with each version and its own kernels, do the same work in turn; the table has the least processor
time of each and its spread. Only what both versions offer by the same name is compared.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def cases() -> dict[str, Callable[[], object]]:
    """Work by name; each is done once unwatched before it is timed."""
    import numpy as np
    import pyarrow as pa
    from scipy.sparse import random_array

    import bayou

    rng = np.random.default_rng(0)
    rows = 100_000
    y = rng.integers(0, 2, rows).astype(str)
    numbers = rng.normal(size=(rows, 8))
    names = pa.table(
        {f"n{j}": pa.array(rng.choice(["yes", "no"], rows)).dictionary_encode() for j in range(19)}
    )
    mixed: dict[str, Any] = {f"x{j}": numbers[:, j] for j in range(6)}
    for j in range(2):
        mixed[f"n{j}"] = rng.choice(["a", "b", "c", "d"], rows)
    words = random_array((5_000, 20_000), density=0.002, format="csr", rng=0)
    words.data = np.ceil(words.data * 3)
    records = [{f"x{j}": float(v) for j, v in enumerate(row)} for row in numbers[:3_000]]
    tables: dict[str, tuple[Any, Any, dict[str, Callable[[], Any]]]] = {
        "8 numbers": (
            numbers, y, {
                "NaiveBayes": lambda: bayou.NaiveBayes(numeric="gaussian"),
                "quantiles + MODL": lambda: bayou.NaiveBayes(numeric="gk", bins="modl"),
                "WeightedNB": lambda: bayou.WeightedNB(numeric="gaussian"),
                "HoeffdingTree": bayou.HoeffdingTree,
            },
        ),
        "19 names": (names, y, {"NaiveBayes": bayou.NaiveBayes, "AODE": bayou.AODE, "TAN": bayou.TAN}),
        "6 numbers + 2 names": (mixed, y, {"NaiveBayes": lambda: bayou.NaiveBayes(numeric="gaussian")}),
        "words": (words, y[: words.shape[0]], {"MultinomialNB": bayou.MultinomialNB}),
    }  # fmt: skip
    out: dict[str, Callable[[], object]] = {}
    for table, (X, labels, models) in tables.items():
        for name, make in models.items():
            fitted = make().fit(X, labels)
            out[f"{name}, {table}: fit"] = lambda make=make, X=X, labels=labels: make().fit(X, labels)
            out[f"{name}, {table}: predict_proba"] = lambda model=fitted, X=X: model.predict_proba(X)
            if table != "words":
                out[f"{name}, {table}: prequential"] = lambda make=make, X=X, labels=labels: (
                    bayou.prequential(make(), (X, labels))
                )
    by_records = {
        "NaiveBayes": lambda: bayou.NaiveBayes(numeric="gaussian"),
        "HoeffdingTree": bayou.HoeffdingTree,
    }
    for name, make in by_records.items():
        out[f"{name}, 3,000 records: predict, then learn"] = lambda make=make: _by_records(make(), records, y)
    begun = bayou.NaiveBayes(numeric="gaussian").fit(mixed, y)
    path = Path(tempfile.mkdtemp()) / "model.bayou"
    out["NaiveBayes: 50 x save, load, merge"] = lambda: [
        (begun.save(path), bayou.load(path).merge(begun)) for _ in range(50)
    ]
    return out


def _by_records(model: Any, records: list[dict[str, float]], y: Any) -> None:
    for record, label in zip(records, y, strict=False):
        model.predict_proba_one(record)
        model.learn_one(record, label)


def serve() -> None:
    """Do what is asked for by number, one line each way: the seconds it took."""
    import bayou

    bayou.set_threads(1)
    work = list(cases().values())
    print("ready", flush=True)
    for line in sys.stdin:
        begin = time.process_time()
        work[int(line)]()
        print(time.process_time() - begin, flush=True)


def _start(source: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(source / "src"), "PYTHONDONTWRITEBYTECODE": ""}
    started = subprocess.Popen(
        [sys.executable, "-P", __file__, "--serve"],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    if _answer(started) != "ready":
        sys.exit(f"the version in {source} did not start")
    return started


def _answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _seconds(process: subprocess.Popen[str], number: int) -> float:
    assert process.stdin is not None
    process.stdin.write(f"{number}\n")
    process.stdin.flush()
    return float(_answer(process))


def main(commit: str, rounds: int) -> None:
    """Print one line per case: seconds then and now, and how much faster it is now."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
        subprocess.run(["git", "checkout", "--quiet", commit], cwd=folder, check=True)
        old, new = _start(Path(folder)), _start(ROOT)
        print(f"{'':55} {'then':>8} {'now':>8}  then / now (range)")
        for number, name in enumerate(cases()):
            for process in (old, new):  # what is compiled or kept the first time does not count
                _seconds(process, number)
            pairs = [(_seconds(old, number), _seconds(new, number)) for _ in range(rounds)]
            a, b = (min(times) for times in zip(*pairs, strict=True))
            ratios = sorted(then / now for then, now in pairs)
            print(
                f"{name:55} {a:8.3f} {b:8.3f}  {a / b:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True
            )
        for process in (old, new):
            process.kill()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
