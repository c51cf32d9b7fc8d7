"""Exceptions of the server, each with the HTTP status of its response."""

from __future__ import annotations

from bayou.errors import BayouError


class ServeError(BayouError):
    """A refused request; `status` is the HTTP status of the response."""

    status = 400


class TooLargeError(ServeError):
    """A body, or a number of rows, beyond the limit."""

    status = 413


class UnknownFormError(ServeError):
    """A body of an unknown media type."""

    status = 415


class ConflictError(ServeError):
    """A request that contradicts an earlier one, or the way the server was started."""

    status = 409


class BusyError(ServeError):
    """The queue is full, or learning has stopped: the same request may succeed later."""

    status = 503


class DeadlineError(ServeError):
    """The deadline of a request passed; nothing of it was learned."""

    status = 504
