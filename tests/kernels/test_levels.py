"""The level of the processor that kernels are compiled for does not show in their results."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from tests.recorded.cases import cases
from tests.recorded.record import Record, differences, made, shortened

from bayou.kernels.kernel_cache import LEVELS

CASES = "NaiveBayes(numeric='gaussian') on many"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="elsewhere kernels have one level")
def test_the_least_level_gives_the_bits_of_this_processor(tmp_path: Path) -> None:
    """A recorded model; `make check-wheel` runs all of them on every level that a wheel carries."""
    file = tmp_path / "least.json"
    least = {"NUMBA_CPU_NAME": list(LEVELS)[-1], "NUMBA_CPU_FEATURES": ""}
    record = [sys.executable, "-m", "tests.recorded", "record", str(file), "--only", CASES]
    subprocess.run(record, check=True, env={**os.environ, **least}, cwd=Path(__file__).parents[2])
    here = shortened(made([case for case in cases() if CASES in case.name]))
    at_least = Record.read(file).cases
    assert here
    assert at_least.keys() == here.keys()
    assert differences(at_least, here) == ([], [])
