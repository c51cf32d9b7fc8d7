"""`bayou doctor`: what this installation has, where its compiled kernels come from, and what to do about it."""

from __future__ import annotations

import os
import platform
from importlib import metadata

from bayou.cli.console import guarded, out

NEEDED = ("numba", "llvmlite", "numpy", "pyarrow", "narwhals", "safetensors")
OPTIONAL = {
    "matplotlib": "plots",
    "pandas": "frames",
    "polars": "frames",
    "scikit-learn": "pipelines",
    "river": "pipelines",
    "pyspark": "learning on Spark",
}


def version_text() -> str:
    """The version, and the versions of what results and speed depend on."""
    from bayou import __version__

    parts = ", ".join(f"{name} {metadata.version(name)}" for name in ("numba", "numpy", "pyarrow"))
    return f"bayou {__version__} (Python {platform.python_version()}, {parts})"


@guarded
def doctor() -> None:
    """Show versions, processor, compiled kernels, threads and optional parts, with advice where something is amiss."""
    from bayou import __version__
    from bayou.threads import ranges

    out(f"bayou        {__version__}, {os.path.dirname(_home())}")
    out(f"Python       {platform.python_version()}, {platform.platform()}")
    for name in NEEDED:
        out(f"{name:<12} {metadata.version(name)}")
    found = [name for name in OPTIONAL if _is_installed(name)]
    out(f"optional     {', '.join(found) or 'none'}")
    missing = [f"{name} ({use})" for name, use in OPTIONAL.items() if name not in found]
    if missing:
        out(f"             not installed: {', '.join(missing)}")
    out(f"threads      {len(ranges(1_000_000, 1))} of {os.cpu_count()} processors")
    _kernels()


def _is_installed(name: str) -> bool:
    """Whether a distribution is installed, by its metadata: the command line blocks imports of some modules."""
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _home() -> str:
    import bayou

    return str(bayou.__file__)


def _kernels() -> None:
    """Print which compiled kernels are used: shipped ones, those cached on disk, or none yet."""
    from bayou.kernels.kernel_cache import FOLDER, KernelCache, cpu_levels, shipped_kernels
    from bayou.kernels.sums import row_sum

    levels = cpu_levels()
    out(f"processor    {levels[0] if levels else platform.machine()}")
    shipped = shipped_kernels()
    if shipped is None and FOLDER.exists():
        there = ", ".join(sorted(path.name for path in FOLDER.iterdir()))
        out(f"kernels      shipped for {there} only: this processor has none of these")
    elif shipped is None:
        out("kernels      none shipped with this installation: each is compiled at its first use")
    elif shipped.misfits:
        out("kernels      shipped, but made for something else; each is compiled at its first use:")
        for name, (made, here) in shipped.misfits.items():
            out(f"             {name}: {made[:16]} there, {here[:16]} here")
    else:
        out(f"kernels      {len(shipped)} shipped for {shipped.level}: nothing has to be compiled")
        return
    kept = KernelCache(row_sum.py_func).cache_path  # type: ignore[attr-defined] # a dispatcher of Numba
    if kept is None:
        out("kept         nowhere: set NUMBA_CACHE_DIR to a folder that can be written to")
    else:
        out(f"kept         what is compiled here stays in {kept} (`bayou warm` compiles all of it)")
