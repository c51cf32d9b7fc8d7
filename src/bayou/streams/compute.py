"""`pyarrow.compute`, imported at first use.

Its import generates three hundred functions, which takes .07 s; files of plain numbers and names are read without any
of them.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import pyarrow.compute

    return getattr(pyarrow.compute, name)
