"""`pyarrow.compute`, imported when the first of its functions is called.

It writes three hundred functions at its import, which takes .07 s; files of plain numbers and names are read without
any of them.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import pyarrow.compute

    return getattr(pyarrow.compute, name)
