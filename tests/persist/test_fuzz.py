"""Whatever loads must never send a kernel out of its arrays or give probabilities that are no numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LONG = bool(os.environ.get("BAYOU_LONG"))
SEEDS = range(1, 5) if LONG else [1]  # pieces, so that every core has one
COUNT = 50_000 if LONG else 250
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("seed", SEEDS)
def test_accepted_files_stay_inside_their_arrays(seed: int) -> None:
    """Kernels compile with bounds checks into a cache of their own, once; then a few hundred files take seconds.

    `make test` takes few kinds of model, and leaves out most of what LLVM does for speed, which takes long to compile
    and moves no index; `make test-system` takes all kinds, as fast as they get. Numba keeps nothing that is compiled
    with NUMBA_OPT=0.
    """
    kept = ROOT / ".pytest_cache" / ("bounds" if LONG else "bounds-quick")
    checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(kept)}
    if not LONG:
        checked |= {"NUMBA_OPT": "1", "NUMBA_LOOP_VECTORIZE": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.persist.fuzz", str(COUNT), str(seed), *([] if LONG else ["quick"])],
        capture_output=True, text=True, cwd=ROOT, check=False, env={**os.environ, **checked},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["accepted"] > COUNT / 10, "files that change nothing of importance are accepted"
    assert found["found"] == []
    print({key: found[key] for key in ("files", "accepted", "refused", "slowest", "seconds")})
