"""Output of messages to a topic or a file, at least once, each with the place of the row it is about."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

from bayou.errors import DataError, OptionError, warn_user
from bayou.streams.brokers.address import Address, is_address
from bayou.streams.brokers.log import BrokerWarning, Place, UnreachableError, missing_library

MOST = 1_000  # messages that are sent before waiting for their delivery
# seconds before an unreachable broker is tried again: doubled from the first up to the second
PAUSES = (0.2, 30.0)
PATIENCE = 10.0  # seconds to wait for the broker's answer


class Outlet(Protocol):
    """A destination of messages. When `flush` returns, all messages have been delivered; before, some may have."""

    def send(self, messages: Sequence[bytes]) -> None:
        """Send messages, in order."""

    def flush(self) -> None:
        """Wait until all messages are delivered, also for an unreachable broker."""

    def close(self) -> None:
        """Flush, and close the connection."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


def open_outlet(text: str) -> Outlet:
    """Open an outlet: `kafka://host/topic`, `nats://host/stream?subject=...`, `redis://host/key`, or a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = tempfile.mktemp(suffix=".jsonl")
    >>> with open_outlet(path) as outlet:
    ...     outlet.send([b'{"prediction": "yes"}'])
    >>> Path(path).read_text()
    '{"prediction": "yes"}\\n'
    """
    if not is_address(text):
        return _File(text)
    address = Address.of(text)
    if address.scheme == "tail":
        raise OptionError("what goes out goes to a topic or a file", value=text, remedy="give the path alone")
    unknown = {*address.options} - {"config", "subject", "field", "db"}
    if unknown:
        raise OptionError(f"{min(unknown)}= is for reading", value=text, remedy="leave it away")
    senders: dict[str, Callable[[Address], _Sender]] = {"kafka": _Kafka, "nats": _Nats, "redis": _Redis}
    return _Persistent(senders[address.scheme](address), address.shown())


def is_outlet(text: str) -> bool:
    """Whether this is an address that messages can be sent to, rather than a file."""
    return is_address(text) and not text.startswith("tail://")


def letter(log: str, place: Place, content: dict[str, Any]) -> bytes:
    """A message about a row, with the row's place, by which readers can drop duplicates."""
    origin: dict[str, Any] = {"log": log, "partition": place.partition, "offset": place.offset}
    if place.row:
        origin["row"] = place.row
    return json.dumps({**origin, **content}, ensure_ascii=False, default=str).encode()


class _Sender(Protocol):
    """A client of a broker, which may be unreachable."""

    def deliver(self, messages: Sequence[bytes]) -> int:
        """Send messages, wait for their delivery, and return how many of the first were delivered.

        Raises UnreachableError if the broker does not answer.
        """

    def close(self) -> None: ...


class _Persistent:
    """An outlet that sends messages again until they are delivered."""

    def __init__(self, sender: _Sender, shown: str) -> None:
        self._sender, self._shown = sender, shown
        self._pending: list[bytes] = []

    def send(self, messages: Sequence[bytes]) -> None:
        self._pending += messages
        if len(self._pending) >= MOST:
            self.flush()

    def flush(self) -> None:
        pause, warned = PAUSES[0], False
        while self._pending:
            try:
                delivered = self._sender.deliver(self._pending[:MOST])
                problem = "" if delivered else "nothing arrives"
                del self._pending[:delivered]
            except UnreachableError as trouble:
                problem = str(trouble)
            if problem:
                if not warned:
                    now = time.strftime("%H:%M:%S")
                    text = f"{self._shown} does not answer since {now}, trying again until it does: {problem}"
                    warn_user(text, BrokerWarning)
                warned = True
                time.sleep(pause)
                pause = min(2 * pause, PAUSES[1])
            elif warned:
                warn_user(f"{self._shown} answers again, at {time.strftime('%H:%M:%S')}", BrokerWarning)
                pause, warned = PAUSES[0], False

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self._sender.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if exception[0] is None:
            self.close()
        else:
            self._sender.close()


class _File:
    """An outlet that appends lines to a file."""

    def __init__(self, path: str) -> None:
        try:
            self._file = open(path, "ab")
        except OSError as problem:
            raise DataError(
                f"cannot write {path}: {problem.strerror}", remedy="give another path"
            ) from problem

    def send(self, messages: Sequence[bytes]) -> None:
        self._file.write(b"".join(message + b"\n" for message in messages))

    def flush(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Kafka:
    """A topic of Kafka: a message is delivered when all replicas in sync have it."""

    def __init__(self, address: Address) -> None:
        try:
            import confluent_kafka
        except ImportError as absent:
            raise missing_library("confluent-kafka", "kafka") from absent
        from bayou.streams.brokers.kafka import NullLogger

        self._kafka: Any = confluent_kafka
        self._topic, self._shown = address.path, address.shown()
        self._producer: Any = confluent_kafka.Producer(
            {
                "linger.ms": 5,
                **address.settings(),
                "bootstrap.servers": address.hosts,
                "acks": "all",
                "enable.idempotence": True,
                "message.timeout.ms": round(1000 * PATIENCE),
            },
            logger=NullLogger(),
        )

    def deliver(self, messages: Sequence[bytes]) -> int:
        delivered = [False] * len(messages)

        def callback_of(i: int) -> Callable[[Any, Any], None]:
            def on_delivery(error: Any, message: Any) -> None:
                delivered[i] = error is None
                self._check(error)

            return on_delivery

        for i, message in enumerate(messages):
            self._producer.produce(self._topic, message, on_delivery=callback_of(i))
            self._producer.poll(0)
        self._producer.flush(2 * PATIENCE)
        return [*delivered, False].index(False)

    def _check(self, error: Any) -> None:
        gone = (self._kafka.KafkaError._MSG_TIMED_OUT, self._kafka.KafkaError._ALL_BROKERS_DOWN)
        if error is not None and error.code() not in gone and not error.retriable():
            raise DataError(f"{self._shown}: {error.str()}", remedy="check the topic and who may write it")

    def close(self) -> None:
        self._producer.purge()


class _Redis:
    """A stream of Redis: each message is an entry with one field."""

    def __init__(self, address: Address) -> None:
        from bayou.streams.brokers.redis import client_of

        self._client, self._errors = client_of(address)
        self._key, self._field = address.path, address.options.get("field", "value")
        self._shown = address.shown()

    def deliver(self, messages: Sequence[bytes]) -> int:
        pipe = self._client.pipeline(transaction=False)
        for message in messages:
            pipe.xadd(self._key, {self._field: message})
        try:
            return len(pipe.execute())
        except (
            self._errors.ConnectionError, self._errors.TimeoutError, self._errors.BusyLoadingError, OSError,
        ) as problem:  # fmt: skip
            self._client.connection_pool.disconnect()
            raise UnreachableError(f"{self._shown}: {problem}") from problem
        except self._errors.ResponseError as problem:
            raise DataError(f"{self._shown}: {problem}", remedy="is it a stream?") from problem

    def close(self) -> None:
        self._client.close()


class _Nats:
    """A subject of a NATS stream: a message is delivered when JetStream has acknowledged it."""

    def __init__(self, address: Address) -> None:
        from bayou.streams.brokers.nats import NatsLog

        self._log = NatsLog(address)
        self._subject = address.options.get("subject", address.path)

    def deliver(self, messages: Sequence[bytes]) -> int:
        self._log.publish(self._subject, messages)
        return len(messages)

    def close(self) -> None:
        self._log.close()
