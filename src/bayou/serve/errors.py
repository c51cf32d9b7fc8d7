"""What a server answers when it cannot do what it was asked to."""

from __future__ import annotations

from bayou.errors import BayouError


class ServeError(BayouError):
    """A request that is refused; `status` is the HTTP status that says so."""

    status = 400


class TooLargeError(ServeError):
    """A body, or a number of rows, beyond the limit."""

    status = 413


class UnknownFormError(ServeError):
    """A body of a media type that nobody here reads."""

    status = 415


class ConflictError(ServeError):
    """A request that contradicts an earlier one, or what this server is for."""

    status = 409


class BusyError(ServeError):
    """The queue is full, or learning has stopped: the same request may succeed later."""

    status = 503


class DeadlineError(ServeError):
    """The time a request was given is over; nothing was learned of it."""

    status = 504
