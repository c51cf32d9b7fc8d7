"""Messages that were fetched and wait to be decoded: bounded in number, in a fixed order, each of them once."""

from __future__ import annotations

import time
import zlib
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

from bayou.errors import DataError, warn_user
from bayou.streams import limits
from bayou.streams.brokers.log import BrokerWarning, Log, UnreachableError

TURN = 1_000  # messages taken from a partition before the next has its turn
ROOM = 64_000  # waiting messages of a partition; beyond, no more are fetched until half of them are taken
WAIT = 0.2  # seconds to wait for a message
# seconds before an unreachable broker is tried again: doubled from the first up to the second
PAUSES = (0.2, 30.0)


@dataclass(frozen=True)
class Turn:
    """Messages of a partition that were taken together, the offsets after each, and the state of the turns before."""

    partition: int
    values: list[bytes]
    behind: list[int]
    turn: int
    taken_in_turn: int


class Inbox:
    """The messages of a log from given offsets on, partition by partition in turns, also when the broker fails.

    An unreachable broker is warned of once and tried again after growing pauses; messages that are delivered again are
    dropped by their offsets; no more is fetched of a partition with enough messages waiting.

    Parameters
    ----------
    log
        The log to read.
    shown
        Its name in warnings and errors.
    offsets
        The offset to begin at in every partition.
    ends
        The offset to stop at in every partition; None follows the log.
    gone
        Called with the partition, the offset to read and the oldest available, if messages were deleted unread.
    """

    def __init__(
        self,
        log: Log,
        shown: str,
        offsets: Mapping[int, int],
        ends: Mapping[int, int] | None,
        gone: Callable[[int, int, int], None],
    ) -> None:
        self._log, self._shown, self._gone = log, shown, gone
        self.wait = WAIT  # seconds to wait for a message
        self._partitions = list(log.partitions)
        self.turn, self.taken_in_turn = 0, 0
        self._trouble: str | None = None
        self._pause, self._retry_at = PAUSES[0], 0.0
        self.go_to(offsets, {}, ends)

    def go_to(
        self, offsets: Mapping[int, int], marks: Mapping[int, int], ends: Mapping[int, int] | None
    ) -> None:
        """Restart at these offsets; marks are checksums of the messages before them, which identify the log."""
        # the offset after the last message of each partition that was fetched or skipped
        self._reached = dict(offsets)
        self._marks, self._ends = dict(marks), ends
        self._waiting = {p: _Waiting() for p in self._partitions}
        self._full: set[int] = set()  # partitions of which no more is fetched
        self._has_sought = False

    def sample(self, share: int) -> list[bytes] | None:
        """The first waiting messages, up to `share` of each partition; None while there are more to fetch."""
        self._seek_once()
        if all(self._log.at_end(p) for p in self._partitions if self._waiting[p].size < share):
            return [v for p in self._partitions for v in self._waiting[p].first_values(share)]
        return None

    def take(self, most: int) -> list[Turn]:
        """At most `most` messages, turn by turn; fetches if none wait, and returns none if none arrive."""
        self._seek_once()
        out: list[Turn] = []
        while most and (partition := self._at_turn(fetch=not out)) is not None:
            state = self.turn, self.taken_in_turn
            room = most if len(self._partitions) == 1 else min(most, TURN - self.taken_in_turn)
            end = None if self._ends is None else self._ends[partition]
            turn = Turn(partition, *self._waiting[partition].take(room, end), *state)
            self.taken_in_turn += len(turn.values)
            most -= len(turn.values)
            out.append(turn)
        return out

    def give_back(self, turns: list[Turn], whole: int) -> tuple[Turn, list[Turn]]:
        """The turn that begins with message number `whole` of those taken last, and the turns before it.

        That message stops the stream; the state of the turns is restored, so that it will be taken next.
        """
        before: list[Turn] = []
        for turn in turns:
            if whole < len(turn.values):
                break
            whole -= len(turn.values)
            before.append(turn)
        self.turn, self.taken_in_turn = turn.turn, turn.taken_in_turn + whole
        if whole:
            before.append(replace(turn, values=turn.values[:whole], behind=turn.behind[:whole]))
        return replace(turn, values=turn.values[whole:], behind=turn.behind[whole:]), before

    def _at_turn(self, fetch: bool) -> int | None:
        """The partition to take messages from; None if none are available now."""
        for fetched in (False, True) if fetch else (True,):
            for _ in self._partitions:
                partition = self._partitions[self.turn]
                full = self.taken_in_turn >= TURN and len(self._partitions) > 1
                if not full and self._waiting[partition].size and not self._done(partition):
                    return partition
                if not full and not self._done(partition) and not self._log.at_end(partition):
                    break  # messages that are already in the log are read in a fixed order: wait for them
                self.turn, self.taken_in_turn = (self.turn + 1) % len(self._partitions), 0
            if not fetched:
                self.fetch()
        return None

    def _done(self, partition: int) -> bool:
        """Whether a partition was read up to the end it had when the stream was opened."""
        if self._ends is None:
            return False
        first = self._waiting[partition].first()
        end = self._ends[partition]
        return self._reached[partition] >= end if first is None else first > end

    @property
    def ended(self) -> bool:
        """Whether no more messages will come: every partition was read up to its end, or the log is over."""
        if self._log.over:
            return not any(self._waiting[p].size for p in self._partitions)
        if self._ends is None or self._trouble is not None:
            return False
        return all(
            self._done(p) or (self._log.at_end(p) and not self._waiting[p].size) for p in self._partitions
        )

    def drained(self, partition: int) -> bool:
        """Whether no messages of a partition wait here, nor were left in the log at the last fetch."""
        if self._done(partition):
            return True
        none_waiting = self._trouble is None and not self._waiting[partition].size
        return none_waiting and (self._log.over or self._log.at_end(partition))

    def take_of(self, partition: int, most: int) -> tuple[list[bytes], list[int]]:
        """At most `most` waiting messages of a partition, regardless of turns, and the offset after each."""
        return self._waiting[partition].take(most, None if self._ends is None else self._ends[partition])

    def fetch(self, seconds: float | None = None) -> None:
        """Fetch messages; an unreachable broker is warned of, and tried again after growing pauses."""
        if (delay := self._retry_at - time.monotonic()) > 0:
            time.sleep(min(delay, self.wait))
            return
        # Pausing is expensive, since the client drops messages that it has fetched already
        for p in self._partitions:
            if self._waiting[p].size >= ROOM:
                self._full.add(p)
            elif self._waiting[p].size < ROOM // 2:
                self._full.discard(p)
        only = [p for p in self._partitions if p not in self._full]
        try:
            if self._trouble is not None and self._retry_at:
                self.seek_log()
            batches = self._log.fetch(limits.SAMPLE * 8, self.wait if seconds is None else seconds, only)
        except UnreachableError as problem:
            self._warn_of_trouble(str(problem))
            self._retry_at = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, PAUSES[1])
            return
        if self._log.trouble is not None:
            self._warn_of_trouble(self._log.trouble)
        elif self._trouble is not None:
            warn_user(f"{self._shown} answers again, at {_clock()}", BrokerWarning)
            self._trouble, self._pause, self._retry_at = None, PAUSES[0], 0.0
        for batch in batches:
            self._waiting[batch.partition].add(*self._new(batch.partition, batch.values, batch.behind))

    def _new(self, p: int, values: list[bytes], behind: Sequence[int]) -> tuple[list[bytes], Sequence[int]]:
        """The messages that were not fetched before: those delivered again are dropped by their offsets."""
        reached, mark = self._reached[p], self._marks.pop(p, None)
        self._reached[p] = max([reached, *behind[-1:]])
        if not behind or behind[0] > reached:
            return values, behind
        repeated = bisect_right(behind, reached)
        if mark is not None and behind[repeated - 1] == reached and zlib.crc32(values[repeated - 1]) != mark:
            raise DataError(
                f"the message before offset {reached} of partition {p} of {self._shown} "
                "is not the one that was learned",
                remedy="was it made anew? give the original, or start again in an empty folder",
            )
        return values[repeated:], behind[repeated:]

    def _warn_of_trouble(self, problem: str) -> None:
        if self._trouble is None:
            warn_user(
                f"{self._shown} does not answer since {_clock()}, trying again until it does: {problem}",
                BrokerWarning,
            )
        self._trouble = problem

    def seek_log(self) -> None:
        """Seek the log to the offsets reached, or one message before, whose checksum identifies the log."""
        offsets = {}
        for p in self._partitions:
            reached, first, end = self._reached[p], self._log.first(p), self._log.end(p)
            if self._log.counted and end < reached:
                raise DataError(
                    f"partition {p} of {self._shown} ends before the offset that was read last",
                    remedy="was it made anew? give the original, or start again in an empty folder",
                )
            if first > reached:
                self._gone(p, reached, first)
                reached = self._reached[p] = first
                self._marks.pop(p, None)
            offsets[p] = reached - 1 if p in self._marks and reached > first else reached
        self._log.seek(offsets)
        self._has_sought = True

    def _seek_once(self) -> None:
        if not self._has_sought:
            self.seek_log()


def _clock() -> str:
    """The time of day, which makes every warning different: Python shows equal ones only once."""
    return time.strftime("%H:%M:%S")


class _Waiting:
    """Messages of one partition that wait to be decoded, in the batches in which they were fetched."""

    def __init__(self) -> None:
        self.size = 0
        self._batches: deque[tuple[list[bytes], Sequence[int]]] = deque()
        self._start = 0  # messages of the first batch that are taken

    def first(self) -> int | None:
        """The offset after the first waiting message."""
        return self._batches[0][1][self._start] if self.size else None

    def first_values(self, most: int) -> list[bytes]:
        return list(
            islice(
                chain.from_iterable(values for values, _ in self._batches), self._start, self._start + most
            )
        )

    def add(self, values: list[bytes], behind: Sequence[int]) -> None:
        if values:
            self._batches.append((values, behind))
            self.size += len(values)

    def take(self, most: int, end: int | None) -> tuple[list[bytes], list[int]]:
        """At most `most` messages before an end, and the offset after each."""
        out: tuple[list[bytes], list[int]] = [], []
        while self.size and len(out[0]) < most:
            values, behind = self._batches[0]
            begin, stop = self._start, min(len(values), self._start + most - len(out[0]))
            last = stop if end is None else bisect_right(behind, end, begin, stop)
            out[0].extend(values[begin:last])
            out[1].extend(behind[begin:last])
            self._start, self.size = last, self.size - (last - begin)
            if last == len(values):
                self._batches.popleft()
                self._start = 0
            elif last < stop:
                break
        return out
