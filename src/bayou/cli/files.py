"""Model files."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from bayou.cli.console import UsageError
from bayou.errors import DataError, ModelFileError


def load_model(path: str) -> Any:
    """The model in a file."""
    from bayou.files import load

    try:
        return load(path)
    except ModelFileError as error:  # a command may read several files
        raise ModelFileError(f"{path}: {error}") from None


def save_model(model: Any, path: str) -> None:
    from bayou.files import save

    save(model, path)


def check_writable(path: str, *inputs: str) -> None:
    """Raise an error if the result could not be written, or would overwrite what is read, before hours of work."""
    place = Path(path)
    for each in inputs:
        with contextlib.suppress(OSError):  # one of them is no file, or not there yet
            if os.path.samefile(place, each):
                raise UsageError(
                    f"the result would overwrite {path}, which is read", remedy="give another path"
                )
    folder = place.parent
    if place.is_dir():
        raise DataError(f"{path} is a folder", remedy="give the name of a file")
    if not folder.is_dir():
        raise DataError(f"there is no folder {folder}", remedy="make it first, or write elsewhere")
    if not os.access(place if place.exists() else folder, os.W_OK):
        raise DataError(f"cannot write to {path}", remedy="check its permissions, or write elsewhere")


def shown_path(path: str) -> str:
    """The path relative to the current folder, if it lies inside."""
    near = os.path.relpath(path)
    return path if near.startswith("..") else near
