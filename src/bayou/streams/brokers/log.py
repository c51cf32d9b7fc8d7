"""The interface of brokers: partitions of messages, each at an offset; offsets only grow."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from bayou.errors import BayouError, BayouWarning, OptionError


class UnreachableError(BayouError, ConnectionError):
    """A broker does not answer; it is tried again."""


class BrokerWarning(BayouWarning):
    """A broker does not answer, answers again, or may have dropped messages before they were read."""


@dataclass(frozen=True)
class Batch:
    """Messages of one partition in order; `behind[i]` is the offset at which to continue after `values[i]`.

    `times` are those that the broker stores, in microseconds since 1970, if the log is `timed`.
    """

    partition: int
    values: list[bytes]
    behind: Sequence[int]
    times: list[int] = field(default_factory=list)


class Place(NamedTuple):
    """The place of a row in a log: partition and offset of its message, and the row in it, if it holds several."""

    partition: int
    offset: int | str
    row: int = 0


class Log(Protocol):
    """A log of messages, which can be read from any offset; the defaults are those of a log with one partition."""

    partitions: Sequence[int] = (0,)
    counted: bool  # offsets count messages: the one after a message is its own plus 1
    trouble: str | None = None  # the error of a client that reconnects by itself
    timed: bool = False  # whether batches have times

    @property
    def over(self) -> bool:
        """Whether no more messages can come: the other end of a pipe is closed."""
        return False

    def identity(self) -> Mapping[str, str | int]:
        """The identity of the log, for checkpoints."""

    def first(self, partition: int) -> int:
        """The oldest offset that can be read."""

    def end(self, partition: int) -> int:
        """The offset that the next message will get."""

    def seek(self, offsets: Mapping[int, int]) -> None:
        """Fetch from these offsets on; reconnects if needed."""

    def fetch(self, most: int, seconds: float, only: Collection[int]) -> list[Batch]:
        """About `most` messages of these partitions; waits up to `seconds` for the first.

        Raises
        ------
        UnreachableError
            If the broker does not answer. `seek` then reconnects.
        """

    def at_end(self, partition: int) -> bool:
        """Whether nothing was left to fetch from a partition at the last fetch."""

    def name_of(self, behind: int) -> int | str:
        """The name of the message before an offset, as the broker's tools show it."""
        return behind - 1 if self.counted else behind

    def facts(self, offsets: Mapping[int, int]) -> dict[str, int]:
        """Further facts for a position, by which these offsets are found again."""
        return {}

    def recall(self, facts: Mapping[str, int], offsets: Mapping[int, int]) -> None:
        """Restore what `facts` returned, before the `seek` to these offsets."""
        return

    def commit(self, offsets: Mapping[int, int]) -> None:
        """Commit the offsets of a checkpoint to the broker, for its tools; they are never read."""
        return

    def close(self) -> None:
        """Close the connection."""


def missing_library(library: str, extra: str) -> OptionError:
    """The error for a broker whose client library is not installed."""
    return OptionError(f"{extra}:// needs {library}", remedy=f"pip install 'bayou[{extra}]'")


@contextmanager
def no_collection() -> Iterator[None]:
    """Disable garbage collection while a client creates thousands of objects without cycles, which halves its time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
