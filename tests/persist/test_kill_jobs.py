"""Learning over processes killed at random moments: the caller leaves no part of a file, a worker no trace at all."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest
from tests.persist.data import write_csv
from tests.persist.forge import Forge

LONG = bool(os.environ.get("BAYOU_LONG"))
KILLS = 50 if LONG else 4  # of each way to learn
ROWS, SHARD = 20_000, 60_000  # a dozen shards
PARALLEL = "nb(numeric=gk, bins=modl)"


def _command(home: Path, way: str) -> dict[str, object]:
    return {
        "do": way, "path": home / "moves.csv", "target": "move", "model": PARALLEL, "out": home / "m.bayou",
        "shard_bytes": SHARD, "log": home / "log",
    }  # fmt: skip


def _living_workers(caller: int) -> list[int]:
    """Worker processes that the caller has started and that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            worker = b"bayou.backends" in (entry / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue
        if worker and state != "Z" and int(parent) == caller:
            found.append(int(entry.name))
    return found


def _is_alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _kill(pid: int) -> bool:
    """Kill a process; False if it ended before."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _until_gone(pids: list[int], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while any(map(_is_alive, pids)) and time.monotonic() < end:
        time.sleep(0.01)
    return not any(map(_is_alive, pids))


@pytest.mark.parametrize("way", ["fit_files", "bayou learn --jobs 2"])
def test_killed_learning_over_processes(forge: Forge, memory_path: Path, way: str) -> None:
    """Every other kill is of the caller, the others of its worker; each must hit a process that lives.

    A caller that is killed leaves the model file that was there before, whole, and its worker ends by itself. Learning
    again gives the bytes of learning undisturbed, although now the worker is killed, which is replaced.
    """
    write_csv(memory_path / "moves.csv", ROWS, 7)
    command, out, log = _command(memory_path, way), memory_path / "m.bayou", memory_path / "log"
    assert forge.carry_out(do="warm", model=PARALLEL) == 0
    assert forge.carry_out(**command) == 0, log.read_text()
    expected = out.read_bytes()
    start = time.monotonic()
    assert forge.carry_out(**command) == 0
    assert out.read_bytes() == expected
    length = time.monotonic() - start

    draw = random.Random(way)
    earlier = b"the file that was there before"
    of_callers = of_workers = late = at_work = 0
    while of_callers + of_workers < KILLS:
        if of_callers <= of_workers:
            out.write_bytes(earlier)
            pid = forge.start(**command)
            forge.ended(draw.uniform(0.0, 1.1 * length))
            workers = _living_workers(pid)
            if not forge.ended():
                _kill(pid)
            status = forge.status()
            assert status in (0, -signal.SIGKILL), log.read_text()
            assert out.read_bytes() == expected or (status and out.read_bytes() == earlier)
            assert _until_gone(workers), "a worker outlives its caller"
            late += status == 0
            of_callers += status != 0
            at_work += status != 0 and bool(workers)
        else:  # learning again
            pid = forge.start(**command)
            while not (workers := _living_workers(pid)) and not forge.ended(0.002):
                pass
            forge.ended(draw.uniform(0.0, 0.5 * length))
            hit = [worker for worker in workers if _is_alive(worker) and _kill(worker)]
            of_workers += bool(hit) and not forge.ended()
            assert forge.status() == 0, log.read_text()
            assert out.read_bytes() == expected
    left = {path.name for path in memory_path.iterdir()} - {"moves.csv", "m.bayou", "log"}
    assert all(name.startswith(".m.bayou.") and name.endswith(".part") for name in left), left
    assert at_work >= KILLS // 8, "no worker had been started when its caller was killed"
    counts = {
        "callers": of_callers,
        "with a worker": at_work,
        "workers": of_workers,
        "late": late,
        "drafts": len(left),
    }
    print(json.dumps({"way": way, **counts}))
