"""The join of records with labels that arrive later, by key, within bounds of time and memory."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayou.errors import DataError

MOST = 100_000  # records that wait for their label; and as many early labels, and completed keys
MOST_BYTES = 256 << 20  # of the messages and keys of each of these
_ENTRY = 256  # bytes of an entry besides its message and its key

Entry = TypeVar("Entry", bound="Record | Early")


@dataclass(frozen=True)
class Record:
    """A record that waits for its label: its number, the time it was taken at, its message and the place of that."""

    ticket: int
    time: int
    message: bytes
    partition: int
    behind: int


@dataclass(frozen=True)
class Early:
    """A label that arrived before its record, as JSON; or, without a message, a completed key."""

    time: int
    message: bytes = b""


@dataclass(frozen=True)
class Event:
    """A record that has arrived (`label` None), or that was joined with its label."""

    record: Record
    label: Any = None


@dataclass
class JoinCounts:
    """Counts of what happened to records and labels.

    Parameters
    ----------
    records, labels
        Messages taken from either log.
    joined
        Records that got their label.
    unlabelled
        Records whose label did not come in time.
    crowded_out
        Records given up, the oldest first, because too many waited.
    early
        Labels that arrived before their record and waited for it.
    without_record
        Labels whose record did not come in time, or that were given up because too many waited.
    repeated_records, repeated_labels
        Messages with a key that has a record, or a label, already. The first one counts.
    forgotten
        Completed keys that were dropped early because there were too many: a repetition of such a key would not be
        noticed.
    behind
        Messages taken after one that is later in the order of time, log and partition. If there are none, messages were
        taken in this order.
    """

    records: int = 0
    labels: int = 0
    joined: int = 0
    unlabelled: int = 0
    crowded_out: int = 0
    early: int = 0
    without_record: int = 0
    repeated_records: int = 0
    repeated_labels: int = 0
    forgotten: int = 0
    behind: int = 0

    @property
    def waiting(self) -> int:
        """Records that wait for their label."""
        return self.records - self.repeated_records - self.joined - self.unlabelled - self.crowded_out

    def position(self) -> dict[str, int]:
        """The counts as part of a source's position."""
        return {f"join {field.name}": getattr(self, field.name) for field in fields(self)}

    @staticmethod
    def of(position: Mapping[str, int]) -> JoinCounts:
        """The counts of a position."""
        counts = {field.name: position.get(f"join {field.name}") for field in fields(JoinCounts)}
        if not all(type(count) is int and count >= 0 for count in counts.values()):
            raise DataError("not a position of joined logs", remedy="pass what position() gave")
        return JoinCounts(**counts)  # type: ignore[arg-type] # checked


class Join:
    """Records that wait for their label, early labels that wait for their record, and completed keys.

    Time is that of the messages, never of a clock, so that what is given up, and when, depends only on the messages and
    their order. It never goes back: a message with an earlier time than one before it is taken at the time of that one.

    Parameters
    ----------
    within
        Microseconds that a record, or an early label, waits; and that a completed key is kept.
    most, most_bytes
        Bounds of the records that wait; of early labels; and of completed keys.

    Examples
    --------
    >>> join = Join(within=10)
    >>> join.record("a", 0, b"{}", 0, 1).label, join.label("a", 10, "yes").label, join.counts.joined
    (None, 'yes', 1)
    >>> join.label("b", 11, "no"), join.record("b", 12, b"{}", 0, 2).label, join.completed().label
    (None, None, 'no')
    """

    def __init__(self, within: int, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self.within = within
        self.waiting: _Bounded[Record] = _Bounded(most, most_bytes)
        self.early: _Bounded[Early] = _Bounded(most, most_bytes)
        self.done: _Bounded[Early] = _Bounded(most, most_bytes)
        self.clock, self.tickets = -(2**62), 0
        self.last = 0, 0  # the log (0: records) and partition of the latest message
        # the record that has just arrived, if its label is among the early ones
        self.half: tuple[str, Record] | None = None
        self.counts = JoinCounts()

    @property
    def size(self) -> int:
        """The number of waiting records, early labels and completed keys."""
        return len(self.waiting) + len(self.early) + len(self.done) + (self.half is not None)

    @property
    def oldest(self) -> int:
        """The number of the oldest waiting record, or else of the next one: no older record can still get a label."""
        last = self.tickets if self.half is None else self.half[1].ticket
        first = self.waiting.first()
        return last if first is None else first.ticket

    def record(self, key: str, time: int, message: bytes, partition: int, behind: int) -> Event | None:
        """Add a record, which waits for its label, unless that has arrived before (see `completed`)."""
        self._advance_clock(time, 0, partition)
        self.counts.records += 1
        if key in self.waiting or key in self.done:
            self.counts.repeated_records += 1
            return None
        record = Record(self.tickets, self.clock, message, partition, behind)
        self.tickets += 1
        if key in self.early:
            self.half = key, record
        else:
            self.counts.crowded_out += self.waiting.add(key, record)
        return Event(record)

    def completed(self) -> Event | None:
        """The record added last with its label, if that had arrived before it; to be called after `record`."""
        if self.half is None:
            return None
        (key, record), self.half = self.half, None
        self.counts.early += 1
        return self._joined(key, record, json.loads(self.early.pop(key).message))

    def label(self, key: str, time: int, label: Any, partition: int = 0) -> Event | None:
        """Add a label, which is joined with its record, or waits for it."""
        self._advance_clock(time, 1, partition)
        self.counts.labels += 1
        if key in self.waiting:
            return self._joined(key, self.waiting.pop(key), label)
        if key in self.done or key in self.early:
            self.counts.repeated_labels += 1
            return None
        self.counts.without_record += self.early.add(key, Early(self.clock, json.dumps(label).encode()))
        return None

    def _joined(self, key: str, record: Record, label: Any) -> Event:
        self.counts.joined += 1
        self.counts.forgotten += self.done.add(key, Early(self.clock))
        return Event(record, label)

    def _advance_clock(self, time: int, log: int, partition: int) -> None:
        """Set the clock to the time of a message, and give up what has waited too long by then."""
        if (time, log, partition) < (self.clock, *self.last):
            self.counts.behind += 1
            return
        self.last = log, partition
        if time == self.clock:
            return
        self.clock = time
        self.counts.unlabelled += self.waiting.expire(time - self.within)
        self.counts.without_record += self.early.expire(time - self.within)
        self.done.expire(time - self.within)

    # State for checkpoints -------------------------------------------------------------------------------------

    def position(self) -> dict[str, int]:
        """The counts and the clock, as part of a source's position."""
        position = {"clock": self.clock, "clock log": self.last[0], "clock partition": self.last[1]}
        return position | {"tickets": self.tickets} | self.counts.position()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The waiting records, early labels and completed keys as arrays."""
        out = _record_arrays("waiting", list(self.waiting))
        out |= _record_arrays("half", [] if self.half is None else [self.half])
        for name, store in (("early", self.early), ("done", self.done)):
            entries = list(store)
            out[f"{name}.times"] = np.array([entry.time for _, entry in entries], np.int64)
            out |= _texts(f"{name}.keys", [key.encode() for key, _ in entries])
            out |= _texts(f"{name}.messages", [entry.message for _, entry in entries])
        return out

    def restore(self, position: Mapping[str, int], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore what `position` and `arrays` returned; raises DataError if they contradict themselves."""
        names = ("clock", "clock log", "clock partition", "tickets")
        if any(type(position.get(name)) is not int for name in names):
            raise _wrong()
        clock, log, partition, tickets = (position[name] for name in names)
        self.counts, self.clock, self.tickets = JoinCounts.of(position), clock, tickets
        self.last = log, partition
        self.waiting.fill(*_records_of("waiting", arrays), clock)
        halves = _Bounded[Record](1, MOST_BYTES)
        halves.fill(*_records_of("half", arrays), clock)
        self.half = next(iter(halves), None)
        numbers = [record.ticket for _, record in (*self.waiting, *halves)]
        if any(b <= a for a, b in zip([-1, *numbers], [*numbers, tickets], strict=True)):
            raise _wrong()
        for name, store in (("early", self.early), ("done", self.done)):
            keys, messages = _texts_of(f"{name}.keys", arrays), _texts_of(f"{name}.messages", arrays)
            times = arrays.get(f"{name}.times")
            if times is None or times.dtype != np.int64 or times.shape != (len(keys),):
                raise _wrong()
            if len(messages) != len(keys):
                raise _wrong()
            entries = [Early(time, message) for time, message in zip(times.tolist(), messages, strict=True)]
            store.fill(keys, entries, clock)
        if any(key in self.early or key in self.done for key, _ in self.waiting):
            raise _wrong()
        if len(halves) > 1 or (self.half is not None and self.half[0] not in self.early):
            raise _wrong()
        try:
            for _, entry in self.early:
                json.loads(entry.message)
        except ValueError as problem:
            raise _wrong() from problem


class _Bounded(Generic[Entry]):
    """Entries by key in order of arrival; the oldest are dropped when they expire or there is no room."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes, self.bytes = most, most_bytes, 0
        self._entries: OrderedDict[str, Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[tuple[str, Entry]]:
        return iter(self._entries.items())

    def first(self) -> Entry | None:
        """The oldest entry."""
        return next(iter(self._entries.values()), None)

    def add(self, key: str, entry: Entry) -> int:
        """Add an entry and return how many older ones were dropped. The newest stays, however large."""
        self._entries[key] = entry
        self.bytes += _size(key, entry)
        dropped = 0
        while len(self._entries) > self._most or (self.bytes > self._most_bytes and len(self._entries) > 1):
            self._drop()
            dropped += 1
        return dropped

    def pop(self, key: str) -> Entry:
        """Remove an entry and return it."""
        entry = self._entries.pop(key)
        self.bytes -= _size(key, entry)
        return entry

    def expire(self, before: int) -> int:
        """Drop entries older than a time, and return how many."""
        dropped = 0
        while self._entries and next(iter(self._entries.values())).time < before:
            self._drop()
            dropped += 1
        return dropped

    def fill(self, keys: list[bytes], entries: list[Entry], clock: int) -> None:
        """Replace all entries by these; raises DataError if keys repeat or times are not in order."""
        try:
            names = [key.decode() for key in keys]
        except UnicodeDecodeError as problem:
            raise _wrong() from problem
        times = [entry.time for entry in entries]
        if len({*names}) < len(names) or times != sorted(times) or (times and times[-1] > clock):
            raise _wrong()
        self._entries = OrderedDict(zip(names, entries, strict=True))
        self.bytes = sum(map(_size, names, entries))

    def _drop(self) -> None:
        key, entry = self._entries.popitem(last=False)
        self.bytes -= _size(key, entry)


def _size(key: str, entry: Record | Early) -> int:
    return len(key) + len(entry.message) + _ENTRY


def _record_arrays(name: str, records: list[tuple[str, Record]]) -> dict[str, NDArray[Any]]:
    """Records with their keys as arrays."""
    low = (1 << 63) - 1  # offsets of Redis do not fit into 64 bits
    numbers = [(r.ticket, r.time, r.partition, r.behind >> 63, r.behind & low) for _, r in records]
    return {
        f"{name}.numbers": np.array(numbers, np.int64).reshape(-1, 5),
        **_texts(f"{name}.keys", [key.encode() for key, _ in records]),
        **_texts(f"{name}.messages", [record.message for _, record in records]),
    }


def _records_of(name: str, arrays: Mapping[str, NDArray[Any]]) -> tuple[list[bytes], list[Record]]:
    """The keys and records of arrays that `_record_arrays` returned."""
    keys, messages = _texts_of(f"{name}.keys", arrays), _texts_of(f"{name}.messages", arrays)
    numbers = arrays.get(f"{name}.numbers")
    if numbers is None or numbers.dtype != np.int64 or numbers.shape != (len(keys), 5):
        raise _wrong()
    if len(messages) != len(keys) or (numbers[:, 2:] < 0).any():
        raise _wrong()
    return keys, [
        Record(ticket, time, message, partition, (high << 63) + low)
        for (ticket, time, partition, high, low), message in zip(numbers.tolist(), messages, strict=True)
    ]


def _texts(name: str, texts: list[bytes]) -> dict[str, NDArray[Any]]:
    """Byte strings as two arrays: their concatenation, and the end of each."""
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return {name: np.frombuffer(b"".join(texts), np.uint8), f"{name}.ends": ends}


def _texts_of(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[bytes]:
    """The byte strings of arrays that `_texts` returned."""
    joined, ends = arrays.get(name), arrays.get(f"{name}.ends")
    if joined is None or ends is None or joined.dtype != np.uint8 or ends.dtype != np.int64:
        raise _wrong()
    if joined.ndim != 1 or ends.ndim != 1 or (np.diff(ends, prepend=0) < 0).any():
        raise _wrong()
    places = [0, *ends.tolist()]
    if places[-1] != len(joined):
        raise _wrong()
    data = joined.tobytes()
    return [data[a:b] for a, b in pairwise(places)]


def _wrong() -> DataError:
    return DataError("this is not how joined logs keep what waits", remedy="start again in an empty folder")
