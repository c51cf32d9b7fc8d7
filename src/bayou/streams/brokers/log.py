"""What every broker looks like from here: partitions of messages, each behind a number that only grows."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from bayou.errors import BayouError, BayouWarning, OptionError


class UnreachableError(BayouError, ConnectionError):
    """A broker that does not answer; it is tried again."""


class BrokerWarning(BayouWarning):
    """A broker does not answer, answers again, or may have dropped messages before they were read."""


@dataclass(frozen=True)
class Batch:
    """Messages of one partition in order; `behind[i]` is the offset at which to go on after `values[i]`.

    `times` are those that the broker keeps, in microseconds since 1970, where they were asked for.
    """

    partition: int
    values: list[bytes]
    behind: Sequence[int]
    times: list[int] = field(default_factory=list)


class Place(NamedTuple):
    """Where a row stands in a log: partition and offset of its message, and which row of it, where it has several."""

    partition: int
    offset: int | str
    row: int = 0


class Log(Protocol):
    """A log of messages, to be read from any offset, again and again; most have one partition and need no more."""

    partitions: Sequence[int] = (0,)
    counted: bool  # offsets count messages: the one behind a message is its own plus 1
    trouble: str | None = None  # what a client that reconnects by itself says about it
    timed: bool = False  # whether times are asked for

    @property
    def over(self) -> bool:
        """Whether nothing will ever come any more: the other side of a pipe is closed."""
        return False

    def identity(self) -> Mapping[str, str | int]:
        """What tells this log from another."""

    def first(self, partition: int) -> int:
        """The oldest offset that can be read."""

    def end(self, partition: int) -> int:
        """The offset that the next message will get."""

    def seek(self, offsets: Mapping[int, int]) -> None:
        """Fetch from here on; connects anew where that is needed."""

    def fetch(self, most: int, seconds: float, only: Collection[int]) -> list[Batch]:
        """Up to about so many messages of these partitions; waits so long for the first.

        Raises
        ------
        UnreachableError
            If the broker is gone. `seek` then connects anew.
        """

    def at_end(self, partition: int) -> bool:
        """Whether nothing was left to fetch from a partition when it was last asked."""

    def name_of(self, behind: int) -> int | str:
        """What people call the message before an offset."""
        return behind - 1 if self.counted else behind

    def facts(self, offsets: Mapping[int, int]) -> dict[str, int]:
        """What else is needed to find these offsets again."""
        return {}

    def recall(self, facts: Mapping[str, int], offsets: Mapping[int, int]) -> None:
        """Take what `facts` gave, before the `seek` to these offsets."""
        return

    def commit(self, offsets: Mapping[int, int]) -> None:
        """Tell the broker how far a checkpoint has come: a hint for people, nothing is read from it."""
        return

    def close(self) -> None:
        """Let go of the connection."""


def missing_library(library: str, extra: str) -> OptionError:
    """What to say where the client of a broker is not installed."""
    return OptionError(f"{extra}:// needs {library}", remedy=f"pip install 'bayou[{extra}]'")


@contextmanager
def no_collection() -> Iterator[None]:
    """No search for cycles while a client makes thousands of objects that have none: half of its time goes there."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
