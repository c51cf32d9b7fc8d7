"""Redis Streams: read by XREAD from an ID that comes from a checkpoint."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from bayou.errors import DataError, OptionError
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.log import Batch, Log, UnreachableError, missing_library

PATIENCE = 5.0  # seconds to wait for the server's answer
_SHIFT = 64  # an ID is milliseconds and a number, each below 2^64; here it is one number


class RedisLog(Log):
    """A stream of Redis: one partition, whose offsets are IDs. The message is one field of an entry."""

    counted = False

    def __init__(self, address: Address) -> None:
        self._client, self._errors = client_of(address)
        self._address, self._key = address, address.path
        self._field = address.options.get("field", "value").encode()
        self._next, self._at_end = 0, False
        self._info()

    def identity(self) -> Mapping[str, str | int]:
        return {"key": self._key, "field": self._field.decode()}

    def first(self, partition: int) -> int:
        return 0  # Redis does not tell whether entries were trimmed

    def end(self, partition: int) -> int:
        info = self._info()
        return _offset(info["last-generated-id"]) + 1 if info else 0

    def seek(self, offsets: Mapping[int, int]) -> None:
        self._next, self._at_end = offsets[0], False
        if self._next and self.end(0) < self._next:
            raise DataError(
                f"{self._address.shown()} ends before the entry that was read last",
                remedy="was it made anew? give the original, or start again in an empty folder",
            )

    def fetch(self, most: int, seconds: float, only: Collection[int]) -> list[Batch]:
        if not only:
            return []
        before = _name(self._next - 1) if self._next else "0-0"
        reply = self._execute(
            "XREAD", "COUNT", most, "BLOCK", max(1, round(1000 * seconds)), "STREAMS", self._key, before
        )
        entries = _entries(reply)
        self._at_end = len(entries) < most
        if not entries:
            return []
        field = self._field
        values = [(fields or {}).get(field, b"") for _, fields in entries]
        ids = [name.partition(b"-") for name, _ in entries]
        behind = [(int(milliseconds) << _SHIFT) + int(number) + 1 for milliseconds, _, number in ids]
        self._next = behind[-1]
        return [
            Batch(0, values, behind, [1000 * (end - 1 >> _SHIFT) for end in behind] if self.timed else [])
        ]

    def at_end(self, partition: int) -> bool:
        return self._at_end

    def name_of(self, behind: int) -> str:
        return _name(behind - 1)

    def close(self) -> None:
        self._client.close()

    def _info(self) -> dict[str, Any]:
        """The server's information about the stream; empty if it does not exist yet."""
        try:
            return dict(self._execute("XINFO STREAM", self._key) or {})
        except self._errors.ResponseError as problem:
            if "no such key" in str(problem):
                return {}
            raise OptionError(f"{self._address.shown()}: {problem}", remedy="is it a stream?") from problem

    def _execute(self, *command: Any) -> Any:
        try:
            return self._client.execute_command(*command)
        except (self._errors.ConnectionError, self._errors.TimeoutError, OSError) as problem:
            self._client.connection_pool.disconnect()
            raise UnreachableError(f"{self._address.shown()}: {problem}") from problem
        except self._errors.BusyLoadingError as problem:
            raise UnreachableError(f"{self._address.shown()} is loading its data") from problem


def client_of(address: Address) -> tuple[Any, Any]:
    """A client of the server, and the library's module of errors."""
    try:
        import redis
        import redis.exceptions
    except ImportError as absent:
        raise missing_library("redis", "redis") from absent
    host, _, port = address.hosts.rpartition(":")
    login: dict[str, Any] = {k: v for k, v in address.settings().items() if k in ("username", "password")}
    try:
        database = int(address.options.get("db", "0"))
        client = redis.Redis(
            host, int(port), database, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, **login
        )
    except ValueError as problem:
        raise OptionError("the port and db= are numbers", value=address.shown()) from problem
    return client, redis.exceptions


def _entries(reply: Any) -> list[tuple[Any, Any]]:
    """The entries in a reply to XREAD, of either version of the protocol."""
    if not reply:
        return []
    ((_, entries),) = reply.items() if isinstance(reply, dict) else reply
    if entries and isinstance(entries[0], list) and entries[0] and isinstance(entries[0][0], list | tuple):
        (entries,) = entries
    return list(entries)


def _offset(name: bytes | str) -> int:
    """An ID as one number.

    >>> _name(_offset(b"1763370000123-4"))
    '1763370000123-4'
    """
    text = name.decode() if isinstance(name, bytes) else name
    milliseconds, _, number = text.partition("-")
    return (int(milliseconds) << _SHIFT) + int(number)


def _name(offset: int) -> str:
    return f"{offset >> _SHIFT}-{offset & (1 << _SHIFT) - 1}"
