"""A server that learns from a log while it answers: killed again and again, each row once, in the order of the log."""

from __future__ import annotations

import json
import os
import random
import signal
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.seeds import LONG
from tests.serve.child import CONTEXT
from tests.streams.brokers.parts import records
from tests.streams.brokers.test_faults import latest, newest, one_pass, rows_in
from tests.streams.brokers.test_logs import in_turns
from tests.streams.brokers.topics import TOPICS, topics

from bayou.client import Client
from bayou.streams.brokers.inbox import TURN

KILLS = 10 if LONG else 1  # of each part
ORDERED = "wnb(numeric=gk, bins=modl)"


def serve(folder: str, address: str, pipe: Any) -> None:
    from bayou.cli import specs
    from bayou.serve import LivingModel, RunningServer
    from bayou.streams import open_stream
    from bayou.training.run import Every

    (model,) = specs.models([ORDERED]).values()
    living = LivingModel(
        "m", model, learns=True, folder=folder, every=Every(rows=300), follow_name=address,
        follow=lambda: open_stream(address, target="fraud"),
    )  # fmt: skip
    server = RunningServer({"m": living}, port=0)
    pipe.send(server.url)
    server.run()


class Follower:
    """The process and where it answers."""

    def __init__(self, folder: Path, address: str) -> None:
        here, there = CONTEXT.Pipe()
        self.process: Any = CONTEXT.Process(target=serve, args=(str(folder), address, there), daemon=True)
        self.process.start()
        there.close()
        self.url = here.recv()
        here.close()

    def told(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.url}/models/m", timeout=60) as answer:
            found: dict[str, Any] = json.load(answer)
        return found

    def end(self, number: signal.Signals) -> int | None:
        os.kill(self.process.pid, number)
        self.process.join(120)
        code: int | None = self.process.exitcode
        return code


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "nothing happens"
        time.sleep(0.02)


@pytest.mark.parametrize("name", list(TOPICS))
def test_a_server_that_follows_a_log_is_killed(tmp_path: Path, name: str) -> None:
    rows = 8_000 if LONG else 4_000
    with topics(name, tmp_path) as where:
        values = records(rows)
        parts = [values[p :: where.partitions] for p in range(where.partitions)]
        where.send("records", parts, [[1_000_000 * (i + 1) for i in range(len(part))] for part in parts])
        order = in_turns(values, where.partitions, TURN) if where.partitions > 1 else values
        whole = one_pass(order, ORDERED)  # kernels are compiled by now: nobody is killed for that
        address, draw, kills, trial = where.address("records"), random.Random(name), 0, 0
        middle = 0
        while kills < KILLS:
            trial += 1
            folder = tmp_path / f"ck{trial}"
            for _ in range(draw.randrange(1, 4) if LONG else 1):
                child = Follower(folder, address)
                wanted = newest(folder) + draw.randrange(1, 5)
                wait_until(lambda: newest(folder) >= wanted or rows_in(folder) == rows)  # noqa: B023 - called at once
                time.sleep(draw.uniform(0.0, 0.02))
                assert child.end(signal.SIGKILL) == -signal.SIGKILL
                kills += 1
                found = latest(folder)
                middle += found is not None and 0 < found.rows < rows
            child = Follower(folder, address)
            wait_until(lambda child=child: child.told()["rows"] == rows)
            # A model restored whole has all rows before its log has told of any place.
            wait_until(lambda child=child: child.told()["follows"]["offsets"])
            wait_until(lambda child=child: child.told()["follows"]["lag"] in (0, None))
            follows = child.told()["follows"]
            assert sorted(follows["offsets"]) == [str(p) for p in range(where.partitions)]
            with urllib.request.urlopen(f"{child.url}/metrics", timeout=60) as answer:
                metrics = answer.read().decode()
            assert 'bayou_followed_rows_total{model="m"}' in metrics
            if name in ("nats", "kafka"):
                assert 'bayou_followed_lag{model="m"} 0.0' in metrics
                # NATS counts from 1
                assert sum(follows["offsets"].values()) == rows + (name == "nats")
            with Client(child.url) as client:  # it answers, too
                assert client.predict_one({k: v for k, v in values[0].items() if k != "fraud"}) in (
                    "yes",
                    "no",
                )
            assert child.end(signal.SIGTERM) == 0
            found = latest(folder)
            assert found is not None
            assert found.rows == rows
            assert found.models["m"].digest() == whole
        assert middle or not LONG, "no kill fell into the middle of learning"
        if LONG:
            print(f"{name}: {kills} kills, {middle} in the middle")


def test_rows_of_a_log_and_posted_rows_are_learned_once_each(tmp_path: Path) -> None:
    """Both go through one log: after a kill they are learned again in the order they were."""
    rows = 2_000
    with topics("tail", tmp_path) as where:
        where.send("records", [records(rows)], [[]])
        folder = tmp_path / "ck"
        child = Follower(folder, where.address("records"))
        posted = records(40, seed=5)
        with Client(child.url) as client:
            for i, row in enumerate(posted):
                plain = {k: v for k, v in row.items() if k != "fraud"}
                client.learn_many([plain], [row["fraud"]], key=str(i), durable=True)
        wait_until(lambda: child.told()["rows"] == rows + len(posted))
        before = child.told()
        assert child.end(signal.SIGKILL) == -signal.SIGKILL
        child = Follower(folder, where.address("records"))
        wait_until(lambda: child.told()["rows"] == rows + len(posted))
        assert child.told()["snapshot"] == before["snapshot"]
        where.send("records", [records(rows + 100)[rows:]], [[]])
        wait_until(lambda: child.told()["rows"] == rows + len(posted) + 100)
        assert child.end(signal.SIGTERM) == 0
