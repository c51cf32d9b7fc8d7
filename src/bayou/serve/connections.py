"""Limits on connections: slow, long and excess requests end before they reach the application."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bayou.serve.errors import BusyError

MOST_CONNECTIONS = 1_024
MOST_AT_ONCE, LEAST_AT_ONCE = 128, 8  # requests that are worked on; one on top is refused without being read
WORK = 0.03  # seconds of work that are taken on where there is too much of it
SPAN = 0.1  # seconds between two adjustments of the limit
MOST_BYTES = 128 << 20  # of bodies that are worked on
READ_BYTES = 65_536  # that a client must read of an answer within the seconds a request has to arrive
HEAD_BYTES = 65_536  # of a request's line and headers
SECONDS = 10.0  # for a request to arrive as a whole
BUSY = b"the server has all it can do; try again\n"
THERE = "bayou.there"  # the moment at which a request could be worked on, in its scope
_NEVER_REFUSED = (b"GET /health/", b"GET /v2/health/", b"GET /metrics")


def _canned(status: bytes, text: bytes, more: bytes = b"") -> bytes:
    length = str(len(text)).encode()
    return (
        b"HTTP/1.1 " + status + b"\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: " + length
        + b"\r\nx-content-type-options: nosniff\r\n" + more + b"\r\n" + text
    )  # fmt: skip


_RETRY = b"retry-after: 1\r\n"
_CLOSE = b"connection: close\r\n"
_BUSY = _canned(b"503 Service Unavailable", BUSY, _RETRY)
_FULL = _canned(b"503 Service Unavailable", BUSY, _RETRY + _CLOSE)
_SLOW = _canned(b"408 Request Timeout", b"the request took too long to arrive\n", _CLOSE)
_LONG = _canned(b"431 Request Header Fields Too Large", b"the headers are too long\n", _CLOSE)


class Load:
    """Counts the requests and bytes a server works on, and adapts how many it accepts at once.

    Once requests have to be refused, the limit falls to the number answered lately in `WORK` seconds, so that what
    is accepted is answered in time however slow the machine is; without refusals it doubles again.
    As a context manager it marks a request that only waits, which does not count against the limit.

    Examples
    --------
    >>> load = Load()
    >>> for i in range(1, 1000):
    ...     load.refused += 1
    ...     load.answered(0.001 * i)
    >>> load.limit
    30
    """

    def __init__(self) -> None:
        self.waiting = 0  # requests that only wait, for the learner or for news
        self.refused = 0  # unread
        self.limit = MOST_AT_ONCE
        self.held = 0  # bytes of bodies
        self._answered, self._since, self._refused = 0, 0.0, 0

    def __enter__(self) -> None:
        self.waiting += 1

    def __exit__(self, *exception: object) -> None:
        self.waiting -= 1

    def answered(self, now: float) -> None:
        """Count an answered request, and adjust the limit every `SPAN` seconds; `now` is a moment of the clock."""
        self._answered += 1
        seconds = now - self._since
        if seconds < SPAN:
            return
        if seconds > 10 * SPAN:
            self.limit = MOST_AT_ONCE
        elif self.refused > self._refused:
            target = (self.limit + WORK * self._answered / seconds) / 2
            self.limit = max(LEAST_AT_ONCE, min(MOST_AT_ONCE, round(target)))
        else:
            self.limit = min(MOST_AT_ONCE, 2 * self.limit)
        self._answered, self._since, self._refused = 0, now, self.refused

    def hold(self, size: int) -> None:
        """Reserve room for bytes of a body; raises BusyError if the other requests leave none."""
        if self.held and self.held + size > MOST_BYTES:
            raise BusyError(f"{self.held:,} bytes of requests are worked on, and no more may; try again")
        self.held += size


def protocol(load: Load, seconds: float = SECONDS) -> type[asyncio.Protocol]:
    """The protocol class that uvicorn makes one instance of per connection."""

    class GuardedConnection(HttpToolsProtocol):
        """A connection of uvicorn's with limits, and a precomputed 503 for requests beyond them.

        Refusing a request in the application takes a third of the time of answering it: at four times the load no
        time would be left for answers. So a request that arrives whole at a busy server is refused unparsed.
        """

        _timer: asyncio.TimerHandle | None = None
        _reading: asyncio.TimerHandle | None = None
        _unread = 0
        _refused = False
        _head = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > MOST_CONNECTIONS:
                load.refused += 1
                self._end(_FULL)
            else:
                self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._unwatch()
            self._stop_reading()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self.transport.is_closing():
                return
            begins = self._head == 0 and self._idle()
            if begins and len(self.tasks) - load.waiting >= load.limit and is_whole(data):
                load.refused += 1
                self.transport.write(_BUSY)
                self._refused = True
                if self._timer is not None:
                    self._unwatch()
                if self.timeout_keep_alive_task is None:
                    self._keep_alive()
                return
            if self._head >= 0:
                self._head += len(data)
                if self._head > HEAD_BYTES and b"\r\n\r\n" not in data[:HEAD_BYTES]:
                    self._end(_LONG)
                    return
            super().data_received(data)

        def timeout_keep_alive_handler(self) -> None:
            # Refusals do not restart the timer, which would take longer than refusing: look at the flag instead
            if self._refused:
                self._refused = False
                self._keep_alive()
            else:
                super().timeout_keep_alive_handler()

        def _keep_alive(self) -> None:
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

        def on_message_begin(self) -> None:
            super().on_message_begin()
            if self._timer is None:
                self._watch()

        def on_headers_complete(self) -> None:
            self._head = -1  # what follows is the body, which the application counts
            super().on_headers_complete()

        def on_message_complete(self) -> None:
            self._head = 0
            self._unwatch()
            super().on_message_complete()

        def _start_asgi_task(self, cycle: Any, app: Any) -> None:
            cycle.scope[THERE] = time.perf_counter()
            super()._start_asgi_task(cycle, app)

        def pause_writing(self) -> None:
            """Close the connection if the client does not go on reading the answer."""
            super().pause_writing()
            self._stop_reading()
            self._unread = self.transport.get_write_buffer_size()
            self._reading = self.loop.call_later(seconds, self._still_unread)

        def resume_writing(self) -> None:
            self._stop_reading()
            super().resume_writing()

        def _still_unread(self) -> None:
            left = self.transport.get_write_buffer_size()
            if left > self._unread - READ_BYTES:
                self.transport.abort()
            else:
                self._unread = left
                self._reading = self.loop.call_later(seconds, self._still_unread)

        def _stop_reading(self) -> None:
            if self._reading is not None:
                self._reading.cancel()
                self._reading = None

        def _idle(self) -> bool:
            """Whether no request is being answered."""
            cycle: Any = self.cycle  # None before the first
            return cycle is None or bool(cycle.response_complete)

        def _watch(self) -> None:
            self._timer = self.loop.call_later(seconds, self._end, _SLOW)

        def _unwatch(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _end(self, answer: bytes) -> None:
            """Close the connection; send `answer` first unless another answer has begun."""
            self._unwatch()
            if not self.transport.is_closing():
                if self._idle() or not self.cycle.response_started:
                    self.transport.write(answer)
                self.transport.close()

    return GuardedConnection


def is_whole(data: bytes) -> bool:
    """Whether `data` is exactly one complete request, and not one that must always be answered (health, metrics)."""
    end = data.find(b"\r\n\r\n")
    if end < 0 or data.startswith(_NEVER_REFUSED):
        return False
    head = data[:end].lower()
    if b"\r\ntransfer-encoding:" in head or head.count(b"\r\ncontent-length:") > 1:
        return False  # left to the parser
    at = head.find(b"\r\ncontent-length:")
    if at < 0:
        return end + 4 == len(data)
    line = head[at + 17 :].partition(b"\r\n")[0].strip()
    return line.isdigit() and end + 4 + int(line) == len(data)
