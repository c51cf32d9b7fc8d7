"""Kafka: partitions assigned by hand, offsets from our checkpoint, committed messages only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bayou.errors import DataError, OptionError
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.log import Batch, UnreachableError, missing_library

PATIENCE = 10.0  # seconds to wait for the broker's answer to a question


class KafkaLog:
    """A topic of Kafka, through librdkafka, which reconnects by itself with growing pauses.

    Partitions are assigned, never balanced: who reads which is up to whoever starts the learners, because a partition
    that changed hands would need its offset from the other's checkpoint. With `group=`, offsets are committed after
    each checkpoint, for tools that show how far a group has come.
    """

    over = False
    counted = True
    timed = False

    def __init__(self, address: Address) -> None:
        try:
            import confluent_kafka
        except ImportError as absent:
            raise missing_library("confluent-kafka", "kafka") from absent
        self._kafka: Any = confluent_kafka
        self._topic, self._group = address.path, address.options.get("group")
        self.trouble: str | None = None
        self._at_end: set[int] = set()
        self._consumer: Any = confluent_kafka.Consumer(
            {
                "fetch.wait.max.ms": 100,
                "queued.max.messages.kbytes": 32_768,
                "reconnect.backoff.ms": 100,
                "reconnect.backoff.max.ms": 10_000,
                **address.settings(),
                "bootstrap.servers": address.hosts,
                "group.id": self._group or "bayou",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "error",
                "isolation.level": "read_committed",
                "error_cb": self._note,
            },
            logger=Silent(),
        )
        try:
            found = self._consumer.list_topics(self._topic, timeout=PATIENCE).topics[self._topic]
        except confluent_kafka.KafkaException as problem:
            raise UnreachableError(f"{address.shown()} does not answer: {problem.args[0].str()}") from problem
        if found.error is not None or not found.partitions:
            raise DataError(f"{address.hosts} has no topic {self._topic!r}", remedy="check its name")
        self._whole = len(found.partitions)
        self.partitions: Sequence[int] = _chosen(address.options.get("partitions"), sorted(found.partitions))
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
        values: dict[int, list[bytes]] = {p: [] for p in self.partitions}
        behind: dict[int, list[int]] = {p: [] for p in self.partitions}
        messages = self._consumer.consume(most, 0.0)  # with a time, it waits until all have come
        if not messages:
            messages = self._consumer.consume(1, seconds) + self._consumer.consume(most, 0.0)
        for event in [message for message in messages if message.error() is not None]:
            self._event(event)
        good = [message for message in messages if message.error() is None]
        ends = [message.offset() + 1 for message in good]
        for p, value, end in zip([m.partition() for m in good], [m.value() for m in good], ends, strict=True):
            values[p].append(value or b"")
            behind[p].append(end)
        times: dict[int, list[int]] = {p: [] for p in self.partitions}
        for message in good if self.timed else ():
            times[message.partition()].append(1000 * message.timestamp()[1])
        found = [Batch(p, values[p], behind[p], times[p]) for p in self.partitions if values[p]]
        if found:
            self.trouble = None
        # An end that was seen holds until a message of that partition comes; in one batch, the end comes last.
        self._at_end -= {batch.partition for batch in found} - self._just_ended
        self._just_ended = set()
        return found

    _just_ended: set[int] = set()  # noqa: RUF012 - replaced, never changed in place

    def at_end(self, partition: int) -> bool:
        return partition in self._at_end

    def name_of(self, behind: int) -> int:
        return behind - 1

    def facts(self, offsets: Mapping[int, int]) -> dict[str, int]:
        return {}

    def recall(self, facts: Mapping[str, int], offsets: Mapping[int, int]) -> None:
        pass

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
