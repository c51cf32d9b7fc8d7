"""`bayou serve` under load, open loop on the loopback: latency, rows by Arrow batches, overload and recovery.

The server is one process with one worker, the sender another; both cores of a two-core machine are taken. No peer: none
of the servers that learn is maintained. `python -m benchmarks.bench_serve latency overload` runs some of the parts,
`python -m benchmarks.bench_serve 600` predicts while it learns for so many seconds.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bayou import NaiveBayes
from benchmarks.load import Outcome, open_loop, resident, single_rows

ARROW = "application/vnd.apache.arrow.stream"
ROWS = 10_000  # of an Arrow batch


def _model() -> NaiveBayes:
    draw = random.Random(0)
    model = NaiveBayes()
    labels = [draw.choice(["yes", "no"]) for _ in range(5_000)]
    rows = [
        {
            **{f"x{j}": draw.gauss(y == "yes", 1) for j in range(6)},
            "day": draw.choice("abcdefg"),
            "sky": draw.choice("xyz"),
        }
        for y in labels
    ]
    model.learn_many(rows, labels)
    return model


def _serve(folder: str | None, pipe: Connection) -> None:
    from bayou.serve import LivingModel, RunningServer

    living = LivingModel("m", _model(), learns=True, folder=folder, keep_log=True)
    server = RunningServer({"m": living}, port=0)
    pipe.send(server.port)
    server.run()


@contextmanager
def served(folder: str | None = None) -> Iterator[tuple[int, int]]:
    """A server in a process of its own: its port and process id."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(folder, there))
    process.start()
    try:
        port = here.recv()
        open_loop(port, single_rows(), 200, 1.0)  # kernels are loaded
        yield port, process.pid or 0
    finally:
        os.kill(process.pid or 0, signal.SIGTERM)
        process.join()


def run() -> list[dict[str, object]]:
    return list(_lines())


def _lines(parts: Sequence[str] = ()) -> Iterator[dict[str, object]]:
    with served() as (port, pid):
        for name, part in PARTS.items():
            if name in (parts or PARTS):
                yield from part(port, pid)
    if not parts:
        yield from _while_learning()


def _while_learning() -> list[dict[str, object]]:
    found = soak(30.0)
    figures = ", ".join(f"{name} {value}" for name, value in found.items())
    wrong = float(str(found["answers of no state"]))
    return [
        _line("1,000 predictions/s and 10,000 learned rows/s, 30 s", figures, None, f"0 wrong ({wrong:.0f})")
    ]


def _line(work: str, ours: str, ratio: float | None, target: object) -> dict[str, object]:
    return {"work": work, "ours": ours, "peer": "-", "ratio": ratio, "target": target}


def processor(pid: int) -> float:
    """Processor seconds that a process has taken."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _costs(port: int, pid: int) -> Iterator[dict[str, object]]:
    """Processor time of the server, which a busy machine stretches less than the clock."""
    for rate, connections, work in ((200, 16, "one row"), (6000, 256, "requests at 6,000/s")):
        begin = processor(pid)
        found = open_loop(port, single_rows(), rate, 4.0, connections)
        cost = 1e6 * (processor(pid) - begin) / max(1, len(found.good) + found.refused)
        shown = f"{cost:,.0f} us each; {len(found.good):,} answered, {found.refused:,} refused"
        yield _line(f"processor time: {work}", shown, None, "-")
    begin = processor(pid)
    body = arrow_batch()
    for _ in range(20):
        _sent(http.client.HTTPConnection("127.0.0.1", port), body)
    cost = (processor(pid) - begin) / (20 * ROWS)
    yield _line(
        "processor time: rows of Arrow batches", f"{1 / cost:,.0f} rows per processor second", None, "-"
    )


def _latency(port: int, pid: int) -> list[dict[str, object]]:
    found = open_loop(port, single_rows(), 1000, 15.0)
    shown = (
        f"p50 {found.quantile(0.5):.1f} ms, p99 {found.quantile(0.99):.1f} ms, {found.goodput:,.0f}/s, "
        f"{found.refused:,} refused"
    )
    return [_line("1,000 single rows/s, 10 ms / p99", shown, 10 / found.quantile(0.99), 1)]


def arrow_batch(n: int = ROWS, labelled: bool = False) -> bytes:
    """An Arrow stream of rows: six numbers and two names, with labels if they are to be learned."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"x{j}": rng.normal(size=n).astype(np.float32) for j in range(6)}
    columns |= {
        name: pa.DictionaryArray.from_arrays(rng.integers(0, len(values), n).astype(np.int8), list(values))
        for name, values in (("day", "abcdefg"), ("sky", "xyz"))
    }
    if labelled:
        columns["label"] = [("yes", "no")[i] for i in rng.integers(0, 2, n)]
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _sent(connection: http.client.HTTPConnection, body: bytes) -> None:
    connection.request("POST", "/predict", body, {"Content-Type": ARROW})
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200


def _arrow(port: int, pid: int) -> list[dict[str, object]]:
    """Batches one after the other on two connections, as quickly as they are answered."""
    body, done, seconds = arrow_batch(), [0, 0], 8.0
    end = time.perf_counter() + seconds

    def send(place: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        while time.perf_counter() < end:
            _sent(connection, body)
            done[place] += ROWS
        connection.close()

    threads = [threading.Thread(target=send, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = sum(done) / seconds
    return [_line("rows/s by Arrow batches of 10,000 / 300k", f"{rate:,.0f} rows/s", rate / 300_000, 1)]


def capacity(port: int) -> float:
    """Single rows per second, as many as are answered: the best of rising rates."""
    best = 0.0
    for rate in (1500, 2000, 2500, 3000, 3500, 4000, 5000, 6000, 8000):
        found = open_loop(port, single_rows(), rate, 3.0, 256)
        best = max(best, found.goodput)
        if found.goodput < 0.85 * rate:
            break
    return best


def _overload(port: int, pid: int) -> list[dict[str, object]]:
    peak = capacity(port)
    before = resident(pid)
    over = open_loop(port, single_rows(), 4 * peak, 10.0, 512)
    grown = resident(pid) / before - 1
    time.sleep(2.0)
    after = open_loop(port, single_rows(), 0.5 * peak, 3.0)
    figures = (
        f"peak {peak:,.0f}/s; at 4 x: {over.goodput:,.0f}/s answered, p99 {over.quantile(0.99):.0f} ms, "
        f"{over.refused:,} refused, {over.lost:,} lost, memory {100 * grown:+.1f} %; "
        f"2 s later p99 {after.quantile(0.99):.1f} ms, {after.refused} refused"
    )
    return [_line("goodput at 4 x capacity / 80 % of peak", figures, over.goodput / (0.8 * peak), 1)]


def soak(seconds: float) -> dict[str, object]:
    """1,000 predictions/s while 10,000 rows/s are learned; every answer is that of a state the log leads through."""
    with tempfile.TemporaryDirectory() as folder:
        with served(folder) as (port, pid):
            before = resident(pid)
            stop = threading.Event()
            learned = [0]
            teacher = threading.Thread(target=_teach, args=(port, stop, learned))
            teacher.start()
            begin = time.perf_counter()
            found = open_loop(port, single_rows(), 1000, seconds, 64, keep=True)
            took = time.perf_counter() - begin
            stop.set()
            teacher.join()
            grown = resident(pid) / before - 1
        return {
            "seconds": round(took, 1),
            "predictions": len(found.good),
            "refused": found.refused,
            "p99 ms": round(found.quantile(0.99), 1),
            "rows learned": learned[0],
            "rows learned per second": round(learned[0] / took),
            "memory grown": round(grown, 3),
            **verified(Path(folder), found),
        }


def _teach(port: int, stop: threading.Event, learned: list[int]) -> None:
    body, begin = arrow_batch(500, labelled=True), time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    while not stop.is_set():
        connection.request("POST", "/learn", body, {"Content-Type": ARROW})
        answer = connection.getresponse()
        response = json.loads(answer.read())
        if answer.status == 200:
            learned[0] += response["rows"]
        ahead = begin + learned[0] / 10_000 - time.perf_counter()
        if ahead > 0:
            stop.wait(ahead)
    connection.close()


def verified(folder: Path, found: Outcome) -> dict[str, object]:
    """Learn the log again, entry by entry, and compare every answer with that of the state it names."""
    from bayou.serve.bodies import read_batch
    from bayou.serve.log import Log

    asked = [json.loads(request.partition(b"\r\n\r\n")[2])["record"] for request in single_rows()]
    answers: dict[str, list[list[float]]] = {}
    for body in found.bodies:
        response = json.loads(body)
        answers.setdefault(response["snapshot"], []).append(response["probabilities"])
    model, same, states = _model(), 0, 0
    entries = (items for _, items in Log(folder, 0).entries(0))
    for items in [None, *entries]:
        for item in items or ():
            batch = read_batch(item.body, item.form, labelled=True)
            model.learn_batch(batch.rows, batch.labels)
        states += 1
        given = answers.pop(model.digest(), [])
        if given:
            possible = {tuple(row) for row in model.proba(model.encode(asked)).tolist()}
            same += sum(tuple(row) in possible for row in given)
    return {"states": states, "answers of a state": same, "answers of no state": len(found.bodies) - same}


PARTS = {"costs": _costs, "latency": _latency, "arrow": _arrow, "overload": _overload}

if __name__ == "__main__":
    given = sys.argv[1:]
    for line in [soak(float(given[0]))] if given and given[0] not in PARTS else _lines(given):
        print(json.dumps(line), flush=True)
