"""`bayou doctor`: what it says of compiled kernels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.invoke import bayou

from bayou.kernels import kernel_cache


def test_it_names_versions_and_where_kernels_are_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kernel_cache, "FOLDER", tmp_path / "none")
    kernel_cache.shipped_kernels.cache_clear()
    text = bayou("doctor").stdout
    kernel_cache.shipped_kernels.cache_clear()
    for name in ("bayou", "Python", "numba", "pyarrow", "threads", "processor"):
        assert f"\n{name}" in f"\n{text}"
    assert "none shipped with this installation" in text
    assert "stays in" in text


def test_it_tells_levels_that_do_not_suit_this_processor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "vax").mkdir()
    monkeypatch.setattr(kernel_cache, "FOLDER", tmp_path)
    kernel_cache.shipped_kernels.cache_clear()
    text = bayou("doctor").stdout
    kernel_cache.shipped_kernels.cache_clear()
    assert "shipped for vax only" in text


def test_it_answers_in_a_process_that_does_without_pandas() -> None:
    """As the installed command runs: `main` keeps pandas and SciPy from being imported."""
    program = "from bayou.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program, "doctor"], text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "pandas" in done.stdout
