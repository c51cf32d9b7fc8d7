"""Where nothing can be kept on disk, kernels still compile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_without_a_place_for_the_cache_models_learn_and_the_command_line_does_not_promise_to_compile_once() -> (
    None
):
    code = (
        "from bayou import MajorityClass; model = MajorityClass()\n"
        "model.learn_one({'a': 1.0}, 'x'); print(model.predict_one({'a': 1.0}))\n"
        "from bayou.cli.compiling import _announcement; print(_announcement(10))"
    )
    # Numba looks only at NUMBA_CACHE_DIR, which is not given: as if package and home were both read-only.
    known = {**os.environ, "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator"}
    known.pop("NUMBA_CACHE_DIR", None)
    found = subprocess.run(
        [sys.executable, "-c", code], env=known, capture_output=True, text=True, timeout=300, check=False
    )
    label, _, announcement = found.stdout.partition("\n")
    assert label == "x", found.stderr
    assert found.stderr.count("set NUMBA_CACHE_DIR to a folder that can be written to") == 1
    assert "each time: set NUMBA_CACHE_DIR" in announcement


def test_a_disk_that_is_full_stops_nobody(tmp_path: Path) -> None:
    code = (
        "import resource\n"
        "from bayou import MajorityClass; model = MajorityClass()\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))  # every write fails from now on\n"
        "model.learn_one({'a': 1.0}, 'x'); label = model.predict_one({'a': 1.0})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)); print(label)"
    )
    known = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", code], env=known, capture_output=True, text=True, timeout=300, check=False
    )
    assert found.stdout == "x\n", found.stderr
