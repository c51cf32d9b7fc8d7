"""Show that the level a kernel is compiled for does not show in its results: record every model at every level.

python tools/same_bits.py dist/bayou-*-cp*.whl [--quick] [--only TEXT] [--jobs 2]

The recorded cases (`tests/recorded`) run on an installed wheel: with the kernels of each shipped level, of which none
may be compiled, and with all kernels compiled for this very processor; two of these at once. Stops where two of them
differ in a bit.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from installed import Installed, installed

ROOT = Path(__file__).resolve().parents[1]
LEVELS = (
    "import bayou.kernels.kernel_cache as k; print(*(n for n in k.cpu_levels() if (k.FOLDER / n).exists()))"
)


def record(place: Installed, folder: Path, chosen: list[str], level: str) -> Path:
    """Run the cases with the kernels of one level."""
    file, kept = folder / f"{level}.json", folder / f"kept-{level}"
    kept.mkdir(mode=0o777)
    kept.chmod(0o777)
    place.output(
        *("-m", "tests.recorded", "record", str(file), *chosen),
        cwd=str(ROOT),
        BAYOU_CPU_LEVEL=level,
        NUMBA_CACHE_DIR=str(kept),
        TMPDIR=str(folder),
    )
    compiled = len({path.name for path in kept.rglob("*.nbi")})
    print(f"{level}: {compiled} kernels compiled", flush=True)
    if compiled and level != "native":
        sys.exit(f"{level} is shipped, and yet compiled: {[path.name for path in kept.rglob('*.nbi')][:5]}")
    return file


def main() -> None:
    options = _arguments()
    chosen = [*(["--quick"] if options.quick else []), "--only", options.only]
    with tempfile.TemporaryDirectory() as name, installed(options.wheel, "scipy") as place:
        folder = Path(name)
        os.chmod(folder, 0o777)
        levels = ["native", *place.output("-P", "-c", LEVELS).split()]  # the one that compiles takes longest
        with ThreadPoolExecutor(options.jobs) as pool:
            first, *others = pool.map(partial(record, place, folder, chosen), levels)
        for other in others:
            print(f"{first.stem} beside {other.stem}:")
            compare = ("-m", "tests.recorded", "compare", str(first), str(other))
            print(place.output(*compare, cwd=str(ROOT), TMPDIR=str(folder)), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--quick", action="store_true", help="a slice of the cases")
    parser.add_argument("--only", default="", help="cases with this text in their names")
    parser.add_argument("--jobs", type=int, default=2, help="levels recorded at the same time")
    return parser.parse_args()


if __name__ == "__main__":
    main()
