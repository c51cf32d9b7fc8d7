"""A stream of records from one log, joined with labels that arrive later in another."""

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
from bayou.streams.chunked import quantity_error
from bayou.streams.layout import Layout
from bayou.streams.read_options import ReadOptions
from bayou.streams.rejects import Rejects
from bayou.streams.source import ColumnType, Rows

SHORT, LONG = 0.02, 0.1  # seconds to wait for a log while others have messages, and while none has
_ARROW = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_()}


@dataclass(frozen=True)
class JoinOptions:
    """The options of a join of records with labels.

    Parameters
    ----------
    key
        Column of both logs that holds the key.
    within
        Microseconds that a record waits for its label, and a label for its record.
    time
        Column of both logs that holds the time; None: the time that the broker stores.
    most
        Records that may wait at once.
    at_arrival
        Whether records are also returned when they arrive, without a label.
    """

    key: str
    within: int
    time: str | None
    most: int
    at_arrival: bool = False


@dataclass(frozen=True)
class JoinedRows(Rows):
    """Rows of joined logs: a record on arrival has no label, and is returned again with its label.

    Parameters
    ----------
    tickets
        The number of each row's record, the same on arrival and with its label.
    oldest
        Records with a smaller number have got their label, or will never get one.
    """

    tickets: NDArray[np.int64]
    oldest: int


class JoinedSource:
    """Records that are returned when their label arrives, in the order of the labels; optionally also on arrival.

    Both logs are read by time: at every step the message with the earliest time among the next ones of all partitions;
    at equal times, records before labels, then by the number of the partition. So the order depends only on the content
    of the logs. While they are followed, a partition without new messages is not waited for.
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
        record_options = replace(read_options, target="", ignore=(*read_options.ignore, target))
        kinds = {name: kind for name, kind in (read_options.kinds or {}).items() if name == target}
        label_options = replace(read_options, ignore=(), kinds=kinds)
        self.records = Side(records, "records", record_options, options.key, options.time)
        self.labels = Side(labels, "labels", label_options, options.key, options.time)
        self._sides = (self.records, self.labels)
        self.join = Join(options.within, options.most)
        self.rejects: Rejects = read_options.rejects()
        self._row, self._last_records = 0, list[Record]()
        self._target_checked = False
        self._clear()

    def _clear(self) -> None:
        self._heads: list[tuple[int, int, int]] = []  # time, side and partition of the next messages
        self._without_message = {(i, p) for i, side in enumerate(self._sides) for p in side.partitions}
        self._fetched = self._last_arrival = 0  # number of fetches, and of those up to the last new message

    # Columns and identity --------------------------------------------------------------------------------------

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
        """Counts of what has happened to records and labels so far."""
        return self.join.counts

    @property
    def identity(self) -> Mapping[str, str | int]:
        """The identity of both logs with their columns, and the options of the join."""
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
        """Take the columns from a checkpoint's identity, instead of from the first messages."""
        for side in self._sides:
            side.set_layout(Layout.of(identity.get(f"{side.name} columns")))

    def line_of(self, row: int) -> int | None:
        """None: messages have no lines."""
        return None

    def progress(self) -> float | None:
        """Share of the messages that have been read, if both logs have an end and offsets count messages."""
        shares = [side.progress() for side in self._sides]
        known = [pair for pair in shares if pair is not None]
        total = sum(pair[1] for pair in known)
        if len(known) < 2:
            return None
        return min(1.0, max(0.0, sum(pair[0] for pair in known) / total)) if total > 0 else 1.0

    # Reading ---------------------------------------------------------------------------------------------------

    def read(self, n: int) -> JoinedRows | None:
        """At most n rows, those that are available. No rows if none arrive in time, None at the end."""
        if n < 1:
            raise DataError("read needs a positive number of rows", value=n, remedy="read(1000)")
        for side in self._sides:
            assert side.layout is not None  # waits for the first message
        events: list[Event] = []
        fault: DataError | None = None
        while len(events) < n:
            event = self.join.completed()
            if event is None:
                try:
                    message = self._next(wait=not events)
                except DataError as problem:  # rows before it are returned first, and it is met again
                    fault = problem
                    break
                if message is None:
                    break
                event = self._process(*message)
            if event is not None and (self._options.at_arrival or event.label is not None):
                events.append(event)
        if not events and fault is not None:
            raise fault
        return None if not events and self._ended() else self._rows(events)

    def _process(self, i: int, partition: int, message: Message) -> Event | None:
        """Count the rejects of a message and pass it to the join; returns the event it causes, if any."""
        side = self._sides[i]
        for reject in (*message.cells, *([] if message.reject is None else [message.reject])):
            self.rejects.add(replace(reject, record=self.join.counts.records + self.join.counts.labels))
        for reason, times in side.passed_over:
            self.rejects.count(reason, times)
        side.passed_over.clear()
        side.advance(partition, message)
        if message.reject is not None:
            return None
        if side is self.labels:
            return self.join.label(message.key, message.time, message.label, partition)
        return self.join.record(message.key, message.time, message.value, partition, message.behind)

    def _next(self, wait: bool) -> tuple[int, int, Message] | None:
        """The next message, with its side and partition; None while it is not known which one is next."""
        for _ in range(2):
            for place in sorted(self._without_message):
                self._update_head(*place)
            to_fetch = {i for i, p in self._without_message if not self._sides[i].drained(p)}
            # While logs are followed, those without a message are fetched again after a message has come elsewhere.
            if not to_fetch and self._heads and self._fetched <= self._last_arrival:
                to_fetch = {i for i, _ in self._without_message}
            if not to_fetch and self._heads:
                return self._first()
            if not wait or self._ended():
                return None
            for i in sorted(to_fetch or {i for i, _ in self._without_message}):
                self._sides[i].fetch(SHORT if self._heads else LONG)
            self._fetched += 1
        return None

    def _first(self) -> tuple[int, int, Message]:
        """Remove the message with the earliest time and return it, with its side and partition."""
        _, i, partition = self._heads[0]
        side = self._sides[i]
        message = side.ready[partition][0]
        if message.reject is not None and self._read_options.policy == "strict":
            raise side.fault(message.reject)
        side.ready[partition].popleft()
        heapq.heappop(self._heads)
        self._update_head(i, partition)
        return i, partition, message

    def _update_head(self, i: int, partition: int) -> None:
        """Add the next message of a partition to the heads, or the partition to those without a message."""
        side = self._sides[i]
        was_ready = bool(side.ready[partition])
        if side.fill(partition):
            heapq.heappush(self._heads, (side.ready[partition][0].time, i, partition))
            self._without_message.discard((i, partition))
            self._last_arrival = self._last_arrival if was_ready else self._fetched
        elif side.finished(partition):
            self._without_message.discard((i, partition))
        else:
            self._without_message.add((i, partition))

    def _ended(self) -> bool:
        return not self._heads and all(side.finished(p) for side in self._sides for p in side.partitions)

    def _rows(self, events: list[Event]) -> JoinedRows:
        layout = self.labels.layout
        assert layout.target is not None
        labels = pa.array([event.label for event in events], _ARROW[layout.label])
        if not self._target_checked and (labelled := labels.drop_null()) and len(labelled):
            self._target_checked, error = True, quantity_error(labelled, layout.target)
            if error is not None:
                raise error
        columns = (
            dict(self.records.columns_of([event.record.message for event in events]))
            if events
            else {name: pa.array([], pa.string()) for name in self.records.layout.columns}
        )
        tickets = np.array([event.record.ticket for event in events], np.int64)
        self._last_records = [event.record for event in events]
        rows = JoinedRows(self._row, columns, labels, None, len(events), tickets, self.join.oldest)
        self._row += len(events)
        return rows

    def places(self) -> list[Place]:
        """The places in their log of the records of the rows returned last."""
        return [Place(record.partition, self.records.offset(record.behind)) for record in self._last_records]

    # Positions -------------------------------------------------------------------------------------------------

    def position(self) -> Mapping[str, int]:
        """The position of the next messages; the state of the join is in `arrays`."""
        position = (
            {"row": self._row, "waiting": self.join.size} | self.join.position() | self.rejects.position()
        )
        for side in self._sides:
            position |= side.position()
        return position

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The state of the join: waiting records, early labels, and completed keys."""
        return self.join.arrays()

    def seek(self, position: Mapping[str, int], arrays: Mapping[str, NDArray[Any]] | None = None) -> None:
        """Go to a position that `position` returned, with the state that `arrays` returned."""
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
        self._target_checked = self._target_checked or row > 0
        self.rejects.seek(position)
        for side in self._sides:
            side.seek(position)
        self._clear()

    def commit(self) -> None:
        """Commit the offsets of the checkpoint just written to the brokers, for their tools; they are never read."""
        for side in self._sides:
            side.commit()

    def close(self) -> None:
        """Close the connections."""
        self.rejects.close()
        for side in self._sides:
            side.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
