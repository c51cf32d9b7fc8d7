"""Load on a server over the loopback: an open loop that sends at given moments, whether or not answers have come."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Outcome:
    """What became of the requests: seconds from the moment each was due to its answer, and how many were refused."""

    seconds: float
    good: list[float] = field(default_factory=list)
    refused: int = 0
    lost: int = 0
    bodies: list[bytes] = field(default_factory=list)

    @property
    def goodput(self) -> float:
        """Answers per second."""
        return len(self.good) / self.seconds

    def quantile(self, share: float) -> float:
        """Milliseconds that a share of the answers stayed below."""
        ordered = sorted(self.good)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def post(path: str, body: bytes, media: str = "application/json") -> bytes:
    """A request as bytes."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class _Connection(asyncio.Protocol):
    """One connection: sends a request when told to, and hands back the status, the body and the moment."""

    def __init__(self, free: deque[_Connection], outcome: Outcome, keep: bool) -> None:
        self.free, self.outcome, self.keep = free, outcome, keep
        self.buffer, self.due = b"", 0.0
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.free.append(self)

    def send(self, request: bytes, due: float) -> None:
        self.due = due
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        at = self.buffer.lower().find(b"content-length:", 0, end)
        length = int(self.buffer[at + 15 : self.buffer.find(b"\r\n", at)])
        if len(self.buffer) < end + 4 + length:
            return
        status, body = int(self.buffer[9:12]), self.buffer[end + 4 : end + 4 + length]
        self.buffer = b""
        if status == 200:
            self.outcome.good.append(time.perf_counter() - self.due)
            if self.keep:
                self.outcome.bodies.append(body)
        else:
            self.outcome.refused += 1
        self.free.append(self)

    def connection_lost(self, problem: Exception | None) -> None:
        self.outcome.lost += 1


async def _open_loop(
    port: int, requests: Sequence[bytes], rate: float, seconds: float, connections: int, keep: bool
) -> Outcome:
    outcome, free = Outcome(seconds), deque[_Connection]()
    loop = asyncio.get_running_loop()
    for _ in range(connections):
        await loop.create_connection(lambda: _Connection(free, outcome, keep), "127.0.0.1", port)
    begin, sent, total = time.perf_counter(), 0, int(rate * seconds)
    waiting: deque[tuple[bytes, float]] = deque()
    while sent < total or waiting:
        now = time.perf_counter()
        while sent < total and begin + sent / rate <= now:
            waiting.append((requests[sent % len(requests)], begin + sent / rate))
            sent += 1
        while waiting and free:
            free.popleft().send(*waiting.popleft())
        if now > begin + seconds + 5:
            outcome.lost += len(waiting)  # nobody took them within five seconds
            break
        await asyncio.sleep(0.0005)
    end = time.perf_counter() + 5
    while len(free) < connections and time.perf_counter() < end:
        await asyncio.sleep(0.01)
    lost = outcome.lost
    for connection in list(free):
        connection.transport.close()
    await asyncio.sleep(0)
    outcome.lost = lost
    return outcome


def open_loop(
    port: int,
    requests: Sequence[bytes],
    rate: float,
    seconds: float,
    connections: int = 32,
    keep: bool = False,
) -> Outcome:
    """Send requests at a rate, each at its moment; latencies count from that moment, so waiting is not hidden."""
    try:
        from uvloop import run
    except ImportError:
        from asyncio import run
    done: Outcome = run(_open_loop(port, requests, rate, seconds, connections, keep))
    return done


def resident(pid: int) -> int:
    """Bytes of memory a process has in use."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def single_rows(n: int = 256) -> list[bytes]:
    """Requests of one row each: six numbers and two names."""
    import random

    draw = random.Random(1)
    rows = [
        {
            **{f"x{j}": draw.gauss(0, 1) for j in range(6)},
            "day": draw.choice("abcdefg"),
            "sky": draw.choice("xyz"),
        }
        for _ in range(n)
    ]
    return [post("/predict", json.dumps({"record": row}).encode()) for row in rows]
