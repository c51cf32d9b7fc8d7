"""Kafka: partitions assigned by hand, offsets from our checkpoint, committed messages only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from bayou.errors import DataError, OptionError
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.log import Batch, Log, UnreachableError, missing_library, no_collection

PATIENCE = 10.0  # seconds to wait for the broker's answer to a question


class KafkaLog(Log):
    """A topic of Kafka, through librdkafka, which reconnects by itself with growing pauses.

    Partitions are assigned, never balanced: a partition that changes hands needs the model and the offset that the
    other has come to, which `bayou.backends.group` hands on. With `group=`, offsets are committed after each
    checkpoint, for tools that show how far a group has come.
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
        found = of_topic(self._consumer, self._kafka, address)
        self.partitions: Sequence[int] = _chosen(address.options.get("partitions"), found)
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
        found = self._batches(most)
        if not found and not self._just_ended:
            # Nothing is here: wait for the first. With a number and a time, the client would wait until all have come.
            found = self._sorted(self._consumer.consume(1, seconds)) + self._batches(most)
        if found:
            self.trouble = None
        # An end that was seen holds until a message of that partition comes; in one batch, the end comes last.
        self._at_end -= {batch.partition for batch in found} - self._just_ended
        self._just_ended = set()
        return found

    _just_ended: set[int] = set()  # noqa: RUF012 - replaced, never changed in place

    def _batches(self, most: int) -> list[Batch]:
        """Messages that are here, without waiting."""
        with no_collection():
            return self._sorted(self._consumer.consume(most, 0.0))

    def _sorted(self, messages: list[Any]) -> list[Batch]:
        """Messages as batches of one partition each. They are many: a question goes to all of them by one call."""
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
            for p, begin, end in _stretches(map(kind.partition, messages))
        ]

    def at_end(self, partition: int) -> bool:
        return partition in self._at_end

    def commit(self, offsets: Mapping[int, int]) -> None:
        if self._group is None or self.trouble is not None:
            return
        try:
            self._consumer.commit(offsets=[self._place(p, o) for p, o in offsets.items()], asynchronous=True)
        except self._kafka.KafkaException:  # a hint that does not arrive is none
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
        """Back-pressure: of a partition that has enough waiting here, nothing more is fetched."""
        wanted = {p for p in self.partitions if p not in only}
        if wanted != self._paused:
            self._consumer.pause([self._place(p, 0) for p in wanted - self._paused])
            self._consumer.resume([self._place(p, 0) for p in self._paused - wanted])
            self._paused = wanted

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
    """The library, and a consumer with these settings; the user's own go between ours and those we depend on."""
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
        logger=Silent(),
    )
    return confluent_kafka, consumer


def of_topic(consumer: Any, kafka: Any, address: Address) -> list[int]:
    """The partitions of the topic."""
    try:
        found = consumer.list_topics(address.path, timeout=PATIENCE).topics[address.path]
    except kafka.KafkaException as problem:
        raise UnreachableError(f"{address.shown()} does not answer: {problem.args[0].str()}") from problem
    if found.error is not None or not found.partitions:
        raise DataError(f"{address.hosts} has no topic {address.path!r}", remedy="check its name")
    return sorted(found.partitions)


def _stretches(partitions: Iterable[int]) -> list[tuple[int, int, int]]:
    """Where messages of one partition stand together: its number, the first and the one behind the last.

    >>> _stretches([3, 3, 0, 3])
    [(3, 0, 2), (0, 2, 3), (3, 3, 4)]
    """
    out, begin = [], 0
    for partition, together in groupby(partitions):
        end = begin + len(list(together))
        out.append((partition, begin, end))
        begin = end
    return out


def _behind(messages: Sequence[Any]) -> Sequence[int]:
    """The offsets behind messages of a partition. They only grow: so far apart, and none is missing."""
    first, last = messages[0].offset(), messages[-1].offset()
    if last - first == len(messages) - 1:
        return range(first + 1, last + 2)
    return [message.offset() + 1 for message in messages]


def _chosen(wish: str | None, there: list[int]) -> list[int]:
    if wish is None:
        return there
    try:
        chosen = sorted({int(part) for part in wish.split(",")})
    except ValueError:
        raise OptionError("partitions= are numbers, such as 0,2", value=wish) from None
    if not set(chosen) <= set(there):
        raise OptionError(f"partitions={wish}: the topic has {there[0]} to {there[-1]}")
    return chosen


class Silent:
    """librdkafka writes lines of its own to standard error; what matters is told by the stream."""

    def log(self, *args: Any, **more: Any) -> None:
        pass

    handlers: tuple[()] = ()
