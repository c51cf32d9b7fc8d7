"""Check the files of a release: what they hold and ask for, and that each wheel works outside the checkout.

python tools/check_wheels.py dist
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
import zipfile
from email import message_from_string
from pathlib import Path

from installed import Installed, installed

MOST = 25_000_000  # bytes of a wheel
ALIEN = ("tests/", "__pycache__", ".csv", ".arff", ".nbc", ".nbi", ".bayou")
FIRST_USE = """
import json
import bayou
from bayou.kernels.compiling import watch
compiler = watch()
bayou.NaiveBayes().fit([[1.0], [2.0], [8.0], [9.0]], ["a", "a", "b", "b"]).predict([[1.5]])
print(json.dumps([compiler.kernels, bayou.__file__]))
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
    alien = [name for name in names if any(part in name for part in ALIEN)]
    if alien:
        sys.exit(f"{path.name} holds {alien[0]}")
    size = path.stat().st_size
    if size > MOST:
        sys.exit(f"{path.name} takes {size:,} bytes, more than {MOST:,}")
    levels = [name.split("/")[-2] for name in names if name.endswith("/index.json")]
    print(
        f"{path.name}: {len(names)} files, {size / 1e6:.1f} MB, kernels for {', '.join(levels) or 'nobody'}"
    )
    if path.suffix == ".whl":
        _check_numba(path, bool(levels))


def _check_numba(path: Path, compiled: bool) -> None:
    """Compiled kernels ask for the minor version of Numba that made them; without, many versions will do."""
    with zipfile.ZipFile(path) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = message_from_string(wheel.read(name).decode())
    (numba,) = (line for line in metadata.get_all("Requires-Dist", []) if line.startswith("numba"))
    if compiled != ("==" in numba) or compiled == path.name.endswith("-none-any.whl"):
        sys.exit(f"{path.name} asks for {numba}")
    print(f"  asks for {numba}")


def try_out(path: Path) -> None:
    """Use a wheel in an environment of its own, where nothing can be written; a wheel with kernels compiles none."""
    with installed(path) as place, tempfile.TemporaryDirectory() as kept:
        Path(kept).chmod(0o777)
        compiled, home = json.loads(place.output("-P", "-c", FIRST_USE, NUMBA_CACHE_DIR=kept))
        print(f"{path.name}: learns and predicts as another user, {compiled} kernels compiled")
        if (compiled == 0) == path.name.endswith("-none-any.whl"):
            sys.exit(f"{compiled} kernels compiled by {home}")
        print(_doctor(place))


def _doctor(place: Installed) -> str:
    output = place.output(
        "-P", "-c", "import sys; from bayou.cli import main; sys.argv[1:] = ['doctor']; main()"
    )
    return next(line for line in output.splitlines() if line.startswith("kernels"))


if __name__ == "__main__":
    files = sorted(path for path in Path(sys.argv[1]).iterdir() if path.suffix in (".whl", ".gz"))
    for file in files:
        check(file)
    for file in files:
        if file.suffix == ".whl":
            try_out(file)
