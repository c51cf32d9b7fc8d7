"""NATS JetStream: a stream is read by pulling, from a sequence number that comes from a checkpoint."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from bayou.errors import DataError
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.log import Batch, Log, UnreachableError, missing_library

Result = TypeVar("Result")
PATIENCE = 5.0  # seconds to wait for the server's answer to a request
LONGEST = 15.0  # seconds until a request is cancelled: the client may wait for a dead server for ever
FORGOTTEN = 300.0  # seconds after which the server removes an inactive consumer


class NatsLog(Log):
    """A stream of JetStream: one partition, whose offsets are its sequence numbers.

    Every connection creates its own consumer on the server, without acknowledgements: the server keeps no state.
    """

    counted = True

    def __init__(self, address: Address) -> None:
        try:
            import nats
            import nats.errors
            import nats.js.api
            import nats.js.errors
        except ImportError as absent:
            raise missing_library("nats-py", "nats") from absent
        self._nats: Any = nats
        self._address, self._stream = address, address.path
        self._subject = address.options.get("subject")
        self._loop, self._thread = asyncio.new_event_loop(), ThreadPoolExecutor(1)
        self._client: Any = None
        self._lost = False  # the connection gave no answer: the next request opens another
        self._reader: Any = None
        self._expected, self._delivered, self._at_end = 1, 0, False
        self._on_the_way = False  # the server had sent messages that had not arrived at the last request
        try:
            self._info = self._request(self._connect())
        except BaseException:
            self.close()
            raise

    def identity(self) -> Mapping[str, str | int]:
        return {"stream": self._stream, "subject": self._subject or "", "made": str(self._info.created)}

    def first(self, partition: int) -> int:
        return max(1, int(self._state().first_seq))

    def end(self, partition: int) -> int:
        return int(self._state().last_seq) + 1

    def seek(self, offsets: Mapping[int, int]) -> None:
        self._request(self._read_from(offsets[0]))

    def fetch(self, most: int, seconds: float, only: Collection[int]) -> list[Batch]:
        if not only:
            return []
        if self._reader is None:  # a request in between has opened another connection
            self._request(self._read_from(self._expected))
        messages = self._request(self._pull(most, seconds))
        values: list[bytes] = []
        behind: list[int] = []
        times: list[int] = []
        for message in messages:
            sequence, delivered, pending, time = _numbers(message.reply)
            if delivered != self._delivered + 1:  # a message was lost: read again from there
                self._request(self._read_from(self._expected))
                break
            self._delivered = delivered
            self._expected = sequence + 1
            self._at_end = pending == 0
            values.append(message.data)
            behind.append(sequence + 1)
            times.append(time // 1000)
        if not messages:
            self._at_end = self._request(self._idle())
        return [Batch(0, values, behind, times)] if values else []

    def at_end(self, partition: int) -> bool:
        return self._at_end

    def publish(self, subject: str, messages: Sequence[bytes]) -> None:
        """Send messages to a subject of a stream, and wait until the stream has acknowledged them."""
        self._request(self._publish(subject, messages))

    def close(self) -> None:
        if self._loop.is_closed():
            return
        with contextlib.suppress(Exception):  # a connection that fails to close is lost already
            if self._connected():
                self._run(asyncio.wait_for(self._client.close(), PATIENCE))
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._run(asyncio.sleep(0))
        self._thread.shutdown()
        self._loop.close()

    def _run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine in the loop, in a separate thread: the caller's may already run a loop."""
        return self._thread.submit(self._loop.run_until_complete, coroutine).result()

    def _request(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """The result of a request; all errors of the connection become UnreachableError."""
        errors = self._nats.errors
        try:
            return self._run(asyncio.wait_for(coroutine, LONGEST))
        except self._nats.js.errors.NotFoundError as problem:
            raise DataError(
                f"{self._address.hosts} has no stream {self._stream!r}", remedy="check its name"
            ) from problem
        except (TimeoutError, errors.Error, OSError, EOFError) as problem:
            self._lost = True
            reason = str(problem) or type(problem).__name__
            raise UnreachableError(f"{self._address.shown()}: {reason.splitlines()[0]}") from problem

    def _connected(self) -> bool:
        return self._client is not None and self._client.is_connected and not self._lost

    def _state(self) -> Any:
        if not self._connected():
            self._request(self._connect())
        return self._request(self._jetstream.stream_info(self._stream)).state

    async def _connect(self) -> Any:
        async def quiet(problem: Exception) -> None:
            self._last_error = str(problem)

        previous, self._client, self._reader = self._client, None, None
        if previous is not None and not previous.is_closed:
            with contextlib.suppress(Exception):  # a connection that fails to close is lost already
                await asyncio.wait_for(previous.close(), 1.0)
        self._client = await self._nats.connect(
            [f"nats://{host}" for host in self._address.hosts.split(",")],
            allow_reconnect=False,
            connect_timeout=PATIENCE,
            error_cb=quiet,
            **self._login(),
        )
        self._jetstream, self._lost = self._client.jetstream(timeout=PATIENCE), False
        return await self._jetstream.stream_info(self._stream)

    def _login(self) -> dict[str, str]:
        names = {"username": "user", "password": "password", "token": "token", "creds": "user_credentials"}
        return {names[name]: value for name, value in self._address.settings().items() if name in names}

    async def _read_from(self, sequence: int) -> None:
        api = self._nats.js.api
        if not self._connected():
            await self._connect()
        if self._reader is not None:
            try:
                await self._reader.unsubscribe()
            except Exception:  # of a connection that is gone
                pass
        self._reader = await self._jetstream.pull_subscribe(
            self._subject or "",
            stream=self._stream,
            config=api.ConsumerConfig(
                deliver_policy=api.DeliverPolicy.BY_START_SEQUENCE,
                opt_start_seq=max(1, sequence),
                ack_policy=api.AckPolicy.NONE,
                filter_subject=self._subject,
                inactive_threshold=FORGOTTEN,
                mem_storage=True,
                num_replicas=1,
            ),
            pending_msgs_limit=-1,
            pending_bytes_limit=-1,
        )
        self._expected, self._delivered, self._at_end = max(1, sequence), 0, False

    async def _publish(self, subject: str, messages: Sequence[bytes]) -> None:
        if not self._connected():
            await self._connect()
        try:
            await asyncio.gather(*[self._jetstream.publish(subject, message) for message in messages])
        except self._nats.js.errors.NoStreamResponseError as problem:
            raise DataError(
                f"{self._address.shown()}: no stream keeps the subject {subject!r}",
                remedy="name one that does: ?subject=...",
            ) from problem

    async def _pull(self, most: int, seconds: float) -> list[Any]:
        try:
            return list(await self._reader.fetch(most, timeout=seconds))
        except (TimeoutError, self._nats.errors.TimeoutError):
            return []

    async def _idle(self) -> bool:
        """Whether all messages are read; a consumer that is lost, since the server was restarted, is created again."""
        try:
            info = await self._reader.consumer_info()
            if int(info.delivered.consumer_seq) <= self._delivered:
                self._on_the_way = False
                return int(info.num_pending) == 0
            if self._on_the_way:  # sent, and still not here: read them again
                await self._read_from(self._expected)
            self._on_the_way = not self._on_the_way
            return False
        except self._nats.js.errors.NotFoundError:
            await self._read_from(self._expected)
            return False


def _numbers(reply: str) -> tuple[int, int, int, int]:
    """Sequence numbers in the stream and of the delivery, pending messages, and nanoseconds, from a reply subject.

    >>> _numbers("$JS.ACK.payments.reader.1.17.3.1763370000.5")
    (17, 3, 5, 1763370000)
    """
    parts = reply.split(".")
    at = 5 if len(parts) == 9 else 7  # with a domain and an account in front
    return int(parts[at]), int(parts[at + 1]), int(parts[at + 3]), int(parts[at + 2])
