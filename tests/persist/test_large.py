"""A small file that asks for millions of members, cells or rows is refused, or costs what a small file may."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bayou import Bagging, NaiveBayes, files
from bayou.densities.binned import GKClass
from bayou.errors import ModelFileError

ROOT = Path(__file__).parents[2]


def test_small_files_take_little_time_and_memory_whatever_their_parameters() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.persist.large"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert len(found) > 100
    for name, size, seconds, memory, answer in found:
        assert memory <= 2 * size + 64, (name, memory, answer)
        assert seconds <= 1 + size / 10, (name, seconds, answer)
        assert answer == "accepted" or "as it is" not in name, (name, answer)
    assert sum(answer != "accepted" for *_, answer in found) > 30


def test_what_is_too_large_to_be_loaded_is_not_saved() -> None:
    with pytest.raises(ModelFileError, match="at least 1,000,001 arrays"):
        files.dumps(Bagging(n_estimators=10**6))


def test_large_models_load() -> None:
    """Thousands of columns that have met few rows have more room than their file is long."""
    wide = NaiveBayes(numeric=GKClass())
    wide.learn_many([{f"x{j}": float(i * j) for j in range(2000)} for i in range(4)], ["a", "b"] * 2)
    assert files.loads(files.dumps(wide)).digest() == wide.digest()
    many = Bagging(NaiveBayes("gaussian"), n_estimators=200)
    many.learn_many([{"x": 1.0}, {"x": 2.0}], ["a", "b"])
    assert files.loads(files.dumps(many)).digest() == many.digest()
