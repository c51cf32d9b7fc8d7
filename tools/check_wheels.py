"""Check the files of a release: what they hold, and that the wheel learns and predicts outside the checkout.

python tools/check_wheels.py dist
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

MOST = 25_000_000  # bytes of a wheel
FIRST_USE = """
import time; began = time.perf_counter()
import bayou
imported = time.perf_counter() - began
from bayou.kernels.compiling import watch
compiler = watch()
bayou.NaiveBayes().fit([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"]).predict([[1.5]])
took = time.perf_counter() - began
print(f"import {imported:.2f} s, import, fit and predict {took:.2f} s, {compiler.kernels} compiled")
"""


def contents(path: Path) -> list[str]:
    """The names of the files inside a wheel or an archive of sources."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return sorted(wheel.namelist())
    with tarfile.open(path) as archive:
        return sorted(archive.getnames())


def check(path: Path) -> None:
    """Say what a file of the release holds; stop where it holds what it should not."""
    names = contents(path)
    alien = [n for n in names if "tests/" in n or "__pycache__" in n or n.endswith((".csv", ".arff", ".nbc"))]
    if alien:
        sys.exit(f"{path.name} holds {alien[0]}")
    if path.stat().st_size > MOST:
        sys.exit(f"{path.name} takes {path.stat().st_size:,} bytes, more than {MOST:,}")
    print(f"{path.name}: {len(names)} files, {path.stat().st_size / 1e6:.1f} MB")


def try_out(wheel: Path) -> None:
    """Install a wheel into an environment of its own, and use it there with no cache."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder, "bin", "python"))
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", str(wheel.resolve())], check=True, cwd=folder
        )
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder, "cache"))}
        environment.pop("PYTHONPATH", None)
        for _ in range(2):  # the first run writes Python's own bytecode
            done = subprocess.run(
                [python, "-P", "-c", FIRST_USE], check=True, cwd=folder, env=environment, text=True, stdout=-1
            )
        print(f"{wheel.name}: {done.stdout.strip()}")


if __name__ == "__main__":
    files = sorted(Path(sys.argv[1]).iterdir())
    for file in files:
        check(file)
    for file in files:
        if file.suffix == ".whl":
            try_out(file)
