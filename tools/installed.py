"""A wheel in an environment of its own, used as a stranger would: as another user, who can write nowhere in it.

The other user is `nobody`, where root runs this; else it is whoever does, with the environment made read-only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


class Installed:
    """An environment in a folder, with a wheel in it.

    Parameters
    ----------
    folder
        Holds `bin/python`.
    """

    def __init__(self, folder: Path) -> None:
        self.python = str(folder / "bin" / "python")

    def run(self, *arguments: str, cwd: str = "/", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run its Python as another user, without a home and without any of this process's settings."""
        return subprocess.run(
            [self.python, *arguments],
            cwd=cwd,
            env={"PATH": os.defpath, "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1", **environment},
            text=True,
            capture_output=True,
            **_stranger(),
        )

    def output(self, *arguments: str, cwd: str = "/", **environment: str) -> str:
        """What it prints; stops where it fails."""
        done = self.run(*arguments, cwd=cwd, **environment)
        if done.returncode:
            sys.exit(f"{' '.join(arguments)[:200]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout.strip()


@contextmanager
def installed(wheel: Path, *more: str) -> Iterator[Installed]:
    """Install a wheel, and other packages by name, into an environment that cannot be written to while it is used."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        subprocess.run([_interpreter(), "-m", "venv", folder], check=True)
        pip = [str(Path(folder, "bin", "python")), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", str(wheel.resolve()), *more], check=True, cwd=folder)
        _allow_writing(Path(folder), False)
        try:
            yield Installed(Path(folder))
        finally:
            _allow_writing(Path(folder), True)


def _stranger() -> dict[str, int | list[int]]:
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def _interpreter() -> str:
    """This Python, or one of the same minor version that the other user can run: root's home is closed to them."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    own = str(getattr(sys, "_base_executable", sys.executable))
    for path in (own, shutil.which(version, path="/usr/local/bin:/usr/bin")):
        if path is not None:
            try:
                subprocess.run([path, "-c", ""], check=True, cwd="/", **_stranger())
            except (OSError, subprocess.CalledProcessError):
                continue
            return path
    sys.exit(f"no {version} that another user can run")


def _allow_writing(folder: Path, allowed: bool) -> None:
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | 0o200 if allowed else mode & ~0o222)
