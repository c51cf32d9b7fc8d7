"""What the tests of files and checkpoints share."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def memory_path() -> Iterator[Path]:
    """A folder in memory where there is one: killing a process, unlike a machine, asks nothing of the disk."""
    home = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="bayou-", dir=home))
    yield folder
    shutil.rmtree(folder)
