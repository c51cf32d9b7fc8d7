"""Learners and brokers killed, stopped and paused: the model is that of one pass over the log, bit for bit."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.persist.forge import Forge
from tests.seeds import LONG
from tests.streams.brokers.parts import ALL, REAL, at, messages, records, started
from tests.streams.brokers.test_logs import Tail, in_turns

from bayou import files
from bayou.cli import specs
from bayou.persist.checkpoint import Checkpoint, Snapshot
from bayou.streams.brokers.inbox import TURN

KILLS = 100 if LONG else 3  # for each of three brokers, and as many for files
ORDERED = "wnb(numeric=gk, bins=modl)"  # what it learns depends on the order of all rows


def command(
    home: Path, address: str, name: str, model: str, every: int = 125, counts: bool = False
) -> dict[str, object]:
    stream: dict[str, object] = {"path": address, "target": "fraud"}
    stream |= {"nominal": ["hour"], "ignore": ["amount"]} if counts else {}
    return {
        "do": "train", "stream": stream, "model": model, "folder": home / name,
        "out": home / f"{name}.bayou", "every": every, "block": 64, "log": home / "log",
    }  # fmt: skip


def one_pass(rows: list[dict[str, Any]], model: str = "nb", counts: bool = False) -> str:
    """The digest after these records, learned here and now without any stream; `counts` alone add up in any order."""
    (learner,) = specs.models([model]).values()
    labels = [row["fraud"] for row in rows]
    if counts:
        rows = [{"hour": str(row["hour"]), "shop": row["shop"]} for row in rows]
    learner.learn_many([{k: v for k, v in row.items() if k != "fraud"} for row in rows], labels)
    return str(learner.digest())


def latest(folder: Path) -> Snapshot | None:
    return Checkpoint(folder, files.kinds()).latest()


def rows_in(folder: Path) -> int:
    found = latest(folder)
    return 0 if found is None else found.rows


def newest(folder: Path) -> int:
    """The number of the newest checkpoint: how far a learner has come, without reading it."""
    return max((int(path.stem.partition("-")[2]) for path in folder.glob("checkpoint-*.bayou")), default=0)


def wait_for(condition: Callable[[], object], forge: Forge, log: Path, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "nothing happens: " + (log.read_text() if log.exists() else "")
        assert not forge.ended(0.03), "the learner has ended: " + log.read_text()


@pytest.mark.parametrize("name", ["tail", *ALL])
def test_a_learner_killed_again_and_again(forge: Forge, tmp_path: Path, name: str) -> None:
    rows = 4_000 if LONG else 2_000
    with started(name, tmp_path) if name != "tail" else _tail(tmp_path) as part:
        part.send(messages(rows))
        partitions = getattr(part, "partitions", 1)
        order = in_turns(records(rows), partitions, TURN) if partitions > 1 else records(rows)
        address = at(part, until="end")
        assert forge.carry_out(do="warm", model=ORDERED) == 0
        assert forge.carry_out(**command(tmp_path, address, "alone", ORDERED)) == 0, _said(tmp_path)
        whole = (tmp_path / "alone.bayou").read_bytes()
        assert files.loads(whole).digest() == one_pass(order, ORDERED)
        draw, kills, middle, trial = random.Random(name), 0, 0, 0
        while kills < KILLS or middle < KILLS // 2:
            trial += 1
            assert trial <= 10 * KILLS, "no kill falls into the middle of learning"
            killed = command(tmp_path, address, f"killed{trial}", ORDERED)
            folder, status = tmp_path / f"killed{trial}", None
            while status != 0:
                moment = ("checkpoints", draw.randrange(1, 12), "SIGKILL", draw.uniform(0.0, 0.02))
                status = forge.carry_out(**killed, after=moment)
                assert status in (0, -signal.SIGKILL), _said(tmp_path)
                if status:
                    kills += 1
                    middle += 0 < rows_in(folder) < rows
            assert Path(str(killed["out"])).read_bytes() == whole
            last = latest(folder)
            assert last is not None
            assert (last.rows, last.finished) == (rows, True)
        if LONG:
            print(f"{name}: {kills} kills, {middle} in the middle")


@pytest.mark.parametrize("name", REAL)
def test_a_broker_killed_and_started_again(forge: Forge, tmp_path: Path, name: str) -> None:
    """The learner, which follows, says so once, tries again, and loses and doubles nothing."""
    rows, times = 2_000, 3 if LONG else 1
    with started(name, tmp_path) as part:
        part.send(messages(rows))
        counts = "kafka" in name  # of several partitions, what comes in later is learned as it comes
        follower = command(tmp_path, part.address, "live", "nb", every=100, counts=counts)
        pid = forge.start(**follower)
        log, folder = tmp_path / "log", tmp_path / "live"
        wait_for(lambda: rows_in(folder) == rows, forge, log)
        sent = messages(rows * (times + 1))[rows:]
        for i in range(times):
            part.server.kill()
            wait_for(lambda i=i: _said(tmp_path).count("does not answer") == i + 1, forge, log)
            part.server.start()
            part.send(sent[i * rows : (i + 1) * rows])
            wait_for(lambda i=i: rows_in(folder) == rows * (i + 2), forge, log)
            assert _said(tmp_path).count("answers again") == i + 1
        os.kill(pid, signal.SIGTERM)
        assert forge.status() == 3, _said(tmp_path)
        found = latest(folder)
        assert found is not None
        assert found.rows == rows * (times + 1)
        assert found.model.digest() == one_pass(records(rows * (times + 1)), counts=counts)


@pytest.mark.parametrize("name", ["tail", *ALL])
def test_a_learner_that_was_stopped_and_paused_goes_on(forge: Forge, tmp_path: Path, name: str) -> None:
    """SIGSTOP while messages come in, SIGTERM and another process: a final checkpoint, and nothing lost."""
    rows = 1_200
    with started(name, tmp_path) if name != "tail" else _tail(tmp_path) as part:
        part.send(messages(rows))
        counts = "kafka" in name  # of several partitions, what comes in later is learned as it comes
        follower = command(tmp_path, part.address, "live", "nb", every=100, counts=counts)
        log, folder = tmp_path / "log", tmp_path / "live"
        pid = forge.start(**follower)
        wait_for(lambda: rows_in(folder) == rows, forge, log)
        os.kill(pid, signal.SIGSTOP)
        part.send(messages(2 * rows)[rows:])
        time.sleep(30.0 if LONG else 0.3)
        assert rows_in(folder) == rows, "it was not paused"
        os.kill(pid, signal.SIGCONT)
        wait_for(lambda: rows_in(folder) == 2 * rows, forge, log)
        os.kill(pid, signal.SIGTERM)
        assert forge.status() == 3, _said(tmp_path)
        part.send(messages(3 * rows)[2 * rows :])
        pid = forge.start(**follower)
        wait_for(lambda: rows_in(folder) == 3 * rows, forge, log)
        os.kill(pid, signal.SIGINT)
        assert forge.status() == 3, _said(tmp_path)
        found = latest(folder)
        assert found is not None
        assert found.model.digest() == one_pass(records(3 * rows), counts=counts)


@pytest.mark.parametrize("name", [name for name in ALL if "kafka" in name])
def test_two_learners_share_the_partitions_and_are_merged(forge: Forge, tmp_path: Path, name: str) -> None:
    """Each keeps its own offsets; stopped and exchanged between processes, their merged model is one pass."""
    rows = 3_000
    with started(name, tmp_path) as part:
        part.send(messages(rows))
        shares = {"even": "0,2", "odd": "1,3"}
        for who, share in shares.items():
            one = command(tmp_path, at(part, until="end", partitions=share), who, "nb", counts=True)
            killed = forge.carry_out(**one, after=("checkpoints", 3, "SIGKILL"))
            assert killed == -signal.SIGKILL, "it was not killed: " + _said(tmp_path)
        for who, share in reversed(shares.items()):
            again = command(tmp_path, at(part, until="end", partitions=share), who, "nb", counts=True)
            assert forge.carry_out(**again) == 0, _said(tmp_path)
        even, odd = (files.load(tmp_path / f"{who}.bayou") for who in shares)
        even.merge(odd)
        assert even.digest() == one_pass(records(rows), counts=True)


def _said(home: Path) -> str:
    return (home / "log").read_text() if (home / "log").exists() else ""


class _tail:  # noqa: N801 - used like `started`
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Tail:
        return Tail(self._folder)

    def __exit__(self, *exception: object) -> None:
        pass
