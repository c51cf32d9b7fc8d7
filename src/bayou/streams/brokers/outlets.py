"""Messages that go out, to a topic or a file: at least once, each with the place of the row it is about."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

from bayou.errors import DataError, OptionError, warn_user
from bayou.streams.brokers.address import Address, is_address
from bayou.streams.brokers.log import BrokerWarning, Place, UnreachableError, missing_library

MOST = 1_000  # messages that are sent before their arrival is waited for
PAUSES = (
    0.2,
    30.0,
)  # seconds before a broker that is gone is tried again: doubled from the first up to the last
PATIENCE = 10.0  # seconds to wait for the broker's answer


class Outlet(Protocol):
    """Where messages go. What was sent has arrived when `flush` returns; what was not flushed may have."""

    def send(self, messages: Sequence[bytes]) -> None:
        """Send messages, in order."""

    def flush(self) -> None:
        """Wait until all that was sent has arrived; a broker that is gone is waited for."""

    def close(self) -> None:
        """Flush, and let go of the connection."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...


def open_outlet(text: str) -> Outlet:
    """The outlet at an address, `kafka://host/topic`, `nats://host/stream?subject=...`, `redis://host/key`; or a file.

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
    strange = {*address.options} - {"config", "subject", "field", "db"}
    if strange:
        raise OptionError(f"{min(strange)}= is for reading", value=text, remedy="leave it away")
    made: dict[str, Callable[[Address], _Sender]] = {"kafka": _Kafka, "nats": _Nats, "redis": _Redis}
    return _Persistent(made[address.scheme](address), address.shown())


def is_outlet(text: str) -> bool:
    """Whether this is an address that messages can be sent to, rather than a file."""
    return is_address(text) and not text.startswith("tail://")


def letter(log: str, place: Place, content: dict[str, Any]) -> bytes:
    """A message about a row, with the row's place: by these, who reads can drop doubles."""
    where: dict[str, Any] = {"log": log, "partition": place.partition, "offset": place.offset}
    if place.row:
        where["row"] = place.row
    return json.dumps({**where, **content}, ensure_ascii=False, default=str).encode()


class _Sender(Protocol):
    """A client of a broker, which may be gone."""

    def deliver(self, messages: Sequence[bytes]) -> int:
        """Send messages, and wait until they have arrived; how many of the first have. May raise UnreachableError."""

    def close(self) -> None: ...


class _Persistent:
    """An outlet that sends again what may not have arrived, for as long as it takes."""

    def __init__(self, sender: _Sender, shown: str) -> None:
        self._sender, self._shown = sender, shown
        self._waiting: list[bytes] = []

    def send(self, messages: Sequence[bytes]) -> None:
        self._waiting += messages
        if len(self._waiting) >= MOST:
            self.flush()

    def flush(self) -> None:
        pause, told = PAUSES[0], False
        while self._waiting:
            try:
                arrived = self._sender.deliver(self._waiting[:MOST])
                problem = "" if arrived else "nothing arrives"
                del self._waiting[:arrived]
            except UnreachableError as trouble:
                problem = str(trouble)
            if problem:
                if not told:
                    now = time.strftime("%H:%M:%S")
                    said = f"{self._shown} does not answer since {now}, trying again until it does: {problem}"
                    warn_user(said, BrokerWarning)
                told = True
                time.sleep(pause)
                pause = min(2 * pause, PAUSES[1])
            elif told:
                warn_user(f"{self._shown} answers again, at {time.strftime('%H:%M:%S')}", BrokerWarning)
                pause, told = PAUSES[0], False

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
    """Lines of a file; what it holds already stays."""

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
    """A topic of Kafka: arrived is what all replicas in sync have."""

    def __init__(self, address: Address) -> None:
        try:
            import confluent_kafka
        except ImportError as absent:
            raise missing_library("confluent-kafka", "kafka") from absent
        from bayou.streams.brokers.kafka import Silent

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
            logger=Silent(),
        )

    def deliver(self, messages: Sequence[bytes]) -> int:
        arrived = [False] * len(messages)

        def told(i: int) -> Callable[[Any, Any], None]:
            def note(error: Any, message: Any) -> None:
                arrived[i] = error is None
                self._check(error)

            return note

        for i, message in enumerate(messages):
            self._producer.produce(self._topic, message, on_delivery=told(i))
            self._producer.poll(0)
        self._producer.flush(2 * PATIENCE)
        return [*arrived, False].index(False)

    def _check(self, error: Any) -> None:
        gone = (self._kafka.KafkaError._MSG_TIMED_OUT, self._kafka.KafkaError._ALL_BROKERS_DOWN)
        if error is not None and error.code() not in gone and not error.retriable():
            raise DataError(f"{self._shown}: {error.str()}", remedy="check the topic and who may write it")

    def close(self) -> None:
        self._producer.purge()


class _Redis:
    """A stream of Redis: an entry with one field."""

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
    """A subject of NATS that a stream keeps: arrived is what JetStream has acknowledged."""

    def __init__(self, address: Address) -> None:
        from bayou.streams.brokers.nats import NatsLog

        self._log = NatsLog(address)
        self._subject = address.options.get("subject", address.path)

    def deliver(self, messages: Sequence[bytes]) -> int:
        self._log.publish(self._subject, messages)
        return len(messages)

    def close(self) -> None:
        self._log.close()
