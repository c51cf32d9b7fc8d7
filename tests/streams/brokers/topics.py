"""Several topics on one of the brokers that tests start, messages with times, and all of them read back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.streams.brokers.parts import started

from bayou.streams.brokers.address import Address
from bayou.streams.brokers.opening import _log


class Topics:
    """Topics by name; `timed` where the broker takes the times of messages from whoever sends them."""

    partitions, timed = 1, False

    def __init__(self, part: Any) -> None:
        self.part = part

    def address(self, topic: str) -> str:
        return f"{self.part.address.rpartition('/')[0]}/{topic}"

    def outlet(self, topic: str) -> str:
        return self.address(topic)

    def make(self, topic: str) -> None:
        """Let there be a topic to write to."""

    def send(
        self, topic: str, parts: Sequence[Sequence[dict[str, Any]]], times: Sequence[Sequence[int]]
    ) -> None:
        raise NotImplementedError

    def read(self, topic: str) -> list[dict[str, Any]]:
        """All messages of a topic."""
        log, out = _log(Address.of(self.address(topic))), []
        try:
            log.seek({p: log.first(p) for p in log.partitions})
            while not all(log.at_end(p) for p in log.partitions):
                for batch in log.fetch(1000, 0.1, list(log.partitions)):
                    out += [json.loads(value) for value in batch.values]
        finally:
            log.close()
        return out


class NatsTopics(Topics):
    def outlet(self, topic: str) -> str:
        return f"{self.address(topic)}?subject={topic}.all"

    def make(self, topic: str) -> None:
        self.send(topic, [[]], [[]])

    def send(
        self, topic: str, parts: Sequence[Sequence[dict[str, Any]]], times: Sequence[Sequence[int]]
    ) -> None:
        (values,) = parts

        async def publish() -> None:
            import nats

            client = await nats.connect(f"nats://127.0.0.1:{self.part.server.port}")
            stream = client.jetstream(timeout=120)
            await stream.add_stream(name=topic, subjects=[f"{topic}.>"])
            for i in range(0, len(values), 500):
                sent = [json.dumps(value).encode() for value in values[i : i + 500]]
                await asyncio.gather(*[stream.publish(f"{topic}.all", value) for value in sent])
            await client.close()

        with ThreadPoolExecutor(1) as own:
            own.submit(asyncio.run, publish()).result()


class RedisTopics(Topics):
    timed = True

    def send(
        self, topic: str, parts: Sequence[Sequence[dict[str, Any]]], times: Sequence[Sequence[int]]
    ) -> None:
        import redis

        with redis.Redis(port=self.part.server.port) as client:
            pipe = client.pipeline(transaction=False)
            for i, (value, time) in enumerate(zip(parts[0], times[0], strict=True)):
                pipe.xadd(topic, {"value": json.dumps(value)}, id=f"{time // 1000}-{i + 1}")
            pipe.execute()


class KafkaTopics(Topics):
    timed = True

    def __init__(self, part: Any) -> None:
        super().__init__(part)
        self.partitions = part.partitions

    def make(self, topic: str) -> None:
        assert (
            len(self.part._producer.list_topics(topic, timeout=120).topics[topic].partitions)
            == self.partitions
        )

    def send(
        self, topic: str, parts: Sequence[Sequence[dict[str, Any]]], times: Sequence[Sequence[int]]
    ) -> None:
        self.make(topic)
        for p, (values, moments) in enumerate(zip(parts, times, strict=True)):
            for value, time in zip(values, moments, strict=True):
                sent = json.dumps(value).encode()
                self.part._producer.produce(topic, sent, partition=p, timestamp=time // 1000)
        assert self.part._producer.flush(120) == 0


class TailTopics(Topics):
    """Files that grow; what goes out is a file, too."""

    def address(self, topic: str) -> str:
        return f"tail://{self.part}/{topic}.jsonl"

    def outlet(self, topic: str) -> str:
        return f"{self.part}/{topic}.jsonl"

    def send(
        self, topic: str, parts: Sequence[Sequence[dict[str, Any]]], times: Sequence[Sequence[int]]
    ) -> None:
        with open(self.outlet(topic), "a") as file:
            file.writelines(json.dumps(value) + "\n" for value in parts[0])

    def read(self, topic: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in Path(self.outlet(topic)).read_text().splitlines()]


TOPICS: dict[str, type[Topics]] = {
    "tail": TailTopics,
    "nats": NatsTopics,
    "redis": RedisTopics,
    "kafka": KafkaTopics,
}


@contextmanager
def topics(name: str, folder: Path) -> Iterator[Topics]:
    if name == "tail":
        yield TailTopics(folder)
        return
    with started(name, folder) as part:
        yield TOPICS[name](part)
