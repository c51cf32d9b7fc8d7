"""A way for tests into kernels that only kernels call."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])


@cache
def reach(inner: F) -> F:
    """The inner kernel, called from a kernel, which is compiled once."""

    @numba.njit
    def call(*args):
        return inner(*args)

    return call
