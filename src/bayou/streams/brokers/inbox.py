"""Messages that have come in and wait: fetched within bounds, in a fixed order, each of them once."""

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

TURN = 1_000  # messages taken from a partition before it is the turn of the next
ROOM = 64_000  # messages of a partition that wait here; beyond, it is not asked for more until half are taken
WAIT = 0.2  # seconds to wait for a message before giving up for now
PAUSES = (
    0.2,
    30.0,
)  # seconds before a broker that is gone is tried again: doubled from the first up to the last


@dataclass(frozen=True)
class Turn:
    """Messages of a partition, taken together, the offsets behind them, and whose turn it was before them."""

    partition: int
    values: list[bytes]
    behind: list[int]
    turn: int
    taken_in_turn: int


class Inbox:
    """The messages of a log from given offsets on, partition by partition in turns, through every kind of trouble.

    A broker that is gone is told about once and tried again after growing pauses; what is delivered again is dropped by
    its offset; of a partition with enough waiting here, no more is fetched.

    Parameters
    ----------
    log
        Where the messages are.
    shown
        What to call it in messages to people.
    offsets
        Where to begin in every partition.
    ends
        Where to stop in every partition; None follows the log.
    gone
        Called with the partition, the offset that was wanted and the oldest there is, where messages are gone unread.
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
        self._pause, self._again_at = PAUSES[0], 0.0
        self.go_to(offsets, {}, ends)

    def go_to(
        self, offsets: Mapping[int, int], marks: Mapping[int, int], ends: Mapping[int, int] | None
    ) -> None:
        """Begin anew at these offsets; marks are checksums of the messages before them, to know the log again by."""
        self._reached = dict(
            offsets
        )  # the offsets behind the last messages that came in, or were passed over
        self._marks, self._ends = dict(marks), ends
        self._waiting = {p: _Waiting() for p in self._partitions}
        self._full: set[int] = set()  # partitions of which enough is waiting
        self._sought = False

    def sample(self, share: int) -> list[bytes] | None:
        """The first messages that wait, up to so many of each partition; None until as many as there are have come."""
        self._seek_once()
        if all(self._log.at_end(p) for p in self._partitions if self._waiting[p].size < share):
            return [v for p in self._partitions for v in self._waiting[p].first_values(share)]
        return None

    def take(self, most: int) -> list[Turn]:
        """At most so many messages, turn after turn; fetches where none wait, and takes none where none have come."""
        self._seek_once()
        out: list[Turn] = []
        while most and (partition := self._at_turn(fetch=not out)) is not None:
            place = self.turn, self.taken_in_turn
            room = most if len(self._partitions) == 1 else min(most, TURN - self.taken_in_turn)
            end = None if self._ends is None else self._ends[partition]
            turn = Turn(partition, *self._waiting[partition].take(room, end), *place)
            self.taken_in_turn += len(turn.values)
            most -= len(turn.values)
            out.append(turn)
        return out

    def give_back(self, turns: list[Turn], whole: int) -> tuple[Turn, list[Turn]]:
        """The message behind so many of those taken last, which stops the stream, and what was taken before it.

        It is that message's turn again.
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
        """The partition whose messages come next; None: they are not here, or nothing is there now."""
        for fetched in (False, True) if fetch else (True,):
            for _ in self._partitions:
                partition = self._partitions[self.turn]
                full = self.taken_in_turn >= TURN and len(self._partitions) > 1
                if not full and self._waiting[partition].size and not self._done(partition):
                    return partition
                if not full and not self._done(partition) and not self._log.at_end(partition):
                    break  # what is in the log already comes in a fixed order: wait for it
                self.turn, self.taken_in_turn = (self.turn + 1) % len(self._partitions), 0
            if not fetched:
                self.fetch()
        return None

    def _done(self, partition: int) -> bool:
        """Whether a partition was read up to the end that was set when the stream was opened."""
        if self._ends is None:
            return False
        first = self._waiting[partition].first()
        end = self._ends[partition]
        return self._reached[partition] >= end if first is None else first > end

    @property
    def ended(self) -> bool:
        """Whether nothing more will come: every partition was read up to its end, or the log is over."""
        if self._log.over:
            return not any(self._waiting[p].size for p in self._partitions)
        if self._ends is None or self._trouble is not None:
            return False
        return all(
            self._done(p) or (self._log.at_end(p) and not self._waiting[p].size) for p in self._partitions
        )

    def drained(self, partition: int) -> bool:
        """Whether nothing more of a partition is here, nor was in the log when it was last asked."""
        if self._done(partition):
            return True
        here = self._trouble is None and not self._waiting[partition].size
        return here and (self._log.over or self._log.at_end(partition))

    def take_of(self, partition: int, most: int) -> tuple[list[bytes], list[int]]:
        """At most so many messages of a partition that are here, whoever's turn it is, and the offsets behind them."""
        return self._waiting[partition].take(most, None if self._ends is None else self._ends[partition])

    def fetch(self, seconds: float | None = None) -> None:
        """Let messages come in; a broker that is gone is told about, and tried again after growing pauses."""
        if (rest := self._again_at - time.monotonic()) > 0:
            time.sleep(min(rest, self.wait))
            return
        for p in self._partitions:  # to pause is dear: the client drops what it has fetched already
            if self._waiting[p].size >= ROOM:
                self._full.add(p)
            elif self._waiting[p].size < ROOM // 2:
                self._full.discard(p)
        only = [p for p in self._partitions if p not in self._full]
        try:
            if self._trouble is not None and self._again_at:
                self.seek_log()
            batches = self._log.fetch(limits.SAMPLE * 8, self.wait if seconds is None else seconds, only)
        except UnreachableError as problem:
            self._tell_trouble(str(problem))
            self._again_at = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, PAUSES[1])
            return
        if self._log.trouble is not None:
            self._tell_trouble(self._log.trouble)
        elif self._trouble is not None:
            warn_user(f"{self._shown} answers again, at {_clock()}", BrokerWarning)
            self._trouble, self._pause, self._again_at = None, PAUSES[0], 0.0
        for batch in batches:
            self._waiting[batch.partition].add(*self._new(batch.partition, batch.values, batch.behind))

    def _new(self, p: int, values: list[bytes], behind: Sequence[int]) -> tuple[list[bytes], Sequence[int]]:
        """Messages that are not here already: what is delivered again is dropped by its offset."""
        here, mark = self._reached[p], self._marks.pop(p, None)
        self._reached[p] = max([here, *behind[-1:]])
        if not behind or behind[0] > here:
            return values, behind
        known = bisect_right(behind, here)
        if mark is not None and behind[known - 1] == here and zlib.crc32(values[known - 1]) != mark:
            raise DataError(
                f"the message before offset {here} of partition {p} of {self._shown} is not the one that was learned",
                remedy="was it made anew? give the original, or start again in an empty folder",
            )
        return values[known:], behind[known:]

    def _tell_trouble(self, problem: str) -> None:
        if self._trouble is None:
            warn_user(
                f"{self._shown} does not answer since {_clock()}, trying again until it does: {problem}",
                BrokerWarning,
            )
        self._trouble = problem

    def seek_log(self) -> None:
        """Let the log begin where this inbox is: one message earlier where that tells whether it is the same log."""
        sought = {}
        for p in self._partitions:
            here, first, end = self._reached[p], self._log.first(p), self._log.end(p)
            if self._log.counted and end < here:
                raise DataError(
                    f"partition {p} of {self._shown} ends before the offset that was read last",
                    remedy="was it made anew? give the original, or start again in an empty folder",
                )
            if first > here:
                self._gone(p, here, first)
                here = self._reached[p] = first
                self._marks.pop(p, None)
            sought[p] = here - 1 if p in self._marks and here > first else here
        self._log.seek(sought)
        self._sought = True

    def _seek_once(self) -> None:
        if not self._sought:
            self.seek_log()


def _clock() -> str:
    """The time of day; with it, no line is the same as one before, of which Python shows only the first."""
    return time.strftime("%H:%M:%S")


class _Waiting:
    """Messages of one partition that wait to be decoded, in the batches in which they came."""

    def __init__(self) -> None:
        self.size = 0
        self._batches: deque[tuple[list[bytes], Sequence[int]]] = deque()
        self._start = 0  # of the first batch, so many are taken

    def first(self) -> int | None:
        """The offset behind the first message that waits."""
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
        """At most so many messages before an end, and the offsets behind them."""
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
