"""Compile every kernel for the levels of a processor, into the folder that a wheel carries: `make wheel` runs it.

python tools/compile_kernels.py [level ...]

The same sources give the same files: each of two processes compiles a fixed half of the kernels in a fixed order.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from numba.core.serialize import dumps

from bayou.kernels.jit import InnerDispatcher
from bayou.kernels.kernel_cache import FOLDER, LEVELS, requirements, shipping_key
from bayou.kernels.warming import all_kernels, signature_of

PARTS = 2


def main(levels: list[str]) -> None:
    """Compile for each level, one process per part."""
    machine = platform.machine()
    shutil.rmtree(FOLDER, ignore_errors=True)
    for level in levels or (list(LEVELS) if machine == "x86_64" else [machine.lower()]):
        with tempfile.TemporaryDirectory() as scratch:
            parts = [_start(level, part, Path(scratch)) for part in range(PARTS)]
            if any([part.wait() for part in parts]):
                sys.exit(f"kernels could not be compiled for {level}")
            pack(FOLDER / level, [Path(scratch) / f"{part}.json" for part in range(PARTS)])


def _start(level: str, part: int, scratch: Path) -> subprocess.Popen[bytes]:
    name = level if level in LEVELS else "generic"
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": name,
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(scratch / f"cache{part}"),
        "PYTHONHASHSEED": "0",
    }
    return subprocess.Popen(
        [sys.executable, "-P", __file__, "--part", str(part), str(scratch)], env=environment
    )


def compile_part(part: int, scratch: Path) -> None:
    """Compile every so-manieth kernel that Python calls; those it calls are inside it."""
    outer = sorted((name, k) for name, k in all_kernels() if not isinstance(k, InnerDispatcher))
    entries: dict[str, str] = {}
    for name, kernel in outer[part::PARTS]:
        types = signature_of(kernel)
        if types is not None:
            kernel.compile(types)
            path = scratch / name
            path.write_bytes(portable(kernel.overloads[types]))
            entries[shipping_key(kernel.py_func, types)] = str(path)
    (scratch / f"{part}.json").write_text(json.dumps(entries))


def portable(compiled: Any) -> bytes:
    """A compiled kernel as Numba keeps it, without its annotated source, which names the folder it was made in."""
    parts = list(compiled._reduce())
    parts[6] = ""  # the annotation: nobody asks a compiled kernel for it
    data = bytes(dumps(tuple(parts)))
    if b"__numba_array_expr_0x" in data:
        sys.exit(f"{compiled.fndesc.qualname}: Numba names an array expression by its address; write a loop")
    return data


def pack(folder: Path, parts: list[Path]) -> None:
    """Join the parts: an index, and the code of all kernels in one file."""
    entries = {key: path for part in parts for key, path in json.loads(part.read_text()).items()}
    folder.mkdir(parents=True)
    places, offset = {}, 0
    with open(folder / "code", "wb") as code:
        for key, path in sorted(entries.items()):
            data = Path(path).read_bytes()
            code.write(data)
            places[key] = (offset, len(data))
            offset += len(data)
    index = {"requires": requirements(), "entries": places}
    (folder / "index.json").write_text(json.dumps(index, indent=0, sort_keys=True))
    print(f"{folder.name}: {len(places)} kernels, {offset / 1e6:.1f} MB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--part"]:
        compile_part(int(sys.argv[2]), Path(sys.argv[3]))
    else:
        main(sys.argv[1:])
