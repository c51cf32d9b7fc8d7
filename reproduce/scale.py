"""Ten thousand workers, simulated: partial models through a lossy network, merged in a tree of fan-in 32.

    python -m reproduce.scale                 # 10,000 workers, two deltas each
    python -m reproduce.scale --workers 500   # ten seconds

Every worker sends the models of its own rows as deltas (worker, epoch, sequence) to its parent, which merges each
once and sends one merged delta up per epoch, down to the root. The network loses, repeats and reorders messages;
senders repeat what was not acknowledged. The digest at the root must be that of one process that learned all rows.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bayou import NaiveBayes, files

FAN_IN = 32
RESULTS = Path(__file__).parent / "results" / "scale.json"
Delta = tuple[int, int, int]  # sender, epoch, sequence


def rows_of(worker: int, epoch: int, n: int, columns: int) -> tuple[Mapping[str, list[str]], list[str]]:
    """What a worker sees in an epoch: four classes; some values are known to few workers only."""
    rng = np.random.default_rng([worker, epoch])
    labels = rng.integers(0, 4, n)
    made = {}
    for j in range(columns):
        values = (labels * (j % 3 + 1) + rng.integers(0, 6, n)) % 10
        made[f"a{j}"] = [f"v{v}" if v else f"rare{worker % 97}" for v in values]
    return made, [f"c{label}" for label in labels]


@dataclass
class Network:
    """Messages on their way: each may be lost, repeated, and overtaken by others."""

    draw: random.Random
    loss: float = 0.1
    repeat: float = 0.1
    pending: list[tuple[int, Delta, bytes]] = field(default_factory=list)
    sent: int = 0
    lost: int = 0
    repeated: int = 0
    bytes: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def send(self, to: int, delta: Delta, data: bytes) -> None:
        self.sent += 1
        self.bytes[to] += len(data)
        if self.draw.random() < self.loss:
            self.lost += 1
            return
        self.pending.append((to, delta, data))
        if self.draw.random() < self.repeat:
            self.repeated += 1
            self.pending.append((to, delta, data))

    def deliver(self) -> Iterator[tuple[int, Delta, bytes]]:
        """All that is on its way, in any order."""
        batch, self.pending = self.pending, []
        self.draw.shuffle(batch)
        yield from batch


class Node:
    """A merger: adds each (sender, epoch, sequence) once, whatever the network does."""

    def __init__(self) -> None:
        self.seen: set[Delta] = set()
        self.model: Any = None
        self.repeats = 0
        self.seconds = 0.0

    def take(self, delta: Delta, data: bytes) -> None:
        if delta in self.seen:
            self.repeats += 1
            return
        begin = time.process_time()
        self.seen.add(delta)
        got = files.loads(data)
        self.model = got if self.model is None else self.model.merge(got)
        self.seconds += time.process_time() - begin


def levels_of(workers: int) -> list[int]:
    """Nodes per level, the root last.

    >>> levels_of(10_000)
    [313, 10, 1]
    """
    out = [workers]
    while out[-1] > 1:
        out.append(-(-out[-1] // FAN_IN))
    return out[1:]


def simulate(workers: int, epochs: int, rows: int, columns: int, seed: int = 0) -> dict[str, Any]:
    network = Network(random.Random(seed))
    alone, blank, levels = NaiveBayes("gaussian"), files.dumps(NaiveBayes("gaussian")), levels_of(workers)
    learning = sending = single = 0.0
    total: Any = None
    root_bytes = root_seconds = worker_bytes = repeats = 0
    per_level = [0.0] * len(levels)
    for epoch in range(epochs):
        outbox: list[dict[Delta, bytes]] = [{}]
        for worker in range(workers):
            X, y = rows_of(worker, epoch, rows, columns)
            begin = time.process_time()
            alone.learn_batch(X, y)
            single += time.process_time() - begin
            begin = time.process_time()
            model = files.loads(blank)
            model.learn_batch(X, y)
            learning += time.process_time() - begin
            begin = time.process_time()
            outbox[0][(worker, epoch, 0)] = files.dumps(model)
            sending += time.process_time() - begin
        worker_bytes += sum(map(len, outbox[0].values()))
        sends = outbox[0]
        for level, size in enumerate(levels):
            nodes = [Node() for _ in range(size)]
            network.bytes.clear()
            missing = dict(sends)
            while missing:  # senders repeat until they have heard that it arrived
                for delta, data in missing.items():
                    network.send(delta[0] // FAN_IN, delta, data)
                for to, delta, data in network.deliver():
                    nodes[to].take(delta, data)
                    if network.draw.random() >= network.loss:  # the acknowledgement may be lost as well
                        missing.pop(delta, None)
            per_level[level] += sum(node.seconds for node in nodes)
            repeats += sum(node.repeats for node in nodes)
            sends = {(i, epoch, level + 1): files.dumps(node.model) for i, node in enumerate(nodes)}
            if size == 1:
                root_bytes, root_seconds = root_bytes + network.bytes[0], root_seconds + nodes[0].seconds
        (whole,) = sends.values()
        part = files.loads(whole)
        total = part if total is None else total.merge(part)
    same = total.digest() == alone.digest()
    learned = workers * epochs
    return {
        "workers": workers, "epochs": epochs, "rows": learned * rows, "columns": columns, "levels": levels,
        "digest equals one process": same, "messages": network.sent, "lost": network.lost,
        "repeated by the network": network.repeated, "dropped as repeats": repeats,
        "bytes of a partial model": worker_bytes / learned, "bytes of the whole model": len(files.dumps(total)),
        "bytes into the root per epoch": root_bytes / epochs,
        "worker: learn, ms per delta": 1e3 * learning / learned, "worker: pack, ms per delta": 1e3 * sending / learned,
        "merge, ms per delta by level": [
            1e3 * s / (epochs * n) for s, n in zip(per_level, [workers, *levels[:-1]], strict=True)
        ],
        "root, seconds per epoch": root_seconds / epochs, "one process, seconds": single,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=10_000)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--columns", type=int, default=6)
    given = parser.parse_args()
    found = simulate(given.workers, given.epochs, given.rows, given.columns)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))
    assert found["digest equals one process"]


if __name__ == "__main__":
    main()
