"""Records of one log, joined with the labels that another brings later."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou.errors import DataError, OptionError
from bayou.streams.brokers.join import Event, Join, JoinCounts, Record
from bayou.streams.brokers.log import Place
from bayou.streams.brokers.side import Message, OpenedLog, Side
from bayou.streams.chunked import quantity
from bayou.streams.layout import Layout
from bayou.streams.read_options import ReadOptions
from bayou.streams.rejects import Rejects
from bayou.streams.source import ColumnType, Rows

SHORT, LONG = 0.02, 0.1  # seconds to wait for a log that may have something, and for one that had nothing
_ARROW = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_()}


@dataclass(frozen=True)
class JoinOptions:
    """How labels find their records.

    Parameters
    ----------
    key
        Column of both logs that holds the key.
    within
        Microseconds that a record waits for its label, and a label for its record.
    time
        Column of both logs that holds the time; None: the time of a message that the broker keeps.
    most
        Records that may wait.
    at_arrival
        Whether records are handed out when they arrive, too.
    """

    key: str
    within: int
    time: str | None
    most: int
    at_arrival: bool = False


@dataclass(frozen=True)
class JoinedRows(Rows):
    """Rows of joined logs: a record that arrives has no label; with its label it comes again.

    Parameters
    ----------
    tickets
        The number of each row's record: the same when it arrives and when its label does.
    oldest
        Records with a smaller number have got their label, or never will.
    """

    tickets: NDArray[np.int64]
    oldest: int


class JoinedSource:
    """Records that are handed out when their label comes, in the order of the labels; and before, when they arrive.

    Both logs are read by time: at every step the message with the earliest time among the next ones of all partitions;
    of equal times, records before labels, then by the number of the partition. So the order is fixed by what is in the
    logs. While they are followed, a partition in which nothing has come is not waited for.
    """

    vocabulary = None
    classes = None

    def __init__(
        self, records: OpenedLog, labels: OpenedLog, options: JoinOptions, read_options: ReadOptions
    ) -> None:
        target = read_options.target
        if not target:
            raise OptionError("which column of the labels is the target?", remedy="--target COLUMN, target=")
        for opened in (records, labels):
            if opened.format == "arrow":
                raise OptionError(
                    "messages that are joined are one row each", value="arrow", remedy="format=json or csv"
                )
            if options.time is None and opened.address.scheme == "tail":
                raise OptionError(
                    f"lines of {opened.address.shown()} have no time of their own",
                    remedy="name the column of both that holds it: --time COLUMN, time=",
                )
        self._options, self._read_options = options, read_options
        without = replace(read_options, target="", ignore=(*read_options.ignore, target))
        kinds = {name: kind for name, kind in (read_options.kinds or {}).items() if name == target}
        labelled = replace(read_options, ignore=(), kinds=kinds)
        self.records = Side(records, "records", without, options.key, options.time)
        self.labels = Side(labels, "labels", labelled, options.key, options.time)
        self._sides = (self.records, self.labels)
        self.join = Join(options.within, options.most)
        self.rejects: Rejects = read_options.rejects()
        self._row, self._handed = 0, list[Record]()
        self._asked = False
        self._clear()

    def _clear(self) -> None:
        self._heads: list[tuple[int, int, int]] = []  # time, side and partition of messages that come next
        self._lacking = {(i, p) for i, side in enumerate(self._sides) for p in side.partitions}
        self._fetched = self._came = 0  # how often logs were asked; and when the last message came

    # What is known about the stream ----------------------------------------------------------------------------

    @property
    def columns(self) -> Mapping[str, ColumnType]:
        """Kind of every column of the records but key and time."""
        return self.records.layout.columns

    @property
    def target(self) -> str | None:
        """Name of the label."""
        return self.labels.layout.target

    @property
    def counts(self) -> JoinCounts:
        """What became of records and labels so far."""
        return self.join.counts

    @property
    def identity(self) -> Mapping[str, str | int]:
        """Both logs with their columns, and how they are joined."""
        options = self._options
        return {
            "path": self.records.address.shown(),
            **self.records.identity(),
            **self.labels.identity(),
            "join": options.key,
            "within": options.within,
            "time": options.time or "",
            "waiting": options.most,
            "at arrival": int(options.at_arrival),
        }

    def recall(self, identity: Mapping[str, str | int]) -> None:
        """Take the columns from a checkpoint, rather than from messages."""
        for side in self._sides:
            side.know(Layout.of(identity.get(f"{side.name} columns")))

    def line_of(self, row: int) -> int | None:
        """Messages have no lines."""
        return None

    def progress(self) -> float | None:
        """Share done, where both logs have an end and offsets count messages."""
        found = [side.progress() for side in self._sides]
        both = [pair for pair in found if pair is not None]
        whole = sum(pair[1] for pair in both)
        if len(both) < 2:
            return None
        return min(1.0, max(0.0, sum(pair[0] for pair in both) / whole)) if whole > 0 else 1.0

    # Reading ---------------------------------------------------------------------------------------------------

    def read(self, n: int) -> JoinedRows | None:
        """At most n rows: those that are there. No rows if none came in time, None at the end."""
        if n < 1:
            raise DataError("read needs a positive number of rows", value=n, remedy="read(1000)")
        for side in self._sides:
            assert side.layout is not None  # waits for a first message
        events: list[Event] = []
        fault: DataError | None = None
        while len(events) < n:
            event = self.join.completed()
            if event is None:
                try:
                    message = self._next(wait=not events)
                except DataError as problem:  # what came before it is handed out first, and it is met again
                    fault = problem
                    break
                if message is None:
                    break
                event = self._taken(*message)
            if event is not None and (self._options.at_arrival or event.label is not None):
                events.append(event)
        if not events and fault is not None:
            raise fault
        return None if not events and self._ended() else self._rows(events)

    def _taken(self, i: int, partition: int, message: Message) -> Event | None:
        """What a message makes of what waits."""
        side = self._sides[i]
        for reject in (*message.cells, *([] if message.reject is None else [message.reject])):
            self.rejects.add(replace(reject, record=self.join.counts.records + self.join.counts.labels))
        for reason, times in side.passed_over:
            self.rejects.count(reason, times)
        side.passed_over.clear()
        side.taken(partition, message)
        if message.reject is not None:
            return None
        if side is self.labels:
            return self.join.label(message.key, message.time, message.label, partition)
        return self.join.record(message.key, message.time, message.value, partition, message.behind)

    def _next(self, wait: bool) -> tuple[int, int, Message] | None:
        """The message that comes next, with its side and partition; None where that is not known yet."""
        for _ in range(2):
            for place in sorted(self._lacking):
                self._settle(*place)
            unknown = {i for i, p in self._lacking if not self._sides[i].dry(p)}
            # While logs are followed, whoever has nothing is asked again after a message has come elsewhere.
            if not unknown and self._heads and self._fetched <= self._came:
                unknown = {i for i, _ in self._lacking}
            if not unknown and self._heads:
                return self._first()
            if not wait or self._ended():
                return None
            for i in sorted(unknown or {i for i, _ in self._lacking}):
                self._sides[i].fetch(SHORT if self._heads else LONG)
            self._fetched += 1
        return None

    def _first(self) -> tuple[int, int, Message]:
        """Take the message with the earliest time."""
        _, i, partition = self._heads[0]
        side = self._sides[i]
        message = side.ready[partition][0]
        if message.reject is not None and self._read_options.policy == "strict":
            raise side.fault(message.reject)
        side.ready[partition].popleft()
        heapq.heappop(self._heads)
        self._settle(i, partition)
        return i, partition, message

    def _settle(self, i: int, partition: int) -> None:
        """Put the next message of a partition among the heads, or the partition among those that lack one."""
        side = self._sides[i]
        came = bool(side.ready[partition])
        if side.fill(partition):
            heapq.heappush(self._heads, (side.ready[partition][0].time, i, partition))
            self._lacking.discard((i, partition))
            self._came = self._came if came else self._fetched
        elif side.finished(partition):
            self._lacking.discard((i, partition))
        else:
            self._lacking.add((i, partition))

    def _ended(self) -> bool:
        return not self._heads and all(side.finished(p) for side in self._sides for p in side.partitions)

    def _rows(self, events: list[Event]) -> JoinedRows:
        layout = self.labels.layout
        assert layout.target is not None
        labels = pa.array([event.label for event in events], _ARROW[layout.label])
        if not self._asked and (known := labels.drop_null()) and len(known):
            self._asked, wrong = True, quantity(known, layout.target)
            if wrong is not None:
                raise wrong
        columns = (
            dict(self.records.columns_of([event.record.message for event in events]))
            if events
            else {name: pa.array([], pa.string()) for name in self.records.layout.columns}
        )
        tickets = np.array([event.record.ticket for event in events], np.int64)
        self._handed = [event.record for event in events]
        rows = JoinedRows(self._row, columns, labels, None, len(events), tickets, self.join.oldest)
        self._row += len(events)
        return rows

    def places(self) -> list[Place]:
        """Where the records of the rows handed out last stand in their log."""
        return [Place(record.partition, self.records.offset(record.behind)) for record in self._handed]

    # Places ----------------------------------------------------------------------------------------------------

    def position(self) -> Mapping[str, int]:
        """Where the next messages come from; what waits is in `arrays`."""
        here = {"row": self._row, "waiting": self.join.size} | self.join.position() | self.rejects.position()
        for side in self._sides:
            here |= side.position()
        return here

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """What waits: records, early labels, and keys that are done."""
        return self.join.arrays()

    def seek(self, position: Mapping[str, int], arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Go to a place that `position` gave, where `arrays` waited."""
        row = position.get("row")
        if type(row) is not int or row < 0:
            raise DataError("not a position of joined logs", remedy="pass what position() gave")
        join = Join(self._options.within, self._options.most)
        join.restore(position, join.arrays() if arrays is None else arrays)
        if join.size != position.get("waiting"):
            raise DataError(
                "what waited at this position is not there", remedy="pass what arrays() gave, too"
            )
        self.join, self._row = join, row
        self._asked = self._asked or row > 0
        self.rejects.seek(position)
        for side in self._sides:
            side.seek(position)
        self._clear()

    def commit(self) -> None:
        """Tell the brokers how far the checkpoint just written has come. It is a hint: nothing is read from it."""
        for side in self._sides:
            side.commit()

    def close(self) -> None:
        """Let go of the connections."""
        self.rejects.close()
        for side in self._sides:
            side.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
