"""A kill, a full disk or a failing disk at every system call of a training: the old or the new checkpoint loads."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.persist.data import write_csv
from tests.persist.forge import Forge
from tests.persist.models import trained

from bayou import files
from bayou.persist.checkpoint import Checkpoint

LONG = bool(os.environ.get("BAYOU_LONG"))
ROWS, EVERY = 300, 100
CALLS = ("write", "fsync", "rename", "openat")
FAULTS = ("signal=SIGKILL", "error=ENOSPC", "error=EIO")


@pytest.fixture(scope="module")
def strace() -> str:
    """The tracer; without it these tests cannot run at all. `make test` sets it up beforehand where it can."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("NO FAULT WAS INJECTED: strace is not installed (Debian: apt-get install strace)")
    probe = subprocess.run([found, "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    if probe.returncode:
        pytest.skip(f"NO FAULT WAS INJECTED: processes cannot be traced here: {probe.stderr.strip()}")
    return found


def _command(home: Path, name: str) -> dict[str, Any]:
    return {
        "do": "train", "stream": {"path": str(home / "moves.csv"), "target": "move"}, "model": "nb",
        "folder": home / name, "out": home / f"{name}.bayou", "every": EVERY, "block": EVERY,
        "log": home / f"{name}.log",
    }  # fmt: skip


def _traced(forge: Forge, strace: str, home: Path, name: str, *rules: str) -> tuple[int, list[str]]:
    """Status of a training and the calls it made while it was traced."""
    log, go = home / f"{name}.strace", home / f"{name}.go"
    pid = forge.start(**_command(home, name), wait=go)
    while not (home / f"{name}.log").exists():  # a slow process must not open its log under the tracer's eyes
        time.sleep(0.002)
    tracer = subprocess.Popen(
        [strace, "-f", "--quiet=exit", "-s", "200", "-o", str(log), *rules, "-p", str(pid)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert tracer.stderr is not None
    # Said once the process is stopped; /proc names its tracer earlier, and calls made meanwhile would not be seen.
    attached = tracer.stderr.readline()
    assert "attached" in attached, attached
    go.touch()
    ended = forge.status()
    tracer.wait(120)
    tracer.stderr.close()
    return ended, log.read_text().splitlines()


def test_faults_at_every_call_of_a_training(forge: Forge, strace: str, memory_path: Path) -> None:
    home = memory_path
    write_csv(home / "moves.csv", ROWS, 5)
    # The first training on a fresh clone also opens and writes bytecode; calls are counted on one that does not.
    assert forge.carry_out(**_command(home, "first")) == 0, (home / "first.log").read_text()
    status, calls = _traced(forge, strace, home, "alone", "-e", f"trace={','.join(CALLS)}")
    assert status == 0, (home / "alone.log").read_text()
    expected = (home / "alone.bayou").read_bytes()
    count = {call: sum(f" {call}(" in line for line in calls) for call in CALLS}
    assert count["rename"] >= 6, calls  # five checkpoints and the model file
    assert count["fsync"] >= 2 * count["rename"]
    points = [(call, fault, n) for call in CALLS for fault in FAULTS for n in range(1, count[call] + 1)]
    chosen = points if LONG else _spread(points)
    outcomes = {"killed": 0, "refused": 0, "went on": 0}
    for i, (call, fault, n) in enumerate(chosen):
        name = f"fault{i}"
        rules = ["-e", f"trace={','.join(CALLS)}", "-e", f"inject={call}:{fault}:when={n}"]
        status, calls = _traced(forge, strace, home, name, *rules)
        if fault == "signal=SIGKILL":
            assert status == -signal.SIGKILL, f"{call} {n}: the fault did not happen"
        else:
            assert any("(INJECTED)" in line for line in calls), f"{call} {n}: the fault did not happen"
        _check_outcome(home, name, status, calls, outcomes)
        assert forge.carry_out(**_command(home, name)) == 0, (home / f"{name}.log").read_text()
        assert (home / f"{name}.bayou").read_bytes() == expected, (call, fault, n)
    print({"points": len(chosen), "of": len(points), "calls": count, **outcomes})
    assert outcomes["killed"] >= len(chosen) // 4
    assert outcomes["refused"] >= len(chosen) // 4


def _check_outcome(home: Path, name: str, status: int, calls: list[str], outcomes: dict[str, int]) -> None:
    outcomes[{0: "went on", 1: "refused"}.get(status, "killed")] += 1
    if status == 1:  # an error of ours with its reason, not an accident
        last = (home / f"{name}.log").read_text().strip().splitlines()[-1]
        assert re.match(r"bayou\.\S+(Error|Warning): |OSError: \[Errno (28|5)\]", last), last
    done = sum(" rename(" in line and "/checkpoint-" in line and line.endswith("= 0") for line in calls)
    found = Checkpoint(home / name, files.kinds()).latest()
    if done:
        assert found is not None, "checkpoints were written and none can be read"
        assert found.rows >= min(ROWS, (done - 1) * EVERY)


def _spread(points: list[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """A few of each call and fault, the same ones every time."""
    draw = random.Random(11)
    return [
        point
        for call in CALLS
        for fault in FAULTS
        for point in draw.sample([p for p in points if p[:2] == (call, fault)], 2)
    ]


def test_one_writer_and_readers_that_always_see_a_whole_model(forge: Forge, memory_path: Path) -> None:
    """Readers look until they have met every version, so that a busy machine takes longer and finds the same."""
    seconds = 60.0 if LONG else 0.5
    versions = [trained("NaiveBayes", rows) for rows in (10, 100, 1_000)]
    known = {hashlib.sha256(files.dumps(model)).hexdigest() for model in versions}
    path = memory_path / "m.bayou"
    files.save(versions[0], path)
    forges = [forge, *(Forge() for _ in range(3 if LONG else 0))]
    for i, each in enumerate(forges):
        each.start(
            do="read", path=path, seconds=seconds, versions=len(known), out=memory_path / f"seen{i}",
            log=memory_path / f"log{i}",
        )  # fmt: skip
    writes = 0
    while not all([each.ended() for each in forges]):
        files.save(versions[writes % len(versions)], path)
        writes += 1
    for i, each in enumerate(forges):
        assert each.status() == 0, (memory_path / f"log{i}").read_text()
    seen = [json.loads((memory_path / f"seen{i}").read_text()) for i in range(len(forges))]
    for each in forges[1:]:
        each.close()
    print({"writes": writes, "reads": [found["count"] for found in seen]})
    assert all(set(found["seen"]) == known for found in seen), "every version, and no other"
