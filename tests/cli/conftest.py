"""A stream and a model for every test of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.invoke import bayou


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stream as CSV, and a model that has learned it."""
    path = tmp_path_factory.mktemp("cli")
    bayou("generate", "mixed", "--rows", "2e3", "--out", path / "mixed.csv", "--seed", 1)
    bayou("learn", path / "mixed.csv", "--target", "class", "-m", "nb", "--out", path / "m.bayou")
    return path
