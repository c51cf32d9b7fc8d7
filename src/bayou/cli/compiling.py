"""A note when kernels compile for the first time: without it, the first row looks like a hang."""

from __future__ import annotations

from bayou.cli.console import note


def announce_compiling(quiet: bool, seconds: int = 10) -> None:
    """From now on, print a note when a kernel has to be compiled rather than loaded."""
    if quiet:
        return
    from bayou.kernels.compiling import watch

    watch(lambda: note(_announcement(seconds)))


def _announcement(seconds: int) -> str:
    from bayou.kernels.kernel_cache import can_keep

    if can_keep():
        return f"compiling, once, about {seconds} s (`bayou warm` does it all beforehand)"
    return f"compiling, about {seconds} s, each time: set NUMBA_CACHE_DIR to a folder that can be written to"
