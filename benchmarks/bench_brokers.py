"""Learning from brokers, beside what their Python clients alone read into a list of bytes.

Each broker is started here: NATS and Redis as processes of their own, Kafka as librdkafka's own cluster inside this one
(which takes processor time from both sides alike). JSON messages of about 100 bytes, naive Bayes, one core. Seconds are
those of the clock. `python -m benchmarks.bench_brokers MESSAGES` follows a growing file with so many, and shows memory.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.streams.brokers.parts import messages, started

from bayou import NaiveBayes, open_stream
from bayou.training.loop import Learning, feed
from benchmarks.load import resident

MESSAGES = 100_000
TARGET = 0.7


def learned(address: str, count: int = MESSAGES) -> float:
    """Seconds to learn all messages, from the address to the model."""
    begin = time.perf_counter()
    model = NaiveBayes()
    with open_stream(address + "?until=end", target="fraud") as stream:
        work = Learning(model)
        work.declare_columns(stream)
        feed(stream, work.step)
        rows = stream.position()["row"]
    assert rows == count, rows
    return time.perf_counter() - begin


def kafka_alone(part: Any, decode: Callable[[bytes], Any] = bytes) -> float:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    begin, values = time.perf_counter(), []
    consumer = Consumer({"bootstrap.servers": part.hosts, "group.id": "bench", "enable.auto.commit": False})
    consumer.assign([TopicPartition("payments", p, OFFSET_BEGINNING) for p in range(part.partitions)])
    while len(values) < MESSAGES:
        values += [decode(message.value()) for message in consumer.consume(8_000, 0.02)]
    consumer.close()
    return time.perf_counter() - begin


def redis_alone(part: Any) -> float:
    import redis

    begin, values, last = time.perf_counter(), [], b"0-0"
    with redis.Redis(port=part.server.port) as client:
        while len(values) < MESSAGES:
            found: Any = client.xread({"payments": last}, count=8_000)
            ((_, entries),) = found if isinstance(found, list) else found.items()
            entries = entries[0] if isinstance(entries[0], list) else entries
            values += [fields[b"value"] for _, fields in entries]
            last = entries[-1][0]
    return time.perf_counter() - begin


def nats_alone(part: Any) -> float:
    async def read() -> None:
        import nats
        from nats.js.api import AckPolicy, ConsumerConfig

        values: list[bytes] = []
        client = await nats.connect(f"nats://127.0.0.1:{part.server.port}")
        reader = await client.jetstream().pull_subscribe(
            "", stream="payments", config=ConsumerConfig(ack_policy=AckPolicy.NONE)
        )
        while len(values) < MESSAGES:
            values += [message.data for message in await reader.fetch(8_000, timeout=1)]
        await client.close()

    begin = time.perf_counter()
    asyncio.run(read())
    return time.perf_counter() - begin


ALONE: dict[str, Callable[[Any], float]] = {
    "kafka": kafka_alone,
    "kafka, json.loads": lambda part: kafka_alone(part, json.loads),
    "redis": redis_alone,
    "nats": nats_alone,
}


def run() -> Iterator[dict[str, Any]]:
    """Messages a second, ours and the client's alone: the best of three each."""
    sent = messages(MESSAGES)
    for name, alone in ALONE.items():
        with tempfile.TemporaryDirectory() as folder, started(name.partition(",")[0], Path(folder)) as part:
            part.send(sent)
            learned(part.address)
            pairs = [(learned(part.address), alone(part)) for _ in range(3)]
            ours, peer = (MESSAGES / min(side) for side in zip(*pairs, strict=True))
            yield {
                "work": f"learn from {name} (messages/s)",
                "ours": ours,
                "peer": peer,
                "ratio": ours / peer,
                "target": TARGET,
            }


def follow(count: int) -> None:
    """Learn a file while it grows, and show the memory of this process on the way."""
    block = b"".join(value + b"\n" for value in messages(10_000))
    model = NaiveBayes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "payments.jsonl"
        path.write_bytes(block)
        with path.open("ab") as file, open_stream(f"tail://{path}", target="fraud") as stream:
            done, work, begin = 0, Learning(model), time.perf_counter()
            work.declare_columns(stream)
            while done < count:
                rows = stream.read(8_000)
                assert rows is not None
                if len(rows):
                    model.learn_batch(rows, rows.labels)
                before, done = done, done + len(rows)
                if done % 10_000 == 0 or not len(rows):
                    file.write(block)
                    file.flush()
                if before * 10 // count < done * 10 // count:
                    seconds = time.perf_counter() - begin
                    print(
                        f"{done:,} messages, {seconds:.0f} s, {resident(os.getpid()) / 1e6:,.0f} MB",
                        flush=True,
                    )


if __name__ == "__main__":
    follow(int(float(sys.argv[1])))
