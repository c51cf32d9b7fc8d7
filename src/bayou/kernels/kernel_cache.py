"""The cache of compiled kernels: those shipped with the package, then those that Numba has stored on disk."""

from __future__ import annotations

import functools
import hashlib
import io
import json
import os
import pickle
import platform
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite import binding as llvm
from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime import _nrt_python as runtime  # type: ignore[attr-defined] # in C

FOLDER = Path(__file__).parent / "compiled"
# The levels of the x86-64 psABI that kernels are shipped for, best first, with LLVM's names of their features.
_V2 = ("cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2")
LEVELS = {
    "x86-64-v3": (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
    "x86-64-v2": _V2,
}
_IMPORTED = re.compile(rb"^from bayou\.kernels\.(\w+) import|^from bayou\.kernels import (.+)$", re.MULTILINE)


def cpu_levels() -> list[str]:
    """The levels this processor has, best first; `BAYOU_CPU_LEVEL` names the best one to be used."""
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        has = llvm.get_host_cpu_features()
        levels = [name for name, features in LEVELS.items() if all(has.get(f) for f in features)]
    else:
        levels = [machine]
    most = os.environ.get("BAYOU_CPU_LEVEL")
    return levels[levels.index(most) :] if most in levels else [] if most else levels


def requirements() -> dict[str, str]:
    """The versions, platform and sources that a compiled kernel depends on."""
    return {
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "python": f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}",
        "system": sys.platform,
        "source": source_stamp(*(path.stem for path in Path(__file__).parent.glob("*.py"))),
    }


@functools.cache
def source_stamp(*modules: str) -> str:
    """A hash of the sources of these kernel modules and of those that they import.

    Numba itself checks only the file that defines a kernel; kernels that it calls may be defined in others.
    """
    found: dict[str, bytes] = {}
    pending = list(modules)
    while pending:
        name = pending.pop()
        path = Path(__file__).with_name(f"{name}.py")
        if name not in found and path.exists():
            found[name], imported = module_source(path)
            pending += imported
    digest = hashlib.sha256()
    for name, own in sorted(found.items()):
        digest.update(f"{name} ".encode() + own)
    return digest.hexdigest()


@functools.cache
def module_source(path: Path) -> tuple[bytes, list[str]]:
    """A hash of a kernel module's source, and the kernel modules that it imports."""
    text = path.read_bytes()
    imported: list[str] = []
    for one, several in _IMPORTED.findall(text):
        imported += [one.decode()] if one else re.findall(r"\w+", several.decode())
    return hashlib.sha256(text).digest(), imported


class ShippedKernels:
    """Compiled kernels in a read-only folder: an index, and their code in one file.

    Parameters
    ----------
    folder
        Holds `index.json` (`requires`, and for each kernel and its types where its code lies) and `code`.
    """

    def __init__(self, folder: Path) -> None:
        self.level = folder.name
        self._code = folder / "code"
        index = json.loads((folder / "index.json").read_text())
        self._entries: dict[str, tuple[int, int]] = index["entries"]
        wanted = requirements()
        self.misfits = {
            name: (made, wanted[name]) for name, made in index["requires"].items() if made != wanted[name]
        }

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, key: str) -> Any:
        """The compiled kernel in the form in which Numba caches it, or None."""
        at = self._entries.get(key)
        if at is None or self.misfits:
            return None
        with open(self._code, "rb") as file:
            file.seek(at[0])
            return unpickled(file.read(at[1]))


@functools.cache
def shipped_kernels() -> ShippedKernels | None:
    """The kernels shipped for the best level of this processor; prints a message, once, if they do not fit."""
    for level in cpu_levels():
        if not (FOLDER / level / "index.json").exists():
            continue
        shipped = ShippedKernels(FOLDER / level)
        if shipped.misfits:
            name, (made, here) = next(iter(shipped.misfits.items()))
            told = "changed" if name == "source" else f"{made} is {here} here"
            print(
                f"bayou: the compiled kernels that came along do not fit ({name}: {told}); they are compiled "
                "anew at first use (`bayou doctor` tells more)",
                file=sys.stderr,
            )
        return shipped
    return None


def compiles_as_shipped() -> bool:
    """Whether Numba is configured as for the shipped code: without checks of bounds, and for no other processor."""
    asked: Any = config  # Numba fills it in at run time
    return (
        asked.BOUNDSCHECK is None
        and not asked.DEBUGINFO_DEFAULT
        and asked.CPU_NAME is None
        and asked.CPU_FEATURES is None
        and os.environ.get("BAYOU_CPU_LEVEL") != "native"
    )


@functools.cache
def _ensure_writable(folder: str) -> None:
    """Create a folder and a file in it; raises OSError where that fails. Numba would do so again for every kernel."""
    os.makedirs(folder, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()


class _Stamped:
    """A cache locator whose kernels are stale once any kernel module that they depend on has changed."""

    _py_file: str
    _cache_path: str

    def get_source_stamp(self) -> str:
        return source_stamp(Path(self._py_file).stem)

    def ensure_cache_path(self) -> None:
        _ensure_writable(self._cache_path)


class _UserProvided(_Stamped, UserProvidedCacheLocator):
    """The folder NUMBA_CACHE_DIR."""


class _InTree(_Stamped, InTreeCacheLocator):
    """`__pycache__`, beside the source."""


class _UserWide(_Stamped, UserWideCacheLocator):
    """The user's own cache folder."""


class _KeptFile(IndexDataCacheFile):
    def _load_data(self, name: str) -> Any:
        return unpickled(Path(self._data_path(name)).read_bytes())  # type: ignore[no-untyped-call]


class _Kept(CompileResultCacheImpl):
    _locator_classes = [_UserProvided, _InTree, _UserWide]  # noqa: RUF012 # as Numba has it

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        return rebuilt(target_context, payload)


class KeptKernels(FunctionCache):
    """Numba's own cache on disk, in its usual three places, with a stamp over all sources of a kernel."""

    _impl_class = _Kept

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file.__class__ = _KeptFile

    def load_overload(self, types: Any, target: Any) -> Any:
        """The compiled kernel for these types, or None, without `target.refresh()`: see `ready_to_run`."""
        ready_to_run(target)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(types, target)  # type: ignore[no-untyped-call]


@functools.cache
def ready_to_run(target: Any) -> None:
    """Prepare a target for running compiled code, which needs only the addresses of Numba's C functions.

    `target.refresh()` would import the compiler, .3 s, and compile the counting of references, .03 s, which compiled
    code already contains. Numba does both once it compiles.
    """
    for name, address in runtime.c_helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("numba.core.environment", "_rebuild_env"):
            return _environment
        return super().find_class(module, name)


def unpickled(data: bytes) -> Any:
    """Unpickle the cached form of a compiled kernel."""
    return _Unpickler(io.BytesIO(data)).load()


def _environment(module: str, constants: list[object], name: str) -> Any:
    """The environment of a compiled function: its constants, and the globals of its module if that is imported already.

    Only interpreted code uses these globals. Numba would import the module, even where it is one of Numba's own: .05 s
    for the first kernel.
    """
    found: Any = lookup_environment(name)  # type: ignore[no-untyped-call]
    if found is None:
        known = sys.modules.get(module)
        found = Environment({"__name__": module} if known is None else vars(known))
        found.consts[:] = constants
        found.env_name = name
        Environment._memo[name] = found
    return found


class _LoadedLibrary(JITCodeLibrary):
    """Loaded code whose bitcode is parsed only when a kernel that calls it is compiled; running it needs none."""

    bitcode: bytes

    def _get_module_for_linking(self) -> Any:
        if self.bitcode:
            self._shared_module, self.bitcode = llvm.parse_bitcode(self.bitcode), b""
        return self._shared_module


def rebuilt(target: Any, payload: Any) -> Any:
    """Rebuild a compiled kernel from its cached form.

    Numba would parse the bitcode and look up each of its symbols, which takes longer than all else and is needed only
    for compiling. It would also look up the environment of every kernel that is compiled into this one: without
    constants, an environment serves interpreted code alone.
    """
    (name, kind, kept), described, *rest, environments = payload
    if kind != "object":
        return CompileResult._rebuild(target, *payload)  # type: ignore[no-untyped-call]
    code, bitcode = kept
    # Numba looks up in the bitcode which symbols exist. Needed is only the wrapper for calls from Python, which inner
    # kernels do not have, so that a stub that defines it takes the place of the bitcode.
    entry = described.llvm_cpython_wrapper_name
    symbols = f'define void @"{entry}"() {{ ret void }}' if entry.encode() in code else ""
    stub = llvm.parse_assembly(symbols).as_bitcode()
    used = tuple(environment for environment in environments if environment.consts)
    parts = (name, kind, (code, stub)), described, *rest, used
    made = CompileResult._rebuild(target, *parts)  # type: ignore[no-untyped-call]
    made.library.__class__, made.library.bitcode = _LoadedLibrary, bitcode
    return made


class KernelCache:
    """The cache that Numba's dispatcher asks for a compiled kernel: first the shipped ones, then those stored on disk.

    The folder on disk is determined only when a kernel was not shipped: an import creates no file and needs no
    permission.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        self._kept: Any = None  # Numba's own classes have no types
        self._looked = False

    @property
    def cache_path(self) -> str | None:
        kept = self.kept()
        return None if kept is None else str(kept.cache_path)

    def kept(self) -> Any:
        """Numba's cache of this kernel on disk; None where no folder can be written to."""
        if not self._looked:
            self._looked = True
            try:
                self._kept = KeptKernels(self._function)
            except (
                RuntimeError
            ) as problem:  # "cannot cache function": neither package nor home can be written to
                if "cannot cache" not in str(problem):
                    raise
                warn_not_kept()
        return self._kept

    def load_overload(self, types: Any, target: Any) -> Any:
        """The compiled kernel for these types, or None."""
        shipped = shipped_kernels() if compiles_as_shipped() else None
        data = None if shipped is None else shipped.find(shipping_key(self._function, types))
        if data is not None:
            ready_to_run(target)
            return rebuilt(target, data)
        kept = self.kept()
        return None if kept is None else kept.load_overload(types, target)

    def save_overload(self, types: Any, compiled: Any) -> None:
        """Store a compiled kernel on disk; a full or read-only disk is no error, as the kernel is in memory already."""
        kept = self.kept()
        if kept is None:
            return
        _ensure_writable.cache_clear()  # the folder may be gone by now
        try:
            kept.save_overload(types, compiled)
        except OSError:
            warn_not_kept()

    def flush(self) -> None:
        """Clear the index of this kernel on disk."""
        kept = self.kept()
        if kept is not None:
            kept.flush()

    def enable(self) -> None:
        """Do nothing: Numba calls this to enable a cache, and this one always is enabled."""


def shipping_key(function: Callable[..., object], types: Any) -> str:
    """The key of a shipped kernel: its name and the types it is compiled for."""
    return f"{function.__module__}.{function.__qualname__}({', '.join(map(str, types))})"


_warned = False


def warn_not_kept() -> None:
    """Warn once that every process will compile the kernels again."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "compiled kernels cannot be kept on disk, so every process compiles them anew; set NUMBA_CACHE_DIR to a "
            "folder that can be written to",
            RuntimeWarning,
            stacklevel=4,
        )


def can_keep() -> bool:
    """Whether compiled kernels can be stored on disk for the next process."""
    return not _warned
