"""Requests made up from the OpenAPI description, good and bad: the server answers every one of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.serve.conftest import Asking, weather

from bayou import HoeffdingTree
from bayou.serve import LivingModel
from bayou.serve.settings import Settings

pytest.importorskip("schemathesis", reason="NO SCHEMATHESIS: pip install schemathesis")
LONG = bool(os.environ.get("BAYOU_LONG"))
PIECES, WANTED = (11, 1_900) if LONG else (1, 120)  # servers, and requests to each
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def counted(ask: Asking) -> dict[str, float]:
    """Requests by status, as the server tells."""
    found: dict[str, float] = {}
    text = ask("/metrics").body.decode()
    for status, value in re.findall(r'bayou_requests_total\{status="(\d+)",verb="\w+"\} ([\d.e+]+)', text):
        found[status] = found.get(status, 0.0) + float(value)
    return found


@pytest.mark.parametrize("piece", range(PIECES))
def test_no_request_breaks_the_server(serving: Callable[..., Asking], tmp_path: Path, piece: int) -> None:
    living = LivingModel(
        "weather", weather(), shadows={"tree": HoeffdingTree()}, learns=True, folder=tmp_path
    )
    ask = serving(living, settings=Settings(timeout=600.0))
    for seed in range(1000 * piece, 1000 * (piece + 1)):
        before = sum(counted(ask).values())
        if before >= WANTED:
            break
        done = subprocess.run(
            [
                sys.executable, "-m", "schemathesis.cli", "run", f"{ask.server.url}/openapi.json", "--seed", str(seed),
                "--max-examples", "40" if LONG else "6", "--phases", "coverage,fuzzing" if LONG else "fuzzing",
                "--checks", CHECKS, "--exclude-path-regex", "events", "--suppress-health-check", "all", "--no-shrink",
                "--workers", "1", "--no-color", "--generation-database", "none", "--request-timeout", "600",
                "--header", "Bayou-Timeout-Ms:600000",  # one of 1 ms is rightly answered by 504
            ],
            check=False, capture_output=True, text=True, cwd=tmp_path, timeout=3600,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert sum(counted(ask).values()) > before
    found = counted(ask)
    if LONG:
        print(f"piece {piece}:", found, flush=True)
    assert sum(found.values()) >= WANTED
    assert {status for status in found if status.startswith("5")} == set()
    assert found["200"] > 10
    assert living.broken is None
    assert ask("/predict", {"record": {"sky": "blue"}}).status == 200
