"""Kafka: partitions are assigned explicitly, offsets come from checkpoints, only committed messages are read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from bayou.errors import DataError, OptionError
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.log import Batch, Log, UnreachableError, missing_library, no_collection

PATIENCE = 10.0  # seconds to wait for the broker's answer to a request


class KafkaLog(Log):
    """A topic of Kafka, through librdkafka, which reconnects by itself with growing pauses.

    Partitions are assigned, never balanced: a partition that moves to another process needs the model and the offset
    that go with it, which `bayou.backends.group` passes on. With `group=`, offsets are committed after each checkpoint,
    for tools that show the progress of a group.
    """

    counted = True

    def __init__(self, address: Address) -> None:
        if "balance" in address.options:
            raise OptionError(
                "partitions are dealt out among learners only",
                remedy="bayou learn ADDRESS --checkpoint FOLDER, with a folder that all of them share",
            )
        self._topic, self._group = address.path, address.options.get("group")
        self._at_end: set[int] = set()
        self._kafka, self._consumer = client(
            address,
            {
                "group.id": self._group or "bayou",
                "enable.partition.eof": True,
                "auto.offset.reset": "error",
                "isolation.level": "read_committed",
                "error_cb": self._note,
            },
        )
        available = of_topic(self._consumer, self._kafka, address)
        self.partitions: Sequence[int] = _chosen(address.options.get("partitions"), available)
        self._paused: set[int] = set()

    def identity(self) -> Mapping[str, str | int]:
        return {"topic": self._topic, "partitions": ",".join(map(str, self.partitions))}

    def first(self, partition: int) -> int:
        return self._watermarks(partition)[0]

    def end(self, partition: int) -> int:
        return self._watermarks(partition)[1]

    def seek(self, offsets: Mapping[int, int]) -> None:
        self._at_end.clear()
        self._paused.clear()
        self._consumer.assign([self._place(p, offset) for p, offset in offsets.items()])

    def fetch(self, most: int, seconds: float, only: Collection[int]) -> list[Batch]:
        self._pause(only)
        batches = self._batches(most)
        if not batches and not self._just_ended:
            # No message is here: wait for one. With a larger number, the client would wait until all of them arrive.
            batches = self._sorted(self._consumer.consume(1, seconds)) + self._batches(most)
        if batches:
            self.trouble = None
        # The end of a partition holds until a message of it arrives; within one batch, the end comes last.
        self._at_end -= {batch.partition for batch in batches} - self._just_ended
        self._just_ended = set()
        return batches

    _just_ended: set[int] = set()  # noqa: RUF012 - replaced, never changed in place

    def _batches(self, most: int) -> list[Batch]:
        """Batches of messages that are available without waiting."""
        with no_collection():
            return self._sorted(self._consumer.consume(most, 0.0))

    def _sorted(self, messages: list[Any]) -> list[Batch]:
        """Messages as batches of one partition each. They are many, so methods are applied to all by `map`."""
        kind = self._kafka.Message
        if any(map(kind.error, messages)):
            for message in messages:
                if message.error() is not None:
                    self._event(message)
            messages = [message for message in messages if message.error() is None]
        values = list(map(kind.value, messages))
        if None in values:
            values = [value or b"" for value in values]
        times = [1000 * time for _, time in map(kind.timestamp, messages)] if self.timed else []
        return [
            Batch(p, values[begin:end], _behind(messages[begin:end]), times[begin:end])
            for p, begin, end in _runs(map(kind.partition, messages))
        ]

    def at_end(self, partition: int) -> bool:
        return partition in self._at_end

    def commit(self, offsets: Mapping[int, int]) -> None:
        if self._group is None or self.trouble is not None:
            return
        try:
            self._consumer.commit(offsets=[self._place(p, o) for p, o in offsets.items()], asynchronous=True)
        except self._kafka.KafkaException:  # committed offsets are never read, so a failure does no harm
            pass

    def close(self) -> None:
        self._consumer.close()

    def _place(self, partition: int, offset: int) -> Any:
        return self._kafka.TopicPartition(self._topic, partition, offset)

    def _watermarks(self, partition: int) -> tuple[int, int]:
        try:
            low, high = self._consumer.get_watermark_offsets(self._place(partition, 0), timeout=PATIENCE)
        except self._kafka.KafkaException as problem:
            raise UnreachableError(f"no offsets of {self._topic}: {problem.args[0].str()}") from problem
        return low, high

    def _pause(self, only: Collection[int]) -> None:
        """Apply back-pressure: pause the partitions that are not to be fetched."""
        to_pause = {p for p in self.partitions if p not in only}
        if to_pause != self._paused:
            self._consumer.pause([self._place(p, 0) for p in to_pause - self._paused])
            self._consumer.resume([self._place(p, 0) for p in self._paused - to_pause])
            self._paused = to_pause

    def _event(self, message: Any) -> None:
        error = message.error()
        if error.code() == self._kafka.KafkaError._PARTITION_EOF:
            self.trouble = None
            self._at_end.add(message.partition())
            self._just_ended = self._just_ended | {message.partition()}
        elif error.code() == self._kafka.KafkaError._AUTO_OFFSET_RESET:
            raise DataError(
                f"partition {message.partition()} of {self._topic} has no offset {message.offset()} any more",
                remedy="messages were dropped before they were read, or the topic was made anew",
            )
        elif error.fatal() or not (error.retriable() or error.code() < 0):
            raise DataError(f"{self._topic}: {error.str()}", remedy="check the topic and who may read it")

    def _note(self, error: Any) -> None:
        if error.code() == self._kafka.KafkaError._ALL_BROKERS_DOWN:
            self.trouble = error.str()


def client(address: Address, settings: Mapping[str, Any]) -> tuple[Any, Any]:
    """The library, and a consumer with these settings; the user's settings override defaults, but not these."""
    try:
        import confluent_kafka
    except ImportError as absent:
        raise missing_library("confluent-kafka", "kafka") from absent
    consumer = confluent_kafka.Consumer(
        {
            "fetch.wait.max.ms": 100,
            "queued.max.messages.kbytes": 32_768,
            "reconnect.backoff.ms": 100,
            "reconnect.backoff.max.ms": 10_000,
            **address.settings(),
            "bootstrap.servers": address.hosts,
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            **settings,
        },
        logger=NullLogger(),
    )
    return confluent_kafka, consumer


def of_topic(consumer: Any, kafka: Any, address: Address) -> list[int]:
    """The partitions of the topic."""
    try:
        topic = consumer.list_topics(address.path, timeout=PATIENCE).topics[address.path]
    except kafka.KafkaException as problem:
        raise UnreachableError(f"{address.shown()} does not answer: {problem.args[0].str()}") from problem
    if topic.error is not None or not topic.partitions:
        raise DataError(f"{address.hosts} has no topic {address.path!r}", remedy="check its name")
    return sorted(topic.partitions)


def _runs(partitions: Iterable[int]) -> list[tuple[int, int, int]]:
    """Runs of messages of one partition: its number, the first message and the one after the last.

    >>> _runs([3, 3, 0, 3])
    [(3, 0, 2), (0, 2, 3), (3, 3, 4)]
    """
    out, begin = [], 0
    for partition, run in groupby(partitions):
        end = begin + len(list(run))
        out.append((partition, begin, end))
        begin = end
    return out


def _behind(messages: Sequence[Any]) -> Sequence[int]:
    """The offset after each message of a partition; a range if none is missing, since offsets only grow."""
    first, last = messages[0].offset(), messages[-1].offset()
    if last - first == len(messages) - 1:
        return range(first + 1, last + 2)
    return [message.offset() + 1 for message in messages]


def _chosen(option: str | None, available: list[int]) -> list[int]:
    if option is None:
        return available
    try:
        chosen = sorted({int(part) for part in option.split(",")})
    except ValueError:
        raise OptionError("partitions= are numbers, such as 0,2", value=option) from None
    if not set(chosen) <= set(available):
        raise OptionError(f"partitions={option}: the topic has {available[0]} to {available[-1]}")
    return chosen


class NullLogger:
    """A logger that drops the lines librdkafka would write to standard error; the stream warns of what matters."""

    def log(self, *args: Any, **more: Any) -> None:
        pass

    handlers: tuple[()] = ()
