"""Compiled kernels that are shipped, kept on disk, or compiled anew: which is found, and what is said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

from bayou.kernels import kernel_cache
from bayou.kernels.class_counts import add_vector
from bayou.kernels.jit import kernel
from bayou.kernels.kernel_cache import (
    LEVELS,
    KernelCache,
    ShippedKernels,
    cpu_levels,
    module_source,
    requirements,
    shipping_key,
    source_stamp,
)
from bayou.kernels.sums import row_sum
from bayou.kernels.warming import signature_of

USE = """
import sys, numpy as np
from pathlib import Path
from bayou.kernels import kernel_cache
kernel_cache.FOLDER = Path(sys.argv[1])
from bayou.kernels.compiling import watch
compiler = watch()
from bayou.kernels.class_counts import add_vector
to = np.zeros((2, 3))
add_vector(to, np.arange(3.0))
print(compiler.kernels, to[0].tolist())
"""
# A process that has the compiler loaded, and forks one for each line with a folder and an environment.
STARTER = """
import json, os, sys
import numba
from numba.core import config
import bayou.kernels.class_counts, bayou.kernels.compiling, bayou.kernels.kernel_cache
numba.njit(lambda x: x + 1)(1)
for line in sys.stdin:
    told = json.loads(line)
    child = os.fork()
    if child == 0:
        for name, number in (("stdout", 1), ("stderr", 2)):
            os.dup2(os.open(told[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        status = 1
        try:
            os.environ.update(told["environment"])
            config.reload_config()
            sys.argv[1:] = [told["folder"]]
            exec(told["program"])
            status = 0
        finally:
            sys.stdout.flush(), sys.stderr.flush()
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
Use = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One kernel compiled for the least level, as a wheel carries it."""
    folder = tmp_path_factory.mktemp("compiled")
    program = f"""
import sys
sys.path.insert(0, {str(Path("tools").resolve())!r})
import compile_kernels
from pathlib import Path
from bayou.kernels.class_counts import add_vector
compile_kernels.all_kernels = lambda: [("class_counts.add_vector", add_vector)]
compile_kernels.compile_part(0, Path(sys.argv[1]))
compile_kernels.pack(Path(sys.argv[1]) / sys.argv[2], [Path(sys.argv[1]) / "0.json"])
"""
    level = cpu_levels()[-1]
    environment = {
        **os.environ,
        "NUMBA_CPU_NAME": level if level in LEVELS else "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(folder / "cache"),
    }
    subprocess.run([sys.executable, "-c", program, str(folder), level], check=True, env=environment)
    return folder


@pytest.fixture(scope="module")
def starter() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", STARTER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        yield running


@pytest.fixture
def use(starter: subprocess.Popen[str], tmp_path: Path) -> Use:
    """Call the shipped kernel in a process of its own that has kept none."""
    out = {name: tmp_path / name for name in ("stdout", "stderr")}

    def used(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        wish = {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), **environment}
        told = {"folder": folder, "environment": wish, "program": USE, **out}
        assert starter.stdin is not None
        assert starter.stdout is not None
        print(json.dumps(told, default=os.fspath), file=starter.stdin, flush=True)
        status = int(starter.stdout.readline())
        assert status == 0, out["stderr"].read_text()
        return subprocess.CompletedProcess("", status, *(path.read_text() for path in out.values()))

    return used


def test_a_shipped_kernel_is_not_compiled_and_needs_no_folder(shipped: Path, tmp_path: Path) -> None:
    """In a process that began with nothing: no compiler is loaded in it, either."""
    done = subprocess.run(
        [sys.executable, "-c", USE, str(shipped)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")},
        check=True,
        text=True,
        capture_output=True,
    )
    assert done.stdout == "0 [0.0, 1.0, 2.0]\n"
    assert done.stderr == ""
    assert not (tmp_path / "kept").exists()


def test_without_shipped_kernels_it_is_compiled_once_and_kept(use: Use, tmp_path: Path) -> None:
    assert use(tmp_path / "none").stdout.startswith("1 ")
    assert use(tmp_path / "none").stdout.startswith("0 ")


@pytest.mark.parametrize("name", ["numba", "python", "source"])
def test_kernels_of_another_making_are_told_and_compiled_anew(
    use: Use, shipped: Path, tmp_path: Path, name: str
) -> None:
    level = cpu_levels()[-1]
    other = tmp_path / "other" / level
    other.mkdir(parents=True)
    index = json.loads((shipped / level / "index.json").read_text())
    index["requires"][name] = "0.1"
    (other / "index.json").write_text(json.dumps(index))
    (other / "code").write_bytes(b"never read")
    done = use(tmp_path / "other")
    assert done.stdout == "1 [0.0, 1.0, 2.0]\n"
    assert done.stderr.count("\n") == 1
    assert name in done.stderr
    assert "bayou doctor" in done.stderr


@pytest.mark.parametrize(
    "wish", [{"NUMBA_BOUNDSCHECK": "1"}, {"NUMBA_CPU_NAME": "generic"}, {"BAYOU_CPU_LEVEL": "native"}]
)
def test_whoever_asks_for_other_code_gets_it(use: Use, shipped: Path, wish: dict[str, str]) -> None:
    assert use(shipped, **wish).stdout == "1 [0.0, 1.0, 2.0]\n"


def test_a_level_can_be_named_and_an_unknown_one_ships_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = cpu_levels()
    monkeypatch.setenv("BAYOU_CPU_LEVEL", levels[-1])
    assert cpu_levels() == levels[-1:]
    monkeypatch.setenv("BAYOU_CPU_LEVEL", "vax")
    assert cpu_levels() == []


def test_levels_follow_from_what_the_processor_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_cache.platform, "machine", lambda: "x86_64")
    monkeypatch.delenv("BAYOU_CPU_LEVEL", raising=False)
    features = dict.fromkeys(LEVELS["x86-64-v3"], True)
    monkeypatch.setattr(kernel_cache.llvm, "get_host_cpu_features", lambda: features)
    assert cpu_levels() == ["x86-64-v3", "x86-64-v2"]
    features["fma"] = False
    assert cpu_levels() == ["x86-64-v2"]
    features["popcnt"] = False
    assert cpu_levels() == []


def test_the_stamp_changes_with_every_module_a_kernel_comes_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outer.py").write_text("from bayou.kernels.inner import f\n")
    (tmp_path / "inner.py").write_text("from bayou.kernels import deep\n")
    (tmp_path / "deep.py").write_text("x = 1\n")
    (tmp_path / "other.py").write_text("y = 1\n")
    monkeypatch.setattr(kernel_cache, "__file__", str(tmp_path / "kernel_cache.py"))

    def stamps() -> tuple[str, str]:
        source_stamp.cache_clear()
        module_source.cache_clear()
        return source_stamp("outer"), source_stamp("other")

    try:
        before = stamps()
        (tmp_path / "deep.py").write_text("x = 2\n")
        after = stamps()
    finally:
        source_stamp.cache_clear()
        module_source.cache_clear()
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_an_entry_is_found_by_name_and_types(shipped: Path) -> None:
    found = ShippedKernels(shipped / cpu_levels()[-1])
    assert len(found) == 1
    assert found.misfits == {}
    assert found.find(shipping_key(row_sum.py_func, signature_of(row_sum))) is None  # type: ignore[attr-defined]
    assert set(requirements()) == {"numba", "llvmlite", "python", "system", "source"}


def test_the_folder_is_tried_once_and_created_again_where_it_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried, temporary = [], tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda dir: tried.append(dir) or temporary(dir=dir))
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    for each in (row_sum, add_vector):
        folder = KernelCache(each.py_func).cache_path  # type: ignore[attr-defined]
    assert tried == [folder]
    shutil.rmtree(tmp_path / "cache")
    compiled = kernel(add_vector.py_func)  # type: ignore[attr-defined]
    compiled(np.zeros((2, 3)), np.arange(3.0))
    (types,) = compiled.overloads
    kept = KernelCache(add_vector.py_func)  # type: ignore[attr-defined]
    assert kept.load_overload(types, compiled.targetctx) is not None
    assert tried == [folder, folder]
