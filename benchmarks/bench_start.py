"""What a new user waits for: imports, help, and the first prediction on an empty compilation cache (wall seconds)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import row

FIRST_USE = """
import numpy as np
from bayou import NaiveBayes
rng = np.random.default_rng(0)
rows = [{"n": float(rng.normal()), "c": "ab"[i % 2]} for i in range(500)]
model = NaiveBayes("gaussian")
model.test_then_train_batch(rows, [i % 2 for i in range(500)])
model.predict_proba_one(rows[0])
"""


def seconds(*command: str, **environment: str) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    return time.perf_counter() - begin


def first_use(python: str) -> float:
    with tempfile.TemporaryDirectory() as empty:
        return seconds(python, "-c", FIRST_USE, NUMBA_CACHE_DIR=empty)


def run() -> list[dict[str, object]]:
    python = sys.executable
    tool = str(Path(python).with_name("bayou"))
    seconds(python, "-c", "from bayou import NaiveBayes")
    help_time = min(seconds(tool, "--help") for _ in range(3))
    import_time = min(seconds(python, "-c", "from bayou import NaiveBayes") for _ in range(3))
    first = min(first_use(python) for _ in range(3))
    return [
        row("bayou --help", f"{help_time:.2f} s", "limit 0.4 s", 0.4 / help_time, 1),
        row("from bayou import NaiveBayes", f"{import_time:.2f} s", "limit 1 s", 1.0 / import_time, 1),
        row("first use, compilation included", f"{first:.1f} s", "limit 10 s", 10.0 / first, 1),
    ]
