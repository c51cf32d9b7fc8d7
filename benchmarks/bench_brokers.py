"""Learning from brokers, beside what their Python clients alone read into a list of bytes.

Each broker is a process of its own, which is not counted: NATS, Redis, and librdkafka's own cluster of Kafka with four
partitions. JSON messages of 57 bytes with four cells, naive Bayes. The client alone takes messages by thousands, and
keeps the bytes of each in a list; a second line lets `json.loads` make a dictionary of them. Seconds are those of the
processor, all threads of a side together, the client's own among them.

`python -m benchmarks.bench_brokers stages` shows what a message from Kafka costs, stage by stage;
`python -m benchmarks.bench_brokers kafka 3.6e6` (nats, redis, tail) follows a log while so many come in, and shows
memory.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.streams.brokers.parts import messages, started
from tests.streams.brokers.test_logs import Tail

from bayou import NaiveBayes, open_stream
from bayou.streams.brokers.decoding import decoder_of, layout_of
from bayou.streams.brokers.log import no_collection
from bayou.streams.jsonl import JsonObjects
from bayou.streams.read_options import ReadOptions
from bayou.streams.source import Rows
from bayou.training.loop import Learning, feed
from benchmarks.load import resident
from benchmarks.measure import beside, best

MESSAGES = {"kafka": 240_000, "redis": 100_000, "nats": 100_000}
TARGET = 0.7
AT_ONCE = 10_000  # messages sent before the next are asked for
KEPT = 100_000  # messages that a broker keeps of a log that is followed


class Broker:
    """A broker in a process of its own, which sends messages when told to."""

    def __init__(self, name: str, count: int) -> None:
        context = get_context("spawn")
        self._asked, self._done = context.Queue(), context.Queue()
        self._process = context.Process(target=_serve, args=(name, count, self._asked, self._done))
        self._process.start()
        self.count = count
        self.address, self.partitions = self._done.get()
        self.hosts = self.address.partition("://")[2].partition("/")[0]
        self.port = int(self.hosts.rpartition(":")[2] or 0)

    def send(self) -> None:
        """Some more messages, while this process does something else."""
        self._asked.put(AT_ONCE)

    def sent(self) -> int:
        """How many were sent since the last look; does not wait."""
        return 0 if self._done.empty() else int(self._done.get())

    def stop(self) -> None:
        self._asked.put(None)
        self._process.join()


def _serve(name: str, count: int, asked: Any, done: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with started(name, Path(folder)) if name != "tail" else _tail(Path(folder)) as part:
            sent = messages(count)
            part.send(sent)
            done.put((part.address, getattr(part, "partitions", 1)))
            more, send = messages(AT_ONCE), None
            while (n := asked.get()) is not None:
                if send is None:
                    send = {"nats": _nats_sender, "redis": _redis_sender}.get(name, lambda part: part.send)(
                        part
                    )
                send(more)
                done.put(n)


@contextmanager
def _tail(folder: Path) -> Iterator[Tail]:
    yield Tail(folder)


def _nats_sender(part: Any) -> Callable[[Sequence[bytes]], None]:
    """Sends with one acknowledgement a thousand messages, into a stream that keeps the last of them."""
    import nats

    loop = asyncio.new_event_loop()

    async def connected() -> tuple[Any, Any]:
        client = await nats.connect(f"nats://127.0.0.1:{part.server.port}")
        stream = client.jetstream(timeout=60)
        await stream.update_stream(name="payments", subjects=["payments.>"], max_msgs=KEPT)
        return client, stream

    client, stream = loop.run_until_complete(connected())

    async def send(values: Sequence[bytes]) -> None:
        for i, value in enumerate(values):
            await (stream.publish if i % 1_000 == 999 else client.publish)("payments.eu", value)

    return lambda values: loop.run_until_complete(send(values))


def _redis_sender(part: Any) -> Callable[[Sequence[bytes]], None]:
    """Sends a thousand at a time by a program that runs in the server, which keeps the last of them."""
    import redis

    client = redis.Redis(port=part.server.port)
    program = (
        f"for i = 1, #ARGV do redis.call('XADD', KEYS[1], 'MAXLEN', '~', {KEPT}, '*', 'value', ARGV[i]) end"
    )

    def send(values: Sequence[bytes]) -> None:
        for i in range(0, len(values), 1_000):
            client.eval(program, 1, "payments", *values[i : i + 1_000])

    return send


@contextmanager
def broker(name: str, count: int) -> Iterator[Broker]:
    """A broker with so many messages in its log."""
    made = Broker(name, count)
    try:
        yield made
    finally:
        made.stop()


def learned(address: str, count: int) -> None:
    """Learn all messages, from the address to the model."""
    model = NaiveBayes()
    with open_stream(address + "?until=end", target="fraud") as stream:
        work = Learning(model)
        work.declare_columns(stream)
        feed(stream, work.step)
        rows = stream.position()["row"]
    assert rows == count, rows


def read_into_columns(address: str) -> None:
    with open_stream(address + "?until=end", target="fraud") as stream:
        while stream.read(8_000) is not None:
            pass


def kafka_alone(part: Any, decode: Callable[[bytes], Any] | None = None) -> None:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    values: list[Any] = []
    consumer = Consumer({"bootstrap.servers": part.hosts, "group.id": "bench", "enable.auto.commit": False})
    consumer.assign([TopicPartition("payments", p, OFFSET_BEGINNING) for p in range(part.partitions)])
    while len(values) < part.count:
        found = [message.value() for message in consumer.consume(8_000, 0.02)]
        values += found if decode is None else map(decode, found)
    consumer.close()


def redis_alone(part: Any) -> None:
    import redis

    values: list[bytes] = []
    last = b"0-0"
    with redis.Redis(port=part.port) as client:
        while len(values) < part.count:
            found: Any = client.xread({"payments": last}, count=8_000)
            ((_, entries),) = found if isinstance(found, list) else found.items()
            entries = entries[0] if isinstance(entries[0], list) else entries
            values += [fields[b"value"] for _, fields in entries]
            last = entries[-1][0]


def nats_alone(part: Any) -> None:
    async def read() -> None:
        import nats
        from nats.js.api import AckPolicy, ConsumerConfig

        values: list[bytes] = []
        client = await nats.connect(f"nats://127.0.0.1:{part.port}")
        reader = await client.jetstream().pull_subscribe(
            "", stream="payments", config=ConsumerConfig(ack_policy=AckPolicy.NONE)
        )
        while len(values) < part.count:
            values += [message.data for message in await reader.fetch(8_000, timeout=1)]
        await client.close()

    asyncio.run(read())


ALONE: dict[str, Callable[[Any], object]] = {
    "kafka": kafka_alone,
    "kafka, json.loads": lambda part: kafka_alone(part, json.loads),
    "redis": redis_alone,
    "nats": nats_alone,
}


def run() -> Iterator[dict[str, Any]]:
    """Messages a second of the processor, ours and the client's alone: the best of three each, in turns."""
    for name, alone in ALONE.items():
        count = MESSAGES[name.partition(",")[0]]
        with broker(name.partition(",")[0], count) as part:
            learned(part.address, count)
            seconds = beside(lambda: learned(part.address, count), lambda: alone(part), 3)  # noqa: B023 - called at once
            ours, peer = (count / each for each in seconds)
            yield {
                "work": f"learn from {name} (messages/s)",
                "ours": ours,
                "peer": peer,
                "ratio": ours / peer,
                "target": TARGET,
            }


def stages() -> None:
    """Microseconds that a message from Kafka costs, stage by stage: the best of five each."""
    sent = messages(64_000)
    layout = layout_of("json", sent[:1_000], ReadOptions(target="fraud"), None)
    decoder, by_arrow = decoder_of("json", layout), JsonObjects(layout)
    by_arrow._plain = None
    blocks = [sent[i : i + 8_000] for i in range(0, len(sent), 8_000)]
    drafts = [decoder.draft(block).columns for block in blocks]
    rows = [Rows(0, {k: v for k, v in d.items() if k != "fraud"}, d["fraud"], None, 8_000) for d in drafts]

    def learn() -> None:
        model = NaiveBayes()
        for each in rows:
            model.learn_batch(each, each.labels)

    learn()
    count = MESSAGES["kafka"]
    with broker("kafka", count) as part:
        read_into_columns(part.address)
        whole, alone = beside(lambda: learned(part.address, count), lambda: kafka_alone(part))
        columns = best(lambda: read_into_columns(part.address))
        with no_collection():
            uncollected = best(lambda: kafka_alone(part))
    table = {
        "the client alone: bytes in a list": alone / count,
        "the same without Python's collector": uncollected / count,
        "to decode 8,000 at a time": best(lambda: [decoder.draft(block) for block in blocks]) / len(sent),
        "the same by Arrow": best(lambda: [by_arrow.draft(block) for block in blocks]) / len(sent),
        "to learn 8,000 at a time": best(learn) / len(sent),
        "json.loads": best(lambda: [json.loads(value) for value in sent], 2) / len(sent),
        "all of it: read into columns": columns / count,
        "all of it: learned": whole / count,
    }
    for what, seconds in table.items():
        print(f"{what:40} {1e6 * seconds:6.2f} us")


def follow(name: str, count: int) -> None:
    """Learn a log while messages come in, and show the memory of this process on the way."""
    model = NaiveBayes()
    with broker(name, AT_ONCE) as part, open_stream(part.address, target="fraud") as stream:
        sent, done, asked, begin = AT_ONCE, 0, False, time.process_time()
        Learning(model).declare_columns(stream)
        while done < max(count, sent):
            if not asked and sent < count:
                part.send()
                asked = True
            if more := part.sent():
                sent, asked = sent + more, False
            rows = stream.read(8_000)
            assert rows is not None
            if len(rows):
                model.learn_batch(rows, rows.labels)
            before, done = done, done + len(rows)
            if before * 10 // count < done * 10 // count:
                seconds = time.process_time() - begin
                memory = resident(os.getpid()) / 1e6
                print(f"{name}: {done:,} messages, {seconds:.0f} s, {memory:,.0f} MB", flush=True)
        assert done == sent, (done, sent)


if __name__ == "__main__":
    if sys.argv[1] == "stages":
        stages()
    else:
        follow(sys.argv[1], int(float(sys.argv[2])))
